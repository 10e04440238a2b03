//! The layer `sat`: bit-blasting and incremental SAT.
//!
//! Answers: every query of QF_ABV, within time and memory.
//! Why sound: circuits agree with `eval` (tested exhaustively). Constraints are assumptions, so the failed assumptions
//! are a core. Models are evaluated.
//! When it helps: for queries that no cheaper layer answers.
//! Cost: an expression is blasted once; a query costs propagation through its own cone, plus search.
//! Source: batsat with a conflict limit, also on small inputs (`small_inputs.rs`), then CaDiCaL; docs/sat.md has the
//! figures. Near misses are collected during search as in "Partial solutions" (docs/cache.md).

mod prepared;

use super::near_misses::Place;
use super::{Layer, Rest, small_inputs};
use crate::blast::batsat::Batsat;
use crate::blast::cadical::Cadical;
use crate::blast::cdcl::Cdcl;
use crate::blast::gate::Lit;
use crate::blast::sat_solver::{SatResult, SatSolver};
use crate::blast::{Blaster, Consistency, Owner, max_gates};
use crate::budget::Why;
use crate::cost;
use crate::expr::Expr;
use crate::query::{Alive, Answer, Core, Query};
use crate::throttle::Throttle;
use crate::tuning::{SatOptions, ThrottleOptions};
use prepared::{GateQuery, Limits, Prepared, Ran};

/// Number of gates above which all are dropped, unless the last query had half of them.
const MAX_KEPT_GATES: u64 = 4_000_000;
/// Comparisons of arrays with indices up to this width are expanded if they mention every index.
const MAX_EXPANDED_INDEX_WIDTH: u32 = 16;
/// Rounds of lemmas about arrays in an attempt with a conflict limit.
const MAX_LIMITED_ROUNDS: u64 = 4;

/// SAT solvers in use.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Engines {
    Both,
    Batsat,
    Cadical,
    /// Our own, which keeps the assignment at each conflict.
    Conflicts,
    /// batsat up to its conflict limit, without small inputs.
    Limited,
}

pub struct Sat {
    engines: Engines,
    options: SatOptions,
    blaster: Blaster,
    batsat: Option<Prepared<Batsat>>,
    cadical: Option<Prepared<Cadical>>,
    cdcl: Option<Prepared<Cdcl>>,
    /// Solver of the current query alone, if its core may be the whole query.
    single: Option<Prepared<Cadical>>,
    /// Number of the last query that contains each gate, and of the current query.
    last_query: Vec<u32>,
    query: u32,
    /// Number of gates in the cones of the last query.
    last_gates: u64,
    /// Number of near misses kept from the current query.
    kept: usize,
    small_inputs: Throttle,
    counts: Counts,
}

#[derive(Default)]
struct Counts {
    conflicts: u64,
    /// Queries answered by small inputs.
    small_inputs: u64,
    handed_over: u64,
    /// Queries given to a solver of their own.
    single: u64,
    refuted: u64,
    rebuilt: u64,
    harvested: u64,
}

impl Sat {
    pub fn new(options: SatOptions, throttle: &ThrottleOptions) -> Sat {
        let engines = match options.engine {
            "batsat" => Engines::Batsat,
            "cadical" => Engines::Cadical,
            "conflicts" => Engines::Conflicts,
            _ => Engines::Both,
        };
        Sat { small_inputs: Throttle::by_tries(throttle), ..Sat::with(engines, options) }
    }

    /// A `Sat` with a conflict limit and its own gates, which collects no near misses.
    pub(super) fn limited(blaster: Blaster, conflicts: u64) -> Sat {
        let options = SatOptions { conflicts, harvest: false, ..SatOptions::default() };
        let mut sat = Sat::with(Engines::Limited, options);
        let expanded_index_width = sat.blaster.expanded_index_width;
        sat.blaster = blaster;
        sat.blaster.expanded_index_width = expanded_index_width;
        sat
    }

    fn with(engines: Engines, options: SatOptions) -> Sat {
        Sat {
            engines,
            blaster: new_blaster(&options),
            options,
            batsat: None,
            cadical: None,
            cdcl: None,
            single: None,
            last_query: Vec::new(),
            query: 0,
            last_gates: 0,
            kept: 0,
            small_inputs: Throttle::default(),
            counts: Counts::default(),
        }
    }

