//! Sizes of the cores of each layer, compared with minimal ones.

use partita_core::budget::Budget;
use partita_core::expr::Expr;
use partita_core::query::{Answer, Core, Query};
use partita_core::solve::Solver;
use std::collections::BTreeMap;

/// By layer: number of cores, of their constraints, and of those of the minimal cores found by removing constraints
/// one by one.
#[derive(Default)]
pub struct Sizes(BTreeMap<String, (u64, u64, u64)>);

/// Number of unsat answers of each layer.
pub fn refutations(solver: &Solver) -> Vec<(String, u64)> {
    solver.statistics().into_iter().map(|layer| (layer.name, layer.meter.unsat)).collect()
}

impl Sizes {
    /// Adds a new core; `before` has the number of unsat answers of each layer before it.
    pub fn add(&mut self, solver: &mut Solver, before: &[(String, u64)], condition: Expr, core: &Core) {
        let after = refutations(solver);
        let answered = before.iter().zip(&after).find(|(old, new)| old.1 < new.1);
        let layer = answered.map_or("none", |(old, _)| &old.0).to_string();
        let constraints = core.constraints.as_slice();
        let least = minimal(solver, constraints, condition, core.condition).len();
        let (count, size, smallest) = self.0.entry(layer).or_default();
        *count += 1;
        *size += constraints.len() as u64;
        *smallest += least as u64;
    }

    pub fn merge(&mut self, other: &Sizes) {
        for (layer, sizes) in &other.0 {
            let (count, size, smallest) = self.0.entry(layer.clone()).or_default();
            *count += sizes.0;
            *size += sizes.1;
            *smallest += sizes.2;
        }
    }

    pub fn print(&self) {
        println!("{:<12}{:>8}{:>20}{:>18}", "layer", "cores", "mean constraints", "of a minimal one");
        for (layer, &(count, size, smallest)) in &self.0 {
            let mean = |sum: u64| sum as f64 / count as f64;
            println!("{layer:<12}{count:>8}{:>20.2}{:>18.2}", mean(size), mean(smallest));
        }
    }
}

/// A subset of the constraints that is unsatisfiable, while every proper subset is satisfiable.
fn minimal(solver: &mut Solver, constraints: &[Expr], condition: Expr, with_condition: bool) -> Vec<Expr> {
    let mut kept = constraints.to_vec();
    let condition = if with_condition { condition } else { solver.graph.boolean(true) };
    for &constraint in constraints {
        let fewer: Vec<Expr> = kept.iter().copied().filter(|&e| e != constraint).collect();
        let mut path = solver.tree.retain(solver.tree.root());
        for &e in &fewer {
            let longer = solver.tree.extend(&solver.graph, path, e);
            solver.tree.release(path);
            path = longer;
        }
        let answer = solver.check(&Query::new(path, condition), &Budget::unlimited());
        solver.tree.release(path);
        if matches!(answer, Answer::Unsat(_)) {
            kept = fewer;
        }
    }
    kept
}
