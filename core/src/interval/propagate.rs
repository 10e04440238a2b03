//! ImpliedSets: what an expression's having a value in a target implied of its leaves.
//!
//! From the root downwards, each operator's preimage turns the target of a node into targets of its operands, until
//! ranges are reached. Conjunctions meet, disjunctions and both arms of an `ite` join. The result is a conjunction of
//! sets of ranges that every solution satisfies; `exact` implied that whatever satisfies it is a solution, which holds
//! while the path to the one leaf is a chain of exact preimages and joins are of one range.

use super::backward;
use super::field::ones;
use super::fold::{self, Case, Fold, Imprecision, MAX_INDICES, PAIRS_PER_NODE, table_indices, table_word};
use super::forward::{self, runs};
use super::range::{BitRange, BitRanges};
use super::set::{MAX_BITMAP_WIDTH, Set};
use crate::expr::bits::mask;
use crate::expr::eval::Shape;
use crate::expr::{Expr, Graph, Op};
use smallvec::{SmallVec, smallvec};

/// Visits after which an expression is given up; shared sets are visited once for each target.
pub const MAX_VISITS: usize = 512;

/// Sets of ranges, all of which hold.
#[derive(Clone, Debug)]
pub struct ImpliedSets {
    pub sets: SmallVec<[(u32, Set); 2]>,
    pub exact: bool,
    /// There is no solution at all.
    pub impossible: bool,
    /// What made it inexact first.
    pub imprecision: Option<Imprecision>,
}

impl ImpliedSets {
    /// Nothing is said.
    pub fn nothing() -> ImpliedSets {
        ImpliedSets { sets: SmallVec::new(), exact: true, impossible: false, imprecision: None }
    }

    pub fn unknown(imprecision: Imprecision) -> ImpliedSets {
        ImpliedSets { exact: false, imprecision: Some(imprecision), ..ImpliedSets::nothing() }
    }

    fn impossible() -> ImpliedSets {
        ImpliedSets { impossible: true, ..ImpliedSets::nothing() }
    }

    pub fn part(number: u32, set: Set) -> ImpliedSets {
        let impossible = set.is_empty();
        ImpliedSets { sets: smallvec![(number, set)], impossible, ..ImpliedSets::nothing() }
    }

    fn inexact(mut self, imprecision: Imprecision) -> ImpliedSets {
        if !self.impossible {
            self.exact = false;
            self.imprecision.get_or_insert(imprecision);
        }
        self
    }

