//! Float operators against `rustc_apfloat`, in six formats and all modes, on samples. Bits of NaN are tested elsewhere:
//! `rustc_apfloat` has its own.

use super::{apply, arithmetic, samples, some_number, some_operands};
use crate::terms::Random;
use partita_core::expr::float::{FloatParameter, Format, Rounding};
use partita_core::expr::{Bits, FloatOp};
use rustc_apfloat::ieee::{BFloat, Double, Half, Quad, Single, X87DoubleExtended};
use rustc_apfloat::{Float, FloatConvert, Round, Status};

fn to_apfloat<F: Float>(bits: &Bits) -> F {
    let high = bits.words().get(1).copied().unwrap_or(0);
    F::from_bits(u128::from(bits.low()) | u128::from(high) << 64)
}

fn to_bits(width: u32, bits: u128) -> Bits {
    Bits::from_words(width, &[bits as u64, (bits >> 64) as u64])
}

fn round(mode: Rounding) -> Round {
    match mode {
        Rounding::NearestEven => Round::NearestTiesToEven,
        Rounding::NearestAway => Round::NearestTiesToAway,
        Rounding::TowardPositive => Round::TowardPositive,
        Rounding::TowardNegative => Round::TowardNegative,
        Rounding::TowardZero => Round::TowardZero,
    }
}

/// Compares two results of a format: equal, or both NaN.
fn same(format: Format, found: &Bits, right: &Bits, what: &dyn Fn() -> String) {
    if format.is_nan(right) {
        assert!(format.is_nan(found), "{}: expected NaN, found {found:?}", what());
    } else {
        assert_eq!(found, right, "{}", what());
    }
}

fn check_arithmetic<F: Float>(seed: u64, format: Format) {
    let mut random = Random::new(seed);
    for mode in Rounding::ALL {
        for op in
            [FloatOp::FAdd, FloatOp::FMul, FloatOp::FDiv, FloatOp::FMulAdd, FloatOp::FRound, FloatOp::FRem]
        {
            // The remainder of `rustc_apfloat` takes time in the distance of the exponents.
            let count = if op == FloatOp::FRem && format.exponent() > 11 { 20 } else { 200 };
            for _ in 0..samples(count) {
                let args = some_operands(&mut random, op, format);
                let x: Vec<F> = args.iter().map(to_apfloat).collect();
                let right = match op {
                    FloatOp::FAdd => x[0].add_r(x[1], round(mode)).value,
                    FloatOp::FMul => x[0].mul_r(x[1], round(mode)).value,
                    FloatOp::FDiv => x[0].div_r(x[1], round(mode)).value,
                    FloatOp::FMulAdd => x[0].mul_add_r(x[1], x[2], round(mode)).value,
                    FloatOp::FRound => x[0].round_to_integral(round(mode)).value,
                    FloatOp::FRem => x[0].ieee_rem(x[1]).value,
                    _ => unreachable!("not in the list"),
                };
                let mode = if op.rounds() { mode } else { Rounding::NearestEven };
                let found = arithmetic(op, format, mode, &args);
                let right = to_bits(format.width(), right.to_bits());
                same(format, &found, &right, &|| format!("{op:?} {mode:?} {format:?} {args:?}"));
            }
        }
    }
}

fn check_comparisons<F: Float>(seed: u64, format: Format) {
    let mut random = Random::new(seed);
    for _ in 0..samples(500) {
        let args = some_operands(&mut random, FloatOp::FLt, format);
        let order = to_apfloat::<F>(&args[0]).partial_cmp(&to_apfloat::<F>(&args[1]));
        for (op, right) in [
            (FloatOp::FLt, order.is_some_and(|o| o.is_lt())),
            (FloatOp::FLe, order.is_some_and(|o| o.is_le())),
            (FloatOp::FEq, order.is_some_and(|o| o.is_eq())),
        ] {
            let found = apply(op, FloatParameter::new(format, Rounding::NearestEven), 1, &args);
            assert_eq!(!found.is_zero(), right, "{op:?} {format:?} {args:?}");
        }
    }
}

