//! Images: operations are monotone in each operand of one sign, also after rounding, so the results of the ends bound
//! all. Ends without a number as result (0 / 0) leave the bounds to the others: along each edge from there the result
//! is constant or goes to that of another end.

use super::order::{Nans, Numbers, Order, Piece};
use super::{integer, parameter};
use crate::expr::bits::mask;
use crate::expr::eval::{self, Shape};
use crate::expr::{FloatOp, Op};
use crate::interval::set::{Approx, Interval, Set};

/// Maximum number of combinations of pieces.
const MAX_BOXES: usize = 256;

/// Collects the results at the corners of boxes.
struct Image {
    order: Order,
    pieces: Vec<Piece>,
    nans: Nans,
}

impl Image {
    fn new(order: Order, operands: &[&Numbers]) -> Image {
        let nans = operands.iter().map(|numbers| numbers.nans).max().unwrap_or(Nans::None);
        Image { order, pieces: Vec::new(), nans }
    }

    /// Adds the hull of the results of one box.
    fn hull(&mut self, words: impl Iterator<Item = u64>) {
        let mut hull: Option<Piece> = None;
        for word in words {
            match self.order.number(word) {
                None => self.nans = self.nans.max(Nans::Default),
                Some(x) => hull = Some(hull.map_or((x, x), |(low, high)| (low.min(x), high.max(x)))),
            }
        }
        self.pieces.extend(hull);
    }

    fn set(&self) -> Approx {
        Approx::sound(self.order.set(&self.pieces, self.nans))
    }
}

/// Image of a unary operator. The set is not empty.
pub fn unary(float: FloatOp, op: Op, shape: Shape, a: &Set) -> Approx {
    let p = parameter(float, shape);
    let apply = |x: u64| eval::word(op, shape, x, 0, 0);
    match float {
        FloatOp::FSqrt | FloatOp::FRound | FloatOp::FToF => {
            let (from, to) = (Order::new(p.source), Order::new(p.format));
            let numbers = from.numbers(a);
            let mut image = Image::new(to, &[&numbers]);
            for &(low, high) in &numbers.pieces {
                // The negative zero is the greatest negative number and its own root; those below have none.
                image.hull([low, high].into_iter().map(|x| apply(from.word(x))));
            }
            image.set()
        }
        FloatOp::FToUInt | FloatOp::FToSInt => to_integer(float, shape, a),
        FloatOp::FFromUInt | FloatOp::FFromSInt => {
            let order = Order::new(p.format);
            let mut image = Image::new(order, &[]);
            let words = mask(shape.operand);
            if float == FloatOp::FFromSInt {
                for (low, high) in a.signed_intervals() {
                    image.hull([low, high].into_iter().map(|x| apply(x as u64 & words)));
                }
            } else {
                for (low, high) in a.intervals() {
                    image.hull([low, high].into_iter().map(apply));
                }
            }
            image.set()
        }
        FloatOp::FAdd | FloatOp::FMul | FloatOp::FDiv | FloatOp::FRem | FloatOp::FMulAdd => {
            unreachable!("{float:?} does not take one word")
        }
        FloatOp::FLt | FloatOp::FLe | FloatOp::FEq => unreachable!("{float:?} does not take one word"),
    }
}

/// Numbers that fit become an interval of integers, all others one word.
fn to_integer(float: FloatOp, shape: Shape, a: &Set) -> Approx {
    let p = parameter(float, shape);
    let order = Order::new(p.format);
    let numbers = order.numbers(a);
    let (least, most) = integer::bounds(float, shape.width);
    let mut outside = numbers.has_nan();
    let mut parts: Vec<Interval> = Vec::new();
    for &(low, high) in &numbers.pieces {
        let [low, high] = [low, high].map(|x| integer::rounded(p, order.word(x)));
        outside |= low < least || high > most;
        let (low, high) = (low.max(least), high.min(most));
        if low <= high {
            parts.extend(Set::from_integers(shape.width, low, high).intervals());
        }
    }
    if outside {
        let invalid = 1 << (shape.width - 1);
        parts.push((invalid, invalid));
    }
    Approx::sound(Set::from_intervals(shape.width, parts).set)
}

/// Image of a binary operator that is not a comparison. Neither set is empty.
pub fn binary(float: FloatOp, op: Op, shape: Shape, a: &Set, b: &Set) -> Approx {
    let order = Order::new(parameter(float, shape).format);
    let (a, b) = (order.numbers(a), order.numbers(b));
    if float == FloatOp::FRem {
        return remainder(order, &a, &b);
    }
    let mut image = Image::new(order, &[&a, &b]);
    for &(a_low, a_high) in &a.pieces {
        for &(b_low, b_high) in &b.pieces {
            let corners = [(a_low, b_low), (a_low, b_high), (a_high, b_low), (a_high, b_high)];
            image.hull(corners.iter().map(|&(x, y)| eval::word(op, shape, order.word(x), order.word(y), 0)));
        }
    }
    image.set()
}

/// Image of the fused operation. No set is empty.
pub fn ternary(float: FloatOp, op: Op, shape: Shape, [a, b, c]: [&Set; 3]) -> Approx {
    let order = Order::new(parameter(float, shape).format);
    let [a, b, c] = [a, b, c].map(|set| order.numbers(set));
    if a.pieces.len() * b.pieces.len() * c.pieces.len() > MAX_BOXES {
        return Approx::sound(Set::full(shape.width));
    }
    let mut image = Image::new(order, &[&a, &b, &c]);
    for a in &a.pieces {
        for b in &b.pieces {
            for c in &c.pieces {
                let end = |piece: &Piece, high: bool| order.word(if high { piece.1 } else { piece.0 });
                let corners = (0..8).map(|i| (end(a, i & 1 == 1), end(b, i & 2 == 2), end(c, i & 4 == 4)));
                image.hull(corners.map(|(x, y, z)| eval::word(op, shape, x, y, z)));
            }
        }
    }
    image.set()
}

/// A remainder is no larger than the dividend, nor than the divisor.
fn remainder(order: Order, a: &Numbers, b: &Numbers) -> Approx {
    let size = |numbers: &Numbers| -> Option<i64> {
        let ends = [numbers.least()?, numbers.greatest()?];
        ends.into_iter().map(|x| if x < 0 { !x } else { x }).max()
    };
    let (Some(a_size), Some(b_size)) = (size(a), size(b)) else {
        return Approx::sound(order.set(&[], a.nans.max(b.nans)));
    };
    let most = a_size.min(b_size).min(order.infinity() - 1);
    let zero = b.pieces.iter().any(|&(low, high)| low <= 0 && high >= -1);
    let undefined = if zero || a_size == order.infinity() { Nans::Default } else { Nans::None };
    Approx::sound(order.set(&[(!most, most)], a.nans.max(b.nans).max(undefined)))
}
