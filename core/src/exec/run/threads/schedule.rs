//! Switches between threads. A choice between threads is a fork of the state, as any other decision.
//!
//! One of the schedules that differ only in the order of operations without a common object is explored: a thread whose operation
//! another path has executed at the same place is asleep until an operation on one of its objects (sleep sets, Godefroid
//! 1996). Such operations commute only if no accesses race; with `--preempt` and races, no schedule is left out.
use super::operations::Role;
use crate::exec::outcome::{Class, Outcome};
use crate::exec::run::Machine;
use crate::exec::run::step::Arguments;
use crate::exec::state::address::ObjectId;
use crate::exec::state::memory::Memory;
use crate::exec::state::threads::{
    ATOMIC_SECTION, EVERYTHING, Needs, Objects, Operation, Status, Thread, ThreadId, Threads, Turn, Visit,
    WithoutWake,
};
use crate::exec::state::{Stage, State};
use crate::program::FuncId;
use smallvec::smallvec;
use std::sync::Arc;

/// Number of the first thread for the kernel.
pub(in crate::exec::run) const FIRST_NUMBER: u64 = 4242;
/// Owner in the word of a mutex; other bits say that threads wait.
const OWNER: u32 = 0x3fff_ffff;
/// Value of a semaphore, or number of readers.
const VALUE: u32 = 0x7fff_ffff;
/// Offset of a mutex's word.
const MUTEX_WORD: u64 = 4;
/// Bits of a mutex's type that are not zero if it knows its owner.
const OWNED: u32 = 3;

/// Number of places of a loop at which a thread that spins is recognised.
const MAX_VISITS: usize = 16;

/// A word of memory, if it is known.
fn word(memory: &Memory, address: u64) -> Option<u32> {
    let object = memory.get(ObjectId::of_address(address)?)?;
    let offset = address.checked_sub(object.base).filter(|offset| offset + 4 <= object.size)?;
    object.read_concrete(offset, 4).map(|word| word as u32)
}

/// Can an operation go on, rather than wait? An operation on an object that is not known is executed to find out.
fn can_proceed(memory: &Memory, threads: &Threads, number: ThreadId, operation: &Operation) -> bool {
    let Some(&object) = operation.objects.first() else { return true };
    let known = |address: u64, fine: &dyn Fn(u32) -> bool| word(memory, address).is_none_or(fine);
    match operation.needs {
        Needs::Nothing => true,
        Needs::FreeMutex => known(object + MUTEX_WORD, &|held| {
            let is_own = held & OWNER == FIRST_NUMBER as u32 + number as u32;
            held & OWNER == 0 || is_own && word(memory, object).is_none_or(|kind| kind & OWNED != 0)
        }),
        Needs::FreeSpinLock => known(object, &|held| held == 0),
        Needs::PositiveSemaphore => known(object, &|value| value & VALUE != 0),
        Needs::NoWriter => known(object, &|readers| readers & VALUE != VALUE),
        Needs::NoReaderOrWriter => known(object, &|readers| readers & VALUE == 0),
        Needs::ExitedThread => {
            let is_it = |thread: &&Thread| thread.descriptor == object;
            threads.list.iter().filter(is_it).all(|thread| thread.status == Status::Exited)
        }
    }
}

impl Machine {
    /// Makes the global that points to the running thread's descriptor point to that of `thread`.
    fn set_descriptor(&self, memory: &mut Memory, descriptor: u64) {
        let Some(global) = self.synchronisation.pointer() else { return };
        let object = ObjectId::of_address(self.globals[global]).and_then(|id| memory.get_mut(id));
        if let Some(object) = object {
            object.write_concrete(0, self.program.pointers.bytes().into(), descriptor);
        }
    }

    /// Would the thread only repeat what it did last, because nothing has changed?
    fn spins(&self, state: &State, thread: &Thread) -> bool {
        let Some(visit) = &thread.spinning else { return false };
        let Some(memory) = &visit.memory else { return false };
        let mut now = state.memory.clone();
        self.set_descriptor(&mut now, thread.descriptor);
        visit.path == state.path && now.has_contents_of(memory)
    }

    fn is_enabled(&self, state: &State, threads: &Threads, number: ThreadId) -> bool {
        let thread = &threads.list[number];
        match thread.status {
            Status::Exited | Status::Excluded => false,
            Status::Woken => true,
            Status::Waiting { without_wake, .. } => without_wake != WithoutWake::Never,
            Status::Ready => {
                can_proceed(&state.memory, threads, number, &thread.operation) && !self.spins(state, thread)
            }
        }
    }

