//! The slowest queries of a run, with their text.
//!
//! A query is printed only if it took longer than the fastest of those kept, so a run of n queries prints about
//! `MAX_ROWS` * ln(n / `MAX_ROWS`) of them, and none that took less than `MIN_TIME`.

use crate::expr::smtlib::Printer;
use crate::expr::{Expr, Graph};
use std::time::Duration;

/// Number of queries kept.
const MAX_ROWS: usize = 20;
/// Faster queries are never kept.
const MIN_TIME: Duration = Duration::from_micros(100);
/// Longest text kept, in bytes.
const MAX_TEXT: usize = 1 << 17;
/// Number of nodes above which a query is not printed: its text would be longer than `MAX_TEXT`. A node is a name, an
/// operator with its operands, or a constant.
const MAX_NODES: usize = 1 << 15;

/// One slow query.
#[derive(Clone, Debug)]
pub struct Slow {
    pub time: Duration,
    /// `sat`, `unsat` or `unknown`.
    pub verdict: &'static str,
    /// The layer that took most of the time, and its own time.
    pub layer: String,
    pub own: Duration,
    pub constraints: usize,
    /// Length of the text in bytes; `None` if it was not printed.
    pub size: Option<usize>,
    /// SMT-LIB script; `None` if it is longer than `MAX_TEXT`.
    pub text: Option<String>,
    /// Location in the analysed program, if the caller has set it.
    pub place: String,
}

/// The slowest queries so far. Nothing is kept until `keep` is called.
#[derive(Default)]
pub struct Slowest {
    rows: Vec<Slow>,
    floor: Option<Duration>,
    is_fresh: bool,
}

impl Slowest {
    pub fn keep(&mut self) {
        self.floor = Some(MIN_TIME);
    }

    /// Is a query that took this long among the slowest so far?
    pub(super) fn wants(&mut self, time: Duration) -> bool {
        self.is_fresh = self.floor.is_some_and(|floor| time > floor);
        self.is_fresh
    }

    pub(super) fn add(&mut self, graph: &Graph, assertions: &[Expr], mut row: Slow) {
        if !graph.is_larger(assertions, MAX_NODES) {
            let text = Printer::new(graph).script(assertions);
            row.size = Some(text.len());
            row.text = (text.len() <= MAX_TEXT).then_some(text);
        }
        if self.rows.len() == MAX_ROWS {
            self.rows.pop();
        }
        let at = self.rows.partition_point(|other| other.time >= row.time);
        self.rows.insert(at, row);
        if let [.., last] = &self.rows[..]
            && self.rows.len() == MAX_ROWS
        {
            self.floor = Some(last.time);
        }
    }

    /// Was the last query among the slowest?
    pub fn is_fresh(&self) -> bool {
        self.is_fresh
    }

    /// Sets the location of the last query. Requires `is_fresh`.
    pub fn locate(&mut self, place: String) {
        if let Some(row) = self.rows.iter_mut().find(|row| row.place.is_empty()) {
            row.place = place;
        }
    }

    /// The kept queries, slowest first.
    pub fn rows(&self) -> &[Slow] {
        &self.rows
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::budget::Budget;
    use crate::query::{Answer, Query};
    use crate::solve::{Layer, Rest, Solver};

    #[test]
    fn only_the_slowest_are_kept_slowest_first() {
        let mut slowest = Slowest::default();
        assert!(!slowest.wants(Duration::from_secs(9)), "nothing is kept before `keep`");
        slowest.keep();
        assert!(!slowest.wants(MIN_TIME));
        let graph = Graph::new();
        let truth = graph.boolean(true);
        let times: Vec<u64> = (0..100).map(|i| 1 + i * 37 % 100).collect();
        for &millis in &times {
            let time = Duration::from_millis(millis);
            if slowest.wants(time) {
                let row = Slow { time, ..blank() };
                slowest.add(&graph, &[truth], row);
                slowest.locate(format!("a.c:{millis}"));
            }
            assert!(slowest.rows.len() <= MAX_ROWS);
        }
        let kept: Vec<u64> = slowest.rows().iter().map(|row| row.time.as_millis() as u64).collect();
        assert_eq!(kept, (81..=100).rev().collect::<Vec<_>>());
        assert!(slowest.rows().iter().all(|row| row.place == format!("a.c:{}", row.time.as_millis())));
        assert!(slowest.rows()[0].text.as_ref().is_some_and(|text| text.contains("(assert true)")));
    }

    fn blank() -> Slow {
        Slow {
            time: Duration::ZERO,
            verdict: "sat",
            layer: String::new(),
            own: Duration::ZERO,
            constraints: 1,
            size: None,
            text: None,
            place: String::new(),
        }
    }

    #[test]
    fn a_large_query_is_not_printed() {
        let mut graph = Graph::new();
        let mut sum = graph.var("x", crate::expr::Sort::Bits(64)).expect("a new name");
        let mut slowest = Slowest::default();
        slowest.keep();
        for (nodes, is_printed) in [(MAX_NODES / 2, true), (MAX_NODES, false)] {
            for _ in 0..nodes {
                sum = graph.mul(sum, sum);
            }
            let zero = graph.word(64, 0);
            let query = graph.eq(sum, zero);
            assert!(slowest.wants(Duration::from_secs(1)));
            slowest.add(&graph, &[query], blank());
            slowest.locate("a.c:1".to_string());
            assert_eq!(slowest.rows().iter().any(|row| row.size.is_none()), !is_printed);
        }
    }

    /// Sleeps, then passes on.
    struct Sleeper(&'static str, u64);

    impl Layer for Sleeper {
        fn name(&self) -> &str {
            self.0
        }
        fn check(&mut self, query: &Query, rest: &mut Rest<'_>) -> Answer {
            std::thread::sleep(Duration::from_millis(self.1));
            rest.check(query).answer
        }
        fn sweep(&mut self, _: &crate::query::Alive<'_>) {}
        fn drop_paths(&mut self, _: &[u32]) {}
    }

    #[test]
    fn the_slowest_layer_is_named() {
        let layers: Vec<Box<dyn Layer>> = vec![
            Box::new(Sleeper("first", 1)),
            Box::new(Sleeper("second", 30)),
            Box::new(Sleeper("third", 1)),
        ];
        let mut solver = Solver::new(layers);
        solver.slowest.keep();
        let condition = solver.graph.var("x", crate::expr::Sort::Bool).unwrap();
        solver.check(&Query::new(solver.tree.root(), condition), &Budget::unlimited());
        let [row] = solver.slowest.rows() else { panic!("expected one row") };
        assert_eq!((row.layer.as_str(), row.verdict, row.constraints), ("second", "unknown", 1));
        assert!(row.own <= row.time && row.own >= Duration::from_millis(30));
        assert!(row.text.as_ref().is_some_and(|text| text.contains("(assert x)")));
    }
}
