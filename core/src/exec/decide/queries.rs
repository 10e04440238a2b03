//! Queries of a running state, and the decisions made with their answers.
//!
//! Every live state has a feasible path with a complete model. A decision evaluates its condition under that
//! model: this side is feasible without a query, only the other side needs one. `Unknown` is never taken as
//! either answer: the model's side continues, the other side is counted as cut by the limit `solver`.
//!
//! Without the option `path_model` the model's side is queried as well, as by an executor that keeps no
//! models, and the answer is ignored: same paths, more queries. Experiments use this to put other executors'
//! load on the layers.
use super::Decider;
use super::certificate_tree::{CertificateTree, Continues, Kind, Row, SideId, Subject};
use super::replay::Next;
use super::search::DFS;
use super::strings::Choice;
use crate::exec::outcome::{Limit, Outcome};
use crate::exec::record::fork_tree::ForkPlace;
use crate::exec::state::State;
use crate::expr::{Expr, Graph};
use crate::query::{Answer, Path, Query, Reasons, Status, Why};
use std::time::{Duration, Instant};

/// A query ends at the latest after this many times the time that its effort stands for: circuits of hashes take up to
/// nine times as long as estimated, and would take all of a run.
const MAX_OVERRUN: u64 = 4;

/// Result of asking for the other side of a decision.
pub(super) enum Side {
    /// Because of these constraints of the path.
    Infeasible(Reasons),
    Feasible(Box<State>),
    /// Unknown, or forking is not allowed: counted as incomplete, and not explored. Of a doomed state: the same bug.
    Skipped,
}

impl Decider {
    /// Is `condition` satisfiable on the state's path?
    pub(super) fn ask(&mut self, state: &State, condition: Expr) -> Answer {
        self.ask_on(state, state.path, condition)
    }

    /// Is `condition` satisfiable on this path, which continues the state's?
    pub(super) fn ask_on(&mut self, state: &State, path: Path, condition: Expr) -> Answer {
        debug_assert!(!self.is_replaying(), "a query while a path is executed again");
        self.begin_query(state);
        let mut answer = self.solver.check(&Query::new(path, condition), &self.budget);
        if matches!(answer, Answer::Unknown(Why::Memory)) && self.is_short_of_memory() {
            // States are parked after the turn. Until then the layers drop what they can compute again.
            self.solver.forget();
            self.clear_memory_flag();
            answer = self.solver.check(&Query::new(path, condition), &self.budget);
        }
        if !matches!(answer, Answer::Unknown(_)) {
            self.query_budgets.note_answer((state.frame.func, state.frame.pc));
        }
        if self.solver.slowest.is_fresh() {
            let place = self.place(state).to_string();
            self.solver.slowest.locate(place);
        }
        answer
    }

    /// Sets the limits of the next query: the effort that is left for its place, and the end of the run. Layers whose
    /// effort cannot be counted have a clock, of `max_solver_time` from now; the others only one for queries whose
    /// effort is far underestimated.
    pub(super) fn begin_query(&mut self, state: &State) {
        let location = (state.frame.func, state.frame.pc);
        let effort = self.query_budgets.effort(location, self.options.max_solver_time);
        let within = |limit: Duration| Instant::now().checked_add(limit);
        let overrun =
            effort.and_then(|effort| within(Duration::from_nanos(effort.saturating_mul(MAX_OVERRUN))));
        self.budget.effort = effort;
        self.budget.deadline = [overrun, self.deadline].into_iter().flatten().min();
        self.budget.foreign_deadline = self.options.max_solver_time.and_then(within);
    }

    /// Counts a query without answer as incomplete. Returns the reason.
    fn count_unknown(&mut self, state: &State, why: &Why) -> String {
        let in_time = self.deadline.is_none_or(|deadline| Instant::now() < deadline);
        self.run_over = !in_time || *why == Why::Cancelled;
        let location = (state.frame.func, state.frame.pc);
        let why = match why {
            Why::Deadline | Why::Effort if in_time && self.query_budgets.has_failed(location) => {
                "no answer with the effort left for this place, where others had none".to_string()
            }
            Why::Deadline | Why::Effort if in_time => "no answer within max-solver-time".to_string(),
            why => why.to_string(),
        };
        self.query_budgets.note_failure(location);
        self.incomplete(state, &format!("solver: {why}"));
        why
    }

    /// Forks the state. Both copies start at the same node of the path tree.
    pub(super) fn fork(&mut self, state: &mut State) -> Box<State> {
        self.solver.tree.retain(state.path);
        state.depth += 1;
        self.recorder.stats.forks += 1;
        self.recorder.stats.states += 1;
        self.shares_objects = true;
        let user = state.user_frame(&self.program);
        let top = (!std::ptr::eq(user, &state.frame)).then_some(state.frame.func);
        let place = ForkPlace::new((user.func, user.pc), top);
        let (stays, other) = self.recorder.forks.fork(state.fork_leaf, place);
        state.fork_leaf = stays;
        self.strings.retain(state.string);
        let mut child = Box::new(state.clone());
        child.id = self.recorder.stats.states;
        child.fork_leaf = other;
        child.executed = self.step();
        if let Some(decisions) = &mut self.certificate_tree {
            child.decision = decisions.add_side(state.decision);
        }
        child
    }

