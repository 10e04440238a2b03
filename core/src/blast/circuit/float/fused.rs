//! Fused multiplication and addition: the exact product, as a number of twice the precision, plus the addend.

use super::exponent::Exponent;
use super::multiply::product;
use super::normalise::normalise;
use super::round::{Exact, pack, round};
use super::special::{any_nan, infinity, propagate, select, zero};
use super::sum::{Term, sum};
use super::unpack::unpack;
use super::{Format, Gates, Lit, Rounding, Word};

pub fn multiply_add(
    g: &mut Gates,
    format: Format,
    rounding: Rounding,
    a: &[Lit],
    b: &[Lit],
    c: &[Lit],
) -> Word {
    let [a, b, c] = [a, b, c].map(|word| unpack(g, format, word));
    let product = product(g, &a, &b);
    let (exponent, significand) = c.normalised(g);
    let width = product.significand.len();
    let mut padded = vec![Lit::FALSE; width - significand.len()];
    padded.extend(significand);
    padded[width - 1] = !c.zero;
    // A zero addend must not be the larger term.
    let lowest = Exponent::constant(exponent.low().min(product.exponent.low()));
    let exponent = Exponent::choose(g, c.zero, &lowest, &exponent);
    let first = Term { sign: product.sign, exponent: product.exponent, significand: product.significand };
    let second = Term { sign: c.sign, exponent, significand: padded };
    let sum = sum(g, &first, &second);
    let something = g.any(sum.significand.clone());
    let (significand, zeros) = normalise(g, &sum.significand);
    let zeros = Exponent::unsigned(&zeros, 0, significand.len() as i64);
    let exponent = sum.exponent.minus(g, &zeros).plus_constant(g, 1);
    let rounded = round(g, format, rounding, &Exact { sign: sum.sign, exponent, significand });

    let product_infinite = g.or(a.infinite, b.infinite);
    let product_zero = g.or(a.zero, b.zero);
    let undefined = g.and(product_infinite, product_zero);
    let both_infinite = g.and(product_infinite, c.infinite);
    let opposite = g.and(both_infinite, sum.subtracted);
    let nan = any_nan(g, &[&a, &b, &c]);
    let nan = g.any(vec![nan, undefined, opposite]);
    let is_zero = g.mux(product_zero, c.zero, !something);
    let zero_sign = g.mux(sum.subtracted, Lit::constant(rounding == Rounding::TowardNegative), first.sign);
    let infinite = g.or(product_infinite, c.infinite);
    let infinite_sign = g.mux(product_infinite, first.sign, c.sign);
    let addend = pack(g, format, c.sign, &c.field, &c.fraction);
    let cases = [
        (nan, propagate(g, format, &[&a, &b, &c])),
        (infinite, infinity(g, format, infinite_sign)),
        (is_zero, zero(g, format, zero_sign)),
        (product_zero, addend),
    ];
    select(g, &cases, rounded)
}
