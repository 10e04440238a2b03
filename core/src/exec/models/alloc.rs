//! The malloc family. Addresses are as aligned as anyone asks for; contents start as zeros.
use super::{Answer, Reply, Row, Site, row};
use crate::exec::Engine;
use crate::exec::address::ObjectId;
use crate::exec::object::Kind;
use crate::exec::outcome::{Access, Class, Outcome, describe};
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

/// What the program asks for and no machine has, malloc refuses; what only we do not have ends the path.
const REFUSED: u64 = 1 << 40;
const ENOMEM: u64 = 12;

/// A new heap object; 0 if there is none so large.
fn allocate(engine: &mut Engine, state: &mut State, size: Value, name: &str) -> Result<u64, Outcome> {
    if let Some(e) = size.expr() {
        let limit = engine.solver.graph.word(64, REFUSED);
        let refused = engine.solver.graph.ule(limit, e);
        if engine.decide(state, refused) {
            return Ok(0);
        }
    }
    let size = engine.object_size(state, size, &format!("the size for `{name}`"))?;
    if size >= REFUSED {
        return Ok(0);
    }
    let id = engine.new_object(state, size, Kind::Heap)?;
    if engine.options.checks.leak {
        let origin = engine.user_frame(state);
        state.memory.get_mut(id).expect("just made").origin = Some((origin.func, origin.pc));
    }
    Ok(id.base())
}

/// The size of an array of `count` elements; `None` if it does not fit a word.
fn product(engine: &mut Engine, state: &mut State, count: Value, size: Value) -> Option<Value> {
    if !count.symbolic && !size.symbolic {
        return count.word.checked_mul(size.word).map(Value::number);
    }
    let graph = &mut engine.solver.graph;
    let (count, size) = (count.to_bits(graph, 64), size.to_bits(graph, 64));
    let overflows = graph.umul_overflows(count, size);
    if engine.decide(state, overflows) {
        return None;
    }
    let graph = &mut engine.solver.graph;
    let bytes = graph.mul(count, size);
    Some(Value::of(graph, bytes))
}

fn number(word: u64) -> Answer {
    Ok(Reply::Value(Value::number(word)))
}

/// The address of what was allocated, or a null pointer and the reason.
fn allocated(engine: &mut Engine, state: &mut State, address: u64) -> Answer {
    if address == 0 {
        engine.set_errno(state, ENOMEM)?;
    }
    number(address)
}

fn malloc(engine: &mut Engine, state: &mut State, site: &Site<'_>) -> Answer {
    let address = allocate(engine, state, site.arguments[0], site.name)?;
    allocated(engine, state, address)
}

fn calloc(engine: &mut Engine, state: &mut State, site: &Site<'_>) -> Answer {
    let address = match product(engine, state, site.arguments[0], site.arguments[1]) {
        Some(size) => allocate(engine, state, size, site.name)?,
        None => 0,
    };
    allocated(engine, state, address)
}

fn aligned(engine: &mut Engine, state: &mut State, site: &Site<'_>) -> Answer {
    let address = allocate(engine, state, site.arguments[1], site.name)?;
    allocated(engine, state, address)
}

fn posix_memalign(engine: &mut Engine, state: &mut State, site: &Site<'_>) -> Answer {
    // Nothing may have been changed when another place is tried: the place first.
    let spot = engine.locate(state, site.arguments[0], 8, Access::Write)?;
    let address = allocate(engine, state, site.arguments[2], site.name)?;
    if address == 0 {
        return number(ENOMEM);
    }
    let bits = engine.solver.graph.word(64, address);
    engine.write_spot(state, &spot, bits);
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

fn resize(engine: &mut Engine, state: &mut State, address: u64, size: Value, name: &str) -> Answer {
    if address == 0 {
        let new = allocate(engine, state, size, name)?;
        return allocated(engine, state, new);
    }
    let old = heap_object(state, address, name)?;
    let new = allocate(engine, state, size, name)?;
    if let Some(id) = ObjectId::of_address(new) {
        let size = |id| state.memory.get(id).expect("a live object").size;
        let kept = size(old).min(size(id));
        let [to, from, count] = [new, address, kept].map(Value::number);
        engine.copy_bytes(state, to, from, count)?;
        engine.end_object(state, old);
    }
    allocated(engine, state, new)
}

fn realloc(engine: &mut Engine, state: &mut State, site: &Site<'_>) -> Answer {
    let address = engine.argument(state, site, 0)?;
    resize(engine, state, address, site.arguments[1], site.name)
}

fn reallocarray(engine: &mut Engine, state: &mut State, site: &Site<'_>) -> Answer {
    let address = engine.argument(state, site, 0)?;
    match product(engine, state, site.arguments[1], site.arguments[2]) {
        Some(size) => resize(engine, state, address, size, site.name),
        None => allocated(engine, state, 0),
    }
}

fn usable_size(engine: &mut Engine, state: &mut State, site: &Site<'_>) -> Answer {
    let address = engine.argument(state, site, 0)?;
    let id = heap_object(state, address, site.name)?;
    number(state.memory.get(id).expect("a live object").size)
}
