//! How long a question may take, and how to call it off. Holds for the whole chain of layers.

use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Set from any thread to end the question under way.
#[derive(Clone, Default, Debug)]
pub struct Cancel(Arc<AtomicBool>);

impl Cancel {
    pub fn cancel(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    pub fn reset(&self) {
        self.0.store(false, Ordering::Relaxed);
    }

    pub fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// What one question may use.
#[derive(Clone, Default, Debug)]
pub struct Budget {
    pub deadline: Option<Instant>,
    pub cancel: Cancel,
    /// For a back end that can limit its own memory.
    pub memory_mb: Option<u64>,
}

impl Budget {
    pub fn unlimited() -> Budget {
        Budget::default()
    }

    pub fn for_time(limit: Duration) -> Budget {
        Budget { deadline: Instant::now().checked_add(limit), ..Budget::default() }
    }

    /// Time left; `None` means no limit.
    pub fn left(&self) -> Option<Duration> {
        self.deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()))
    }

    /// Why to stop now, if so.
    pub fn spent(&self) -> Option<Why> {
        if self.cancel.is_cancelled() {
            return Some(Why::Cancelled);
        }
        match self.left() {
            Some(left) if left.is_zero() => Some(Why::Deadline),
            Some(_) | None => None,
        }
    }
}

/// Looks at a budget from within a search: not at every call, but every few milliseconds, however long a call takes.
#[derive(Debug)]
pub struct Watch {
    pub budget: Budget,
    most: u32,
    every: Cell<u32>,
    calls: Cell<u32>,
    last: Cell<Instant>,
}

/// Looks are at most about this far apart.
const LOOK: Duration = Duration::from_millis(5);

impl Watch {
    /// Lets at most `most` calls pass between two looks.
    pub fn new(budget: Budget, most: u32) -> Watch {
        let (every, calls, last) = (Cell::new(1), Cell::new(0), Cell::new(Instant::now()));
        Watch { budget, most, every, calls, last }
    }

    /// Is it time to stop, as far as is known?
    pub fn spent(&self) -> bool {
        self.calls.set(self.calls.get() + 1);
        if self.calls.get() < self.every.get() {
            return false;
        }
        let now = Instant::now();
        let far = now - self.last.replace(now) > LOOK;
        self.every.set(if far {
            (self.every.get() / 2).max(1)
        } else {
            (self.every.get() * 2).min(self.most)
        });
        self.calls.set(0);
        self.budget.spent().is_some()
    }
}

/// Why a question has no answer.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Why {
    Deadline,
    Cancelled,
    Memory,
    /// Every layer passed on: the chain has no complete layer for this question.
    Incomplete,
    /// A layer failed or does not support the question; its name and its words.
    Layer {
        name: String,
        message: String,
    },
    /// A layer called the question satisfiable, and its model was found not to satisfy it.
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
            Why::Incomplete => f.write_str("incomplete: no layer of the chain could decide it"),
            Why::Layer { name, message } | Why::WrongModel { name, message } => {
                write!(f, "{name}: {message}")
            }
        }
    }
}
