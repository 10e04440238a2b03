//! Images and preimages of sets compared with `eval`, exhaustively at small widths: always sound, exact where
//! flagged.

use crate::float::shapes::float_shapes;
use partita_core::expr::bits::mask;
use partita_core::expr::eval::{Shape, word};
use partita_core::expr::{Family, FloatOp, Op, ResultSort};
use partita_core::interval::{Approx, Set, backward, forward};

/// Sets of one or two intervals of `width`-bit words: all intervals, and pairs of intervals around a gap.
fn sets(width: u32) -> Vec<Set> {
    let top = mask(width);
    let mut all = Vec::new();
    for low in 0..=top {
        for high in low..=top {
            all.push(Set::interval(width, low, high));
            if low > 0 && high < top && high - low < 3 {
                all.push(Set::interval(width, low, high).complement().set);
            }
        }
    }
    all
}

fn check(what: &str, got: &Approx, expected: &[u64]) {
    for &v in expected {
        assert!(got.set.contains(v), "{what}: {v} is missing from {:?}", got.set);
    }
    if got.exact {
        assert_eq!(got.set.count(), expected.len() as u128, "{what}: {:?} is flagged exact", got.set);
    }
}

fn distinct(mut values: Vec<u64>) -> Vec<u64> {
    values.sort_unstable();
    values.dedup();
    values
}

/// Functions of `arity` words, except `Ite`.
fn operators(arity: usize) -> impl Iterator<Item = Op> {
    Op::ALL.iter().copied().filter(move |op| op.is_on_words() && op.arity() == arity)
}

fn unary_shapes(op: Op, width: u32) -> Vec<Shape> {
    if let Family::Float(op) = op.family() {
        return float_shapes(op, width).into_iter().step_by(3).collect();
    }
    match op {
        _ if op.result() != ResultSort::Node => {
            let parameters = 0..if op.has_parameter() { width } else { 1 };
            parameters.map(|low| Shape { width, operand: width, low }).collect()
        }
        Op::Extract => {
            let lows = 0..width;
            lows.flat_map(|low| (1..=width - low).map(move |w| Shape { width: w, operand: width, low }))
                .collect()
        }
        _ => (width + 1..=width + 3).map(|w| Shape { width: w, operand: width, low: 0 }).collect(),
    }
}

/// Binary operators with a shape for operands of `width` bits; two of each float operator.
fn binary_cases(width: u32) -> Vec<(Op, Shape)> {
    let mut cases = Vec::new();
    for op in operators(2) {
        if let Family::Float(float) = op.family() {
            let shapes = float_shapes(float, width);
            let some = shapes.first().into_iter().chain(shapes.get(1..).and_then(<[Shape]>::last));
            cases.extend(some.map(|shape| (op, *shape)));
            continue;
        }
        let result = match op {
            _ if op.is_comparison() => 1,
            Op::Concat => 2 * width,
            _ => width,
        };
        let low = if op == Op::Concat { width } else { 0 };
        cases.push((op, Shape { width: result, operand: width, low }));
    }
    cases
}

#[test]
fn every_function_of_words_is_tested() {
    let others = Op::ALL.iter().filter(|op| op.is_on_words() && !(1..=2).contains(&op.arity()));
    assert_eq!(others.copied().collect::<Vec<_>>(), [Op::Ite, Op::FMulAdd]);
}

#[test]
fn unary_operators_at_widths_1_to_8() {
    for op in operators(1) {
        for width in 1..=8 {
            // All intervals up to width 5; above, those that start or end near a power of two.
            let near = |v: u64| {
                width <= 5 || v.count_ones() <= 1 || (v + 1).count_ones() <= 1 || v.is_multiple_of(37)
            };
            let ends = |s: &Set| s.intervals().iter().all(|&(p, q)| near(p) && near(q));
            for a in sets(width).iter().filter(|s| ends(s)) {
                for shape in unary_shapes(op, width) {
                    let what = format!("{op:?} {width} -> {} at {} of {a:?}", shape.width, shape.low);
                    let values = distinct(a.values().map(|x| word(op, shape, x, 0, 0)).collect());
                    check(&what, &forward::unary(op, shape, a), &values);
                    let low = shape.width.min(4);
                    for target in sets(low).iter().step_by(5) {
                        let target = if shape.width > low {
                            target.lift(shape.width - low, shape.width).set
                        } else {
                            target.clone()
                        };
                        let own: Vec<u64> =
                            a.values().filter(|&x| target.contains(word(op, shape, x, 0, 0))).collect();
                        check(
                            &format!("{what} back from {target:?}"),
                            &backward::unary(op, shape, &target, a),
                            &own,
                        );
                    }
                }
            }
        }
    }
}

