//! Rules for `Add`, `Sub`, `Mul` and the divisions.

use super::Rule;
use crate::expr::{Expr, Graph, Op};
use smallvec::SmallVec;

/// Most nodes of a sum that the `SubAdd` rule searches for the subtrahend.
const MAX_SUMMANDS: usize = 64;

impl Graph {
    pub(super) fn rewrite_add(&mut self, a: Expr, b: Expr) -> Option<Expr> {
        if self.is_zero(b) {
            return self.fire(Rule::AddZero, a);
        }
        let ((x, c), (y, d)) = (self.split_sum(a), self.split_sum(b));
        if self.is_const(b) {
            if let Some(c) = c {
                let sum = self.add(c, b);
                let e = self.add(x, sum);
                return self.fire(Rule::AddConstants, e);
            }
            if self.op(a) == Op::Sub && self.is_const(self.kid(a, 0)) {
                let sum = self.add(self.kid(a, 0), b);
                let e = self.sub(sum, self.kid(a, 1));
                return self.fire(Rule::AddConstants, e);
            }
        } else if c.is_some() || d.is_some() {
            let rest = self.add(x, y);
            let zero = self.word(self.width(a), 0);
            let constant = self.add(c.unwrap_or(zero), d.unwrap_or(zero));
            let e = self.add(rest, constant);
            return self.fire(Rule::AddHoist, e);
        }
        if a == b {
            let one = self.word(self.width(a), 1);
            let e = self.shl(a, one);
            return self.fire(Rule::AddSelf, e);
        }
        for (x, y) in [(a, b), (b, a)] {
            if self.op(y) == Op::Sub {
                let (from, what) = (self.kid(y, 0), self.kid(y, 1));
                if what == x {
                    return self.fire(Rule::AddSub, from);
                }
                if self.is_zero(from) {
                    let e = self.sub(x, what);
                    return self.fire(Rule::AddNegated, e);
                }
            }
        }
        self.rewrite_disjoint(a, b)
    }

    pub(super) fn rewrite_sub(&mut self, a: Expr, b: Expr) -> Option<Expr> {
        if a == b {
            let zero = self.word(self.width(a), 0);
            return self.fire(Rule::SubSelf, zero);
        }
        if self.is_zero(b) {
            return self.fire(Rule::AddZero, a);
        }
        if self.is_const(b) {
            let negated = self.neg(b);
            let e = self.add(a, negated);
            return self.fire(Rule::SubConstant, e);
        }
        if self.op(b) == Op::Sub {
            let (x, y) = (self.kid(b, 0), self.kid(b, 1));
            if self.is_zero(x) {
                let e = self.add(a, y);
                return self.fire(Rule::SubNegated, e);
            }
            if self.is_zero(a) {
                let e = self.sub(y, x);
                return self.fire(Rule::SubSub, e);
            }
            if a == x {
                return self.fire(Rule::SubSub, y);
            }
            if self.is_const(a) && self.is_const(x) {
                let difference = self.sub(a, x);
                let e = self.add(y, difference);
                return self.fire(Rule::SubSub, e);
            }
        }
        if let Some(e) = self.remove_summand(a, b) {
            return self.fire(Rule::SubAdd, e);
        }
        if self.op(b) == Op::Add && (self.kid(b, 0) == a || self.kid(b, 1) == a) {
            let other = if self.kid(b, 0) == a { self.kid(b, 1) } else { self.kid(b, 0) };
            let e = self.neg(other);
            return self.fire(Rule::SubAdd, e);
        }
        let ((x, c), (y, d)) = (self.split_sum(a), self.split_sum(b));
        if c.is_some() || d.is_some() {
            let zero = self.word(self.width(a), 0);
            let constant = self.sub(c.unwrap_or(zero), d.unwrap_or(zero));
            let rest = self.sub(x, y);
            let e = self.add(rest, constant);
            return self.fire(Rule::SubHoist, e);
        }
        None
    }

    /// Returns the sum `a` without its summand `b`, searching at most `MAX_SUMMANDS` nodes. So a running
    /// total from which its parts are subtracted again, in any order, returns to its initial value.
    fn remove_summand(&mut self, a: Expr, b: Expr) -> Option<Expr> {
        // Each summand with the position in this list of the sum that contains it, and the other operand of
        // that sum.
        let mut seen: SmallVec<[(Expr, usize, Expr); MAX_SUMMANDS]> = SmallVec::new();
        seen.push((a, 0, a));
        let mut next = 0;
        while next < seen.len() {
            let (e, _, _) = seen[next];
            if e == b {
                let (_, mut at, mut rest) = seen[next];
                while at != 0 {
                    let (_, above, beside) = seen[at];
                    rest = self.add(rest, beside);
                    at = above;
                }
                return Some(rest);
            }
            if self.op(e) == Op::Add && seen.len() + 2 <= MAX_SUMMANDS {
                let (x, y) = (self.kid(e, 0), self.kid(e, 1));
                seen.push((x, next, y));
                seen.push((y, next, x));
            }
            next += 1;
        }
        None
    }

