//! Translation of bit-vector comparisons to difference constraints over integers.
//!
//! An expression is a signed or unsigned variable plus a constant. `x + c` is an integer sum only if the bounds of
//! `x` prove that it does not wrap. A variable of one signedness serves as the other only if its bounds do not
//! straddle the sign boundary. The reasons of these bounds become reasons of the constraint. Any other expression
//! is a variable of its own: this loses relations, which cannot make a satisfiable set unsatisfiable.

use super::{Bound, Differences, ExternalBounds, IntegerTerm, Signedness, ZERO};
use crate::expr::bits::signed;
use crate::expr::{Expr, Graph, Op};
use crate::query::Reasons;
use smallvec::{SmallVec, smallvec};

/// The integer `variable + plus`, provided that `reasons` hold.
#[derive(Clone, Debug)]
struct Linear {
    variable: u32,
    plus: i128,
    reasons: Reasons,
}

/// Translation of a literal.
#[derive(Clone, Debug)]
pub enum Translation {
    Bounds(SmallVec<[Bound; 2]>),
    /// The two strict orders, one of which must hold.
    Disequality(Bound, Bound),
    /// Neither an order nor an equality nor a disequality.
    Unsupported,
}

/// The value of a word of `width` bits as an integer.
pub fn as_integer(width: u32, value: u64, signedness: Signedness) -> i128 {
    match signedness {
        Signedness::Signed => signed(width, value).into(),
        Signedness::Unsigned => value.into(),
    }
}

/// Least and greatest integer of `width` bits.
pub fn range(width: u32, signedness: Signedness) -> (i128, i128) {
    match signedness {
        Signedness::Signed => (-(1 << (width - 1)), (1 << (width - 1)) - 1),
        Signedness::Unsigned => (0, (1 << width) - 1),
    }
}

/// Bounds with their reasons.
struct ReasonedBounds {
    least: (i128, Reasons),
    greatest: (i128, Reasons),
}

impl ReasonedBounds {
    fn exactly(value: i128) -> ReasonedBounds {
        ReasonedBounds { least: (value, Reasons::None), greatest: (value, Reasons::None) }
    }

    fn within(&self, least: i128, greatest: i128) -> bool {
        self.least.0 >= least && self.greatest.0 <= greatest
    }

    fn reasons(&self) -> Reasons {
        self.least.1.union(&self.greatest.1)
    }

    fn plus(mut self, plus: i128) -> ReasonedBounds {
        self.least.0 += plus;
        self.greatest.0 += plus;
        self
    }
}

/// Where a proof takes bounds from. Bounds of the domain have fewer reasons.
#[derive(Clone, Copy)]
enum BoundSource {
    Domain,
    External,
}

/// Translates literals under the bounds known so far.
pub struct Translator<'a> {
    pub graph: &'a Graph,
    pub known: &'a mut Differences,
    pub external: &'a mut dyn ExternalBounds,
}

