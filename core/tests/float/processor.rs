//! Float operators against the instructions of the processor, bits of NaN included: SSE in four rounding modes, fused
//! multiply-add if the processor has it, x87 in extended precision.

use super::{apply, arithmetic, samples, some_operands};
use crate::terms::Random;
use partita_core::expr::float::{FloatParameter, Format, Rounding};
use partita_core::expr::{Bits, FloatOp};
use std::arch::asm;

/// The rounding field of MXCSR and of the x87 control word, for the modes that they have.
const MODES: [(Rounding, u32); 4] = [
    (Rounding::NearestEven, 0),
    (Rounding::TowardNegative, 1),
    (Rounding::TowardPositive, 2),
    (Rounding::TowardZero, 3),
];

/// All exceptions masked, no flush to zero.
fn mxcsr(mode: u32) -> u32 {
    0x1f80 | mode << 13
}

macro_rules! sse {
    ($mode:expr, $a:expr, $b:expr, $instruction:literal) => {{
        let (mut result, b): (u64, u64) = ($a, $b);
        let (mode, mut old) = (mxcsr($mode), 0_u32);
        // SAFETY: the block restores MXCSR; it reads and writes the two variables only.
        unsafe {
            asm!(
                "stmxcsr [{old}]",
                "ldmxcsr [{mode}]",
                "movq {x}, {a}",
                "movq {y}, {b}",
                $instruction,
                "movq {a}, {x}",
                "ldmxcsr [{old}]",
                old = in(reg) &mut old,
                mode = in(reg) &mode,
                a = inout(reg) result,
                b = in(reg) b,
                x = out(xmm_reg) _,
                y = out(xmm_reg) _,
            );
        }
        result
    }};
}

fn sse(op: FloatOp, double: bool, mode: u32, args: &[Bits]) -> u64 {
    let (a, b) = (args[0].low(), args[args.len() - 1].low());
    let result = match (op, double) {
        (FloatOp::FAdd, true) => sse!(mode, a, b, "addsd {x}, {y}"),
        (FloatOp::FMul, true) => sse!(mode, a, b, "mulsd {x}, {y}"),
        (FloatOp::FDiv, true) => sse!(mode, a, b, "divsd {x}, {y}"),
        (FloatOp::FSqrt, true) => sse!(mode, a, b, "sqrtsd {x}, {y}"),
        (FloatOp::FAdd, false) => sse!(mode, a, b, "addss {x}, {y}"),
        (FloatOp::FMul, false) => sse!(mode, a, b, "mulss {x}, {y}"),
        (FloatOp::FDiv, false) => sse!(mode, a, b, "divss {x}, {y}"),
        (FloatOp::FSqrt, false) => sse!(mode, a, b, "sqrtss {x}, {y}"),
        _ => unreachable!("not an instruction"),
    };
    if double { result } else { result & u64::from(u32::MAX) }
}

#[test]
fn sse_arithmetic() {
    let mut random = Random::new(40);
    for (format, double) in [(Format::SINGLE, false), (Format::DOUBLE, true)] {
        for (mode, field) in MODES {
            for op in [FloatOp::FAdd, FloatOp::FMul, FloatOp::FDiv, FloatOp::FSqrt] {
                for _ in 0..samples(1000) {
                    let args = some_operands(&mut random, op, format);
                    let right = Bits::word(format.width(), sse(op, double, field, &args));
                    let found = arithmetic(op, format, mode, &args);
                    assert_eq!(found, right, "{op:?} {mode:?} {args:?}");
                }
            }
        }
    }
}

#[test]
fn sse_conversions() {
    let mut random = Random::new(41);
    for (mode, field) in MODES {
        for _ in 0..samples(1000) {
            let double = some_operands(&mut random, FloatOp::FToF, Format::DOUBLE);
            let single = some_operands(&mut random, FloatOp::FToF, Format::SINGLE);
            let (d, s) = (double[0].low(), single[0].low());
            let to_single = FloatParameter { format: Format::SINGLE, rounding: mode, source: Format::DOUBLE };
            let right = sse!(field, 0, d, "cvtsd2ss {x}, {y}") & u64::from(u32::MAX);
            assert_eq!(apply(FloatOp::FToF, to_single, 32, &double), Bits::word(32, right), "{double:?}");
            let to_double = FloatParameter { format: Format::DOUBLE, rounding: mode, source: Format::SINGLE };
            let right = sse!(field, 0, s, "cvtss2sd {x}, {y}");
            assert_eq!(apply(FloatOp::FToF, to_double, 64, &single), Bits::word(64, right), "{single:?}");
            let right = sse!(field, 0, d, "cvtsd2si {a}, {y}\nmovq {x}, {a}");
            let found = apply(FloatOp::FToSInt, FloatParameter::new(Format::DOUBLE, mode), 64, &double);
            assert_eq!(found, Bits::word(64, right), "{mode:?} {double:?}");
            let right = sse!(field, 0, s, "cvtss2si {a:e}, {y}\nmovq {x}, {a}") & u64::from(u32::MAX);
            let found = apply(FloatOp::FToSInt, FloatParameter::new(Format::SINGLE, mode), 32, &single);
            assert_eq!(found, Bits::word(32, right), "{mode:?} {single:?}");
            let right = sse!(field, 0, d, "cvtsi2sd {x}, {b}");
            let found = apply(FloatOp::FFromSInt, FloatParameter::new(Format::DOUBLE, mode), 64, &double);
            assert_eq!(found, Bits::word(64, right), "{mode:?} from {double:?}");
        }
    }
}

