//! Inverses of float operators: the numbers that one operand can have for a wanted result, the others fixed. Operators
//! are monotone, so these are intervals in the order of numbers, found by bisection (`interval/float`).

use super::inverse::Target;
use crate::expr::bits::mask;
use crate::expr::eval::Shape;
use crate::expr::{FloatOp, Op};
use crate::interval::{Set, backward};

/// Part of a target that is kept if the current value has another sign: numbers far from zero are seldom wanted.
const NEAR: u64 = 1 << 20;

/// Values of operand `place` for which the result is in the target; `operands` are the current values. Among several
/// intervals, the nearest to the current value in the order of numbers; NaNs only if there are no others.
pub fn operand_target(
    float: FloatOp,
    op: Op,
    shape: Shape,
    operands: &[u64],
    place: usize,
    target: Target,
) -> Option<Target> {
    let width = shape.operand;
    let wanted = Set::wrapped(shape.width, target.from, target.to);
    let all = Set::full(width);
    let values = match operands {
        [_] => backward::unary(op, shape, &wanted, &all).set,
        [a, b] => {
            let other = Set::single(width, if place == 0 { *b } else { *a });
            backward::by_intervals(op, shape, &wanted, &all, &other, place).set
        }
        _ => return None,
    };
    if matches!(float, FloatOp::FFromUInt | FloatOp::FFromSInt) {
        let (from, to) = values.intervals().into_iter().min_by_key(|&(low, high)| {
            let current = operands[place];
            if current < low { low - current } else { current.saturating_sub(high) }
        })?;
        return Some(Target { from, to });
    }
    nearest(width, &values, operands[place])
}

/// The interval of numbers of one sign that is nearest to the current one.
fn nearest(width: u32, values: &Set, current: u64) -> Option<Target> {
    let sign = 1 << (width - 1);
    let ordinal = |word: u64| if word & sign == 0 { word as i64 } else { !((word ^ sign) as i64) };
    let now = ordinal(current);
    let mut best: Option<(u64, Target)> = None;
    for (low, high) in values.intervals() {
        for (first, last) in [(0, sign - 1), (sign, mask(width))] {
            let (from, to) = (low.max(first), high.min(last));
            if from > to {
                continue;
            }
            let (a, b) = (ordinal(from).min(ordinal(to)), ordinal(from).max(ordinal(to)));
            let distance = if now < a {
                a.abs_diff(now)
            } else if now > b {
                now.abs_diff(b)
            } else {
                0
            };
            if best.is_none_or(|(least, _)| distance < least) {
                let differs = (current ^ from) & sign != 0;
                // Magnitudes grow with the word in both halves.
                let to = if differs { to.min(from.saturating_add(NEAR)) } else { to };
                best = Some((distance, Target { from, to }));
            }
        }
    }
    best.map(|(_, target)| target)
}