impl Translator<'_> {
    /// Translates the boolean `e`, which holds because of the constraint `reason`.
    pub fn literal(&mut self, e: Expr, reason: Expr) -> Translation {
        let g = self.graph;
        match g.op(e) {
            op if op.is_order() => {
                let signedness = if op.is_signed() { Signedness::Signed } else { Signedness::Unsigned };
                let strict = op.is_strict();
                let (a, b) = (g.kid(e, 0), g.kid(e, 1));
                if g.width(a) > 64 {
                    return Translation::Unsupported;
                }
                Translation::Bounds(smallvec![self.at_most(a, b, -i128::from(strict), signedness, reason)])
            }
            Op::Eq => match self.equality_signedness(e) {
                Some(signedness) => {
                    let (a, b) = (g.kid(e, 0), g.kid(e, 1));
                    Translation::Bounds(smallvec![
                        self.at_most(a, b, 0, signedness, reason),
                        self.at_most(b, a, 0, signedness, reason),
                    ])
                }
                None => Translation::Unsupported,
            },
            Op::Not if g.op(g.kid(e, 0)) == Op::Eq => match self.equality_signedness(g.kid(e, 0)) {
                Some(signedness) => {
                    let (a, b) = (g.kid(g.kid(e, 0), 0), g.kid(g.kid(e, 0), 1));
                    Translation::Disequality(
                        self.at_most(a, b, -1, signedness, reason),
                        self.at_most(b, a, -1, signedness, reason),
                    )
                }
                None => Translation::Unsupported,
            },
            _ => Translation::Unsupported,
        }
    }

    /// Equality does not depend on signedness. Prefers the one for which a side is already known.
    fn equality_signedness(&self, eq: Expr) -> Option<Signedness> {
        let g = self.graph;
        let (a, b) = (g.kid(eq, 0), g.kid(eq, 1));
        if g.is_bool(a) || g.is_array(a) || g.width(a) > 64 {
            return None;
        }
        let base = |e: Expr| if g.op(e) == Op::Add && g.is_const(g.kid(e, 1)) { g.kid(e, 0) } else { e };
        let unsigned = [a, b].into_iter().any(|e| {
            let e = base(e);
            g.op(e) == Op::ZExt
                || self.known.mentions(IntegerTerm { expr: e, signedness: Signedness::Unsigned })
                    && !self.known.mentions(IntegerTerm { expr: e, signedness: Signedness::Signed })
        });
        Some(if unsigned { Signedness::Unsigned } else { Signedness::Signed })
    }

    /// `a - b <= c` as integers of the given signedness.
    fn at_most(&mut self, a: Expr, b: Expr, c: i128, signedness: Signedness, reason: Expr) -> Bound {
        let reason = Reasons::One(reason);
        // A difference of two words compared with a constant is a constraint between the two.
        for (sum, constant, swapped) in [(a, b, false), (b, a, true)] {
            if self.graph.op(sum) == Op::Sub
                && let Some(value) = self.graph.const_word(constant)
                && let Some((p, q, reasons)) = self.difference(sum, signedness)
            {
                let value = as_integer(self.graph.width(constant), value, signedness);
                let reasons = reasons.union(&reason);
                // p - q <= value + c, or value - (p - q) <= c.
                return if swapped {
                    Bound { x: q.variable, y: p.variable, c: c - value + p.plus - q.plus, reasons }
                } else {
                    Bound { x: p.variable, y: q.variable, c: c + value - p.plus + q.plus, reasons }
                };
            }
        }
        let (l, r) = (self.term(a, signedness), self.term(b, signedness));
        let reasons = reason.union(&l.reasons).union(&r.reasons);
        Bound { x: l.variable, y: r.variable, c: c - l.plus + r.plus, reasons }
    }

    /// `p` and `q` of `p - q`, if it provably does not wrap.
    fn difference(&mut self, sub: Expr, signedness: Signedness) -> Option<(Linear, Linear, Reasons)> {
        let (p, q) = (self.graph.kid(sub, 0), self.graph.kid(sub, 1));
        let (p, q) = (self.term(p, signedness), self.term(q, signedness));
        let (least, greatest) = range(self.graph.width(sub), signedness);
        for from in [BoundSource::Domain, BoundSource::External] {
            let (of_p, of_q) = (self.bounds_of(&p, from), self.bounds_of(&q, from));
            if of_p.least.0 - of_q.greatest.0 >= least && of_p.greatest.0 - of_q.least.0 <= greatest {
                let reasons = of_p.reasons().union(&of_q.reasons()).union(&p.reasons).union(&q.reasons);
                return Some((p, q, reasons));
            }
        }
        None
    }

    /// The expression as an integer of the given signedness.
    fn term(&mut self, e: Expr, signedness: Signedness) -> Linear {
        let g = self.graph;
        let width = g.width(e);
        match g.op(e) {
            Op::Const => {
                let value = g.const_word(e).expect("at most 64 bits");
                Linear { variable: ZERO, plus: as_integer(width, value, signedness), reasons: Reasons::None }
            }
            // Zero-extended: not negative in either signedness.
            Op::ZExt => self.term(g.kid(e, 0), Signedness::Unsigned),
            Op::SExt => {
                let narrow = self.term(g.kid(e, 0), Signedness::Signed);
                self.convert(narrow, Signedness::Signed, signedness, width)
                    .unwrap_or_else(|| self.atom(e, signedness))
            }
            Op::Add if g.is_const(g.kid(e, 1)) => {
                let constant = g.const_word(g.kid(e, 1)).expect("at most 64 bits");
                self.sum(g.kid(e, 0), constant, width, signedness).unwrap_or_else(|| self.atom(e, signedness))
            }
            _ => self.atom(e, signedness),
        }
    }

    /// `x + c` as an integer sum, with `c` as a positive or a negative number, whichever provably does not wrap.
    fn sum(&mut self, x: Expr, constant: u64, width: u32, signedness: Signedness) -> Option<Linear> {
        let mut x = self.term(x, signedness);
        let (least, greatest) = range(width, signedness);
        let positive = i128::from(constant);
        for from in [BoundSource::Domain, BoundSource::External] {
            let bounds = self.bounds_of(&x, from);
            for plus in [positive, positive - (1 << width)] {
                if bounds.within(least - plus, greatest - plus) {
                    x.reasons = x.reasons.union(&bounds.reasons());
                    x.plus += plus;
                    return Some(x);
                }
            }
        }
        None
    }

    /// Bounds of a linear term with their reasons.
    fn bounds_of(&mut self, term: &Linear, from: BoundSource) -> ReasonedBounds {
        if term.variable == ZERO {
            return ReasonedBounds::exactly(term.plus);
        }
        let with = |(value, reasons): (i128, &Reasons)| (value, reasons.clone());
        let mut bounds = ReasonedBounds {
            least: with(self.known.least(term.variable)),
            greatest: with(self.known.greatest(term.variable)),
        };
        let integer = self.known.term(term.variable);
        if let BoundSource::External = from
            && let Some((least, greatest)) = self.external.bounds(integer)
        {
            if least > bounds.least.0 {
                bounds.least = (least, self.external.reasons(integer));
            }
            if greatest < bounds.greatest.0 {
                bounds.greatest = (greatest, self.external.reasons(integer));
            }
        }
        bounds.plus(term.plus)
    }

    fn atom(&mut self, expr: Expr, signedness: Signedness) -> Linear {
        let width = self.graph.width(expr);
        let other = IntegerTerm {
            expr,
            signedness: if signedness == Signedness::Signed {
                Signedness::Unsigned
            } else {
                Signedness::Signed
            },
        };
        let own = IntegerTerm { expr, signedness };
        if self.known.mentions(other)
            && !self.known.mentions(own)
            && let variable = self.variable(other)
            && let Some(converted) = self.convert(variable, other.signedness, signedness, width)
        {
            return converted;
        }
        self.variable(own)
    }

    fn variable(&mut self, integer: IntegerTerm) -> Linear {
        let variable =
            self.known.variable(integer, range(self.graph.width(integer.expr), integer.signedness));
        Linear { variable, plus: 0, reasons: Reasons::None }
    }

    /// Converts a term to another signedness, if its bounds lie on one side of the sign boundary of `width` bits.
    fn convert(
        &mut self,
        mut term: Linear,
        its: Signedness,
        wanted: Signedness,
        width: u32,
    ) -> Option<Linear> {
        if its == wanted {
            return Some(term);
        }
        let half = 1i128 << (width - 1);
        let modulus = 1i128 << width;
        for from in [BoundSource::Domain, BoundSource::External] {
            let ReasonedBounds { least, greatest } = self.bounds_of(&term, from);
            let (plus, reasons) = match its {
                Signedness::Signed if least.0 >= 0 => (0, least.1),
                Signedness::Signed if greatest.0 < 0 => (modulus, greatest.1),
                Signedness::Unsigned if greatest.0 < half => (0, greatest.1),
                Signedness::Unsigned if least.0 >= half => (-modulus, least.1),
                Signedness::Signed | Signedness::Unsigned => continue,
            };
            term.plus += plus;
            term.reasons = term.reasons.union(&reasons);
            return Some(term);
        }
        None
    }
}
