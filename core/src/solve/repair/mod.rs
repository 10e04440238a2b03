//! Changes inputs of the path model until it satisfies the newest constraints of a query.
//!
//! The target of a violated constraint (true) is propagated down to one input by inverting the operators on the route.
//! The input is the one that the fewest constraints mention, since most often nothing else depends on it yet. A
//! constraint that the change violates is repaired next, by other inputs. That takes one or two evaluations instead of
//! a search, so it is tried before expensive methods. Sound: a model is evaluated under every constraint of the query.
//! Source: propagation-based local search (Niemetz, Preiner, Biere: CAV 2016), restricted to one walk.

mod definitions;
mod float;
mod inverse;
mod line;
mod propagate;
mod search;

use super::Rest;
use crate::cost;
use crate::expr::walk::Atom;
use crate::expr::{Expr, Model};
use crate::interval::{Comparison, Facts};
use crate::query::Query;
use crate::throttle::Throttle;
use crate::tuning::{IntervalsOptions, ThrottleOptions};
use propagate::Propagation;
use search::Searches;
use smallvec::SmallVec;

/// Constraints repaired for one query, each with inputs that were not changed before.
const MAX_ROUNDS: usize = 4;
/// Inputs per round to which the target is propagated.
const PROPAGATED_INPUTS: usize = 2;
/// Inputs of a constraint that are considered, those nearest to its root.
const MAX_INPUTS: usize = 16;
/// Nodes of a constraint that are visited in search of its inputs.
const MAX_VISITED: usize = 256;
/// Nodes evaluated for one query.
const MAX_NODES: u64 = 1 << 16;
/// Nodes evaluated for flipping bits of one input after the other.
const MAX_FLIP_NODES: u64 = 256;

/// The repairs of one layer, and scratch memory.
pub struct Repairs {
    throttle: Throttle,
    /// Repairs pay if one in this many succeeds.
    tries: u64,
    answered: u64,
    propagation: Propagation,
    searches: Searches,
}

impl Repairs {
    pub fn new(options: &IntervalsOptions, throttle: &ThrottleOptions) -> Repairs {
        let searches = Searches::new(options, throttle);
        let throttle = Throttle::by_tries(throttle);
        Repairs {
            throttle,
            tries: options.repairs,
            answered: 0,
            propagation: Propagation::default(),
            searches,
        }
    }

    /// Number of queries answered.
    pub fn answered(&self) -> u64 {
        self.answered
    }

    /// Number of queries answered by local search.
    pub fn searched(&self) -> u64 {
        self.searches.answered
    }

    /// Searches for a model of a query with float operators, or of a single check, from the given one.
    pub fn search(
        &mut self,
        query: &Query,
        rest: &mut Rest<'_>,
        facts: &Facts,
        model: &Model,
    ) -> Option<Model> {
        self.searches.search(query, rest, facts, model, &mut self.propagation)
    }

    /// Changes a model that violates the given constraints into one of the query. Not tried if all of them are over one
    /// input or compare one with a constant: sets of values most likely decide these.
    pub fn repair(
        &mut self,
        query: &Query,
        rest: &mut Rest<'_>,
        model: &Model,
        mut violated: impl Iterator<Item = Expr>,
    ) -> Option<Model> {
        let has_several_inputs = |&e: &Expr| {
            Comparison::of(rest.graph, e).is_none()
                && rest.supports.nearest(rest.graph, e, 2, MAX_VISITED).len() > 1
        };
        let first = violated.find(has_several_inputs)?;
        if self.throttle.skips() {
            return None;
        }
        let found = self.repair_in_rounds(query, rest, model.clone(), first);
        self.throttle.note(1, if found.is_some() { self.tries } else { 0 });
        self.answered += u64::from(found.is_some());
        found
    }

