//! `eval::word` and `eval::wide` compared with the SMT-LIB standard: completely at small widths, where every
//! operator is implemented again over integers, and at random above 64 bits, where it is implemented over lists of
//! bits.

use crate::terms::Random;
use partita_core::expr::eval::{self, Shape};
use partita_core::expr::{Bits, Family, Op, ResultSort};

/// Parameters of an operator with results like its operand.
fn parameters(op: Op, width: u32) -> std::ops::Range<u32> {
    0..if op.has_parameter() { width } else { 1 }
}

/// Functions of `arity` words, except `Ite` and those on floats, which `float/` tests.
fn operators(arity: usize) -> impl Iterator<Item = Op> {
    let is_float = |op: &Op| matches!(op.family(), Family::Float(_));
    Op::ALL.iter().copied().filter(move |op| op.is_on_words() && op.arity() == arity && !is_float(op))
}

#[test]
fn every_function_of_words_is_tested() {
    let others = Op::ALL.iter().filter(|op| op.is_on_words() && !(1..=2).contains(&op.arity()));
    assert_eq!(others.copied().collect::<Vec<_>>(), [Op::Ite, Op::FMulAdd]);
}

/// The SMT-LIB standard (theory FixedSizeBitVectors and logic QF_BV) over natural numbers below 2^w.
fn smtlib(op: Op, s: Shape, a: i128, b: i128) -> i128 {
    let w = s.operand;
    let all = 1_i128 << w;
    let negative = |x: i128| x >= all / 2;
    let neg = |x: i128| (all - x) % all;
    let bit = |x: i128, i: u32| x / (1 << i) % 2;
    let each = |f: &dyn Fn(i128, i128) -> bool| {
        (0..w).map(|i| if f(bit(a, i), bit(b, i)) { 1 << i } else { 0 }).sum::<i128>()
    };
    let udiv = |x: i128, y: i128| if y == 0 { all - 1 } else { x / y };
    let urem = |x: i128, y: i128| if y == 0 { x } else { x % y };
    let lshr = |x: i128, y: i128| if y > 100 { 0 } else { x / (1 << y) };
    let ult = |x: i128, y: i128| (x < y) as i128;
    let slt = |x: i128, y: i128| {
        ((negative(x) && !negative(y)) || (negative(x) == negative(y) && ult(x, y) == 1)) as i128
    };
    match op {
        Op::Not => each(&|x, _| x == 0),
        Op::And => each(&|x, y| x == 1 && y == 1),
        Op::Or => each(&|x, y| x == 1 || y == 1),
        Op::Xor => each(&|x, y| x != y),
        Op::Add => (a + b) % all,
        Op::Sub => (a + neg(b)) % all,
        Op::Mul => (a * b) % all,
        Op::UDiv => udiv(a, b),
        Op::URem => urem(a, b),
        Op::SDiv => match (negative(a), negative(b)) {
            (false, false) => udiv(a, b),
            (true, false) => neg(udiv(neg(a), b)),
            (false, true) => neg(udiv(a, neg(b))),
            (true, true) => udiv(neg(a), neg(b)),
        },
        Op::SRem => match (negative(a), negative(b)) {
            (false, false) => urem(a, b),
            (true, false) => neg(urem(neg(a), b)),
            (false, true) => urem(a, neg(b)),
            (true, true) => neg(urem(neg(a), neg(b))),
        },
        Op::Shl => {
            if b > 100 {
                0
            } else {
                a * (1 << b) % all
            }
        }
        Op::LShr => lshr(a, b),
        Op::AShr => {
            if negative(a) {
                all - 1 - lshr(all - 1 - a, b)
            } else {
                lshr(a, b)
            }
        }
        Op::Eq => (a == b) as i128,
        Op::Ult => ult(a, b),
        Op::Ule => (ult(a, b) == 1 || a == b) as i128,
        Op::Slt => slt(a, b),
        Op::Sle => (slt(a, b) == 1 || a == b) as i128,
        Op::Concat => a * (1 << s.low) + b,
        Op::Extract => a / (1 << s.low) % (1 << s.width),
        Op::ZExt => a,
        Op::SExt => {
            if negative(a) {
                a + (1_i128 << s.width) - all
            } else {
                a
            }
        }
        Op::Ite | Op::Const | Op::Var | Op::Table | Op::ConstArray | Op::Read | Op::Store => {
            unreachable!("{op:?} has no integer meaning")
        }
        _ => unreachable!("{op:?} is a float operator"),
    }
}

fn check_small(op: Op, s: Shape, a: u64, b: u64) {
    let right = u64::try_from(smtlib(op, s, a.into(), b.into())).expect("a small value");
    let word = eval::word(op, s, a, b, 0);
    assert_eq!(word, right, "word {op:?} {a} {b} at width {}, low {}", s.operand, s.low);
    let second = if op == Op::Concat { s.low } else { s.operand };
    let wide = eval::wide(op, s, &Bits::word(s.operand, a), &Bits::word(second, b), &Bits::zero(1));
    assert_eq!(wide, Bits::word(s.width, right), "wide {op:?} {a} {b} at width {}, low {}", s.operand, s.low);
}

