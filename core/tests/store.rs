//! The layer `store`: every chain with it is correct, also with several processes at once, with a damaged file, and
//! when a writing process is killed.

use crate::chain;
use partita_core::budget::Budget;
use partita_core::expr::{Expr, Graph, Sort};
use partita_core::query::{Answer, Query};
use partita_core::random::Random;
use partita_core::solve::conformance;
use partita_core::solve::store::{File, Row};
use partita_core::solve::{Layer, Solver};
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc::channel;
use std::time::Duration;

/// A folder that is removed with the test.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Folder {
        let path = std::env::temp_dir().join(format!("partita-store-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&path);
        Folder(path)
    }

    fn file(&self) -> PathBuf {
        self.0.join("answers.sqlite")
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// `STORE` in the text stands for a layer on the file that keeps everything.
fn chain(text: &str, file: &Path) -> Vec<Box<dyn Layer>> {
    let text = text.replace("STORE", &format!("store(path={},eager=on)", file.display()));
    chain::layers(&text)
}

fn counter(solver: &Solver, name: &str) -> f64 {
    let statistics = solver.statistics();
    let store = statistics.iter().find(|row| row.name == "store").unwrap();
    store.counters.iter().find(|(n, _)| n == name).unwrap().1
}

fn rows(file: &Path) -> Vec<Row> {
    let mut rows = Vec::new();
    let whole = |row: Option<Row>| {
        rows.push(row.expect("no row is damaged"));
        true
    };
    File::open(file).unwrap().each(whole).unwrap();
    rows
}

/// `v0 * v1 = n` with 12-bit factors, neither of them 1.
fn factors(graph: &mut Graph, names: [&str; 2], n: u64) -> Expr {
    let [x, y] = names.map(|name| graph.var(name, Sort::Bits(12)).unwrap());
    let (wide_x, wide_y) = (graph.zext(x, 24), graph.zext(y, 24));
    let (product, n, one) = (graph.mul(wide_x, wide_y), graph.word(24, n), graph.word(12, 1));
    let parts = [graph.eq(product, n), graph.ult(one, x), graph.ult(one, y)];
    graph.all(parts)
}

fn ask(solver: &mut Solver, names: [&str; 2], n: u64) -> &'static str {
    let condition = factors(&mut solver.graph, names, n);
    let path = solver.tree.extend(&solver.graph, solver.tree.root(), condition);
    let answer = solver.check_path(path, &Budget::unlimited());
    solver.tree.release(path);
    answer.verdict()
}

#[test]
fn chains_with_a_store_conform() {
    for text in ["STORE sat", "simplify split STORE sat", "simplify split reuse STORE sat(engine=batsat)"] {
        let folder = Folder::new("conforms");
        for seed in 1..3 {
            // The second and third chain of each seed read what the first has written.
            let tally = conformance::check(seed, 300, || chain(text, &folder.file()))
                .unwrap_or_else(|e| panic!("{text}: {e}"));
            assert!(tally.sat > 50 && tally.unsat > 50, "{text}: {tally:?}");
        }
        assert!(rows(&folder.file()).len() > 100, "{text}");
    }
}

#[test]
fn several_processes_conform() {
    let folder = Folder::new("several");
    let file = folder.file();
    std::thread::scope(|scope| {
        for seed in 1..5 {
            let file = &file;
            scope.spawn(move || {
                // Two seeds, so that they use the same rows.
                conformance::check(seed % 2 + 1, 200, || chain("split STORE sat", file)).unwrap();
            });
        }
    });
    assert!(rows(&file).len() > 100);
}

#[test]
fn the_next_run_finds_renamed_queries() {
    let folder = Folder::new("renamed");
    let numbers = [91, 97, 1_517, 4_093];
    let mut first = Solver::new(chain("STORE sat", &folder.file()));
    let expected = numbers.map(|n| ask(&mut first, ["x", "y"], n));
    assert_eq!(expected, ["sat", "unsat", "sat", "unsat"]);
    assert_eq!((counter(&first, "hits"), counter(&first, "written")), (0.0, 4.0));
    drop(first);
    let mut second = Solver::new(chain("STORE sat", &folder.file()));
    assert_eq!(numbers.map(|n| ask(&mut second, ["b", "a"], n)), expected);
    assert_eq!((counter(&second, "hits"), counter(&second, "written")), (4.0, 0.0));
    // Another number is another query.
    assert_eq!(ask(&mut second, ["x", "y"], 101), "unsat");
    assert_eq!(counter(&second, "hits"), 4.0);
}

/// The rows of the file are true: every query rebuilt from its bytes has the verdict of its row.
#[test]
fn rows_are_true() {
    let folder = Folder::new("rows");
    conformance::check(3, 300, || chain("split STORE sat", &folder.file())).unwrap();
    let rows = rows(&folder.file());
    for row in &rows {
        let script = partita_core::solve::store::script(&row.query).expect("bytes of this version");
        let limits = partita_core::script::Limits::default();
        let mut session =
            partita_core::script::Session::new(Solver::new(chain("sat", Path::new(""))), limits);
        session.add_text(format!("{script}(check-sat)\n").as_bytes());
        let mut answers = Vec::new();
        while let partita_core::script::Step::Done(answer) = session.step() {
            answers.extend(answer);
        }
        assert_eq!(answers.last().map(String::as_str), Some(row.verdict.name()), "{script}");
    }
    assert!(rows.len() > 50);
}

/// Random bytes of the file are changed: answers stay correct, and nothing panics.
#[test]
fn a_damaged_file_gives_no_wrong_answers() {
    let folder = Folder::new("damaged");
    let numbers: Vec<u64> = (60..100).collect();
    let mut solver = Solver::new(chain("STORE sat", &folder.file()));
    let expected: Vec<&str> = numbers.iter().map(|&n| ask(&mut solver, ["x", "y"], n)).collect();
    drop(solver);
    let good = std::fs::read(folder.file()).unwrap();
    let mut random = Random::new(5);
    let (mut noticed, mut hits) = (0, 0.0);
    for round in 0..60 {
        let mut bad = good.clone();
        match round % 3 {
            0 => bad.truncate(random.below(bad.len() as u64) as usize),
            _ => {
                for _ in 0..1 + random.below(40) {
                    let at = random.below(bad.len() as u64) as usize;
                    bad[at] ^= 1 << random.below(8);
                }
            }
        }
        std::fs::write(folder.file(), bad).unwrap();
        for extra in ["-wal", "-shm"] {
            let _ = std::fs::remove_file(folder.0.join(format!("answers.sqlite{extra}")));
        }
        let mut solver = Solver::new(chain("STORE sat", &folder.file()));
        let found: Vec<&str> = numbers.iter().map(|&n| ask(&mut solver, ["x", "y"], n)).collect();
        assert_eq!(found, expected, "round {round}");
        assert_eq!(counter(&solver, "wrong"), 0.0);
        hits += counter(&solver, "hits");
        noticed += u32::from(!solver.notices().is_empty() || counter(&solver, "damaged") > 0.0);
    }
    assert!(noticed > 20 && hits > 100.0, "{noticed} noticed, {hits} hits");
}

fn notice(file: &Path) -> String {
    let mut solver = Solver::new(chain("STORE sat", file));
    assert_eq!(ask(&mut solver, ["x", "y"], 91), "sat");
    let notices = solver.notices();
    assert_eq!(notices.len(), 1, "{notices:?}");
    notices[0].replace(&file.display().to_string(), "FILE")
}

#[test]
fn unusable_files_are_named_and_left_unchanged() {
    let folder = Folder::new("unusable");
    std::fs::create_dir_all(&folder.0).unwrap();
    assert_eq!(
        notice(&folder.0),
        "cannot use the store FILE: expected a file, found a directory; going on without it"
    );
    let text = folder.0.join("text");
    std::fs::write(&text, "int main(void) { return 0; }\n".repeat(100)).unwrap();
    assert_eq!(
        notice(&text),
        "cannot use the store FILE: file is not a database: it is no store, or damaged; going on without it"
    );
    assert!(std::fs::read_to_string(&text).unwrap().starts_with("int main"));
    assert!(notice(Path::new("/dev/null/folder/file")).starts_with("cannot use the store FILE: "));
    assert!(notice(Path::new("/proc/store")).starts_with("cannot use the store FILE: "));

    drop(File::open(&folder.file()).unwrap());
    let mut bytes = std::fs::read(folder.file()).unwrap();
    bytes[63] = 3; // The lowest byte of SQLite's user version.
    std::fs::write(folder.file(), &bytes).unwrap();
    assert_eq!(
        notice(&folder.file()),
        "cannot use the store FILE: it was written by a newer version of Partita (format 3, known are formats up \
         to 2); going on without it"
    );
    assert_eq!(std::fs::read(folder.file()).unwrap(), bytes);
    bytes[71] ^= 1; // A byte of SQLite's application id.
    std::fs::write(folder.file(), &bytes).unwrap();
    assert_eq!(
        notice(&folder.file()),
        "cannot use the store FILE: it is a database of something else; going on without it"
    );
}

#[test]
fn an_older_format_is_emptied() {
    let folder = Folder::new("older");
    let mut solver = Solver::new(chain("STORE sat", &folder.file()));
    ask(&mut solver, ["x", "y"], 91);
    drop(solver);
    assert_eq!(rows(&folder.file()).len(), 1);
    let mut bytes = std::fs::read(folder.file()).unwrap();
    bytes[63] = 0;
    std::fs::write(folder.file(), &bytes).unwrap();
    assert_eq!(rows(&folder.file()).len(), 0);
}

/// Asks one query after another and prints how many are answered, until it is killed. Not a test by itself.
#[test]
fn process_that_writes_until_killed() {
    let Ok(file) = std::env::var("PARTITA_STORE_TO_KILL") else { return };
    let mut solver = Solver::new(chain("STORE sat", Path::new(&file)));
    let base = rows(Path::new(&file)).len() as u64;
    for n in 0.. {
        ask(&mut solver, ["x", "y"], 4 + base + n);
        println!("answered {}", base + n + 1);
    }
}

/// A writing process is killed at random moments, repeatedly: every answer that it had given is in the file, and at
/// most the one being written besides. `PARTITA_STORE_KILLS` is the number of repetitions; `make fuzz` uses 200.
#[test]
fn a_killed_writer_loses_at_most_one_answer() {
    let kills = std::env::var("PARTITA_STORE_KILLS").map_or(25, |n| n.parse().expect("a number"));
    let folder = Folder::new("killed");
    let mut random = Random::new(7);
    let mut total = 0;
    for round in 0..kills {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["store::process_that_writes_until_killed", "--exact", "--nocapture", "--test-threads=1"])
            .env("PARTITA_STORE_TO_KILL", folder.file())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let output = child.stdout.take().unwrap();
        let (tell, told) = channel();
        let reader = std::thread::spawn(move || {
            let lines = BufReader::new(output).lines().map_while(Result::ok);
            let numbers =
                lines.filter_map(|line| line.split("answered ").nth(1)?.trim().parse::<usize>().ok());
            // Rounds that do not wait have no receiver.
            numbers.inspect(|_| _ = tell.send(())).last()
        });
        // Every other round is killed while it writes, on machines of any speed; the others at any time.
        if round % 2 == 0 {
            told.recv_timeout(Duration::from_secs(20)).expect("an answer is given");
        }
        std::thread::sleep(Duration::from_micros(random.below(40_000)));
        child.kill().unwrap();
        child.wait().unwrap();
        let said = reader.join().unwrap().unwrap_or(total);
        let found = rows(&folder.file()).len();
        assert!(found == said || found == said + 1, "{said} were given, {found} found");
        total = found;
    }
    assert!(total >= kills / 2, "only {total} answers in {kills} rounds");
}

#[test]
fn answers_are_given_within_the_deadline() {
    let folder = Folder::new("deadline");
    let mut solver = Solver::new(chain("STORE sat", &folder.file()));
    let condition = factors(&mut solver.graph, ["x", "y"], 91);
    let query = Query::new(solver.tree.root(), condition);
    let answer = solver.check(&query, &Budget::for_time(Duration::ZERO));
    assert!(matches!(answer, Answer::Unknown(_)));
    drop(solver);
    assert_eq!(rows(&folder.file()).len(), 0);
}
