//! Floating-point queries that need no circuits, through the default chain without `sat`: comparisons of a double input
//! with constants along a path, and conditions on ten operations over one input. Each condition is new. Fails if a
//! comparison needs 3 microseconds of processor time or more, or ten operations 50.

mod allocator;
#[path = "../tests/chain/mod.rs"]
mod chain;
mod clock;

use chain::solver;
use partita_core::budget::Budget;
use partita_core::expr::float::{Format, Rounding};
use partita_core::expr::{Expr, Graph, Sort};
use partita_core::query::{Answer, Query, Status};
use partita_core::random::Random;

const LAYERS: &str = "simplify split solutions reuse intervals enumerate";
const COMPARISONS: usize = 20_000;
const CHAINS: usize = 2_000;
/// Conditions of a path; then the next path starts.
const DEPTH: usize = 20;
const COMPARISON_US: f64 = 3.0;
const CHAIN_US: f64 = 50.0;

fn number(graph: &mut Graph, random: &mut Random) -> Expr {
    let value = (random.below(2_000_001) as f64 - 1e6) / 16.0;
    graph.word(64, value.to_bits())
}

/// A condition of one operation on the input.
fn comparison(graph: &mut Graph, random: &mut Random, x: Expr) -> Expr {
    let c = number(graph, random);
    graph.f_lt(Format::DOUBLE, x, c)
}

/// A condition on ten operations over the input.
fn ten_operations(graph: &mut Graph, random: &mut Random, x: Expr) -> Expr {
    let mut y = x;
    for _ in 0..5 {
        let (a, b) = (number(graph, random), number(graph, random));
        y = graph.f_add(Format::DOUBLE, Rounding::NearestEven, y, a);
        y = graph.f_mul(Format::DOUBLE, Rounding::NearestEven, y, b);
    }
    let c = number(graph, random);
    graph.f_lt(Format::DOUBLE, y, c)
}

/// Mean microseconds of processor time of a query about a new condition, less the cost of reading the clock, and the
/// number of queries that were answered.
fn measure(count: usize, condition: fn(&mut Graph, &mut Random, Expr) -> Expr) -> (f64, usize) {
    let mut solver = solver(LAYERS);
    let mut random = Random::new(1);
    let x = solver.graph.var("x", Sort::Bits(64)).expect("a new name");
    let mut path = solver.tree.root();
    let clock_s = clock_cost();
    let (mut answered, mut seconds) = (0, 0.0);
    for i in 0..count {
        if i % DEPTH == 0 {
            path = solver.tree.root();
        }
        let condition = condition(&mut solver.graph, &mut random, x);
        let start = clock::cpu_time();
        let answer = solver.check(&Query::new(path, condition), &Budget::unlimited());
        seconds += (clock::cpu_time() - start).as_secs_f64() - clock_s;
        answered += usize::from(!matches!(answer, Answer::Unknown(_)));
        if let Answer::Sat(model) = answer {
            path = solver.tree.extend(&solver.graph, path, condition);
            solver.tree.set_status(path, Status::Feasible(model));
        }
    }
    (seconds * 1e6 / count as f64, answered)
}

/// Seconds that one interval of the clock measures with nothing in it.
fn clock_cost() -> f64 {
    const READS: u32 = 100_000;
    let mut total = 0.0;
    for _ in 0..READS {
        let start = clock::cpu_time();
        total += (clock::cpu_time() - start).as_secs_f64();
    }
    total / f64::from(READS)
}

fn main() {
    let (comparison_us, compared) = measure(COMPARISONS, comparison);
    println!(
        "a comparison of a double with a constant takes {comparison_us:.2} us; answered {compared} of {COMPARISONS}"
    );
    let (chain_us, answered) = measure(CHAINS, ten_operations);
    println!(
        "a condition on ten operations over one double takes {chain_us:.2} us; answered {answered} of {CHAINS}"
    );
    if comparison_us >= COMPARISON_US || chain_us >= CHAIN_US || compared < COMPARISONS || answered < CHAINS {
        println!("expected less than {COMPARISON_US} and {CHAIN_US} us, and all answered");
        std::process::exit(1);
    }
}
