//! Search strategies: which state runs next.
mod custom;
mod distance;
mod execution_tree;
mod guided;
mod queue;
mod split_mix;
mod state_table;
mod subtrees;
mod sum_tree;

pub use custom::{Chooser, Custom, OpenState};
pub use subtrees::Subtrees;

use crate::exec::record::coverage::Coverage;
use crate::exec::record::targets::Targets;
use crate::exec::state::State;
use crate::program::Program;
use std::collections::VecDeque;

/// View of the run for a strategy.
pub struct View<'a> {
    pub program: &'a Program,
    pub coverage: &'a Coverage,
    pub targets: &'a Targets,
    /// Instructions executed on all paths.
    pub instructions: u64,
    /// Effort of the solver for all paths.
    pub effort: u64,
}

/// Estimated nanoseconds of an instruction, in the unit of the solver's effort.
const INSTRUCTION_COST: u64 = 25;

impl View<'_> {
    /// Cost of the run so far: instructions and the solver's effort, in estimated nanoseconds. A count, never a clock.
    pub fn cost(&self) -> u64 {
        cost(self.instructions, self.effort)
    }
}

/// Cost of instructions and of the solver's effort.
pub fn cost(instructions: u64, effort: u64) -> u64 {
    instructions * INSTRUCTION_COST + effort
}

/// Most instructions of a turn: about ten milliseconds of concrete code between two limit checks.
const MAX_FUEL: u64 = 1 << 19;

/// Removes and returns the last state that follows seeds.
fn take_seeded(states: &mut VecDeque<Box<State>>) -> Option<Box<State>> {
    let at = states.iter().rposition(|state| !state.seeds.is_empty())?;
    states.remove(at)
}

/// The open states, in the order of a strategy.
pub trait Search: Send {
    /// Adds the state that ran, if it continues, and the states forked from it, in order.
    fn put(&mut self, current: Option<Box<State>>, forked: Vec<Box<State>>, view: &View<'_>);
    /// Adds a state beside all others, of which there must be one.
    fn graft(&mut self, state: Box<State>, view: &View<'_>) {
        let other = self.next(view);
        self.put(other, vec![state], view);
    }
    /// Removes and returns the state to run next.
    fn next(&mut self, view: &View<'_>) -> Option<Box<State>>;
    /// Number of instructions that the state taken last may execute in its turn.
    fn fuel(&self) -> u64 {
        MAX_FUEL
    }
    /// Removes and returns a state that is less useful than most: memory is short.
    fn evict(&mut self, view: &View<'_>) -> Option<Box<State>>;
    /// Removes and returns the state with the fewest forks before it: another worker explores its subtree.
    fn shallowest(&mut self, view: &View<'_>) -> Option<Box<State>>;
    /// Removes and returns the states that `leaves` says.
    fn extract(&mut self, leaves: &dyn Fn(&State) -> bool, view: &View<'_>) -> Vec<Box<State>>;
    /// Removes all states: none will run any more.
    fn drain(&mut self) -> Vec<Box<State>>;
    /// Removes and returns a state that follows seeds, as `next` does.
    fn next_seeded(&mut self) -> Option<Box<State>>;
    fn len(&self) -> usize;
    /// Visits every open state, in any order.
    fn each(&self, visit: &mut dyn FnMut(&State));
    fn each_mut(&mut self, visit: &mut dyn FnMut(&mut State));
}

/// A strategy and its description in one line.
pub struct SearchRow {
    pub name: &'static str,
    pub about: &'static str,
    /// Builds it for a program and a seed.
    build: fn(&Program, u64) -> Box<dyn Search>,
}

/// The default. It gives rare states a share.
pub const MIX: &str = "mix";
/// Depth first. Its order of paths does not depend on models.
pub const DFS: &str = "dfs";

pub const SEARCHES: &[SearchRow] = &[
    SearchRow {
        name: MIX,
        about: "random-path and coverage in turn, each for a batch of work that stays together",
        build: guided::mix,
    },
    SearchRow {
        name: "random-path",
        about: "by chance, either side of every fork as likely: few decisions before many",
        build: guided::random_path,
    },
    SearchRow {
        name: "coverage",
        about: "by chance, likelier the nearer a state is to code that was never entered",
        build: guided::coverage,
    },
    SearchRow {
        name: DFS,
        about: "the youngest state first: one path to its end, then the nearest other",
        build: |_, _| queue::depth_first(),
    },
    SearchRow {
        name: "bfs",
        about: "the oldest state first: all paths by the number of decisions",
        build: |_, _| queue::breadth_first(),
    },
];

impl SearchRow {
    pub fn build(&self, program: &Program, seed: u64) -> Box<dyn Search> {
        (self.build)(program, seed)
    }
}

/// Strategy of this name. The error lists the known ones.
pub fn find(name: &str) -> Result<&'static SearchRow, String> {
    SEARCHES.iter().find(|row| row.name == name).ok_or_else(|| {
        let known: Vec<&str> = SEARCHES.iter().map(|row| row.name).collect();
        format!("expected a search ({}), found `{name}`", known.join(", "))
    })
}
