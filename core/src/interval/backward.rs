//! Preimages: the values of an operand for which the result can lie in a target while the other operands lie in
//! given sets.
//!
//! A preimage contains every value of the operand's own set for which some choice of the others gives a result in
//! the target (sound). The flag says that it contains nothing else (exact). Small products are enumerated; above
//! that, each operator has its own rule on intervals. Tests compare all of it with `eval`.

use super::float;
use super::forward::{self, MAX_PAIRS, runs};
use super::set::{Approx, Interval, MAX_BITMAP_WIDTH, Set};
use crate::expr::bits::{inverse_of_odd, mask, signed};
use crate::expr::eval::{self, Shape};
use crate::expr::{ArithOp, BitsOp, Family, Op, ShapeOp, ShiftOp};

/// Maximum number of values of the other operand that are handled one by one.
const MAX_OTHERS: u128 = 65;
/// Maximum number of periods of a remainder that are handled one by one.
const MAX_PERIODS: u64 = 64;

/// Preimage of a unary operator, within `a`.
pub fn unary(op: Op, shape: Shape, target: &Set, a: &Set) -> Approx {
    let width = shape.operand;
    let wanted = match op.family() {
        Family::Bits(BitsOp::Not) => forward::unary(Op::Not, Shape { width, operand: width, low: 0 }, target),
        Family::Shape(ShapeOp::Extract) => {
            if let Some(narrow) = useful_restriction(a, |a| a.with_field(shape.low, target)) {
                return narrow;
            }
            target.lift(shape.low, width)
        }
        Family::Shape(ShapeOp::ZExt) => {
            extension_operand(target, &Set::interval(shape.width, 0, mask(width)), width)
        }
        Family::Shape(ShapeOp::SExt) => {
            let half = 1i128 << (width - 1);
            extension_operand(target, &Set::from_integers(shape.width, -half, half - 1), width)
        }
        Family::Shape(ShapeOp::Concat | ShapeOp::Ite) | Family::Leaf(_) | Family::Array(_) => {
            unreachable!("{op:?} does not take one word")
        }
        Family::Float(_) if a.is_empty() || target.is_empty() => Approx::exact(Set::empty(width)),
        Family::Float(float) => float::backward_unary(float, op, shape, target, a),
        Family::Bits(_) | Family::Arith(_) | Family::Shift(_) | Family::Compare(_) => {
            debug_assert_eq!(op.arity(), 1, "{op:?} does not take one word");
            Approx::sound(Set::full(width))
        }
    };
    meet(&wanted, a)
}

/// Operands of `width` bits whose extension is in `target`; `all` contains all extensions.
fn extension_operand(target: &Set, all: &Set, width: u32) -> Approx {
    let fits = target.intersect(all);
    fits.set.extract(0, width).exact_if(fits.exact)
}

fn useful_restriction(a: &Set, f: impl Fn(&Set) -> Approx) -> Option<Approx> {
    let narrow = f(a);
    (narrow.exact || !a.is_full()).then_some(narrow)
}

fn meet(wanted: &Approx, a: &Set) -> Approx {
    wanted.set.intersect(a).exact_if(wanted.exact)
}

fn below(set: &Set, limit: u64) -> impl Iterator<Item = Interval> + use<> {
    set.intervals().into_iter().filter(move |s| s.0 <= limit).map(move |(p, q)| (p, q.min(limit)))
}

