//! Intrinsics of `klee/klee.h`; `partita.h` declares them under other names too.
use super::Treatment::{Binds, Exact, Forks, Unsupported};
use super::{CallSite, ModelResult, ModelRow, Returned, row};
use crate::exec::options::Ambient;
use crate::exec::outcome::{Class, Outcome, Place};
use crate::exec::record::targets;
use crate::exec::run::Machine;
use crate::exec::run::access::Access;
use crate::exec::run::access::access_fault;
use crate::exec::state::State;
use crate::exec::state::address::ObjectId;
use crate::exec::state::contents::Contents;
use crate::exec::state::object::{Kind, Origin};
use crate::exec::state::value::Value;
use crate::expr::{Expr, kquery, smtlib};
use crate::program::{Inst, Program, SEVERAL_SIZES};
use std::sync::Arc;

pub(super) const MODELS: &[ModelRow] = &[
    row("klee_make_symbolic", 3, Exact, make_symbolic),
    row("klee_int", 1, Exact, int),
    row("klee_range", 3, Binds, range),
    row("klee_choose", 1, Binds, choose),
    row("klee_assume", 1, Exact, assume),
    row("klee_is_symbolic", 1, Exact, is_symbolic),
    row("klee_is_replay", 0, Exact, is_replay),
    row("klee_prefer_cex", 2, Exact, prefer),
    row("klee_posix_prefer_cex", 2, Exact, prefer),
    row("klee_mark_global", 1, Exact, nothing),
    row("klee_open_merge", 0, Exact, merge),
    row("klee_close_merge", 0, Exact, merge),
    row("klee_warning", 1, Exact, |e, s, c| warn(e, s, c, false)),
    row("klee_warning_once", 1, Exact, |e, s, c| warn(e, s, c, true)),
    row("klee_stack_trace", 0, Exact, stack_trace),
    row("klee_print_expr", 2, Exact, print_expression),
    row("klee_print_range", 2, Exact, print_range),
    row("klee_set_forking", 1, Binds, set_forking),
    row("klee_silent_exit", 1, Exact, silent_exit),
    row("klee_abort", 0, Exact, abort),
    row("klee_assert_fail", 4, Exact, assert_fail),
    row("klee_report_error", 4, Exact, report_error),
    row("klee_report_bug", 4, Binds, report_bug),
    row("klee_get_valuef", 1, Binds, get_value),
    row("klee_get_valued", 1, Binds, get_value),
    row("klee_get_valuel", 1, Binds, get_value),
    row("klee_get_valuell", 1, Binds, get_value),
    row("klee_get_value_i32", 1, Binds, get_value),
    row("klee_get_value_i64", 1, Binds, get_value),
    row("klee_check_memory_access", 2, Forks, check_memory_access),
    row("klee_get_obj_size", 1, Forks, get_obj_size),
    row("klee_get_errno", 0, Exact, get_errno),
    row("klee_define_fixed_object", 2, Unsupported, define_fixed_object),
    row("klee_ambient", 2, Exact, ambient),
    row("klee_beyond", 1, Exact, beyond),
    row("klee_left_out", 1, Binds, left_out),
    row(targets::FUNCTION, 1, Exact, target),
];

/// Size of an object that stands for an unknown one: accesses to its members stay inside.
const BEYOND_BYTES: u64 = 1 << 16;

/// A message to the user.
fn text(machine: &mut Machine, state: &mut State, site: &CallSite<'_>, i: usize) -> Result<String, Outcome> {
    let address = machine.argument(state, site, i)?;
    machine.message_at(state, address)
}

/// Name of an input. As in KLEE, a null pointer is an empty name.
fn name(machine: &mut Machine, state: &mut State, site: &CallSite<'_>, i: usize) -> Result<String, Outcome> {
    match machine.argument(state, site, i)? {
        0 => Ok(String::new()),
        address => {
            let name = machine.string_at(state, address, "the name of an input")?;
            Ok(String::from_utf8_lossy(&name).into_owned())
        }
    }
}

