//! The floating-point environment: the rounding mode is kept in the state; `runtime/lib/fenv.c` has the functions of
//! `fenv.h`. Exception flags are not tracked: reading them is counted.
use super::{CallSite, ModelResult, ModelRow, Returned, row};
use crate::exec::run::Machine;
use crate::exec::state::State;
use crate::exec::state::value::Value;
use crate::expr::bits::signed;
use crate::expr::float::Rounding;

pub(super) const MODELS: &[ModelRow] = &[
    row("__partita_set_rounding", 1, set_rounding),
    row("__partita_get_rounding", 0, get_rounding),
    row("__partita_read_exceptions", 0, read_exceptions),
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

fn read_exceptions(machine: &mut Machine, state: &mut State, _: &CallSite<'_>) -> ModelResult {
    machine.decider.incomplete(state, "exception flags of floating-point operations are not tracked");
    Ok(Returned::Nothing)
}
