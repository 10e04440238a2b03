//! Takes up open paths that have no state: executes them again from their decisions, without a solver.
//!
//! Paths of a subtree are taken up together. The state before the first decision in which two paths differ is kept, so that
//! what they share is executed once. These instructions are counted apart (`Stats::replayed`).
use super::Engine;
use super::decide::open_path::{OpenPath, in_tree_order};
use super::decide::replay::Replay;
use super::decide::strings::Decision;
use super::outcome::Limit;
use super::run::Stop;
use super::state::State;
use crate::query::Status;

/// The run is over, or memory is exceeded.
struct Cut;

impl Engine {
    /// Adds open paths to those that wait to be taken up.
    pub(super) fn add_parked(&mut self, paths: Vec<OpenPath>) {
        self.parked.extend(paths);
        let order = in_tree_order(&self.machine.decider.strings, &self.parked);
        let mut parked: Vec<Option<OpenPath>> =
            std::mem::take(&mut self.parked).into_iter().map(Some).collect();
        self.parked = order.into_iter().filter_map(|at| parked[at].take()).collect();
    }

    /// Takes up some of the paths that wait; no state may be left. Returns false if the exploration is over.
    pub(super) fn take_up(&mut self) -> bool {
        if self.parked.is_empty() && !self.unpark(true) {
            return false;
        }
        if !self.parking.has_parked() {
            self.search.double_limit();
        }
        let count = self.parking.next_batch();
        let batch = self.parked.split_off(self.parked.len().saturating_sub(count));
        let strings: Vec<Vec<Decision>> =
            batch.iter().map(|path| self.machine.decider.strings.decisions(path.string)).collect();
        // Instructions before the first decision in which a path differs from the next one.
        let shared: Vec<u64> =
            strings.windows(2).zip(&batch).map(|(pair, path)| shared_steps(pair, path)).collect();
        let mut kept: Vec<Box<State>> = Vec::new();
        let mut states = Vec::new();
        let mut batch = batch.into_iter().enumerate();
        let mut is_cut = false;
        for (at, path) in batch.by_ref() {
            if at > 0 {
                while kept.last().is_some_and(|state| state.executed > shared[at - 1]) {
                    let gone = kept.pop().expect("just seen");
                    self.drop_copy(gone);
                }
            }
            let start = match kept.last() {
                Some(state) => self.machine.decider.copy(state),
                None => self.machine.start_again(),
            };
            let mut least = u64::MAX;
            let mut stops: Vec<u64> = Vec::new();
            for &step in shared[at.min(shared.len())..].iter().take_while(|step| **step > start.executed) {
                if step < least {
                    stops.push(step);
                    least = step;
                }
            }
            stops.reverse();
            match self.replay(start, &path, &strings[at], &stops, &mut kept) {
                Ok(state) => states.push((state, path)),
                Err(Cut) => {
                    self.parked.push(path);
                    is_cut = true;
                    break;
                }
            }
        }
        self.parked.extend(batch.map(|(_, path)| path));
        while let Some(state) = kept.pop() {
            self.drop_copy(state);
        }
        let has_states = !states.is_empty();
        for (state, path) in states {
            self.open_again(state, path);
        }
        // If memory was short, those that were taken up go on.
        let is_over = self.machine.decider.is_over();
        if is_cut && (is_over || !has_states) {
            let limit = match (self.machine.decider.is_cancelled(), self.machine.decider.is_over()) {
                (true, _) => Limit::Interrupted,
                (false, true) => Limit::Time,
                (false, false) => Limit::Memory,
            };
            self.reach(limit);
            return false;
        }
        self.check_memory();
        self.paused.is_none()
    }

    /// Executes a path again up to its end, or up to its last instruction if that was cut in the middle. Copies of the
    /// state after `stops` instructions go to `kept`.
    fn replay(
        &mut self,
        mut state: Box<State>,
        path: &OpenPath,
        decisions: &[Decision],
        stops: &[u64],
        kept: &mut Vec<Box<State>>,
    ) -> Result<Box<State>, Cut> {
        let decider = &mut self.machine.decider;
        let done = decisions.partition_point(|decision| decision.step < state.executed);
        decider.replay =
            Some(Replay { left: decisions[done..].iter().copied().collect(), until: path.executed });
        decider.install_model(&state, &path.model);
        let before = self.stats().instructions;
        let end = decisions.last().map_or(path.executed, |last| last.step.max(path.executed));
        let mut result = Ok(());
        for &stop in stops {
            result = result.and_then(|()| self.run_until(&mut state, stop));
            if result.is_ok() {
                kept.push(self.machine.decider.copy(&state));
            }
        }
        result = result.and_then(|()| self.run_until(&mut state, end));
        let stats = &mut self.recorder_mut().stats;
        stats.replayed += stats.instructions - before;
        stats.instructions = before;
        if result.is_err() {
            self.machine.decider.replay = None;
            self.drop_copy(state);
            return Err(Cut);
        }
        let left = self.machine.decider.replay.as_ref().and_then(|replay| replay.left.front());
        if left.is_some_and(|next| next.step < end) {
            self.machine.decider.diverge(&state, "no decision");
        }
        if state.executed == path.executed && state.course() != path.course {
            self.machine.decider.diverge(&state, "other edges on the way");
        }
        self.machine.decider.replay = None;
        Ok(state)
    }

