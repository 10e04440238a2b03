//! Floating-point instructions as expressions.
use crate::expr::float::{Format, Rounding};
use crate::expr::{Bits, Expr, Graph};
use crate::program::{FBinOp, FCmpPred, FUnOp, FloatKind};

pub fn format(kind: FloatKind) -> Format {
    match kind {
        FloatKind::Half => Format::HALF,
        FloatKind::BFloat => Format::BFLOAT,
        FloatKind::Single => Format::SINGLE,
        FloatKind::Double => Format::DOUBLE,
        FloatKind::X87 => Format::X87,
        FloatKind::Quad => Format::QUAD,
    }
}

pub fn binary(graph: &mut Graph, op: FBinOp, format: Format, rounding: Rounding, a: Expr, b: Expr) -> Expr {
    match op {
        FBinOp::Add => graph.f_add(format, rounding, a, b),
        FBinOp::Sub => graph.f_sub(format, rounding, a, b),
        FBinOp::Mul => graph.f_mul(format, rounding, a, b),
        FBinOp::Div => graph.f_div(format, rounding, a, b),
        FBinOp::Rem => graph.f_fmod(format, a, b),
        FBinOp::CopySign => graph.f_copysign(format, a, b),
        // Compiled for SSE it is a sequence around `minsd`; for other formats a call of the C library's `fminl`.
        FBinOp::MinNum | FBinOp::MaxNum if matches!(format, Format::SINGLE | Format::DOUBLE) => {
            graph.f_first_extreme(format, op == FBinOp::MaxNum, a, b)
        }
        FBinOp::MinNum | FBinOp::MaxNum => graph.f_number_extreme(format, op == FBinOp::MaxNum, a, b),
        FBinOp::Minimum => graph.f_nan_extreme(format, false, a, b),
        FBinOp::Maximum => graph.f_nan_extreme(format, true, a, b),
    }
}

pub fn unary(graph: &mut Graph, op: FUnOp, format: Format, rounding: Rounding, a: Expr) -> Expr {
    match op {
        FUnOp::Neg => graph.f_neg(format, a),
        FUnOp::Abs => graph.f_abs(format, a),
        FUnOp::Sqrt => graph.f_sqrt(format, rounding, a),
        FUnOp::Floor => graph.f_round(format, Rounding::TowardNegative, a),
        FUnOp::Ceil => graph.f_round(format, Rounding::TowardPositive, a),
        FUnOp::Trunc => graph.f_round(format, Rounding::TowardZero, a),
        FUnOp::Rint => graph.f_round(format, rounding, a),
        FUnOp::Round => graph.f_round(format, Rounding::NearestAway, a),
        FUnOp::RoundEven => graph.f_round(format, Rounding::NearestEven, a),
    }
}

pub fn compare(graph: &mut Graph, pred: FCmpPred, format: Format, a: Expr, b: Expr) -> Expr {
    match pred {
        FCmpPred::False => graph.boolean(false),
        FCmpPred::Oeq => graph.f_eq(format, a, b),
        FCmpPred::Ogt => graph.f_lt(format, b, a),
        FCmpPred::Oge => graph.f_le(format, b, a),
        FCmpPred::Olt => graph.f_lt(format, a, b),
        FCmpPred::Ole => graph.f_le(format, a, b),
        FCmpPred::One => {
            let (less, greater) = (graph.f_lt(format, a, b), graph.f_lt(format, b, a));
            graph.or(less, greater)
        }
        FCmpPred::Uno => graph.f_unordered(format, a, b),
        FCmpPred::Ord => negated(graph, FCmpPred::Uno, format, a, b),
        FCmpPred::Ueq => negated(graph, FCmpPred::One, format, a, b),
        FCmpPred::Ugt => negated(graph, FCmpPred::Ole, format, a, b),
        FCmpPred::Uge => negated(graph, FCmpPred::Olt, format, a, b),
        FCmpPred::Ult => negated(graph, FCmpPred::Oge, format, a, b),
        FCmpPred::Ule => negated(graph, FCmpPred::Ogt, format, a, b),
        FCmpPred::Une => negated(graph, FCmpPred::Oeq, format, a, b),
        FCmpPred::True => graph.boolean(true),
    }
}

fn negated(graph: &mut Graph, pred: FCmpPred, format: Format, a: Expr, b: Expr) -> Expr {
    let holds = compare(graph, pred, format, a, b);
    graph.not(holds)
}

/// Tests for the classes of `mask`, as `llvm.is.fpclass` numbers them.
pub fn class(graph: &mut Graph, format: Format, mask: u32, a: Expr) -> Expr {
    type Test = fn(&mut Graph, Format, Expr) -> Expr;
    const SIGNALLING: u32 = 1;
    const QUIET: u32 = 2;
    // Bits of the negative and of the positive numbers of a class.
    const SIGNED: [(u32, u32, Test); 4] = [
        (1 << 2, 1 << 9, Graph::f_is_infinite),
        (1 << 3, 1 << 8, Graph::f_is_normal),
        (1 << 4, 1 << 7, Graph::f_is_subnormal),
        (1 << 5, 1 << 6, Graph::f_is_zero),
    ];
    let mut any = graph.boolean(false);
    if mask & (SIGNALLING | QUIET) != 0 {
        let is_nan = graph.f_is_nan(format, a);
        let signalling = graph.f_is_signalling(format, a);
        let quiet = graph.not(signalling);
        let found = match mask & (SIGNALLING | QUIET) {
            SIGNALLING => signalling,
            QUIET => graph.and(is_nan, quiet),
            _ => is_nan,
        };
        any = graph.or(any, found);
    }
    for (negative, positive, test) in SIGNED {
        if mask & (negative | positive) == 0 {
            continue;
        }
        let mut found = test(graph, format, a);
        if mask & negative == 0 || mask & positive == 0 {
            let sign = graph.f_sign(format, a);
            let wanted = if mask & negative != 0 { sign } else { graph.not(sign) };
            found = graph.and(found, wanted);
        }
        any = graph.or(any, found);
    }
    any
}

/// Whether it is neither NaN nor infinite.
pub fn is_finite(graph: &mut Graph, format: Format, a: Expr) -> Expr {
    let (nan, infinite) = (graph.f_is_nan(format, a), graph.f_is_infinite(format, a));
    let either = graph.or(nan, infinite);
    graph.not(either)
}

/// Whether it is a number between two numbers, both included.
pub fn is_between(graph: &mut Graph, format: Format, low: Bits, high: Bits, a: Expr) -> Expr {
    let (low, high) = (graph.constant(low), graph.constant(high));
    let (above, below) = (graph.f_le(format, low, a), graph.f_le(format, a, high));
    graph.and(above, below)
}

/// A conversion to an integer that is the nearest integer if the number does not fit, and 0 for NaN.
pub fn saturated(
    graph: &mut Graph,
    format: Format,
    signed: bool,
    fits: Expr,
    a: Expr,
    converted: Expr,
) -> Expr {
    let width = graph.width(converted);
    let (least, most) = match signed {
        true => (Bits::ones(width).lshr(1).not(), Bits::ones(width).lshr(1)),
        false => (Bits::zero(width), Bits::ones(width)),
    };
    let (least, most, zero) =
        (graph.constant(least), graph.constant(most), graph.constant(Bits::zero(width)));
    let negative = graph.f_sign(format, a);
    let end = graph.ite(negative, least, most);
    let is_nan = graph.f_is_nan(format, a);
    let outside = graph.ite(is_nan, zero, end);
    graph.ite(fits, converted, outside)
}
