//! Memory of the interval layers is bounded for paths of any length: the worst case of section 4.1.2 of the paper,
//! and paths with a query at every node. In a file of its own, so that no other test allocates meanwhile.

mod chain;

use chain::solver;
use partita_core::budget::Budget;
use partita_core::expr::{Expr, Sort};
use partita_core::interval::Learner;
use partita_core::query::{Path, Query};
use partita_core::solve::Solver;

/// The bound stated in docs/intervals.md, for all facts learnt.
const BOUND: u64 = 16 << 20;

/// Bytes allocated and not freed.
fn allocated() -> u64 {
    // SAFETY: it only reads the allocator's own counters.
    let all = unsafe { libc::mallinfo2() };
    (all.uordblks + all.hblkhd) as u64
}

/// `n` words that are 0 or a power of two, and their sum.
fn words(solver: &mut Solver, n: u64) -> (Vec<Path>, Expr) {
    let graph = &mut solver.graph;
    let zero = graph.word(64, 0);
    let (mut path, mut sum) = (solver.tree.root(), zero);
    let mut paths = Vec::new();
    for i in 0..n {
        let word = graph.var(&format!("v{i}"), Sort::Bits(64)).expect("a new name");
        let power = graph.word(64, 1 << (i % 48));
        let (none, one) = (graph.eq(word, zero), graph.eq(word, power));
        let either = graph.or(none, one);
        path = solver.tree.extend(graph, path, either);
        paths.push(path);
        sum = graph.add(sum, word);
    }
    (paths, sum)
}

#[test]
fn facts_take_bounded_memory_on_paths_of_any_length() {
    for n in [1000, 40_000] {
        let mut solver = solver("intervals enumerate");
        let (paths, sum) = words(&mut solver, n);
        // Memory that does not belong to the layers: the evaluator's slots grow with the graph.
        let yes = solver.graph.boolean(true);
        solver.check(&Query::new(paths[0], yes), &Budget::unlimited());
        let before = allocated();
        for target in 0..8 {
            let target = solver.graph.word(64, 0x155 + target);
            let condition = solver.graph.eq(sum, target);
            solver.check(&Query::new(paths[n as usize - 1], condition), &Budget::unlimited());
        }
        let kept = allocated().saturating_sub(before);
        println!("{n} words, {} KB kept by the chain", kept >> 10);
        assert!(kept < BOUND, "{n} words: {kept} bytes");

        let before = allocated();
        let mut learner = Learner::default();
        for &path in &paths {
            learner.facts(&solver.graph, &solver.tree, path);
        }
        let kept = allocated().saturating_sub(before);
        println!("{n} words, {} KB kept after asking at every node", kept >> 10);
        assert!(kept < BOUND, "{n} words, asked at every node: {kept} bytes");
    }
}
