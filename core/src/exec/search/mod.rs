//! Which state runs next: strategies, listed by name.
mod bfs;
mod custom;
mod dfs;
mod distance;
mod guided;
mod pool;
mod random;
mod sums;
mod tree;

pub(super) use custom::Custom;
pub use custom::{Chooser, OpenState};

use super::coverage::Coverage;
use super::state::State;
use crate::program::Program;

/// What a strategy may look at.
pub(super) struct View<'a> {
    pub program: &'a Program,
    pub coverage: &'a Coverage,
    /// Executed so far, on all paths.
    pub instructions: u64,
}

/// The states that are open.
pub(super) trait Search: Send {
    /// `current` ran and goes on; `born` came from it, in order.
    fn put(&mut self, current: Option<Box<State>>, born: Vec<Box<State>>, view: &View<'_>);
    /// The state to run next, out of the set.
    fn next(&mut self, view: &View<'_>) -> Option<Box<State>>;
    /// A state that will be missed less than most, out of the set: memory is short.
    fn shed(&mut self, view: &View<'_>) -> Option<Box<State>>;
    /// All of them: none will run any more.
    fn drain(&mut self) -> Vec<Box<State>>;
    fn len(&self) -> usize;
    /// Every open state, in any order.
    fn each(&self, visit: &mut dyn FnMut(&State));
}

/// A strategy and what it does, in a line.
pub struct SearchRow {
    pub name: &'static str,
    pub about: &'static str,
    /// For a program, with a seed.
    build: fn(&Program, u64) -> Box<dyn Search>,
}

pub const SEARCHES: &[SearchRow] = &[
    SearchRow {
        name: "mix",
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
        name: "dfs",
        about: "the youngest state first: one path to its end, then the nearest other",
        build: |_, _| dfs::new(),
    },
    SearchRow {
        name: "bfs",
        about: "the oldest state first: all paths by the number of decisions",
        build: |_, _| bfs::new(),
    },
];

/// The strategy of that name.
pub(super) fn build(name: &str, program: &Program, seed: u64) -> Option<Box<dyn Search>> {
    SEARCHES.iter().find(|row| row.name == name).map(|row| (row.build)(program, seed))
}
