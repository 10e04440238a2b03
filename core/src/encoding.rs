//! Encodes numbers as bytes and decodes them: seven bits per byte, lowest first (LEB128). Input may be damaged, so decoding
//! returns `None` if bytes are missing or malformed.

use crate::expr::bits::{MAX_WIDTH, mask};
use crate::expr::{Bits, Sort};

pub fn put(out: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

/// Puts bytes after their number.
pub fn put_bytes(out: &mut Vec<u8>, bytes: &[u8]) {
    put(out, bytes.len() as u64);
    out.extend_from_slice(bytes);
}

pub fn put_sort(out: &mut Vec<u8>, sort: Sort) {
    match sort {
        Sort::Bool => put(out, 0),
        Sort::Bits(width) => [1, width].into_iter().for_each(|n| put(out, n.into())),
        Sort::Array { index, element } => [2, index, element].into_iter().for_each(|n| put(out, n.into())),
    }
}

/// Does not write the width: the decoder is given it.
pub fn put_bits(out: &mut Vec<u8>, bits: &Bits) {
    bits.words().iter().for_each(|&word| put(out, word));
}

pub struct Decoder<'a> {
    left: &'a [u8],
}

impl<'a> Decoder<'a> {
    pub fn new(bytes: &'a [u8]) -> Decoder<'a> {
        Decoder { left: bytes }
    }

    pub fn is_at_end(&self) -> bool {
        self.left.is_empty()
    }

    pub fn byte(&mut self) -> Option<u8> {
        let (first, rest) = self.left.split_first()?;
        self.left = rest;
        Some(*first)
    }

    pub fn bytes(&mut self, count: usize) -> Option<&'a [u8]> {
        let (first, rest) = self.left.split_at_checked(count)?;
        self.left = rest;
        Some(first)
    }

    /// The bytes not decoded yet.
    pub fn rest(self) -> &'a [u8] {
        self.left
    }

    pub fn number(&mut self) -> Option<u64> {
        let mut number = 0u64;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            let digit = u64::from(byte & 0x7f);
            if digit << shift >> shift != digit {
                return None;
            }
            number |= digit << shift;
            if byte < 0x80 {
                return Some(number);
            }
        }
        None
    }

    /// A number of items of at least one byte each.
    pub fn count(&mut self) -> Option<usize> {
        usize::try_from(self.number()?).ok().filter(|n| *n <= self.left.len())
    }

    fn width(&mut self) -> Option<u32> {
        u32::try_from(self.number()?).ok().filter(|width| (1..=MAX_WIDTH).contains(width))
    }

    pub fn sort(&mut self) -> Option<Sort> {
        Some(match self.number()? {
            0 => Sort::Bool,
            1 => Sort::Bits(self.width()?),
            2 => Sort::Array { index: self.width()?, element: self.width()? },
            _ => return None,
        })
    }

    pub fn bits(&mut self, width: u32) -> Option<Bits> {
        let words: Vec<u64> = (0..width.div_ceil(64)).map(|_| self.number()).collect::<Option<_>>()?;
        let fits = width.is_multiple_of(64) || *words.last()? <= mask(width % 64);
        fits.then(|| Bits::from_words(width, &words))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn encoded_values_are_decoded(numbers in proptest::collection::vec(any::<u64>(), 0..10), width in 1u32..200) {
            let mut out = Vec::new();
            let bits = Bits::from_words(width, &[u64::MAX, 5, u64::MAX, 7]);
            numbers.iter().for_each(|n| put(&mut out, *n));
            put_bits(&mut out, &bits);
            put_sort(&mut out, Sort::Array { index: width, element: 8 });
            let mut decoder = Decoder::new(&out);
            for n in numbers {
                prop_assert_eq!(decoder.number(), Some(n));
            }
            prop_assert_eq!(decoder.bits(width), Some(bits));
            prop_assert_eq!(decoder.sort(), Some(Sort::Array { index: width, element: 8 }));
            prop_assert!(decoder.is_at_end());
        }

        #[test]
        fn malformed_bytes_do_not_panic(bytes in proptest::collection::vec(any::<u8>(), 0..30), width in 1u32..200) {
            let mut decoder = Decoder::new(&bytes);
            while decoder.number().is_some() {}
            Decoder::new(&bytes).bits(width);
            Decoder::new(&bytes).sort();
        }
    }
}
