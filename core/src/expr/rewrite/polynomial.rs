//! Equality of polynomials modulo 2^w: decides equations of sums and products that differ in grouping, order, signs or
//! distribution, also mixed with bitwise operators.
//!
//! Both sides are expanded to sums of monomials with constant coefficients. `x << t` is `x * (1 << t)`, also for amounts
//! of at least the width, where both are zero, and `~x` is `-x - 1`; `(x / y) * y` is `x - x % y`. Of the bitwise operators only `&` of words that are not
//! complements is left: `x | y = x + y - (x & y)`, `x ^ y = x + y - 2 (x & y)`, `x & ~y = x - (x & y)`. If the difference has no monomial the sides are
//! equal; if it has only a constant, or an odd constant and even coefficients, they differ. Otherwise nothing is
//! rewritten, so an expression never grows.

use super::Rule;
use crate::expr::{Bits, Expr, Graph, Op};
use smallvec::SmallVec;
use std::collections::BTreeMap;

/// Most nodes that are searched for a product, and most that are expanded.
const MAX_SEARCHED: usize = 16;
const MAX_EXPANDED: u32 = 512;
/// Most monomials of a polynomial, and most factors of a monomial.
const MAX_MONOMIALS: usize = 128;
const MAX_FACTORS: usize = 8;
/// Products of coefficients take time quadratic in the width.
const MAX_WIDTH: u32 = 4096;

/// Factors, ascending; the constant monomial has none.
pub(crate) type Monomial = SmallVec<[Expr; 4]>;
/// Nonzero coefficients.
pub(crate) type Polynomial = BTreeMap<Monomial, Bits>;

fn add_monomial(sum: &mut Polynomial, monomial: Monomial, coefficient: &Bits) {
    let width = coefficient.width();
    let entry = sum.entry(monomial.clone()).or_insert_with(|| Bits::zero(width));
    *entry = entry.add(coefficient);
    if entry.is_zero() {
        sum.remove(&monomial);
    }
}

fn product(a: &Polynomial, b: &Polynomial) -> Option<Polynomial> {
    let mut result = Polynomial::new();
    for (x, c) in a {
        for (y, d) in b {
            let mut factors: Monomial = x.iter().chain(y).copied().collect();
            if factors.len() > MAX_FACTORS {
                return None;
            }
            factors.sort_unstable();
            add_monomial(&mut result, factors, &c.mul(d));
        }
        if result.len() > MAX_MONOMIALS {
            return None;
        }
    }
    Some(result)
}

impl Graph {
    /// Decides `a = b` for bit-vectors that are both sums, one of them nested or complemented, or of which one contains a product of
    /// variables.
    pub(super) fn rewrite_eq_polynomials(&mut self, a: Expr, b: Expr) -> Option<Expr> {
        let is_plain = |e: Expr| matches!(self.op(e), Op::Add | Op::Sub);
        let is_negated = |e: Expr| self.op(e) == Op::Not && is_plain(self.kid(e, 0));
        let is_nested = |e: Expr| is_negated(e) || is_plain(self.kid(e, 0)) || is_plain(self.kid(e, 1));
        let are_sums =
            [a, b].into_iter().all(|e| is_plain(e) || is_negated(e)) && (is_nested(a) || is_nested(b));
        let contains = |is: fn(&Graph, Expr) -> bool| self.contains(a, is) || self.contains(b, is);
        let is_worth_it = are_sums
            || contains(Graph::is_product)
            || (is_plain(a) || is_plain(b)) && contains(Graph::is_bitwise);
        if self.is_bool(a) || !is_worth_it || self.width(a) > MAX_WIDTH {
            return None;
        }
        let mut left = MAX_EXPANDED;
        let mut difference = self.polynomial(a, &mut left)?;
        for (monomial, coefficient) in self.polynomial(b, &mut left)? {
            add_monomial(&mut difference, monomial, &coefficient.neg());
        }
        let equal = match difference.remove(&Monomial::new()) {
            None if difference.is_empty() => true,
            Some(constant) if constant.bit(0) && difference.values().all(|c| !c.bit(0)) => false,
            Some(_) if difference.is_empty() => false,
            None | Some(_) => return None,
        };
        let e = self.boolean(equal);
        self.fire(Rule::EqPolynomials, e)
    }

    fn is_product(&self, e: Expr) -> bool {
        self.op(e) == Op::Mul && !self.is_const(self.kid(e, 1))
    }

    fn is_bitwise(&self, e: Expr) -> bool {
        matches!(self.op(e), Op::And | Op::Or | Op::Xor) && !self.is_const(self.kid(e, 1))
    }

    /// Whether the sums and products at the top of `e` contain such a node.
    fn contains(&self, e: Expr, is_such: fn(&Graph, Expr) -> bool) -> bool {
        let mut open: SmallVec<[Expr; 2 * MAX_SEARCHED]> = SmallVec::new();
        open.push(e);
        for _ in 0..MAX_SEARCHED {
            let Some(e) = open.pop() else { return false };
            if is_such(self, e) {
                return true;
            }
            match self.op(e) {
                Op::Add | Op::Sub => open.extend([self.kid(e, 0), self.kid(e, 1)]),
                Op::Mul | Op::Shl | Op::Not => open.push(self.kid(e, 0)),
                _ => {}
            }
        }
        false
    }

