//! Multiplication: the product of normalised significands has at most one leading zero.

use super::exponent::Exponent;
use super::round::{Exact, round};
use super::special::{any_nan, infinity, propagate, select, zero};
use super::unpack::{Number, unpack};
use super::{Format, Gates, Lit, Rounding, Word};
use crate::blast::circuit::{choose, multiply as multiply_words};

/// The exact product of two numbers that are not zero.
pub fn product(g: &mut Gates, a: &Number, b: &Number) -> Exact {
    let ((a_exponent, a_significand), (b_exponent, b_significand)) = (a.normalised(g), b.normalised(g));
    let precision = a_significand.len();
    let widened = |mut word: Word| {
        word.resize(2 * precision, Lit::FALSE);
        word
    };
    let product = multiply_words(g, &widened(a_significand), &widened(b_significand));
    let carry = product[2 * precision - 1];
    let shifted: Word =
        [Lit::FALSE].into_iter().chain(product[..2 * precision - 1].iter().copied()).collect();
    let mut significand = choose(g, carry, &product, &shifted);
    significand[2 * precision - 1] = Lit::TRUE;
    let sum = a_exponent.plus(g, &b_exponent).plus_bit(g, carry);
    let exponent = sum.minus(g, &Exponent::constant(a.format.bias()));
    Exact { sign: g.xor(a.sign, b.sign), exponent, significand }
}

pub fn multiply(g: &mut Gates, format: Format, rounding: Rounding, a: &[Lit], b: &[Lit]) -> Word {
    let (a, b) = (unpack(g, format, a), unpack(g, format, b));
    let product = product(g, &a, &b);
    let rounded = round(g, format, rounding, &product);

    let is_infinite = g.or(a.infinite, b.infinite);
    let is_zero = g.or(a.zero, b.zero);
    let undefined = g.and(is_infinite, is_zero);
    let nan = any_nan(g, &[&a, &b]);
    let nan = g.or(nan, undefined);
    let cases = [
        (nan, propagate(g, format, &[&a, &b])),
        (is_infinite, infinity(g, format, product.sign)),
        (is_zero, zero(g, format, product.sign)),
    ];
    select(g, &cases, rounded)
}
