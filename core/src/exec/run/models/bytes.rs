//! Functions that move bytes without reading them. Those that read them are C (`runtime/lib/string.c`).
use super::Treatment::{Exact, Forks};
use super::{CallSite, ModelResult, ModelRow, Returned, row};
use crate::exec::outcome::{Class, Outcome};
use crate::exec::run::Machine;
use crate::exec::state::State;
use crate::exec::state::value::Value;

pub(super) const MODELS: &[ModelRow] = &[
    row("memcpy", 3, Exact, copy),
    row("memmove", 3, Exact, move_bytes),
    row("mempcpy", 3, Forks, copy_past),
    row("memset", 3, Exact, set),
    row("bzero", 2, Exact, zero),
    row("__memcpy_chk", 4, Exact, |m, s, c| checked(m, s, c).and_then(|()| copy(m, s, c))),
    row("__memmove_chk", 4, Exact, |m, s, c| checked(m, s, c).and_then(|()| move_bytes(m, s, c))),
    row("__memset_chk", 4, Exact, |m, s, c| checked(m, s, c).and_then(|()| set(m, s, c))),
];

/// Ends the paths on which the length exceeds the size of the object, as the compiler knows it.
fn checked(machine: &mut Machine, state: &mut State, site: &CallSite<'_>) -> Result<(), Outcome> {
    let [count, size] = [2, 3].map(|i| site.arguments[i].to_bits(machine.graph(), 64));
    let fits = machine.graph().ule(count, size);
    let message = format!("{} past the size that the compiler knows", site.name);
    machine.decider.require(state, fits, Outcome::bug(Class::Abort, message))
}

fn copy(machine: &mut Machine, state: &mut State, site: &CallSite<'_>) -> ModelResult {
    machine.copy_bytes(state, site.arguments[0], site.arguments[1], site.arguments[2], false)?;
    Ok(Returned::Value(site.arguments[0]))
}

fn move_bytes(machine: &mut Machine, state: &mut State, site: &CallSite<'_>) -> ModelResult {
    machine.copy_bytes(state, site.arguments[0], site.arguments[1], site.arguments[2], true)?;
    Ok(Returned::Value(site.arguments[0]))
}

fn copy_past(machine: &mut Machine, state: &mut State, site: &CallSite<'_>) -> ModelResult {
    machine.copy_bytes(state, site.arguments[0], site.arguments[1], site.arguments[2], false)?;
    let (to, count) = (machine.argument(state, site, 0)?, machine.argument(state, site, 2)?);
    Ok(Returned::Value(Value::number(to.wrapping_add(count))))
}

fn set(machine: &mut Machine, state: &mut State, site: &CallSite<'_>) -> ModelResult {
    let byte = machine.low_byte(site.arguments[1], site.call.args[1].width);
    machine.set_bytes(state, site.arguments[0], byte, site.arguments[2])?;
    Ok(Returned::Value(site.arguments[0]))
}

fn zero(machine: &mut Machine, state: &mut State, site: &CallSite<'_>) -> ModelResult {
    machine.set_bytes(state, site.arguments[0], Value::ZERO, site.arguments[1])?;
    Ok(Returned::Nothing)
}

impl Machine {
    /// Lowest byte of a value.
    pub(super) fn low_byte(&mut self, value: Value, width: u32) -> Value {
        match value.expr() {
            None => Value::number(value.word & 0xff),
            Some(_) => {
                let bits = value.to_bits(self.graph(), width);
                let byte = self.graph().extract(bits, 0, 8);
                Value::of_bits(self.graph(), byte)
            }
        }
    }
}