/// Preimage for operand `which` (0 or 1) of a binary operator, within its own set.
pub fn binary(op: Op, shape: Shape, target: &Set, a: &Set, b: &Set, which: usize) -> Approx {
    let (own, other) = if which == 0 { (a, b) } else { (b, a) };
    let width = own.width();
    if own.is_empty() || other.is_empty() || target.is_empty() {
        return Approx::exact(Set::empty(width));
    }
    let apply = |x: u64, y: u64| if which == 0 { (x, y) } else { (y, x) };
    let reaches = |x: u64, y: u64| {
        let (p, q) = apply(x, y);
        target.contains(eval::word(op, shape, p, q, 0))
    };
    let single = other.value();
    let few = own.count().saturating_mul(other.count()) <= MAX_PAIRS;
    if few || (width <= MAX_BITMAP_WIDTH && single.is_some()) {
        let others: Vec<u64> = other.values().collect();
        return Set::from_values(width, own.values().filter(|&x| others.iter().any(|&y| reaches(x, y))));
    }
    by_intervals(op, shape, target, own, other, which)
}

/// Preimage by rules on intervals, without enumeration. No set is empty.
pub fn by_intervals(op: Op, shape: Shape, target: &Set, own: &Set, other: &Set, which: usize) -> Approx {
    let (width, single) = (own.width(), other.value());
    let same = Shape { width, operand: width, low: 0 };
    // Most rules replace an aligned target by its covering intervals.
    let plain = !target.is_aligned();
    if let Some((cut, own_is_high)) = forward::disjoint_bits(op, own, other) {
        return meet(&disjoint_operand(target, other, cut, own_is_high), own);
    }
    let all = || Approx::sound(Set::full(width));
    let wanted = match op.family() {
        Family::Bits(bits) => match bits {
            BitsOp::And => and(target, other, width),
            BitsOp::Or => or(target, other, width),
            BitsOp::Xor => match single {
                Some(_) => forward::by_intervals(Op::Xor, same, target, other),
                None => all(),
            },
            BitsOp::Not => unreachable!("{op:?} does not take two words"),
        },
        Family::Arith(arith) => match arith {
            ArithOp::Add => forward::binary(Op::Sub, same, target, other),
            ArithOp::Sub if which == 0 => forward::binary(Op::Add, same, target, other),
            ArithOp::Sub => forward::binary(Op::Sub, same, other, target),
            ArithOp::Mul => match single {
                Some(c) if c.is_power_of_two() => unshift(Op::Shl, target, own, c.trailing_zeros().into()),
                Some(c) => factor(target, own, c).exact_if(plain),
                None => all(),
            },
            ArithOp::UDiv if which == 0 => union_over(other, width, |c| dividend(target, c)).exact_if(plain),
            ArithOp::URem if which == 0 => {
                union_over(other, width, |c| congruent(target, own, c)).exact_if(plain)
            }
            ArithOp::SDiv if which == 0 => {
                union_over(other, width, |c| signed_dividend(target, c)).exact_if(plain)
            }
            ArithOp::UDiv | ArithOp::URem | ArithOp::SDiv | ArithOp::SRem => all(),
        },
        Family::Shift(shift) => match shift {
            ShiftOp::Shl if which == 0 => union_over(other, width, |k| unshift(op, target, own, k)),
            ShiftOp::LShr | ShiftOp::AShr if which == 0 => {
                union_over(other, width, |k| unshift(op, target, own, k)).exact_if(plain)
            }
            ShiftOp::Shl | ShiftOp::LShr | ShiftOp::AShr => amounts(op, shape, target, own, other),
        },
        Family::Compare(_) => compare(op, target, other, which),
        Family::Float(float) => float::backward_binary(float, op, shape, target, other, which),
        Family::Shape(ShapeOp::Concat) => concat(shape, target, other, which),
        Family::Shape(_) | Family::Leaf(_) | Family::Array(_) => {
            unreachable!("{op:?} does not take two words")
        }
    };
    meet(&wanted, own)
}

/// Union over the values of the other operand, if there are few.
fn union_over(other: &Set, width: u32, f: impl Fn(u64) -> Approx) -> Approx {
    if other.count() > MAX_OTHERS {
        return Approx::sound(Set::full(width));
    }
    let mut all = Approx::exact(Set::empty(width));
    for y in other.values() {
        let one = f(y);
        let exact = all.exact && one.exact;
        all = all.set.union(&one.set).exact_if(exact);
    }
    all
}

