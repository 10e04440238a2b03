//! Refutations of sets of clauses, as LRAT: each derived clause with the clauses that it follows from by unit
//! propagation. CaDiCaL reports them while it solves; what the empty clause does not depend on is dropped. Nothing
//! here has to be trusted: a checker reads the result.

use super::cadical::Deadline;
use crate::budget::{Budget, Why};
use cadical_sys::{CaDiCal, ProofTracer, Status};
use rustc_hash::FxHashMap;
use std::cell::RefCell;
use std::fmt::Write;
use std::rc::Rc;

/// Result of an attempt at a refutation.
#[derive(Debug)]
pub enum Refutation {
    /// Steps in LRAT's text form. The clauses have the numbers 1 to n in their order.
    Lrat(String),
    /// An assignment of the variables from 1 on that satisfies all clauses.
    Model(Vec<bool>),
    Stopped(Why),
}

struct Step {
    clause: Box<[i32]>,
    antecedents: Box<[i64]>,
}

/// Clauses by CaDiCaL's numbers, in the order in which they were derived.
#[derive(Default)]
struct Steps {
    originals: i64,
    /// Number of a clause in the result, for given clauses.
    number: FxHashMap<i64, i64>,
    order: Vec<i64>,
    derived: FxHashMap<i64, Step>,
    empty: Option<i64>,
}

impl ProofTracer for Steps {
    fn add_original_clause(&mut self, id: i64, _redundant: bool, clause: &[i32], restored: bool) {
        if !restored {
            self.originals += 1;
            self.number.insert(id, self.originals);
            if clause.is_empty() {
                self.empty.get_or_insert(id);
            }
        }
    }

    fn add_derived_clause(
        &mut self,
        id: i64,
        _redundant: bool,
        _witness: i32,
        clause: &[i32],
        antecedents: &[i64],
    ) {
        if clause.is_empty() {
            self.empty.get_or_insert(id);
        }
        self.order.push(id);
        self.derived.insert(id, Step { clause: clause.into(), antecedents: antecedents.into() });
    }

    fn delete_clause(&mut self, _id: i64, _redundant: bool, _clause: &[i32]) {}
    fn weaken_minus(&mut self, _id: i64, _clause: &[i32]) {}
    fn strengthen(&mut self, _id: i64) {}
    fn finalize_clause(&mut self, _id: i64, _clause: &[i32]) {}
    fn add_assumption(&mut self, _literal: i32) {}
    fn add_constraint(&mut self, _clause: &[i32]) {}
    fn reset_assumptions(&mut self) {}
    fn add_assumption_clause(&mut self, _id: i64, _clause: &[i32], _antecedents: &[i64]) {}
    fn conclude_sat(&mut self, _conclusion: i32, _model: &[i32]) {}
    fn conclude_unsat(&mut self, _conclusion: i32, _ids: &[i64]) {}
    fn conclude_unknown(&mut self, _trail: &[i32]) {}
}

impl Steps {
    /// The steps that the empty clause depends on, renumbered after the given clauses.
    fn lrat(mut self) -> String {
        let Some(empty) = self.empty else { return String::new() };
        let mut needed = vec![empty];
        let mut seen: rustc_hash::FxHashSet<i64> = needed.iter().copied().collect();
        while let Some(id) = needed.pop() {
            if let Some(step) = self.derived.get(&id) {
                needed.extend(step.antecedents.iter().copied().filter(|&other| seen.insert(other)));
            }
        }
        let mut text = String::new();
        let mut last = self.originals;
        for id in self.order.iter().filter(|id| seen.contains(id)) {
            last += 1;
            let step = &self.derived[id];
            let _ = write!(text, "{last}");
            for literal in &step.clause {
                let _ = write!(text, " {literal}");
            }
            text.push_str(" 0");
            for other in &step.antecedents {
                let _ = write!(text, " {}", self.number.get(other).copied().unwrap_or(0));
            }
            text.push_str(" 0\n");
            self.number.insert(*id, last);
            if *id == empty {
                break;
            }
        }
        text
    }
}

/// Refutes clauses over the variables 1 to `variables`; each clause ends with a zero.
pub fn refute(variables: i32, clauses: &[i32], budget: &Budget) -> Refutation {
    let steps = Rc::new(RefCell::new(Steps::default()));
    let mut solver = CaDiCal::new();
    // A proof without extended resolution, so that each step follows by unit propagation.
    solver.set("factor", 0);
    solver.set("lrat", 1);
    solver.connect_proof_tracer1(steps.clone(), true, false);
    solver.resize(variables);
    clauses.iter().for_each(|&literal| solver.add(literal));
    solver.connect_terminator(Deadline::of(budget));
    let status = solver.solve();
    solver.disconnect_terminator();
    match status {
        Status::SATISFIABLE => {
            Refutation::Model((1..=variables).map(|variable| solver.val(variable) > 0).collect())
        }
        Status::UNSATISFIABLE => {
            drop(solver);
            let steps = Rc::try_unwrap(steps).map(RefCell::into_inner);
            Refutation::Lrat(steps.map(Steps::lrat).unwrap_or_default())
        }
        Status::UNKNOWN => Refutation::Stopped(budget.spent().unwrap_or(Why::Deadline)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refutation_ends_with_the_empty_clause() {
        let clauses = [1, 2, 0, -1, 2, 0, 1, -2, 0, -1, -2, 0];
        let Refutation::Lrat(text) = refute(2, &clauses, &Budget::unlimited()) else {
            panic!("expected a refutation")
        };
        let last: Vec<&str> = text.lines().last().unwrap().split(' ').collect();
        assert_eq!(last[1], "0", "{text}");
        assert!(last[2..last.len() - 1].iter().all(|hint| hint.parse::<u32>().unwrap() > 0), "{text}");
    }

    #[test]
    fn a_model_satisfies_the_clauses() {
        let found = refute(3, &[1, 2, 0, -1, 0, 3, -2, 0], &Budget::unlimited());
        assert!(matches!(&found, Refutation::Model(model) if model == &[false, true, true]), "{found:?}");
    }
}
