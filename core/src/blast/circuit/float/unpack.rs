//! Taking a number apart. x87 extended numbers lose their stored integer bit here (and get it back in `round::pack`),
//! so that all other circuits see IEEE formats only.

use super::exponent::Exponent;
use super::normalise::normalise;
use super::{Format, Gates, Lit, Word};

/// A number with an implicit integer bit, and its class.
pub struct Number {
    pub format: Format,
    pub sign: Lit,
    /// The biased exponent as stored: zero for zeros and subnormal numbers.
    pub field: Word,
    pub fraction: Word,
    pub nan: Lit,
    pub infinite: Lit,
    pub zero: Lit,
    /// The field is zero.
    subnormal: Lit,
    /// An encoding that x87 refuses: the integer bit is zero although the field is not.
    pub unsupported: Lit,
}

pub fn unpack(g: &mut Gates, format: Format, word: &[Lit]) -> Number {
    let precision = format.significand() as usize;
    let stored = format.stored() as usize;
    debug_assert_eq!(word.len(), format.width() as usize);
    let fraction = word[..precision - 1].to_vec();
    let mut field = word[stored..word.len() - 1].to_vec();
    let mut subnormal = g.any(field.clone());
    subnormal = !subnormal;
    let mut unsupported = Lit::FALSE;
    if format.is_explicit() {
        let integer = word[stored - 1];
        // A subnormal field with the integer bit set has the value of the smallest normal field.
        let pseudo = g.and(subnormal, integer);
        field[0] = g.or(field[0], pseudo);
        unsupported = g.or(subnormal, integer);
        unsupported = !unsupported;
        subnormal = g.and(subnormal, !integer);
    }
    let top = g.all(field.clone());
    let top = g.and(top, !unsupported);
    let some = g.any(fraction.clone());
    Number {
        format,
        sign: word[word.len() - 1],
        nan: g.and(top, some),
        infinite: g.and(top, !some),
        zero: g.and(subnormal, !some),
        subnormal,
        unsupported,
        field,
        fraction,
    }
}

impl Number {
    /// The bits of the absolute value, whose order is that of the numbers.
    pub fn magnitude(&self) -> Word {
        self.fraction.iter().chain(&self.field).copied().collect()
    }

    /// The significand with its integer bit.
    pub fn significand(&self) -> Word {
        self.fraction.iter().copied().chain([!self.subnormal]).collect()
    }

    /// The biased exponent of the significand: that of subnormal numbers is 1.
    pub fn exponent(&self, g: &mut Gates) -> Exponent {
        let mut field = self.field.clone();
        field[0] = g.or(field[0], self.subnormal);
        Exponent::unsigned(&field, 1, (1 << self.format.exponent()) - 1)
    }

    /// Significand with its highest bit one, and its biased exponent. Zeros, infinities and NaNs give any value.
    pub fn normalised(&self, g: &mut Gates) -> (Exponent, Word) {
        let significand = self.significand();
        let precision = significand.len();
        let (mut significand, zeros) = normalise(g, &significand);
        significand[precision - 1] = Lit::TRUE;
        let zeros = Exponent::unsigned(&zeros, 0, precision as i64);
        let exponent = self.exponent(g).minus(g, &zeros);
        let top = (1 << self.format.exponent()) - 2;
        (exponent.assume(2 - precision as i64, top), significand)
    }
}
