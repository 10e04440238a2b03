//! Questions a running state asks the chain.
//!
//! Every live state stands on a feasible node with a complete model of its path. A decision evaluates its condition
//! under that model: this side is feasible for free, and only the other side is a query. What cannot be decided is
//! never assumed, neither way: the model's side goes on, the other one is counted as cut by the limit `solver`.
//!
//! Without `path_model` the model's side is asked about as well, as by an executor that keeps no models, and the
//! answer is thrown away: same paths, more questions, to measure layers under the load that others put on them.
use super::Engine;
use super::outcome::{Limit, Outcome};
use super::state::State;
use super::value::Value;
use crate::expr::{Bits, Expr, Model};
use crate::query::{Answer, Query, Status, Why};
use std::time::Instant;

/// What came of asking for the other side of a decision.
pub(super) enum Probe {
    Infeasible,
    Feasible(Box<State>),
    /// Nobody knows, or nobody may go there: counted, and not explored.
    Skipped,
}

impl Engine {
    pub(super) fn model(&self, state: &State) -> Model {
        self.solver.tree.model(state.path).expect("a live state stands on a feasible node").clone()
    }

    /// The value of an expression under the state's model.
    pub(super) fn evaluate(&mut self, state: &State, e: Expr) -> Bits {
        let model = self.solver.tree.model(state.path).expect("a live state stands on a feasible node");
        self.solver.evaluator.under(&self.solver.graph, model).bits(e)
    }

    pub(super) fn evaluate_word(&mut self, state: &State, value: Value) -> u64 {
        match value.expr() {
            Some(e) => self.evaluate(state, e).low(),
            None => value.word,
        }
    }

    /// Moves the state to the node that also has `constraint`, which `model` satisfies.
    pub(super) fn move_to(&mut self, state: &mut State, constraint: Expr, model: Model) {
        let node = self.solver.tree.extend(&self.solver.graph, state.path, constraint);
        if node != state.path {
            self.solver.tree.set_status(node, Status::Feasible(model));
        }
        self.solver.tree.release(state.path);
        state.path = node;
    }

    /// Is `condition` satisfiable where the state stands?
    pub(super) fn ask(&mut self, state: &State, condition: Expr) -> Answer {
        self.begin_question();
        let answer = self.solver.check(&Query::new(state.path, condition), &self.budget);
        if self.solver.slowest.is_fresh() {
            let place = self.place(state).to_string();
            self.solver.slowest.locate(place);
        }
        answer
    }

    /// The next question may take what is left of the run, and no longer than any question may.
    fn begin_question(&mut self) {
        let own = self.options.max_solver_time.and_then(|limit| Instant::now().checked_add(limit));
        self.budget.deadline = [own, self.deadline].into_iter().flatten().min();
    }

    /// Counts a question that has no answer; says why it has none.
    fn undecided(&mut self, state: &State, why: &Why) -> String {
        let in_time = self.deadline.is_none_or(|deadline| Instant::now() < deadline);
        self.over = !in_time || *why == Why::Cancelled;
        let why = match why {
            Why::Deadline if in_time => "no answer within max-solver-time".to_string(),
            why => why.to_string(),
        };
        self.incomplete(state, &format!("solver: {why}"));
        why
    }

    /// A copy of the state that goes its own way from here.
    fn fork(&mut self, state: &mut State) -> Box<State> {
        self.solver.tree.retain(state.path);
        state.depth += 1;
        self.stats.forks += 1;
        self.stats.states += 1;
        // From now on both share their objects.
        self.cache.clear();
        let (stays, other) = self.forks.fork(state.node, self.fork_place(state));
        state.node = stays;
        let mut child = Box::new(state.clone());
        child.id = self.stats.states;
        child.node = other;
        child
    }

    /// Decides the boolean `condition`: which side the state is on now, and a state on the other side if that is
    /// feasible too. Both then stand on nodes that say so.
    pub(super) fn split(&mut self, state: &mut State, condition: Expr) -> (bool, Option<Box<State>>) {
        if self.solver.graph.is_const(condition) {
            return (self.solver.graph.is_true(condition), None);
        }
        let model = self.solver.tree.model(state.path).expect("a live state stands on a feasible node");
        let truth = self.solver.evaluator.under(&self.solver.graph, model).truth(condition);
        let negation = self.solver.graph.not(condition);
        let (held, other) = if truth { (condition, negation) } else { (negation, condition) };
        if !truth {
            self.ask_again(state, held);
        }
        let child = match self.probe(state, other) {
            Probe::Infeasible => return (truth, None),
            Probe::Skipped => None,
            Probe::Feasible(child) => Some(child),
        };
        if truth {
            self.ask_again(state, held);
        }
        self.commit(state, held);
        if !truth
            && !self.options.path_model
            && let Some(mut child) = child
        {
            // The true side first, whatever the model: so the order of paths does not depend on the layers.
            std::mem::swap(&mut state.path, &mut child.path);
            return (true, Some(child));
        }
        (truth, child)
    }

