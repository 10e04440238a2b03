//! Rules of float operators. They hold for every operand and rounding mode, for NaN with its bits and for zeros of both
//! signs: `tests/float/rules.rs` compares all values of tiny formats.

use super::Rule;
use crate::expr::float::{FloatParameter, Format, Rounding};
use crate::expr::{Expr, FloatOp, Graph, Op, Sort};

/// Limit of arms of a choice that are looked at.
const MAX_ARMS: usize = 16;

/// A number of an integer that its format has: the integer, and whether it is signed.
struct Integer {
    word: Expr,
    signed: bool,
    width: u32,
}

impl Integer {
    /// Bits that the integer needs as a signed one.
    fn signed_width(&self) -> u32 {
        self.width + u32::from(!self.signed)
    }
}

impl Graph {
    pub(in crate::expr) fn rewrite_float(
        &mut self,
        op: FloatOp,
        parameter: FloatParameter,
        sort: Sort,
        kids: &[Expr],
    ) -> Option<Expr> {
        match op {
            FloatOp::FLt | FloatOp::FLe | FloatOp::FEq => {
                self.rewrite_float_comparison(op, parameter.format, kids[0], kids[1])
            }
            FloatOp::FToF => self
                .rewrite_twice_converted(parameter, kids[0])
                .or_else(|| self.rewrite_narrowed(parameter, kids[0])),
            FloatOp::FRound => self
                .is_integral(parameter.format, kids[0])
                .then_some(kids[0])
                .and_then(|e| self.fire(Rule::FloatIntegral, e)),
            FloatOp::FToUInt | FloatOp::FToSInt => {
                self.rewrite_to_integer(op, parameter.format, self.bits_width(sort), kids[0])
            }
            FloatOp::FAdd | FloatOp::FMul | FloatOp::FDiv | FloatOp::FMulAdd | FloatOp::FSqrt => None,
            FloatOp::FRem | FloatOp::FFromUInt | FloatOp::FFromSInt => None,
        }
    }

    fn compare_floats(&mut self, op: FloatOp, format: Format, a: Expr, b: Expr) -> Expr {
        self.float(op, FloatParameter::new(format, Rounding::NearestEven), 0, &[a, b])
    }

    fn rewrite_float_comparison(&mut self, op: FloatOp, format: Format, a: Expr, b: Expr) -> Option<Expr> {
        if a == b {
            let e = if op == FloatOp::FLt { self.boolean(false) } else { self.f_is_number(format, a) };
            return self.fire(Rule::FloatSame, e);
        }
        if let Some(e) = self.compare_with_extreme(op, format, a, b) {
            return self.fire(Rule::FloatExtreme, e);
        }
        if let Some((a, b)) = self.both_negated(format, a, b) {
            // The order is reversed.
            let e = self.compare_floats(op, format, b, a);
            return self.fire(Rule::FloatNegated, e);
        }
        if let Some(e) = self.compare_widened(op, format, a, b) {
            return self.fire(Rule::FloatWidened, e);
        }
        if let Some(e) = self.compare_integers(op, format, a, b) {
            return self.fire(Rule::FloatOfInteger, e);
        }
        if let Some((a, b)) = self.with_ordered_operands(format, a, b) {
            let e = self.compare_floats(op, format, a, b);
            return self.fire(Rule::FloatCommuted, e);
        }
        for (ite, constant, swapped) in [(a, b, false), (b, a, true)] {
            if let Some(e) = self.compare_float_ite(op, format, ite, constant, swapped) {
                return self.fire(Rule::FloatIte, e);
            }
        }
        None
    }

    fn f_is_number(&mut self, format: Format, a: Expr) -> Expr {
        let is_nan = self.f_is_nan(format, a);
        self.not(is_nan)
    }

    /// Comparison with a constant that is NaN or infinite.
    fn compare_with_extreme(&mut self, op: FloatOp, format: Format, a: Expr, b: Expr) -> Option<Expr> {
        let (constant, other, is_left) = match (self.const_bits(a), self.const_bits(b)) {
            (None, Some(c)) => (c, a, false),
            (Some(c), None) => (c, b, true),
            _ => return None,
        };
        if format.is_nan(&constant) {
            return Some(self.boolean(false));
        }
        // An x87 number that is infinite has one word, as the others.
        let is_negative = constant == format.infinity(true);
        if !is_negative && constant != format.infinity(false) {
            return None;
        }
        let infinity = self.constant(constant);
        // `c < x` for the greatest c, and `x < c` for the least.
        let is_beyond = is_left != is_negative;
        match op {
            FloatOp::FEq => Some(self.eq(other, infinity)),
            FloatOp::FLt if is_beyond => Some(self.boolean(false)),
            FloatOp::FLe if is_beyond => Some(self.eq(other, infinity)),
            FloatOp::FLe => Some(self.f_is_number(format, other)),
            _ => None,
        }
    }

