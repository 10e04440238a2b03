//! Translation of assertions to a query: splits conjunctions, recognises tables, extends the path tree with
//! the constraints, and maps a core back to assertions.
//!
//! Conjuncts of one assertion are sorted by handle, older expressions first. So a script that repeats a
//! growing conjunction (as KLEE's logs do, newest part first) follows the same path each time, and the newest
//! conjunct is the condition.

use super::eliminate::Floats;
use super::on_demand::OnDemand;
use super::tables::{self, ElementTable};
use super::{LastCheck, Session, preprocess};
use crate::budget::Budget;
use crate::expr::{Bits, Evaluator, Expr, Graph, Model, Op, Sort};
use crate::query::{Answer, Core, Path, Query, Reasons, Status, Why};
use crate::solve::Solver;
use rustc_hash::FxHashSet;
use std::collections::BTreeSet;

/// Parts of a check that later commands can use.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Reuse {
    /// There are several names or assumptions, of which a core is a part.
    Cores,
    /// There are levels or one assumption: similar checks may follow, but a core has no parts.
    Brief,
    Nothing,
}

/// A conjunct of an assertion or assumption, possibly rewritten with tables.
#[derive(Clone)]
pub(super) struct Constraint {
    pub(super) expr: Expr,
    /// The number of the assertion; assumptions are numbered after assertions.
    pub(super) origin: usize,
    /// Numbers of the tables that it contains.
    pub(super) tables: Vec<usize>,
}

/// Returns the conjuncts of a boolean that are not in `seen`, oldest first, and adds them to `seen`. A shared
/// conjunction is split once. A negated disjunction is a conjunction: `not (hypotheses => goal)` is how tools ask whether
/// a goal follows.
pub(super) fn conjuncts(graph: &mut Graph, e: Expr, seen: &mut FxHashSet<Expr>) -> Vec<Expr> {
    let mut found = Vec::new();
    let mut stack = vec![e];
    while let Some(e) = stack.pop() {
        if graph.is_true(e) || !seen.insert(e) {
            continue;
        }
        if graph.op(e) == Op::And {
            stack.extend(graph.kids(e));
        } else if graph.op(e) == Op::Not && graph.op(graph.kid(e, 0)) == Op::Or {
            let alternatives = graph.kids(graph.kid(e, 0));
            stack.extend(alternatives.into_iter().map(|alternative| graph.not(alternative)));
        } else {
            found.push(e);
        }
    }
    found.sort_unstable();
    found
}

/// Checks `condition` under `constraints`. Retains the path instead of the previous one.
pub(super) fn ask(
    solver: &mut Solver,
    retained_path: &mut Option<Path>,
    constraints: impl IntoIterator<Item = Expr>,
    condition: Expr,
    budget: &Budget,
) -> Answer {
    if solver.graph.is_false(condition) {
        return Answer::Unsat(Core { constraints: Reasons::None, condition: true });
    }
    let root = solver.tree.root();
    let mut path = solver.tree.retain(root);
    for constraint in constraints {
        if solver.graph.is_false(constraint) {
            solver.tree.release(path);
            return Answer::Unsat(Core { constraints: Reasons::One(constraint), condition: false });
        }
        let longer = solver.tree.extend(&solver.graph, path, constraint);
        solver.tree.release(path);
        path = longer;
    }
    if let Some(before) = retained_path.replace(path) {
        solver.tree.release(before);
    }
    if solver.graph.is_true(condition) {
        return solver.check_path(path, budget);
    }
    if let Status::Infeasible(core) = solver.tree.status(path) {
        let constraints = core.iter().copied().collect();
        return Answer::Unsat(Core { constraints, condition: false });
    }
    let answer = solver.check(&Query::new(path, condition), budget);
    match (&answer, solver.tree.status(path)) {
        (Answer::Sat(model), Status::Unchecked) => {
            solver.tree.set_status(path, Status::Feasible(model.clone()));
        }
        (Answer::Unsat(core), Status::Unchecked) if !core.condition => {
            solver.tree.set_status(path, Status::Infeasible(core.constraints.as_slice().into()));
        }
        (Answer::Sat(_) | Answer::Unsat(_) | Answer::Unknown(_), _) => {}
    }
    answer
}

