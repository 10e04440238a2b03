//! Addition, and the exact sum of two values that it shares with fused multiply-add.

use super::natural::Natural;
use super::round::{infinity, round, zero};
use super::unpack::{Magnitude, Number};
use super::{Format, Rounding, nan};
use std::cmp::Ordering;

/// The sum of two numbers; `None` if it is NaN.
pub(super) fn sum<N: Natural>(format: Format, mode: Rounding, a: Number<N>, b: Number<N>) -> Option<N> {
    Some(match (a, b) {
        (Number::Nan, _) | (_, Number::Nan) => return None,
        (Number::Infinity { negative }, Number::Infinity { negative: other }) => {
            if negative != other {
                return None;
            }
            infinity(format, negative)
        }
        (Number::Infinity { negative }, _) | (_, Number::Infinity { negative }) => infinity(format, negative),
        (Number::Zero { negative }, Number::Zero { negative: other }) => {
            zero(format, if negative == other { negative } else { cancelled(mode) })
        }
        (Number::Finite { negative, magnitude }, Number::Zero { .. })
        | (Number::Zero { .. }, Number::Finite { negative, magnitude }) => {
            round(format, mode, negative, magnitude)
        }
        (
            Number::Finite { negative, magnitude },
            Number::Finite { negative: other, magnitude: other_magnitude },
        ) => {
            let precision = i64::from(format.significand());
            let (a, b, exponent) = align(precision, magnitude, other_magnitude);
            let (negative, significand) = if negative == other {
                (negative, a.plus(&b))
            } else {
                match a.compare(&b) {
                    Ordering::Equal => return Some(zero(format, cancelled(mode))),
                    Ordering::Greater => (negative, a.minus(&b)),
                    Ordering::Less => (other, b.minus(&a)),
                }
            };
            round(format, mode, negative, Magnitude { significand, exponent })
        }
    })
}

/// Sign of a sum that is exactly zero although an operand is not, or its zeros differ in sign.
fn cancelled(mode: Rounding) -> bool {
    mode == Rounding::TowardNegative
}

/// Returns both significands at one exponent.
///
/// The operand with the larger exponent is shifted left as far as there is room for. If that is not far enough, its
/// top bit is then at least two places above that of the other, so the sum keeps at least two bits below the
/// precision and the jammed bit is below those that rounding looks at.
fn align<N: Natural>(precision: i64, a: Magnitude<N>, b: Magnitude<N>) -> (N, N, i64) {
    if a.exponent < b.exponent {
        let (b, a, exponent) = align(precision, b, a);
        return (a, b, exponent);
    }
    let distance = a.exponent - b.exponent;
    let left = distance.min(N::room(precision) - a.significand.bits());
    (a.significand.shl(left), b.significand.shr_jam(distance - left), a.exponent - left)
}

pub(super) fn add<N: Natural>(format: Format, mode: Rounding, a: &N, b: &N) -> N {
    let numbers = (super::unpack::unpack(format, a), super::unpack::unpack(format, b));
    sum(format, mode, numbers.0, numbers.1).unwrap_or_else(|| nan::result(format, &[a, b]))
}
