//! Forks over alternatives: the sides of a branch, the successors of a switch, the targets of a pointer.
//!
//! The state takes the alternative of its model without a query. The others are queried; each feasible one becomes
//! a forked state.
use super::Decider;
use super::certificate_tree::{Kind, Row, Subject};
use super::queries::{Side, closed_row, forked_row, swap_sides};
use super::replay::Next;
use super::strings::Choice;
use crate::exec::outcome::Outcome;
use crate::exec::state::{Fact, State};
use crate::expr::Expr;
use crate::expr::smtlib::Printer;
use crate::program::EdgeId;
use std::sync::Arc;

/// One of several alternatives that exclude each other; without a fact it is an error.
pub struct Alternative {
    pub condition: Expr,
    pub fact: Option<Fact>,
}

impl Decider {
    /// Index of the alternative that the path model satisfies.
    fn model_alternative(&mut self, state: &State, conditions: impl IntoIterator<Item = Expr>) -> usize {
        let model = self.solver.tree.model(state.path).expect("a live state has a feasible path");
        let mut session = self.solver.evaluator.under(&self.solver.graph, model);
        let found = conditions.into_iter().position(|condition| session.truth(condition));
        found.expect("the alternatives are exhaustive")
    }

    /// Decides a branch. Returns the edge that the state takes; a forked state takes the other one.
    pub fn fork_on_branch(
        &mut self,
        state: &mut State,
        condition: Expr,
        then: EdgeId,
        other: EdgeId,
    ) -> EdgeId {
        let (truth, child) = self.fork_on(state, condition, Subject::new(Kind::Branch, ""));
        let (here, there) = if truth { (then, other) } else { (other, then) };
        if let Some(mut child) = child {
            child.edge = Some(there.0);
            child.executed += 1;
            self.recorder.forks.set_side(child.fork_leaf, there);
            self.recorder.forks.set_side(state.fork_leaf, here);
            self.forked.push(child);
        }
        here
    }

    /// Forks over edges with exclusive and exhaustive conditions. Returns the edge that the state takes; forked
    /// states take the other feasible ones.
    pub fn fork_on_edges(&mut self, state: &mut State, alternatives: &[(EdgeId, Expr)]) -> EdgeId {
        let point = self.next_point();
        match self.next_decision(state, point) {
            Next::Live => {}
            Next::OneSided => {
                let conditions = alternatives.iter().map(|alternative| alternative.1);
                return alternatives[self.model_alternative(state, conditions)].0;
            }
            Next::Decided(choice) => {
                let is_taken = |alternative: &&(EdgeId, Expr)| Choice::Edge(alternative.0.0) == choice;
                let Some(&(edge, condition)) = alternatives.iter().find(is_taken) else {
                    self.diverge(state, &format!("a switch without {choice:?}"))
                };
                self.follow(state, point, condition, choice);
                return edge;
            }
        }
        self.take_first_feasible(state, |_| alternatives.iter().map(|alternative| alternative.1).collect());
        let taken = self.model_alternative(state, alternatives.iter().map(|alternative| alternative.1));
        let mut alone = true;
        let mut forked = None;
        // Children in `first..before` have alternatives before the model's.
        let first = self.forked.len();
        let mut before = first;
        let mut closed = Vec::new();
        for (i, &(edge, condition)) in alternatives.iter().enumerate() {
            if i == taken {
                self.ask_model_side(state, condition);
                before = self.forked.len();
                continue;
            }
            // The queries do not include the negations of the other conditions, which exclude each other
            // anyway.
            match self.fork_side(state, condition) {
                Side::Infeasible(reasons) => closed.push(closed_row(edge.0.into(), reasons)),
                Side::Skipped => alone = false,
                Side::Feasible(mut child) => {
                    alone = false;
                    child.edge = Some(edge.0);
                    self.decided(&mut child, point, Choice::Edge(edge.0));
                    child.executed += 1;
                    if let Some(node) = forked.replace(state.fork_leaf) {
                        self.recorder.forks.set_intermediate(node);
                    }
                    self.forked.push(child);
                }
            }
        }
        let forks: Vec<Row> = self.forked[first..]
            .iter()
            .map(|child| forked_row(child.edge.expect("set above").into(), child))
            .collect();
        let own = alternatives[taken].0.0.into();
        self.record_point(state, Subject::new(Kind::Switch, ""), None, own, |decisions, path| {
            forks.into_iter().chain(closed.iter().map(|row| row(decisions, path))).collect()
        });
        if !alone {
            self.decided(state, point, Choice::Edge(alternatives[taken].0.0));
            self.add_constraint(state, alternatives[taken].1);
        }
        let mut edge = alternatives[taken].0.0;
        if self.continues_on_first_side() {
            for child in self.forked[first..before].iter_mut().rev() {
                swap_sides(state, child);
                edge = child.edge.replace(edge).expect("set above");
            }
        }
        for child in &self.forked[first..] {
            self.recorder.forks.set_side(child.fork_leaf, EdgeId(child.edge.expect("set above")));
        }
        if forked.is_some() {
            self.recorder.forks.set_side(state.fork_leaf, EdgeId(edge));
        }
        EdgeId(edge)
    }

