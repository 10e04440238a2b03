//! Circuits of float operators compared with `eval`: on all operands in tiny formats, on samples in real ones, with
//! operands free and constant.

use crate::float::shapes::float_shapes;
use crate::float::{samples, some_number, some_operands};
use crate::terms::Random;
use partita_core::blast::circuit;
use partita_core::blast::gate::{Gate, Gates, Lit};
use partita_core::budget::{Budget, Why};
use partita_core::expr::eval::{Shape, wide, word};
use partita_core::expr::float::{FloatParameter, Format, Rounding};
use partita_core::expr::{Bits, Family, FloatOp, Op};
use rustc_hash::FxHashMap;

/// A circuit over words that are free or constant.
struct Built {
    op: Op,
    shape: Shape,
    gates: Gates,
    /// Operand and bit of each input.
    inputs: FxHashMap<u32, (usize, u32)>,
    result: Vec<Lit>,
}

impl Built {
    fn new(op: Op, shape: Shape, constants: &[Option<&Bits>]) -> Built {
        let mut gates = Gates::new();
        let mut inputs = FxHashMap::default();
        let words: Vec<Vec<Lit>> = (0..op.arity())
            .map(|k| match constants.get(k).copied().flatten() {
                Some(bits) => circuit::constant(bits),
                None => (0..shape.operand)
                    .map(|i| {
                        let lit = gates.input();
                        inputs.insert(lit.node(), (k, i));
                        lit
                    })
                    .collect(),
            })
            .collect();
        let operands: Vec<&[Lit]> = words.iter().map(Vec::as_slice).collect();
        let result = circuit::apply(&mut gates, op, shape.width, shape.low, &operands);
        assert_eq!(result.len() as u32, shape.width, "{op:?} {shape:?}");
        Built { op, shape, gates, inputs, result }
    }

    fn bits(&self, operands: &[Bits]) -> Bits {
        let input = |node: u32| {
            let (k, i) = self.inputs[&node];
            operands[k].bit(i)
        };
        let bits = self.gates.evaluate(&self.result, &mut FxHashMap::default(), input);
        let text: String = bits.iter().rev().map(|b| if *b { '1' } else { '0' }).collect();
        Bits::from_digits(1, &text).expect("binary digits")
    }

    fn check(&self, operands: &[Bits]) {
        let at = |i: usize| &operands[i.min(operands.len() - 1)];
        let expected = wide(self.op, self.shape, at(0), at(1), at(2));
        assert_eq!(self.bits(operands), expected, "{:?} {:?} on {operands:x?}", self.op, self.shape);
    }
}

fn operators() -> impl Iterator<Item = (FloatOp, Op)> {
    Op::ALL.iter().filter_map(|&op| match op.family() {
        Family::Float(float) => Some((float, op)),
        _ => None,
    })
}

/// Values of all assignments of a circuit over at most 20 inputs, 64 at a time.
fn table(built: &Built) -> Vec<u64> {
    let inputs = built.inputs.len();
    let width = built.shape.operand;
    let mut values = vec![0u64; 1 << inputs];
    for start in (0..1u64 << inputs).step_by(64) {
        let mut lanes: Vec<u64> = vec![0; built.gates.len()];
        for node in 1..built.gates.len() as u32 {
            let value = |lit: Lit| {
                if lit.is_negated() { !lanes[lit.node() as usize] } else { lanes[lit.node() as usize] }
            };
            lanes[node as usize] = match built.gates.gate(node) {
                Gate::False => 0,
                Gate::Input => {
                    let (k, i) = built.inputs[&node];
                    let bit = k as u32 * width + i;
                    (0..64).fold(0, |lane, j| lane | ((start + j) >> bit & 1) << j)
                }
                Gate::And(a, b) => value(a) & value(b),
                Gate::Xor(a, b) => value(a) ^ value(b),
                Gate::Mux(c, t, e) => value(c) & value(t) | !value(c) & value(e),
                Gate::Majority(a, b, c) => value(a) & value(b) | value(c) & (value(a) | value(b)),
            };
        }
        for (i, lit) in built.result.iter().enumerate() {
            let lane = lanes[lit.node() as usize] ^ if lit.is_negated() { u64::MAX } else { 0 };
            for j in 0..64u64.min(1 << inputs) {
                values[(start + j) as usize] |= (lane >> j & 1) << i;
            }
        }
    }
    values
}

/// All operands in formats of `widths` bits, all rounding modes.
fn exhaustive(op: Op, float: FloatOp, widths: std::ops::RangeInclusive<u32>) -> usize {
    let mut checked = 0;
    for shape in widths.flat_map(|width| float_shapes(float, width)) {
        let found = table(&Built::new(op, shape, &[]));
        let mask = (1 << shape.operand) - 1;
        for (i, &found) in found.iter().enumerate() {
            let i = i as u64;
            let [a, b, c] = [0, 1, 2].map(|k| i >> (k * shape.operand) & mask);
            assert_eq!(found, word(op, shape, a, b, c), "{op:?} {shape:?} on {a:#b} {b:#b} {c:#b}");
        }
        checked += found.len();
    }
    checked
}

