//! The room that records: counters, bugs, coverage, the fork tree, reasons of incompleteness, tests.
//!
//! Nothing here knows of states, queries or instructions that run: paths arrive as places (function and pc),
//! leaves of the fork tree, marks and values.
pub mod bugs;
pub mod coverage;
pub mod fork_tree;
pub mod found;
pub mod incomplete;
pub mod input_value;
pub mod results;
pub mod targets;
pub mod testcase;
mod unnamed_file;
pub mod writer;

pub use unnamed_file::unnamed_file;

use bugs::Bugs;
use coverage::{Coverage, Marks};
use fork_tree::ForkTree;
use found::{FoundFile, put_test};
use incomplete::Incomplete;
use input_value::{InputValue, SparseBytes};
use results::Committed;
use targets::Targets;
use testcase::{Finished, ktest_head, to_ktest};
use writer::{QueuedTest, SINGLE_FILES, Writer, Written};

use crate::exec::options::{Options, Tests};
use crate::exec::outcome::{Class, Outcome, Place};
use crate::program::{FuncId, Loc, Program};
use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;

/// Counters of a run.
#[derive(Clone, Copy, Debug, Default)]
pub struct Stats {
    pub instructions: u64,
    pub forks: u64,
    /// States forked, without the first one.
    pub states: u64,
    pub completed: u64,
    pub bugs: u64,
    pub limits: u64,
    pub unsupported: u64,
    /// Paths on which the environment varied, if they are counted apart.
    pub varied: u64,
    pub tests: u64,
    pub explore: Duration,
    pub collections: u64,
    /// Resident bytes of the process, when last measured.
    pub memory: u64,
    pub peak_memory: u64,
    /// Instructions of paths that were executed again, not counted in `instructions`.
    pub replayed: u64,
    /// States that were parked because memory was short.
    pub parked: u64,
    /// Sum of the hashes of all ended paths: their decision strings and the kinds of their endings, in any order.
    pub digest: u64,
}

impl Stats {
    /// Adds a path that ended to the digest.
    pub fn add_ended(&mut self, string: u64, kind: &str) {
        let hash =
            kind.bytes().fold(string, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3));
        self.digest = self.digest.wrapping_add(hash);
    }
}

/// Number of states open when the run stops up to which their tests are files: making one takes longer than the test.
const FILES_AT_STOP: usize = 1000;

pub struct Recorder {
    program: Arc<Program>,
    options: Arc<Options>,
    pub stats: Stats,
    pub bugs: Bugs,
    pub coverage: Coverage,
    pub forks: ForkTree,
    pub targets: Targets,
    incomplete: Incomplete,
    notes: Incomplete,
    writer: Option<Writer>,
    writer_failed: bool,
    /// Tests as bytes, for a worker whose tests another process writes. They are named by their decisions.
    found: Option<Vec<u8>>,
    /// File of named tests, unless another process writes them.
    found_file: Option<FoundFile>,
    /// Have tests of this process names that become numbers at the end?
    pub is_named: bool,
    committed: Committed,
    /// Number of tests that have a number, for a coordinator: all others have names. `None`: all have numbers.
    pub numbered: Option<u64>,
    /// Number of tests that may be written.
    pub max_tests: Option<u64>,
    keeps_finished: bool,
    pub keeps_conditions: bool,
    /// Number of paths into each bug that are kept with their conditions.
    bug_conditions: u64,
    finished: Vec<Finished>,
    /// Has a limit or a signal ended the exploration?
    is_stopping: bool,
    /// Do tests without a bug go into the pack from now on?
    packs_all: bool,
    /// First bytes of every `.ktest`, once they are needed often.
    ktest_head: Option<Vec<u8>>,
}

impl Recorder {
    pub fn new(program: Arc<Program>, options: Arc<Options>) -> Recorder {
        Recorder {
            stats: Stats::default(),
            bugs: Bugs::default(),
            coverage: Coverage::new(&program),
            forks: ForkTree::new(),
            targets: Targets::new(&program),
            incomplete: Incomplete::default(),
            notes: Incomplete::default(),
            writer: None,
            writer_failed: false,
            found: None,
            found_file: None,
            is_named: false,
            committed: Committed::default(),
            numbered: None,
            max_tests: options.max_tests,
            keeps_finished: false,
            keeps_conditions: false,
            bug_conditions: 0,
            finished: Vec::new(),
            is_stopping: false,
            packs_all: false,
            ktest_head: None,
            program,
            options,
        }
    }

    pub fn program(&self) -> &Program {
        &self.program
    }

    /// Writes tests with this writer from now on.
    pub fn set_writer(&mut self, writer: Writer) {
        self.writer = Some(writer);
    }

    /// The run stops with this number of open states. The tests of many go into the pack.
    pub fn begin_stop(&mut self, open: usize, is_urgent: bool) {
        self.is_stopping = true;
        self.packs_all |= open > FILES_AT_STOP;
        if let (true, Some(writer)) = (is_urgent, &self.writer) {
            writer.hurry();
        }
    }

