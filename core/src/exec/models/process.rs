//! How a program ends, and what it knows of its surroundings.
use super::{Answer, Reply, Row, Site, row};
use crate::exec::Engine;
use crate::exec::address;
use crate::exec::object::Kind;
use crate::exec::outcome::{Class, Outcome};
use crate::exec::state::{Stage, State};
use crate::exec::step::Go;
use crate::exec::value::Value;
use std::sync::Arc;

pub(super) const MODELS: &[Row] = &[
    row("exit", 1, exit),
    row("_exit", 1, exit_now),
    row("_Exit", 1, exit_now),
    row("quick_exit", 1, exit_now),
    row("abort", 0, abort),
    row("__assert_fail", 4, assert_fail),
    row("__assert_rtn", 4, assert_rtn),
    row("atexit", 1, atexit),
    row("__errno_location", 0, errno_location),
    row("getenv", 1, null),
    row("__cxa_finalize", 0, nothing),
];

impl Engine {
    /// The address of `errno`.
    pub(in crate::exec) fn errno(&mut self, state: &mut State) -> Result<u64, Outcome> {
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

fn exit(engine: &mut Engine, state: &mut State, site: &Site<'_>) -> Answer {
    if engine.options.checks.leak {
        state.left = Some(Arc::new(state.frame.clone()));
    }
    state.stage = Stage::Exiting { status: site.arguments[0], destructors: 0 };
    match engine.next_stage(state, None)? {
        Go::Frame => Ok(Reply::Frame),
        Go::Next | Go::Edge(_) => unreachable!("a stage starts a frame or ends"),
    }
}

fn exit_now(engine: &mut Engine, state: &mut State, site: &Site<'_>) -> Answer {
    let status = engine.exit_status(state, site.arguments[0]);
    Err(Outcome::Exit { status })
}

fn abort(_: &mut Engine, _: &mut State, _: &Site<'_>) -> Answer {
    Err(Outcome::bug(Class::Abort, "abort was called"))
}

fn failed(engine: &mut Engine, state: &mut State, site: &Site<'_>, expression: usize) -> Answer {
    let address = engine.argument(state, site, expression)?;
    let text = engine.string_at(state, address)?;
    Err(Outcome::bug(Class::Assert, format!("assertion failed: {}", String::from_utf8_lossy(&text))))
}

fn assert_fail(engine: &mut Engine, state: &mut State, site: &Site<'_>) -> Answer {
    failed(engine, state, site, 0)
}

fn assert_rtn(engine: &mut Engine, state: &mut State, site: &Site<'_>) -> Answer {
    failed(engine, state, site, 3)
}

fn atexit(engine: &mut Engine, state: &mut State, site: &Site<'_>) -> Answer {
    let target = engine.argument(state, site, 0)?;
    let Some(func) = address::function_at(target, engine.program.functions.len()) else {
        return Err(Outcome::bug(Class::ModelError, format!("atexit of {target:#x}, where no function is")));
    };
    Arc::make_mut(&mut state.handlers).push(func);
    Ok(Reply::Value(Value::ZERO))
}

fn errno_location(engine: &mut Engine, state: &mut State, _: &Site<'_>) -> Answer {
    Ok(Reply::Value(Value::number(engine.errno(state)?)))
}

fn null(_: &mut Engine, _: &mut State, _: &Site<'_>) -> Answer {
    Ok(Reply::Value(Value::ZERO))
}

fn nothing(_: &mut Engine, _: &mut State, _: &Site<'_>) -> Answer {
    Ok(Reply::Nothing)
}