fn and(target: &Set, other: &Set, width: u32) -> Approx {
    let Some(m) = other.value() else {
        // x & y <= x
        return Approx::sound(Set::interval(width, target.min().expect("not empty"), mask(width)));
    };
    masked(target, m, width)
}

/// Words x with `x & m` in the target.
pub fn masked(target: &Set, m: u64, width: u32) -> Approx {
    match runs(m)[..] {
        [] => Approx::exact(Set::full_if(width, target.contains(0))),
        [(low, length)] => unscaled(target, low, length).set.lift(low, width),
        [(low, _), .., (last, length)] => {
            let hull = last + length - low;
            if hull <= MAX_BITMAP_WIDTH {
                let field = (0..=mask(hull)).filter(|v| target.contains(v << low & m));
                return Set::from_values(hull, field).set.lift(low, width);
            }
            // x & m <= x
            Approx::sound(Set::interval(width, target.min().expect("not empty"), mask(width)))
        }
    }
}

/// Values f of `length` bits with `f << low` in the target.
pub fn unscaled(target: &Set, low: u32, length: u32) -> Approx {
    let high = target.high_bits(low, 0);
    let fits = high.intersect(&Set::interval(high.width(), 0, mask(length)));
    fits.set.extract(0, length).exact_if(fits.exact)
}

fn or(target: &Set, other: &Set, width: u32) -> Approx {
    let Some(m) = other.value() else {
        // x <= x | y
        return Approx::sound(Set::interval(width, 0, target.max().expect("not empty")));
    };
    // x | m = (x & !m) + m
    let shape = Shape { width, operand: width, low: 0 };
    let rest = forward::binary(Op::Sub, shape, target, other);
    masked(&rest.set, !m & mask(width), width).exact_if(rest.exact)
}

/// Preimage of multiplication by a constant: if the bounds of the operand prove that it does not wrap, or for an
/// odd constant and few target values.
fn factor(target: &Set, own: &Set, c: u64) -> Approx {
    let width = own.width();
    if c == 0 {
        return Approx::exact(Set::full_if(width, target.contains(0)));
    }
    let most = own.max().expect("not empty");
    if u128::from(most) * u128::from(c) <= u128::from(mask(width)) {
        let intervals = target.intervals().into_iter().map(|(p, q)| (p.div_ceil(c), q / c));
        return Set::from_intervals(width, intervals.filter(|(p, q)| p <= q));
    }
    let (least, most) = own.signed_bounds().expect("not empty");
    let (by, half) = (i128::from(signed(width, c)), 1i128 << (width - 1));
    let fits = |v: i128| (-half..half).contains(&v);
    if fits(least * by) && fits(most * by) {
        let mut parts: Vec<Interval> = Vec::new();
        for (p, q) in target.signed_intervals() {
            let (p, q) = if by > 0 { (p, q) } else { (-q, -p) };
            let (from, to) = (-((-p).div_euclid(by.abs())), q.div_euclid(by.abs()));
            parts.extend(Set::from_integers(width, from, to).intervals());
        }
        return Set::from_intervals(width, parts);
    }
    if c % 2 == 1 && target.count() <= 64 {
        let inverse = inverse_of_odd(c);
        return Set::from_values(width, target.values().map(|t| t.wrapping_mul(inverse) & mask(width)));
    }
    Approx::sound(Set::full(width))
}

/// Words x with `x / c` in the target. The preimage of an interval is an interval.
fn dividend(target: &Set, c: u64) -> Approx {
    let width = target.width();
    if c == 0 {
        return Approx::exact(Set::full_if(width, target.contains(mask(width))));
    }
    let intervals = target.intervals().into_iter().filter_map(|(p, q)| {
        let from = p.checked_mul(c).filter(|from| *from <= mask(width))?;
        let to = q.checked_mul(c).and_then(|to| to.checked_add(c - 1)).unwrap_or(u64::MAX);
        Some((from, to.min(mask(width))))
    });
    Set::from_intervals(width, intervals)
}

