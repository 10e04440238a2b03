//! Conversions between formats, and from and to integers.

use super::natural::Natural;
use super::round::{infinity, round, round_shifted, zero};
use super::unpack::{Magnitude, Number, unpack};
use super::{Format, Rounding, nan};
use crate::expr::Bits;
use num_bigint::BigUint;

pub(super) fn convert<N: Natural>(from: Format, to: Format, mode: Rounding, a: &N) -> N {
    match unpack(from, a) {
        Number::Nan => nan::convert(from, to, a),
        Number::Infinity { negative } => infinity(to, negative),
        Number::Zero { negative } => zero(to, negative),
        Number::Finite { negative, magnitude } => round(to, mode, negative, magnitude),
    }
}

impl Format {
    /// Rounds a fraction, whose denominator is not zero. Zero is positive.
    pub fn from_fraction(
        self,
        mode: Rounding,
        negative: bool,
        numerator: &BigUint,
        denominator: &BigUint,
    ) -> Bits {
        if numerator.is_zero() {
            return self.zero(false);
        }
        let wanted = Natural::bits(denominator) + i64::from(self.significand()) + 2;
        let left = (wanted - Natural::bits(numerator)).max(0);
        let (quotient, remainder) = Natural::divide(&Natural::shl(numerator.clone(), left), denominator);
        let significand = quotient.jam(!remainder.is_zero());
        let rounded = round(self, mode, negative, Magnitude { significand, exponent: -left });
        Bits::from_words(self.width(), &rounded.to_words())
    }
}

/// Converts an integer of `width` bits.
pub(super) fn from_integer<N: Natural>(format: Format, mode: Rounding, signed: bool, width: u32, a: &N) -> N {
    let width = i64::from(width);
    let negative = signed && a.bit(width - 1);
    let significand = if negative { complement(width, a).plus(&N::one()) } else { a.clone() };
    if significand.is_zero() {
        return zero(format, false);
    }
    round(format, mode, negative, Magnitude { significand, exponent: 0 })
}

/// All bits of a word of `width` bits inverted.
fn complement<N: Natural>(width: i64, a: &N) -> N {
    let half = N::one().shl(width - 1);
    half.minus(&N::one()).plus(&half).minus(a)
}

/// Rounds to an integer of `width` bits in two's complement; `None` for NaN and numbers that do not fit.
pub(super) fn to_integer<N: Natural>(
    format: Format,
    mode: Rounding,
    signed: bool,
    width: u32,
    a: &N,
) -> Option<N> {
    let width = i64::from(width);
    let nothing = N::from_words(&[0]);
    let (negative, magnitude) = match unpack(format, a) {
        Number::Nan | Number::Infinity { .. } => return None,
        Number::Zero { .. } => return Some(nothing),
        Number::Finite { negative, magnitude } => (negative, magnitude),
    };
    if magnitude.exponent + magnitude.significand.bits() > width + 1 {
        return None;
    }
    let value = round_shifted(mode, negative, magnitude.significand, -magnitude.exponent);
    if value.is_zero() {
        return Some(nothing);
    }
    if !negative {
        let fits = value.bits() <= if signed { width - 1 } else { width };
        return fits.then_some(value);
    }
    let least = N::one().shl(width - 1);
    if !signed || value.compare(&least).is_gt() {
        return None;
    }
    // 2^width - value, in two steps because 2^width may not fit.
    Some(least.minus(&value).plus(&least))
}