    /// Returns `k` for the constant `2^k`.
    fn power_of_two(&self, e: Expr) -> Option<u32> {
        let bits = self.const_bits(e)?;
        let mut set = (0..bits.width()).filter(|&i| bits.bit(i));
        match (set.next(), set.next()) {
            (Some(k), None) => Some(k),
            _ => None,
        }
    }

    pub(super) fn rewrite_mul(&mut self, a: Expr, b: Expr) -> Option<Expr> {
        if !self.is_const(b) {
            return self
                .rewrite_negated_factors(a, b)
                .or_else(|| self.rewrite_chosen_factor(a, b))
                .or_else(|| self.rewrite_shifted_factor(a, b));
        }
        if self.is_zero(b) {
            return self.fire(Rule::MulZero, b);
        }
        if self.const_bits(b).is_some_and(|bits| bits.to_u64() == Some(1)) {
            return self.fire(Rule::MulOne, a);
        }
        if self.is_ones(b) {
            let e = self.neg(a);
            return self.fire(Rule::MulOne, e);
        }
        if let Some(k) = self.power_of_two(b) {
            let amount = self.word(self.width(a), k.into());
            let e = self.shl(a, amount);
            return self.fire(Rule::MulPower, e);
        }
        if matches!(self.op(a), Op::Mul | Op::Shl) && self.is_const(self.kid(a, 1)) {
            let (x, c) = (self.kid(a, 0), self.kid(a, 1));
            let factor = if self.op(a) == Op::Mul { self.mul(c, b) } else { self.shl(b, c) };
            let e = self.mul(x, factor);
            return self.fire(Rule::MulConstants, e);
        }
        if let Some(x) = self.negated(a) {
            let factor = self.neg(b);
            let e = self.mul(x, factor);
            return self.fire(Rule::MulNegated, e);
        }
        None
    }

    /// Returns `x` of `0 - x`.
    fn negated(&self, e: Expr) -> Option<Expr> {
        (self.op(e) == Op::Sub && self.is_zero(self.kid(e, 0))).then(|| self.kid(e, 1))
    }

    /// Returns `j` and `y` of `2^j << y`.
    fn shifted_bit(&self, e: Expr) -> Option<(u32, Expr)> {
        if self.op(e) != Op::Shl {
            return None;
        }
        Some((self.power_of_two(self.kid(e, 0))?, self.kid(e, 1)))
    }

    fn rewrite_shifted_factor(&mut self, a: Expr, b: Expr) -> Option<Expr> {
        let (x, (j, amount)) = match self.shifted_bit(b) {
            Some(shifted) => (a, shifted),
            None => (b, self.shifted_bit(a)?),
        };
        let j = self.word(self.width(a), j.into());
        let multiple = self.shl(x, j);
        let e = self.shl(multiple, amount);
        self.fire(Rule::MulShifted, e)
    }

    /// A product with a factor that is only 0, 1 or -1 is a choice.
    fn rewrite_chosen_factor(&mut self, a: Expr, b: Expr) -> Option<Expr> {
        let (x, (p, c, d)) = match self.choice_of_units(b) {
            Some(choice) => (a, choice),
            None => (b, self.choice_of_units(a)?),
        };
        let (then, other) = (self.mul(x, c), self.mul(x, d));
        let e = self.ite(p, then, other);
        self.fire(Rule::MulChoice, e)
    }

    /// Returns `p`, `c` and `d` if `e` is `ite(p, c, d)` or an extended bit, with `c` and `d` among 0, 1 and -1.
    fn choice_of_units(&mut self, e: Expr) -> Option<(Expr, Expr, Expr)> {
        if let Some((p, c, d)) = self.constant_ite(e) {
            let is_unit = |c: Expr| {
                let bits = self.const_bits(c).expect("a constant");
                bits.is_ones() || bits.to_u64().is_some_and(|value| value <= 1)
            };
            return (is_unit(c) && is_unit(d)).then_some((p, c, d));
        }
        if !matches!(self.op(e), Op::ZExt | Op::SExt) || self.width(self.kid(e, 0)) != 1 {
            return None;
        }
        let (bit, one) = (self.kid(e, 0), self.word(1, 1));
        let (zero, unit) = (self.zero_like(e), self.word(self.width(e), 1));
        let chosen = if self.op(e) == Op::ZExt { unit } else { self.ones_like(e) };
        Some((self.eq(bit, one), chosen, zero))
    }

