//! Circuits of the float operators, for any format and rounding mode, which are constants of the node.
//!
//! A circuit unpacks its operands (`unpack`), computes an exact result with a sticky bit, rounds it (`round`), and
//! replaces what zeros, infinities and NaNs make special (`special`). Exponents carry their range (`exponent`).

mod add;
mod align;
mod compare;
mod convert;
mod divide;
mod exponent;
mod fused;
mod integral;
mod multiply;
mod normalise;
mod remainder;
mod root;
mod round;
mod special;
mod sum;
mod unpack;

use add::add;
use compare::{equal, less};
use convert::{from_integer, to_format, to_integer};
use divide::divide;
use fused::multiply_add;
use integral::round_to_integral;
use multiply::multiply;
use remainder::remainder;
use root::root;

use super::{Gates, Lit, Word};
use crate::expr::FloatOp;
use crate::expr::float::{FloatParameter, Format, Rounding};

/// Applies an operator with a packed parameter to words. `width` is that of the result.
pub fn apply(g: &mut Gates, op: FloatOp, width: usize, parameter: u32, operands: &[&[Lit]]) -> Word {
    let a = operands[0];
    let b = || operands[1];
    let FloatParameter { format, rounding, source } = FloatParameter::unpack(op, parameter, a.len() as u32);
    match op {
        FloatOp::FAdd => add(g, format, rounding, a, b()),
        FloatOp::FMul => multiply(g, format, rounding, a, b()),
        FloatOp::FDiv => divide(g, format, rounding, a, b()),
        FloatOp::FMulAdd => multiply_add(g, format, rounding, a, b(), operands[2]),
        FloatOp::FSqrt => root(g, format, rounding, a),
        FloatOp::FRound => round_to_integral(g, format, rounding, a),
        FloatOp::FRem => remainder(g, format, a, b()),
        FloatOp::FLt => vec![less(g, format, a, b(), false)],
        FloatOp::FLe => vec![less(g, format, a, b(), true)],
        FloatOp::FEq => vec![equal(g, format, a, b())],
        FloatOp::FToF => to_format(g, source, format, rounding, a),
        FloatOp::FToUInt => to_integer(g, format, rounding, a, (width, false)),
        FloatOp::FToSInt => to_integer(g, format, rounding, a, (width, true)),
        FloatOp::FFromUInt => from_integer(g, format, rounding, a, false),
        FloatOp::FFromSInt => from_integer(g, format, rounding, a, true),
    }
}