fn make_symbolic(machine: &mut Machine, state: &mut State, site: &CallSite<'_>) -> ModelResult {
    let address = machine.argument(state, site, 0)?;
    let size = machine.argument(state, site, 1)?;
    let name = name(machine, state, site, 2)?;
    let wrong = |message: String| Outcome::bug(Class::ModelError, format!("{}: {message}", site.name));
    if let Some(id) = ObjectId::of_address(address).filter(|id| state.memory.get(*id).is_some()) {
        machine.bound_size(state, id)?;
    }
    let object = ObjectId::of_address(address).and_then(|id| Some((id, state.memory.get(id)?)));
    let Some((id, object)) = object else {
        return Err(match access_fault(state, address, size, Access::Write) {
            Outcome::Bug { class, message } => Outcome::bug(class, format!("{}: {message}", site.name)),
            other => other,
        });
    };
    if address != object.base {
        let offset = address.wrapping_sub(object.base) as i64;
        return Err(wrong(format!("expected the start of an object, found offset {offset} of `{name}`")));
    }
    if size != object.size {
        return Err(wrong(format!(
            "expected the size of the object, {} bytes, found {size} for `{name}`: pass sizeof the whole object",
            object.size
        )));
    }
    if object.readonly {
        return Err(wrong(format!("expected an object that can be written, found the constant `{name}`")));
    }
    if size == 0 {
        return Ok(Returned::Nothing);
    }
    if let Some(bytes) = machine.given_bytes(&name, size, address) {
        machine.cache.drop_object(id);
        state.memory.get_mut(id).expect("a live object").write_bytes(0, &bytes);
        return Ok(Returned::Nothing);
    }
    let scalar = object.origin.and_then(|origin| scalar_bytes(&machine.program, origin));
    let array = machine.new_input(state, &name, size);
    if let Some(bytes) = scalar {
        machine.graph().set_allocated(array, bytes);
    }
    machine.cache.drop_object(id);
    state.memory.get_mut(id).expect("a live object").set_contents(Contents::of_bytes(array));
    Ok(Returned::Nothing)
}

/// Bytes of the scalars that an object was allocated with, 0 if they have several sizes. None for heap objects, whose
/// allocation has no type.
fn scalar_bytes(program: &Program, origin: Origin) -> Option<u8> {
    let known = match origin {
        Origin::Global(number) => program.globals[number as usize].element_bytes,
        Origin::Instruction(func, pc) => match program.functions[func.index()].insts[pc as usize] {
            Inst::Alloca { element_bytes, .. } => element_bytes,
            _ => 0,
        },
    };
    (known != 0).then_some(if known == SEVERAL_SIZES { 0 } else { known })
}

fn int(machine: &mut Machine, state: &mut State, site: &CallSite<'_>) -> ModelResult {
    let name = name(machine, state, site, 0)?;
    Ok(Returned::Value(machine.fresh(state, &name, 32)))
}

fn range(machine: &mut Machine, state: &mut State, site: &CallSite<'_>) -> ModelResult {
    let begin = machine.argument(state, site, 0)? as i32;
    let end = machine.argument(state, site, 1)? as i32;
    let name = name(machine, state, site, 2)?;
    if begin >= end {
        return Err(Outcome::bug(
            Class::ModelError,
            format!("{}: expected begin < end, found {begin} and {end} for `{name}`", site.name),
        ));
    }
    let value = machine.fresh(state, &name, 32);
    let graph = machine.graph();
    let e = value.to_expr(graph, 32);
    let (low, high) = (graph.word(32, begin as u64), graph.word(32, end as u64));
    let (above, below) = (graph.sle(low, e), graph.slt(e, high));
    let inside = graph.and(above, below);
    machine.decider.assume(state, inside, contradiction(site.name))?;
    Ok(Returned::Value(value))
}

fn choose(machine: &mut Machine, state: &mut State, site: &CallSite<'_>) -> ModelResult {
    let count = machine.argument(state, site, 0)?;
    if count == 0 {
        return Err(Outcome::bug(
            Class::ModelError,
            format!("{}: expected at least one choice, found 0", site.name),
        ));
    }
    let width = machine.program.pointers.bits();
    let value = machine.fresh(state, "klee_choose", width);
    let graph = machine.graph();
    let (e, count) = (value.to_expr(graph, width), graph.word(width, count));
    let below = graph.ult(e, count);
    machine.decider.assume(state, below, contradiction(site.name))?;
    Ok(Returned::Value(value))
}

pub(in crate::exec::run) fn contradiction(name: &str) -> Outcome {
    Outcome::bug(
        Class::ModelError,
        format!(
            "{name}: the assumption contradicts earlier assumptions or decisions of this path: no input reaches this point"
        ),
    )
}

/// Converts a value to a boolean: is it not zero?
pub(super) fn truth(machine: &mut Machine, value: Value, width: u32) -> Expr {
    let graph = machine.graph();
    let bits = value.to_bits(graph, width);
    let zero = graph.word(width, 0);
    graph.ne(bits, zero)
}

fn assume(machine: &mut Machine, state: &mut State, site: &CallSite<'_>) -> ModelResult {
    let condition = truth(machine, site.arguments[0], site.call.args[0].width);
    machine.decider.assume(state, condition, contradiction(site.name))?;
    Ok(Returned::Nothing)
}