    fn rewrite_negated_factors(&mut self, a: Expr, b: Expr) -> Option<Expr> {
        let e = match (self.negated(a), self.negated(b)) {
            (None, None) => return None,
            (Some(x), Some(y)) => self.mul(x, y),
            (Some(x), None) => {
                let product = self.mul(x, b);
                self.neg(product)
            }
            (None, Some(y)) => {
                let product = self.mul(a, y);
                self.neg(product)
            }
        };
        self.fire(Rule::MulNegated, e)
    }

    /// Divides the arms of two choices by one condition if the dividend is the divisor in one of them.
    fn divide_arms(&mut self, op: Op, a: Expr, b: Expr) -> Option<Expr> {
        let are_negated = self.op(a) == Op::Not && self.op(b) == Op::Not;
        let (a, b) = if are_negated { (self.kid(a, 0), self.kid(b, 0)) } else { (a, b) };
        if self.op(a) != Op::Ite || self.op(b) != Op::Ite || self.kid(a, 0) != self.kid(b, 0) {
            return None;
        }
        if self.kid(a, 1) != self.kid(b, 1) && self.kid(a, 2) != self.kid(b, 2) {
            return None;
        }
        let [then, other] = [1, 2].map(|arm| {
            let operands = [self.kid(a, arm), self.kid(b, arm)];
            let [x, y] = if are_negated { operands.map(|e| self.not(e)) } else { operands };
            self.operator2(op, x, y)
        });
        Some(self.ite(self.kid(a, 0), then, other))
    }

    pub(super) fn rewrite_division(&mut self, op: Op, a: Expr, b: Expr) -> Option<Expr> {
        let width = self.width(a);
        let quotient = matches!(op, Op::UDiv | Op::SDiv);
        if self.is_zero(b) {
            let e = match op {
                Op::UDiv => self.ones_like(a),
                Op::SDiv => {
                    let (one, ones) = (self.word(width, 1), self.ones_like(a));
                    let zero = self.word(width, 0);
                    let negative = self.slt(a, zero);
                    self.ite(negative, one, ones)
                }
                _ => a,
            };
            return self.fire(Rule::DivZero, e);
        }
        let is_same = a == b;
        if is_same || self.is_zero(a) {
            let mut e = self.word(width, u64::from(is_same && quotient));
            if quotient {
                let (zero, by_zero) = (self.word(width, 0), self.ones_like(b));
                let is_zero = self.eq(b, zero);
                e = self.ite(is_zero, by_zero, e);
            }
            return self.fire(if is_same { Rule::DivSelf } else { Rule::ZeroDivided }, e);
        }
        // At width 1 the signed constant 1 is -1: only unsigned division by it is the identity.
        let signed = op.is_signed();
        if self.const_bits(b).is_some_and(|bits| bits.to_u64() == Some(1)) && !(signed && width == 1) {
            let e = if quotient { a } else { self.word(width, 0) };
            return self.fire(Rule::DivOne, e);
        }
        if let Some(e) = self.divide_arms(op, a, b) {
            return self.fire(Rule::DivIte, e);
        }
        if signed {
            if self.is_nonnegative(a) && self.is_nonnegative(b) {
                let unsigned = if quotient { Op::UDiv } else { Op::URem };
                let e = self.operator2(unsigned, a, b);
                return self.fire(Rule::DivUnsigned, e);
            }
            return None;
        }
        if let Some(k) = self.power_of_two(b) {
            let part = if quotient { self.extract(a, k, width - k) } else { self.extract(a, 0, k) };
            let e = self.zext(part, width);
            return self.fire(Rule::DivPower, e);
        }
        if let Some((j, amount)) = self.shifted_bit(b) {
            let e = if quotient {
                let (limit, j) = (self.word(width, (width - j).into()), self.word(width, j.into()));
                let (is_bit, total) = (self.ult(amount, limit), self.add(amount, j));
                let (shifted, by_zero) = (self.lshr(a, total), self.ones_like(a));
                self.ite(is_bit, shifted, by_zero)
            } else {
                let one = self.word(width, 1);
                let mask = self.sub(b, one);
                self.and(a, mask)
            };
            return self.fire(Rule::DivShifted, e);
        }
        if self.op(a) == Op::ZExt && self.is_const(b) {
            let x = self.kid(a, 0);
            let inner = self.width(x);
            let divisor = self.const_bits(b).expect("a constant");
            let e = if divisor.lshr(inner.into()).is_zero() {
                let divisor = self.constant(divisor.extract(0, inner));
                let narrow = self.operator2(op, x, divisor);
                self.zext(narrow, width)
            } else if quotient {
                self.word(width, 0)
            } else {
                a
            };
            return self.fire(Rule::DivNarrow, e);
        }
        None
    }
}
