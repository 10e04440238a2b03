//! The layer `sat`: bit-blasting and incremental SAT.
//!
//! Answers: everything in QF_ABV, time and memory allowing.
//! Why sound: circuits mean what `eval` says (tested exhaustively), constraints are assumptions, so a core is the
//! assumptions that failed; models are evaluated before they are given out.
//! When it helps: it is what is left when nothing cheaper answers.
//! Cost: an expression is blasted once; a question costs propagation through its own cone, plus search.
//! Source: batsat with a limit on conflicts, for small numbers too, then CaDiCaL (docs/sat.md has the figures); partial solutions after
//! the paper on caching them, taken while batsat searches.

use super::harvest::Place;
use super::spec::{Item, SpecError};
use super::{Layer, Rest, narrow};
use crate::blast::batsat::Batsat;
use crate::blast::cadical::Cadical;
use crate::blast::cnf::Encoding;
use crate::blast::gate::Lit;
use crate::blast::sat_solver::{SatResult, SatSolver, SatTask};
use crate::blast::{ArrayTerm, Blaster, Consistency, MAX_GATES, Owner};
use crate::budget::{Budget, Why};
use crate::expr::Expr;
use crate::query::{Alive, Answer, Core, Query};
use rustc_hash::FxHashMap;

/// Partial solutions kept from one solve, unless told otherwise.
const KEPT: usize = 250;
/// The largest number an option takes.
const LARGEST_OPTION: u64 = 1_000_000;
/// Conflicts after which batsat hands over, unless told otherwise.
const PATIENCE: u64 = 1_000;
/// Gates in a solver past which it is given up for a new one.
const LARGEST: usize = 400_000;
/// Telling a solver a gate costs about as much as propagating this many literals.
const RETELLING: u64 = 30;
/// Gates below which a new solver is not worth it.
const SMALLEST: u64 = 500;

/// About how long a propagated literal and a gate told to a solver take, for reckoning what an answer has cost.
const PROPAGATION_NS: u64 = 40;
const GATE_NS: u64 = 900;
/// New gates for a question that is not to take long.
const BRIEF_GATES: usize = 10_000;
/// And what every question takes.
const QUESTION_NS: u64 = 5_000;

/// Which engines are used: the default is `Both`, the others are for comparison.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Engines {
    Both,
    Batsat,
    Cadical,
    /// batsat until it is tired.
    Brief,
}

pub struct Sat {
    engines: Engines,
    /// Partial solutions to keep from a solve; 0 turns the harvest off.
    keep: usize,
    /// Conflicts after which batsat hands over to CaDiCaL.
    patience: u64,
    blaster: Blaster,
    quick: Prepared<Batsat>,
    thorough: Option<Prepared<Cadical>>,
    /// New gates for a question that is not to take long.
    brief_gates: usize,
    /// By gate: the question that met it last, and that question's number.
    met: Vec<u32>,
    question: u32,
    /// Partial solutions of the question at hand that have been kept.
    kept: usize,
    counts: Counts,
}

#[derive(Default)]
struct Counts {
    conflicts: u64,
    /// Questions asked of small numbers, and answered by them.
    narrowed: u64,
    narrow: u64,
    handed_over: u64,
    refuted: u64,
    rebuilt: u64,
    harvested: u64,
}

/// An engine and what it has been told.
struct Prepared<E> {
    engine: E,
    encoding: Encoding,
    /// How many of the lemmas about it have been told.
    lemmas: FxHashMap<ArrayTerm, usize>,
    /// Literals propagated so far that the questions asked had no use for.
    waste: u64,
}

/// What an engine has done so far.
struct Effort {
    conflicts: u64,
    propagations: u64,
}

impl Effort {
    fn of<E: SatSolver>(prepared: &Prepared<E>) -> Effort {
        Effort { conflicts: prepared.engine.conflicts(), propagations: prepared.engine.propagations() }
    }
}

/// A question in gates.
struct Posed {
    /// In path order, the condition last.
    roots: Vec<Lit>,
    /// The constraint behind each root; the condition has none.
    origins: Vec<Option<Expr>>,
    inputs: Vec<u32>,
    array_terms: Vec<ArrayTerm>,
    /// About how many gates there are behind the roots.
    gates: u64,
}

impl<E: SatSolver> Prepared<E> {
    fn new(engine: E) -> Prepared<E> {
        Prepared { engine, encoding: Encoding::new(), lemmas: FxHashMap::default(), waste: 0 }
    }

    /// Has it wasted as much work on what was asked before as telling a new one about this question costs?
    fn is_wasteful(&self, posed: &Posed) -> bool {
        self.encoding.len() > LARGEST || self.waste > RETELLING * posed.gates.max(SMALLEST)
    }

