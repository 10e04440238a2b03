//! Every operator in tiny formats, on all operands and in all modes, against rational arithmetic and the text of IEEE
//! 754: a result is chosen among all numbers of the format by comparing them with the exact value.

use super::{apply, arithmetic, word};
use partita_core::expr::float::{FloatParameter, Format, Rounding};
use partita_core::expr::{Bits, FloatOp};
use std::cmp::Ordering;

/// A fraction with a positive denominator.
#[derive(Clone, Copy, Debug)]
struct Fraction(i128, i128);

impl Fraction {
    fn compare(self, other: Fraction) -> Ordering {
        (self.0 * other.1).cmp(&(other.0 * self.1))
    }

    fn plus(self, other: Fraction) -> Fraction {
        Fraction(self.0 * other.1 + other.0 * self.1, self.1 * other.1)
    }

    fn times(self, other: Fraction) -> Fraction {
        Fraction(self.0 * other.0, self.1 * other.1)
    }

    fn over(self, other: Fraction) -> Fraction {
        let sign = other.0.signum();
        Fraction(self.0 * other.1 * sign, self.1 * other.0.abs())
    }

    fn abs(self) -> Fraction {
        Fraction(self.0.abs(), self.1)
    }

    fn power_of_two(exponent: i64) -> Fraction {
        if exponent >= 0 { Fraction(1 << exponent, 1) } else { Fraction(1, 1 << -exponent) }
    }
}

#[derive(Clone, Copy, Debug)]
enum Value {
    Nan,
    Infinity,
    Finite(Fraction),
}

/// A tiny format, its numbers as fractions.
struct Tiny {
    format: Format,
    fraction_bits: u32,
}

impl Tiny {
    fn new(exponent: u32, significand: u32) -> Tiny {
        Tiny { format: Format::ieee(exponent, significand), fraction_bits: significand - 1 }
    }

    fn all(&self) -> std::ops::Range<u64> {
        0..1 << self.format.width()
    }

    fn sign_bit(&self) -> u64 {
        1 << (self.format.width() - 1)
    }

    fn negative(&self, bits: u64) -> bool {
        bits & self.sign_bit() != 0
    }

    fn infinity(&self) -> u64 {
        (self.sign_bit() - 1) >> self.fraction_bits << self.fraction_bits
    }

    /// The value of a non-negative pattern, as if the greatest exponent were an ordinary one.
    fn plain(&self, magnitude: u64) -> Fraction {
        let exponent = (magnitude >> self.fraction_bits) as i64;
        let fraction = i128::from(magnitude & ((1 << self.fraction_bits) - 1));
        let bias = self.format.bias();
        let (significand, exponent) =
            if exponent == 0 { (fraction, 1) } else { (fraction + (1 << self.fraction_bits), exponent) };
        Fraction(significand, 1)
            .times(Fraction::power_of_two(exponent - bias - i64::from(self.fraction_bits)))
    }

    fn value(&self, bits: u64) -> Value {
        let magnitude = bits & (self.sign_bit() - 1);
        match magnitude.cmp(&self.infinity()) {
            Ordering::Greater => Value::Nan,
            Ordering::Equal => Value::Infinity,
            Ordering::Less => {
                let Fraction(n, d) = self.plain(magnitude);
                Value::Finite(Fraction(if self.negative(bits) { -n } else { n }, d))
            }
        }
    }

    fn is_zero(&self, bits: u64) -> bool {
        bits & (self.sign_bit() - 1) == 0
    }

    fn nan(&self, operands: &[u64]) -> u64 {
        let quiet = 1 << (self.fraction_bits - 1);
        let first = operands.iter().find(|&&bits| matches!(self.value(bits), Value::Nan));
        first.map_or(self.sign_bit() | self.infinity() | quiet, |bits| bits | quiet)
    }

    /// Chooses the result of an operation. `compare` compares the magnitude of the exact value with a fraction.
    fn round(&self, mode: Rounding, negative: bool, compare: impl Fn(Fraction) -> Ordering) -> u64 {
        // Patterns are in the order of their values; the pattern of infinity stands for 2^(bias + 1).
        let below = (0..=self.infinity()).rev().find(|&p| compare(self.plain(p)).is_ge());
        let below = below.expect("zero is not above the magnitude");
        let exact = compare(self.plain(below)).is_eq();
        let magnitude = if below == self.infinity() || exact {
            below
        } else {
            let middle = self.plain(below).plus(self.plain(below + 1)).times(Fraction(1, 2));
            let up = match mode {
                Rounding::NearestEven => match compare(middle) {
                    Ordering::Less => false,
                    Ordering::Greater => true,
                    Ordering::Equal => below % 2 == 1,
                },
                Rounding::NearestAway => compare(middle).is_ge(),
                Rounding::TowardPositive => !negative,
                Rounding::TowardNegative => negative,
                Rounding::TowardZero => false,
            };
            below + u64::from(up)
        };
        let stays_finite = match mode {
            Rounding::NearestEven | Rounding::NearestAway => false,
            Rounding::TowardPositive => negative,
            Rounding::TowardNegative => !negative,
            Rounding::TowardZero => true,
        };
        let magnitude = if magnitude == self.infinity() && stays_finite { magnitude - 1 } else { magnitude };
        magnitude | if negative { self.sign_bit() } else { 0 }
    }

