//! Top-down propagation of a target: the sets that leaves must lie in if an expression has a value in the target.
//!
//! The preimage of each operator turns the target of a node into targets of its operands, down to bit ranges.
//! Conjunctions intersect; disjunctions and the arms of an `ite` unite. The result is a conjunction of sets that
//! every solution satisfies. It is `exact` if every assignment that satisfies it is a solution: all preimages on
//! the way to the only leaf are exact, and unions are over one range.

use super::backward;
use super::field::ones;
use super::fold::{
    self, Fold, Imprecision, MAX_INDICES, PAIRS_PER_NODE, ReadCase, table_indices, table_word,
};
use super::forward::{self, runs};
use super::range::{BitRange, BitRanges};
use super::set::{MAX_BITMAP_WIDTH, Set};
use crate::expr::bits::mask;
use crate::expr::eval::Shape;
use crate::expr::{Expr, Graph, Op};
use smallvec::{SmallVec, smallvec};

/// Visits after which propagation gives up. Shared nodes are visited once per target.
pub const MAX_VISITS: usize = 512;

/// Conjunction of sets of ranges.
#[derive(Clone, Debug)]
pub struct ImpliedSets {
    pub sets: SmallVec<[(u32, Set); 2]>,
    pub exact: bool,
    /// There is no solution.
    pub impossible: bool,
    /// First cause of imprecision.
    pub imprecision: Option<Imprecision>,
}

impl ImpliedSets {
    /// No restriction.
    pub fn unrestricted() -> ImpliedSets {
        ImpliedSets { sets: SmallVec::new(), exact: true, impossible: false, imprecision: None }
    }

    pub fn unknown(imprecision: Imprecision) -> ImpliedSets {
        ImpliedSets { exact: false, imprecision: Some(imprecision), ..ImpliedSets::unrestricted() }
    }

    fn impossible() -> ImpliedSets {
        ImpliedSets { impossible: true, ..ImpliedSets::unrestricted() }
    }

    pub fn single(number: u32, set: Set) -> ImpliedSets {
        let impossible = set.is_empty();
        ImpliedSets { sets: smallvec![(number, set)], impossible, ..ImpliedSets::unrestricted() }
    }

    fn inexact(mut self, imprecision: Imprecision) -> ImpliedSets {
        if !self.impossible {
            self.exact = false;
            self.imprecision.get_or_insert(imprecision);
        }
        self
    }

    fn intersect(mut self, other: ImpliedSets) -> ImpliedSets {
        if self.impossible || other.impossible {
            return ImpliedSets::impossible();
        }
        self.exact &= other.exact;
        self.imprecision = self.imprecision.or(other.imprecision);
        for (number, set) in other.sets {
            match self.sets.iter_mut().find(|(n, _)| *n == number) {
                Some((_, own)) => {
                    let both = own.intersect(&set);
                    self.exact &= both.exact;
                    *own = both.set;
                    if own.is_empty() {
                        return ImpliedSets::impossible();
                    }
                }
                None => self.sets.push((number, set)),
            }
        }
        self
    }

    fn unite(self, other: ImpliedSets, ranges: &mut BitRanges) -> ImpliedSets {
        if self.impossible {
            return other;
        }
        if other.impossible {
            return self;
        }
        // If one side has no restriction, neither has the union. It is exact if that side is.
        for (whole, rest) in [(&self, &other), (&other, &self)] {
            if whole.sets.is_empty() {
                let exact = whole.exact;
                return ImpliedSets {
                    exact,
                    imprecision: whole.imprecision.or(rest.imprecision),
                    ..ImpliedSets::unrestricted()
                };
            }
        }
        let exact = self.exact && other.exact;
        let imprecision = self.imprecision.or(other.imprecision);
        if let ([(a, x)], [(b, y)]) = (&self.sets[..], &other.sets[..]) {
            let (number, x, y) = if a == b {
                (*a, Some(x.clone()), Some(y.clone()))
            } else {
                lift_to_hull(ranges, (*a, x), (*b, y))
            };
            if let (Some(x), Some(y)) = (x, y) {
                let both = x.union(&y);
                let mut united = ImpliedSets::single(number, both.set);
                united.exact = exact && both.exact;
                united.imprecision = imprecision;
                return united;
            }
        }
        let mut sets: SmallVec<[(u32, Set); 2]> = SmallVec::new();
        let mut same = 0;
        let mut lost = false;
        for (number, x) in &self.sets {
            if let Some((_, y)) = other.sets.iter().find(|(n, _)| n == number) {
                let both = x.union(y);
                same += usize::from(x == y);
                lost |= !both.exact;
                sets.push((*number, both.set));
            }
        }
        // The union of two boxes is a box if they differ in at most one dimension.
        let (mine, others, common) = (self.sets.len(), other.sets.len(), sets.len());
        let box_shaped = common == mine && common == others && same + 1 >= common;
        let exact = exact && box_shaped && !lost;
        let united = ImpliedSets { sets, exact: true, impossible: false, imprecision };
        if exact { united } else { united.inexact(Imprecision::Several(Op::Or)) }
    }
}

