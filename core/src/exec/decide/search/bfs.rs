//! Breadth first: a queue. A state that forked, or whose turn is over, waits behind all others, so that an
//! endless loop does not block other paths.
use super::{Search, View};
use crate::exec::state::State;
use std::collections::VecDeque;

struct Bfs(VecDeque<Box<State>>);

pub(super) fn new() -> Box<dyn Search> {
    Box::new(Bfs(VecDeque::new()))
}

impl Search for Bfs {
    fn put(&mut self, current: Option<Box<State>>, forked: Vec<Box<State>>, _: &View<'_>) {
        self.0.extend(current);
        self.0.extend(forked);
    }

    fn next(&mut self, _: &View<'_>) -> Option<Box<State>> {
        self.0.pop_front()
    }

    /// The state that would run last.
    fn evict(&mut self, _: &View<'_>) -> Option<Box<State>> {
        self.0.pop_back()
    }

    fn drain(&mut self) -> Vec<Box<State>> {
        self.0.drain(..).collect()
    }

    fn next_seeded(&mut self) -> Option<Box<State>> {
        super::take_seeded(&mut self.0)
    }

    fn len(&self) -> usize {
        self.0.len()
    }

    fn each(&self, visit: &mut dyn FnMut(&State)) {
        self.0.iter().for_each(|state| visit(state));
    }

    fn each_mut(&mut self, visit: &mut dyn FnMut(&mut State)) {
        self.0.iter_mut().for_each(|state| visit(state));
    }
}
