//! From what an expression is wanted to be to what inputs would have to be.

use super::inverse::{Place, Wish, operand, side};
use crate::expr::bits::mask;
use crate::expr::eval::{Session, Shape};
use crate::expr::walk::{Atom, Marks, element_range};
use crate::expr::{Expr, Graph, Op};

/// Nodes that are looked at for a way to the input, and wishes that are passed on.
const LOOKED_AT: usize = 512;
const STEPS: u32 = 128;
/// Elements of a table, and writes over an array, that are looked through.
const TABLE: usize = 1024;
const WRITES: usize = 1024;

/// Memory for walks, and the inputs that were changed so far.
#[derive(Default)]
pub struct Wishes {
    marks: Marks,
    /// From the top of the last walk down to its input, with the number of operands that were looked at.
    way: Vec<(Expr, usize)>,
    /// Of the last walk, and of all since the beginning.
    changes: Vec<(Atom, u64)>,
    changed: Vec<Atom>,
}

impl Wishes {
    pub fn begin(&mut self) {
        self.changed.clear();
    }

    pub fn changed(&self) -> &[Atom] {
        &self.changed
    }

    /// The last changes are made.
    pub fn accept(&mut self) {
        self.changed.extend(self.changes.iter().map(|(atom, _)| *atom));
    }

    /// This input was changed.
    pub fn note(&mut self, input: Atom) {
        self.changed.push(input);
    }

    /// Other values of inputs, above all of this one, under which the truth should hold.
    pub fn grant(
        &mut self,
        graph: &Graph,
        session: Session<'_>,
        truth: Expr,
        input: Atom,
    ) -> Option<&[(Atom, u64)]> {
        self.changes.clear();
        if !self.find(graph, truth, input) {
            return None;
        }
        let mut walk = Walk { graph, session, way: &self.way, changes: &mut self.changes, steps: STEPS };
        if !walk.wish(truth, Wish::one(1)) {
            return None;
        }
        Some(&self.changes)
    }

    /// Goes down from the root to where the input is.
    fn find(&mut self, graph: &Graph, root: Expr, input: Atom) -> bool {
        self.marks.begin(graph);
        self.way.clear();
        self.way.push((root, 0));
        let mut looked_at = 0;
        while let Some((e, kid)) = self.way.last_mut() {
            if *kid == 0 && place_of(graph, input, *e).is_some() {
                return true;
            }
            let op = graph.op(*e);
            if *kid == op.arity() {
                self.way.pop();
                continue;
            }
            // Arms before the condition, the index before the array: what is wanted is passed on most easily there.
            let next = graph.kid(*e, (*kid + usize::from(matches!(op, Op::Ite | Op::Read))) % op.arity());
            *kid += 1;
            if self.marks.is_new(next) {
                looked_at += 1;
                if looked_at > LOOKED_AT {
                    return false;
                }
                self.way.push((next, 0));
            }
        }
        false
    }
}

/// The lowest bit of an input in a leaf, if it is one that the input is part of.
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
    session: Session<'a>,
    way: &'w [(Expr, usize)],
    changes: &'w mut Vec<(Atom, u64)>,
    steps: u32,
}

