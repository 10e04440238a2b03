//! Floating-point numbers as words: formats, rounding modes, and what every float operator means.
//!
//! `word` and `wide` define the operators, as `eval.rs` does for the others: `word` for operands and results of at
//! most 64 bits, computed by the processor (`native.rs`) or in 128-bit integers; `wide` for all, in integers of any
//! size. Each operation takes its operands apart (`unpack.rs`), computes exactly or with a jammed lowest bit
//! (`natural.rs`), and rounds once (`round.rs`). `nan.rs` says which NaN comes out.

mod add;
mod build;
mod compare;
mod convert;
mod derive;
mod div;
pub mod exceptions;
mod format;
mod integral;
mod mul;
mod nan;
mod native;
mod natural;
mod parameter;
mod rem;
mod round;
mod sqrt;
mod unpack;

pub use format::{Format, Rounding};
pub use parameter::FloatParameter;

use super::eval::Shape;
use super::{Bits, FloatOp};
use natural::Natural;
use num_bigint::BigUint;

/// Evaluates a float operator on words. Operators ignore the operands that they do not have.
#[inline(never)]
pub fn word(op: FloatOp, s: Shape, a: u64, b: u64, c: u64) -> u64 {
    let p = FloatParameter::unpack(op, s.low, s.operand);
    let native = match op {
        FloatOp::FToF => native::convert(p.source, p.format, p.rounding, a),
        FloatOp::FFromUInt => native::from_integer(p.format, p.rounding, false, a),
        FloatOp::FFromSInt => {
            let value = super::bits::signed(s.operand, a);
            native::from_integer(p.format, p.rounding, true, value as u64)
        }
        _ => native::apply(op, p.format, p.rounding, a, b),
    };
    match native {
        Some(result) => result,
        None => apply(op, p, s, &u128::from(a), &u128::from(b), &u128::from(c)) as u64,
    }
}

/// Evaluates a float operator on values of any width.
pub fn wide(op: FloatOp, s: Shape, a: &Bits, b: &Bits, c: &Bits) -> Bits {
    let p = FloatParameter::unpack(op, s.low, s.operand);
    let [a, b, c] = [a, b, c].map(|bits| BigUint::from_words(bits.words()));
    Bits::from_words(s.width, &apply(op, p, s, &a, &b, &c).to_words())
}

fn apply<N: Natural>(op: FloatOp, p: FloatParameter, s: Shape, a: &N, b: &N, c: &N) -> N {
    let (format, mode) = (p.format, p.rounding);
    let truth = |value: bool| N::from_words(&[value.into()]);
    match op {
        FloatOp::FAdd => add::add(format, mode, a, b),
        FloatOp::FMul => mul::mul(format, mode, a, b),
        FloatOp::FDiv => div::div(format, mode, a, b),
        FloatOp::FMulAdd => mul::mul_add(format, mode, a, b, c),
        FloatOp::FSqrt => sqrt::sqrt(format, mode, a),
        FloatOp::FRound => integral::integral(format, mode, a),
        FloatOp::FRem => rem::rem(format, a, b),
        FloatOp::FLt => truth(compare::compare(format, a, b).is_some_and(|order| order.is_lt())),
        FloatOp::FLe => truth(compare::compare(format, a, b).is_some_and(|order| order.is_le())),
        FloatOp::FEq => truth(compare::compare(format, a, b).is_some_and(|order| order.is_eq())),
        FloatOp::FToF => convert::convert(p.source, format, mode, a),
        FloatOp::FToUInt | FloatOp::FToSInt => {
            convert::to_integer(format, mode, op == FloatOp::FToSInt, s.width, a)
                .unwrap_or_else(|| N::one().shl(i64::from(s.width) - 1))
        }
        FloatOp::FFromUInt | FloatOp::FFromSInt => {
            convert::from_integer(format, mode, op == FloatOp::FFromSInt, s.operand, a)
        }
    }
}
