//! Images of sets under operators: the values of a node whose operands lie in given sets.
//!
//! An image contains `eval::word` of every choice of operands (sound). The flag says that it contains nothing else
//! if operands are chosen independently (exact). Small products of operands are enumerated; above that, each
//! operator has its own rule on intervals. Tests compare all of it with `eval`.

use super::field::ones;
use super::float;
use super::set::{Approx, Interval, Repr, Set};
use crate::expr::bits::mask;
use crate::expr::eval::{self, Shape};
use crate::expr::{ArithOp, BitsOp, Family, Op, ShapeOp, ShiftOp};
use smallvec::SmallVec;

/// Maximum number of pairs of operand values that are enumerated.
pub const MAX_PAIRS: u128 = 64;
/// Maximum number of pairs of intervals that are combined. Above it, one side is replaced by its hull.
const MAX_INTERVAL_PAIRS: usize = 1024;
/// Maximum number of shift amounts that are handled one by one.
const MAX_AMOUNTS: u128 = 65;

type Words = SmallVec<[u64; 64]>;

/// Image of a unary operator.
pub fn unary(op: Op, shape: Shape, a: &Set) -> Approx {
    let width = shape.width;
    if a.is_empty() {
        return Approx::exact(Set::empty(width));
    }
    if let Repr::Aligned(own) = a.repr()
        && matches!(op, Op::Not | Op::ZExt | Op::SExt)
    {
        // Extensions keep the lowest bits, `Not` inverts them.
        let low = if op == Op::Not { !own.low & ones(own.shift) } else { own.low };
        let above = Shape { width: width - own.shift, operand: own.high.width(), low: 0 };
        let high = unary(op, above, &own.high);
        return high.with_low_bits(own.shift, low);
    }
    match op.family() {
        Family::Bits(BitsOp::Not) => {
            let all = mask(width);
            Set::from_intervals(width, a.intervals().into_iter().map(|(low, high)| (all - high, all - low)))
        }
        Family::Shape(ShapeOp::Extract) => a.extract(shape.low, width),
        Family::Shape(ShapeOp::ZExt) => Set::from_intervals(width, a.intervals()),
        Family::Shape(ShapeOp::SExt) => {
            let intervals = a.signed_intervals().into_iter();
            let word = |v: i128| v as u64 & mask(width);
            Set::from_intervals(width, intervals.map(|(low, high)| (word(low), word(high))))
        }
        Family::Shape(ShapeOp::Concat | ShapeOp::Ite) | Family::Leaf(_) | Family::Array(_) => {
            unreachable!("{op:?} does not take one word")
        }
        Family::Float(float) => float::forward_unary(float, op, shape, a),
        Family::Bits(_) | Family::Arith(_) | Family::Shift(_) | Family::Compare(_) => {
            debug_assert_eq!(op.arity(), 1, "{op:?} does not take one word");
            Approx::sound(Set::full(width))
        }
    }
}

impl Set {
    /// Adds `distance` to every member, with wrap-around.
    pub fn plus(&self, distance: u64) -> Set {
        let shape = Shape { width: self.width(), operand: self.width(), low: 0 };
        binary(Op::Add, shape, self, &Set::single(self.width(), distance)).set
    }
}

/// Image of a binary operator.
pub fn binary(op: Op, shape: Shape, a: &Set, b: &Set) -> Approx {
    let width = shape.width;
    if a.is_empty() || b.is_empty() {
        return Approx::exact(Set::empty(width));
    }
    if op.is_comparison() {
        return compare(op, a, b);
    }
    if a.count().saturating_mul(b.count()) <= MAX_PAIRS {
        let (left, right): (Words, Words) = (a.values().collect(), b.values().collect());
        let pairs = left.iter().flat_map(|&x| right.iter().map(move |&y| (x, y)));
        return Set::from_values(width, pairs.map(|(x, y)| eval::word(op, shape, x, y, 0)));
    }
    by_intervals(op, shape, a, b)
}

