//! Seeds at decisions: which states follow which seeds, and the models of their paths.
use super::Decider;
use crate::exec::state::State;
use crate::exec::state::seeds::{Followed, Seed};
use crate::expr::{Expr, Model};
use crate::query::{Path, Status};
use rustc_hash::FxHashMap;
use std::sync::Arc;

impl Decider {
    /// Values of seeds for an input that was just made.
    pub fn seed_input(&mut self, state: &mut State, variable: Expr, name: &str, size: u64) {
        if state.seeds.is_empty() {
            return;
        }
        let of_name = state.inputs.newest_first().filter(|input| *input.name == *name).count();
        for followed in Arc::make_mut(&mut state.seeds) {
            followed.add_input(variable, name, of_name - 1, size);
        }
        self.follow_first(state);
    }

    /// Keeps the seeds that satisfy a constraint which was just added to the path.
    pub(super) fn keep_seeds(&mut self, state: &mut State, constraint: Expr) {
        if state.seeds.is_empty() {
            return;
        }
        let (evaluator, graph) = (&mut self.solver.evaluator, &self.solver.graph);
        Arc::make_mut(&mut state.seeds)
            .retain(|followed| evaluator.under(graph, &followed.model).truth(constraint));
        self.follow_first(state);
    }

    /// The path model is that of the first seed.
    fn follow_first(&mut self, state: &State) {
        if let Some(first) = state.seeds.first() {
            self.solver.tree.set_status(state.path, Status::Feasible(first.model.clone()));
        }
    }

    /// Model of a seed of the state that satisfies a condition.
    pub(super) fn seed_model(&mut self, state: &State, condition: Expr) -> Option<Model> {
        let (evaluator, graph) = (&mut self.solver.evaluator, &self.solver.graph);
        let found = state.seeds.iter().find(|seed| evaluator.under(graph, &seed.model).truth(condition));
        found.map(|seed| seed.model.clone())
    }

    /// Gives a seed to the state if it satisfies the state's path condition. `known` has the nodes of the path tree that
    /// were evaluated for this seed before.
    pub fn add_seed(
        &mut self,
        state: &mut State,
        seed: &Arc<Seed>,
        known: &mut FxHashMap<Path, bool>,
    ) -> bool {
        let mut followed = Followed::new(Arc::clone(seed));
        let inputs = state.inputs.in_order();
        for (at, input) in inputs.iter().enumerate() {
            let before = inputs[..at].iter().filter(|other| other.name == input.name).count();
            followed.add_input(input.array, &input.name, before, input.size);
        }
        let mut nodes = Vec::new();
        let mut holds = true;
        for node in self.solver.tree.upwards(state.path) {
            if let Some(&truth) = known.get(&node) {
                holds = truth;
                break;
            }
            nodes.push(node);
        }
        let mut session = self.solver.evaluator.under(&self.solver.graph, &followed.model);
        for node in nodes.into_iter().rev() {
            holds = holds && session.truth(self.solver.tree.constraint(node));
            known.insert(node, holds);
        }
        if holds {
            Arc::make_mut(&mut state.seeds).push(followed);
            self.follow_first(state);
        }
        holds
    }
}
