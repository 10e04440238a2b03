//! Rules for equality and order. A constant is on the right of `=` and `<` and on the left of `<=`, so each
//! comparison with a constant has one form, and its negation the other.

use super::Rule;
use crate::expr::{Bits, Expr, Graph, Op};

impl Graph {
    pub(super) fn rewrite_eq(&mut self, a: Expr, b: Expr) -> Option<Expr> {
        if a == b {
            let yes = self.boolean(true);
            return self.fire(Rule::EqSame, yes);
        }
        if self.is_array(a) {
            return None;
        }
        if self.is_bool(a) && self.is_const(b) {
            let e = if self.is_true(b) { a } else { self.not(a) };
            return self.fire(Rule::EqTruth, e);
        }
        if self.are_complements(a, b) {
            let no = self.boolean(false);
            return self.fire(Rule::EqOpposite, no);
        }
        if self.op(a) == Op::Not && self.op(b) == Op::Not {
            let e = self.eq(self.kid(a, 0), self.kid(b, 0));
            return self.fire(Rule::EqBothNot, e);
        }
        if let Some((x, y)) = self.without_common_summand(a, b).or_else(|| self.without_common_summand(b, a))
        {
            let zero = self.word(self.width(a), 0);
            let e = self.eq(x, y.unwrap_or(zero));
            return self.fire(Rule::EqAddSame, e);
        }
        if self.is_const(b) { self.rewrite_eq_constant(a, b) } else { self.rewrite_eq_parts(a, b) }
    }

    /// Removes a common summand from both sides of `a = b`; `None` is zero.
    fn without_common_summand(&self, a: Expr, b: Expr) -> Option<(Expr, Option<Expr>)> {
        if self.op(a) != Op::Add {
            return None;
        }
        for i in 0..2 {
            let (x, y) = (self.kid(a, i), self.kid(a, 1 - i));
            if x == b {
                return Some((y, None));
            }
            if self.op(b) == Op::Add {
                for j in 0..2 {
                    if self.kid(b, j) == x {
                        return Some((y, Some(self.kid(b, 1 - j))));
                    }
                }
            }
        }
        None
    }

    fn rewrite_eq_constant(&mut self, a: Expr, c: Expr) -> Option<Expr> {
        let width = self.width(a);
        match self.op(a) {
            Op::Ite => {
                let e = self.decide_ite(Op::Eq, a, c, false)?;
                self.fire(Rule::EqIte, e)
            }
            Op::Not => {
                let flipped = self.not(c);
                let e = self.eq(self.kid(a, 0), flipped);
                self.fire(Rule::EqNot, e)
            }
            Op::Xor => {
                let (x, y) = (self.kid(a, 0), self.kid(a, 1));
                let e = if self.is_const(y) {
                    let other = self.xor(y, c);
                    self.eq(x, other)
                } else if self.is_zero(c) {
                    self.eq(x, y)
                } else {
                    return None;
                };
                self.fire(Rule::EqXor, e)
            }
            Op::Add => {
                let (x, Some(d)) = self.split_sum(a) else { return None };
                let difference = self.sub(c, d);
                let e = self.eq(x, difference);
                self.fire(Rule::EqAdd, e)
            }
            Op::Sub => {
                let (x, y) = (self.kid(a, 0), self.kid(a, 1));
                let e = if self.is_const(x) {
                    let difference = self.sub(x, c);
                    self.eq(y, difference)
                } else if self.is_zero(c) {
                    self.eq(x, y)
                } else {
                    return None;
                };
                self.fire(Rule::EqSub, e)
            }
            Op::Mul => {
                let factor = self.const_bits(self.kid(a, 1))?;
                if !factor.bit(0) {
                    return None;
                }
                let value = self.const_bits(c).expect("a constant").mul(&factor.inverse_of_odd());
                let value = self.constant(value);
                let e = self.eq(self.kid(a, 0), value);
                self.fire(Rule::EqMulOdd, e)
            }
            Op::Shl => {
                let k = self.const_bits(self.kid(a, 1))?.to_u64().filter(|k| (1..width.into()).contains(k))?
                    as u32;
                let value = self.const_bits(c).expect("a constant");
                let e = if value.extract(0, k).is_zero() {
                    let low = self.extract(self.kid(a, 0), 0, width - k);
                    let shifted = self.constant(value.extract(k.into(), width - k));
                    self.eq(low, shifted)
                } else {
                    self.boolean(false)
                };
                self.fire(Rule::EqShl, e)
            }
            op @ (Op::ZExt | Op::SExt) => {
                let x = self.kid(a, 0);
                let value = self.const_bits(c).expect("a constant");
                let low = value.extract(0, self.width(x));
                let back = if op == Op::ZExt { low.zext(width) } else { low.sext(width) };
                let e = if back == value {
                    let low = self.constant(low);
                    self.eq(x, low)
                } else {
                    self.boolean(false)
                };
                self.fire(Rule::EqExtended, e)
            }
            Op::Concat => {
                let (high, low) = (self.kid(a, 0), self.kid(a, 1));
                let value = self.const_bits(c).expect("a constant");
                let cut = self.width(low);
                let (c_high, c_low) = (value.extract(cut.into(), width - cut), value.extract(0, cut));
                let (c_high, c_low) = (self.constant(c_high), self.constant(c_low));
                let (first, second) = (self.eq(high, c_high), self.eq(low, c_low));
                let e = self.and(first, second);
                self.fire(Rule::EqConcat, e)
            }
            Op::Or if self.is_zero(c) => {
                let (first, second) = (self.eq(self.kid(a, 0), c), self.eq(self.kid(a, 1), c));
                let e = self.and(first, second);
                self.fire(Rule::EqOr, e)
            }
            Op::And => {
                let mask = self.const_bits(self.kid(a, 1))?;
                let value = self.const_bits(c).expect("a constant");
                let e = if !value.zip(&mask.not(), |x, y| x & y).is_zero() {
                    self.boolean(false)
                } else {
                    let (low, ones) = run_of_ones(&mask)?;
                    let field = self.extract(self.kid(a, 0), low, ones);
                    let value = self.constant(value.extract(low.into(), ones));
                    self.eq(field, value)
                };
                self.fire(Rule::EqMask, e)
            }
            _ => None,
        }
    }

