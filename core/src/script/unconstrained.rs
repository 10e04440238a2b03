//! Unconstrained terms: a term that can have any value, whatever the rest of the problem is, becomes a variable.
//!
//! A variable `x` that occurs once, in `x + t`, makes every value of the sum: the sum becomes a new variable `y`, and
//! `x` is defined as `y - t`. So whole terms disappear from their leaves upwards, and with them circuits that say
//! nothing. A disjunction that is a constraint is true if a disjunct is unconstrained.
//!
//! Equivalent as to satisfiability: a model of the rest extends to `x` by its definition, for which the term has the
//! value of `y`; and from a model of the constraints the value of the term is one for `y`. `x` is only in the term,
//! since it has one occurrence in the graph, so a definition never depends on itself.

use crate::expr::{ArithOp, Bits, BitsOp, CompareOp, Expr, Family, Graph, Op, ShapeOp, Sort};
use rustc_hash::{FxHashMap, FxHashSet};

/// Constraints with unconstrained terms as variables, and the definitions of the variables that these replace; `None` if
/// there are none.
pub(super) fn replace(graph: &mut Graph, constraints: &[Expr]) -> Option<(Vec<Expr>, FxHashMap<Expr, Expr>)> {
    let mut pass = Pass::default();
    let mut order = Vec::new();
    graph.post_order(constraints, |e| order.push(e));
    for &constraint in constraints {
        *pass.uses.entry(constraint).or_default() += 1;
    }
    for &e in &order {
        for kid in graph.kids(e) {
            *pass.uses.entry(kid).or_default() += 1;
        }
    }
    for e in order {
        pass.visit(graph, e);
    }
    let mut rest = Vec::with_capacity(constraints.len());
    for &constraint in constraints {
        if !pass.satisfy(graph, constraint) {
            rest.push(pass.replaced[&constraint]);
        }
    }
    (!pass.definitions.is_empty()).then_some((rest, pass.definitions))
}

#[derive(Default)]
struct Pass {
    /// Number of occurrences of each term as an operand or constraint.
    uses: FxHashMap<Expr, u32>,
    replaced: FxHashMap<Expr, Expr>,
    /// Terms with one occurrence whose replacement is a variable that occurs nowhere else.
    free: FxHashSet<Expr>,
    definitions: FxHashMap<Expr, Expr>,
    /// Number of new variables.
    count: usize,
}

impl Pass {
    /// Replaces a term whose operands were visited.
    fn visit(&mut self, graph: &mut Graph, e: Expr) {
        if graph.op(e) == Op::Var {
            self.replaced.insert(e, e);
            if self.uses[&e] == 1 {
                self.free.insert(e);
            }
            return;
        }
        let kids = graph.kids(e);
        let new: Vec<Expr> = kids.iter().map(|kid| self.replaced[kid]).collect();
        let is_free: Vec<bool> = kids.iter().map(|kid| self.free.contains(kid)).collect();
        let value = if is_free.contains(&true) { self.unconstrained(graph, e, &new, &is_free) } else { None };
        let value = value.unwrap_or_else(|| if new[..] == kids[..] { e } else { graph.rebuild(e, &new) });
        self.replaced.insert(e, value);
    }

    fn define(&mut self, x: Expr, value: Expr) {
        let before = self.definitions.insert(x, value);
        debug_assert!(before.is_none(), "a free variable has one occurrence");
    }

    fn fresh(&mut self, graph: &mut Graph, sort: Sort) -> Expr {
        self.count += 1;
        graph.fresh_var(&format!("unconstrained!{}", self.count), sort)
    }

    /// The new variable that a term becomes.
    fn variable(&mut self, graph: &mut Graph, e: Expr) -> Expr {
        if self.uses[&e] == 1 {
            self.free.insert(e);
        }
        self.fresh(graph, graph.sort(e))
    }

