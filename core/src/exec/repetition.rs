//! Loops that never end: a state that continues exactly as an earlier version of itself did.
//!
//! After a turn that used all its instructions a state may be in such a loop. Each time its number of instructions has
//! doubled, it runs instruction by instruction for a while and is compared with what it was at the beginning
//! (`State::repeats`). So a short loop is found in its first turn or the next, and the cost is a few per cent at most.
use super::Engine;
use super::outcome::{Class, Outcome};
use super::run::Stop;
use super::state::State;

/// Instructions that a state is followed: a share of those it has executed, within bounds.
const SHARE: u64 = 1024;
const MIN_WINDOW: u64 = 1 << 13;
const MAX_WINDOW: u64 = 1 << 20;

impl Engine {
    /// Runs a state for a turn. Ends it if it provably repeats itself.
    pub(super) fn run_turn(&mut self, state: &mut State, fuel: u64) -> Option<Stop> {
        let before = state.executed;
        let stop = self.run_unless_overdue(state, fuel);
        // Hooks may keep data of their own.
        let is_checked = self.machine.options().checks.non_termination && !self.machine.has_hooks();
        let has_doubled = state.executed.checked_ilog2() > before.checked_ilog2();
        match stop {
            Some(Stop::Fuel) if is_checked && has_doubled => self.follow(state),
            stop => stop,
        }
    }

    /// Compares a state with itself while it runs for a while.
    fn follow(&mut self, state: &mut State) -> Option<Stop> {
        let mut window = (state.executed / SHARE).clamp(MIN_WINDOW, MAX_WINDOW);
        if let Some(limit) = self.max_instructions {
            window = window.min(limit.saturating_sub(self.stats().instructions));
        }
        let first = state.clone();
        let place = |state: &State| (state.frame.stack_bytes, state.frame.pc);
        // The loop is reported at its first instruction in the outermost function that it is in.
        let mut outermost = place(state);
        for length in 1..=window {
            match self.run_unless_overdue(state, 1) {
                Some(Stop::Fuel) => {}
                stop => return stop,
            }
            outermost = outermost.min(place(state));
            if state.frame.pc != first.frame.pc || !state.repeats(&first) {
                continue;
            }
            while place(state) != outermost {
                match self.run_unless_overdue(state, 1) {
                    Some(Stop::Fuel) => {}
                    stop => return stop,
                }
            }
            let message =
                format!("this loop never ends: its state is the same again after {length} instructions");
            return Some(Stop::End(Outcome::bug(Class::NonTermination, message)));
        }
        Some(Stop::Fuel)
    }
}
