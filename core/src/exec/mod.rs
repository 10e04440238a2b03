//! Exploration of a program: states run, fork, query the chain, and end as data.
//!
//! Three rooms, each with a struct that owns the one below: what runs (`run::Machine`: code, memory accesses,
//! instructions, models), what decides (`decide::Decider`: queries, forks, search strategies), what records
//! (`record::Recorder`: counters, bugs, coverage, tests). All share `state`, a path as data. What records knows
//! nothing of the others, what decides nothing of what runs; `core/tests/layout.rs` enforces it. `Engine` gives
//! turns to states and keeps the limits of the run.
//!
//! The end of a path is an `Outcome`; every reason why the exploration is incomplete is counted with its place.
// States have several hundred bytes and change owners at every fork: they are moved as pointers.
#![allow(clippy::vec_box)]

mod checkpoint;
mod decide;
mod lease;
mod memory_limit;
mod options;
mod outcome;
mod parking;
mod races;
mod record;
mod repetition;
mod run;
mod state;
mod take_up;
mod watchdog;

pub use decide::certificate_tree::{CertificateTree, Continues, Kind as DecisionKind, Leaf, Point, Row};
pub use decide::replay::Divergence;
pub use decide::search::{Chooser, OpenState, SEARCHES, SearchRow};
pub use decide::{Copied, Owner, Snapshot};
pub use lease::Commit;
pub use options::{
    Ambient, Argument, CHECKS, CheckRow, Checks, DEFAULT_LAYERS, Group, Kind as OptionKind, OPTIONS,
    OptionRow, Options, Surface, Tests, Value as OptionValue, find as find_option,
};
pub use outcome::{Class, Limit, Outcome, Place};
pub use record::Stats;
pub use record::bugs::{Bug, Variable};
pub use record::coverage::{Covered, FunctionCoverage};
pub use record::fork_tree::{ForkNode, ForkTable, Trail};
pub use record::testcase::{Finished, TestCase};
pub use record::writer::{Writer, Written};
pub use run::hook::{Caller, Hooks};
pub use run::models::{Treatment, models, undefined, unknown};
pub use state::seeds::Seed;

use crate::budget::{Cancel, Overdue};
use crate::expr::Expr;
use crate::program::Program;
use crate::solve::Solver;
use decide::Decider;
use decide::open_path::OpenPath;
use decide::search::{self, MIX, Search, Subtrees, View};
use memory_limit::{MemoryCheck, MemoryMeter};
use parking::Parking;
use record::Recorder;
use run::{Machine, Stop};
use rustc_hash::{FxHashMap, FxHashSet};
use state::State;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::time::{Duration, Instant};
use watchdog::Watchdog;

pub struct Engine {
    machine: Machine,
    /// The open states.
    search: Subtrees,
    stopped: Option<Limit>,
    /// Number of graph nodes at which expressions are collected.
    collect_at: usize,
    /// May there be states that follow seeds, and did one run last?
    has_seeds: bool,
    is_seeded_turn: bool,
    memory_check: MemoryCheck,
    memory_meter: Option<MemoryMeter>,
    /// Time of the run before exploring: compiling, and what the caller counts.
    time_before: Duration,
    /// Exploring time of earlier parts of the run, which does not count for `max_time`.
    time_earlier: Duration,
    /// Estimate of the time that the test of an open state takes.
    test_time: Duration,
    /// When the current slice began, while one runs.
    slice_start: Option<Instant>,
    /// Cost of the run and user's marks set, at each turn that set some: the curve of coverage.
    progress: Vec<(u64, u64)>,
    /// Open paths without a state, those of a subtree together. They are taken up when no state is left.
    parked: Vec<OpenPath>,
    /// Paths that were given up to free memory, as bytes. They wait for those in `parked`.
    parking: Parking,
    /// Is the strategy one of the user?
    has_chooser: bool,
    /// Is this a worker, which pauses at limits; and the limit at which it paused.
    pauses: bool,
    paused: Option<Limit>,
    max_instructions: Option<u64>,
    /// Are checkpoints wanted, and the one from before the run stopped.
    keeps_checkpoints: bool,
    last_checkpoint: Option<Vec<u8>>,
    /// Number of answers about the host's files that other processes know.
    host_committed: usize,
    /// The first state, if everything may have to be explored once more.
    first: Option<Box<State>>,
    /// Turns of states that are counted apart.
    apart_turns: u64,
    /// States that were open when the run stopped. They are not freed by themselves: the run ends.
    ended: Vec<Box<State>>,
}

