//! The layer `sat`: bit-blasting and incremental SAT.
//!
//! Answers: every query of QF_ABV, within time and memory.
//! Why sound: circuits agree with `eval` (tested exhaustively). Constraints are assumptions, so the failed assumptions
//! are a core. Models are evaluated.
//! When it helps: for queries that no cheaper layer answers.
//! Cost: an expression is blasted once; a query costs propagation through its own cone, plus search.
//! Source: batsat with a conflict limit, also on small inputs (`small_inputs.rs`), then CaDiCaL; docs/sat.md has the
//! figures. Near misses are collected during search as in "Partial solutions" (docs/cache.md).

use super::near_misses::Place;
use super::{Layer, Rest, small_inputs};
use crate::blast::batsat::Batsat;
use crate::blast::cadical::Cadical;
use crate::blast::cdcl::Cdcl;
use crate::blast::cnf::Encoding;
use crate::blast::gate::Lit;
use crate::blast::sat_solver::{SatResult, SatSolver, SatTask};
use crate::blast::{ArrayTerm, Blaster, Consistency, Owner, max_gates};
use crate::budget::{Budget, Why};
use crate::cost;
use crate::expr::Expr;
use crate::query::{Alive, Answer, Core, Query};
use crate::throttle::Throttle;
use crate::tuning::{SatOptions, ThrottleOptions};
use rustc_hash::FxHashMap;

/// Number of gates above which a SAT solver is replaced by a new one, unless the query has half of them.
const MAX_ENCODED_GATES: u64 = 400_000;
/// Number of gates above which all are dropped, unless the last query had half of them.
const MAX_KEPT_GATES: u64 = 4_000_000;
/// Comparisons of arrays with indices up to this width are expanded if they mention every index.
const MAX_EXPANDED_INDEX_WIDTH: u32 = 16;
/// Cost of adding a gate to a SAT solver, in propagated literals.
const PROPAGATIONS_PER_GATE: u64 = 30;
/// Rounds of lemmas about arrays in an attempt with a conflict limit.
const MAX_LIMITED_ROUNDS: u64 = 4;
/// Small inputs are tried for queries of at most this many gates that get a CaDiCaL of their own.
const MAX_SMALL_SINGLE_GATES: u64 = 20_000;
/// Least number of gates assumed for a query when a new SAT solver is considered.
const MIN_GATES: u64 = 500;

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
    batsat: Prepared<Batsat>,
    cadical: Option<Prepared<Cadical>>,
    cdcl: Prepared<Cdcl>,
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

/// A SAT solver and what has been added to it.
struct Prepared<E> {
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
    single: bool,
    has_roots: bool,
}

/// Counts of a SAT solver so far.
struct Counted {
    conflicts: u64,
    propagations: u64,
}

impl Counted {
    fn of<E: SatSolver>(prepared: &Prepared<E>) -> Counted {
        Counted { conflicts: prepared.engine.conflicts(), propagations: prepared.engine.propagations() }
    }
}

/// A query as literals of gates.
struct GateQuery {
    /// Literals of the constraints in path order, then of the condition.
    roots: Vec<Lit>,
    /// Constraint of each root; `None` for the condition.
    origins: Vec<Option<Expr>>,
    inputs: Vec<u32>,
    array_terms: Vec<ArrayTerm>,
    /// Number of gates in the cones of the roots; shared ones count several times.
    gates: u64,
}

impl<E: SatSolver> Prepared<E> {
    fn new(engine: E) -> Prepared<E> {
        Prepared {
            engine,
            encoding: Encoding::new(),
            lemmas: FxHashMap::default(),
            open_guards: Vec::new(),
            seen_guards: 0,
            waste: 0,
            single: false,
            has_roots: false,
        }
    }

    /// Has it spent as much work outside the queries' cones as adding this query to a new solver costs?
    fn is_wasteful(&self, gate_query: &GateQuery) -> bool {
        self.encoding.len() as u64 > MAX_ENCODED_GATES.max(2 * gate_query.gates)
            || self.waste > PROPAGATIONS_PER_GATE * gate_query.gates.max(MIN_GATES)
    }

