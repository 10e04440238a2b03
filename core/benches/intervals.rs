//! Replays the query logs through `simplify split intervals enumerate sat` and says, per program, what share of the
//! checks is answered before the SAT solver, how fast those are, and what remains and why. Verdicts are compared with
//! the index. Logs: `../shared/corpus` beside the repository, or under `PARTITA_SHARED`. Arguments: names of logs;
//! `--chain SPEC`; `--why` lists the reasons. Fails if a verdict is wrong, or with the whole default chain if one of
//! the programs that must be answered without SAT (95 %) is not.

use partita_core::budget::Budget;
use partita_core::expr::kquery::{Query as Logged, Reader};
use partita_core::expr::{Graph, Sort};
use partita_core::interval::Learner;
use partita_core::query::{Answer, Path, PathTree, Query, Status};
use partita_core::solve::{Solver, Spec, build_chain};
use std::path::PathBuf;
use std::time::Instant;

const CHAIN: &str = "simplify split intervals enumerate sat";

/// Of these, at least 95 % must be answered before the SAT solver.
fn must_be_answered(log: &str) -> bool {
    log.starts_with("cu_") || ["json_6", "strtol_6", "b64cmp_4"].contains(&log)
}

fn corpus() -> PathBuf {
    let here = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../shared");
    std::env::var_os("PARTITA_SHARED").map_or(here, PathBuf::from).join("corpus")
}

fn unpacked(path: &std::path::Path) -> Option<Vec<u8>> {
    let output = std::process::Command::new("gzip").arg("-dc").arg(path).output().ok()?;
    output.status.success().then_some(output.stdout)
}

/// `["Validity", "both"]` and so on, in order: a list of pairs of strings is all that is read of the index.
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
    /// Numbers of the queries left open, in the log.
    open: Vec<usize>,
}

struct Replay {
    solver: Solver,
    held: Path,
    /// Continuations that a later query may take, held.
    further: Vec<Path>,
    row: Row,
    unlimited: Budget,
    /// The number of the query in the log.
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

