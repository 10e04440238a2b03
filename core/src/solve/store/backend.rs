//! A place for answers as the layer sees it: a file of this machine (`open_store.rs`) or a server that machines share
//! (`shared.rs`).

use super::canonical::Key;
use super::row::Row;

/// A change to the answers.
pub enum Change {
    Insert(Row),
    /// Sets the time of the last use.
    Used(u64, Key),
    Remove(u64, Key),
}

/// Result of a look-up by key.
pub enum Found {
    Row(Row),
    /// An unsat row that anyone may have written: it must be proved again.
    Unproved(Row),
    Nothing,
    /// A row whose checksum is wrong.
    Damaged,
}

/// Result of handing over a change.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Put {
    Accepted,
    /// Too many changes are pending.
    Full,
    /// Writing has failed, and the error was or will be reported; or the change is of no use there.
    Refused,
}

pub trait Backend: Send {
    /// For messages.
    fn name(&self) -> String;

    /// Whether no answer is known, so that looking up is useless.
    fn is_empty(&self) -> bool;

    /// The longest solving time of a query of this shape in microseconds, if there is one.
    fn cost_us(&self, shape: u64) -> Option<u32>;

    /// Errors end the use of the store.
    fn find(&mut self, shape: u64, key: &Key) -> Result<Found, String>;

    fn put(&mut self, change: Change) -> Put;

    /// Waits until all changes handed over are written, or a bounded time.
    fn flush(&self);

    /// A message about trouble, each returned once.
    fn take_error(&self) -> Option<String>;

    /// Counters beyond those of the layer, by name.
    fn counters(&self) -> Vec<(&'static str, u64)> {
        Vec::new()
    }
}
