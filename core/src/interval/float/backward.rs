//! Preimages: a monotone operation reaches an interval from an interval, whose ends are found by bisection. With one
//! operand known the result is exact.

use super::order::{Nans, Order, Piece, value};
use super::{integer, parameter};
use crate::expr::bits::mask;
use crate::expr::eval::{self, Shape};
use crate::expr::{FloatOp, Op};
use crate::interval::set::{Approx, Interval, Set};

/// The least value between two ends where a monotone condition, false and then true, is true. The search starts at a
/// guess: an end near it costs few evaluations, and any other twice those of bisection at most.
fn first<T: Copy + Ord + Into<i128> + TryFrom<i128>>(
    low: T,
    high: T,
    guess: Option<T>,
    holds: impl Fn(T) -> bool,
) -> Option<T> {
    let at = |x: i128| T::try_from(x).ok().expect("between two values of its type");
    let (mut low, mut high): (i128, i128) = (low.into(), high.into());
    let mut is_known = false;
    if let Some(guess) = guess {
        let guess = guess.into().clamp(low, high);
        let mut step = 1;
        if holds(at(guess)) {
            (high, is_known) = (guess, true);
            while high - step > low && holds(at(high - step)) {
                high -= step;
                step *= 2;
            }
            low = low.max(high - step);
        } else {
            low = guess + 1;
            while low + step < high && !holds(at(low + step)) {
                low += step + 1;
                step *= 2;
            }
            if low + step < high {
                (high, is_known) = (low + step, true);
            }
        }
    }
    if !is_known && (low > high || !holds(at(high))) {
        return None;
    }
    while low < high {
        let middle = (low + high) >> 1;
        if holds(at(middle)) { high = middle } else { low = middle + 1 }
    }
    Some(at(low))
}

/// The last value where a condition, true and then false, is true.
fn last<T: Copy + Ord + Into<i128> + TryFrom<i128>>(
    low: T,
    high: T,
    guess: Option<T>,
    holds: impl Fn(T) -> bool,
) -> Option<T> {
    let at = |x: i128| T::try_from(x).ok().expect("between two values of its type");
    match first(low, high, guess, |x| !holds(x)) {
        None => Some(high),
        Some(x) if x == low => None,
        Some(x) => Some(at(x.into() - 1)),
    }
}

/// A function that is monotone on an interval, with the least and the greatest result for each argument.
struct Monotone<F> {
    bounds: F,
    increasing: bool,
}

impl<F: Fn(i128) -> (i64, i64)> Monotone<F> {
    /// Arguments between `low` and `high` with a result in the target. `guess` is an argument near a result.
    fn preimage(
        &self,
        low: i128,
        high: i128,
        (from, to): Piece,
        guess: impl Fn(i64) -> Option<i128>,
    ) -> Option<(i128, i128)> {
        let reaches = |x: i128| (self.bounds)(x).1 >= from;
        let stays = |x: i128| (self.bounds)(x).0 <= to;
        let (low, high) = if self.increasing {
            (first(low, high, guess(from), reaches)?, last(low, high, guess(to), stays)?)
        } else {
            (first(low, high, guess(to), stays)?, last(low, high, guess(from), reaches)?)
        };
        (low <= high).then_some((low, high))
    }
}

/// NaN results in the target.
struct NanTarget {
    /// Some NaN is in the target.
    any: bool,
    /// The one that operations make is.
    default: bool,
    /// Whether NaN operands are all accepted or all refused.
    exact: bool,
}

impl NanTarget {
    fn of(order: Order, target: &Set, nans: Nans) -> NanTarget {
        let any = nans != Nans::None;
        NanTarget {
            any,
            default: target.contains(order.default_nan()),
            exact: !any || order.has_all_quiet(target),
        }
    }
}

