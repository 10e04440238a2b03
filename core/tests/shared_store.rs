//! The layer `store` with answers on a server: chains conform with a server that keeps rows, loses them, garbles them or
//! forges verdicts, and a server that never answers costs a bounded wait.

use partita_core::budget::Budget;
use partita_core::expr::Sort;
use partita_core::query::{Answer, Query};
use partita_core::random::Random;
use partita_core::solve::store::Exchange;
use partita_core::solve::{Layer, Solver, Spec, build_chain_with, conformance};
use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// How the server treats what it is given.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Manner {
    Honest,
    /// Rows come back unsigned.
    Unsigned,
    /// Rows are gone, cut or have a flipped bit.
    Garbled,
    /// Rows of other queries.
    Exchanged,
}

/// A server in memory: rows by key, and its index.
#[derive(Default)]
struct Server {
    rows: HashMap<[u8; 16], Vec<u8>>,
    index: Vec<u8>,
}

impl Server {
    fn read(&self, key: &[u8; 16], manner: Manner, random: &mut Random) -> Option<Vec<u8>> {
        let mut row = self.rows.get(key)?.clone();
        match manner {
            Manner::Honest | Manner::Unsigned => {}
            Manner::Garbled => match random.below(3) {
                0 => return None,
                1 => row.truncate(random.below(row.len() as u64) as usize),
                _ => {
                    let at = random.below(row.len() as u64) as usize;
                    row[at] ^= 1 << random.below(8);
                }
            },
            Manner::Exchanged => row = self.rows.values().next()?.clone(),
        }
        Some(row)
    }
}

/// A client that serves the exchange from memory until it is closed.
fn serve(exchange: &Exchange, server: &Mutex<Server>, manner: Manner) {
    let mut random = Random::new(1);
    loop {
        let batch = exchange.take_batch(Duration::from_secs(60));
        let mut server = server.lock().unwrap();
        for key in batch.wanted {
            let row = server.read(&key, manner, &mut random);
            exchange.deliver(key, row.map(|row| (row, manner != Manner::Unsigned)));
        }
        let changes = (batch.rows.len() + batch.removed.len()) as u64;
        server.rows.extend(batch.rows.into_iter().map(|(key, _, row)| (key, row)));
        server.index.extend(batch.entries);
        batch.removed.iter().for_each(|key| drop(server.rows.remove(key)));
        exchange.finish_batch(changes, 0, true);
        if batch.is_last {
            return;
        }
    }
}

fn layers(text: &str, exchange: Arc<Exchange>) -> Vec<Box<dyn Layer>> {
    let spec = Spec::parse(text, &Spec(Vec::new())).unwrap();
    build_chain_with(&spec, &mut |_| Ok(None), Some(exchange)).unwrap()
}

fn connected(text: &str, server: &Arc<Mutex<Server>>, manner: Manner) -> Vec<Box<dyn Layer>> {
    let exchange = Arc::new(Exchange::new("memory".into(), true));
    assert!(exchange.add_index(&server.lock().unwrap().index));
    let (for_thread, server) = (exchange.clone(), server.clone());
    std::thread::spawn(move || serve(&for_thread, &server, manner));
    layers(text, exchange)
}

#[test]
fn chains_with_a_shared_store_conform() {
    for manner in [Manner::Honest, Manner::Unsigned, Manner::Garbled, Manner::Exchanged] {
        let server = Arc::new(Mutex::new(Server::default()));
        for seed in 1..3 {
            let make = || connected("simplify split store(eager=on,wait_ms=100000) sat", &server, manner);
            let tally = conformance::check(seed, 200, make).unwrap_or_else(|e| panic!("{manner:?}: {e}"));
            assert!(tally.sat > 30 && tally.unsat > 30, "{manner:?}: {tally:?}");
        }
        assert!(server.lock().unwrap().rows.len() > 50, "{manner:?}");
    }
}

fn ask(solver: &mut Solver, n: u64) -> Answer {
    let x = solver.graph.var("x", Sort::Bits(16)).unwrap();
    let (square, n) = (solver.graph.mul(x, x), solver.graph.word(16, n));
    let condition = solver.graph.eq(square, n);
    solver.check(&Query::new(solver.tree.root(), condition), &Budget::unlimited())
}

fn counter(solver: &Solver, name: &str) -> f64 {
    solver.statistics()[0].counters.iter().find(|(n, _)| n == name).unwrap().1
}

#[test]
fn unsigned_rows_are_proved_again() {
    let server = Arc::new(Mutex::new(Server::default()));
    let counts = [Manner::Honest, Manner::Honest, Manner::Unsigned].map(|manner| {
        let mut solver =
            Solver::new(connected("store(eager=on,sample=1000000,wait_ms=100000) sat", &server, manner));
        assert!(matches!(ask(&mut solver, 9), Answer::Sat(_)));
        assert!(matches!(ask(&mut solver, 3), Answer::Unsat(_)));
        solver.flush();
        ["hits", "resolved", "written"].map(|name| counter(&solver, name))
    });
    assert_eq!(counts, [[0.0, 0.0, 2.0], [2.0, 0.0, 0.0], [1.0, 1.0, 1.0]]);
}

/// Without a client: one wait, then none; more changes than the limit are counted and reported.
#[test]
fn a_silent_server_costs_one_wait_and_is_reported() {
    let server = Arc::new(Mutex::new(Server::default()));
    let mut solver = Solver::new(connected("store(eager=on) sat", &server, Manner::Honest));
    for n in 0..20 {
        ask(&mut solver, n);
    }
    solver.flush();
    drop(solver);
    let exchange = Arc::new(Exchange::new("silent".into(), true));
    exchange.add_index(&server.lock().unwrap().index);
    let mut solver = Solver::new(layers("store(eager=on,wait_ms=50) sat", exchange));
    for n in 0..1100 {
        assert_eq!(
            matches!(ask(&mut solver, n), Answer::Sat(_)),
            (0..1 << 15).any(|x| x * x % 65536 == n),
            "{n}"
        );
    }
    assert_eq!((counter(&solver, "late"), counter(&solver, "hits")), (1.0, 0.0));
    assert_eq!((counter(&solver, "written"), counter(&solver, "dropped")), (1024.0, 76.0));
    let expected = "answers not kept: 76, because the store silent writes more slowly than they came";
    assert_eq!(solver.notices(), [expected]);
    assert_eq!(solver.notices(), [] as [String; 0]);
}
