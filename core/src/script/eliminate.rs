//! Elimination of variables: a constraint `x = t`, with `x` not in `t`, defines `x`, which is replaced by `t` everywhere. A sum
//! defines its variables too (`linear.rs`).
//!
//! Floating-point terms are equal if they are after all NaNs are replaced by one (`f_canonical`). `f_canonical(x) = f_canonical(y)`
//! defines a declared floating-point constant `x`: no term of a script depends on which NaN it is, so `x` may be the one that `y` is.
//!
//! Only for checks whose core may be all assertions, since it does not follow which definitions a contradiction needs.
//! Equivalent as to satisfiability: a model of the rest extends to the defined variables by the values of their terms,
//! and every model of the constraints is one of the rest. Terms that meet are simplified when they are built, so
//! identities across assertions (`p = a * b, q = a * c, p + q /= a * (b + c)`) become constants.

use super::linear;
use crate::expr::float::Format;
use crate::expr::{Evaluator, Expr, Graph, Model, Op};
use rustc_hash::{FxHashMap, FxHashSet};

/// Limit of steps along definitions in the search for cycles, by number of constraints.
const STEPS_PER_CONSTRAINT: usize = 64;

/// Definitions of the variables that were eliminated.
#[derive(Default, Debug)]
pub(super) struct Eliminated {
    /// Variables with their values over the variables that remained, by round.
    rounds: Vec<Vec<(Expr, Expr)>>,
}

/// Declared floating-point constants by their terms with one NaN.
#[derive(Default)]
pub(super) struct Floats(FxHashMap<Expr, (Expr, Format)>);

impl Floats {
    pub(super) fn new(graph: &mut Graph, variables: impl Iterator<Item = (Expr, Format)>) -> Floats {
        Floats(variables.map(|(x, format)| (graph.f_canonical(format, x), (x, format))).collect())
    }
}

impl Eliminated {
    pub(super) fn count(&self) -> usize {
        self.rounds.iter().map(Vec::len).sum()
    }

    /// Extends a model of the rest to the defined variables.
    pub(super) fn extend(&self, graph: &Graph, mut model: Model) -> Model {
        let mut evaluator = Evaluator::new();
        for definitions in self.rounds.iter().rev() {
            let mut session = evaluator.under(graph, &model);
            let values: Vec<_> = definitions.iter().map(|&(x, term)| (x, session.value(term))).collect();
            values.into_iter().for_each(|(x, value)| model.set(x, value));
        }
        model
    }

    /// Eliminates what constraints define. Returns the rest, or `None` if they define nothing.
    pub(super) fn round(
        &mut self,
        graph: &mut Graph,
        constraints: &[Expr],
        floats: &Floats,
    ) -> Option<Vec<Expr>> {
        let mut definitions = Definitions::default();
        let steps = STEPS_PER_CONSTRAINT * constraints.len();
        let (used, others): (Vec<Expr>, Vec<Expr>) = constraints.iter().partition(|&&constraint| {
            definitions.add(graph, constraint, steps)
                || definitions.add_float(graph, floats, constraint, steps)
        });
        if used.is_empty() {
            return None;
        }
        let mut replaced = FxHashMap::default();
        let rest = others
            .into_iter()
            .map(|constraint| replace(graph, &definitions.terms, &mut replaced, constraint))
            .collect();
        self.add(graph, &definitions.terms, &mut replaced);
        Some(rest)
    }

    /// Adds a round of acyclic definitions of variables that the rest no longer mentions.
    pub(super) fn define(&mut self, graph: &mut Graph, definitions: &FxHashMap<Expr, Expr>) {
        self.add(graph, definitions, &mut FxHashMap::default());
    }

    fn add(
        &mut self,
        graph: &mut Graph,
        definitions: &FxHashMap<Expr, Expr>,
        replaced: &mut FxHashMap<Expr, Expr>,
    ) {
        let mut values: Vec<(Expr, Expr)> =
            definitions.keys().map(|&x| (x, replace(graph, definitions, replaced, x))).collect();
        values.retain(|&(x, _)| graph.op(x) == Op::Var);
        values.sort_unstable();
        self.rounds.push(values);
    }
}

/// Acyclic definitions of variables.
#[derive(Default)]
struct Definitions {
    terms: FxHashMap<Expr, Expr>,
    /// Variables of the terms of definitions.
    variables: FxHashMap<Expr, Box<[Expr]>>,
    steps: usize,
}