    /// Rounds an exact result; `zero_negative` is the sign of a result that is exactly zero.
    fn finite(&self, mode: Rounding, exact: Fraction, zero_negative: bool) -> u64 {
        let negative = if exact.0 == 0 { zero_negative } else { exact.0 < 0 };
        self.round(mode, negative, |candidate| exact.abs().compare(candidate))
    }

    fn signed_infinity(&self, negative: bool) -> u64 {
        self.infinity() | if negative { self.sign_bit() } else { 0 }
    }

    fn add(&self, mode: Rounding, a: Value, a_negative: bool, b: Value, b_negative: bool) -> Option<u64> {
        match (a, b) {
            (Value::Nan, _) | (_, Value::Nan) => None,
            (Value::Infinity, Value::Infinity) => {
                (a_negative == b_negative).then(|| self.signed_infinity(a_negative))
            }
            (Value::Infinity, _) => Some(self.signed_infinity(a_negative)),
            (_, Value::Infinity) => Some(self.signed_infinity(b_negative)),
            (Value::Finite(x), Value::Finite(y)) => {
                let both = x.0 == 0 && y.0 == 0 && a_negative == b_negative;
                let zero_negative = if both { a_negative } else { mode == Rounding::TowardNegative };
                Some(self.finite(mode, x.plus(y), zero_negative))
            }
        }
    }

    /// The exact product.
    fn product(&self, a: u64, b: u64) -> Value {
        match (self.value(a), self.value(b)) {
            (Value::Nan, _) | (_, Value::Nan) => Value::Nan,
            (Value::Infinity, _) | (_, Value::Infinity) => {
                if self.is_zero(a) || self.is_zero(b) {
                    Value::Nan
                } else {
                    Value::Infinity
                }
            }
            (Value::Finite(x), Value::Finite(y)) => Value::Finite(x.times(y)),
        }
    }

    fn binary(&self, op: FloatOp, mode: Rounding, a: u64, b: u64) -> u64 {
        let negative = self.negative(a) != self.negative(b);
        let result = match op {
            FloatOp::FAdd => self.add(mode, self.value(a), self.negative(a), self.value(b), self.negative(b)),
            FloatOp::FMul => match self.product(a, b) {
                Value::Nan => None,
                Value::Infinity => Some(self.signed_infinity(negative)),
                Value::Finite(exact) => Some(self.finite(mode, exact, negative)),
            },
            FloatOp::FDiv => match (self.value(a), self.value(b)) {
                (Value::Nan, _) | (_, Value::Nan) | (Value::Infinity, Value::Infinity) => None,
                (Value::Finite(x), Value::Finite(y)) if x.0 == 0 && y.0 == 0 => None,
                (Value::Infinity, _) => Some(self.signed_infinity(negative)),
                (_, Value::Infinity) => Some(self.finite(mode, Fraction(0, 1), negative)),
                (_, Value::Finite(y)) if y.0 == 0 => Some(self.signed_infinity(negative)),
                (Value::Finite(x), Value::Finite(y)) => Some(self.finite(mode, x.over(y), negative)),
            },
            FloatOp::FRem => match (self.value(a), self.value(b)) {
                (Value::Finite(_), Value::Infinity) => Some(a),
                (Value::Finite(x), Value::Finite(y)) if y.0 != 0 => {
                    let n = nearest_integer(Rounding::NearestEven, x.over(y));
                    let rest = x.plus(y.times(Fraction(-n, 1)));
                    Some(self.finite(Rounding::NearestEven, rest, self.negative(a)))
                }
                _ => None,
            },
            _ => unreachable!("{op:?} is not binary arithmetic"),
        };
        result.unwrap_or_else(|| self.nan(&[a, b]))
    }

    fn fused(&self, mode: Rounding, a: u64, b: u64, c: u64) -> u64 {
        let product = self.product(a, b);
        let negative = self.negative(a) != self.negative(b);
        self.add(mode, product, negative, self.value(c), self.negative(c))
            .unwrap_or_else(|| self.nan(&[a, b, c]))
    }