/// Estimated cost of the test of an open state: a part for each, a part for each input, and one for each byte.
const TEST_TIME: Duration = Duration::from_micros(4);
const INPUT_TIME: Duration = Duration::from_nanos(100);
const BYTE_TIME: Duration = Duration::from_nanos(2);
/// Time for the test of an open state at a limit that comes at any time.
const OPEN_TEST_TIME: Duration = Duration::from_micros(20);
/// Time after `max_time` at which states that are still open end without a test: the estimate was wrong.
const MAX_LATE: Duration = Duration::from_millis(500);
/// Turns of states that are counted apart between two looks whether another one is left.
const APART_TURNS: u64 = 4096;
/// Least number of graph nodes at which collecting pays.
const MIN_COLLECT_NODES: usize = 1 << 20;
/// Number of dropped path nodes at which the layers are told: few enough that their data is still in the
/// processor's cache.
const MAX_DROPPED_PATHS: usize = 256;

impl Engine {
    /// Prepares to explore `main`. Errors: the program has none, or an option is invalid.
    pub fn new(program: Program, mut solver: Solver, options: Options) -> Result<Engine, String> {
        options.check()?;
        let (strategy, seed) = (search::find(&options.search)?, options.seed);
        solver.slowest.keep();
        let (machine, first) = Machine::new(program, solver, options)?;
        let search = Subtrees::new(strategy.build(machine.program(), seed));
        let memory_meter = MemoryMeter::new(machine.options().max_memory);
        let max_instructions = machine.options().max_instructions;
        let mut engine = Engine {
            machine,
            search,
            stopped: None,
            collect_at: MIN_COLLECT_NODES,
            has_seeds: false,
            is_seeded_turn: false,
            memory_check: MemoryCheck::default(),
            memory_meter,
            time_before: Duration::ZERO,
            time_earlier: Duration::ZERO,
            test_time: Duration::ZERO,
            slice_start: None,
            progress: Vec::new(),
            parked: Vec::new(),
            parking: Parking::default(),
            has_chooser: false,
            pauses: false,
            paused: None,
            max_instructions,
            keeps_checkpoints: false,
            last_checkpoint: None,
            host_committed: 0,
            first: None,
            apart_turns: 0,
            ended: Vec::new(),
        };
        // Which paths vary depends on the order of the search, which reproducible tests must not.
        let options = engine.machine.options();
        engine.decider().varies_late = options.search == MIX && !options.reproducible;
        let first = engine.keep_first(first);
        let (search, view) = engine.search();
        search.put(Some(first), Vec::new(), &view);
        Ok(engine)
    }

    /// Cost of the run (instructions and the solver's effort, in estimated nanoseconds) and number of marks set in the
    /// user's code, after each turn that set some; and the cost of all turns.
    pub fn progress(&self) -> (&[(u64, u64)], u64) {
        (&self.progress, search::cost(self.stats().instructions, self.solver().effort()))
    }

    fn decider(&mut self) -> &mut Decider {
        &mut self.machine.decider
    }

    fn recorder(&self) -> &Recorder {
        &self.machine.decider.recorder
    }

    fn recorder_mut(&mut self) -> &mut Recorder {
        &mut self.machine.decider.recorder
    }

    pub fn solver(&self) -> &Solver {
        &self.machine.decider.solver
    }

    pub fn solver_mut(&mut self) -> &mut Solver {
        &mut self.machine.decider.solver
    }

    /// Writes tests with this writer from now on.
    pub fn set_writer(&mut self, writer: Writer) {
        self.recorder_mut().set_writer(writer);
    }

    /// Uses this strategy from now on; must be called before the first state runs.
    pub fn set_chooser(&mut self, chooser: Box<dyn Chooser>) {
        let first = self.next_state();
        self.has_chooser = true;
        self.decider().varies_late = false;
        self.search = Subtrees::new(Box::new(search::Custom::new(chooser, self.machine.program())));
        let (search, view) = self.search();
        search.put(first, Vec::new(), &view);
    }