impl Definitions {
    /// Adds the definition that a constraint states. Returns whether it is one.
    fn add(&mut self, graph: &mut Graph, constraint: Expr, max_steps: usize) -> bool {
        if self.steps >= max_steps {
            return false;
        }
        match graph.op(constraint) {
            Op::Var => {
                let holds = graph.boolean(true);
                self.add_first(graph, &[(constraint, holds)], max_steps)
            }
            Op::Not => {
                let fails = graph.boolean(false);
                self.add_first(graph, &[(graph.kid(constraint, 0), fails)], max_steps)
            }
            Op::Eq => {
                let (a, b) = (graph.kid(constraint, 0), graph.kid(constraint, 1));
                self.add_first(graph, &[(a, b), (b, a)], max_steps) || {
                    let solutions = linear::solutions(graph, a, b);
                    self.add_first(graph, &solutions, max_steps)
                }
            }
            _ => false,
        }
    }

    /// Adds the definition of a floating-point constant that a constraint states. Returns whether it is one.
    fn add_float(&mut self, graph: &mut Graph, floats: &Floats, constraint: Expr, max_steps: usize) -> bool {
        if graph.op(constraint) != Op::Eq {
            return false;
        }
        let sides = [graph.kid(constraint, 0), graph.kid(constraint, 1)];
        for (canonical, term) in [(sides[0], sides[1]), (sides[1], sides[0])] {
            if let Some(&(x, format)) = floats.0.get(&canonical)
                && let Some(y) = with_any_nan(graph, format, term)
                && self.add_first(graph, &[(x, y)], max_steps)
            {
                self.terms.insert(canonical, term);
                return true;
            }
        }
        false
    }

    /// Adds the first of several equivalent definitions that makes no cycle. Returns whether there is one.
    fn add_first(&mut self, graph: &Graph, choices: &[(Expr, Expr)], max_steps: usize) -> bool {
        for &(x, term) in choices {
            let is_free = graph.op(x) == Op::Var && !self.terms.contains_key(&x);
            if is_free && self.steps < max_steps {
                let variables = variables(graph, term);
                if !self.reaches(&variables, x) {
                    self.terms.insert(x, term);
                    self.variables.insert(x, variables);
                    return true;
                }
            }
        }
        false
    }

    /// Whether a variable is among `from` or in the definitions of these.
    fn reaches(&mut self, from: &[Expr], x: Expr) -> bool {
        let mut seen = FxHashSet::default();
        let mut stack = from.to_vec();
        while let Some(variable) = stack.pop() {
            if variable == x {
                return true;
            }
            if seen.insert(variable) {
                self.steps += 1;
                stack.extend(self.variables.get(&variable).into_iter().flat_map(|list| list.iter().copied()));
            }
        }
        false
    }
}

/// Returns `y` of `f_canonical(y)`.
fn with_any_nan(graph: &mut Graph, format: Format, term: Expr) -> Option<Expr> {
    if graph.op(term) != Op::Ite {
        return None;
    }
    let (is_nan, nan, y) = (graph.kid(term, 0), graph.kid(term, 1), graph.kid(term, 2));
    (nan == graph.f_nan(format) && is_nan == graph.f_is_nan(format, y)).then_some(y)
}

fn variables(graph: &Graph, term: Expr) -> Box<[Expr]> {
    let mut found = Vec::new();
    graph.post_order(&[term], |e| {
        if graph.op(e) == Op::Var {
            found.push(e);
        }
    });
    found.into()
}