/// Image of a binary operator by rules on intervals, without enumeration. Neither set is empty.
pub fn by_intervals(op: Op, shape: Shape, a: &Set, b: &Set) -> Approx {
    let width = shape.width;
    if let Some(image) = split_low_bits(op, width, a, b) {
        return image;
    }
    if let Some((cut, a_is_high)) = disjoint_bits(op, a, b) {
        let (high, low) = if a_is_high { (a, b) } else { (b, a) };
        let (high, low) = (high.extract(cut, width - cut), low.extract(0, cut));
        let parts = Shape { width, operand: width - cut, low: cut };
        return concat(parts, &high.set, &low.set).exact_if(high.exact && low.exact);
    }
    // The rules below replace an aligned set by its covering intervals.
    let plain = !a.is_aligned() && !b.is_aligned();
    match op.family() {
        Family::Bits(op) => match op {
            BitsOp::And => and(width, a, b).exact_if(plain),
            BitsOp::Or => or(width, a, b).exact_if(plain),
            BitsOp::Xor => xor(width, a, b).exact_if(plain),
            BitsOp::Not => unreachable!("{op:?} does not take two words"),
        },
        Family::Arith(op) => match op {
            ArithOp::Add => add(width, a, b).exact_if(plain || fills_gaps(a, b) || fills_gaps(b, a)),
            ArithOp::Sub => subtract(width, a, b).exact_if(plain || fills_gaps(a, b) || fills_gaps(b, a)),
            ArithOp::Mul => multiply(width, a, b),
            ArithOp::UDiv => unsigned_quotient(width, a, b).exact_if(plain),
            ArithOp::URem => unsigned_remainder(width, a, b).exact_if(plain),
            ArithOp::SDiv => signed_quotient(width, a, b).exact_if(plain),
            ArithOp::SRem => signed_remainder(width, a, b).exact_if(plain),
        },
        Family::Shift(shift_op) => match shift_op {
            ShiftOp::Shl | ShiftOp::LShr | ShiftOp::AShr => shift(op, width, a, b),
        },
        Family::Compare(_) => compare(op, a, b),
        Family::Float(float) => float::forward_binary(float, op, shape, a, b),
        Family::Shape(ShapeOp::Concat) => concat(shape, a, b),
        Family::Shape(_) | Family::Leaf(_) | Family::Array(_) => {
            unreachable!("{op:?} does not take two words")
        }
    }
}

/// Image of an operator on three words of one width.
pub fn ternary(op: Op, shape: Shape, operands: [&Set; 3]) -> Approx {
    match op.family() {
        Family::Float(float) => float::forward_ternary(float, op, shape, operands),
        _ => unreachable!("{op:?} does not take three words of one width"),
    }
}

/// Image of `Ite`.
pub fn ite(condition: &Set, then: &Set, otherwise: &Set) -> Approx {
    match (condition.contains(1), condition.contains(0)) {
        (true, true) => then.union(otherwise),
        (true, false) => Approx::exact(then.clone()),
        (false, true) => Approx::exact(otherwise.clone()),
        (false, false) => Approx::exact(Set::empty(then.width())),
    }
}

/// Image for aligned sets: the shared lowest bits and the upper bits separately.
fn split_low_bits(op: Op, width: u32, a: &Set, b: &Set) -> Option<Approx> {
    if !a.is_aligned() && !b.is_aligned() {
        return None;
    }
    let shift = a.shared_low().min(b.shared_low());
    if shift == 0 || !matches!(op, Op::And | Op::Or | Op::Xor | Op::Add | Op::Sub) {
        return None;
    }
    let (x, y) = (a.min()? & ones(shift), b.min()? & ones(shift));
    let shape = Shape { width, operand: width, low: 0 };
    let low = eval::word(op, shape, x, y, 0) & ones(shift);
    let above = width - shift;
    let shape = Shape { width: above, operand: above, low: 0 };
    let mut high = binary(op, shape, &a.high_bits(shift, x), &b.high_bits(shift, y));
    // The lowest bits are constant, so the carry is the same for all pairs.
    let carries = match op {
        Op::Add => x + y > ones(shift),
        Op::Sub => x < y,
        _ => false,
    };
    if carries {
        let exact = high.exact;
        high = binary(op, shape, &high.set, &Set::single(above, 1)).exact_if(exact);
    }
    Some(high.with_low_bits(shift, low))
}

