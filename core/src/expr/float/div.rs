//! Division: a quotient of two bits more than the precision, jammed by the remainder.

use super::natural::Natural;
use super::round::{infinity, round, zero};
use super::unpack::{Magnitude, Number, unpack};
use super::{Format, Rounding, nan};

pub(super) fn div<N: Natural>(format: Format, mode: Rounding, a: &N, b: &N) -> N {
    let (x, y) = (unpack(format, a), unpack(format, b));
    let negative = x.negative() != y.negative();
    match (x, y) {
        (Number::Nan, _)
        | (_, Number::Nan)
        | (Number::Infinity { .. }, Number::Infinity { .. })
        | (Number::Zero { .. }, Number::Zero { .. }) => nan::result(format, &[a, b]),
        (Number::Infinity { .. }, _) | (_, Number::Zero { .. }) => infinity(format, negative),
        (Number::Zero { .. }, _) | (_, Number::Infinity { .. }) => zero(format, negative),
        (Number::Finite { magnitude: x, .. }, Number::Finite { magnitude: y, .. }) => {
            let wanted = y.significand.bits() + i64::from(format.significand()) + 2;
            let left = (wanted - x.significand.bits()).max(0);
            let (quotient, remainder) = x.significand.shl(left).divide(&y.significand);
            let significand = quotient.jam(!remainder.is_zero());
            let exponent = x.exponent - left - y.exponent;
            round(format, mode, negative, Magnitude { significand, exponent })
        }
    }
}
