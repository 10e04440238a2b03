//! The end of a path: its inputs and output under the path model go to the recorder.
use super::Decider;
use super::certificate_tree::Leaf;
use super::open_path::OpenPath;
use super::snapshot::number_of_local;
use super::strings::sortable;
use crate::exec::options::Tests;
use crate::exec::outcome::{Limit, Outcome, Place};
use crate::exec::record::bugs::Variable;
use crate::exec::record::input_value::InputValue;
use crate::exec::record::testcase::{Finished, TestCase};
use crate::exec::state::State;
use crate::exec::state::inputs::Input;
use crate::exec::state::object::{Kind, Origin};
use crate::expr::Model;
use crate::expr::smtlib::Printer;
use crate::expr::walk::ArrayForm;
use crate::program::FuncId;

/// Name and size of the object of a test that has the standard output, as in KLEE.
const STDOUT: &str = "stdout";
const STDOUT_SIZE: usize = 1024;

/// Reasons for an open path that has no test.
const NO_TEST: &str = "an open path has no test: it was parked";
const NO_TIME_FOR_TEST: &str = "an open path has no test: there was no time to write it";

/// Bytes of an input under a model.
fn value_of(model: &Model, input: &Input) -> InputValue {
    InputValue::new(model.array(input.array).map(|array| &**array), input.size)
}

impl Decider {
    /// Releases a state without counting its path.
    pub(super) fn release(&mut self, state: Box<State>) {
        self.solver.tree.release(state.path);
        self.recorder.forks.release(state.fork_leaf);
        self.strings.release(state.string);
    }

    /// Does the path get a test, if it ends now without a bug?
    pub(super) fn wants_test(&self, state: &State) -> bool {
        self.recorder.wants_test(&state.untested, &state.targets, self.strings.hash(state.string))
    }

    /// Values of the inputs under the path model.
    fn inputs_of(&self, state: &State) -> Vec<(String, InputValue)> {
        let model = self.model(state);
        let value = |input: &Input| (input.name.to_string(), value_of(model, input));
        state.inputs.in_order().into_iter().map(value).collect()
    }

    /// Ends a state that is open when the run stops, with a test if it gets one and there is time for it. The state is not
    /// released: nothing of the run is used any more.
    pub fn end_open(&mut self, state: &State, limit: Limit, in_time: bool) {
        self.recorder.stats.limits += 1;
        let message = limit.stop_message();
        self.incomplete(state, &message);
        let wants_test = self.wants_test(state) && !state.is_silent && self.recorder.has_test_left();
        let outcome = Outcome::Limit { limit, message };
        let mut number = None;
        if wants_test && !in_time {
            self.incomplete(state, NO_TIME_FOR_TEST);
        } else if self.recorder.keeps_finished() || self.options.sym_stdout {
            let mut finished = self.finish(state, outcome.clone(), false);
            if wants_test {
                self.write_test(state, &mut finished);
            }
            number = finished.number;
            self.recorder.add_finished(finished);
        } else if wants_test {
            let hash = self.strings.hash(state.string);
            self.recorder.add_tested(&state.untested, hash);
            let test = self.recorder.next_test(hash);
            self.recorder.targets.set_test(&state.targets, test);
            number = Some(test);
            let model = self.solver.tree.model(state.path).expect("a live state has a feasible path");
            let inputs = state.inputs.in_order();
            let objects = inputs.iter().map(|input| (&*input.name, value_of(model, input)));
            self.recorder.write_open(test, &outcome, objects);
        }
        self.recorder.forks.end(state.fork_leaf, || outcome.ending(), number);
    }

    /// Ends an open path without a state, when the run stops. It gets a test if all paths do and there is time for it: what it
    /// covered and printed is not known.
    pub fn end_parked(&mut self, path: OpenPath, limit: Limit, in_time: bool) {
        self.recorder.stats.limits += 1;
        let (func, pc) = self.strings.newest(path.string).map_or((FuncId(0), 0), |last| (last.func, last.pc));
        let message = limit.stop_message();
        self.recorder.add_incomplete(&message, func, pc);
        if self.options.tests == Tests::All && self.recorder.has_test_left() {
            if in_time && !self.options.sym_stdout {
                let test = self.recorder.next_test(self.strings.hash(path.string));
                let inputs = path.inputs.in_order();
                let objects = inputs.iter().map(|input| (&*input.name, value_of(&path.model, input)));
                self.recorder.write_open(test, &Outcome::Limit { limit, message }, objects);
            } else {
                self.recorder.add_incomplete(NO_TEST, func, pc);
            }
        }
        self.strings.release(path.string);
    }

