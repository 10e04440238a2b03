//! The malloc family.
use super::Treatment::{Binds, Forks};
use super::{CallSite, ModelResult, ModelRow, Returned, row};
use crate::exec::outcome::{Class, Outcome};
use crate::exec::run::Machine;
use crate::exec::run::access::Access;
use crate::exec::run::resolve::{Location, Offset};
use crate::exec::run::sizes::Size;
use crate::exec::state::State;
use crate::exec::state::address::ObjectId;
use crate::exec::state::contents::INDEX_WIDTH;
use crate::exec::state::object::{Kind, MAX_OBJECT_BYTES, Made, Object, Origin};
use crate::exec::state::value::Value;

pub(super) const MODELS: &[ModelRow] = &[
    row("malloc", 1, Binds, malloc),
    row("calloc", 2, Binds, calloc),
    row("realloc", 2, Binds, realloc),
    row("reallocarray", 3, Binds, reallocarray),
    row("free", 1, Forks, free),
    row("memalign", 2, Binds, aligned),
    row("aligned_alloc", 2, Binds, aligned),
    row("valloc", 1, Binds, malloc),
    row("posix_memalign", 3, Binds, posix_memalign),
    row("malloc_usable_size", 1, Forks, usable_size),
    row("__partita_new", 2, Forks, new),
    row("__partita_malloc", 1, Binds, own_malloc),
    row("__partita_calloc", 2, Binds, own_calloc),
    row("__partita_delete", 2, Forks, delete),
];

/// Size from which malloc fails, as it would on any machine. Smaller objects that do not fit our limits end
/// the path.
const MAX_MALLOC_BYTES: u64 = 1 << 40;
const ENOMEM: u64 = 12;
const EINVAL: u64 = 22;
/// Number of allocations of a path that may fail, and the input that decides about them.
const MAX_FAILING: u64 = 64;
const FAILING_INPUT: &str = "malloc_fails";

/// Contents of a new object.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Fresh {
    Zeros,
    Unwritten,
}

/// Does this allocation fail, with `--malloc-fails`? Byte i of one input decides about allocation i of the path.
fn fails(machine: &mut Machine, state: &mut State) -> bool {
    if !machine.options.malloc_fails {
        return false;
    }
    let number = state.allocations;
    if number >= MAX_FAILING {
        machine
            .decider
            .incomplete(state, &format!("malloc-fails: allocations after the first {MAX_FAILING} succeed"));
        return false;
    }
    if state.failing.is_none() {
        state.failing = Some(machine.new_input(state, FAILING_INPUT, MAX_FAILING));
    }
    let array = state.failing.expect("just made");
    let graph = machine.graph();
    let index = graph.word(INDEX_WIDTH, number);
    let byte = graph.select(array, index);
    let zero = graph.word(8, 0);
    let fails = graph.ne(byte, zero);
    let fails = machine.decider.decide(state, fails);
    state.allocations += 1;
    fails
}

/// Is a symbolic size larger than any machine allows?
fn refused(machine: &mut Machine, state: &mut State, size: Value) -> bool {
    size.expr().is_some_and(|e| {
        let limit = machine.graph().word(64, MAX_MALLOC_BYTES);
        let refused = machine.graph().ule(limit, e);
        machine.decider.decide(state, refused)
    })
}

/// Allocates a heap object. Returns 0 if it is too large, or if this allocation fails.
fn allocate(
    machine: &mut Machine,
    state: &mut State,
    size: Value,
    name: &str,
    fresh: Fresh,
) -> Result<u64, Outcome> {
    allocate_aligned(machine, state, size, 1, name, fresh)
}

/// Allocates a heap object at a multiple of `align`, a power of two. Returns 0 if it is too large, or if this
/// allocation fails.
fn allocate_aligned(
    machine: &mut Machine,
    state: &mut State,
    size: Value,
    align: u64,
    name: &str,
    fresh: Fresh,
) -> Result<u64, Outcome> {
    match fitting(machine, state, size, name)? {
        // Replay counts an allocation before it looks at the size.
        None => state.allocations += u64::from(machine.options.malloc_fails),
        Some(size) if !fails(machine, state) => return new_object(machine, state, size, align, fresh),
        Some(_) => {}
    }
    Ok(0)
}

/// The size of an object; `None` if it is larger than any machine allows.
fn fitting(
    machine: &mut Machine,
    state: &mut State,
    size: Value,
    name: &str,
) -> Result<Option<Size>, Outcome> {
    if refused(machine, state, size) {
        return Ok(None);
    }
    let size = machine.size_for(state, size, MAX_OBJECT_BYTES, &format!("the size for `{name}`"))?;
    Ok((size.capacity() < MAX_MALLOC_BYTES).then_some(size))
}

