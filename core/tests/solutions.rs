//! The pool of solutions: the nodes they are attached to, how they move between nodes, the cost of a lookup, and
//! the bounds.

use crate::chain::{error, layers};
use crate::random;
use partita_core::budget::{Budget, Why};
use partita_core::expr::columns::{Assignment, Memo};
use partita_core::expr::walk::Atom;
use partita_core::expr::{Evaluator, Expr, Graph, Model, Sort};
use partita_core::query::{Alive, Answer, Path, Query, Status};
use partita_core::random::Random;
use partita_core::solve::near_misses::Place;
use partita_core::solve::{Layer, Rest, Solver};
use std::sync::{Arc, Mutex};
use std::time::Instant;

/// A complete layer that answers `unknown` and harvests these values of `x`.
struct Feeder {
    rows: Arc<Mutex<Vec<u64>>>,
}

impl Layer for Feeder {
    fn name(&self) -> &str {
        "feeder"
    }

    fn check(&mut self, query: &Query, rest: &mut Rest<'_>) -> Answer {
        let x = rest.graph.lookup("x").expect("a variable");
        let place = Place { variable: x, index: None, width: 8, bits: (0..8).map(|i| (i, i)).collect() };
        let rows: Vec<Box<[u64]>> =
            self.rows.lock().expect("not poisoned").drain(..).map(|value| vec![value].into()).collect();
        if !rows.is_empty() {
            rest.near_misses.put(query.path, vec![place], rows);
        }
        Answer::Unknown(Why::Incomplete)
    }

    fn sweep(&mut self, _alive: &Alive<'_>) {}

    fn drop_paths(&mut self, _gone: &[u32]) {}

    fn is_complete(&self) -> bool {
        true
    }
}

struct FedSolver {
    solver: Solver,
    x: Expr,
    rows: Arc<Mutex<Vec<u64>>>,
}

impl FedSolver {
    fn new(spec: &str) -> FedSolver {
        let rows = Arc::new(Mutex::new(Vec::new()));
        let mut layers = layers(spec);
        layers.push(Box::new(Feeder { rows: rows.clone() }));
        let mut solver = Solver::new(layers);
        let x = solver.graph.var("x", Sort::Bits(8)).expect("a new name");
        FedSolver { solver, x, rows }
    }

    fn below(&mut self, limit: u64) -> Expr {
        let limit = self.solver.graph.word(8, limit);
        self.solver.graph.ult(self.x, limit)
    }

    fn at_least(&mut self, limit: u64) -> Expr {
        let below = self.below(limit);
        self.solver.graph.not(below)
    }

    fn extend(&mut self, path: Path, constraint: Expr) -> Path {
        self.solver.tree.extend(&self.solver.graph, path, constraint)
    }

    /// Asks a query that cannot be decided, so that the values are harvested.
    fn feed(&mut self, path: Path, values: &[u64]) {
        self.rows.lock().expect("not poisoned").extend(values);
        let impossible = self.below(1);
        let value = self.ask(path, impossible);
        assert_eq!(value, None, "the pool had an answer already");
    }

    /// The value of `x` in the answer, if the pool has one.
    fn ask(&mut self, path: Path, condition: Expr) -> Option<u64> {
        match self.solver.check(&Query::new(path, condition), &Budget::unlimited()) {
            Answer::Sat(model) => Some(model.word(self.x)),
            Answer::Unknown(_) => None,
            Answer::Unsat(_) => panic!("nothing is ever unsat because of a solution"),
        }
    }

