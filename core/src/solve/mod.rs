//! How a question is answered: layers, one after another, each answering or passing on.
//!
//! `Solver` owns the graph, the path tree and the chain. The driver counts and times every layer; no layer has a
//! timer of its own. A layer owes: its model satisfies the query as given, its core is a subset of the query's
//! constraints and unsatisfiable by itself, with no budget left it says `Unknown`, and the same history gives the
//! same answer. `conformance.rs` tests every layer for that.

mod baselines;
pub mod conformance;
mod differences;
mod enumerate;
mod extreme;
pub mod harvest;
mod intervals;
mod ledger;
mod record;
mod repair;
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
mod verify;

pub use extreme::Extreme;
pub use slowest::{Slow, Slowest};
pub use spec::{Item, Spec, SpecError};
pub use table::{LAYERS, LayerRow, build_chain};

use crate::budget::{Budget, Why};
use crate::expr::walk::Supports;
use crate::expr::{Evaluator, Expr, Graph, Model};
use crate::interval::{Facts, KnownSet, Learner, Set};
use crate::query::{Alive, Answer, Path, PathTree, Query, Status};
use harvest::Harvest;
use ledger::Ledger;
use std::time::{Duration, Instant};

/// One step of the chain.
pub trait Layer: Send {
    fn name(&self) -> &str;