#[test]
fn all_operands_of_tiny_formats() {
    let mut checked = 0;
    for (float, op) in operators() {
        checked += match op.arity() {
            1 => exhaustive(op, float, 1..=9),
            2 => exhaustive(op, float, 4..=7),
            _ => exhaustive(op, float, 4..=5),
        };
    }
    assert!(checked > 1_000_000, "only {checked} operands were checked");
}

/// Formats with more or fewer exponent bits than fraction bits.
#[test]
fn operands_of_lopsided_formats() {
    let mut random = Random::new(31);
    for format in [Format::ieee(2, 12), Format::ieee(7, 2), Format::ieee(4, 4), Format::ieee(3, 20)] {
        for rounding in Rounding::ALL {
            compare(&mut random, format, rounding, 40);
        }
    }
}

/// Shapes of an operator in a real format.
fn shapes(float: FloatOp, format: Format, rounding: Rounding) -> Vec<Shape> {
    let parameter = FloatParameter::new(format, rounding);
    let shape = |parameter: FloatParameter, width: u32, operand: u32| Shape {
        width,
        operand,
        low: parameter.pack(float),
    };
    let own = format.width();
    match float {
        FloatOp::FLt | FloatOp::FLe | FloatOp::FEq => vec![shape(parameter, 1, own)],
        FloatOp::FToUInt | FloatOp::FToSInt => [8, 32, 64, 100].map(|w| shape(parameter, w, own)).to_vec(),
        FloatOp::FFromUInt | FloatOp::FFromSInt => {
            [1, 16, 64, 130].map(|w| shape(parameter, own, w)).to_vec()
        }
        FloatOp::FToF => [Format::HALF, Format::SINGLE, Format::DOUBLE, Format::X87, Format::ieee(4, 60)]
            .map(|to| shape(FloatParameter { format: to, rounding, source: format }, to.width(), own))
            .to_vec(),
        FloatOp::FAdd | FloatOp::FMul | FloatOp::FDiv | FloatOp::FMulAdd => vec![shape(parameter, own, own)],
        FloatOp::FSqrt | FloatOp::FRound | FloatOp::FRem => vec![shape(parameter, own, own)],
    }
}

fn compare(random: &mut Random, format: Format, rounding: Rounding, count: u64) {
    for (float, op) in operators() {
        let is_large = float == FloatOp::FRem && format.exponent() > 8;
        if is_large || (!float.rounds() && rounding != Rounding::NearestEven) {
            continue;
        }
        for shape in shapes(float, format, rounding) {
            let takes_integer = matches!(float, FloatOp::FFromUInt | FloatOp::FFromSInt);
            let mut operands = || {
                if takes_integer {
                    vec![random.bits(shape.operand)]
                } else {
                    some_operands(random, float, format)
                }
            };
            let free = Built::new(op, shape, &[]);
            for _ in 0..count {
                free.check(&operands());
            }
            // Constants fold into other circuits.
            for known in 0..op.arity() {
                let operands = operands();
                let constants: Vec<Option<&Bits>> =
                    operands.iter().enumerate().map(|(k, bits)| (k != known).then_some(bits)).collect();
                Built::new(op, shape, &constants).check(&operands);
            }
        }
    }
}

#[test]
fn operands_of_real_formats() {
    let mut random = Random::new(7);
    // A thousandth of the operands that the operators themselves get: a circuit has up to 100,000 gates.
    let count = samples(8_000) / 1_000;
    for format in [Format::HALF, Format::BFLOAT, Format::SINGLE, Format::DOUBLE, Format::X87, Format::QUAD] {
        for rounding in Rounding::ALL {
            compare(&mut random, format, rounding, count);
        }
    }
}

/// The remainder of doubles has some 2,000 steps.
#[test]
fn remainders_of_doubles() {
    let mut random = Random::new(3);
    let shape = shapes(FloatOp::FRem, Format::DOUBLE, Rounding::NearestEven)[0];
    let built = Built::new(Op::FRem, shape, &[]);
    for _ in 0..5 {
        built.check(&some_operands(&mut random, FloatOp::FRem, Format::DOUBLE));
    }
    let near = some_number(&mut random, Format::DOUBLE, None);
    built.check(&[near.clone(), near]);
}

#[test]
fn the_remainder_of_quads_ends_at_the_gate_limit() {
    let mut gates = Gates::new();
    let words: Vec<Vec<Lit>> = (0..2).map(|_| (0..128).map(|_| gates.input()).collect()).collect();
    gates.allow(&Budget::unlimited(), 100_000);
    let shape = shapes(FloatOp::FRem, Format::QUAD, Rounding::NearestEven)[0];
    circuit::apply(&mut gates, Op::FRem, shape.width, shape.low, &[&words[0], &words[1]]);
    assert_eq!(gates.stopped(), Some(&Why::Memory));
    assert!(gates.len() <= 100_000);
}
