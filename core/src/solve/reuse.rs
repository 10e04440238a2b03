//! The layer `reuse`: answers of earlier queries.
//!
//! Answers: the same query with the same slice; the same set of constraints; unsat if a stored core is a subset of the
//! constraints; sat if a stored satisfiable set is a superset.
//! Why sound: constraints are compared as expressions, and the condition is one of them, so neither the path nor the
//! order matters. Models of other queries are evaluated.
//! When it helps: branches repeated on another path with the same slice.
//! Cost: one hash look-up of the identity of the slice, at any depth; if it fails, a bounded walk through set-tries, unless
//! they are empty or the slice is long.
//! Source: KLEE's counterexample cache; Green for the idea of reuse across programs.

use super::settrie::{SetTrie, numbers};
use super::{Layer, Rest};
use crate::expr::{Expr, Model};
use crate::query::{Alive, Answer, Core, Query, Reasons, Slice, SliceKey};
use crate::tuning::ReuseOptions;
use rustc_hash::FxHashMap;

/// Limit of models and of cores; all of a kind are dropped when it is reached.
const MAX_ENTRIES: usize = 100_000;
/// Limit of answers kept for identical queries, and of the constraints in their slices; all are dropped likewise.
const MAX_ASKED: usize = 1 << 12;
const MAX_SLICE_CONSTRAINTS: usize = 1 << 18;
/// Longer slices are not compared with others: collecting and sorting a slice for every query would make long paths
/// quadratic.
const MAX_COMPARED: usize = 256;

/// Condition and slice of a query.
type Asked = (Expr, SliceKey);

#[derive(Default)]
pub struct Reuse {
    options: ReuseOptions,
    asked: FxHashMap<Asked, Answer>,
    /// Number of constraints in the slices of `asked`.
    slice_constraints: usize,
    models: FxHashMap<Box<[u32]>, Model>,
    satisfiable: SetTrie<Model>,
    cores: SetTrie<()>,
    same: u64,
    subset: u64,
    superset: u64,
}

impl Reuse {
    pub fn new(options: ReuseOptions) -> Reuse {
        Reuse { options, ..Reuse::default() }
    }

    /// Returns an answer that follows from answers to other queries.
    fn look_up(&mut self, query: &Query, rest: &mut Rest<'_>) -> Option<Answer> {
        if (self.models.is_empty() && self.cores.count() == 0) || !is_compared(query, rest) {
            return None;
        }
        let constraints = query.constraints(rest.tree);
        let set = numbers(constraints.iter().copied().chain([query.condition]));
        if let Some(model) = self.models.get(set.as_slice()).cloned()
            && rest.satisfies(query, &model).is_ok()
        {
            self.same += 1;
            return Some(Answer::Sat(model));
        }
        if let Some(core) = self.cores.subset_of(&set, self.options.steps as usize) {
            self.subset += 1;
            let within = |e: &&Expr| core.binary_search(&e.id()).is_ok();
            let used: Reasons = constraints.iter().filter(within).copied().collect();
            // The condition may also be a constraint of the path.
            let condition = core.len() > used.as_slice().len();
            return Some(Answer::Unsat(Core { constraints: used, condition }));
        }
        if let Some(model) = self.satisfiable.superset_of(&set, self.options.steps as usize).cloned()
            && rest.satisfies(query, &model).is_ok()
        {
            self.superset += 1;
            return Some(Answer::Sat(model));
        }
        None
    }

    /// Keeps an answer for identical queries.
    fn keep_for_same(&mut self, asked: Asked, answer: Answer) {
        if self.asked.len() >= MAX_ASKED || self.slice_constraints >= MAX_SLICE_CONSTRAINTS {
            self.asked.clear();
            self.slice_constraints = 0;
        }
        self.slice_constraints += len(&asked.1);
        self.asked.insert(asked, answer);
    }

