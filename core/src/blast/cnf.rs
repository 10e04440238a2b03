//! From gates to clauses (Tseitin): each gate becomes one variable per solver, with clauses that make it equal to
//! its function. A tree of `and` gates whose inner gates have no variable yet becomes one wide gate.
//!
//! Both directions are always encoded: if all inputs of a cone are assigned, unit propagation assigns all of its
//! gates. Therefore the layer may stop at an assignment of the cone.

use super::gate::{Gate, Gates, Lit};
use super::sat_solver::ClauseSink;
use crate::budget::{Budget, Why};
use rustc_hash::FxHashMap;

/// Maximum number of operands of a wide `and`.
const MAX_AND_OPERANDS: usize = 64;
/// Number of gates between two reads of the clock.
const GATES_PER_POLL: usize = 2048;

/// The variables of one solver by gate.
#[derive(Default)]
pub struct Encoding {
    variables: FxHashMap<u32, i32>,
}

impl Encoding {
    pub fn new() -> Encoding {
        Encoding::default()
    }

    /// Number of encoded gates.
    pub fn len(&self) -> usize {
        self.variables.len()
    }

    pub fn is_empty(&self) -> bool {
        self.variables.is_empty()
    }

    /// The variable of an encoded gate.
    pub fn variable(&self, node: u32) -> Option<i32> {
        self.variables.get(&node).copied()
    }

    fn known(&self, lit: Lit) -> i32 {
        let variable = self.variables[&lit.node()];
        if lit.is_negated() { -variable } else { variable }
    }

    /// The solver's literal for `root`; adds the missing gates. If it stops early, every gate that has a variable
    /// is completely encoded. Errors: the limit that was reached.
    pub fn literal(
        &mut self,
        gates: &Gates,
        root: Lit,
        solver: &mut impl ClauseSink,
        budget: &Budget,
    ) -> Result<i32, Why> {
        if let Some(&variable) = self.variables.get(&root.node()) {
            return Ok(if root.is_negated() { -variable } else { variable });
        }
        let mut stack = vec![(root.node(), None)];
        let mut leaves = Vec::new();
        while let Some((node, pending)) = stack.pop() {
            if self.variables.contains_key(&node) {
                continue;
            }
            let gate = gates.gate(node);
            if pending.is_none() {
                leaves.clear();
                self.operands(gates, gate, &mut leaves);
                stack.push((node, Some(leaves.clone())));
                stack.extend(leaves.iter().map(|lit| (lit.node(), None)));
                continue;
            }
            if self.variables.len().is_multiple_of(GATES_PER_POLL)
                && let Some(why) = budget.spent()
            {
                return Err(why);
            }
            let operands: Vec<i32> = pending.into_iter().flatten().map(|lit| self.known(lit)).collect();
            let variable = solver.variable(gate == Gate::Input);
            define(gate, variable, &operands, solver);
            self.variables.insert(node, variable);
        }
        Ok(self.known(root))
    }

    /// Operands of a gate, with inner `and` gates merged into it.
    fn operands(&self, gates: &Gates, gate: Gate, into: &mut Vec<Lit>) {
        let (operands, count) = gate.operands();
        if !matches!(gate, Gate::And(..)) {
            into.extend_from_slice(&operands[..count]);
            return;
        }
        let mut open = operands[..count].to_vec();
        while let Some(lit) = open.pop() {
            let inner = !lit.is_negated()
                && into.len() + open.len() + 2 <= MAX_AND_OPERANDS
                && !self.variables.contains_key(&lit.node());
            if let (Gate::And(a, b), true) = (gates.gate(lit.node()), inner) {
                open.extend([b, a]);
            } else {
                into.push(lit);
            }
        }
    }
}

fn define(gate: Gate, x: i32, operands: &[i32], solver: &mut impl ClauseSink) {
    match (gate, operands) {
        (Gate::False, _) => solver.clause(&[-x]),
        (Gate::Input, _) => {}
        (Gate::And(..), all) => {
            let mut clause = vec![x];
            for &a in all {
                solver.clause(&[-x, a]);
                clause.push(-a);
            }
            solver.clause(&clause);
        }
        (Gate::Xor(..), &[a, b]) => {
            solver.clause(&[-x, a, b]);
            solver.clause(&[-x, -a, -b]);
            solver.clause(&[x, -a, b]);
            solver.clause(&[x, a, -b]);
        }
        (Gate::Mux(..), &[c, t, e]) => {
            solver.clause(&[-x, -c, t]);
            solver.clause(&[x, -c, -t]);
            solver.clause(&[-x, c, e]);
            solver.clause(&[x, c, -e]);
            // Redundant, but they propagate equal arms before the condition is assigned.
            solver.clause(&[-x, t, e]);
            solver.clause(&[x, -t, -e]);
        }
        (Gate::Majority(..), &[a, b, c]) => {
            for (p, q) in [(a, b), (a, c), (b, c)] {
                solver.clause(&[-x, p, q]);
                solver.clause(&[x, -p, -q]);
            }
        }
        (Gate::Xor(..) | Gate::Mux(..) | Gate::Majority(..), _) => {
            unreachable!("the number of operands matches the gate")
        }
    }
}
