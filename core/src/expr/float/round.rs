//! Rounding of exact values, and packing of results.

use super::natural::Natural;
use super::unpack::{Magnitude, special_exponent};
use super::{Format, Rounding};

/// Returns whether a number between `kept` and the next one is rounded up in magnitude. `half` is the first bit that
/// is dropped, `rest` whether a bit below it is set, `odd` the lowest kept bit.
pub(super) fn rounds_up(mode: Rounding, negative: bool, odd: bool, half: bool, rest: bool) -> bool {
    match mode {
        Rounding::NearestEven => half && (rest || odd),
        Rounding::NearestAway => half,
        Rounding::TowardPositive => !negative && (half || rest),
        Rounding::TowardNegative => negative && (half || rest),
        Rounding::TowardZero => false,
    }
}

/// Rounds `significand / 2^shift` to an integer; a negative shift multiplies.
pub(super) fn round_shifted<N: Natural>(mode: Rounding, negative: bool, significand: N, shift: i64) -> N {
    if shift <= 0 {
        return significand.shl(-shift);
    }
    let half = significand.bit(shift - 1);
    let rest = significand.any_below(shift - 1);
    let kept = significand.shr(shift);
    if rounds_up(mode, negative, kept.bit(0), half, rest) { kept.plus(&N::one()) } else { kept }
}

/// Rounds a value to the format. The lowest bit of the significand may be jammed if it has two bits more than the
/// format or is exact otherwise.
pub(super) fn round<N: Natural>(
    format: Format,
    mode: Rounding,
    negative: bool,
    magnitude: Magnitude<N>,
) -> N {
    let precision = i64::from(format.significand());
    let Magnitude { significand, exponent } = magnitude;
    debug_assert!(!significand.is_zero());
    let top = exponent + significand.bits() - 1;
    if top > format.bias() {
        return overflow(format, mode, negative);
    }
    // Exponent of the lowest bit of the result.
    let mut lowest = top.max(format.min_exponent()) - (precision - 1);
    let mut kept = round_shifted(mode, negative, significand, lowest - exponent);
    if kept.bits() > precision {
        kept = kept.shr(1);
        lowest += 1;
    }
    if lowest + precision - 1 > format.bias() {
        return overflow(format, mode, negative);
    }
    let is_normal = kept.bit(precision - 1);
    let biased = if is_normal { lowest + precision - 1 + format.bias() } else { 0 };
    let stored =
        if is_normal && !format.is_explicit() { kept.minus(&N::one().shl(precision - 1)) } else { kept };
    pack(format, negative, biased, &stored)
}

fn overflow<N: Natural>(format: Format, mode: Rounding, negative: bool) -> N {
    let infinite = match mode {
        Rounding::NearestEven | Rounding::NearestAway => true,
        Rounding::TowardPositive => !negative,
        Rounding::TowardNegative => negative,
        Rounding::TowardZero => false,
    };
    if infinite {
        return infinity(format, negative);
    }
    let stored = N::one().shl(format.stored().into()).minus(&N::one());
    pack(format, negative, special_exponent(format) - 1, &stored)
}

pub(super) fn pack<N: Natural>(format: Format, negative: bool, biased: i64, stored: &N) -> N {
    let head = biased as u64 | u64::from(negative) << format.exponent();
    N::from_words(&[head]).shl(format.stored().into()).plus(stored)
}

pub(super) fn zero<N: Natural>(format: Format, negative: bool) -> N {
    pack(format, negative, 0, &N::from_words(&[0]))
}

pub(super) fn infinity<N: Natural>(format: Format, negative: bool) -> N {
    let stored = if format.is_explicit() {
        N::one().shl(i64::from(format.significand()) - 1)
    } else {
        N::from_words(&[0])
    };
    pack(format, negative, special_exponent(format), &stored)
}
