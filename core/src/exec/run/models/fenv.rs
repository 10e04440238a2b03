//! The floating-point environment: rounding mode and exception flags are kept in the state; `runtime/lib/fenv.c` has the
//! functions of `fenv.h`. Flags are recorded only if the linked program has a function that reads them.
use super::Treatment::Exact;
use super::{CallSite, ModelResult, ModelRow, Returned, row};
use crate::exec::run::Machine;
use crate::exec::state::State;
use crate::exec::state::value::Value;
use crate::expr::bits::signed;
use crate::expr::float::{Rounding, exceptions};

/// The function that reads exception flags.
pub(in crate::exec::run) const READ_EXCEPTIONS: &str = "__partita_get_exceptions";

pub(super) const MODELS: &[ModelRow] = &[
    row("__partita_set_rounding", 1, Exact, set_rounding),
    row("__partita_get_rounding", 0, Exact, get_rounding),
    row("__partita_set_exceptions", 1, Exact, set_exceptions),
    row(READ_EXCEPTIONS, 0, Exact, get_exceptions),
];

/// Rounding modes by the numbers that `fenv.c` has for them: those of x86's control word.
const MODES: [Rounding; 4] =
    [Rounding::NearestEven, Rounding::TowardNegative, Rounding::TowardPositive, Rounding::TowardZero];

/// Returns 0, or -1 if there is no such mode.
fn set_rounding(machine: &mut Machine, state: &mut State, site: &CallSite<'_>) -> ModelResult {
    let mode = machine.decider.fork_on_value(state, site.arguments[0], 32, "a rounding mode")?;
    let found = usize::try_from(signed(32, mode)).ok().and_then(|mode| MODES.get(mode));
    if let Some(&mode) = found {
        state.rounding = mode;
    }
    Ok(Returned::Value(Value::number(if found.is_some() { 0 } else { 0xffff_ffff })))
}

fn get_rounding(_: &mut Machine, state: &mut State, _: &CallSite<'_>) -> ModelResult {
    let mode = MODES.iter().position(|&mode| mode == state.rounding).expect("only these are set");
    Ok(Returned::Value(Value::number(mode as u64)))
}

fn set_exceptions(machine: &mut Machine, state: &mut State, site: &CallSite<'_>) -> ModelResult {
    let graph = machine.graph();
    let flags = site.arguments[0].to_bits(graph, 32);
    let flags = graph.extract(flags, 0, exceptions::WIDTH);
    state.exceptions = Value::of_bits(graph, flags);
    Ok(Returned::Nothing)
}

fn get_exceptions(machine: &mut Machine, state: &mut State, _: &CallSite<'_>) -> ModelResult {
    let graph = machine.graph();
    let flags = state.exceptions.to_bits(graph, exceptions::WIDTH);
    let flags = graph.zext(flags, 32);
    Ok(Returned::Value(Value::of_bits(graph, flags)))
}