    /// Time per byte of large tests, as measured so far.
    pub fn time_per_test_byte(&self) -> Duration {
        Duration::from_secs_f64(self.writer.as_ref().map_or(0.0, Writer::time_per_byte))
    }

    /// Estimate of the time until the tests that wait are on disk.
    pub fn writing_left(&self) -> Duration {
        self.writer.as_ref().map_or(Duration::ZERO, Writer::time_left)
    }

    /// Is waiting for `flush_tests` short?
    pub fn is_flushed_soon(&self) -> bool {
        self.writer.as_ref().is_none_or(Writer::is_flushed_soon)
    }

    /// Waits until a killed process would leave the tests so far on the disk.
    pub fn flush_tests(&mut self) {
        self.write_found();
        self.writer.iter().for_each(Writer::flush);
    }

    /// Waits until the tests are on disk. `over`: everything is explored.
    pub fn finish_writing(&mut self, over: bool) -> std::io::Result<Written> {
        if self.found_file.is_some() {
            return self.number_own(over, self.is_stopping);
        }
        match &mut self.writer {
            Some(writer) => writer.finish(),
            None => Ok(Written::default()),
        }
    }

    /// Has writing tests failed? `finish_writing` returns the error.
    pub fn writing_failed(&self) -> bool {
        self.writer_failed
    }

    /// Keeps finished paths for `take_finished`.
    pub fn keep_finished(&mut self) {
        self.keeps_finished = true;
    }

    /// Keeps the path conditions of finished paths too.
    pub fn keep_conditions(&mut self) {
        self.keeps_finished = true;
        self.keeps_conditions = true;
    }

    /// Keeps the first `count` paths into each bug with their path conditions.
    pub fn keep_bug_conditions(&mut self, count: u64) {
        self.bug_conditions = count;
    }

    /// Is the path that was just counted for this bug kept with its condition?
    pub fn keeps_bug(&self, class: Class, place: &Place) -> bool {
        self.bugs.paths(class, place) <= self.bug_conditions
    }

    pub fn keeps_finished(&self) -> bool {
        self.keeps_finished
    }

    pub fn take_finished(&mut self) -> Vec<Finished> {
        std::mem::take(&mut self.finished)
    }

    /// Counts a reason why the exploration is incomplete.
    pub fn add_incomplete(&mut self, why: &str, func: FuncId, pc: u32) {
        self.incomplete.add(why, func, pc);
    }

    /// Was this reason counted at this place?
    pub fn has_incomplete(&self, why: &str, func: FuncId, pc: u32) -> bool {
        self.incomplete.contains(why, func, pc)
    }

    /// Counts something that was not done and that changes no outcome.
    pub fn add_note(&mut self, what: &str, func: FuncId, pc: u32) {
        self.notes.add(what, func, pc);
    }

    /// Things that were not done and that change no outcome: what, place, count.
    pub fn notes(&self) -> Vec<(String, String, u64)> {
        self.notes.rows(&self.program)
    }

    /// Reasons why the exploration is incomplete: reason, place, count.
    pub fn incompleteness(&self) -> Vec<(String, String, u64)> {
        self.incomplete.rows(&self.program)
    }

    /// Does a path without a bug get a test? `untested` are its marks that no test had when it reached them, `targets` the
    /// targets that it reached. If tests are selected at the end, all that may be selected then get one.
    pub fn wants_test(&self, untested: &Marks, targets: &[u32], hash: u64) -> bool {
        let name = name_of(hash);
        if self.targets.lacks_test(targets, name) {
            return true;
        }
        match self.options.tests {
            Tests::All => true,
            Tests::Coverage if self.found.is_some() => self.coverage.is_least(untested, name),
            Tests::Coverage => self.coverage.has_untested(untested),
            Tests::Bugs => false,
        }
    }

    /// Does one of these targets need the test of a path with this hash?
    pub fn lacks_target(&self, targets: &[u32], hash: u64) -> bool {
        self.targets.lacks_test(targets, name_of(hash))
    }

    /// Have tests names while the run goes on, and numbers at its end only?
    pub fn names_tests(&self) -> bool {
        self.found.is_some()
    }

    /// Adds what a path with this hash and without a bug covers: it gets a test.
    pub fn add_tested(&mut self, untested: &Marks, hash: u64) {
        match self.found {
            Some(_) => self.coverage.add_named(untested, name_of(hash)),
            None => self.coverage.add_tested(untested),
        }
    }

    /// May another test be written?
    pub fn has_test_left(&self) -> bool {
        self.max_tests.is_none_or(|limit| self.stats.tests < limit)
    }

    /// Keeps tests as bytes for `take_found` from now on, instead of writing them.
    pub fn keep_found(&mut self) {
        self.found.get_or_insert_default();
        self.bugs.pick_least();
        self.targets.pick_least();
    }

