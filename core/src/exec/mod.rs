//! How a program is explored: states that run, fork, ask the chain, and end as data.
//!
//! `Engine` owns the solver and all states. Every live state stands on a feasible node of the path tree with a complete
//! model of its path (`ask.rs`); concrete code runs in one tight loop (`run.rs`) and never touches the graph. What
//! happens to the analysed program is an `Outcome`; what keeps the exploration from being complete is counted by
//! reason and place, so that nothing is lost silently.
// States are several hundred bytes and change hands at every fork: they move as pointers.
#![allow(clippy::vec_box)]

mod access;
mod address;
mod ask;
mod cache;
mod code;
mod contents;
mod coverage;
mod finish;
mod forks;
mod frame;
mod hook;
mod host;
mod incomplete;
mod leak;
mod load;
mod memory;
mod models;
mod number;
mod object;
mod options;
mod outcome;
mod output;
mod resolve;
mod run;
mod search;
mod start;
mod state;
mod step;
mod testcase;
mod tidy;
mod value;
mod writer;

pub use coverage::{Covered, FunctionCoverage};
pub use forks::{ForkNode, ForkTree, Trail};
pub use hook::{Caller, Hooks};
pub use models::unknown;
pub use options::{Ambient, CHECKS, CheckRow, Checks, Options, Tests};
pub use outcome::{Class, Limit, Outcome, Place};
pub use search::{Chooser, OpenState, SEARCHES, SearchRow};
pub use testcase::{Finished, TestCase};
pub use writer::{Writer, Written};

use crate::budget::{Budget, Cancel};
use crate::expr::Expr;
use crate::program::{FuncId, Program};
use crate::solve::Solver;
use run::Stop;
use rustc_hash::FxHashSet;
use search::{Search, View};
use state::State;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// What was counted so far.
#[derive(Clone, Copy, Debug, Default)]
pub struct Stats {
    pub instructions: u64,
    pub forks: u64,
    /// States made, the first one not counted.
    pub states: u64,
    pub completed: u64,
    pub bugs: u64,
    pub limits: u64,
    pub unsupported: u64,
    pub tests: u64,
    pub explore: Duration,
    pub collections: u64,
    /// Of the process, when last looked at.
    pub memory: u64,
    pub peak_memory: u64,
}

/// A distinct bug: its class and place.
#[derive(Clone, Debug)]
pub struct Bug {
    pub class: Class,
    pub place: Place,
    pub message: String,
    pub test: Option<u64>,
    /// What makes the program run into it.
    pub inputs: Vec<(String, Vec<u8>)>,
    /// The decisions on the way there.
    pub trail: Trail,
    /// How many paths ended in it.
    pub paths: u64,
}

pub struct Engine {
    program: Arc<Program>,
    main: FuncId,
    code: Vec<Option<Box<code::Code>>>,
    globals: Vec<u64>,
    models: Vec<Option<models::Row>>,
    pub solver: Solver,
    /// Of the question under way: its deadline is that of the run, or an earlier one of its own.
    budget: Budget,
    deadline: Option<Instant>,
    /// A question was not answered because the run is over: the state under way goes no further.
    over: bool,
    options: Options,
    cache: cache::Cache,
    coverage: coverage::Coverage,
    host: host::Host,
    hooks: Option<hook::Bound>,
    search: Box<dyn Search>,
    /// Came from the running state and is not in `search` yet.
    born: Vec<Box<State>>,
    stats: Stats,
    bugs: Vec<Bug>,
    forks: forks::Forks,
    incomplete: incomplete::Incomplete,
    stopped: Option<Limit>,
    writer: Option<Writer>,
    writer_failed: bool,
    keeps_paths: bool,
    finished: Vec<Finished>,
    /// Collect when the graph has this many nodes.
    collect_at: usize,
    load: load::Load,
}

/// Instructions between two looks at the clock: about ten milliseconds of concrete code.
const BATCH: u64 = 1 << 19;
/// Nodes below which collecting is not worth it.
const COLLECT_AT: usize = 1 << 20;
/// Path nodes dropped until the layers are told: few enough that what hangs on them is still in the cache.
const DROPPED_PATHS: usize = 256;

