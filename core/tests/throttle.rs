//! The throttle skips a layer whose effort is greater than what it saves, if a layer below is complete.

use crate::chain;
use partita_core::budget::Budget;
use partita_core::expr::{Expr, Graph, Sort};
use partita_core::query::{Alive, Answer, Core, Query, Reasons};
use partita_core::solve::{Layer, Rest, Solver, Throttled};
use partita_core::tuning::ThrottleOptions;

/// Answers at most one query, at a given effort.
struct Expensive {
    effort: u64,
    /// A condition that the layer answers with unsat.
    knows: Option<Expr>,
}

impl Layer for Expensive {
    fn name(&self) -> &str {
        "expensive"
    }

    fn check(&mut self, query: &Query, rest: &mut Rest<'_>) -> Answer {
        rest.spend(self.effort);
        if self.knows == Some(query.condition) {
            return Answer::Unsat(Core { constraints: Reasons::None, condition: true });
        }
        rest.check(query).answer
    }

    fn sweep(&mut self, _alive: &Alive<'_>) {}

    fn drop_paths(&mut self, _gone: &[u32]) {}
}

fn throttled(layer: Expensive) -> Box<dyn Layer> {
    Box::new(Throttled::new(Box::new(layer), &ThrottleOptions::default()))
}

const QUERIES: u64 = 1000;

/// Makes queries whether a byte is below some numbers. Returns how often the first layer was asked and skipped.
fn asked(effort: u64, below: &str, verdicts: [&str; 2]) -> (u64, f64) {
    let mut layers: Vec<Box<dyn Layer>> = vec![throttled(Expensive { effort, knows: None })];
    layers.extend(chain::layers(below));
    let mut solver = Solver::new(layers);
    let x = solver.graph.var("x", Sort::Bits(8)).expect("a new name");
    for i in 0..QUERIES {
        let limit = solver.graph.word(8, i % 3);
        let condition = solver.graph.ult(x, limit);
        let answer = solver.check(&Query::new(solver.tree.root(), condition), &Budget::unlimited());
        assert_eq!(answer.verdict(), verdicts[usize::from(i % 3 > 0)]);
    }
    let first = &solver.statistics()[0];
    let skipped = first.counters.iter().find(|(name, _)| name == "skipped").map_or(0.0, |(_, n)| *n);
    (first.meter.asked - skipped as u64, skipped)
}

#[test]
fn layers_that_cost_more_than_they_save_are_skipped() {
    let (often, skipped) = asked(1_000_000, "sat", ["unsat", "sat"]);
    assert!(often < 50, "asked {often} times");
    assert_eq!(often as f64 + skipped, QUERIES as f64);
    assert_eq!(asked(1_000_000, "sat", ["unsat", "sat"]), (often, skipped), "not deterministic");
    assert_eq!(asked(1_000, "sat", ["unsat", "sat"]), (QUERIES, 0.0));
}

#[test]
fn layers_are_not_skipped_without_a_complete_layer_below() {
    assert_eq!(asked(1_000_000, "intervals", ["unsat", "sat"]), (QUERIES, 0.0));
    assert_eq!(asked(1_000_000, "reuse", ["unknown"; 2]), (QUERIES, 0.0));
}

/// Two factors of a prime in the middle of the range of products, neither of them one.
fn hard(graph: &mut Graph) -> Expr {
    let [x, y] = ["p", "q"].map(|name| graph.var(name, Sort::Bits(16)).expect("a new name"));
    let (wide_x, wide_y) = (graph.zext(x, 32), graph.zext(y, 32));
    let (product, prime, one) = (graph.mul(wide_x, wide_y), graph.word(32, 2_147_483_647), graph.word(16, 1));
    let parts = [graph.eq(product, prime), graph.ult(one, x), graph.ult(one, y)];
    graph.all(parts)
}

#[test]
fn a_hard_query_is_given_to_skipped_layers() {
    // The first nodes of a graph have the same handles in both graphs.
    let knows = Some(hard(&mut Graph::new()));
    let mut layers: Vec<Box<dyn Layer>> = vec![throttled(Expensive { effort: 1_000_000, knows })];
    layers.extend(chain::layers("reuse sat"));
    let mut solver = Solver::new(layers);
    let condition = hard(&mut solver.graph);
    assert_eq!(Some(condition), knows);
    let x = solver.graph.var("x", Sort::Bits(8)).expect("a new name");
    for i in 0..100 {
        let limit = solver.graph.word(8, i + 1);
        let easy = solver.graph.ult(x, limit);
        let answer = solver.check(&Query::new(solver.tree.root(), easy), &Budget::unlimited());
        assert_eq!(answer.verdict(), "sat");
    }
    let skipped = solver.statistics()[0].counters.iter().find(|(name, _)| name == "skipped").map(|(_, n)| *n);
    assert!(skipped > Some(50.0), "skipped {skipped:?} times");
    // By itself `sat` takes seconds for it.
    let answer = solver.check(&Query::new(solver.tree.root(), condition), &Budget::unlimited());
    assert_eq!(answer.verdict(), "unsat");
    let after = solver.statistics();
    assert_eq!(after[0].meter.unsat, 1);
    assert_eq!(after[2].meter.unknown, 1, "`sat` reached the effort limit");
}
