//! The malloc family. Addresses are as aligned as anyone asks for; contents start as zeros.
use super::{Answer, Reply, Row, Site, row};
use crate::exec::Engine;
use crate::exec::address::ObjectId;
use crate::exec::object::Kind;
use crate::exec::outcome::{Class, Outcome, describe};
use crate::exec::state::State;
use crate::exec::value::Value;

pub(super) const MODELS: &[Row] = &[
    row("malloc", 1, malloc),
    row("calloc", 2, calloc),
    row("realloc", 2, realloc),
    row("reallocarray", 3, reallocarray),
    row("free", 1, free),
    row("memalign", 2, aligned),
    row("aligned_alloc", 2, aligned),
    row("valloc", 1, malloc),
    row("posix_memalign", 3, posix_memalign),
    row("malloc_usable_size", 1, usable_size),
];

fn allocate(engine: &mut Engine, state: &mut State, size: u64) -> Result<u64, Outcome> {
    // What the program asks for and no machine has, malloc refuses; what only we do not have ends the path.
    if size >= 1 << 40 {
        return Ok(0);
    }
    Ok(engine.new_object(state, size, Kind::Heap)?.base())
}

fn number(word: u64) -> Answer {
    Ok(Reply::Value(Value::number(word)))
}

fn malloc(engine: &mut Engine, state: &mut State, site: &Site<'_>) -> Answer {
    let size = engine.argument(state, site, 0)?;
    number(allocate(engine, state, size)?)
}

fn calloc(engine: &mut Engine, state: &mut State, site: &Site<'_>) -> Answer {
    let (count, size) = (engine.argument(state, site, 0)?, engine.argument(state, site, 1)?);
    match count.checked_mul(size) {
        Some(size) => number(allocate(engine, state, size)?),
        None => number(0),
    }
}

fn aligned(engine: &mut Engine, state: &mut State, site: &Site<'_>) -> Answer {
    let size = engine.argument(state, site, 1)?;
    number(allocate(engine, state, size)?)
}

fn posix_memalign(engine: &mut Engine, state: &mut State, site: &Site<'_>) -> Answer {
    let size = engine.argument(state, site, 2)?;
    let address = allocate(engine, state, size)?;
    engine.store(state, site.arguments[0], Value::number(address), 64)?;
    number(0)
}

/// The heap object that starts here, or what is wrong with freeing it.
fn heap_object(state: &State, address: u64, name: &str) -> Result<ObjectId, Outcome> {
    let invalid = |what: String| Outcome::bug(Class::InvalidFree, format!("{name} of {what}"));
    let Some(id) = ObjectId::of_address(address) else {
        return Err(invalid(format!("{address:#x}, where no object is")));
    };
    match state.memory.get(id) {
        Some(object) if object.kind != Kind::Heap => {
            Err(invalid(format!("a {}", describe(object.kind, object.size))))
        }
        Some(object) if object.base != address => {
            let offset = address.wrapping_sub(object.base) as i64;
            Err(invalid(format!("offset {offset} of a {}", describe(object.kind, object.size))))
        }
        Some(_) => Ok(id),
        None if state.memory.was_freed(id) => {
            Err(Outcome::bug(Class::DoubleFree, format!("{name} of a heap object that was freed before")))
        }
        None => Err(invalid(format!("{address:#x}, where no object is"))),
    }
}

fn free(engine: &mut Engine, state: &mut State, site: &Site<'_>) -> Answer {
    let address = engine.argument(state, site, 0)?;
    if address != 0 {
        let id = heap_object(state, address, site.name)?;
        engine.end_object(state, id);
    }
    Ok(Reply::Nothing)
}

fn resize(engine: &mut Engine, state: &mut State, address: u64, size: u64, name: &str) -> Answer {
    if address == 0 {
        return number(allocate(engine, state, size)?);
    }
    let old = heap_object(state, address, name)?;
    let kept = state.memory.get(old).expect("a live object").size.min(size);
    let new = allocate(engine, state, size)?;
    if new != 0 {
        let [to, from, count] = [new, address, kept].map(Value::number);
        engine.copy_bytes(state, to, from, count)?;
        engine.end_object(state, old);
    }
    number(new)
}

fn realloc(engine: &mut Engine, state: &mut State, site: &Site<'_>) -> Answer {
    let (address, size) = (engine.argument(state, site, 0)?, engine.argument(state, site, 1)?);
    resize(engine, state, address, size, site.name)
}

fn reallocarray(engine: &mut Engine, state: &mut State, site: &Site<'_>) -> Answer {
    let address = engine.argument(state, site, 0)?;
    let (count, size) = (engine.argument(state, site, 1)?, engine.argument(state, site, 2)?);
    match count.checked_mul(size) {
        Some(size) => resize(engine, state, address, size, site.name),
        None => number(0),
    }
}

fn usable_size(engine: &mut Engine, state: &mut State, site: &Site<'_>) -> Answer {
    let address = engine.argument(state, site, 0)?;
    let id = heap_object(state, address, site.name)?;
    number(state.memory.get(id).expect("a live object").size)
}
