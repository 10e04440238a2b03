//! Float operators as Python calls them. `partita.floats` has the class that knows formats and rounding modes.

use crate::expr::{Expr, operand};
use crate::term::{Term, TermKind};
use partita_core::expr::float::{FloatParameter, Format, Rounding};
use partita_core::expr::{Family, FloatOp, Op, Sort};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use std::sync::Arc;

fn operator(name: &str) -> Option<FloatOp> {
    Op::ALL.iter().find_map(|op| match op.family() {
        Family::Float(float) if format!("{op:?}") == name => Some(float),
        _ => None,
    })
}

/// The format with these bits; x87's if the integer bit is stored.
fn format_of((exponent, significand, explicit): (u32, u32, bool)) -> PyResult<Format> {
    let found = match explicit {
        true => {
            Some(Format::X87).filter(|x87| (x87.exponent(), x87.significand()) == (exponent, significand))
        }
        false => {
            Format::new(exponent, significand).filter(|format| Sort::bits(format.width().into()).is_ok())
        }
    };
    found.ok_or_else(|| {
        PyValueError::new_err(format!(
            "expected a format of 2 to {} bits of exponent and at least 2 of significand, at most 65536 together, found {exponent} and {significand}",
            Format::MAX_EXPONENT
        ))
    })
}

/// Applies a float operator to words: float_operator("FAdd", (11, 53, False), (11, 53, False), 0, 64, [x, y]). The
/// formats are those of the result and of the operands; `width` is that of an integer result.
#[pyfunction]
pub(crate) fn float_operator(
    name: &str,
    format: (u32, u32, bool),
    source: (u32, u32, bool),
    rounding: usize,
    width: u64,
    args: Vec<Bound<'_, Expr>>,
) -> PyResult<Expr> {
    let Some(op) = operator(name) else {
        return Err(PyValueError::new_err(format!("expected the name of a float operator, found {name:?}")));
    };
    let (format, source) = (format_of(format)?, format_of(source)?);
    let Some(&rounding) = Rounding::ALL.get(rounding) else {
        return Err(PyValueError::new_err(format!("expected a rounding mode from 0 to 4, found {rounding}")));
    };
    let arity = Op::from(op).arity();
    if args.len() != arity {
        return Err(PyValueError::new_err(format!("{name}: expected {arity} words, found {}", args.len())));
    }
    let from_integer = matches!(op, FloatOp::FFromUInt | FloatOp::FFromSInt);
    let mut terms: Vec<Arc<Term>> = Vec::with_capacity(arity);
    for arg in &args {
        let term = arg.get().term.clone();
        let expected = Sort::Bits(source.width());
        let fits = if from_integer { matches!(term.sort, Sort::Bits(_)) } else { term.sort == expected };
        if !fits {
            let found = term.sort;
            return Err(PyValueError::new_err(format!("{name}: expected {expected}, found {found}")));
        }
        terms.push(operand(arg.as_any(), term.sort)?);
    }
    let sort = match op {
        FloatOp::FLt | FloatOp::FLe | FloatOp::FEq => Sort::Bool,
        FloatOp::FToUInt | FloatOp::FToSInt => {
            Sort::bits(width).map_err(|e| PyValueError::new_err(format!("{name}: {}", e.0)))?
        }
        FloatOp::FAdd | FloatOp::FMul | FloatOp::FDiv | FloatOp::FMulAdd | FloatOp::FSqrt => {
            Sort::Bits(format.width())
        }
        FloatOp::FRound | FloatOp::FRem | FloatOp::FToF | FloatOp::FFromUInt | FloatOp::FFromSInt => {
            Sort::Bits(format.width())
        }
    };
    let parameter = FloatParameter { format, rounding, source };
    Ok(Expr {
        term: Arc::new(Term {
            sort,
            kind: TermKind::Float(op, parameter),
            args: terms.into_iter().collect(),
        }),
    })
}