    /// Drops all gates and SAT solvers.
    fn reset(&mut self) {
        self.counts.rebuilt += 1;
        let expanded_index_width = self.blaster.expanded_index_width;
        self.blaster = new_blaster(&self.options);
        self.blaster.expanded_index_width = expanded_index_width;
        (self.batsat, self.cadical, self.cdcl) = (None, None, None);
        self.last_query = Vec::new();
        self.query = 0;
    }

    /// Drops wasteful SAT solvers.
    fn drop_wasteful(&mut self, gate_query: &GateQuery) {
        fn drop_one<E: SatSolver>(solver: &mut Option<Prepared<E>>, gate_query: &GateQuery) -> u64 {
            u64::from(solver.take_if(|solver| solver.is_wasteful(gate_query)).is_some())
        }
        self.counts.rebuilt += drop_one(&mut self.batsat, gate_query)
            + drop_one(&mut self.cadical, gate_query)
            + drop_one(&mut self.cdcl, gate_query);
    }

    fn answer(&mut self, query: &Query, rest: &mut Rest<'_>) -> Result<Answer, Why> {
        if self.blaster.gates.len() as u64 > MAX_KEPT_GATES.max(2 * self.last_gates) {
            self.reset();
        }
        let limit = max_gates(rest.budget);
        let new_gates = usize::try_from(rest.effort_left() / cost::GATE).unwrap_or(limit).min(limit);
        self.blaster.allow(rest.budget, (self.blaster.gates.len() + new_gates).min(limit));
        self.kept = 0;
        self.single = None;
        let begun = rest.effort();
        let constraints = query.constraints(rest.tree);
        // Multiplexers are built once for all queries of a path tree; a query that comes once needs few of many.
        self.blaster.lazy_reads = 0;
        if rest.budget.whole_core && self.options.lazy_reads > 0 {
            let roots: Vec<Expr> = constraints.iter().copied().chain([query.condition]).collect();
            if !self.blaster.has_few_multiplexers(rest.graph, &roots, self.options.lazy_gates) {
                self.blaster.lazy_reads = self.options.lazy_reads as u32;
            }
        }
        let mut gate_query = GateQuery {
            roots: Vec::with_capacity(constraints.len() + 1),
            origins: Vec::with_capacity(constraints.len() + 1),
            inputs: Vec::new(),
            array_terms: Vec::new(),
            gates: 0,
        };
        for origin in constraints.iter().copied().map(Some).chain([None]) {
            let root = self.blaster.literal(rest.graph, origin.unwrap_or(query.condition))?;
            if root == Lit::FALSE {
                let condition = origin.is_none();
                return Ok(Answer::Unsat(Core { constraints: origin.into_iter().collect(), condition }));
            }
            if root != Lit::TRUE {
                gate_query.roots.push(root);
                gate_query.origins.push(origin);
            }
        }
        self.gather(&mut gate_query);
        self.drop_wasteful(&gate_query);
        let mut tried_small = !self.options.small;
        loop {
            if let Some(width) = self.blaster.lacks_unmentioned_index(&gate_query.array_terms) {
                if width > MAX_EXPANDED_INDEX_WIDTH {
                    return Err(failure(format!(
                        "expected fewer than 2^{width} indices where arrays are compared"
                    )));
                }
                // Each time for a greater width.
                self.blaster.expanded_index_width = width;
                self.reset();
                return self.answer(query, rest);
            }
            let mut outcome = SatResult::ConflictLimit;
            if self.engines == Engines::Both
                && !tried_small
                && self.options.first_conflicts < self.options.conflicts
                && self.single.is_none()
            {
                outcome = self.run_batsat(query, &gate_query, rest, self.options.first_conflicts);
                // Once: lemmas about arrays do not make inputs small.
                tried_small = outcome == SatResult::ConflictLimit;
                if outcome == SatResult::ConflictLimit
                    && conflicts_left(rest) > self.options.small_conflicts
                    && let Some(answer) = self.try_small_inputs(query, &gate_query, rest, begun)
                {
                    return Ok(answer);
                }
            }
            if outcome == SatResult::ConflictLimit {
                outcome = self.solve(query, &gate_query, rest);
            }
            let values = match outcome {
                SatResult::Sat(values) => values,
                SatResult::Unsat(failed) => return core(&gate_query, &failed),
                SatResult::Stopped(why) => return Err(why),
                SatResult::ConflictLimit if rest.effort_left() < u64::MAX => return Err(Why::Effort),
                SatResult::ConflictLimit => return Err(failure("conflict limit reached".into())),
            };
            let assignment: Vec<(u32, bool)> = gate_query.inputs.iter().copied().zip(values).collect();
            match self.blaster.check_arrays(
                rest.graph,
                rest.evaluator,
                &assignment,
                &gate_query.array_terms,
            )? {
                Consistency::Refuted => {
                    self.counts.refuted += 1;
                    // Its limit is one for all rounds of lemmas.
                    if self.engines == Engines::Limited && self.counts.refuted > MAX_LIMITED_ROUNDS {
                        return Err(Why::Effort);
                    }
                    self.gather(&mut gate_query);
                }
                Consistency::Consistent(model) => {
                    if let Err(violated) = rest.satisfies(query, &model) {
                        debug_assert!(false, "the circuits and `eval` disagree on {violated:?}");
                        return Err(failure(format!(
                            "internal error: its model violates constraint {violated:?}"
                        )));
                    }
                    return Ok(Answer::Sat(model));
                }
            }
            if let Some(why) = rest.budget.spent() {
                return Err(why);
            }
        }
    }