    /// The replacement of a term with free operands, if it can have any value.
    fn unconstrained(&mut self, graph: &mut Graph, e: Expr, kids: &[Expr], is_free: &[bool]) -> Option<Expr> {
        let op = graph.op(e);
        // A free operand, with the other one if there are two.
        let at = is_free.iter().position(|&free| free).expect("a free operand");
        let (x, other) = (kids[at], kids.len() == 2);
        let t = if other { kids[1 - at] } else { x };
        let both = other && is_free[0] && is_free[1];
        match op.family() {
            Family::Bits(bits) => match bits {
                BitsOp::Not | BitsOp::Xor => {
                    let y = self.variable(graph, e);
                    let value = if bits == BitsOp::Not { graph.not(y) } else { graph.xor(y, t) };
                    self.define(x, value);
                    Some(y)
                }
                BitsOp::And | BitsOp::Or if both => {
                    let y = self.variable(graph, e);
                    self.define(x, y);
                    self.define(t, y);
                    Some(y)
                }
                BitsOp::And | BitsOp::Or => None,
            },
            Family::Arith(arith) => match arith {
                ArithOp::Add | ArithOp::Sub => {
                    let y = self.variable(graph, e);
                    let value = match (arith, at) {
                        (ArithOp::Add, _) => graph.sub(y, t),
                        (_, 0) => graph.add(y, t),
                        _ => graph.sub(t, y),
                    };
                    self.define(x, value);
                    Some(y)
                }
                ArithOp::Mul if !both => self.multiple(graph, e, x, t),
                // `y * 1`, `y / 1` and `y % 0` are `y`.
                _ if both => {
                    let neutral = u64::from(!matches!(arith, ArithOp::URem | ArithOp::SRem));
                    self.first_of_two(graph, e, kids, neutral)
                }
                _ => None,
            },
            Family::Shift(_) => both.then(|| self.first_of_two(graph, e, kids, 0)).flatten(),
            Family::Compare(compare) => match compare {
                CompareOp::Eq if graph.is_array(x) => None,
                CompareOp::Eq => {
                    let y = self.variable(graph, e);
                    let different = graph.not(t);
                    let value = graph.ite(y, t, different);
                    self.define(x, value);
                    Some(y)
                }
                CompareOp::Ult | CompareOp::Ule | CompareOp::Slt | CompareOp::Sle => {
                    Some(self.comparison(graph, op, at, x, t))
                }
            },
            Family::Shape(shape) => self.shape(graph, e, shape, kids, is_free),
            Family::Array(_) => self.array(graph, e, kids, is_free),
            Family::Leaf(_) | Family::Float(_) => None,
        }
    }

    /// `x op c` with `c` such that the term is `x`.
    fn first_of_two(&mut self, graph: &mut Graph, e: Expr, kids: &[Expr], neutral: u64) -> Option<Expr> {
        let y = self.variable(graph, e);
        let neutral = graph.word(graph.width(e), neutral);
        self.define(kids[0], y);
        self.define(kids[1], neutral);
        Some(y)
    }

    /// `x * t` for a constant `t`: all multiples of a power of two.
    fn multiple(&mut self, graph: &mut Graph, e: Expr, x: Expr, t: Expr) -> Option<Expr> {
        let factor = graph.const_bits(t).filter(|factor| !factor.is_zero())?;
        let width = factor.width();
        let zeros = (0..width).find(|&i| factor.bit(i)).expect("not zero");
        let inverse = graph.constant(factor.lshr(zeros.into()).inverse_of_odd());
        if zeros == 0 {
            let y = self.variable(graph, e);
            let value = graph.mul(y, inverse);
            self.define(x, value);
            return Some(y);
        }
        let y = self.fresh(graph, Sort::Bits(width - zeros));
        let extended = graph.zext(y, width);
        let value = graph.mul(extended, inverse);
        self.define(x, value);
        let low = graph.word(zeros, 0);
        Some(graph.concat(y, low))
    }

    /// A comparison of `x`, operand `at`, with `t`: both answers are possible, unless `t` is the least or greatest word.
    fn comparison(&mut self, graph: &mut Graph, op: Op, at: usize, x: Expr, t: Expr) -> Expr {
        let width = graph.width(x);
        let (mut least, mut greatest) = (Bits::zero(width), Bits::ones(width));
        if op.is_signed() {
            least = Bits::word(width, 1).shl(u64::from(width) - 1);
            greatest = least.not();
        }
        let [least, greatest] = [least, greatest].map(|value| graph.constant(value));
        let y = self.fresh(graph, Sort::Bool);
        let (below, above) = if at == 0 { (least, greatest) } else { (greatest, least) };
        let value = graph.ite(y, below, above);
        self.define(x, value);
        // `x < t` never holds for the least `t`, `x <= t` always holds for the greatest.
        if op.is_strict() {
            let possible = graph.ne(t, below);
            graph.and(y, possible)
        } else {
            let certain = graph.eq(t, above);
            graph.or(y, certain)
        }
    }

