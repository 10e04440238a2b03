//! Conversions between formats of floating-point numbers, which the models of `printf` need.
use super::float_terms as terms;
use crate::expr::eval::Shape;
use crate::expr::float::{self, FloatParameter, Rounding};
use crate::expr::{Bits, FloatOp};
use crate::program::FloatKind;

/// Converts between formats, to nearest.
pub fn convert(from: FloatKind, to: FloatKind, a: u128) -> u128 {
    let (source, format) = (terms::format(from), terms::format(to));
    let parameter = FloatParameter { format, rounding: Rounding::NearestEven, source };
    let shape = Shape { width: to.width(), operand: from.width(), low: parameter.pack(FloatOp::FToF) };
    let a = Bits::from_words(from.width(), &[a as u64, (a >> 64) as u64]);
    let result = float::wide(FloatOp::FToF, shape, &a, &a, &a);
    let words = result.words();
    u128::from(result.low()) | u128::from(words.get(1).copied().unwrap_or(0)) << 64
}