    /// Threads that can continue, the running one first.
    fn enabled(&self, state: &State) -> Vec<ThreadId> {
        let Some(threads) = &state.threads else { return Vec::new() };
        let count = threads.list.len();
        let in_order = (0..count).map(|i| (threads.current + i) % count);
        in_order.filter(|&number| self.is_enabled(state, threads, number)).collect()
    }

    /// Notes that the running thread is at a place where threads switch. It spins if it was there before, and since then
    /// no other thread ran and nothing changed.
    fn note_visit(state: &mut State) {
        let Some(threads) = &mut state.threads else { return };
        let (switches, path, inputs) = (threads.switches, state.path, state.inputs.len());
        let thread = threads.running_mut();
        thread.visits.retain(|visit| visit.switches == switches);
        let here = (state.frame.func, state.frame.pc);
        let at = thread.visits.iter().position(|visit| (visit.frame.func, visit.frame.pc) == here);
        let last = at.map(|at| thread.visits.remove(at));
        let last = last
            .filter(|last| (last.path, last.inputs) == (path, inputs) && last.frame.is_same(&state.frame));
        let repeats =
            |last: &Arc<Visit>| last.memory.as_ref().is_some_and(|m| state.memory.has_contents_of(m));
        thread.spinning = last.clone().filter(repeats);
        let memory = last.map(|_| state.memory.clone());
        let visit = Visit { frame: state.frame.clone(), memory, switches, path, inputs };
        thread.visits.push(Arc::new(visit));
        if thread.visits.len() > MAX_VISITS {
            thread.visits.remove(0);
        }
    }

    /// The running thread is before an operation. Returns whether it executes it now; if not, another thread runs.
    fn turn(&mut self, state: &mut State, operation: Operation, preempts: bool) -> Result<bool, Outcome> {
        let Some(threads) = &mut state.threads else { return Ok(true) };
        if std::mem::take(&mut threads.running_mut().is_chosen) {
            return Ok(true);
        }
        let stays = threads.running().sections > 0 || threads.is_exiting;
        if stays && can_proceed(&state.memory, threads, threads.current, &operation) {
            return Ok(true);
        }
        let thread = threads.running_mut();
        thread.operation = operation;
        thread.is_at_operation = true;
        Machine::note_visit(state);
        self.choose(state, preempts)
    }

    /// Chooses the thread that runs next, one in each forked state. Returns whether it is the one that ran.
    pub(in crate::exec::run) fn choose(
        &mut self,
        state: &mut State,
        preempts: bool,
    ) -> Result<bool, Outcome> {
        let mut choices = self.enabled(state);
        let only_spuriously = |threads: &Threads| {
            let spurious = |number: &ThreadId| {
                matches!(
                    threads.list[*number].status,
                    Status::Waiting { without_wake: WithoutWake::Spuriously, .. }
                )
            };
            choices.iter().all(spurious)
        };
        if state.threads.as_ref().is_some_and(|threads| only_spuriously(threads)) {
            return Err(self.deadlock(state));
        }
        let Some(threads) = &mut state.threads else { return Ok(true) };
        let running = threads.current;
        if self.synchronisation.skips_equivalent() {
            choices.retain(|thread| !threads.asleep.contains(thread));
            if choices.is_empty() {
                // Equivalent to a path that is explored elsewhere.
                threads.is_excluded = true;
                return Err(Outcome::Dropped);
            }
        }
        let preempts = preempts && choices[0] == running;
        let limit = self.synchronisation.preempt.unwrap_or(0);
        if preempts && choices.len() > 1 && threads.preemptions >= limit {
            choices.truncate(1);
            self.decider.incomplete(state, "a schedule has more preemptions than --preempt allows");
        }
        let (taken, forked) = self.decider.fork_on_schedule(state, &choices);
        for (i, mut child) in forked.into_iter().enumerate() {
            self.take_choice(&mut child, &choices, i + 1, preempts);
            self.decider.add_forked(child);
        }
        self.take_choice(state, &choices, taken, preempts);
        Ok(choices[taken] == running)
    }

    /// Lets the thread of number `taken` among the choices run. Those before it are other paths' first.
    fn take_choice(&mut self, state: &mut State, choices: &[ThreadId], taken: usize, preempts: bool) {
        self.take_turn(state, choices[taken]);
        let Some(threads) = &mut state.threads else { return };
        threads.preemptions += u32::from(preempts && taken > 0);
        if self.synchronisation.skips_equivalent() {
            // The end of the process commutes with nothing.
            let commutes = |i: &&ThreadId| !threads.list[**i].operation.objects.contains(&EVERYTHING);
            let sleeps: Vec<ThreadId> = choices[..taken].iter().filter(commutes).copied().collect();
            threads.asleep.extend(sleeps);
        }
    }

