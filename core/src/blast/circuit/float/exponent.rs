//! Exponents: signed numbers whose range is known when the circuit is built, so that sums have the bits they need and
//! no more, and nothing overflows.

use super::super::{add, choose, less, subtract};
use super::{Gates, Lit, Word};

/// A number in two's complement between `low` and `high`.
#[derive(Clone, Debug)]
pub struct Exponent {
    bits: Word,
    low: i64,
    high: i64,
}

/// Number of bits of two's complement for a range.
fn width(low: i64, high: i64) -> usize {
    let bits = |x: i64| 65 - (if x < 0 { !x } else { x }).leading_zeros() as usize;
    bits(low).max(bits(high))
}

impl Exponent {
    /// The unsigned `word`, which the caller knows to be at least `low` and at most `high`.
    pub fn unsigned(word: &[Lit], low: i64, high: i64) -> Exponent {
        let mut bits = word.to_vec();
        bits.resize(width(low, high), Lit::FALSE);
        Exponent { bits, low, high }
    }

    pub fn constant(value: i64) -> Exponent {
        let bits = (0..width(value, value)).map(|i| Lit::constant(value >> i & 1 == 1)).collect();
        Exponent { bits, low: value, high: value }
    }

    pub fn low(&self) -> i64 {
        self.low
    }

    pub fn high(&self) -> i64 {
        self.high
    }

    /// The bits as an unsigned number, if it is not negative.
    pub fn magnitude(&self) -> &[Lit] {
        &self.bits[..self.bits.len() - 1]
    }

    pub fn negative(&self) -> Lit {
        self.bits[self.bits.len() - 1]
    }

    pub fn lowest_bit(&self) -> Lit {
        self.bits[0]
    }

    /// The bits, extended by the sign to the width of the range.
    pub fn extended(&self, low: i64, high: i64) -> Word {
        let mut bits = self.bits.clone();
        bits.resize(width(low, high).max(bits.len()), self.negative());
        bits
    }

    fn joined(&self, other: &Exponent, low: i64, high: i64) -> (Word, Word) {
        let (low, high) = (low.min(self.low).min(other.low), high.max(self.high).max(other.high));
        (self.extended(low, high), other.extended(low, high))
    }

    fn truncated(mut bits: Word, low: i64, high: i64) -> Exponent {
        bits.truncate(width(low, high));
        Exponent { bits, low, high }
    }

    pub fn plus(&self, g: &mut Gates, other: &Exponent) -> Exponent {
        let (low, high) = (self.low + other.low, self.high + other.high);
        let (a, b) = self.joined(other, low, high);
        Exponent::truncated(add(g, &a, &b), low, high)
    }

    pub fn minus(&self, g: &mut Gates, other: &Exponent) -> Exponent {
        let (low, high) = (self.low - other.high, self.high - other.low);
        let (a, b) = self.joined(other, low, high);
        Exponent::truncated(subtract(g, &a, &b), low, high)
    }

    pub fn plus_bit(&self, g: &mut Gates, bit: Lit) -> Exponent {
        self.plus(g, &Exponent::unsigned(&[bit], 0, 1))
    }

    pub fn plus_constant(&self, g: &mut Gates, value: i64) -> Exponent {
        self.plus(g, &Exponent::constant(value))
    }

    /// Half, rounded down.
    pub fn half(&self) -> Exponent {
        Exponent::truncated(self.extended(self.low, self.high)[1..].to_vec(), self.low >> 1, self.high >> 1)
    }

    /// The number, which is known to be between `low` and `high` wherever it matters.
    pub fn assume(&self, low: i64, high: i64) -> Exponent {
        let (low, high) = (self.low.max(low), self.high.min(high));
        Exponent::truncated(self.bits.clone(), low, high)
    }

    /// Zero unless `keep`.
    pub fn masked(&self, g: &mut Gates, keep: Lit) -> Exponent {
        let bits = self.bits.iter().map(|&bit| g.and(bit, keep)).collect();
        Exponent { bits, low: self.low.min(0), high: self.high.max(0) }
    }

    /// `self < other`, or `self <= other` if `or_equal`.
    pub fn less(&self, g: &mut Gates, other: &Exponent, or_equal: bool) -> Lit {
        let (a, b) = self.joined(other, self.low, self.high);
        less(g, &a, &b, or_equal, true)
    }

    pub fn choose(g: &mut Gates, condition: Lit, then: &Exponent, other: &Exponent) -> Exponent {
        let (low, high) = (then.low.min(other.low), then.high.max(other.high));
        let (a, b) = then.joined(other, low, high);
        Exponent::truncated(choose(g, condition, &a, &b), low, high)
    }
}
