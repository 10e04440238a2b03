//! Builders of float operators.
//!
//! The operands are words of the format's width, which only debug builds check. `derive.rs` has the functions that
//! are composed from these operators and bits.

use super::{FloatParameter, Format, Rounding};
use crate::expr::eval::Shape;
use crate::expr::{Bits, Expr, FloatOp, Graph, Op, Sort};

impl Graph {
    /// Returns whether a float operator was ever built, so that graphs without them are not searched for some.
    pub fn has_floats(&self) -> bool {
        self.has_floats
    }

    /// Returns format and rounding mode of a float node.
    pub fn float_parameter(&self, e: Expr) -> Option<FloatParameter> {
        let crate::expr::Family::Float(op) = self.op(e).family() else { return None };
        let parameter = self.parameter(e).expect("a float operator has a parameter");
        Some(FloatParameter::unpack(op, parameter, self.width(self.kid(e, 0))))
    }

    /// Builds a float operator. `width` is that of the result; only conversions to integers depend on it.
    pub fn float(&mut self, op: FloatOp, parameter: FloatParameter, width: u32, kids: &[Expr]) -> Expr {
        let parameter = self.canonical_parameter(op, parameter);
        let sort = match op {
            FloatOp::FLt | FloatOp::FLe | FloatOp::FEq => Sort::Bool,
            FloatOp::FToUInt | FloatOp::FToSInt => Sort::Bits(width),
            FloatOp::FAdd | FloatOp::FMul | FloatOp::FDiv | FloatOp::FMulAdd | FloatOp::FSqrt => {
                Sort::Bits(parameter.format.width())
            }
            FloatOp::FRound | FloatOp::FRem | FloatOp::FToF | FloatOp::FFromUInt | FloatOp::FFromSInt => {
                Sort::Bits(parameter.format.width())
            }
        };
        debug_assert_eq!(kids.len(), Op::from(op).arity());
        debug_assert!(kids.iter().all(|&kid| match op {
            FloatOp::FFromUInt | FloatOp::FFromSInt => !self.is_bool(kid),
            _ => self.sort(kid) == Sort::Bits(parameter.source.width()),
        }));
        let packed = parameter.pack(op);
        if kids.iter().all(|&kid| self.is_const(kid)) {
            return self.fold_float(op, sort, packed, kids);
        }
        self.has_floats = true;
        let mut operands: smallvec::SmallVec<[Expr; 3]> = kids.into();
        if Op::from(op).commutes() && self.swaps(operands[0], operands[1]) {
            operands.swap(0, 1);
        }
        match self.guarded(|g| g.rewrite_float(op, parameter, sort, &operands)) {
            Some(e) => e,
            None => self.intern_operator(op.into(), sort, &operands, packed),
        }
    }

    /// Operators that do not round have the default mode, so that equal expressions have equal nodes.
    fn canonical_parameter(&self, op: FloatOp, mut parameter: FloatParameter) -> FloatParameter {
        let (from, to) = (parameter.source, parameter.format);
        if !op.rounds() || op == FloatOp::FToF && from.is_contained_in(to) {
            parameter.rounding = Rounding::NearestEven;
        }
        if op != FloatOp::FToF {
            parameter.source = parameter.format;
        }
        parameter
    }

    fn fold_float(&mut self, op: FloatOp, sort: Sort, parameter: u32, kids: &[Expr]) -> Expr {
        let width = match sort {
            Sort::Bits(width) => width,
            Sort::Bool | Sort::Array { .. } => 1,
        };
        let shape = Shape { width, operand: self.width(kids[0]), low: parameter };
        let value = |i: usize| self.const_bits(kids[i.min(kids.len() - 1)]).expect("a constant");
        let (a, b, c) = (value(0), value(1), value(2));
        let folded = if width <= 64 && shape.operand <= 64 {
            Bits::word(width, super::word(op, shape, a.low(), b.low(), c.low()))
        } else {
            super::wide(op, shape, &a, &b, &c)
        };
        self.constant_of(sort, folded)
    }

