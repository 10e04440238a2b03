//! Circuits of float operators compared with `rustc_apfloat`, in the formats that it has.

use partita_core::blast::circuit::float;
use partita_core::blast::gate::{Gates, Lit};
use partita_core::expr::float::{Format, Rounding};
use partita_core::solve::conformance::Random;
use rustc_apfloat::ieee::{Double, Half, Quad, Single, X87DoubleExtended};
use rustc_apfloat::{Float, FloatConvert, Round};
use rustc_hash::FxHashMap;

type Word = Vec<Lit>;

/// A circuit over free words.
struct Built {
    gates: Gates,
    operands: Vec<Word>,
    result: Word,
}

impl Built {
    fn new(widths: &[u32], build: impl Fn(&mut Gates, &[Word]) -> Word) -> Built {
        let mut gates = Gates::new();
        let operands: Vec<Word> =
            widths.iter().map(|&width| (0..width).map(|_| gates.input()).collect()).collect();
        let result = build(&mut gates, &operands);
        Built { gates, operands, result }
    }

    fn value(&self, values: &[u128]) -> u128 {
        let mut inputs = FxHashMap::default();
        for (operand, value) in self.operands.iter().zip(values) {
            for (i, lit) in operand.iter().enumerate() {
                inputs.insert(lit.node(), value >> i & 1 == 1);
            }
        }
        let bits = self.gates.evaluate(&self.result, &mut FxHashMap::default(), |node| inputs[&node]);
        bits.iter().rev().fold(0, |value, &bit| value << 1 | u128::from(bit))
    }
}

fn round(rounding: Rounding) -> Round {
    match rounding {
        Rounding::NearestEven => Round::NearestTiesToEven,
        Rounding::NearestAway => Round::NearestTiesToAway,
        Rounding::TowardPositive => Round::TowardPositive,
        Rounding::TowardNegative => Round::TowardNegative,
        Rounding::TowardZero => Round::TowardZero,
    }
}

/// A special number, or one near a power of two, or any; exponents are often near each other.
fn sample(random: &mut Random, format: Format) -> u128 {
    let any = u128::from(random.word()) << 64 | u128::from(random.word());
    let stored = format.stored();
    let fraction_mask = (1u128 << stored) - 1;
    let fields = 1u128 << format.exponent();
    let field = match random.below(6) {
        0 => u128::from(random.below(3)),
        1 => fields - 1 - u128::from(random.below(3)),
        2 | 3 => (format.bias() - 3) as u128 + u128::from(random.below(7)),
        4 => ((format.bias() as u64 - 3) + random.below(2 * u64::from(stored))) as u128 % fields,
        _ => any >> 64 & (fields - 1),
    };
    let fraction = match random.below(5) {
        0 => 0,
        1 => fraction_mask,
        2 => 1 << random.below(stored.into()),
        3 => fraction_mask << random.below(stored.into()) & fraction_mask,
        _ => any & fraction_mask,
    };
    let sign = u128::from(random.below(2));
    let fraction = if format.is_explicit() {
        let top = 1u128 << (stored - 1);
        if field == 0 { fraction & !top } else { fraction | top }
    } else {
        fraction
    };
    sign << (format.width() - 1) | field << stored | fraction
}

fn same<F: Float>(found: u128, expected: F, case: std::fmt::Arguments<'_>) {
    let number = F::from_bits(found);
    assert!(
        found == expected.to_bits() || number.is_nan() && expected.is_nan(),
        "{case}: {found:#x} ({number}), expected {:#x} ({expected})",
        expected.to_bits()
    );
}