impl Session {
    /// Checks the assertions together with the assumptions, each with its text.
    pub(super) fn check_sat(&mut self, assumptions: &[(Expr, String)]) -> String {
        if let (Some(message), false) = (self.rejected.first(), self.options.continued_execution) {
            let message = format!("a command was rejected: {message}");
            self.last = LastCheck::Unknown(Why::Layer { name: "script".into(), message });
            self.unknowns += 1;
            return "unknown".to_string();
        }
        let mut seen = FxHashSet::default();
        let mut constraints = Vec::new();
        // Their origin is neither an assertion nor an assumption.
        let none = self.assertions.len() + assumptions.len();
        let mut side = self.symbols.side_constraints(&mut self.solver.graph);
        side.extend(self.symbols.conditions());
        for e in side {
            let parts = conjuncts(&mut self.solver.graph, e, &mut seen);
            constraints.extend(parts.into_iter().map(|expr| Constraint {
                expr,
                origin: none,
                tables: Vec::new(),
            }));
        }
        let all = self.assertions.iter().map(|a| a.expr).chain(assumptions.iter().map(|a| a.0));
        for (origin, e) in all.enumerate() {
            let parts = conjuncts(&mut self.solver.graph, e, &mut seen);
            constraints.extend(parts.into_iter().map(|expr| Constraint { expr, origin, tables: Vec::new() }));
        }
        self.symbols.forget_nested_values();
        let names = self.assertions.iter().filter(|a| a.name.is_some()).count() + assumptions.len();
        self.reuse = if names > 1 {
            Reuse::Cores
        } else if names == 1 || !self.levels.is_empty() {
            Reuse::Brief
        } else {
            Reuse::Nothing
        };
        let (constraints, tables) = tables::recognise(&mut self.solver.graph, constraints);
        let answer = self.ask_constraints(&constraints);
        let verdict = answer.verdict().to_string();
        self.last = match answer {
            Answer::Sat(model) => LastCheck::Sat {
                model: self.with_tables(model, &tables),
                nested: self.symbols.nested_count(),
            },
            Answer::Unsat(core) => {
                let origins = origins(&core, &constraints, &tables);
                let count = self.assertions.len();
                let core =
                    origins.iter().filter(|&&i| i < count).filter_map(|&i| self.assertions[i].name).collect();
                let used = origins
                    .iter()
                    .filter(|&&i| (count..none).contains(&i))
                    .map(|&i| assumptions[i - count].1.clone());
                LastCheck::Unsat { core, assumptions: used.collect() }
            }
            Answer::Unknown(why) => {
                self.unknowns += 1;
                LastCheck::Unknown(why)
            }
        };
        verdict
    }

