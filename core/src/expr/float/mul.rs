//! Multiplication and fused multiply-add.

use super::add::sum;
use super::natural::Natural;
use super::round::{infinity, round, zero};
use super::unpack::{Magnitude, Number, unpack};
use super::{Format, Rounding, nan};

/// The exact product; NaN if it is invalid.
fn product<N: Natural>(a: Number<N>, b: Number<N>) -> Number<N> {
    let negative = a.negative() != b.negative();
    match (a, b) {
        (Number::Nan, _) | (_, Number::Nan) => Number::Nan,
        (Number::Infinity { .. }, Number::Zero { .. }) | (Number::Zero { .. }, Number::Infinity { .. }) => {
            Number::Nan
        }
        (Number::Infinity { .. }, _) | (_, Number::Infinity { .. }) => Number::Infinity { negative },
        (Number::Zero { .. }, _) | (_, Number::Zero { .. }) => Number::Zero { negative },
        (Number::Finite { magnitude: a, .. }, Number::Finite { magnitude: b, .. }) => Number::Finite {
            negative,
            magnitude: Magnitude {
                significand: a.significand.times(&b.significand),
                exponent: a.exponent + b.exponent,
            },
        },
    }
}

pub(super) fn mul<N: Natural>(format: Format, mode: Rounding, a: &N, b: &N) -> N {
    match product(unpack(format, a), unpack(format, b)) {
        Number::Nan => nan::result(format, &[a, b]),
        Number::Infinity { negative } => infinity(format, negative),
        Number::Zero { negative } => zero(format, negative),
        Number::Finite { negative, magnitude } => round(format, mode, negative, magnitude),
    }
}

/// `a * b + c`, rounded once.
pub(super) fn mul_add<N: Natural>(format: Format, mode: Rounding, a: &N, b: &N, c: &N) -> N {
    let product = product(unpack(format, a), unpack(format, b));
    sum(format, mode, product, unpack(format, c)).unwrap_or_else(|| nan::result(format, &[a, b, c]))
}
