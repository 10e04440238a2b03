//! Circuits compared with `eval`: every operator on all operands at widths 1 to 4, and on random and extreme
//! operands at larger widths, with every operand both free and constant (constants are folded into other circuits).

use partita_core::blast::circuit;
use partita_core::blast::gate::{Gates, Lit};
use partita_core::expr::eval::{Shape, wide};
use partita_core::expr::{Bits, Family, Op, ShapeOp};
use partita_core::random::Random;
use rustc_hash::FxHashMap;

/// An operator with the widths it is applied at.
#[derive(Clone, Copy, Debug)]
struct Case {
    op: Op,
    shape: Widths,
}

#[derive(Clone, Copy, Debug)]
struct Widths {
    width: u32,
    /// Widths of the operands; 0 if there is none.
    operands: [u32; 2],
    low: u32,
}

/// All instances of `op` on operands of `width` bits. Array operators and leaves are not functions of words.
fn cases(op: Op, width: u32) -> Vec<Case> {
    let case = |width, operands, low| Case { op, shape: Widths { width, operands, low } };
    match op.family() {
        Family::Leaf(_) | Family::Array(_) => Vec::new(),
        Family::Bits(_) | Family::Arith(_) | Family::Shift(_) => {
            let parameters = 0..if op.has_parameter() { width } else { 1 };
            let second = if op.arity() == 2 { width } else { 0 };
            parameters.map(|parameter| case(width, [width, second], parameter)).collect()
        }
        Family::Compare(_) => vec![case(1, [width, width], 0)],
        // Tested in `blast_float.rs`.
        Family::Float(_) => Vec::new(),
        Family::Shape(op) => match op {
            ShapeOp::Concat => (1..=width.min(4)).map(|low| case(width + low, [width, low], low)).collect(),
            ShapeOp::Extract => (0..width.min(4))
                .flat_map(|low| (1..=width - low).map(move |w| (w, low)))
                .map(|(w, low)| case(w, [width, 0], low))
                .collect(),
            ShapeOp::ZExt | ShapeOp::SExt => {
                [width, width + 1, width + 3].map(|w| case(w, [width, 0], 0)).to_vec()
            }
            // Tested separately, because the condition and the arms have different widths.
            ShapeOp::Ite => Vec::new(),
        },
    }
}

/// Builds the case with `a` and `b` free, or constant where given, and evaluates it.
struct Built {
    gates: Gates,
    inputs: FxHashMap<u32, (usize, u32)>,
    result: Vec<Lit>,
}

fn build(case: Case, constants: [Option<&Bits>; 2]) -> Built {
    let mut gates = Gates::new();
    let mut inputs = FxHashMap::default();
    let mut words: Vec<Vec<Lit>> = Vec::new();
    for (k, constant) in constants.iter().enumerate().filter(|(k, _)| case.shape.operands[*k] > 0) {
        words.push(match constant {
            Some(bits) => circuit::constant(bits),
            None => (0..case.shape.operands[k])
                .map(|i| {
                    let lit = gates.input();
                    inputs.insert(lit.node(), (k, i));
                    lit
                })
                .collect(),
        });
    }
    let operands: Vec<&[Lit]> = words.iter().map(Vec::as_slice).collect();
    let result = circuit::apply(&mut gates, case.op, case.shape.width, case.shape.low, &operands);
    Built { gates, inputs, result }
}

impl Built {
    fn value(&self, operands: &[&Bits; 2]) -> Bits {
        let input = |node: u32| {
            let (k, i) = self.inputs[&node];
            operands[k].bit(i)
        };
        let bits = self.gates.evaluate(&self.result, &mut FxHashMap::default(), input);
        let text: String = bits.iter().rev().map(|b| if *b { '1' } else { '0' }).collect();
        Bits::from_digits(1, &text).expect("binary digits")
    }
}

fn expected(case: Case, a: &Bits, b: &Bits) -> Bits {
    let low = if case.op == Op::Concat { case.shape.operands[1] } else { case.shape.low };
    wide(case.op, Shape { width: case.shape.width, operand: case.shape.operands[0], low }, a, b, a)
}

fn check(case: Case, built: &Built, a: &Bits, b: &Bits) {
    assert_eq!(built.value(&[a, b]), expected(case, a, b), "{case:?} on {a:?} and {b:?}");
}