    fn sqrt(&self, mode: Rounding, a: u64) -> u64 {
        match self.value(a) {
            Value::Finite(x) if x.0 == 0 => a,
            Value::Finite(x) if x.0 > 0 => self.round(mode, false, |c| x.compare(c.times(c))),
            Value::Infinity if !self.negative(a) => a,
            _ => self.nan(&[a]),
        }
    }

    fn integral(&self, mode: Rounding, a: u64) -> u64 {
        match self.value(a) {
            Value::Nan => self.nan(&[a]),
            Value::Infinity => a,
            Value::Finite(x) => self.finite(mode, Fraction(nearest_integer(mode, x), 1), self.negative(a)),
        }
    }

    fn less(&self, a: u64, b: u64, or_equal: bool) -> bool {
        let order = |bits: u64| match self.value(bits) {
            Value::Nan => None,
            Value::Infinity => Some(Fraction(if self.negative(bits) { -1 << 40 } else { 1 << 40 }, 1)),
            Value::Finite(x) => Some(x),
        };
        match (order(a), order(b)) {
            (Some(x), Some(y)) => x.compare(y).is_lt() || or_equal && x.compare(y).is_eq(),
            _ => false,
        }
    }

    fn to_integer(&self, mode: Rounding, signed: bool, width: u32, a: u64) -> u64 {
        let (low, high) =
            if signed { (-(1_i128 << (width - 1)), (1 << (width - 1)) - 1) } else { (0, (1 << width) - 1) };
        if let Value::Finite(x) = self.value(a) {
            let n = nearest_integer(mode, x);
            if (low..=high).contains(&n) {
                return n.rem_euclid(1 << width) as u64;
            }
        }
        1 << (width - 1)
    }
}

/// The integer that a fraction rounds to.
fn nearest_integer(mode: Rounding, x: Fraction) -> i128 {
    let floor = x.0.div_euclid(x.1);
    let rest = Fraction(x.0.rem_euclid(x.1), x.1);
    let up = match mode {
        Rounding::NearestEven => match rest.compare(Fraction(1, 2)) {
            Ordering::Less => false,
            Ordering::Greater => true,
            Ordering::Equal => floor.rem_euclid(2) == 1,
        },
        Rounding::NearestAway => match rest.compare(Fraction(1, 2)) {
            Ordering::Less => false,
            Ordering::Greater => true,
            Ordering::Equal => x.0 > 0,
        },
        Rounding::TowardPositive => rest.0 != 0,
        Rounding::TowardNegative => false,
        Rounding::TowardZero => x.0 < 0 && rest.0 != 0,
    };
    floor + i128::from(up)
}

fn tiny_formats() -> [Tiny; 5] {
    [Tiny::new(3, 3), Tiny::new(2, 2), Tiny::new(2, 3), Tiny::new(3, 2), Tiny::new(2, 4)]
}

#[test]
fn binary_arithmetic_on_all_pairs() {
    for tiny in tiny_formats() {
        for op in [FloatOp::FAdd, FloatOp::FMul, FloatOp::FDiv, FloatOp::FRem] {
            for mode in Rounding::ALL.into_iter().take(if op.rounds() { 5 } else { 1 }) {
                for (a, b) in tiny.all().flat_map(|a| tiny.all().map(move |b| (a, b))) {
                    let args = [word(tiny.format, a), word(tiny.format, b)];
                    let found = arithmetic(op, tiny.format, mode, &args).low();
                    let right = tiny.binary(op, mode, a, b);
                    assert_eq!(found, right, "{op:?} {mode:?} {:?} {a:#x} {b:#x}", tiny.format);
                }
            }
        }
    }
}

#[test]
fn fused_multiply_add_on_all_triples() {
    for tiny in [Tiny::new(2, 3), Tiny::new(3, 2), Tiny::new(2, 2)] {
        for mode in Rounding::ALL {
            for (a, b) in tiny.all().flat_map(|a| tiny.all().map(move |b| (a, b))) {
                for c in tiny.all() {
                    let args = [a, b, c].map(|bits| word(tiny.format, bits));
                    let found = arithmetic(FloatOp::FMulAdd, tiny.format, mode, &args).low();
                    assert_eq!(
                        found,
                        tiny.fused(mode, a, b, c),
                        "{mode:?} {:?} {a:#x} {b:#x} {c:#x}",
                        tiny.format
                    );
                }
            }
        }
    }
}