    /// Tests since the last call, as bytes.
    pub fn take_found(&mut self) -> Vec<u8> {
        self.found.as_mut().map(std::mem::take).unwrap_or_default()
    }

    fn is_writing(&self) -> bool {
        self.writer.is_some() || self.found.is_some()
    }

    /// Numbers the test of a finished path with this hash, and writes it.
    pub fn write_test(&mut self, finished: &mut Finished, hash: u64) {
        let number = self.next_test(hash);
        finished.number = Some(number);
        let error = match &finished.outcome {
            Outcome::Bug { class, message } => {
                self.bugs.set_test(*class, &finished.place, number, finished.first);
                Some((class.name(), error_text(*class, message, finished)))
            }
            Outcome::Exit { .. } | Outcome::Limit { .. } | Outcome::Unsupported { .. } | Outcome::Dropped => {
                None
            }
        };
        if self.is_writing() {
            let ktest = finished.test.to_ktest(&self.options.test_words());
            self.queue(number, ktest, finished.outcome.ending(), error, finished.first);
        }
    }

    /// Numbers the next test, of a path with this hash.
    pub fn next_test(&mut self, hash: u64) -> u64 {
        self.stats.tests += 1;
        match &self.found {
            Some(_) => name_of(hash),
            None => self.stats.tests,
        }
    }

    /// Writes the test of this number, of a path that was open when the run stopped, from the names and values of its
    /// inputs.
    pub fn write_open<'a>(
        &mut self,
        number: u64,
        outcome: &Outcome,
        objects: impl ExactSizeIterator<Item = (&'a str, InputValue)>,
    ) {
        if self.is_writing() {
            let head = self.ktest_head.get_or_insert_with(|| ktest_head(&self.options.test_words()));
            let ktest = to_ktest(head, objects.map(|(name, value)| (name, Cow::Owned(value))));
            self.queue(number, ktest, outcome.ending(), None, false);
        }
    }

    /// Gives a test to the writer. The first test of a bug is a file of its own, however many tests there are.
    fn queue(
        &mut self,
        number: u64,
        ktest: SparseBytes,
        ending: String,
        error: Option<(&'static str, String)>,
        is_first: bool,
    ) {
        if let Some(found) = &mut self.found {
            put_test(found, &QueuedTest { number, is_file: is_first, ktest, ending, error });
            return self.write_found_if_many();
        }
        let is_file = is_first || (number <= SINGLE_FILES && !self.packs_all);
        let test = QueuedTest { number, is_file, ktest, ending, error };
        if !self.writer.as_ref().is_some_and(|writer| writer.write(test)) {
            self.writer_failed = true;
        }
    }

    /// Keeps a finished path, if finished paths are kept, or this one for its condition.
    pub fn add_finished(&mut self, finished: Finished) {
        if self.keeps_finished || finished.condition.is_some() {
            self.finished.push(finished);
        }
    }
}

/// Name of the test of a path with this hash. As a signed number it is positive, for those who read it in JSON.
fn name_of(hash: u64) -> u64 {
    hash >> 1
}

/// Source position of an instruction.
pub fn place_at(program: &Program, func: FuncId, pc: u32) -> Place {
    let function = &program.functions[func.index()];
    let known = |loc: &&Loc| loc.line != 0;
    // An instruction without a line has the line of the one before it.
    let loc = function.locs[..=pc as usize].iter().rev().find(known).unwrap_or(&function.loc);
    let name = program.shown_name(func);
    match loc.line {
        0 => Place { file: String::new(), line: 0, function: name },
        line => Place { file: program.string(loc.file).to_string(), line, function: name },
    }
}

/// Bytes of an input that are shown in a `.err` file.
const MAX_SHOWN: u64 = 4096;

/// Text of a `.err` file.
fn error_text(class: Class, message: &str, finished: &Finished) -> String {
    use std::fmt::Write;
    let mut text = format!(
        "{}: error: {message}\nclass: {} ({})\nstack:\n",
        finished.place,
        class.name(),
        class.about()
    );
    for (i, place) in finished.stack.iter().enumerate() {
        writeln!(text, "  #{i} {} at {place}", place.function).expect("writing to a string does not fail");
    }
    for section in &finished.sections {
        writeln!(text, "{}:", section.title).expect("writing to a string does not fail");
        for line in &section.lines {
            writeln!(text, "  {line}").expect("writing to a string does not fail");
        }
    }
    text.push_str("inputs:\n");
    for (name, bytes) in &finished.test.objects {
        let hex: String = bytes.prefix(MAX_SHOWN).iter().map(|b| format!("{b:02x}")).collect();
        write!(text, "  {name}: {hex}").expect("writing to a string does not fail");
        if bytes.len() > MAX_SHOWN {
            write!(text, " (the first {MAX_SHOWN} of {} bytes)", bytes.len())
                .expect("writing to a string does not fail");
        }
        text.push('\n');
    }
    text
}
