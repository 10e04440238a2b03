//! The memory of the process, held below `max_memory`.
//!
//! Looked at every few turns. Near the limit the solver forgets what it can compute again and the graph is collected. If
//! that is not enough, states are given up, an eighth at a time, each ending as a path cut by the limit with its test;
//! the run stops only when hardly any is left. Each relief makes room for a tenth of the limit or more, so that its cost,
//! which is that of a collection, is paid back.
use super::Engine;
use super::outcome::{Limit, Outcome};

/// Turns between two looks; so many instructions count as one.
const TURNS: u64 = 64;
const INSTRUCTIONS: u64 = 1 << 14;

#[derive(Default)]
pub(super) struct Load {
    turns: u64,
    instructions: u64,
}

/// What the C library has kept: solvers that are not ours take their memory from it.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
fn give_back() {
    unsafe extern "C" {
        fn malloc_trim(pad: usize) -> i32;
    }
    // SAFETY: glibc's, callable at any time from any thread.
    unsafe { malloc_trim(0) };
}

#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
fn give_back() {}

/// Bytes the process has in memory, where the system says so.
fn resident() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/self/statm").ok()?;
    let pages: u64 = text.split(' ').nth(1)?.parse().ok()?;
    Some(pages * PAGE)
}

/// x86-64 has no other for ordinary memory.
const PAGE: u64 = 4096;

impl Engine {
    /// A turn is over.
    pub(super) fn mind_memory(&mut self) {
        self.load.turns += 1;
        let ran = self.stats.instructions - self.load.instructions;
        if self.load.turns + ran / INSTRUCTIONS < TURNS {
            return;
        }
        (self.load.turns, self.load.instructions) = (0, self.stats.instructions);
        let Some(now) = self.look_at_memory() else { return };
        if self.options.max_memory.is_some_and(|limit| now > limit - limit / 20) {
            self.relieve();
        }
    }

    /// Bytes in memory now.
    pub(super) fn look_at_memory(&mut self) -> Option<u64> {
        let now = resident()?;
        self.stats.memory = now;
        self.stats.peak_memory = self.stats.peak_memory.max(now);
        Some(now)
    }

    /// Makes room: first without loss, then by giving up states, at last by ending the run.
    fn relieve(&mut self) {
        let Some(limit) = self.options.max_memory else { return };
        self.solver.forget();
        loop {
            self.collect();
            (self.options.release_memory)();
            give_back();
            let Some(now) = self.look_at_memory() else { return };
            if now <= limit - limit * 3 / 20 {
                return;
            }
            let open = self.search.len();
            if open <= 1 {
                if now > limit {
                    self.stop(Limit::Memory);
                }
                return;
            }
            for _ in 0..(open / 8).max(1) {
                let (search, view) = self.search();
                let Some(state) = search.shed(&view) else { break };
                let message = "given up: max-memory was reached".to_string();
                self.finish(state, Outcome::Limit { limit: Limit::Memory, message });
            }
        }
    }
}
