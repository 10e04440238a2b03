//! Propagates the target of an expression down to values of inputs.

use super::float::operand_target;
use super::inverse::{Operand, Target, comparison_target, operand_value};
use crate::expr::bits::mask;
use crate::expr::eval::{Evaluation, Shape};
use crate::expr::walk::{Atom, Marks, element_range};
use crate::expr::{Expr, Family, FloatOp, Graph, Op};
use smallvec::SmallVec;

/// Nodes visited in the search for a route to the input.
const MAX_VISITED: usize = 512;
/// Targets propagated in one call.
const MAX_STEPS: u32 = 128;
/// Elements of a table that are compared with a target.
const MAX_TABLE_ELEMENTS: usize = 1024;
/// Writes over an array that are followed.
const MAX_WRITES: usize = 1024;

/// Scratch memory for propagations, and the inputs changed since `begin`.
#[derive(Default)]
pub struct Propagation {
    marks: Marks,
    /// Route from the root of the last propagation down to its input, with the number of operands visited at each node.
    route: Vec<(Expr, usize)>,
    /// Changes of the last propagation.
    changes: Vec<(Atom, u64)>,
    /// Inputs changed since `begin`.
    changed: Vec<Atom>,
}

impl Propagation {
    pub fn begin(&mut self) {
        self.changed.clear();
    }

    pub fn changed(&self) -> &[Atom] {
        &self.changed
    }

    /// Marks the inputs of the last propagation as changed.
    pub fn accept(&mut self) {
        self.changed.extend(self.changes.iter().map(|(atom, _)| *atom));
    }

    /// Marks an input as changed.
    pub fn mark_changed(&mut self, input: Atom) {
        self.changed.push(input);
    }

    /// New values of inputs, first of all of `input`, under which the constraint should hold.
    pub fn propagate(
        &mut self,
        graph: &Graph,
        session: Evaluation<'_>,
        constraint: Expr,
        input: Atom,
    ) -> Option<&[(Atom, u64)]> {
        self.changes.clear();
        if !self.find_route(graph, constraint, input) {
            return None;
        }
        let mut walk =
            Walk { graph, session, route: &self.route, changes: &mut self.changes, steps: MAX_STEPS };
        if !walk.propagate(constraint, Target::one(1)) {
            return None;
        }
        Some(&self.changes)
    }

    /// Number of nodes on the route of the last propagation.
    pub fn route_length(&self) -> usize {
        self.route.len()
    }

    /// Finds a route from the root down to the input.
    fn find_route(&mut self, graph: &Graph, root: Expr, input: Atom) -> bool {
        self.marks.begin(graph);
        self.route.clear();
        self.route.push((root, 0));
        let mut visited = 0;
        while let Some((e, kid)) = self.route.last_mut() {
            if *kid == 0 && place_of(graph, input, *e).is_some() {
                return true;
            }
            let op = graph.op(*e);
            if *kid == op.arity() {
                self.route.pop();
                continue;
            }
            // Arms before the condition, the index before the array: targets are propagated most easily there.
            let next = graph.kid(*e, (*kid + usize::from(matches!(op, Op::Ite | Op::Read))) % op.arity());
            *kid += 1;
            if self.marks.is_new(next) {
                visited += 1;
                if visited > MAX_VISITED {
                    return self.find_shortest_route(graph, root, input);
                }
                self.route.push((next, 0));
            }
        }
        false
    }
}

impl Propagation {
    /// Finds a route of the fewest nodes. In a running sum the newest input is near the root, and a walk down the older
    /// ones does not end.
    fn find_shortest_route(&mut self, graph: &Graph, root: Expr, input: Atom) -> bool {
        self.marks.begin(graph);
        // Nodes with the position of the user they were reached from.
        let mut reached = vec![(root, 0)];
        let mut at = 0;
        while at < reached.len().min(MAX_VISITED) {
            let (e, mut user) = reached[at];
            if place_of(graph, input, e).is_some() {
                self.route.clear();
                self.route.push((e, 0));
                while at > 0 {
                    self.route.push((reached[user].0, 0));
                    (at, user) = (user, reached[user].1);
                }
                self.route.reverse();
                return true;
            }
            reached
                .extend(graph.kids(e).into_iter().filter(|kid| self.marks.is_new(*kid)).map(|kid| (kid, at)));
            at += 1;
        }
        false
    }
}

