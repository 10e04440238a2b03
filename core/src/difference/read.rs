//! Reading bit-vector comparisons as difference constraints over integers.
//!
//! A term is a variable in one of two views, signed or unsigned, plus a constant. `x + c` is read as an integer sum
//! only if the bounds of `x` prove that it does not wrap, and a variable known in one view serves the other only if
//! its bounds do not straddle the sign; the reasons of those bounds join the constraint's. Whatever is not
//! understood is a variable of its own: that forgets relations, which can never make a satisfiable set look
//! unsatisfiable.

use super::{Beside, Bound, Differences, View, Word, ZERO};
use crate::expr::bits::signed;
use crate::expr::{Expr, Graph, Op};
use crate::query::Reasons;
use smallvec::{SmallVec, smallvec};

/// The integer `variable + plus`, if the `reasons` hold.
#[derive(Clone, Debug)]
struct Linear {
    variable: u32,
    plus: i128,
    reasons: Reasons,
}

/// What a literal says.
#[derive(Clone, Debug)]
pub enum Reading {
    Bounds(SmallVec<[Bound; 2]>),
    /// The two orders, one of which must hold.
    Differ(Bound, Bound),
    /// Not an order, an equality or a disequality.
    Other,
}

/// The value of `width` bits in a view.
pub fn as_integer(width: u32, value: u64, view: View) -> i128 {
    match view {
        View::Signed => signed(width, value).into(),
        View::Unsigned => value.into(),
    }
}

/// The least and the greatest integer of `width` bits in a view.
pub fn range(width: u32, view: View) -> (i128, i128) {
    match view {
        View::Signed => (-(1 << (width - 1)), (1 << (width - 1)) - 1),
        View::Unsigned => (0, (1 << width) - 1),
    }
}

/// Bounds, each with its reasons.
struct Limits {
    least: (i128, Reasons),
    greatest: (i128, Reasons),
}

impl Limits {
    fn exactly(value: i128) -> Limits {
        Limits { least: (value, Reasons::None), greatest: (value, Reasons::None) }
    }

    fn within(&self, least: i128, greatest: i128) -> bool {
        self.least.0 >= least && self.greatest.0 <= greatest
    }

    fn reasons(&self) -> Reasons {
        self.least.1.union(&self.greatest.1)
    }

    fn plus(mut self, plus: i128) -> Limits {
        self.least.0 += plus;
        self.greatest.0 += plus;
        self
    }
}

/// Where a proof takes bounds from. The domain's own have fewer reasons.
#[derive(Clone, Copy)]
enum From {
    Domain,
    Beside,
}

/// Reads literals against what is known so far.
pub struct Reader<'a> {
    pub graph: &'a Graph,
    pub known: &'a mut Differences,
    pub beside: &'a mut dyn Beside,
}

