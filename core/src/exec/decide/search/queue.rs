//! Depth first and breadth first: open states in the order in which they were forked.
//!
//! Depth first the state that ran continues, and its children are above everything older. Breadth first a state that
//! forked, or whose turn is over, waits behind all others, so that an endless loop does not block other paths.
use super::{Search, View};
use crate::exec::state::State;
use std::collections::VecDeque;

struct Queue {
    /// The state that runs next is the last one depth first, the first one breadth first.
    states: VecDeque<Box<State>>,
    is_depth_first: bool,
}

pub(super) fn depth_first() -> Box<dyn Search> {
    Box::new(Queue { states: VecDeque::new(), is_depth_first: true })
}

pub(super) fn breadth_first() -> Box<dyn Search> {
    Box::new(Queue { states: VecDeque::new(), is_depth_first: false })
}

impl Search for Queue {
    fn put(&mut self, current: Option<Box<State>>, forked: Vec<Box<State>>, _: &View<'_>) {
        if self.is_depth_first {
            self.states.extend(forked);
            self.states.extend(current);
        } else {
            self.states.extend(current);
            self.states.extend(forked);
        }
    }

    fn next(&mut self, _: &View<'_>) -> Option<Box<State>> {
        if self.is_depth_first { self.states.pop_back() } else { self.states.pop_front() }
    }

    /// The state that would run last.
    fn evict(&mut self, _: &View<'_>) -> Option<Box<State>> {
        if self.is_depth_first { self.states.pop_front() } else { self.states.pop_back() }
    }

    fn shallowest(&mut self, _: &View<'_>) -> Option<Box<State>> {
        let (at, _) = self.states.iter().enumerate().min_by_key(|(_, state)| state.depth)?;
        self.states.remove(at)
    }

    fn extract(&mut self, leaves: &dyn Fn(&State) -> bool, _: &View<'_>) -> Vec<Box<State>> {
        let (gone, left) = std::mem::take(&mut self.states).into_iter().partition(|state| leaves(state));
        self.states = left;
        Vec::from(gone)
    }

    fn drain(&mut self) -> Vec<Box<State>> {
        let mut states = Vec::from(std::mem::take(&mut self.states));
        if self.is_depth_first {
            states.reverse();
        }
        states
    }

    fn next_seeded(&mut self) -> Option<Box<State>> {
        super::take_seeded(&mut self.states)
    }

    fn len(&self) -> usize {
        self.states.len()
    }

    fn each(&self, visit: &mut dyn FnMut(&State)) {
        self.states.iter().for_each(|state| visit(state));
    }

    fn each_mut(&mut self, visit: &mut dyn FnMut(&mut State)) {
        self.states.iter_mut().for_each(|state| visit(state));
    }
}
