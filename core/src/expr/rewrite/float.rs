//! Rules of float operators. They hold for every operand, NaN and zeros of both signs included.

use crate::expr::float::FloatParameter;
use crate::expr::{Expr, FloatOp, Graph, Sort};

impl Graph {
    pub(in crate::expr) fn rewrite_float(
        &mut self,
        _op: FloatOp,
        _parameter: FloatParameter,
        _sort: Sort,
        _kids: &[Expr],
    ) -> Option<Expr> {
        None
    }
}
