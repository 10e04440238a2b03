//! The baseline `solutions:paper`: partial solutions, as published.
//!
//! Answers: queries with the same set of constraints, or with a satisfiable superset; then for each prefix of the path,
//! longest first: unsat if the prefix is, sat if a solution stored for it satisfies the query.
//! Why sound: a stored solution is evaluated under the whole query; an unsat prefix is a core.
//! When it helps: a baseline for `solutions`. `harvest=off` is the control: the same cache without partial solutions.
//! Cost: quadratic in the length of the path: every prefix is a key, and every candidate is evaluated under the query.
//! Source: "Partial solutions in the cache" (FSE 2024), Algorithms 1 and 2; 3 and 4 are `sat(engine=conflicts)`.
//!
//! `once` is ours: a solution that is stored for several prefixes is tried once in a query, not once for each.

use crate::cost;
use crate::expr::{Expr, Model};
use crate::query::{Alive, Answer, Core, Query};
use crate::random::Random;
use crate::solve::near_misses::Batch;
use crate::solve::settrie::{SetTrie, numbers};
use crate::solve::{Layer, Rest};
use crate::tuning::PartialSolutionsOptions;
use rustc_hash::{FxHashMap, FxHashSet};

/// The verdict on a set of constraints.
enum Entry {
    Unsat,
    Sat(Vec<Solution>),
}

/// A complete or partial solution. What it lacks is zero.
#[derive(Clone)]
struct Solution {
    /// Number of the solution, equal under all keys.
    number: u64,
    model: Model,
}

#[derive(Default)]
struct Counts {
    same: u64,
    superset: u64,
    unsat_prefix: u64,
    quick_test: u64,
    /// Quick tests answered by a partial solution.
    by_partial: u64,
    tests: u64,
    /// Partial solutions taken from solves.
    partial: u64,
}

pub struct PartialSolutions {
    options: PartialSolutionsOptions,
    /// `RCache` and `SCache` of the paper.
    entries: FxHashMap<Box<[u32]>, Entry>,
    /// The satisfiable sets, with a solution each.
    supersets: SetTrie<Model>,
    /// Complete solutions have odd numbers, partial ones even numbers.
    next: u64,
    random: Random,
    counts: Counts,
}

impl PartialSolutions {
    pub fn new(options: PartialSolutionsOptions) -> PartialSolutions {
        PartialSolutions {
            options,
            entries: FxHashMap::default(),
            supersets: SetTrie::default(),
            next: 0,
            random: Random::default(),
            counts: Counts::default(),
        }
    }

