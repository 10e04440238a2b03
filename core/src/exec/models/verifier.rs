//! The functions of SV-COMP and Test-Comp.
use super::{Answer, Reply, Row, Site, klee, row};
use crate::exec::Engine;
use crate::exec::outcome::{Class, Outcome};
use crate::exec::state::State;

pub(super) const MODELS: &[Row] = &[
    row("__VERIFIER_assume", 1, assume),
    row("__VERIFIER_error", 0, error),
    row("reach_error", 0, error),
    row("__VERIFIER_assert", 1, assert),
    row("__VERIFIER_atomic_begin", 0, nothing),
    row("__VERIFIER_atomic_end", 0, nothing),
    row("__VERIFIER_nondet_memory", 2, memory),
];

/// `__VERIFIER_nondet_int` and its many sisters: any value of the result's type.
pub(super) fn nondet(name: &str) -> Option<Row> {
    name.starts_with("__VERIFIER_nondet_").then(|| row("__VERIFIER_nondet_", 0, value))
}

fn value(engine: &mut Engine, state: &mut State, site: &Site<'_>) -> Answer {
    let kind = site.name.trim_start_matches("__VERIFIER_nondet_");
    if site.width == 0 {
        return Ok(Reply::Nothing);
    }
    Ok(Reply::Value(engine.fresh(state, kind, site.width)))
}

fn memory(engine: &mut Engine, state: &mut State, site: &Site<'_>) -> Answer {
    let count = engine.argument(state, site, 1)?;
    if count == 0 {
        return Ok(Reply::Nothing);
    }
    let address = engine.argument(state, site, 0)?;
    let (id, at) = engine.at(state, address, count, crate::exec::outcome::Access::Write)?;
    let array = engine.new_input(state, "memory", count);
    engine.cache.drop_object(id);
    let graph = &mut engine.solver.graph;
    let object = state.memory.get_mut(id).expect("a live object");
    for i in 0..count {
        let index = graph.word(crate::exec::contents::INDEX_WIDTH, i);
        let byte = graph.select(array, index);
        object.write(graph, at + i, byte);
    }
    Ok(Reply::Nothing)
}

/// Paths on which it does not hold are no paths at all.
fn assume(engine: &mut Engine, state: &mut State, site: &Site<'_>) -> Answer {
    let condition = klee::truth(engine, site.arguments[0], site.call.args[0].width);
    engine.assume(state, condition, Outcome::Dropped)?;
    Ok(Reply::Nothing)
}

fn error(_: &mut Engine, _: &mut State, site: &Site<'_>) -> Answer {
    Err(Outcome::bug(Class::Assert, format!("{} was called", site.name)))
}

fn assert(engine: &mut Engine, state: &mut State, site: &Site<'_>) -> Answer {
    let condition = klee::truth(engine, site.arguments[0], site.call.args[0].width);
    engine.require(state, condition, Outcome::bug(Class::Assert, "__VERIFIER_assert failed"))?;
    Ok(Reply::Nothing)
}

fn nothing(_: &mut Engine, _: &mut State, _: &Site<'_>) -> Answer {
    Ok(Reply::Nothing)
}
