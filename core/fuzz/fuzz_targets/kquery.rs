//! Arbitrary bytes as KQuery: no panic, no hang, and printed queries parse again.
#![no_main]

use libfuzzer_sys::fuzz_target;
use partita_core::expr::Graph;
use partita_core::expr::kquery::{KQueryParser, print};

fuzz_target!(|data: &[u8]| {
    let mut graph = Graph::new();
    let mut reader = KQueryParser::new(data);
    while let Ok(Some(query)) = reader.next(&mut graph) {
        if let Ok(text) = print(&graph, &query.constraints, query.expr, &query.values, &query.arrays) {
            let mut again = KQueryParser::new(text.as_bytes());
            let back = again.next(&mut graph).unwrap_or_else(|e| panic!("{e} in\n{text}"));
            assert!(back.is_some_and(|back| back.constraints.len() == query.constraints.len()), "{text}");
        }
    }
});