    fn run_until(&mut self, state: &mut State, step: u64) -> Result<(), Cut> {
        while state.executed < step {
            let stop = self.run_unless_overdue(state, step - state.executed);
            if self.machine.decider.is_over() || self.machine.decider.is_cancelled() {
                return Err(Cut);
            }
            match stop {
                // Memory may be short: this path is needed, others are parked first.
                Some(Stop::Fuel | Stop::Forked) => {}
                Some(Stop::End(_)) if self.machine.decider.is_short_of_memory() => return Err(Cut),
                Some(Stop::End(outcome)) => self
                    .machine
                    .decider
                    .diverge(state, &format!("the end of the path ({})", outcome.ending())),
                None => return Err(Cut),
            }
        }
        Ok(())
    }

    fn drop_copy(&mut self, state: Box<State>) {
        self.machine.decider.drop_copy(state);
    }

    /// Gives the state of a path that was executed again to the search.
    fn open_again(&mut self, mut state: Box<State>, path: OpenPath) {
        let decider = &mut self.machine.decider;
        decider.recorder.stats.states += 1;
        state.id = decider.recorder.stats.states;
        state.fork_leaf = decider.recorder.forks.graft();
        state.depth = path.depth;
        let cut = decider.strings.newest(path.string).copied().filter(|last| last.step == state.executed);
        let Some(last) = cut else {
            decider.replace_string(&mut state, path.string);
            return self.put_among(Some(state), Vec::new());
        };
        // The last instruction was cut in the middle. It decides what is recorded, and then goes on.
        let all = decider.strings.decisions(path.string);
        let left = all.into_iter().filter(|decision| decision.step == last.step).collect();
        decider.install_model(&state, &path.model);
        decider.replay = Some(Replay { left, until: last.step });
        let stop = self.run_turn(&mut state, 1);
        self.machine.decider.replay = None;
        self.machine.decider.strings.release(path.string);
        match stop {
            Some(Stop::Fuel | Stop::Forked) => {
                let forked = self.decider().take_forked();
                self.put_among(Some(state), forked);
            }
            Some(Stop::End(outcome)) => {
                self.decider().end_path(state, outcome);
                let forked = self.decider().take_forked();
                self.put_among(None, forked);
            }
            None => {
                self.keeps_checkpoints = false;
                self.ended.extend(self.machine.decider.take_forked());
                self.ended.push(state);
            }
        }
    }

    /// Adds states that no running state was forked into.
    fn put_among(&mut self, current: Option<Box<State>>, forked: Vec<Box<State>>) {
        for state in current.into_iter().chain(forked) {
            let (search, view) = self.search();
            match search.next(&view) {
                None => search.put(Some(state), Vec::new(), &view),
                Some(other) => search.put(Some(other), vec![state], &view),
            }
        }
    }
}

/// Number of instructions that two paths, one after the other in the tree, have in common.
fn shared_steps(pair: &[Vec<Decision>], path: &OpenPath) -> u64 {
    let same = pair[0].iter().zip(&pair[1]).take_while(|(a, b)| a == b).count();
    let next = |decisions: &[Decision]| decisions.get(same).map_or(path.executed, |decision| decision.step);
    next(&pair[0]).min(next(&pair[1]))
}

impl super::decide::Decider {
    /// Copy of a state, on the same path.
    fn copy(&mut self, state: &State) -> Box<State> {
        self.solver.tree.retain(state.path);
        self.strings.retain(state.string);
        Box::new(state.clone())
    }

    /// Drops a copy that never was in the fork tree.
    fn drop_copy(&mut self, state: Box<State>) {
        self.solver.tree.release(state.path);
        self.strings.release(state.string);
    }

    fn replace_string(&mut self, state: &mut State, string: u32) {
        self.strings.release(state.string);
        state.string = string;
    }

    /// Gives the state's path this model, which must satisfy it.
    fn install_model(&mut self, state: &State, model: &crate::expr::Model) {
        let constraints = self.solver.tree.constraints(state.path);
        let mut session = self.solver.evaluator.under(&self.solver.graph, model);
        if !constraints.iter().all(|constraint| session.truth(*constraint)) {
            self.diverge(state, "inputs that do not take the path");
        }
        self.solver.tree.set_status(state.path, Status::Feasible(model.clone()));
    }
}
