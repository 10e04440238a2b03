//! From gates to clauses (Tseitin): each gate becomes a variable once per solver, with clauses that make it equal
//! to its function. A tree of `and` gates whose inner ones nobody else has asked for is one wide gate.
//!
//! Both directions are always encoded: with all inputs of a cone assigned, unit propagation then assigns all of
//! its gates, which is what lets the layer stop at an assignment of the cone.

use super::gate::{Gate, Gates, Lit};
use super::sat_solver::ClauseSink;
use crate::budget::{Budget, Why};
use rustc_hash::FxHashMap;

/// Leaves of a wide `and`.
const WIDEST: usize = 64;
/// How often (in gates) the clock is looked at.
const CLOCK: usize = 2048;

/// Which variable of a solver stands for which gate.
#[derive(Default)]
pub struct Encoding {
    variables: FxHashMap<u32, i32>,
}

impl Encoding {
    pub fn new() -> Encoding {
        Encoding::default()
    }

    /// Gates in the solver.
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

    /// The solver's literal for `root`, after adding whatever it needs. Stopping half way leaves only gates that
    /// are completely there.
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
        while let Some((node, opened)) = stack.pop() {
            if self.variables.contains_key(&node) {
                continue;
            }
            let gate = gates.gate(node);
            if opened.is_none() {
                leaves.clear();
                self.operands(gates, gate, &mut leaves);
                stack.push((node, Some(leaves.clone())));
                stack.extend(leaves.iter().map(|lit| (lit.node(), None)));
                continue;
            }
            if self.variables.len().is_multiple_of(CLOCK)
                && let Some(why) = budget.spent()
            {
                return Err(why);
            }
            let operands: Vec<i32> = opened.into_iter().flatten().map(|lit| self.known(lit)).collect();
            let variable = solver.variable(gate == Gate::Input);
            define(gate, variable, &operands, solver);
            self.variables.insert(node, variable);
        }
        Ok(self.known(root))
    }

    /// What a gate is a function of, once inner `and` gates are merged into it.
    fn operands(&self, gates: &Gates, gate: Gate, into: &mut Vec<Lit>) {
        let (operands, count) = gate.operands();
        if !matches!(gate, Gate::And(..)) {
            into.extend_from_slice(&operands[..count]);
            return;
        }
        let mut open = operands[..count].to_vec();
        while let Some(lit) = open.pop() {
            let inner = !lit.is_negated()
                && into.len() + open.len() + 2 <= WIDEST
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
            let mut together = vec![x];
            for &a in all {
                solver.clause(&[-x, a]);
                together.push(-a);
            }
            solver.clause(&together);
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
            // Implied, but they let equal arms through before the condition is known.
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
            unreachable!("as many operands as the gate has")
        }
    }
}
