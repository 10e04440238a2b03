//! Cost of one more difference constraint at depth 1,000 with 1,000 variables: in the domain alone, and through the
//! layer, which also finds and evaluates a model of all constraints; and the cost of changing to another such path.
//! Fails if the domain needs 50 microseconds or more.

mod allocator;
#[path = "../tests/chain/mod.rs"]
mod chain;

use chain::solver;
use partita_core::budget::Budget;
use partita_core::difference::active_path::ActivePath;
use partita_core::difference::assignment::Assignment;
use partita_core::difference::{Bound, Differences, ExternalBounds, IntegerTerm, Signedness};
use partita_core::expr::{Expr, Graph, Op, Sort};
use partita_core::query::{Answer, PathTree, Query, Reasons, Status};
use partita_core::random::Random;
use std::time::Instant;

const VARIABLES: u64 = 1000;
const DEPTH: usize = 1000;
const JUMPS: usize = 1000;
const LIMIT_US: f64 = 50.0;

/// Random constraints `x - y <= c` that the values satisfy, some of them tightly.
fn constraints(random: &mut Random, count: usize) -> Vec<(usize, usize, i128)> {
    let values: Vec<i128> = (0..VARIABLES).map(|_| i128::from(random.below(10_000))).collect();
    let mut one = || {
        let (x, y) = (random.below(VARIABLES) as usize, random.below(VARIABLES) as usize);
        (x, y, values[x] - values[y] + i128::from(random.below(50)))
    };
    (0..count).map(|_| one()).collect()
}

/// Every term starts at 0, without bounds.
struct NoBounds;

impl ExternalBounds for NoBounds {
    fn initial_value(&mut self, _term: IntegerTerm) -> i128 {
        0
    }

    fn bounds(&mut self, _term: IntegerTerm) -> Option<(i128, i128)> {
        None
    }

    fn reasons(&mut self, _term: IntegerTerm) -> Reasons {
        unreachable!("there are no bounds")
    }
}

/// Mean time of adding one constraint after the first thousand, in microseconds.
fn domain() -> f64 {
    let mut random = Random::new(1);
    let mut graph = Graph::new();
    let all = constraints(&mut random, 2 * DEPTH);
    let names: Vec<Expr> = (0..all.len()).map(|i| graph.word(32, i as u64)).collect();
    let (mut domain, mut assignment, mut edges) = (Differences::new(), Assignment::default(), Vec::new());
    let variables: Vec<u32> = (0..VARIABLES)
        .map(|i| graph.var(&format!("x{i}"), Sort::Bits(32)).expect("a new name"))
        .map(|term| {
            domain.variable(
                IntegerTerm { expr: term, signedness: Signedness::Signed },
                (-(1 << 31), (1 << 31) - 1),
            )
        })
        .collect();
    let mut start = Instant::now();
    for (i, (&(x, y, c), &name)) in all.iter().zip(&names).enumerate() {
        if i == DEPTH {
            start = Instant::now();
        }
        let (x, y) = (variables[x], variables[y]);
        let bound = Bound { x, y, c, reasons: Reasons::One(name) };
        let edge = domain.assume(bound, &mut assignment, &mut NoBounds).expect("values satisfy all of them");
        edges.extend(edge);
        domain.propagate_bounds([x, y], &mut edges);
    }
    start.elapsed().as_secs_f64() * 1e6 / DEPTH as f64
}

/// Time of changing from one path of a thousand constraints to another that shares none of them, in microseconds.
fn change_path() -> f64 {
    let (mut random, mut graph, mut tree) = (Random::new(1), Graph::new(), PathTree::new());
    let words: Vec<Expr> =
        (0..VARIABLES).map(|i| graph.var(&format!("x{i}"), Sort::Bits(32)).expect("a new name")).collect();
    let mut active_path = ActivePath::default();
    let range = (-(1 << 31), (1 << 31) - 1);
    let mut ends = Vec::new();
    for _ in 0..2 {
        let mut path = tree.root();
        active_path.backtrack_to(&tree, path, 0);
        while tree.depth(path) < DEPTH as u32 {
            let (x, y, c) = constraints(&mut random, 1)[0];
            let constraint = graph.sle(words[x], words[y]);
            let longer = tree.extend(&graph, path, constraint);
            if tree.depth(longer) > tree.depth(path) && graph.op(constraint) == Op::Sle {
                let [x, y] = [x, y].map(|i| IntegerTerm { expr: words[i], signedness: Signedness::Signed });
                let [x, y] = [x, y].map(|term| active_path.domain.variable(term, range));
                let edge = active_path.domain.add(Bound { x, y, c, reasons: Reasons::One(constraint) });
                active_path.enter(&tree, longer, edge.into_iter().collect());
                path = longer;
            }
        }
        ends.push(path);
    }
    let start = Instant::now();
    for i in 0..JUMPS {
        let missing = active_path.backtrack_to(&tree, ends[i % 2], u32::MAX);
        assert_eq!(missing.len(), DEPTH);
        for node in missing.into_iter().rev() {
            active_path
                .enter_known(node, None, &mut NoBounds)
                .expect("learnt before")
                .expect("no assignment to move");
        }
    }
    start.elapsed().as_secs_f64() * 1e6 / JUMPS as f64
}

/// Time of a query with a new constraint through a chain, in milliseconds, and the number of queries answered.
fn layer(chain: &str) -> (f64, usize) {
    let mut solver = solver(chain);
    let mut random = Random::new(1);
    let words: Vec<Expr> = (0..VARIABLES)
        .map(|i| solver.graph.var(&format!("x{i}"), Sort::Bits(32)).expect("a new name"))
        .collect();
    let mut path = solver.tree.root();
    let bound = solver.graph.word(32, 1 << 20);
    for &x in &words {
        let below = solver.graph.ult(x, bound);
        path = solver.tree.extend(&solver.graph, path, below);
    }
    let (mut answered, mut start) = (0, Instant::now());
    for (i, (x, y, c)) in constraints(&mut random, 2 * DEPTH).into_iter().enumerate() {
        if i == DEPTH {
            (answered, start) = (0, Instant::now());
        }
        let offset = solver.graph.word(32, c as u64 & 0xffff_ffff);
        let sum = solver.graph.add(words[y], offset);
        let condition = solver.graph.sle(words[x], sum);
        let answer = solver.check(&Query::new(path, condition), &Budget::unlimited());
        path = solver.tree.extend(&solver.graph, path, condition);
        if let Answer::Sat(model) = answer {
            answered += 1;
            solver.tree.set_status(path, Status::Feasible(model));
        }
    }
    (start.elapsed().as_secs_f64() * 1e3 / DEPTH as f64, answered)
}

fn main() {
    let added = domain();
    println!("differences, {VARIABLES} variables, after {DEPTH} constraints:");
    println!("    one more constraint takes {added:.2} us in the domain");
    println!("    changing to another path takes {:.2} us", change_path());
    for chain in ["differences", "simplify split intervals differences"] {
        let (milliseconds, answered) = layer(chain);
        println!(
            "    `{chain}` takes {milliseconds:.3} ms, with a model of all of them; answers {answered} of {DEPTH}"
        );
    }
    if added >= LIMIT_US {
        println!("expected less than {LIMIT_US} us");
        std::process::exit(1);
    }
}
