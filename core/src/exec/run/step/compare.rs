//! Comparisons, casts, and select.
use crate::exec::run::Machine;
use crate::exec::state::value::Value;
use crate::expr::bits::{mask, signed};
use crate::program::{CastOp, IntPred};

impl Machine {
    pub(super) fn compare(&mut self, pred: IntPred, width: u32, a: Value, b: Value) -> Value {
        if !a.symbolic && !b.symbolic && width <= 64 {
            let (x, y) = (a.word, b.word);
            let (sx, sy) = (signed(width, x), signed(width, y));
            return Value::truth(match pred {
                IntPred::Eq => x == y,
                IntPred::Ne => x != y,
                IntPred::Ugt => x > y,
                IntPred::Uge => x >= y,
                IntPred::Ult => x < y,
                IntPred::Ule => x <= y,
                IntPred::Sgt => sx > sy,
                IntPred::Sge => sx >= sy,
                IntPred::Slt => sx < sy,
                IntPred::Sle => sx <= sy,
            });
        }
        let graph = self.graph();
        let (x, y) = match pred {
            IntPred::Eq | IntPred::Ne => (a.to_expr(graph, width), b.to_expr(graph, width)),
            IntPred::Ugt
            | IntPred::Uge
            | IntPred::Ult
            | IntPred::Ule
            | IntPred::Sgt
            | IntPred::Sge
            | IntPred::Slt
            | IntPred::Sle => (a.to_bits(graph, width), b.to_bits(graph, width)),
        };
        let e = match pred {
            IntPred::Eq => graph.eq(x, y),
            IntPred::Ne => graph.ne(x, y),
            IntPred::Ugt => graph.ult(y, x),
            IntPred::Uge => graph.ule(y, x),
            IntPred::Ult => graph.ult(x, y),
            IntPred::Ule => graph.ule(x, y),
            IntPred::Sgt => graph.slt(y, x),
            IntPred::Sge => graph.sle(y, x),
            IntPred::Slt => graph.slt(x, y),
            IntPred::Sle => graph.sle(x, y),
        };
        Value::of(graph, e)
    }

    pub(super) fn cast(&mut self, op: CastOp, from: u32, to: u32, a: Value) -> Value {
        if !a.symbolic && to <= 64 {
            return Value::number(match op {
                CastOp::ZExt => a.word,
                CastOp::SExt => signed(from, a.word) as u64 & mask(to),
                CastOp::Trunc | CastOp::Bool => a.word & mask(to),
            });
        }
        let graph = self.graph();
        let bits = a.to_bits(graph, from);
        let e = match op {
            CastOp::ZExt => graph.zext(bits, to),
            CastOp::SExt => graph.sext(bits, to),
            CastOp::Trunc | CastOp::Bool => graph.extract(bits, 0, to),
        };
        Value::of_bits(graph, e)
    }

    pub(super) fn select(&mut self, width: u32, cond: Value, a: Value, b: Value) -> Value {
        let Some(cond) = cond.expr() else {
            return if cond.word != 0 { a } else { b };
        };
        let graph = self.graph();
        let (x, y) = (a.to_expr(graph, width), b.to_expr(graph, width));
        let e = graph.ite(cond, x, y);
        Value::of(graph, e)
    }
}
