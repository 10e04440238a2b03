//! Branches. A forked state gets the edge of its side in `State::edge` and takes it when it runs.
use super::{Flow, StepResult};
use crate::exec::Engine;
use crate::exec::address;
use crate::exec::outcome::{Class, Outcome};
use crate::exec::queries::Side;
use crate::exec::state::State;
use crate::expr::Expr;
use crate::program::{EdgeId, Operand};
use std::sync::Arc;

impl Engine {
    pub(super) fn branch(
        &mut self,
        state: &mut State,
        cond: Operand,
        then: EdgeId,
        other: EdgeId,
    ) -> StepResult {
        let cond = self.operand(state, cond, 1);
        let Some(condition) = cond.expr() else {
            return Ok(Flow::Edge(if cond.word != 0 { then.0 } else { other.0 }));
        };
        if then == other {
            return Ok(Flow::Edge(then.0));
        }
        let (truth, child) = self.fork_on(state, condition);
        let (here, there) = if truth { (then, other) } else { (other, then) };
        if let Some(mut child) = child {
            child.edge = Some(there.0);
            self.forks.set_side(child.fork_leaf, there);
            self.forks.set_side(state.fork_leaf, here);
            self.forked.push(child);
        }
        Ok(Flow::Edge(here.0))
    }

    /// Forks a state for each feasible successor.
    pub(super) fn switch(
        &mut self,
        state: &mut State,
        width: u32,
        value: Operand,
        cases: &[(u64, EdgeId)],
        default: EdgeId,
    ) -> StepResult {
        let value = self.operand(state, value, width);
        if !value.symbolic {
            let found = cases.binary_search_by_key(&value.word, |case| case.0);
            return Ok(Flow::Edge(found.map_or(default, |i| cases[i].1).0));
        }
        // Condition of each successor: the value is one of its cases, or none of any.
        let mut alternatives: Vec<(EdgeId, Expr)> = Vec::new();
        let graph = &mut self.solver.graph;
        let e = value.to_bits(graph, width);
        let mut none = graph.boolean(true);
        for &(case, edge) in cases {
            let constant = graph.word(width, case);
            let equal = graph.eq(e, constant);
            if edge != default {
                match alternatives.iter_mut().find(|alternative| alternative.0 == edge) {
                    Some(alternative) => alternative.1 = graph.or(alternative.1, equal),
                    None => alternatives.push((edge, equal)),
                }
            }
        }
        for alternative in &alternatives {
            let not = graph.not(alternative.1);
            none = graph.and(none, not);
        }
        alternatives.push((default, none));
        self.choose(state, alternatives)
    }

    /// Forks over exclusive and exhaustive conditions: this state takes one edge, forked states the other
    /// feasible ones.
    fn choose(&mut self, state: &mut State, alternatives: Vec<(EdgeId, Expr)>) -> StepResult {
        let model = self.model(state);
        let mut taken = None;
        for (i, &(_, condition)) in alternatives.iter().enumerate() {
            if self.solver.evaluator.under(&self.solver.graph, &model).truth(condition) {
                taken = Some(i);
                break;
            }
        }
        let mut alone = true;
        let mut forked = None;
        let taken = taken.expect("the alternatives are exhaustive");
        // Children in `first..before` have alternatives before the model's.
        let first = self.forked.len();
        let mut before = first;
        for (i, &(edge, condition)) in alternatives.iter().enumerate() {
            if i == taken {
                self.ask_model_side(state, condition);
                before = self.forked.len();
                continue;
            }
            // The queries do not include the negations of the other conditions, which exclude each other
            // anyway.
            match self.fork_side(state, condition) {
                Side::Infeasible => {}
                Side::Skipped => alone = false,
                Side::Feasible(mut child) => {
                    alone = false;
                    child.edge = Some(edge.0);
                    if let Some(node) = forked.replace(state.fork_leaf) {
                        self.forks.set_intermediate(node);
                    }
                    self.forked.push(child);
                }
            }
        }
        if !alone {
            self.add_constraint(state, alternatives[taken].1);
        }
        let mut edge = alternatives[taken].0.0;
        if !self.options.path_model {
            // The first alternative continues, so that the order does not depend on the model.
            for child in self.forked[first..before].iter_mut().rev() {
                std::mem::swap(&mut state.path, &mut child.path);
                edge = child.edge.replace(edge).expect("set above");
            }
        }
        for child in &self.forked[first..] {
            self.forks.set_side(child.fork_leaf, EdgeId(child.edge.expect("set above")));
        }
        if forked.is_some() {
            self.forks.set_side(state.fork_leaf, EdgeId(edge));
        }
        Ok(Flow::Edge(edge))
    }

    pub(super) fn indirect(&mut self, state: &mut State, addr: Operand, edges: &[EdgeId]) -> StepResult {
        let program = Arc::clone(&self.program);
        let func = state.frame.func;
        let function = &program.functions[func.index()];
        let addr = self.operand(state, addr, 64);
        let label = |edge: EdgeId| address::of_label(func, function.edges[edge.index()].to);
        let wrong = || {
            Outcome::bug(Class::Unreachable, "a computed goto to an address that is not one of its labels")
        };
        let Some(e) = addr.expr() else {
            let edge = edges.iter().find(|edge| label(**edge) == addr.word);
            return edge.map(|edge| Flow::Edge(edge.0)).ok_or_else(wrong);
        };
        let mut alternatives: Vec<(EdgeId, Expr)> = Vec::new();
        let graph = &mut self.solver.graph;
        let mut any = graph.boolean(false);
        for &edge in edges {
            let constant = graph.word(64, label(edge));
            let equal = graph.eq(e, constant);
            // A label may be listed twice.
            if alternatives.iter().all(|alternative| alternative.1 != equal) {
                any = graph.or(any, equal);
                alternatives.push((edge, equal));
            }
        }
        self.require(state, any, wrong())?;
        self.choose(state, alternatives)
    }
}
