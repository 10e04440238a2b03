//! Functions of `math.h` that IEEE 754 defines exactly: one expression, no fork. All others are musl's C code.
use super::{CallSite, Model, ModelResult, ModelRow, Returned, Treatment, row};
use crate::exec::run::Machine;
use crate::exec::run::step::float_terms as terms;
use crate::exec::state::State;
use crate::exec::state::value::Value;
use crate::expr::Expr;
use crate::expr::float::{Format, Rounding};
use crate::program::{FBinOp, FUnOp};

const FORMATS: [Format; 3] = [Format::DOUBLE, Format::SINGLE, Format::X87];

/// Rows of a function for double, float and long double; the model gets the number of its format.
macro_rules! rows {
    ($($arity:literal $double:literal $single:literal $extended:literal $model:expr;)*) => {
        &[$(
            row($double, $arity, Treatment::Exact, { const MODEL: Model = |m, s, c| $model(m, s, c, FORMATS[0]); MODEL }),
            row($single, $arity, Treatment::Exact, { const MODEL: Model = |m, s, c| $model(m, s, c, FORMATS[1]); MODEL }),
            row($extended, $arity, Treatment::Exact, { const MODEL: Model = |m, s, c| $model(m, s, c, FORMATS[2]); MODEL }),
        )*]
    };
}

pub(super) const MODELS: &[ModelRow] = rows! {
    1 "fabs" "fabsf" "fabsl" |m, s, c, f| unary(m, s, c, f, FUnOp::Abs);
    1 "sqrt" "sqrtf" "sqrtl" |m, s, c, f| unary(m, s, c, f, FUnOp::Sqrt);
    1 "floor" "floorf" "floorl" |m, s, c, f| unary(m, s, c, f, FUnOp::Floor);
    1 "ceil" "ceilf" "ceill" |m, s, c, f| unary(m, s, c, f, FUnOp::Ceil);
    1 "trunc" "truncf" "truncl" |m, s, c, f| unary(m, s, c, f, FUnOp::Trunc);
    1 "rint" "rintf" "rintl" |m, s, c, f| unary(m, s, c, f, FUnOp::Rint);
    1 "nearbyint" "nearbyintf" "nearbyintl" |m, s, c, f| unary(m, s, c, f, FUnOp::Rint);
    1 "round" "roundf" "roundl" |m, s, c, f| unary(m, s, c, f, FUnOp::Round);
    1 "lrint" "lrintf" "lrintl" |m, s, c, f| to_long(m, s, c, f, FUnOp::Rint);
    1 "llrint" "llrintf" "llrintl" |m, s, c, f| to_long(m, s, c, f, FUnOp::Rint);
    1 "lround" "lroundf" "lroundl" |m, s, c, f| to_long(m, s, c, f, FUnOp::Round);
    1 "llround" "llroundf" "llroundl" |m, s, c, f| to_long(m, s, c, f, FUnOp::Round);
    2 "fmod" "fmodf" "fmodl" |m, s, c, f| binary(m, s, c, f, FBinOp::Rem);
    2 "copysign" "copysignf" "copysignl" |m, s, c, f| binary(m, s, c, f, FBinOp::CopySign);
    2 "fmin" "fminf" "fminl" |m, s, c, f| extreme(m, s, c, f, false);
    2 "fmax" "fmaxf" "fmaxl" |m, s, c, f| extreme(m, s, c, f, true);
    2 "remainder" "remainderf" "remainderl" remainder;
    2 "drem" "dremf" "dreml" remainder;
    3 "fma" "fmaf" "fmal" fma;
};

fn operand(machine: &mut Machine, site: &CallSite<'_>, index: usize, format: Format) -> Expr {
    site.arguments[index].to_bits(machine.graph(), format.width())
}

fn returned(machine: &mut Machine, e: Expr) -> ModelResult {
    Ok(Returned::Value(Value::of_bits(machine.graph(), e)))
}

fn unary(m: &mut Machine, state: &mut State, site: &CallSite<'_>, format: Format, op: FUnOp) -> ModelResult {
    let a = operand(m, site, 0, format);
    m.raise_unary(state, op, format, a);
    let e = terms::unary(m.graph(), op, format, state.rounding, a);
    returned(m, e)
}

fn binary(
    m: &mut Machine,
    state: &mut State,
    site: &CallSite<'_>,
    format: Format,
    op: FBinOp,
) -> ModelResult {
    let (a, b) = (operand(m, site, 0, format), operand(m, site, 1, format));
    if op != FBinOp::CopySign {
        m.unknown_exceptions(state, &format!("`{}`", site.name));
    }
    let e = terms::binary(m.graph(), op, format, state.rounding, a, b);
    returned(m, e)
}

/// As musl's: negative zero is below positive zero.
fn extreme(
    m: &mut Machine,
    state: &mut State,
    site: &CallSite<'_>,
    format: Format,
    max: bool,
) -> ModelResult {
    m.unknown_exceptions(state, &format!("`{}`", site.name));
    let (a, b) = (operand(m, site, 0, format), operand(m, site, 1, format));
    let e = m.graph().f_number_extreme(format, max, a, b);
    returned(m, e)
}

/// Rounds to an integral number and converts it; a number that does not fit gives the least integer, as on x86.
fn to_long(
    m: &mut Machine,
    state: &mut State,
    site: &CallSite<'_>,
    format: Format,
    op: FUnOp,
) -> ModelResult {
    m.unknown_exceptions(state, &format!("`{}`", site.name));
    let a = operand(m, site, 0, format);
    let integral = terms::unary(m.graph(), op, format, state.rounding, a);
    let width = if site.width == 0 { 64 } else { site.width };
    let e = m.graph().f_to_sint(format, Rounding::TowardZero, width, integral);
    returned(m, e)
}

fn remainder(m: &mut Machine, state: &mut State, site: &CallSite<'_>, format: Format) -> ModelResult {
    m.unknown_exceptions(state, &format!("`{}`", site.name));
    let (a, b) = (operand(m, site, 0, format), operand(m, site, 1, format));
    let e = m.graph().f_rem(format, a, b);
    returned(m, e)
}

fn fma(m: &mut Machine, state: &mut State, site: &CallSite<'_>, format: Format) -> ModelResult {
    m.unknown_exceptions(state, &format!("`{}`", site.name));
    let [a, b, c] = [0, 1, 2].map(|index| operand(m, site, index, format));
    let e = m.graph().f_mul_add(format, state.rounding, a, b, c);
    returned(m, e)
}