    fn solve(
        &mut self,
        blaster: &Blaster,
        posed: &Posed,
        budget: &Budget,
        limits: (u64, usize),
    ) -> SatResult {
        match self.ask(blaster, posed, budget, limits) {
            Ok(outcome) => outcome,
            Err(why) => SatResult::Stopped(why),
        }
    }

    fn ask(
        &mut self,
        blaster: &Blaster,
        posed: &Posed,
        budget: &Budget,
        (conflicts, keep): (u64, usize),
    ) -> Result<SatResult, Why> {
        let mut literal = |lit: Lit| self.encoding.literal(&blaster.gates, lit, &mut self.engine, budget);
        let assumptions: Vec<i32> =
            posed.roots.iter().map(|&root| literal(root)).collect::<Result<_, _>>()?;
        let input = |&node: &u32| literal(Lit::new(node, false));
        let traced: Vec<i32> = posed.inputs.iter().map(input).collect::<Result<_, _>>()?;
        for &array_term in &posed.array_terms {
            let told = self.lemmas.entry(array_term).or_insert(0);
            for &lemma in &blaster.lemmas(array_term)[*told..] {
                let literal = self.encoding.literal(&blaster.gates, lemma, &mut self.engine, budget)?;
                crate::blast::sat_solver::ClauseSink::clause(&mut self.engine, &[literal]);
                *told += 1;
            }
        }
        let before = (self.engine.conflicts(), self.engine.propagations());
        let outcome = self.engine.solve(&SatTask {
            assumptions: &assumptions,
            traced: &traced,
            budget,
            conflicts,
            keep,
        });
        // Without conflicts each gate behind the question is propagated once; the others come in uncalled.
        if self.engine.conflicts() == before.0 {
            self.waste += (self.engine.propagations() - before.1).saturating_sub(posed.gates);
        }
        Ok(outcome)
    }
}

impl Sat {
    pub fn new(item: &Item) -> Result<Sat, SpecError> {
        if let Some(variant) = &item.variant {
            return Err(SpecError(format!("expected `sat` without a variant, found `sat:{variant}`")));
        }
        let (mut engines, mut harvest, mut keep, mut patience) = (Engines::Both, true, KEPT, PATIENCE);
        for (key, value) in &item.options {
            let number = value.parse::<u64>().ok().filter(|n| *n <= LARGEST_OPTION);
            match (key.as_str(), value.as_str(), number) {
                ("harvest", "on", _) => harvest = true,
                ("harvest", "off", _) => harvest = false,
                ("engine", "both", _) => engines = Engines::Both,
                ("engine", "batsat", _) => engines = Engines::Batsat,
                ("engine", "cadical", _) => engines = Engines::Cadical,
                ("kp", _, Some(number)) => keep = number as usize,
                ("patience", _, Some(number)) => patience = number,
                (key, value, _) => {
                    return Err(SpecError(format!(
                        "expected harvest=on|off, kp=N, patience=N (up to {LARGEST_OPTION}) or \
                         engine=both|batsat|cadical in `sat(...)`, found `{key}={value}`"
                    )));
                }
            }
        }
        Ok(Sat::with(engines, if harvest { keep } else { 0 }, patience))
    }

    /// One that gives up after so many conflicts, over gates of its own.
    pub(super) fn brief(blaster: Blaster, conflicts: u64) -> Sat {
        Sat { blaster, ..Sat::with(Engines::Brief, 0, conflicts) }
    }

    fn with(engines: Engines, keep: usize, patience: u64) -> Sat {
        Sat {
            engines,
            keep,
            patience,
            blaster: Blaster::new(),
            quick: Prepared::new(Batsat::new()),
            thorough: None,
            brief_gates: BRIEF_GATES,
            met: Vec::new(),
            question: 0,
            kept: 0,
            counts: Counts::default(),
        }
    }

    /// Starts again with no gates and new solvers.
    fn reset(&mut self) {
        self.counts.rebuilt += 1;
        self.blaster = Blaster::new();
        self.quick = Prepared::new(Batsat::new());
        self.thorough = None;
        self.met = Vec::new();
        self.question = 0;
    }

    /// New solvers where the old ones are wasteful.
    fn renew(&mut self, posed: &Posed) {
        if self.quick.is_wasteful(posed) {
            self.counts.rebuilt += 1;
            self.quick = Prepared::new(Batsat::new());
        }
        if self.thorough.as_ref().is_some_and(|thorough| thorough.is_wasteful(posed)) {
            self.counts.rebuilt += 1;
            self.thorough = None;
        }
    }