    fn solve(
        &mut self,
        blaster: &Blaster,
        gate_query: &GateQuery,
        budget: &Budget,
        limits: (u64, usize),
    ) -> SatResult {
        match self.ask(blaster, gate_query, budget, limits) {
            Ok(outcome) => outcome,
            Err(why) => SatResult::Stopped(why),
        }
    }

    fn ask(
        &mut self,
        blaster: &Blaster,
        gate_query: &GateQuery,
        budget: &Budget,
        (conflicts, keep): (u64, usize),
    ) -> Result<SatResult, Why> {
        let mut literal = |lit: Lit| self.encoding.literal(&blaster.gates, lit, &mut self.engine, budget);
        let mut assumptions: Vec<i32> =
            gate_query.roots.iter().map(|&root| literal(root)).collect::<Result<_, _>>()?;
        let input = |&node: &u32| literal(Lit::new(node, false));
        let traced: Vec<i32> = gate_query.inputs.iter().map(input).collect::<Result<_, _>>()?;
        for &array_term in &gate_query.array_terms {
            let added = self.lemmas.entry(array_term).or_insert(0);
            for &lemma in &blaster.lemmas(array_term)[*added..] {
                let literal = self.encoding.literal(&blaster.gates, lemma, &mut self.engine, budget)?;
                crate::blast::sat_solver::ClauseSink::clause(&mut self.engine, &[literal]);
                *added += 1;
            }
        }
        self.add_guards(blaster, budget)?;
        if self.single {
            for literal in assumptions.drain(..).filter(|_| !self.has_roots) {
                crate::blast::sat_solver::ClauseSink::clause(&mut self.engine, &[literal]);
            }
            self.has_roots = true;
        }
        let before = (self.engine.conflicts(), self.engine.propagations());
        let outcome = self.engine.solve(&SatTask {
            assumptions: &assumptions,
            traced: &traced,
            budget,
            conflicts,
            max_samples: keep,
        });
        // Without conflicts each gate of the query is propagated once; the rest is waste.
        if self.engine.conflicts() == before.0 {
            self.waste += (self.engine.propagations() - before.1).saturating_sub(gate_query.gates);
        }
        Ok(match outcome {
            SatResult::Unsat(_) if self.single => SatResult::Unsat(vec![true; gate_query.roots.len()]),
            outcome => outcome,
        })
    }
}

