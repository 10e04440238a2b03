//! A query log replayed through a chain, each question along the path tree, as `partita smt` asks them.

use partita_core::budget::Budget;
use partita_core::expr::kquery::Reader;
use partita_core::query::{Answer, Query, Status};
use partita_core::solve::{LayerStatistics, Solver, Spec, build_chain};
use std::time::Duration;

/// Of this thread: other work on the machine does not count.
pub fn cpu_time() -> Duration {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the clock exists on Linux, and `time` is a place for its value.
    let status = unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &mut time) };
    assert_eq!(status, 0, "the thread's clock can be read");
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

pub fn solver(chain: &str) -> Solver {
    let spec = Spec::parse(chain, &Spec(Vec::new())).expect("a chain");
    Solver::new(build_chain(&spec, &mut |_| Ok(None)).expect("layers of the core"))
}

pub struct Figures {
    pub questions: u32,
    pub sat: u32,
    pub unsat: u32,
    pub unknown: u32,
    /// In the chain; reading is not counted.
    pub time: Duration,
    pub layers: Vec<LayerStatistics>,
}

pub fn replay(text: &[u8], chain: &str) -> Figures {
    let mut solver = solver(chain);
    let mut reader = Reader::new(text);
    let mut figures =
        Figures { questions: 0, sat: 0, unsat: 0, unknown: 0, time: Duration::ZERO, layers: Vec::new() };
    let mut held = None;
    while let Some(query) = reader.next(&mut solver.graph).expect("a query") {
        let mut path = solver.tree.root();
        solver.tree.retain(path);
        for constraint in query.constraints {
            let next = solver.tree.extend(&solver.graph, path, constraint);
            solver.tree.release(path);
            path = next;
        }
        let condition = solver.graph.not(query.expr);
        let start = cpu_time();
        let answer = solver.check(&Query::new(path, condition), &Budget::for_time(Duration::from_secs(10)));
        figures.time += cpu_time() - start;
        figures.questions += 1;
        match answer {
            Answer::Sat(model) => {
                figures.sat += 1;
                if let Status::Unchecked = solver.tree.status(path) {
                    solver.tree.set_status(path, Status::Feasible(model));
                }
            }
            Answer::Unsat(_) => figures.unsat += 1,
            Answer::Unknown(_) => figures.unknown += 1,
        }
        // The path before this one is let go only now, so that what they share stays.
        if let Some(before) = held.replace(path) {
            solver.tree.release(before);
        }
    }
    figures.layers = solver.statistics();
    figures
}
