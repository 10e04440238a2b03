//! The CaDiCaL solver. Only this file and `refute.rs` use its types. Its preprocessing helps with hard queries; its fixed cost per
//! call makes it second choice for easy ones.
//!
//! Harvest: an external propagator that propagates nothing observes the assignments of the traced inputs. As with
//! batsat, the last value of each is offered as a sample at a backtrack.

use super::sample::{Sample, set_bit};
use super::sat_solver::{ClauseSink, SatResult, SatSolver, SatTask, Unit};
use crate::budget::{Budget, BudgetPoller, Why};
use cadical_sys::{CaDiCal, ExternalPropagator, Status, Terminator};
use rustc_hash::FxHashMap;
use std::sync::{Arc, Mutex};

/// Ends a solve when its budget is spent.
pub(super) struct Deadline(BudgetPoller);

/// Maximum number of terminator calls between two reads of the clock.
const CALLS_PER_POLL: u32 = 16;

impl Deadline {
    pub(super) fn of(budget: &Budget) -> Deadline {
        Deadline(BudgetPoller::new(budget.clone(), CALLS_PER_POLL))
    }
}

impl Terminator for Deadline {
    fn terminated(&mut self) -> bool {
        self.0.spent()
    }
}

/// The traced inputs by variable, and their last values.
#[derive(Default)]
struct Trail {
    position: FxHashMap<u32, u32>,
    values: Vec<u64>,
    changed: bool,
    sample: Sample,
}

/// CaDiCaL owns the propagator, so the trail is shared.
struct Observer(Arc<Mutex<Trail>>);

impl ExternalPropagator for Observer {
    fn is_lazy(&mut self) -> bool {
        false
    }

    fn notify_assignment(&mut self, literals: &[i32]) {
        let trail = &mut *self.0.lock().expect("no holder panics");
        for &literal in literals {
            if let Some(&at) = trail.position.get(&literal.unsigned_abs()) {
                set_bit(&mut trail.values, at, literal > 0);
                trail.changed = true;
            }
        }
    }

    fn notify_new_decision_level(&mut self) {}

    fn notify_backtrack(&mut self, _level: usize) {
        let trail = &mut *self.0.lock().expect("no holder panics");
        if std::mem::take(&mut trail.changed) {
            trail.sample.offer(&trail.values);
        }
    }

    /// The backtrack after this call removes the model, which is not a sample.
    fn cb_check_found_model(&mut self, _model: &[i32]) -> bool {
        self.0.lock().expect("no holder panics").changed = false;
        true
    }

    fn cb_has_external_clause(&mut self, _is_forgettable: &mut bool) -> bool {
        false
    }

    fn cb_add_external_clause_lit(&mut self) -> i32 {
        0
    }
}

pub struct Cadical {
    solver: CaDiCal,
    variables: i32,
    conflicts: u64,
    propagations: u64,
    ticks: u64,
    trail: Arc<Mutex<Trail>>,
    /// Whether inputs may be traced by later solves.
    traceable: bool,
}

// SAFETY: a CaDiCaL solver is not bound to the thread that created it, and this is its only owner.
unsafe impl Send for Cadical {}

impl Cadical {
    pub fn new() -> Cadical {
        let mut solver = CaDiCal::new();
        // This file numbers the variables, so the solver must not introduce its own.
        solver.set("factor", 0);
        // Phase false first, as in batsat: inputs that satisfy a program's conditions are mostly small numbers. (A
        // Pythagorean triple with one side of at least 1,000 takes 14 s this way, and minutes with the default.)
        solver.set("phase", 0);
        Cadical {
            solver,
            variables: 0,
            conflicts: 0,
            propagations: 0,
            ticks: 0,
            trail: Arc::default(),
            traceable: true,
        }
    }

    /// A solver without samples. `extends` if no variable is added after the first solve, so that the solver may
    /// introduce its own.
    pub fn untraced(extends: bool) -> Cadical {
        let mut cadical = Cadical { traceable: false, ..Cadical::new() };
        if extends {
            cadical.solver.set("factor", 1);
            // Variables are not declared before clauses use them, but all of them before the first solve.
            cadical.solver.set("factorcheck", 0);
        }
        cadical
    }

