//! Rules for `Not`, `And`, `Or`, `Xor` on booleans and bit-vectors.

use super::Rule;
use crate::expr::{Expr, Graph, Op, Sort};

/// Most parts of a word that the `Disjoint` rule handles.
const MAX_PARTS: usize = 16;

impl Graph {
    pub(super) fn rewrite_not(&mut self, a: Expr) -> Option<Expr> {
        match self.op(a) {
            Op::Not => {
                let x = self.kid(a, 0);
                self.fire(Rule::NotNot, x)
            }
            op @ (Op::Ult | Op::Ule | Op::Slt | Op::Sle) => {
                let (x, y) = (self.kid(a, 0), self.kid(a, 1));
                let negated = match op {
                    Op::Ult => self.ule(y, x),
                    Op::Ule => self.ult(y, x),
                    Op::Slt => self.sle(y, x),
                    _ => self.slt(y, x),
                };
                self.fire(Rule::NotLess, negated)
            }
            Op::Ite => {
                let (p, c, d) = self.constant_ite(a)?;
                let (c, d) = (self.not(c), self.not(d));
                let e = self.ite(p, c, d);
                self.fire(Rule::NotIte, e)
            }
            _ => None,
        }
    }

    pub(super) fn rewrite_bits(&mut self, op: Op, sort: Sort, a: Expr, b: Expr) -> Option<Expr> {
        if self.is_zero(b) {
            let e = if op == Op::And { b } else { a };
            return self.fire(Rule::BitsZero, e);
        }
        if self.is_ones(b) {
            let e = match op {
                Op::And => a,
                Op::Or => b,
                _ => self.not(a),
            };
            return self.fire(Rule::BitsOnes, e);
        }
        if a == b {
            let e = if op == Op::Xor { self.zero_like(a) } else { a };
            return self.fire(Rule::BitsSame, e);
        }
        if self.are_complements(a, b) {
            let e = if op == Op::And { self.zero_like(a) } else { self.ones_like(a) };
            return self.fire(Rule::BitsOpposite, e);
        }
        if self.is_const(b) && self.op(a) == op && self.is_const(self.kid(a, 1)) {
            let (x, c) = (self.kid(a, 0), self.kid(a, 1));
            let merged = self.operator2(op, c, b);
            let e = self.operator2(op, x, merged);
            return self.fire(Rule::BitsConstants, e);
        }
        if op == Op::Xor {
            if self.op(a) == Op::Not || self.op(b) == Op::Not {
                let inner = |g: &Graph, e| if g.op(e) == Op::Not { (g.kid(e, 0), true) } else { (e, false) };
                let ((x, nx), (y, ny)) = (inner(self, a), inner(self, b));
                let joined = self.xor(x, y);
                let e = if nx != ny { self.not(joined) } else { joined };
                return self.fire(Rule::XorNot, e);
            }
        } else if let Some(e) = self.absorbed(op, a, b).or_else(|| self.absorbed(op, b, a)) {
            return self.fire(Rule::Absorb, e);
        }
        if sort == Sort::Bool {
            return None;
        }
        if let Some(e) = self.rewrite_bits_ite(op, a, b) {
            return self.fire(Rule::BitsIte, e);
        }
        if op == Op::And
            && let Some(e) = self.rewrite_mask(a, b)
        {
            return Some(e);
        }
        if op == Op::And { None } else { self.rewrite_disjoint(a, b) }
    }

    /// `x op (x op y)` is `x op y`; `x op (x dual y)` is `x`.
    fn absorbed(&self, op: Op, x: Expr, other: Expr) -> Option<Expr> {
        let inner = self.op(other);
        if !matches!(inner, Op::And | Op::Or) || (self.kid(other, 0) != x && self.kid(other, 1) != x) {
            return None;
        }
        Some(if inner == op { other } else { x })
    }

