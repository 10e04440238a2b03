//! Replays the query logs through `simplify split intervals enumerate sat` as an executor would: a path that was
//! answered sat is feasible and has its model. Prints per program the share of checks answered before the SAT
//! solver (by the paper's variant alone, by `intervals` alone, and by the chain), their time, and what remains and
//! why; before that, the figures of `small.rs`. Verdicts are compared with the index. Logs: `$PARTITA_SHARED/corpus`
//! (default: `../shared/corpus`) if it exists, else `benchmarks/queries`. Arguments: names of logs; `--chain SPEC`; `--why` lists the
//! reasons; `--cores` compares cores with minimal ones. Fails if a verdict is wrong, or if fewer than 95 % are
//! answered for one of the programs that must be answered without SAT.

#[path = "../../tests/chain/mod.rs"]
mod chain;
#[path = "../clock/mod.rs"]
mod clock;
mod cores;
#[path = "../allocator/counting.rs"]
mod counting;
mod small;

use chain::solver;
use partita_core::budget::Budget;
use partita_core::expr::kquery::{KQueryParser, ParsedQuery as Logged};
use partita_core::query::{Answer, Path, Query, Status};
use partita_core::solve::Solver;
use std::path::PathBuf;

const CHAIN: &str = "simplify split intervals enumerate sat";
/// Chains for the share that one layer answers.
const ONE_LAYER: [&str; 2] = ["simplify split intervals:paper sat", "simplify split intervals sat"];

/// CPU time of this thread in nanoseconds. Reading it is included in the time of every check.
fn cpu_ns() -> u64 {
    clock::cpu_time().as_nanos() as u64
}

/// Programs of which at least 95 % of the checks must be answered before the SAT solver.
fn must_be_answered(log: &str) -> bool {
    log.starts_with("cu_") || ["json_6", "strtol_6", "b64cmp_4"].contains(&log)
}

fn corpus() -> PathBuf {
    let core = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    let shared = std::env::var_os("PARTITA_SHARED").map_or_else(|| core.join("../../shared"), PathBuf::from);
    let larger = shared.join("corpus");
    if larger.is_dir() { larger } else { core.join("../benchmarks/queries") }
}

fn unpacked(path: &std::path::Path) -> Option<Vec<u8>> {
    let output = std::process::Command::new("gzip").arg("-dc").arg(path).output().ok()?;
    output.status.success().then_some(output.stdout)
}

/// `["Validity", "both"]` and so on, in order: the only part of the index that is used is a list of pairs of
/// strings.
fn index(text: &str) -> Vec<(String, String)> {
    let Some(start) = text.find("\"kquery\"") else { return Vec::new() };
    let strings: Vec<String> = text[start + 8..].split('"').skip(1).step_by(2).map(str::to_string).collect();
    let kinds = ["Validity", "Truth", "Value", "InitialValues"];
    strings
        .chunks(2)
        .take_while(|c| c.len() == 2 && kinds.contains(&c[0].as_str()))
        .map(|c| (c[0].clone(), c[1].clone()))
        .collect()
}

#[derive(Default)]
struct Row {
    checks: u64,
    answered: u64,
    wrong: u64,
    /// Nanoseconds of each check.
    times: Vec<u64>,
    /// Numbers in the log of the queries left open.
    open: Vec<usize>,
}

struct Replay {
    solver: Solver,
    held: Path,
    /// Held nodes from which a later query may continue.
    further: Vec<Path>,
    row: Row,
    /// Cores by layer, if they are to be compared.
    cores: Option<cores::Sizes>,
    unlimited: Budget,
    /// Number of the query in the log.
    at: usize,
}

impl Replay {
    fn path(&mut self, query: &Logged) -> Path {
        let mut path = self.solver.tree.retain(self.solver.tree.root());
        for &constraint in &query.constraints {
            let longer = self.solver.tree.extend(&self.solver.graph, path, constraint);
            self.solver.tree.release(path);
            path = longer;
        }
        self.solver.tree.release(std::mem::replace(&mut self.held, path));
        path
    }

    /// Number of queries that a complete layer was asked.
    fn asked_sat(&self) -> u64 {
        self.solver
            .statistics()
            .iter()
            .filter(|layer| layer.name == "sat")
            .map(|layer| layer.meter.asked)
            .sum()
    }

    /// One check; `None` if it was left open.
    fn check(&mut self, path: Path, condition: partita_core::expr::Expr) -> Option<bool> {
        let before = self.asked_sat();
        let refuted = self.cores.is_some().then(|| cores::refutations(&self.solver));
        let start = cpu_ns();
        let answer = self.solver.check(&Query::new(path, condition), &self.unlimited);
        let time = cpu_ns() - start;
        self.row.checks += 1;
        if self.asked_sat() > before {
            self.row.open.push(self.at);
        } else {
            self.row.answered += 1;
            self.row.times.push(time);
        }
        match answer {
            Answer::Sat(model) => {
                // As in an executor: the path and its extension are feasible, and this is a model of both.
                let further = self.solver.tree.extend(&self.solver.graph, path, condition);
                for node in [path, further] {
                    if matches!(self.solver.tree.status(node), Status::Unchecked) {
                        self.solver.tree.set_status(node, Status::Feasible(model.clone()));
                    }
                }
                self.further.push(further);
                Some(true)
            }
            Answer::Unsat(core) => {
                if let (Some(sizes), Some(refuted)) = (&mut self.cores, refuted) {
                    sizes.add(&mut self.solver, &refuted, condition, &core);
                }
                Some(false)
            }
            Answer::Unknown(_) => {
                // Without a SAT solver in the chain.
                if self.row.open.last() != Some(&self.at) {
                    self.row.open.push(self.at);
                    self.row.answered -= 1;
                    self.row.times.pop();
                }
                None
            }
        }
    }