    /// The operand of a negation.
    fn negated_number(&self, format: Format, e: Expr) -> Option<Expr> {
        let is_negation = self.op(e) == Op::Xor
            && self.const_bits(self.kid(e, 1)).is_some_and(|mask| mask == format.zero(true));
        is_negation.then(|| self.kid(e, 0))
    }

    /// The operands if both are negated; a constant always is.
    fn both_negated(&mut self, format: Format, a: Expr, b: Expr) -> Option<(Expr, Expr)> {
        let found = match (self.negated_number(format, a), self.negated_number(format, b)) {
            (Some(x), Some(y)) => (x, y),
            (Some(x), None) if self.is_const(b) => (x, self.f_neg(format, b)),
            (None, Some(y)) if self.is_const(a) => (self.f_neg(format, a), y),
            _ => return None,
        };
        Some(found)
    }

    /// A number of a smaller format and that format, if a conversion to `format` that is always exact made `e` from it.
    /// A word can be read in another format than it was made in.
    fn widened(&self, format: Format, e: Expr) -> Option<(Expr, Format)> {
        if self.op(e) != Op::FToF {
            return None;
        }
        let FloatParameter { source, format: made, .. } = self.float_parameter(e)?;
        let is_exact = made == format && !source.is_explicit() && source.is_contained_in(format);
        is_exact.then(|| (self.kid(e, 0), source))
    }

    fn compare_widened(&mut self, op: FloatOp, wide: Format, a: Expr, b: Expr) -> Option<Expr> {
        match (self.widened(wide, a), self.widened(wide, b)) {
            (Some((x, from)), Some((y, also_from))) if from == also_from => {
                Some(self.compare_floats(op, from, x, y))
            }
            (Some((x, from)), None) if self.is_const(b) => {
                self.compare_with_wide(op, from, x, wide, b, false)
            }
            (None, Some((y, from))) if self.is_const(a) => self.compare_with_wide(op, from, y, wide, a, true),
            _ => None,
        }
    }

    /// Comparison of a narrow number with a constant of a wide format. The numbers of the narrow format below c are
    /// those below the next one above c.
    fn compare_with_wide(
        &mut self,
        op: FloatOp,
        narrow: Format,
        x: Expr,
        wide: Format,
        constant: Expr,
        constant_is_left: bool,
    ) -> Option<Expr> {
        let mut rounded = |rounding: Rounding| self.f_to_f(wide, narrow, rounding, constant);
        let (above, below) = (rounded(Rounding::TowardPositive), rounded(Rounding::TowardNegative));
        let c = match (op, constant_is_left) {
            (FloatOp::FEq, _) if above != below => return Some(self.boolean(false)),
            (FloatOp::FEq, _) => above,
            (FloatOp::FLt, false) | (FloatOp::FLe, true) => above,
            _ => below,
        };
        let (a, b) = if constant_is_left { (c, x) } else { (x, c) };
        Some(self.compare_floats(op, narrow, a, b))
    }

    /// The integer of a number that was converted from it to `format` without rounding.
    fn exact_integer(&self, format: Format, e: Expr) -> Option<Integer> {
        let signed = match self.op(e) {
            Op::FFromSInt => true,
            Op::FFromUInt => false,
            _ => return None,
        };
        if self.float_parameter(e)?.format != format {
            return None;
        }
        let word = self.kid(e, 0);
        let width = self.width(word);
        let magnitude = width - u32::from(signed);
        let is_exact = magnitude <= format.significand() && i64::from(width) <= format.bias() + 1;
        is_exact.then_some(Integer { word, signed, width })
    }

    fn extended(&mut self, integer: &Integer, width: u32) -> Expr {
        if integer.signed { self.sext(integer.word, width) } else { self.zext(integer.word, width) }
    }

    fn compare_signed(&mut self, op: FloatOp, a: Expr, b: Expr) -> Expr {
        match op {
            FloatOp::FLt => self.slt(a, b),
            FloatOp::FLe => self.sle(a, b),
            _ => self.eq(a, b),
        }
    }

