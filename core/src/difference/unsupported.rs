//! Classifies conditions that are not difference constraints. The construct nearest the root decides, as in Figure
//! 9 of the paper.

use crate::expr::walk::element_range;
use crate::expr::{ArithOp, ArrayOp, BitsOp, Expr, Family, Graph, Op, ShapeOp};
use std::collections::VecDeque;

/// Maximum number of nodes visited.
const MAX_NODES: usize = 1000;

/// Name of the reason why `e`, a condition or one of the constraints together with `others`, is unsupported.
pub fn unsupported_reason(graph: &Graph, e: Expr, others: &[Expr]) -> &'static str {
    let mut queue = VecDeque::from([e]);
    let mut reads = Vec::new();
    for _ in 0..MAX_NODES {
        let Some(e) = queue.pop_front() else { break };
        if !graph.is_bool(e) && !graph.is_array(e) && graph.width(e) > 64 {
            return "width";
        }
        match graph.op(e).family() {
            Family::Bits(_) if !graph.is_bool(e) => return "bitwise",
            Family::Bits(BitsOp::And | BitsOp::Not) | Family::Compare(_) => queue.extend(graph.kids(e)),
            Family::Bits(BitsOp::Or | BitsOp::Xor) => return "boolean",
            Family::Arith(op) => match op {
                ArithOp::UDiv | ArithOp::URem | ArithOp::SDiv | ArithOp::SRem => return "non-linear",
                ArithOp::Mul if !graph.is_const(graph.kid(e, 1)) => return "non-linear",
                ArithOp::Mul => return "linear",
                ArithOp::Add if graph.is_const(graph.kid(e, 1)) => return "may-wrap",
                // A sum of two words is not a difference; a difference of two words would be one.
                ArithOp::Add => return "linear",
                ArithOp::Sub => return "may-wrap",
            },
            Family::Shift(_) => return "shift",
            Family::Shape(op) => match op {
                ShapeOp::Ite => return "boolean",
                ShapeOp::Extract | ShapeOp::Concat => return "extract",
                ShapeOp::SExt | ShapeOp::ZExt => queue.extend(graph.kids(e)),
            },
            Family::Array(ArrayOp::Read) if element_range(graph, e).is_some() => reads.push(e),
            Family::Array(_) => return "array",
            Family::Float(_) => return "float",
            Family::Leaf(_) => {}
        }
    }
    let all: Vec<Expr> = others.iter().copied().chain([e]).collect();
    if reads.iter().any(|&read| has_overlapping_read(graph, read, &all)) {
        "type-mismatch"
    } else {
        "signedness"
    }
}

/// Returns true if bits of a read are also read at another index or width.
fn has_overlapping_read(graph: &Graph, read: Expr, all: &[Expr]) -> bool {
    let Some((array, first, count)) = element_range(graph, read) else { return false };
    let mut found = false;
    graph.post_order(all, |e| {
        found |= graph.op(e) == Op::Read
            && e != read
            && element_range(graph, e)
                .is_some_and(|(other, at, n)| other == array && at < first + count && first < at + n);
    });
    found
}
