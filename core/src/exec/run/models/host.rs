//! Interface of the kernel model (`runtime/posix`) to the outside: host files, settings of the run, standard
//! output, and calls that are not modelled.
use super::Treatment::Exact;
use super::{CallSite, ModelResult, ModelRow, Returned, row};
use crate::exec::decide::MAX_STACK_PLACES;
use crate::exec::options::Argument;
use crate::exec::outcome::Outcome;
use crate::exec::run::Machine;
use crate::exec::run::access::{Access, object_at};
use crate::exec::run::host::Change;
use crate::exec::state::State;
use crate::exec::state::object::Kind;
use crate::exec::state::value::Value;
use crate::program::{Callee, FuncId, Inst};
use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;
use std::sync::Arc;

pub(super) const MODELS: &[ModelRow] = &[
    row("__partita_setting", 1, Exact, setting),
    row("__partita_symbolic_argument", 2, Exact, symbolic_argument),
    row("__partita_symbolic_variable", 3, Exact, symbolic_variable),
    row("__partita_vary", 1, Exact, vary),
    row("__partita_choose_locale", 0, Exact, choose_locale),
    row("__partita_room", 1, Exact, room),
    row("__partita_errno", 1, Exact, errno),
    row("__partita_arguments", 2, Exact, arguments),
    row("__partita_environment", 0, Exact, environment),
    row("__partita_stack_object", 1, Exact, stack_object),
    row("__partita_not_modelled", 1, Exact, not_modelled),
    row("__partita_incomplete", 1, Exact, incomplete),
    row("__partita_stack_is_limit", 0, Exact, stack_is_limit),
    row("__partita_repetition_is_bug", 0, Exact, repetition_is_bug),
    row("__partita_note_stack", 0, Exact, note_stack),
    row("__partita_follow_model", 0, Exact, follow_model),
    row("__partita_unsupported", 1, Exact, unsupported),
    row("__partita_output", 2, Exact, output),
    row("__partita_check_output", 3, Exact, check_output),
    row("__partita_stdin", 2, Exact, stdin),
    row("__partita_host_status", 3, Exact, status),
    row("__partita_host_read", 4, Exact, read),
    row("__partita_host_link", 3, Exact, link),
    row("__partita_host_change", 6, Exact, change),
];

fn number(value: i64) -> ModelResult {
    Ok(Returned::Value(Value::number(value as u64)))
}

fn path(machine: &mut Machine, state: &mut State, site: &CallSite<'_>, i: usize) -> Result<PathBuf, Outcome> {
    let address = machine.argument(state, site, i)?;
    Ok(PathBuf::from(OsString::from_vec(machine.string_at(state, address, "the name of a file")?)))
}

/// Writes as much of `bytes` as fits into `room` bytes at an address.
fn put(
    machine: &mut Machine,
    state: &mut State,
    address: u64,
    bytes: &[u8],
    room: u64,
) -> Result<i64, Outcome> {
    let count = (bytes.len() as u64).min(room);
    if count > 0 {
        let (id, at) = machine.object_at(state, address, count, Access::Write)?;
        machine.cache.drop_object(id);
        let object = state.memory.get_mut(id).expect("a live object");
        object.write_bytes(at, &bytes[..count as usize]);
    }
    Ok(count as i64)
}

/// Value of a setting of the run; 0 if unknown.
fn setting(machine: &mut Machine, state: &mut State, site: &CallSite<'_>) -> ModelResult {
    let address = machine.argument(state, site, 0)?;
    let name = machine.string_at(state, address, "the name of a setting")?;
    number(machine.options.setting(&name) as i64)
}

/// Kind of an argument of the program: 0 is text, 1 a symbolic argument, 2 a symbolic number of them. Writes least and
/// largest number and the size in bytes.
fn symbolic_argument(machine: &mut Machine, state: &mut State, site: &CallSite<'_>) -> ModelResult {
    let index = machine.argument(state, site, 0)?;
    let to = machine.argument(state, site, 1)?;
    // The first argument is the program's name.
    let argument = (index as usize).checked_sub(1).and_then(|i| machine.options.arguments.get(i));
    let (kind, numbers) = match argument {
        None | Some(Argument::Text(_)) => return number(0),
        Some(&Argument::Symbolic { bytes }) => (1, [1, 1, bytes]),
        Some(&Argument::Several { min, max, bytes }) => (2, [min, max, bytes]),
    };
    let bytes: Vec<u8> = numbers.iter().flat_map(|number| number.to_le_bytes()).collect();
    put(machine, state, to, &bytes, bytes.len() as u64)?;
    number(kind)
}

/// Writes the name of a symbolic environment variable, as much of it as fits; returns its size in bytes, or -1 if there
/// are no more.
fn symbolic_variable(machine: &mut Machine, state: &mut State, site: &CallSite<'_>) -> ModelResult {
    let index = machine.argument(state, site, 0)?;
    let to = machine.argument(state, site, 1)?;
    let room = machine.argument(state, site, 2)?;
    let options = Arc::clone(&machine.options);
    let Some((name, size)) = options.sym_env.get(index as usize) else { return number(-1) };
    put(machine, state, to, name.as_bytes(), room)?;
    number(*size as i64)
}

