//! Rules for `Extract`, the extensions, `Concat` and `Ite`.

use super::Rule;
use crate::expr::{Bits, Expr, Graph, Op};

/// Largest width of adjacent reads that are combined: the machine word.
const MAX_READ_WIDTH: u32 = 64;

/// Parts of a concatenation in an arm of an `ite` that are compared with the term of its condition.
const MAX_ARM_PARTS: u32 = 4;

impl Graph {
    pub(super) fn rewrite_extract(&mut self, a: Expr, low: u32, width: u32) -> Option<Expr> {
        let high = low + width;
        match self.op(a) {
            Op::Extract => {
                let e = self.extract(self.kid(a, 0), low + self.extract_low(a), width);
                self.fire(Rule::ExtractExtract, e)
            }
            Op::Concat => {
                let (x, y) = (self.kid(a, 0), self.kid(a, 1));
                let cut = self.width(y);
                let e = if high <= cut {
                    self.extract(y, low, width)
                } else if low >= cut {
                    self.extract(x, low - cut, width)
                } else {
                    let (x, y) = (self.extract(x, 0, high - cut), self.extract(y, low, cut - low));
                    self.concat(x, y)
                };
                self.fire(Rule::ExtractConcat, e)
            }
            op @ (Op::ZExt | Op::SExt) => {
                let x = self.kid(a, 0);
                let inner = self.width(x);
                let e = if high <= inner {
                    self.extract(x, low, width)
                } else if op == Op::ZExt {
                    if low >= inner {
                        self.word(width, 0)
                    } else {
                        let part = self.extract(x, low, inner - low);
                        self.zext(part, width)
                    }
                } else {
                    let from = low.min(inner - 1);
                    let part = self.extract(x, from, inner - from);
                    self.sext(part, width)
                };
                self.fire(Rule::ExtractExtended, e)
            }
            Op::Ite => {
                let (p, c, d) = self.constant_ite(a)?;
                let (c, d) = (self.extract(c, low, width), self.extract(d, low, width));
                let e = self.ite(p, c, d);
                self.fire(Rule::ExtractIte, e)
            }
            Op::Read => {
                let (array, index) = (self.kid(a, 0), self.kid(a, 1));
                let element = self.width(array);
                if !low.is_multiple_of(element) || !width.is_multiple_of(element) {
                    return None;
                }
                let skip = self.word(self.width(index), (low / element).into());
                let index = self.add(index, skip);
                let e = self.read(array, index, width / element);
                self.fire(Rule::ExtractRead, e)
            }
            Op::Not => {
                let x = self.kid(a, 0);
                if !self.is_sliceable(x) {
                    return None;
                }
                let x = self.extract(x, low, width);
                let e = self.not(x);
                self.fire(Rule::ExtractBits, e)
            }
            op @ (Op::And | Op::Or | Op::Xor) => {
                let e = self.extract_both(op, a, low, width)?;
                self.fire(Rule::ExtractBits, e)
            }
            op @ (Op::Add | Op::Sub | Op::Mul) if low == 0 => {
                let e = self.extract_both(op, a, 0, width)?;
                self.fire(Rule::ExtractArith, e)
            }
            Op::Shl => {
                let by = self.const_word(self.kid(a, 1))?.min(self.width(a).into()) as u32;
                let x = self.kid(a, 0);
                let e = if low >= by {
                    self.extract(x, low - by, width)
                } else if high <= by {
                    self.word(width, 0)
                } else {
                    let part = self.extract(x, 0, high - by);
                    let zeros = self.word(by - low, 0);
                    self.concat(part, zeros)
                };
                self.fire(Rule::ExtractShl, e)
            }
            _ => None,
        }
    }

    /// Returns whether an extract of `e` is no larger than `e`.
    fn is_sliceable(&self, e: Expr) -> bool {
        matches!(self.op(e), Op::Const | Op::ZExt | Op::SExt | Op::Concat | Op::Extract)
    }

    fn extract_both(&mut self, op: Op, a: Expr, low: u32, width: u32) -> Option<Expr> {
        let (x, y) = (self.kid(a, 0), self.kid(a, 1));
        if !self.is_sliceable(x) || !self.is_sliceable(y) {
            return None;
        }
        let (x, y) = (self.extract(x, low, width), self.extract(y, low, width));
        Some(self.operator2(op, x, y))
    }

