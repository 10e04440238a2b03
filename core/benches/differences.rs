//! What one more difference constraint costs at depth 1,000 with 1,000 variables: in the domain alone, and through the
//! layer, which also finds and evaluates a model of all thousand. Fails if the domain needs 50 microseconds or more.

use partita_core::budget::Budget;
use partita_core::difference::{Differences, Potentials, ZERO};
use partita_core::expr::{Expr, Graph, Sort};
use partita_core::query::{Answer, Query, Reasons, Status};
use partita_core::solve::conformance::Random;
use partita_core::solve::{Solver, Spec, build_chain};
use rustc_hash::FxHashMap;
use std::time::Instant;

const VARIABLES: u64 = 1000;
const DEPTH: usize = 1000;
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

/// Microseconds for adding one constraint, on average over a thousand after the first thousand; each state is kept, as
/// the nodes of a path keep theirs.
fn domain() -> f64 {
    let mut random = Random::new(1);
    let mut graph = Graph::new();
    let all = constraints(&mut random, 2 * DEPTH);
    let names: Vec<Expr> = (0..all.len()).map(|i| graph.word(32, i as u64)).collect();
    let mut states = vec![Differences::new()];
    let mut values: FxHashMap<u32, i128> = FxHashMap::default();
    let mut start = Instant::now();
    for (i, (&(x, y, c), &name)) in all.iter().zip(&names).enumerate() {
        if i == DEPTH {
            start = Instant::now();
        }
        let mut domain = states.last().expect("at least one").clone();
        let mut potentials = Potentials::new(|v| values.get(&v).copied().unwrap_or(0));
        let (x, y) = (x as u32 + 1, y as u32 + 1);
        for v in [x, y] {
            domain.add(v, ZERO, 1 << 31, &Reasons::None, &mut potentials).expect("a width");
            domain.add(ZERO, v, 1 << 31, &Reasons::None, &mut potentials).expect("a width");
        }
        domain.add(x, y, c, &Reasons::One(name), &mut potentials).expect("values satisfy all of them");
        domain.spread(&[x, y]);
        let moved = potentials.changed().clone();
        values.extend(moved);
        states.push(domain);
    }
    start.elapsed().as_secs_f64() * 1e6 / DEPTH as f64
}

/// The same for a chain, which is asked whether the new constraint can hold: milliseconds, and how many are answered.
fn layer(chain: &str) -> (f64, usize) {
    let spec = Spec::parse(chain, &Spec(Vec::new())).expect("a chain");
    let mut solver = Solver::new(build_chain(&spec, &mut |_| Ok(None)).expect("layers of the core"));
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
    println!("    the domain takes {added:.2} us for one more");
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
