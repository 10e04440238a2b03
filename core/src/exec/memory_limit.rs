//! Keeps the memory of the process below `max_memory`.
//!
//! Memory is measured every few turns. Near the limit the layers drop what they can compute again and the
//! graph is collected. If that is not enough, an eighth of the open states is given up at a time, each ending
//! as a path cut by the limit with its test; the run stops only when at most one is left. Each round frees at
//! least a tenth of the limit, so that the cost of a collection is paid back.
use super::Engine;
use crate::exec::outcome::{Limit, Outcome};

/// Turns between two measurements, and the number of instructions that counts as one turn.
const TURNS_PER_CHECK: u64 = 64;
const INSTRUCTIONS_PER_TURN: u64 = 1 << 14;

#[derive(Default)]
pub(super) struct MemoryCheck {
    turns: u64,
    instructions: u64,
}

/// Returns free heap memory of the C library to the system: foreign solvers allocate there.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
fn trim_heap() {
    unsafe extern "C" {
        fn malloc_trim(pad: usize) -> i32;
    }
    // SAFETY: glibc's, callable at any time from any thread.
    unsafe { malloc_trim(0) };
}

#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
fn trim_heap() {}

/// Resident bytes of the process, if the system reports them.
fn resident() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/self/statm").ok()?;
    let pages: u64 = text.split(' ').nth(1)?.parse().ok()?;
    Some(pages * PAGE)
}

/// Page size of ordinary memory on x86-64.
const PAGE: u64 = 4096;

impl Engine {
    /// Checks the memory limit after a turn, if it is time to.
    pub(super) fn check_memory(&mut self) {
        self.memory_check.turns += 1;
        let ran = self.stats().instructions - self.memory_check.instructions;
        if self.memory_check.turns + ran / INSTRUCTIONS_PER_TURN < TURNS_PER_CHECK {
            return;
        }
        (self.memory_check.turns, self.memory_check.instructions) = (0, self.stats().instructions);
        let Some(now) = self.measure_memory() else { return };
        if self.machine.options().max_memory.is_some_and(|limit| now > limit - limit / 20) {
            self.free_memory();
        }
    }

    /// Measures the resident bytes.
    pub(super) fn measure_memory(&mut self) -> Option<u64> {
        let now = resident()?;
        let stats = &mut self.recorder_mut().stats;
        stats.memory = now;
        stats.peak_memory = stats.peak_memory.max(now);
        Some(now)
    }

    /// Frees memory: first without loss, then by giving up states, finally by ending the run.
    fn free_memory(&mut self) {
        let Some(limit) = self.machine.options().max_memory else { return };
        self.solver_mut().forget();
        loop {
            self.collect();
            (self.machine.options().release_memory)();
            trim_heap();
            let Some(now) = self.measure_memory() else { return };
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
                let Some(state) = search.evict(&view) else { break };
                let message = "given up: max-memory was reached".to_string();
                self.decider().end_path(state, Outcome::Limit { limit: Limit::Memory, message });
            }
        }
    }
}
