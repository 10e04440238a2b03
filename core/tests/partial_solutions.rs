//! The baseline `solutions:paper`: K_p and K_s, the control without partial solutions, and the paper's example.

use crate::chain::solver;
use partita_core::budget::Budget;
use partita_core::expr::{Expr, Graph, Sort};
use partita_core::query::{Path, Query};
use partita_core::solve::Solver;

fn counter(solver: &Solver, layer: usize, name: &str) -> u64 {
    let layers = solver.statistics();
    layers[layer].counters.iter().find(|(n, _)| n == name).expect("a counter").1 as u64
}

fn ask(solver: &mut Solver, path: Path, condition: Expr) -> &'static str {
    solver.check(&Query::new(path, condition), &Budget::unlimited()).verdict()
}

/// The product of two bytes is a prime number that has no such factors: an unsatisfiable query with many conflicts.
fn hard(g: &mut Graph) -> Expr {
    let product = product(g);
    let prime = g.word(16, 65_003);
    g.eq(product, prime)
}

fn product(g: &mut Graph) -> Expr {
    let x = g.var("x", Sort::Bits(8)).expect("a new name");
    let y = g.var("y", Sort::Bits(8)).expect("a new name");
    let (x, y) = (g.zext(x, 16), g.zext(y, 16));
    g.mul(x, y)
}

#[test]
fn kp_varies_what_is_kept() {
    let kept = |spec: &str| {
        let mut solver = solver(spec);
        let condition = hard(&mut solver.graph);
        let root = solver.tree.root();
        assert_eq!(ask(&mut solver, root, condition), "unsat");
        (counter(&solver, 0, "partial"), counter(&solver, 1, "conflicts"))
    };
    let (all, conflicts) = kept("solutions:paper(kp=100000) sat(engine=conflicts)");
    assert!(all > 15 && all <= conflicts, "{all} of {conflicts}");
    // More than the limit that `sat` has by itself, fewer, and none.
    let (many, _) = kept("solutions:paper(kp=100000) sat(engine=conflicts,kp=5)");
    assert_eq!(many, all);
    assert_eq!(kept("solutions:paper(kp=10) sat(engine=conflicts)").0, 10);
    assert_eq!(kept("solutions:paper(kp=0) sat(engine=conflicts)").0, 0);
    assert_eq!(kept("solutions:paper(harvest=off) sat(engine=conflicts)").0, 0);
    assert_eq!(kept("solutions:paper(kp=3) sat").0, 3);
}

/// The program of the paper's Figure 1, depth first with the true side first: six queries.
fn foo(spec: &str) -> (Vec<&'static str>, Vec<(String, u64)>) {
    let mut solver = solver(spec);
    let g = &mut solver.graph;
    let [a, b] = ["a", "b"].map(|name| g.var(name, Sort::Bits(8)).expect("a new name"));
    let [a, b] = [a, b].map(|byte| g.sext(byte, 32));
    let [two, five, ten, fifteen] = [2, 5, 10, 15].map(|value| g.word(32, value));
    let sum = g.add(a, b);
    let (b2, a2) = (g.mul(two, b), g.mul(two, a));
    let (left, right) = (g.sub(b2, a), g.sub(a2, b));
    let [first, second, third] = [(ten, sum), (five, left), (fifteen, right)].map(|(c, e)| g.sle(c, e));
    let [not_first, not_second, not_third] = [first, second, third].map(|e| g.not(e));
    let root = solver.tree.root();
    let one = solver.tree.extend(&solver.graph, root, first);
    let two = solver.tree.extend(&solver.graph, one, second);
    let queries =
        [(root, first), (one, second), (two, third), (two, not_third), (one, not_second), (root, not_first)];
    let verdicts = queries.iter().map(|&(path, condition)| ask(&mut solver, path, condition)).collect();
    let solves = solver.statistics().iter().map(|layer| (layer.name.clone(), layer.meter.asked)).collect();
    (verdicts, solves)
}