    fn counter(&self, name: &str) -> u64 {
        let layers = self.solver.statistics();
        layers[0].counters.iter().find(|(n, _)| n == name).expect("a counter").1 as u64
    }
}

#[test]
fn one_walk_serves_every_prefix_and_every_branch() {
    let mut fed = FedSolver::new("solutions(variants=0)");
    let root = fed.solver.tree.root();
    let (c200, c100, c50) = (fed.below(200), fed.below(100), fed.below(50));
    let (n100, n50) = (fed.at_least(100), fed.at_least(50));
    let a = fed.extend(root, c200);
    let b = fed.extend(a, c100);
    let off_a = fed.extend(a, n100);
    let c = fed.extend(b, c50);
    let off_b = fed.extend(b, n50);
    // One value violates the first constraint, one lies in each branch off the path, one on the path.
    fed.feed(c, &[250, 150, 70, 20]);
    let (c210, c90, c60, c30) = (fed.below(210), fed.below(90), fed.below(60), fed.below(30));
    let n210 = fed.at_least(210);
    assert_eq!(fed.ask(c, c30), Some(20));
    assert_eq!(fed.ask(off_b, c90), Some(70));
    assert_eq!(fed.ask(off_a, c210), Some(150));
    assert_eq!(fed.ask(root, n210), Some(250));
    assert_eq!(fed.ask(off_b, c60), None, "70 is the only candidate, and it is not a solution");
}

#[test]
fn solutions_move_down_to_new_children_and_are_dropped_with_them() {
    let mut fed = FedSolver::new("solutions(variants=0)");
    let root = fed.solver.tree.root();
    let c200 = fed.below(200);
    let a = fed.extend(root, c200);
    fed.feed(a, &[10, 60, 110, 160]);
    let (c100, n100) = (fed.below(100), fed.at_least(100));
    let (low, high) = (fed.extend(a, c100), fed.extend(a, n100));
    let (c50, c120, n120) = (fed.below(50), fed.below(120), fed.at_least(120));
    assert_eq!(fed.ask(low, c50), Some(10));
    assert_eq!(fed.ask(high, c120), Some(110));
    assert_eq!(fed.ask(low, n120), None, "160 moved down to the other child");
    fed.solver.tree.release(high);
    fed.solver.drop_paths();
    // Node identifiers are reused: solutions of the dropped child must not appear at a new node with the same
    // identifier.
    let c20 = fed.below(20);
    let other = fed.extend(low, c20);
    assert_eq!(fed.ask(other, n120), None);
    let n150 = fed.at_least(150);
    let again = fed.extend(a, n150);
    assert_eq!(fed.ask(again, n120), None, "160 was dropped with its node");
    assert_eq!(fed.counter("pool"), 2);
}

#[test]
fn the_path_model_is_not_kept_twice() {
    let mut fed = FedSolver::new("solutions(variants=0)");
    let root = fed.solver.tree.root();
    let c200 = fed.below(200);
    let a = fed.extend(root, c200);
    fed.feed(a, &[10, 160]);
    let c100 = fed.below(100);
    assert_eq!(fed.ask(a, c100), Some(10));
    let child = fed.extend(a, c100);
    let mut model = Model::new();
    model.set_bits(fed.x, partita_core::expr::Bits::word(8, 10));
    fed.solver.tree.set_status(child, Status::Feasible(model));
    let c50 = fed.below(50);
    assert_eq!(fed.ask(child, c50), None);
    assert_eq!(fed.counter("pool"), 1);
}

#[test]
fn a_lookup_costs_the_same_at_any_depth() {
    let mut fed = FedSolver::new("solutions(variants=0)");
    let names: Vec<Expr> = (0..1000)
        .map(|i| fed.solver.graph.var(&format!("y{i}"), Sort::Bits(8)).expect("a new name"))
        .collect();
    let mut path = fed.solver.tree.root();
    let n200 = fed.at_least(200);
    let mut costs = Vec::new();
    for (i, &y) in names.iter().enumerate() {
        let g = &mut fed.solver.graph;
        let limit = g.word(8, 7);
        let constraint = g.ult(y, limit);
        path = fed.extend(path, constraint);
        if [9, 999].contains(&i) {
            fed.feed(path, &[10, 60, 110]);
            // New conditions each time, half of them answered.
            let conditions: Vec<Expr> = (1..150).map(|k| fed.below(k)).collect();
            let (before, start) = (fed.counter("values"), Instant::now());
            let answered = conditions.iter().filter(|&&c| fed.ask(path, c).is_some()).count();
            assert!(answered > 100, "{answered}");
            costs.push((fed.counter("values") - before, start.elapsed()));
            // No solution remains for the next depth.
            assert_eq!(fed.ask(path, n200), None);
        }
    }
    let ((shallow, fast), (deep, slow)) = (costs[0], costs[1]);
    assert!(deep <= 3 * shallow, "values computed: {shallow} at depth 10, {deep} at depth 1000");
    // With debug assertions every answer is evaluated once more, on the whole path.
    if !cfg!(debug_assertions) {
        assert!(slow < 5 * fast, "{fast:?} at depth 10, {slow:?} at depth 1000");
    }
}

#[test]
fn the_pool_is_bounded() {
    let mut fed = FedSolver::new("solutions(kp=1000,ks=7,variants=0)");
    let root = fed.solver.tree.root();
    let values: Vec<u64> = (1..256).collect();
    fed.feed(root, &values);
    assert_eq!(fed.counter("pool"), 7, "at one node");
    let mut fed = FedSolver::new("solutions(kp=1000,ks=1000,variants=0)");
    let root = fed.solver.tree.root();
    for i in 0..30u64 {
        let (low, high) = (fed.at_least(2 * i + 1), fed.below(2 * i + 200));
        let path = fed.extend(root, low);
        let path = fed.extend(path, high);
        fed.rows.lock().expect("not poisoned").extend(&values);
        let never = fed.below(1);
        fed.ask(path, never);
        assert!(fed.counter("pool") <= 4096);
    }
    fed.solver.forget();
    assert_eq!(fed.counter("pool"), 0);
}

#[test]
fn bad_options_are_named() {
    assert_eq!(
        error("solutions(ks=many)"),
        "expected kp=0..1000, ks=0..1000, variants=0..1000, share=0..1000000000, min_variants=0..1000, samples=1..1000000000 in `solutions(...)`, \
         found `ks=many`"
    );
    assert_eq!(
        error("solutions:paper(variants=3)"),
        "expected kp=0..1000000000, ks=0..1000000000, harvest=on|off, once=on|off in `solutions:paper(...)`, found \
         `variants=3`"
    );
    assert_eq!(error("solutions:page"), "expected `solutions` or `solutions:paper`, found `solutions:page`");
    assert_eq!(error("reuse:z"), "expected `reuse`, `reuse:klee` or `reuse:grulia`, found `reuse:z`");
}

#[test]
fn cached_values_agree_with_evaluation() {
    for seed in 1..9 {
        let (mut g, mut r) = (Graph::new(), Random::new(seed));
        let array = Sort::Array { index: 4, element: 8 };
        let sorts = [Sort::Bool, Sort::Bits(8), Sort::Bits(32), Sort::Bits(100), array];
        let variables: Vec<Expr> =
            sorts.iter().enumerate().map(|(i, &s)| g.var(&format!("v{i}"), s).expect("a new name")).collect();
        let leaves =
            random::Leaves { variables: variables.clone(), widths: vec![1, 4, 8, 32], array, tables: true };
        let pool = random::pool(&mut g, &mut r, &leaves, 400);
        let truths: Vec<Expr> = pool.into_iter().filter(|&e| g.is_bool(e)).collect();
        let atoms = [
            Atom::Variable(variables[0]),
            Atom::Variable(variables[1]),
            Atom::Variable(variables[2]),
            Atom::Element(variables[4], 3),
            Atom::Element(variables[4], 11),
        ];
        // A model of its own, or another model with one value changed; and its value.
        let assignment = |g: &Graph, r: &mut Random| {
            let model = random::model(g, r, &variables);
            let atom = atoms[r.below(atoms.len() as u64) as usize];
            let changed = Assignment::changed(g, &model, atom, r.below(u64::MAX)).expect("a word");
            let made = if r.below(2) == 0 { Assignment::from(model) } else { changed };
            (made.clone(), made.clone().model(g).clone())
        };
        let mut all: Vec<(Assignment, Model)> = (0..150).map(|_| assignment(&g, &mut r)).collect();
        let mut assignments: Vec<Assignment> = all.iter().map(|(made, _)| made.clone()).collect();
        let (mut memo, mut evaluator) = (Memo::default(), Evaluator::new());
        for round in 0..600 {
            let e = truths[r.below(truths.len() as u64) as usize];
            let lanes: Vec<u32> = (0..all.len() as u32).filter(|_| r.below(4) == 0).collect();
            let found = memo.truths(&g, &mut evaluator, &mut assignments, &lanes, e);
            for (lane, found) in lanes.into_iter().zip(found) {
                let right = evaluator.under(&g, &all[lane as usize].1).truth(e);
                assert_eq!(found, right, "seed {seed}, round {round}, lane {lane}");
            }
            // Often enough that the values of all nodes are computed at once now and then.
            if round % 3 == 0 {
                let lane = r.below(all.len() as u64) as u32;
                all[lane as usize] = assignment(&g, &mut r);
                assignments[lane as usize] = all[lane as usize].0.clone();
                memo.forget_lanes(&[lane]);
            }
        }
    }
}