#[test]
fn binary_operators_at_widths_to_4_match_smtlib() {
    for op in operators(2) {
        for w in 1..=4 {
            for low in if op == Op::Concat { 1..=4 } else { w..=w } {
                let width = match op {
                    Op::Concat => w + low,
                    _ if op.is_comparison() => 1,
                    _ => w,
                };
                let s = Shape { width, operand: w, low };
                for a in 0..1 << w {
                    for b in 0..1 << low {
                        check_small(op, s, a, b);
                    }
                }
            }
        }
    }
}

#[test]
fn unary_operators_at_widths_to_8_match_smtlib() {
    for op in operators(1) {
        for w in 1..=8_u32 {
            let shapes: Vec<(u32, u32)> = match op {
                Op::Extract => (0..w).flat_map(|low| (1..=w - low).map(move |width| (low, width))).collect(),
                _ if op.result() != ResultSort::Node => parameters(op, w).map(|low| (low, w)).collect(),
                _ => (w..=w + 9).map(|width| (0, width)).collect(),
            };
            for (low, width) in shapes {
                for a in 0..1 << w {
                    check_small(op, Shape { width, operand: w, low }, a, a);
                }
            }
        }
    }
}

#[test]
fn ite_selects_by_its_condition() {
    let s = Shape { width: 8, operand: 1, low: 0 };
    for (a, b) in [(0, 255), (7, 7), (200, 3)] {
        assert_eq!(eval::word(Op::Ite, s, 1, a, b), a);
        assert_eq!(eval::word(Op::Ite, s, 0, a, b), b);
    }
}

/// Boundary cases of `word` that no small width reaches, and random pairs, at widths 33 to 64.
#[test]
fn words_up_to_64_bits_agree_with_integers() {
    let mut random = Random::new(64);
    for w in 33..=64 {
        let top = 1_u64 << (w - 1);
        let ones = u64::MAX >> (64 - w);
        let mut values = vec![0, 1, 2, w.into(), u64::from(w) - 1, top - 1, top, top + 1, ones, ones - 1];
        values.extend((0..6).map(|_| random.next() & ones));
        for op in operators(2).filter(|&op| op != Op::Concat) {
            // The product of two 64-bit numbers and the shift of one need more than 127 bits here.
            let s = Shape { width: if op.is_comparison() { 1 } else { w }, operand: w, low: w };
            for &a in &values {
                for &b in &values {
                    if op == Op::Mul && (u128::from(a) * u128::from(b)) >> 127 != 0 {
                        continue;
                    }
                    let b = if op == Op::Shl && b <= 100 { b % 63 } else { b };
                    check_small(op, s, a, b);
                }
            }
        }
    }
}

/// Operators over lists of bits, lowest first, based on ripple-carry addition.
mod bitwise {
    use super::*;

    pub(crate) type List = Vec<bool>;

    pub(crate) fn list(bits: &Bits) -> List {
        (0..bits.width()).map(|i| bits.bit(i)).collect()
    }

    fn add(a: &List, b: &List, mut carry: bool) -> List {
        let mut out = List::new();
        for (&x, &y) in a.iter().zip(b) {
            out.push(x ^ y ^ carry);
            carry = (x && y) || (carry && (x || y));
        }
        out
    }

    fn not(a: &List) -> List {
        a.iter().map(|x| !x).collect()
    }

    fn neg(a: &List) -> List {
        add(&not(a), &vec![false; a.len()], true)
    }

    fn below(a: &List, b: &List) -> bool {
        (0..a.len()).rev().find(|&i| a[i] != b[i]).is_some_and(|i| b[i])
    }

    /// Long division, one bit of the dividend at a time.
    fn divide(a: &List, b: &List) -> (List, List) {
        let (mut quotient, mut rest) = (vec![false; a.len()], vec![false; a.len()]);
        for i in (0..a.len()).rev() {
            let carried = rest.pop().expect("a width is at least one");
            rest.insert(0, a[i]);
            if carried || !below(&rest, b) {
                rest = add(&rest, &not(b), true);
                quotient[i] = true;
            }
        }
        (quotient, rest)
    }

    fn magnitude(a: &List) -> List {
        if a[a.len() - 1] { neg(a) } else { a.clone() }
    }

    /// The shift distance, at most the width.
    fn distance(a: &List, b: &List) -> usize {
        let high = b.iter().skip(20).any(|&x| x);
        let low: usize = b.iter().take(20).enumerate().map(|(i, &x)| (x as usize) << i).sum();
        if high { a.len() } else { low.min(a.len()) }
    }