fn is_symbolic(_: &mut Machine, _: &mut State, site: &CallSite<'_>) -> ModelResult {
    Ok(Returned::Value(Value::truth(site.arguments[0].symbolic)))
}

fn is_replay(_: &mut Machine, _: &mut State, _: &CallSite<'_>) -> ModelResult {
    Ok(Returned::Value(Value::ZERO))
}

/// Calls that do not affect the paths.
fn nothing(_: &mut Machine, _: &mut State, _: &CallSite<'_>) -> ModelResult {
    Ok(Returned::Nothing)
}

/// Remembers a condition that the path's test should satisfy.
fn prefer(machine: &mut Machine, state: &mut State, site: &CallSite<'_>) -> ModelResult {
    let condition = truth(machine, site.arguments[1], site.call.args[1].width);
    if !machine.graph().is_const(condition) {
        Arc::make_mut(&mut state.preferences).push(condition);
    }
    Ok(Returned::Nothing)
}

/// Paths between these calls are not merged. The same inputs are explored, on more paths.
fn merge(machine: &mut Machine, state: &mut State, site: &CallSite<'_>) -> ModelResult {
    machine.decider.note(state, &format!("{}: paths are not merged", site.name));
    Ok(Returned::Nothing)
}

fn warn(machine: &mut Machine, state: &mut State, site: &CallSite<'_>, once: bool) -> ModelResult {
    let message = text(machine, state, site, 0)?;
    let caller = machine.program.functions[state.frame.func.index()].name;
    let message = format!("partita: warning: {}: {message}", machine.program.string(caller));
    if machine.decider.is_replaying() {
        return Ok(Returned::Nothing);
    }
    if !once || machine.warned.insert(message.clone()) {
        eprintln!("{message}");
    }
    Ok(Returned::Nothing)
}

fn stack_trace(machine: &mut Machine, state: &mut State, _: &CallSite<'_>) -> ModelResult {
    if machine.decider.is_replaying() {
        return Ok(Returned::Nothing);
    }
    for (i, place) in machine.decider.stack_of(state).iter().enumerate() {
        eprintln!("  #{i} {} at {place}", place.function);
    }
    Ok(Returned::Nothing)
}

/// An argument in KLEE's language; in SMT-LIB if that cannot express it.
fn expression(machine: &mut Machine, site: &CallSite<'_>, i: usize) -> String {
    let graph = machine.graph();
    let e = site.arguments[i].to_bits(graph, site.call.args[i].width);
    kquery::print_expression(graph, e).unwrap_or_else(|_| smtlib::Printer::new(graph).term(e))
}

fn print_expression(machine: &mut Machine, state: &mut State, site: &CallSite<'_>) -> ModelResult {
    let message = text(machine, state, site, 0)?;
    if !machine.decider.is_replaying() {
        eprintln!("{message}:{}", expression(machine, site, 1));
    }
    Ok(Returned::Nothing)
}

/// Prints an expression with a value, and the least and the greatest value that it can have.
fn print_range(machine: &mut Machine, state: &mut State, site: &CallSite<'_>) -> ModelResult {
    let message = text(machine, state, site, 0)?;
    if machine.decider.is_replaying() {
        return Ok(Returned::Nothing);
    }
    let shown = expression(machine, site, 1);
    let Some(e) = machine.decider.defined_value(state, site.arguments[1], "output").expr() else {
        eprintln!("{message}:{shown}");
        return Ok(Returned::Nothing);
    };
    let value = machine.decider.evaluate(state, e).low();
    let (least, greatest) = machine.decider.range(state, e);
    if least == greatest {
        eprintln!("{message}:{shown} == {value}");
    } else {
        eprintln!("{message}:{shown} ~= {value} (in [{least}, {greatest}])");
    }
    Ok(Returned::Nothing)
}

fn set_forking(machine: &mut Machine, state: &mut State, site: &CallSite<'_>) -> ModelResult {
    state.may_fork = machine.argument(state, site, 0)? != 0;
    Ok(Returned::Nothing)
}

fn silent_exit(machine: &mut Machine, state: &mut State, site: &CallSite<'_>) -> ModelResult {
    state.is_silent = true;
    let status = machine.decider.defined_value(state, site.arguments[0], "the exit status");
    let status = machine.decider.readable_exit_status(state, status);
    Err(Outcome::Exit { status })
}

fn abort(_: &mut Machine, _: &mut State, site: &CallSite<'_>) -> ModelResult {
    Err(Outcome::bug(Class::Abort, format!("{} was called", site.name)))
}

