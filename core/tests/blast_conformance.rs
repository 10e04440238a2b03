//! The conformance suite for every layer of the table, alone and in chains: random queries on random path trees, compared
//! with all assignments.

use crate::chain::layers;
use partita_core::exec::DEFAULT_LAYERS;
use partita_core::solve::{LAYERS, conformance};

/// Layers that need a file or another solver; they have suites of their own.
const ELSEWHERE: &[&str] = &["record", "store", "verify"];

fn conforms(names: &str, seeds: std::ops::Range<u64>, queries: u64) {
    for seed in seeds {
        let make = || layers(names);
        let tally = conformance::check(seed, queries, make).unwrap_or_else(|e| panic!("{names}: {e}"));
        assert!(tally.sat > 50 && tally.unsat > 50, "{names}: too few answers of one kind: {tally:?}");
    }
}

#[test]
fn alone() {
    conforms("sat", 1..9, 400);
}

/// A new layer is tested from its row on.
#[test]
fn each_layer_above_sat() {
    for row in LAYERS.iter().filter(|row| row.name != "sat" && !ELSEWHERE.contains(&row.name)) {
        conforms(&format!("{} sat", row.name), 101..102, 300);
    }
}

#[test]
fn below_other_layers() {
    conforms("split sat", 11..15, 400);
    conforms("simplify split sat", 21..25, 400);
}

#[test]
fn below_the_caches() {
    conforms("solutions sat", 51..55, 400);
    conforms("solutions(kp=3,ks=2,variants=3) sat", 55..57, 400);
    conforms(&DEFAULT_LAYERS.replace(" store", ""), 61..63, 400);
    conforms("split solutions:paper sat(engine=conflicts)", 71..73, 400);
    conforms("split solutions:paper(kp=3,ks=2,once=on) sat", 73..74, 400);
    conforms("split solutions:paper(harvest=off) sat", 75..76, 400);
    conforms("split reuse:klee sat", 81..83, 400);
    conforms("split reuse:grulia sat", 91..93, 400);
    conforms("split reuse:grulia(partial=on) sat(engine=conflicts)", 93..95, 400);
}

#[test]
fn with_each_engine() {
    conforms("sat(engine=batsat,harvest=off)", 31..34, 400);
    conforms("sat(engine=cadical)", 41..43, 300);
    conforms("sat(engine=conflicts)", 45..48, 400);
}

#[test]
fn with_floats() {
    let above = LAYERS.iter().filter(|row| row.name != "sat" && !ELSEWHERE.contains(&row.name));
    let mut chains: Vec<String> = above.map(|row| format!("{} sat", row.name)).collect();
    chains.extend(["sat".into(), DEFAULT_LAYERS.replace(" store", ""), "intervals(search=off) sat".into()]);
    for names in chains {
        let tally =
            conformance::check_floats(7, 200, || layers(&names)).unwrap_or_else(|e| panic!("{names}: {e}"));
        assert!(tally.sat > 20 && tally.unsat > 20, "{names}: too few answers of one kind: {tally:?}");
    }
}
