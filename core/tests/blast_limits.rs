//! Queries that are too large get an answer or `unknown` with its reason, in time and in bounded memory;
//! assignments harvested on the way are kept.

use crate::chain;
use crate::chain::layers;
use partita_core::budget::{Budget, Why};
use partita_core::expr::{Expr, Model, Sort};
use partita_core::query::{Answer, Query};
use partita_core::solve::near_misses::Batch;
use partita_core::solve::{Layer, Rest, Solver};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// The largest prime below 2^60.
const LARGE_PRIME: u64 = (1 << 60) - 93;

/// `x * y = c` with neither factor 1: hard if `c` has only large factors.
fn factoring(solver: &mut Solver, width: u32, product: u64) -> Expr {
    let g = &mut solver.graph;
    let [x, y] = ["x", "y"].map(|n| g.var(n, Sort::Bits(width)).expect("a new name"));
    let (wide_x, wide_y) = (g.zext(x, 2 * width), g.zext(y, 2 * width));
    let xy = g.mul(wide_x, wide_y);
    let c = g.word(2 * width, product);
    let one = g.word(width, 1);
    let (x_large, y_large) = (g.ult(one, x), g.ult(one, y));
    let equal = g.eq(xy, c);
    g.all([equal, x_large, y_large])
}

#[test]
fn a_wide_multiplication_stops_in_time() {
    for (spec, width, limit) in
        [("sat", 512, 1000), ("solutions sat", 512, 1000), ("sat", 4096, 1000), ("sat", 65_536, 500)]
    {
        let mut solver = Solver::new(layers(spec));
        let g = &mut solver.graph;
        let [x, y] = ["x", "y"].map(|n| g.var(n, Sort::Bits(width)).expect("a new name"));
        let (xy, c) = (g.mul(x, y), g.word(width, 1_000_003));
        let equal = g.eq(xy, c);
        let one = g.word(width, 1);
        let (x_not, y_not) = (g.ne(x, one), g.ne(y, one));
        let condition = g.all([equal, x_not, y_not]);
        let start = Instant::now();
        let budget = Budget::for_time(Duration::from_millis(limit));
        match solver.check(&Query::new(solver.tree.root(), condition), &budget) {
            Answer::Unknown(why) => assert!(matches!(why, Why::Deadline | Why::Memory), "{width}: {why}"),
            // A product modulo a power of two may have other factors, so `sat` is possible.
            Answer::Sat(_) => {}
            Answer::Unsat(_) => panic!("{width}: there are factors modulo 2^{width}"),
        }
        let took = start.elapsed();
        assert!(took < Duration::from_millis(limit) * 3, "{width} bits took {took:?}");
    }
}

#[test]
fn cancelling_ends_a_solve() {
    let mut solver = Solver::new(layers("sat"));
    let condition = factoring(&mut solver, 31, LARGE_PRIME);
    let budget = Budget::unlimited();
    let cancel = budget.cancel.clone();
    let waiter = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(200));
        cancel.cancel();
    });
    let answer = solver.check(&Query::new(solver.tree.root(), condition), &budget);
    waiter.join().expect("the other thread ends");
    assert!(matches!(answer, Answer::Unknown(Why::Cancelled)), "{}", answer.verdict());
}

#[test]
fn a_table_of_a_million_elements_and_ten_thousand_variables() {
    let mut solver = Solver::new(layers("sat"));
    let g = &mut solver.graph;
    let base = g.var("base", Sort::Array { index: 32, element: 8 }).expect("a new name");
    let mut state = 1u64;
    let mut byte = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        state >> 56
    };
    let table = g.table_over(base, (0..1_000_000).map(|_| byte()).collect());
    let i = g.var("i", Sort::Bits(32)).expect("a new name");
    let element = g.select(table, i);
    let (wanted, end) = (g.word(8, 77), g.word(32, 1_000_000));
    let (found, inside) = (g.eq(element, wanted), g.ult(i, end));
    let condition = g.and(found, inside);
    let budget = Budget::for_time(Duration::from_secs(60));
    let answer = solver.check(&Query::new(solver.tree.root(), condition), &budget);
    assert_eq!(answer.verdict(), "sat");

    let mut solver = Solver::new(layers("solutions sat"));
    let g = &mut solver.graph;
    let variables: Vec<Expr> =
        (0..10_000).map(|k| g.var(&format!("v{k}"), Sort::Bits(32)).expect("a new name")).collect();
    let above: Vec<Expr> = variables.windows(2).map(|pair| g.ult(pair[0], pair[1])).collect();
    let (last, limit) = (variables[9_999], g.word(32, 9_999));
    let tight = g.ule(last, limit);
    let mut path = solver.tree.root();
    for constraint in above {
        path = solver.tree.extend(&solver.graph, path, constraint);
    }
    let budget = Budget::for_time(Duration::from_secs(4));
    let start = Instant::now();
    match solver.check(&Query::new(path, tight), &budget) {
        Answer::Sat(_) | Answer::Unknown(Why::Deadline) => {}
        answer => panic!("{}", answer.verdict()),
    }
    assert!(start.elapsed() < Duration::from_secs(12));
}

