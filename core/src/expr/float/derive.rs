//! Functions composed from float operators and bits: constants, classification, sign operations, subtraction,
//! minimum and maximum, C's `fmod`, and the range in which a conversion to an integer is defined.

use super::natural::Natural;
use super::{Format, Rounding, convert, nan, round, unpack};
use crate::expr::{Bits, Expr, Graph};
use num_bigint::BigUint;

fn to_bits<N: Natural>(format: Format, number: &N) -> Bits {
    Bits::from_words(format.width(), &number.to_words())
}

/// Calls a function with numbers that need no memory if the format allows it.
macro_rules! with_natural {
    ($format:expr, |$natural:ident| $body:expr) => {
        if $format.width() <= 64 {
            type $natural = u128;
            $body
        } else {
            type $natural = BigUint;
            $body
        }
    };
}

impl Format {
    /// The NaN of an invalid operation, which is also the NaN of SMT-LIB scripts: negative and quiet.
    pub fn nan(self) -> Bits {
        with_natural!(self, |N| to_bits::<N>(self, &nan::default_nan(self)))
    }

    pub fn infinity(self, negative: bool) -> Bits {
        with_natural!(self, |N| to_bits::<N>(self, &round::infinity(self, negative)))
    }

    pub fn zero(self, negative: bool) -> Bits {
        with_natural!(self, |N| to_bits::<N>(self, &round::zero(self, negative)))
    }

    /// Returns whether bits are a NaN, or a number that x87 does not support.
    pub fn is_nan(self, bits: &Bits) -> bool {
        with_natural!(self, |N| unpack::unpack(self, &N::from_words(bits.words())).is_nan())
    }

    /// The non-negative number at a position in the order of numbers: 0 is zero, 1 the smallest subnormal number.
    fn at_position(self, position: BigUint) -> BigUint {
        if !self.is_explicit() {
            return position;
        }
        let fraction = i64::from(self.significand()) - 1;
        let exponent = position.clone().shr(fraction);
        let stored = position.minus(&exponent.clone().shl(fraction));
        let integer = if exponent.is_zero() { exponent.clone() } else { BigUint::one() };
        exponent.shl(fraction + 1).plus(&integer.shl(fraction)).plus(&stored)
    }

    /// The numbers of greatest magnitude, negative and positive, that are converted to an integer of `width` bits.
    pub fn integer_range(self, rounding: Rounding, signed: bool, width: u32) -> (Bits, Bits) {
        let end = |negative: bool| {
            let number = |position: &BigUint| {
                let magnitude = self.at_position(position.clone());
                if negative { magnitude.plus(&round::zero(self, true)) } else { magnitude }
            };
            let fits = |position: &BigUint| {
                convert::to_integer(self, rounding, signed, width, &number(position)).is_some()
            };
            // Zero fits, infinity does not, and conversion is monotone.
            let mut low = BigUint::from_words(&[0]);
            let mut bit = i64::from(self.exponent() + self.significand()) - 2;
            while bit >= 0 {
                let next = low.plus(&BigUint::one().shl(bit));
                if fits(&next) {
                    low = next;
                }
                bit -= 1;
            }
            to_bits(self, &number(&low))
        };
        (end(true), end(false))
    }
}

impl Graph {
    pub fn f_nan(&mut self, format: Format) -> Expr {
        self.constant(format.nan())
    }

    pub fn f_infinity(&mut self, format: Format, negative: bool) -> Expr {
        self.constant(format.infinity(negative))
    }

    pub fn f_zero(&mut self, format: Format, negative: bool) -> Expr {
        self.constant(format.zero(negative))
    }

    // Sign operations. They change one bit, of NaN too.

    fn sign_mask(&mut self, format: Format) -> Expr {
        self.constant(format.zero(true))
    }

    pub fn f_neg(&mut self, format: Format, a: Expr) -> Expr {
        let sign = self.sign_mask(format);
        self.xor(a, sign)
    }

    pub fn f_abs(&mut self, format: Format, a: Expr) -> Expr {
        let magnitude = self.constant(format.zero(true).not());
        self.and(a, magnitude)
    }

    /// `magnitude` with the sign of `sign`.
    pub fn f_copysign(&mut self, format: Format, magnitude: Expr, sign: Expr) -> Expr {
        let mask = self.sign_mask(format);
        let sign = self.and(sign, mask);
        let magnitude = self.f_abs(format, magnitude);
        self.or(magnitude, sign)
    }