    /// Keeps an answer for queries with other constraints.
    fn keep_for_others(&mut self, query: &Query, rest: &Rest<'_>, answer: &Answer) {
        if !is_compared(query, rest) {
            return;
        }
        let constraints = query.constraints(rest.tree);
        match answer {
            Answer::Sat(model) => {
                if self.models.len() >= MAX_ENTRIES {
                    self.models.clear();
                    self.satisfiable = SetTrie::default();
                }
                let set = numbers(constraints.iter().copied().chain([query.condition]));
                self.satisfiable.insert(&set, model.clone());
                self.models.insert(set.into(), model.clone());
            }
            Answer::Unsat(core) => {
                if self.cores.count() >= MAX_ENTRIES {
                    self.cores = SetTrie::default();
                }
                let own = core.condition.then_some(query.condition);
                self.cores.insert(&numbers(core.constraints.as_slice().iter().copied().chain(own)), ());
            }
            Answer::Unknown(_) => {}
        }
    }
}

/// Is the slice short enough to be compared with others?
fn is_compared(query: &Query, rest: &Rest<'_>) -> bool {
    let len = query.slice.as_ref().map_or(rest.tree.depth(query.path) as usize, Slice::len);
    len <= MAX_COMPARED
}

/// Number of constraints that a key refers to.
fn len(key: &SliceKey) -> usize {
    match key {
        SliceKey::Components(_) => 1,
        SliceKey::Constraints(list) => list.len(),
    }
}

impl Layer for Reuse {
    fn name(&self) -> &str {
        "reuse"
    }

    fn check(&mut self, query: &Query, rest: &mut Rest<'_>) -> Answer {
        let key = match &query.slice {
            Some(slice) => slice.key(),
            None => SliceKey::Constraints(query.constraints(rest.tree)),
        };
        let asked = (query.condition, key);
        if let Some(answer) = self.asked.get(&asked) {
            self.same += 1;
            return answer.clone();
        }
        let found = self.look_up(query, rest);
        let answer = found.unwrap_or_else(|| {
            let reply = rest.check(query);
            if reply.effort >= self.options.expensive {
                self.keep_for_others(query, rest, &reply.answer);
            }
            reply.answer
        });
        if !matches!(answer, Answer::Unknown(_)) {
            self.keep_for_same(asked, answer.clone());
        }
        answer
    }

    fn sweep(&mut self, alive: &Alive<'_>) {
        self.asked.retain(|(condition, slice), answer| {
            if let Answer::Sat(model) = answer {
                model.retain(|variable| alive.expr(variable));
            }
            let is_alive = match slice {
                // Identities are not reused, so that of a component with a dead constraint is not asked for again.
                SliceKey::Components(_) => true,
                SliceKey::Constraints(list) => list.iter().all(|e| alive.expr(*e)),
            };
            alive.expr(*condition) && is_alive
        });
        self.slice_constraints = self.asked.keys().map(|(_, slice)| len(slice)).sum();
        let lives = |set: &[u32]| set.iter().all(|id| alive.exprs.has_id(*id));
        self.models.retain(|set, _| lives(set));
        self.satisfiable = SetTrie::default();
        for (set, model) in &mut self.models {
            model.retain(|variable| alive.expr(variable));
            self.satisfiable.insert(set, model.clone());
        }
        self.cores.sweep(|id| alive.exprs.has_id(id), |()| ());
    }

    /// Nothing is attached to path nodes.
    fn drop_paths(&mut self, _gone: &[u32]) {}

    fn forget(&mut self) {
        self.asked = FxHashMap::default();
        self.slice_constraints = 0;
        self.models = FxHashMap::default();
        self.satisfiable = SetTrie::default();
        self.cores = SetTrie::default();
    }

