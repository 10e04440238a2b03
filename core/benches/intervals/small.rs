//! Cost of single steps: one comparison, learning one constraint, and the worst case of section 4.1.2 of the paper.

use crate::counting::counted;
use crate::{cpu_ns, solver};
use partita_core::budget::Budget;
use partita_core::expr::{Expr, Graph, Sort};
use partita_core::interval::Learner;
use partita_core::query::{Answer, Path, PathTree, Query};
use partita_core::solve::Solver;

pub fn print() {
    let (new, seen) = one_comparison();
    println!("one comparison with a constant: {new:.0} ns the first time, {seen:.0} ns when seen before");
    let [thousand, ten_thousand] = [1000, 10_000].map(learning);
    println!("learning a constraint: {thousand:.0} ns of 1,000, {ten_thousand:.0} ns of 10,000");
    println!("a sum of N words that are 0 or 2^i, times 0 or 1 (worst case of the paper), 8 checks:");
    println!("{:>6}{:>12}{:>13}{:>8}{:>10}", "N", "with, us", "without, us", "ratio", "kept, KB");
    for n in [8, 16, 32, 48] {
        let (with, _) = worst(n, "simplify split intervals enumerate sat");
        let (without, _) = worst(n, "simplify split sat");
        let (_, kept) = worst(n, "simplify split intervals enumerate");
        println!("{n:>6}{with:>12.0}{without:>13.0}{:>8.2}{:>10}", with / without, kept / 1024);
    }
    println!("the same without \"sat\": what the two layers keep, and what their chain does");
    println!("{:>6}{:>12}{:>13}{:>12}{:>12}", "N", "with, us", "without, us", "layers, KB", "chain, KB");
    for n in [100, 1000, 10_000, 50_000] {
        let (with, all) = worst(n, "simplify split intervals enumerate");
        let (without, others) = worst(n, "simplify split");
        let own = all.saturating_sub(others) / 1024;
        println!("{n:>6}{with:>12.0}{without:>13.0}{own:>12}{:>12}", all / 1024);
    }
}

/// One comparison with a constant on a short path, the layer alone: nanoseconds per check for new conditions and
/// for known ones.
fn one_comparison() -> (f64, f64) {
    let mut solver = solver("intervals");
    let budget = Budget::unlimited();
    let x = solver.graph.var("x", Sort::Bits(32)).expect("a new name");
    let mut path = solver.tree.root();
    for limit in [1 << 20, 1 << 18, 1 << 16] {
        let limit = solver.graph.word(32, limit);
        let below = solver.graph.ult(x, limit);
        path = solver.tree.extend(&solver.graph, path, below);
    }
    solver.check_path(path, &budget);
    let conditions: Vec<_> = (0..20_000u64)
        .map(|i| {
            // Half of them are satisfiable; none is true in the path model.
            let constant = solver.graph.word(32, if i % 2 == 0 { 1 + i } else { (1 << 16) + i });
            solver.graph.ult(constant, x)
        })
        .collect();
    let mut pass = || {
        let start = cpu_ns();
        for &condition in &conditions {
            let answer = solver.check(&Query::new(path, condition), &budget);
            assert!(!matches!(answer, Answer::Unknown(_)), "a comparison with a constant is answered");
        }
        (cpu_ns() - start) as f64 / conditions.len() as f64
    };
    (pass(), pass())
}

/// Nanoseconds per constraint for learning a path of `n` constraints on one word.
fn learning(n: u64) -> f64 {
    let mut graph = Graph::new();
    let mut tree = PathTree::new();
    let x = graph.var("x", Sort::Bits(32)).expect("a new name");
    let mut path = tree.root();
    for i in 0..n {
        let hole = graph.word(32, i.wrapping_mul(0x9e37_79b9));
        let constraint = graph.ne(x, hole);
        path = tree.extend(&graph, path, constraint);
    }
    let mut learner = Learner::default();
    let start = cpu_ns();
    learner.facts(&graph, &tree, path);
    (cpu_ns() - start) as f64 / n as f64
}

/// The sum of `n` words, each constrained to be 0 or 2^i, times one that is 0 or 1: every sum of powers is a value,
/// and no set of them is an interval.
fn worst_path(solver: &mut Solver, n: u64) -> (Path, Expr) {
    let mut path = solver.tree.root();
    let zero = solver.graph.word(64, 0);
    let mut either = |solver: &mut Solver, name: String, other: u64| {
        let v = solver.graph.var(&name, Sort::Bits(64)).expect("a new name");
        let other = solver.graph.word(64, other);
        let (is_zero, is_other) = (solver.graph.eq(v, zero), solver.graph.eq(v, other));
        let one_of = solver.graph.or(is_zero, is_other);
        path = solver.tree.extend(&solver.graph, path, one_of);
        v
    };
    let factor = either(solver, "factor".to_string(), 1);
    let words: Vec<Expr> =
        (1..=n).map(|i| either(solver, format!("v{i}"), 1 << (1 + (i - 1) % 48))).collect();
    let sum = words.into_iter().fold(zero, |sum, v| solver.graph.add(sum, v));
    (path, solver.graph.mul(sum, factor))
}

/// Microseconds of eight checks on such a path, the fastest of three runs, and the bytes that are kept afterwards.
fn worst(n: u64, chain: &str) -> (f64, u64) {
    let (mut best, mut grown) = (f64::INFINITY, 0);
    for _ in 0..3 {
        let ((us, _solver), kept, _) = counted(|| checked(n, chain));
        best = best.min(us);
        grown = grown.max(kept);
    }
    (best, grown as u64)
}

/// Microseconds of those checks, and the solver.
fn checked(n: u64, chain: &str) -> (f64, Solver) {
    let mut solver = solver(chain);
    let (path, product) = worst_path(&mut solver, n);
    let decides = solver.has_complete_layer();
    let start = cpu_ns();
    for bit in 0..8 {
        // Even numbers are sums of the powers; one in four of these is odd, and is not.
        let target =
            solver.graph.word(64, (0xAA << 1 | bit << 1 | u64::from(bit % 4 == 3)) & ((2 << n.min(48)) - 1));
        let condition = solver.graph.eq(product, target);
        let answer = solver.check(&Query::new(path, condition), &Budget::unlimited());
        assert!(!decides || !matches!(answer, Answer::Unknown(_)), "the SAT solver decides");
    }
    ((cpu_ns() - start) as f64 / 1e3, solver)
}