    /// Collects the inputs and array terms of all roots, ascending, without duplicates.
    fn gather(&mut self, gate_query: &mut GateQuery) {
        self.query += 1;
        gate_query.inputs.clear();
        gate_query.array_terms.clear();
        gate_query.gates = 0;
        for &root in &gate_query.roots {
            let cone = self.blaster.cone(root);
            self.last_query.resize(self.blaster.gates.len(), 0);
            for &input in &cone.inputs {
                if std::mem::replace(&mut self.last_query[input as usize], self.query) != self.query {
                    gate_query.inputs.push(input);
                }
            }
            gate_query.array_terms.extend_from_slice(&cone.array_terms);
            gate_query.gates += cone.gates as u64;
        }
        gate_query.inputs.sort_unstable();
        gate_query.array_terms.sort_unstable();
        gate_query.array_terms.dedup();
        self.last_gates = gate_query.gates;
    }

    fn solve(&mut self, query: &Query, gate_query: &GateQuery, rest: &mut Rest<'_>) -> SatResult {
        if self.engines == Engines::Conflicts {
            let limits = self.limits(rest, u64::MAX);
            let cdcl = self.cdcl.get_or_insert_with(|| Prepared::new(Cdcl::new()));
            let ran = cdcl.run(&self.blaster, gate_query, rest.budget, limits);
            return self.note(query, gate_query, rest, ran);
        }
        let is_single = rest.budget.whole_core && self.options.single;
        // A query that was handed over once stays there when lemmas follow.
        if self.engines != Engines::Cadical && self.single.is_none() {
            let limit = match self.engines {
                Engines::Batsat => u64::MAX,
                // Rounds of lemmas about arrays are many short solves, for which batsat's state is the better one.
                Engines::Both if is_single && gate_query.array_terms.is_empty() => {
                    self.options.single_conflicts
                }
                Engines::Both | Engines::Limited | Engines::Cadical | Engines::Conflicts => {
                    self.options.conflicts
                }
            };
            let outcome = self.run_batsat(query, gate_query, rest, limit);
            // CaDiCaL is worth its start only if the budget allows more conflicts than batsat has had.
            let is_final = self.engines == Engines::Limited || conflicts_left(rest) <= self.options.conflicts;
            if outcome != SatResult::ConflictLimit || is_final {
                return outcome;
            }
            self.counts.handed_over += 1;
        }
        let limits = self.limits(rest, u64::MAX);
        let cadical = if is_single {
            self.single.get_or_insert_with(|| {
                self.counts.single += 1;
                // A lemma about arrays adds variables.
                let extends = gate_query.array_terms.is_empty();
                Prepared::of_one_query(Cadical::untraced(extends))
            })
        } else {
            self.cadical.get_or_insert_with(|| Prepared::new(Cadical::new()))
        };
        // The gates were counted when batsat got them.
        let ran = Ran { gates: 0, ..cadical.run(&self.blaster, gate_query, rest.budget, limits) };
        self.note(query, gate_query, rest, ran)
    }

