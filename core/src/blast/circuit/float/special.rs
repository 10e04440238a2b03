//! Zeros, infinities and NaNs: chosen after the circuit for other numbers, whose result does not matter then.

use super::round::pack;
use super::unpack::Number;
use super::{Format, Gates, Lit, Word};
use crate::blast::circuit::{choose, less};

pub fn zero(g: &mut Gates, format: Format, sign: Lit) -> Word {
    constant(g, format, sign, Lit::FALSE, Lit::FALSE)
}

pub fn infinity(g: &mut Gates, format: Format, sign: Lit) -> Word {
    constant(g, format, sign, Lit::TRUE, Lit::FALSE)
}

/// The NaN of an operation without NaN operands: negative and quiet.
pub fn default_nan(g: &mut Gates, format: Format) -> Word {
    constant(g, format, Lit::TRUE, Lit::TRUE, Lit::TRUE)
}

/// A word with equal bits in the field, and a fraction whose highest bit is given and whose other bits are zero.
fn constant(g: &mut Gates, format: Format, sign: Lit, field: Lit, quiet: Lit) -> Word {
    let mut fraction = vec![Lit::FALSE; format.significand() as usize - 1];
    fraction[format.significand() as usize - 2] = quiet;
    pack(g, format, sign, &vec![field; format.exponent() as usize], &fraction)
}

/// A NaN with this sign and fraction, made quiet.
fn quiet(g: &mut Gates, format: Format, sign: Lit, fraction: &[Lit]) -> Word {
    let mut fraction = fraction.to_vec();
    fraction[format.significand() as usize - 2] = Lit::TRUE;
    pack(g, format, sign, &vec![Lit::TRUE; format.exponent() as usize], &fraction)
}

/// Whether any operand makes the result a NaN by itself.
pub fn any_nan(g: &mut Gates, operands: &[&Number]) -> Lit {
    g.any(operands.iter().flat_map(|number| [number.nan, number.unsupported]).collect())
}

/// The NaN that an operation returns: the first operand that is one, or else the default. x87 takes the NaN with the
/// greatest fraction (so a quiet one first), of equal ones the positive, and the default if an operand is not
/// supported.
pub fn propagate(g: &mut Gates, format: Format, operands: &[&Number]) -> Word {
    let default = default_nan(g, format);
    if !format.is_explicit() {
        return operands.iter().rev().fold(default, |rest, number| {
            let word = quiet(g, format, number.sign, &number.fraction);
            choose(g, number.nan, &word, &rest)
        });
    }
    // Fraction with the inverted sign below, so that the greatest is wanted; zero if there is none so far.
    let mut best = vec![Lit::FALSE; format.significand() as usize];
    for number in operands {
        let key: Word = [!number.sign].into_iter().chain(number.fraction.iter().copied()).collect();
        let greater = less(g, &best, &key, false, false);
        let replaces = g.and(number.nan, greater);
        best = choose(g, replaces, &key, &best);
    }
    let chosen = quiet(g, format, !best[0], &best[1..]);
    let found = g.any(operands.iter().map(|number| number.nan).collect());
    let unsupported = g.any(operands.iter().map(|number| number.unsupported).collect());
    let usable = g.and(found, !unsupported);
    choose(g, usable, &chosen, &default)
}

/// Selects the first case whose condition holds, otherwise `other`.
pub fn select(g: &mut Gates, cases: &[(Lit, Word)], other: Word) -> Word {
    cases.iter().rev().fold(other, |rest, (condition, word)| choose(g, *condition, word, &rest))
}