#[test]
fn fused_multiply_add() {
    if !std::arch::is_x86_feature_detected!("fma") {
        println!("skipped: the processor has no fused multiply-add");
        return;
    }
    let mut random = Random::new(42);
    for (mode, field) in MODES {
        for _ in 0..samples(2000) {
            let args = some_operands(&mut random, FloatOp::FMulAdd, Format::DOUBLE);
            let (a, b, c) = (args[0].low(), args[1].low(), args[2].low());
            let (mode_word, mut old, mut result) = (mxcsr(field), 0_u32, b);
            // SAFETY: as above; the instruction exists.
            unsafe {
                asm!(
                    "stmxcsr [{old}]",
                    "ldmxcsr [{mode}]",
                    "movq {x}, {b}",
                    "movq {y}, {a}",
                    "movq {z}, {c}",
                    "vfmadd213sd {x}, {y}, {z}",
                    "movq {b}, {x}",
                    "ldmxcsr [{old}]",
                    old = in(reg) &mut old,
                    mode = in(reg) &mode_word,
                    a = in(reg) a,
                    b = inout(reg) result,
                    c = in(reg) c,
                    x = out(xmm_reg) _,
                    y = out(xmm_reg) _,
                    z = out(xmm_reg) _,
                );
            }
            let found = arithmetic(FloatOp::FMulAdd, Format::DOUBLE, mode, &args);
            // `vfmadd213sd x, y, z` computes y * x + z and takes the first NaN of y, x, z.
            assert_eq!(found, Bits::word(64, result), "{mode:?} {args:?}");
        }
    }
}

fn bytes(bits: &Bits) -> [u8; 16] {
    let mut bytes = [0; 16];
    bytes[..8].copy_from_slice(&bits.low().to_le_bytes());
    bytes[8..10].copy_from_slice(&bits.words()[1].to_le_bytes()[..2]);
    bytes
}

macro_rules! x87 {
    ($mode:expr, $a:expr, $b:expr, $($instruction:literal),*) => {{
        let (a, b) = (bytes($a), bytes($b));
        let mut result = [0_u8; 16];
        let (control, mut old) = (0x37f_u16 | ($mode as u16) << 10, 0_u16);
        // SAFETY: the block leaves the register stack empty and restores the control word; it writes `result` only.
        unsafe {
            asm!(
                "fnstcw word ptr [{old}]",
                "fldcw word ptr [{control}]",
                "fld tbyte ptr [{b}]",
                "fld tbyte ptr [{a}]",
                $($instruction,)*
                "fstp tbyte ptr [{result}]",
                "fstp st(0)",
                "fnclex",
                "fldcw word ptr [{old}]",
                old = in(reg) &mut old,
                control = in(reg) &control,
                a = in(reg) &a,
                b = in(reg) &b,
                result = in(reg) &mut result,
                out("ax") _,
                out("st(0)") _, out("st(1)") _, out("st(2)") _, out("st(3)") _,
                out("st(4)") _, out("st(5)") _, out("st(6)") _, out("st(7)") _,
            );
        }
        let low = u64::from_le_bytes(result[..8].try_into().expect("eight bytes"));
        let high = u64::from(u16::from_le_bytes(result[8..10].try_into().expect("two bytes")));
        Bits::from_words(80, &[low, high])
    }};
}

#[test]
fn x87_arithmetic() {
    let mut random = Random::new(43);
    let format = Format::X87;
    for (mode, field) in MODES {
        for op in
            [FloatOp::FAdd, FloatOp::FMul, FloatOp::FDiv, FloatOp::FSqrt, FloatOp::FRound, FloatOp::FRem]
        {
            for _ in 0..samples(600) {
                let args = some_operands(&mut random, op, format);
                let (a, b) = (&args[0], &args[args.len() - 1]);
                let right = match op {
                    FloatOp::FAdd => x87!(field, a, b, "fadd st(0), st(1)"),
                    FloatOp::FMul => x87!(field, a, b, "fmul st(0), st(1)"),
                    FloatOp::FDiv => x87!(field, a, b, "fdiv st(0), st(1)"),
                    FloatOp::FSqrt => x87!(field, a, b, "fsqrt"),
                    FloatOp::FRound => x87!(field, a, b, "frndint"),
                    FloatOp::FRem => {
                        x87!(field, a, b, "2:", "fprem1", "fnstsw ax", "test ah, 4", "jnz 2b")
                    }
                    _ => unreachable!("not in the list"),
                };
                let mode = if op.rounds() { mode } else { Rounding::NearestEven };
                let found = arithmetic(op, format, mode, &args);
                assert_eq!(found, right, "{op:?} {mode:?} {args:?}");
            }
        }
    }
}