fn new_object(
    machine: &mut Machine,
    state: &mut State,
    size: Size,
    align: u64,
    fresh: Fresh,
) -> Result<u64, Outcome> {
    let id = machine.new_sized_object(state, size, align, Kind::Heap)?;
    if fresh == Fresh::Unwritten {
        let birth = machine.birth(state);
        state.memory.get_mut(id).expect("just allocated").set_unwritten(birth);
    }
    if machine.options.checks.leak {
        let origin = state.user_frame(&machine.program);
        let origin = Origin::Instruction(origin.func, origin.pc);
        state.memory.get_mut(id).expect("just allocated").origin = Some(origin);
    }
    Ok(id.base())
}

/// Size of an array of `count` elements; `None` on overflow.
fn product(machine: &mut Machine, state: &mut State, count: Value, size: Value) -> Option<Value> {
    if !count.symbolic && !size.symbolic {
        return count.word.checked_mul(size.word).map(Value::number);
    }
    if !count.symbolic && count.word == 1 {
        return Some(size);
    }
    let graph = machine.graph();
    let (count, size) = (count.to_bits(graph, 64), size.to_bits(graph, 64));
    let overflows = graph.umul_overflows(count, size);
    if machine.decider.decide(state, overflows) {
        return None;
    }
    let graph = machine.graph();
    let bytes = graph.mul(count, size);
    Some(Value::of(graph, bytes))
}

fn number(word: u64) -> ModelResult {
    Ok(Returned::Value(Value::number(word)))
}

/// Returns the address; sets `errno` for a null pointer.
fn allocated(machine: &mut Machine, state: &mut State, address: u64) -> ModelResult {
    if address == 0 {
        machine.set_errno(state, ENOMEM)?;
    }
    number(address)
}

fn malloc(machine: &mut Machine, state: &mut State, site: &CallSite<'_>) -> ModelResult {
    let address = allocate(machine, state, site.arguments[0], site.name, Fresh::Unwritten)?;
    allocated(machine, state, address)
}

fn calloc(machine: &mut Machine, state: &mut State, site: &CallSite<'_>) -> ModelResult {
    let address = match product(machine, state, site.arguments[0], site.arguments[1]) {
        Some(size) => allocate(machine, state, size, site.name, Fresh::Zeros)?,
        None => 0,
    };
    allocated(machine, state, address)
}

/// Memory of the kernel model and of musl's inner functions, which replay does not let fail.
fn own(machine: &mut Machine, state: &mut State, size: Value, name: &str, fresh: Fresh) -> ModelResult {
    let address = match fitting(machine, state, size, name)? {
        Some(size) => new_object(machine, state, size, 1, fresh)?,
        None => 0,
    };
    allocated(machine, state, address)
}

fn own_malloc(machine: &mut Machine, state: &mut State, site: &CallSite<'_>) -> ModelResult {
    own(machine, state, site.arguments[0], site.name, Fresh::Unwritten)
}

fn own_calloc(machine: &mut Machine, state: &mut State, site: &CallSite<'_>) -> ModelResult {
    match product(machine, state, site.arguments[0], site.arguments[1]) {
        Some(size) => own(machine, state, size, site.name, Fresh::Zeros),
        None => allocated(machine, state, 0),
    }
}

fn aligned(machine: &mut Machine, state: &mut State, site: &CallSite<'_>) -> ModelResult {
    let align = machine.argument(state, site, 0)?.max(1);
    if !align.is_power_of_two() {
        machine.set_errno(state, EINVAL)?;
        return number(0);
    }
    let address = allocate_aligned(machine, state, site.arguments[1], align, site.name, Fresh::Unwritten)?;
    allocated(machine, state, address)
}

fn posix_memalign(machine: &mut Machine, state: &mut State, site: &CallSite<'_>) -> ModelResult {
    // The pointer is resolved first: nothing may have been changed when another state executes the call
    // again.
    let pointers = machine.program.pointers;
    let location = machine.locate(state, site.arguments[0], pointers.bytes().into(), Access::Write)?;
    let align = machine.argument(state, site, 1)?;
    if !align.is_power_of_two() || align < u64::from(pointers.bytes()) {
        return number(EINVAL);
    }
    let address = allocate_aligned(machine, state, site.arguments[2], align, site.name, Fresh::Unwritten)?;
    if address == 0 {
        return number(ENOMEM);
    }
    let bits = machine.graph().word(pointers.bits(), address);
    machine.write_location(state, &location, bits);
    number(0)
}

/// Heap object that starts at this address, or the bug of freeing it.
fn heap_object(state: &State, address: u64, name: &str) -> Result<ObjectId, Outcome> {
    let invalid = |what: String| Outcome::bug(Class::InvalidFree, format!("{name} of {what}"));
    let Some(id) = ObjectId::of_address(address) else {
        return Err(invalid(format!("{address:#x}: no object is there")));
    };
    match state.memory.get(id) {
        Some(object) if object.kind != Kind::Heap => Err(invalid(format!("a {}", object.describe()))),
        Some(object) if object.base != address => {
            let offset = address.wrapping_sub(object.base) as i64;
            Err(invalid(format!("offset {offset} of a {}", object.describe())))
        }
        Some(_) => Ok(id),
        None if state.memory.was_freed(id) => {
            Err(Outcome::bug(Class::DoubleFree, format!("{name} of a heap object that was freed before")))
        }
        None => Err(invalid(format!("{address:#x}: no object is there"))),
    }
}