    fn compare_integers(&mut self, op: FloatOp, format: Format, a: Expr, b: Expr) -> Option<Expr> {
        match (self.exact_integer(format, a), self.exact_integer(format, b)) {
            (Some(x), Some(y)) => {
                let width = x.signed_width().max(y.signed_width());
                let (x, y) = (self.extended(&x, width), self.extended(&y, width));
                Some(self.compare_signed(op, x, y))
            }
            (Some(x), None) if self.is_const(b) => self.compare_integer(op, format, &x, b, false),
            (None, Some(y)) if self.is_const(a) => self.compare_integer(op, format, &y, a, true),
            _ => None,
        }
    }

    /// Comparison of an integer with a constant number that is not NaN: with the next integer.
    fn compare_integer(
        &mut self,
        op: FloatOp,
        format: Format,
        integer: &Integer,
        constant: Expr,
        constant_is_left: bool,
    ) -> Option<Expr> {
        // One more bit than the integer has, so that a constant outside is outside of its range.
        let width = integer.signed_width() + 1;
        let mut rounded = |rounding: Rounding| self.f_to_sint(format, rounding, width, constant);
        let (above, below) = (rounded(Rounding::TowardPositive), rounded(Rounding::TowardNegative));
        let least = self.word_of_least(width);
        if above == least || below == least {
            // Beyond all integers of the width, or the least one itself.
            let is_negative = self.const_bits(constant)?.bit(format.width() - 1);
            // Is the left operand the lesser one?
            let is_less = is_negative == constant_is_left;
            return Some(self.boolean(is_less && op != FloatOp::FEq));
        }
        let c = match (op, constant_is_left) {
            (FloatOp::FEq, _) if above != below => return Some(self.boolean(false)),
            (FloatOp::FEq, _) => above,
            (FloatOp::FLt, false) | (FloatOp::FLe, true) => above,
            _ => below,
        };
        let x = self.extended(integer, width);
        let (a, b) = if constant_is_left { (c, x) } else { (x, c) };
        Some(self.compare_signed(op, a, b))
    }

    /// The least signed integer.
    fn word_of_least(&mut self, width: u32) -> Expr {
        let one = crate::expr::Bits::word(width, 1);
        self.constant(one.shl(u64::from(width) - 1))
    }

    /// Sums and products with their operands in one order, if one of them has another: `x op y` and `y op x` differ in
    /// the bits of NaN only.
    fn with_ordered_operands(&mut self, format: Format, a: Expr, b: Expr) -> Option<(Expr, Expr)> {
        let is_turned = |g: &Graph, e: Expr| {
            matches!(g.op(e), Op::FAdd | Op::FMul | Op::FMulAdd)
                && g.float_parameter(e).is_some_and(|parameter| parameter.format == format)
                && g.swaps(g.kid(e, 0), g.kid(e, 1))
        };
        if !is_turned(self, a) && !is_turned(self, b) {
            return None;
        }
        let mut ordered = |e: Expr| {
            if !is_turned(self, e) {
                return e;
            }
            let mut kids = self.kids(e);
            kids.swap(0, 1);
            self.rebuild(e, &kids)
        };
        Some((ordered(a), ordered(b)))
    }

    fn compare_float_ite(
        &mut self,
        op: FloatOp,
        format: Format,
        ite: Expr,
        constant: Expr,
        swapped: bool,
    ) -> Option<Expr> {
        if self.op(ite) != Op::Ite || !self.is_const(constant) {
            return None;
        }
        let (p, x, y) = (self.kid(ite, 0), self.kid(ite, 1), self.kid(ite, 2));
        if !self.is_const(x) && !self.is_const(y) {
            return None;
        }
        let mut compared = |e: Expr| {
            let (a, b) = if swapped { (constant, e) } else { (e, constant) };
            self.compare_floats(op, format, a, b)
        };
        let (then, otherwise) = (compared(x), compared(y));
        Some(self.ite(p, then, otherwise))
    }

    /// Whether a number is the result of an operation of its format, which is never a signalling NaN.
    fn is_computed(&self, format: Format, e: Expr) -> bool {
        if self.float_parameter(e).is_none_or(|parameter| parameter.format != format) {
            return false;
        }
        match self.op(e).family() {
            crate::expr::Family::Float(op) => {
                op.is_arithmetic() || matches!(op, FloatOp::FToF | FloatOp::FFromSInt | FloatOp::FFromUInt)
            }
            _ => false,
        }
    }

    /// A conversion of a number that was converted exactly before.
    fn rewrite_twice_converted(&mut self, parameter: FloatParameter, e: Expr) -> Option<Expr> {
        let FloatParameter { source, format, rounding } = parameter;
        let (x, from) = self.widened(source, e)?;
        if source.is_explicit() || format.is_explicit() {
            return None;
        }
        let converted = if from != format {
            self.f_to_f(from, format, rounding, x)
        } else if self.is_computed(format, x) {
            x
        } else {
            return None;
        };
        self.fire(Rule::FloatConverted, converted)
    }

