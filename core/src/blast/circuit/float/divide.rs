//! Division: one bit of the quotient per step, from normalised significands; what remains is the sticky bit.

use super::exponent::Exponent;
use super::round::{Exact, round};
use super::special::{any_nan, infinity, propagate, select, zero};
use super::unpack::unpack;
use super::{Format, Gates, Lit, Rounding, Word};
use crate::blast::circuit::{choose, less, subtract};

/// Subtracts `b` from `a` if it fits; says whether it did. `b` may be narrower.
pub fn subtract_if_fits(g: &mut Gates, a: &[Lit], b: &[Lit]) -> (Lit, Word) {
    let mut b = b.to_vec();
    b.resize(a.len(), Lit::FALSE);
    let fits = less(g, &b, a, true, false);
    let difference = subtract(g, a, &b);
    (fits, choose(g, fits, &difference, a))
}

/// The word times two, in one more bit.
pub fn double(word: &[Lit]) -> Word {
    [Lit::FALSE].into_iter().chain(word.iter().copied()).collect()
}

/// Bits of `a / b`, highest first: an integer bit and `count - 1` below; and what remains. `a < 2 b`.
fn quotient(g: &mut Gates, a: &[Lit], b: &[Lit], count: usize) -> (Word, Word) {
    let mut rest = a.to_vec();
    rest.push(Lit::FALSE);
    let mut bits = Word::with_capacity(count);
    for _ in 0..count {
        if g.stopped().is_some() {
            break;
        }
        let (fits, smaller) = subtract_if_fits(g, &rest, b);
        bits.push(fits);
        // It is less than the divisor, so its highest bit is zero.
        rest = double(&smaller[..a.len()]);
    }
    bits.resize(count, Lit::FALSE);
    (bits, rest)
}

pub fn divide(g: &mut Gates, format: Format, rounding: Rounding, a: &[Lit], b: &[Lit]) -> Word {
    let (a, b) = (unpack(g, format, a), unpack(g, format, b));
    let ((a_exponent, a_significand), (b_exponent, b_significand)) = (a.normalised(g), b.normalised(g));
    let precision = format.significand() as usize;
    let (mut bits, rest) = quotient(g, &a_significand, &b_significand, precision + 2);
    bits.reverse();
    let remains = g.any(rest);
    bits.insert(0, remains);
    let integer = bits[bits.len() - 1];
    let top = bits.len() - 1;
    let shifted = double(&bits[..top]);
    let mut significand = choose(g, integer, &bits, &shifted);
    significand[top] = Lit::TRUE;
    let difference = a_exponent.minus(g, &b_exponent).plus_bit(g, integer);
    let exponent = difference.plus(g, &Exponent::constant(format.bias() - 1));
    let sign = g.xor(a.sign, b.sign);
    let rounded = round(g, format, rounding, &Exact { sign, exponent, significand });

    let both_zero = g.and(a.zero, b.zero);
    let both_infinite = g.and(a.infinite, b.infinite);
    let undefined = g.or(both_zero, both_infinite);
    let nan = any_nan(g, &[&a, &b]);
    let nan = g.or(nan, undefined);
    let is_infinite = g.or(a.infinite, b.zero);
    let is_zero = g.or(a.zero, b.infinite);
    let cases = [
        (nan, propagate(g, format, &[&a, &b])),
        (is_infinite, infinity(g, format, sign)),
        (is_zero, zero(g, format, sign)),
    ];
    select(g, &cases, rounded)
}
