//! Variations of the environment: a call of the kernel model does the usual, or something else that the real one may do.
//!
//! The usual behaviour is no decision: a path without variations has the same string, constraints and inputs as in a run
//! that varies nothing. Each other behaviour is a forked path, which is rare: the search gives it a share.
//!
//! With `--vary-files late` (the default) variations are a means to cover code, not part of what is explored completely. They
//! begin once the run has cost `LATE_COST`, at a place in the user's code for the first `FIRST_PASSES` paths that pass it and then
//! for one in `LATER_PASSES`; they are counted apart, and end with the last usual path.
use super::Decider;
use super::replay::Next;
use super::search;
use super::strings::Choice;
use crate::exec::options::Vary;
use crate::exec::state::State;
use crate::program::FuncId;
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// Cost of a run (a count) after which `late` varies: 16 million instructions. Programs that are explored completely in a
/// second or two are explored as without it.
const LATE_COST: u64 = 400_000_000;
const FIRST_PASSES: u64 = 16;
const LATER_PASSES: u64 = 16;

/// Number of paths that could vary, by place in the user's code.
pub type Passes = FxHashMap<(FuncId, u32), u64>;

impl Decider {
    /// Number of the behaviour, less than `count`, that the current call has on this path. 0 is the usual one. At the start of
    /// the program all paths are one: other behaviours that are counted apart wait until the run varies.
    pub fn vary(&mut self, state: &mut State, count: u32, is_start: bool) -> u32 {
        if state.variation > 0 {
            return std::mem::take(&mut state.variation);
        }
        let point = self.next_point();
        match self.next_decision(state, point) {
            Next::Live => {}
            Next::OneSided => return 0,
            Next::Decided(choice @ Choice::Target(number)) => {
                state.is_rare = true;
                self.decided(state, point, choice);
                return number;
            }
            Next::Decided(other) => self.diverge(state, &format!("a variation instead of {other:?}")),
        }
        if !self.may_vary(state, is_start) {
            return 0;
        }
        for number in 1..count {
            let mut child = self.fork(state);
            child.variation = number;
            child.is_rare = true;
            // Seeds are inputs of the usual environment.
            child.seeds = Arc::default();
            self.decided(&mut child, point, Choice::Target(number));
            if is_start && self.is_apart(&child) {
                self.waiting.push(child);
            } else {
                self.forked.push(child);
            }
        }
        0
    }

    fn may_vary(&mut self, state: &State, is_start: bool) -> bool {
        let is_last_fork = self.options.max_depth.is_some_and(|limit| state.depth >= limit);
        let is_certified = self.certificate_tree.is_some();
        let can_fork = !is_last_fork && !is_certified && state.may_fork && !state.is_doomed;
        match self.options.vary_files {
            Vary::Off => false,
            Vary::On => {
                if !can_fork {
                    self.incomplete(state, "a variation of the environment was not explored");
                }
                can_fork
            }
            Vary::Late => {
                if !can_fork || !self.varies_late || is_start || !self.is_late() {
                    return can_fork && self.varies_late && is_start;
                }
                let frame = state.user_frame(&self.program);
                let pass = self.varied_passes.entry((frame.func, frame.pc)).or_default();
                *pass += 1;
                *pass <= FIRST_PASSES || pass.is_multiple_of(LATER_PASSES)
            }
        }
    }

    fn is_late(&self) -> bool {
        search::cost(self.recorder.stats.instructions, self.solver.effort()) >= LATE_COST
    }

    /// States that wait until the run varies, if it does.
    pub fn take_waiting(&mut self) -> Vec<Box<State>> {
        if self.waiting.is_empty() || !self.is_late() {
            Vec::new()
        } else {
            std::mem::take(&mut self.waiting)
        }
    }

    /// Drops states that wait: the exploration without them is over.
    pub fn drop_waiting(&mut self) {
        for state in std::mem::take(&mut self.waiting) {
            self.release(state);
        }
    }

    /// Is this path a means to cover code only, which is counted apart?
    pub fn is_apart(&self, state: &State) -> bool {
        state.is_rare && self.options.vary_files == Vary::Late
    }
}