fn assert_fail(machine: &mut Machine, state: &mut State, site: &CallSite<'_>) -> ModelResult {
    let expression = text(machine, state, site, 0)?;
    Err(Outcome::bug(Class::Assert, format!("assertion failed: {expression}")))
}

fn report_error(machine: &mut Machine, state: &mut State, site: &CallSite<'_>) -> ModelResult {
    let message = text(machine, state, site, 2)?;
    Err(Outcome::bug(Class::Assert, message))
}

/// Ends the path in a bug of a class by name, at a place that the program knows better than its frames do: that of an
/// exception which nothing catches. Arguments: class, file, line, message.
fn report_bug(machine: &mut Machine, state: &mut State, site: &CallSite<'_>) -> ModelResult {
    let (name, file) = (text(machine, state, site, 0)?, text(machine, state, site, 1)?);
    let line = machine.argument(state, site, 2)? as u32;
    let message = text(machine, state, site, 3)?;
    let Some(class) = Class::named(&name) else {
        return Err(Outcome::bug(
            Class::ModelError,
            format!("{}: no class of bug is named `{name}`", site.name),
        ));
    };
    // A panic names the file as the compiler was given it; frames have its whole path.
    let is_known = class == Class::Panic && machine.decider.place(state).line != 0;
    if line != 0 && !is_known {
        state.blamed = Some(Arc::new(Place { file, line, function: String::new() }));
    }
    Err(Outcome::bug(class, message))
}

fn get_value(machine: &mut Machine, state: &mut State, site: &CallSite<'_>) -> ModelResult {
    // As in KLEE, the value does not constrain the path, so that it stands for all the others.
    let value = machine.decider.defined_value(state, site.arguments[0], "a value that the program asks for");
    let why = format!("one of several values: {}", site.name);
    let word = machine.decider.representative(state, value, &why);
    Ok(Returned::Value(Value::number(word)))
}

fn check_memory_access(machine: &mut Machine, state: &mut State, site: &CallSite<'_>) -> ModelResult {
    let count = machine.argument(state, site, 1)?;
    machine.locate(state, site.arguments[0], count, Access::Read)?;
    Ok(Returned::Nothing)
}

fn get_obj_size(machine: &mut Machine, state: &mut State, site: &CallSite<'_>) -> ModelResult {
    let location = machine.locate(state, site.arguments[0], 0, Access::Read)?;
    let object = state.memory.get(location.id).expect("a live object");
    Ok(Returned::Value(object.size_value(machine.decider.graph())))
}

fn get_errno(machine: &mut Machine, state: &mut State, _: &CallSite<'_>) -> ModelResult {
    let address = machine.errno(state)?;
    Ok(Returned::Value(machine.load(state, Value::number(address), 32)?))
}

fn define_fixed_object(_: &mut Machine, _: &mut State, site: &CallSite<'_>) -> ModelResult {
    Err(Outcome::unsupported(format!("{}: the machine chooses the addresses of objects", site.name)))
}

/// Source of the C library's time and random numbers: the given value, or an input (`--ambient symbolic`).
fn ambient(machine: &mut Machine, state: &mut State, site: &CallSite<'_>) -> ModelResult {
    match machine.options.ambient {
        Ambient::Fixed => Ok(Returned::Value(site.arguments[1])),
        Ambient::Symbolic => {
            let name = name(machine, state, site, 0)?;
            Ok(Returned::Value(machine.fresh(state, &name, site.width)))
        }
    }
}

/// Address of an object that stands for what a driver of `--entry` did not make: its first use ends the path.
fn beyond(machine: &mut Machine, state: &mut State, site: &CallSite<'_>) -> ModelResult {
    let message = text(machine, state, site, 0)?;
    let id = machine.new_object(state, BEYOND_BYTES, Kind::Heap)?;
    state.memory.get_mut(id).expect("just allocated").unsupported = Some(message.into());
    Ok(Returned::Value(Value::number(id.base())))
}

/// Records that the path reached a target of the search.
fn target(machine: &mut Machine, state: &mut State, site: &CallSite<'_>) -> ModelResult {
    let number = machine.argument(state, site, 0)? as u32;
    machine.decider.recorder.targets.reach(number);
    if !state.targets.contains(&number) {
        Arc::make_mut(&mut state.targets).push(number);
    }
    Ok(Returned::Nothing)
}

/// Counts inputs that a driver of `--entry` does not make.
fn left_out(machine: &mut Machine, state: &mut State, site: &CallSite<'_>) -> ModelResult {
    let what = text(machine, state, site, 0)?;
    machine.decider.incomplete(state, &format!("inputs that were not made: {what}"));
    Ok(Returned::Nothing)
}
