//! IEEE remainder, `fp.rem` of SMT-LIB: x - y * n, where n is the integer nearest to x / y, ties to even. Exact.

use super::natural::Natural;
use super::round::{round, zero};
use super::unpack::{Magnitude, Number, unpack};
use super::{Format, Rounding, nan};
use std::cmp::Ordering;

pub(super) fn rem<N: Natural>(format: Format, a: &N, b: &N) -> N {
    let nearest = Rounding::NearestEven;
    match (unpack(format, a), unpack(format, b)) {
        (Number::Nan, _) | (_, Number::Nan) | (Number::Infinity { .. }, _) | (_, Number::Zero { .. }) => {
            nan::result(format, &[a, b])
        }
        (Number::Zero { negative }, _) => zero(format, negative),
        (Number::Finite { negative, magnitude }, Number::Infinity { .. }) => {
            round(format, nearest, negative, magnitude)
        }
        (Number::Finite { negative, magnitude: x }, Number::Finite { magnitude: y, .. }) => {
            match remainder(x.clone(), y) {
                Remainder::Whole => round(format, nearest, negative, x),
                Remainder::Zero => zero(format, negative),
                Remainder::Value { opposite, magnitude } => {
                    round(format, nearest, negative != opposite, magnitude)
                }
            }
        }
    }
}

enum Remainder<N> {
    /// The quotient rounds to zero.
    Whole,
    Zero,
    /// The remainder; `opposite` if its sign is not that of the dividend.
    Value {
        opposite: bool,
        magnitude: Magnitude<N>,
    },
}

/// Remainder of positive values.
fn remainder<N: Natural>(x: Magnitude<N>, y: Magnitude<N>) -> Remainder<N> {
    let top = |m: &Magnitude<N>| m.exponent + m.significand.bits();
    if top(&x) + 1 < top(&y) {
        return Remainder::Whole;
    }
    // Modulo 2y the remainder also says whether the quotient is odd. Both are multiples of 2^exponent.
    let (exponent, divisor, rest) = if x.exponent >= y.exponent {
        let divisor = y.significand;
        let double = divisor.clone().shl(1);
        let power = power_of_two((x.exponent - y.exponent) as u64, &double);
        let rest = x.significand.divide(&double).1.times(&power).divide(&double).1;
        (y.exponent, divisor, rest)
    } else {
        // The tops are close, so the distance is at most the precision and one.
        let divisor = y.significand.shl(y.exponent - x.exponent);
        let rest = x.significand.divide(&divisor.clone().shl(1)).1;
        (x.exponent, divisor, rest)
    };
    let (odd, rest) = match rest.compare(&divisor) {
        Ordering::Less => (false, rest),
        Ordering::Equal | Ordering::Greater => (true, rest.minus(&divisor)),
    };
    if rest.is_zero() {
        return Remainder::Zero;
    }
    let double = rest.clone().shl(1);
    let opposite = match double.compare(&divisor) {
        Ordering::Less => false,
        Ordering::Equal => odd,
        Ordering::Greater => true,
    };
    let significand = if opposite { divisor.minus(&rest) } else { rest };
    Remainder::Value { opposite, magnitude: Magnitude { significand, exponent } }
}

/// `2^exponent mod modulus`.
fn power_of_two<N: Natural>(exponent: u64, modulus: &N) -> N {
    let mut power = N::one().divide(modulus).1;
    for i in (0..64 - exponent.leading_zeros()).rev() {
        power = power.times(&power);
        if exponent >> i & 1 == 1 {
            power = power.shl(1);
        }
        power = power.divide(modulus).1;
    }
    power
}
