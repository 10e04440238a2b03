//! Threads: where they switch, what orders their accesses, and which accesses race (docs/threads.md).
//!
//! Threads switch before synchronising operations only: calls into the C library's code for threads, atomic accesses,
//! the end of the process. The library's own code is not interrupted; a thread that has to wait there lets others run. If
//! no two accesses race, every schedule is equivalent to an explored one. With `--preempt`, threads switch at racing
//! accesses too.
mod operations;
mod race;
mod schedule;

pub(super) use operations::{CLONE, Synchronisation};
pub(super) use schedule::FIRST_NUMBER;
