//! Rounding to an integral number of the same format.

use super::natural::Natural;
use super::round::{infinity, round, round_shifted, zero};
use super::unpack::{Magnitude, Number, unpack};
use super::{Format, Rounding, nan};

pub(super) fn integral<N: Natural>(format: Format, mode: Rounding, a: &N) -> N {
    match unpack(format, a) {
        Number::Nan => nan::result(format, &[a]),
        Number::Infinity { negative } => infinity(format, negative),
        Number::Zero { negative } => zero(format, negative),
        Number::Finite { negative, magnitude } => {
            if magnitude.exponent >= 0 {
                return round(format, mode, negative, magnitude);
            }
            let kept = round_shifted(mode, negative, magnitude.significand, -magnitude.exponent);
            if kept.is_zero() {
                return zero(format, negative);
            }
            round(format, mode, negative, Magnitude { significand: kept, exponent: 0 })
        }
    }
}
