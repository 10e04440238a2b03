//! One subtree at a time, for a run whose states do not all fit into memory.
//!
//! Once states were parked, as many states as fit are known. While fewer are open, the strategy decides. From there on the state
//! that it picks is explored depth first with all that is forked from it, which needs few states more, and the strategy picks
//! again when the subtree is explored or has run `SHARE` times as many instructions as its root had executed. So states are
//! parked rarely, and those that are have long been worked on: what is executed again is a small part of what was executed.
use super::{MAX_FUEL, Search, View};
use crate::exec::state::State;

/// Instructions of a subtree before the strategy picks again, as a multiple of those that lead to it, and the least number.
const SHARE: u64 = 32;
const MIN_INSTRUCTIONS: u64 = 1 << 16;

pub struct Subtrees {
    strategy: Box<dyn Search>,
    /// The open states of the current subtree: the last one runs next.
    current: Vec<Box<State>>,
    /// Is the running state one of the current subtree?
    is_inside: bool,
    /// Number of instructions at which the strategy picks again.
    until: u64,
    /// Number of open states from which on subtrees are explored one after the other.
    limit: Option<usize>,
}

impl Subtrees {
    pub fn new(strategy: Box<dyn Search>) -> Subtrees {
        Subtrees { strategy, current: Vec::new(), is_inside: false, until: 0, limit: None }
    }

    /// Leaves the choice to the strategy while fewer than this number of states are open.
    pub fn set_limit(&mut self, limit: usize) {
        self.limit = Some(limit.max(1));
    }

    /// No state had to be parked: more may be open.
    pub fn double_limit(&mut self) {
        self.limit = self.limit.map(|limit| limit.saturating_mul(2));
    }

    /// Gives the states of the current subtree to the strategy.
    fn leave(&mut self, view: &View<'_>) {
        self.is_inside = false;
        for state in std::mem::take(&mut self.current) {
            match self.strategy.next(view) {
                None => self.strategy.put(Some(state), Vec::new(), view),
                Some(other) => self.strategy.put(Some(other), vec![state], view),
            }
        }
    }
}

impl Search for Subtrees {
    fn put(&mut self, current: Option<Box<State>>, forked: Vec<Box<State>>, view: &View<'_>) {
        let count = self.len() + forked.len() + usize::from(current.is_some());
        let is_full = self.limit.is_some_and(|limit| count > limit);
        if !self.is_inside && !is_full {
            return self.strategy.put(current, forked, view);
        }
        if !self.is_inside {
            // For the strategy it has ended.
            self.strategy.put(None, Vec::new(), view);
            let executed = current.iter().chain(&forked).map(|state| state.executed).max().unwrap_or(0);
            self.until = view.instructions + MIN_INSTRUCTIONS.max(SHARE.saturating_mul(executed));
        }
        self.current.extend(forked);
        self.current.extend(current);
    }

    fn next(&mut self, view: &View<'_>) -> Option<Box<State>> {
        if view.instructions >= self.until {
            self.leave(view);
        }
        let inside = self.current.pop();
        self.is_inside = inside.is_some();
        inside.or_else(|| self.strategy.next(view))
    }

    fn fuel(&self) -> u64 {
        if self.is_inside { MAX_FUEL } else { self.strategy.fuel() }
    }

    fn evict(&mut self, view: &View<'_>) -> Option<Box<State>> {
        self.strategy.evict(view).or_else(|| (!self.current.is_empty()).then(|| self.current.remove(0)))
    }

    fn shallowest(&mut self, view: &View<'_>) -> Option<Box<State>> {
        // The oldest state of the subtree has the fewest forks of its states.
        self.strategy.shallowest(view).or_else(|| (!self.current.is_empty()).then(|| self.current.remove(0)))
    }

    fn extract(&mut self, leaves: &dyn Fn(&State) -> bool, view: &View<'_>) -> Vec<Box<State>> {
        let (mut gone, left): (Vec<_>, Vec<_>) =
            std::mem::take(&mut self.current).into_iter().partition(|state| leaves(state));
        self.current = left;
        gone.extend(self.strategy.extract(leaves, view));
        gone
    }

    fn drain(&mut self) -> Vec<Box<State>> {
        let mut states = std::mem::take(&mut self.current);
        states.reverse();
        states.extend(self.strategy.drain());
        states
    }

    fn next_seeded(&mut self) -> Option<Box<State>> {
        let inside = self.current.iter().rposition(|state| !state.seeds.is_empty());
        self.is_inside = inside.is_some();
        match inside {
            Some(at) => Some(self.current.remove(at)),
            None => self.strategy.next_seeded(),
        }
    }

    fn len(&self) -> usize {
        self.current.len() + self.strategy.len()
    }

    fn each(&self, visit: &mut dyn FnMut(&State)) {
        self.current.iter().for_each(|state| visit(state));
        self.strategy.each(visit);
    }

    fn each_mut(&mut self, visit: &mut dyn FnMut(&mut State)) {
        self.current.iter_mut().for_each(|state| visit(state));
        self.strategy.each_mut(visit);
    }
}