/// Preimage of a unary operator. Neither set is empty.
pub fn unary(float: FloatOp, op: Op, shape: Shape, target: &Set, own: &Set) -> Approx {
    let p = parameter(float, shape);
    let apply = |x: u64| eval::word(op, shape, x, 0, 0);
    match float {
        FloatOp::FSqrt | FloatOp::FRound | FloatOp::FToF => {
            let (from, to) = (Order::new(p.source), Order::new(p.format));
            let wanted = to.numbers(target);
            let nan = NanTarget::of(to, target, wanted.nans);
            let bounds = |x: i128| {
                let result = to.ordinal(apply(from.word(x as i64)));
                (result, result)
            };
            let f = Monotone { bounds, increasing: true };
            let mut parts: Vec<Interval> = Vec::new();
            for (low, high) in from.all() {
                let low = if float == FloatOp::FSqrt { low.max(-1) } else { low };
                for &piece in &wanted.pieces {
                    let found = f.preimage(low.into(), high.into(), piece, |_| None);
                    parts.extend(found.iter().flat_map(|&(p, q)| from.words((p as i64, q as i64))));
                }
            }
            if float == FloatOp::FSqrt && nan.default {
                parts.extend(from.words((!from.infinity(), -2)));
            }
            if nan.any {
                parts.extend(from.nan_words());
            }
            Set::from_intervals(shape.operand, parts).exact_if(wanted.exact && nan.exact)
        }
        FloatOp::FToUInt | FloatOp::FToSInt => to_integer(float, shape, target),
        FloatOp::FFromUInt | FloatOp::FFromSInt => {
            let to = Order::new(p.format);
            let wanted = to.numbers(target);
            let words = mask(shape.operand);
            let bounds = |x: i128| {
                let result = to.ordinal(apply(x as u64 & words));
                (result, result)
            };
            let f = Monotone { bounds, increasing: true };
            let (low, high) = match (float, own.min(), own.max(), own.signed_bounds()) {
                (FloatOp::FFromSInt, _, _, Some(bounds)) => bounds,
                (_, Some(low), Some(high), _) => (low.into(), high.into()),
                _ => return Approx::exact(Set::empty(shape.operand)),
            };
            let mut parts: Vec<Interval> = Vec::new();
            for &piece in &wanted.pieces {
                if let Some((low, high)) = f.preimage(low, high, piece, |_| None) {
                    parts.extend(Set::from_integers(shape.operand, low, high).intervals());
                }
            }
            Set::from_intervals(shape.operand, parts).exact_if(wanted.exact)
        }
        FloatOp::FAdd | FloatOp::FMul | FloatOp::FDiv | FloatOp::FRem | FloatOp::FMulAdd => {
            unreachable!("{float:?} does not take one word")
        }
        FloatOp::FLt | FloatOp::FLe | FloatOp::FEq => unreachable!("{float:?} does not take one word"),
    }
}

fn to_integer(float: FloatOp, shape: Shape, target: &Set) -> Approx {
    let p = parameter(float, shape);
    let order = Order::new(p.format);
    let (least, most) = integer::bounds(float, shape.width);
    let rounded = |x: i64| integer::rounded(p, order.word(x));
    let (low, high) = (!order.infinity(), order.infinity());
    let mut pieces: Vec<Piece> = Vec::new();
    let mut between = |from: i128, to: i128| {
        let ends =
            (first(low, high, None, |x| rounded(x) >= from), last(low, high, None, |x| rounded(x) <= to));
        if let (Some(from), Some(to)) = ends
            && from <= to
        {
            pieces.push((from, to));
        }
    };
    if float == FloatOp::FToSInt {
        target.signed_intervals().into_iter().for_each(|(from, to)| between(from, to));
    } else {
        target.intervals().into_iter().for_each(|(from, to)| between(from.into(), to.into()));
    }
    let outside = target.contains(1 << (shape.width - 1));
    if outside {
        between(i128::MIN, least - 1);
        between(most + 1, i128::MAX);
    }
    let numbers = pieces.into_iter().flat_map(|piece| order.words(piece));
    let nans = order.nan_words().into_iter().filter(|_| outside);
    Set::from_intervals(shape.operand, numbers.chain(nans)).exact_if(!target.is_aligned())
}

/// Results of an operation with a zero or an infinity as the other operand, apart from NaN: if none is in the target,
/// the other operand does not have this value.
fn special_results(float: FloatOp, order: Order, other: i64, which: usize) -> [i64; 2] {
    let infinity = order.infinity();
    let (zeros, infinities) = ([-1, 0], [!infinity, infinity]);
    let is_zero = value(other) == 0;
    match float {
        FloatOp::FAdd => [other, other],
        // The other operand is the divisor.
        FloatOp::FDiv if which == 0 => {
            if is_zero {
                infinities
            } else {
                zeros
            }
        }
        _ => {
            if is_zero {
                zeros
            } else {
                infinities
            }
        }
    }
}

