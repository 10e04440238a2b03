//! The batsat solver (MiniSat in Rust). No other file uses its types.
//!
//! It answers small queries quickly, and its theory hook sees the trail. `Trail` follows the inputs of the query:
//! once all are assigned, the assumptions are decided and there is no conflict, the query is answered and the
//! search stops. Only inputs are decision variables; gates follow by propagation. So a query costs as much as its
//! own cone, independently of what the solver has seen before.
//!
//! Harvest: `Trail` keeps the last value of each input. At a backtrack these values are the last trail without a
//! conflict, completed by the earlier values of unassigned inputs; they are offered as a sample.

use super::sample::{Sample, set_bit};
use super::sat_solver::{ClauseSink, SatResult, SatSolver, SatTask, Unit};
use crate::budget::{Budget, BudgetPoller, Why};
use batsat::theory::TheoryArg;
use batsat::{Callbacks, ClauseKind, Lit, Solver, SolverInterface, SolverOpts, Theory, Var, lbool};
use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Maximum number of propagations to a fixed point between two reads of the clock.
const PROPAGATIONS_PER_POLL: u32 = 64;
const NOT_TRACED: u32 = u32::MAX;

/// State shared by the trail and the callbacks during one solve.
#[derive(Default)]
struct Shared {
    found: AtomicBool,
    conflicts: AtomicU64,
    /// Literals propagated without a conflict, and for each conflict as many as the last time without one.
    propagated: AtomicU64,
    last_propagated: AtomicU64,
}

struct Control {
    shared: Arc<Shared>,
    poller: BudgetPoller,
    limit: u64,
    work_limit: u64,
    spent: Cell<bool>,
}

impl Callbacks for Control {
    fn on_new_clause(&mut self, _: &[Lit], kind: ClauseKind) {
        match kind {
            ClauseKind::Learnt => {
                self.shared.conflicts.fetch_add(1, Ordering::Relaxed);
                let last = self.shared.last_propagated.load(Ordering::Relaxed);
                self.shared.propagated.fetch_add(last, Ordering::Relaxed);
            }
            ClauseKind::Axiom | ClauseKind::Theory => {}
        }
    }

    fn stop(&self) -> bool {
        if self.shared.found.load(Ordering::Relaxed)
            || self.shared.conflicts.load(Ordering::Relaxed) >= self.limit
            || self.shared.propagated.load(Ordering::Relaxed) >= self.work_limit
        {
            return true;
        }
        if self.poller.spent() {
            self.spent.set(true);
        }
        self.spent.get()
    }
}

/// Follows the inputs of one query.
struct Trail {
    shared: Arc<Shared>,
    /// By variable: position among the traced inputs.
    position: Vec<u32>,
    /// The last value of each traced input.
    values: Vec<u64>,
    traced: usize,
    assumptions: usize,
    /// Length of the trail already processed, and number of traced inputs on it; `levels` has both at the start of
    /// each level.
    seen: usize,
    assigned: usize,
    levels: Vec<(usize, usize)>,
    changed: bool,
    sample: Sample,
}

impl Theory for Trail {
    fn final_check(&mut self, _: &mut TheoryArg) {}

    fn create_level(&mut self) {
        self.levels.push((self.seen, self.assigned));
    }

    fn pop_levels(&mut self, n: usize) {
        if self.changed
            && self.sample.is_enabled()
            && !self.shared.found.load(Ordering::Relaxed)
            && self.shared.conflicts.load(Ordering::Relaxed) > 0
        {
            self.sample.offer(&self.values);
            self.changed = false;
        }
        let level = self.levels.len() - n;
        (self.seen, self.assigned) = self.levels[level];
        self.levels.truncate(level);
    }

    fn n_levels(&self) -> usize {
        self.levels.len()
    }

    fn partial_check(&mut self, acts: &mut TheoryArg) {
        if self.shared.found.load(Ordering::Relaxed) {
            return;
        }
        let trail = acts.model();
        for lit in &trail[self.seen..] {
            let position = self.position[lit.var().idx() as usize];
            if position != NOT_TRACED {
                self.assigned += 1;
                self.changed = true;
                set_bit(&mut self.values, position, lit.sign());
            }
        }
        let propagated = (trail.len() - self.seen) as u64;
        self.shared.last_propagated.store(propagated, Ordering::Relaxed);
        self.shared.propagated.fetch_add(propagated, Ordering::Relaxed);
        self.seen = trail.len();
        if self.assigned == self.traced && self.levels.len() >= self.assumptions {
            self.shared.found.store(true, Ordering::Relaxed);
        }
    }