fn check_integers<F: Float>(seed: u64, format: Format) {
    let mut random = Random::new(seed);
    for mode in Rounding::ALL {
        let parameter = FloatParameter::new(format, mode);
        for _ in 0..samples(300) {
            // `rustc_apfloat` has no signed integers of one bit.
            let width = 2 + random.below(127) as u32;
            let number = some_number(&mut random, format, None);
            let x: F = to_apfloat(&number);
            let mut exact = false;
            let least = Bits::word(width, 1).shl(u64::from(width) - 1);
            let signed = x.to_i128_r(width as usize, round(mode), &mut exact);
            let unsigned = x.to_u128_r(width as usize, round(mode), &mut exact);
            for (op, value, status) in [
                (FloatOp::FToSInt, signed.value as u128, signed.status),
                (FloatOp::FToUInt, unsigned.value, unsigned.status),
            ] {
                let right =
                    if status.contains(Status::INVALID_OP) { least.clone() } else { to_bits(width, value) };
                let found = apply(op, parameter, width, std::slice::from_ref(&number));
                assert_eq!(found, right, "{op:?} {mode:?} {format:?} width {width} {number:?}");
            }
            let integer = random.bits(width);
            let wide = integer.words().get(1).copied().unwrap_or(0);
            let value = u128::from(integer.low()) | u128::from(wide) << 64;
            let shift = 128 - width;
            let extended = (value << shift) as i128 >> shift;
            for (op, right) in [
                (FloatOp::FFromUInt, F::from_u128_r(value, round(mode)).value),
                (FloatOp::FFromSInt, F::from_i128_r(extended, round(mode)).value),
            ] {
                let found = apply(op, parameter, format.width(), std::slice::from_ref(&integer));
                let right = to_bits(format.width(), right.to_bits());
                assert_eq!(found, right, "{op:?} {mode:?} {format:?} width {width} {integer:?}");
            }
        }
    }
}

fn check_conversion<F: FloatConvert<G>, G: Float>(random: &mut Random, from: Format, to: Format) {
    for mode in Rounding::ALL {
        for _ in 0..samples(60) {
            let number = some_number(random, from, None);
            let mut exact = false;
            let right = to_apfloat::<F>(&number).convert_r(round(mode), &mut exact).value.to_bits();
            let parameter = FloatParameter { format: to, rounding: mode, source: from };
            let found = apply(FloatOp::FToF, parameter, to.width(), std::slice::from_ref(&number));
            let what = || format!("{mode:?} {from:?} to {to:?} {number:?}");
            same(to, &found, &to_bits(to.width(), right), &what);
        }
    }
}

macro_rules! formats {
    ($($test:ident $seed:literal $float:ident $format:ident;)*) => {
        $(
            #[test]
            fn $test() {
                let format = Format::$format;
                check_arithmetic::<$float>($seed, format);
                check_comparisons::<$float>($seed + 10, format);
                check_integers::<$float>($seed + 20, format);
                let mut random = Random::new($seed + 30);
                check_conversion::<$float, Half>(&mut random, format, Format::HALF);
                check_conversion::<$float, BFloat>(&mut random, format, Format::BFLOAT);
                check_conversion::<$float, Single>(&mut random, format, Format::SINGLE);
                check_conversion::<$float, Double>(&mut random, format, Format::DOUBLE);
                check_conversion::<$float, X87DoubleExtended>(&mut random, format, Format::X87);
                check_conversion::<$float, Quad>(&mut random, format, Format::QUAD);
            }
        )*
    };
}

formats! {
    half_agrees_with_apfloat 1 Half HALF;
    bfloat_agrees_with_apfloat 2 BFloat BFLOAT;
    single_agrees_with_apfloat 3 Single SINGLE;
    double_agrees_with_apfloat 4 Double DOUBLE;
    extended_agrees_with_apfloat 5 X87DoubleExtended X87;
    quad_agrees_with_apfloat 6 Quad QUAD;
}
