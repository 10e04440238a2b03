//! A layer that costs much more than it saves is skipped, if a layer below decides every query.

mod chain;

use partita_core::budget::Budget;
use partita_core::expr::{Expr, Graph, Sort};
use partita_core::query::{Alive, Answer, Core, Query, Reasons};
use partita_core::solve::{Layer, Rest, Solver};

/// Expensive layer that answers only one query.
struct Expensive {
    work_ns: u64,
    /// A condition that is unsatisfiable.
    answers: Option<Expr>,
}

impl Layer for Expensive {
    fn name(&self) -> &str {
        "expensive"
    }

    fn check(&mut self, query: &Query, rest: &mut Rest<'_>) -> Answer {
        rest.charge(self.work_ns);
        if self.answers == Some(query.condition) {
            return Answer::Unsat(Core { constraints: Reasons::None, condition: true });
        }
        rest.check(query)
    }

    fn is_optional(&self) -> bool {
        true
    }

    fn sweep(&mut self, _alive: &Alive<'_>) {}

    fn drop_paths(&mut self, _gone: &[u32]) {}
}

const QUERIES: u64 = 1000;

/// Checks whether a byte can be below each of some numbers. Returns how often the first layer was asked and how
/// often it was skipped.
fn asked(work_ns: u64, below: &str, verdicts: [&str; 2]) -> (u64, f64) {
    let mut layers: Vec<Box<dyn Layer>> = vec![Box::new(Expensive { work_ns, answers: None })];
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
    let skipped = first.counters.iter().find(|(name, _)| name == "passed_by").map_or(0.0, |(_, n)| *n);
    (first.meter.asked, skipped)
}

#[test]
fn a_layer_that_costs_more_than_it_saves_is_skipped() {
    let (often, skipped) = asked(1_000_000, "sat", ["unsat", "sat"]);
    assert!(often < 50, "asked {often} times");
    assert_eq!(often as f64 + skipped, QUERIES as f64);
    assert_eq!(asked(1_000_000, "sat", ["unsat", "sat"]), (often, skipped), "the same each time");
    assert_eq!(asked(1_000, "sat", ["unsat", "sat"]), (QUERIES, 0.0));
}

#[test]
fn no_layer_is_skipped_without_a_complete_layer_below() {
    assert_eq!(asked(1_000_000, "intervals", ["unsat", "sat"]), (QUERIES, 0.0));
    assert_eq!(asked(1_000_000, "reuse", ["unknown"; 2]), (QUERIES, 0.0));
}

/// Two factors of a prime, neither of them 1.
fn hard(graph: &mut Graph) -> Expr {
    let [x, y] = ["p", "q"].map(|name| graph.var(name, Sort::Bits(16)).expect("a new name"));
    let (wide_x, wide_y) = (graph.zext(x, 32), graph.zext(y, 32));
    let (product, prime, one) = (graph.mul(wide_x, wide_y), graph.word(32, 4_294_967_291), graph.word(16, 1));
    let parts = [graph.eq(product, prime), graph.ult(one, x), graph.ult(one, y)];
    graph.all(parts)
}

#[test]
fn a_hard_query_is_passed_to_skipped_layers() {
    // Variables are the first nodes of a graph, so the expression is the same in both graphs.
    let answers = Some(hard(&mut Graph::new()));
    let mut layers: Vec<Box<dyn Layer>> = vec![Box::new(Expensive { work_ns: 1_000_000, answers })];
    layers.extend(chain::layers("reuse sat"));
    let mut solver = Solver::new(layers);
    let condition = hard(&mut solver.graph);
    assert_eq!(Some(condition), answers);
    let x = solver.graph.var("x", Sort::Bits(8)).expect("a new name");
    for i in 0..100 {
        let limit = solver.graph.word(8, i + 1);
        let easy = solver.graph.ult(x, limit);
        let answer = solver.check(&Query::new(solver.tree.root(), easy), &Budget::unlimited());
        assert_eq!(answer.verdict(), "sat");
    }
    let before = solver.statistics()[0].meter.clone();
    assert!(before.asked < 50, "asked {} times", before.asked);
    // Without the first layer, `sat` takes seconds.
    let answer = solver.check(&Query::new(solver.tree.root(), condition), &Budget::unlimited());
    assert_eq!(answer.verdict(), "unsat");
    let after = solver.statistics();
    assert_eq!((after[0].meter.asked, after[0].meter.unsat), (before.asked + 1, 1));
    assert_eq!(after[2].meter.unknown, 1, "`sat` gave up");
}
