//! How a query is answered: a chain of layers, each of which answers or passes on.
//!
//! `Solver` owns the graph, the path tree and the chain; `rest.rs` drives it. Obligations of a layer: its model satisfies
//! the query, its core is a subset of the query's constraints and unsatisfiable by itself, without budget it answers
//! `Unknown`, and the same history gives the same answer. `conformance.rs` tests every layer for this.

mod baselines;
pub mod conformance;
mod differences;
mod enumerate;
mod extreme;
mod intervals;
pub mod near_misses;
mod record;
mod repair;
mod rest;
mod reuse;
mod sat;
mod settrie;
mod simplify;
mod slowest;
mod small_inputs;
mod solutions;
pub mod spec;
mod split;
pub mod store;
mod table;
mod throttled;
mod verify;

pub use extreme::Extreme;
pub use rest::{Meter, Reply, Rest};
pub use slowest::{Slow, Slowest};
pub use spec::{Item, Spec, SpecError};
pub use table::{LAYERS, LayerRow, build_chain, build_chain_with};
pub use throttled::Throttled;

use crate::budget::Budget;
use crate::expr::walk::{Atom, Supports};
use crate::expr::{self, Evaluator, Expr, Graph};
use crate::interval::{Learner, Set};
use crate::query::{Alive, Answer, Path, PathIndex, PathTree, Query, Slice, Status};
use near_misses::NearMisses;
use rest::{Below, Metered, Spent};
use std::time::{Duration, Instant};

/// One step of the chain.
pub trait Layer: Send {
    fn name(&self) -> &str;

