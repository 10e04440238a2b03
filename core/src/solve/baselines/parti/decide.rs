//! The decision stage: the condition is folded bottom-up over the learnt sets (section 3.4 of the paper).
//!
//! A shift by a constant to the left, or a product with a power of two, becomes the left-shift attribute of its set:
//! the set is of the bits above, and every value has this many zeros below. Sums and equalities take operands of the same
//! attribute; a constant has any attribute that its zeros allow, without which `base + 8 * i` could not be folded. Orders
//! apply the attribute to the closure. Casts keep it. Right shifts and divisions take sets without it.
//! The text prints the ends of the closure the wrong way round; a narrowing cast is modular.

use super::set::MultiInterval;
use super::{Abort, Reads, bool_to_word, read_of};
use crate::expr::{Expr, Graph, Op};
use rustc_hash::{FxHashMap, FxHashSet};

/// The set of an expression: words of `set.width` bits, shifted to the left.
#[derive(Clone, Debug)]
pub struct Folded {
    pub set: MultiInterval,
    pub shift: u32,
}

impl Folded {
    fn plain(set: MultiInterval) -> Folded {
        Folded { set, shift: 0 }
    }

    /// Least and greatest value, with the attribute applied.
    pub fn closure(&self, is_signed: bool) -> Option<(u64, u64)> {
        let (least, greatest) = self.set.closure(is_signed)?;
        Some((least << self.shift, greatest << self.shift))
    }
}

/// The sets of a condition and of everything below it.
pub type Folds = FxHashMap<Expr, Folded>;

/// The set of one expression.
pub fn fold(graph: &Graph, reads: &mut Reads, e: Expr) -> Result<Folded, Abort> {
    let mut all = fold_all(graph, reads, e)?;
    Ok(all.remove(&e).expect("the root was folded"))
}

/// The sets of an expression and of its operands.
pub fn fold_all(graph: &Graph, reads: &mut Reads, root: Expr) -> Result<Folds, Abort> {
    let mut order = Vec::new();
    let is_leaf = |e: Expr| -> Result<bool, Abort> {
        Ok(graph.is_const(e) || (!graph.is_array(e) && read_of(graph, e)?.is_some()))
    };
    // Reads are leaves: their index and array are not folded.
    let mut stack = vec![(root, false)];
    let mut seen = FxHashSet::default();
    while let Some((e, is_done)) = stack.pop() {
        if is_done {
            order.push(e);
        } else if seen.insert(e) {
            if graph.is_array(e) || graph.width(e) > 64 {
                return Err("width");
            }
            stack.push((e, true));
            if !is_leaf(e)? {
                match bool_to_word(graph, e) {
                    Some(condition) => stack.push((condition, false)),
                    None => stack.extend(graph.kids(e).into_iter().map(|kid| (kid, false))),
                }
            }
        }
    }
    let mut folds = Folds::default();
    for e in order {
        let folded = fold_one(graph, reads, &folds, e)?;
        folds.insert(e, folded);
    }
    Ok(folds)
}