/// Receives what is harvested below it.
struct HarvestReader(Arc<Mutex<Vec<Batch>>>);

impl Layer for HarvestReader {
    fn name(&self) -> &str {
        "taker"
    }

    fn check(&mut self, query: &Query, rest: &mut Rest<'_>) -> Answer {
        let answer = rest.check(query).answer;
        self.0.lock().expect("not poisoned").append(&mut rest.near_misses.take());
        answer
    }

    fn sweep(&mut self, _alive: &partita_core::query::Alive<'_>) {}

    fn drop_paths(&mut self, _gone: &[u32]) {}
}

fn harvested(
    spec: &str,
    width: u32,
    product: u64,
    limit: Duration,
) -> (Solver, Expr, Vec<Batch>, &'static str) {
    let batches = Arc::new(Mutex::new(Vec::new()));
    let mut layers: Vec<Box<dyn Layer>> = vec![Box::new(HarvestReader(batches.clone()))];
    layers.extend(chain::layers(spec));
    let mut solver = Solver::new(layers);
    let condition = factoring(&mut solver, width, product);
    let budget = Budget::for_time(limit);
    let answer = solver.check(&Query::new(solver.tree.root(), condition), &budget);
    let batches = std::mem::take(&mut *batches.lock().expect("not poisoned"));
    (solver, condition, batches, answer.verdict())
}

#[test]
fn partial_solutions_are_kept_for_every_answer() {
    // Primes have no two factors, and with a large one the deadline passes before that is proved.
    for (spec, width, product, limit, verdict) in [
        ("sat(kp=100)", 16, 65_521, 60_000, "unsat"),
        ("sat(kp=100)", 31, LARGE_PRIME, 300, "unknown"),
        ("sat(kp=100)", 12, 4093 * 4091, 60_000, "sat"),
        ("sat(kp=100,engine=cadical)", 16, 65_521, 60_000, "unsat"),
        ("sat(kp=100,engine=cadical)", 31, LARGE_PRIME, 300, "unknown"),
        ("sat(kp=100,engine=cadical)", 12, 4093 * 4091, 60_000, "sat"),
        ("sat(kp=100,conflicts=20)", 31, LARGE_PRIME, 300, "unknown"),
    ] {
        let (mut solver, condition, batches, found) =
            harvested(spec, width, product, Duration::from_millis(limit));
        assert_eq!(found, verdict);
        let rows: usize = batches.iter().map(Batch::len).sum();
        assert!((1..=100).contains(&rows), "{verdict}: {rows} partial solutions");
        let graph = &solver.graph;
        let x = graph.lookup("x").expect("a variable");
        let mut values: Vec<u64> = Vec::new();
        for batch in &batches {
            for row in 0..batch.len() {
                let model = batch.complete(graph, row, Model::new());
                // CaDiCaL saves phases: the last values of all inputs may be the answer before all are assigned at
                // once.
                let may_hold = verdict == "sat" && spec.contains("cadical");
                let holds = solver.evaluator.under(graph, &model).truth(condition);
                assert!(may_hold || !holds, "it would have been the answer");
                values.push(model.word(x));
            }
        }
        values.sort_unstable();
        values.dedup();
        assert!(values.len() > rows.min(10) / 2, "they differ from each other");
    }
    let (_, _, batches, _) = harvested("sat(harvest=off)", 16, 65_521, Duration::from_secs(60));
    assert!(batches.is_empty());
}

#[test]
fn bad_options_are_named() {
    let build = chain::error;
    let expected = "expected engine=both|batsat|cadical|conflicts, conflicts=0..1000000, single=on|off, \
                    single_conflicts=0..1000000, harvest=on|off, kp=0..1000000, expand=0..16, lazy_reads=0..1000000, lazy_gates=0..1000000000, small=on|off, \
                    first_conflicts=0..1000000, small_conflicts=0..1000000, small_tries=1..1000000000 in `sat(...)`, found \
                    `kp=many`";
    assert_eq!(build("sat(kp=many)"), expected);
    assert_eq!(build("sat:quick"), "expected `sat` without a variant, found `sat:quick`");
}
