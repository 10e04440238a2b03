//! Replay of a query log through a chain, as in `partita smt`.

#[path = "../../tests/chain/mod.rs"]
mod chain;

pub(crate) use chain::solver;
use partita_core::exec::DEFAULT_LAYERS;
use partita_core::script::{KQuerySession, Limits, Mode};
use partita_core::solve::LayerStatistics;
use std::time::Duration;

/// The default chain without a store, with some layers left out.
// Not every bench uses it.
#[allow(dead_code)]
pub fn default_chain(without: &[&str]) -> String {
    let layers = DEFAULT_LAYERS.split(' ').filter(|name| *name != "store" && !without.contains(name));
    layers.collect::<Vec<_>>().join(" ")
}

#[derive(Default)]
pub struct Figures {
    pub queries: u32,
    pub sat: u32,
    pub unsat: u32,
    pub unknown: u32,
    /// Time in the chain, without parsing.
    pub time: Duration,
    pub layers: Vec<LayerStatistics>,
}

pub fn replay(text: &[u8], chain: &str) -> Figures {
    let limits = Limits { timeout: Some(Duration::from_secs(10)), ..Limits::default() };
    let mut session = KQuerySession::new(solver(chain), limits, Mode::Entailment);
    let mut figures = Figures::default();
    let count = &mut |line: &str| match line {
        "VALID" => figures.unsat += 1,
        "INVALID" => figures.sat += 1,
        _ if line.starts_with("UNKNOWN") => figures.unknown += 1,
        // A requested value.
        _ => {}
    };
    session.run(text, count).expect("a log");
    figures.queries = figures.sat + figures.unsat + figures.unknown;
    figures.time = session.solver.time();
    figures.layers = session.solver.statistics();
    figures
}
