//! Functions of SV-COMP and Test-Comp.
use super::Treatment::{Exact, Forks};
use super::{CallSite, ModelResult, ModelRow, Returned, klee, row};
use crate::exec::outcome::{Class, Outcome};
use crate::exec::run::Machine;
use crate::exec::state::State;
use crate::exec::state::contents::Contents;
use crate::exec::state::value::Value;

pub(super) const MODELS: &[ModelRow] = &[
    row("__VERIFIER_assume", 1, Exact, assume),
    row("__VERIFIER_error", 0, Exact, error),
    row("reach_error", 0, Exact, error),
    row("__VERIFIER_assert", 1, Forks, assert),
    row("__VERIFIER_nondet_memory", 2, Forks, memory),
];

/// `__VERIFIER_nondet_TYPE`: any value of the result's type, which is `int` if the function is not declared.
pub(super) const NONDET: ModelRow = row("__VERIFIER_nondet_", 0, Exact, value);

/// Types whose values are fewer than those of `int`, with their bits and whether they are signed.
const NARROW: [(&str, u32, bool); 6] = [
    ("bool", 1, false),
    ("char", 8, true),
    ("schar", 8, true),
    ("uchar", 8, false),
    ("short", 16, true),
    ("ushort", 16, false),
];
const INT: u32 = 32;

pub(super) fn nondet(name: &str) -> Option<ModelRow> {
    name.starts_with(NONDET.name).then_some(NONDET)
}

fn value(machine: &mut Machine, state: &mut State, site: &CallSite<'_>) -> ModelResult {
    let kind = site.name.trim_start_matches("__VERIFIER_nondet_");
    if site.width == 0 {
        return Ok(Returned::Nothing);
    }
    let Some((_, width, is_signed)) = NARROW.iter().find(|(name, ..)| *name == kind && site.width == INT)
    else {
        return Ok(Returned::Value(machine.fresh(state, kind, site.width)));
    };
    let value = machine.fresh(state, kind, *width);
    let graph = machine.graph();
    let narrow = value.to_bits(graph, *width);
    let wide = if *is_signed { graph.sext(narrow, INT) } else { graph.zext(narrow, INT) };
    Ok(Returned::Value(Value::of(graph, wide)))
}

fn memory(machine: &mut Machine, state: &mut State, site: &CallSite<'_>) -> ModelResult {
    let count = machine.argument(state, site, 1)?;
    if count == 0 {
        return Ok(Returned::Nothing);
    }
    let address = machine.argument(state, site, 0)?;
    let (id, at) = machine.object_at(state, address, count, crate::exec::run::access::Access::Write)?;
    let array = machine.new_input(state, "memory", count);
    machine.cache.drop_object(id);
    let graph = machine.graph();
    let object = state.memory.get_mut(id).expect("a live object");
    if count == object.size && object.symbolic_size.is_none() {
        object.set_contents(Contents::of_bytes(array));
        return Ok(Returned::Nothing);
    }
    for i in 0..count {
        let index = graph.word(crate::exec::state::contents::INDEX_WIDTH, i);
        let byte = graph.select(array, index);
        object.write(graph, at + i, byte);
    }
    Ok(Returned::Nothing)
}

/// Drops paths on which the condition does not hold.
fn assume(machine: &mut Machine, state: &mut State, site: &CallSite<'_>) -> ModelResult {
    let condition = klee::truth(machine, site.arguments[0], site.call.args[0].width);
    machine.decider.assume(state, condition, Outcome::Dropped)?;
    Ok(Returned::Nothing)
}

fn error(_: &mut Machine, _: &mut State, site: &CallSite<'_>) -> ModelResult {
    Err(Outcome::bug(Class::Assert, format!("{} was called", site.name)))
}

fn assert(machine: &mut Machine, state: &mut State, site: &CallSite<'_>) -> ModelResult {
    let condition = klee::truth(machine, site.arguments[0], site.call.args[0].width);
    machine.decider.require(state, condition, Outcome::bug(Class::Assert, "__VERIFIER_assert failed"))?;
    Ok(Returned::Nothing)
}