    /// Without a model in hand: asks about the side that the model is on. The negation comes first, and the condition
    /// only if that is feasible; so an always true condition costs one question, any other two.
    pub(super) fn ask_again(&mut self, state: &mut State, held: Expr) {
        if self.options.path_model {
            return;
        }
        self.begin_question();
        match self.solver.check(&Query::new(state.path, held), &self.budget) {
            Answer::Sat(_) => {}
            // From a layer that is not sound, which only experiments use.
            Answer::Unsat(_) => self.incomplete(state, "solver: unsat was said of what a model satisfies"),
            Answer::Unknown(why) => {
                self.undecided(state, &why);
            }
        }
    }

    /// Which side the state is on now. On the other side, if that is feasible too, a state executes the instruction
    /// again.
    pub(super) fn decide(&mut self, state: &mut State, condition: Expr) -> bool {
        let (truth, other) = self.split(state, condition);
        self.born.extend(other);
        truth
    }

    /// A state on the side of `condition`, which the model does not satisfy, if there is one. `state` stays where it is.
    pub(super) fn probe(&mut self, state: &mut State, condition: Expr) -> Probe {
        if self.solver.graph.is_false(condition) {
            return Probe::Infeasible;
        }
        if !state.may_fork {
            self.incomplete(state, "klee_set_forking(0): a side of a branch was not explored");
            return Probe::Skipped;
        }
        match self.ask(state, condition) {
            Answer::Unsat(_) => Probe::Infeasible,
            Answer::Unknown(why) => {
                self.undecided(state, &why);
                self.stats.limits += 1;
                Probe::Skipped
            }
            Answer::Sat(_) if self.options.max_depth.is_some_and(|limit| state.depth >= limit) => {
                self.incomplete(state, Limit::Depth.name());
                self.stats.limits += 1;
                Probe::Skipped
            }
            Answer::Sat(found) => {
                let mut child = self.fork(state);
                self.move_to(&mut child, condition, found);
                Probe::Feasible(child)
            }
        }
    }

    /// Adds a condition that the state's model satisfies.
    pub(super) fn commit(&mut self, state: &mut State, condition: Expr) {
        let model = self.model(state);
        self.move_to(state, condition, model);
    }

    /// From here on `condition` holds. The ends: it cannot hold (`otherwise`), or nobody knows.
    pub(super) fn assume(
        &mut self,
        state: &mut State,
        condition: Expr,
        otherwise: Outcome,
    ) -> Result<(), Outcome> {
        if self.solver.graph.is_true(condition) {
            return Ok(());
        }
        let model = self.model(state);
        let holds = self.solver.evaluator.under(&self.solver.graph, &model).truth(condition);
        if holds && self.options.path_model {
            self.move_to(state, condition, model);
            return Ok(());
        }
        match self.ask(state, condition) {
            Answer::Sat(found) => {
                self.move_to(state, condition, if holds { model } else { found });
                Ok(())
            }
            Answer::Unsat(_) => Err(otherwise),
            Answer::Unknown(why) => {
                let why = self.undecided(state, &why);
                Err(Outcome::Limit {
                    limit: Limit::Solver,
                    message: format!("an assumption was not decided: {why}"),
                })
            }
        }
    }

    /// Where `fine` can be false, a path ends in `outcome`. The state goes on where it is true.
    pub(super) fn require(&mut self, state: &mut State, fine: Expr, outcome: Outcome) -> Result<(), Outcome> {
        match self.split(state, fine) {
            (true, None) => Ok(()),
            (true, Some(faulty)) => {
                self.finish(faulty, outcome);
                Ok(())
            }
            (false, None) => Err(outcome),
            (false, Some(fine)) => {
                // It executes the instruction again, and is then on the fine side.
                self.born.push(fine);
                Err(outcome)
            }
        }
    }
}