    pub(super) fn rewrite_extend(&mut self, op: Op, a: Expr, width: u32) -> Option<Expr> {
        match self.op(a) {
            Op::ZExt => {
                let e = self.zext(self.kid(a, 0), width);
                return self.fire(Rule::ExtendExtended, e);
            }
            Op::SExt if op == Op::SExt => {
                let e = self.sext(self.kid(a, 0), width);
                return self.fire(Rule::ExtendExtended, e);
            }
            Op::Ite => {
                let (p, c, d) = self.constant_ite(a)?;
                let (c, d) = match op {
                    Op::ZExt => (self.zext(c, width), self.zext(d, width)),
                    _ => (self.sext(c, width), self.sext(d, width)),
                };
                let e = self.ite(p, c, d);
                return self.fire(Rule::ExtendIte, e);
            }
            _ => {}
        }
        if op == Op::SExt && self.is_nonnegative(a) {
            let e = self.zext(a, width);
            return self.fire(Rule::SignExtendNonnegative, e);
        }
        None
    }

    pub(super) fn rewrite_concat(&mut self, a: Expr, b: Expr) -> Option<Expr> {
        let width = self.width(a) + self.width(b);
        if self.is_zero(a) {
            let e = self.zext(b, width);
            return self.fire(Rule::ConcatZero, e);
        }
        if self.op(a) == Op::ZExt {
            let joined = self.concat(self.kid(a, 0), b);
            let e = self.zext(joined, width);
            return self.fire(Rule::ConcatExtended, e);
        }
        if self.op(a) == Op::Concat {
            let (x, y) = (self.kid(a, 0), self.kid(a, 1));
            let low = self.concat(y, b);
            let e = self.concat(x, low);
            return self.fire(Rule::ConcatNest, e);
        }
        if let Some((rule, joined)) = self.joined(a, b) {
            return self.fire(rule, joined);
        }
        let sign = if self.op(a) == Op::SExt { self.kid(a, 0) } else { a };
        if self.width(sign) == 1 && !self.is_const(sign) && sign == self.extract(b, self.width(b) - 1, 1) {
            let e = self.sext(b, width);
            return self.fire(Rule::ConcatSign, e);
        }
        if self.op(b) == Op::Concat {
            let (x, y) = (self.kid(b, 0), self.kid(b, 1));
            if self.is_const(a) && self.is_const(x) {
                let constant = self.concat(a, x);
                let e = self.concat(constant, y);
                return self.fire(Rule::ConcatConstants, e);
            }
            if let Some((rule, joined)) = self.joined(a, x) {
                let e = self.concat(joined, y);
                return self.fire(rule, e);
            }
        }
        None
    }

    /// Returns the concatenation of `a` and `b` as one simpler expression.
    fn joined(&mut self, a: Expr, b: Expr) -> Option<(Rule, Expr)> {
        match (self.op(a), self.op(b)) {
            (Op::Extract, Op::Extract) => {
                let word = self.kid(a, 0);
                let (high, low) = (self.extract_low(a), self.extract_low(b));
                if word != self.kid(b, 0) || high != low + self.width(b) {
                    return None;
                }
                let e = self.extract(word, low, self.width(a) + self.width(b));
                Some((Rule::ConcatAdjacent, e))
            }
            (Op::Read, Op::Read) => {
                let (array, index) = (self.kid(a, 0), self.kid(b, 1));
                let width = self.width(a) + self.width(b);
                if array != self.kid(b, 0) || width > MAX_READ_WIDTH || !self.reads_words(array, index) {
                    return None;
                }
                let skip = self.word(self.width(index), self.read_count(b).into());
                if self.add(index, skip) != self.kid(a, 1) {
                    return None;
                }
                let e = self.read(array, index, width / self.width(array));
                Some((Rule::ConcatReads, e))
            }
            _ => None,
        }
    }