/// Is this heap object what `malloc` returned, and no operator `new`?
fn check_malloc(state: &State, id: ObjectId, name: &str) -> Result<(), Outcome> {
    match state.memory.get(id) {
        Some(object) if object.made != Made::default() => Err(mismatch(name, object)),
        _ => Ok(()),
    }
}

fn mismatch(name: &str, object: &Object) -> Outcome {
    let made = object.made.name();
    Outcome::bug(Class::MismatchedFree, format!("`{name}` of a {} that `{made}` made", object.describe()))
}

/// Heap object that starts at this address, if there is one. A program's own `operator new` may return others.
fn live_heap_object(state: &State, address: u64) -> Option<ObjectId> {
    ObjectId::of_address(address).filter(|id| {
        state.memory.get(*id).is_some_and(|object| object.kind == Kind::Heap && object.base == address)
    })
}

/// The library's `operator new` (second argument 0) or `operator new[]` (1) returns this address.
fn new(machine: &mut Machine, state: &mut State, site: &CallSite<'_>) -> ModelResult {
    let address = machine.argument(state, site, 0)?;
    let is_array = machine.argument(state, site, 1)? != 0;
    if let Some(object) = live_heap_object(state, address).and_then(|id| state.memory.get_mut(id)) {
        *(if is_array { &mut object.made.by_array_new } else { &mut object.made.by_new }) = true;
    }
    Ok(Returned::Nothing)
}

/// The library's `operator delete` (second argument 0), which calls `free` next, or `operator delete[]` (1), which
/// calls `operator delete`.
fn delete(machine: &mut Machine, state: &mut State, site: &CallSite<'_>) -> ModelResult {
    let address = machine.argument(state, site, 0)?;
    let is_array = machine.argument(state, site, 1)? != 0;
    let id = match (is_array, address) {
        (_, 0) => None,
        (true, _) => live_heap_object(state, address),
        (false, _) => Some(heap_object(state, address, "delete")?),
    };
    if let Some(id) = id {
        let object = state.memory.get_mut(id).expect("a live object");
        match (is_array, object.made) {
            (true, Made { by_array_new: true, .. }) => object.made.by_array_new = false,
            (false, Made { by_new: true, by_array_new: false }) => object.made.by_new = false,
            _ => return Err(mismatch(if is_array { "delete[]" } else { "delete" }, object)),
        }
    }
    Ok(Returned::Nothing)
}

fn free(machine: &mut Machine, state: &mut State, site: &CallSite<'_>) -> ModelResult {
    let address = machine.argument(state, site, 0)?;
    if address != 0 {
        let id = heap_object(state, address, site.name)?;
        check_malloc(state, id, site.name)?;
        // For other threads, it is a write of all bytes.
        let size = state.memory.get(id).expect("a live object").size;
        machine.note_access(state, &Location { id, offset: Offset::Known(0) }, size, Access::Write);
        machine.end_object(state, id);
    }
    Ok(Returned::Nothing)
}

fn resize(machine: &mut Machine, state: &mut State, address: u64, size: Value, name: &str) -> ModelResult {
    if address == 0 {
        let new = allocate(machine, state, size, name, Fresh::Unwritten)?;
        return allocated(machine, state, new);
    }
    let old = heap_object(state, address, name)?;
    check_malloc(state, old, name)?;
    let old_size = machine.bound_size(state, old)?;
    let why = format!("the size for `{name}`");
    let size = match refused(machine, state, size) {
        true => Value::number(MAX_MALLOC_BYTES),
        false => Value::number(machine.decider.fork_on_size(state, size, MAX_OBJECT_BYTES, &why)?),
    };
    let new = allocate(machine, state, size, name, Fresh::Unwritten)?;
    if let Some(id) = ObjectId::of_address(new) {
        let kept = old_size.min(state.memory.get(id).expect("a live object").size);
        let [to, from, count] = [new, address, kept].map(Value::number);
        machine.copy_bytes(state, to, from, count, true)?;
        machine.end_object(state, old);
    }
    allocated(machine, state, new)
}

fn realloc(machine: &mut Machine, state: &mut State, site: &CallSite<'_>) -> ModelResult {
    let address = machine.argument(state, site, 0)?;
    resize(machine, state, address, site.arguments[1], site.name)
}

fn reallocarray(machine: &mut Machine, state: &mut State, site: &CallSite<'_>) -> ModelResult {
    let address = machine.argument(state, site, 0)?;
    match product(machine, state, site.arguments[1], site.arguments[2]) {
        Some(size) => resize(machine, state, address, size, site.name),
        None => allocated(machine, state, 0),
    }
}

fn usable_size(machine: &mut Machine, state: &mut State, site: &CallSite<'_>) -> ModelResult {
    let address = machine.argument(state, site, 0)?;
    let id = heap_object(state, address, site.name)?;
    Ok(Returned::Value(state.memory.get(id).expect("a live object").size_value(machine.decider.graph())))
}