    /// Answers, or passes on (perhaps a smaller query, perhaps several) through `rest`.
    fn check(&mut self, query: &Query, rest: &mut Rest<'_>) -> Answer;

    /// The chain has found this model of the query, the whole path and the condition, wherever it came from.
    fn found(&mut self, _query: &Query, _model: &Model, _rest: &mut Rest<'_>) {}

    /// Expressions and path nodes that are not alive are about to be reused: drop what mentions them.
    fn sweep(&mut self, alive: &Alive<'_>);

    /// The path nodes with these numbers are gone, and the numbers about to be reused: drop what hangs on them. All
    /// expressions stay.
    fn drop_paths(&mut self, gone: &[u32]);

    /// Memory is short: drop what can be recomputed.
    fn forget(&mut self) {}

    /// The run is over, or pauses: write what is waiting to be written.
    fn flush(&mut self) {}

    /// Something that the user should know, each only once: the core prints nothing.
    fn notice(&mut self) -> Option<String> {
        None
    }

    /// Counters of its own, by name.
    fn counters(&self) -> Vec<(String, f64)> {
        Vec::new()
    }

    /// Complete layers decide every query they are given, resources allowing.
    fn is_complete(&self) -> bool {
        false
    }

    /// May questions pass the layer by where it costs more than it saves?
    fn is_optional(&self) -> bool {
        false
    }
}

/// What a layer was asked and how it went. `asked = sat + unsat + unknown + passed`.
#[derive(Clone, Debug, Default)]
pub struct Meter {
    pub asked: u64,
    pub sat: u64,
    pub unsat: u64,
    pub unknown: u64,
    /// The layer asked those below it.
    pub passed: u64,
    /// Without the time spent below.
    pub own: Duration,
    /// The same in nanoseconds as reckoned from counts.
    pub reckoned: u64,
}

struct Metered {
    layer: Box<dyn Layer>,
    meter: Meter,
    ledger: Ledger,
    /// May it be passed by? Only if there is a complete layer below.
    optional: bool,
}

impl Metered {
    fn counters(&self) -> Vec<(String, f64)> {
        let mut all = self.layer.counters();
        if self.optional {
            all.push(("passed_by".to_string(), self.ledger.passed_by as f64));
        }
        all
    }
}

/// About how long it takes to compute a value, and to ask a layer anything.
const VALUE_NS: u64 = 10;
const ASKING_NS: u64 = 200;

/// How a question is to be answered.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
enum Manner {
    /// By all layers that are worth it.
    #[default]
    Usual,
    /// A layer has been passed by: whoever would have to work hard for the answer leaves it open instead.
    Brief,
    /// That was in vain: by all layers, as hard as it may be.
    Thorough,
}

/// The layers below, and what they all share.
pub struct Rest<'a> {
    layers: &'a mut [Metered],
    pub graph: &'a mut Graph,
    pub tree: &'a mut PathTree,
    pub budget: &'a Budget,
    pub evaluator: &'a mut Evaluator,
    /// What is known of paths: learnt when the first layer asks for it, for all of them.
    pub learner: &'a mut Learner,
    /// What expressions mention, likewise for all.
    pub supports: &'a mut Supports,
    /// Near misses of the question under way, for a layer above to take.
    pub harvest: &'a mut Harvest,
    /// Time spent in layers below since this layer was entered, and whether any was asked.
    below: Duration,
    asked_below: bool,
    /// The same as `work` counts it.
    work_below: u64,
    charged: &'a mut u64,
    manner: Manner,
    /// The longest own time of a layer below, and how many layers there are from it on.
    longest: (Duration, usize),
}

impl Rest<'_> {
    /// What the chain has done so far, in nanoseconds: reckoned from counts, not from a clock, so that whoever goes by it
    /// does the same each time.
    pub fn work(&self) -> u64 {
        *self.charged + self.evaluator.work * VALUE_NS + self.learner.spent()
    }

    /// The layer has done something beside evaluating and learning that takes about so long.
    pub fn charge(&mut self, ns: u64) {
        *self.charged += ns;
    }

    /// The same for solving.
    fn solved(&mut self, ns: u64) {
        self.charge(ns);
        self.harvest.work += ns;
    }

    /// Is a question that takes some effort better left open? Then those are asked who were passed by.
    pub fn is_brief(&self) -> bool {
        self.manner == Manner::Brief
    }

    /// Goes on with the next layer that is worth it.
    pub fn check(&mut self, query: &Query) -> Answer {
        self.asked_below = true;
        let passes_by = |metered: &Metered| self.manner != Manner::Thorough && metered.ledger.passes_by();
        let next = self.layers.iter().position(|metered| !passes_by(metered)).unwrap_or(self.layers.len());
        if next == 0 {
            return self.ask(0, query);
        }
        let before = self.work();
        let manner = std::mem::replace(&mut self.manner, Manner::Brief);
        let mut answer = match self.model_in_hand(query) {
            Some(model) => Answer::Sat(model),
            None => self.ask(next, query),
        };
        self.manner = manner;
        let is_open = matches!(&answer, Answer::Unknown(why) if !matches!(why, Why::WrongModel { .. }));
        if manner == Manner::Usual && is_open {
            self.manner = Manner::Thorough;
            answer = self.ask(0, query);
            self.manner = manner;
        }
        let work = self.work() - before;
        self.layers[..next].iter_mut().for_each(|metered| metered.ledger.note_without(work));
        answer
    }

    /// The model of the nearest feasible node, if it satisfies the query: what layers that were passed by try first.
    fn model_in_hand(&mut self, query: &Query) -> Option<Model> {
        let ancestor = self.tree.feasible_ancestor(query.path);
        let model = self.tree.model(ancestor).expect("a feasible node").clone();
        let holds = self.evaluator.under(self.graph, &model).truth(query.condition)
            && (ancestor == query.path || self.satisfies(query, &model).is_ok());
        holds.then_some(model)
    }

    /// Asks the layer at this place.
    fn ask(&mut self, at: usize, query: &Query) -> Answer {
        if let Some(why) = self.budget.spent() {
            return Answer::Unknown(why);
        }
        let before = self.work();
        let asked = &mut self.layers[at..];
        let left = asked.len();
        let Some((first, others)) = asked.split_first_mut() else {
            return Answer::Unknown(Why::Incomplete);
        };
        let start = Instant::now();
        *self.charged += ASKING_NS;
        let mut rest = Rest {
            layers: others,
            graph: self.graph,
            tree: self.tree,
            budget: self.budget,
            evaluator: self.evaluator,
            learner: self.learner,
            supports: self.supports,
            harvest: self.harvest,
            below: Duration::ZERO,
            asked_below: false,
            work_below: 0,
            charged: self.charged,
            manner: self.manner,
            longest: (Duration::ZERO, 0),
        };
        let answer = first.layer.check(query, &mut rest);
        debug_assert!(rest.is_honest(query, &answer), "a wrong answer from layer {}", first.layer.name());
        let (below, passed, longest) = (rest.below, rest.asked_below, rest.longest);
        let (work, work_below) = (rest.work() - before, rest.work_below);
        let total = start.elapsed();
        let own = total.saturating_sub(below);
        if first.optional {
            first.ledger.note_with(work, passed.then_some(work_below), self.harvest.solving());
        }
        self.below += total;
        self.work_below += work;
        self.longest = self.longest.max(longest).max((own, left));
        let meter = &mut first.meter;
        meter.asked += 1;
        meter.own += own;
        meter.reckoned += work - work_below;
        if !passed && first.layer.is_complete() {
            // Whatever it says that this took: somebody has solved it.
            self.harvest.work += 1;
            if !matches!(answer, Answer::Unknown(_)) {
                self.harvest.note_solve(work);
            }
        }
        match (&answer, passed) {
            (_, true) => meter.passed += 1,
            (Answer::Sat(_), false) => meter.sat += 1,
            (Answer::Unsat(_), false) => meter.unsat += 1,
            (Answer::Unknown(_), false) => meter.unknown += 1,
        }
        answer
    }

    /// Is there any layer below?
    pub fn is_last(&self) -> bool {
        self.layers.is_empty()
    }

    /// Does the model satisfy the query?
    pub fn satisfies(&mut self, query: &Query, model: &Model) -> Result<(), Expr> {
        crate::query::verify(self.graph, self.tree, query, model, self.evaluator)
    }

    /// What the query's constraints and its condition leave each of some terms, with those of them that say so.
    pub fn values(&mut self, query: &Query, terms: &[Expr]) -> Vec<KnownSet> {
        let of_path = self.learner.facts(self.graph, self.tree, query.path);
        let found = self.values_under(of_path, query.condition, terms);
        let Some(slice) = &query.slice else { return found };
        let inside = |e: &Expr| *e == query.condition || slice.contains(e);
        if found.iter().all(|view| view.reasons.flatten().as_slice().iter().all(inside)) {
            return found;
        }
        let of_slice = self.learner.facts_of(self.graph, slice);
        self.values_under(of_slice, query.condition, terms)
    }

    fn values_under(&mut self, mut facts: Facts, condition: Expr, terms: &[Expr]) -> Vec<KnownSet> {
        self.learner.set_effort(crate::interval::LEARNING_EFFORT);
        self.learner.learn(self.graph, &mut facts, condition);
        terms.iter().map(|&e| self.learner.values(self.graph, &facts, e)).collect()
    }

    fn is_honest(&mut self, query: &Query, answer: &Answer) -> bool {
        let work = self.evaluator.work;
        let honest = match answer {
            Answer::Sat(model) => self.satisfies(query, model).is_ok(),
            Answer::Unsat(core) => {
                let constraints = query.constraints(self.tree);
                core.constraints.as_slice().iter().all(|e| constraints.contains(e))
            }
            Answer::Unknown(_) => true,
        };
        // Only some builds look, and all shall reckon the same.
        self.evaluator.work = work;
        honest
    }
}

/// A layer's name, meter and own counters, for reports.
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
    harvest: Harvest,
    layers: Vec<Metered>,
    queries: u64,
    time: Duration,
    /// See `Rest::charge`.
    charged: u64,
    pub slowest: Slowest,
}