impl Walk<'_, '_> {
    /// What the expression is, with changes to inputs as far as it is one itself.
    fn now(&mut self, e: Expr) -> u64 {
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

    /// The operand on the way to the input, or the first that is not a constant.
    fn choice(&self, e: Expr) -> usize {
        let (first, second) = (self.graph.kid(e, 0), self.graph.kid(e, 1));
        if self.on_way(first) || (!self.on_way(second) && !self.graph.is_const(first)) { 0 } else { 1 }
    }

    fn on_way(&self, e: Expr) -> bool {
        self.way.iter().any(|(of, _)| *of == e)
    }

    /// Passes a wish on to the inputs. False where that is not possible, or not known how.
    fn wish(&mut self, e: Expr, wish: Wish) -> bool {
        if self.steps == 0 || self.graph.width(e) > 64 {
            return false;
        }
        self.steps -= 1;
        let now = self.now(e);
        if wish.contains(now) {
            return true;
        }
        let width = self.graph.width(e);
        let kid = |place: usize| self.graph.kid(e, place);
        let op = self.graph.op(e);
        match op {
            Op::Const | Op::Table | Op::ConstArray | Op::Store => false,
            Op::Var => self.set(Atom::Variable(e), wish.nearest(now)),
            Op::Read => self.wish_read(e, wish, now),
            Op::Not => self.wish(kid(0), wish.taken_from(mask(width), width)),
            Op::ZExt => {
                let of = self.graph.width(kid(0));
                wish.within(of).is_some_and(|wish| self.wish(kid(0), wish))
            }
            Op::SExt => {
                let of = self.graph.width(kid(0));
                wish.within_signed(of, width).is_some_and(|wish| self.wish(kid(0), wish))
            }
            Op::Extract => {
                if self.graph.width(kid(0)) > 64 {
                    return false;
                }
                let low = self.graph.extract_low(e);
                let whole = self.now(kid(0));
                self.wish(kid(0), Wish::one(whole & !(mask(width) << low) | wish.nearest(now) << low))
            }
            Op::Concat => {
                let (value, low) = (wish.nearest(now), self.graph.width(kid(1)));
                self.wish(kid(0), Wish::one(value >> low)) && self.wish(kid(1), Wish::one(value & mask(low)))
            }
            Op::Ite => self.wish_ite(e, wish),
            Op::Eq | Op::Ult | Op::Ule | Op::Slt | Op::Sle => {
                let of = self.graph.width(kid(0));
                if of > 64 || self.graph.is_array(kid(0)) {
                    return false;
                }
                let place = self.choice(e);
                let other = self.now(kid(1 - place));
                side(op, of, place == 0, other, wish.contains(1))
                    .is_some_and(|wish| self.wish(kid(place), wish))
            }
            Op::Add => {
                let place = self.choice(e);
                let other = self.now(kid(1 - place));
                self.wish(kid(place), wish.minus(other, width))
            }
            Op::Sub => {
                let place = self.choice(e);
                let other = self.now(kid(1 - place));
                let wish = if place == 0 { wish.plus(other, width) } else { wish.taken_from(other, width) };
                self.wish(kid(place), wish)
            }
            _ => self.wish_operand(e, wish.nearest(now)),
        }
    }

    fn wish_operand(&mut self, e: Expr, wanted: u64) -> bool {
        let (op, width) = (self.graph.op(e), self.graph.width(e));
        let place = self.choice(e);
        let (changing, staying) = (self.graph.kid(e, place), self.graph.kid(e, 1 - place));
        let mut other = self.now(staying);
        // Where the other operand stands in the way, it has to change as well.
        let needed = match op {
            Op::And => other | wanted,
            Op::Or => other & wanted,
            _ => other,
        };
        if needed != other {
            if !self.wish(staying, Wish::one(needed)) {
                return false;
            }
            other = needed;
        }
        let place = Place { first: place == 0, now: self.now(changing), other };
        let shape = Shape { width, operand: width, low: 0 };
        operand(op, shape, place, wanted).is_some_and(|value| self.wish(changing, Wish::one(value)))
    }

    fn wish_ite(&mut self, e: Expr, wish: Wish) -> bool {
        let [condition, yes, no] = [0, 1, 2].map(|place| self.graph.kid(e, place));
        let truth = self.now(condition) != 0;
        let (taken, other) = if truth { (yes, no) } else { (no, yes) };
        if self.on_way(taken) && !self.on_way(other) {
            return self.wish(taken, wish);
        }
        // Nothing to be done about the other arm if it is as wanted.
        self.wish(other, wish) && self.wish(condition, Wish::one(u64::from(!truth)))
    }

    fn wish_read(&mut self, e: Expr, wish: Wish, now: u64) -> bool {
        let (mut array, index) = (self.graph.kid(e, 0), self.graph.kid(e, 1));
        let each = self.graph.width(array);
        if let Some((array, first, count)) = element_range(self.graph, e) {
            let value = wish.nearest(now);
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
        let at = self.now(index);
        for _ in 0..WRITES {
            let kid = |place: usize| self.graph.kid(array, place);
            match self.graph.op(array) {
                Op::Store if self.now(kid(1)) == at => return self.wish(kid(2), wish),
                Op::Store => array = kid(0),
                Op::Ite => array = if self.now(kid(0)) != 0 { kid(1) } else { kid(2) },
                Op::Var => return self.set(Atom::Element(array, at), wish.nearest(now)),
                Op::Table => {
                    let elements = &self.graph.table(array).elements;
                    if at >= elements.len() as u64 {
                        array = kid(0);
                        continue;
                    }
                    let found =
                        elements.iter().take(TABLE).enumerate().filter(|(_, value)| wish.contains(**value));
                    let nearest = found.map(|(i, _)| i as u64).min_by_key(|i| i.abs_diff(at));
                    return nearest.is_some_and(|i| self.wish(index, Wish::one(i)));
                }
                _ => return false,
            }
        }
        false
    }
}