/// The lowest bit of an input within a leaf; `None` if the input is not part of the leaf.
fn place_of(graph: &Graph, input: Atom, leaf: Expr) -> Option<u32> {
    match (graph.op(leaf), input) {
        (Op::Var, Atom::Variable(variable)) => (leaf == variable).then_some(0),
        (Op::Read, Atom::Element(array, at)) => {
            let (of, first, count) = element_range(graph, leaf)?;
            let inside = of == array && (first..first + count).contains(&at);
            inside.then(|| (at - first) as u32 * graph.width(array))
        }
        _ => None,
    }
}

struct Walk<'a, 'w> {
    graph: &'a Graph,
    session: Evaluation<'a>,
    route: &'w [(Expr, usize)],
    changes: &'w mut Vec<(Atom, u64)>,
    steps: u32,
}

impl Walk<'_, '_> {
    /// The current value of the expression, with the changes applied if it is an input itself.
    fn value(&mut self, e: Expr) -> u64 {
        let mut word = self.session.word(e);
        for &(input, value) in self.changes.iter() {
            if let Some(low) = place_of(self.graph, input, e) {
                word = word & !(mask(self.graph.width(input.variable())) << low) | value << low;
            }
        }
        word
    }

    fn set(&mut self, atom: Atom, value: u64) -> bool {
        match self.changes.iter_mut().find(|(other, _)| *other == atom) {
            Some((_, known)) => *known = value,
            None => self.changes.push((atom, value)),
        }
        true
    }

    /// The operand on the route to the input, else the first that is not a constant.
    fn operand_to_change(&self, e: Expr) -> usize {
        let (first, second) = (self.graph.kid(e, 0), self.graph.kid(e, 1));
        if self.on_route(first) || (!self.on_route(second) && !self.graph.is_const(first)) { 0 } else { 1 }
    }

    fn on_route(&self, e: Expr) -> bool {
        self.route.iter().any(|(of, _)| *of == e)
    }

    /// Propagates a target down to inputs. False if that is impossible or not implemented.
    fn propagate(&mut self, e: Expr, target: Target) -> bool {
        if self.steps == 0 || self.graph.width(e) > 64 {
            return false;
        }
        self.steps -= 1;
        let now = self.value(e);
        if target.contains(now) {
            return true;
        }
        let width = self.graph.width(e);
        let kid = |place: usize| self.graph.kid(e, place);
        let op = self.graph.op(e);
        if let Family::Float(float) = op.family() {
            return self.propagate_float(float, e, target);
        }
        match op {
            Op::Const | Op::Table | Op::ConstArray | Op::Store => false,
            Op::Var => self.set(Atom::Variable(e), target.nearest(now)),
            Op::Read => self.propagate_read(e, target, now),
            Op::Not => self.propagate(kid(0), target.taken_from(mask(width), width)),
            Op::ZExt => {
                let of = self.graph.width(kid(0));
                target.within(of).is_some_and(|target| self.propagate(kid(0), target))
            }
            Op::SExt => {
                let of = self.graph.width(kid(0));
                target.within_signed(of, width).is_some_and(|target| self.propagate(kid(0), target))
            }
            Op::Extract => {
                if self.graph.width(kid(0)) > 64 {
                    return false;
                }
                let low = self.graph.extract_low(e);
                let whole = self.value(kid(0));
                let wanted = whole & !(mask(width) << low) | target.nearest(now) << low;
                let above = low + width;
                if above >= self.graph.width(kid(0)) {
                    return self.propagate(kid(0), Target::one(wanted));
                }
                // The bits above stay as they are, or change by a carry: a sum of narrow numbers is computed in wide ones.
                let before = self.changes.len();
                [0, 1, u64::MAX].into_iter().any(|carry: u64| {
                    self.changes.truncate(before);
                    let value = wanted.wrapping_add(carry << above) & mask(self.graph.width(kid(0)));
                    self.propagate(kid(0), Target::one(value))
                })
            }
            Op::Concat => {
                let (value, low) = (target.nearest(now), self.graph.width(kid(1)));
                self.propagate(kid(0), Target::one(value >> low))
                    && self.propagate(kid(1), Target::one(value & mask(low)))
            }
            Op::Ite => self.propagate_ite(e, target),
            op if op.is_comparison() => {
                let of = self.graph.width(kid(0));
                if of > 64 || self.graph.is_array(kid(0)) {
                    return false;
                }
                let place = self.operand_to_change(e);
                let other = self.value(kid(1 - place));
                comparison_target(op, of, place == 0, other, target.contains(1))
                    .is_some_and(|target| self.propagate(kid(place), target))
            }
            Op::Add => {
                let place = self.operand_to_change(e);
                let other = self.value(kid(1 - place));
                self.propagate(kid(place), target.minus(other, width))
            }
            Op::Sub => {
                let place = self.operand_to_change(e);
                let other = self.value(kid(1 - place));
                let target =
                    if place == 0 { target.plus(other, width) } else { target.taken_from(other, width) };
                self.propagate(kid(place), target)
            }
            op if op.arity() == 2 => self.propagate_to_operand(e, target.nearest(now)),
            _ => false,
        }
    }

