//! Bit-vector values of any width: `Bits` is a width and its words, lowest first, with no bit set above the
//! width.
//!
//! Values of up to 64 bits allocate nothing. Multiplication and division of wider values use `num-bigint`.

use num_bigint::BigUint;
use smallvec::{SmallVec, smallvec};
use std::cmp::Ordering;
use std::fmt;

/// Largest width of a bit-vector.
pub const MAX_WIDTH: u32 = 1 << 24;

/// Returns a word with the low `width` bits set, for widths 1 to 64.
#[inline(always)]
pub const fn mask(width: u32) -> u64 {
    debug_assert!(width >= 1 && width <= 64);
    u64::MAX >> (64 - width)
}

/// Returns the low `width` bits of `value` as a two's complement number, for widths 1 to 64.
#[inline(always)]
pub const fn signed(width: u32, value: u64) -> i64 {
    ((value << (64 - width)) as i64) >> (64 - width)
}

/// Returns the multiplicative inverse of an odd number modulo 2^64 by Newton's iteration: each step doubles the number
/// of correct low bits, starting with three (x * x = 1 modulo 8 for odd x).
pub fn inverse_of_odd(odd: u64) -> u64 {
    (0..5).fold(odd, |x, _| x.wrapping_mul(2u64.wrapping_sub(odd.wrapping_mul(x))))
}

#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Bits {
    width: u32,
    words: SmallVec<[u64; 1]>,
}

impl Bits {
    /// Returns `value` truncated to `width` bits.
    #[inline]
    pub fn word(width: u32, value: u64) -> Bits {
        if width <= 64 {
            return Bits { width, words: SmallVec::from_buf([value & mask(width)]) };
        }
        let mut bits = Bits::zero(width);
        bits.words[0] = value;
        bits.normalised()
    }

    pub fn zero(width: u32) -> Bits {
        debug_assert!((1..=MAX_WIDTH).contains(&width));
        if width <= 64 {
            return Bits::word(width, 0);
        }
        Bits { width, words: smallvec![0; width.div_ceil(64) as usize] }
    }

    pub fn ones(width: u32) -> Bits {
        if width <= 64 {
            return Bits::word(width, u64::MAX);
        }
        Bits { width, words: smallvec![u64::MAX; width.div_ceil(64) as usize] }.normalised()
    }

    /// Returns the low `width` bits of `words` (lowest first; missing words are zero).
    pub fn from_words(width: u32, words: &[u64]) -> Bits {
        let mut bits = Bits::zero(width);
        for (to, from) in bits.words.iter_mut().zip(words) {
            *to = *from;
        }
        bits.normalised()
    }

    pub fn from_bool(value: bool) -> Bits {
        Bits::word(1, value as u64)
    }

    fn normalised(mut self) -> Bits {
        let top = self.width % 64;
        if top != 0 {
            *self.words.last_mut().expect("a width is at least one") &= mask(top);
        }
        self
    }

    #[inline]
    pub fn width(&self) -> u32 {
        self.width
    }

    #[inline]
    pub fn words(&self) -> &[u64] {
        &self.words
    }

    /// Returns the lowest 64 bits.
    #[inline]
    pub fn low(&self) -> u64 {
        self.words[0]
    }

    /// Returns the value if it fits in 64 bits.
    pub fn to_u64(&self) -> Option<u64> {
        self.words[1..].iter().all(|&w| w == 0).then_some(self.words[0])
    }

    pub fn is_zero(&self) -> bool {
        self.words.iter().all(|&w| w == 0)
    }

    pub fn is_ones(&self) -> bool {
        *self == Bits::ones(self.width)
    }

    pub fn bit(&self, index: u32) -> bool {
        self.words[(index / 64) as usize] >> (index % 64) & 1 == 1
    }

    pub fn sign(&self) -> bool {
        self.bit(self.width - 1)
    }

    fn to_big(&self) -> BigUint {
        let mut digits = Vec::with_capacity(self.words.len() * 2);
        for w in &self.words {
            digits.push(*w as u32);
            digits.push((*w >> 32) as u32);
        }
        BigUint::new(digits)
    }

    fn from_big(width: u32, big: &BigUint) -> Bits {
        Bits::from_words(width, &big.to_u64_digits())
    }