/// Words x of `own` with `x % c` in the target, one period at a time if there are few.
fn congruent(target: &Set, own: &Set, c: u64) -> Approx {
    let width = own.width();
    if c == 0 {
        return Approx::exact(target.clone());
    }
    if c.is_power_of_two() && c > 1 {
        let bits = c.trailing_zeros();
        let fits = target.intersect(&Set::interval(width, 0, c - 1));
        return own.with_field(0, &fits.set.extract(0, bits).set).exact_if(fits.exact);
    }
    let (first, last) = (own.min().expect("not empty") / c, own.max().expect("not empty") / c);
    if last - first > MAX_PERIODS {
        let possible = below(target, c - 1).next().is_some();
        return Approx { set: Set::full_if(width, possible), exact: !possible };
    }
    let mut parts: Vec<Interval> = Vec::new();
    for period in first..=last {
        let base = period * c;
        for (p, q) in below(target, c - 1) {
            if let Some(from) = base.checked_add(p).filter(|from| *from <= mask(width)) {
                parts.push((from, base.saturating_add(q).min(mask(width))));
            }
        }
    }
    Set::from_intervals(width, parts)
}

/// Words x with signed `x / c` in the target.
fn signed_dividend(target: &Set, c: u64) -> Approx {
    let width = target.width();
    let (half, by) = (1i128 << (width - 1), i128::from(signed(width, c)));
    let mut parts: Vec<Interval> = Vec::new();
    let mut add = |from: i128, to: i128| {
        let (from, to) = (from.max(-half), to.min(half - 1));
        parts.extend(Set::from_integers(width, from, to).intervals());
    };
    if by == 0 {
        if target.contains(1) {
            add(-half, -1);
        }
        if target.contains(mask(width)) {
            add(0, half - 1);
        }
        return Set::from_intervals(width, parts);
    }
    if by == -1 {
        let shape = Shape { width, operand: width, low: 0 };
        return forward::binary(Op::Sub, shape, &Set::single(width, 0), target);
    }
    let size = by.abs();
    for (p, q) in target.signed_intervals() {
        // x / -c is -(x / c).
        let (p, q) = if by > 0 { (p, q) } else { (-q, -p) };
        // Division rounds towards zero, so quotient 0 has dividends of both signs.
        let from = if p > 0 { p * size } else { p * size - (size - 1) };
        let to = if q < 0 { q * size } else { q * size + (size - 1) };
        add(from, to);
    }
    Set::from_intervals(width, parts)
}

/// Words x whose shift by `amount` is in the target.
fn unshift(op: Op, target: &Set, own: &Set, amount: u64) -> Approx {
    let width = target.width();
    if amount >= width.into() && op != Op::AShr {
        return Approx::exact(Set::full_if(width, target.contains(0)));
    }
    let k = amount.min(u64::from(width) - 1) as u32;
    match op {
        Op::LShr => {
            let intervals = below(target, mask(width) >> k);
            Set::from_intervals(width, intervals.map(|(p, q)| (p << k, q << k | super::field::ones(k))))
        }
        Op::AShr => {
            let half = 1i128 << (width - 1);
            let (least, most) = (-half >> k, (half - 1) >> k);
            let mut parts: Vec<Interval> = Vec::new();
            for (p, q) in target.signed_intervals() {
                let (p, q) = (p.max(least), q.min(most));
                if p <= q {
                    parts.extend(Set::from_integers(width, p << k, (q << k) + (1 << k) - 1).intervals());
                }
            }
            Set::from_intervals(width, parts)
        }
        _ => {
            let kept = unscaled(target, k, width - k);
            let narrow = own.with_field(0, &kept.set);
            if narrow.exact || !own.is_full() {
                return narrow.exact_if(kept.exact);
            }
            kept.set.lift(0, width).exact_if(kept.exact)
        }
    }
}