    /// Runs batsat and collects its near misses.
    fn run_batsat(
        &mut self,
        query: &Query,
        gate_query: &GateQuery,
        rest: &mut Rest<'_>,
        limit: u64,
    ) -> SatResult {
        let limits = self.limits(rest, limit);
        let batsat = self.batsat.get_or_insert_with(|| Prepared::new(Batsat::new()));
        let mut ran = batsat.run(&self.blaster, gate_query, rest.budget, limits);
        if ran.outcome == SatResult::ConflictLimit {
            // The other half is for the solves that follow.
            ran.harvest.truncate(limits.keep / 2);
        }
        self.note(query, gate_query, rest, ran)
    }

    /// Counts the effort of a run and keeps its near misses. Returns its outcome.
    fn note(&mut self, query: &Query, gate_query: &GateQuery, rest: &mut Rest<'_>, ran: Ran) -> SatResult {
        self.counts.conflicts += ran.conflicts;
        rest.spend(ran.effort + ran.gates * cost::GATE);
        if !ran.harvest.is_empty() {
            self.kept += ran.harvest.len();
            self.counts.harvested += ran.harvest.len() as u64;
            rest.near_misses.put(query.path, self.places(gate_query), ran.harvest);
        }
        ran.outcome
    }

    /// Limits of a run with at most this number of conflicts.
    fn limits(&self, rest: &Rest<'_>, conflicts: u64) -> Limits {
        let conflicts = conflicts.min(conflicts_left(rest));
        Limits { conflicts, keep: self.near_misses_left(rest), effort: rest.effort_left() }
    }

    /// Number of near misses of the current query that may still be kept.
    fn near_misses_left(&self, rest: &Rest<'_>) -> usize {
        if let Some(number) = rest.near_misses.exactly.filter(|_| self.options.harvest) {
            return number;
        }
        let most = if self.options.harvest { self.options.kp as usize } else { 0 };
        most.min(rest.near_misses.wanted).saturating_sub(self.kept)
    }

    /// Tries to answer a query with small inputs (`small_inputs.rs`).
    fn try_small_inputs(
        &mut self,
        query: &Query,
        gate_query: &GateQuery,
        rest: &mut Rest<'_>,
        begun: u64,
    ) -> Option<Answer> {
        let is_single = rest.budget.whole_core && self.options.single;
        if gate_query.gates > small_inputs::MAX_GATES || self.small_inputs.skips() {
            return None;
        }
        let (limit, mut conflicts) = (rest.effort_limit, self.options.small_conflicts);
        if is_single {
            // A query that gets a CaDiCaL of its own is soon there: small inputs may take what it took so far.
            let now = rest.effort();
            rest.effort_limit = limit.min(now + (now - begun));
            conflicts = conflicts.min(self.options.first_conflicts);
        }
        let answer = self.try_widths(query, gate_query, rest, (conflicts, is_single));
        rest.effort_limit = limit;
        answer
    }

    fn try_widths(
        &mut self,
        query: &Query,
        gate_query: &GateQuery,
        rest: &mut Rest<'_>,
        (conflicts, is_single): (u64, bool),
    ) -> Option<Answer> {
        let exprs: Vec<Expr> =
            gate_query.origins.iter().map(|origin| origin.unwrap_or(query.condition)).collect();
        let words = small_inputs::words(rest.graph, &exprs);
        for width in small_inputs::WIDTHS {
            let mut small = Sat::limited(small_inputs::blaster(rest.graph, &words, width)?, conflicts);
            let answer = small.answer(query, rest);
            self.counts.conflicts += small.counts.conflicts;
            if let Ok(Answer::Sat(_)) = answer {
                self.counts.small_inputs += 1;
                self.small_inputs.note(1, self.options.small_tries);
                return answer.ok();
            }
            // A wider word makes the search longer.
            if is_single && !matches!(answer, Ok(Answer::Unsat(_))) {
                break;
            }
        }
        self.small_inputs.note(1, 0);
        None
    }

