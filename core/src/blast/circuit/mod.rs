//! Circuits of the bit-vector operators. Words are slices of literals, lowest bit first.
//!
//! Checked against `eval` for every operator: on all operands at small widths, on samples of wide ones
//! (`tests/blast_circuit.rs`).

mod arith;
mod compare;
mod float;
mod shift;

pub use arith::{add, divide, multiply, negate, subtract};
pub use compare::{equal, less};
pub use shift::{Fill, left, right};

use super::gate::{Gates, Lit};
use crate::expr::{ArithOp, Bits, BitsOp, CompareOp, Family, Op, ShapeOp, ShiftOp};

/// Bits of a word, lowest first.
pub type Word = Vec<Lit>;

/// The word of a constant.
pub fn constant(bits: &Bits) -> Word {
    (0..bits.width()).map(|i| Lit::constant(bits.bit(i))).collect()
}

/// Selects one of two words, bit by bit.
pub fn choose(g: &mut Gates, condition: Lit, then: &[Lit], other: &[Lit]) -> Word {
    debug_assert_eq!(then.len(), other.len());
    then.iter().zip(other).map(|(&t, &e)| g.mux(condition, t, e)).collect()
}

/// Applies an operator to words. `width` is that of the result, `low` the lowest bit of an extract or the parameter of
/// a float operator. `operands` has as many words as the operator takes.
pub fn apply(g: &mut Gates, op: Op, width: u32, low: u32, operands: &[&[Lit]]) -> Word {
    let a = operands[0];
    let b = || operands[1];
    let width = width as usize;
    match op.family() {
        Family::Bits(op) => match op {
            BitsOp::Not => a.iter().map(|&lit| !lit).collect(),
            BitsOp::And => a.iter().zip(b()).map(|(&x, &y)| g.and(x, y)).collect(),
            BitsOp::Or => a.iter().zip(b()).map(|(&x, &y)| g.or(x, y)).collect(),
            BitsOp::Xor => a.iter().zip(b()).map(|(&x, &y)| g.xor(x, y)).collect(),
        },
        Family::Arith(op) => match op {
            ArithOp::Add => add(g, a, b()),
            ArithOp::Sub => subtract(g, a, b()),
            ArithOp::Mul => multiply(g, a, b()),
            ArithOp::UDiv => divide(g, a, b()).0,
            ArithOp::URem => divide(g, a, b()).1,
            ArithOp::SDiv => arith::divide_signed(g, a, b()).0,
            ArithOp::SRem => arith::divide_signed(g, a, b()).1,
        },
        Family::Shift(op) => match op {
            ShiftOp::Shl => left(g, a, b()),
            ShiftOp::LShr => right(g, a, b(), Fill::Zero),
            ShiftOp::AShr => right(g, a, b(), Fill::Sign),
        },
        Family::Compare(compare) => match compare {
            CompareOp::Eq => vec![equal(g, a, b())],
            CompareOp::Ult | CompareOp::Ule | CompareOp::Slt | CompareOp::Sle => {
                vec![less(g, a, b(), !op.is_strict(), op.is_signed())]
            }
        },
        Family::Shape(op) => match op {
            ShapeOp::Concat => b().iter().chain(a).copied().collect(),
            ShapeOp::Extract => a[low as usize..low as usize + width].to_vec(),
            ShapeOp::ZExt => extend(a, width, Lit::FALSE),
            ShapeOp::SExt => extend(a, width, a[a.len() - 1]),
            ShapeOp::Ite => choose(g, a[0], operands[1], operands[2]),
        },
        Family::Float(op) => float::apply(g, op, width, low, operands),
        Family::Leaf(_) | Family::Array(_) => unreachable!("{op:?} is not a function of words"),
    }
}

fn extend(a: &[Lit], width: usize, fill: Lit) -> Word {
    let mut word = a.to_vec();
    word.resize(width, fill);
    word
}