    fn repair_in_rounds(
        &mut self,
        query: &Query,
        rest: &mut Rest<'_>,
        mut model: Model,
        mut violated: Expr,
    ) -> Option<Model> {
        self.propagation.begin();
        let before = rest.evaluator.work;
        for _ in 0..MAX_ROUNDS {
            if rest.evaluator.work - before > MAX_NODES {
                return None;
            }
            rest.spend(cost::REPAIR_ROUND);
            let inputs = self.freest_first(query, rest, violated);
            let mut first = inputs.iter().take(PROPAGATED_INPUTS);
            if !first.any(|&input| self.propagate(rest, &mut model, violated, input))
                && !self.flip(rest, &mut model, violated, &inputs)
            {
                return None;
            }
            let constraints = match rest.unsure(query, &model) {
                Some(some) => some,
                None => query.constraints(rest.tree).to_vec(),
            };
            let mut session = rest.evaluator.under(rest.graph, &model);
            let all = constraints.into_iter().chain([query.condition]).rev();
            let Some(next) = all.into_iter().find(|&e| !session.truth(e)) else { return Some(model) };
            violated = next;
        }
        None
    }

    /// Changes the model so that the constraint holds, by propagating its target down to this input.
    fn propagate(&mut self, rest: &mut Rest<'_>, model: &mut Model, constraint: Expr, input: Atom) -> bool {
        let session = rest.evaluator.under(rest.graph, model);
        let Some(changes) = self.propagation.propagate(rest.graph, session, constraint, input) else {
            return false;
        };
        let mut changed = model.clone();
        changes.iter().for_each(|&(atom, value)| changed.set_atom(rest.graph, atom, value));
        let holds = rest.evaluator.under(rest.graph, &changed).truth(constraint);
        if holds {
            *model = changed;
            self.propagation.accept();
        }
        holds
    }

    /// Flips the lowest bit of one of the inputs so that the constraint holds.
    fn flip(&mut self, rest: &mut Rest<'_>, model: &mut Model, constraint: Expr, inputs: &[Atom]) -> bool {
        let before = rest.evaluator.work;
        for &atom in inputs {
            if rest.evaluator.work - before > MAX_FLIP_NODES {
                return false;
            }
            let value = model.atom(atom);
            model.set_atom(rest.graph, atom, value ^ 1);
            if rest.evaluator.under(rest.graph, model).truth(constraint) {
                self.propagation.mark_changed(atom);
                return true;
            }
            model.set_atom(rest.graph, atom, value);
        }
        false
    }

    /// Inputs of an expression that may be changed, those mentioned by the fewest constraints first.
    fn freest_first(&self, query: &Query, rest: &mut Rest<'_>, of: Expr) -> SmallVec<[Atom; MAX_INPUTS]> {
        let atoms = rest.supports.nearest(rest.graph, of, MAX_INPUTS, MAX_VISITED);
        let may_change = |atom: &Atom| {
            let is_word = !matches!(atom, Atom::Array(_)) && rest.graph.width(atom.variable()) <= 64;
            is_word && !self.propagation.changed().contains(atom)
        };
        let mut mentions: SmallVec<[(u32, Atom); MAX_INPUTS]> =
            atoms.into_iter().rev().filter(may_change).map(|atom| (0, atom)).collect();
        if mentions.len() > 1 {
            count_mentions(query, rest, &mut mentions);
            mentions.sort_by_key(|(count, _)| *count);
        }
        mentions.into_iter().map(|(_, atom)| atom).collect()
    }
}

