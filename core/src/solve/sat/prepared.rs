//! A SAT solver with the gates, lemmas and guards that have been added to it, and queries as it gets them.

use crate::blast::cnf::Encoding;
use crate::blast::gate::Lit;
use crate::blast::sat_solver::{SatResult, SatSolver, SatTask, Unit};
use crate::blast::{ArrayTerm, Blaster};
use crate::budget::{Budget, Why};
use crate::cost;
use crate::expr::Expr;
use rustc_hash::FxHashMap;

/// Number of gates above which a SAT solver is replaced by a new one, unless the query has half of them.
const MAX_ENCODED_GATES: u64 = 400_000;
/// Cost of adding a gate to a SAT solver, in propagated literals.
const PROPAGATIONS_PER_GATE: u64 = 30;
/// Least number of gates assumed for a query when a new SAT solver is considered.
const MIN_GATES: u64 = 500;

/// Number of gates up to which the clauses of a SAT solver stay in the near caches of a processor.
const NEAR_GATES: usize = 10_000;

/// A SAT solver and what has been added to it.
pub struct Prepared<E> {
    engine: E,
    encoding: Encoding,
    /// Number of lemmas added, by array term.
    lemmas: FxHashMap<ArrayTerm, usize>,
    /// Numbers of the guard lemmas that were not added yet, and how many were looked at.
    open_guards: Vec<usize>,
    seen_guards: usize,
    /// Literals propagated so far outside the cones of the queries.
    waste: u64,
    /// Whether the roots of its only query are clauses, and whether they were added.
    is_single: bool,
    has_roots: bool,
}

/// Result of a run, with what it took.
pub struct Ran {
    pub outcome: SatResult,
    pub conflicts: u64,
    /// Effort of the search, and number of gates added before.
    pub effort: u64,
    pub gates: u64,
    /// Assignments at conflicts.
    pub harvest: Vec<Box<[u64]>>,
}

/// Limits of a run.
#[derive(Clone, Copy)]
pub struct Limits {
    pub conflicts: u64,
    /// Number of assignments that are kept.
    pub keep: usize,
    pub effort: u64,
}

/// Cost of a unit of the work of a solver with this number of gates.
fn unit_cost(unit: Unit, gates: usize) -> u64 {
    match unit {
        Unit::Propagation if gates > NEAR_GATES => cost::FAR_PROPAGATION,
        Unit::Propagation => cost::PROPAGATION,
        Unit::Tick => cost::TICK,
    }
}

/// A query as literals of gates.
pub struct GateQuery {
    /// Literals of the constraints in path order, then of the condition.
    pub roots: Vec<Lit>,
    /// Constraint of each root; `None` for the condition.
    pub origins: Vec<Option<Expr>>,
    pub inputs: Vec<u32>,
    pub array_terms: Vec<ArrayTerm>,
    /// Number of gates in the cones of the roots; shared ones count several times.
    pub gates: u64,
}

impl<E: SatSolver> Prepared<E> {
    pub fn new(engine: E) -> Prepared<E> {
        Prepared {
            engine,
            encoding: Encoding::new(),
            lemmas: FxHashMap::default(),
            open_guards: Vec::new(),
            seen_guards: 0,
            waste: 0,
            is_single: false,
            has_roots: false,
        }
    }

    /// A solver of one query, whose roots are clauses.
    pub fn of_one_query(engine: E) -> Prepared<E> {
        Prepared { is_single: true, ..Prepared::new(engine) }
    }

    /// Has it spent as much work outside the queries' cones as adding this query to a new solver costs?
    pub fn is_wasteful(&self, gate_query: &GateQuery) -> bool {
        self.encoding.len() as u64 > MAX_ENCODED_GATES.max(2 * gate_query.gates)
            || self.waste > PROPAGATIONS_PER_GATE * gate_query.gates.max(MIN_GATES)
    }

    /// Adds the query, and runs the solver.
    pub fn run(&mut self, blaster: &Blaster, gate_query: &GateQuery, budget: &Budget, limits: Limits) -> Ran {
        let before = (self.engine.conflicts(), self.engine.work(), self.encoding.len());
        let outcome = self.ask(blaster, gate_query, budget, limits).unwrap_or_else(SatResult::Stopped);
        Ran {
            outcome,
            conflicts: self.engine.conflicts() - before.0,
            effort: (self.engine.work() - before.1) * unit_cost(E::UNIT, self.encoding.len()),
            gates: self.encoding.len().saturating_sub(before.2) as u64,
            harvest: self.engine.take_harvest(),
        }
    }

    fn ask(
        &mut self,
        blaster: &Blaster,
        gate_query: &GateQuery,
        budget: &Budget,
        limits: Limits,
    ) -> Result<SatResult, Why> {
        let gates = self.encoding.len();
        let mut literal = |lit: Lit| self.encoding.literal(&blaster.gates, lit, &mut self.engine, budget);
        let mut assumptions: Vec<i32> =
            gate_query.roots.iter().map(|&root| literal(root)).collect::<Result<_, _>>()?;
        let input = |&node: &u32| literal(Lit::new(node, false));
        let traced: Vec<i32> = gate_query.inputs.iter().map(input).collect::<Result<_, _>>()?;
        for &array_term in &gate_query.array_terms {
            let added = self.lemmas.entry(array_term).or_insert(0);
            for &lemma in &blaster.lemmas(array_term)[*added..] {
                let literal = self.encoding.literal(&blaster.gates, lemma, &mut self.engine, budget)?;
                self.engine.clause(&[literal]);
                *added += 1;
            }
        }
        self.add_guards(blaster, budget)?;
        if self.is_single {
            for literal in assumptions.drain(..).filter(|_| !self.has_roots) {
                self.engine.clause(&[literal]);
            }
            self.has_roots = true;
        }
        let before = (self.engine.conflicts(), self.engine.propagations());
        let adding = self.encoding.len().saturating_sub(gates) as u64 * cost::GATE;
        let work = match limits.effort {
            u64::MAX => u64::MAX,
            effort => effort.saturating_sub(adding) / unit_cost(E::UNIT, self.encoding.len()),
        };
        let outcome = self.engine.solve(&SatTask {
            assumptions: &assumptions,
            traced: &traced,
            budget,
            conflicts: limits.conflicts,
            work,
            max_samples: limits.keep,
        });
        // Without conflicts each gate of the query is propagated once; the rest is waste.
        if self.engine.conflicts() == before.0 {
            self.waste += (self.engine.propagations() - before.1).saturating_sub(gate_query.gates);
        }
        Ok(match outcome {
            SatResult::Unsat(_) if self.is_single => SatResult::Unsat(vec![true; gate_query.roots.len()]),
            outcome => outcome,
        })
    }

    /// Adds the guard lemmas about words that the solver has.
    fn add_guards(&mut self, blaster: &Blaster, budget: &Budget) -> Result<(), Why> {
        let lemmas = blaster.guard_lemmas();
        self.open_guards.extend(self.seen_guards..lemmas.len());
        self.seen_guards = lemmas.len();
        let mut at = 0;
        while at < self.open_guards.len() {
            let lemma = &lemmas[self.open_guards[at]];
            if !lemma.is_about(|node| self.encoding.variable(node).is_some()) {
                at += 1;
                continue;
            }
            let literal = self.encoding.literal(&blaster.gates, lemma.lit, &mut self.engine, budget)?;
            self.engine.clause(&[literal]);
            self.open_guards.swap_remove(at);
        }
        Ok(())
    }
}