    /// Whether the sign bit is set, of NaN too.
    pub fn f_sign(&mut self, format: Format, a: Expr) -> Expr {
        let bit = self.extract(a, format.width() - 1, 1);
        self.bit_to_bool(bit)
    }

    // Classification.

    /// Whether it is NaN, or a number that x87 does not support.
    pub fn f_is_nan(&mut self, format: Format, a: Expr) -> Expr {
        let magnitude = self.f_abs(format, a);
        let infinity = self.f_infinity(format, false);
        let above = self.ult(infinity, magnitude);
        if !format.is_explicit() {
            return above;
        }
        let unsupported = self.is_unsupported(format, a);
        self.or(above, unsupported)
    }

    /// Whether a number of x87 has an exponent but no integer bit.
    fn is_unsupported(&mut self, format: Format, a: Expr) -> Expr {
        let integer = self.extract(a, format.significand() - 1, 1);
        let integer = self.bit_to_bool(integer);
        let exponent = self.extract(a, format.stored(), format.exponent());
        let zero = self.word(format.exponent(), 0);
        let has_exponent = self.ne(exponent, zero);
        let without = self.not(integer);
        self.and(has_exponent, without)
    }

    /// Whether it is a NaN whose quiet bit is clear. Numbers that x87 does not support are not.
    pub fn f_is_signalling(&mut self, format: Format, a: Expr) -> Expr {
        let mut is_nan = self.f_is_nan(format, a);
        if format.is_explicit() {
            let unsupported = self.is_unsupported(format, a);
            let supported = self.not(unsupported);
            is_nan = self.and(is_nan, supported);
        }
        let quiet = self.extract(a, format.significand() - 2, 1);
        let quiet = self.bit_to_bool(quiet);
        let signals = self.not(quiet);
        self.and(is_nan, signals)
    }

    /// Whether it makes an operation invalid: a signalling NaN, or a number that x87 does not support.
    pub fn f_is_invalid_operand(&mut self, format: Format, a: Expr) -> Expr {
        let signals = self.f_is_signalling(format, a);
        if !format.is_explicit() {
            return signals;
        }
        let unsupported = self.is_unsupported(format, a);
        self.or(signals, unsupported)
    }

    pub fn f_is_infinite(&mut self, format: Format, a: Expr) -> Expr {
        let magnitude = self.f_abs(format, a);
        let infinity = self.f_infinity(format, false);
        self.eq(magnitude, infinity)
    }

    pub fn f_is_zero(&mut self, format: Format, a: Expr) -> Expr {
        let magnitude = self.f_abs(format, a);
        let zero = self.f_zero(format, false);
        self.eq(magnitude, zero)
    }

    /// Whether it is finite and has the least exponent and no integer bit, but is not zero.
    pub fn f_is_subnormal(&mut self, format: Format, a: Expr) -> Expr {
        let magnitude = self.f_abs(format, a);
        let zero = self.f_zero(format, false);
        let normal = self.least_normal(format);
        let below = self.ult(magnitude, normal);
        let above = self.ult(zero, magnitude);
        self.and(above, below)
    }

    /// A pattern that is greater than those of all subnormal numbers, and at most those of normal ones; that of x87 is
    /// the least pseudo-denormal number.
    fn least_normal(&mut self, format: Format) -> Expr {
        self.constant(Bits::word(format.width(), 1).shl(u64::from(format.significand()) - 1))
    }

    /// Whether it is finite and neither zero nor subnormal.
    pub fn f_is_normal(&mut self, format: Format, a: Expr) -> Expr {
        let magnitude = self.f_abs(format, a);
        let infinity = self.f_infinity(format, false);
        let least = self.least_normal(format);
        let above = self.ule(least, magnitude);
        let below = self.ult(magnitude, infinity);
        let normal = self.and(above, below);
        if !format.is_explicit() {
            return normal;
        }
        let unsupported = self.is_unsupported(format, a);
        let supported = self.not(unsupported);
        self.and(normal, supported)
    }

    /// Whether it is negative and not NaN; so is negative zero.
    pub fn f_is_negative(&mut self, format: Format, a: Expr) -> Expr {
        let sign = self.f_sign(format, a);
        let is_nan = self.f_is_nan(format, a);
        let number = self.not(is_nan);
        self.and(sign, number)
    }

    /// Whether it is positive and not NaN; so is positive zero.
    pub fn f_is_positive(&mut self, format: Format, a: Expr) -> Expr {
        let sign = self.f_sign(format, a);
        let is_nan = self.f_is_nan(format, a);
        let either = self.or(sign, is_nan);
        self.not(either)
    }