#[test]
fn roots_and_integral_numbers_of_all_operands() {
    for tiny in tiny_formats().into_iter().chain([Tiny::new(4, 4), Tiny::new(3, 6), Tiny::new(5, 4)]) {
        for mode in Rounding::ALL {
            for a in tiny.all() {
                let root = arithmetic(FloatOp::FSqrt, tiny.format, mode, &[word(tiny.format, a)]).low();
                assert_eq!(root, tiny.sqrt(mode, a), "root {mode:?} {:?} {a:#x}", tiny.format);
                let integral = arithmetic(FloatOp::FRound, tiny.format, mode, &[word(tiny.format, a)]).low();
                assert_eq!(integral, tiny.integral(mode, a), "integral {mode:?} {:?} {a:#x}", tiny.format);
            }
        }
    }
}

#[test]
fn comparisons_of_all_pairs() {
    for tiny in tiny_formats() {
        for (a, b) in tiny.all().flat_map(|a| tiny.all().map(move |b| (a, b))) {
            let holds = |op| {
                let parameter = FloatParameter::new(tiny.format, Rounding::NearestEven);
                !apply(op, parameter, 1, &[word(tiny.format, a), word(tiny.format, b)]).is_zero()
            };
            let what = format!("{:?} {a:#x} {b:#x}", tiny.format);
            assert_eq!(holds(FloatOp::FLt), tiny.less(a, b, false), "{what}");
            assert_eq!(holds(FloatOp::FLe), tiny.less(a, b, true), "{what}");
            assert_eq!(holds(FloatOp::FEq), tiny.less(a, b, true) && tiny.less(b, a, true), "{what}");
        }
    }
}

#[test]
fn conversions_of_all_numbers() {
    for from in tiny_formats() {
        for to in tiny_formats() {
            for mode in Rounding::ALL {
                for a in from.all() {
                    let parameter = FloatParameter { format: to.format, rounding: mode, source: from.format };
                    let found =
                        apply(FloatOp::FToF, parameter, to.format.width(), &[word(from.format, a)]).low();
                    let right = match from.value(a) {
                        Value::Finite(x) => to.finite(mode, x, from.negative(a)),
                        Value::Infinity => to.signed_infinity(from.negative(a)),
                        Value::Nan => {
                            // The payload is aligned at the top.
                            let payload = a & ((1 << from.fraction_bits) - 1) | 1 << (from.fraction_bits - 1);
                            let payload = payload << 20 >> from.fraction_bits << to.fraction_bits >> 20;
                            to.signed_infinity(from.negative(a)) | payload
                        }
                    };
                    assert_eq!(found, right, "{mode:?} {:?} to {:?} {a:#x}", from.format, to.format);
                }
            }
        }
    }
}

#[test]
fn conversions_from_and_to_integers() {
    for tiny in tiny_formats() {
        for (mode, width) in Rounding::ALL.into_iter().flat_map(|mode| (1..=7).map(move |w| (mode, w))) {
            let parameter = FloatParameter::new(tiny.format, mode);
            for signed in [false, true] {
                let (to, from) = if signed {
                    (FloatOp::FToSInt, FloatOp::FFromSInt)
                } else {
                    (FloatOp::FToUInt, FloatOp::FFromUInt)
                };
                let what = format!("{mode:?} {:?} signed {signed} width {width}", tiny.format);
                let (low, high) = tiny.format.integer_range(mode, signed, width);
                for a in tiny.all() {
                    let number = word(tiny.format, a);
                    let found = apply(to, parameter, width, std::slice::from_ref(&number)).low();
                    assert_eq!(found, tiny.to_integer(mode, signed, width, a), "{what} {a:#x}");
                    let fits = match tiny.value(a) {
                        Value::Finite(x) => {
                            let n = nearest_integer(mode, x);
                            let (low, high) = if signed {
                                (-(1 << (width - 1)), (1 << (width - 1)) - 1)
                            } else {
                                (0, (1 << width) - 1)
                            };
                            (low..=high).contains(&n)
                        }
                        Value::Nan | Value::Infinity => false,
                    };
                    let in_range = tiny.less(low.low(), a, true) && tiny.less(a, high.low(), true);
                    assert_eq!(in_range, fits, "{what} {a:#x} in {low:?} {high:?}");
                }
                for a in 0..1_u64 << width {
                    let found = apply(from, parameter, tiny.format.width(), &[Bits::word(width, a)]).low();
                    let value =
                        i128::from(a) - if signed && a >> (width - 1) & 1 == 1 { 1 << width } else { 0 };
                    assert_eq!(found, tiny.finite(mode, Fraction(value, 1), false), "{what} from {a:#x}");
                }
            }
        }
    }
}