    /// Variables and array elements of the traced inputs, where the index is known without solving.
    fn places(&self, gate_query: &GateQuery) -> Vec<Place> {
        let mut places: Vec<Place> = Vec::new();
        let mut first = None;
        for (at, &input) in gate_query.inputs.iter().enumerate() {
            let (slot, bit) = self.blaster.slot(input);
            let (variable, index) = match &slot.owner {
                Owner::Variable(variable) => (*variable, None),
                Owner::Element { array, index } => (*array, Some(index)),
                Owner::Unmentioned(_) | Owner::ArrayTerm(_) | Owner::Witness => continue,
            };
            if first != Some(slot.first) {
                first = Some(slot.first);
                places.push(Place { variable, index: index.cloned(), width: slot.width, bits: Vec::new() });
            }
            places.last_mut().expect("just pushed").bits.push((bit, at as u32));
        }
        places
    }
}

fn new_blaster(options: &SatOptions) -> Blaster {
    let mut blaster = Blaster::new();
    blaster.expanded_index_width = options.expand as u32;
    blaster
}

/// Conflict limit that the effort left allows.
fn conflicts_left(rest: &Rest<'_>) -> u64 {
    match rest.effort_left() {
        u64::MAX => u64::MAX,
        effort => effort / cost::CONFLICT,
    }
}

fn failure(message: String) -> Why {
    Why::Layer { name: "sat".into(), message }
}

/// The unsat answer with the failed assumptions as core; of equal assumptions the first.
fn core(gate_query: &GateQuery, failed: &[bool]) -> Result<Answer, Why> {
    let mut roots: Vec<Lit> = Vec::new();
    let mut constraints = Vec::new();
    let mut condition = false;
    for ((&root, origin), _) in
        gate_query.roots.iter().zip(&gate_query.origins).zip(failed).filter(|(_, failed)| **failed)
    {
        if !roots.contains(&root) {
            roots.push(root);
            constraints.extend(*origin);
            condition |= origin.is_none();
        }
    }
    if roots.is_empty() {
        debug_assert!(false, "definitions and lemmas contradict each other");
        return Err(failure("internal error: unsatisfiable without any constraint".into()));
    }
    Ok(Answer::Unsat(Core { constraints: constraints.into_iter().collect(), condition }))
}

impl Layer for Sat {
    fn name(&self) -> &str {
        "sat"
    }

    fn check(&mut self, query: &Query, rest: &mut Rest<'_>) -> Answer {
        let fresh = self.blaster.is_fresh();
        let answer = match self.answer(query, rest) {
            // Gates of earlier queries may have used up the memory.
            Err(Why::Memory) if rest.effort_left() < u64::MAX => Err(Why::Effort),
            Err(Why::Memory) if !fresh => {
                self.reset();
                self.answer(query, rest)
            }
            other => other,
        };
        answer.unwrap_or_else(Answer::Unknown)
    }

    fn sweep(&mut self, alive: &Alive<'_>) {
        if !self.blaster.sweep(alive.exprs) {
            self.reset();
        }
    }

    /// Nothing is attached to path nodes.
    fn drop_paths(&mut self, _gone: &[u32]) {}

    fn forget(&mut self) {
        self.reset();
    }

    fn counters(&self) -> Vec<(String, f64)> {
        let counts = &self.counts;
        [
            ("gates", self.blaster.gates.len() as u64),
            ("conflicts", counts.conflicts),
            ("small_inputs", counts.small_inputs),
            ("handed_over", counts.handed_over),
            ("single", counts.single),
            ("refuted", counts.refuted),
            ("rebuilt", counts.rebuilt),
            ("harvested", counts.harvested),
        ]
        .map(|(name, count)| (name.to_string(), count as f64))
        .to_vec()
    }

    fn is_complete(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests;
