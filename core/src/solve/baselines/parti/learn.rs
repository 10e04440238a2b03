//! The learning stage: a set for the whole constraint, pushed down to its one read (section 3.3 of the paper).
//!
//! Each operator with a constant operand turns the set of its result into the set of the other operand. The shape must be
//! a caterpillar: one side of every operator is a constant. The text errs in two places. `Ult(e, 0)` has no solution, and
//! `c - 1` must not wrap. A division undoes a multiplication only if the product cannot wrap, which the sets of earlier
//! constraints must show; otherwise the query is passed on.

use super::set::MultiInterval;
use super::{Abort, Reads, bool_to_word, read_of};
use crate::expr::bits::mask;
use crate::expr::{Expr, Graph, Op};

/// Result of learning from a constraint.
pub enum Learnt {
    /// The constraint holds whatever the read is.
    Nothing,
    /// The read, and the set of values for which the constraint holds.
    Set(Expr, MultiInterval),
}

/// The set of the read of a constraint for which it holds. `reads` are the sets of earlier constraints.
pub fn learn(graph: &Graph, reads: &mut Reads, constraint: Expr) -> Result<Learnt, Abort> {
    let mut e = constraint;
    let mut set = MultiInterval::point(1, 1);
    loop {
        let width = graph.width(e);
        if graph.is_array(e) || width > 64 {
            return Err("width");
        }
        reads.spend(set.len() + 1)?;
        if graph.is_bool(e) && set == MultiInterval::full(1) {
            return Ok(Learnt::Nothing);
        }
        if read_of(graph, e)?.is_some() {
            return Ok(Learnt::Set(e, set));
        }
        if let Some(condition) = bool_to_word(graph, e) {
            set = set.zero_extended_from(1);
            e = condition;
            continue;
        }
        (e, set) = match graph.op(e) {
            Op::Not if graph.is_bool(e) => (graph.kid(e, 0), negated(&set)),
            Op::ZExt | Op::SExt => {
                let operand = graph.kid(e, 0);
                let from = graph.width(operand);
                let is_signed = graph.op(e) == Op::SExt;
                (operand, if is_signed { set.sign_extended_from(from) } else { set.zero_extended_from(from) })
            }
            Op::Eq | Op::Ult | Op::Ule | Op::Slt | Op::Sle | Op::Add | Op::Sub | Op::Mul | Op::Shl => {
                let (operand, constant, is_left) = constant_side(graph, e)?;
                (operand, preimage(graph, reads, e, (operand, constant, is_left), set)?)
            }
            // A constant constraint: nothing, or a contradiction that no set represents.
            Op::Const if set.contains(1) && graph.is_true(e) => return Ok(Learnt::Nothing),
            _ => return Err("operator"),
        };
    }
}

/// The set of the operand that is not constant, given the set of the result.
fn preimage(
    graph: &Graph,
    reads: &mut Reads,
    e: Expr,
    (operand, constant, is_left): (Expr, u64, bool),
    set: MultiInterval,
) -> Result<MultiInterval, Abort> {
    let width = graph.width(operand);
    Ok(match graph.op(e) {
        Op::Eq => if_true(&set, MultiInterval::point(width, constant)),
        Op::Add => set.plus(constant.wrapping_neg()),
        // x - c and c - x.
        Op::Sub if is_left => set.plus(constant),
        Op::Sub => set.subtracted_from(constant),
        Op::Mul => divided(graph, reads, operand, constant, &set)?,
        Op::Shl if !is_left || constant >= u64::from(width) => return Err("operator"),
        Op::Shl => divided(graph, reads, operand, 1 << constant, &set)?,
        order => if_true(&set, bounded(order, width, constant, is_left)),
    })
}

/// The set if the result is true, its complement if it is false.
fn if_true(truth: &MultiInterval, set: MultiInterval) -> MultiInterval {
    match (truth.contains(0), truth.contains(1)) {
        (true, true) => MultiInterval::full(set.width),
        (false, true) => set,
        (true, false) => set.complement(),
        (false, false) => MultiInterval::empty(set.width),
    }
}

fn negated(truth: &MultiInterval) -> MultiInterval {
    if_true(truth, MultiInterval::point(1, 0))
}

/// Values of an operand for which an order holds; `is_left` if the operand is the left side.
fn bounded(order: Op, width: u32, constant: u64, is_left: bool) -> MultiInterval {
    // In the signed order the words are those of the unsigned order, with the sign bit inverted.
    let turned = if order.is_signed() { 1u64 << (width - 1) } else { 0 };
    let constant = constant ^ turned;
    let strict = u64::from(order.is_strict());
    let range = if is_left {
        constant.checked_sub(strict).map(|last| (0, last))
    } else {
        constant.checked_add(strict).filter(|first| *first <= mask(width)).map(|first| (first, mask(width)))
    };
    let Some((first, last)) = range else { return MultiInterval::empty(width) };
    MultiInterval::interval(width, first, last).plus(turned)
}

/// Values of an operand whose product with a constant is in the set.
fn divided(
    graph: &Graph,
    reads: &mut Reads,
    operand: Expr,
    constant: u64,
    set: &MultiInterval,
) -> Result<MultiInterval, Abort> {
    let width = graph.width(operand);
    let values = super::decide::fold(graph, reads, operand)?;
    let fits = |greatest: u64| greatest.checked_mul(constant).is_some_and(|product| product <= mask(width));
    match values.closure(false) {
        Some((_, greatest)) if !fits(greatest) => Err("wraps"),
        _ if constant == 0 => Err("operator"),
        _ => Ok(set.divided_exactly(constant)),
    }
}

/// The operand that is not constant, the constant, and whether the operand is on the left.
fn constant_side(graph: &Graph, e: Expr) -> Result<(Expr, u64, bool), Abort> {
    let (left, right) = (graph.kid(e, 0), graph.kid(e, 1));
    if graph.is_array(left) || graph.width(left) > 64 {
        return Err("width");
    }
    match (graph.const_word(left), graph.const_word(right)) {
        (_, Some(constant)) => Ok((left, constant, true)),
        (Some(constant), None) => Ok((right, constant, false)),
        (None, None) => Err("several"),
    }
}
