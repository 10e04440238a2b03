//! A layer that costs much more than what it leaves to those below is passed by, where one of those decides everything.

use partita_core::budget::Budget;
use partita_core::expr::Sort;
use partita_core::query::{Alive, Answer, Query};
use partita_core::solve::{Layer, Rest, Solver, Spec, build_chain};

/// Answers nothing, and takes its time.
struct Dear {
    work_ns: u64,
}

impl Layer for Dear {
    fn name(&self) -> &str {
        "dear"
    }

    fn check(&mut self, query: &Query, rest: &mut Rest<'_>) -> Answer {
        rest.charge(self.work_ns);
        rest.check(query)
    }

    fn is_optional(&self) -> bool {
        true
    }

    fn sweep(&mut self, _alive: &Alive<'_>) {}

    fn drop_paths(&mut self, _gone: &[u32]) {}
}

const QUESTIONS: u64 = 1000;

/// Asks whether a byte can be below each of some numbers; how often the first layer was asked, and passed by.
fn asked(work_ns: u64, below: &str, verdicts: [&str; 2]) -> (u64, f64) {
    let spec = Spec::parse(below, &Spec(Vec::new())).expect("a chain");
    let mut layers: Vec<Box<dyn Layer>> = vec![Box::new(Dear { work_ns })];
    layers.extend(build_chain(&spec, &mut |_| Ok(None)).expect("layers of the core"));
    let mut solver = Solver::new(layers);
    let x = solver.graph.var("x", Sort::Bits(8)).expect("a new name");
    for i in 0..QUESTIONS {
        let limit = solver.graph.word(8, i % 3);
        let condition = solver.graph.ult(x, limit);
        let answer = solver.check(&Query::new(solver.tree.root(), condition), &Budget::unlimited());
        assert_eq!(answer.verdict(), verdicts[usize::from(i % 3 > 0)]);
    }
    let first = &solver.statistics()[0];
    let passed_by = first.counters.iter().find(|(name, _)| name == "passed_by").map_or(0.0, |(_, n)| *n);
    (first.meter.asked, passed_by)
}

#[test]
fn what_costs_more_than_it_saves_is_passed_by() {
    let (often, passed_by) = asked(1_000_000, "sat", ["unsat", "sat"]);
    assert!(often < 50, "asked {often} times");
    assert_eq!(often as f64 + passed_by, QUESTIONS as f64);
    assert_eq!(asked(1_000_000, "sat", ["unsat", "sat"]), (often, passed_by), "the same each time");
    assert_eq!(asked(1_000, "sat", ["unsat", "sat"]), (QUESTIONS, 0.0));
}

#[test]
fn nothing_is_passed_by_that_nobody_else_could_answer() {
    assert_eq!(asked(1_000_000, "intervals", ["unsat", "sat"]), (QUESTIONS, 0.0));
    assert_eq!(asked(1_000_000, "reuse", ["unknown"; 2]), (QUESTIONS, 0.0));
}
