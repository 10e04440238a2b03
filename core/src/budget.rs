//! Time and memory limits of one query and its cancellation. They hold for the whole chain of layers.

use std::cell::Cell;
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

/// Cancels the current query; may be set from any thread. A run has two more reasons to stop what it does: its time is
/// over, or memory is short.
#[derive(Clone, Default, Debug)]
pub struct Cancel(Arc<AtomicU8>);

const CANCELLED: u8 = 1;
const DEADLINE: u8 = 2;
const MEMORY: u8 = 4;
const OVERDUE: u8 = 8;

impl Cancel {
    pub fn cancel(&self) {
        self.0.fetch_or(CANCELLED, Ordering::Relaxed);
    }

    pub fn raise_deadline(&self) {
        self.0.fetch_or(DEADLINE, Ordering::Relaxed);
    }

    pub fn raise_memory(&self) {
        self.0.fetch_or(MEMORY, Ordering::Relaxed);
    }

    pub fn reset(&self) {
        self.0.store(0, Ordering::Relaxed);
    }

    /// Another reason was raised some time ago, or far more memory is used than allowed: whatever still runs must be unwound.
    pub fn raise_overdue(&self) {
        self.0.fetch_or(OVERDUE, Ordering::Relaxed);
    }

    /// Memory was freed.
    pub fn reset_memory(&self) {
        self.0.fetch_and(!MEMORY, Ordering::Relaxed);
        if !self.is_over() {
            self.0.fetch_and(!OVERDUE, Ordering::Relaxed);
        }
    }

    /// Is the run over: cancelled, or out of time?
    pub fn is_over(&self) -> bool {
        self.0.load(Ordering::Relaxed) & (CANCELLED | DEADLINE) != 0
    }

    #[inline]
    pub fn is_overdue(&self) -> bool {
        self.0.load(Ordering::Relaxed) & OVERDUE != 0
    }

    pub fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::Relaxed) & CANCELLED != 0
    }

    pub fn is_short_of_memory(&self) -> bool {
        self.0.load(Ordering::Relaxed) & MEMORY != 0
    }

    /// Is there any reason to stop?
    #[inline]
    pub fn is_raised(&self) -> bool {
        self.0.load(Ordering::Relaxed) != 0
    }
}

/// Unwinds what runs once its `Cancel` is overdue. Operations that poll their budget end by themselves; this is for the
/// others, however deep in an expression they are: what builds, evaluates or folds expressions calls `check`. Only armed
/// while nothing of the analysed path is needed afterwards but its model.
#[derive(Clone, Default, Debug)]
pub struct Unwinder {
    cancel: Cancel,
    is_armed: bool,
}

/// Payload of the unwinding.
pub struct Overdue;

impl Unwinder {
    pub fn new(cancel: Cancel) -> Unwinder {
        Unwinder { cancel, is_armed: false }
    }

    /// Arms or disarms. Returns whether it was armed.
    pub fn arm(&mut self, is_armed: bool) -> bool {
        std::mem::replace(&mut self.is_armed, is_armed)
    }

    #[inline]
    pub fn check(&self) {
        if self.is_armed && self.cancel.is_overdue() {
            std::panic::resume_unwind(Box::new(Overdue));
        }
    }
}

/// Limits of one query.
#[derive(Clone, Default, Debug)]
pub struct Budget {
    pub deadline: Option<Instant>,
    /// Earlier end for layers whose effort cannot be counted: other solvers, and layers in Python.
    pub foreign_deadline: Option<Instant>,
    pub cancel: Cancel,
    /// Memory limit for back ends that can enforce one.
    pub memory_mb: Option<u64>,
    /// Limit of the effort (`cost.rs`); `None` for no limit.
    pub effort: Option<u64>,
    /// Whether the core of an unsatisfiable query may be the whole query: it is not asked for, and no similar query
    /// follows. A SAT solver may then eliminate what it would keep as an assumption.
    pub whole_core: bool,
}

impl Budget {
    pub fn unlimited() -> Budget {
        Budget::default()
    }