fn fold_one(graph: &Graph, reads: &mut Reads, folds: &Folds, e: Expr) -> Result<Folded, Abort> {
    let width = graph.width(e);
    if let Some(word) = graph.const_word(e) {
        return Ok(Folded::plain(MultiInterval::point(width, word)));
    }
    if let Some(read) = read_of(graph, e)? {
        return Ok(Folded::plain(reads.set(graph, e, read)?));
    }
    if let Some(condition) = bool_to_word(graph, e) {
        return Ok(Folded::plain(folds[&condition].set.zero_extended(width)));
    }
    let kid = |i: usize| &folds[&graph.kid(e, i)];
    let constant = |i: usize| graph.const_word(graph.kid(e, i));
    reads.spend(graph.kids(e).iter().map(|kid| folds[kid].set.len()).sum::<usize>() + 1)?;
    Ok(match graph.op(e) {
        Op::Not if graph.is_bool(e) => Folded::plain(truth(kid(0).set.contains(1), kid(0).set.contains(0))),
        Op::Eq => {
            let (a, b) = aligned(graph, e, folds)?;
            let may_hold = !a.set.intersect(&b.set).is_empty();
            let must_hold = a.set.single().is_some() && a.set.single() == b.set.single();
            Folded::plain(truth(!must_hold, may_hold))
        }
        order if order.is_order() => {
            let (a, b) = (kid(0), kid(1));
            let (Some((a0, a1)), Some((b0, b1))) =
                (a.closure(order.is_signed()), b.closure(order.is_signed()))
            else {
                return Ok(Folded::plain(MultiInterval::empty(1)));
            };
            let operand = graph.width(graph.kid(e, 0));
            Folded::plain(truth(!holds(order, operand, a1, b0), holds(order, operand, a0, b1)))
        }
        Op::ZExt => Folded { set: kid(0).set.zero_extended(width - kid(0).shift), shift: kid(0).shift },
        Op::SExt => Folded { set: kid(0).set.sign_extended(width - kid(0).shift), shift: kid(0).shift },
        Op::Extract => narrowed(kid(0), graph.extract_low(e), width)?,
        Op::Add => {
            let (a, b) = aligned(graph, e, folds)?;
            reads.spend(a.set.len().saturating_mul(b.set.len()))?;
            Folded { set: a.set.sums(&b.set), shift: a.shift }
        }
        Op::Sub => {
            let (a, b) = aligned(graph, e, folds)?;
            reads.spend(a.set.len().saturating_mul(b.set.len()))?;
            Folded { set: a.set.sums(&b.set.subtracted_from(0)), shift: a.shift }
        }
        Op::Mul => match (constant(0), constant(1)) {
            (Some(factor), _) if factor.is_power_of_two() => {
                shifted(reads, kid(1), factor.trailing_zeros(), width)?
            }
            (_, Some(factor)) if factor.is_power_of_two() => {
                shifted(reads, kid(0), factor.trailing_zeros(), width)?
            }
            _ => return Err("multiplication"),
        },
        Op::Shl => match constant(1) {
            Some(amount) => shifted(reads, kid(0), amount.min(u64::from(width)) as u32, width)?,
            None => return Err("multiplication"),
        },
        Op::LShr | Op::UDiv => match constant(1) {
            None => return Err("operator"),
            Some(0) if graph.op(e) == Op::UDiv => return Err("operator"),
            Some(_) if kid(0).shift > 0 => return Err("attribute"),
            Some(amount) if graph.op(e) == Op::LShr && amount >= u64::from(width) => {
                Folded::plain(MultiInterval::point(width, 0))
            }
            Some(amount) if graph.op(e) == Op::LShr => Folded::plain(kid(0).set.quotients(1 << amount)),
            Some(divisor) => Folded::plain(kid(0).set.quotients(divisor)),
        },
        _ => return Err("operator"),
    })
}

/// A set of truth values.
fn truth(may_fail: bool, may_hold: bool) -> MultiInterval {
    match (may_fail, may_hold) {
        (true, true) => MultiInterval::full(1),
        (true, false) => MultiInterval::point(1, 0),
        (false, true) => MultiInterval::point(1, 1),
        (false, false) => MultiInterval::empty(1),
    }
}

pub fn holds(order: Op, width: u32, a: u64, b: u64) -> bool {
    let turned = if order.is_signed() { 1u64 << (width - 1) } else { 0 };
    let (a, b) = (a ^ turned, b ^ turned);
    a < b || (a == b && !order.is_strict())
}

/// The bits of a set from `low` on.
fn narrowed(operand: &Folded, low: u32, width: u32) -> Result<Folded, Abort> {
    let Folded { set, shift } = operand;
    match (low, *shift) {
        (0, shift) if shift >= width => Ok(Folded::plain(MultiInterval::point(width, 0))),
        (0, shift) => Ok(Folded { set: set.truncated(width - shift), shift }),
        // A right shift, then a cast.
        (low, 0) => Ok(Folded::plain(set.quotients(1 << low).truncated(width))),
        (_, _) => Err("attribute"),
    }
}

/// A set shifted to the left: the amount becomes a part of the attribute, and the bits that are lost leave the set.
fn shifted(reads: &Reads, operand: &Folded, amount: u32, width: u32) -> Result<Folded, Abort> {
    if !reads.has_attribute && amount > 0 {
        return Err("attribute");
    }
    let shift = operand.shift + amount;
    if shift >= width {
        return Ok(Folded::plain(MultiInterval::point(width, 0)));
    }
    Ok(Folded { set: operand.set.truncated(width - shift), shift })
}

/// Both operands with the same attribute.
pub fn aligned(graph: &Graph, e: Expr, folds: &Folds) -> Result<(Folded, Folded), Abort> {
    let (a, b) = (&folds[&graph.kid(e, 0)], &folds[&graph.kid(e, 1)]);
    if a.shift == b.shift {
        return Ok((a.clone(), b.clone()));
    }
    let width = graph.width(graph.kid(e, 0));
    let constant = |i: usize, shift: u32| {
        let word = graph.const_word(graph.kid(e, i)).filter(|word| word.trailing_zeros() >= shift)?;
        Some(Folded { set: MultiInterval::point(width - shift, word >> shift), shift })
    };
    if let Some(left) = constant(0, b.shift) {
        return Ok((left, b.clone()));
    }
    constant(1, a.shift).map(|right| (a.clone(), right)).ok_or("attribute")
}