    /// How often a complete layer has been asked.
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
        let start = Instant::now();
        let answer = self.solver.check(&Query::new(path, condition), &self.unlimited);
        let time = start.elapsed().as_nanos() as u64;
        self.row.checks += 1;
        if self.asked_sat() > before {
            self.row.open.push(self.at);
        } else {
            self.row.answered += 1;
            self.row.times.push(time);
        }
        match answer {
            Answer::Sat(model) => {
                // As an executor would: the path is feasible, so is its continuation, and this is a model of both.
                let further = self.solver.tree.extend(&self.solver.graph, path, condition);
                for node in [path, further] {
                    if matches!(self.solver.tree.status(node), Status::Unchecked) {
                        self.solver.tree.set_status(node, Status::Feasible(model.clone()));
                    }
                }
                self.further.push(further);
                Some(true)
            }
            Answer::Unsat(_) => Some(false),
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

/// One comparison with a constant on a path of a few: the layer alone, nanoseconds a check, conditions never seen
/// before and seen before.
fn one_comparison() -> (f64, f64) {
    let spec = Spec::parse("intervals", &Spec(Vec::new())).expect("a chain");
    let mut solver = Solver::new(build_chain(&spec, &mut |_| Ok(None)).expect("layers of the core"));
    let budget = Budget::unlimited();
    let x = solver.graph.var("x", Sort::Bits(32)).expect("a new name");
    let mut path = solver.tree.root();
    for limit in [1 << 20, 1 << 18, 1 << 16] {
        let limit = solver.graph.word(32, limit);
        let below = solver.graph.ult(x, limit);
        path = solver.tree.extend(&solver.graph, path, below);
    }
    solver.check_path(path, &budget);
    let conditions: Vec<_> = (0..20_000u64)
        .map(|i| {
            // Half of them hold somewhere, half nowhere; none of the model that the path has.
            let constant = solver.graph.word(32, if i % 2 == 0 { 1 + i } else { (1 << 16) + i });
            solver.graph.ult(constant, x)
        })
        .collect();
    let mut pass = || {
        let start = Instant::now();
        for &condition in &conditions {
            let answer = solver.check(&Query::new(path, condition), &budget);
            assert!(!matches!(answer, Answer::Unknown(_)), "a comparison with a constant is answered");
        }
        start.elapsed().as_nanos() as f64 / conditions.len() as f64
    };
    (pass(), pass())
}

/// Nanoseconds a constraint for learning a path of `n` constraints on one word.
fn learning(n: u64) -> f64 {
    let mut graph = Graph::new();
    let mut tree = PathTree::new();
    let x = graph.var("x", Sort::Bits(32)).expect("a new name");
    let mut path = tree.root();
    for i in 0..n {
        let hole = graph.word(32, i.wrapping_mul(0x9e37_79b9));
        let constraint = graph.ne(x, hole);
        path = tree.extend(&graph, path, constraint);
    }
    let mut learner = Learner::default();
    let start = Instant::now();
    learner.facts(&graph, &tree, path);
    start.elapsed().as_nanos() as f64 / n as f64
}

fn main() {
    let mut names: Vec<String> = Vec::new();
    let (mut chain, mut why) = (CHAIN.to_string(), false);
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--chain" => chain = arguments.next().expect("a chain after --chain"),
            "--why" => why = true,
            "--bench" => {}
            name => names.push(name.to_string()),
        }
    }
    if names.is_empty() {
        let (new, seen) = one_comparison();
        println!("one comparison with a constant: {new:.0} ns the first time, {seen:.0} ns when seen before");
        println!(
            "learning a constraint: {:.0} ns of 1,000, {:.0} ns of 10,000",
            learning(1000),
            learning(10_000)
        );
    }
    let folder = corpus();
    let Ok(entries) = std::fs::read_dir(&folder) else {
        println!("skipped: expected query logs in {}, found nothing", folder.display());
        return;
    };
    let mut logs: Vec<PathBuf> = entries.flatten().map(|e| e.path()).collect();
    logs.retain(|p| p.to_string_lossy().ends_with(".kquery.gz"));
    logs.sort();
    println!("chain: {chain}");
    println!(
        "{:<20}{:>8}{:>10}{:>9}{:>10}{:>10}{:>7}",
        "log", "checks", "answered", "share", "median us", "mean us", "wrong"
    );
    let mut wrong = 0;
    for log in logs {
        let name = log.file_name().expect("a file").to_string_lossy().replace(".kquery.gz", "");
        if !names.is_empty() && !names.contains(&name) {
            continue;
        }
        let text = unpacked(&log).expect("gzip unpacks the log");
        let answers = index(&std::fs::read_to_string(folder.join(format!("{name}.json"))).expect("an index"));
        let spec = Spec::parse(&chain, &Spec(Vec::new())).expect("a chain");
        let layers = build_chain(&spec, &mut |_| Ok(None)).expect("layers of the core");
        let solver = Solver::new(layers);
        let held = solver.tree.root();
        let mut replay = Replay {
            solver,
            held,
            further: Vec::new(),
            row: Row::default(),
            unlimited: Budget::unlimited(),
            at: 0,
        };
        replay.solver.tree.retain(held);
        let mut reader = Reader::new(&text);
        while let Some(query) = reader.next(&mut replay.solver.graph).expect("a readable log") {
            let (kind, expected) = &answers[replay.at];
            replay.ask(&query, kind, expected);
            replay.at += 1;
        }
        let mut row = replay.row;
        row.times.sort_unstable();
        let median = row.times.get(row.times.len() / 2).copied().unwrap_or(0) as f64 / 1e3;
        let mean = row.times.iter().sum::<u64>() as f64 / 1e3 / row.times.len().max(1) as f64;
        let share = 100.0 * row.answered as f64 / row.checks.max(1) as f64;
        println!(
            "{name:<20}{:>8}{:>10}{share:>8.1}%{median:>10.2}{mean:>10.2}{:>7}",
            row.checks, row.answered, row.wrong
        );
        wrong += row.wrong;
        if chain == CHAIN && must_be_answered(&name) && share < 95.0 {
            println!("    expected at least 95 % before the SAT solver");
            wrong += 1;
        }
        if why {
            println!("    open: {:?}", &row.open[..row.open.len().min(12)]);
            for layer in replay.solver.statistics() {
                let m = &layer.meter;
                let own = m.own.as_secs_f64() * 1e6 / m.asked.max(1) as f64;
                println!(
                    "    {:<12} asked {} sat {} unsat {} passed {} own {own:.2} us",
                    layer.name, m.asked, m.sat, m.unsat, m.passed
                );
                for (counter, count) in layer.counters.iter().filter(|(name, _)| name.starts_with("passed_"))
                {
                    println!("        {counter} {count}");
                }
            }
        }
    }
    if wrong > 0 {
        println!("{wrong} failures");
        std::process::exit(1);
    }
}