    /// Replaces the functions of these names by `hooks`. Errors: the first name that no function has.
    pub fn set_hooks(&mut self, names: &[String], hooks: Box<dyn Hooks>) -> Result<(), String> {
        self.machine.set_hooks(names, hooks)
    }

    /// Records the decisions of all paths from now on; to be called before the first state runs.
    pub fn record_decisions(&mut self) {
        self.decider().certificate_tree = Some(Box::default());
    }

    /// The decisions of all paths, if they are recorded.
    pub fn recorded_decisions(&self) -> Option<&CertificateTree> {
        self.machine.decider.certificate_tree.as_deref()
    }

    /// Executes only the path of these inputs, which are constants; to be called before the first state runs.
    pub fn follow_inputs(&mut self, inputs: Vec<(String, Vec<u8>)>) {
        self.decider().give(inputs);
    }

    /// Memory at the first bug of a run with given inputs.
    pub fn snapshot(&self) -> Option<&Snapshot> {
        self.machine.decider.snapshot()
    }

    /// Keeps finished paths for `take_finished`.
    pub fn keep_paths(&mut self) {
        self.recorder_mut().keep_finished();
    }

    /// Keeps the first `count` paths into each bug with their path conditions, for `take_finished`.
    pub fn keep_bug_conditions(&mut self, count: u64) {
        self.recorder_mut().keep_bug_conditions(count);
    }

    /// Keeps finished paths with their path conditions.
    pub fn keep_conditions(&mut self) {
        self.recorder_mut().keep_conditions();
    }

    pub fn take_finished(&mut self) -> Vec<Finished> {
        self.recorder_mut().take_finished()
    }

    /// Handle that cancels the current query and the run, from any thread.
    pub fn cancel_handle(&self) -> Cancel {
        self.machine.decider.cancel_handle()
    }

    /// Explores for about `slice`. Returns false if the exploration is over.
    pub fn advance(&mut self, slice: Duration) -> bool {
        let start = Instant::now();
        self.slice_start = Some(start);
        let left = self.machine.options().max_time.map(|limit| limit.saturating_sub(self.time_used()));
        let deadline = left.and_then(|left| start.checked_add(left));
        self.decider().set_deadline(deadline);
        let watchdog = Watchdog::start(self.cancel_handle(), deadline, self.memory_meter.clone());
        self.paused = None;
        let mut more = true;
        while more && start.elapsed() < slice {
            more = self.turn(start);
        }
        drop(watchdog);
        self.slice_start = None;
        self.recorder_mut().stats.explore += start.elapsed();
        self.note_memory();
        more
    }

    /// Counts this time, which the run took before exploring, for `max_time`.
    pub fn count_time_before(&mut self, time: Duration) {
        self.time_before = time;
    }

    /// Time that counts for `max_time`, without the current slice.
    fn time_used(&self) -> Duration {
        self.time_before + self.recorder().stats.explore.saturating_sub(self.time_earlier)
    }

    /// Runs one state until it forks, ends or has executed as many instructions as the strategy gives it.
    fn turn(&mut self, start: Instant) -> bool {
        if let Some(limit) = self.limit(start) {
            self.reach(limit);
            return false;
        }
        if self.search.len() > 0 {
            for state in self.decider().take_waiting() {
                let (search, view) = self.search();
                search.graft(state, &view);
            }
        }
        let Some(mut state) = self.next_state() else {
            self.decider().drop_waiting();
            let is_over = |engine: &Engine| engine.stopped.is_some() || engine.paused.is_some();
            return self.take_up() || (!is_over(self) && self.explore_races());
        };
        if self.is_alone_apart(&state) {
            self.drop_apart(state);
            return true;
        }
        let fuel = match self.max_instructions {
            Some(limit) => self.search.fuel().min(limit - self.stats().instructions),
            None => self.search.fuel(),
        };
        self.estimate_test_time(&state);
        let current = match self.run_turn(&mut state, fuel) {
            Some(Stop::Fuel | Stop::Forked) => Some(state),
            Some(Stop::End(outcome)) => {
                self.decider().end_path(state, outcome);
                None
            }
            None => {
                let limit = match (self.machine.decider.is_cancelled(), self.machine.decider.is_over()) {
                    (true, _) => Limit::Interrupted,
                    (false, true) => Limit::Time,
                    (false, false) => Limit::Memory,
                };
                self.ended.extend(self.machine.decider.take_forked());
                self.ended.push(state);
                // The turn was cut in the middle: the journal goes on from an earlier checkpoint.
                self.keeps_checkpoints = false;
                self.stop(limit);
                return false;
            }
        };
        let forked = self.decider().take_forked();
        let (search, view) = self.search();
        let (cost, found) = (view.cost(), view.coverage.found());
        search.put(current, forked, &view);
        if self.progress.last().map_or(0, |last| last.1) < found {
            self.progress.push((cost, found));
        }
        if self.solver().graph.len() > self.collect_at {
            self.collect();
        }
        self.drop_paths();
        self.check_memory();
        self.paused.is_none()
    }