    fn propagate_float(&mut self, float: FloatOp, e: Expr, target: Target) -> bool {
        let kids = self.graph.kids(e);
        if kids.iter().any(|&kid| self.graph.width(kid) > 64) {
            return false;
        }
        let operands: SmallVec<[u64; 3]> = kids.iter().map(|&kid| self.value(kid)).collect();
        let place = if kids.len() == 2 { self.operand_to_change(e) } else { 0 };
        operand_target(float, self.graph.op(e), self.graph.shape(e), &operands, place, target)
            .is_some_and(|target| self.propagate(kids[place], target))
    }

    fn propagate_to_operand(&mut self, e: Expr, wanted: u64) -> bool {
        let (op, width) = (self.graph.op(e), self.graph.width(e));
        let place = self.operand_to_change(e);
        let (changing, staying) = (self.graph.kid(e, place), self.graph.kid(e, 1 - place));
        let mut other = self.value(staying);
        // An operand whose bits make the wanted result impossible has to change as well.
        let needed = match op {
            Op::And => other | wanted,
            Op::Or => other & wanted,
            _ => other,
        };
        if needed != other {
            if !self.propagate(staying, Target::one(needed)) {
                return false;
            }
            other = needed;
        }
        let current = Operand { first: place == 0, current: self.value(changing), other };
        let shape = Shape { width, operand: width, low: 0 };
        operand_value(op, shape, current, wanted)
            .is_some_and(|value| self.propagate(changing, Target::one(value)))
    }

    fn propagate_ite(&mut self, e: Expr, target: Target) -> bool {
        let [condition, yes, no] = [0, 1, 2].map(|place| self.graph.kid(e, place));
        let holds = self.value(condition) != 0;
        let (taken, other) = if holds { (yes, no) } else { (no, yes) };
        if self.on_route(taken) && !self.on_route(other) {
            return self.propagate(taken, target);
        }
        // If the other arm already has the target, only the condition changes.
        self.propagate(other, target) && self.propagate(condition, Target::one(u64::from(!holds)))
    }

    fn propagate_read(&mut self, e: Expr, target: Target, now: u64) -> bool {
        let (mut array, index) = (self.graph.kid(e, 0), self.graph.kid(e, 1));
        let each = self.graph.width(array);
        if let Some((array, first, count)) = element_range(self.graph, e) {
            let value = target.nearest(now);
            let element = |i: u64| value >> (i as u32 * each) & mask(each);
            return (0..count).all(|i| {
                let wanted = element(i);
                now >> (i as u32 * each) & mask(each) == wanted
                    || self.set(Atom::Element(array, first + i), wanted)
            });
        }
        if self.graph.read_count(e) != 1 || self.graph.width(index) > 64 {
            return false;
        }
        let at = self.value(index);
        for _ in 0..MAX_WRITES {
            let kid = |place: usize| self.graph.kid(array, place);
            match self.graph.op(array) {
                Op::Store if self.value(kid(1)) == at => return self.propagate(kid(2), target),
                Op::Store => array = kid(0),
                Op::Ite => array = if self.value(kid(0)) != 0 { kid(1) } else { kid(2) },
                Op::Var => return self.set(Atom::Element(array, at), target.nearest(now)),
                Op::Table => {
                    let elements = &self.graph.table(array).elements;
                    if at >= elements.len() as u64 {
                        array = kid(0);
                        continue;
                    }
                    let found = elements
                        .iter()
                        .take(MAX_TABLE_ELEMENTS)
                        .enumerate()
                        .filter(|(_, value)| target.contains(**value));
                    let nearest = found.map(|(i, _)| i as u64).min_by_key(|i| i.abs_diff(at));
                    return nearest.is_some_and(|i| self.propagate(index, Target::one(i)));
                }
                _ => return false,
            }
        }
        false
    }
}