/// Tests whether the operands have no set bits in common, so that the result is a concatenation. Returns the lowest
/// bit of the high part, and whether `a` is the high part.
pub fn disjoint_bits(op: Op, a: &Set, b: &Set) -> Option<(u32, bool)> {
    if !matches!(op, Op::Or | Op::Xor | Op::Add) || a.value().is_some() || b.value().is_some() {
        return None;
    }
    let ends = |high: &Set, low: &Set| {
        let used = 64 - low.max().unwrap_or(0).leading_zeros();
        if used == low.width() {
            return None;
        }
        Some(high.zeros_low()).filter(|zeros| *zeros >= used)
    };
    ends(a, b).map(|cut| (cut, true)).or_else(|| ends(b, a).map(|cut| (cut, false)))
}

/// Returns true if every interval of `filling` is at least as long as the distance between members of `aligned`.
fn fills_gaps(filling: &Set, aligned: &Set) -> bool {
    match aligned.repr() {
        Repr::Aligned(own) => {
            !filling.is_aligned() && filling.intervals().iter().all(|(p, q)| q - p >= ones(own.shift))
        }
        Repr::Bitmap(_) | Repr::Intervals(_) => false,
    }
}

/// A comparison can be true if it is true for the most favourable bounds, and false if it is false for the least
/// favourable.
fn compare(op: Op, a: &Set, b: &Set) -> Approx {
    let ends = |signed: bool, s: &Set| -> (i128, i128) {
        if signed {
            return s.signed_bounds().expect("not empty");
        }
        (s.min().expect("not empty").into(), s.max().expect("not empty").into())
    };
    let signed = op.is_signed();
    let (can_hold, can_fail) = match op {
        Op::Eq => (!a.is_disjoint(b), a.value().is_none() || a.value() != b.value()),
        _ => {
            let ((a_min, a_max), (b_min, b_max)) = (ends(signed, a), ends(signed, b));
            match op {
                Op::Ult | Op::Slt => (a_min < b_max, a_max >= b_min),
                _ => (a_min <= b_max, a_max > b_min),
            }
        }
    };
    Approx::exact(Set::from_map(1, [u64::from(can_fail) | u64::from(can_hold) << 1, 0, 0, 0]))
}

/// An interval of integers. Words are its residues.
struct IntegerInterval {
    low: i128,
    high: i128,
}

impl IntegerInterval {
    fn new(low: i128, high: i128) -> IntegerInterval {
        IntegerInterval { low, high }
    }
}

fn sum(a: u64, b: u64) -> i128 {
    i128::from(a) + i128::from(b)
}

fn difference(a: u64, b: u64) -> i128 {
    i128::from(a) - i128::from(b)
}

/// The intervals, or their hull if there would be more than `MAX_INTERVAL_PAIRS` pairs.
fn intervals_or_hull(a: &Set, others: usize) -> (Vec<Interval>, bool) {
    let intervals = a.intervals();
    if intervals.len() * others <= MAX_INTERVAL_PAIRS {
        return (intervals.to_vec(), true);
    }
    (vec![(intervals[0].0, intervals[intervals.len() - 1].1)], false)
}

/// Exact on each pair of intervals: every integer between the bounds is reached.
fn pairwise(width: u32, a: &Set, b: &Set, combine: impl Fn(Interval, Interval) -> IntegerInterval) -> Approx {
    let (left, whole) = intervals_or_hull(a, b.intervals().len());
    let mut parts: Vec<Interval> = Vec::new();
    for &x in &left {
        for y in b.intervals() {
            let IntegerInterval { low, high } = combine(x, y);
            if high - low >= i128::from(mask(width)) {
                return Approx::exact(Set::full(width)).exact_if(whole);
            }
            parts.extend(Set::from_integers(width, low, high).intervals());
        }
    }
    Set::from_intervals(width, parts).exact_if(whole)
}

fn add(width: u32, a: &Set, b: &Set) -> Approx {
    pairwise(width, a, b, |(a, b), (c, d)| IntegerInterval::new(sum(a, c), sum(b, d)))
}

fn subtract(width: u32, a: &Set, b: &Set) -> Approx {
    pairwise(width, a, b, |(a, b), (c, d)| IntegerInterval::new(difference(a, d), difference(b, c)))
}

