//! Exception flags of operations as expressions over their operands, as x86 raises them with SSE and x87.
//!
//! An operation is inexact if the two directed roundings differ. Overflow and underflow are those of the result that the
//! same precision gives without limits of the exponent: underflow is detected after rounding, and raised only with
//! inexact. A subnormal operand raises x86's own flag unless an operand is NaN or the operation is invalid.

use super::{FloatParameter, Format, Rounding};
use crate::expr::{Bits, Expr, FloatOp, Graph};

/// Flags by their bits in x86's control and status register, which are those of `fenv.h`.
pub const WIDTH: u32 = 6;
const INVALID: u32 = 0;
const SUBNORMAL: u32 = 1;
const DIVISION: u32 = 2;
const OVERFLOW: u32 = 3;
const UNDERFLOW: u32 = 4;
const INEXACT: u32 = 5;

/// Bits of exponent that no result of one operation exceeds.
const UNLIMITED: u32 = 20;

impl Graph {
    fn any(&mut self, conditions: impl IntoIterator<Item = Expr>) -> Expr {
        let none = self.boolean(false);
        conditions.into_iter().fold(none, |any, condition| self.or(any, condition))
    }

    fn flags(&mut self, flags: &[(u32, Expr)]) -> Expr {
        let mut word = self.word(WIDTH, 0);
        for &(bit, raised) in flags {
            let (set, clear) = (self.word(WIDTH, 1 << bit), self.word(WIDTH, 0));
            let flag = self.ite(raised, set, clear);
            word = self.or(word, flag);
        }
        word
    }

    /// Whether an operand is a NaN, and whether one makes any operation invalid.
    fn nan_operands(&mut self, format: Format, operands: &[Expr]) -> (Expr, Expr) {
        let nans: Vec<Expr> = operands.iter().map(|&e| self.f_is_nan(format, e)).collect();
        let invalid: Vec<Expr> = operands.iter().map(|&e| self.f_is_invalid_operand(format, e)).collect();
        (self.any(nans), self.any(invalid))
    }

    /// A subnormal operand of a valid operation on numbers.
    fn subnormal_operand(&mut self, format: Format, operands: &[Expr], prevented: Expr) -> Expr {
        let subnormal: Vec<Expr> = operands.iter().map(|&e| self.f_is_subnormal(format, e)).collect();
        let some = self.any(subnormal);
        let valid = self.not(prevented);
        self.and(some, valid)
    }

    /// Flags of a comparison. One that signals is invalid for quiet NaNs too.
    pub fn f_comparison_flags(&mut self, format: Format, signals: bool, operands: &[Expr]) -> Expr {
        let (nan, invalid) = self.nan_operands(format, operands);
        let invalid = if signals { nan } else { invalid };
        let subnormal = self.subnormal_operand(format, operands, nan);
        self.flags(&[(INVALID, invalid), (SUBNORMAL, subnormal)])
    }

    /// Flags of a conversion towards zero to a signed integer of `width` bits. It ignores subnormal operands.
    pub fn f_integer_flags(&mut self, format: Format, width: u32, a: Expr) -> Expr {
        let fits = self.f_fits_integer(format, Rounding::TowardZero, true, width, a);
        let invalid = self.not(fits);
        let integral = self.f_round(format, Rounding::TowardZero, a);
        let exact = self.f_eq(format, a, integral);
        let fraction = self.not(exact);
        let inexact = self.and(fits, fraction);
        self.flags(&[(INVALID, invalid), (INEXACT, inexact)])
    }

    /// Flags of a sum, product, quotient or root, of a conversion between formats, or of one from an integer.
    pub fn f_rounding_flags(&mut self, op: FloatOp, parameter: FloatParameter, operands: &[Expr]) -> Expr {
        let FloatParameter { format, source, .. } = parameter;
        let width = format.width();
        let result = self.float(op, parameter, width, operands);
        let down = self.float(
            op,
            FloatParameter { rounding: Rounding::TowardNegative, ..parameter },
            width,
            operands,
        );
        let up = self.float(
            op,
            FloatParameter { rounding: Rounding::TowardPositive, ..parameter },
            width,
            operands,
        );
        let result_nan = self.f_is_nan(format, result);
        let number = self.not(result_nan);
        let same = self.f_eq(format, down, up);
        let differs = self.not(same);
        let inexact = self.and(number, differs);

        // Without limits of the exponent.
        let unlimited = Format::ieee(UNLIMITED, format.significand());
        let wide = FloatParameter { format: unlimited, ..parameter };
        let exact_rounded = match op {
            FloatOp::FToF | FloatOp::FFromSInt | FloatOp::FFromUInt => {
                self.float(op, wide, unlimited.width(), operands)
            }
            _ => {
                let to_wide = FloatParameter { source: format, ..wide };
                let operands: Vec<Expr> = operands
                    .iter()
                    .map(|&e| self.float(FloatOp::FToF, to_wide, unlimited.width(), &[e]))
                    .collect();
                self.float(op, FloatParameter { source: unlimited, ..wide }, unlimited.width(), &operands)
            }
        };
        let magnitude = self.f_abs(unlimited, exact_rounded);
        let bound = |exponent: i64| {
            let field = (exponent + unlimited.bias()) as u64;
            Bits::word(unlimited.width(), field).shl(u64::from(unlimited.stored()))
        };
        let above = self.constant(bound(format.bias() + 1));
        let least = self.constant(bound(format.min_exponent()));
        let (zero, infinity) = (self.f_zero(unlimited, false), self.f_infinity(unlimited, false));
        let too_large = self.f_le(unlimited, above, magnitude);
        let finite = self.f_lt(unlimited, magnitude, infinity);
        let overflow = self.and(too_large, finite);
        let (small, nonzero) =
            (self.f_lt(unlimited, magnitude, least), self.f_lt(unlimited, zero, magnitude));
        let tiny = self.and(small, nonzero);
        let underflow = self.and(tiny, inexact);

        if matches!(op, FloatOp::FFromSInt | FloatOp::FFromUInt) {
            return self.flags(&[(OVERFLOW, overflow), (INEXACT, inexact)]);
        }
        let (nan, invalid_operand) = self.nan_operands(source, operands);
        let numbers = self.not(nan);
        let new_nan = self.and(result_nan, numbers);
        let invalid = self.or(invalid_operand, new_nan);
        let division = match (op, operands) {
            (FloatOp::FDiv, &[a, b]) => {
                let by_zero = self.f_is_zero(format, b);
                let (zero, infinity) = (self.f_zero(format, false), self.f_infinity(format, false));
                let size = self.f_abs(format, a);
                let (above, below) = (self.f_lt(format, zero, size), self.f_lt(format, size, infinity));
                let finite = self.and(above, below);
                self.and(by_zero, finite)
            }
            _ => self.boolean(false),
        };
        let prevented = self.any([nan, invalid, division]);
        let subnormal = self.subnormal_operand(source, operands, prevented);
        self.flags(&[
            (INVALID, invalid),
            (SUBNORMAL, subnormal),
            (DIVISION, division),
            (OVERFLOW, overflow),
            (UNDERFLOW, underflow),
            (INEXACT, inexact),
        ])
    }
}
