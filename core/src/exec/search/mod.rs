//! Which state runs next. One file per strategy, listed by name.
mod bfs;
mod dfs;

use super::state::State;

/// The states that are open.
pub(super) trait Search: Send {
    /// `current` ran and goes on; `born` came from it, in order.
    fn put(&mut self, current: Option<Box<State>>, born: Vec<Box<State>>);
    /// The state to run next, out of the set.
    fn next(&mut self) -> Option<Box<State>>;
    fn len(&self) -> usize;
    /// Every open state, in any order.
    fn each(&self, visit: &mut dyn FnMut(&State));
}

/// A strategy and what it does, in a line.
pub struct SearchRow {
    pub name: &'static str,
    pub about: &'static str,
    build: fn() -> Box<dyn Search>,
}

pub const SEARCHES: &[SearchRow] = &[
    SearchRow {
        name: "dfs",
        about: "the youngest state first: one path to its end, then the nearest other",
        build: dfs::new,
    },
    SearchRow {
        name: "bfs",
        about: "the oldest state first: all paths by the number of decisions",
        build: bfs::new,
    },
];

/// The strategy of that name.
pub(super) fn build(name: &str) -> Option<Box<dyn Search>> {
    SEARCHES.iter().find(|row| row.name == name).map(|row| (row.build)())
}
