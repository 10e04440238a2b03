//! Real constants, which only `to_fp` takes: decimals, numerals, `-` and `/` of them. Exact.

use num_bigint::BigUint;

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

    pub(super) fn negate(mut self) -> Real {
        self.negative = !self.negative;
        self
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
