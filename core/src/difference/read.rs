//! Reading bit-vector comparisons as difference constraints over integers.
//!
//! A term is a variable in one of two views, signed or unsigned, plus a constant. `x + c` is read as an integer sum
//! only if the bounds of `x` prove that it does not wrap, and a variable known in one view serves the other only if
//! its bounds do not straddle the sign; the reasons of those bounds join the constraint's. Whatever is not
//! understood is a variable of its own: that forgets relations, which can never make a satisfiable set look
//! unsatisfiable.

use super::{Differences, ZERO};
use crate::expr::bits::signed;
use crate::expr::{Expr, Graph, Op};
use crate::query::Reasons;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum View {
    Signed,
    Unsigned,
}

/// The integer `variable + plus`, if the `reasons` hold.
#[derive(Clone, Debug)]
struct Linear {
    variable: u32,
    plus: i128,
    reasons: Reasons,
}

/// `x - y <= c`.
#[derive(Clone, Debug)]
pub struct Bound {
    pub x: u32,
    pub y: u32,
    pub c: i128,
    pub reasons: Reasons,
}

/// What a literal says.
#[derive(Clone, Debug)]
pub enum Reading {
    Bounds(Vec<Bound>),
    /// The two orders, one of which must hold.
    Differ(Bound, Bound),
    /// Not an order, an equality or a disequality.
    Other,
}

/// The variable that stands for a term in a view.
pub fn variable(term: Expr, view: View) -> u32 {
    (term.id() + 1) << 1 | (view == View::Signed) as u32
}

/// The slot of the term behind a variable (not for `ZERO`), and the view.
pub fn term_of(variable: u32) -> (u32, View) {
    let view = if variable & 1 == 1 { View::Signed } else { View::Unsigned };
    ((variable >> 1) - 1, view)
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

/// Reads literals against what is known so far. New variables are reported through `fresh`.
pub struct Reader<'a> {
    pub graph: &'a Graph,
    pub known: &'a Differences,
    /// Terms that became variables, to be bounded by their width.
    pub fresh: Vec<(Expr, View)>,
}

impl<'a> Reader<'a> {
    pub fn new(graph: &'a Graph, known: &'a Differences) -> Reader<'a> {
        Reader { graph, known, fresh: Vec::new() }
    }

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
                Reading::Bounds(vec![self.at_most(a, b, -i128::from(strict), view, because)])
            }
            Op::Eq => match self.equality_view(e) {
                Some(view) => {
                    let (a, b) = (g.kid(e, 0), g.kid(e, 1));
                    Reading::Bounds(vec![
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
                || self.known.knows(variable(e, View::Unsigned))
                    && !self.known.knows(variable(e, View::Signed))
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
        let ((p_least, r1), (p_greatest, r2)) = self.limits(&p)?;
        let ((q_least, r3), (q_greatest, r4)) = self.limits(&q)?;
        if p_least - q_greatest < least || p_greatest - q_least > greatest {
            return None;
        }
        let reasons = [r1, r2, r3, r4].iter().fold(p.reasons.union(&q.reasons), |all, r| all.union(r));
        Some((p, q, reasons))
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
            Op::SExt if view == View::Signed => self.term(g.kid(e, 0), View::Signed),
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
        let x = self.term(x, view);
        let (least, greatest) = range(width, view);
        let ((low, r1), (high, r2)) = self.limits(&x)?;
        let positive = i128::from(constant);
        for plus in [positive, positive - (1 << width)] {
            if low + plus >= least && high + plus <= greatest {
                let reasons = x.reasons.union(&r1).union(&r2);
                return Some(Linear { variable: x.variable, plus: x.plus + plus, reasons });
            }
        }
        None
    }

    /// Bounds of a linear term with their reasons; a new variable has its width's.
    fn limits(&self, term: &Linear) -> Option<((i128, Reasons), (i128, Reasons))> {
        if term.variable == ZERO {
            return Some(((term.plus, Reasons::None), (term.plus, Reasons::None)));
        }
        let (least, greatest) = self.known.bounds(term.variable);
        let with = |bound: Option<(i128, &Reasons)>| bound.map(|(v, r)| (v + term.plus, r.clone()));
        match (with(least), with(greatest)) {
            (Some(least), Some(greatest)) => Some((least, greatest)),
            _ => {
                let (_, view) = term_of(term.variable);
                let fresh = self.fresh.iter().find(|(e, v)| variable(*e, *v) == term.variable)?;
                let (least, greatest) = range(self.graph.width(fresh.0), view);
                Some(((least + term.plus, Reasons::None), (greatest + term.plus, Reasons::None)))
            }
        }
    }

    fn atom(&mut self, e: Expr, view: View) -> Linear {
        let own = variable(e, view);
        let other_view = if view == View::Signed { View::Unsigned } else { View::Signed };
        let other = variable(e, other_view);
        if !self.known.knows(own)
            && self.known.knows(other)
            && let Some(converted) = self.converted(e, other, other_view)
        {
            return converted;
        }
        if !self.known.knows(own) && !self.fresh.contains(&(e, view)) {
            self.fresh.push((e, view));
        }
        Linear { variable: own, plus: 0, reasons: Reasons::None }
    }

    /// A variable known in the other view, where its bounds lie on one side of the sign.
    fn converted(&self, e: Expr, variable: u32, its_view: View) -> Option<Linear> {
        let width = self.graph.width(e);
        let (least, greatest) = self.known.bounds(variable);
        let ((least, r_least), (greatest, r_greatest)) = (least?, greatest?);
        let half = 1i128 << (width - 1);
        let turn = 1i128 << width;
        let linear = |plus, reasons: &Reasons| Some(Linear { variable, plus, reasons: reasons.clone() });
        match its_view {
            View::Signed if least >= 0 => linear(0, r_least),
            View::Signed if greatest < 0 => linear(turn, r_greatest),
            View::Unsigned if greatest < half => linear(0, r_greatest),
            View::Unsigned if least >= half => linear(-turn, r_least),
            View::Signed | View::Unsigned => None,
        }
    }
}