    /// Solves with the limits of a task.
    fn search(&mut self, task: &SatTask<'_>) -> Status {
        let (first_conflicts, first_ticks) = (self.conflicts, self.ticks);
        loop {
            task.assumptions.iter().for_each(|&l| self.solver.assume(l));
            let conflicts = task.conflicts.saturating_sub(self.conflicts - first_conflicts);
            if let Ok(conflicts) = i32::try_from(conflicts) {
                self.solver.limit("conflicts", conflicts);
            }
            let ticks = task.work.saturating_sub(self.ticks - first_ticks);
            if task.work < u64::MAX {
                // More than this is several calls.
                self.solver.limit("ticks", i32::try_from(ticks).unwrap_or(i32::MAX));
            }
            let (before, status) = (self.ticks, self.solver.solve());
            let count = |name| self.solver.get_statistic_value(name).max(0) as u64;
            (self.conflicts, self.propagations) = (count("conflicts"), count("propagations"));
            self.ticks = count("ticks");
            let is_part = ticks > i32::MAX as u64 && self.ticks - before >= i32::MAX as u64;
            let goes_on = matches!(status, Status::UNKNOWN) && is_part && task.budget.spent().is_none();
            if !goes_on || self.conflicts - first_conflicts >= task.conflicts {
                return status;
            }
        }
    }

    fn observe(&mut self, task: &SatTask<'_>) {
        {
            let trail = &mut *self.trail.lock().expect("no holder panics");
            trail.position = (0..).zip(task.traced).map(|(at, &l)| (l.unsigned_abs(), at)).collect();
            trail.values = vec![0; task.traced.len().div_ceil(64)];
            trail.changed = false;
            trail.sample.start(task.max_samples);
        }
        self.solver.connect_external_propagator(Observer(self.trail.clone()));
        task.traced.iter().for_each(|&l| self.solver.add_observed_var(l));
    }
}

impl Default for Cadical {
    fn default() -> Cadical {
        Cadical::new()
    }
}

impl ClauseSink for Cadical {
    fn variable(&mut self, input: bool) -> i32 {
        self.variables += 1;
        if input && self.traceable {
            // An eliminated variable cannot be observed, and any later query may trace it.
            self.solver.freeze(self.variables);
        }
        self.variables
    }

    fn clause(&mut self, literals: &[i32]) {
        literals.iter().for_each(|&l| self.solver.add(l));
        self.solver.add(0);
    }
}

impl SatSolver for Cadical {
    const UNIT: Unit = Unit::Tick;

    fn solve(&mut self, task: &SatTask<'_>) -> SatResult {
        self.solver.connect_terminator(Deadline::of(task.budget));
        if task.max_samples > 0 && self.traceable {
            self.observe(task);
        }
        let status = self.search(task);
        self.solver.disconnect_terminator();
        let outcome = match status {
            Status::SATISFIABLE => {
                SatResult::Sat(task.traced.iter().map(|&l| self.solver.val(l) > 0).collect())
            }
            Status::UNSATISFIABLE => {
                SatResult::Unsat(task.assumptions.iter().map(|&l| self.solver.failed(l)).collect())
            }
            Status::UNKNOWN => match task.budget.spent() {
                Some(why) => SatResult::Stopped(why),
                None if task.conflicts < i32::MAX as u64 || task.work < u64::MAX => SatResult::ConflictLimit,
                None => SatResult::Stopped(Why::Deadline),
            },
        };
        // The backtrack that follows is not caused by a conflict.
        self.trail.lock().expect("no holder panics").changed = false;
        self.solver.disconnect_external_propagator();
        outcome
    }

    fn conflicts(&self) -> u64 {
        self.conflicts
    }

    fn propagations(&self) -> u64 {
        self.propagations
    }

    fn work(&self) -> u64 {
        self.ticks
    }

    fn take_harvest(&mut self) -> Vec<Box<[u64]>> {
        self.trail.lock().expect("no holder panics").sample.take()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each input occurs in two clauses, next to a problem of thousands of conflicts: without freezing, inputs
    /// would be eliminated.
    #[test]
    fn inputs_can_be_traced_after_solves_without_tracing() {
        let mut engine = Cadical::new();
        let gates: Vec<i32> = (0..230).map(|_| engine.variable(false)).collect();
        let inputs: Vec<i32> = (0..40).map(|_| engine.variable(true)).collect();
        let mut state = 7u64;
        let mut literal = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let variable = gates[(state >> 33) as usize % gates.len()];
            if state >> 63 == 0 { variable } else { -variable }
        };
        (0..985).for_each(|_| engine.clause(&[literal(), literal(), literal()]));
        for &input in &inputs {
            engine.clause(&[input, literal()]);
            engine.clause(&[-input, literal()]);
        }
        let budget = Budget::unlimited();
        for keep in [0, 0, 0, 0, 0, 0, 8, 8] {
            let assumptions = [literal()];
            let task = SatTask {
                assumptions: &assumptions,
                traced: &inputs,
                budget: &budget,
                conflicts: u64::MAX,
                work: u64::MAX,
                max_samples: keep,
            };
            let outcome = engine.solve(&task);
            assert!(matches!(outcome, SatResult::Sat(_) | SatResult::Unsat(_)), "{outcome:?}");
            assert!(engine.take_harvest().len() <= keep);
        }
        assert!(engine.conflicts() > 2_000, "{}", engine.conflicts());
    }
}