    /// Combines conditions that were converted to words (`(x == 0) | (x == 1)` in C).
    fn rewrite_bits_ite(&mut self, op: Op, a: Expr, b: Expr) -> Option<Expr> {
        let (p, c, d) = self.constant_ite(a)?;
        if self.is_const(b) {
            let (c, d) = (self.operator2(op, c, b), self.operator2(op, d, b));
            return Some(self.ite(p, c, d));
        }
        let (q, other_c, other_d) = self.constant_ite(b)?;
        // Either arm may be zero, because `ite(~p, ...)` is rewritten.
        let word = |g: &Graph, c, d| match (g.is_zero(c), g.is_zero(d)) {
            (false, true) => Some((c, true)),
            (true, false) => Some((d, false)),
            _ => None,
        };
        let (value, p_holds) = word(self, c, d)?;
        let (other, q_holds) = word(self, other_c, other_d)?;
        if value != other {
            return None;
        }
        let p = if p_holds { p } else { self.not(p) };
        let q = if q_holds { q } else { self.not(q) };
        let joined = self.operator2(op, p, q);
        let zero = self.zero_like(value);
        Some(self.ite(joined, value, zero))
    }

    fn rewrite_mask(&mut self, a: Expr, mask: Expr) -> Option<Expr> {
        let width = self.width(a);
        let bits = self.const_bits(mask)?;
        let ones = (0..width).take_while(|&i| bits.bit(i)).count() as u32;
        if ones > 0 && bits.lshr(ones.into()).is_zero() {
            let low = self.extract(a, 0, ones);
            let e = self.zext(low, width);
            return self.fire(Rule::MaskLow, e);
        }
        if self.op(a) == Op::ZExt {
            let x = self.kid(a, 0);
            let inner = self.width(x);
            let low = self.constant(bits.extract(0, inner));
            let masked = self.and(x, low);
            let e = self.zext(masked, width);
            return self.fire(Rule::MaskExtended, e);
        }
        None
    }

    /// Rewrites `b[0] | b[1] << 8` and similar: words composed of parts that do not overlap.
    pub(super) fn rewrite_disjoint(&mut self, a: Expr, b: Expr) -> Option<Expr> {
        // Only these have parts that are known to be zero.
        let has_gap = |e| matches!(self.op(e), Op::ZExt | Op::Concat | Op::Shl);
        if !has_gap(a) || !has_gap(b) {
            return None;
        }
        let width = self.width(a);
        let mut parts = Vec::new();
        if !self.parts(a, 0, width, &mut parts) || !self.parts(b, 0, width, &mut parts) {
            return None;
        }
        parts.sort_unstable_by_key(|&(at, _)| at);
        let mut end = 0;
        for &(at, e) in &parts {
            if at < end {
                return None;
            }
            end = at + self.width(e);
        }
        let mut result: Option<Expr> = None;
        let mut top = 0;
        for (at, e) in parts {
            if at > top {
                let gap = self.word(at - top, 0);
                result = Some(result.map_or(gap, |low| self.concat(gap, low)));
            }
            result = Some(result.map_or(e, |low| self.concat(e, low)));
            top = at + self.width(e);
        }
        let word = result?;
        let e = self.zext(word, width);
        self.fire(Rule::Disjoint, e)
    }

    /// Adds the parts of `e` that can be non-zero with their positions; returns false if `e` has no zero
    /// part.
    fn parts(&self, e: Expr, at: u32, room: u32, out: &mut Vec<(u32, Expr)>) -> bool {
        let mut todo = vec![(e, at, room)];
        let before = out.len();
        let mut filled = 0;
        while let Some((e, at, room)) = todo.pop() {
            match self.op(e) {
                Op::Const if self.is_zero(e) => {}
                Op::ZExt => todo.push((self.kid(e, 0), at, self.width(self.kid(e, 0)))),
                Op::Concat => {
                    let (high, low) = (self.kid(e, 0), self.kid(e, 1));
                    todo.push((high, at + self.width(low), self.width(high)));
                    todo.push((low, at, self.width(low)));
                }
                Op::Shl if self.op(self.kid(e, 0)) == Op::ZExt => {
                    let x = self.kid(self.kid(e, 0), 0);
                    match self.const_word(self.kid(e, 1)) {
                        Some(by) if by <= u64::from(self.width(e) - self.width(x)) => {
                            todo.push((x, at + by as u32, self.width(x)));
                        }
                        Some(_) | None => return false,
                    }
                }
                _ => {
                    out.push((at, e));
                    filled += room;
                    if out.len() > MAX_PARTS {
                        return false;
                    }
                }
            }
        }
        filled < room && out.len() > before
    }
}
