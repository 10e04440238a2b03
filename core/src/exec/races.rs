//! Rounds of exploring with `--preempt`: a round in which racing instructions are found that were not known is followed by
//! one in which threads switch at these too. The last round found no new ones, so its schedules are all there are within
//! the limit. Only its paths are counted.
use super::Engine;
use super::state::State;

impl Engine {
    /// Keeps the first state, if there may be several rounds. Returns the state of the first round.
    pub(super) fn keep_first(&mut self, mut first: Box<State>) -> Box<State> {
        if self.machine.options().preempt.is_none() {
            return first;
        }
        let copy = self.decider().fork_first(&mut first);
        self.first = Some(first);
        copy
    }

    /// Begins the next round. Returns false if there is none.
    pub(super) fn explore_races(&mut self) -> bool {
        if !self.machine.switch_at_races() {
            return false;
        }
        let Some(mut first) = self.first.take() else { return false };
        let copy = self.decider().fork_first(&mut first);
        self.first = Some(first);
        self.recorder_mut().stats.completed = 0;
        let (search, view) = self.search();
        search.put(Some(copy), Vec::new(), &view);
        true
    }
}