    fn test_of(&self, state: &State, output: &[u8]) -> TestCase {
        let mut objects = self.inputs_of(state);
        if self.options.sym_stdout {
            let mut kept = output[..output.len().min(STDOUT_SIZE)].to_vec();
            kept.resize(STDOUT_SIZE, 0);
            // The kernel model made an object for it, in KLEE's order. Without the model it comes last.
            match objects.iter_mut().find(|(name, data)| name == STDOUT && data.len() == STDOUT_SIZE as u64) {
                Some(object) => object.1 = kept.into(),
                None => objects.push((STDOUT.to_string(), kept.into())),
            }
        }
        TestCase { objects }
    }

    fn output_of(&mut self, state: &State) -> Vec<u8> {
        let model = self.solver.tree.model(state.path).expect("a live state has a feasible path");
        state.output.under(&self.solver.graph, model, &mut self.solver.evaluator)
    }

    fn finish(&mut self, state: &State, outcome: Outcome, first: bool) -> Finished {
        let (place, stack) = match outcome {
            Outcome::Exit { .. } => (Place::default(), Vec::new()),
            Outcome::Bug { .. } | Outcome::Limit { .. } | Outcome::Unsupported { .. } | Outcome::Dropped => {
                (self.place(state), self.stack_of(state))
            }
        };
        // The output may take long to evaluate.
        let needs_output = self.recorder.keeps_finished() || self.options.sym_stdout;
        let output = if needs_output { self.output_of(state) } else { Vec::new() };
        let keeps_condition = match outcome {
            Outcome::Bug { class, .. } => {
                self.recorder.keeps_conditions || self.recorder.keeps_bug(class, &place)
            }
            Outcome::Exit { .. } | Outcome::Limit { .. } | Outcome::Unsupported { .. } | Outcome::Dropped => {
                self.recorder.keeps_conditions
            }
        };
        let condition = keeps_condition.then(|| {
            let constraints = self.solver.tree.constraints(state.path);
            Printer::new(&self.solver.graph).script(&constraints)
        });
        let test = self.test_of(state, &output);
        let sections = match outcome {
            Outcome::Bug { .. } => self.thread_sections(state),
            Outcome::Exit { .. } | Outcome::Limit { .. } | Outcome::Unsupported { .. } | Outcome::Dropped => {
                Vec::new()
            }
        };
        Finished { condition, place, stack, sections, test, number: None, output, first, outcome }
    }

    /// Variable that the access of a bug was to stay in.
    fn faulty_variable(&self, state: &State) -> Option<Variable> {
        let program = self.recorder.program();
        let object = state.memory.get(state.faulty.get()?)?;
        if object.kind == Kind::Heap {
            let mut contents = object.contents()?;
            while let ArrayForm::Store { base, .. } = self.solver.graph.array_form(contents) {
                contents = base;
            }
            let mut inputs = state.inputs.newest_first();
            return inputs
                .find(|input| input.array == contents)
                .map(|input| Variable::Input { name: input.name.to_string() });
        }
        match object.origin? {
            Origin::Global(number) => {
                let name = program.string(program.globals[number as usize].name).to_string();
                Some(Variable::Global { name })
            }
            Origin::Instruction(func, pc) => {
                let number = number_of_local(program, func, pc)?;
                let function = program.string(program.functions[func.index()].name).to_string();
                Some(Variable::Local { function, number })
            }
        }
    }

