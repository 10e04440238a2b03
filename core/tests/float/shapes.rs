//! Shapes of float operators on small operands, for tests that go through all operators.

use partita_core::expr::FloatOp;
use partita_core::expr::eval::Shape;
use partita_core::expr::float::{FloatParameter, Format, Rounding};

/// Formats of `width` bits in which everything can be enumerated.
pub(crate) fn small_formats(width: u32) -> Vec<Format> {
    (2..=3).filter(|exponent| exponent + 2 <= width).filter_map(|e| Format::new(e, width - e)).collect()
}

/// Shapes with a first operand of `operand` bits, in all rounding modes; none if no format is as small.
pub(crate) fn float_shapes(op: FloatOp, operand: u32) -> Vec<Shape> {
    let mut shapes = Vec::new();
    let modes = Rounding::ALL.into_iter().take(if op.rounds() { 5 } else { 1 });
    for rounding in modes {
        let mut push = |format: Format, source: Format, width: u32| {
            let parameter = FloatParameter { format, rounding, source };
            shapes.push(Shape { width, operand, low: parameter.pack(op) });
        };
        match op {
            FloatOp::FFromUInt | FloatOp::FFromSInt => {
                small_formats(5).into_iter().for_each(|f| push(f, f, f.width()));
            }
            FloatOp::FToUInt | FloatOp::FToSInt => {
                for format in small_formats(operand) {
                    [1, 3].into_iter().for_each(|width| push(format, format, width));
                }
            }
            FloatOp::FToF => {
                for source in small_formats(operand) {
                    let targets = small_formats(4).into_iter().chain(small_formats(6));
                    targets.for_each(|format| push(format, source, format.width()));
                }
            }
            FloatOp::FLt | FloatOp::FLe | FloatOp::FEq => {
                small_formats(operand).into_iter().for_each(|f| push(f, f, 1));
            }
            FloatOp::FAdd | FloatOp::FMul | FloatOp::FDiv | FloatOp::FMulAdd => {
                small_formats(operand).into_iter().for_each(|f| push(f, f, operand));
            }
            FloatOp::FSqrt | FloatOp::FRound | FloatOp::FRem => {
                small_formats(operand).into_iter().for_each(|f| push(f, f, operand));
            }
        }
    }
    shapes
}