    /// Decides the boolean `condition`. Returns the side the state is on now, and a state on the other side
    /// if that is feasible too. Both have their side as a constraint.
    pub(super) fn fork_on(
        &mut self,
        state: &mut State,
        condition: Expr,
        subject: Subject<'_>,
    ) -> (bool, Option<Box<State>>) {
        let point = self.next_point();
        self.fork_on_point(state, condition, subject, point)
    }

    /// As `fork_on`, at a point that was counted.
    pub(super) fn fork_on_point(
        &mut self,
        state: &mut State,
        condition: Expr,
        subject: Subject<'_>,
        point: u32,
    ) -> (bool, Option<Box<State>>) {
        let condition = self.defined(state, condition, "a branch");
        if self.solver.graph.is_const(condition) {
            return (self.solver.graph.is_true(condition), None);
        }
        match self.next_decision(state, point) {
            Next::Live => {}
            Next::OneSided => return (self.holds(state, condition), None),
            Next::Decided(Choice::Truth(truth)) => {
                let held = if truth { condition } else { self.solver.graph.not(condition) };
                self.follow(state, point, held, Choice::Truth(truth));
                return (truth, None);
            }
            Next::Decided(other) => self.diverge(state, &format!("a condition instead of {other:?}")),
        }
        self.take_first_feasible(state, |graph| [graph.not(condition), condition].to_vec());
        let choice = |truth: bool| match (subject.kind, truth) {
            (Kind::Value, true) => Choice::Equal(subject.number),
            (Kind::Value, false) => Choice::Differs(subject.number),
            _ => Choice::Truth(truth),
        };
        let model = self.solver.tree.model(state.path).expect("a live state has a feasible path");
        let truth = self.solver.evaluator.under(&self.solver.graph, model).truth(condition);
        let negation = self.solver.graph.not(condition);
        let (held, other) = if truth { (condition, negation) } else { (negation, condition) };
        if !truth {
            self.ask_model_side(state, held);
        }
        let child = match self.fork_side(state, other) {
            Side::Infeasible(reasons) => {
                let closed = closed_row((!truth).into(), reasons);
                self.record_point(state, subject, Some(condition), truth.into(), |d, side| {
                    vec![closed(d, side)]
                });
                if subject.kind == Kind::Value && state.values_tried > 0 {
                    self.decided(state, point, Choice::Only(subject.number));
                }
                return (truth, None);
            }
            Side::Skipped => None,
            Side::Feasible(mut child) => {
                self.decided(&mut child, point, choice(!truth));
                Some(child)
            }
        };
        self.decided(state, point, choice(truth));
        if truth {
            self.ask_model_side(state, held);
        }
        let forked = child.as_ref().map(|child| forked_row((!truth).into(), child));
        self.record_point(state, subject, Some(condition), truth.into(), |_, _| forked.into_iter().collect());
        self.add_constraint(state, held);
        if !truth
            && self.continues_on_first_side()
            && let Some(mut child) = child
        {
            swap_sides(state, &mut child);
            return (true, Some(child));
        }
        (truth, child)
    }

    /// Whether a state continues on the first feasible side of a decision, the true one, rather than on the side of its
    /// model: depth first, the order of paths must not depend on the models of the layers.
    pub(super) fn continues_on_first_side(&self) -> bool {
        !self.options.path_model || self.options.search == DFS
    }

    /// Where one side of a decision is explored and the others are not, it is the first feasible one, whatever the model: gives
    /// the path a model on that side. The false side is before the true one: at most loops it is the end.
    pub(super) fn take_first_feasible(&mut self, state: &State, sides: impl FnOnce(&mut Graph) -> Vec<Expr>) {
        let at_limit = self.options.max_depth.is_some_and(|limit| state.depth >= limit);
        if !at_limit && state.may_fork && !state.is_doomed {
            return;
        }
        for side in sides(&mut self.solver.graph) {
            if self.holds(state, side) {
                return;
            }
            if let Answer::Sat(model) = self.ask(state, side) {
                self.solver.tree.set_status(state.path, Status::Feasible(model));
                return;
            }
        }
    }

    /// Without `path_model`: queries the side that the model is on. The negation is queried first, and the
    /// condition only if that is feasible: an always true condition costs one query, any other two.
    pub(super) fn ask_model_side(&mut self, state: &mut State, held: Expr) {
        if self.options.path_model {
            return;
        }
        self.begin_query(state);
        match self.solver.check(&Query::new(state.path, held), &self.budget) {
            Answer::Sat(_) => {}
            // From an unsound layer, which only experiments use.
            Answer::Unsat(_) => {
                self.incomplete(state, "solver: unsat for a condition that a model satisfies")
            }
            Answer::Unknown(why) => {
                self.count_unknown(state, &why);
            }
        }
    }

