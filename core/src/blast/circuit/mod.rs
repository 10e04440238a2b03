//! Circuits of the bit-vector operators. Words are slices of literals, lowest bit first.
//!
//! Checked against `eval` for every operator: on all operands at small widths, on samples of wide ones
//! (`tests/blast_circuit.rs`).

mod arith;
mod compare;
mod shift;

pub use arith::{add, divide, multiply, negate, subtract};
pub use compare::{equal, less};
pub use shift::{Fill, left, right};

use super::gate::{Gates, Lit};
use crate::expr::{Bits, Op};

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

/// Applies an operator to words. `width` is that of the result, `low` the lowest bit of an extract. `operands` has
/// as many words as the operator takes.
pub fn apply(g: &mut Gates, op: Op, width: u32, low: u32, operands: &[&[Lit]]) -> Word {
    let a = operands[0];
    let b = || operands[1];
    let width = width as usize;
    match op {
        Op::Not => a.iter().map(|&lit| !lit).collect(),
        Op::And => a.iter().zip(b()).map(|(&x, &y)| g.and(x, y)).collect(),
        Op::Or => a.iter().zip(b()).map(|(&x, &y)| g.or(x, y)).collect(),
        Op::Xor => a.iter().zip(b()).map(|(&x, &y)| g.xor(x, y)).collect(),
        Op::Add => add(g, a, b()),
        Op::Sub => subtract(g, a, b()),
        Op::Mul => multiply(g, a, b()),
        Op::UDiv => divide(g, a, b()).0,
        Op::URem => divide(g, a, b()).1,
        Op::SDiv => arith::divide_signed(g, a, b()).0,
        Op::SRem => arith::divide_signed(g, a, b()).1,
        Op::Shl => left(g, a, b()),
        Op::LShr => right(g, a, b(), Fill::Zero),
        Op::AShr => right(g, a, b(), Fill::Sign),
        Op::Eq => vec![equal(g, a, b())],
        Op::Ult => vec![less(g, a, b(), false, false)],
        Op::Ule => vec![less(g, a, b(), true, false)],
        Op::Slt => vec![less(g, a, b(), false, true)],
        Op::Sle => vec![less(g, a, b(), true, true)],
        Op::Concat => b().iter().chain(a).copied().collect(),
        Op::Extract => a[low as usize..low as usize + width].to_vec(),
        Op::ZExt => extend(a, width, Lit::FALSE),
        Op::SExt => extend(a, width, a[a.len() - 1]),
        Op::Ite => choose(g, a[0], operands[1], operands[2]),
        Op::Const | Op::Var | Op::Table | Op::ConstArray | Op::Read | Op::Store => {
            unreachable!("{op:?} is not a function of words")
        }
    }
}

fn extend(a: &[Lit], width: usize, fill: Lit) -> Word {
    let mut word = a.to_vec();
    word.resize(width, fill);
    word
}