    fn rewrite_eq_parts(&mut self, a: Expr, b: Expr) -> Option<Expr> {
        match (self.op(a), self.op(b)) {
            (Op::ZExt, Op::ZExt) | (Op::SExt, Op::SExt) => {
                let (x, y) = (self.kid(a, 0), self.kid(b, 0));
                if self.width(x) != self.width(y) {
                    return None;
                }
                let e = self.eq(x, y);
                self.fire(Rule::EqExtended, e)
            }
            (Op::Concat, Op::Concat) => {
                let (a1, a2, b1, b2) = (self.kid(a, 0), self.kid(a, 1), self.kid(b, 0), self.kid(b, 1));
                if self.width(a1) != self.width(b1) {
                    return None;
                }
                let (first, second) = (self.eq(a1, b1), self.eq(a2, b2));
                let e = self.and(first, second);
                self.fire(Rule::EqConcat, e)
            }
            _ => self.rewrite_eq_polynomials(a, b),
        }
    }

    /// Compares an ite with a constant (on the left if `swapped`) if the arms make it simpler: both arms are
    /// constants, or one arm is and the other is a comparison, or an arm of a sum equals the constant exactly
    /// if the condition of the ite holds (a difference that is zero if its operands are equal).
    fn decide_ite(&mut self, op: Op, ite: Expr, constant: Expr, swapped: bool) -> Option<Expr> {
        if self.op(ite) != Op::Ite {
            return None;
        }
        let (p, a, b) = (self.kid(ite, 0), self.kid(ite, 1), self.kid(ite, 2));
        for (arm, other, is_then) in [(a, b, true), (b, a, false)] {
            let may_help =
                self.is_const(arm) || op == Op::Eq && matches!(self.op(arm), Op::Add | Op::Sub | Op::ZExt);
            if !may_help {
                continue;
            }
            let here = self.compared(op, arm, constant, swapped);
            if self.is_const(here) || here == p || self.are_complements(here, p) {
                let there = self.compared(op, other, constant, swapped);
                let (then, otherwise) = if is_then { (here, there) } else { (there, here) };
                return Some(self.ite(p, then, otherwise));
            }
        }
        None
    }

    fn compared(&mut self, op: Op, e: Expr, constant: Expr, swapped: bool) -> Expr {
        if swapped { self.operator2(op, constant, e) } else { self.operator2(op, e, constant) }
    }

    pub(super) fn rewrite_less(&mut self, op: Op, a: Expr, b: Expr) -> Option<Expr> {
        let strict = op.is_strict();
        let signed = op.is_signed();
        if a == b {
            let e = self.boolean(!strict);
            return self.fire(Rule::LessSame, e);
        }
        if signed && self.is_nonnegative(a) && self.is_nonnegative(b) {
            let e = if strict { self.ult(a, b) } else { self.ule(a, b) };
            return self.fire(Rule::LessUnsigned, e);
        }
        for (e, constant, swapped) in [(a, b, false), (b, a, true)] {
            if self.is_const(constant)
                && let Some(decided) = self.decide_ite(op, e, constant, swapped)
            {
                return self.fire(Rule::LessIte, decided);
            }
        }
        if self.is_const(a) || self.is_const(b) {
            return self.rewrite_less_constant(op, a, b);
        }
        if !signed && (self.op(a) == Op::URem || self.op(b) == Op::URem) {
            let e = self.compare_remainder(a, b, strict);
            if let Some(e) = e {
                return self.fire(Rule::LessRem, e);
            }
        }
        let same_extension = self.op(a) == self.op(b) && matches!(self.op(a), Op::ZExt | Op::SExt);
        if same_extension && self.width(self.kid(a, 0)) == self.width(self.kid(b, 0)) {
            let (x, y) = (self.kid(a, 0), self.kid(b, 0));
            // Sign extension preserves the unsigned and the signed order. Zero extension makes both orders
            // unsigned, and a signed comparison was rewritten to that above.
            let e = self.operator2(op, x, y);
            return self.fire(Rule::LessExtended, e);
        }
        None
    }

