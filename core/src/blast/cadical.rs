//! CaDiCaL as an engine, and the only file that knows it. Its preprocessing takes on what is hard; its fixed cost
//! for each call makes it second choice for what is easy.

use super::engine::{Clauses, Engine, Outcome, Task};
use crate::budget::{Watch, Why};
use cadical_sys::{CaDiCal, Status, Terminator};

struct Deadline(Watch);

/// How rarely the clock is looked at when CaDiCaL asks.
const CLOCK: u32 = 16;

impl Terminator for Deadline {
    fn terminated(&mut self) -> bool {
        self.0.spent()
    }
}

pub struct Cadical {
    solver: CaDiCal,
    variables: i32,
    conflicts: u64,
    propagations: u64,
}

// SAFETY: a CaDiCaL solver has no ties to the thread that made it, and this is its only owner.
unsafe impl Send for Cadical {}

impl Cadical {
    pub fn new() -> Cadical {
        let mut solver = CaDiCal::new();
        // Variables are numbered here, and not introduced by the solver itself.
        solver.set("factor", 0);
        // Zeros first, as the other engine does: inputs that satisfy a program's conditions are mostly small numbers.
        // (A Pythagorean triple with one side of at least 1,000 takes 14 s so, and minutes the other way round.)
        solver.set("phase", 0);
        Cadical { solver, variables: 0, conflicts: 0, propagations: 0 }
    }
}

impl Default for Cadical {
    fn default() -> Cadical {
        Cadical::new()
    }
}

impl Clauses for Cadical {
    fn variable(&mut self, _input: bool) -> i32 {
        self.variables += 1;
        self.variables
    }

    fn clause(&mut self, literals: &[i32]) {
        literals.iter().for_each(|&l| self.solver.add(l));
        self.solver.add(0);
    }
}

impl Engine for Cadical {
    fn solve(&mut self, task: &Task<'_>) -> Outcome {
        task.assumptions.iter().for_each(|&l| self.solver.assume(l));
        if let Ok(conflicts) = i32::try_from(task.conflicts) {
            self.solver.limit("conflicts", conflicts);
        }
        self.solver.connect_terminator(Deadline(Watch::new(task.budget.clone(), CLOCK)));
        let status = self.solver.solve();
        self.solver.disconnect_terminator();
        let count = |name| self.solver.get_statistic_value(name).max(0) as u64;
        (self.conflicts, self.propagations) = (count("conflicts"), count("propagations"));
        match status {
            Status::SATISFIABLE => {
                Outcome::Sat(task.traced.iter().map(|&l| self.solver.val(l) > 0).collect())
            }
            Status::UNSATISFIABLE => {
                Outcome::Unsat(task.assumptions.iter().map(|&l| self.solver.failed(l)).collect())
            }
            Status::UNKNOWN => match task.budget.spent() {
                Some(why) => Outcome::Stopped(why),
                None if task.conflicts < i32::MAX as u64 => Outcome::Tired,
                None => Outcome::Stopped(Why::Deadline),
            },
        }
    }

    fn conflicts(&self) -> u64 {
        self.conflicts
    }

    fn propagations(&self) -> u64 {
        self.propagations
    }
}
