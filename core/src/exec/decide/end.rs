//! The end of a path: its inputs and output under the path model go to the recorder.
use super::Decider;
use crate::exec::outcome::{Outcome, Place};
use crate::exec::record::testcase::{Finished, TestCase};
use crate::exec::state::State;
use crate::exec::state::inputs::Input;
use crate::expr::smtlib::Printer;

/// Name and size of the object of a test that has the standard output, as in KLEE.
const STDOUT: &str = "stdout";
const STDOUT_SIZE: usize = 1024;

impl Decider {
    /// Releases a state without counting its path.
    pub(super) fn release(&mut self, state: Box<State>) {
        self.solver.tree.release(state.path);
        self.recorder.forks.release(state.fork_leaf);
    }

    /// Values of the inputs under the path model.
    fn inputs_of(&self, state: &State) -> Vec<(String, Vec<u8>)> {
        let model = self.model(state);
        let value = |input: &Input| {
            let array = model.array(input.array);
            let byte = |i: u64| array.map_or(0, |array| array.get_word(i) as u8);
            (input.name.to_string(), (0..input.size).map(byte).collect())
        };
        state.inputs.in_order().into_iter().map(value).collect()
    }

    fn test_of(&self, state: &State, output: &[u8]) -> TestCase {
        let mut objects = self.inputs_of(state);
        if self.options.sym_stdout {
            let mut kept = output[..output.len().min(STDOUT_SIZE)].to_vec();
            kept.resize(STDOUT_SIZE, 0);
            // The kernel model made an object for it, in KLEE's order. Without the model it comes last.
            match objects.iter_mut().find(|(name, data)| name == STDOUT && data.len() == STDOUT_SIZE) {
                Some(object) => object.1 = kept,
                None => objects.push((STDOUT.to_string(), kept)),
            }
        }
        TestCase { objects }
    }

    fn output_of(&mut self, state: &State) -> Vec<u8> {
        let model = self.solver.tree.model(state.path).expect("a live state has a feasible path");
        state.output.under(&self.solver.graph, model, &mut self.solver.evaluator)
    }

    /// Ends a path: counts it, and writes its test if it gets one.
    pub fn end_path(&mut self, state: Box<State>, outcome: Outcome) {
        let mut first = false;
        let wants_test = match &outcome {
            Outcome::Exit { .. } => {
                self.recorder.stats.completed += 1;
                self.recorder.wants_test(&state.untested)
            }
            Outcome::Bug { class, message } => {
                self.recorder.stats.bugs += 1;
                let place = self.place(&state);
                first = self.recorder.bugs.add(*class, &place, Outcome::first_line(message));
                if first || !state.preferences.is_empty() {
                    self.make_bug_readable(&state, &outcome);
                }
                if first {
                    let trail = self.recorder.forks.trail(state.fork_leaf);
                    self.recorder.bugs.describe_last(self.inputs_of(&state), trail);
                }
                first || self.options.all_bugs
            }
            Outcome::Limit { message, .. } => {
                self.recorder.stats.limits += 1;
                self.incomplete(&state, message);
                self.recorder.wants_test(&state.untested)
            }
            Outcome::Unsupported { message } => {
                self.recorder.stats.unsupported += 1;
                self.incomplete(&state, message);
                self.recorder.wants_test(&state.untested)
            }
            Outcome::Dropped => return self.release(state),
        };
        let wants_test = wants_test && !state.is_silent && self.recorder.has_test_left();
        if wants_test || self.recorder.keeps_finished() {
            let (place, stack) = match outcome {
                Outcome::Exit { .. } => (Place::default(), Vec::new()),
                Outcome::Bug { .. }
                | Outcome::Limit { .. }
                | Outcome::Unsupported { .. }
                | Outcome::Dropped => (self.place(&state), self.stack_of(&state)),
            };
            let output = self.output_of(&state);
            let condition = self.recorder.keeps_conditions.then(|| {
                let constraints = self.solver.tree.constraints(state.path);
                Printer::new(&self.solver.graph).script(&constraints)
            });
            let mut finished = Finished {
                condition,
                place,
                stack,
                test: self.test_of(&state, &output),
                number: None,
                output,
                first,
                outcome,
            };
            if wants_test {
                self.recorder.coverage.add_tested(&state.untested);
                self.recorder.write_test(&mut finished);
            }
            self.recorder.forks.end(state.fork_leaf, || finished.outcome.ending(), finished.number);
            self.recorder.add_finished(finished);
        } else {
            self.recorder.forks.end(state.fork_leaf, || outcome.ending(), None);
        }
        self.release(state);
    }
}
