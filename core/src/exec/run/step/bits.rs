//! Operations on the bits of one word: counts, reversals, funnel shifts.
use crate::exec::run::Machine;
use crate::exec::state::value::Value;
use crate::expr::bits::{mask, signed};
use crate::expr::{Bits, Expr, Graph};
use crate::program::UnOp;

impl Machine {
    pub(super) fn unary(&mut self, op: UnOp, width: u32, a: Value) -> Value {
        if !a.symbolic && width <= 64 {
            let x = a.word;
            let top = 64 - width;
            let result = match op {
                UnOp::Ctpop => u64::from(x.count_ones()),
                UnOp::Ctlz => u64::from(x.leading_zeros() - top),
                UnOp::Cttz => u64::from(x.trailing_zeros().min(width)),
                UnOp::Bswap => x.swap_bytes() >> top,
                UnOp::BitReverse => x.reverse_bits() >> top,
                UnOp::Abs => signed(width, x).unsigned_abs() & mask(width),
            };
            return Value::number(result);
        }
        let graph = self.graph();
        let x = a.to_bits(graph, width);
        let e = match op {
            UnOp::Ctpop => count_ones(graph, width, x),
            UnOp::Ctlz => first_one(graph, width, x, (0..width).collect()),
            UnOp::Cttz => first_one(graph, width, x, (0..width).rev().collect()),
            UnOp::Bswap => pieces_reversed(graph, width, x, 8),
            UnOp::BitReverse => pieces_reversed(graph, width, x, 1),
            UnOp::Abs => {
                let zero = graph.constant(Bits::zero(width));
                let negative = graph.slt(x, zero);
                let negated = graph.neg(x);
                graph.ite(negative, negated, x)
            }
        };
        Value::of_bits(graph, e)
    }

    /// Shifts `a:b` by `c` modulo the width.
    pub(super) fn funnel(&mut self, left: bool, width: u32, a: Value, b: Value, c: Value) -> Value {
        let symbolic = a.symbolic | b.symbolic | c.symbolic;
        if !symbolic && width <= 64 {
            let amount = (c.word % u64::from(width)) as u32;
            let both = u128::from(a.word) << width | u128::from(b.word);
            let shift = if left { width - amount } else { amount };
            return Value::number((both >> shift) as u64 & mask(width));
        }
        let graph = self.graph();
        let [a, b, c] = [a, b, c].map(|v| v.to_bits(graph, width));
        let modulus = graph.word(width, width.into());
        // Width 2 does not fit 2 bits, nor width 1 one bit; both are powers of two.
        let amount = if width >= 3 { graph.urem(c, modulus) } else { narrow_amount(graph, width, c) };
        let both = graph.concat(a, b);
        let wide = graph.zext(amount, 2 * width);
        let e = if left {
            let shifted = graph.shl(both, wide);
            graph.extract(shifted, width, width)
        } else {
            let shifted = graph.lshr(both, wide);
            graph.extract(shifted, 0, width)
        };
        Value::of_bits(graph, e)
    }
}

/// Shift amount modulo a width of 1 or 2.
fn narrow_amount(graph: &mut Graph, width: u32, c: Expr) -> Expr {
    let keep = graph.word(width, u64::from(width) - 1);
    graph.and(c, keep)
}

fn count_ones(graph: &mut Graph, width: u32, x: Expr) -> Expr {
    let mut sum = graph.constant(Bits::zero(width));
    for i in 0..width {
        let bit = graph.extract(x, i, 1);
        let bit = graph.zext(bit, width);
        sum = graph.add(sum, bit);
    }
    sum
}

/// Position, counted from the end of `order`, of the last bit in `order` that is set; the width if none is.
fn first_one(graph: &mut Graph, width: u32, x: Expr, order: Vec<u32>) -> Expr {
    let mut result = graph.word(width, width.into());
    for (i, &bit) in order.iter().enumerate() {
        let set = graph.extract(x, bit, 1);
        let set = graph.bit_to_bool(set);
        let place = graph.word(width, u64::from(width) - 1 - i as u64);
        result = graph.ite(set, place, result);
    }
    result
}

fn pieces_reversed(graph: &mut Graph, width: u32, x: Expr, piece: u32) -> Expr {
    let mut result = graph.extract(x, 0, piece);
    for i in 1..width / piece {
        let next = graph.extract(x, i * piece, piece);
        result = graph.concat(result, next);
    }
    result
}