    /// Answers, or passes on through `rest`: the query, a smaller one, or several. Effort beyond evaluation and learning is
    /// counted by `rest.spend`.
    fn check(&mut self, query: &Query, rest: &mut Rest<'_>) -> Answer;

    /// Drops what mentions expressions and path nodes that are not alive: they are about to be reused.
    fn sweep(&mut self, alive: &Alive<'_>);

    /// Drops what is attached to these path nodes: their numbers are about to be reused. All expressions stay.
    fn drop_paths(&mut self, gone: &[u32]);

    /// Memory is short: drops what can be recomputed.
    fn forget(&mut self) {}

    /// Writes what is buffered: the run ends or pauses.
    fn flush(&mut self) {}

    /// A message for the user, each only once. The core prints nothing.
    fn notice(&mut self) -> Option<String> {
        None
    }

    /// The layer's own counters, by name.
    fn counters(&self) -> Vec<(String, f64)> {
        Vec::new()
    }

    /// Does the layer decide every query, within its budget?
    fn is_complete(&self) -> bool {
        false
    }
}

/// Name, meter and counters of a layer, for reports.
#[derive(Clone, Debug)]
pub struct LayerStatistics {
    pub name: String,
    pub meter: Meter,
    pub counters: Vec<(String, f64)>,
}

/// The graph, the path tree and a chain of layers.
pub struct Solver {
    pub graph: Graph,
    pub tree: PathTree,
    pub evaluator: Evaluator,
    pub learner: Learner,
    pub supports: Supports,
    index: PathIndex,
    near_misses: NearMisses,
    layers: Vec<Metered>,
    queries: u64,
    time: Duration,
    spent: Spent,
    pub slowest: Slowest,
}

impl Solver {
    pub fn new(layers: Vec<Box<dyn Layer>>) -> Solver {
        let layers = layers.into_iter().map(Metered::new).collect();
        Solver {
            graph: Graph::new(),
            tree: PathTree::new(),
            evaluator: Evaluator::new(),
            learner: Learner::default(),
            supports: Supports::default(),
            index: PathIndex::default(),
            near_misses: NearMisses::default(),
            layers,
            queries: 0,
            time: Duration::ZERO,
            spent: Spent::default(),
            slowest: Slowest::default(),
        }
    }

    /// Is `query` satisfiable?
    pub fn check(&mut self, query: &Query, budget: &Budget) -> Answer {
        self.reply(query, budget).answer
    }

    /// Effort of the chain so far, over all queries.
    pub fn effort(&self) -> u64 {
        self.spent.total(&self.evaluator, &self.index, &self.learner)
    }

    /// Is `query` satisfiable, and how much effort did the answer take?
    pub fn reply(&mut self, query: &Query, budget: &Budget) -> Reply {
        let start = Instant::now();
        self.near_misses.clear();
        self.learner.limit_memory();
        let mut rest = Rest {
            layers: &mut self.layers,
            graph: &mut self.graph,
            tree: &mut self.tree,
            budget,
            evaluator: &mut self.evaluator,
            learner: &mut self.learner,
            supports: &mut self.supports,
            index: &mut self.index,
            near_misses: &mut self.near_misses,
            spent: &mut self.spent,
            effort_limit: u64::MAX,
            below: Below::default(),
        };
        if let Some(effort) = budget.effort {
            rest.effort_limit = rest.effort().saturating_add(effort);
        }
        let reply = rest.check(query);
        let slowest = rest.below.slowest;
        self.queries += 1;
        let time = start.elapsed();
        self.time += time;
        if self.slowest.wants(time) {
            self.note_slow(query, &reply.answer, time, slowest);
        }
        reply
    }

    fn note_slow(&mut self, query: &Query, answer: &Answer, time: Duration, slowest: (Duration, usize)) {
        let mut assertions = query.constraints(&self.tree).to_vec();
        assertions.push(query.condition);
        let layer = self.layers.len().checked_sub(slowest.1).and_then(|at| self.layers.get(at));
        let row = Slow {
            time,
            verdict: answer.verdict(),
            layer: layer.map_or(String::new(), |metered| metered.layer.name().to_string()),
            own: slowest.0,
            constraints: assertions.len(),
            size: None,
            text: None,
            place: String::new(),
        };
        self.slowest.add(&self.graph, &assertions, row);
    }

    /// Is the path satisfiable? The result becomes the path's status.
    pub fn check_path(&mut self, path: Path, budget: &Budget) -> Answer {
        if let Status::Feasible(model) = self.tree.status(path) {
            return Answer::Sat(model.clone());
        }
        if let Status::Infeasible(core) = self.tree.status(path) {
            let constraints = core.iter().copied().collect();
            return Answer::Unsat(crate::query::Core { constraints, condition: false });
        }
        let condition = self.graph.boolean(true);
        let answer = self.check(&Query::new(path, condition), budget);
        match &answer {
            Answer::Sat(model) => self.tree.set_status(path, Status::Feasible(model.clone())),
            Answer::Unsat(core) => {
                self.tree.set_status(path, Status::Infeasible(core.constraints.as_slice().into()));
            }
            Answer::Unknown(_) => {}
        }
        answer
    }

    /// Components of a path, which share no input: identity and constraints of each.
    pub fn components(&mut self, path: Path) -> Vec<(u64, Slice)> {
        let components = self.index.components(&self.graph, &self.tree, path);
        let slice = |number: u32| self.index.slice(&components, [number].into_iter().collect());
        components.iter().map(|(number, component)| (component.identity(), slice(number))).collect()
    }

    /// Constraints of a path that a change of this input can affect; `None` if the path uses its array as a whole.
    pub fn mentioning(&mut self, path: Path, atom: Atom) -> Option<Vec<Expr>> {
        let components = self.index.components(&self.graph, &self.tree, path);
        self.index.mentioning(&components, atom)
    }

    /// A set that contains every value an expression of at most 64 bits can have on a path.
    pub fn values(&mut self, path: Path, e: Expr) -> Set {
        self.learner.values_on(&self.graph, &self.tree, path, e).set
    }

    pub fn queries(&self) -> u64 {
        self.queries
    }

    pub fn time(&self) -> Duration {
        self.time
    }

    pub fn statistics(&self) -> Vec<LayerStatistics> {
        let row = |m: &Metered| LayerStatistics {
            name: m.layer.name().to_string(),
            meter: m.meter.clone(),
            counters: m.layer.counters(),
        };
        self.layers.iter().map(row).collect()
    }

    /// Meters of the layers, in order.
    pub fn meters(&self) -> impl Iterator<Item = &Meter> {
        self.layers.iter().map(|metered| &metered.meter)
    }

    pub fn has_complete_layer(&self) -> bool {
        self.layers.iter().any(|m| m.layer.is_complete())
    }

    /// Frees expressions that neither `roots` nor live paths need, and sweeps every layer. Returns their number.
    pub fn collect(&mut self, roots: impl IntoIterator<Item = Expr>) -> usize {
        let mut marking = self.graph.marking();
        roots.into_iter().for_each(|root| marking.add(root));
        self.tree.roots(&mut |root| marking.add(root));
        let alive = marking.alive();
        self.collect_unmarked(&alive)
    }

    /// Frees expressions that are not alive; the roots of the tree are.
    pub fn collect_unmarked(&mut self, alive: &expr::Alive) -> usize {
        self.learner.sweep(&Alive::new(alive, &self.tree));
        self.supports.sweep(alive);
        self.index.sweep(&Alive::new(alive, &self.tree));
        for metered in &mut self.layers {
            metered.layer.sweep(&Alive::new(alive, &self.tree));
        }
        self.tree.recycle();
        self.graph.collect(alive)
    }

    /// Makes the numbers of dropped path nodes usable again. The cost is that of what is attached to these nodes, so it
    /// can be called often, while they are still in the processor's cache.
    pub fn drop_paths(&mut self) {
        self.learner.drop_paths(self.tree.dropped());
        self.index.drop_paths(self.tree.dropped());
        for metered in &mut self.layers {
            metered.layer.drop_paths(self.tree.dropped());
        }
        self.tree.recycle();
    }

    /// Flushes every layer.
    pub fn flush(&mut self) {
        for metered in &mut self.layers {
            metered.layer.flush();
        }
    }

    /// Messages of the layers for the user, each only once.
    pub fn notices(&mut self) -> Vec<String> {
        self.layers.iter_mut().filter_map(|metered| metered.layer.notice()).collect()
    }

    /// Memory is short: drops what can be recomputed.
    pub fn forget(&mut self) {
        self.learner.forget();
        self.supports.forget();
        self.index.forget();
        for metered in &mut self.layers {
            metered.layer.forget();
        }
    }
}