    fn shape(
        &mut self,
        graph: &mut Graph,
        e: Expr,
        shape: ShapeOp,
        kids: &[Expr],
        is_free: &[bool],
    ) -> Option<Expr> {
        match shape {
            ShapeOp::Extract => {
                let y = self.variable(graph, e);
                let (low, width) = (graph.extract_low(e), graph.width(kids[0]));
                let mut value = y;
                if low > 0 {
                    let zeros = graph.word(low, 0);
                    value = graph.concat(y, zeros);
                }
                let value = graph.zext(value, width);
                self.define(kids[0], value);
                Some(y)
            }
            ShapeOp::Concat if is_free == [true, true] => {
                let y = self.variable(graph, e);
                let (high, low) = (graph.width(kids[0]), graph.width(kids[1]));
                let parts = [graph.extract(y, low, high), graph.extract(y, 0, low)];
                kids.iter().zip(parts).for_each(|(&kid, part)| self.define(kid, part));
                Some(y)
            }
            ShapeOp::Ite if is_free[1] && is_free[2] => {
                let y = self.variable(graph, e);
                self.define(kids[1], y);
                self.define(kids[2], y);
                Some(y)
            }
            ShapeOp::Ite if is_free[0] && (is_free[1] || is_free[2]) => {
                let y = self.variable(graph, e);
                let condition = graph.boolean(is_free[1]);
                self.define(kids[0], condition);
                self.define(if is_free[1] { kids[1] } else { kids[2] }, y);
                Some(y)
            }
            ShapeOp::Ite
                if is_free[0]
                    && graph.is_const(kids[1])
                    && graph.is_const(kids[2])
                    && graph.sort(e) == Sort::Bits(1) =>
            {
                let y = self.variable(graph, e);
                let condition = graph.eq(y, kids[1]);
                self.define(kids[0], condition);
                Some(y)
            }
            ShapeOp::Concat | ShapeOp::Ite | ShapeOp::ZExt | ShapeOp::SExt => None,
        }
    }

    fn array(&mut self, graph: &mut Graph, e: Expr, kids: &[Expr], is_free: &[bool]) -> Option<Expr> {
        match graph.op(e) {
            Op::Read if is_free[0] && graph.read_count(e) == 1 => {
                let Sort::Array { index, .. } = graph.sort(kids[0]) else { unreachable!("an array") };
                let y = self.variable(graph, e);
                let zero = graph.word(graph.width(e), 0);
                let zeros = graph.const_array(index, zero);
                let array = graph.store(zeros, kids[1], y);
                self.define(kids[0], array);
                Some(y)
            }
            Op::Store if is_free[0] && is_free[2] => {
                let y = self.variable(graph, e);
                let element = graph.select(y, kids[1]);
                self.define(kids[0], y);
                self.define(kids[2], element);
                Some(y)
            }
            _ => None,
        }
    }

