//! `setjmp` and `longjmp`. A `jmp_buf` holds a number that identifies the call of `setjmp` in its activation,
//! so that a jump to a function that has returned is detected.
use super::Treatment::Exact;
use super::{CallSite, ModelResult, ModelRow, Returned, row};
use crate::exec::outcome::{Class, Outcome};
use crate::exec::run::Machine;
use crate::exec::state::State;
use crate::exec::state::frame::{Frame, Jump};
use crate::exec::state::value::Value;
use crate::program::Inst;
use std::sync::Arc;

pub(super) const MODELS: &[ModelRow] = &[
    row("setjmp", 1, Exact, setjmp),
    row("_setjmp", 1, Exact, setjmp),
    row("sigsetjmp", 2, Exact, setjmp),
    row("__sigsetjmp", 2, Exact, setjmp),
    row("longjmp", 2, Exact, longjmp),
    row("_longjmp", 2, Exact, longjmp),
    row("siglongjmp", 2, Exact, longjmp),
];

/// No object and no function has such an address.
const FIRST_TOKEN: u64 = 0x6a75_6d70_0000_0000;

fn setjmp(machine: &mut Machine, state: &mut State, site: &CallSite<'_>) -> ModelResult {
    let pc = state.frame.pc;
    let known = state.frame.jumps.iter().position(|jump| jump.pc == pc);
    let token = known.map_or(FIRST_TOKEN + state.setjmp_calls, |i| state.frame.jumps[i].token);
    machine.store(state, site.arguments[0], Value::number(token), 64)?;
    let jump = Jump { token, pc, dynamic: state.frame.dynamic.len() };
    match known {
        Some(i) => state.frame.jumps[i] = jump,
        None => {
            state.setjmp_calls += 1;
            state.frame.jumps.push(jump);
        }
    }
    Ok(Returned::Value(Value::ZERO))
}

fn longjmp(machine: &mut Machine, state: &mut State, site: &CallSite<'_>) -> ModelResult {
    let token = machine.load(state, site.arguments[0], 64)?;
    let token = machine.decider.fork_on_value(state, token, 64, "a jmp_buf")?;
    let target = |frame: &Frame| frame.jumps.iter().find(|jump| jump.token == token).copied();
    let Some(Jump { pc, dynamic, .. }) = state.frame.frames().find_map(target) else {
        let message = match token.checked_sub(FIRST_TOKEN) {
            Some(number) if number < state.setjmp_calls => "longjmp to a function that has returned",
            Some(_) | None => "longjmp with a jmp_buf that setjmp has not filled",
        };
        return Err(Outcome::bug(Class::ModelError, message));
    };
    let value = match site.arguments[1].expr() {
        None => Value::number(site.arguments[1].word.max(1)),
        Some(e) => {
            let graph = machine.graph();
            let (zero, one) = (graph.word(32, 0), graph.word(32, 1));
            let is_zero = graph.eq(e, zero);
            let e = graph.ite(is_zero, one, e);
            Value::of(graph, e)
        }
    };
    while target(&state.frame).is_none() {
        machine.end_locals(state);
        state.frame.pop();
    }
    machine.restore_stack(state, dynamic);
    let program = Arc::clone(&machine.program);
    if let Inst::Call(call) = &program.functions[state.frame.func.index()].insts[pc as usize]
        && call.results > 0
    {
        machine.set(state, call.first, value);
    }
    state.frame.pc = pc + 1;
    Ok(Returned::Frame)
}