    pub fn for_time(limit: Duration) -> Budget {
        Budget { deadline: Instant::now().checked_add(limit), ..Budget::default() }
    }

    pub fn for_effort(limit: u64) -> Budget {
        Budget { effort: Some(limit), ..Budget::default() }
    }

    /// The budget as a layer gets it whose effort cannot be counted.
    pub fn foreign(&self) -> Budget {
        let deadline = [self.deadline, self.foreign_deadline].into_iter().flatten().min();
        Budget { deadline, ..self.clone() }
    }

    /// Time left; `None` means no limit.
    pub fn left(&self) -> Option<Duration> {
        self.deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()))
    }

    /// Returns the reason to stop now, if a limit was reached.
    pub fn spent(&self) -> Option<Why> {
        if self.cancel.is_raised() {
            if self.cancel.is_cancelled() {
                return Some(Why::Cancelled);
            }
            if self.cancel.is_short_of_memory() {
                return Some(Why::Memory);
            }
        }
        match self.left() {
            Some(left) if left.is_zero() => Some(Why::Deadline),
            Some(_) | None => None,
        }
    }
}

/// Bytes of memory of the machine; 8 GB if the system does not report them.
pub fn machine_memory() -> u64 {
    static BYTES: OnceLock<u64> = OnceLock::new();
    *BYTES.get_or_init(|| {
        let reported = std::fs::read_to_string("/proc/meminfo").ok().and_then(|text| {
            let line = text.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
            line.trim().strip_suffix(" kB")?.parse::<u64>().ok()
        });
        reported.map_or(8 << 30, |kilobytes| kilobytes << 10)
    })
}

/// Polls a budget from inside a search. Reads the clock about every `MAX_POLL_INTERVAL`, independently of how long
/// one call takes.
#[derive(Debug)]
pub struct BudgetPoller {
    pub budget: Budget,
    max_calls: u32,
    period: Cell<u32>,
    calls: Cell<u32>,
    last_poll: Cell<Instant>,
}

/// Longest time between two reads of the clock, approximately.
const MAX_POLL_INTERVAL: Duration = Duration::from_millis(5);

impl BudgetPoller {
    /// Reads the clock at least once every `max_calls` calls.
    pub fn new(budget: Budget, max_calls: u32) -> BudgetPoller {
        let (period, calls, last_poll) = (Cell::new(1), Cell::new(0), Cell::new(Instant::now()));
        BudgetPoller { budget, max_calls, period, calls, last_poll }
    }

    /// Returns true if a limit was reached, as of the last read of the clock.
    pub fn spent(&self) -> bool {
        self.calls.set(self.calls.get() + 1);
        if self.calls.get() < self.period.get() {
            return false;
        }
        let now = Instant::now();
        let too_rare = now - self.last_poll.replace(now) > MAX_POLL_INTERVAL;
        self.period.set(if too_rare {
            (self.period.get() / 2).max(1)
        } else {
            (self.period.get() * 2).min(self.max_calls)
        });
        self.calls.set(0);
        self.budget.spent().is_some()
    }
}

/// Reason why a query has no answer.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Why {
    Deadline,
    Cancelled,
    Memory,
    /// The effort limit was reached.
    Effort,
    /// Every layer passed the query on: the chain has no complete layer for it.
    Incomplete,
    /// A layer failed or does not support the query: its name and its message.
    Layer {
        name: String,
        message: String,
    },
    /// A layer answered `Sat` with a model that does not satisfy the query.
    WrongModel {
        name: String,
        message: String,
    },
}

impl std::fmt::Display for Why {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Why::Deadline => f.write_str("timeout"),
            Why::Cancelled => f.write_str("canceled"),
            Why::Memory => f.write_str("memout"),
            Why::Effort => f.write_str("effort limit reached"),
            Why::Incomplete => f.write_str("incomplete: no layer of the chain could decide it"),
            Why::Layer { name, message } | Why::WrongModel { name, message } => {
                write!(f, "{name}: {message}")
            }
        }
    }
}