/// Number of the behaviour that a call has, less than the argument: 0 on the usual path, others on paths forked from it.
fn vary(machine: &mut Machine, state: &mut State, site: &CallSite<'_>) -> ModelResult {
    let count = machine.argument(state, site, 0)?;
    number(machine.decider.vary(state, count as u32, false).into())
}

/// 0 on the usual path, 1 on a path with another locale, if the user's code calls `setlocale`.
fn choose_locale(machine: &mut Machine, state: &mut State, _: &CallSite<'_>) -> ModelResult {
    let program = Arc::clone(&machine.program);
    let is_named = |func: FuncId| program.string(program.functions[func.index()].name) == "setlocale";
    let sets_it = |inst: &Inst| match inst {
        Inst::Call(call) => matches!(call.callee, Callee::Direct(func) if is_named(func)),
        _ => false,
    };
    let mut user = program.functions.iter().filter(|function| !function.library);
    let varies = user.any(|function| function.insts.iter().any(sets_it));
    number(if varies { machine.decider.vary(state, 2, true).into() } else { 0 })
}

/// Number of bytes from an address to the end of its object.
fn room(machine: &mut Machine, state: &mut State, site: &CallSite<'_>) -> ModelResult {
    let address = machine.argument(state, site, 0)?;
    let Ok((id, _, at)) = object_at(state, address, 0, Access::Read) else { return number(-1) };
    let room = machine.bound_size(state, id)?.checked_sub(at);
    number(room.map_or(-1, |room| room as i64))
}

/// Sets the arguments of `main`; the environment follows the null pointer at their end.
fn arguments(machine: &mut Machine, state: &mut State, site: &CallSite<'_>) -> ModelResult {
    let count = machine.argument(state, site, 0)?;
    state.arguments = (count, machine.argument(state, site, 1)?);
    Ok(Returned::Nothing)
}

/// Address of the environment: the null-terminated array that `main` gets.
fn environment(machine: &mut Machine, state: &mut State, _: &CallSite<'_>) -> ModelResult {
    let pointer_bytes = u64::from(machine.program.pointers.bytes());
    let (count, arguments) = state.arguments;
    Ok(Returned::Value(Value::number(arguments + pointer_bytes * (count + 1))))
}

/// Allocates an object that is not on the heap: the kernel makes it before the program starts.
fn stack_object(machine: &mut Machine, state: &mut State, site: &CallSite<'_>) -> ModelResult {
    let size = machine.argument(state, site, 0)?;
    Ok(Returned::Value(Value::number(machine.new_object(state, size, Kind::Stack)?.base())))
}

/// Sets the address of the C library's `errno`.
fn errno(machine: &mut Machine, state: &mut State, site: &CallSite<'_>) -> ModelResult {
    state.errno = Some(machine.argument(state, site, 0)?);
    Ok(Returned::Nothing)
}

/// Takes the model's side at every decision from here on: the path ends in a bug, and its message is being made.
fn follow_model(_: &mut Machine, state: &mut State, _: &CallSite<'_>) -> ModelResult {
    state.is_doomed = true;
    Ok(Returned::Nothing)
}

/// Counts a call that is not modelled: it fails in the program.
fn not_modelled(machine: &mut Machine, state: &mut State, site: &CallSite<'_>) -> ModelResult {
    let address = machine.argument(state, site, 0)?;
    let what = machine.message_at(state, address)?;
    machine.decider.incomplete(state, &format!("not modelled, fails with ENOSYS: {what}"));
    Ok(Returned::Nothing)
}

/// Counts a reason why the exploration is incomplete: one of several behaviours is explored.
fn incomplete(machine: &mut Machine, state: &mut State, site: &CallSite<'_>) -> ModelResult {
    let address = machine.argument(state, site, 0)?;
    let why = machine.message_at(state, address)?;
    machine.decider.incomplete(state, &why);
    Ok(Returned::Nothing)
}

fn stack_is_limit(_: &mut Machine, state: &mut State, _: &CallSite<'_>) -> ModelResult {
    state.stack_is_limit = true;
    Ok(Returned::Nothing)
}

fn repetition_is_bug(_: &mut Machine, state: &mut State, _: &CallSite<'_>) -> ModelResult {
    state.repetition_is_bug = true;
    Ok(Returned::Nothing)
}

/// Notes the stack of the caller's caller for a bug that is reported later, when its frames are gone.
fn note_stack(_: &mut Machine, state: &mut State, _: &CallSite<'_>) -> ModelResult {
    let frames = state.frame.frames().skip(1).take(MAX_STACK_PLACES);
    state.noted_stack = Some(frames.map(|frame| (frame.func, frame.pc)).collect());
    Ok(Returned::Nothing)
}

