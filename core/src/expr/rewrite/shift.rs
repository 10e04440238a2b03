//! Rules for shifts. A right shift by a constant becomes an extract; a left shift stays, because it is mostly
//! used as arithmetic.

use super::Rule;
use crate::expr::{Expr, Graph, Op};

impl Graph {
    pub(super) fn rewrite_shift(&mut self, op: Op, a: Expr, b: Expr) -> Option<Expr> {
        if self.is_zero(a) || self.is_zero(b) {
            return self.fire(Rule::ShiftZero, a);
        }
        let width = self.width(a);
        if a == b && op != Op::Shl {
            let sign = self.extract(a, width - 1, 1);
            let e = if op == Op::AShr { self.sext(sign, width) } else { self.word(width, 0) };
            return self.fire(Rule::ShiftSelf, e);
        }
        let amount = self.const_bits(b)?.to_u64().unwrap_or(u64::MAX);
        if amount >= u64::from(width) && op != Op::AShr {
            let zero = self.word(width, 0);
            return self.fire(Rule::ShiftOut, zero);
        }
        let amount = amount.min(u64::from(width) - 1) as u32;
        match op {
            Op::LShr => {
                let high = self.extract(a, amount, width - amount);
                let e = self.zext(high, width);
                self.fire(Rule::ShiftRight, e)
            }
            Op::AShr => {
                let high = self.extract(a, amount, width - amount);
                let e = self.sext(high, width);
                self.fire(Rule::ShiftRight, e)
            }
            _ => {
                if self.op(a) != Op::Shl {
                    return None;
                }
                let (x, before) = (self.kid(a, 0), self.const_bits(self.kid(a, 1))?);
                let sum = u64::from(amount).saturating_add(before.to_u64()?);
                let e = if sum >= u64::from(width) {
                    self.word(width, 0)
                } else {
                    let sum = self.word(width, sum);
                    self.shl(x, sum)
                };
                self.fire(Rule::ShiftTwice, e)
            }
        }
    }
}