/// Six solves without a cache, four with KLEE's, fewer with partial solutions. The paper has two; its last candidate, (58, 81),
/// satisfies `x + y < 10` only if the sum wraps at eight bits.
#[test]
fn the_example_of_the_paper() {
    let solves = |spec: &str| {
        let (verdicts, asked) = foo(spec);
        assert_eq!(verdicts, ["sat"; 6]);
        asked.last().expect("the solver").1
    };
    assert_eq!(solves("sat"), 6);
    assert_eq!(solves("reuse:klee sat"), 4);
    let control = solves("solutions:paper(harvest=off) sat(engine=conflicts)");
    let published = solves("solutions:paper sat(engine=conflicts)");
    assert!(control == 4 && published <= 3, "{control} without partial solutions, {published} with them");
}

/// A solution that fails is tried for each prefix it is stored under, or once.
#[test]
fn once_tries_fewer() {
    let tests = |spec: &str| {
        let mut solver = solver(spec);
        let product = product(&mut solver.graph);
        let mut path = solver.tree.root();
        for limit in [65_000, 64_000, 63_000, 62_000] {
            let limit = solver.graph.word(16, limit);
            let constraint = solver.graph.ult(product, limit);
            assert_eq!(ask(&mut solver, path, constraint), "sat");
            path = solver.tree.extend(&solver.graph, path, constraint);
        }
        // Products of two primes.
        for value in [48_319, 51_067, 51_983, 49_163] {
            let value = solver.graph.word(16, value);
            let condition = solver.graph.eq(product, value);
            assert_eq!(ask(&mut solver, path, condition), "sat");
        }
        (counter(&solver, 0, "tests"), counter(&solver, 0, "partial"))
    };
    let (often, partial) = tests("solutions:paper sat(engine=conflicts)");
    let (once, _) = tests("solutions:paper(once=on) sat(engine=conflicts)");
    assert!(partial > 3 && once < often, "{once} of {often} tests with {partial} partial solutions");
}

/// Green renames variables, so that the answer about one variable serves another; a reference at distance 0 answers.
#[test]
fn grulia_renames_and_answers_at_distance_zero() {
    let mut solver = solver("split reuse:grulia sat");
    let words = ["a", "b", "c", "d"].map(|name| solver.graph.var(name, Sort::Bits(32)).expect("a new name"));
    let root = solver.tree.root();
    let less = |g: &mut Graph, a: Expr, limit: u64| {
        let limit = g.word(32, limit);
        g.ult(a, limit)
    };
    // 100 satisfies it, and so does 0.
    let near = less(&mut solver.graph, words[0], 1000);
    assert_eq!(ask(&mut solver, root, near), "sat");
    assert_eq!((counter(&solver, 1, "delta_zero"), solver.statistics()[2].meter.asked), (1, 0));
    // No reference satisfies the square, and its model serves the same query about another variable.
    let square = |solver: &mut Solver, word: Expr| {
        let product = solver.graph.mul(word, word);
        let value = solver.graph.word(32, 49);
        let condition = solver.graph.eq(product, value);
        ask(solver, root, condition)
    };
    assert_eq!([square(&mut solver, words[1]), square(&mut solver, words[2])], ["sat", "sat"]);
    assert_eq!((counter(&solver, 1, "sat_near"), solver.statistics()[2].meter.asked), (1, 1));
    // So does a core.
    let never = |solver: &mut Solver, word: Expr| {
        let product = solver.graph.mul(word, word);
        let value = solver.graph.word(32, 3);
        let condition = solver.graph.eq(product, value);
        ask(solver, root, condition)
    };
    assert_eq!([never(&mut solver, words[2]), never(&mut solver, words[3])], ["unsat", "unsat"]);
    assert_eq!((counter(&solver, 1, "unsat_near"), solver.statistics()[2].meter.asked), (1, 2));
}

#[test]
fn grulia_keeps_partial_solutions_on_request() {
    let entries = |spec: &str| {
        let mut solver = solver(spec);
        let condition = hard(&mut solver.graph);
        let root = solver.tree.root();
        assert_eq!(ask(&mut solver, root, condition), "unsat");
        (counter(&solver, 0, "partial"), counter(&solver, 0, "entries"))
    };
    assert_eq!(entries("reuse:grulia sat(engine=conflicts)"), (0, 1));
    let (partial, kept) = entries("reuse:grulia(partial=on,kp=9) sat(engine=conflicts)");
    // Each satisfies the negation, which is the branch off the path.
    assert_eq!((partial, kept), (9, 10));
}
