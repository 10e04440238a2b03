//! The baseline `solutions:paper`: partial solutions, as published.
//!
//! Answers: queries with the same set of constraints, or with a satisfiable superset; then for each prefix of the path,
//! longest first: unsat if the prefix is, sat if a solution stored for it satisfies the query.
//! Why sound: a stored solution is evaluated under the whole query; an unsat prefix is a core.
//! When it helps: a baseline for `solutions`.
//! Cost: quadratic in the length of the path: every prefix is a key, and every candidate is evaluated under the query.
//! Source: "Partial solutions in the cache" (FSE 2024), Algorithm 2; docs/cache.md says where ours differs.

use crate::expr::{Expr, Model};
use crate::query::{Alive, Answer, Core, Query};
use crate::solve::near_misses::Batch;
use crate::solve::settrie::{SetTrie, numbers};
use crate::solve::{Layer, Rest};
use crate::tuning::PartialSolutionsOptions;
use rustc_hash::FxHashMap;

/// The cache is cleared when it has more entries.
const MAX_ENTRIES: usize = 100_000;
/// Nodes of the trie visited in a look-up of a superset.
const MAX_STEPS: usize = 200;

/// The verdict on a set of constraints.
enum Entry {
    Unsat,
    Sat(Vec<Model>),
}

pub struct PartialSolutions {
    options: PartialSolutionsOptions,
    entries: FxHashMap<Box<[u32]>, Entry>,
    supersets: SetTrie<Model>,
    same: u64,
    superset: u64,
    unsat_prefix: u64,
    quick_test: u64,
    tests: u64,
}

impl PartialSolutions {
    pub fn new(options: PartialSolutionsOptions) -> PartialSolutions {
        PartialSolutions {
            options,
            entries: FxHashMap::default(),
            supersets: SetTrie::default(),
            same: 0,
            superset: 0,
            unsat_prefix: 0,
            quick_test: 0,
            tests: 0,
        }
    }

    fn find(&mut self, query: &Query, rest: &mut Rest<'_>, formula: &[Expr]) -> Option<Answer> {
        let whole = numbers(formula.iter().copied());
        let unsat = |length: usize| {
            let constraints = formula[..length.min(formula.len() - 1)].iter().copied().collect();
            Answer::Unsat(Core { constraints, condition: length == formula.len() })
        };
        match self.entries.get(whole.as_slice()) {
            Some(Entry::Unsat) => {
                self.same += 1;
                return Some(unsat(formula.len()));
            }
            Some(Entry::Sat(models)) => {
                if let Some(model) = models.first().filter(|model| rest.satisfies(query, model).is_ok()) {
                    self.same += 1;
                    return Some(Answer::Sat(model.clone()));
                }
            }
            None => {}
        }
        if let Some(model) = self.supersets.superset_of(&whole, MAX_STEPS)
            && rest.satisfies(query, model).is_ok()
        {
            self.superset += 1;
            return Some(Answer::Sat(model.clone()));
        }
        for length in (1..=formula.len()).rev() {
            match self.entries.get(numbers(formula[..length].iter().copied()).as_slice()) {
                Some(Entry::Unsat) => {
                    self.unsat_prefix += 1;
                    return Some(unsat(length));
                }
                Some(Entry::Sat(models)) => {
                    self.tests += models.len() as u64;
                    if let Some(model) = models.iter().find(|model| rest.satisfies(query, model).is_ok()) {
                        self.quick_test += 1;
                        return Some(Answer::Sat(model.clone()));
                    }
                }
                None => {}
            }
        }
        None
    }

    fn remember(&mut self, rest: &mut Rest<'_>, formula: &[Expr], answer: &Answer, batches: &[Batch]) {
        if self.entries.len() > MAX_ENTRIES {
            self.forget();
        }
        match answer {
            Answer::Sat(model) => {
                let whole = numbers(formula.iter().copied());
                self.supersets.insert(&whole, model.clone());
                self.add(whole, model.clone());
            }
            Answer::Unsat(_) => {
                self.entries.insert(numbers(formula.iter().copied()).into(), Entry::Unsat);
            }
            Answer::Unknown(_) => {}
        }
        let rows = batches.iter().flat_map(|batch| (0..batch.len()).map(move |row| (batch, row)));
        for (batch, row) in rows.take(self.options.kp as usize) {
            let model = batch.complete(rest.graph, row, Model::new());
            let mut session = rest.evaluator.under(rest.graph, &model);
            let length = formula.iter().take_while(|&&e| session.truth(e)).count();
            for end in 1..=length {
                self.add(numbers(formula[..end].iter().copied()), model.clone());
            }
            if let Some(&violated) = formula.get(length) {
                let negated = rest.graph.not(violated);
                self.add(numbers(formula[..length].iter().copied().chain([negated])), model);
            }
        }
    }

    /// Stores a solution of a set of constraints unless `ks` are stored already.
    fn add(&mut self, set: Vec<u32>, model: Model) {
        match self.entries.entry(set.into()).or_insert_with(|| Entry::Sat(Vec::new())) {
            Entry::Sat(models) if models.len() < (self.options.ks as usize).max(1) => models.push(model),
            Entry::Sat(_) | Entry::Unsat => {}
        }
    }
}

impl Layer for PartialSolutions {
    fn name(&self) -> &str {
        "solutions:paper"
    }

    fn check(&mut self, query: &Query, rest: &mut Rest<'_>) -> Answer {
        let constraints = query.constraints(rest.tree);
        let formula: Vec<Expr> = constraints.iter().copied().chain([query.condition]).collect();
        if let Some(answer) = self.find(query, rest, &formula) {
            return answer;
        }
        let answer = rest.check(query).answer;
        let batches = rest.near_misses.take();
        self.remember(rest, &formula, &answer, &batches);
        answer
    }

    fn sweep(&mut self, alive: &Alive<'_>) {
        self.entries.retain(|set, _| set.iter().all(|id| alive.exprs.has_id(*id)));
        for entry in self.entries.values_mut() {
            if let Entry::Sat(models) = entry {
                models.iter_mut().for_each(|model| model.retain(|variable| alive.expr(variable)));
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
        [
            ("same", self.same),
            ("sat_superset", self.superset),
            ("unsat_prefix", self.unsat_prefix),
            ("quick_test", self.quick_test),
            ("tests", self.tests),
        ]
        .map(|(name, count)| (name.to_string(), count as f64))
        .to_vec()
    }
}