    /// Is this a state that is counted apart, and no other is left? Looked at once in `APART_TURNS` turns of such states.
    fn is_alone_apart(&mut self, state: &State) -> bool {
        if !self.machine.decider.is_apart(state) {
            return false;
        }
        self.apart_turns += 1;
        let mut is_alone = self.apart_turns.is_multiple_of(APART_TURNS) || self.search.len() == 0;
        if is_alone {
            self.search.each(&mut |other| is_alone &= other.is_rare);
        }
        is_alone
    }

    /// Ends the states that are counted apart: the exploration without them is over.
    fn drop_apart(&mut self, state: Box<State>) {
        let mut states = self.search.drain();
        states.push(state);
        for state in states {
            self.decider().end_path(state, Outcome::Dropped);
        }
    }

    /// Runs a state. `None` if it was unwound, because the run is over and it did not notice: only its path and the model
    /// of that are valid then, and no query may be asked.
    fn run_unless_overdue(&mut self, state: &mut State, fuel: u64) -> Option<Stop> {
        self.solver_mut().graph.unwinder.arm(true);
        let stop = catch_unwind(AssertUnwindSafe(|| self.machine.run(state, fuel)));
        self.solver_mut().graph.unwinder.arm(false);
        match stop {
            Ok(stop) => Some(stop),
            Err(payload) if payload.is::<Overdue>() => None,
            Err(payload) => resume_unwind(payload),
        }
    }

    /// Updates the estimate of the time per test with the inputs of a state.
    fn estimate_test_time(&mut self, state: &State) {
        let inputs = &state.inputs;
        let byte_time = self.recorder().time_per_test_byte().max(BYTE_TIME);
        let time = TEST_TIME
            + INPUT_TIME.saturating_mul(inputs.len() as u32)
            + byte_time.saturating_mul(u32::try_from(inputs.bytes()).unwrap_or(u32::MAX));
        self.test_time = (self.test_time * 15 + time) / 16;
    }

    /// Time to be kept for the tests of the open states.
    fn stop_time(&self, limit: Duration) -> Duration {
        let open = u32::try_from(self.search.len()).unwrap_or(u32::MAX);
        self.test_time.saturating_mul(open).min(limit)
    }

    /// Tells the layers which paths are gone, if there are enough of them.
    fn drop_paths(&mut self) {
        let solver = self.solver_mut();
        if solver.tree.dropped().len() >= MAX_DROPPED_PATHS {
            solver.drop_paths();
        }
    }

    /// The strategy, and its view of the run.
    fn search(&mut self) -> (&mut dyn Search, View<'_>) {
        let recorder = &self.machine.decider.recorder;
        let view = View {
            program: self.machine.program(),
            coverage: &recorder.coverage,
            targets: &recorder.targets,
            instructions: recorder.stats.instructions,
            effort: self.machine.decider.solver.effort(),
        };
        (&mut self.search, view)
    }