impl<E: SatSolver> Prepared<E> {
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
            crate::blast::sat_solver::ClauseSink::clause(&mut self.engine, &[literal]);
            self.open_guards.swap_remove(at);
        }
        Ok(())
    }
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
            batsat: Prepared::new(Batsat::new()),
            cadical: None,
            cdcl: Prepared::new(Cdcl::new()),
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
        self.batsat = Prepared::new(Batsat::new());
        self.cadical = None;
        self.cdcl = Prepared::new(Cdcl::new());
        self.last_query = Vec::new();
        self.query = 0;
    }

    /// Replaces wasteful SAT solvers.
    fn replace_wasteful(&mut self, gate_query: &GateQuery) {
        if self.batsat.is_wasteful(gate_query) {
            self.counts.rebuilt += 1;
            self.batsat = Prepared::new(Batsat::new());
        }
        if self.cdcl.is_wasteful(gate_query) {
            self.counts.rebuilt += 1;
            self.cdcl = Prepared::new(Cdcl::new());
        }
        if self.cadical.as_ref().is_some_and(|cadical| cadical.is_wasteful(gate_query)) {
            self.counts.rebuilt += 1;
            self.cadical = None;
        }
    }

    fn answer(&mut self, query: &Query, rest: &mut Rest<'_>) -> Result<Answer, Why> {
        if self.blaster.gates.len() as u64 > MAX_KEPT_GATES.max(2 * self.last_gates) {
            self.reset();
        }
        let limit = max_gates(rest.budget);
        let new_gates = usize::try_from(rest.effort_left() / cost::GATE).unwrap_or(limit).min(limit);
        self.blaster.allow(rest.budget, (self.blaster.gates.len() + new_gates).min(limit));
        // Multiplexers are built once for all queries of a path tree; a query that comes once needs few of them.
        self.blaster.lazy_reads = if rest.budget.whole_core { self.options.lazy_reads as u32 } else { 0 };
        self.kept = 0;
        self.single = None;
        let constraints = query.constraints(rest.tree);
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
        self.replace_wasteful(&gate_query);
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
                && self.options.small
                && self.options.first_conflicts < self.options.conflicts
                && self.single.is_none()
            {
                outcome = self.run_batsat(query, &gate_query, rest, self.options.first_conflicts);
                if outcome == SatResult::ConflictLimit
                    && conflicts_left(rest) > self.options.small_conflicts
                    && let Some(answer) = self.try_small_inputs(query, &gate_query, rest)
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
            let keep = self.near_misses_left(rest);
            let (before, encoded) = (Counted::of(&self.cdcl), self.cdcl.encoding.len());
            let outcome =
                self.cdcl.solve(&self.blaster, gate_query, rest.budget, (conflicts_left(rest), keep));
            let rows = self.cdcl.engine.take_harvest();
            self.note_solve(query, gate_query, rest, (before, encoded), rows);
            return outcome;
        }
        let is_single = rest.budget.whole_core && self.options.single;
        // A query that was handed over once stays there when lemmas follow.
        if self.engines != Engines::Cadical && self.single.is_none() {
            let limit = match self.engines {
                Engines::Batsat => u64::MAX,
                Engines::Both if is_single => self.options.single_conflicts,
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
        let keep = self.near_misses_left(rest);
        let cadical = if is_single {
            self.single.get_or_insert_with(|| {
                self.counts.single += 1;
                // A lemma about arrays adds variables.
                let extends = gate_query.array_terms.is_empty();
                Prepared { single: true, ..Prepared::new(Cadical::untraced(extends)) }
            })
        } else {
            self.cadical.get_or_insert_with(|| Prepared::new(Cadical::new()))
        };
        let before = Counted::of(cadical);
        let outcome = cadical.solve(&self.blaster, gate_query, rest.budget, (conflicts_left(rest), keep));
        let effort = Counted::of(cadical);
        self.counts.conflicts += effort.conflicts - before.conflicts;
        rest.spend((effort.propagations - before.propagations) * cost::PROPAGATION);
        let rows = cadical.engine.take_harvest();
        self.put_near_misses(query, gate_query, rest, rows);
        outcome
    }

    /// Runs batsat and collects its near misses.
    fn run_batsat(
        &mut self,
        query: &Query,
        gate_query: &GateQuery,
        rest: &mut Rest<'_>,
        limit: u64,
    ) -> SatResult {
        let keep = self.near_misses_left(rest);
        let (before, encoded) = (Counted::of(&self.batsat), self.batsat.encoding.len());
        let limit = limit.min(conflicts_left(rest));
        let outcome = self.batsat.solve(&self.blaster, gate_query, rest.budget, (limit, keep));
        let effort = Counted::of(&self.batsat);
        self.counts.conflicts += effort.conflicts - before.conflicts;
        let added = self.batsat.encoding.len().saturating_sub(encoded) as u64;
        rest.spend((effort.propagations - before.propagations) * cost::PROPAGATION + added * cost::GATE);
        let mut rows = self.batsat.engine.take_harvest();
        if outcome == SatResult::ConflictLimit {
            // The other half is for the solves that follow.
            rows.truncate(keep / 2);
        }
        self.put_near_misses(query, gate_query, rest, rows);
        outcome
    }

    /// Counts the effort of the solver that keeps assignments at conflicts, and keeps these.
    fn note_solve(
        &mut self,
        query: &Query,
        gate_query: &GateQuery,
        rest: &mut Rest<'_>,
        (before, encoded): (Counted, usize),
        rows: Vec<Box<[u64]>>,
    ) {
        let effort = Counted::of(&self.cdcl);
        self.counts.conflicts += effort.conflicts - before.conflicts;
        let added = self.cdcl.encoding.len().saturating_sub(encoded) as u64;
        rest.spend((effort.propagations - before.propagations) * cost::PROPAGATION + added * cost::GATE);
        self.put_near_misses(query, gate_query, rest, rows);
    }

    /// Number of near misses of the current query that may still be kept.
    fn near_misses_left(&self, rest: &Rest<'_>) -> usize {
        if let Some(number) = rest.near_misses.exactly.filter(|_| self.options.harvest) {
            return number;
        }
        let most = if self.options.harvest { self.options.kp as usize } else { 0 };
        most.min(rest.near_misses.wanted).saturating_sub(self.kept)
    }

    fn put_near_misses(
        &mut self,
        query: &Query,
        gate_query: &GateQuery,
        rest: &mut Rest<'_>,
        rows: Vec<Box<[u64]>>,
    ) {
        if !rows.is_empty() {
            self.kept += rows.len();
            self.counts.harvested += rows.len() as u64;
            rest.near_misses.put(query.path, self.places(gate_query), rows);
        }
    }

    /// Tries to answer a query with small inputs (`small_inputs.rs`).
    fn try_small_inputs(
        &mut self,
        query: &Query,
        gate_query: &GateQuery,
        rest: &mut Rest<'_>,
    ) -> Option<Answer> {
        // A query that gets a CaDiCaL of its own is soon there.
        let is_single = rest.budget.whole_core && self.options.single;
        let most = if is_single { MAX_SMALL_SINGLE_GATES } else { small_inputs::MAX_GATES };
        if gate_query.gates > most || self.small_inputs.skips() {
            return None;
        }
        let exprs: Vec<Expr> =
            gate_query.origins.iter().map(|origin| origin.unwrap_or(query.condition)).collect();
        let words = small_inputs::words(rest.graph, &exprs);
        for width in small_inputs::WIDTHS {
            let mut small =
                Sat::limited(small_inputs::blaster(rest.graph, &words, width)?, self.options.small_conflicts);
            let answer = small.answer(query, rest);
            self.counts.conflicts += small.counts.conflicts;
            if let Ok(Answer::Sat(_)) = answer {
                self.counts.small_inputs += 1;
                self.small_inputs.note(1, self.options.small_tries);
                return answer.ok();
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
mod tests {
    use super::*;
    use crate::expr::{Graph, Sort};
    use crate::random::Random;
    use crate::solve::Solver;

    /// Makes each query twice: the first time with a limit of gates.
    struct Interrupted(u64);

    impl Layer for Interrupted {
        fn name(&self) -> &str {
            "interrupted"
        }

        fn check(&mut self, query: &Query, rest: &mut Rest<'_>) -> Answer {
            rest.check_within(query, self.0 * cost::GATE);
            rest.check(query).answer
        }

        fn sweep(&mut self, _alive: &Alive<'_>) {}

        fn drop_paths(&mut self, _gone: &[u32]) {}
    }

    /// Conditions on arrays, and whether they are satisfiable.
    fn conditions(g: &mut Graph) -> Vec<(Expr, bool)> {
        let array = Sort::Array { index: 11, element: 3 };
        let [a, b] = ["a", "b"].map(|name| g.var(name, array).expect("a new name"));
        let [i, j] = ["i", "j"].map(|name| g.var(name, Sort::Bits(11)).expect("a new name"));
        let x = g.var("x", Sort::Bits(3)).expect("a new name");
        let (three, seven) = (g.word(11, 3), g.word(3, 7));
        let [at_i, at_j, at_3] = [i, j, three].map(|index| g.select(a, index));
        let (same_index, apart) = (g.eq(i, j), g.ne(i, j));
        let differ = g.ne(at_i, at_j);
        let (is_7, is_3, is_not_7) = (g.eq(at_3, seven), g.eq(i, three), g.ne(at_i, seven));
        let same = g.eq(a, b);
        let other = g.select(b, i);
        let differs_there = g.ne(at_i, other);
        let (left, right) = (g.store(a, i, x), g.store(a, j, x));
        let stores_agree = g.eq(left, right);
        let written = g.select(left, j);
        let is_other = g.ne(written, at_j);
        let mut all = |parts: &[Expr]| parts.iter().copied().reduce(|p, q| g.and(p, q)).expect("some");
        vec![
            (all(&[same_index, differ]), false),
            (all(&[apart, differ]), true),
            (all(&[is_7, is_3, is_not_7]), false),
            (all(&[is_7, is_not_7]), true),
            (all(&[same, differs_there]), false),
            (all(&[same, differ]), true),
            (all(&[stores_agree, apart]), true),
            (all(&[apart, is_other]), false),
            (differs_there, true),
        ]
    }

    #[test]
    fn state_is_consistent_after_the_gate_limit() {
        for gates in 0..250 {
            let sat = Sat::new(SatOptions::default(), &ThrottleOptions::default());
            let mut solver = Solver::new(vec![Box::new(Interrupted(gates)), Box::new(sat)]);
            for (number, (condition, expected)) in conditions(&mut solver.graph).into_iter().enumerate() {
                let root = solver.tree.root();
                let answer = solver.check(&Query::new(root, condition), &Budget::unlimited());
                let verdict = if expected { "sat" } else { "unsat" };
                assert_eq!(answer.verdict(), verdict, "query {number} after {gates} gates");
            }
        }
    }

    /// A random array over `arrays` and a random index, with as many writes as given.
    fn random_read(g: &mut Graph, random: &mut Random, arrays: &[Expr], words: &[Expr], writes: u64) -> Expr {
        let mut array = arrays[random.below(arrays.len() as u64) as usize];
        let word = |random: &mut Random| words[random.below(words.len() as u64) as usize];
        for _ in 0..writes {
            let (index, value) = (word(random), word(random));
            let written = g.store(array, index, value);
            array = if random.below(4) == 0 {
                let (p, q) = (word(random), word(random));
                let condition = g.ult(p, q);
                g.ite(condition, written, array)
            } else {
                written
            };
        }
        let index = word(random);
        g.select(array, index)
    }

    /// Reads on demand and multiplexers give the same answers. Models are evaluated by the layer.
    #[test]
    fn reads_on_demand_agree_with_multiplexers() {
        let mut random = Random::new(7);
        let mut answers = [0, 0];
        for case in 0..400 {
            let mut verdicts = Vec::new();
            let seed = random.below(1 << 32);
            for lazy_reads in [0, 1, 3] {
                let mut random = Random::new(seed);
                let options = SatOptions { lazy_reads, expand: 0, ..SatOptions::default() };
                let sat = Sat::new(options, &ThrottleOptions::default());
                let mut solver = Solver::new(vec![Box::new(sat)]);
                let g = &mut solver.graph;
                let arrays = ["a", "b"].map(|n| g.var(n, Sort::Array { index: 3, element: 3 }).unwrap());
                let mut words = ["i", "j", "k"].map(|n| g.var(n, Sort::Bits(3)).unwrap()).to_vec();
                words.push(g.word(3, 5));
                let mut all = g.boolean(true);
                for _ in 0..3 + random.below(4) {
                    let writes = random.below(7);
                    let read = random_read(g, &mut random, &arrays, &words, writes);
                    let other = words[random.below(words.len() as u64) as usize];
                    words.push(read);
                    let condition = if random.below(2) == 0 { g.eq(read, other) } else { g.ult(read, other) };
                    all = g.and(all, condition);
                }
                if random.below(3) == 0 {
                    let same = g.eq(arrays[0], arrays[1]);
                    all = g.and(all, same);
                }
                let root = solver.tree.root();
                let budget = Budget { whole_core: true, ..Budget::unlimited() };
                verdicts.push(solver.check(&Query::new(root, all), &budget).verdict());
            }
            assert!(verdicts.iter().all(|v| *v == verdicts[0] && *v != "unknown"), "{case}: {verdicts:?}");
            answers[usize::from(verdicts[0] == "sat")] += 1;
        }
        assert!(answers.iter().all(|&count| count > 50), "{answers:?}");
    }
}
