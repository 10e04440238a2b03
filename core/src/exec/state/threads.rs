//! Threads of a path, from its second one on: stacks, what each waits for, and what happened before what.
//!
//! One thread runs; its stack is the state's frame, those of the others are here. Pure data: `run/threads` switches.
use super::State;
use super::address::ObjectId;
use super::frame::Frame;
use super::memory::Memory;
use super::value::Value;
use crate::expr::Expr;
use crate::expr::float::Rounding;
use crate::persist::{List, Map};
use crate::program::FuncId;
use crate::query::Path;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use std::sync::Arc;

/// Number of a thread in order of creation; the first thread is 0.
pub type ThreadId = usize;

/// Number of epochs of each thread that are known to have happened.
pub type Clock = SmallVec<[u32; 4]>;

/// Addresses of the objects of an operation. Operations with a common object do not commute.
pub type Objects = SmallVec<[u64; 2]>;

/// Object of an operation that commutes with no other, such as the end of the process.
pub const EVERYTHING: u64 = u64::MAX;
/// Object of the atomic sections of SV-COMP.
pub const ATOMIC_SECTION: u64 = u64::MAX - 1;

/// Condition on the first object without which an operation would only wait.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Needs {
    Nothing,
    FreeMutex,
    FreeSpinLock,
    PositiveSemaphore,
    NoWriter,
    NoReaderOrWriter,
    ExitedThread,
}

/// The operation that a thread is at: it executes this next, or is inside of it.
#[derive(Clone, Debug)]
pub struct Operation {
    pub objects: Objects,
    pub needs: Needs,
}

/// How a wait can end that nothing wakes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum WithoutWake {
    Never,
    TimesOut,
    /// It may, but that is not certain: threads that can do nothing else are in a deadlock.
    Spuriously,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Status {
    Ready,
    /// In a wait for a wake-up of this address.
    Waiting {
        address: u64,
        without_wake: WithoutWake,
    },
    /// Its wait has ended.
    Woken,
    Exited,
    /// An assumption of the program does not hold here: the path only looks for data races.
    Excluded,
}

/// A thread at a place where threads switch, to recognise that it comes back and nothing has changed.
pub struct Visit {
    pub frame: Frame,
    /// Memory then, from the second visit in a row on.
    pub memory: Option<Memory>,
    /// Number of switches before it.
    pub switches: u64,
    pub path: Path,
    pub inputs: usize,
}

#[derive(Clone)]
pub struct Thread {
    /// Its stack, except while it runs.
    pub frame: Option<Frame>,
    /// Address of the C library's descriptor.
    pub descriptor: u64,
    pub errno: Option<u64>,
    pub rounding: Rounding,
    pub exceptions: Value,
    pub status: Status,
    pub operation: Operation,
    /// It stopped before its operation, or inside of it.
    pub is_at_operation: bool,
    /// It was chosen to execute its operation.
    pub is_chosen: bool,
    /// Objects of the synchronising calls on its stack.
    pub calls: Vec<Objects>,
    pub clock: Clock,
    /// Address of a word that its exit clears and wakes; 0 for none.
    pub clears: u64,
    /// It is in a wait for a condition variable that no loop repeats.
    pub waits_once: bool,
    pub has_woken_spuriously: bool,
    /// Its copies of thread-local variables.
    pub variables: Vec<(ObjectId, ObjectId)>,
    /// Number of nested atomic sections that it is in.
    pub sections: u32,
    /// The newest visits since it took its turn, one per place.
    pub visits: Vec<Arc<Visit>>,
    /// The visit that it would only repeat, until memory changes.
    pub spinning: Option<Arc<Visit>>,
}

/// The last accesses of a word of memory: at most one per thread, kind and bytes.
pub type Cell = SmallVec<[Record; 2]>;

/// An access, for data races.
#[derive(Clone)]
pub struct Record {
    pub thread: ThreadId,
    pub epoch: u32,
    /// Bytes of the word.
    pub bytes: u8,
    pub is_write: bool,
    pub func: FuncId,
    pub pc: u32,
    pub caller: Option<Arc<Frame>>,
}