    fn find(&mut self, rest: &mut Rest<'_>, formula: &[Expr]) -> Option<Answer> {
        let whole = numbers(formula.iter().copied());
        let unsat = |length: usize| {
            let constraints = formula[..length.min(formula.len() - 1)].iter().copied().collect();
            Answer::Unsat(Core { constraints, condition: length == formula.len() })
        };
        let satisfies = |rest: &mut Rest<'_>, model: &Model| {
            let mut session = rest.evaluator.under(rest.graph, model);
            formula.iter().all(|e| session.truth(*e))
        };
        match self.entries.get(whole.as_slice()) {
            Some(Entry::Unsat) => {
                self.counts.same += 1;
                return Some(unsat(formula.len()));
            }
            Some(Entry::Sat(solutions)) => {
                if let Some(found) = solutions.first().filter(|one| satisfies(rest, &one.model)) {
                    self.counts.same += 1;
                    return Some(Answer::Sat(found.model.clone()));
                }
            }
            None => {}
        }
        // Complete, unless the effort of the query is limited.
        let steps = usize::try_from(rest.effort_left() / cost::VALUE).unwrap_or(usize::MAX);
        if let Some(model) = self.supersets.superset_of(&whole, steps)
            && satisfies(rest, model)
        {
            self.counts.superset += 1;
            return Some(Answer::Sat(model.clone()));
        }
        let mut tried = FxHashSet::default();
        for length in (1..=formula.len()).rev() {
            match self.entries.get(numbers(formula[..length].iter().copied()).as_slice()) {
                Some(Entry::Unsat) => {
                    self.counts.unsat_prefix += 1;
                    return Some(unsat(length));
                }
                Some(Entry::Sat(solutions)) => {
                    for solution in solutions {
                        if self.options.once && !tried.insert(solution.number) {
                            continue;
                        }
                        self.counts.tests += 1;
                        if satisfies(rest, &solution.model) {
                            self.counts.quick_test += 1;
                            self.counts.by_partial += (solution.number + 1) % 2;
                            return Some(Answer::Sat(solution.model.clone()));
                        }
                    }
                }
                None => {}
            }
        }
        None
    }

    fn remember(&mut self, rest: &mut Rest<'_>, formula: &[Expr], answer: &Answer, batches: &[Batch]) {
        let whole = numbers(formula.iter().copied());
        match answer {
            Answer::Sat(model) => {
                self.next += 2;
                self.add(whole, &Solution { number: self.next - 1, model: model.clone() });
            }
            Answer::Unsat(_) => {
                self.entries.insert(whole.into(), Entry::Unsat);
            }
            Answer::Unknown(_) => {}
        }
        let mut rows: Vec<(&Batch, usize)> =
            batches.iter().flat_map(|batch| (0..batch.len()).map(move |row| (batch, row))).collect();
        // Each solve has sampled; lemmas about arrays make several solves of one query.
        while rows.len() > self.options.kp as usize {
            let at = self.random.index(rows.len());
            rows.swap_remove(at);
        }
        for (batch, row) in rows {
            self.counts.partial += 1;
            self.next += 2;
            let solution =
                Solution { number: self.next, model: batch.complete(rest.graph, row, Model::new()) };
            let mut session = rest.evaluator.under(rest.graph, &solution.model);
            let length = formula.iter().take_while(|&&e| session.truth(e)).count();
            for end in 1..=length {
                self.add(numbers(formula[..end].iter().copied()), &solution);
            }
            if let Some(&violated) = formula.get(length) {
                let negated = rest.graph.not(violated);
                self.add(numbers(formula[..length].iter().copied().chain([negated])), &solution);
            }
        }
    }

    /// Stores a solution of a set of constraints unless `ks` are stored already.
    fn add(&mut self, set: Vec<u32>, solution: &Solution) {
        if let Some(entry) = self.entries.get_mut(set.as_slice()) {
            match entry {
                Entry::Sat(solutions) if solutions.len() < (self.options.ks as usize).max(1) => {
                    solutions.push(solution.clone());
                }
                Entry::Sat(_) | Entry::Unsat => {}
            }
            return;
        }
        self.supersets.insert(&set, solution.model.clone());
        self.entries.insert(set.into(), Entry::Sat(vec![solution.clone()]));
    }
}

impl Layer for PartialSolutions {
    fn name(&self) -> &str {
        "solutions:paper"
    }

    fn check(&mut self, query: &Query, rest: &mut Rest<'_>) -> Answer {
        let constraints = query.constraints(rest.tree);
        let formula: Vec<Expr> = constraints.iter().copied().chain([query.condition]).collect();
        if let Some(answer) = self.find(rest, &formula) {
            return answer;
        }
        let wanted = if self.options.harvest { self.options.kp as usize } else { 0 };
        let before = rest.near_misses.exactly.replace(wanted);
        let answer = rest.check(query).answer;
        rest.near_misses.exactly = before;
        let batches = rest.near_misses.take();
        self.remember(rest, &formula, &answer, &batches);
        answer
    }

    fn sweep(&mut self, alive: &Alive<'_>) {
        self.entries.retain(|set, _| set.iter().all(|id| alive.exprs.has_id(*id)));
        for entry in self.entries.values_mut() {
            if let Entry::Sat(solutions) = entry {
                solutions.iter_mut().for_each(|one| one.model.retain(|variable| alive.expr(variable)));
            }
        }
        self.supersets.sweep(|id| alive.exprs.has_id(id), |model| model.retain(|v| alive.expr(v)));
    }

    fn drop_paths(&mut self, _gone: &[u32]) {}

    fn forget(&mut self) {
        self.entries = FxHashMap::default();
        self.supersets = SetTrie::default();
    }

    fn counters(&self) -> Vec<(String, f64)> {
        let counts = &self.counts;
        [
            ("same", counts.same),
            ("sat_superset", counts.superset),
            ("unsat_prefix", counts.unsat_prefix),
            ("quick_test", counts.quick_test),
            ("by_partial", counts.by_partial),
            ("tests", counts.tests),
            ("partial", counts.partial),
            ("entries", self.entries.len() as u64),
        ]
        .map(|(name, count)| (name.to_string(), count as f64))
        .to_vec()
    }
}