/// Two sets of different ranges as sets of one range that contains both, if that is exact.
fn lift_to_hull(ranges: &mut BitRanges, a: (u32, &Set), b: (u32, &Set)) -> (u32, Option<Set>, Option<Set>) {
    let (p, q) = (ranges.range(a.0), ranges.range(b.0));
    let low = p.low.min(q.low);
    let width = p.end().max(q.end()) - low;
    if p.base != q.base || width > 64 {
        return (a.0, None, None);
    }
    let hull = BitRange { low, width: width as u32, ..p };
    let lift = |r: BitRange, set: &Set| {
        let lifted = set.lift((r.low - low) as u32, hull.width);
        lifted.exact.then_some(lifted.set)
    };
    (ranges.number(hull), lift(p, a.1), lift(q, b.1))
}

enum Step {
    Visit(Expr, Set),
    Intersect,
    Unite,
    Inexact(Imprecision),
    Done(ImpliedSets),
}

struct Propagation<'a> {
    graph: &'a Graph,
    ranges: &'a mut BitRanges,
    fold: &'a Fold,
    steps: Vec<Step>,
    results: Vec<ImpliedSets>,
}

/// The sets implied by the value of `root` being in `target`, given the fold of `root`. Visits are taken from
/// `effort`.
pub fn propagate(
    graph: &Graph,
    ranges: &mut BitRanges,
    fold: &Fold,
    root: Expr,
    target: Set,
    effort: &mut usize,
) -> ImpliedSets {
    let steps = vec![Step::Visit(root, target)];
    let mut work = Propagation { graph, ranges, fold, steps, results: Vec::new() };
    while let Some(step) = work.steps.pop() {
        match step {
            Step::Visit(e, target) => {
                if *effort == 0 {
                    return ImpliedSets::unknown(Imprecision::Size);
                }
                *effort = effort.saturating_sub(1 + target.interval_count() / PAIRS_PER_NODE);
                work.visit(e, target);
            }
            Step::Intersect | Step::Unite => {
                let b = work.results.pop().expect("two results");
                let a = work.results.pop().expect("two results");
                let both =
                    if matches!(step, Step::Intersect) { a.intersect(b) } else { a.unite(b, work.ranges) };
                work.results.push(both);
            }
            Step::Done(result) => work.results.push(result),
            Step::Inexact(imprecision) => {
                let one = work.results.pop().expect("a result");
                work.results.push(one.inexact(imprecision));
            }
        }
    }
    work.results.pop().expect("the root's result")
}

