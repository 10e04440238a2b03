//! Real and integer constants, which only `to_fp` and `int_to_bv` take: decimals, numerals, `-` and `/` of them, and
//! integers of constant bit-vectors. Exact.

use crate::expr::Bits;
use num_bigint::BigUint;

/// Limit of exponents of two.
const MAX_EXPONENT: u32 = 1 << 20;

#[derive(Clone, Debug)]
pub(super) struct Real {
    pub(super) negative: bool,
    pub(super) numerator: BigUint,
    pub(super) denominator: BigUint,
}

impl Real {
    /// Reads digits with an optional decimal point.
    pub(super) fn parse(text: &str) -> Option<Real> {
        let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
        let digits = format!("{whole}{fraction}");
        let numerator = BigUint::parse_bytes(digits.as_bytes(), 10)?;
        let scale = u32::try_from(fraction.len()).ok()?;
        Some(Real { negative: false, numerator, denominator: BigUint::from(10_u32).pow(scale) })
    }

    /// The number of an unsigned word.
    pub(super) fn integer(word: &Bits) -> Real {
        Real::parse(&word.to_decimal()).expect("digits")
    }

    /// The number modulo 2^width; `None` if it is no integer.
    pub(super) fn to_bits(&self, width: u32) -> Option<Bits> {
        if &self.numerator % &self.denominator != BigUint::ZERO {
            return None;
        }
        let digits = (&self.numerator / &self.denominator).to_string();
        let value = Bits::from_decimal(width, &digits)?;
        Some(if self.negative { value.neg() } else { value })
    }

    pub(super) fn negate(mut self) -> Real {
        self.negative = !self.negative;
        self
    }

    /// The number times 2^exponent; `None` unless the exponent is an integer of moderate size.
    pub(super) fn scale(mut self, exponent: &Real) -> Option<Real> {
        if &exponent.numerator % &exponent.denominator != BigUint::ZERO {
            return None;
        }
        let places = u32::try_from(&exponent.numerator / &exponent.denominator).ok()?;
        if places > MAX_EXPONENT {
            return None;
        }
        let scaled = if exponent.negative { &mut self.denominator } else { &mut self.numerator };
        *scaled <<= places;
        Some(self)
    }

    /// `None` if the divisor is zero.
    pub(super) fn divide(self, other: &Real) -> Option<Real> {
        if other.numerator == BigUint::ZERO {
            return None;
        }
        Some(Real {
            negative: self.negative != other.negative,
            numerator: self.numerator * &other.denominator,
            denominator: self.denominator * &other.numerator,
        })
    }
}
