//! Rounding and putting together. Field and fraction are one number here: the carry of a fraction that is rounded up
//! goes to the field, from subnormal to normal, to the next power of two, or to infinity.

use super::align::{keep_sticky, shift_sticky};
use super::exponent::Exponent;
use super::{Format, Gates, Lit, Rounding, Word};
use crate::blast::circuit::choose;

/// A non-zero number that is still exact, but for a sticky lowest bit.
pub struct Exact {
    pub sign: Lit,
    /// Biased exponent of the highest bit of the significand.
    pub exponent: Exponent,
    /// Its highest bit is one.
    pub significand: Word,
}

/// Rounds to a format.
pub fn round(g: &mut Gates, format: Format, rounding: Rounding, exact: &Exact) -> Word {
    let kept = keep_sticky(g, &exact.significand, format.significand() as usize + 2);
    if exact.exponent.low() >= 1 {
        let below = exact.exponent.plus_constant(g, -1);
        return finish(g, format, rounding, exact.sign, &below, &kept);
    }
    // Below the smallest normal exponent the significand is shifted until the exponent is that.
    let lack = Exponent::constant(1).minus(g, &exact.exponent);
    let below = exact.exponent.plus_constant(g, -1);
    let under = below.negative();
    let amount: Word = lack.magnitude().iter().map(|&bit| g.and(bit, under)).collect();
    let shifted = shift_sticky(g, &kept, &amount);
    let below = below.masked(g, !under).assume(0, i64::MAX);
    finish(g, format, rounding, exact.sign, &below, &shifted)
}

/// Whether a number with this sign is rounded away from zero: between two numbers, where `up` decides for modes to
/// nearest.
fn away(g: &mut Gates, rounding: Rounding, sign: Lit, inexact: Lit, up: Lit) -> Lit {
    match rounding {
        Rounding::NearestEven | Rounding::NearestAway => up,
        Rounding::TowardPositive => g.and(inexact, !sign),
        Rounding::TowardNegative => g.and(inexact, sign),
        Rounding::TowardZero => Lit::FALSE,
    }
}

/// Whether to round away from zero, given the lowest bit that is kept, the first that is not, and whether any below
/// is one.
pub fn increment(
    g: &mut Gates,
    rounding: Rounding,
    sign: Lit,
    (lowest, guard, sticky): (Lit, Lit, Lit),
) -> Lit {
    let up = match rounding {
        Rounding::NearestEven => {
            let odd = g.or(lowest, sticky);
            g.and(guard, odd)
        }
        _ => guard,
    };
    let inexact = g.or(guard, sticky);
    away(g, rounding, sign, inexact, up)
}

/// Rounds `significand`: an integer bit, the fraction, a guard bit and a sticky bit. The field is `below` plus the
/// integer bit.
pub fn finish(
    g: &mut Gates,
    format: Format,
    rounding: Rounding,
    sign: Lit,
    below: &Exponent,
    significand: &[Lit],
) -> Word {
    debug_assert!(below.low() >= 0);
    debug_assert_eq!(significand.len(), format.significand() as usize + 2);
    let mut carry = increment(g, rounding, sign, (significand[2], significand[1], significand[0]));
    let top = significand.len() - 1;
    let mut fraction = Word::with_capacity(top - 2);
    for &bit in &significand[2..top] {
        fraction.push(g.xor(bit, carry));
        carry = g.and(bit, carry);
    }
    let mut field = below.plus_bit(g, significand[top]).plus_bit(g, carry);
    let exponent_bits = format.exponent() as usize;
    let greatest = (1i64 << exponent_bits) - 1;
    if field.high() >= greatest {
        let above = g.any(field.magnitude().get(exponent_bits..).unwrap_or(&[]).to_vec());
        let all = g.all(field.magnitude()[..exponent_bits].to_vec());
        let overflow = g.or(above, all);
        let infinite = away(g, rounding, sign, Lit::TRUE, Lit::TRUE);
        for bit in &mut fraction {
            *bit = g.mux(overflow, !infinite, *bit);
        }
        let mut limit = vec![Lit::TRUE; exponent_bits];
        limit[0] = infinite;
        let low = field.magnitude()[..exponent_bits].to_vec();
        field = Exponent::unsigned(&choose(g, overflow, &limit, &low), 0, greatest);
    }
    let mut field = field.magnitude().to_vec();
    field.resize(exponent_bits, Lit::FALSE);
    pack(g, format, sign, &field, &fraction)
}

/// The word of a number.
pub fn pack(g: &mut Gates, format: Format, sign: Lit, field: &[Lit], fraction: &[Lit]) -> Word {
    let mut word = fraction.to_vec();
    if format.is_explicit() {
        word.push(g.any(field.to_vec()));
    }
    word.extend(field);
    word.push(sign);
    debug_assert_eq!(word.len(), format.width() as usize);
    word
}