    fn meet(mut self, other: ImpliedSets) -> ImpliedSets {
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

    fn join(self, other: ImpliedSets, ranges: &mut BitRanges) -> ImpliedSets {
        if self.impossible {
            return other;
        }
        if other.impossible {
            return self;
        }
        // One side implied nothing: neither do both, exactly so if that side is exact.
        for (whole, rest) in [(&self, &other), (&other, &self)] {
            if whole.sets.is_empty() {
                let exact = whole.exact;
                return ImpliedSets {
                    exact,
                    imprecision: whole.imprecision.or(rest.imprecision),
                    ..ImpliedSets::nothing()
                };
            }
        }
        let exact = self.exact && other.exact;
        let imprecision = self.imprecision.or(other.imprecision);
        if let ([(a, x)], [(b, y)]) = (&self.sets[..], &other.sets[..]) {
            let (number, x, y) = if a == b {
                (*a, Some(x.clone()), Some(y.clone()))
            } else {
                lifted(ranges, (*a, x), (*b, y))
            };
            if let (Some(x), Some(y)) = (x, y) {
                let both = x.union(&y);
                let mut joined = ImpliedSets::part(number, both.set);
                joined.exact = exact && both.exact;
                joined.imprecision = imprecision;
                return joined;
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
        // The union of two boxes is a box if they differ in one direction only.
        let (mine, others, common) = (self.sets.len(), other.sets.len(), sets.len());
        let box_shaped = common == mine && common == others && same + 1 >= common;
        let exact = exact && box_shaped && !lost;
        let joined = ImpliedSets { sets, exact: true, impossible: false, imprecision };
        if exact { joined } else { joined.inexact(Imprecision::Several(Op::Or)) }
    }
}

/// Two sets of different ranges as sets of one range that covers both, if that loses nothing.
fn lifted(ranges: &mut BitRanges, a: (u32, &Set), b: (u32, &Set)) -> (u32, Option<Set>, Option<Set>) {
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

enum Task {
    Visit(Expr, Set),
    Meet,
    Join,
    Inexact(Imprecision),
    Done(ImpliedSets),
}

struct Propagation<'a> {
    graph: &'a Graph,
    ranges: &'a mut BitRanges,
    fold: &'a Fold,
    tasks: Vec<Task>,
    results: Vec<ImpliedSets>,
}

/// What `root`'s value being in `target` implied, given the fold of `root`. Takes its visits from `effort`.
pub fn propagate(
    graph: &Graph,
    ranges: &mut BitRanges,
    fold: &Fold,
    root: Expr,
    target: Set,
    effort: &mut usize,
) -> ImpliedSets {
    let tasks = vec![Task::Visit(root, target)];
    let mut work = Propagation { graph, ranges, fold, tasks, results: Vec::new() };
    while let Some(task) = work.tasks.pop() {
        match task {
            Task::Visit(e, target) => {
                if *effort == 0 {
                    return ImpliedSets::unknown(Imprecision::Size);
                }
                *effort = effort.saturating_sub(1 + target.interval_count() / PAIRS_PER_NODE);
                work.visit(e, target);
            }
            Task::Meet | Task::Join => {
                let b = work.results.pop().expect("two results");
                let a = work.results.pop().expect("two results");
                let both = if matches!(task, Task::Meet) { a.meet(b) } else { a.join(b, work.ranges) };
                work.results.push(both);
            }
            Task::Done(result) => work.results.push(result),
            Task::Inexact(imprecision) => {
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
            return self.results.push(ImpliedSets::nothing());
        }
        // A superset of the meet would do too, but not one beyond the target.
        let target = Some(own.intersect(&target)).filter(|both| both.exact).map_or(target, |both| both.set);
        if target.is_empty() {
            return self.results.push(ImpliedSets::impossible());
        }
        if let Some(number) = self.fold.leaf(e) {
            return self.results.push(ImpliedSets::part(number, target));
        }
        let op = self.graph.op(e);
        match self.graph.op(e).arity() {
            _ if op == Op::Read => self.read(e, &target),
            1 => self.unary(e, &target),
            2 => self.binary(e, &target),
            3 => self.ite(e, target),
            _ => unreachable!("{op:?} is a leaf or a constant, which has one value"),
        }
    }

    fn go(&mut self, kid: Expr, target: Set, exact: bool, imprecision: Imprecision) {
        if !exact {
            self.tasks.push(Task::Inexact(imprecision));
        }
        self.tasks.push(Task::Visit(kid, target));
    }

    fn unary(&mut self, e: Expr, target: &Set) {
        let (op, kid) = (self.graph.op(e), self.graph.kid(e, 0));
        let Some(own) = self.fold.known(kid) else {
            return self.results.push(ImpliedSets::unknown(Imprecision::Width));
        };
        let before = backward::unary(op, fold::shape(self.graph, e), target, own);
        self.go(kid, before.set, before.exact, Imprecision::Operator(op));
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
                if let Some(part) = self.fields(op, kid, c, which, target) {
                    return self.results.push(part);
                }
                let before = backward::binary(op, shape, target, x, y, which);
                // A value that only the context makes constant belongs to the reasons, not to the exactness.
                let exact = before.exact && self.graph.is_const(if which == 0 { b } else { a });
                return self.go(kid, before.set, exact, Imprecision::Operator(op));
            }
        }
        if shape.operand == 1 && self.truths(op, a, b, target) {
            return;
        }
        let (left, right) =
            (backward::binary(op, shape, target, x, y, 0), backward::binary(op, shape, target, x, y, 1));
        // The sets of one known word are known.
        let sets = op == Op::Concat || forward::disjoint(op, x, y).is_some();
        if !sets || target.value().is_none() {
            self.tasks.push(Task::Inexact(Imprecision::Several(op)));
        }
        self.tasks.push(Task::Meet);
        self.tasks.push(Task::Visit(b, right.set));
        self.tasks.push(Task::Visit(a, left.set));
    }

    /// Connectives: exact, case by case. False for operators that are none.
    fn truths(&mut self, op: Op, a: Expr, b: Expr, target: &Set) -> bool {
        let wanted = target.contains(1);
        let visit = |e, truth| Task::Visit(e, Set::truth(truth));
        match op {
            Op::And | Op::Or => {
                // Both at once where one would spoil it, otherwise either.
                self.tasks.push(if (op == Op::And) == wanted { Task::Meet } else { Task::Join });
                self.tasks.extend([visit(a, wanted), visit(b, wanted)]);
                true
            }
            Op::Xor | Op::Eq => {
                let equal = (op == Op::Eq) == wanted;
                self.tasks.extend([Task::Join, Task::Meet, visit(a, true), visit(b, equal)]);
                self.tasks.extend([Task::Meet, visit(a, false), visit(b, !equal)]);
                true
            }
            _ => false,
        }
    }

    /// A mask or a shift of a leaf concerns only some bits of it: sets of those.
    fn fields(&mut self, op: Op, kid: Expr, c: u64, which: usize, target: &Set) -> Option<ImpliedSets> {
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
                let part = ImpliedSets::part(number, field.set);
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
            let part = ImpliedSets::part(number, field.set);
            return Some(if field.exact { part } else { part.inexact(Imprecision::Operator(op)) });
        }
        let value = target.value()?;
        if value & !m != 0 {
            return Some(ImpliedSets::impossible());
        }
        let mut result = ImpliedSets::nothing();
        for (low, length) in all {
            let number = self.ranges.number(leaf.part(low, length));
            result = result.meet(ImpliedSets::part(number, Set::single(length, value >> low & ones(length))));
        }
        Some(result)
    }

    fn ite(&mut self, e: Expr, target: Set) {
        let [condition, then, otherwise] = [0, 1, 2].map(|i| self.graph.kid(e, i));
        let visit = |e, truth| Task::Visit(e, Set::truth(truth));
        self.tasks.extend([
            Task::Join,
            Task::Meet,
            Task::Visit(then, target.clone()),
            visit(condition, true),
        ]);
        self.tasks.extend([Task::Meet, Task::Visit(otherwise, target), visit(condition, false)]);
    }

    /// A read of few indices, each a case; or of a table: the indices at which the target is found.
    fn read(&mut self, e: Expr, target: &Set) {
        let (array, index) = (self.graph.kid(e, 0), self.graph.kid(e, 1));
        if let Some(cases) = self.fold.cases(e) {
            self.tasks.push(Task::Inexact(Imprecision::Array));
            self.tasks.extend((1..cases.len()).map(|_| Task::Join));
            for &(at, case) in cases {
                let finds = match case {
                    Case::Element(element) => Task::Visit(element, target.clone()),
                    Case::Bits(number) => Task::Done(ImpliedSets::part(number, target.clone())),
                    Case::Word(word) if target.contains(word) => Task::Done(ImpliedSets::nothing()),
                    Case::Word(_) => Task::Done(ImpliedSets::impossible()),
                };
                let here = Set::single(self.graph.width(index), at);
                self.tasks.extend([Task::Meet, finds, Task::Visit(index, here)]);
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
        self.go(index, before.set, before.exact, Imprecision::Array);
    }
}