    fn ask(&mut self, query: &Logged, kind: &str, expected: &str) {
        let path = self.path(query);
        if matches!(kind, "Value" | "InitialValues") {
            let yes = self.solver.graph.boolean(true);
            if self.check(path, yes) == Some(false) {
                self.row.wrong += 1;
            }
            return;
        }
        let negated = self.solver.graph.not(query.expr);
        let can_fail = self.check(path, negated);
        if kind == "Truth" {
            self.row.wrong += u64::from(can_fail.is_some_and(|fails| fails != (expected != "true")));
            return;
        }
        let can_hold = self.check(path, query.expr);
        let (fails, holds) = (expected != "true", expected != "false");
        self.row.wrong += u64::from(can_fail.is_some_and(|f| f != fails));
        self.row.wrong += u64::from(can_hold.is_some_and(|h| h != holds));
    }
}

/// Replays a log through a chain.
fn replay(name: &str, chain: &str, compare_cores: bool) -> Replay {
    let text = unpacked(&corpus().join(format!("{name}.kquery.gz"))).expect("gzip unpacks the log");
    let index_file = corpus().join(format!("{name}.json"));
    let answers = index(&std::fs::read_to_string(index_file).expect("an index"));
    let solver = solver(chain);
    let held = solver.tree.root();
    let mut replay = Replay {
        solver,
        held,
        further: Vec::new(),
        row: Row::default(),
        cores: compare_cores.then(cores::Sizes::default),
        unlimited: Budget::unlimited(),
        at: 0,
    };
    replay.solver.tree.retain(held);
    let mut reader = KQueryParser::new(&text);
    while let Some(query) = reader.next(&mut replay.solver.graph).expect("a readable log") {
        let (kind, expected) = &answers[replay.at];
        replay.ask(&query, kind, expected);
        replay.at += 1;
    }
    replay.row.times.sort_unstable();
    replay
}

impl Row {
    /// Percentage of the checks answered before the SAT solver.
    fn share(&self) -> f64 {
        100.0 * self.answered as f64 / self.checks.max(1) as f64
    }

    fn median(&self) -> f64 {
        self.times.get(self.times.len() / 2).copied().unwrap_or(0) as f64 / 1e3
    }

    fn mean(&self) -> f64 {
        self.times.iter().sum::<u64>() as f64 / 1e3 / self.times.len().max(1) as f64
    }
}

/// Prints the open queries and the time per layer.
fn explain(replay: &Replay) {
    let open = &replay.row.open;
    println!("    open: {:?}", &open[..open.len().min(12)]);
    for layer in replay.solver.statistics() {
        let m = &layer.meter;
        let own = m.own.as_secs_f64() * 1e6 / m.asked.max(1) as f64;
        println!(
            "    {:<12} asked {} sat {} unsat {} passed {} own {own:.2} us",
            layer.name, m.asked, m.sat, m.unsat, m.passed
        );
        for (counter, count) in layer.counters.iter().filter(|(name, _)| name.starts_with("passed_")) {
            println!("        {counter} {count}");
        }
    }
}

/// The names of all logs, in order.
fn logs() -> Vec<String> {
    let entries = std::fs::read_dir(corpus()).into_iter().flatten().flatten();
    let name = |file: String| file.strip_suffix(".kquery.gz").map(str::to_string);
    let mut all: Vec<String> = entries.filter_map(|e| name(e.file_name().into_string().ok()?)).collect();
    all.sort();
    all
}

fn main() {
    let mut names: Vec<String> = Vec::new();
    let (mut chain, mut why, mut compare_cores) = (CHAIN.to_string(), false, false);
    let mut all_cores = cores::Sizes::default();
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--chain" => chain = arguments.next().expect("a chain after --chain"),
            "--why" => why = true,
            "--cores" => compare_cores = true,
            "--bench" => {}
            name => names.push(name.to_string()),
        }
    }
    let whole = names.is_empty() && chain == CHAIN && !compare_cores;
    if whole {
        small::print();
    }
    if names.is_empty() {
        names = logs();
        if names.is_empty() {
            println!("skipped: expected query logs in {}, found nothing", corpus().display());
            return;
        }
    }
    println!("chain: {chain}");
    println!(
        "{:<20}{:>8}{:>8}{:>11}{:>10}{:>11}{:>9}{:>7}",
        "log", "checks", "paper", "intervals", "answered", "median us", "mean us", "wrong"
    );
    let mut failures = 0;
    for name in names {
        let shares = if whole {
            ONE_LAYER.map(|chain| format!("{:.1}%", replay(&name, chain, false).row.share()))
        } else {
            [String::new(), String::new()]
        };
        let replayed = replay(&name, &chain, compare_cores);
        let row = &replayed.row;
        println!(
            "{name:<20}{:>8}{:>8}{:>11}{:>9.1}%{:>11.2}{:>9.2}{:>7}",
            row.checks,
            shares[0],
            shares[1],
            row.share(),
            row.median(),
            row.mean(),
            row.wrong
        );
        failures += row.wrong;
        if whole && must_be_answered(&name) && row.share() < 95.0 {
            println!("    expected at least 95 % before the SAT solver");
            failures += 1;
        }
        if why {
            explain(&replayed);
        }
        if let Some(sizes) = &replayed.cores {
            all_cores.merge(sizes);
        }
    }
    if compare_cores {
        all_cores.print();
    }
    if failures > 0 {
        println!("{failures} failures");
        std::process::exit(1);
    }
}
