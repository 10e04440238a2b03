//! The synchronising functions of the C library, by name, and the code whose accesses are its own affair.
use crate::exec::state::address::ObjectId;
use crate::exec::state::memory::Memory;
use crate::exec::state::object::Object;
use crate::exec::state::threads::Needs;
use crate::program::{Callee, FuncId, Inst, Program};
use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::Arc;

/// Starts a thread; a program without it has one thread.
pub(in crate::exec::run) const CLONE: &str = "__partita_clone";
/// Global that points to the descriptor of the running thread.
const SELF: &str = "__partita_self";

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    Plain,
    /// A reader of what another thread has not finished: it can see that a lock is held.
    Tries,
    /// It gives something up. Nothing that other threads do before it differs, unless one tries.
    Releases,
    Signals,
    /// It waits for a condition variable and does not time out. By POSIX it may end without a signal.
    Waits,
}

#[derive(Clone, Copy)]
pub(super) struct Row {
    pub name: &'static str,
    /// Number of arguments that are objects, from the first on.
    pub objects: usize,
    pub needs: Needs,
    pub role: Role,
    /// Threads can switch before it.
    pub switches: bool,
}

const fn row(name: &'static str, objects: usize, needs: Needs, role: Role) -> Row {
    Row { name, objects, needs, role, switches: true }
}

const fn plain(name: &'static str, objects: usize) -> Row {
    row(name, objects, Needs::Nothing, Role::Plain)
}

const fn tries(name: &'static str) -> Row {
    row(name, 1, Needs::Nothing, Role::Tries)
}

const fn releases(name: &'static str) -> Row {
    row(name, 1, Needs::Nothing, Role::Releases)
}

const fn quiet(name: &'static str, objects: usize) -> Row {
    Row { name, objects, needs: Needs::Nothing, role: Role::Plain, switches: false }
}

/// Functions by name, without leading underscores.
const ROWS: &[Row] = &[
    quiet("pthread_create", 0),
    quiet("thrd_create", 0),
    row("pthread_join", 1, Needs::ExitedThread, Role::Plain),
    row("thrd_join", 1, Needs::ExitedThread, Role::Plain),
    tries("pthread_tryjoin_np"),
    tries("pthread_timedjoin_np"),
    plain("pthread_detach", 1),
    quiet("pthread_exit", 0),
    quiet("thrd_exit", 0),
    plain("sched_yield", 0),
    plain("thrd_yield", 0),
    row("pthread_mutex_lock", 1, Needs::FreeMutex, Role::Plain),
    row("mtx_lock", 1, Needs::FreeMutex, Role::Plain),
    tries("pthread_mutex_trylock"),
    tries("pthread_mutex_timedlock"),
    tries("mtx_trylock"),
    tries("mtx_timedlock"),
    releases("pthread_mutex_unlock"),
    releases("mtx_unlock"),
    plain("pthread_mutex_init", 1),
    plain("mtx_init", 1),
    plain("pthread_mutex_destroy", 1),
    plain("mtx_destroy", 1),
    plain("pthread_mutex_consistent", 1),
    row("pthread_cond_wait", 2, Needs::Nothing, Role::Waits),
    plain("pthread_cond_timedwait", 2),
    row("cnd_wait", 2, Needs::Nothing, Role::Waits),
    plain("cnd_timedwait", 2),
    row("pthread_cond_signal", 1, Needs::Nothing, Role::Signals),
    row("cnd_signal", 1, Needs::Nothing, Role::Signals),
    row("pthread_cond_broadcast", 1, Needs::Nothing, Role::Signals),
    row("cnd_broadcast", 1, Needs::Nothing, Role::Signals),
    plain("pthread_cond_init", 1),
    plain("cnd_init", 1),
    plain("pthread_cond_destroy", 1),
    plain("cnd_destroy", 1),
    row("pthread_rwlock_rdlock", 1, Needs::NoWriter, Role::Plain),
    row("pthread_rwlock_wrlock", 1, Needs::NoReaderOrWriter, Role::Plain),
    tries("pthread_rwlock_tryrdlock"),
    tries("pthread_rwlock_trywrlock"),
    tries("pthread_rwlock_timedrdlock"),
    tries("pthread_rwlock_timedwrlock"),
    releases("pthread_rwlock_unlock"),
    plain("pthread_rwlock_init", 1),
    plain("pthread_rwlock_destroy", 1),
    plain("pthread_barrier_wait", 1),
    plain("pthread_barrier_init", 1),
    plain("pthread_barrier_destroy", 1),
    row("pthread_spin_lock", 1, Needs::FreeSpinLock, Role::Plain),
    tries("pthread_spin_trylock"),
    releases("pthread_spin_unlock"),
    plain("pthread_spin_init", 1),
    plain("pthread_spin_destroy", 1),
    plain("pthread_once", 1),
    plain("call_once", 1),
    row("sem_wait", 1, Needs::PositiveSemaphore, Role::Plain),
    tries("sem_trywait"),
    tries("sem_timedwait"),
    tries("sem_getvalue"),
    releases("sem_post"),
    plain("sem_init", 1),
    plain("sem_destroy", 1),
    plain("flockfile", 1),
    tries("ftrylockfile"),
    plain("funlockfile", 1),
];

