//! Integers that floats are rounded to, beyond the range of the result.

use crate::expr::eval::{Shape, wide};
use crate::expr::float::FloatParameter;
use crate::expr::{Bits, FloatOp, Op};

/// Width in which every integer of 64 bits has room; larger numbers saturate.
const WIDE: u32 = 66;

/// Least and greatest integer that a conversion to `width` bits gives.
pub fn bounds(op: FloatOp, width: u32) -> (i128, i128) {
    match op {
        FloatOp::FToSInt => (-(1 << (width - 1)), (1 << (width - 1)) - 1),
        _ => (0, (1 << width) - 1),
    }
}

/// The integer that a number is rounded to; far outside of 64 bits, the least or greatest.
pub fn rounded(p: FloatParameter, word: u64) -> i128 {
    let operand = p.format.width();
    let shape = Shape { width: WIDE, operand, low: p.pack(FloatOp::FToSInt) };
    let zero = Bits::zero(operand);
    let bits = wide(Op::FToSInt, shape, &Bits::word(operand, word), &zero, &zero);
    let words = bits.words();
    let value = i128::from(words[0]) | i128::from(words.get(1).copied().unwrap_or(0)) << 64;
    let shift = 128 - WIDE;
    let value = value << shift >> shift;
    if value == -(1 << (WIDE - 1)) {
        return if word >> (operand - 1) & 1 == 1 { i128::MIN } else { i128::MAX };
    }
    value
}
