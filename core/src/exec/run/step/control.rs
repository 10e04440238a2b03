//! Branches. A forked state gets the edge of its side in `State::edge` and takes it when it runs.
use super::{Flow, StepResult};
use crate::exec::outcome::{Class, Outcome};
use crate::exec::run::{Machine, Successors};
use crate::exec::state::State;
use crate::exec::state::address;
use crate::expr::Expr;
use crate::program::{EdgeId, Operand};
use std::sync::Arc;

/// Number of switches whose conditions are kept.
const MAX_SWITCHES: usize = 1 << 12;

impl Machine {
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
        Ok(Flow::Edge(self.decider.fork_on_branch(state, condition, then, other).0))
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
        let value = self.decider.defined_value(state, value, "a switch");
        if !value.symbolic {
            let found = cases.binary_search_by_key(&value.word, |case| case.0);
            return Ok(Flow::Edge(found.map_or(default, |i| cases[i].1).0));
        }
        let place = (state.frame.func, state.frame.pc);
        let e = value.to_bits(self.graph(), width);
        let known = self.switches.get(&(place, e)).cloned();
        let alternatives = known.unwrap_or_else(|| {
            let made: Successors = self.alternatives(e, width, cases, default).into();
            if self.switches.len() == MAX_SWITCHES {
                self.switches.clear();
            }
            self.switches.insert((place, e), Arc::clone(&made));
            made
        });
        Ok(Flow::Edge(self.decider.fork_on_edges(state, &alternatives).0))
    }

    /// Condition of each successor of a switch: the value `e` is one of its cases, or none of any.
    fn alternatives(
        &mut self,
        e: Expr,
        width: u32,
        cases: &[(u64, EdgeId)],
        default: EdgeId,
    ) -> Vec<(EdgeId, Expr)> {
        let mut alternatives: Vec<(EdgeId, Expr)> = Vec::new();
        let graph = self.graph();
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
        alternatives
    }

    pub(super) fn indirect(&mut self, state: &mut State, addr: Operand, edges: &[EdgeId]) -> StepResult {
        let program = Arc::clone(&self.program);
        let func = state.frame.func;
        let function = &program.functions[func.index()];
        let addr = self.operand(state, addr, 64);
        let addr = self.decider.defined_value(state, addr, "a computed goto");
        let label = |edge: EdgeId| address::of_label(func, function.edges[edge.index()].to, program.pointers);
        let wrong = || {
            Outcome::bug(Class::Unreachable, "a computed goto to an address that is not one of its labels")
        };
        let Some(e) = addr.expr() else {
            let edge = edges.iter().find(|edge| label(**edge) == addr.word);
            return edge.map(|edge| Flow::Edge(edge.0)).ok_or_else(wrong);
        };
        let mut alternatives: Vec<(EdgeId, Expr)> = Vec::new();
        let graph = self.graph();
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
        self.decider.require(state, any, wrong())?;
        Ok(Flow::Edge(self.decider.fork_on_edges(state, &alternatives).0))
    }
}