    /// Whether one of the two is NaN.
    pub fn f_unordered(&mut self, format: Format, a: Expr, b: Expr) -> Expr {
        let (a, b) = (self.f_is_nan(format, a), self.f_is_nan(format, b));
        self.or(a, b)
    }

    /// Replaces every NaN by the default one, as SMT-LIB has only one.
    pub fn f_canonical(&mut self, format: Format, a: Expr) -> Expr {
        let is_nan = self.f_is_nan(format, a);
        let nan = self.f_nan(format);
        self.ite(is_nan, nan, a)
    }

    // Arithmetic.

    /// Subtraction. The sign of a NaN operand stays.
    pub fn f_sub(&mut self, format: Format, rounding: Rounding, a: Expr, b: Expr) -> Expr {
        let is_nan = self.f_is_nan(format, b);
        let minus = self.f_neg(format, b);
        let minus = self.ite(is_nan, b, minus);
        self.f_add(format, rounding, a, minus)
    }

    /// `fmod` of C, the remainder of the quotient rounded towards zero: the IEEE remainder, moved by the divisor if its
    /// sign is not that of the dividend. The sum is exact, because its value is a remainder.
    pub fn f_fmod(&mut self, format: Format, a: Expr, b: Expr) -> Expr {
        let nearest = self.f_rem(format, a, b);
        let is_nan = self.f_is_nan(format, nearest);
        let turned = self.xor(nearest, a);
        let turned = self.f_sign(format, turned);
        let rest = self.f_abs(format, nearest);
        let minus = self.f_neg(format, rest);
        let divisor = self.f_abs(format, b);
        let moved = self.f_add(format, Rounding::NearestEven, divisor, minus);
        let magnitude = self.ite(turned, moved, rest);
        let result = self.f_copysign(format, magnitude, a);
        self.ite(is_nan, nearest, result)
    }

    /// The smaller of two numbers (the larger if `max`); the other operand if one is NaN, the second if both are.
    /// `first_of_zeros` says whether the first of two zeros of different sign is returned.
    fn f_extreme(&mut self, format: Format, max: bool, first_of_zeros: Expr, a: Expr, b: Expr) -> Expr {
        let (low, high) = if max { (b, a) } else { (a, b) };
        let less = self.f_lt(format, low, high);
        let equal = self.f_eq(format, a, b);
        let (a_nan, b_nan) = (self.f_is_nan(format, a), self.f_is_nan(format, b));
        let a_number = self.not(a_nan);
        let only_b_nan = self.and(a_number, b_nan);
        let tie = self.and(equal, first_of_zeros);
        let first = self.or(less, tie);
        let first = self.or(first, only_b_nan);
        self.ite(first, a, b)
    }

    /// `minnum` and `maxnum`: the other operand if one is NaN; negative zero is below positive zero.
    pub fn f_number_extreme(&mut self, format: Format, max: bool, a: Expr, b: Expr) -> Expr {
        let sign = self.f_sign(format, if max { b } else { a });
        self.f_extreme(format, max, sign, a, b)
    }

    /// The smaller or the larger as x86's instructions compute it: the first of two equal numbers, zeros included.
    pub fn f_first_extreme(&mut self, format: Format, max: bool, a: Expr, b: Expr) -> Expr {
        let always = self.boolean(true);
        self.f_extreme(format, max, always, a, b)
    }

    /// `minimum` and `maximum`: NaN if an operand is NaN; negative zero is below positive zero.
    pub fn f_nan_extreme(&mut self, format: Format, max: bool, a: Expr, b: Expr) -> Expr {
        let number = self.f_number_extreme(format, max, a, b);
        // The sum of operands of which one is NaN is the NaN that x86 would return.
        let nan = self.f_add(format, Rounding::NearestEven, a, b);
        let unordered = self.f_unordered(format, a, b);
        self.ite(unordered, nan, number)
    }

    /// Whether a number rounds to an integer of `width` bits.
    pub fn f_fits_integer(
        &mut self,
        format: Format,
        rounding: Rounding,
        signed: bool,
        width: u32,
        a: Expr,
    ) -> Expr {
        let (low, high) = format.integer_range(rounding, signed, width);
        let (low, high) = (self.constant(low), self.constant(high));
        let above = self.f_le(format, low, a);
        let below = self.f_le(format, a, high);
        self.and(above, below)
    }
}