    /// An operation on numbers of a narrow format that is computed in a wide one and rounded to the narrow one.
    fn rewrite_narrowed(&mut self, parameter: FloatParameter, e: Expr) -> Option<Expr> {
        let FloatParameter { source: wide, format: narrow, rounding } = parameter;
        let crate::expr::Family::Float(op) = self.op(e).family() else { return None };
        let is_innocuous = !wide.is_explicit()
            && !narrow.is_explicit()
            && wide.significand() >= 2 * narrow.significand() + 2
            && wide.exponent() >= narrow.exponent() + 2;
        let made = self.float_parameter(e)?;
        if !is_innocuous || made.rounding != rounding || made.format != wide {
            return None;
        }
        let result = match op {
            FloatOp::FAdd => {
                let (a, b) = (self.kid(e, 0), self.kid(e, 1));
                let x = self.narrow_operand(narrow, wide, a)?;
                match self.subtrahend(wide, b) {
                    Some(b) => {
                        let y = self.narrow_operand(narrow, wide, b)?;
                        self.f_sub(narrow, rounding, x, y)
                    }
                    None => {
                        let y = self.narrow_operand(narrow, wide, b)?;
                        self.f_add(narrow, rounding, x, y)
                    }
                }
            }
            FloatOp::FMul | FloatOp::FDiv => {
                let (a, b) = (self.kid(e, 0), self.kid(e, 1));
                let (x, y) = (self.narrow_operand(narrow, wide, a)?, self.narrow_operand(narrow, wide, b)?);
                self.float(op, FloatParameter::new(narrow, rounding), 0, &[x, y])
            }
            FloatOp::FSqrt => {
                let x = self.narrow_operand(narrow, wide, self.kid(e, 0))?;
                self.f_sqrt(narrow, rounding, x)
            }
            _ => return None,
        };
        self.fire(Rule::FloatNarrowed, result)
    }

    /// The number of the narrow format that was converted to `e`: an operand, its negation or a constant.
    fn narrow_operand(&mut self, narrow: Format, wide: Format, e: Expr) -> Option<Expr> {
        if let Some((x, from)) = self.widened(wide, e) {
            return (from == narrow).then_some(x);
        }
        if let Some(x) = self.negated_number(wide, e) {
            let (x, from) = self.widened(wide, x)?;
            return (from == narrow).then(|| self.f_neg(narrow, x));
        }
        if wide.is_nan(&self.const_bits(e)?) {
            return None;
        }
        let x = self.f_to_f(wide, narrow, Rounding::TowardZero, e);
        (self.f_to_f(narrow, wide, Rounding::TowardZero, x) == e).then_some(x)
    }

    /// The number that is subtracted, if a summand is its negation as `f_sub` builds it.
    fn subtrahend(&mut self, format: Format, e: Expr) -> Option<Expr> {
        if self.op(e) != Op::Ite {
            return None;
        }
        let (is_nan, x, minus) = (self.kid(e, 0), self.kid(e, 1), self.kid(e, 2));
        (self.negated_number(format, minus) == Some(x) && self.f_is_nan(format, x) == is_nan).then_some(x)
    }

    fn is_integral(&self, format: Format, e: Expr) -> bool {
        // Otherwise numbers below the greatest power of two have fractions, and rounding can leave the format.
        let has_integers = format.bias() >= i64::from(format.significand()) - 1;
        if !has_integers {
            return false;
        }
        // A symbolic rounding mode is a choice among the modes.
        let mut open = vec![e];
        for _ in 0..MAX_ARMS {
            let Some(e) = open.pop() else { return true };
            let is_rounded = self.op(e) == Op::FRound
                && self.float_parameter(e).is_some_and(|parameter| parameter.format == format);
            if is_rounded || self.exact_integer(format, e).is_some() {
                continue;
            }
            if self.op(e) != Op::Ite {
                return false;
            }
            open.extend([self.kid(e, 1), self.kid(e, 2)]);
        }
        open.is_empty()
    }

    /// A conversion to an integer of what was an integer that fits.
    fn rewrite_to_integer(&mut self, op: FloatOp, format: Format, width: u32, e: Expr) -> Option<Expr> {
        let integer = self.exact_integer(format, e)?;
        let fits = if op == FloatOp::FToSInt {
            integer.signed_width() <= width
        } else {
            !integer.signed && integer.width <= width
        };
        if !fits {
            return None;
        }
        let e = self.extended(&integer, width);
        self.fire(Rule::FloatToInteger, e)
    }
}
