//! Threads for the kernel model and the C library: start and end, waiting, thread-local variables, atomic accesses.
use super::Treatment::{Exact, Forks};
use super::{CallSite, ModelResult, ModelRow, Returned, row};
use crate::exec::outcome::{Class, Outcome};
use crate::exec::run::Machine;
use crate::exec::run::threads::{CLONE, FIRST_NUMBER};
use crate::exec::state::State;
use crate::exec::state::address::{self, ObjectId};
use crate::exec::state::frame::Frame;
use crate::exec::state::object::Object;
use crate::exec::state::threads::{ATOMIC_SECTION, Status, Thread, Threads, WithoutWake};
use crate::exec::state::value::Value;

pub(super) const MODELS: &[ModelRow] = &[
    row(CLONE, 4, Forks, clone),
    row("__partita_has_threads", 0, Exact, has_threads),
    row("__partita_thread_number", 0, Exact, number),
    row("__partita_exit_thread", 0, Exact, exit),
    row("__partita_futex_wait", 3, Forks, wait),
    row("__partita_futex_wake", 2, Forks, wake),
    row("__partita_thread_local", 1, Exact, variable),
    row("__partita_atomic_begin", 2, Forks, begin_atomic),
    row("__partita_atomic_end", 1, Forks, end_atomic),
    row("__VERIFIER_atomic_begin", 0, Exact, begin_section),
    row("__VERIFIER_atomic_end", 0, Exact, end_section),
];

const EAGAIN: i64 = 11;
const ETIMEDOUT: i64 = 110;

fn word(word: u64) -> ModelResult {
    Ok(Returned::Value(Value::number(word)))
}

fn error(number: i64) -> ModelResult {
    word(number.wrapping_neg() as u64)
}

/// Starts a thread: function, argument, descriptor, address of a word that its exit clears.
fn clone(machine: &mut Machine, state: &mut State, site: &CallSite<'_>) -> ModelResult {
    let target = machine.argument(state, site, 0)?;
    let descriptor = machine.argument(state, site, 2)?;
    let clears = machine.argument(state, site, 3)?;
    let Some(func) = address::function_at(target, &machine.program) else {
        return Err(Outcome::bug(Class::ModelError, format!("{}: no function is at {target:#x}", site.name)));
    };
    let first = machine.descriptor(state);
    let mut frame = Frame::new(func, machine.program.functions[func.index()].widths.len());
    if let Some(register) = frame.registers.first_mut() {
        *register = site.arguments[1];
    }
    if state.threads.is_none() {
        machine.cache.clear();
        let mut threads = Box::<Threads>::default();
        threads.add(Thread::new(None, first));
        state.threads = Some(threads);
    }
    let Some(threads) = &mut state.threads else { unreachable!("just made") };
    let mut thread = Thread::new(Some(frame), descriptor);
    thread.clears = clears;
    thread.errno = state.errno.map(|errno| errno.wrapping_sub(first).wrapping_add(descriptor));
    word(FIRST_NUMBER + threads.add(thread) as u64)
}

fn has_threads(_: &mut Machine, state: &mut State, _: &CallSite<'_>) -> ModelResult {
    word(state.threads.is_some().into())
}

fn number(_: &mut Machine, state: &mut State, _: &CallSite<'_>) -> ModelResult {
    word(FIRST_NUMBER + state.threads.as_ref().map_or(0, |threads| threads.current) as u64)
}

/// Ends the running thread, unless it is the last one.
fn exit(machine: &mut Machine, state: &mut State, _: &CallSite<'_>) -> ModelResult {
    let Some(threads) = &mut state.threads else { return Ok(Returned::Nothing) };
    if !threads.others_live() {
        return Ok(Returned::Nothing);
    }
    let thread = threads.running_mut();
    thread.status = Status::Exited;
    thread.visits.clear();
    let (clears, objects) = (thread.clears, [thread.descriptor]);
    threads.touch(&objects);
    threads.release(&objects);
    loop {
        machine.end_locals(state);
        if !state.frame.pop() {
            break;
        }
    }
    if clears != 0 {
        machine.store(state, Value::number(clears), Value::ZERO, 32)?;
        wake_at(state, clears, 1);
    }
    machine.choose(state, false)?;
    Ok(Returned::Frame)
}