    fn take_turn(&mut self, state: &mut State, number: ThreadId) {
        let Some(threads) = &mut state.threads else { return };
        let is_other = threads.current != number;
        if is_other {
            state.switch_thread(number);
        }
        let Some(threads) = &mut state.threads else { return };
        threads.asleep.retain(|thread| *thread != number);
        let thread = threads.running_mut();
        thread.is_chosen = is_other && thread.is_at_operation;
        thread.is_at_operation = false;
        thread.spinning = None;
        let descriptor = thread.descriptor;
        if is_other {
            threads.turns.push(Turn { thread: number, func: state.frame.func, pc: state.frame.pc });
            self.set_descriptor(&mut state.memory, descriptor);
        }
    }

    /// The bug of a state in which no thread can continue.
    fn deadlock(&mut self, state: &mut State) -> Outcome {
        let Some(threads) = &state.threads else { return Outcome::bug(Class::Deadlock, "deadlock") };
        // An exited thread says nothing about the deadlock.
        let live = (0..threads.list.len()).find(|&i| threads.list[i].is_live());
        if let Some(number) = live.filter(|_| !threads.running().is_live()) {
            self.take_turn(state, number);
        }
        let Some(threads) = &state.threads else { return Outcome::bug(Class::Deadlock, "deadlock") };
        let is_lost = threads.list.iter().any(|thread| {
            matches!(thread.status, Status::Waiting { .. })
                && thread
                    .operation
                    .objects
                    .first()
                    .is_some_and(|object| threads.lost_signals.contains(object))
        });
        let mut waiting = Vec::new();
        for (i, thread) in threads.list.iter().enumerate().filter(|(_, thread)| thread.is_live()) {
            let top = thread.frame.as_ref().unwrap_or(&state.frame);
            let is_user =
                |f: &&crate::exec::state::frame::Frame| !self.program.functions[f.func.index()].library;
            let frame = top.frames().find(is_user).unwrap_or(top);
            let place = self.short_place(frame.func, frame.pc);
            let verb = if thread.spinning.is_some() { "spins" } else { "waits" };
            waiting.push(format!("thread {i} {verb} at {place}"));
        }
        let waiting = waiting.join(", ");
        match is_lost {
            true => Outcome::bug(
                Class::LostWakeup,
                format!("lost wake-up: the signal came before the wait, and {waiting}"),
            ),
            false => Outcome::bug(Class::Deadlock, format!("deadlock: {waiting}")),
        }
    }

    /// May the running thread execute its next instruction, or does another run before it because it races?
    pub(in crate::exec::run) fn may_access(&mut self, state: &mut State) -> Result<bool, Outcome> {
        if !self.synchronisation.switches_at.contains(&(state.frame.func, state.frame.pc)) {
            return Ok(true);
        }
        self.turn(state, Operation { objects: Objects::new(), needs: Needs::Nothing }, true)
    }

    /// May the running thread call this function, or does another run before it?
    pub(in crate::exec::run) fn may_call(
        &mut self,
        state: &mut State,
        func: FuncId,
        arguments: &Arguments,
    ) -> Result<bool, Outcome> {
        if self.synchronisation.reads_stream(func) {
            // The buffer may be filled, so that there is no system call that would be counted.
            let why = "a stream is read in a program with several threads: other orders are not explored";
            self.decider.incomplete(state, why);
        }
        let Some(row) = self.synchronisation.operation(state.frame.func, func) else { return Ok(true) };
        let mut objects = Objects::new();
        for &argument in arguments.iter().take(row.objects) {
            let why = "the object of a synchronising operation";
            objects.push(self.decider.fork_on_value(state, argument, 64, why)?);
        }
        if self.synchronisation.switches_before(&row) {
            let operation = Operation { objects: objects.clone(), needs: row.needs };
            if !self.turn(state, operation, false)? {
                return Ok(false);
            }
        }
        if row.role == Role::Tries && !self.synchronisation.tries {
            let why =
                "a function that tries to lock is called through a pointer: not all schedules are explored";
            self.decider.incomplete(state, why);
        }
        if row.role == Role::Waits {
            let is_repeated = self.is_call_repeated(state);
            if let Some(threads) = &mut state.threads {
                threads.running_mut().waits_once = !is_repeated;
            }
        }
        if row.role == Role::Signals {
            self.note_signal(state, objects[0], row.name.ends_with("signal"));
        }
        let Some(threads) = &mut state.threads else { return Ok(true) };
        threads.touch(&objects);
        threads.acquire(&objects);
        threads.release(&objects);
        threads.running_mut().calls.push(objects);
        Ok(true)
    }

