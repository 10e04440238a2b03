//! Calibration of the table of costs (`core/src/cost.rs`): what operations take, beside the table; and the time of each
//! layer on the query logs, beside its effort.
//!
//! `cargo bench --bench costs`. A row is worth changing if it is off by a factor of two on an idle machine.

mod allocator;
#[path = "../tests/corpus/mod.rs"]
mod corpus;
mod replay;

use partita_core::budget::Budget;
use partita_core::cost;
use partita_core::expr::columns::{Columns, Plan};
use partita_core::expr::walk::Atom;
use partita_core::expr::{Bits, Evaluator, Expr, Graph, Model, Sort};
use partita_core::query::{Alive, Answer, Query};
use partita_core::solve::{Layer, Meter, Rest, Solver};
use std::collections::BTreeMap;
use std::time::Instant;

/// Runs of each operation; the fastest counts.
const RUNS: u32 = 5;

/// Nanoseconds per operation: `run` returns the number of operations.
fn measure(mut run: impl FnMut() -> u64) -> f64 {
    let mut once = || {
        let start = Instant::now();
        let operations = run();
        start.elapsed().as_secs_f64() * 1e9 / operations.max(1) as f64
    };
    (0..RUNS).map(|_| once()).fold(f64::INFINITY, f64::min)
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
    let x = graph.var("x", Sort::Bits(32)).expect("a new name");
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
    let x = graph.var("x", Sort::Bits(32)).expect("a new name");
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
    let x = graph.var("x", Sort::Bits(32)).expect("a new name");
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

fn main() {
    println!("{:16} {:>8} {:>8}  operation", "row", "table", "measured");
    let measured: BTreeMap<&str, f64> = [
        ("VALUE", value()),
        ("COLUMN_VALUE", column_value()),
        ("PLAN_NODE", plan_node()),
        ("QUERY", query()),
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
