//! Products, quotients and remainders on demand: circuits that a check may not need are left out at first.
//!
//! Expensive terms become variables about which only simple lemmas are known (`x % y < y`, `x * 0 = 0`). If the rest is
//! unsatisfiable, so is the check. A model is evaluated under the constraints themselves; if it violates one, the terms
//! that make the difference are put back, and the rest is asked again. The effort of the first attempt is limited by what
//! the circuits that it leaves out would cost, and each further one by a quarter of that.
//!
//! Sound: lemmas hold for all operands, so each model of the constraints is one of the rest with the values of the terms.
//! Source: abstraction with lemmas on demand (Niemetz, Preiner, Zohar: CAV 2024), with whole terms as the only refinement.

use crate::cost;
use crate::expr::{Evaluator, Expr, Graph, Model, Op};
use rustc_hash::{FxHashMap, FxHashSet};

/// A term is left out if it has at least one in this many of the gates that are worth an attempt.
const MIN_SHARE: u64 = 8;
/// Least limit of the effort of an attempt: the SAT solver that is started for hard queries needs some.
const MIN_EFFORT: u64 = 1_500 * cost::CONFLICT;
/// Attempts for one check.
const MAX_ATTEMPTS: usize = 6;

/// Terms that are left out of the constraints of a check.
pub(super) struct OnDemand<'a> {
    constraints: &'a [Expr],
    /// Terms that are left out, each with its variable and its value for the operands of the last attempt.
    variables: FxHashMap<Expr, (Expr, Expr)>,
    /// Subterms of the constraints with the variables in place.
    replaced: FxHashMap<Expr, Expr>,
    /// Estimated gates of all terms that were left out in the first attempt.
    gates: u64,
    attempts: usize,
}

/// Constraints of an attempt, and the limit of its effort.
pub(super) struct Attempt {
    pub(super) constraints: Vec<Expr>,
    pub(super) effort: u64,
}