    /// The state to run next: one that follows seeds, until there is none or half of the time is used. Then those get
    /// every other turn.
    fn next_state(&mut self) -> Option<Box<State>> {
        let half = self.machine.options().max_time.map(|limit| limit / 2);
        let used = self.time_used() + self.slice_start.map(|start| start.elapsed()).unwrap_or_default();
        self.is_seeded_turn = !self.is_seeded_turn || half.is_none_or(|half| used < half);
        if self.has_seeds && self.is_seeded_turn {
            if let Some(state) = self.search.next_seeded() {
                return Some(state);
            }
            self.has_seeds = false;
        }
        let (search, view) = self.search();
        search.next(&view)
    }

    /// Adds seeds. Each is followed by the open state whose path condition it satisfies. Returns the number of those
    /// that no open state has: their paths have ended, or were cut.
    pub fn add_seeds(&mut self, seeds: Vec<Seed>) -> usize {
        let mut left = 0;
        for seed in seeds {
            let seed = Arc::new(seed);
            let (mut known, mut is_taken) = (FxHashMap::default(), false);
            let decider = &mut self.machine.decider;
            self.search.each_mut(&mut |state| {
                is_taken = is_taken || decider.add_seed(state, &seed, &mut known);
            });
            self.has_seeds |= is_taken;
            left += usize::from(!is_taken);
        }
        left
    }

    fn limit(&mut self, start: Instant) -> Option<Limit> {
        if self.machine.decider.is_cancelled() {
            return Some(Limit::Interrupted);
        }
        let (options, stats) = (self.machine.options(), &self.recorder().stats);
        if self.max_instructions.is_some_and(|limit| stats.instructions >= limit) {
            return Some(Limit::Instructions);
        }
        let ends = |limit: Duration| self.time_used() + start.elapsed() + self.stop_time(limit) >= limit;
        if options.max_time.is_some_and(ends) {
            return Some(Limit::Time);
        }
        if !self.recorder().has_test_left() {
            return Some(Limit::Tests);
        }
        None
    }

    /// Ends the run: every open state is a path cut by this limit, with a test of its path so far. Nothing is solved or
    /// freed. Exploring has left the time for the tests within `max_time`; states that would get theirs more than `MAX_LATE`
    /// after it are counted without one.
    pub fn stop(&mut self, limit: Limit) {
        if self.stopped.is_some() {
            return;
        }
        let stop_began = Instant::now();
        let is_urgent = matches!(limit, Limit::Time | Limit::Memory | Limit::Interrupted);
        // Before the checkpoint, which waits for the tests so far.
        let open = self.open_states();
        self.recorder_mut().begin_stop(open, is_urgent);
        if self.keeps_checkpoints && !self.machine.decider.lost_answer() {
            self.last_checkpoint = Some(self.checkpoint());
        }
        self.stopped = Some(limit);
        let mut states = std::mem::take(&mut self.ended);
        states.extend(self.search.drain());
        let start = self.slice_start.unwrap_or(stop_began);
        let time_left = self.machine.options().max_time.map(|time| time.saturating_sub(self.time_used()));
        let limit_at = time_left.and_then(|left| start.checked_add(left));
        // Other limits and signals come at no time that was known before.
        let by_rate = stop_began + OPEN_TEST_TIME.saturating_mul((states.len() + self.parked.len()) as u32);
        let planned = match (limit_at, limit) {
            (Some(at), Limit::Time) => at,
            (Some(at), _) => at.min(by_rate),
            (None, _) => by_rate,
        };
        let latest = planned + MAX_LATE;
        let mut in_time = true;
        let mut check = |engine: &Engine| {
            if is_urgent {
                in_time = in_time && Instant::now() + engine.recorder().writing_left() < latest;
            }
            in_time
        };
        for state in &states {
            let in_time = check(self);
            self.decider().end_open(state, limit, in_time);
        }
        self.ended = states;
        loop {
            for path in std::mem::take(&mut self.parked) {
                let in_time = check(self);
                self.decider().end_parked(path, limit, in_time);
            }
            if !self.unpark(true) {
                break;
            }
        }
    }

