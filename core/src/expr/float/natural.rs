//! Natural numbers that significands are computed in: `u128` for formats of at most 64 bits, `BigUint` for all.
//!
//! Every algorithm is written once, over this trait. Where a `u128` would be too small for an exact result, the
//! algorithm keeps as many bits as rounding needs and sets the lowest one if a lower bit was lost ("jams" it).

use num_bigint::BigUint;
use std::cmp::Ordering;

pub(super) trait Natural: Clone {
    fn from_words(words: &[u64]) -> Self;
    fn to_words(&self) -> smallvec::SmallVec<[u64; 2]>;
    /// Number of bits without leading zeros.
    fn bits(&self) -> i64;
    fn bit(&self, index: i64) -> bool;
    fn shl(self, by: i64) -> Self;
    /// Shifts right by any distance; lost bits are dropped.
    fn shr(self, by: i64) -> Self;
    /// Returns whether a bit below `index` is set.
    fn any_below(&self, index: i64) -> bool;
    fn plus(&self, other: &Self) -> Self;
    /// The difference, which is not negative.
    fn minus(&self, other: &Self) -> Self;
    fn times(&self, other: &Self) -> Self;
    fn divide(&self, other: &Self) -> (Self, Self);
    /// The integer square root, rounded down.
    fn root(&self) -> Self;
    fn compare(&self, other: &Self) -> Ordering;
    /// Number of bits that a sum of significands of `precision` bits, or of products of them, is computed with.
    fn room(precision: i64) -> i64;

    fn is_zero(&self) -> bool {
        self.bits() == 0
    }

    fn one() -> Self {
        Self::from_words(&[1])
    }

    /// Shifts right; the lowest bit is set if a set bit was lost.
    fn shr_jam(self, by: i64) -> Self {
        let lost = self.any_below(by);
        self.shr(by).jam(lost)
    }

    /// Sets the lowest bit if `lost`.
    fn jam(self, lost: bool) -> Self {
        if lost && !self.bit(0) { self.plus(&Self::one()) } else { self }
    }
}

impl Natural for u128 {
    #[inline]
    fn from_words(words: &[u64]) -> u128 {
        debug_assert!(words.len() <= 2 || words[2..].iter().all(|&w| w == 0));
        u128::from(words[0]) | u128::from(words.get(1).copied().unwrap_or(0)) << 64
    }

    fn to_words(&self) -> smallvec::SmallVec<[u64; 2]> {
        smallvec::smallvec![*self as u64, (*self >> 64) as u64]
    }

    #[inline]
    fn bits(&self) -> i64 {
        i64::from(128 - self.leading_zeros())
    }

    #[inline]
    fn bit(&self, index: i64) -> bool {
        index < 128 && self >> index & 1 == 1
    }

    #[inline]
    fn shl(self, by: i64) -> u128 {
        debug_assert!(self == 0 || self.bits() + by <= 128, "{self:#x} << {by}");
        if by < 128 { self << by } else { 0 }
    }

    #[inline]
    fn shr(self, by: i64) -> u128 {
        if by < 128 { self >> by } else { 0 }
    }

    #[inline]
    fn any_below(&self, index: i64) -> bool {
        if index < 128 { self & ((1 << index) - 1) != 0 } else { *self != 0 }
    }

    #[inline]
    fn plus(&self, other: &u128) -> u128 {
        self + other
    }

    #[inline]
    fn minus(&self, other: &u128) -> u128 {
        self - other
    }

    #[inline]
    fn times(&self, other: &u128) -> u128 {
        self * other
    }

    #[inline]
    fn divide(&self, other: &u128) -> (u128, u128) {
        (self / other, self % other)
    }

    #[inline]
    fn root(&self) -> u128 {
        self.isqrt()
    }

    #[inline]
    fn compare(&self, other: &u128) -> Ordering {
        self.cmp(other)
    }

    #[inline]
    fn room(_: i64) -> i64 {
        126
    }
}

impl Natural for BigUint {
    fn from_words(words: &[u64]) -> BigUint {
        BigUint::new(words.iter().flat_map(|w| [*w as u32, (*w >> 32) as u32]).collect())
    }

    fn to_words(&self) -> smallvec::SmallVec<[u64; 2]> {
        self.iter_u64_digits().collect()
    }

    fn bits(&self) -> i64 {
        BigUint::bits(self) as i64
    }

    fn bit(&self, index: i64) -> bool {
        BigUint::bit(self, index as u64)
    }

    fn shl(self, by: i64) -> BigUint {
        self << by
    }

    fn shr(self, by: i64) -> BigUint {
        self >> by
    }

    fn any_below(&self, index: i64) -> bool {
        self.trailing_zeros().is_some_and(|zeros| (zeros as i64) < index)
    }

    fn plus(&self, other: &BigUint) -> BigUint {
        self + other
    }

    fn minus(&self, other: &BigUint) -> BigUint {
        self - other
    }

    fn times(&self, other: &BigUint) -> BigUint {
        self * other
    }

    fn divide(&self, other: &BigUint) -> (BigUint, BigUint) {
        (self / other, self % other)
    }

    fn root(&self) -> BigUint {
        self.sqrt()
    }

    fn compare(&self, other: &BigUint) -> Ordering {
        self.cmp(other)
    }

    /// A product has 2p bits; the rest is the distance at which the smaller operand only jams.
    fn room(precision: i64) -> i64 {
        4 * precision + 8
    }
}
