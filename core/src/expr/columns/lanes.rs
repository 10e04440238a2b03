//! The loops: `eval::word` with a constant operator, over columns that vary or have one value in all lanes.

use super::Column;
use crate::expr::eval::{self, Shape};
use crate::expr::op::with_operator;
use crate::expr::{Bits, Op};

/// The values of an operand: one per lane, or the same in all.
#[derive(Clone, Copy)]
pub(super) enum LaneOperand<'a> {
    Same(u64),
    Each(&'a [u64]),
}

impl LaneOperand<'_> {
    fn of(column: &Column) -> LaneOperand<'_> {
        if column.same { LaneOperand::Same(column.words[0]) } else { LaneOperand::Each(&column.words) }
    }

    pub(super) fn word(self, lane: usize) -> u64 {
        match self {
            LaneOperand::Same(word) => word,
            LaneOperand::Each(words) => words[lane],
        }
    }
}

/// Applies `op` in all lanes. Missing operands repeat the first one.
pub(super) fn word(op: Op, s: Shape, columns: [&Column; 3], lanes: usize, out: &mut Column) {
    let operands = columns.map(LaneOperand::of);
    match operands {
        [LaneOperand::Same(a), LaneOperand::Same(b), LaneOperand::Same(c)] => {
            out.set_same(&Bits::word(s.width, eval::word(op, s, a, b, c)));
        }
        _ => words(op, s, operands, out.words_mut(lanes)),
    }
}

/// Applies `op` in as many lanes as `out` has.
pub(super) fn words(op: Op, s: Shape, [a, b, c]: [LaneOperand<'_>; 3], out: &mut [u64]) {
    use LaneOperand::{Each, Same};
    // One specialised loop per operator.
    macro_rules! unary {
        ($op:ident) => {
            match a {
                Same(x) => out.fill(eval::word(Op::$op, s, x, 0, 0)),
                Each(a) => {
                    for (to, &x) in out.iter_mut().zip(a) {
                        *to = eval::word(Op::$op, s, x, 0, 0);
                    }
                }
            }
        };
    }
    macro_rules! binary {
        ($op:ident) => {
            match (a, b) {
                (Same(x), Same(y)) => out.fill(eval::word(Op::$op, s, x, y, 0)),
                (Each(a), Same(y)) => {
                    for (to, &x) in out.iter_mut().zip(a) {
                        *to = eval::word(Op::$op, s, x, y, 0);
                    }
                }
                (Same(x), Each(b)) => {
                    for (to, &y) in out.iter_mut().zip(b) {
                        *to = eval::word(Op::$op, s, x, y, 0);
                    }
                }
                (Each(a), Each(b)) => {
                    for ((to, &x), &y) in out.iter_mut().zip(a).zip(b) {
                        *to = eval::word(Op::$op, s, x, y, 0);
                    }
                }
            }
        };
    }
    debug_assert!(op.is_on_words(), "{op:?} is not a function of words");
    macro_rules! specialised {
        ($op:ident) => {
            match const { Op::$op.arity() } {
                1 => unary!($op),
                2 => binary!($op),
                _ if const { matches!(Op::$op, Op::Ite) } => choose(s, a, b, c, out),
                _ => {
                    for (lane, to) in out.iter_mut().enumerate() {
                        *to = eval::word(Op::$op, s, a.word(lane), b.word(lane), c.word(lane));
                    }
                }
            }
        };
    }
    with_operator!(op, specialised)
}

fn choose(s: Shape, p: LaneOperand<'_>, a: LaneOperand<'_>, b: LaneOperand<'_>, out: &mut [u64]) {
    use LaneOperand::{Each, Same};
    let p = match p {
        Same(p) => {
            return match if p != 0 { a } else { b } {
                Same(taken) => out.fill(taken),
                Each(taken) => out.copy_from_slice(&taken[..out.len()]),
            };
        }
        Each(p) => p,
    };
    let pick = |p, x, y| eval::word(Op::Ite, s, p, x, y);
    let lanes = out.iter_mut().zip(p);
    match (a, b) {
        (Same(x), Same(y)) => lanes.for_each(|(to, &p)| *to = pick(p, x, y)),
        (Same(x), Each(b)) => lanes.zip(b).for_each(|((to, &p), &y)| *to = pick(p, x, y)),
        (Each(a), Same(y)) => lanes.zip(a).for_each(|((to, &p), &x)| *to = pick(p, x, y)),
        (Each(a), Each(b)) => lanes.zip(a).zip(b).for_each(|(((to, &p), &x), &y)| *to = pick(p, x, y)),
    }
}

/// Applies `op` lane by lane if an operand or the result is wider than 64 bits.
pub(super) fn wide(op: Op, s: Shape, args: [&Column; 3], widths: [u32; 3], lanes: usize, out: &mut Column) {
    let value = |i: usize, lane: usize| args[i].bits(widths[i], lane);
    let apply = |lane: usize| match op {
        Op::Ite => value(if args[0].word(lane) != 0 { 1 } else { 2 }, lane),
        _ => eval::wide(op, s, &value(0, lane), &value(1, lane), &value(2, lane)),
    };
    if args.iter().all(|arg| arg.same) {
        out.set_same(&apply(0));
        return;
    }
    if s.width <= 64 {
        out.words_mut(lanes).iter_mut().enumerate().for_each(|(lane, to)| *to = apply(lane).low());
    } else {
        out.same = false;
        out.wides.clear();
        out.wides.extend((0..lanes).map(apply));
    }
}

/// Concatenates adjacent elements of `element` bits each, the first one lowest.
pub(super) fn join(parts: &[&Column], element: u32, lanes: usize, out: &mut Column) {
    if u64::from(element) * parts.len() as u64 > 64 {
        let apply = |lane: usize| {
            let first = parts[0].bits(element, lane);
            parts[1..].iter().fold(first, |low, part| part.bits(element, lane).concat(&low))
        };
        if parts.iter().all(|part| part.same) {
            out.set_same(&apply(0));
        } else {
            out.same = false;
            out.wides.clear();
            out.wides.extend((0..lanes).map(apply));
        }
        return;
    }
    let place = |i: usize, value: u64| value << (i as u32 * element);
    let fixed = parts.iter().enumerate().filter(|(_, part)| part.same);
    let fixed = fixed.fold(0, |word, (i, part)| word | place(i, part.words[0]));
    if parts.iter().all(|part| part.same) {
        out.same = true;
        out.words.clear();
        out.words.push(fixed);
        return;
    }
    let out = out.words_mut(lanes);
    out.fill(fixed);
    for (i, part) in parts.iter().enumerate().filter(|(_, part)| !part.same) {
        for (to, &value) in out.iter_mut().zip(&part.words) {
            *to |= place(i, value);
        }
    }
}