    fn answer(&mut self, query: &Query, rest: &mut Rest<'_>) -> Result<Answer, Why> {
        let most = if rest.is_brief() { self.blaster.gates.len() + self.brief_gates } else { MAX_GATES };
        self.blaster.allow(rest.budget, most);
        self.kept = 0;
        let constraints = query.constraints(rest.tree);
        let mut posed = Posed {
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
                posed.roots.push(root);
                posed.origins.push(origin);
            }
        }
        self.gather(&mut posed);
        self.renew(&posed);
        loop {
            self.blaster.has_unmentioned_index(&posed.array_terms)?;
            let mut outcome = SatResult::ConflictLimit;
            if self.engines == Engines::Both && narrow::BEFORE < self.patience {
                outcome = self.solve_quickly(query, &posed, rest, narrow::BEFORE);
                if outcome == SatResult::ConflictLimit && rest.is_brief() {
                    return Err(failure("left it to the layers that were passed by".into()));
                }
                if outcome == SatResult::ConflictLimit
                    && let Some(answer) = self.narrowed(query, &posed, rest)
                {
                    return Ok(answer);
                }
            }
            if outcome == SatResult::ConflictLimit {
                outcome = self.solve(query, &posed, rest);
            }
            let values = match outcome {
                SatResult::Sat(values) => values,
                SatResult::Unsat(failed) => return core(&posed, &failed),
                SatResult::Stopped(why) => return Err(why),
                SatResult::ConflictLimit => {
                    return Err(failure("gave up after its limit of conflicts".into()));
                }
            };
            let assignment: Vec<(u32, bool)> = posed.inputs.iter().copied().zip(values).collect();
            match self.blaster.check_arrays(rest.graph, rest.evaluator, &assignment, &posed.array_terms)? {
                Consistency::Refuted => {
                    self.counts.refuted += 1;
                    self.gather(&mut posed);
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

    /// The inputs and array_terms of all roots, each once, ascending.
    fn gather(&mut self, posed: &mut Posed) {
        self.question += 1;
        posed.inputs.clear();
        posed.array_terms.clear();
        posed.gates = 0;
        for &root in &posed.roots {
            let cone = self.blaster.cone(root);
            self.met.resize(self.blaster.gates.len(), 0);
            for &input in &cone.inputs {
                if std::mem::replace(&mut self.met[input as usize], self.question) != self.question {
                    posed.inputs.push(input);
                }
            }
            posed.array_terms.extend_from_slice(&cone.array_terms);
            posed.gates += cone.gates as u64;
        }
        posed.inputs.sort_unstable();
        posed.array_terms.sort_unstable();
        posed.array_terms.dedup();
    }

    fn solve(&mut self, query: &Query, posed: &Posed, rest: &mut Rest<'_>) -> SatResult {
        if self.engines != Engines::Cadical {
            let limit = if self.engines == Engines::Batsat { u64::MAX } else { self.patience };
            let outcome = self.solve_quickly(query, posed, rest, limit);
            if outcome != SatResult::ConflictLimit || self.engines == Engines::Brief {
                return outcome;
            }
            self.counts.handed_over += 1;
        }
        let keep = self.wanted(rest);
        let thorough = self.thorough.get_or_insert_with(|| Prepared::new(Cadical::new()));
        let before = Effort::of(thorough);
        let outcome = thorough.solve(&self.blaster, posed, rest.budget, (u64::MAX, keep));
        let effort = Effort::of(thorough);
        self.counts.conflicts += effort.conflicts - before.conflicts;
        rest.solved((effort.propagations - before.propagations) * PROPAGATION_NS);
        let rows = thorough.engine.take_harvest();
        self.hand_in(query, posed, rest, rows);
        outcome
    }

    /// Asks batsat, and takes in what it has met.
    fn solve_quickly(&mut self, query: &Query, posed: &Posed, rest: &mut Rest<'_>, limit: u64) -> SatResult {
        let keep = self.wanted(rest);
        let (before, told) = (Effort::of(&self.quick), self.quick.encoding.len());
        let outcome = self.quick.solve(&self.blaster, posed, rest.budget, (limit, keep));
        let effort = Effort::of(&self.quick);
        self.counts.conflicts += effort.conflicts - before.conflicts;
        let told = self.quick.encoding.len().saturating_sub(told) as u64;
        rest.solved((effort.propagations - before.propagations) * PROPAGATION_NS + told * GATE_NS);
        let mut rows = self.quick.engine.take_harvest();
        if outcome == SatResult::ConflictLimit {
            // The other half is for what comes.
            rows.truncate(keep / 2);
        }
        self.hand_in(query, posed, rest, rows);
        outcome
    }

    /// How many partial solutions of the question at hand may still be kept.
    fn wanted(&self, rest: &Rest<'_>) -> usize {
        self.keep.min(rest.harvest.wanted).saturating_sub(self.kept)
    }

    fn hand_in(&mut self, query: &Query, posed: &Posed, rest: &mut Rest<'_>, rows: Vec<Box<[u64]>>) {
        if !rows.is_empty() {
            self.kept += rows.len();
            self.counts.harvested += rows.len() as u64;
            rest.harvest.put(query.path, self.places(posed), rows);
        }
    }

    /// Small numbers that answer a question which is not answered quickly (`narrow.rs`).
    fn narrowed(&mut self, query: &Query, posed: &Posed, rest: &mut Rest<'_>) -> Option<Answer> {
        self.counts.narrowed += 1;
        let (tried, found) = (self.counts.narrowed, self.counts.narrow + 1);
        if posed.gates > narrow::GATES || (found * narrow::USE < tried && !tried.is_multiple_of(narrow::USE))
        {
            return None;
        }
        let exprs: Vec<Expr> = posed.origins.iter().map(|origin| origin.unwrap_or(query.condition)).collect();
        let words = narrow::words(rest.graph, &exprs);
        for width in narrow::WIDTHS {
            let mut small = Sat::brief(narrow::blaster(rest.graph, &words, width)?, narrow::CONFLICTS);
            let answer = small.answer(query, rest);
            self.counts.conflicts += small.counts.conflicts;
            if let Ok(Answer::Sat(_)) = answer {
                self.counts.narrow += 1;
                return answer.ok();
            }
        }
        None
    }

    /// What the traced inputs are the bits of, as far as that can be said without solving.
    fn places(&self, posed: &Posed) -> Vec<Place> {
        let mut places: Vec<Place> = Vec::new();
        let mut first = None;
        for (at, &input) in posed.inputs.iter().enumerate() {
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

fn failure(message: String) -> Why {
    Why::Layer { name: "sat".into(), message }
}

/// The constraints whose assumptions failed; of equal assumptions the first.
fn core(posed: &Posed, failed: &[bool]) -> Result<Answer, Why> {
    let mut roots: Vec<Lit> = Vec::new();
    let mut constraints = Vec::new();
    let mut condition = false;
    for ((&root, origin), _) in
        posed.roots.iter().zip(&posed.origins).zip(failed).filter(|(_, failed)| **failed)
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
        rest.charge(QUESTION_NS);
        let fresh = self.blaster.is_fresh();
        let answer = match self.answer(query, rest) {
            // Perhaps it is what earlier questions left behind that takes the room.
            Err(Why::Memory) if !fresh && !rest.is_brief() => {
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

    /// Nothing hangs on path nodes here.
    fn drop_paths(&mut self, _gone: &[u32]) {}

    fn forget(&mut self) {
        self.reset();
    }

    fn counters(&self) -> Vec<(String, f64)> {
        let counts = &self.counts;
        [
            ("gates", self.blaster.gates.len() as u64),
            ("conflicts", counts.conflicts),
            ("narrow", counts.narrow),
            ("handed_over", counts.handed_over),
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
    use crate::solve::{Manner, Solver};

    /// Asks each question twice: first in a way that ends when gates run out.
    struct Interrupted;

    impl Layer for Interrupted {
        fn name(&self) -> &str {
            "interrupted"
        }

        fn check(&mut self, query: &Query, rest: &mut Rest<'_>) -> Answer {
            rest.manner = Manner::Brief;
            rest.check(query);
            rest.manner = Manner::Usual;
            rest.check(query)
        }

        fn sweep(&mut self, _alive: &Alive<'_>) {}

        fn drop_paths(&mut self, _gone: &[u32]) {}
    }

    /// Questions about arrays, and whether they have a solution.
    fn questions(g: &mut Graph) -> Vec<(Expr, bool)> {
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
    fn nothing_wrong_is_remembered_when_gates_run_out() {
        for gates in 0..250 {
            let mut sat = Sat::with(Engines::Both, KEPT, PATIENCE);
            sat.brief_gates = gates;
            let mut solver = Solver::new(vec![Box::new(Interrupted), Box::new(sat)]);
            for (number, (question, expected)) in questions(&mut solver.graph).into_iter().enumerate() {
                let root = solver.tree.root();
                let answer = solver.check(&Query::new(root, question), &Budget::unlimited());
                let verdict = if expected { "sat" } else { "unsat" };
                assert_eq!(answer.verdict(), verdict, "question {number} after {gates} gates");
            }
        }
    }
}