    /// Frees expressions that are no longer used.
    fn collect(&mut self) {
        self.machine.forget_expressions();
        self.decider().forget_expressions();
        let mut marking = self.machine.decider.solver.graph.marking();
        let mut visit = |root: Expr| marking.add(root);
        let mut seen: FxHashSet<*const state::object::Object> = FxHashSet::default();
        let mut frames: FxHashSet<*const state::frame::Frame> = FxHashSet::default();
        let mut visit_state = |state: &State| {
            for top in state.stacks() {
                for frame in top.frames() {
                    // The callers of a frame seen before were seen with it.
                    if !frames.insert(frame) {
                        break;
                    }
                    frame.registers.iter().filter_map(|value| value.expr()).for_each(&mut visit);
                }
            }
            state.roots(&mut visit);
            for (_, object) in state.memories().flat_map(|memory| memory.objects()) {
                if seen.insert(Arc::as_ptr(object)) {
                    object.roots(&mut visit);
                }
            }
        };
        self.search.each(&mut visit_state);
        self.machine.decider.waiting.iter().for_each(|state| visit_state(state));
        for path in &self.parked {
            path.model.iter().for_each(|(variable, _)| visit(variable));
            path.inputs.newest_first().for_each(|input| visit(input.array));
        }
        self.machine.roots(&mut visit);
        self.solver().tree.roots(&mut visit);
        let alive = marking.alive();
        self.solver_mut().collect_unmarked(&alive);
        self.recorder_mut().stats.collections += 1;
        self.collect_at = MIN_COLLECT_NODES.max(2 * self.solver().graph.len());
    }

    /// Waits until the tests are on disk.
    pub fn finish_writing(&mut self) -> std::io::Result<Written> {
        let over = self.stopped.is_none();
        self.recorder_mut().finish_writing(over)
    }

    /// Have the tests of this process numbers, and not names?
    pub fn has_numbers(&self) -> bool {
        !self.recorder().is_named
    }

    /// Has writing tests failed? `finish_writing` returns the error.
    pub fn writing_failed(&self) -> bool {
        self.recorder().writing_failed()
    }

    /// Names of all functions, and whether each is the user's and has a body.
    pub fn functions(&self) -> impl Iterator<Item = (&str, bool)> {
        let program = self.machine.program();
        let is_user = |f: &'_ crate::program::Function| f.is_defined() && !f.library;
        program.functions.iter().map(move |f| (program.string(f.name), is_user(f)))
    }

    /// Where functions and globals of the linked program come from.
    pub fn origins(&self) -> &crate::program::Origins {
        &self.machine.program().origins
    }

    pub fn stats(&self) -> Stats {
        self.recorder().stats
    }

    /// Whether each target of the search was reached, and its test.
    pub fn targets(&self) -> Vec<(bool, Option<u64>)> {
        self.recorder().targets.rows()
    }

    pub fn bugs(&self) -> &[Bug] {
        self.recorder().bugs.all()
    }

    /// Describes each decision of a trail: place in the user's code, library function it is in, side taken.
    pub fn decisions<'a>(
        &'a self,
        trail: &'a Trail,
    ) -> impl Iterator<Item = (Place, Option<String>, Option<String>)> + 'a {
        trail.describe(self.machine.program())
    }

    /// Table of the kept part of the fork tree.
    pub fn fork_tree(&self) -> ForkTable {
        self.recorder().forks.table(self.machine.program())
    }

    /// Reasons why the exploration is incomplete: reason, place, count.
    pub fn incompleteness(&self) -> Vec<(String, String, u64)> {
        self.recorder().incompleteness()
    }

    /// Things that were not done and that change no outcome: what, place, count.
    pub fn notes(&self) -> Vec<(String, String, u64)> {
        self.recorder().notes()
    }

    pub fn stopped(&self) -> Option<Limit> {
        self.stopped
    }

    pub fn open_states(&self) -> usize {
        self.search.len() + self.parked.len() + self.parking.count()
    }

    /// Number of open paths that have a state.
    pub fn live_states(&self) -> usize {
        self.search.len()
    }

    /// Coverage of the user's own code, and of the linked libraries.
    pub fn covered(&self) -> [Covered; 2] {
        [true, false].map(|user| self.recorder().coverage.covered(self.machine.program(), user))
    }

    /// Coverage of each user function.
    pub fn coverage(&self) -> Vec<FunctionCoverage> {
        self.recorder().coverage.functions(self.machine.program())
    }
}