    fn counters(&self) -> Vec<(String, f64)> {
        [("same", self.same), ("unsat_subset", self.subset), ("sat_superset", self.superset)]
            .map(|(name, count)| (name.to_string(), count as f64))
            .to_vec()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::budget::Budget;
    use crate::expr::Sort;
    use crate::solve::{Solver, Spec, build_chain};

    fn solver() -> Solver {
        let spec = Spec::parse("reuse sat", &Spec(Vec::new())).unwrap();
        Solver::new(build_chain(&spec, &mut |_| Ok(None)).unwrap())
    }

    fn counter(solver: &Solver, wanted: &str) -> u64 {
        let all = &solver.statistics()[0].counters;
        all.iter().find(|(name, _)| name == wanted).expect("a counter").1 as u64
    }

    /// Makes a query with the last as condition: the verdict, and the number of queries that `sat` was asked so far.
    fn ask(solver: &mut Solver, constraints: &[Expr]) -> (&'static str, u64) {
        let (condition, others) = constraints.split_last().expect("a condition");
        let path =
            others.iter().fold(solver.tree.root(), |path, e| solver.tree.extend(&solver.graph, path, *e));
        let answer = solver.check(&Query::new(path, *condition), &Budget::unlimited());
        (answer.verdict(), solver.statistics()[1].meter.asked)
    }

    /// `x < 10`, `x > 20`, `x * y == 391`, `y > 3`: the first two contradict each other.
    fn constraints(solver: &mut Solver) -> [Expr; 4] {
        let g = &mut solver.graph;
        let [x, y] = ["x", "y"].map(|name| g.var(name, Sort::Bits(16)).unwrap());
        let [three, ten, twenty, product] = [3, 10, 20, 391].map(|value| g.word(16, value));
        let xy = g.mul(x, y);
        [g.ult(x, ten), g.ult(twenty, x), g.eq(xy, product), g.ult(three, y)]
    }

    #[test]
    fn answers_are_reused_for_same_subset_and_superset() {
        let mut solver = solver();
        let [low, high, product, large] = constraints(&mut solver);
        assert_eq!(ask(&mut solver, &[high, product, large]), ("sat", 1));
        assert_eq!(ask(&mut solver, &[high, product, large]), ("sat", 1));
        assert_eq!(ask(&mut solver, &[large, product, high]), ("sat", 1));
        assert_eq!(counter(&solver, "same"), 2);
        assert_eq!(ask(&mut solver, &[high, product]), ("sat", 1));
        assert_eq!(counter(&solver, "sat_superset"), 1);
        assert_eq!(ask(&mut solver, &[high, low]), ("unsat", 2));
        assert_eq!(ask(&mut solver, &[large, low, high]), ("unsat", 2));
        assert_eq!(counter(&solver, "unsat_subset"), 1);
    }

    /// Complete layer that answers unsat to everything and counts no effort, like layers outside the core.
    struct AlwaysUnsat;

    impl Layer for AlwaysUnsat {
        fn name(&self) -> &str {
            "always-unsat"
        }

        fn check(&mut self, query: &Query, rest: &mut Rest<'_>) -> Answer {
            let constraints = query.constraints(rest.tree).iter().copied().collect();
            Answer::Unsat(Core { constraints, condition: true })
        }

        fn sweep(&mut self, _alive: &Alive<'_>) {}

        fn drop_paths(&mut self, _gone: &[u32]) {}

        fn is_complete(&self) -> bool {
            true
        }
    }

    #[test]
    fn answers_of_complete_layers_are_kept_at_any_cost() {
        let mut solver = Solver::new(vec![Box::new(Reuse::default()), Box::new(AlwaysUnsat)]);
        let [low, high, _, large] = constraints(&mut solver);
        assert_eq!(ask(&mut solver, &[low, high]), ("unsat", 1));
        assert_eq!(ask(&mut solver, &[large, low, high]), ("unsat", 1));
        assert_eq!(counter(&solver, "unsat_subset"), 1);
    }

    #[test]
    fn forgotten_answers_are_asked_again() {
        let mut solver = solver();
        let [_, high, product, large] = constraints(&mut solver);
        assert_eq!(ask(&mut solver, &[high, product, large]), ("sat", 1));
        solver.forget();
        assert_eq!(ask(&mut solver, &[high, product, large]).1, 2);
    }

    #[test]
    fn number_of_kept_answers_is_bounded() {
        let mut reuse = Reuse::default();
        let mut solver = solver();
        let [low, ..] = constraints(&mut solver);
        let slice = SliceKey::Constraints(vec![low; 1000].into());
        for i in 0..2 * MAX_ASKED as u64 {
            let (number, answer) = (solver.graph.word(32, i), Answer::Sat(Model::new()));
            let slice = if i % 2 == 0 { slice.clone() } else { SliceKey::Constraints([low].into()) };
            reuse.keep_for_same((number, slice), answer);
            assert!(
                reuse.asked.len() <= MAX_ASKED && reuse.slice_constraints <= MAX_SLICE_CONSTRAINTS + 1000
            );
        }
    }
}
