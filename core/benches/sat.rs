//! Speed of chains that end in `sat` on the corpus: each query log replayed through a path tree.
//!
//! `cargo bench --bench sat [-- [--file NAME] CHAIN...]`. Prints for each log and chain the time spent in the chain
//! (CPU time of the thread, without parsing), microseconds per query, and the verdicts; then the geometric mean of
//! the ratios to the first chain. Every query has 10 s. docs/sat.md has the figures that decided the use of the SAT
//! solvers.

mod allocator;
mod clock;
#[path = "../tests/corpus/mod.rs"]
mod corpus;
mod replay;

use clock::cpu_time;
use partita_core::budget::Budget;
use partita_core::expr::Sort;
use partita_core::query::Query;
use replay::replay;
use std::time::Duration;

const DEFAULT: &[&str] =
    &["sat", "sat(harvest=off)", "sat(engine=batsat)", "sat(engine=cadical)", "simplify split sat"];

/// The fastest of this many runs counts, because the machine is shared.
const RUNS: u32 = 3;

/// Factors of a number, neither of them 1, in words of the given width: for primes there are none, which is hard to
/// prove.
const HARD: &[(u32, u64)] = &[
    (12, (1 << 22) - 3),
    (13, (1 << 24) - 3),
    (14, (1 << 26) - 5),
    (15, (1 << 28) - 57),
    (16, (1 << 30) - 35),
    (16, 46_337 * 46_349),
    (17, (1 << 32) - 5),
    (20, 786_431 * 524_287),
];

fn factor(chain: &str, width: u32, product: u64) -> (Duration, &'static str) {
    let mut solver = replay::solver(chain);
    let g = &mut solver.graph;
    let [x, y] = ["x", "y"].map(|n| g.var(n, Sort::Bits(width)).expect("a new name"));
    let (wide_x, wide_y) = (g.zext(x, 2 * width), g.zext(y, 2 * width));
    let (xy, c, one) = (g.mul(wide_x, wide_y), g.word(2 * width, product), g.word(width, 1));
    let (x_large, y_large, equal) = (g.ult(one, x), g.ult(one, y), g.eq(xy, c));
    let condition = g.all([equal, x_large, y_large]);
    let start = cpu_time();
    let query = Query::new(solver.tree.root(), condition);
    let verdict = solver.check(&query, &Budget::for_time(Duration::from_secs(20))).verdict();
    (cpu_time() - start, verdict)
}

fn main() {
    let mut chains: Vec<String> = std::env::args().skip(1).filter(|a| a != "--bench").collect();
    let file =
        chains.iter().position(|a| a == "--file").map(|at| chains.drain(at..at + 2).nth(1).expect("a name"));
    if chains.is_empty() {
        chains = DEFAULT.iter().map(|c| c.to_string()).collect();
    }
    let mut logs = vec![0.0; chains.len()];
    let mut totals = vec![Duration::ZERO; chains.len()];
    let mut count = 0;
    for (name, text) in corpus::texts(".kquery.gz") {
        if file.as_ref().is_some_and(|wanted| !name.starts_with(wanted.as_str())) {
            continue;
        }
        count += 1;
        let mut first = None;
        for (i, chain) in chains.iter().enumerate() {
            let runs = (0..RUNS).map(|_| replay(&text, chain));
            let f = runs.min_by_key(|f| f.time).expect("at least one run");
            let time = f.time.as_secs_f64().max(1e-9);
            let last = f.layers.last().expect("a layer");
            let counters: String = last.counters.iter().map(|(name, n)| format!("{name}={n} ")).collect();
            let base = *first.get_or_insert(time);
            logs[i] += (time / base).ln();
            totals[i] += f.time;
            println!(
                "{name:28} {chain:26} {:9.2} ms {:8.1} us/q  {} sat {} unsat {} unknown  x{:.2}  {}",
                time * 1e3,
                time * 1e6 / f64::from(f.queries.max(1)),
                f.sat,
                f.unsat,
                f.unknown,
                time / base,
                counters,
            );
        }
    }
    for (i, chain) in chains.iter().enumerate() {
        for &(width, product) in HARD.iter().filter(|_| file.is_none()) {
            let (time, verdict) = factor(chain, width, product);
            println!("factors of {product:10} {chain:26} {:9.1} ms {verdict}", time.as_secs_f64() * 1e3);
        }
        let mean = (logs[i] / f64::from(count.max(1))).exp();
        println!(
            "all {count}: {chain:26} {:9.1} ms in all, x{mean:.2} in geometric mean",
            totals[i].as_secs_f64() * 1e3
        );
    }
}