    fn explain_propagation(&mut self, _: Lit) -> &[Lit] {
        unreachable!("the theory propagates nothing")
    }
}

pub struct Batsat {
    solver: Solver<Control>,
    trail: Trail,
    shared: Arc<Shared>,
    clause: Vec<Lit>,
}

impl Batsat {
    pub fn new() -> Batsat {
        let shared = Arc::new(Shared::default());
        let control = Control {
            shared: shared.clone(),
            poller: BudgetPoller::new(Budget::unlimited(), PROPAGATIONS_PER_POLL),
            limit: u64::MAX,
            work_limit: u64::MAX,
            spent: Cell::new(false),
        };
        let trail = Trail {
            shared: shared.clone(),
            position: Vec::new(),
            values: Vec::new(),
            traced: 0,
            assumptions: 0,
            seen: 0,
            assigned: 0,
            levels: Vec::new(),
            changed: false,
            sample: Sample::default(),
        };
        Batsat { solver: Solver::new(SolverOpts::default(), control), trail, shared, clause: Vec::new() }
    }

    fn start(&mut self, task: &SatTask<'_>) {
        self.shared.found.store(false, Ordering::Relaxed);
        for count in [&self.shared.conflicts, &self.shared.propagated, &self.shared.last_propagated] {
            count.store(0, Ordering::Relaxed);
        }
        let control = self.solver.cb_mut();
        control.poller.budget = task.budget.clone();
        (control.limit, control.work_limit) = (task.conflicts, task.work);
        control.spent.set(false);
        let trail = &mut self.trail;
        trail.sample.start(task.max_samples);
        trail.position.resize(self.solver.num_vars() as usize, NOT_TRACED);
        trail.values.clear();
        trail.values.resize(task.traced.len().div_ceil(64), 0);
        (trail.traced, trail.assumptions) = (task.traced.len(), task.assumptions.len());
        (trail.seen, trail.assigned, trail.changed) = (self.solver.proved_at_lvl_0().len(), 0, false);
        trail.levels.clear();
        for (i, &input) in task.traced.iter().enumerate() {
            let lit = lit(input);
            match self.solver.value_lvl_0(lit) {
                value if value == lbool::UNDEF => trail.position[lit.var().idx() as usize] = i as u32,
                value => {
                    trail.assigned += 1;
                    set_bit(&mut trail.values, i as u32, value == lbool::TRUE);
                }
            }
        }
    }
}

impl Default for Batsat {
    fn default() -> Batsat {
        Batsat::new()
    }
}

fn lit(dimacs: i32) -> Lit {
    Lit::new(Var::unsafe_from_idx(dimacs.unsigned_abs() - 1), dimacs > 0)
}

impl ClauseSink for Batsat {
    fn variable(&mut self, input: bool) -> i32 {
        self.solver.new_var(lbool::UNDEF, input).idx() as i32 + 1
    }

    fn clause(&mut self, literals: &[i32]) {
        self.clause.clear();
        self.clause.extend(literals.iter().map(|&l| lit(l)));
        self.solver.add_clause_reuse(&mut self.clause);
    }
}

impl SatSolver for Batsat {
    const UNIT: Unit = Unit::Propagation;

    fn solve(&mut self, task: &SatTask<'_>) -> SatResult {
        self.start(task);
        let assumptions: Vec<Lit> = task.assumptions.iter().map(|&l| lit(l)).collect();
        let result = self.solver.solve_limited_preserving_trail_th(&mut self.trail, &assumptions);
        self.solver.pop_model(&mut self.trail);
        for &input in task.traced {
            self.trail.position[lit(input).var().idx() as usize] = NOT_TRACED;
        }
        if self.shared.found.load(Ordering::Relaxed) {
            let value = |i: usize| self.trail.values[i / 64] >> (i % 64) & 1 == 1;
            return SatResult::Sat((0..task.traced.len()).map(value).collect());
        }
        if result == lbool::FALSE {
            let failed = |&l: &Lit| self.solver.unsat_core_contains_var(l.var());
            return SatResult::Unsat(assumptions.iter().map(failed).collect());
        }
        match task.budget.spent() {
            Some(why) => SatResult::Stopped(why),
            None if self.solver.cb().spent.get() => SatResult::Stopped(Why::Deadline),
            None => SatResult::ConflictLimit,
        }
    }

    fn conflicts(&self) -> u64 {
        self.solver.num_conflicts()
    }

    fn propagations(&self) -> u64 {
        self.solver.num_propagations()
    }

    fn take_harvest(&mut self) -> Vec<Box<[u64]>> {
        self.trail.sample.take()
    }
}
