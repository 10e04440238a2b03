//! End of the program, and its environment.
use super::Treatment::{Exact, Forks};
use super::{CallSite, ModelResult, ModelRow, Returned, row};
use crate::exec::outcome::{Class, Outcome};
use crate::exec::run::Machine;
use crate::exec::run::step::Flow;
use crate::exec::state::address;
use crate::exec::state::object::Kind;
use crate::exec::state::value::Value;
use crate::exec::state::{Stage, State};
use std::sync::Arc;

pub(super) const MODELS: &[ModelRow] = &[
    row("exit", 1, Exact, exit),
    row("_exit", 1, Exact, exit_now),
    row("_Exit", 1, Exact, exit_now),
    row("quick_exit", 1, Exact, exit_now),
    row("abort", 0, Exact, abort),
    // The end of the kernel model's `abort`, which calls a handler first.
    row("__partita_abort", 0, Exact, abort),
    row("__assert_fail", 4, Exact, assert_fail),
    row("__assert_rtn", 4, Exact, assert_rtn),
    row("atexit", 1, Forks, atexit),
    row("__cxa_atexit", 3, Forks, atexit),
    row("__errno_location", 0, Exact, errno_location),
    row("__cxa_finalize", 0, Exact, nothing),
];

impl Machine {
    /// Address of `errno`.
    pub(in crate::exec::run) fn errno(&mut self, state: &mut State) -> Result<u64, Outcome> {
        let address = match state.errno {
            Some(address) => address,
            None => self.new_object(state, 4, Kind::Global)?.base(),
        };
        state.errno = Some(address);
        Ok(address)
    }

    pub(super) fn set_errno(&mut self, state: &mut State, number: u64) -> Result<(), Outcome> {
        let address = self.errno(state)?;
        self.store(state, Value::number(address), Value::number(number), 32)
    }
}

fn exit(machine: &mut Machine, state: &mut State, site: &CallSite<'_>) -> ModelResult {
    if !machine.may_exit(state)? {
        return Ok(Returned::Frame);
    }
    if machine.options.checks.leak {
        state.exit_frame = Some(Arc::new(state.frame.clone()));
    }
    state.stage = Stage::Exiting { status: site.arguments[0], destructors: 0 };
    match machine.next_stage(state, None)? {
        Flow::Frame => Ok(Returned::Frame),
        Flow::Next | Flow::Edge(_) => unreachable!("a stage pushes a frame or ends the path"),
    }
}

fn exit_now(machine: &mut Machine, state: &mut State, site: &CallSite<'_>) -> ModelResult {
    if !machine.may_exit(state)? {
        return Ok(Returned::Frame);
    }
    let status = machine.decider.defined_value(state, site.arguments[0], "the exit status");
    let status = machine.decider.readable_exit_status(state, status);
    Err(Outcome::Exit { status })
}

fn abort(_: &mut Machine, _: &mut State, _: &CallSite<'_>) -> ModelResult {
    Err(Outcome::bug(Class::Abort, "abort was called"))
}

fn failed(machine: &mut Machine, state: &mut State, site: &CallSite<'_>, expression: usize) -> ModelResult {
    let address = machine.argument(state, site, expression)?;
    let text = machine.message_at(state, address)?;
    Err(Outcome::bug(Class::Assert, format!("assertion failed: {text}")))
}

fn assert_fail(machine: &mut Machine, state: &mut State, site: &CallSite<'_>) -> ModelResult {
    failed(machine, state, site, 0)
}

fn assert_rtn(machine: &mut Machine, state: &mut State, site: &CallSite<'_>) -> ModelResult {
    failed(machine, state, site, 3)
}

fn atexit(machine: &mut Machine, state: &mut State, site: &CallSite<'_>) -> ModelResult {
    let target = machine.argument(state, site, 0)?;
    let Some(func) = address::function_at(target, &machine.program) else {
        return Err(Outcome::bug(
            Class::ModelError,
            format!("{} of {target:#x}: no function is there", site.name),
        ));
    };
    Arc::make_mut(&mut state.handlers).push((func, site.arguments.get(1).copied()));
    Ok(Returned::Value(Value::ZERO))
}

fn errno_location(machine: &mut Machine, state: &mut State, _: &CallSite<'_>) -> ModelResult {
    Ok(Returned::Value(Value::number(machine.errno(state)?)))
}

fn nothing(_: &mut Machine, _: &mut State, _: &CallSite<'_>) -> ModelResult {
    Ok(Returned::Nothing)
}
