//! The fast path for single and double in the default rounding mode: the processor's own arithmetic.
//!
//! IEEE 754 defines every result that is not NaN, and Rust's operators are IEEE 754's, so such results have the same
//! bits. Rust does not define the bits of a NaN: the caller computes those (`nan.rs`).

use super::{Format, Rounding};
use crate::expr::FloatOp;

macro_rules! apply {
    ($float:ty, $bits:ty, $op:expr, $a:expr, $b:expr) => {{
        let a = <$float>::from_bits($a as $bits);
        let b = <$float>::from_bits($b as $bits);
        let result = match $op {
            FloatOp::FAdd => a + b,
            FloatOp::FMul => a * b,
            FloatOp::FDiv => a / b,
            FloatOp::FSqrt => a.sqrt(),
            FloatOp::FLt => return Some((a < b) as u64),
            FloatOp::FLe => return Some((a <= b) as u64),
            FloatOp::FEq => return Some((a == b) as u64),
            FloatOp::FMulAdd
            | FloatOp::FRound
            | FloatOp::FRem
            | FloatOp::FToF
            | FloatOp::FToUInt
            | FloatOp::FToSInt
            | FloatOp::FFromUInt
            | FloatOp::FFromSInt => return None,
        };
        (!result.is_nan()).then_some(u64::from(result.to_bits()))
    }};
}

/// Applies an operator that the processor has, unless the result is NaN.
#[inline]
pub(super) fn apply(op: FloatOp, format: Format, rounding: Rounding, a: u64, b: u64) -> Option<u64> {
    if rounding != Rounding::NearestEven {
        return None;
    }
    match format {
        Format::DOUBLE => apply!(f64, u64, op, a, b),
        Format::SINGLE => apply!(f32, u32, op, a, b),
        _ => None,
    }
}

/// Converts between single and double, unless the number is NaN.
#[inline]
pub(super) fn convert(from: Format, to: Format, rounding: Rounding, a: u64) -> Option<u64> {
    match (from, to) {
        (Format::SINGLE, Format::DOUBLE) => {
            let a = f32::from_bits(a as u32);
            (!a.is_nan()).then_some(f64::from(a).to_bits())
        }
        (Format::DOUBLE, Format::SINGLE) if rounding == Rounding::NearestEven => {
            let a = f64::from_bits(a);
            (!a.is_nan()).then_some(u64::from((a as f32).to_bits()))
        }
        _ => None,
    }
}

/// Converts an integer of at most 64 bits, given as its value.
#[inline]
pub(super) fn from_integer(format: Format, rounding: Rounding, signed: bool, value: u64) -> Option<u64> {
    if rounding != Rounding::NearestEven {
        return None;
    }
    match (format, signed) {
        (Format::DOUBLE, true) => Some((value as i64 as f64).to_bits()),
        (Format::DOUBLE, false) => Some((value as f64).to_bits()),
        (Format::SINGLE, true) => Some(u64::from((value as i64 as f32).to_bits())),
        (Format::SINGLE, false) => Some(u64::from((value as f32).to_bits())),
        _ => None,
    }
}
