//! Comparisons: exact both ways, because a comparison with a constant holds for one interval of values. NaN compares
//! with nothing, so a comparison that fails leaves all NaNs.

use super::order::{Numbers, Order, Piece, value};
use crate::expr::FloatOp;
use crate::interval::set::{Approx, Interval, Set};

fn values(numbers: &Numbers) -> Option<(i64, i64)> {
    Some((value(numbers.least()?), value(numbers.greatest()?)))
}

pub fn forward(op: FloatOp, order: Order, a: &Set, b: &Set) -> Approx {
    let (a, b) = (order.numbers(a), order.numbers(b));
    let nan = a.has_nan() || b.has_nan();
    let (can_hold, can_fail) = match (values(&a), values(&b)) {
        (Some((a_min, a_max)), Some((b_min, b_max))) => match op {
            FloatOp::FLt => (a_min < b_max, a_max >= b_min),
            FloatOp::FLe => (a_min <= b_max, a_max > b_min),
            _ => {
                let meets = |&(p, q): &Piece| {
                    b.pieces.iter().any(|&(r, s)| value(p) <= value(s) && value(r) <= value(q))
                };
                (a.pieces.iter().any(meets), a_min != a_max || b_min != b_max || a_min != b_min)
            }
        },
        _ => (false, false),
    };
    let map = u64::from(can_fail || nan) | u64::from(can_hold) << 1;
    Approx { set: Set::from_map(1, [map, 0, 0, 0]), exact: a.exact && b.exact }
}

/// Words of the operand `which` for which the comparison can have a value in the target.
pub fn backward(op: FloatOp, order: Order, target: &Set, other: &Set, which: usize) -> Approx {
    let width = order.width();
    let (holds, fails) = (target.contains(1), target.contains(0));
    let numbers = order.numbers(other);
    if holds == fails || (fails && numbers.has_nan()) {
        return Approx { set: Set::full_if(width, holds || fails), exact: true };
    }
    let Some((least, greatest)) = values(&numbers) else {
        return Approx::exact(Set::full_if(width, fails));
    };
    let infinity = order.infinity();
    // Values as a piece of ordinals with both zeros or none.
    let within =
        |low: i64, high: i64| (if low <= 0 { low - 1 } else { low }, if high < 0 { high - 1 } else { high });
    let mut pieces: Vec<Piece> = Vec::new();
    let mut exact = numbers.exact;
    match (op, holds) {
        (FloatOp::FEq, true) => {
            pieces.extend(numbers.pieces.iter().map(|&(p, q)| within(value(p), value(q))))
        }
        (FloatOp::FEq, false) if least == greatest => {
            pieces.extend([within(-infinity, least - 1), within(least + 1, infinity)]);
        }
        (FloatOp::FEq, false) => pieces.push(within(-infinity, infinity)),
        (_, _) => {
            // `x < y` is false iff `y <= x` or one is NaN: the negation swaps the operands and the strictness.
            let step = i64::from((op == FloatOp::FLt) == holds);
            let own_is_less = (which == 0) == holds;
            let (low, high) =
                if own_is_less { (-infinity, greatest - step) } else { (least + step, infinity) };
            pieces.push(within(low, high));
            // The end of an inexact set need not be a member.
            exact |= numbers.pieces.len() == 1 && least == greatest;
        }
    }
    let numbers = pieces.into_iter().filter(|(low, high)| low <= high).flat_map(|piece| order.words(piece));
    let nans: &[Interval] = if fails { &order.nan_words() } else { &[] };
    Set::from_intervals(width, numbers.chain(nans.iter().copied())).exact_if(exact)
}