    /// Decides `condition` for the current instruction. A state on the other side, if that is feasible too,
    /// executes the instruction again.
    pub fn decide(&mut self, state: &mut State, condition: Expr) -> bool {
        let (truth, other) = self.fork_on(state, condition, Subject::new(Kind::Condition, ""));
        self.forked.extend(other);
        truth
    }

    /// Forks a state with `condition`, which the model does not satisfy, if that is feasible. `state` is not
    /// constrained.
    pub(super) fn fork_side(&mut self, state: &mut State, condition: Expr) -> Side {
        if self.solver.graph.is_false(condition) {
            return Side::Infeasible(Reasons::None);
        }
        if state.is_doomed {
            return Side::Skipped;
        }
        if !state.may_fork {
            self.incomplete(state, "klee_set_forking(0): a side of a branch was not explored");
            return Side::Skipped;
        }
        let answer = match self.seed_model(state, condition) {
            Some(model) => Answer::Sat(model),
            None => self.ask(state, condition),
        };
        match answer {
            Answer::Unsat(core) => Side::Infeasible(core.constraints),
            Answer::Unknown(why) => {
                self.count_unknown(state, &why);
                self.recorder.stats.limits += 1;
                Side::Skipped
            }
            Answer::Sat(_) if self.options.max_depth.is_some_and(|limit| state.depth >= limit) => {
                self.incomplete(state, Limit::Depth.name());
                self.recorder.stats.limits += 1;
                Side::Skipped
            }
            Answer::Sat(found) => {
                let mut child = self.fork(state);
                self.extend_path(&mut child, condition, found);
                Side::Feasible(child)
            }
        }
    }

    /// Adds `condition` to the path. Errors: it cannot hold (`otherwise`), or the solver does not know.
    pub fn assume(&mut self, state: &mut State, condition: Expr, otherwise: Outcome) -> Result<(), Outcome> {
        let condition = self.defined(state, condition, "an assumption");
        if self.solver.graph.is_true(condition) {
            return Ok(());
        }
        let model = self.model(state).clone();
        let holds = self.solver.evaluator.under(&self.solver.graph, &model).truth(condition);
        if self.is_replaying() && !holds {
            self.diverge(state, "an assumption that the path's inputs do not satisfy");
        }
        if holds && (self.options.path_model || self.is_replaying()) {
            self.record_assumption(state, condition);
            self.extend_path(state, condition, model);
            return Ok(());
        }
        match self.ask(state, condition) {
            Answer::Sat(found) => {
                self.record_assumption(state, condition);
                self.extend_path(state, condition, if holds { model } else { found });
                Ok(())
            }
            Answer::Unsat(_) => Err(otherwise),
            Answer::Unknown(why) => {
                let why = self.count_unknown(state, &why);
                Err(Outcome::Limit {
                    limit: Limit::Solver,
                    message: format!("an assumption was not decided: {why}"),
                })
            }
        }
    }

    /// Ends a path in `outcome` where `fine` can be false. The state continues where it is true.
    pub fn require(&mut self, state: &mut State, fine: Expr, outcome: Outcome) -> Result<(), Outcome> {
        let subject = Subject::new(Kind::Check, outcome.kind());
        self.require_as(state, fine, outcome, subject)
    }

    /// Like `require`, recorded as this decision.
    pub fn require_as(
        &mut self,
        state: &mut State,
        fine: Expr,
        outcome: Outcome,
        subject: Subject<'_>,
    ) -> Result<(), Outcome> {
        match self.fork_on(state, fine, subject) {
            (true, None) => Ok(()),
            (true, Some(faulty)) => {
                self.end_path(faulty, outcome);
                Ok(())
            }
            (false, None) => Err(outcome),
            (false, Some(fine)) => {
                // It executes the instruction again, where `fine` then holds.
                self.forked.push(fine);
                Err(outcome)
            }
        }
    }

    fn record_assumption(&mut self, state: &mut State, condition: Expr) {
        self.record_point(state, Subject::new(Kind::Assume, ""), Some(condition), 1, |_, _| Vec::new());
    }
}

/// Exchanges the sides of a decision on which two states continue that are equal otherwise.
pub(super) fn swap_sides(state: &mut State, child: &mut State) {
    std::mem::swap(&mut state.path, &mut child.path);
    std::mem::swap(&mut state.decision, &mut child.decision);
    std::mem::swap(&mut state.string, &mut child.string);
    std::mem::swap(&mut state.seeds, &mut child.seeds);
}

/// Row of a side that is infeasible for these reasons.
pub(super) fn closed_row(value: u64, reasons: Reasons) -> impl Fn(&CertificateTree, SideId) -> Row {
    move |decisions, path| Row {
        value,
        continues: Continues::Closed(decisions.sides_of(path, reasons.as_slice())),
        condition: None,
    }
}

/// Row of a side on which a forked state continues.
pub(super) fn forked_row(value: u64, child: &State) -> Row {
    Row { value, continues: Continues::Forked(child.decision), condition: None }
}
