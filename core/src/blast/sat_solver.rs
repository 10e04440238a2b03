//! What a SAT solver must offer: variables, clauses, and solving under assumptions with a limit.
//!
//! Literals are as in DIMACS: a variable's number, from 1 on, or its negative.

use crate::budget::{Budget, Why};

/// Where clauses go.
pub trait ClauseSink {
    /// A new variable; `input` if it is a free bit rather than the output of a gate.
    fn variable(&mut self, input: bool) -> i32;

    fn clause(&mut self, literals: &[i32]);
}

/// How a solve ended.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum SatResult {
    /// Values of the traced inputs, in their order.
    Sat(Vec<bool>),
    /// Which of the assumptions fail together.
    Unsat(Vec<bool>),
    /// The conflict limit was reached.
    ConflictLimit,
    Stopped(Why),
}

/// What to solve: assumptions in order, and the inputs whose values are wanted.
pub struct SatTask<'a> {
    pub assumptions: &'a [i32],
    pub traced: &'a [i32],
    pub budget: &'a Budget,
    /// Give up after this many conflicts.
    pub conflicts: u64,
    /// How many assignments met at conflicts to keep.
    pub keep: usize,
}

/// An incremental SAT solver.
pub trait SatSolver: ClauseSink {
    fn solve(&mut self, task: &SatTask<'_>) -> SatResult;

    /// Conflicts so far.
    fn conflicts(&self) -> u64;

    /// Literals propagated so far.
    fn propagations(&self) -> u64;
}
