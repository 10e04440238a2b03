//! A strategy of the user's: somebody outside of the core says which of the open states runs next.
use super::distance::{Distances, FAR};
use super::{Search, View};
use crate::exec::finish::place_at;
use crate::exec::outcome::Place;
use crate::exec::state::State;
use crate::program::Program;
use std::collections::BTreeMap;

/// What a strategy knows of a state that waits.
#[derive(Clone, Debug)]
pub struct OpenState {
    /// Given in order of birth; the first state is 0.
    pub number: u64,
    /// The state that ran when this one was born.
    pub parent: Option<u64>,
    /// Decisions with more than one feasible side so far.
    pub depth: u32,
    /// Where it goes on.
    pub place: Place,
    /// How many functions are under way.
    pub frames: usize,
    /// Instructions to code that was never entered, at least; `None`: no way leads there.
    pub distance: Option<u32>,
}

/// Says which state runs next.
pub trait Chooser: Send {
    /// A state waits: it was born, or it ran and goes on from elsewhere.
    fn add(&mut self, state: OpenState);
    /// The number of the state to run next, which waits no more. `None`: there is no answer, and the run is to end.
    fn choose(&mut self) -> Option<u64>;
    /// A state that waited was given up.
    fn remove(&mut self, number: u64);
}

pub(in crate::exec) struct Custom {
    chooser: Box<dyn Chooser>,
    distances: Distances,
    /// In order of their numbers, with their parents.
    states: BTreeMap<u64, (Box<State>, Option<u64>)>,
    /// The state that runs, and its parent.
    running: Option<(u64, Option<u64>)>,
}

impl Custom {
    pub(in crate::exec) fn new(chooser: Box<dyn Chooser>, program: &Program) -> Custom {
        let distances = Distances::new(program);
        Custom { chooser, distances, states: BTreeMap::new(), running: None }
    }

    fn add(&mut self, state: Box<State>, parent: Option<u64>, view: &View<'_>) {
        let frame = &state.frame;
        let function = &view.program.functions[frame.func.index()];
        // A state born at a branch has yet to take its edge.
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
            frames: frame.upwards().count(),
            distance: (distance != FAR).then_some(distance),
        });
        self.states.insert(state.id, (state, parent));
    }
}

impl Search for Custom {
    fn put(&mut self, current: Option<Box<State>>, born: Vec<Box<State>>, view: &View<'_>) {
        self.distances.refresh(view);
        let ran = self.running.take();
        for child in born {
            self.add(child, ran.map(|(number, _)| number), view);
        }
        if let Some(state) = current {
            self.add(state, ran.and_then(|(_, parent)| parent), view);
        }
    }

    /// An answer that is none ends the run; whoever gave it has been told, and the states end in order.
    fn next(&mut self, _: &View<'_>) -> Option<Box<State>> {
        let first = *self.states.first_key_value()?.0;
        let number = self.chooser.choose().filter(|number| self.states.contains_key(number)).unwrap_or(first);
        let (state, parent) = self.states.remove(&number).expect("one that waits");
        self.running = Some((number, parent));
        Some(state)
    }

    /// The youngest: it has come the shortest way on its own.
    fn shed(&mut self, _: &View<'_>) -> Option<Box<State>> {
        let (number, (state, _)) = self.states.pop_last()?;
        self.chooser.remove(number);
        Some(state)
    }

    fn drain(&mut self) -> Vec<Box<State>> {
        std::mem::take(&mut self.states).into_values().map(|(state, _)| state).collect()
    }

    fn len(&self) -> usize {
        self.states.len()
    }

    fn each(&self, visit: &mut dyn FnMut(&State)) {
        self.states.values().for_each(|(state, _)| visit(state));
    }
}