#[test]
fn binary_operators_at_widths_1_to_4() {
    for width in 1..=4 {
        for (op, shape) in binary_cases(width) {
            // At width 4, every third set on one side, so that the test takes seconds.
            let all = sets(width);
            let step = if width == 4 { 3 } else { 1 };
            for a in &all {
                for b in all.iter().step_by(step) {
                    let pairs = || a.values().flat_map(|x| b.values().map(move |y| (x, y)));
                    let values = distinct(pairs().map(|(x, y)| word(op, shape, x, y, 0)).collect());
                    let what = format!("{op:?} of {a:?} and {b:?}");
                    check(&what, &forward::binary(op, shape, a, b), &values);
                    check(&format!("{what} by intervals"), &forward::by_intervals(op, shape, a, b), &values);
                }
            }
        }
    }
}

#[test]
fn preimages_of_binary_operators_at_widths_1_to_4() {
    for width in 1..=4 {
        for (op, shape) in binary_cases(width) {
            let all = sets(width);
            let (few, targets) = if width == 4 { (13, 11) } else { (1, 2) };
            let singles = (0..=mask(width)).map(|v| Set::single(width, v));
            let others: Vec<Set> = all.iter().step_by(few).cloned().chain(singles).collect();
            for own in all.iter().step_by(few) {
                for other in &others {
                    for which in 0..2 {
                        let results = sets(shape.width.min(4));
                        for target in results.iter().step_by(targets) {
                            let target = if shape.width > 4 {
                                target.lift(1, shape.width).set
                            } else {
                                target.clone()
                            };
                            let meets = |x: u64, y: u64| {
                                let (p, q) = if which == 0 { (x, y) } else { (y, x) };
                                target.contains(word(op, shape, p, q, 0))
                            };
                            let values: Vec<u64> =
                                own.values().filter(|&x| other.values().any(|y| meets(x, y))).collect();
                            let what =
                                format!("{op:?} back from {target:?} to {which}: {own:?} beside {other:?}");
                            let (a, b) = if which == 0 { (own, other) } else { (other, own) };
                            check(&what, &backward::binary(op, shape, &target, a, b, which), &values);
                            let by_intervals = backward::by_intervals(op, shape, &target, own, other, which);
                            check(&format!("{what} by intervals"), &by_intervals, &values);
                        }
                    }
                }
            }
        }
    }
}

#[test]
fn fused_operations_at_widths_4_and_5() {
    for (width, step) in [(4, 23), (5, 97)] {
        let all: Vec<Set> = sets(width).into_iter().step_by(step).collect();
        for shape in float_shapes(FloatOp::FMulAdd, width) {
            for a in &all {
                for b in all.iter().skip(1) {
                    for c in all.iter().skip(2).step_by(2) {
                        let pairs = || a.values().flat_map(|x| b.values().map(move |y| (x, y)));
                        let triples = pairs().flat_map(|(x, y)| c.values().map(move |z| (x, y, z)));
                        let values = triples.map(|(x, y, z)| word(Op::FMulAdd, shape, x, y, z)).collect();
                        let what = format!("{shape:?} of {a:?}, {b:?} and {c:?}");
                        let image = forward::ternary(Op::FMulAdd, shape, [a, b, c]);
                        check(&what, &image, &distinct(values));
                    }
                }
            }
        }
    }
}