#[test]
fn every_operator_on_all_small_operands() {
    let mut checked = 0;
    for &op in Op::ALL {
        for case in (1..=4).flat_map(|width| cases(op, width)) {
            let [wa, wb] = case.shape.operands.map(|w| w.max(1));
            let free = build(case, [None, None]);
            for x in 0..1u64 << wa {
                let a = Bits::word(wa, x);
                let left = build(case, [Some(&a), None]);
                for y in 0..(if case.shape.operands[1] > 0 { 1u64 << wb } else { 1 }) {
                    let b = Bits::word(wb, y);
                    check(case, &free, &a, &b);
                    check(case, &left, &a, &b);
                    check(case, &build(case, [None, Some(&b)]), &a, &b);
                    checked += 1;
                }
            }
        }
    }
    assert!(checked > 7_000, "only {checked} operand pairs were checked");
}

#[test]
fn every_operator_on_samples_of_wide_operands() {
    let mut random = Random::new(7);
    for &op in Op::ALL {
        for case in [8, 33, 64, 65, 100].into_iter().flat_map(|width| cases(op, width)).take(40) {
            let [wa, wb] = case.shape.operands.map(|w| w.max(1));
            let free = build(case, [None, None]);
            for round in 0..12 {
                let a = sample(&mut random, wa, round);
                let b = sample(&mut random, wb, round / 3);
                check(case, &free, &a, &b);
                if round % 4 == 0 {
                    check(case, &build(case, [None, Some(&b)]), &a, &b);
                    check(case, &build(case, [Some(&a), None]), &a, &b);
                }
            }
        }
    }
}

/// An extreme value, a single bit, a small number, or any value.
fn sample(random: &mut Random, width: u32, round: u64) -> Bits {
    match round {
        0 => Bits::zero(width),
        1 => Bits::ones(width),
        2 => Bits::word(width, 1).shl(random.below(width.into())),
        3 => Bits::word(width, random.below(5)),
        _ => Bits::from_words(width, &[random.word(), random.word()]),
    }
}

#[test]
fn ite() {
    let mut g = Gates::new();
    let condition = g.input();
    let arms: Vec<Vec<Lit>> = (0..2).map(|_| (0..3).map(|_| g.input()).collect()).collect();
    let result = circuit::apply(&mut g, Op::Ite, 3, 0, &[&[condition], &arms[0], &arms[1]]);
    for assignment in 0..1u32 << 7 {
        let value = |node: u32| assignment >> (node - 1) & 1 == 1;
        let taken = if value(1) { 2..5 } else { 5..8 };
        let expected: Vec<bool> = taken.map(value).collect();
        assert_eq!(g.evaluate(&result, &mut FxHashMap::default(), value), expected);
    }
}

/// Products of extended numbers and squares have special circuits.
#[test]
fn products_of_extended_numbers_and_squares() {
    for (width, from) in (1..=9u32).flat_map(|width| (1..=width.min(4)).map(move |from| (width, from))) {
        for signs in 0..4 {
            let mut gates = Gates::new();
            let words: Vec<Vec<Lit>> = (0..2)
                .map(|k| {
                    let low: Vec<Lit> = (0..from).map(|_| gates.input()).collect();
                    let sign = if signs >> k & 1 == 1 { low[from as usize - 1] } else { Lit::FALSE };
                    low.into_iter().chain(std::iter::repeat(sign)).take(width as usize).collect()
                })
                .collect();
            let first = words[0][0].node();
            let product = circuit::apply(&mut gates, Op::Mul, width, 0, &[&words[0], &words[1]]);
            let square = circuit::apply(&mut gates, Op::Mul, width, 0, &[&words[0], &words[0]]);
            for inputs in 0..1u64 << (2 * from) {
                let value = |k: u32| {
                    let low = inputs >> (k * from) & ((1 << from) - 1);
                    let negative = signs >> k & 1 == 1 && low >> (from - 1) == 1;
                    low | if negative { u64::MAX << from } else { 0 }
                };
                let input = |node: u32| inputs >> (node - first) & 1 == 1;
                for (result, expected) in [(&product, value(1)), (&square, value(0))] {
                    let bits = gates.evaluate(result, &mut FxHashMap::default(), input);
                    let found = bits.iter().rev().fold(0, |word, bit| word << 1 | u64::from(*bit));
                    let expected = value(0).wrapping_mul(expected) & ((1 << width) - 1);
                    assert_eq!(
                        found, expected,
                        "{width} bits from {from}, signs {signs}, inputs {inputs:#x}"
                    );
                }
            }
        }
    }
}