    /// Whether a free disjunct makes a constraint true; it is set so.
    fn satisfy(&mut self, graph: &mut Graph, constraint: Expr) -> bool {
        let mut stack = vec![(constraint, true)];
        while let Some((e, wanted)) = stack.pop() {
            let value = self.replaced[&e];
            if self.free.contains(&e) && !self.definitions.contains_key(&value) {
                let wanted = graph.boolean(wanted);
                self.define(value, wanted);
                return true;
            }
            let is_disjunction = graph.op(e) == if wanted { Op::Or } else { Op::And };
            if (is_disjunction || graph.op(e) == Op::Not) && self.uses[&e] == 1 {
                let wanted = wanted == is_disjunction;
                stack.extend(graph.kids(e).into_iter().map(|kid| (kid, wanted)));
            }
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::super::eliminate::Eliminated;
    use super::*;
    use crate::expr::{Evaluator, Model};

    /// All models of some variables, of at most 16 bits together.
    fn models(graph: &Graph, variables: &[Expr]) -> Vec<Model> {
        let bits: u32 = variables.iter().map(|&x| graph.width(x)).sum();
        assert!(bits <= 16, "{bits} bits");
        let model = |mut value: u64| {
            let mut model = Model::new();
            for &x in variables {
                model.set_bits(x, Bits::word(graph.width(x), value));
                value >>= graph.width(x);
            }
            model
        };
        (0..1u64 << bits).map(model).collect()
    }

    fn satisfies(graph: &Graph, model: &Model, constraints: &[Expr]) -> bool {
        let mut evaluator = Evaluator::new();
        let mut session = evaluator.under(graph, model);
        constraints.iter().all(|&e| !session.bits(e).is_zero())
    }

    fn variables(graph: &Graph, constraints: &[Expr]) -> Vec<Expr> {
        let mut found = Vec::new();
        graph.post_order(constraints, |e| {
            if graph.op(e) == Op::Var {
                found.push(e);
            }
        });
        found
    }

    /// Random constraints are satisfiable exactly if the rest is, and every model of the rest extends.
    #[test]
    fn models_extend() {
        let mut replaced = 0;
        for seed in 0..600u64 {
            let (mut state, mut g) = (seed, Graph::new());
            let mut below = |n: usize| {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                (state >> 33) as usize % n
            };
            let words = ["a", "b", "c", "d", "e"].map(|name| g.var(name, Sort::Bits(2)).unwrap());
            let bools = ["p", "q"].map(|name| g.var(name, Sort::Bool).unwrap());
            let (mut pool, mut conditions) = (words.to_vec(), bools.to_vec());
            (0..4).for_each(|value| pool.push(g.word(2, value)));
            for _ in 0..9 {
                // Taken out of the pool most of the time, so that many terms occur once.
                let mut take = |pool: &mut Vec<Expr>| {
                    let at = below(pool.len());
                    if below(5) > 0 && pool.len() > 4 { pool.swap_remove(at) } else { pool[at] }
                };
                let (x, y) = (take(&mut pool), take(&mut pool));
                let p = if conditions.is_empty() { g.boolean(true) } else { take(&mut conditions) };
                match below(12) {
                    0 => pool.push(g.add(x, y)),
                    1 => pool.push(g.sub(x, y)),
                    2 => pool.push(g.mul(x, y)),
                    3 => pool.push(g.ite(p, x, y)),
                    4 => {
                        let ops = [Op::UDiv, Op::URem, Op::SDiv, Op::SRem, Op::Shl, Op::LShr, Op::AShr];
                        pool.push(g.build(ops[below(7)], 2, 0, &[x, y]));
                    }
                    5 => {
                        let [low, high] = [g.extract(x, 0, 1), g.extract(y, 1, 1)];
                        pool.push(g.concat(low, high));
                    }
                    6 => pool.push(g.build([Op::And, Op::Or, Op::Xor][below(3)], 2, 0, &[x, y])),
                    7 => pool.push(g.not(x)),
                    8 => conditions.push(g.build(
                        [Op::Ult, Op::Ule, Op::Slt, Op::Sle][below(4)],
                        1,
                        0,
                        &[x, y],
                    )),
                    9 => conditions.push(g.eq(x, y)),
                    10 => {
                        let e = g.ult(x, y);
                        conditions.push(g.build([Op::And, Op::Or, Op::Xor][below(3)], 1, 0, &[p, e]));
                    }
                    _ => conditions.push(g.not(p)),
                }
            }
            let last = [pool[pool.len() - 1], pool[0]];
            conditions.push(g.ult(last[0], last[1]));
            let constraints: Vec<Expr> = conditions
                .into_iter()
                .filter(|&e| !g.is_true(e))
                .collect::<FxHashSet<_>>()
                .into_iter()
                .collect();
            let Some((rest, definitions)) = replace(&mut g, &constraints) else { continue };
            replaced += definitions.len();
            let mut eliminated = Eliminated::default();
            eliminated.define(&mut g, &definitions);
            let given = variables(&g, &constraints);
            let expected = models(&g, &given).iter().any(|model| satisfies(&g, model, &constraints));
            let mut found = false;
            for model in models(&g, &variables(&g, &rest)) {
                if satisfies(&g, &model, &rest) {
                    found = true;
                    let model = eliminated.extend(&g, model);
                    assert!(satisfies(&g, &model, &constraints), "seed {seed}: {constraints:?}");
                }
            }
            assert_eq!(found, expected, "seed {seed}");
        }
        assert!(replaced > 1000, "{replaced}");
    }

    /// An array that is read once, and one that is written and read once.
    #[test]
    fn arrays_disappear() {
        let mut g = Graph::new();
        let sort = Sort::Array { index: 4, element: 8 };
        let [a, b] = ["a", "b"].map(|name| g.var(name, sort).unwrap());
        let [i, j] = ["i", "j"].map(|name| g.var(name, Sort::Bits(4)).unwrap());
        let v = g.var("v", Sort::Bits(8)).unwrap();
        let stored = g.store(b, i, v);
        let (x, y) = (g.select(a, i), g.select(stored, j));
        let product = g.mul(x, y);
        let seven = g.word(8, 7);
        let constraints = [g.eq(product, seven), g.ult(i, j)];
        let (rest, definitions) = replace(&mut g, &constraints).unwrap();
        assert_eq!(rest, [constraints[1]]);
        let mut eliminated = Eliminated::default();
        eliminated.define(&mut g, &definitions);
        let mut model = Model::new();
        model.set_bits(j, Bits::word(4, 1));
        assert!(satisfies(&g, &eliminated.extend(&g, model), &constraints));
    }
}