#[test]
fn ite_at_widths_1_to_3() {
    for width in 1..=3 {
        let all = sets(width);
        for c in sets(1) {
            for a in &all {
                for b in &all {
                    let arm = |p: u64, x: u64, y: u64| if p == 1 { x } else { y };
                    let triples = || {
                        let pairs = a.values().flat_map(|x| b.values().map(move |y| (x, y)));
                        pairs.flat_map(|(x, y)| c.values().map(move |p| (p, x, y)))
                    };
                    let values = distinct(triples().map(|(p, x, y)| arm(p, x, y)).collect());
                    check("ite", &forward::ite(&c, a, b), &values);
                    for target in all.iter().step_by(3) {
                        let fits: Vec<_> =
                            triples().filter(|&(p, x, y)| target.contains(arm(p, x, y))).collect();
                        let got = backward::ite(target, &c, a, b);
                        check("ite condition", &got[0], &distinct(fits.iter().map(|t| t.0).collect()));
                        check("ite then", &got[1], &distinct(fits.iter().map(|t| t.1).collect()));
                        check("ite otherwise", &got[2], &distinct(fits.iter().map(|t| t.2).collect()));
                    }
                }
            }
        }
    }
}

/// Xorshift, so that seeds are reproducible everywhere.
struct Random(u64);

impl Random {
    fn below(&mut self, n: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) % n
    }

    /// Up to five intervals, often at the ends of the range or around the sign boundary; in one of three cases
    /// words with the same lowest bits.
    fn set(&mut self, width: u32) -> Set {
        if width > 4 && self.below(3) == 0 {
            let shift = 1 + self.below(3) as u32;
            let low = self.below(1 << shift);
            return self.set(width - shift).with_low_bits(shift, low);
        }
        let top = mask(width);
        let ends = [0, 1, top, top - 1, top / 2, top / 2 + 1];
        let n = 1 + self.below(5);
        let mut end = || if self.below(3) == 0 { ends[self.below(6) as usize] } else { self.below(top + 1) };
        let intervals: Vec<(u64, u64)> =
            (0..n).map(|_| (end(), end())).map(|(p, q)| (p.min(q), q.max(p))).collect();
        let short = intervals.into_iter().map(|(p, q)| (p, q.min(p + top / 9)));
        Set::from_intervals(width, short).set
    }
}

/// Widths at which sets are intervals, operators use their rules, and everything can still be enumerated.
#[test]
fn random_sets_at_width_10() {
    let mut random = Random(0x2545_f491_4f6c_dd1d);
    let width = 10;
    for round in 0..40 {
        let (a, b) = (random.set(width), random.set(width));
        let few = Set::from_values(width, b.values().take(1 + round % 3)).set;
        for (op, shape) in binary_cases(width) {
            for b in [&b, &few] {
                let pairs = || a.values().flat_map(|x| b.values().map(move |y| (x, y)));
                let mut values = vec![false; 1 << shape.width];
                pairs().for_each(|(x, y)| values[word(op, shape, x, y, 0) as usize] = true);
                let values: Vec<u64> = (0..1 << shape.width).filter(|v| values[*v as usize]).collect();
                check(&format!("{op:?} of {a:?} and {b:?}"), &forward::binary(op, shape, &a, b), &values);
                let target = random.set(shape.width.max(2));
                let target = if shape.width == 1 { target.extract(0, 1).set } else { target };
                for which in 0..2 {
                    let mut fits = vec![false; 1 << width];
                    for (x, y) in pairs().filter(|&(x, y)| target.contains(word(op, shape, x, y, 0))) {
                        fits[if which == 0 { x } else { y } as usize] = true;
                    }
                    let fits: Vec<u64> = (0..1 << width).filter(|v| fits[*v as usize]).collect();
                    let got = backward::binary(op, shape, &target, &a, b, which);
                    check(
                        &format!("{op:?} back from {target:?} to {which}: {a:?} beside {b:?}"),
                        &got,
                        &fits,
                    );
                }
            }
        }
    }
}

