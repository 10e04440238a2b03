//! Calibration of the table of costs (`core/src/cost.rs`): what operations take, beside the table; and the time of each
//! layer on the query logs, beside its effort.
//!
//! `cargo bench --bench costs`. Each operation runs in a workload that consists of little else; what the workload does
//! beside it is subtracted, at the costs of the table. CPU time of the thread, median of `RUNS`. A row is worth changing if
//! it is off by a factor of two.

mod allocator;
mod clock;
#[path = "../tests/corpus/mod.rs"]
mod corpus;
mod replay;

use clock::cpu_time;
use partita_core::budget::Budget;
use partita_core::cost;
use partita_core::expr::columns::{Columns, Plan};
use partita_core::expr::walk::Atom;
use partita_core::expr::{Bits, Evaluator, Expr, Graph, Model, Sort};
use partita_core::interval::{Facts, Learner, Set, image};
use partita_core::query::{Alive, Answer, Query, Status};
use partita_core::solve::{Layer, Meter, Rest, Solver};
use std::collections::BTreeMap;

/// Runs of each workload.
const RUNS: usize = 9;

fn median(mut all: Vec<f64>) -> f64 {
    all.sort_by(f64::total_cmp);
    all[all.len() / 2]
}

/// Nanoseconds of CPU time that `run` takes, and its result.
fn timed<T>(run: impl FnOnce() -> T) -> (f64, T) {
    let start = cpu_time();
    let result = run();
    ((cpu_time() - start).as_secs_f64() * 1e9, result)
}

/// Nanoseconds per operation: `run` returns the number of operations.
fn measure(mut run: impl FnMut() -> u64) -> f64 {
    let once = |_| {
        let (ns, operations) = timed(&mut run);
        ns / operations.max(1) as f64
    };
    median((0..RUNS).map(once).collect())
}

fn variable(graph: &mut Graph, name: &str, width: u32) -> Expr {
    graph.var(name, Sort::Bits(width)).expect("a new name")
}

/// Number of operators in `expression`.
const OPERATORS: u64 = 400;

/// A long expression over a word.
fn expression(graph: &mut Graph, x: Expr) -> Expr {
    let mut e = x;
    for i in 0..OPERATORS / 2 {
        let constant = graph.word(32, 2 * i + 1);
        let product = graph.mul(e, constant);
        e = graph.xor(product, x);
    }
    let limit = graph.word(32, 1 << 30);
    graph.ult(e, limit)
}

fn value() -> f64 {
    let mut graph = Graph::new();
    let x = variable(&mut graph, "x", 32);
    let e = expression(&mut graph, x);
    let mut evaluator = Evaluator::new();
    measure(|| {
        for i in 0..1000 {
            let mut model = Model::new();
            model.set_bits(x, Bits::word(32, i));
            evaluator.under(&graph, &model).truth(e);
        }
        1000 * OPERATORS
    })
}

fn column_value() -> f64 {
    let mut graph = Graph::new();
    let x = variable(&mut graph, "x", 32);
    let e = expression(&mut graph, x);
    let (plan, mut columns) = (Plan::new(&graph, &[e]), Columns::new());
    let values: Vec<u64> = (0..1024).collect();
    measure(|| {
        let before = columns.computed();
        for _ in 0..100 {
            let mut tile = columns.tile(&plan, values.len());
            tile.bind(Atom::Variable(x), &values);
            tile.satisfying();
        }
        columns.computed() - before
    })
}

fn plan_node() -> f64 {
    let mut graph = Graph::new();
    let x = variable(&mut graph, "x", 32);
    let e = expression(&mut graph, x);
    measure(|| {
        (0..100).for_each(|_| drop(Plan::new(&graph, &[e])));
        100 * OPERATORS
    })
}

/// Passes every query on.
struct PassOn;

impl Layer for PassOn {
    fn name(&self) -> &str {
        "pass-on"
    }

    fn check(&mut self, query: &Query, rest: &mut Rest<'_>) -> Answer {
        rest.check(query).answer
    }