/// Factors out the powers of two that divide all members.
fn multiply(width: u32, a: &Set, b: &Set) -> Approx {
    let (p, q) = (a.zeros_low(), b.zeros_low());
    if p + q == 0 {
        return multiply_odd(width, a, b);
    }
    if p + q >= width {
        return Approx::exact(Set::single(width, 0));
    }
    let left = width - p - q;
    let (x, y) = (a.extract(p, left), b.extract(q, left));
    let odd = multiply_odd(left, &x.set, &y.set).exact_if(x.exact && y.exact);
    odd.with_low_bits(p + q, 0)
}

fn multiply_odd(width: u32, a: &Set, b: &Set) -> Approx {
    for (one, other) in [(a, b), (b, a)] {
        if one.value() == Some(1) {
            return Approx::exact(other.clone());
        }
    }
    let mut parts: Vec<Interval> = Vec::new();
    let (left, right) = (a.signed_intervals(), b.signed_intervals());
    if left.len() * right.len() > MAX_INTERVAL_PAIRS {
        return Approx::sound(Set::full(width));
    }
    for &(a_low, a_high) in &left {
        for &(b_low, b_high) in &right {
            let ends = [a_low * b_low, a_low * b_high, a_high * b_low, a_high * b_high];
            parts.extend(hull(width, ends).intervals());
        }
    }
    Approx::sound(Set::from_intervals(width, parts).set)
}

/// Words congruent to the integers from the least to the greatest of `ends`.
fn hull(width: u32, ends: [i128; 4]) -> Set {
    let [first, others @ ..] = ends;
    let (low, high) =
        others.into_iter().fold((first, first), |(low, high), end| (low.min(end), high.max(end)));
    Set::from_integers(width, low, high)
}

fn unsigned_quotient(width: u32, a: &Set, b: &Set) -> Approx {
    let mut parts: Vec<Interval> = Vec::new();
    if b.contains(0) {
        parts.push((mask(width), mask(width)));
    }
    let divisors = b.intersect(&Set::interval(width, 1, mask(width))).set;
    if let (Some(least), Some(most)) = (divisors.min(), divisors.max()) {
        parts.extend(a.intervals().into_iter().map(|(low, high)| (low / most, high / least)));
    }
    Set::from_intervals(width, parts).exact_if(divisors.is_empty() || divisors.value().is_some())
}

fn unsigned_remainder(width: u32, a: &Set, b: &Set) -> Approx {
    let mut parts: Vec<Interval> = Vec::new();
    let mut exact = true;
    if b.contains(0) {
        parts.extend(a.intervals());
    }
    let divisors = b.intersect(&Set::interval(width, 1, mask(width))).set;
    match (divisors.min(), divisors.max(), divisors.value()) {
        (None, _, _) | (_, None, _) => {}
        (_, _, Some(c)) => {
            for (low, high) in a.intervals() {
                parts.extend(remainder_intervals(low, high, c));
            }
        }
        (Some(least), Some(most), None) => {
            // A dividend below every divisor is its own remainder.
            for (low, high) in a.intervals() {
                if high < least {
                    parts.push((low, high));
                } else {
                    parts.push((0, high.min(most - 1)));
                    exact = false;
                }
            }
        }
    }
    Set::from_intervals(width, parts).exact_if(exact)
}

/// Remainders of an interval by a nonzero constant.
fn remainder_intervals(low: u64, high: u64, c: u64) -> Vec<Interval> {
    if high - low >= c - 1 {
        return vec![(0, c - 1)];
    }
    let (from, to) = (low % c, high % c);
    if from <= to { vec![(from, to)] } else { vec![(0, to), (from, c - 1)] }
}