impl Propagation<'_> {
    fn visit(&mut self, e: Expr, target: Set) {
        let Some(own) = self.fold.known(e) else {
            let imprecision = if self.graph.width(e) > 64 {
                Imprecision::Width
            } else {
                self.fold.imprecision.unwrap_or(Imprecision::Array)
            };
            return self.results.push(ImpliedSets::unknown(imprecision));
        };
        if own.is_subset(&target) {
            return self.results.push(ImpliedSets::unrestricted());
        }
        // A superset of the intersection would be sound, but must not exceed the target.
        let target = Some(own.intersect(&target)).filter(|both| both.exact).map_or(target, |both| both.set);
        if target.is_empty() {
            return self.results.push(ImpliedSets::impossible());
        }
        if let Some(number) = self.fold.leaf(e) {
            return self.results.push(ImpliedSets::single(number, target));
        }
        let op = self.graph.op(e);
        match self.graph.op(e).arity() {
            _ if op == Op::Read => self.read(e, &target),
            1 => self.unary(e, &target),
            2 => self.binary(e, &target),
            _ if op == Op::Ite => self.ite(e, target),
            3 => self.results.push(ImpliedSets::unknown(Imprecision::Operator(op))),
            _ => unreachable!("{op:?} is a leaf or a constant, which has one value"),
        }
    }

    fn visit_operand(&mut self, kid: Expr, target: Set, exact: bool, imprecision: Imprecision) {
        if !exact {
            self.steps.push(Step::Inexact(imprecision));
        }
        self.steps.push(Step::Visit(kid, target));
    }

    fn unary(&mut self, e: Expr, target: &Set) {
        let (op, kid) = (self.graph.op(e), self.graph.kid(e, 0));
        let Some(own) = self.fold.known(kid) else {
            return self.results.push(ImpliedSets::unknown(Imprecision::Width));
        };
        let before = backward::unary(op, fold::shape(self.graph, e), target, own);
        self.visit_operand(kid, before.set, before.exact, Imprecision::Operator(op));
    }

    fn binary(&mut self, e: Expr, target: &Set) {
        let (op, a, b) = (self.graph.op(e), self.graph.kid(e, 0), self.graph.kid(e, 1));
        let (Some(x), Some(y)) = (self.fold.known(a), self.fold.known(b)) else {
            let wide = self.graph.width(a) > 64 || self.graph.width(b) > 64;
            let imprecision = if wide { Imprecision::Width } else { Imprecision::Array };
            return self.results.push(ImpliedSets::unknown(imprecision));
        };
        let shape = fold::shape(self.graph, e);
        for (which, kid, constant) in [(0, a, y.value()), (1, b, x.value())] {
            if let Some(c) = constant {
                if let Some(part) = self.masked_leaf(op, kid, c, which, target) {
                    return self.results.push(part);
                }
                let before = backward::binary(op, shape, target, x, y, which);
                // A value that is constant only in this context has reasons, so the result is not exact without
                // them.
                let exact = before.exact && self.graph.is_const(if which == 0 { b } else { a });
                return self.visit_operand(kid, before.set, exact, Imprecision::Operator(op));
            }
        }
        if shape.operand == 1 && self.connective(op, a, b, target) {
            return;
        }
        let (left, right) =
            (backward::binary(op, shape, target, x, y, 0), backward::binary(op, shape, target, x, y, 1));
        // If the whole word has one value, so has each part.
        let is_concat = op == Op::Concat || forward::disjoint_bits(op, x, y).is_some();
        if !is_concat || target.value().is_none() {
            self.steps.push(Step::Inexact(Imprecision::Several(op)));
        }
        self.steps.push(Step::Intersect);
        self.steps.push(Step::Visit(b, right.set));
        self.steps.push(Step::Visit(a, left.set));
    }

    /// Boolean connectives: exact, by cases. Returns false for other operators.
    fn connective(&mut self, op: Op, a: Expr, b: Expr, target: &Set) -> bool {
        let wanted = target.contains(1);
        let visit = |e, truth| Step::Visit(e, Set::truth(truth));
        match op {
            Op::And | Op::Or => {
                // Both operands for a true `and` or a false `or`, otherwise either.
                self.steps.push(if (op == Op::And) == wanted { Step::Intersect } else { Step::Unite });
                self.steps.extend([visit(a, wanted), visit(b, wanted)]);
                true
            }
            Op::Xor | Op::Eq => {
                let equal = (op == Op::Eq) == wanted;
                self.steps.extend([Step::Unite, Step::Intersect, visit(a, true), visit(b, equal)]);
                self.steps.extend([Step::Intersect, visit(a, false), visit(b, !equal)]);
                true
            }
            _ => false,
        }
    }

    /// A mask or a shift of a leaf restricts only some of its bits.
    fn masked_leaf(&mut self, op: Op, kid: Expr, c: u64, which: usize, target: &Set) -> Option<ImpliedSets> {
        let leaf = super::range::leaf_bits(self.graph, kid).filter(|leaf| leaf.width > MAX_BITMAP_WIDTH)?;
        let width = leaf.width;
        let (m, target) = match op {
            Op::And => (c, target.clone()),
            // x | c = (x & !c) + c
            Op::Or => {
                let shape = Shape { width, operand: width, low: 0 };
                let rest = forward::by_intervals(Op::Sub, shape, target, &Set::single(width, c));
                (!c & mask(width), if rest.exact { rest.set } else { return None })
            }
            Op::Shl if which == 0 && c < u64::from(width) => {
                let kept = width - c as u32;
                let field = backward::unscaled(target, c as u32, kept);
                let number = self.ranges.number(leaf.part(0, kept));
                let part = ImpliedSets::single(number, field.set);
                return Some(if field.exact { part } else { part.inexact(Imprecision::Operator(op)) });
            }
            _ => return None,
        };
        let all = runs(m);
        let (first, last) = (all.first()?, all.last()?);
        let (low, hull) = (first.0, last.0 + last.1 - first.0);
        if all.len() == 1 || hull <= MAX_BITMAP_WIDTH {
            let field = if all.len() == 1 {
                backward::unscaled(&target, low, hull)
            } else {
                Set::from_values(hull, (0..=mask(hull)).filter(|v| target.contains(v << low & m)))
            };
            let number = self.ranges.number(leaf.part(low, hull));
            let part = ImpliedSets::single(number, field.set);
            return Some(if field.exact { part } else { part.inexact(Imprecision::Operator(op)) });
        }
        let value = target.value()?;
        if value & !m != 0 {
            return Some(ImpliedSets::impossible());
        }
        let mut result = ImpliedSets::unrestricted();
        for (low, length) in all {
            let number = self.ranges.number(leaf.part(low, length));
            result = result
                .intersect(ImpliedSets::single(number, Set::single(length, value >> low & ones(length))));
        }
        Some(result)
    }

    fn ite(&mut self, e: Expr, target: Set) {
        let [condition, then, otherwise] = [0, 1, 2].map(|i| self.graph.kid(e, i));
        let visit = |e, truth| Step::Visit(e, Set::truth(truth));
        self.steps.extend([
            Step::Unite,
            Step::Intersect,
            Step::Visit(then, target.clone()),
            visit(condition, true),
        ]);
        self.steps.extend([Step::Intersect, Step::Visit(otherwise, target), visit(condition, false)]);
    }

    /// A read with few indices by cases; a read of a table by the indices at which an element of the target is
    /// found.
    fn read(&mut self, e: Expr, target: &Set) {
        let (array, index) = (self.graph.kid(e, 0), self.graph.kid(e, 1));
        if let Some(cases) = self.fold.cases(e) {
            self.steps.push(Step::Inexact(Imprecision::Array));
            self.steps.extend((1..cases.len()).map(|_| Step::Unite));
            for &(at, case) in cases {
                let result = match case {
                    ReadCase::Element(element) => Step::Visit(element, target.clone()),
                    ReadCase::Bits(number) => Step::Done(ImpliedSets::single(number, target.clone())),
                    ReadCase::Word(word) if target.contains(word) => Step::Done(ImpliedSets::unrestricted()),
                    ReadCase::Word(_) => Step::Done(ImpliedSets::impossible()),
                };
                let here = Set::single(self.graph.width(index), at);
                self.steps.extend([Step::Intersect, result, Step::Visit(index, here)]);
            }
            return;
        }
        let unknown = ImpliedSets::unknown(Imprecision::Array);
        let Some(own) = self.fold.known(index).filter(|_| self.graph.op(array) == Op::Table) else {
            return self.results.push(unknown);
        };
        let elements = &self.graph.table(array).elements;
        let count = u64::from(self.graph.read_count(e));
        let inside = table_indices(own, elements.len() as u64, count);
        if inside.count() > MAX_INDICES || !own.is_subset(&inside) {
            return self.results.push(unknown);
        }
        let step = self.graph.width(array);
        let fits = inside.values().filter(|&at| target.contains(table_word(elements, at, count, step)));
        let before = Set::from_values(own.width(), fits);
        self.visit_operand(index, before.set, before.exact, Imprecision::Array);
    }
}