    pub(in crate::expr) fn rewrite_ite(&mut self, p: Expr, a: Expr, b: Expr) -> Option<Expr> {
        if a == b {
            return self.fire(Rule::IteSame, a);
        }
        if self.op(p) == Op::Not {
            let e = self.ite(self.kid(p, 0), b, a);
            return self.fire(Rule::IteNot, e);
        }
        if self.is_bool(a) {
            let e = match (self.const_word(a), self.const_word(b)) {
                (Some(1), Some(_)) => Some(p),
                (Some(_), Some(_)) => Some(self.not(p)),
                (Some(1), None) => Some(self.or(p, b)),
                (Some(_), None) => {
                    let not_p = self.not(p);
                    Some(self.and(not_p, b))
                }
                (None, Some(1)) => {
                    let not_p = self.not(p);
                    Some(self.or(not_p, a))
                }
                (None, Some(_)) => Some(self.and(p, a)),
                (None, None) => None,
            };
            if let Some(e) = e {
                return self.fire(Rule::IteBool, e);
            }
            if a == p || b == p {
                let e = if a == p { self.or(p, b) } else { self.and(p, a) };
                return self.fire(Rule::IteCondition, e);
            }
        }
        let nested = |g: &Graph, arm, i| (g.op(arm) == Op::Ite && g.kid(arm, 0) == p).then(|| g.kid(arm, i));
        let (inner_a, inner_b) = (nested(self, a, 1), nested(self, b, 2));
        if inner_a.is_some() || inner_b.is_some() {
            let e = self.ite(p, inner_a.unwrap_or(a), inner_b.unwrap_or(b));
            return self.fire(Rule::IteNested, e);
        }
        if self.op(p) != Op::Eq || !self.is_const(self.kid(p, 1)) || self.is_array(a) {
            return None;
        }
        self.rewrite_ite_of_value(p, a, b)
    }

    /// Rewrites `ite(x = c, a, b)`.
    fn rewrite_ite_of_value(&mut self, p: Expr, a: Expr, b: Expr) -> Option<Expr> {
        let (x, c) = (self.kid(p, 0), self.kid(p, 1));
        let is_bit = self.width(x) == 1 && !self.is_bool(x);
        if is_bit && self.is_zero(c) {
            let one = self.word(1, 1);
            let p = self.eq(x, one);
            let e = self.ite(p, b, a);
            return self.fire(Rule::IteBit, e);
        }
        if is_bit && let (Some(then), Some(otherwise)) = (self.const_bits(a), self.const_bits(b)) {
            let one = Bits::word(self.width(a), 1);
            let complements = (then.not(), otherwise.not(), true);
            for (then, otherwise, is_complement) in [(then, otherwise, false), complements] {
                let (value, bit) = match (then.is_zero(), otherwise.is_zero()) {
                    (false, true) => (then, x),
                    (true, false) => (otherwise, self.not(x)),
                    _ => continue,
                };
                if value == one || value.is_ones() {
                    let extend = if value == one { Graph::zext } else { Graph::sext };
                    let e = extend(self, bit, value.width());
                    let e = if is_complement { self.not(e) } else { e };
                    return self.fire(Rule::IteBit, e);
                }
            }
        }
        let then = self.with_value(a, x, c, MAX_ARM_PARTS);
        let otherwise = if is_bit {
            let opposite = self.word(1, 0);
            self.with_value(b, x, opposite, MAX_ARM_PARTS)
        } else {
            b
        };
        if (then, otherwise) == (a, b) {
            return None;
        }
        let e = self.ite(p, then, otherwise);
        self.fire(Rule::IteArm, e)
    }

    /// Returns `e` with `x` replaced by `c` where `e` is `x`, an extension of it, or has it among its first
    /// concatenated parts.
    fn with_value(&mut self, e: Expr, x: Expr, c: Expr, parts: u32) -> Expr {
        if e == x {
            return c;
        }
        match self.op(e) {
            op @ (Op::ZExt | Op::SExt) if self.kid(e, 0) == x => {
                if op == Op::ZExt {
                    self.zext(c, self.width(e))
                } else {
                    self.sext(c, self.width(e))
                }
            }
            Op::Concat if parts > 0 => {
                let (high, low) = (self.kid(e, 0), self.kid(e, 1));
                let new = (self.with_value(high, x, c, 0), self.with_value(low, x, c, parts - 1));
                if new == (high, low) { e } else { self.concat(new.0, new.1) }
            }
            _ => e,
        }
    }
}