    /// Is the call at the current instruction in a loop of its function? If that is a library's, of the functions up to
    /// and including the first of the program.
    fn is_call_repeated(&self, state: &State) -> bool {
        for frame in state.frame.frames() {
            let function = &self.program.functions[frame.func.index()];
            if function.is_in_loop(frame.pc) {
                return true;
            }
            if !function.library {
                return false;
            }
        }
        false
    }

    fn note_signal(&mut self, state: &mut State, variable: u64, wakes_one: bool) {
        let Some(threads) = &mut state.threads else { return };
        let waits = |thread: &&Thread| {
            matches!(thread.status, Status::Waiting { .. })
                && thread.operation.objects.first() == Some(&variable)
        };
        match threads.list.iter().filter(waits).count() {
            0 => threads.lost_signals.push(variable),
            1 => {}
            _ if wakes_one => {
                self.decider
                    .incomplete(state, "a signal with several threads waiting: it wakes the first one");
            }
            _ => {}
        }
    }

    /// May the running thread return from this function? The first thread's return from `main` ends the process.
    pub(in crate::exec::run) fn may_return(
        &mut self,
        state: &mut State,
        func: FuncId,
    ) -> Result<bool, Outcome> {
        let Some(caller) = state.frame.caller.as_ref() else {
            return if matches!(state.stage, Stage::Main) { self.may_exit(state) } else { Ok(true) };
        };
        if self.synchronisation.operation(caller.func, func).is_some()
            && let Some(threads) = &mut state.threads
            && let Some(objects) = threads.running_mut().calls.pop()
        {
            threads.acquire(&objects);
            threads.release(&objects);
            threads.running_mut().waits_once = false;
        }
        Ok(true)
    }

    /// May the running thread end the process, or does another run before that?
    pub(in crate::exec::run) fn may_exit(&mut self, state: &mut State) -> Result<bool, Outcome> {
        if state.threads.as_ref().is_none_or(|threads| threads.is_exiting) {
            return Ok(true);
        }
        let operation = Operation { objects: smallvec![EVERYTHING], needs: Needs::Nothing };
        if !self.turn(state, operation, false)? {
            return Ok(false);
        }
        if let Some(threads) = &mut state.threads {
            threads.touch(&[EVERYTHING]);
            threads.is_exiting = true;
            threads.list.iter_mut().for_each(|thread| thread.visits.clear());
        }
        Ok(true)
    }

    /// A synchronising operation of the machine itself: an atomic access, or the begin of an atomic section.
    pub(in crate::exec::run) fn may_synchronise(
        &mut self,
        state: &mut State,
        object: u64,
    ) -> Result<bool, Outcome> {
        let objects: Objects = smallvec![object];
        let operation = Operation { objects: objects.clone(), needs: Needs::Nothing };
        if !self.turn(state, operation, false)? {
            return Ok(false);
        }
        if let Some(threads) = &mut state.threads {
            threads.touch(&objects);
            threads.acquire(&objects);
        }
        Ok(true)
    }

    /// End of a path with threads. `None`: it goes on, to look for races. A thread whose assumption does not hold may have
    /// read what another thread would have written before: without a race, it would not hold in any order.
    pub(in crate::exec::run) fn end_of_threads(
        &mut self,
        state: &mut State,
        outcome: Outcome,
    ) -> Option<Outcome> {
        let Some(threads) = &mut state.threads else { return Some(outcome) };
        if threads.is_excluded {
            return match outcome {
                Outcome::Limit { .. } | Outcome::Unsupported { .. } => Some(outcome),
                Outcome::Exit { .. } | Outcome::Bug { .. } | Outcome::Dropped => Some(Outcome::Dropped),
            };
        }
        if outcome != Outcome::Dropped
            || !self.synchronisation.skips_equivalent()
            || !threads.others_live()
            || threads.is_exiting
        {
            return Some(outcome);
        }
        threads.is_excluded = true;
        threads.running_mut().status = Status::Excluded;
        // Its atomic section is still ordered with other sections.
        if std::mem::take(&mut threads.running_mut().sections) > 0 {
            threads.release(&[ATOMIC_SECTION]);
        }
        match self.choose(state, false) {
            Ok(_) => None,
            Err(_) => Some(Outcome::Dropped),
        }
    }
}
