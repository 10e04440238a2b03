//! Keeps the memory of the process below `max_memory`, and its address space below the system's limit (`ulimit -v`).
//!
//! Memory is measured every few turns, and by the watchdog while a turn runs. Near the limit the layers drop what they can
//! compute again and the graph is collected. If that is not enough, half of the open states are parked at a time (`parking.rs`). Where
//! they cannot be, an eighth is given up, each ending as a path cut by the limit with its test. The run stops only when at most one is left. Each round frees at least a
//! tenth of the limit, so that the cost of a collection is paid back.
use super::Engine;
use super::decide::search::Search;
use crate::exec::outcome::{Limit, Outcome};
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Turns between two measurements, and the number of instructions that counts as one turn.
const TURNS_PER_CHECK: u64 = 64;
const INSTRUCTIONS_PER_TURN: u64 = 1 << 14;
/// Shares of the limit, in thousandths: memory is freed above the first, until less than the second is in use.
const SHORT: u64 = 950;
const ENOUGH: u64 = 850;
const FULL: u64 = 1000;
/// Share at which what runs is unwound and the run ends: it allocates without looking at the flag.
const EXCEEDED: u64 = 1040;

#[derive(Default)]
pub(super) struct MemoryCheck {
    turns: u64,
    instructions: u64,
}

/// Measures the memory of the process against its limits.
#[derive(Clone)]
pub(super) struct MemoryMeter {
    statm: Arc<File>,
    /// `u64::MAX` if there is none.
    max_resident: Arc<AtomicU64>,
    max_address_space: Option<u64>,
    /// Share of a limit from which memory is short, in thousandths.
    short: Arc<AtomicU64>,
}

/// How near to its limits the memory in use is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Pressure {
    None,
    Short,
    Exceeded,
}

/// Memory in use.
#[derive(Clone, Copy)]
struct Usage {
    resident: u64,
    /// The larger of the shares of the two limits, in thousandths.
    share: u64,
}

impl MemoryMeter {
    /// `None` if the system does not tell.
    pub fn new(max_resident: Option<u64>) -> Option<MemoryMeter> {
        let statm = Arc::new(File::open("/proc/self/statm").ok()?);
        let short = Arc::new(AtomicU64::new(SHORT));
        let max_resident = Arc::new(AtomicU64::new(max_resident.unwrap_or(u64::MAX)));
        Some(MemoryMeter { statm, max_resident, max_address_space: address_space_limit(), short })
    }

    fn usage(&self) -> Option<Usage> {
        let mut text = [0; 128];
        let length = self.statm.read_at(&mut text, 0).ok()?;
        let mut pages = std::str::from_utf8(&text[..length]).ok()?.split(' ');
        let mut bytes = || Some(pages.next()?.parse::<u64>().ok()? * PAGE);
        let (address_space, resident) = (bytes()?, bytes()?);
        let share =
            |used: u64, limit: Option<u64>| limit.map_or(0, |limit| used.saturating_mul(FULL) / limit.max(1));
        let max_resident = Some(self.max_resident.load(Ordering::Relaxed));
        let share = share(resident, max_resident).max(share(address_space, self.max_address_space));
        Some(Usage { resident, share })
    }

    pub fn pressure(&self) -> Pressure {
        match self.usage() {
            Some(usage) if usage.share > EXCEEDED => Pressure::Exceeded,
            Some(usage) if usage.share > self.short.load(Ordering::Relaxed) => Pressure::Short,
            _ => Pressure::None,
        }
    }
}

/// The system's limit of the process's address space, if it has one.
fn address_space_limit() -> Option<u64> {
    let limits = std::fs::read_to_string("/proc/self/limits").ok()?;
    let row = limits.lines().find(|line| line.starts_with("Max address space"))?;
    row.split_whitespace().nth(3)?.parse().ok()
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

/// Page size of ordinary memory on x86-64.
const PAGE: u64 = 4096;

impl Engine {
    /// Sets the limit of memory: workers share one, and one that needs more gets it if the others have no use for it.
    pub fn set_max_memory(&mut self, bytes: u64) {
        if let Some(meter) = &self.memory_meter {
            meter.max_resident.store(bytes, Ordering::Relaxed);
            meter.short.store(SHORT, Ordering::Relaxed);
        }
    }

    /// Checks the memory limit after a turn, if it is time to or the watchdog says so.
    pub(super) fn check_memory(&mut self) {
        self.memory_check.turns += 1;
        let ran = self.stats().instructions - self.memory_check.instructions;
        let is_short = self.machine.decider.is_short_of_memory();
        if !is_short && self.memory_check.turns + ran / INSTRUCTIONS_PER_TURN < TURNS_PER_CHECK {
            return;
        }
        (self.memory_check.turns, self.memory_check.instructions) = (0, self.stats().instructions);
        let Some(usage) = self.measure_memory() else { return };
        if is_short || usage.share > SHORT {
            self.free_memory();
        }
    }

    /// Measures the memory in use.
    fn measure_memory(&mut self) -> Option<Usage> {
        let usage = self.memory_meter.as_ref()?.usage()?;
        let stats = &mut self.recorder_mut().stats;
        stats.memory = usage.resident;
        stats.peak_memory = stats.peak_memory.max(usage.resident);
        Some(usage)
    }

    /// Updates the statistics of memory.
    pub(super) fn note_memory(&mut self) {
        self.measure_memory();
    }

    /// Frees memory: first what can be computed again, then by parking states or giving them up, finally by ending the run.
    fn free_memory(&mut self) {
        self.decider().forget_expressions();
        self.solver_mut().forget();
        // Until memory is freed, queries of the states that are given up would be refused.
        self.decider().clear_memory_flag();
        loop {
            // Collecting takes too long for a run that is over.
            if self.machine.decider.is_over() {
                return;
            }
            self.collect();
            (self.machine.options().release_memory)();
            trim_heap();
            let Some(usage) = self.measure_memory() else { return };
            let open = self.search.len();
            if usage.share > FULL && open <= 1 {
                self.reach(Limit::Memory);
            }
            if usage.share <= ENOUGH || open <= 1 {
                // A single state that needs nearly all memory goes on until it needs all of it.
                let short = if usage.share <= ENOUGH { SHORT } else { FULL };
                if let Some(meter) = &self.memory_meter {
                    meter.short.store(short, Ordering::Relaxed);
                }
                self.decider().clear_memory_flag();
                return;
            }
            if self.can_park() {
                self.park_states();
                continue;
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