/// An expression with the variables replaced by their definitions, and those in turn.
fn replace(
    graph: &mut Graph,
    definitions: &FxHashMap<Expr, Expr>,
    replaced: &mut FxHashMap<Expr, Expr>,
    root: Expr,
) -> Expr {
    let mut stack = vec![(root, false)];
    while let Some((e, opened)) = stack.pop() {
        if replaced.contains_key(&e) {
            continue;
        }
        let definition = definitions.get(&e).copied();
        let below = definition.map_or_else(|| graph.kids(e).to_vec(), |term| vec![term]);
        if !opened && !below.is_empty() {
            stack.push((e, true));
            stack.extend(below.into_iter().map(|kid| (kid, false)));
            continue;
        }
        let new: Vec<Expr> = below.iter().map(|kid| replaced[kid]).collect();
        let value = if definition.is_some() {
            new[0]
        } else if new == below {
            e
        } else {
            graph.rebuild(e, &new)
        };
        replaced.insert(e, value);
    }
    replaced[&root]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::expr::{Bits, Sort};

    #[test]
    fn chains_are_eliminated_and_models_extended() {
        let mut g = Graph::new();
        let [a, b, c, p, q] = ["a", "b", "c", "p", "q"].map(|name| g.var(name, Sort::Bits(8)).unwrap());
        let (ab, ac) = (g.mul(a, b), g.mul(a, c));
        let sum = g.add(b, c);
        let (left, right) = (g.add(p, q), g.mul(a, sum));
        let differ = g.ne(left, right);
        let constraints = [g.eq(p, ab), g.eq(ac, q), differ];
        let mut found = Eliminated::default();
        let rest = found.round(&mut g, &constraints, &Floats::default()).unwrap();
        assert_eq!((found.count(), rest.len()), (2, 1));
        assert!(g.is_false(rest[0]));

        let one = g.word(8, 1);
        let next = g.add(p, one);
        let constraints = [g.eq(q, next), g.eq(p, a), g.ult(q, b)];
        let mut found = Eliminated::default();
        found.round(&mut g, &constraints, &Floats::default()).unwrap();
        assert_eq!(found.count(), 2);
        // Either of `a` and `p` may be the one that stays.
        let mut model = Model::new();
        [a, p].into_iter().for_each(|x| model.set_bits(x, Bits::word(8, 3)));
        let model = found.extend(&g, model);
        let mut evaluator = Evaluator::new();
        assert_eq!(evaluator.under(&g, &model).bits(q).low(), 4);
    }

    #[test]
    fn cycles_are_kept() {
        let mut g = Graph::new();
        let [x, y] = ["x", "y"].map(|name| g.var(name, Sort::Bits(8)).unwrap());
        let (one, three) = (g.word(8, 1), g.word(8, 3));
        let (next, tripled) = (g.add(y, one), g.mul(x, three));
        let constraints = [g.eq(x, next), g.eq(y, tripled)];
        let mut found = Eliminated::default();
        let rest = found.round(&mut g, &constraints, &Floats::default()).unwrap();
        assert_eq!((found.count(), rest.len()), (1, 1));
        let square = g.mul(x, x);
        let constraints = [g.eq(x, square)];
        assert!(Eliminated::default().round(&mut g, &constraints, &Floats::default()).is_none());
    }

    /// The constants have the same value, and which NaN it is does not matter.
    #[test]
    fn equal_floats_are_eliminated() {
        let mut g = Graph::new();
        let format = Format::new(3, 5).unwrap();
        let [x, y, word] = ["x", "y", "word"].map(|name| g.var(name, Sort::Bits(8)).unwrap());
        let floats = Floats::new(&mut g, [(x, format), (y, format)].into_iter());
        let [canonical_x, canonical_y, canonical_word] = [x, y, word].map(|e| g.f_canonical(format, e));
        let zero = g.word(8, 0);
        let (less, not_less) = (g.f_lt(format, x, zero), g.f_lt(format, y, zero));
        let constraints = [g.eq(canonical_x, canonical_y), less, g.not(not_less)];
        let mut found = Eliminated::default();
        let rest = found.round(&mut g, &constraints, &floats).unwrap();
        assert_eq!(found.count(), 1);
        let rest = rest.into_iter().fold(g.boolean(true), |all, e| g.and(all, e));
        let mut evaluator = Evaluator::new();
        for value in 0..256 {
            let mut model = Model::new();
            [x, y].into_iter().for_each(|e| model.set_bits(e, Bits::word(8, value)));
            assert!(!evaluator.under(&g, &model).truth(rest), "{value}");
        }
        // A word that is read as a number has bits of its own.
        let other = Floats::new(&mut g, [(y, format)].into_iter());
        let constraints = [g.eq(canonical_word, canonical_y)];
        let mut found = Eliminated::default();
        assert!(found.round(&mut g, &constraints, &Floats::default()).is_none());
        found.round(&mut g, &constraints, &other).unwrap();
        let nan = g.f_nan(format);
        let mut model = Model::new();
        model.set_bits(word, Bits::word(8, 0xff));
        let model = found.extend(&g, model);
        assert_eq!(Some(evaluator.under(&g, &model).bits(canonical_y)), g.const_bits(nan));
    }
}