impl Solver {
    pub fn new(layers: Vec<Box<dyn Layer>>) -> Solver {
        let complete = layers.iter().rposition(|layer| layer.is_complete());
        let metered = |(at, layer): (usize, Box<dyn Layer>)| Metered {
            optional: layer.is_optional() && complete.is_some_and(|complete| at < complete),
            layer,
            meter: Meter::default(),
            ledger: Ledger::default(),
        };
        let layers = layers.into_iter().enumerate().map(metered).collect();
        Solver {
            graph: Graph::new(),
            tree: PathTree::new(),
            evaluator: Evaluator::new(),
            learner: Learner::default(),
            supports: Supports::default(),
            harvest: Harvest::default(),
            layers,
            queries: 0,
            time: Duration::ZERO,
            charged: 0,
            slowest: Slowest::default(),
        }
    }

    /// Is `query` satisfiable?
    pub fn check(&mut self, query: &Query, budget: &Budget) -> Answer {
        let start = Instant::now();
        self.harvest.clear();
        self.learner.limit_memory();
        let mut rest = Rest {
            layers: &mut self.layers,
            graph: &mut self.graph,
            tree: &mut self.tree,
            budget,
            evaluator: &mut self.evaluator,
            learner: &mut self.learner,
            supports: &mut self.supports,
            harvest: &mut self.harvest,
            below: Duration::ZERO,
            asked_below: false,
            work_below: 0,
            charged: &mut self.charged,
            manner: Manner::Usual,
            longest: (Duration::ZERO, 0),
        };
        let answer = rest.check(query);
        if let (Answer::Sat(model), None) = (&answer, &query.slice) {
            let layers = std::mem::take(&mut rest.layers);
            layers.iter_mut().for_each(|metered| metered.layer.found(query, model, &mut rest));
        }
        let longest = rest.longest;
        self.queries += 1;
        let time = start.elapsed();
        self.time += time;
        if self.slowest.wants(time) {
            self.note_slow(query, &answer, time, longest);
        }
        answer
    }

