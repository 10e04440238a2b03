//! Formats of floating-point numbers, and rounding modes.
//!
//! A number is a word: sign, biased exponent, fraction, as IEEE 754 lays them out. x87 extended precision also
//! stores the integer bit of the significand.

/// A binary floating-point format.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Format {
    /// Bits of the exponent.
    exponent: u32,
    /// Bits of the significand including the integer bit, which is implicit unless `explicit`.
    significand: u32,
    /// Whether the integer bit is stored (x87).
    explicit: bool,
}

impl Format {
    pub const HALF: Format = Format::ieee(5, 11);
    pub const BFLOAT: Format = Format::ieee(8, 8);
    pub const SINGLE: Format = Format::ieee(8, 24);
    pub const DOUBLE: Format = Format::ieee(11, 53);
    pub const X87: Format = Format { exponent: 15, significand: 64, explicit: true };
    pub const QUAD: Format = Format::ieee(15, 113);

    /// Largest number of exponent bits, so that exponents are computed in 64-bit integers with room to spare.
    pub const MAX_EXPONENT: u32 = 30;
    /// Largest number of significand bits.
    pub const MAX_SIGNIFICAND: u32 = 1 << 16;

    /// `(_ FloatingPoint exponent significand)` of SMT-LIB. Panics outside of what `new` accepts.
    pub const fn ieee(exponent: u32, significand: u32) -> Format {
        match Format::new(exponent, significand) {
            Some(format) => format,
            None => panic!("a format that is too small or too large"),
        }
    }

    /// Returns a format, or `None` where SMT-LIB has none (fewer than two bits of either) or it is too large.
    pub const fn new(exponent: u32, significand: u32) -> Option<Format> {
        let fits = 2 <= exponent
            && exponent <= Format::MAX_EXPONENT
            && 2 <= significand
            && significand <= Format::MAX_SIGNIFICAND;
        if fits { Some(Format { exponent, significand, explicit: false }) } else { None }
    }

    /// Returns the format whose numbers have `width` bits.
    pub(super) const fn of_width(width: u32, exponent: u32, explicit: bool) -> Format {
        Format { exponent, significand: width - exponent - explicit as u32, explicit }
    }

    pub const fn exponent(self) -> u32 {
        self.exponent
    }

    pub const fn significand(self) -> u32 {
        self.significand
    }

    pub const fn is_explicit(self) -> bool {
        self.explicit
    }

    /// Bits of the significand that are stored.
    pub const fn stored(self) -> u32 {
        self.significand - 1 + self.explicit as u32
    }

    /// Bits of a number.
    pub const fn width(self) -> u32 {
        1 + self.exponent + self.stored()
    }

    /// The bias, which is also the greatest exponent of a finite number.
    pub const fn bias(self) -> i64 {
        (1 << (self.exponent - 1)) - 1
    }

    /// The exponent of the smallest normal number, and of all subnormal ones.
    pub const fn min_exponent(self) -> i64 {
        1 - self.bias()
    }

    /// Returns whether every number of this format is one of `other`.
    pub const fn is_contained_in(self, other: Format) -> bool {
        self.significand <= other.significand
            && self.bias() <= other.bias()
            && other.min_exponent() - (other.significand as i64 - 1)
                <= self.min_exponent() - (self.significand as i64 - 1)
    }

    /// Packs the format into a parameter of a node; `unpack` is its inverse.
    pub const fn pack(self) -> u32 {
        self.exponent | self.significand << 5 | (self.explicit as u32) << 22
    }

    pub const fn unpack(parameter: u32) -> Format {
        Format {
            exponent: parameter & 31,
            significand: parameter >> 5 & 0x1_ffff,
            explicit: parameter >> 22 & 1 != 0,
        }
    }
}

/// A rounding mode, numbered as a parameter of a node.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[repr(u8)]
pub enum Rounding {
    /// To nearest, ties to even; the default everywhere.
    NearestEven,
    /// To nearest, ties away from zero.
    NearestAway,
    TowardPositive,
    TowardNegative,
    TowardZero,
}

impl Rounding {
    pub const ALL: [Rounding; 5] = [
        Rounding::NearestEven,
        Rounding::NearestAway,
        Rounding::TowardPositive,
        Rounding::TowardNegative,
        Rounding::TowardZero,
    ];
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn widths_are_those_of_the_formats() {
        let widths =
            [Format::HALF, Format::BFLOAT, Format::SINGLE, Format::DOUBLE, Format::X87, Format::QUAD]
                .map(Format::width);
        assert_eq!(widths, [16, 16, 32, 64, 80, 128]);
    }

    #[test]
    fn packing_keeps_every_field() {
        let largest = Format::ieee(Format::MAX_EXPONENT, Format::MAX_SIGNIFICAND);
        for format in [Format::ieee(2, 2), Format::SINGLE, Format::X87, Format::QUAD, largest] {
            assert_eq!(Format::unpack(format.pack()), format);
        }
    }

    #[test]
    fn formats_that_are_too_small_or_too_large_are_refused() {
        for (exponent, significand) in [(1, 5), (5, 1), (31, 24), (8, Format::MAX_SIGNIFICAND + 1)] {
            assert_eq!(Format::new(exponent, significand), None);
        }
    }
}
