//! The baseline `reuse:klee`: KLEE's counterexample cache with its default settings.
//!
//! Answers: queries with a stored set of constraints; unsat if a stored subset is; sat if the model of a stored subset
//! satisfies the query.
//! Why sound: as `reuse`: sets are compared as expressions, models are evaluated before they are returned.
//! When it helps: a baseline for `reuse` and `solutions`.
//! Cost: visits all stored subsets.
//! Source: KLEE's documentation of its caches (docs/cache.md); its branch cache is the look-up of an equal set.

use crate::expr::{Expr, Model};
use crate::query::{Alive, Answer, Core, Query, Reasons};
use crate::solve::settrie::{SetTrie, numbers};
use crate::solve::{Layer, Rest};

/// The cache is cleared when it has more entries.
const MAX_ENTRIES: usize = 100_000;

/// Sets of constraints with a model, or `None` if they are unsatisfiable.
#[derive(Default)]
pub struct KleeCache {
    sets: SetTrie<Option<Model>>,
    subset_unsat: u64,
    subset_sat: u64,
}

impl KleeCache {
    pub fn new() -> KleeCache {
        KleeCache::default()
    }
}

impl Layer for KleeCache {
    fn name(&self) -> &str {
        "reuse:klee"
    }

    fn check(&mut self, query: &Query, rest: &mut Rest<'_>) -> Answer {
        let constraints = query.constraints(rest.tree);
        let set = numbers(constraints.iter().copied().chain([query.condition]));
        let answers = |model: &Option<Model>| match model {
            None => true,
            Some(model) => rest.satisfies(query, model).is_ok(),
        };
        match self.sets.subset_where(&set, usize::MAX, answers) {
            Some((_, Some(model))) => {
                self.subset_sat += 1;
                return Answer::Sat(model.clone());
            }
            Some((found, None)) => {
                self.subset_unsat += 1;
                let within = |e: &&Expr| found.binary_search(&e.id()).is_ok();
                let used: Reasons = constraints.iter().filter(within).copied().collect();
                let condition = found.len() > used.as_slice().len();
                return Answer::Unsat(Core { constraints: used, condition });
            }
            None => {}
        }
        let answer = rest.check(query).answer;
        if self.sets.count() >= MAX_ENTRIES {
            self.forget();
        }
        match &answer {
            Answer::Sat(model) => self.sets.insert(&set, Some(model.clone())),
            // KLEE has no cores: the whole set is stored as unsatisfiable.
            Answer::Unsat(_) => self.sets.insert(&set, None),
            Answer::Unknown(_) => {}
        }
        answer
    }

    fn sweep(&mut self, alive: &Alive<'_>) {
        let drop_dead = |model: &mut Option<Model>| {
            if let Some(model) = model {
                model.retain(|variable| alive.expr(variable));
            }
        };
        self.sets.sweep(|id| alive.exprs.has_id(id), drop_dead);
    }

    fn drop_paths(&mut self, _gone: &[u32]) {}

    fn forget(&mut self) {
        self.sets = SetTrie::default();
    }

    fn counters(&self) -> Vec<(String, f64)> {
        [("unsat_subset", self.subset_unsat), ("sat_subset", self.subset_sat)]
            .map(|(name, count)| (name.to_string(), count as f64))
            .to_vec()
    }
}