impl Reader<'_> {
    /// What the boolean `e`, which holds because of `because`, says.
    pub fn literal(&mut self, e: Expr, because: Expr) -> Reading {
        let g = self.graph;
        match g.op(e) {
            op @ (Op::Ult | Op::Ule | Op::Slt | Op::Sle) => {
                let view = if matches!(op, Op::Ult | Op::Ule) { View::Unsigned } else { View::Signed };
                let strict = matches!(op, Op::Ult | Op::Slt);
                let (a, b) = (g.kid(e, 0), g.kid(e, 1));
                if g.width(a) > 64 {
                    return Reading::Other;
                }
                Reading::Bounds(smallvec![self.at_most(a, b, -i128::from(strict), view, because)])
            }
            Op::Eq => match self.equality_view(e) {
                Some(view) => {
                    let (a, b) = (g.kid(e, 0), g.kid(e, 1));
                    Reading::Bounds(smallvec![
                        self.at_most(a, b, 0, view, because),
                        self.at_most(b, a, 0, view, because),
                    ])
                }
                None => Reading::Other,
            },
            Op::Not if g.op(g.kid(e, 0)) == Op::Eq => match self.equality_view(g.kid(e, 0)) {
                Some(view) => {
                    let (a, b) = (g.kid(g.kid(e, 0), 0), g.kid(g.kid(e, 0), 1));
                    Reading::Differ(
                        self.at_most(a, b, -1, view, because),
                        self.at_most(b, a, -1, view, because),
                    )
                }
                None => Reading::Other,
            },
            _ => Reading::Other,
        }
    }

    /// Equality means the same in both views: take the one in which the sides are known already.
    fn equality_view(&self, eq: Expr) -> Option<View> {
        let g = self.graph;
        let (a, b) = (g.kid(eq, 0), g.kid(eq, 1));
        if g.is_bool(a) || g.is_array(a) || g.width(a) > 64 {
            return None;
        }
        let base = |e: Expr| if g.op(e) == Op::Add && g.is_const(g.kid(e, 1)) { g.kid(e, 0) } else { e };
        let unsigned = [a, b].into_iter().any(|e| {
            let e = base(e);
            g.op(e) == Op::ZExt
                || self.known.knows(Word { term: e, view: View::Unsigned })
                    && !self.known.knows(Word { term: e, view: View::Signed })
        });
        Some(if unsigned { View::Unsigned } else { View::Signed })
    }

    /// `a - b <= c` in a view.
    fn at_most(&mut self, a: Expr, b: Expr, c: i128, view: View, because: Expr) -> Bound {
        let because = Reasons::One(because);
        // A difference of two words against a constant is a constraint between the two.
        for (sum, constant, turned) in [(a, b, false), (b, a, true)] {
            if self.graph.op(sum) == Op::Sub
                && let Some(value) = self.graph.const_word(constant)
                && let Some((p, q, reasons)) = self.difference(sum, view)
            {
                let value = as_integer(self.graph.width(constant), value, view);
                let reasons = reasons.union(&because);
                // p - q <= value + c, or value - (p - q) <= c.
                return if turned {
                    Bound { x: q.variable, y: p.variable, c: c - value + p.plus - q.plus, reasons }
                } else {
                    Bound { x: p.variable, y: q.variable, c: c + value - p.plus + q.plus, reasons }
                };
            }
        }
        let (l, r) = (self.term(a, view), self.term(b, view));
        let reasons = because.union(&l.reasons).union(&r.reasons);
        Bound { x: l.variable, y: r.variable, c: c - l.plus + r.plus, reasons }
    }

    /// `p` and `q` of `p - q`, where it is proved not to wrap.
    fn difference(&mut self, sub: Expr, view: View) -> Option<(Linear, Linear, Reasons)> {
        let (p, q) = (self.graph.kid(sub, 0), self.graph.kid(sub, 1));
        let (p, q) = (self.term(p, view), self.term(q, view));
        let (least, greatest) = range(self.graph.width(sub), view);
        for from in [From::Domain, From::Beside] {
            let (of_p, of_q) = (self.limits(&p, from), self.limits(&q, from));
            if of_p.least.0 - of_q.greatest.0 >= least && of_p.greatest.0 - of_q.least.0 <= greatest {
                let reasons = of_p.reasons().union(&of_q.reasons()).union(&p.reasons).union(&q.reasons);
                return Some((p, q, reasons));
            }
        }
        None
    }

    /// The integer that `e` is in a view.
    fn term(&mut self, e: Expr, view: View) -> Linear {
        let g = self.graph;
        let width = g.width(e);
        match g.op(e) {
            Op::Const => {
                let value = g.const_word(e).expect("at most 64 bits");
                Linear { variable: ZERO, plus: as_integer(width, value, view), reasons: Reasons::None }
            }
            // Zeros above: not negative in either view.
            Op::ZExt => self.term(g.kid(e, 0), View::Unsigned),
            Op::SExt => {
                let narrow = self.term(g.kid(e, 0), View::Signed);
                self.seen_as(narrow, View::Signed, view, width).unwrap_or_else(|| self.atom(e, view))
            }
            Op::Add if g.is_const(g.kid(e, 1)) => {
                let constant = g.const_word(g.kid(e, 1)).expect("at most 64 bits");
                self.sum(g.kid(e, 0), constant, width, view).unwrap_or_else(|| self.atom(e, view))
            }
            _ => self.atom(e, view),
        }
    }

    /// `x + c`, as an integer sum with `c` read as positive or as negative, whichever is proved not to wrap.
    fn sum(&mut self, x: Expr, constant: u64, width: u32, view: View) -> Option<Linear> {
        // A term that is itself not a variable would need bounds of its own.
        let mut x = self.term(x, view);
        let (least, greatest) = range(width, view);
        let positive = i128::from(constant);
        for from in [From::Domain, From::Beside] {
            let limits = self.limits(&x, from);
            for plus in [positive, positive - (1 << width)] {
                if limits.within(least - plus, greatest - plus) {
                    x.reasons = x.reasons.union(&limits.reasons());
                    x.plus += plus;
                    return Some(x);
                }
            }
        }
        None
    }

    /// Bounds of a linear term with their reasons.
    fn limits(&mut self, term: &Linear, from: From) -> Limits {
        if term.variable == ZERO {
            return Limits::exactly(term.plus);
        }
        let with = |(value, reasons): (i128, &Reasons)| (value, reasons.clone());
        let mut limits = Limits {
            least: with(self.known.least(term.variable)),
            greatest: with(self.known.greatest(term.variable)),
        };
        let word = self.known.word(term.variable);
        if let From::Beside = from
            && let Some((least, greatest)) = self.beside.bounds(word)
        {
            if least > limits.least.0 {
                limits.least = (least, self.beside.reasons(word));
            }
            if greatest < limits.greatest.0 {
                limits.greatest = (greatest, self.beside.reasons(word));
            }
        }
        limits.plus(term.plus)
    }

    fn atom(&mut self, term: Expr, view: View) -> Linear {
        let width = self.graph.width(term);
        let other = Word { term, view: if view == View::Signed { View::Unsigned } else { View::Signed } };
        let own = Word { term, view };
        if self.known.knows(other)
            && !self.known.knows(own)
            && let plain = self.plain(other)
            && let Some(converted) = self.seen_as(plain, other.view, view, width)
        {
            return converted;
        }
        self.plain(own)
    }

    fn plain(&mut self, word: Word) -> Linear {
        let variable = self.known.variable(word, range(self.graph.width(word.term), word.view));
        Linear { variable, plus: 0, reasons: Reasons::None }
    }

    /// A term of a view in another, where its bounds lie on one side of the sign of `width` bits.
    fn seen_as(&mut self, mut term: Linear, its: View, wanted: View, width: u32) -> Option<Linear> {
        if its == wanted {
            return Some(term);
        }
        let half = 1i128 << (width - 1);
        let turn = 1i128 << width;
        for from in [From::Domain, From::Beside] {
            let Limits { least, greatest } = self.limits(&term, from);
            let (plus, reasons) = match its {
                View::Signed if least.0 >= 0 => (0, least.1),
                View::Signed if greatest.0 < 0 => (turn, greatest.1),
                View::Unsigned if greatest.0 < half => (0, greatest.1),
                View::Unsigned if least.0 >= half => (-turn, least.1),
                View::Signed | View::Unsigned => continue,
            };
            term.plus += plus;
            term.reasons = term.reasons.union(&reasons);
            return Some(term);
        }
        None
    }
}