#[test]
fn sets_at_width_10_agree_with_lists() {
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    let width = 10;
    for _ in 0..300 {
        let (a, b) = (random.set(width), random.set(width));
        let all = || 0..=mask(width);
        let filter = |f: &dyn Fn(u64) -> bool| all().filter(|&v| f(v)).collect::<Vec<u64>>();
        check("union", &a.union(&b), &filter(&|v| a.contains(v) || b.contains(v)));
        check("intersection", &a.intersect(&b), &filter(&|v| a.contains(v) && b.contains(v)));
        check("complement", &a.complement(), &filter(&|v| !a.contains(v)));
        assert_eq!(a.is_subset(&b), all().all(|v| !a.contains(v) || b.contains(v)));
        assert_eq!(a.is_disjoint(&b), !all().any(|v| a.contains(v) && b.contains(v)));
        let from = random.below(1 << width);
        assert_eq!(a.next_from(from), all().find(|&v| v >= from && a.contains(v)));
        assert_eq!(a.previous_from(from), all().rev().find(|&v| v <= from && a.contains(v)));
        let n = random.below(1 << width);
        assert_eq!(a.nth(n.into()), a.values().nth(n as usize));
        let low = random.below(10) as u32;
        let length = 1 + random.below(u64::from(10 - low)) as u32;
        let of = |v: u64| v >> low & mask(length);
        let seen = distinct(a.values().map(of).collect());
        check("extract", &a.extract(low, length), &seen);
        let field = random.set(length.max(2)).extract(0, length).set;
        check("with_field", &a.with_field(low, &field), &filter(&|v| a.contains(v) && field.contains(of(v))));
        check("lift", &field.lift(low, width), &filter(&|v| field.contains(of(v))));
    }
}

/// Aligned sets at the least widths that have some: every shift up to 3 with every value of the lowest bits; the
/// upper bits reach the ends, the sign boundary, or neither.
fn aligned_sets(width: u32) -> Vec<Set> {
    let mut all = Vec::new();
    for shift in 1..=3 {
        for low in 0..1 << shift {
            let (left, top) = (width - shift, mask(width - shift));
            let intervals = [(0, 9), (top - 8, top), (top / 2 - 6, top / 2 + 5), (3, top - 3), (7, 12)];
            all.extend(intervals.map(|(p, q)| Set::interval(left, p, q).with_low_bits(shift, low)));
        }
    }
    assert!(all.iter().all(Set::is_aligned));
    all
}

/// Aligned sets with each other, with single words and with intervals: images and preimages of every operator.
#[test]
fn aligned_sets_at_width_9() {
    let width = 9;
    let all = aligned_sets(width);
    let top = mask(width);
    let mut others: Vec<Set> = [0, 1, 2, 3, 4, 7, 8, 12, 96, 255, 256, top - 7, top - 1, top]
        .into_iter()
        .map(|v| Set::single(width, v))
        .collect();
    others.extend(
        [(0, 3), (0, 7), (100, 130), (250, 260), (500, top)].map(|(p, q)| Set::interval(width, p, q)),
    );
    others.extend(all.iter().step_by(11).cloned());
    let mut flagged = 0;
    for (number, a) in all.iter().enumerate().step_by(3) {
        for (op, shape) in binary_cases(width) {
            for b in others.iter().skip(number % 2).step_by(2) {
                for (a, b) in [(a, b), (b, a)] {
                    let pairs = || a.values().flat_map(|x| b.values().map(move |y| (x, y)));
                    let mut values = vec![false; 1 << shape.width];
                    pairs().for_each(|(x, y)| values[word(op, shape, x, y, 0) as usize] = true);
                    let values: Vec<u64> = (0..1 << shape.width).filter(|v| values[*v as usize]).collect();
                    let got = forward::binary(op, shape, a, b);
                    flagged += u32::from(got.exact && got.set.is_aligned());
                    check(&format!("{op:?} of {a:?} and {b:?}"), &got, &values);
                }
            }
        }
    }
    assert!(flagged > 500, "too few images are aligned: {flagged}");
}

