//! The NaN that an operation returns. IEEE 754 leaves its bits open: they are x86's.
//!
//! Formats with an implicit integer bit follow SSE: the first operand that is NaN, made quiet; if no operand is, the
//! default NaN, which is negative and quiet with no other bit. x87 prefers a quiet operand to a signalling one, then
//! the larger significand, then the positive one; an unsupported operand gives the default NaN. A fused
//! multiply-add considers its factors, then its addend: `vfmadd213` with the first factor as its second operand.

use super::Format;
use super::natural::Natural;
use super::round::pack;
use super::unpack::{fields, is_unsupported, special_exponent, unpack};

/// Position of the bit that makes a NaN quiet.
fn quiet_bit(format: Format) -> i64 {
    i64::from(format.significand()) - 2
}

/// The NaN of an invalid operation.
pub(super) fn default_nan<N: Natural>(format: Format) -> N {
    let mut stored = N::one().shl(quiet_bit(format));
    if format.is_explicit() {
        stored = stored.plus(&N::one().shl(quiet_bit(format) + 1));
    }
    pack(format, true, special_exponent(format), &stored)
}

fn quiet<N: Natural>(format: Format, nan: &N) -> N {
    if nan.bit(quiet_bit(format)) { nan.clone() } else { nan.plus(&N::one().shl(quiet_bit(format))) }
}

/// Returns the result of an operation with these operands whose result is NaN.
pub(super) fn result<N: Natural>(format: Format, operands: &[&N]) -> N {
    if operands.iter().any(|bits| is_unsupported(format, &fields(format, *bits))) {
        return default_nan(format);
    }
    let mut nans = operands.iter().copied().filter(|bits| unpack(format, *bits).is_nan());
    let Some(first) = nans.next() else { return default_nan(format) };
    if !format.is_explicit() {
        return quiet(format, first);
    }
    let chosen = nans.fold(first, |best, next| if x87_prefers(format, next, best) { next } else { best });
    quiet(format, chosen)
}

fn x87_prefers<N: Natural>(format: Format, a: &N, b: &N) -> bool {
    let is_quiet = |bits: &N| bits.bit(quiet_bit(format));
    let (x, y) = (fields(format, a), fields(format, b));
    let order = is_quiet(a).cmp(&is_quiet(b)).then(x.stored.compare(&y.stored));
    order.then(y.negative.cmp(&x.negative)).is_gt()
}

/// Converts a NaN: sign and the upper bits of the payload stay, as many as the result has.
pub(super) fn convert<N: Natural>(from: Format, to: Format, bits: &N) -> N {
    let f = fields(from, bits);
    if is_unsupported(from, &f) {
        return default_nan(to);
    }
    // The fraction without integer bit, its top bit set.
    let (old, new) = (i64::from(from.significand()) - 1, i64::from(to.significand()) - 1);
    let integer = f.stored.clone().shr(old).shl(old);
    let fraction = f.stored.minus(&integer);
    let fraction = if fraction.bit(old - 1) { fraction } else { fraction.plus(&N::one().shl(old - 1)) };
    let fraction = if new >= old { fraction.shl(new - old) } else { fraction.shr(old - new) };
    let stored = if to.is_explicit() { fraction.plus(&N::one().shl(new)) } else { fraction };
    pack(to, f.negative, special_exponent(to), &stored)
}