/// Ends the path: the program could not go on as it does on a machine.
fn unsupported(machine: &mut Machine, state: &mut State, site: &CallSite<'_>) -> ModelResult {
    let address = machine.argument(state, site, 0)?;
    Err(Outcome::unsupported(machine.message_at(state, address)?))
}

fn output(machine: &mut Machine, state: &mut State, site: &CallSite<'_>) -> ModelResult {
    let (address, count) = (machine.argument(state, site, 0)?, machine.argument(state, site, 1)?);
    for i in 0..count {
        let byte = machine.load(state, Value::number(address + i), 8)?;
        let byte = machine.decider.defined_value(state, byte, "output");
        let output = Arc::make_mut(&mut state.output);
        match byte.expr() {
            None => output.extend_from_slice(&[byte.word as u8]),
            Some(e) => output.push_symbolic(e),
        }
    }
    Ok(Returned::Nothing)
}

/// Counts bytes that were never written and leave the program elsewhere than on standard output. The third argument says
/// whether they are a bug too.
fn check_output(machine: &mut Machine, state: &mut State, site: &CallSite<'_>) -> ModelResult {
    let (address, count) = (machine.argument(state, site, 0)?, machine.argument(state, site, 1)?);
    let is_bug = machine.argument(state, site, 2)? != 0;
    for i in 0..count {
        let byte = machine.load(state, Value::number(address + i), 8)?;
        match is_bug {
            true => {
                machine.decider.defined_value(state, byte, "output");
            }
            false => machine.decider.count_undefined(state, byte, "the contents of a file"),
        }
    }
    Ok(Returned::Nothing)
}

/// Copies standard input as far as there is room. Returns its whole size.
fn stdin(machine: &mut Machine, state: &mut State, site: &CallSite<'_>) -> ModelResult {
    let (address, room) = (machine.argument(state, site, 0)?, machine.argument(state, site, 1)?);
    let bytes = Arc::clone(&machine.options.stdin);
    put(machine, state, address, &bytes, room)?;
    number(bytes.len() as i64)
}

fn status(machine: &mut Machine, state: &mut State, site: &CallSite<'_>) -> ModelResult {
    let path = path(machine, state, site, 0)?;
    let follow = machine.argument(state, site, 1)? != 0;
    let to = machine.argument(state, site, 2)?;
    match machine.host.status(&path, follow) {
        Err(error) => number(-error),
        Ok(fields) => {
            let bytes: Vec<u8> = fields.iter().flat_map(|field| field.to_le_bytes()).collect();
            put(machine, state, to, &bytes, bytes.len() as u64)?;
            number(0)
        }
    }
}

/// Reads a file, or the entries of a folder, from an offset on.
fn read(machine: &mut Machine, state: &mut State, site: &CallSite<'_>) -> ModelResult {
    let path = path(machine, state, site, 0)?;
    let [offset, to, room] = [1, 2, 3].map(|i| machine.argument(state, site, i));
    let (offset, to, room) = (offset?, to?, room?);
    let (seen, vanished) = machine.host.contents(&path);
    if vanished {
        let name = path.display();
        machine.decider.incomplete(
            state,
            &format!("the file `{name}` vanished during the run: reading it fails with EIO"),
        );
    }
    match seen {
        Err(error) => number(-error),
        Ok(bytes) => {
            let rest = bytes.get(offset as usize..).unwrap_or(&[]);
            number(put(machine, state, to, rest, room)?)
        }
    }
}

fn link(machine: &mut Machine, state: &mut State, site: &CallSite<'_>) -> ModelResult {
    let path = path(machine, state, site, 0)?;
    let (to, room) = (machine.argument(state, site, 1)?, machine.argument(state, site, 2)?);
    match machine.host.link(&path) {
        Err(error) => number(-error),
        Ok(bytes) => number(put(machine, state, to, &bytes, room)?),
    }
}

/// `(letter, path, other path or bytes, count, offset or size, mode)`; see `posix/host.h`.
fn change(machine: &mut Machine, state: &mut State, site: &CallSite<'_>) -> ModelResult {
    let letter = machine.argument(state, site, 0)? as u8;
    let path = path(machine, state, site, 1)?;
    let [second, count, place, mode] = [2, 3, 4, 5].map(|i| machine.argument(state, site, i));
    let (second, count, place, mode) = (second?, count?, place?, mode? as u32);
    let bytes = match letter {
        b'w' => super::print::concrete_bytes(machine, state, second, count)?,
        b'n' => machine.string_at(state, second, "the name of a file")?,
        _ => Vec::new(),
    };
    let other = PathBuf::from(OsString::from_vec(bytes.clone()));
    let change = match letter {
        b'w' => Change::Write { at: place, bytes: &bytes, mode },
        b't' => Change::Truncate { size: place },
        b'd' => Change::MakeFolder { mode },
        b'u' => Change::Remove,
        b'r' => Change::RemoveFolder,
        b'n' => Change::Rename { to: &other },
        b'm' => Change::Mode { mode },
        other => return Err(Outcome::unsupported(format!("a change of files called {other}"))),
    };
    number(machine.host.change(&path, &change).map_or_else(|error| -error, |()| 0))
}