    /// Parses a decimal number and truncates it to `width` bits; `None` if a character is not a digit.
    pub fn from_decimal(width: u32, text: &str) -> Option<Bits> {
        if text.is_empty() || !text.bytes().all(|b| b.is_ascii_digit()) {
            return None;
        }
        if text.len() <= 19 {
            return Some(Bits::word(width, text.parse().ok()?));
        }
        Some(Bits::from_big(width, &BigUint::parse_bytes(text.as_bytes(), 10)?))
    }

    /// Returns the number of bits of the decimal number `text` (at least one), or `None` if it is not a number.
    pub fn decimal_width(text: &str) -> Option<u64> {
        Some(BigUint::parse_bytes(text.as_bytes(), 10)?.bits().max(1))
    }

    pub fn to_decimal(&self) -> String {
        match self.to_u64() {
            Some(word) => word.to_string(),
            None => self.to_big().to_string(),
        }
    }

    /// Parses digits in base `1 << shift` (shift 1 for binary, 4 for hexadecimal), highest digit first.
    pub fn from_digits(shift: u32, text: &str) -> Option<Bits> {
        let width = u32::try_from(text.len()).ok()?.checked_mul(shift)?;
        if width == 0 || width > MAX_WIDTH {
            return None;
        }
        let mut bits = Bits::zero(width);
        for (i, c) in text.bytes().rev().enumerate() {
            let digit = u64::from((c as char).to_digit(1 << shift)?);
            let at = i as u32 * shift;
            bits.words[(at / 64) as usize] |= digit << (at % 64);
        }
        Some(bits)
    }

    /// Prints `#x...` if the width is a multiple of four, otherwise `#b...`.
    pub fn to_smtlib(&self) -> String {
        let (prefix, shift) = if self.width.is_multiple_of(4) { ("#x", 4) } else { ("#b", 1) };
        let mut text = String::with_capacity(2 + (self.width / shift) as usize);
        text.push_str(prefix);
        for i in (0..self.width / shift).rev() {
            let at = i * shift;
            let digit = self.words[(at / 64) as usize] >> (at % 64) & (mask(shift));
            text.push(char::from_digit(digit as u32, 16).expect("a hexadecimal digit"));
        }
        text
    }

    // Arithmetic. Operands and result have the same width.

    pub fn not(&self) -> Bits {
        Bits { width: self.width, words: self.words.iter().map(|w| !w).collect() }.normalised()
    }

    pub fn zip(&self, other: &Bits, f: impl Fn(u64, u64) -> u64) -> Bits {
        debug_assert_eq!(self.width, other.width);
        let words = self.words.iter().zip(&other.words).map(|(a, b)| f(*a, *b)).collect();
        Bits { width: self.width, words }.normalised()
    }

    fn add_carry(&self, other: &Bits, mut carry: bool) -> Bits {
        let mut words = SmallVec::with_capacity(self.words.len());
        for (a, b) in self.words.iter().zip(&other.words) {
            let (sum, c1) = a.overflowing_add(*b);
            let (sum, c2) = sum.overflowing_add(carry as u64);
            carry = c1 | c2;
            words.push(sum);
        }
        Bits { width: self.width, words }.normalised()
    }

    pub fn add(&self, other: &Bits) -> Bits {
        self.add_carry(other, false)
    }

    pub fn sub(&self, other: &Bits) -> Bits {
        self.add_carry(&other.not(), true)
    }

    pub fn neg(&self) -> Bits {
        Bits::zero(self.width).sub(self)
    }

    pub fn mul(&self, other: &Bits) -> Bits {
        Bits::from_big(self.width, &(self.to_big() * other.to_big()))
    }

    /// Returns the multiplicative inverse of an odd number modulo 2^width, as `inverse_of_odd` does.
    pub fn inverse_of_odd(&self) -> Bits {
        let mut x = Bits::word(self.width, inverse_of_odd(self.low()));
        let two = Bits::word(self.width, 2);
        let mut right = 64;
        while right < self.width {
            x = x.mul(&two.sub(&self.mul(&x)));
            right *= 2;
        }
        x
    }