/// A switch: the thread, and where it continues.
pub struct Turn {
    pub thread: ThreadId,
    pub func: FuncId,
    pub pc: u32,
}

#[derive(Clone, Default)]
pub struct Threads {
    pub list: Vec<Thread>,
    pub current: ThreadId,
    /// Threads whose next operation another path has executed here, and that commutes with everything since.
    pub asleep: SmallVec<[ThreadId; 4]>,
    /// Clocks that operations on objects have published, by object.
    pub published: Arc<FxHashMap<u64, Clock>>,
    /// Accesses by object and word.
    pub accesses: Arc<FxHashMap<ObjectId, Map<Cell>>>,
    /// Condition variables that were signalled while no thread waited for them.
    pub lost_signals: SmallVec<[u64; 2]>,
    pub turns: List<Turn>,
    /// The earlier of two accesses that race, in the state that reports the race.
    pub racing: Option<Box<Record>>,
    pub switches: u64,
    pub preemptions: u32,
    /// An assumption excludes the path, or another path is equivalent to it: nothing but races is reported.
    pub is_excluded: bool,
    /// `exit` was called: threads do not switch any more, except where one waits.
    pub is_exiting: bool,
}

impl Thread {
    pub fn new(frame: Option<Frame>, descriptor: u64) -> Thread {
        Thread {
            frame,
            descriptor,
            errno: None,
            rounding: Rounding::NearestEven,
            exceptions: Value::ZERO,
            status: Status::Ready,
            operation: Operation { objects: Objects::new(), needs: Needs::Nothing },
            is_at_operation: false,
            is_chosen: false,
            calls: Vec::new(),
            clock: Clock::new(),
            clears: 0,
            waits_once: false,
            has_woken_spuriously: false,
            variables: Vec::new(),
            sections: 0,
            visits: Vec::new(),
            spinning: None,
        }
    }

    pub fn is_live(&self) -> bool {
        !matches!(self.status, Status::Exited | Status::Excluded)
    }
}

/// Each component becomes the larger one.
fn join(clock: &mut Clock, other: &Clock) {
    if clock.len() < other.len() {
        clock.resize(other.len(), 0);
    }
    for (mine, theirs) in clock.iter_mut().zip(other) {
        *mine = (*mine).max(*theirs);
    }
}

impl Threads {
    pub fn running(&self) -> &Thread {
        &self.list[self.current]
    }

    pub fn running_mut(&mut self) -> &mut Thread {
        &mut self.list[self.current]
    }

    pub fn epoch(&self) -> u32 {
        self.running().clock[self.current]
    }

    /// Adds a thread whose code happens after all that the running one has done.
    pub fn add(&mut self, mut thread: Thread) -> ThreadId {
        let number = self.list.len();
        if let Some(creator) = self.list.get(self.current) {
            thread.clock = creator.clock.clone();
        }
        thread.clock.resize(number + 1, 0);
        thread.clock[number] = 1;
        self.list.push(thread);
        if number > 0 {
            self.next_epoch();
        }
        number
    }

    fn next_epoch(&mut self) {
        let current = self.current;
        self.running_mut().clock[current] += 1;
    }

    /// The running thread learns what was published for these objects.
    pub fn acquire(&mut self, objects: &[u64]) {
        let published = Arc::clone(&self.published);
        for clock in objects.iter().filter_map(|object| published.get(object)) {
            join(&mut self.running_mut().clock, clock);
        }
    }

    /// The running thread publishes what has happened before for these objects.
    pub fn release(&mut self, objects: &[u64]) {
        let clock = self.running().clock.clone();
        let published = Arc::make_mut(&mut self.published);
        for &object in objects {
            join(published.entry(object).or_default(), &clock);
        }
        self.next_epoch();
    }