    /// Forks over the targets of the pointer `e`: this state takes the one of its model, forked states the others
    /// and execute the instruction again. For an invalid address, of this state or a forked one, `fault` makes the
    /// error.
    pub fn fork_on_targets(
        &mut self,
        state: &mut State,
        e: Expr,
        purpose: &str,
        alternatives: &[Alternative],
        fault: impl Fn(&State, u64) -> Outcome,
    ) -> Result<Fact, Outcome> {
        let point = self.next_point();
        match self.next_decision(state, point) {
            Next::Live => {}
            Next::OneSided => {
                let conditions = alternatives.iter().map(|alternative| alternative.condition);
                let own = self.model_alternative(state, conditions);
                return self.take_target(state, e, &alternatives[own], fault);
            }
            Next::Decided(choice) => {
                let own = match choice {
                    Choice::Target(own) if (own as usize) < alternatives.len() => own as usize,
                    _ => self.diverge(state, &format!("a pointer without {choice:?}")),
                };
                self.follow(state, point, alternatives[own].condition, choice);
                return self.take_target(state, e, &alternatives[own], fault);
            }
        }
        let conditions = || alternatives.iter().map(|alternative| alternative.condition);
        self.take_first_feasible(state, |_| conditions().collect());
        let mut own = self.model_alternative(state, conditions());
        let first = self.forked.len();
        let mut alone = true;
        // Objects that are explored, in order: which ones does not depend on the model.
        let mut explored = 0;
        let mut is_own_left = true;
        let mut first_target = None;
        let mut skipped = false;
        let mut rows = Vec::new();
        let mut closed = Vec::new();
        for (i, alternative) in alternatives.iter().enumerate() {
            if i == own {
                self.ask_model_side(state, alternative.condition);
                if alternative.fact.is_some() {
                    is_own_left = explored < self.options.max_objects;
                    explored += 1;
                }
                continue;
            }
            if alternative.fact.is_some() && explored >= self.options.max_objects {
                skipped = true;
                alone = false;
                continue;
            }
            match self.fork_side(state, alternative.condition) {
                Side::Infeasible(reasons) => {
                    closed.push((i, closed_row(self.target_value(alternative), reasons)));
                }
                Side::Skipped => alone = false,
                Side::Feasible(mut child) => {
                    alone = false;
                    rows.push((i, forked_row(self.target_value(alternative), &child)));
                    self.decided(&mut child, point, Choice::Target(i as u32));
                    match alternative.fact {
                        Some(fact) => {
                            explored += 1;
                            first_target.get_or_insert(i);
                            child.learn(e, fact);
                            self.forked.push(child);
                        }
                        None => {
                            let address = self.fault_address(&mut child, e);
                            let outcome = fault(&child, address);
                            self.end_path(child, outcome);
                        }
                    }
                }
            }
        }
        if skipped || !is_own_left {
            let limit = self.options.max_objects;
            self.incomplete(state, &format!("a symbolic pointer with more than {limit} targets"));
            self.recorder.stats.limits += 1;
        }
        if self.certificate_tree.is_some() {
            let own_value = self.target_value(&alternatives[own]);
            let texts: Vec<Option<String>> =
                alternatives.iter().map(|alternative| self.fault_text(alternative)).collect();
            let own_text = texts[own].clone();
            self.record_point(
                state,
                Subject::new(Kind::Target, purpose),
                None,
                own_value,
                |decisions, path| {
                    rows.extend(closed.iter().map(|(i, row)| (*i, row(decisions, path))));
                    rows.into_iter().map(|(i, row)| Row { condition: texts[i].clone(), ..row }).collect()
                },
            );
            self.set_taken_text(own_text);
        }
        if !alone {
            self.decided(state, point, Choice::Target(own as u32));
            self.add_constraint(state, alternatives[own].condition);
        }
        if !is_own_left {
            // Its object is behind those that are explored: it takes the first of them.
            let mut other = self.forked.remove(first);
            swap_sides(state, &mut other);
            self.release(other);
            own = first_target.expect("objects are explored");
        }
        self.take_target(state, e, &alternatives[own], fault)
    }

    /// The state's pointer has this target, or is an error.
    fn take_target(
        &mut self,
        state: &mut State,
        e: Expr,
        target: &Alternative,
        fault: impl Fn(&State, u64) -> Outcome,
    ) -> Result<Fact, Outcome> {
        match target.fact {
            Some(fact) => {
                state.learn(e, fact);
                Ok(fact)
            }
            None => {
                let address = self.fault_address(state, e);
                Err(fault(state, address))
            }
        }
    }

    /// Address of the target in a recorded decision; 0 for an error.
    fn target_value(&self, alternative: &Alternative) -> u64 {
        match alternative.fact {
            Some(Fact::Inside { id, .. }) => id.base(),
            Some(Fact::Equal(address)) => address,
            None => 0,
        }
    }

    /// Condition of a target that is an error.
    fn fault_text(&self, alternative: &Alternative) -> Option<String> {
        let is_fault = alternative.fact.is_none();
        is_fault.then(|| Printer::new(&self.solver.graph).term(alternative.condition))
    }

    /// Sets the condition of the side taken at the newest point.
    fn set_taken_text(&mut self, text: Option<String>) {
        if let Some(point) = self.certificate_tree.as_mut().and_then(|decisions| decisions.points.last_mut())
        {
            point.rows[0].condition = text;
        }
    }

    /// Address that a message about an invalid pointer names. The test keeps it, whatever else the program prefers.
    fn fault_address(&mut self, state: &mut State, e: Expr) -> u64 {
        self.settle(state);
        let address = self.evaluate(state, e).low();
        if !state.preferences.is_empty() {
            let word = self.solver.graph.word(64, address);
            let same = self.solver.graph.eq(e, word);
            Arc::make_mut(&mut state.preferences).insert(0, same);
        }
        address
    }
}
