//! A strategy of the user: code outside of the core chooses the open state that runs next.
use super::distance::{Distances, UNREACHABLE};
use super::{Search, View};
use crate::exec::outcome::Place;
use crate::exec::record::place_at;
use crate::exec::state::State;
use crate::program::Program;
use std::collections::BTreeMap;

/// View of an open state for a strategy.
#[derive(Clone, Debug)]
pub struct OpenState {
    /// Number in order of creation; the first state is 0.
    pub number: u64,
    /// State that this one was forked from.
    pub parent: Option<u64>,
    /// Number of decisions with more than one feasible side.
    pub depth: u32,
    /// Place of its next instruction.
    pub place: Place,
    /// Number of frames on its stack.
    pub frames: usize,
    /// Least number of instructions to code that was never entered; `None` if it cannot be reached.
    pub distance: Option<u32>,
}

/// Chooses the state that runs next.
pub trait Chooser: Send {
    /// Adds an open state: it was forked, or it ran and was paused.
    fn add(&mut self, state: OpenState);
    /// Removes and returns the number of the state to run next. `None` ends the run.
    fn choose(&mut self) -> Option<u64>;
    /// Removes a state that was given up.
    fn remove(&mut self, number: u64);
}

pub struct Custom {
    chooser: Box<dyn Chooser>,
    distances: Distances,
    /// States by number, with their parents.
    states: BTreeMap<u64, (Box<State>, Option<u64>)>,
    /// The running state, and its parent.
    running: Option<(u64, Option<u64>)>,
}

impl Custom {
    pub fn new(chooser: Box<dyn Chooser>, program: &Program) -> Custom {
        let distances = Distances::new(program);
        Custom { chooser, distances, states: BTreeMap::new(), running: None }
    }

    fn add(&mut self, state: Box<State>, parent: Option<u64>, view: &View<'_>) {
        let frame = &state.frame;
        let function = &view.program.functions[frame.func.index()];
        // A state forked at a branch has not taken its edge yet.
        let at = match state.edge {
            Some(edge) => function.blocks[function.edges[edge as usize].to.index()].start,
            None => frame.pc,
        };
        let distance = self.distances.of(view.program, &state);
        self.chooser.add(OpenState {
            number: state.id,
            parent,
            depth: state.depth,
            place: place_at(view.program, frame.func, at),
            frames: frame.frames().count(),
            distance: (distance != UNREACHABLE).then_some(distance),
        });
        self.states.insert(state.id, (state, parent));
    }
}

impl Search for Custom {
    fn put(&mut self, current: Option<Box<State>>, forked: Vec<Box<State>>, view: &View<'_>) {
        self.distances.refresh(view);
        let ran = self.running.take();
        for child in forked {
            self.add(child, ran.map(|(number, _)| number), view);
        }
        if let Some(state) = current {
            self.add(state, ran.and_then(|(_, parent)| parent), view);
        }
    }

    /// An invalid choice ends the run through the chooser's own error; until then states run in order.
    fn next(&mut self, _: &View<'_>) -> Option<Box<State>> {
        let first = *self.states.first_key_value()?.0;
        let number = self.chooser.choose().filter(|number| self.states.contains_key(number)).unwrap_or(first);
        let (state, parent) = self.states.remove(&number).expect("an open state");
        self.running = Some((number, parent));
        Some(state)
    }

    /// The newest state: it has executed least on its own.
    fn evict(&mut self, _: &View<'_>) -> Option<Box<State>> {
        let (number, (state, _)) = self.states.pop_last()?;
        self.chooser.remove(number);
        Some(state)
    }

    fn shallowest(&mut self, _: &View<'_>) -> Option<Box<State>> {
        let number = *self.states.iter().min_by_key(|(_, (state, _))| state.depth)?.0;
        self.chooser.remove(number);
        self.states.remove(&number).map(|(state, _)| state)
    }

    fn extract(&mut self, leaves: &dyn Fn(&State) -> bool, _: &View<'_>) -> Vec<Box<State>> {
        let gone = self.states.iter().filter(|(_, (state, _))| leaves(state)).map(|(number, _)| *number);
        let gone: Vec<u64> = gone.collect();
        gone.iter().for_each(|number| self.chooser.remove(*number));
        gone.iter().filter_map(|number| self.states.remove(number)).map(|(state, _)| state).collect()
    }

    fn drain(&mut self) -> Vec<Box<State>> {
        std::mem::take(&mut self.states).into_values().map(|(state, _)| state).collect()
    }

    /// The strategy is told that the state has gone, and of what becomes of it.
    fn next_seeded(&mut self) -> Option<Box<State>> {
        let number = *self.states.iter().rev().find(|(_, (state, _))| !state.seeds.is_empty())?.0;
        let (state, parent) = self.states.remove(&number).expect("an open state");
        self.chooser.remove(number);
        self.running = Some((number, parent));
        Some(state)
    }

    fn len(&self) -> usize {
        self.states.len()
    }

    fn each(&self, visit: &mut dyn FnMut(&State)) {
        self.states.values().for_each(|(state, _)| visit(state));
    }

    fn each_mut(&mut self, visit: &mut dyn FnMut(&mut State)) {
        self.states.values_mut().for_each(|(state, _)| visit(state));
    }
}