impl Engine {
    /// Gets ready to explore `main`. The ends: the program has none, or an option is wrong.
    pub fn new(program: Program, mut solver: Solver, options: Options) -> Result<Engine, String> {
        options.check()?;
        let main =
            program.function("main").filter(|main| program.functions[main.index()].is_defined()).ok_or(
                "expected a function `main` to start from, found none: add one, or link the file that has it",
            )?;
        let image = start::image(&program)?;
        let search = search::build(&options.search, &program, options.seed).expect("checked above");
        let coverage = coverage::Coverage::new(&program);
        solver.slowest.keep();
        let mut engine = Engine {
            main,
            code: (0..program.functions.len()).map(|_| None).collect(),
            globals: image.globals,
            models: models::bind(&program),
            program: Arc::new(program),
            solver,
            budget: Budget::unlimited(),
            deadline: None,
            over: false,
            cache: cache::Cache::new(),
            coverage,
            host: host::Host::new(options.write_host),
            hooks: None,
            options,
            search,
            born: Vec::new(),
            stats: Stats::default(),
            bugs: Vec::new(),
            forks: forks::Forks::new(),
            incomplete: incomplete::Incomplete::default(),
            stopped: None,
            writer: None,
            writer_failed: false,
            keeps_paths: false,
            finished: Vec::new(),
            collect_at: COLLECT_AT,
            load: load::Load::default(),
        };
        let first = engine.first_state(image.memory)?;
        let (search, view) = engine.search();
        search.put(Some(first), Vec::new(), &view);
        Ok(engine)
    }

    /// Tests are written there from now on.
    pub fn set_writer(&mut self, writer: Writer) {
        self.writer = Some(writer);
    }

    /// States are chosen so from now on; to be called before the first of them runs.
    pub fn set_chooser(&mut self, chooser: Box<dyn Chooser>) {
        let first = self.next_state();
        self.search = Box::new(search::Custom::new(chooser, &self.program));
        let (search, view) = self.search();
        search.put(first, Vec::new(), &view);
    }

    /// Finished paths are kept for `take_finished`.
    pub fn keep_paths(&mut self) {
        self.keeps_paths = true;
    }

    pub fn take_finished(&mut self) -> Vec<Finished> {
        std::mem::take(&mut self.finished)
    }

    /// Ends the question under way, and the run, from any thread.
    pub fn cancel_handle(&self) -> Cancel {
        self.budget.cancel.clone()
    }

    /// Explores for about `slice`. True: there is more to do.
    pub fn advance(&mut self, slice: Duration) -> bool {
        let start = Instant::now();
        if let Some(limit) = self.options.max_time {
            self.deadline = start.checked_add(limit.saturating_sub(self.stats.explore));
        }
        let mut more = true;
        while more && start.elapsed() < slice {
            more = self.turn(start);
        }
        self.stats.explore += start.elapsed();
        self.look_at_memory();
        more
    }

    /// Runs one state for a batch.
    fn turn(&mut self, start: Instant) -> bool {
        if let Some(limit) = self.limit(start) {
            self.stop(limit);
            return false;
        }
        let Some(mut state) = self.next_state() else { return false };
        self.cache.clear();
        let fuel = match self.options.max_instructions {
            Some(limit) => BATCH.min(limit - self.stats.instructions),
            None => BATCH,
        };
        let current = match self.run(&mut state, fuel) {
            Stop::Fuel | Stop::Forked => Some(state),
            Stop::End(outcome) => {
                self.finish(state, outcome);
                None
            }
        };
        let born = std::mem::take(&mut self.born);
        let (search, view) = self.search();
        search.put(current, born, &view);
        if self.solver.graph.len() > self.collect_at {
            self.collect();
        }
        self.drop_paths();
        self.mind_memory();
        true
    }

    /// Tells the layers of paths that are gone, if there are enough of them.
    fn drop_paths(&mut self) {
        if self.solver.tree.dropped().len() >= DROPPED_PATHS {
            self.solver.drop_paths();
        }
    }

    /// The strategy, and what it may look at.
    fn search(&mut self) -> (&mut dyn Search, View<'_>) {
        let view =
            View { program: &self.program, coverage: &self.coverage, instructions: self.stats.instructions };
        (self.search.as_mut(), view)
    }

    fn next_state(&mut self) -> Option<Box<State>> {
        let (search, view) = self.search();
        search.next(&view)
    }

