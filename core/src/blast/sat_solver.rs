//! Interface to SAT solvers: variables, clauses, and solving under assumptions with a conflict limit. Literals are
//! as in DIMACS: a variable's number, from 1 on, or its negative.

use crate::budget::{Budget, Why};

/// Receives variables and clauses.
pub trait ClauseSink {
    /// A new variable; `input` if it is a free bit and not the output of a gate.
    fn variable(&mut self, input: bool) -> i32;

    fn clause(&mut self, literals: &[i32]);
}

/// Result of a solve.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum SatResult {
    /// Values of the traced inputs, in order.
    Sat(Vec<bool>),
    /// Which assumptions are in the core, in order.
    Unsat(Vec<bool>),
    /// The limit of conflicts or work was reached.
    ConflictLimit,
    Stopped(Why),
}

/// One call of a SAT solver: assumptions, and the inputs whose values are wanted.
pub struct SatTask<'a> {
    pub assumptions: &'a [i32],
    pub traced: &'a [i32],
    pub budget: &'a Budget,
    /// Conflict limit.
    pub conflicts: u64,
    /// Limit of the work, in units of the solver.
    pub work: u64,
    /// Maximum number of sampled assignments.
    pub max_samples: usize,
}

/// Unit of a SAT solver's work.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Unit {
    /// A literal propagated.
    Propagation,
    /// A cache line read by the search, as CaDiCaL estimates them.
    Tick,
}

/// An incremental SAT solver.
pub trait SatSolver: ClauseSink {
    const UNIT: Unit;

    fn solve(&mut self, task: &SatTask<'_>) -> SatResult;

    /// Number of conflicts so far.
    fn conflicts(&self) -> u64;

    /// Number of literals propagated so far.
    fn propagations(&self) -> u64;

    /// Work so far, in units.
    fn work(&self) -> u64 {
        self.propagations()
    }

    /// Assignments at conflicts of the last solve, as bits of the traced inputs in order.
    fn take_harvest(&mut self) -> Vec<Box<[u64]>>;
}
