//! Addition. Subnormal numbers need no normalising: their exponent is the smallest, and the sum is shifted left only as
//! far as its exponent allows, so a small sum is exact without a second shift.

use super::align::keep_sticky;
use super::exponent::Exponent;
use super::normalise::leading_zeros;
use super::round::finish;
use super::special::{any_nan, infinity, propagate, select};
use super::sum::{Term, sum};
use super::unpack::{Number, unpack};
use super::{Format, Gates, Lit, Rounding, Word};
use crate::blast::circuit::left;

pub fn add(g: &mut Gates, format: Format, rounding: Rounding, a: &[Lit], b: &[Lit]) -> Word {
    let (a, b) = (unpack(g, format, a), unpack(g, format, b));
    let term = |g: &mut Gates, number: &Number| Term {
        sign: number.sign,
        exponent: number.exponent(g),
        significand: number.significand(),
    };
    let (first, second) = (term(g, &a), term(g, &b));
    let sum = sum(g, &first, &second);
    let width = sum.significand.len() as i64;
    let zeros = leading_zeros(g, &sum.significand);
    let zeros = Exponent::unsigned(&zeros, 0, width);
    let is_normal = zeros.less(g, &sum.exponent, true);
    let amount = Exponent::choose(g, is_normal, &zeros, &sum.exponent).assume(0, width);
    let shifted = left(g, &sum.significand, amount.magnitude());
    let something = g.any(sum.significand.clone());
    let below = sum.exponent.minus(g, &amount).masked(g, something).assume(0, i64::MAX);
    let kept = keep_sticky(g, &shifted, format.significand() as usize + 2);
    let cancelled = g.and(sum.subtracted, !something);
    let sign = g.mux(cancelled, Lit::constant(rounding == Rounding::TowardNegative), sum.sign);
    let rounded = finish(g, format, rounding, sign, &below, &kept);

    let infinite = g.or(a.infinite, b.infinite);
    let both = g.and(a.infinite, b.infinite);
    let opposite = g.and(both, sum.subtracted);
    let nan = any_nan(g, &[&a, &b]);
    let nan = g.or(nan, opposite);
    // An infinite operand is the larger one.
    let cases = [(nan, propagate(g, format, &[&a, &b])), (infinite, infinity(g, format, sum.sign))];
    select(g, &cases, rounded)
}