fn compare<F>(format: Format, samples: u32)
where
    F: Float
        + std::fmt::Display
        + FloatConvert<Half>
        + FloatConvert<Single>
        + FloatConvert<Double>
        + FloatConvert<Quad>
        + FloatConvert<X87DoubleExtended>,
{
    let mut random = Random::new(11);
    let width = format.width();
    for rounding in Rounding::ALL {
        let mode = round(rounding);
        let add = Built::new(&[width; 2], |g, x| float::add(g, format, rounding, &x[0], &x[1]));
        let multiply = Built::new(&[width; 2], |g, x| float::multiply(g, format, rounding, &x[0], &x[1]));
        let divide = Built::new(&[width; 2], |g, x| float::divide(g, format, rounding, &x[0], &x[1]));
        let fused =
            Built::new(&[width; 3], |g, x| float::multiply_add(g, format, rounding, &x[0], &x[1], &x[2]));
        let integral = Built::new(&[width], |g, x| float::round_to_integral(g, format, rounding, &x[0]));
        for _ in 0..samples {
            let [a, b, c] = [(); 3].map(|()| sample(&mut random, format));
            let [x, y, z] = [a, b, c].map(F::from_bits);
            same(add.value(&[a, b]), x.add_r(y, mode).value, format_args!("{rounding:?} {x} + {y}"));
            same(multiply.value(&[a, b]), x.mul_r(y, mode).value, format_args!("{rounding:?} {x} * {y}"));
            same(divide.value(&[a, b]), x.div_r(y, mode).value, format_args!("{rounding:?} {x} / {y}"));
            same(
                fused.value(&[a, b, c]),
                x.mul_add_r(y, z, mode).value,
                format_args!("{rounding:?} {x} * {y} + {z}"),
            );
            same(integral.value(&[a]), x.round_to_integral(mode).value, format_args!("{rounding:?} {x}"));
        }
        for bits in [5, 16, 32, 64, 100] {
            for signed in [false, true] {
                let to = Built::new(&[width], |g, x| {
                    float::to_integer(g, format, rounding, &x[0], (bits as usize, signed))
                });
                let from =
                    Built::new(&[bits], |g, x| float::from_integer(g, format, rounding, &x[0], signed));
                for _ in 0..samples / 5 {
                    let a = sample(&mut random, format);
                    let mut exact = false;
                    let number = F::from_bits(a);
                    let mask = (1u128 << bits) - 1;
                    let (value, invalid) = if signed {
                        let result = number.to_i128_r(bits as usize, mode, &mut exact);
                        (result.value as u128, result.status)
                    } else {
                        let result = number.to_u128_r(bits as usize, mode, &mut exact);
                        (result.value, result.status)
                    };
                    let invalid = invalid.contains(rustc_apfloat::Status::INVALID_OP);
                    let expected = if invalid { 1 << (bits - 1) } else { value & mask };
                    assert_eq!(to.value(&[a]), expected, "{rounding:?} {number} to {bits} {signed}");

                    let integer = (u128::from(random.word()) << 64 | u128::from(random.word()))
                        >> random.below(100)
                        & mask;
                    let shift = 128 - bits;
                    let expected = if signed {
                        F::from_i128_r((integer << shift) as i128 >> shift, mode).value
                    } else {
                        F::from_u128_r(integer, mode).value
                    };
                    same(
                        from.value(&[integer]),
                        expected,
                        format_args!("{rounding:?} {integer:#x} of {bits}"),
                    );
                }
            }
        }
        let conversion =
            |to: Format| (to, Built::new(&[width], |g, x| float::to_format(g, format, to, rounding, &x[0])));
        let conversions =
            [Format::HALF, Format::SINGLE, Format::DOUBLE, Format::QUAD, Format::X87].map(conversion);
        for _ in 0..samples {
            let a = sample(&mut random, format);
            let number = F::from_bits(a);
            for (to, built) in &conversions {
                let found = built.value(&[a]);
                let mut lossy = false;
                let case = format_args!("{rounding:?} {number} to {to:?}");
                match *to {
                    Format::HALF => same::<Half>(found, number.convert_r(mode, &mut lossy).value, case),
                    Format::SINGLE => same::<Single>(found, number.convert_r(mode, &mut lossy).value, case),
                    Format::DOUBLE => same::<Double>(found, number.convert_r(mode, &mut lossy).value, case),
                    Format::QUAD => same::<Quad>(found, number.convert_r(mode, &mut lossy).value, case),
                    _ => same::<X87DoubleExtended>(found, number.convert_r(mode, &mut lossy).value, case),
                }
            }
        }
    }
    let comparisons = Built::new(&[width; 2], |g, x| {
        vec![
            float::less(g, format, &x[0], &x[1], false),
            float::less(g, format, &x[0], &x[1], true),
            float::equal(g, format, &x[0], &x[1]),
        ]
    });
    for _ in 0..10 * samples {
        let [mut a, b] = [(); 2].map(|()| sample(&mut random, format));
        if random.below(3) == 0 {
            a = b;
        }
        let (x, y) = (F::from_bits(a), F::from_bits(b));
        let expected = u128::from(x < y) | u128::from(x <= y) << 1 | u128::from(x == y) << 2;
        assert_eq!(comparisons.value(&[a, b]), expected, "{x} and {y}");
    }
    if format.exponent() < 11 {
        let remainder = Built::new(&[width; 2], |g, x| float::remainder(g, format, &x[0], &x[1]));
        for _ in 0..samples {
            let [a, b] = [(); 2].map(|()| sample(&mut random, format));
            let [x, y] = [a, b].map(F::from_bits);
            same(remainder.value(&[a, b]), x.ieee_rem(y).value, format_args!("{x} rem {y}"));
        }
    }
}

#[test]
fn half() {
    compare::<Half>(Format::HALF, 300);
}
#[test]
fn single() {
    compare::<Single>(Format::SINGLE, 100);
}
#[test]
fn double() {
    compare::<Double>(Format::DOUBLE, 30);
}
#[test]
fn extended() {
    compare::<X87DoubleExtended>(Format::X87, 20);
}
#[test]
fn quad() {
    compare::<Quad>(Format::QUAD, 10);
}

#[test]
fn roots_are_those_of_the_processor() {
    let even = Rounding::NearestEven;
    let single = Built::new(&[32], |g, x| float::root(g, Format::SINGLE, even, &x[0]));
    let double = Built::new(&[64], |g, x| float::root(g, Format::DOUBLE, even, &x[0]));
    let mut random = Random::new(5);
    for _ in 0..200 {
        let a = sample(&mut random, Format::SINGLE);
        let expected = Single::from_bits(f32::from_bits(a as u32).sqrt().to_bits().into());
        same(single.value(&[a]), expected, format_args!("root of {a:#x}"));
        let a = sample(&mut random, Format::DOUBLE);
        let expected = Double::from_bits(f64::from_bits(a as u64).sqrt().to_bits().into());
        same(double.value(&[a]), expected, format_args!("root of {a:#x}"));
    }
}