fn signed_quotient(width: u32, a: &Set, b: &Set) -> Approx {
    let mut parts: Vec<Interval> = Vec::new();
    let mut exact = true;
    let divisors: Vec<(i128, i128)> = b.signed_intervals().into_iter().flat_map(without_zero).collect();
    if divisors.len() * a.intervals().len() > MAX_INTERVAL_PAIRS {
        return Approx::sound(Set::full(width));
    }
    for (low, high) in a.signed_intervals() {
        if b.contains(0) {
            if low < 0 {
                parts.push((1, 1));
            }
            if high >= 0 {
                parts.push((mask(width), mask(width)));
            }
        }
        for &(from, to) in &divisors {
            exact &= from == to;
            let ends = [low / from, low / to, high / from, high / to];
            parts.extend(hull(width, ends).intervals());
        }
    }
    Set::from_intervals(width, parts).exact_if(exact)
}

fn without_zero((low, high): (i128, i128)) -> Vec<(i128, i128)> {
    // Intervals do not cross the sign boundary, so 0 can only be the lower end.
    match (low, high) {
        (0, 0) => vec![],
        (0, high) => vec![(1, high)],
        interval => vec![interval],
    }
}

fn signed_remainder(width: u32, a: &Set, b: &Set) -> Approx {
    let mut parts: Vec<Interval> = Vec::new();
    let mut exact = true;
    let divisors: Vec<(i128, i128)> = b.signed_intervals().into_iter().flat_map(without_zero).collect();
    let magnitudes = |&(from, to): &(i128, i128)| [from.unsigned_abs(), to.unsigned_abs()];
    let least = divisors.iter().flat_map(magnitudes).min();
    let most = divisors.iter().flat_map(magnitudes).max();
    for (low, high) in a.signed_intervals() {
        if b.contains(0) {
            parts.extend(Set::from_integers(width, low, high).intervals());
        }
        let (Some(least), Some(most)) = (least, most) else { continue };
        // The remainder of the magnitudes, with the sign of the dividend.
        let (negative, from, to) = (low < 0, low.unsigned_abs(), high.unsigned_abs());
        let (from, to) = (from.min(to), from.max(to));
        let remainders = if least == most {
            remainder_intervals(from as u64, to as u64, least as u64)
        } else if to < least {
            vec![(from as u64, to as u64)]
        } else {
            exact = false;
            vec![(0, to.min(most - 1) as u64)]
        };
        for (r, s) in remainders {
            let (r, s) = (i128::from(r), i128::from(s));
            let set =
                if negative { Set::from_integers(width, -s, -r) } else { Set::from_integers(width, r, s) };
            parts.extend(set.intervals());
        }
    }
    Set::from_intervals(width, parts).exact_if(exact)
}

fn shift(op: Op, width: u32, a: &Set, amounts: &Set) -> Approx {
    if amounts.count() > MAX_AMOUNTS {
        let set = match op {
            // A logical right shift does not increase an unsigned value.
            Op::LShr => Set::interval(width, 0, a.max().expect("not empty")),
            _ => Set::full(width),
        };
        return Approx::sound(set);
    }
    let mut result = Approx::exact(Set::empty(width));
    for amount in amounts.values() {
        let one = shift_by(op, width, a, amount);
        let exact = result.exact && one.exact;
        result = result.set.union(&one.set).exact_if(exact);
    }
    result
}

fn shift_by(op: Op, width: u32, a: &Set, amount: u64) -> Approx {
    if amount >= width.into() && op != Op::AShr {
        return Approx::exact(Set::single(width, 0));
    }
    let k = amount.min(u64::from(width) - 1) as u32;
    match op {
        Op::LShr | Op::AShr => {
            let field = a.extract(k, width - k);
            let extension = if op == Op::LShr { Op::ZExt } else { Op::SExt };
            extend(extension, width, &field)
        }
        _ => {
            let kept = a.extract(0, width - k);
            kept.with_low_bits(k, 0)
        }
    }
}

fn extend(op: Op, width: u32, a: &Approx) -> Approx {
    if a.set.width() == width {
        return a.clone();
    }
    unary(op, Shape { width, operand: a.set.width(), low: 0 }, &a.set).exact_if(a.exact)
}