    fn note_slow(&mut self, query: &Query, answer: &Answer, time: Duration, longest: (Duration, usize)) {
        let mut assertions = query.constraints(&self.tree).to_vec();
        assertions.push(query.condition);
        let layer = self.layers.len().checked_sub(longest.1).and_then(|at| self.layers.get(at));
        let row = Slow {
            time,
            verdict: answer.verdict(),
            layer: layer.map_or(String::new(), |metered| metered.layer.name().to_string()),
            own: longest.0,
            constraints: assertions.len(),
            size: 0,
            text: None,
            place: String::new(),
        };
        self.slowest.add(&self.graph, &assertions, row);
    }

    /// Is the path satisfiable? What is found out stays with the path.
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
            counters: m.counters(),
        };
        self.layers.iter().map(row).collect()
    }

    /// What each layer was asked, in order.
    pub fn meters(&self) -> impl Iterator<Item = &Meter> {
        self.layers.iter().map(|metered| &metered.meter)
    }

    pub fn has_complete_layer(&self) -> bool {
        self.layers.iter().any(|m| m.layer.is_complete())
    }

    /// Frees expressions that neither `roots` nor live paths need, and sweeps every layer. Returns how many.
    pub fn collect(&mut self, roots: impl IntoIterator<Item = Expr>) -> usize {
        let tree_roots = self.tree.roots();
        let alive = self.graph.mark(roots.into_iter().chain(tree_roots));
        self.learner.sweep(&Alive::new(&alive, &self.tree));
        self.supports.sweep(&alive);
        for metered in &mut self.layers {
            metered.layer.sweep(&Alive::new(&alive, &self.tree));
        }
        self.tree.recycle();
        self.graph.collect(&alive)
    }

    /// Makes the numbers of dropped path nodes usable again. Costs as much as hung on those nodes, so that it can be
    /// called often, while that is still in the processor's cache.
    pub fn drop_paths(&mut self) {
        self.learner.drop_paths(self.tree.dropped());
        for metered in &mut self.layers {
            metered.layer.drop_paths(self.tree.dropped());
        }
        self.tree.recycle();
    }

    /// Every layer writes what is waiting to be written.
    pub fn flush(&mut self) {
        for metered in &mut self.layers {
            metered.layer.flush();
        }
    }

    /// What the layers want the user to know, each only once.
    pub fn notices(&mut self) -> Vec<String> {
        self.layers.iter_mut().filter_map(|metered| metered.layer.notice()).collect()
    }

    /// Memory is short: what can be recomputed is dropped.
    pub fn forget(&mut self) {
        self.learner.forget();
        self.supports.forget();
        for metered in &mut self.layers {
            metered.layer.forget();
        }
    }
}