    /// The running thread executes an operation on these objects: threads whose operation does not commute with it
    /// wake up.
    pub fn touch(&mut self, objects: &[u64]) {
        let is_all = |objects: &[u64]| objects.contains(&EVERYTHING);
        let list = &self.list;
        self.asleep.retain(|thread| {
            let own = &list[*thread].operation.objects;
            !is_all(objects) && !is_all(own) && own.iter().all(|object| !objects.contains(object))
        });
    }

    /// Has what the record says happened before the running thread's next instruction?
    pub fn is_before(&self, record: &Record) -> bool {
        self.running().clock.get(record.thread).is_some_and(|&known| record.epoch <= known)
    }

    /// Stacks of the threads that do not run, and of earlier visits.
    pub fn stacks(&self) -> impl Iterator<Item = &Frame> {
        let visits = self.visits().map(|visit| &visit.frame);
        self.list.iter().filter_map(|thread| thread.frame.as_ref()).chain(visits)
    }

    pub fn visits(&self) -> impl Iterator<Item = &Visit> {
        self.list.iter().flat_map(|thread| thread.visits.iter().chain(&thread.spinning)).map(|visit| &**visit)
    }

    pub fn roots(&self, visit: &mut dyn FnMut(Expr)) {
        self.list.iter().filter_map(|thread| thread.exceptions.expr()).for_each(visit);
    }

    pub fn others_live(&self) -> bool {
        self.list.iter().enumerate().any(|(i, thread)| i != self.current && thread.is_live())
    }
}

impl State {
    /// Puts the running thread's stack and registers away, and takes those of another.
    pub fn switch_thread(&mut self, to: ThreadId) {
        let Some(threads) = &mut self.threads else { return };
        let next = threads.list[to].frame.take().expect("a thread that does not run has a stack");
        let old = &mut threads.list[threads.current];
        old.frame = Some(std::mem::replace(&mut self.frame, next));
        (old.errno, old.rounding, old.exceptions) = (self.errno, self.rounding, self.exceptions);
        let new = &threads.list[to];
        (self.errno, self.rounding, self.exceptions) = (new.errno, new.rounding, new.exceptions);
        threads.current = to;
        threads.switches += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(thread: ThreadId, epoch: u32) -> Record {
        Record { thread, epoch, bytes: 1, is_write: true, func: FuncId(0), pc: 0, caller: None }
    }

    #[test]
    fn publishing_orders_what_came_before_it_and_nothing_else() {
        let mut threads = Threads::default();
        threads.add(Thread::new(None, 0));
        threads.add(Thread::new(None, 0));
        let before = record(0, threads.epoch());
        threads.release(&[16]);
        let after = record(0, threads.epoch());
        threads.current = 1;
        assert!(!threads.is_before(&before));
        threads.acquire(&[32]);
        assert!(!threads.is_before(&before));
        threads.acquire(&[16]);
        assert!(threads.is_before(&before) && !threads.is_before(&after));
    }

    #[test]
    fn a_new_thread_comes_after_its_creator_until_then() {
        let mut threads = Threads::default();
        threads.add(Thread::new(None, 0));
        let before = record(0, threads.epoch());
        let number = threads.add(Thread::new(None, 0));
        let after = record(0, threads.epoch());
        threads.current = number;
        assert!(threads.is_before(&before) && !threads.is_before(&after));
    }

    #[test]
    fn operations_on_other_objects_do_not_wake() {
        let mut threads = Threads::default();
        for object in [16, 32, EVERYTHING] {
            let mut thread = Thread::new(None, 0);
            thread.operation.objects.push(object);
            threads.add(thread);
        }
        threads.asleep = SmallVec::from_slice(&[0, 1]);
        threads.touch(&[48]);
        assert_eq!(threads.asleep[..], [0, 1]);
        threads.touch(&[32]);
        assert_eq!(threads.asleep[..], [0]);
        threads.asleep.push(2);
        threads.touch(&[]);
        assert_eq!(threads.asleep[..], [0]);
        threads.touch(&[EVERYTHING]);
        assert!(threads.asleep.is_empty());
    }
}
