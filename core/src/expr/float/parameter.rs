//! The parameter of a float node: format, rounding mode, and the format that a float-to-float conversion reads.
//!
//! Bits 0 to 22 are the format, 23 to 25 the rounding mode. A conversion has a second format: its exponent bits (26 to
//! 30) and integer bit (31) are stored, the rest follows from the width of the operand.

use super::{Format, Rounding};
use crate::expr::FloatOp;

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct FloatParameter {
    /// Format of the operands, or of the result of a conversion to a float.
    pub format: Format,
    /// The nearest even number for operators that do not round.
    pub rounding: Rounding,
    /// Format of the operand of a float-to-float conversion; otherwise the same as `format`.
    pub source: Format,
}

impl FloatParameter {
    pub const fn new(format: Format, rounding: Rounding) -> FloatParameter {
        FloatParameter { format, rounding, source: format }
    }

    pub fn pack(self, op: FloatOp) -> u32 {
        let source = match op {
            FloatOp::FToF => self.source.exponent() << 26 | u32::from(self.source.is_explicit()) << 31,
            _ => 0,
        };
        self.format.pack() | (self.rounding as u32) << 23 | source
    }

    /// Unpacks the parameter of a node whose first operand has `operand` bits.
    #[inline]
    pub fn unpack(op: FloatOp, parameter: u32, operand: u32) -> FloatParameter {
        let format = Format::unpack(parameter);
        let rounding = Rounding::ALL[(parameter >> 23 & 7) as usize];
        let source = match op {
            FloatOp::FToF => Format::of_width(operand, parameter >> 26 & 31, parameter >> 31 != 0),
            _ => format,
        };
        FloatParameter { format, rounding, source }
    }

    /// Decodes a number from a file. Returns `None` if no node with these widths can have it.
    pub fn decode(op: FloatOp, parameter: u32, width: u32, operand: u32) -> Option<FloatParameter> {
        let valid = |f: Format| {
            f == Format::X87 || (!f.is_explicit() && Format::new(f.exponent(), f.significand()) == Some(f))
        };
        let source = parameter >> 26;
        if parameter >> 23 & 7 >= Rounding::ALL.len() as u32 || !valid(Format::unpack(parameter)) {
            return None;
        }
        if op == FloatOp::FToF {
            let (exponent, explicit) = (source & 31, source >> 5);
            if operand < 1 + exponent + 1 + explicit {
                return None;
            }
        } else if source != 0 {
            return None;
        }
        let found = FloatParameter::unpack(op, parameter, operand);
        let (from_float, to_float) = match op {
            FloatOp::FFromUInt | FloatOp::FFromSInt => (false, true),
            FloatOp::FToUInt | FloatOp::FToSInt | FloatOp::FLt | FloatOp::FLe | FloatOp::FEq => (true, false),
            _ => (true, true),
        };
        let fits = (!from_float || found.source.width() == operand)
            && (!to_float || found.format.width() == width)
            && (op.rounds() || found.rounding == Rounding::NearestEven);
        (fits && valid(found.source)).then_some(found)
    }
}

impl FloatOp {
    /// Whether the result depends on the rounding mode.
    pub const fn rounds(self) -> bool {
        match self {
            FloatOp::FAdd | FloatOp::FMul | FloatOp::FDiv | FloatOp::FMulAdd | FloatOp::FSqrt => true,
            FloatOp::FRound | FloatOp::FToF => true,
            FloatOp::FToUInt | FloatOp::FToSInt | FloatOp::FFromUInt | FloatOp::FFromSInt => true,
            FloatOp::FRem | FloatOp::FLt | FloatOp::FLe | FloatOp::FEq => false,
        }
    }

    /// Whether operands and result are numbers of one format.
    pub const fn is_arithmetic(self) -> bool {
        match self {
            FloatOp::FAdd | FloatOp::FMul | FloatOp::FDiv | FloatOp::FMulAdd | FloatOp::FSqrt => true,
            FloatOp::FRound | FloatOp::FRem => true,
            FloatOp::FToF | FloatOp::FLt | FloatOp::FLe | FloatOp::FEq => false,
            FloatOp::FToUInt | FloatOp::FToSInt | FloatOp::FFromUInt | FloatOp::FFromSInt => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packing_keeps_formats_and_mode() {
        for rounding in Rounding::ALL {
            for source in [Format::HALF, Format::BFLOAT, Format::X87, Format::ieee(2, 2), Format::QUAD] {
                let parameter = FloatParameter { format: Format::X87, rounding, source };
                let packed = parameter.pack(FloatOp::FToF);
                assert_eq!(FloatParameter::unpack(FloatOp::FToF, packed, source.width()), parameter);
                assert_eq!(
                    FloatParameter::decode(FloatOp::FToF, packed, 80, source.width()),
                    Some(parameter)
                );
            }
        }
    }

    #[test]
    fn parameters_that_no_node_has_are_refused() {
        let double = FloatParameter::new(Format::DOUBLE, Rounding::NearestEven).pack(FloatOp::FAdd);
        assert!(FloatParameter::decode(FloatOp::FAdd, double, 64, 64).is_some());
        assert!(FloatParameter::decode(FloatOp::FAdd, double, 32, 32).is_none());
        assert!(FloatParameter::decode(FloatOp::FAdd, double | 7 << 23, 64, 64).is_none());
        assert!(FloatParameter::decode(FloatOp::FEq, double | 1 << 23, 1, 64).is_none());
        assert!(FloatParameter::decode(FloatOp::FAdd, 0, 64, 64).is_none());
        assert!(FloatParameter::decode(FloatOp::FToF, double, 64, 1).is_none());
        assert!(FloatParameter::decode(FloatOp::FToUInt, double, 7, 64).is_some());
    }
}
