//! The end of a path: counts, its bug, its test.
use super::fork_tree::Trail;
use super::frame::Frame;
use super::options::Tests;
use super::outcome::{Class, Outcome, Place};
use super::state::State;
use super::testcase::{Finished, TestCase};
use super::writer::QueuedTest;
use super::{Bug, Engine};
use crate::program::{FuncId, Loc, Program};

/// Size of the object `stdout` of a test, as in KLEE.
const STDOUT_SIZE: usize = 1024;

impl Engine {
    pub(super) fn place_of(&self, func: FuncId, pc: u32) -> Place {
        place_at(&self.program, func, pc)
    }

    /// Source places of all frames, innermost first.
    pub(super) fn stack_of(&self, state: &State) -> Vec<Place> {
        state.frame.frames().take(64).map(|frame| self.place_of(frame.func, frame.pc)).collect()
    }

    /// Innermost frame in the user's code.
    pub(super) fn user_frame<'a>(&self, state: &'a State) -> &'a Frame {
        let user = |frame: &&Frame| !self.program.functions[frame.func.index()].library;
        state.frame.frames().find(user).unwrap_or(&state.frame)
    }

    pub(super) fn place(&self, state: &State) -> Place {
        let frame = self.user_frame(state);
        self.place_of(frame.func, frame.pc)
    }

    /// Counts a reason why the exploration is incomplete.
    pub(super) fn incomplete(&mut self, state: &State, why: &str) {
        let frame = self.user_frame(state);
        let (func, pc) = (frame.func, frame.pc);
        self.incomplete.add(why, func, pc);
    }

    /// Releases a state without counting its path.
    pub(super) fn release(&mut self, state: Box<State>) {
        self.solver.tree.release(state.path);
        self.forks.release(state.fork_leaf);
    }

    /// Values of the inputs under the path model.
    fn inputs_of(&self, state: &State) -> Vec<(String, Vec<u8>)> {
        let model = self.solver.tree.model(state.path).expect("a live state has a feasible path");
        let value = |input: &super::state::Input| {
            let array = model.array(input.array);
            let byte = |i: u64| array.map_or(0, |array| array.get_word(i) as u8);
            (input.name.to_string(), (0..input.size).map(byte).collect())
        };
        state.inputs.iter().map(value).collect()
    }

    fn test_of(&self, state: &State, output: &[u8]) -> TestCase {
        let mut objects = self.inputs_of(state);
        if self.options.keep_stdout {
            let mut kept = output[..output.len().min(STDOUT_SIZE)].to_vec();
            kept.resize(STDOUT_SIZE, 0);
            objects.push(("stdout".to_string(), kept));
        }
        TestCase { objects }
    }

    fn output_of(&mut self, state: &State) -> Vec<u8> {
        let model = self.solver.tree.model(state.path).expect("a live state has a feasible path");
        state.output.under(&self.solver.graph, model, &mut self.solver.evaluator)
    }

    /// Ends a path: counts it, and writes its test if it gets one.
    pub(super) fn end_path(&mut self, state: Box<State>, outcome: Outcome) {
        let mut first = false;
        let wants_test = match &outcome {
            Outcome::Exit { .. } => {
                self.stats.completed += 1;
                self.wants_test(&state)
            }
            Outcome::Bug { class, message } => {
                self.stats.bugs += 1;
                let place = self.place(&state);
                first = self.record_bug(*class, &place, Outcome::first_line(message));
                if first {
                    self.make_bug_readable(&state, &outcome);
                    let (inputs, trail) = (self.inputs_of(&state), self.trail(&state));
                    let bug = self.bugs.last_mut().expect("just added");
                    (bug.inputs, bug.trail) = (inputs, trail);
                }
                first || self.options.all_bugs
            }
            Outcome::Limit { message, .. } => {
                self.stats.limits += 1;
                self.incomplete(&state, message);
                self.wants_test(&state)
            }
            Outcome::Unsupported { message } => {
                self.stats.unsupported += 1;
                self.incomplete(&state, message);
                self.wants_test(&state)
            }
            Outcome::Dropped => return self.release(state),
        };
        let wants_test = wants_test && self.options.max_tests.is_none_or(|limit| self.stats.tests < limit);
        if wants_test || self.keeps_paths {
            let (place, stack) = match outcome {
                Outcome::Exit { .. } => (Place::default(), Vec::new()),
                Outcome::Bug { .. }
                | Outcome::Limit { .. }
                | Outcome::Unsupported { .. }
                | Outcome::Dropped => (self.place(&state), self.stack_of(&state)),
            };
            let output = self.output_of(&state);
            let mut finished = Finished {
                place,
                stack,
                test: self.test_of(&state, &output),
                number: None,
                output,
                first,
                outcome,
            };
            if wants_test {
                self.record_test(&state);
                self.write_test(&mut finished);
            }
            self.forks.end(state.fork_leaf, || finished.outcome.ending(), finished.number);
            if self.keeps_paths {
                self.finished.push(finished);
            }
        } else {
            self.forks.end(state.fork_leaf, || outcome.ending(), None);
        }
        self.release(state);
    }

    /// Does a path without a bug get a test?
    fn wants_test(&self, state: &State) -> bool {
        match self.options.tests {
            Tests::All => true,
            Tests::Coverage => self.reaches_untested(state),
            Tests::Bugs => false,
        }
    }

    /// Has an earlier path ended in this bug?
    pub(super) fn is_known_bug(&self, class: Class, place: &Place) -> bool {
        let same =
            |bug: &Bug| bug.class == class && bug.place.file == place.file && bug.place.line == place.line;
        self.bugs.iter().any(same)
    }

    /// Counts a path into a bug. Returns true for the first one.
    fn record_bug(&mut self, class: Class, place: &Place, message: &str) -> bool {
        let place = Place { function: String::new(), ..place.clone() };
        match self.bugs.iter_mut().find(|bug| bug.class == class && bug.place == place) {
            Some(bug) => {
                bug.paths += 1;
                false
            }
            None => {
                self.bugs.push(Bug {
                    class,
                    place,
                    message: message.to_string(),
                    test: None,
                    inputs: Vec::new(),
                    trail: Trail::default(),
                    paths: 1,
                });
                true
            }
        }
    }

    fn write_test(&mut self, finished: &mut Finished) {
        self.stats.tests += 1;
        let number = self.stats.tests;
        finished.number = Some(number);
        let error = match &finished.outcome {
            Outcome::Bug { class, message } => {
                let place = Place { function: String::new(), ..finished.place.clone() };
                if let Some(bug) = self.bugs.iter_mut().find(|b| b.class == *class && b.place == place) {
                    bug.test.get_or_insert(number);
                }
                Some((class.name(), error_text(*class, message, finished)))
            }
            Outcome::Exit { .. } | Outcome::Limit { .. } | Outcome::Unsupported { .. } | Outcome::Dropped => {
                None
            }
        };
        let Some(writer) = &self.writer else { return };
        let ktest = finished.test.to_ktest(&self.options.arguments);
        let record = QueuedTest { number, ktest, ending: finished.outcome.ending(), error };
        if !writer.write(record) {
            self.writer_failed = true;
        }
    }
}

/// Source position of an instruction.
pub(super) fn place_at(program: &Program, func: FuncId, pc: u32) -> Place {
    let function = &program.functions[func.index()];
    let known = |loc: &&Loc| loc.line != 0;
    // An instruction without a line has the line of the one before it.
    let loc = function.locs[..=pc as usize].iter().rev().find(known).unwrap_or(&function.loc);
    let name = program.string(function.name).to_string();
    match loc.line {
        0 => Place { file: String::new(), line: 0, function: name },
        line => Place { file: program.string(loc.file).to_string(), line, function: name },
    }
}

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
    text.push_str("inputs:\n");
    for (name, bytes) in &finished.test.objects {
        let hex: String = bytes.iter().map(|b| format!("{b:02x}")).collect();
        writeln!(text, "  {name}: {hex}").expect("writing to a string does not fail");
    }
    text
}
