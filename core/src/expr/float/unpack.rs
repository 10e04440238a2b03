//! Numbers taken apart: class, sign, and the exact value of finite ones.

use super::Format;
use super::natural::Natural;

/// `significand * 2^exponent`, not zero. The significand need not be normalised.
#[derive(Clone, Debug)]
pub(super) struct Magnitude<N> {
    pub(super) significand: N,
    pub(super) exponent: i64,
}

#[derive(Clone, Debug)]
pub(super) enum Number<N> {
    Nan,
    Infinity { negative: bool },
    Zero { negative: bool },
    Finite { negative: bool, magnitude: Magnitude<N> },
}

impl<N> Number<N> {
    pub(super) fn is_nan(&self) -> bool {
        matches!(self, Number::Nan)
    }

    /// Sign of a number that is not NaN.
    pub(super) fn negative(&self) -> bool {
        match self {
            Number::Nan => false,
            Number::Infinity { negative } | Number::Zero { negative } | Number::Finite { negative, .. } => {
                *negative
            }
        }
    }
}

/// The fields of a number.
pub(super) struct Fields<N> {
    pub(super) negative: bool,
    /// The biased exponent.
    pub(super) exponent: i64,
    /// The stored bits of the significand.
    pub(super) stored: N,
}

pub(super) fn fields<N: Natural>(format: Format, bits: &N) -> Fields<N> {
    let stored = i64::from(format.stored());
    let high = bits.clone().shr(stored);
    let word = high.to_words().first().copied().unwrap_or(0);
    Fields {
        negative: word >> format.exponent() & 1 == 1,
        exponent: (word & ((1 << format.exponent()) - 1)) as i64,
        stored: bits.minus(&high.shl(stored)),
    }
}

/// The greatest biased exponent: that of infinities and NaNs.
pub(super) fn special_exponent(format: Format) -> i64 {
    (1 << format.exponent()) - 1
}

/// Returns whether x87 refuses a number with these fields: the integer bit is clear although the exponent is not zero.
pub(super) fn is_unsupported<N: Natural>(format: Format, f: &Fields<N>) -> bool {
    format.is_explicit() && f.exponent != 0 && !f.stored.bit(i64::from(format.significand()) - 1)
}

/// Takes a number apart. Unsupported numbers of x87 are NaN; its pseudo-denormals have the value that their bits say.
pub(super) fn unpack<N: Natural>(format: Format, bits: &N) -> Number<N> {
    let f = fields(format, bits);
    let negative = f.negative;
    let precision = i64::from(format.significand());
    if is_unsupported(format, &f) {
        return Number::Nan;
    }
    if f.exponent == special_exponent(format) {
        let fraction = f.stored.any_below(precision - 1);
        return if fraction { Number::Nan } else { Number::Infinity { negative } };
    }
    if f.exponent == 0 && f.stored.is_zero() {
        return Number::Zero { negative };
    }
    let significand = if f.exponent == 0 || format.is_explicit() {
        f.stored
    } else {
        f.stored.plus(&N::one().shl(precision - 1))
    };
    let exponent = f.exponent.max(1) - format.bias() - (precision - 1);
    Number::Finite { negative, magnitude: Magnitude { significand, exponent } }
}