fn concat(shape: Shape, a: &Set, b: &Set) -> Approx {
    let low_width = shape.low;
    let shared = b.shared_low();
    if shared > 0 {
        let bits = b.min().expect("not empty") & ones(shared);
        let left = low_width - shared;
        let high = if left == 0 {
            Approx::exact(a.clone())
        } else {
            let above = Shape { width: shape.width - shared, operand: shape.operand, low: left };
            concat(above, a, &b.high_bits(shared, bits))
        };
        return high.with_low_bits(shared, bits);
    }
    let join = |x: u64, y: u64| x << low_width | y;
    if b.is_full() {
        let intervals = a.intervals().into_iter();
        let whole =
            Set::from_intervals(shape.width, intervals.map(|(x, y)| (join(x, 0), join(y, ones(low_width)))));
        return whole.exact_if(!a.is_aligned());
    }
    if a.count() <= 64 {
        let all =
            a.values().flat_map(|x| b.intervals().into_iter().map(move |(y, z)| (join(x, y), join(x, z))));
        return Set::from_intervals(shape.width, all);
    }
    let (low, high) = (b.min().expect("not empty"), b.max().expect("not empty"));
    let intervals = a.intervals().into_iter();
    Approx::sound(Set::from_intervals(shape.width, intervals.map(|(x, y)| (join(x, low), join(y, high)))).set)
}

/// Lowest bit and length of each run of ones.
pub fn runs(word: u64) -> Vec<(u32, u32)> {
    let mut all = Vec::new();
    let mut left = word;
    while left != 0 {
        let low = left.trailing_zeros();
        let length = (left >> low).trailing_ones();
        all.push((low, length));
        left &= !(mask(length) << low);
    }
    all
}

fn and(width: u32, a: &Set, b: &Set) -> Approx {
    for (x, m) in [(a, b.value()), (b, a.value())] {
        let Some(m) = m.filter(|m| *m != 0) else { continue };
        let low = m.trailing_zeros();
        if let [(_, length)] = runs(m)[..] {
            // One run of ones: a field of `x`, moved back to its position.
            let field = extend(Op::ZExt, width - low, &x.extract(low, length));
            return field.with_low_bits(low, 0);
        }
        if low > 0 {
            let above =
                and(width - low, &x.extract(low, width - low).set, &Set::single(width - low, m >> low));
            return Approx::sound(above.set.with_low_bits(low, 0));
        }
    }
    let most = a.max().expect("not empty").min(b.max().expect("not empty"));
    Approx::sound(Set::interval(width, 0, most))
}

fn or(width: u32, a: &Set, b: &Set) -> Approx {
    for (x, m) in [(a, b.value()), (b, a.value())] {
        let Some(m) = m else { continue };
        let low = m.trailing_ones();
        if m == 0 || low >= width {
            return Approx::exact(if m == 0 { x.clone() } else { Set::single(width, m) });
        }
        if low > 0 {
            let kept = x.extract(low, width - low);
            let above = or(width - low, &kept.set, &Set::single(width - low, m >> low));
            return above.with_low_bits(low, ones(low)).exact_if(kept.exact);
        }
    }
    let least = a.min().expect("not empty").max(b.min().expect("not empty"));
    let most = a.max().expect("not empty") | b.max().expect("not empty");
    Approx::sound(Set::interval(width, least, ones(64 - most.leading_zeros())))
}

fn xor(width: u32, a: &Set, b: &Set) -> Approx {
    for (x, c) in [(a, b.value()), (b, a.value())] {
        if let Some(c) = c {
            return xor_constant(x, c);
        }
    }
    let most = a.max().expect("not empty") | b.max().expect("not empty");
    Approx::sound(Set::interval(width, 0, ones(64 - most.leading_zeros())))
}

/// Splits intervals into aligned blocks. The constant maps each block to a block of the same size.
pub fn xor_constant(x: &Set, c: u64) -> Approx {
    let mut parts: Vec<Interval> = Vec::new();
    for (low, high) in x.intervals() {
        let mut at = low;
        loop {
            // The largest aligned block that starts at `at` and lies in the interval.
            let mut size = if at == 0 { 63 } else { at.trailing_zeros().min(63) };
            while at.checked_add(ones(size)).is_none_or(|end| end > high) {
                size -= 1;
            }
            let base = (at ^ c) & !ones(size);
            parts.push((base, base | ones(size)));
            match at.checked_add(ones(size) + 1) {
                Some(next) if next <= high => at = next,
                Some(_) | None => break,
            }
        }
    }
    Set::from_intervals(x.width(), parts)
}
