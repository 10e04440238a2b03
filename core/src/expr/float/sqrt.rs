//! Square root: an integer root of two bits more than the precision, jammed by the remainder.

use super::natural::Natural;
use super::round::{infinity, round, zero};
use super::unpack::{Magnitude, Number, unpack};
use super::{Format, Rounding, nan};

pub(super) fn sqrt<N: Natural>(format: Format, mode: Rounding, a: &N) -> N {
    match unpack(format, a) {
        Number::Nan | Number::Infinity { negative: true } | Number::Finite { negative: true, .. } => {
            nan::result(format, &[a])
        }
        Number::Infinity { negative: false } => infinity(format, false),
        Number::Zero { negative } => zero(format, negative),
        Number::Finite { negative: false, magnitude } => {
            let Magnitude { significand, exponent } = magnitude;
            // 2p + 3 or 2p + 4 bits, so that the exponent is even.
            let left = 2 * i64::from(format.significand()) + 3 - significand.bits();
            let left = left + (exponent - left).rem_euclid(2);
            let square = significand.shl(left);
            let root = square.root();
            let exact = root.times(&root).compare(&square).is_eq();
            let magnitude = Magnitude { significand: root.jam(!exact), exponent: (exponent - left) / 2 };
            round(format, mode, false, magnitude)
        }
    }
}