    fn float_op(&mut self, op: FloatOp, format: Format, rounding: Rounding, kids: &[Expr]) -> Expr {
        self.float(op, FloatParameter::new(format, rounding), 0, kids)
    }

    pub fn f_add(&mut self, format: Format, rounding: Rounding, a: Expr, b: Expr) -> Expr {
        self.float_op(FloatOp::FAdd, format, rounding, &[a, b])
    }

    pub fn f_mul(&mut self, format: Format, rounding: Rounding, a: Expr, b: Expr) -> Expr {
        self.float_op(FloatOp::FMul, format, rounding, &[a, b])
    }

    pub fn f_div(&mut self, format: Format, rounding: Rounding, a: Expr, b: Expr) -> Expr {
        self.float_op(FloatOp::FDiv, format, rounding, &[a, b])
    }

    /// `a * b + c`, rounded once.
    pub fn f_mul_add(&mut self, format: Format, rounding: Rounding, a: Expr, b: Expr, c: Expr) -> Expr {
        self.float_op(FloatOp::FMulAdd, format, rounding, &[a, b, c])
    }

    pub fn f_sqrt(&mut self, format: Format, rounding: Rounding, a: Expr) -> Expr {
        self.float_op(FloatOp::FSqrt, format, rounding, &[a])
    }

    /// Rounds to an integral number.
    pub fn f_round(&mut self, format: Format, rounding: Rounding, a: Expr) -> Expr {
        self.float_op(FloatOp::FRound, format, rounding, &[a])
    }

    /// IEEE remainder: the quotient is rounded to nearest.
    pub fn f_rem(&mut self, format: Format, a: Expr, b: Expr) -> Expr {
        self.float_op(FloatOp::FRem, format, Rounding::NearestEven, &[a, b])
    }

    pub fn f_lt(&mut self, format: Format, a: Expr, b: Expr) -> Expr {
        self.float_op(FloatOp::FLt, format, Rounding::NearestEven, &[a, b])
    }

    pub fn f_le(&mut self, format: Format, a: Expr, b: Expr) -> Expr {
        self.float_op(FloatOp::FLe, format, Rounding::NearestEven, &[a, b])
    }

    /// Equality of numbers: zeros are equal, NaN equals nothing.
    pub fn f_eq(&mut self, format: Format, a: Expr, b: Expr) -> Expr {
        self.float_op(FloatOp::FEq, format, Rounding::NearestEven, &[a, b])
    }

    pub fn f_to_f(&mut self, from: Format, to: Format, rounding: Rounding, a: Expr) -> Expr {
        let parameter = FloatParameter { format: to, rounding, source: from };
        self.float(FloatOp::FToF, parameter, to.width(), &[a])
    }

    /// Converts to an unsigned integer of `width` bits; `1 << (width - 1)` if it does not fit.
    pub fn f_to_uint(&mut self, format: Format, rounding: Rounding, width: u32, a: Expr) -> Expr {
        self.float(FloatOp::FToUInt, FloatParameter::new(format, rounding), width, &[a])
    }

    /// Converts to a signed integer of `width` bits; `1 << (width - 1)` if it does not fit.
    pub fn f_to_sint(&mut self, format: Format, rounding: Rounding, width: u32, a: Expr) -> Expr {
        self.float(FloatOp::FToSInt, FloatParameter::new(format, rounding), width, &[a])
    }

    pub fn f_from_uint(&mut self, format: Format, rounding: Rounding, a: Expr) -> Expr {
        self.float_op(FloatOp::FFromUInt, format, rounding, &[a])
    }

    pub fn f_from_sint(&mut self, format: Format, rounding: Rounding, a: Expr) -> Expr {
        self.float_op(FloatOp::FFromSInt, format, rounding, &[a])
    }
}