/// Amounts by which a shift of some member of `from` reaches the target.
fn amounts(op: Op, shape: Shape, target: &Set, own: &Set, from: &Set) -> Approx {
    let width = own.width();
    if own.count() > MAX_OTHERS {
        return Approx::sound(Set::full(width));
    }
    let reaches = |amount: &u64| {
        let image = forward::binary(op, shape, from, &Set::single(width, *amount));
        !image.set.is_disjoint(target)
    };
    Approx::sound(Set::from_values(width, own.values().filter(reaches)).set)
}

fn compare(op: Op, target: &Set, other: &Set, which: usize) -> Approx {
    let width = other.width();
    let (holds, fails) = (target.contains(1), target.contains(0));
    if holds && fails {
        return Approx::exact(Set::full(width));
    }
    if op == Op::Eq {
        if holds {
            return Approx::exact(other.clone());
        }
        return match other.value() {
            Some(_) => other.complement(),
            None => Approx::exact(Set::full(width)),
        };
    }
    let is_signed = op.is_signed();
    let half = 1i128 << (width - 1);
    let (least, most) = if is_signed { (-half, half - 1) } else { (0, i128::from(mask(width))) };
    let (other_min, other_max) = if is_signed {
        other.signed_bounds().expect("not empty")
    } else {
        (other.min().expect("not empty").into(), other.max().expect("not empty").into())
    };
    // `x < y` is false iff `y <= x`: the negation swaps the operands and the strictness.
    let strict = op.is_strict() == holds;
    let own_is_less = (which == 0) == holds;
    let step = i128::from(strict);
    let (from, to) = if own_is_less { (least, other_max - step) } else { (other_min + step, most) };
    Approx::exact(Set::from_integers(width, from, to))
}

/// Preimage for one of two operands that have no set bits in common.
fn disjoint_operand(target: &Set, other: &Set, cut: u32, own_is_high: bool) -> Approx {
    let width = target.width();
    if own_is_high {
        let fits = target.with_field(0, &other.extract(0, cut).set);
        let field = fits.set.extract(cut, width - cut).exact_if(fits.exact);
        return field.with_low_bits(cut, 0);
    }
    let fits = target.with_field(cut, &other.extract(cut, width - cut).set);
    let field = fits.set.extract(0, cut).exact_if(fits.exact);
    forward::unary(Op::ZExt, Shape { width, operand: cut, low: 0 }, &field.set).exact_if(field.exact)
}

fn concat(shape: Shape, target: &Set, other: &Set, which: usize) -> Approx {
    let (low_width, high_width) = (shape.low, shape.width - shape.low);
    if which == 0 {
        let fits = target.with_field(0, other);
        let field = fits.set.extract(low_width, high_width);
        return field.exact_if(fits.exact);
    }
    let fits = target.with_field(low_width, other);
    fits.set.extract(0, low_width).exact_if(fits.exact)
}

/// Preimages for the operands of `Ite`: condition, then, otherwise.
pub fn ite(target: &Set, condition: &Set, then: &Set, otherwise: &Set) -> [Approx; 3] {
    let (takes, leaves) = (!then.is_disjoint(target), !otherwise.is_disjoint(target));
    let truth = Set::from_map(1, [u64::from(leaves) | u64::from(takes) << 1, 0, 0, 0]);
    let truth = truth.intersect(condition);
    let (can_take, can_leave) = (truth.set.contains(1), truth.set.contains(0));
    let arm = |own: &Set, this: bool, that: bool| match (this, that) {
        (true, false) => own.intersect(target),
        // The other arm may be selected, so this one is not restricted.
        (_, true) => Approx::exact(own.clone()),
        (false, false) => Approx::exact(Set::empty(own.width())),
    };
    [truth, arm(then, can_take, can_leave), arm(otherwise, can_leave, can_take)]
}