    /// Decides `x % y < y` and `x < x % y`, or both with `<=` and the other way round. A remainder is at most its
    /// dividend, and below its divisor unless that is zero.
    fn compare_remainder(&mut self, a: Expr, b: Expr, strict: bool) -> Option<Expr> {
        let is_remainder_of =
            |g: &Graph, e: Expr, operand: usize, of: Expr| g.op(e) == Op::URem && g.kid(e, operand) == of;
        if strict && is_remainder_of(self, a, 1, b) || !strict && is_remainder_of(self, b, 1, a) {
            let zero = self.word(self.width(a), 0);
            let divisor = if strict { b } else { a };
            return Some(if strict { self.ne(divisor, zero) } else { self.eq(divisor, zero) });
        }
        if strict && is_remainder_of(self, b, 0, a) || !strict && is_remainder_of(self, a, 0, b) {
            return Some(self.boolean(!strict));
        }
        None
    }

    fn rewrite_less_constant(&mut self, op: Op, a: Expr, b: Expr) -> Option<Expr> {
        let strict = op.is_strict();
        let signed = op.is_signed();
        let width = self.width(a);
        let top = Bits::word(width, 1).shl(u64::from(width) - 1);
        let (least, greatest) =
            if signed { (top.clone(), top.not()) } else { (Bits::zero(width), Bits::ones(width)) };
        let one = Bits::word(width, 1);
        // Normalises to `x < end` (`below`) or `end <= x`.
        let (x, end, below) = match (self.const_bits(b), self.const_bits(a)) {
            (Some(c), _) => {
                if !strict && c == greatest {
                    let e = self.boolean(true);
                    return self.fire(Rule::LessExtreme, e);
                }
                (a, if strict { c } else { c.add(&one) }, true)
            }
            (None, Some(c)) => {
                if strict && c == greatest {
                    let e = self.boolean(false);
                    return self.fire(Rule::LessExtreme, e);
                }
                (b, if strict { c.add(&one) } else { c }, false)
            }
            (None, None) => unreachable!("one side is a constant"),
        };
        if end == least {
            let e = self.boolean(!below);
            return self.fire(Rule::LessExtreme, e);
        }
        // Only one value is below the second smallest, and only one is at least the largest.
        let only = if end == least.add(&one) { Some((least.clone(), below)) } else { None };
        let only = only.or_else(|| (end == greatest).then(|| (greatest.clone(), !below)));
        if let Some((value, equal)) = only {
            let value = self.constant(value);
            let e = if equal { self.eq(x, value) } else { self.ne(x, value) };
            return self.fire(Rule::LessExtreme, e);
        }
        if matches!(self.op(x), Op::ZExt | Op::SExt) {
            let e = self.narrow_comparison(x, &end, below, signed);
            return self.fire(Rule::LessExtended, e);
        }
        if strict != below {
            let end = self.constant(end);
            let e = match (below, signed) {
                (true, false) => self.ult(x, end),
                (true, true) => self.slt(x, end),
                (false, false) => self.ule(end, x),
                (false, true) => self.sle(end, x),
            };
            return self.fire(Rule::LessConstant, e);
        }
        None
    }

    /// Rewrites `x < end` (or its negation, if not `below`) for an extension `x` to a comparison of the
    /// extended word.
    fn narrow_comparison(&mut self, x: Expr, end: &Bits, below: bool, signed: bool) -> Expr {
        let y = self.kid(x, 0);
        let (inner, width) = (self.width(y), self.width(x));
        let sign_extended = self.op(x) == Op::SExt;
        let low = end.extract(0, inner);
        let back = if sign_extended { low.sext(width) } else { low.zext(width) };
        if back != *end {
            // `end` is not a value of the extension. Signed: it is on one side of all values. Unsigned: a
            // zero extension is below it; a sign extension is split at the sign.
            return if signed {
                self.boolean(end.sign() != below)
            } else if !sign_extended {
                self.boolean(below)
            } else {
                let zero = self.word(inner, 0);
                let negative = self.slt(y, zero);
                if below { self.not(negative) } else { negative }
            };
        }
        let end = self.constant(low);
        // A sign extension preserves the unsigned order too.
        let less = if signed && sign_extended { self.slt(y, end) } else { self.ult(y, end) };
        if below { less } else { self.not(less) }
    }
}

/// Returns the lowest bit and the length of a mask that is one run of ones.
fn run_of_ones(mask: &Bits) -> Option<(u32, u32)> {
    let low = (0..mask.width()).find(|&i| mask.bit(i))?;
    let ones = (low..mask.width()).take_while(|&i| mask.bit(i)).count() as u32;
    mask.lshr(u64::from(low + ones)).is_zero().then_some((low, ones))
}