    fn sweep(&mut self, _: &Alive<'_>) {}

    fn drop_paths(&mut self, _: &[u32]) {}
}

fn query() -> f64 {
    let layers = (0..10).map(|_| Box::new(PassOn) as Box<dyn Layer>).collect();
    let mut solver = Solver::new(layers);
    let condition = solver.graph.var("p", Sort::Bool).expect("a new name");
    let query = Query::new(solver.tree.root(), condition);
    measure(|| {
        (0..10_000).for_each(|_| drop(solver.check(&query, &Budget::unlimited())));
        100_000
    })
}

/// Conditions that compare a word with a constant: one summary of three nodes each.
fn summary_node() -> f64 {
    let mut graph = Graph::new();
    let x = variable(&mut graph, "x", 32);
    let mut condition = |i: u64| {
        let constant = graph.word(32, 7 * i);
        graph.ult(x, constant)
    };
    let conditions: Vec<Expr> = (1..=10_000).map(&mut condition).collect();
    measure(|| {
        let mut learner = Learner::default();
        conditions.iter().for_each(|&e| drop(learner.summary(&graph, e)));
        3 * conditions.len() as u64
    })
}

fn fold_node() -> f64 {
    let mut graph = Graph::new();
    let x = variable(&mut graph, "x", 32);
    let e = expression(&mut graph, x);
    let mut learner = Learner::default();
    let nodes = measure(|| {
        (0..100).for_each(|_| drop(learner.values(&graph, &Facts::default(), e)));
        100 * OPERATORS
    });
    // Each operator has a constant beside it.
    (nodes - cost::INTERVAL_PAIR as f64) / 1.5
}

fn interval_pair() -> f64 {
    const INTERVALS: u64 = 16;
    let mut graph = Graph::new();
    let [x, y] = ["x", "y"].map(|name| variable(&mut graph, name, 32));
    let sum = graph.add(x, y);
    let spaced = |step: u64| Set::from_intervals(32, (0..INTERVALS).map(|i| (i * step, i * step + 2))).set;
    let (of_x, of_y) = (spaced(1 << 20), spaced(1 << 12));
    measure(|| {
        for _ in 0..200 {
            drop(image(&graph, sum, |e| Some(if e == x { &of_x } else { &of_y })));
        }
        200 * INTERVALS * INTERVALS
    })
}

/// Median over fresh solvers of what one operation takes: `prepare` makes the queries, `count` returns the number of
/// operations and the effort of everything else, from the solver and its effort.
fn in_chain(
    chain: &str,
    prepare: impl Fn(&mut Solver) -> Vec<Query>,
    count: impl Fn(&Solver, u64) -> (u64, u64),
) -> f64 {
    let once = |_| {
        let mut solver = replay::solver(chain);
        let queries = prepare(&mut solver);
        let (ns, effort) = timed(|| {
            let effort = |query| solver.reply(query, &Budget::unlimited()).effort;
            queries.iter().map(effort).sum()
        });
        let (operations, others) = count(&solver, effort);
        (ns - others as f64) / operations.max(1) as f64
    };
    median((0..RUNS).map(once).collect())
}

fn counter(solver: &Solver, layer: &str, name: &str) -> u64 {
    let row = solver.statistics().into_iter().find(|row| row.name == layer).expect("a layer of the chain");
    row.counters.iter().find(|(counter, _)| counter == name).expect("a counter of the layer").1 as u64
}

/// Sums of two words with a given value: each is repaired in one round.
fn repair_round() -> f64 {
    let prepare = |solver: &mut Solver| {
        let [x, y] = ["x", "y"].map(|name| variable(&mut solver.graph, name, 32));
        let root = solver.tree.root();
        solver.tree.set_status(root, Status::Feasible(Model::new()));
        let sum = solver.graph.add(x, y);
        let wanted: Vec<Expr> = (1..5_000).map(|i| solver.graph.word(32, 77 * i)).collect();
        wanted.into_iter().map(|c| Query::new(root, solver.graph.eq(sum, c))).collect()
    };
    in_chain("intervals(throttle=off) sat", prepare, |solver, effort| {
        let rounds = counter(solver, "intervals", "repaired");
        (rounds, effort - rounds * cost::REPAIR_ROUND)
    })
}

/// Conditions of this number of nodes that are easy to solve, for the store.
fn stored(solver: &mut Solver, nodes: u64) -> Vec<Query> {
    let x = variable(&mut solver.graph, "x", 32);
    let root = solver.tree.root();
    let mut query = |number: u64| {
        let graph = &mut solver.graph;
        let mut e = x;
        for i in 0..nodes / 3 {
            let constant = graph.word(32, 2 * (i + 1_000 * number) + 1);
            let xor = graph.xor(e, constant);
            e = graph.or(xor, x);
        }
        let zero = graph.word(32, 0);
        Query::new(root, graph.ne(e, zero))
    };
    (0..20).map(&mut query).collect()
}

/// A node of a long condition that is added to a store, without what the SAT solver takes; and reading the answer to a
/// short condition, at the cost of the table for its nodes.
fn store_rows() -> [f64; 2] {
    let folder = std::env::temp_dir().join(format!("partita-costs-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a writable folder");
    let (long, short) = (2_000, 12);
    let (mut adding, mut reading) = (Vec::new(), Vec::new());
    for run in 0..RUNS {
        let per_query = |chain: &str, nodes| {
            let mut solver = replay::solver(chain);
            let queries = stored(&mut solver, nodes);
            let ask = |query| drop(solver.check(query, &Budget::unlimited()));
            timed(|| queries.iter().for_each(ask)).0 / queries.len() as f64
        };
        let chain = |name: &str| {
            format!("store(path={},eager=on) sat", folder.join(format!("{name}-{run}")).display())
        };
        adding.push((per_query(&chain("long"), long) - per_query("sat", long)) / long as f64);
        per_query(&chain("short"), short);
        reading.push(per_query(&chain("short"), short) - (cost::CANONICAL_NODE * short) as f64);
    }
    std::fs::remove_dir_all(&folder).expect("a writable folder");
    [median(adding), median(reading)]
}

/// A query that a complete layer answers from circuits that it has.
fn solve() -> f64 {
    let prepare = |solver: &mut Solver| {
        let x = variable(&mut solver.graph, "x", 8);
        let root = solver.tree.root();
        let limits: Vec<Expr> = (1..40).map(|i| solver.graph.word(8, i)).collect();
        let queries: Vec<Query> =
            limits.into_iter().map(|c| Query::new(root, solver.graph.ult(x, c))).collect();
        queries.iter().for_each(|query| drop(solver.check(query, &Budget::unlimited())));
        queries.iter().cycle().take(5_000).cloned().collect()
    };
    // The few propagations of such a query are part of it.
    in_chain("sat", prepare, |_, _| (5_000, 5_000 * cost::QUERY))
}

/// Sums and differences of words: large circuits and no search.
fn gate() -> f64 {
    let prepare = |solver: &mut Solver| {
        let [x, y] = ["x", "y"].map(|name| variable(&mut solver.graph, name, 32));
        let (root, graph) = (solver.tree.root(), &mut solver.graph);
        let mut e = x;
        for i in 0..50 {
            let constant = graph.word(32, 2 * i + 1);
            let (sum, other) = (graph.add(e, y), graph.mul(x, constant));
            e = graph.xor(sum, other);
        }
        let zero = graph.word(32, 0);
        vec![Query::new(root, graph.ne(e, zero))]
    };
    in_chain("sat(engine=batsat)", prepare, |solver, effort| {
        let gates = counter(solver, "sat", "gates");
        (gates, effort - gates * cost::GATE)
    })
}

/// A number that is to be factored: search. In a large circuit the factors have other products too, which no constraint
/// needs.
fn factors(solver: &mut Solver, is_large: bool) -> Vec<Query> {
    let [x, y] = ["x", "y"].map(|name| variable(&mut solver.graph, name, 16));
    let others = ["a", "b", "c"].map(|name| variable(&mut solver.graph, name, 64));
    let (root, graph) = (solver.tree.root(), &mut solver.graph);
    let (wide_x, wide_y) = (graph.zext(x, 32), graph.zext(y, 32));
    let (product, wanted, one) =
        (graph.mul(wide_x, wide_y), graph.word(32, 4_294_049_777), graph.word(16, 1));
    let mut all = vec![graph.eq(product, wanted), graph.ult(one, x), graph.ult(x, y)];
    let mut last = graph.concat(wide_x, wide_y);
    for other in others.into_iter().filter(|_| is_large) {
        last = graph.mul(last, last);
        all.push(graph.eq(other, last));
    }
    vec![Query::new(root, graph.all(all))]
}

/// Nanoseconds per propagation in a small and in a large circuit, per tick of CaDiCaL, and per conflict.
fn search() -> [f64; 4] {
    let gates = |solver: &Solver| counter(solver, "sat", "gates") * cost::GATE;
    let per_unit = |engine: &str, is_large: bool, cost: u64| {
        let prepare = |solver: &mut Solver| factors(solver, is_large);
        in_chain(&format!("sat(engine={engine},small=off)"), prepare, |solver, effort| {
            let known = gates(solver) + cost::SOLVE + cost::QUERY;
            (effort.saturating_sub(known) / cost, known)
        })
    };
    let conflict = in_chain(
        "sat(engine=batsat,small=off)",
        |solver| factors(solver, false),
        |solver, _| (counter(solver, "sat", "conflicts"), gates(solver)),
    );
    [
        per_unit("batsat", false, cost::PROPAGATION),
        per_unit("batsat", true, cost::FAR_PROPAGATION),
        per_unit("cadical", false, cost::TICK),
        conflict,
    ]
}

fn main() {
    println!("{:16} {:>8} {:>8}  operation", "row", "table", "measured");
    let ([canonical_node, store_read], [propagation, far_propagation, tick, conflict]) =
        (store_rows(), search());
    let measured: BTreeMap<&str, f64> = [
        ("QUERY", query()),
        ("VALUE", value()),
        ("COLUMN_VALUE", column_value()),
        ("SUMMARY_NODE", summary_node()),
        ("FOLD_NODE", fold_node()),
        ("INTERVAL_PAIR", interval_pair()),
        ("PLAN_NODE", plan_node()),
        ("REPAIR_ROUND", repair_round()),
        ("CANONICAL_NODE", canonical_node),
        ("STORE_READ", store_read),
        ("SOLVE", solve()),
        ("GATE", gate()),
        ("PROPAGATION", propagation),
        ("FAR_PROPAGATION", far_propagation),
        ("TICK", tick),
        ("CONFLICT", conflict),
    ]
    .into_iter()
    .collect();
    for row in cost::ROWS {
        let found = measured.get(row.name).map_or("-".to_string(), |ns| format!("{ns:.1}"));
        println!("{:16} {:8} {found:>8}  {}", row.name, row.ns, row.about);
    }
    for chain in [&*replay::default_chain(&[]), "simplify split sat"] {
        println!("\n{chain}\n{:16} {:>10} {:>10} {:>6}", "layer", "effort ms", "time ms", "ratio");
        let mut totals: Vec<(String, Meter)> = Vec::new();
        for (_, text) in corpus::texts(".kquery.gz") {
            for (at, layer) in replay::replay(&text, chain).layers.into_iter().enumerate() {
                if totals.len() <= at {
                    totals.push((layer.name, Meter::default()));
                }
                totals[at].1.own += layer.meter.own;
                totals[at].1.effort += layer.meter.effort;
            }
        }
        for (name, meter) in totals {
            let (effort, time) = (meter.effort as f64 / 1e6, meter.own.as_secs_f64() * 1e3);
            println!("{name:16} {effort:10.2} {time:10.2} {:6.2}", time / effort.max(1e-9));
        }
    }
}