impl<'a> OnDemand<'a> {
    /// Leaves out the expensive terms of constraints; `None` if they have fewer than `min_gates`.
    pub(super) fn new(graph: &mut Graph, constraints: &'a [Expr], min_gates: u64) -> Option<OnDemand<'a>> {
        let mut terms = Vec::new();
        graph.post_order(constraints, |e| {
            let gates = estimated_gates(graph, e);
            if gates > min_gates / MIN_SHARE {
                terms.push((e, gates));
            }
        });
        let gates = terms.iter().map(|(_, gates)| gates).sum();
        if gates < min_gates {
            return None;
        }
        let mut variables = FxHashMap::default();
        for (number, (e, _)) in terms.into_iter().enumerate() {
            let variable = graph.fresh_var(&format!("on-demand!{number}"), graph.sort(e));
            variables.insert(e, (variable, e));
        }
        Some(OnDemand { constraints, variables, replaced: FxHashMap::default(), gates, attempts: 0 })
    }

    /// The next attempt; `None` if the whole constraints should be asked.
    pub(super) fn attempt(&mut self, graph: &mut Graph) -> Option<Attempt> {
        let left: u64 = self.variables.keys().map(|&e| estimated_gates(graph, e)).sum();
        if self.attempts == MAX_ATTEMPTS || left * 4 < self.gates {
            return None;
        }
        // Attempts together take little more than the first one may.
        let effort = left.saturating_mul(cost::GATE).max(MIN_EFFORT) >> (2 * self.attempts);
        self.attempts += 1;
        self.replaced = FxHashMap::default();
        let mut order = Vec::new();
        graph.post_order(self.constraints, |e| order.push(e));
        let mut lemmas = Vec::new();
        for e in order {
            let kids = graph.kids(e);
            let new: Vec<Expr> = kids.iter().map(|kid| self.replaced[kid]).collect();
            let mut value = if new[..] == kids[..] { e } else { graph.rebuild(e, &new) };
            if let Some((variable, definition)) = self.variables.get_mut(&e) {
                *definition = std::mem::replace(&mut value, *variable);
                add_lemmas(graph, graph.op(e), [new[0], new[1], value], &mut lemmas);
            }
            self.replaced.insert(e, value);
        }
        let all = self.constraints.iter().map(|e| self.replaced[e]).chain(lemmas);
        let constraints = all.filter(|&e| !graph.is_true(e)).collect();
        Some(Attempt { constraints, effort })
    }

    /// Whether a model of the attempt is one of the constraints. If not, puts back the terms that make the difference.
    pub(super) fn confirms(&mut self, graph: &Graph, model: &Model) -> bool {
        let mut evaluator = Evaluator::new();
        let mut session = evaluator.under(graph, model);
        let mut stack: Vec<Expr> =
            self.constraints.iter().copied().filter(|&e| session.bits(e).is_zero()).collect();
        if stack.is_empty() {
            return true;
        }
        let (mut seen, mut wrong) = (FxHashSet::default(), Vec::new());
        while let Some(e) = stack.pop() {
            if !seen.insert(e) || session.value(e) == session.value(self.replaced[&e]) {
                continue;
            }
            if let Some(&(variable, definition)) = self.variables.get(&e)
                && session.value(variable) != session.value(definition)
            {
                wrong.push(e);
            }
            let kids = graph.kids(e);
            if graph.op(e) == Op::Ite && session.value(kids[0]) == session.value(self.replaced[&kids[0]]) {
                stack.push(kids[if session.bits(kids[0]).is_zero() { 2 } else { 1 }]);
            } else {
                stack.extend(kids);
            }
        }
        debug_assert!(!wrong.is_empty(), "only terms that are left out can differ");
        for e in wrong {
            self.variables.remove(&e);
        }
        false
    }
}

/// Estimated number of gates of a product, quotient or remainder with two computed operands; zero for other terms.
fn estimated_gates(graph: &Graph, e: Expr) -> u64 {
    if graph.is_array(e) || graph.is_bool(e) {
        return 0;
    }
    let width = u64::from(graph.width(e));
    match graph.op(e) {
        Op::Mul => {
            let rows = [0, 1].map(|at| significant_bits(graph, graph.kid(e, at))).into_iter().min();
            3 * width * u64::from(rows.unwrap_or(0))
        }
        // Constant divisors fold most of the circuit.
        Op::UDiv | Op::URem | Op::SDiv | Op::SRem if !graph.is_const(graph.kid(e, 1)) => 5 * width * width,
        _ => 0,
    }
}

/// Number of low bits of a factor that are not constant.
fn significant_bits(graph: &Graph, e: Expr) -> u32 {
    match graph.op(e) {
        // Few rows.
        Op::Const => 0,
        Op::ZExt | Op::SExt => graph.width(graph.kid(e, 0)),
        _ => graph.width(e),
    }
}

/// Adds lemmas about `v`, the result of an operator.
fn add_lemmas(graph: &mut Graph, op: Op, [a, b, v]: [Expr; 3], lemmas: &mut Vec<Expr>) {
    let width = graph.width(v);
    let (zero, one) = (graph.word(width, 0), graph.word(width, 1));
    let (a_zero, b_zero, b_one) = (graph.eq(a, zero), graph.eq(b, zero), graph.eq(b, one));
    let mut implies = |graph: &mut Graph, condition: Expr, conclusion: Expr| {
        let not = graph.not(condition);
        let lemma = graph.or(not, conclusion);
        lemmas.push(lemma);
    };
    let (is_a, is_zero) = (graph.eq(v, a), graph.eq(v, zero));
    let yes = graph.boolean(true);
    match op {
        Op::Mul => {
            let (a_one, is_b) = (graph.eq(a, one), graph.eq(v, b));
            implies(graph, a_one, is_b);
            implies(graph, b_one, is_a);
            // As many zeros at the low end as each factor has.
            for factor in [a, b] {
                let (not, less) = (graph.not(factor), graph.sub(factor, one));
                let below = graph.and(not, less);
                let common = graph.and(v, below);
                let none = graph.eq(common, zero);
                implies(graph, yes, none);
            }
            let [low_a, low_b, low_v] = [a, b, v].map(|word| graph.extract(word, 0, 1));
            let both = graph.and(low_a, low_b);
            let parity = graph.eq(low_v, both);
            implies(graph, yes, parity);
            // No digits above those of the factors.
            let used = [a, b].map(|factor| match graph.op(factor) {
                Op::ZExt => graph.width(graph.kid(factor, 0)),
                _ => width,
            });
            let used = used[0] + used[1];
            if used < width {
                let (high, none) = (graph.extract(v, used, width - used), graph.word(width - used, 0));
                let is_none = graph.eq(high, none);
                implies(graph, yes, is_none);
            }
        }
        Op::UDiv => {
            let ones = graph.not(zero);
            let is_ones = graph.eq(v, ones);
            let b_some = graph.not(b_zero);
            implies(graph, b_zero, is_ones);
            implies(graph, b_one, is_a);
            let (less, at_most) = (graph.ult(a, b), graph.ule(v, a));
            implies(graph, less, is_zero);
            implies(graph, b_some, at_most);
            let (not_less, some) = (graph.not(less), graph.not(is_zero));
            implies(graph, not_less, some);
            // Half of it for a divisor above one.
            let (above_one, half) = (graph.ult(one, b), graph.lshr(a, one));
            let at_most_half = graph.ule(v, half);
            implies(graph, above_one, at_most_half);
        }
        Op::URem => {
            let b_some = graph.not(b_zero);
            let (below, at_most, less) = (graph.ult(v, b), graph.ule(v, a), graph.ult(a, b));
            implies(graph, b_zero, is_a);
            implies(graph, b_some, below);
            implies(graph, yes, at_most);
            implies(graph, less, is_a);
        }
        Op::SDiv | Op::SRem => {
            let [size_a, size_b, size_v] = [a, b, v].map(|word| {
                let (is_negative, negated) = (graph.slt(word, zero), graph.sub(zero, word));
                graph.ite(is_negative, negated, word)
            });
            let b_some = graph.not(b_zero);
            let at_most = graph.ule(size_v, size_a);
            if op == Op::SDiv {
                let ones = graph.not(zero);
                let negative = graph.slt(a, zero);
                let by_zero = graph.ite(negative, one, ones);
                let is_by_zero = graph.eq(v, by_zero);
                implies(graph, b_zero, is_by_zero);
                implies(graph, b_one, is_a);
                implies(graph, b_some, at_most);
                let less = graph.ult(size_a, size_b);
                implies(graph, less, is_zero);
            } else {
                let below = graph.ult(size_v, size_b);
                implies(graph, b_zero, is_a);
                implies(graph, b_some, below);
                implies(graph, yes, at_most);
                let [sign_a, sign_v] = [a, v].map(|word| graph.slt(word, zero));
                let same = graph.eq(sign_a, sign_v);
                let alike = graph.or(is_zero, same);
                implies(graph, yes, alike);
                implies(graph, a_zero, is_zero);
            }
        }
        _ => unreachable!("{op:?} is not left out"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::expr::{Bits, Sort};

    const OPERATORS: [Op; 5] = [Op::Mul, Op::UDiv, Op::URem, Op::SDiv, Op::SRem];

    fn apply(g: &mut Graph, op: Op, a: Expr, b: Expr) -> Expr {
        match op {
            Op::Mul => g.mul(a, b),
            Op::UDiv => g.udiv(a, b),
            Op::URem => g.urem(a, b),
            Op::SDiv => g.sdiv(a, b),
            _ => g.srem(a, b),
        }
    }

    /// Lemmas hold for all operands, and exclude wrong results.
    #[test]
    fn lemmas_hold_for_all_operands() {
        for width in 1..=4 {
            for op in OPERATORS {
                for extended in [0, 1] {
                    let mut g = Graph::new();
                    let [x, y] = ["x", "y"].map(|name| g.var(name, Sort::Bits(width)).unwrap());
                    let [a, b] = [x, y].map(|e| g.zext(e, width + extended));
                    let v = g.var("v", Sort::Bits(width + extended)).unwrap();
                    let term = apply(&mut g, op, a, b);
                    let mut lemmas = Vec::new();
                    add_lemmas(&mut g, op, [a, b, v], &mut lemmas);
                    let (mut evaluator, mut excluded) = (Evaluator::new(), 0);
                    for values in 0..1u64 << (2 * width) {
                        let mut model = Model::new();
                        model.set_bits(x, Bits::word(width, values));
                        model.set_bits(y, Bits::word(width, values >> width));
                        let right = evaluator.under(&g, &model).bits(term);
                        for value in 0..1u64 << (width + extended) {
                            model.set_bits(v, Bits::word(width + extended, value));
                            let mut session = evaluator.under(&g, &model);
                            let holds = lemmas.iter().all(|&lemma| session.truth(lemma));
                            assert!(holds || value != right.low(), "{op:?}, {width} bits, {values:b}");
                            excluded += u32::from(!holds);
                        }
                    }
                    assert!(excluded > 0, "{op:?}, {width} bits");
                }
            }
        }
    }

    /// A term that a model needs is put back, one in an arm that is not taken is not.
    #[test]
    fn terms_that_make_the_difference_are_put_back() {
        let mut g = Graph::new();
        let [x, y, z] = ["x", "y", "z"].map(|name| g.var(name, Sort::Bits(64)).unwrap());
        let p = g.var("p", Sort::Bool).unwrap();
        let (product, quotient) = (g.mul(x, y), g.udiv(x, y));
        let chosen = g.ite(p, product, quotient);
        let constraints = [g.eq(chosen, z)];
        let mut on_demand = OnDemand::new(&mut g, &constraints, 1).unwrap();
        assert_eq!(on_demand.variables.len(), 2);
        let attempt = on_demand.attempt(&mut g).unwrap();
        assert!(attempt.constraints.len() > 1 && attempt.effort > 0);
        let mut model = Model::new();
        for (e, value) in [(x, 6), (y, 7), (z, 41), (on_demand.variables[&product].0, 41)] {
            model.set_bits(e, Bits::word(64, value));
        }
        model.set_bits(p, Bits::word(1, 1));
        assert!(!on_demand.confirms(&g, &model));
        assert!(on_demand.variables.contains_key(&quotient) && !on_demand.variables.contains_key(&product));
        assert_eq!(on_demand.attempt(&mut g).unwrap().constraints[0], {
            let chosen = g.ite(p, product, on_demand.variables[&quotient].0);
            g.eq(chosen, z)
        });
        model.set_bits(z, Bits::word(64, 42));
        assert!(on_demand.confirms(&g, &model));
    }
}