/// Counts the constraints of the query that mention each input.
fn count_mentions(query: &Query, rest: &mut Rest<'_>, mentions: &mut [(u32, Atom)]) {
    let of_index = |atom: Atom| query.slice.as_ref().and_then(|slice| rest.index.mentions(slice, atom));
    let counts: Option<SmallVec<[usize; MAX_INPUTS]>> =
        mentions.iter().map(|&(_, atom)| of_index(atom)).collect();
    if let Some(counts) = counts {
        mentions.iter_mut().zip(counts).for_each(|((count, _), of)| *count = of as u32);
        return;
    }
    for &constraint in query.constraints(rest.tree).iter() {
        let of = rest.supports.of(rest.graph, constraint);
        mentions.iter_mut().for_each(|(count, atom)| *count += u32::from(of.binary_search(atom).is_ok()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::budget::Budget;
    use crate::expr::{Graph, Sort};
    use crate::query::Answer;
    use crate::solve::{Solver, Spec, build_chain};

    struct Session {
        solver: Solver,
        bytes: [Expr; 4],
    }

    impl Session {
        /// A chain `intervals sat` and four symbolic bytes.
        fn new() -> Session {
            let spec = Spec::parse("intervals sat", &Spec(Vec::new())).unwrap();
            let mut solver = Solver::new(build_chain(&spec, &mut |_| Ok(None)).unwrap());
            let array = solver.graph.var("a", Sort::Array { index: 32, element: 8 }).unwrap();
            let bytes = [0, 1, 2, 3].map(|i| {
                let at = solver.graph.word(32, i);
                solver.graph.read(array, at, 1)
            });
            Session { solver, bytes }
        }

        /// Asks for the last expression under the others: the verdict, and the number of repairs so far.
        fn ask(&mut self, build: impl Fn(&mut Graph, [Expr; 4]) -> Vec<Expr>) -> (&'static str, f64) {
            let mut all = build(&mut self.solver.graph, self.bytes);
            let condition = all.pop().expect("a condition");
            let path = all.into_iter().fold(self.solver.tree.root(), |path, constraint| {
                self.solver.tree.extend(&self.solver.graph, path, constraint)
            });
            let answer = self.solver.check(&Query::new(path, condition), &Budget::unlimited());
            if let Answer::Sat(model) = &answer {
                let query = Query::new(path, condition);
                let Solver { graph, tree, evaluator, .. } = &mut self.solver;
                assert!(crate::query::verify(graph, tree, &query, model, evaluator).is_ok());
            }
            let counters = &self.solver.statistics()[0].counters;
            (answer.verdict(), counters.iter().find(|(name, _)| name == "repaired").unwrap().1)
        }
    }

    #[track_caller]
    fn is_repaired(build: impl Fn(&mut Graph, [Expr; 4]) -> Vec<Expr>) {
        assert_eq!(Session::new().ask(build), ("sat", 1.0));
    }

    #[test]
    fn targets_are_propagated_through_every_kind_of_operator() {
        // A parity, a sum, a product, a quotient, a remainder, shifts, masks, extensions, an `ite`.
        is_repaired(|g, [a, b, c, _]| {
            let ab = g.xor(a, b);
            let all = g.xor(ab, c);
            let bit = g.extract(all, 5, 1);
            let one = g.word(1, 1);
            vec![g.eq(bit, one)]
        });
        is_repaired(|g, [a, b, ..]| {
            let (a, b) = (g.sext(a, 32), g.zext(b, 32));
            let (seven, limit) = (g.word(32, 7), g.word(32, 300));
            let product = g.mul(a, seven);
            let sum = g.add(product, b);
            vec![g.slt(limit, sum)]
        });
        is_repaired(|g, [a, b, ..]| {
            let (five, nine, three, two) = (g.word(8, 5), g.word(8, 9), g.word(8, 3), g.word(8, 2));
            let (quotient, rest) = (g.udiv(a, five), g.urem(b, nine));
            let both = g.concat(quotient, rest);
            let wanted = g.concat(three, two);
            vec![g.eq(both, wanted)]
        });
        is_repaired(|g, [a, b, ..]| {
            let (three, mask, wanted) = (g.word(8, 3), g.word(8, 0x70), g.word(8, 0x58));
            let shifted = g.shl(a, three);
            let masked = g.and(b, mask);
            let joined = g.or(shifted, masked);
            vec![g.eq(joined, wanted)]
        });
        is_repaired(|g, [a, b, c, _]| {
            let (zero, nine) = (g.word(8, 0), g.word(8, 9));
            let is_zero = g.eq(a, zero);
            let sum = g.add(b, c);
            let chosen = g.ite(is_zero, nine, sum);
            let more = g.word(8, 77);
            vec![g.eq(chosen, more)]
        });
    }

    #[test]
    fn tables_are_searched_for_the_target() {
        is_repaired(|g, [a, b, ..]| {
            let zero = g.word(8, 0);
            let nothing = g.const_array(8, zero);
            let squares = g.table_over(nothing, (0..16).map(|i| i * i).collect());
            let read = g.read(squares, a, 1);
            let sum = g.add(read, b);
            let limit = g.word(8, 200);
            // The sum is at least 200 with a = 15, or with another b.
            vec![g.ule(b, zero), g.ule(limit, sum)]
        });
    }

    #[test]
    fn inputs_are_flipped_if_propagation_fails() {
        // Counters at computed indices, incremented three times: the count is three unless an index differs.
        is_repaired(|g, places| {
            let zero = g.word(8, 0);
            let mut counters = g.const_array(8, zero);
            for place in &places[..3] {
                let before = g.read(counters, *place, 1);
                let one = g.word(8, 1);
                let more = g.add(before, one);
                counters = g.store(counters, *place, more);
            }
            let (count, two) = (g.read(counters, places[3], 1), g.word(8, 2));
            vec![g.eq(count, two)]
        });
    }

    #[test]
    fn constraints_violated_by_a_repair_are_repaired_by_other_inputs() {
        is_repaired(|g, [a, b, c, d]| {
            let (zero, nine) = (g.word(8, 0), g.word(8, 9));
            let (sum, difference) = (g.add(c, d), g.sub(c, d));
            // Fewer constraints mention b than c, so b changes first; then a has to.
            let others = [g.eq(a, b), g.eq(sum, zero), g.eq(difference, zero)];
            let condition = g.add(b, c);
            let condition = g.eq(condition, nine);
            others.into_iter().chain([condition]).collect()
        });
    }

    /// A state machine that reads hundreds of bytes: the newest byte makes its state what is wanted.
    #[test]
    fn a_value_of_many_inputs_is_repaired_by_the_nearest() {
        let spec = Spec::parse("split intervals sat", &Spec(Vec::new())).unwrap();
        let mut solver = Solver::new(build_chain(&spec, &mut |_| Ok(None)).unwrap());
        let g = &mut solver.graph;
        let array = g.var("a", Sort::Array { index: 32, element: 8 }).unwrap();
        let mut state = g.word(8, 1);
        let mut path = solver.tree.root();
        for i in 0..400 {
            let g = &mut solver.graph;
            let at = g.word(32, i);
            let byte = g.read(array, at, 1);
            let (wide, byte, five) = (g.zext(state, 32), g.zext(byte, 32), g.word(32, 5));
            let product = g.mul(wide, five);
            let sum = g.add(product, byte);
            state = g.extract(sum, 0, 8);
            let zero = g.word(8, 0);
            let (is, is_not) = (g.eq(state, zero), g.ne(state, zero));
            let answer = solver.check(&Query::new(path, is), &Budget::unlimited());
            assert_eq!(answer.verdict(), "sat");
            path = solver.tree.extend(&solver.graph, path, is_not);
            assert_eq!(solver.check_path(path, &Budget::unlimited()).verdict(), "sat");
        }
        let statistics = solver.statistics();
        assert!(statistics[2].meter.asked < 20, "{statistics:?}");
    }

    #[test]
    fn queries_without_a_model_are_passed_on() {
        let mut session = Session::new();
        for i in 0..128 {
            let (verdict, repaired) = session.ask(|g, [a, b, ..]| {
                let (a, b) = (g.zext(a, 32), g.zext(b, 32));
                let product = g.mul(a, b);
                let limit = g.word(32, 65_026 + i);
                vec![g.ule(limit, product)]
            });
            assert_eq!((verdict, repaired), ("unsat", 0.0));
        }
    }
}