    pub(crate) fn apply(op: Op, s: Shape, a: &List, b: &List) -> List {
        let sign = |x: &List| x[x.len() - 1];
        let zip = |f: fn(bool, bool) -> bool| a.iter().zip(b).map(|(&x, &y)| f(x, y)).collect();
        let slt = || if sign(a) == sign(b) { below(a, b) } else { sign(a) };
        let width = a.len();
        let right = |fill: bool| {
            let by = distance(a, b);
            a[by..].iter().copied().chain(std::iter::repeat_n(fill, by)).collect()
        };
        match op {
            Op::Not => not(a),
            Op::And => zip(|x, y| x & y),
            Op::Or => zip(|x, y| x | y),
            Op::Xor => zip(|x, y| x ^ y),
            Op::Add => add(a, b, false),
            Op::Sub => add(a, &not(b), true),
            Op::Mul => (0..width).filter(|&i| b[i]).fold(vec![false; width], |sum, i| {
                let mut moved = vec![false; i];
                moved.extend_from_slice(&a[..width - i]);
                add(&sum, &moved, false)
            }),
            Op::UDiv => divide(a, b).0,
            Op::URem => divide(a, b).1,
            Op::SDiv => {
                let quotient = divide(&magnitude(a), &magnitude(b)).0;
                if sign(a) != sign(b) { neg(&quotient) } else { quotient }
            }
            Op::SRem => {
                let rest = divide(&magnitude(a), &magnitude(b)).1;
                if sign(a) { neg(&rest) } else { rest }
            }
            Op::Shl => {
                let by = distance(a, b);
                std::iter::repeat_n(false, by).chain(a[..width - by].iter().copied()).collect()
            }
            Op::LShr => right(false),
            Op::AShr => right(sign(a)),
            Op::Eq => vec![a == b],
            Op::Ult => vec![below(a, b)],
            Op::Ule => vec![!below(b, a)],
            Op::Slt => vec![slt()],
            Op::Sle => vec![slt() || a == b],
            Op::Concat => b.iter().chain(a).copied().collect(),
            Op::Extract => a[s.low as usize..(s.low + s.width) as usize].to_vec(),
            Op::ZExt => {
                a.iter().copied().chain(std::iter::repeat_n(false, s.width as usize - width)).collect()
            }
            Op::SExt => {
                a.iter().copied().chain(std::iter::repeat_n(sign(a), s.width as usize - width)).collect()
            }
            Op::Ite | Op::Const | Op::Var | Op::Table | Op::ConstArray | Op::Read | Op::Store => {
                unreachable!("{op:?} has no meaning over bits")
            }
            _ => unreachable!("{op:?} is a float operator"),
        }
    }
}

/// Compares the lists of bits with the integers, so that both references agree.
#[test]
fn lists_of_bits_agree_with_integers() {
    for op in operators(2).filter(|&op| op != Op::Concat) {
        for w in 1..=4 {
            let s = Shape { width: if op.is_comparison() { 1 } else { w }, operand: w, low: w };
            for a in 0..1_u64 << w {
                for b in 0..1_u64 << w {
                    let [x, y] = [a, b].map(|v| bitwise::list(&Bits::word(w, v)));
                    let right = smtlib(op, s, a.into(), b.into()) as u64;
                    let list = bitwise::apply(op, s, &x, &y);
                    assert_eq!(list, bitwise::list(&Bits::word(s.width, right)), "{op:?} {a} {b}");
                }
            }
        }
    }
}

#[test]
fn wide_values_agree_with_lists_of_bits() {
    let mut random = Random::new(300);
    for round in 0..1500 {
        let w = if round < 64 { 65 + round } else { 65 + random.below(236) as u32 };
        let (a, mut b) = (random.bits(w), random.bits(w));
        if random.below(3) == 0 {
            b = Bits::word(w, random.below(2 * u64::from(w)));
        }
        for op in operators(2).chain(operators(1)) {
            let (mut s, mut second) = (Shape { width: w, operand: w, low: 0 }, b.clone());
            match op {
                Op::Concat => {
                    let low = 1 + random.below(300) as u32;
                    second = random.bits(low);
                    s = Shape { width: w + low, operand: w, low };
                }
                Op::Extract => {
                    s.low = random.below(w.into()) as u32;
                    s.width = 1 + random.below((w - s.low).into()) as u32;
                }
                Op::ZExt | Op::SExt => s.width = w + random.below(200) as u32,
                _ if op.is_comparison() => s.width = 1,
                _ => s.low = random.below(parameters(op, w).end.into()) as u32,
            }
            for second in [&second, &a] {
                if op == Op::Concat && std::ptr::eq(second, &a) {
                    continue;
                }
                let value = eval::wide(op, s, &a, second, &a);
                let right = bitwise::apply(op, s, &bitwise::list(&a), &bitwise::list(second));
                assert_eq!(value.width(), s.width, "{op:?}");
                assert_eq!(bitwise::list(&value), right, "{op:?} of {a:?} and {second:?}, low {}", s.low);
            }
        }
    }
}