    fn ask_constraints(&mut self, constraints: &[Constraint]) -> Answer {
        let mut budget = self.limits.budget();
        if let Some(limit) = self.options.timeout {
            budget.deadline = Budget::for_time(limit).deadline;
        }
        let exprs: Vec<Expr> = constraints.iter().map(|constraint| constraint.expr).collect();
        match self.reuse {
            Reuse::Cores => return self.ask_all(&exprs, &budget),
            Reuse::Brief if self.options.shared_ms > 0 => {
                let brief = Budget {
                    effort: Some(self.options.shared_ms.saturating_mul(1_000_000)),
                    ..budget.clone()
                };
                match self.ask_all(&exprs, &brief) {
                    Answer::Unknown(Why::Effort) => self.preprocessed.late += 1,
                    answer => return answer,
                }
            }
            Reuse::Brief | Reuse::Nothing => {}
        }
        budget.whole_core = true;
        let floats = Floats::new(&mut self.solver.graph, self.symbols.floats());
        let counts = &mut self.preprocessed;
        let found = preprocess::preprocess(&mut self.solver.graph, &exprs, &floats, &self.options, counts);
        if found.rest == exprs {
            return self.ask_on_demand(&exprs, &budget);
        }
        let shared = (self.reuse == Reuse::Brief).then(|| self.retained_path.take()).flatten();
        let answer = self.ask_on_demand(&found.rest, &budget);
        if let Some(shared) = shared
            && let Some(own) = self.retained_path.replace(shared)
        {
            self.solver.tree.release(own);
        }
        match answer {
            Answer::Sat(model) => {
                let model = found.extend(&self.solver.graph, model);
                let mut evaluator = Evaluator::new();
                let mut session = evaluator.under(&self.solver.graph, &model);
                if exprs.iter().any(|&e| session.bits(e).is_zero()) {
                    debug_assert!(false, "a model of the rest does not extend");
                    let message = "internal error: a model of the preprocessed query does not extend".into();
                    return Answer::Unknown(Why::Layer { name: "script".into(), message });
                }
                Answer::Sat(model)
            }
            Answer::Unsat(_) => {
                Answer::Unsat(Core { constraints: exprs.into_iter().collect(), condition: true })
            }
            Answer::Unknown(why) => Answer::Unknown(why),
        }
    }

    /// Asks first without expensive terms (`on_demand.rs`).
    fn ask_on_demand(&mut self, constraints: &[Expr], budget: &Budget) -> Answer {
        let mut terms = match self.options.on_demand_gates {
            0 => None,
            gates => OnDemand::new(&mut self.solver.graph, constraints, gates),
        };
        while let Some(terms) = &mut terms
            && let Some(attempt) = terms.attempt(&mut self.solver.graph)
        {
            self.preprocessed.attempts += 1;
            let effort = budget.effort.unwrap_or(u64::MAX).min(attempt.effort);
            let brief = Budget { effort: Some(effort), ..budget.clone() };
            match self.ask_all(&attempt.constraints, &brief) {
                Answer::Sat(model) if terms.confirms(&self.solver.graph, &model) => {
                    return Answer::Sat(model);
                }
                Answer::Sat(_) => {}
                Answer::Unknown(Why::Effort) => break,
                answer => return answer,
            }
        }
        self.ask_all(constraints, budget)
    }

    fn ask_all(&mut self, constraints: &[Expr], budget: &Budget) -> Answer {
        let (condition, path) = match constraints.split_last() {
            Some((last, path)) => (*last, path),
            None => (self.solver.graph.boolean(true), &[][..]),
        };
        ask(&mut self.solver, &mut self.retained_path, path.iter().copied(), condition, budget)
    }

    /// Extends a model of the query to a model of the assertions by setting the elements of the tables.
    fn with_tables(&mut self, mut model: Model, tables: &[ElementTable]) -> Model {
        let graph = &self.solver.graph;
        for table in tables {
            let Sort::Array { index, element } = graph.sort(table.variable) else { unreachable!("an array") };
            for (i, &value) in table.elements.iter().enumerate() {
                let (i, value) = (Bits::word(index, i as u64), Bits::word(element, value));
                model.set_element(graph, table.variable, &i, value);
            }
        }
        model
    }
}

/// Returns the assertions and assumptions that a core depends on: those of its constraints, and those of the
/// elements of the tables in them.
fn origins(core: &Core, constraints: &[Constraint], tables: &[ElementTable]) -> BTreeSet<usize> {
    let mut origins = BTreeSet::new();
    let condition = constraints.last().filter(|_| core.condition).map(|last| last.expr);
    for constraint in constraints {
        if condition == Some(constraint.expr) || core.constraints.contains(constraint.expr) {
            origins.insert(constraint.origin);
            for &table in &constraint.tables {
                origins.extend(&tables[table].origins);
            }
        }
    }
    origins
}
