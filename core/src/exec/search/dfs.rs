//! Depth first: a stack. The state that ran goes on; its children wait above everything older.
use super::Search;
use crate::exec::state::State;

struct Dfs(Vec<Box<State>>);

pub(super) fn new() -> Box<dyn Search> {
    Box::new(Dfs(Vec::new()))
}

impl Search for Dfs {
    fn put(&mut self, current: Option<Box<State>>, born: Vec<Box<State>>) {
        self.0.extend(born);
        self.0.extend(current);
    }

    fn next(&mut self) -> Option<Box<State>> {
        self.0.pop()
    }

    fn len(&self) -> usize {
        self.0.len()
    }

    fn each(&self, visit: &mut dyn FnMut(&State)) {
        self.0.iter().for_each(|state| visit(state));
    }
}
