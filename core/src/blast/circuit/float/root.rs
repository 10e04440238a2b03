//! Square root: one bit of the root per step, as on paper with two digits of the radicand at a time.

use super::divide::subtract_if_fits;
use super::round::{Exact, round};
use super::special::{any_nan, propagate, select};
use super::unpack::unpack;
use super::{Format, Gates, Lit, Rounding, Word};
use crate::blast::circuit::choose;

/// The first `count` bits of the root of `radicand`, lowest first, and whether anything remains. The radicand has two
/// bits for each bit of the root, highest first; missing ones are zero.
fn root_bits(g: &mut Gates, radicand: &[Lit], count: usize) -> (Word, Lit) {
    let mut root = Word::new();
    let mut rest = Word::new();
    for step in 0..count {
        if g.stopped().is_some() {
            break;
        }
        let digit = |i: usize| radicand.get(i).copied().unwrap_or(Lit::FALSE);
        let mut next = vec![digit(2 * step + 1), digit(2 * step)];
        next.extend(&rest);
        // The square of 2 root + 1 less that of 2 root.
        let mut trial = vec![Lit::TRUE, Lit::FALSE];
        trial.extend(&root);
        trial.truncate(next.len());
        let (fits, smaller) = subtract_if_fits(g, &next, &trial);
        root.insert(0, fits);
        rest = smaller;
        // At most twice the root.
        rest.truncate(root.len() + 1);
    }
    root.resize(count, Lit::FALSE);
    (root, g.any(rest))
}

pub fn root(g: &mut Gates, format: Format, rounding: Rounding, a: &[Lit]) -> Word {
    let number = unpack(g, format, a);
    let (exponent, significand) = number.normalised(g);
    let precision = format.significand() as usize;
    let doubled = exponent.plus_constant(g, format.bias());
    // The unbiased exponent is odd: its last bit belongs to the radicand.
    let odd = doubled.lowest_bit();
    let even: Word = significand.iter().copied().chain([Lit::FALSE]).collect();
    let shifted: Word = [Lit::FALSE].into_iter().chain(significand).collect();
    let mut radicand = choose(g, odd, &shifted, &even);
    radicand.reverse();
    let (mut bits, remains) = root_bits(g, &radicand, precision + 1);
    bits[precision] = Lit::TRUE;
    bits.insert(0, remains);
    let exponent = doubled.half();
    let rounded = round(g, format, rounding, &Exact { sign: Lit::FALSE, exponent, significand: bits });

    let nan = any_nan(g, &[&number]);
    let negative = g.and(number.sign, !number.zero);
    let nan = g.or(nan, negative);
    let itself = g.or(number.zero, number.infinite);
    let same = super::round::pack(g, format, number.sign, &number.field, &number.fraction);
    let cases = [(nan, propagate(g, format, &[&number])), (itself, same)];
    select(g, &cases, rounded)
}
