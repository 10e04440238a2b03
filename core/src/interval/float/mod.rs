//! Sets of words under float operators. `order` maps floats to integers in their order; a set is then a list of
//! intervals of numbers and perhaps NaNs. For formats of at most 64 bits, as all sets.

mod backward;
mod compare;
mod forward;
mod integer;
mod order;

use super::set::{Approx, Set};
use crate::expr::eval::Shape;
use crate::expr::float::FloatParameter;
use crate::expr::{FloatOp, Op};
use order::Order;

fn parameter(op: FloatOp, shape: Shape) -> FloatParameter {
    FloatParameter::unpack(op, shape.low, shape.operand)
}

fn is_comparison(op: FloatOp) -> bool {
    matches!(op, FloatOp::FLt | FloatOp::FLe | FloatOp::FEq)
}

/// Image of a unary operator. The set is not empty.
pub fn forward_unary(float: FloatOp, op: Op, shape: Shape, a: &Set) -> Approx {
    forward::unary(float, op, shape, a)
}

/// Image of a binary operator. Neither set is empty.
pub fn forward_binary(float: FloatOp, op: Op, shape: Shape, a: &Set, b: &Set) -> Approx {
    if is_comparison(float) {
        return compare::forward(float, Order::new(parameter(float, shape).format), a, b);
    }
    forward::binary(float, op, shape, a, b)
}

/// Image of the fused operation.
pub fn forward_ternary(float: FloatOp, op: Op, shape: Shape, operands: [&Set; 3]) -> Approx {
    if operands.iter().any(|set| set.is_empty()) {
        return Approx::exact(Set::empty(shape.width));
    }
    forward::ternary(float, op, shape, operands)
}

/// Preimage of a unary operator. Neither set is empty.
pub fn backward_unary(float: FloatOp, op: Op, shape: Shape, target: &Set, own: &Set) -> Approx {
    backward::unary(float, op, shape, target, own)
}

/// Preimage for operand `which` of a binary operator. No set is empty.
pub fn backward_binary(
    float: FloatOp,
    op: Op,
    shape: Shape,
    target: &Set,
    other: &Set,
    which: usize,
) -> Approx {
    if is_comparison(float) {
        let order = Order::new(parameter(float, shape).format);
        return compare::backward(float, order, target, other, which);
    }
    backward::binary(float, op, shape, target, other, which)
}