    /// Records the end of a path, if decisions are recorded.
    fn record_leaf(&mut self, state: &State, outcome: &Outcome) {
        if self.certificate_tree.is_none() {
            return;
        }
        let variables =
            state.inputs.in_order().into_iter().map(|input| self.graph().name(input.array).to_string());
        let inputs = self.inputs_of(state).into_iter().zip(variables);
        let inputs = inputs.map(|((name, value), variable)| (name, variable, value.to_vec())).collect();
        let step = self.step();
        if let Some(decisions) = &mut self.certificate_tree {
            decisions.leaves.push(Leaf { side: state.decision, step, ending: outcome.ending(), inputs });
        }
    }

    fn write_test(&mut self, state: &State, finished: &mut Finished) {
        let hash = self.strings.hash(state.string);
        match finished.outcome {
            // Tests are selected later: the test of a bug is that of its least path, whatever it covers.
            Outcome::Bug { .. } if self.recorder.names_tests() => {}
            _ => self.recorder.add_tested(&state.untested, hash),
        }
        self.recorder.write_test(finished, hash);
        let number = finished.number.expect("it was just numbered");
        self.recorder.targets.set_test(&state.targets, number);
    }

    /// Ends a path: counts it, and writes its test if it gets one.
    pub fn end_path(&mut self, mut state: Box<State>, outcome: Outcome) {
        let is_apart = self.is_apart(&state);
        if !is_apart {
            self.recorder.stats.add_ended(self.strings.hash(state.string), outcome.kind());
        }
        let mut first = false;
        if std::mem::take(&mut state.is_doomed) && !matches!(outcome, Outcome::Bug { .. }) {
            self.incomplete(&state, "a panic that did not end the program: one of its inputs is explored");
        }
        let wants_test = match &outcome {
            Outcome::Exit { .. } => {
                let stats = &mut self.recorder.stats;
                *(if is_apart { &mut stats.varied } else { &mut stats.completed }) += 1;
                self.wants_test(&state)
            }
            Outcome::Bug { class, message } => {
                self.recorder.stats.bugs += 1;
                self.take_snapshot(&state, &outcome);
                let place = self.place(&state);
                let string = || sortable(&self.strings.decisions(state.string));
                first = self.recorder.bugs.add(*class, &place, Outcome::first_line(message), string);
                if first || !state.preferences.is_empty() {
                    self.make_bug_readable(&state, &outcome);
                }
                if first {
                    let trail = self.recorder.forks.trail(state.fork_leaf);
                    let variable = self.faulty_variable(&state);
                    self.recorder.bugs.describe(*class, &place, self.inputs_of(&state), trail, variable);
                }
                first
                    || self.options.all_bugs
                    || self.recorder.lacks_target(&state.targets, self.strings.hash(state.string))
            }
            Outcome::Limit { message, .. } => {
                let stats = &mut self.recorder.stats;
                *(if is_apart { &mut stats.varied } else { &mut stats.limits }) += 1;
                self.incomplete(&state, message);
                self.wants_test(&state)
            }
            Outcome::Unsupported { message } => {
                let stats = &mut self.recorder.stats;
                *(if is_apart { &mut stats.varied } else { &mut stats.unsupported }) += 1;
                self.incomplete(&state, message);
                self.wants_test(&state)
            }
            Outcome::Dropped => {
                self.record_leaf(&state, &outcome);
                return self.release(state);
            }
        };
        self.record_leaf(&state, &outcome);
        let wants_test = wants_test && !state.is_silent && self.recorder.has_test_left();
        if wants_test {
            self.settle(&state);
        }
        let is_kept = match &outcome {
            Outcome::Bug { class, .. } => self.recorder.keeps_bug(*class, &self.place(&state)),
            Outcome::Exit { .. } | Outcome::Limit { .. } | Outcome::Unsupported { .. } | Outcome::Dropped => {
                false
            }
        };
        if wants_test || is_kept || self.recorder.keeps_finished() {
            let mut finished = self.finish(&state, outcome, first);
            if wants_test {
                self.write_test(&state, &mut finished);
            }
            self.recorder.forks.end(state.fork_leaf, || finished.outcome.ending(), finished.number);
            self.recorder.add_finished(finished);
        } else {
            self.recorder.forks.end(state.fork_leaf, || outcome.ending(), None);
        }
        self.release(state);
    }
}