/// Waits at an address if the word there has this value, until it is woken; a timed wait can also end by itself, and so
/// can one for a condition variable that no loop repeats, once for each thread.
fn wait(machine: &mut Machine, state: &mut State, site: &CallSite<'_>) -> ModelResult {
    let at = machine.argument(state, site, 0)?;
    let expected = machine.argument(state, site, 1)?;
    let is_timed = machine.argument(state, site, 2)? != 0;
    if let Some(threads) = &mut state.threads
        && std::mem::take(&mut threads.running_mut().is_chosen)
    {
        let thread = threads.running_mut();
        let status = std::mem::replace(&mut thread.status, Status::Ready);
        thread.has_woken_spuriously |=
            matches!(status, Status::Waiting { without_wake: WithoutWake::Spuriously, .. });
        let objects = thread.operation.objects.clone();
        threads.touch(&objects);
        return if status == Status::Woken { word(0) } else { error(ETIMEDOUT) };
    }
    let found = machine.load(state, Value::number(at), 32)?;
    let found = machine.decider.fork_on_value(state, found, 32, "a word that a thread waits for")?;
    if found as u32 != expected as u32 {
        return error(EAGAIN);
    }
    let Some(threads) = &mut state.threads else {
        return match is_timed {
            true => error(ETIMEDOUT),
            false => Err(Outcome::bug(Class::Deadlock, "deadlock: the only thread waits")),
        };
    };
    let thread = threads.running_mut();
    let without_wake = match thread.waits_once && !thread.has_woken_spuriously {
        _ if is_timed => WithoutWake::TimesOut,
        true => WithoutWake::Spuriously,
        false => WithoutWake::Never,
    };
    thread.status = Status::Waiting { address: at, without_wake };
    thread.is_at_operation = true;
    if thread.waits_once && thread.has_woken_spuriously {
        let why = "a thread waits outside of a loop again: one spurious wake-up of each thread is explored";
        machine.decider.incomplete(state, why);
    }
    if !machine.choose(state, false)? {
        return Ok(Returned::Frame);
    }
    if let Some(threads) = &mut state.threads {
        let thread = threads.running_mut();
        thread.status = Status::Ready;
        thread.has_woken_spuriously |= without_wake == WithoutWake::Spuriously;
    }
    error(ETIMEDOUT)
}

/// Wakes threads that wait at an address, in order of their numbers. Returns how many.
fn wake_at(state: &mut State, at: u64, count: u64) -> u64 {
    let Some(threads) = &mut state.threads else { return 0 };
    let waits =
        |thread: &&mut Thread| matches!(thread.status, Status::Waiting { address, .. } if address == at);
    let mut woken = 0;
    for thread in threads.list.iter_mut().filter(waits).take(usize::try_from(count).unwrap_or(usize::MAX)) {
        thread.status = Status::Woken;
        woken += 1;
    }
    woken
}

fn wake(machine: &mut Machine, state: &mut State, site: &CallSite<'_>) -> ModelResult {
    let at = machine.argument(state, site, 0)?;
    let count = machine.argument(state, site, 1)? as u32;
    // A negative number wakes all.
    let count = if (count as i32) < 0 { u64::MAX } else { count.into() };
    word(wake_at(state, at, count))
}

/// Address of the running thread's copy of a thread-local variable, made on first use.
fn variable(machine: &mut Machine, state: &mut State, site: &CallSite<'_>) -> ModelResult {
    let address = site.arguments[0];
    let id = ObjectId::of_address(address.word).filter(|_| !address.symbolic);
    let (Some(threads), Some(id)) = (&state.threads, id) else { return Ok(Returned::Value(address)) };
    if threads.current == 0 {
        return Ok(Returned::Value(address));
    }
    let offset = address.word.wrapping_sub(id.base());
    if let Some((_, copy)) = threads.running().variables.iter().find(|(of, _)| *of == id) {
        return word(copy.base() + offset);
    }
    let Some(image) = machine.synchronisation.variable(id) else { return Ok(Returned::Value(address)) };
    let copy = machine.new_object(state, image.size, image.kind)?;
    let object = state.memory.get_mut(copy).expect("just allocated");
    *object = Object::clone(&image);
    object.base = copy.base();
    let Some(threads) = &mut state.threads else { unreachable!("just looked") };
    threads.running_mut().variables.push((id, copy));
    word(copy.base() + offset)
}

fn begin_atomic(machine: &mut Machine, state: &mut State, site: &CallSite<'_>) -> ModelResult {
    if state.threads.is_none() {
        return Ok(Returned::Nothing);
    }
    let object = machine.argument(state, site, 0)?;
    if !machine.may_synchronise(state, object)? {
        return Ok(Returned::Frame);
    }
    if site.arguments[1].word != 0 {
        let why = "a weak atomic access: only sequentially consistent orders are explored";
        machine.decider.incomplete(state, why);
    }
    Ok(Returned::Nothing)
}

fn end_atomic(machine: &mut Machine, state: &mut State, site: &CallSite<'_>) -> ModelResult {
    if state.threads.is_none() {
        return Ok(Returned::Nothing);
    }
    let object = machine.argument(state, site, 0)?;
    if let Some(threads) = &mut state.threads {
        threads.release(&[object]);
    }
    Ok(Returned::Nothing)
}

fn begin_section(machine: &mut Machine, state: &mut State, _: &CallSite<'_>) -> ModelResult {
    if !machine.may_synchronise(state, ATOMIC_SECTION)? {
        return Ok(Returned::Frame);
    }
    if let Some(threads) = &mut state.threads {
        threads.running_mut().sections += 1;
    }
    Ok(Returned::Nothing)
}

fn end_section(_: &mut Machine, state: &mut State, _: &CallSite<'_>) -> ModelResult {
    if let Some(threads) = &mut state.threads {
        let thread = threads.running_mut();
        thread.sections = thread.sections.saturating_sub(1);
        if thread.sections == 0 {
            threads.release(&[ATOMIC_SECTION]);
        }
    }
    Ok(Returned::Nothing)
}

impl Machine {
    /// Address of the running thread's descriptor.
    fn descriptor(&self, state: &State) -> u64 {
        let global = self.synchronisation.pointer().map_or(0, |global| self.globals[global]);
        let object = ObjectId::of_address(global).and_then(|id| state.memory.get(id));
        object.and_then(|object| object.read_concrete(0, self.program.pointers.bytes().into())).unwrap_or(0)
    }
}
