//! The exact sum of two numbers of any precision: one comparison puts the larger first, the smaller is aligned with a
//! sticky bit, and one adder adds or subtracts. Used for addition and for the second half of the fused operation.

use super::align::shift_sticky;
use super::exponent::Exponent;
use super::{Gates, Lit, Word};
use crate::blast::circuit::arith::add_carry;
use crate::blast::circuit::{choose, less};

/// A number: the weight of the significand's highest bit is two to the exponent.
pub struct Term {
    pub sign: Lit,
    pub exponent: Exponent,
    pub significand: Word,
}

pub struct Sum {
    /// Sign of the larger term.
    pub sign: Lit,
    /// Exponent of the larger term, which is that of the second highest bit of the significand.
    pub exponent: Exponent,
    /// Four bits wider than those of the terms: a carry above, three below, of which the lowest is sticky.
    pub significand: Word,
    /// Whether the signs of the terms differ.
    pub subtracted: Lit,
}

/// Significands have the same width. Terms with different exponents are ordered as the exponents are.
pub fn sum(g: &mut Gates, a: &Term, b: &Term) -> Sum {
    let (low, high) = (a.exponent.low().min(b.exponent.low()), a.exponent.high().max(b.exponent.high()));
    let magnitude = |term: &Term| -> Word {
        term.significand.iter().copied().chain(term.exponent.extended(low, high)).collect()
    };
    let swapped = less(g, &magnitude(a), &magnitude(b), false, true);
    let sign = g.mux(swapped, b.sign, a.sign);
    let exponent = Exponent::choose(g, swapped, &b.exponent, &a.exponent);
    let other = Exponent::choose(g, swapped, &a.exponent, &b.exponent);
    let larger = choose(g, swapped, &b.significand, &a.significand);
    let smaller = choose(g, swapped, &a.significand, &b.significand);
    let distance = exponent.minus(g, &other).assume(0, i64::MAX);
    let widened = |word: Word| -> Word { [Lit::FALSE; 3].into_iter().chain(word).collect() };
    let aligned = shift_sticky(g, &widened(smaller), distance.magnitude());
    let subtracted = g.xor(a.sign, b.sign);
    let mut flipped: Word = aligned.iter().map(|&bit| g.xor(bit, subtracted)).collect();
    flipped.push(subtracted);
    let mut larger = widened(larger);
    larger.push(Lit::FALSE);
    let significand = add_carry(g, &larger, &flipped, subtracted);
    Sum { sign, exponent, significand, subtracted }
}