    fn limit(&mut self, start: Instant) -> Option<Limit> {
        if self.budget.cancel.is_cancelled() {
            return Some(Limit::Interrupted);
        }
        let options = &self.options;
        if options.max_instructions.is_some_and(|limit| self.stats.instructions >= limit) {
            return Some(Limit::Instructions);
        }
        if options.max_time.is_some_and(|limit| self.stats.explore + start.elapsed() >= limit) {
            return Some(Limit::Time);
        }
        if options.max_tests.is_some_and(|limit| self.stats.tests >= limit) {
            return Some(Limit::Tests);
        }
        None
    }

    /// Ends the run: every open state is a path cut by this limit, with a test of how far it came.
    pub fn stop(&mut self, limit: Limit) {
        self.stopped.get_or_insert(limit);
        for state in self.search.drain() {
            let message = format!("stopped by {}", limit.name());
            self.finish(state, Outcome::Limit { limit, message });
            self.drop_paths();
        }
    }

    /// Frees expressions that nothing needs.
    fn collect(&mut self) {
        let mut roots: Vec<Expr> = Vec::new();
        let mut seen: FxHashSet<*const object::Object> = FxHashSet::default();
        let mut frames: FxHashSet<*const frame::Frame> = FxHashSet::default();
        self.search.each(&mut |state| {
            for top in state.stacks() {
                for frame in top.upwards() {
                    // Whoever is below a frame seen before was seen with it.
                    if !frames.insert(frame) {
                        break;
                    }
                    roots.extend(frame.registers.iter().filter_map(|value| value.expr()));
                }
            }
            roots.extend(state.facts.iter().map(|fact| fact.0));
            roots.extend(state.inputs.iter().map(|input| input.array));
            state.output.roots(&mut roots);
            if let state::Stage::Exiting { status, .. } = state.stage {
                roots.extend(status.expr());
            }
            for (_, object) in state.memory.objects() {
                if seen.insert(Arc::as_ptr(object)) {
                    object.roots(&mut roots);
                }
            }
        });
        for code in self.code.iter().flatten() {
            roots.extend(code.constants.iter().filter_map(|value| value.expr()));
        }
        if let Some(hooks) = &mut self.hooks {
            hooks.forget();
        }
        self.solver.collect(roots);
        self.stats.collections += 1;
        self.collect_at = COLLECT_AT.max(2 * self.solver.graph.len());
    }

    /// Waits for the tests to be on disk.
    pub fn finish_writing(&mut self) -> std::io::Result<Written> {
        match &mut self.writer {
            Some(writer) => writer.finish(),
            None => Ok(Written::default()),
        }
    }

    /// Has writing tests failed? `finish_writing` says why.
    pub fn writing_failed(&self) -> bool {
        self.writer_failed
    }

    fn decode(&mut self, func: FuncId) {
        if self.code[func.index()].is_none() {
            let code =
                code::decode(&self.program, func, &self.globals, self.options.checks, &mut self.solver.graph);
            self.code[func.index()] = Some(Box::new(code));
        }
    }

    /// The names of all functions: is it the user's, with a body?
    pub fn functions(&self) -> impl Iterator<Item = (&str, bool)> {
        let row = |f: &'_ crate::program::Function| f.is_defined() && !f.library;
        self.program.functions.iter().map(move |f| (self.program.string(f.name), row(f)))
    }

    pub fn stats(&self) -> Stats {
        self.stats
    }

    pub fn bugs(&self) -> &[Bug] {
        &self.bugs
    }

    /// Why the exploration is not complete: reason, place, how often.
    pub fn incompleteness(&self) -> Vec<(String, String, u64)> {
        self.incomplete.rows(&self.program)
    }

    pub fn stopped(&self) -> Option<Limit> {
        self.stopped
    }

    pub fn open_states(&self) -> usize {
        self.search.len()
    }

    /// Of the user's own code, and of the libraries it is linked with.
    pub fn covered(&self) -> [Covered; 2] {
        [true, false].map(|user| self.coverage.covered(&self.program, user))
    }

    /// What was reached of each of the user's functions.
    pub fn coverage(&self) -> Vec<FunctionCoverage> {
        self.coverage.functions(&self.program)
    }
}