    /// The dividend and the remainder, if a product is one of a quotient and its divisor, which is their difference, also
    /// for a divisor of zero.
    fn divided(&mut self, product: Expr) -> Option<[Expr; 2]> {
        let (x, y) = (self.kid(product, 0), self.kid(product, 1));
        let is_of = |quotient: Expr, by: Expr| {
            matches!(self.op(quotient), Op::UDiv | Op::SDiv) && self.kid(quotient, 1) == by
        };
        let (quotient, divisor) = if is_of(x, y) { (x, y) } else { (y, x) };
        if !is_of(quotient, divisor) {
            return None;
        }
        let dividend = self.kid(quotient, 0);
        let rest = match self.op(quotient) {
            Op::UDiv => self.urem(dividend, divisor),
            _ => self.srem(dividend, divisor),
        };
        Some([dividend, rest])
    }

    /// The summands of a bitwise operation, with their coefficients; `None` if it is a monomial.
    fn bitwise_summands(&mut self, e: Expr) -> Option<SmallVec<[(Expr, Bits); 3]>> {
        let (x, y) = (self.kid(e, 0), self.kid(e, 1));
        let one = Bits::word(self.width(e), 1);
        // A complement is the second operand, if there is one.
        let (x, y) = if self.op(x) == Op::Not { (y, x) } else { (x, y) };
        let both = match self.op(e) {
            Op::And if self.op(y) == Op::Not => {
                let both = self.and(x, self.kid(y, 0));
                return Some([(x, one.clone()), (both, one.neg())].into_iter().collect());
            }
            Op::And => return None,
            Op::Or => one.neg(),
            _ => one.add(&one).neg(),
        };
        let and = self.and(x, y);
        Some(SmallVec::from([(x, one.clone()), (y, one), (and, both)]))
    }

    /// Whether the sums and products at the top of `e` contain a product of variables.
    pub(crate) fn has_product(&self, e: Expr) -> bool {
        self.contains(e, Graph::is_product)
    }

    /// The polynomial of `e`, within a number of nodes.
    pub(crate) fn polynomial(&mut self, e: Expr, left: &mut u32) -> Option<Polynomial> {
        *left = left.checked_sub(1)?;
        let width = self.width(e);
        let one = Bits::word(width, 1);
        let mut result = Polynomial::new();
        match self.op(e) {
            Op::Const => {
                let value = self.const_bits(e).expect("a constant");
                add_monomial(&mut result, Monomial::new(), &value);
            }
            op @ (Op::Add | Op::Sub) => {
                let (x, y) = (self.kid(e, 0), self.kid(e, 1));
                result = self.polynomial(x, left)?;
                for (monomial, coefficient) in self.polynomial(y, left)? {
                    let coefficient = if op == Op::Add { coefficient } else { coefficient.neg() };
                    add_monomial(&mut result, monomial, &coefficient);
                }
            }
            Op::Not => {
                add_monomial(&mut result, Monomial::new(), &Bits::ones(width));
                for (monomial, coefficient) in self.polynomial(self.kid(e, 0), left)? {
                    add_monomial(&mut result, monomial, &coefficient.neg());
                }
            }
            Op::Mul if let Some([dividend, rest]) = self.divided(e) => {
                result = self.polynomial(dividend, left)?;
                for (monomial, coefficient) in self.polynomial(rest, left)? {
                    add_monomial(&mut result, monomial, &coefficient.neg());
                }
            }
            Op::Mul => {
                let (x, y) = (self.kid(e, 0), self.kid(e, 1));
                let (x, y) = (self.polynomial(x, left)?, self.polynomial(y, left)?);
                result = product(&x, &y)?;
            }
            Op::Shl => {
                let (x, amount) = (self.kid(e, 0), self.kid(e, 1));
                let unit = self.constant(one.clone());
                let mut power = Polynomial::new();
                match self.const_bits(amount) {
                    Some(amount) => {
                        let amount = amount.to_u64().unwrap_or(u64::MAX);
                        add_monomial(&mut power, Monomial::new(), &one.shl(amount));
                    }
                    None => {
                        let factor = self.shl(unit, amount);
                        add_monomial(&mut power, Monomial::from_slice(&[factor]), &one);
                    }
                }
                if x == unit {
                    return Some(power);
                }
                let x = self.polynomial(x, left)?;
                result = product(&x, &power)?;
            }
            Op::And | Op::Or | Op::Xor => match self.bitwise_summands(e) {
                None => add_monomial(&mut result, Monomial::from_slice(&[e]), &one),
                Some(summands) => {
                    for (summand, weight) in summands {
                        for (monomial, coefficient) in self.polynomial(summand, left)? {
                            add_monomial(&mut result, monomial, &coefficient.mul(&weight));
                        }
                    }
                }
            },
            _ => add_monomial(&mut result, Monomial::from_slice(&[e]), &one),
        }
        (result.len() <= MAX_MONOMIALS).then_some(result)
    }
}
