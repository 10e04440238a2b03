//! Float operators compared with independent definitions: exact rational arithmetic in tiny formats (`exact.rs`),
//! `rustc_apfloat` (`apfloat.rs`), the processor (`processor.rs`).
//!
//! The samples have a fixed seed. `PARTITA_FLOAT_SAMPLES=1000000` sets the number per operator, format and mode.

mod apfloat;
mod derived;
mod exact;
#[cfg(target_arch = "x86_64")]
mod processor;
pub(crate) mod rules;
pub(crate) mod shapes;

use crate::terms::Random;
use partita_core::expr::eval::{self, Shape};
use partita_core::expr::float::{FloatParameter, Format, Rounding};
use partita_core::expr::{Bits, FloatOp, Op};

/// Number of samples per operator, format and mode.
pub(crate) fn samples(usual: u64) -> u64 {
    match std::env::var("PARTITA_FLOAT_SAMPLES") {
        Ok(text) => text.parse().expect("expected a number in PARTITA_FLOAT_SAMPLES"),
        Err(_) => usual,
    }
}

/// Evaluates an operator. `width` is that of the result. Both definitions are used where both apply.
pub(crate) fn apply(op: FloatOp, parameter: FloatParameter, width: u32, args: &[Bits]) -> Bits {
    let shape = Shape { width, operand: args[0].width(), low: parameter.pack(op) };
    let arg = |i: usize| &args[i.min(args.len() - 1)];
    let wide = eval::wide(op.into(), shape, arg(0), arg(1), arg(2));
    if width <= 64 && shape.operand <= 64 {
        let word = eval::word(op.into(), shape, arg(0).low(), arg(1).low(), arg(2).low());
        assert_eq!(Bits::word(width, word), wide, "word and wide differ: {op:?} {parameter:?} {args:?}");
    }
    wide
}

/// Applies an operator whose result has the format of its operands.
pub(crate) fn arithmetic(op: FloatOp, format: Format, rounding: Rounding, args: &[Bits]) -> Bits {
    apply(op, FloatParameter::new(format, rounding), format.width(), args)
}

pub(crate) fn word(format: Format, value: u64) -> Bits {
    Bits::word(format.width(), value)
}

/// Numbers that are likely to matter: random bits, special values, and numbers whose exponent is close to that of
/// another one.
pub(crate) fn some_number(random: &mut Random, format: Format, near: Option<&Bits>) -> Bits {
    let width = format.width();
    let stored = u64::from(format.stored());
    let bits = random.bits(width);
    let exponent_mask = Bits::ones(format.exponent()).zext(width).shl(stored);
    let with_exponent = |bits: &Bits, exponent: &Bits| {
        let rest = bits.zip(&exponent_mask.not(), |a, b| a & b);
        let exponent = exponent.shl(stored).zip(&exponent_mask, |a, b| a & b);
        repaired(format, rest.zip(&exponent, |a, b| a | b))
    };
    match random.below(8) {
        0 => {
            // A special exponent or the smallest ones, with few bits set.
            let exponent = match random.below(4) {
                0 => Bits::zero(width),
                1 => Bits::word(width, 1),
                2 => Bits::ones(format.exponent()).zext(width),
                _ => Bits::ones(format.exponent()).zext(width).sub(&Bits::word(width, 1)),
            };
            let sparse = match random.below(4) {
                0 => Bits::zero(width),
                1 => Bits::ones(width),
                2 => Bits::word(width, 1).shl(random.below(u64::from(width))),
                _ => bits,
            };
            let sign = if random.chance(50) { format.zero(true) } else { format.zero(false) };
            with_exponent(&sparse.zip(&sign, |a, b| a ^ b), &exponent)
        }
        1..=4 if near.is_some() => {
            let near = near.expect("checked");
            let exponent = near.zip(&exponent_mask, |a, b| a & b).lshr(stored);
            let offset = random.below(2 * u64::from(format.significand()) + 4);
            let shift =
                Bits::word(width, offset).sub(&Bits::word(width, u64::from(format.significand()) + 2));
            with_exponent(&bits, &exponent.add(&shift))
        }
        5 => {
            // Around one.
            let one = Bits::word(width, format.bias() as u64);
            let offset = random.below(80);
            let shift = Bits::word(width, offset).sub(&Bits::word(width, 40));
            with_exponent(&bits, &one.add(&shift))
        }
        6 => {
            // Few significant bits.
            let keep = random.below(u64::from(format.significand()));
            let low = Bits::ones(width).shl(stored.saturating_sub(keep));
            repaired(format, bits.zip(&low, |a, b| a & b))
        }
        _ => repaired(format, bits),
    }
}

/// Sets the integer bit of most x87 numbers as it should be.
fn repaired(format: Format, bits: Bits) -> Bits {
    if !format.is_explicit() {
        return bits;
    }
    let exponent = bits.extract(u64::from(format.stored()), format.exponent());
    let integer = Bits::word(format.width(), 1).shl(u64::from(format.significand()) - 1);
    // One in sixteen stays as it is.
    if bits.low() & 15 == 9 {
        bits
    } else if exponent.is_zero() {
        bits.zip(&integer.not(), |a, b| a & b)
    } else {
        bits.zip(&integer, |a, b| a | b)
    }
}

/// Operands of an operator.
pub(crate) fn some_operands(random: &mut Random, op: FloatOp, format: Format) -> Vec<Bits> {
    let mut args: Vec<Bits> = Vec::new();
    for _ in 0..Op::from(op).arity() {
        let number = some_number(random, format, args.last());
        args.push(number);
    }
    // Sometimes the negation, for cancellation.
    if args.len() > 1 && random.chance(5) {
        args[1] = args[0].zip(&format.zero(true), |a, b| a ^ b);
    }
    args
}