    /// Unsigned quotient and remainder as in SMT-LIB: all ones and the dividend when `other` is zero.
    pub fn divide(&self, other: &Bits) -> (Bits, Bits) {
        if other.is_zero() {
            return (Bits::ones(self.width), self.clone());
        }
        let (a, b) = (self.to_big(), other.to_big());
        (Bits::from_big(self.width, &(&a / &b)), Bits::from_big(self.width, &(a % b)))
    }

    /// Shifts left by `amount`, which may exceed the width.
    pub fn shl(&self, amount: u64) -> Bits {
        let mut out = Bits::zero(self.width);
        if amount >= u64::from(self.width) {
            return out;
        }
        let (skip, shift) = ((amount / 64) as usize, (amount % 64) as u32);
        for i in (skip..self.words.len()).rev() {
            let mut word = self.words[i - skip] << shift;
            if shift != 0 && i > skip {
                word |= self.words[i - skip - 1] >> (64 - shift);
            }
            out.words[i] = word;
        }
        out.normalised()
    }

    /// Returns bits `lo .. lo + width`; bits above the top are zero.
    pub fn extract(&self, lo: u64, width: u32) -> Bits {
        let mut out = Bits::zero(width);
        let (skip, shift) = ((lo / 64) as usize, (lo % 64) as u32);
        for i in 0..out.words.len() {
            let low = self.words.get(i + skip).copied().unwrap_or(0);
            let high = self.words.get(i + skip + 1).copied().unwrap_or(0);
            out.words[i] = if shift == 0 { low } else { low >> shift | high << (64 - shift) };
        }
        out.normalised()
    }

    pub fn lshr(&self, amount: u64) -> Bits {
        self.extract(amount.min(u64::from(self.width)), self.width)
    }

    pub fn ashr(&self, amount: u64) -> Bits {
        let amount = amount.min(u64::from(self.width));
        let out = self.lshr(amount);
        if self.sign() { out.zip(&Bits::ones(self.width).lshr(amount).not(), |a, b| a | b) } else { out }
    }

    pub fn zext(&self, width: u32) -> Bits {
        Bits::from_words(width, &self.words)
    }

    pub fn sext(&self, width: u32) -> Bits {
        let out = self.zext(width);
        if self.sign() { out.zip(&Bits::ones(width).shl(self.width.into()), |a, b| a | b) } else { out }
    }

    /// Concatenates: `self` becomes the high bits.
    pub fn concat(&self, low: &Bits) -> Bits {
        let width = self.width + low.width;
        self.zext(width).shl(low.width.into()).zip(&low.zext(width), |a, b| a | b)
    }

    pub fn ucmp(&self, other: &Bits) -> Ordering {
        self.words.iter().rev().cmp(other.words.iter().rev())
    }

    pub fn scmp(&self, other: &Bits) -> Ordering {
        other.sign().cmp(&self.sign()).then_with(|| self.ucmp(other))
    }
}

/// Orders by width, then as unsigned numbers.
impl Ord for Bits {
    fn cmp(&self, other: &Bits) -> Ordering {
        self.width.cmp(&other.width).then_with(|| self.ucmp(other))
    }
}

impl PartialOrd for Bits {
    fn partial_cmp(&self, other: &Bits) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl fmt::Debug for Bits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.to_smtlib())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_forms() {
        assert_eq!(Bits::word(8, 0x1ff).to_smtlib(), "#xff");
        assert_eq!(Bits::word(3, 5).to_smtlib(), "#b101");
        assert_eq!(Bits::from_digits(4, "00ff").unwrap(), Bits::word(16, 255));
        assert_eq!(Bits::from_digits(1, "12"), None);
        let big = Bits::from_decimal(128, "340282366920938463463374607431768211455").unwrap();
        assert!(big.is_ones());
        assert_eq!(big.to_decimal(), "340282366920938463463374607431768211455");
        assert_eq!(Bits::decimal_width("256"), Some(9));
    }

    #[test]
    fn wide_shifts_and_slices() {
        let x = Bits::from_words(130, &[1 << 63, 0, 0b10]);
        assert_eq!(x.shl(1).words(), &[0, 1, 0]);
        assert_eq!(x.lshr(129).words(), &[1, 0, 0]);
        assert!(x.ashr(500).is_ones());
        assert_eq!(x.extract(60, 8), Bits::word(8, 8));
        assert_eq!(x.extract(0, 65).concat(&x.extract(65, 65)).extract(65, 65), x.extract(0, 65));
    }
}
