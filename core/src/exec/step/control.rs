//! Branches. A state that goes another way gets the edge it takes in `State::edge` and takes it when it runs.
use super::{Go, Step};
use crate::exec::Engine;
use crate::exec::address;
use crate::exec::ask::Probe;
use crate::exec::outcome::{Class, Outcome};
use crate::exec::state::State;
use crate::expr::Expr;
use crate::program::{EdgeId, Operand};
use std::sync::Arc;

impl Engine {
    pub(super) fn branch(&mut self, state: &mut State, cond: Operand, then: EdgeId, other: EdgeId) -> Step {
        let cond = self.operand(state, cond, 1);
        let Some(condition) = cond.expr() else {
            return Ok(Go::Edge(if cond.word != 0 { then.0 } else { other.0 }));
        };
        if then == other {
            return Ok(Go::Edge(then.0));
        }
        let (truth, child) = self.split(state, condition);
        let (here, there) = if truth { (then, other) } else { (other, then) };
        if let Some(mut child) = child {
            child.edge = Some(there.0);
            self.forks.went(child.node, there);
            self.forks.went(state.node, here);
            self.born.push(child);
        }
        Ok(Go::Edge(here.0))
    }

    /// One state for each feasible successor.
    pub(super) fn switch(
        &mut self,
        state: &mut State,
        width: u32,
        value: Operand,
        cases: &[(u64, EdgeId)],
        default: EdgeId,
    ) -> Step {
        let value = self.operand(state, value, width);
        if !value.symbolic {
            let found = cases.binary_search_by_key(&value.word, |case| case.0);
            return Ok(Go::Edge(found.map_or(default, |i| cases[i].1).0));
        }
        // The condition of each successor: it is one of its cases, or none of any.
        let mut ways: Vec<(EdgeId, Expr)> = Vec::new();
        let graph = &mut self.solver.graph;
        let e = value.to_bits(graph, width);
        let mut none = graph.boolean(true);
        for &(case, edge) in cases {
            let constant = graph.word(width, case);
            let equal = graph.eq(e, constant);
            if edge != default {
                match ways.iter_mut().find(|way| way.0 == edge) {
                    Some(way) => way.1 = graph.or(way.1, equal),
                    None => ways.push((edge, equal)),
                }
            }
        }
        for way in &ways {
            let not = graph.not(way.1);
            none = graph.and(none, not);
        }
        ways.push((default, none));
        self.choose(state, ways)
    }

    /// Each of these exclusive and exhaustive conditions, as far as feasible: this state takes one way, others are born.
    fn choose(&mut self, state: &mut State, ways: Vec<(EdgeId, Expr)>) -> Step {
        let model = self.model(state);
        let mut taken = None;
        for (i, &(_, condition)) in ways.iter().enumerate() {
            if self.solver.evaluator.under(&self.solver.graph, &model).truth(condition) {
                taken = Some(i);
                break;
            }
        }
        let mut alone = true;
        let mut forked = None;
        let taken = taken.expect("one of the ways is the model's");
        // Children from `first` up to `before` stand on ways before the model's.
        let first = self.born.len();
        let mut before = first;
        for (i, &(edge, condition)) in ways.iter().enumerate() {
            if i == taken {
                self.ask_again(state, condition);
                before = self.born.len();
                continue;
            }
            // Each question is asked of the path without the other ways, whose conditions exclude each other anyway.
            match self.probe(state, condition) {
                Probe::Infeasible => {}
                Probe::Skipped => alone = false,
                Probe::Feasible(mut child) => {
                    alone = false;
                    child.edge = Some(edge.0);
                    if let Some(node) = forked.replace(state.node) {
                        self.forks.between(node);
                    }
                    self.born.push(child);
                }
            }
        }
        if !alone {
            self.commit(state, ways[taken].1);
        }
        let mut edge = ways[taken].0.0;
        if !self.options.path_model {
            // The first way first, whatever the model.
            for child in self.born[first..before].iter_mut().rev() {
                std::mem::swap(&mut state.path, &mut child.path);
                edge = child.edge.replace(edge).expect("given above");
            }
        }
        for child in &self.born[first..] {
            self.forks.went(child.node, EdgeId(child.edge.expect("given above")));
        }
        if forked.is_some() {
            self.forks.went(state.node, EdgeId(edge));
        }
        Ok(Go::Edge(edge))
    }

    pub(super) fn indirect(&mut self, state: &mut State, addr: Operand, edges: &[EdgeId]) -> Step {
        let program = Arc::clone(&self.program);
        let func = state.frame.func;
        let function = &program.functions[func.index()];
        let addr = self.operand(state, addr, 64);
        let label = |edge: EdgeId| address::of_label(func, function.edges[edge.index()].to);
        let wrong =
            || Outcome::bug(Class::Unreachable, "a computed goto to something that is not one of its labels");
        let Some(e) = addr.expr() else {
            let edge = edges.iter().find(|edge| label(**edge) == addr.word);
            return edge.map(|edge| Go::Edge(edge.0)).ok_or_else(wrong);
        };
        let mut ways: Vec<(EdgeId, Expr)> = Vec::new();
        let graph = &mut self.solver.graph;
        let mut any = graph.boolean(false);
        for &edge in edges {
            let constant = graph.word(64, label(edge));
            let equal = graph.eq(e, constant);
            // A label may be listed twice.
            if ways.iter().all(|way| way.1 != equal) {
                any = graph.or(any, equal);
                ways.push((edge, equal));
            }
        }
        self.require(state, any, wrong())?;
        self.choose(state, ways)
    }
}