#[test]
fn preimages_of_aligned_sets_at_width_9() {
    let width = 9;
    let all = aligned_sets(width);
    for (number, own) in all.iter().enumerate().step_by(2) {
        for (op, shape) in binary_cases(width) {
            let intervals = [(0, 0), (3, 3), (4, 4), (8, 8), (510, 510), (0, 3), (1, 6)];
            for other in intervals.map(|(p, q)| Set::interval(width, p, q)) {
                // Targets of the width of the image: aligned, intervals, single words.
                let targets = match shape.width {
                    1 => vec![Set::truth(true), Set::truth(false)],
                    9 => vec![
                        all[(number * 7 + 3) % all.len()].clone(),
                        Set::interval(9, 40, 400),
                        Set::single(9, 24),
                    ],
                    w => {
                        vec![Set::interval(w - 2, 5, 9000).with_low_bits(2, 1), Set::interval(w, 40, 90_000)]
                    }
                };
                for (target, which) in targets.iter().flat_map(|t| [(t, 0), (t, 1)]) {
                    for own in [own, &Set::full(width)] {
                        let meets = |x: u64, y: u64| {
                            let (p, q) = if which == 0 { (x, y) } else { (y, x) };
                            target.contains(word(op, shape, p, q, 0))
                        };
                        let values: Vec<u64> =
                            own.values().filter(|&x| other.values().any(|y| meets(x, y))).collect();
                        let (a, b) = if which == 0 { (own, &other) } else { (&other, own) };
                        let what =
                            format!("{op:?} back from {target:?} to {which}: {own:?} beside {other:?}");
                        check(&what, &backward::binary(op, shape, target, a, b, which), &values);
                    }
                }
            }
        }
    }
}

#[test]
fn unary_operators_of_aligned_sets() {
    let width = 10;
    for a in &aligned_sets(width) {
        for op in operators(1) {
            for shape in unary_shapes(op, width) {
                let what = format!("{op:?} {width} -> {} at {} of {a:?}", shape.width, shape.low);
                let values = distinct(a.values().map(|x| word(op, shape, x, 0, 0)).collect());
                let image = forward::unary(op, shape, a);
                check(&what, &image, &values);
                // Half of the image as a target.
                let target = image.set.intersect(&Set::interval(shape.width, 0, mask(shape.width) / 2)).set;
                for own in [a, &Set::full(width)] {
                    let fits: Vec<u64> =
                        own.values().filter(|&x| target.contains(word(op, shape, x, 0, 0))).collect();
                    check(&format!("{what} back"), &backward::unary(op, shape, &target, own), &fits);
                }
            }
        }
    }
}

/// The purpose of aligned sets: a pointer into an array of words, exact for any length.
#[test]
fn a_pointer_into_an_array_is_one_exact_set() {
    let shape = Shape { width: 64, operand: 64, low: 0 };
    let index = Set::interval(64, 0, 999_999);
    let offset = forward::binary(Op::Mul, shape, &index, &Set::single(64, 8));
    let pointer = forward::binary(Op::Add, shape, &offset.set, &Set::single(64, 0x1000_0004));
    assert!(offset.exact && pointer.exact);
    assert_eq!(pointer.set.count(), 1_000_000);
    assert_eq!((pointer.set.min(), pointer.set.max()), (Some(0x1000_0004), Some(0x1000_0004 + 8 * 999_999)));
    assert!(pointer.set.contains(0x1000_000c) && !pointer.set.contains(0x1000_0008));
    let bytes = forward::binary(Op::Add, shape, &pointer.set, &Set::interval(64, 0, 7));
    assert!(bytes.exact, "eight bytes at each");
    assert_eq!(bytes.set.intervals()[..], [(0x1000_0004, 0x1000_0004 + 8 * 1_000_000 - 1)]);
    let back =
        backward::binary(Op::Mul, shape, &Set::interval(64, 80, 99), &Set::full(64), &Set::single(64, 8), 0);
    assert!(back.set.contains(10) && back.set.contains(12) && !back.set.contains(9));
}

#[test]
fn sets_above_the_limit_of_intervals_are_inexact() {
    let many = Set::from_values(32, (0..1000).map(|v| v * v));
    assert!(!many.exact);
    assert_eq!(many.set.intervals().len(), partita_core::interval::set::MAX_INTERVALS);
    assert!((0..1000).all(|v| many.set.contains(v * v)));
}