/// Functions that take something from the buffer of a stream, or put it back, without leading underscores.
const STREAM_READERS: &str = "fgetc getc IO_getc getchar fgetc_unlocked getc_unlocked IO_getc_unlocked getchar_unlocked \
    fgets fgets_unlocked gets fgetln getdelim getline getw fread fread_unlocked ungetc uflow toread clearerr clearerr_unlocked \
    fgetwc getwc getwchar fgetwc_unlocked getwc_unlocked getwchar_unlocked fgetws fgetws_unlocked ungetwc \
    scanf fscanf vscanf vfscanf isoc99_scanf isoc99_fscanf isoc99_vscanf isoc99_vfscanf \
    wscanf fwscanf vwscanf vfwscanf isoc99_wscanf isoc99_fwscanf isoc99_vwscanf isoc99_vfwscanf \
    fpurge freadptr freadptrinc freadahead";

/// Folders of the C library and of the runtime whose code is not checked for races: it is synchronised with locks of its
/// own, which do nothing here, because it is not interrupted.
const INTERNAL: &[&str] = &[
    "/src/thread/",
    "/src/stdio/",
    "/src/internal/",
    "/src/errno/",
    "/src/locale/",
    "/src/exit/",
    "/src/signal/",
    "/src/sched/",
    "/runtime/posix/",
    "/runtime/musl/",
];
const THREAD_FOLDER: &str = "/src/thread/";

#[derive(Clone, Copy)]
struct Class {
    row: Option<Row>,
    /// Part of the library's code for threads: calls from here are parts of one operation.
    is_inside: bool,
    is_internal: bool,
    reads_stream: bool,
}

/// Facts about a program with threads.
#[derive(Default)]
pub(in crate::exec::run) struct Synchronisation {
    /// By function; empty if the program cannot start a thread.
    classes: Vec<Class>,
    /// A function of role `Tries` is called somewhere.
    pub(super) tries: bool,
    /// Number of the global that points to the running thread's descriptor.
    pointer: Option<usize>,
    /// Thread-local variables before the first instruction.
    variables: FxHashMap<ObjectId, Arc<Object>>,
    /// Number of switches at racing accesses that are explored.
    pub(super) preempt: Option<u32>,
    /// Instructions at which threads switch because they race.
    pub(super) switches_at: FxHashSet<(FuncId, u32)>,
    /// Instructions that race, as found so far.
    pub(super) racing: FxHashSet<(FuncId, u32)>,
}

impl Synchronisation {
    pub fn new(program: &Program, memory: &Memory, preempt: Option<u32>) -> Synchronisation {
        if program.function(CLONE).is_none() {
            return Synchronisation::default();
        }
        let class = |function: &crate::program::Function| {
            let name = program.string(function.name).trim_start_matches('_');
            let file = program.string(function.loc.file);
            let in_folder = |folder: &str| function.library && file.contains(folder);
            let row = ROWS.iter().find(|row| row.name == name && function.library).copied();
            Class {
                row,
                is_inside: in_folder(THREAD_FOLDER) || row.is_some(),
                reads_stream: function.library && STREAM_READERS.split(' ').any(|reader| reader == name),
                is_internal: INTERNAL.iter().any(|folder| in_folder(folder)),
            }
        };
        let classes: Vec<Class> = program.functions.iter().map(class).collect();
        let tries =
            program.functions.iter().zip(&classes).filter(|(_, class)| !class.is_inside).any(|(f, _)| {
                f.insts.iter().any(|inst| match inst {
                    Inst::Call(call) => match call.callee {
                        Callee::Direct(to) => {
                            classes[to.index()].row.is_some_and(|row| row.role == Role::Tries)
                        }
                        Callee::Indirect(_) => false,
                    },
                    _ => false,
                })
            });
        let is_variable = |object: &Object| match object.origin {
            Some(crate::exec::state::object::Origin::Global(i)) => program.globals[i as usize].thread_local,
            _ => false,
        };
        let variables = memory.objects().filter(|(_, object)| is_variable(object));
        Synchronisation {
            tries,
            pointer: program.globals.iter().position(|g| program.string(g.name) == SELF),
            variables: variables.map(|(id, object)| (id, Arc::clone(object))).collect(),
            preempt,
            classes,
            ..Synchronisation::default()
        }
    }

    /// Number of the global that points to the running thread's descriptor.
    pub fn pointer(&self) -> Option<usize> {
        self.pointer
    }

    /// A thread-local variable before the first instruction.
    pub fn variable(&self, id: ObjectId) -> Option<Arc<Object>> {
        self.variables.get(&id).map(Arc::clone)
    }

    /// The operation that a call is, unless the caller is itself a part of one.
    pub(super) fn operation(&self, caller: FuncId, callee: FuncId) -> Option<Row> {
        self.classes[callee.index()].row.filter(|_| !self.classes[caller.index()].is_inside)
    }

    /// Does the function read a stream?
    pub(super) fn reads_stream(&self, func: FuncId) -> bool {
        self.classes[func.index()].reads_stream
    }

    /// Is the function one that synchronises itself?
    pub fn is_internal(&self, func: FuncId) -> bool {
        self.classes.get(func.index()).is_some_and(|class| class.is_internal)
    }

    /// Is the function a part of synchronising operations?
    pub(super) fn is_inside(&self, func: FuncId) -> bool {
        self.classes[func.index()].is_inside
    }

    /// Can threads switch before this operation?
    pub(super) fn switches_before(&self, row: &Row) -> bool {
        match row.role {
            Role::Releases => self.tries,
            Role::Plain | Role::Tries | Role::Signals | Role::Waits => row.switches,
        }
    }

    /// Do paths that are equivalent to explored ones end early?
    pub(super) fn skips_equivalent(&self) -> bool {
        self.switches_at.is_empty()
    }
}
