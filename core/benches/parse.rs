//! Speed of parsing: the corpus from bytes to graph nodes, on one thread.
//!
//! `cargo bench --bench parse`. Prints MB/s of SMT-LIB terms and commands (a session without layers, so that
//! nothing is solved), and of KQuery; the median of five runs after a warm-up.

#[path = "../tests/corpus/mod.rs"]
mod corpus;

use partita_core::expr::Graph;
use partita_core::expr::kquery::KQueryParser;
use partita_core::expr::smtlib::{Lexer, Token};
use partita_core::script::{Limits, Session};
use partita_core::solve::Solver;
use std::time::Instant;

/// Fails below this speed.
const SMTLIB_FLOOR: f64 = 15.0;

fn median(texts: &[(String, Vec<u8>)], mut run: impl FnMut(&[u8])) -> f64 {
    let bytes: usize = texts.iter().map(|(_, text)| text.len()).sum();
    let mut speeds = Vec::new();
    for _ in 0..6 {
        let start = Instant::now();
        for (_, text) in texts {
            run(text);
        }
        speeds.push(bytes as f64 / 1e6 / start.elapsed().as_secs_f64());
    }
    let mut counted = speeds.split_off(1);
    counted.sort_by(f64::total_cmp);
    counted[2]
}

/// The text without the commands that solve or query.
fn without_checks(text: &[u8]) -> Vec<u8> {
    let lines = text.split_inclusive(|&b| b == b'\n');
    lines
        .filter(|line| !line.starts_with(b"(check-sat") && !line.starts_with(b"(get-value"))
        .flatten()
        .copied()
        .collect()
}

fn main() {
    let smtlib: Vec<(String, Vec<u8>)> =
        corpus::texts(".smt2.gz").into_iter().map(|(name, text)| (name, without_checks(&text))).collect();
    if smtlib.is_empty() {
        return;
    }
    let tokens = median(&smtlib, |text| {
        let mut lexer = Lexer::new(text);
        while lexer.token().expect("tokens") != Token::End {}
    });
    println!("smtlib tokens     {tokens:8.1} MB/s");
    let speed = median(&smtlib, |text| {
        let mut session = Session::new(Solver::new(Vec::new()), Limits::default());
        assert!(session.feed(text).is_empty());
    });
    println!("smtlib assertions {speed:8.1} MB/s (at least {SMTLIB_FLOOR})");
    let kquery = median(&corpus::texts(".kquery.gz"), |text| {
        let mut graph = Graph::new();
        let mut reader = KQueryParser::new(text);
        while reader.next(&mut graph).expect("a query").is_some() {}
    });
    println!("kquery queries    {kquery:8.1} MB/s");
    assert!(speed >= SMTLIB_FLOOR * 0.8, "reading SMT-LIB is too slow");
}
