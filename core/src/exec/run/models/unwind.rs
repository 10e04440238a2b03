//! Unwinding of the stack by an exception. The runtime (`runtime/cpp/unwind.cpp`) looks for a handler and lands there;
//! a landing pad belongs to a caller whose call is followed by `Inst::Landing`.
use super::Treatment::{Binds, Exact};
use super::{CallSite, ModelResult, ModelRow, Returned, row};
use crate::exec::outcome::{Class, Outcome};
use crate::exec::run::Machine;
use crate::exec::state::State;
use crate::exec::state::frame::Frame;
use crate::exec::state::value::Value;
use crate::program::{EdgeId, Inst, Operand, Program, Reg};
use std::sync::Arc;

pub(super) const MODELS: &[ModelRow] =
    &[row("klee_landing_pad", 1, Binds, landing_pad), row("klee_land", 3, Exact, land)];

struct LandingPad {
    unwind: EdgeId,
    first: Reg,
    clauses: Operand,
}

/// The landing pad of a caller's call.
fn pad_of(program: &Program, frame: &Frame) -> Option<LandingPad> {
    match program.functions[frame.func.index()].insts.get(frame.pc as usize + 1) {
        Some(&Inst::Landing { unwind, first, clauses, .. }) => Some(LandingPad { unwind, first, clauses }),
        _ => None,
    }
}

/// Address of the clauses of the `n`th landing pad that an exception meets, innermost first; 0 if there are fewer.
fn landing_pad(machine: &mut Machine, state: &mut State, site: &CallSite<'_>) -> ModelResult {
    let number = machine.argument(state, site, 0)? as usize;
    let program = Arc::clone(&machine.program);
    // The top frame is the runtime's: its own call is the one of this model.
    let clauses = state
        .frame
        .frames()
        .skip(1)
        .filter_map(|frame| pad_of(&program, frame))
        .nth(number)
        .map(|pad| pad.clauses);
    Ok(Returned::Value(clauses.map_or(Value::ZERO, |clauses| machine.operand(state, clauses, 64))))
}

/// Ends the frames above the innermost landing pad, and continues there with an exception and a selector. The first
/// argument is the number of landing pads to skip.
fn land(machine: &mut Machine, state: &mut State, site: &CallSite<'_>) -> ModelResult {
    let skipped = machine.argument(state, site, 0)?;
    let program = Arc::clone(&machine.program);
    let mut left = skipped + 1;
    loop {
        machine.end_locals(state);
        if !state.frame.pop() {
            return Err(Outcome::bug(Class::ModelError, format!("{}: no such landing pad", site.name)));
        }
        let Some(pad) = pad_of(&program, &state.frame) else { continue };
        left -= 1;
        if left == 0 {
            machine.set(state, pad.first, site.arguments[1]);
            machine.set(state, Reg(pad.first.0 + 1), site.arguments[2]);
            state.edge = Some(pad.unwind.0);
            return Ok(Returned::Frame);
        }
    }
}