/// Preimage for operand `which` of a binary operator that is not a comparison. No set is empty.
pub fn binary(float: FloatOp, op: Op, shape: Shape, target: &Set, other: &Set, which: usize) -> Approx {
    let order = Order::new(parameter(float, shape).format);
    let width = order.width();
    let all = || Approx::sound(Set::full(width));
    let (wanted, known) = (order.numbers(target), order.numbers(other));
    let nan = NanTarget::of(order, target, wanted.nans);
    let (Some(least), Some(greatest)) = (known.least(), known.greatest()) else {
        // The result is NaN.
        return Approx { set: Set::full_if(width, nan.any), exact: !nan.any };
    };
    if float == FloatOp::FRem || (nan.any && known.has_nan()) {
        return all();
    }
    // Infinities, and zeros unless they are added: the operation is not monotone there, or its result is NaN.
    let infinity = order.infinity();
    let has = |x: i64| known.pieces.iter().any(|&(low, high)| low <= x && x <= high);
    let zeros: &[i64] = if float == FloatOp::FAdd { &[] } else { &[-1, 0] };
    let infinities = [!infinity, infinity];
    let mut specials = infinities.iter().chain(zeros).copied().filter(|&x| has(x)).peekable();
    if nan.any && specials.peek().is_some() {
        return all();
    }
    let is_wanted = |x: i64| wanted.pieces.iter().any(|&(low, high)| low <= x && x <= high);
    if specials.any(|special| special_results(float, order, special, which).into_iter().any(is_wanted)) {
        return all();
    }
    // The rest of the other operand: numbers of one sign, or finite ones that are added.
    let (low, high) = (least.max(!infinity + 1), greatest.min(infinity - 1));
    let ranges: &[Piece] = match float {
        FloatOp::FAdd => &[(low, high)],
        _ => &[(low, high.min(-2)), (low.max(1), high)],
    };
    let mut parts: Vec<Interval> = Vec::new();
    for &range in ranges.iter().filter(|(low, high)| low <= high) {
        preimages(float, op, shape, (order, &wanted.pieces), (range, which), &mut parts);
    }
    if nan.any {
        parts.extend(order.nan_words());
    }
    let exact = wanted.exact && nan.exact && least == greatest && !known.has_nan();
    Set::from_intervals(width, parts).exact_if(exact)
}

/// Adds the numbers that reach the wanted pieces with a number of the range as the other operand. The operation is
/// monotone in both for all of them.
fn preimages(
    float: FloatOp,
    op: Op,
    shape: Shape,
    (order, wanted): (Order, &[Piece]),
    ((least, greatest), which): (Piece, usize),
    parts: &mut Vec<Interval>,
) {
    let is_negative = greatest < 0;
    let bounds = |x: i128| {
        let result = |y: i64| {
            let (x, y) = (order.word(x as i64), order.word(y));
            let (p, q) = if which == 0 { (x, y) } else { (y, x) };
            order.ordinal(eval::word(op, shape, p, q, 0))
        };
        let a = result(least);
        let b = if least == greatest { a } else { result(greatest) };
        (a.min(b), a.max(b))
    };
    // The inverse operation, rounded.
    let guess = |result: i64| {
        let (y, c) = (order.word(result), order.word(least));
        let sign = 1 << (order.width() - 1);
        let inverse = match float {
            FloatOp::FAdd => eval::word(op, shape, y, c ^ sign, 0),
            FloatOp::FMul => eval::word(Op::FDiv, shape, y, c, 0),
            _ if which == 0 => eval::word(Op::FMul, shape, y, c, 0),
            _ => eval::word(Op::FDiv, shape, c, y, 0),
        };
        order.number(inverse).map(i128::from)
    };
    let increasing = match float {
        FloatOp::FAdd => true,
        FloatOp::FDiv if which == 1 => is_negative,
        _ => !is_negative,
    };
    let f = Monotone { bounds, increasing };
    for (low, high) in order.all() {
        for &piece in wanted {
            let found = f.preimage(low.into(), high.into(), piece, guess);
            parts.extend(found.iter().flat_map(|&(p, q)| order.words((p as i64, q as i64))));
        }
    }
}
