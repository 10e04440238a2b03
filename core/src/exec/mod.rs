//! Exploration of a program: states run, fork, query the chain, and end as data.
//!
//! `Engine` owns the solver and all states. Every live state has a feasible node of the path tree with a
//! complete model (`queries.rs`); concrete code runs in one tight loop (`run.rs`) without the graph. Whatever
//! happens to the analysed program is an `Outcome`; every reason why the exploration is incomplete is counted
//! with its place.
// States have several hundred bytes and change owners at every fork: they are moved as pointers.
#![allow(clippy::vec_box)]

mod access;
mod address;
mod address_cache;
mod code;
mod concretise;
mod contents;
mod coverage;
mod finish;
mod fork_tree;
mod frame;
mod hook;
mod host;
mod incomplete;
mod leak;
mod memory;
mod memory_limit;
mod models;
mod object;
mod options;
mod outcome;
mod output;
mod queries;
mod readable;
mod resolve;
mod run;
mod search;
mod start;
mod state;
mod step;
mod testcase;
mod value;
mod writer;

pub use coverage::{Covered, FunctionCoverage};
pub use fork_tree::{ForkNode, ForkTable, Trail};
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
    pub tests: u64,
    pub explore: Duration,
    pub collections: u64,
    /// Resident bytes of the process, when last measured.
    pub memory: u64,
    pub peak_memory: u64,
}

/// A distinct bug, by class and place.
#[derive(Clone, Debug)]
pub struct Bug {
    pub class: Class,
    pub place: Place,
    pub message: String,
    pub test: Option<u64>,
    /// Inputs of the first path into it.
    pub inputs: Vec<(String, Vec<u8>)>,
    /// Decisions of that path.
    pub trail: Trail,
    /// Number of paths that ended in it.
    pub paths: u64,
}

pub struct Engine {
    program: Arc<Program>,
    main: FuncId,
    code: Vec<Option<Box<code::Code>>>,
    globals: Vec<u64>,
    models: Vec<Option<models::ModelRow>>,
    pub solver: Solver,
    /// Budget of the current query: its deadline is that of the run, or an earlier one.
    budget: Budget,
    deadline: Option<Instant>,
    /// The run is over, so a query was not answered: the current state must not continue.
    run_over: bool,
    options: Options,
    cache: address_cache::AddressCache,
    coverage: coverage::Coverage,
    host: host::Host,
    hooks: Option<hook::BoundHooks>,
    search: Box<dyn Search>,
    /// States forked by the current instruction, not yet in `search`.
    forked: Vec<Box<State>>,
    stats: Stats,
    bugs: Vec<Bug>,
    forks: fork_tree::ForkTree,
    incomplete: incomplete::Incomplete,
    stopped: Option<Limit>,
    writer: Option<Writer>,
    writer_failed: bool,
    keeps_paths: bool,
    finished: Vec<Finished>,
    /// Number of graph nodes at which expressions are collected.
    collect_at: usize,
    memory_check: memory_limit::MemoryCheck,
}

/// Instructions per turn: about ten milliseconds of concrete code between two limit checks.
const INSTRUCTIONS_PER_TURN: u64 = 1 << 19;
/// Least number of graph nodes at which collecting pays.
const MIN_COLLECT_NODES: usize = 1 << 20;
/// Number of dropped path nodes at which the layers are told: few enough that their data is still in the
/// processor's cache.
const MAX_DROPPED_PATHS: usize = 256;

impl Engine {
    /// Prepares to explore `main`. Errors: the program has none, or an option is invalid.
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
            run_over: false,
            cache: address_cache::AddressCache::new(),
            coverage,
            host: host::Host::new(options.write_host),
            hooks: None,
            options,
            search,
            forked: Vec::new(),
            stats: Stats::default(),
            bugs: Vec::new(),
            forks: fork_tree::ForkTree::new(),
            incomplete: incomplete::Incomplete::default(),
            stopped: None,
            writer: None,
            writer_failed: false,
            keeps_paths: false,
            finished: Vec::new(),
            collect_at: MIN_COLLECT_NODES,
            memory_check: memory_limit::MemoryCheck::default(),
        };
        let first = engine.first_state(image.memory)?;
        let (search, view) = engine.search();
        search.put(Some(first), Vec::new(), &view);
        Ok(engine)
    }

    /// Writes tests with this writer from now on.
    pub fn set_writer(&mut self, writer: Writer) {
        self.writer = Some(writer);
    }

    /// Uses this strategy from now on; must be called before the first state runs.
    pub fn set_chooser(&mut self, chooser: Box<dyn Chooser>) {
        let first = self.next_state();
        self.search = Box::new(search::Custom::new(chooser, &self.program));
        let (search, view) = self.search();
        search.put(first, Vec::new(), &view);
    }

    /// Keeps finished paths for `take_finished`.
    pub fn keep_paths(&mut self) {
        self.keeps_paths = true;
    }

    pub fn take_finished(&mut self) -> Vec<Finished> {
        std::mem::take(&mut self.finished)
    }

    /// Handle that cancels the current query and the run, from any thread.
    pub fn cancel_handle(&self) -> Cancel {
        self.budget.cancel.clone()
    }

    /// Explores for about `slice`. Returns false if the exploration is over.
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
        self.measure_memory();
        more
    }

    /// Runs one state until it forks, ends or has executed `INSTRUCTIONS_PER_TURN`.
    fn turn(&mut self, start: Instant) -> bool {
        if let Some(limit) = self.limit(start) {
            self.stop(limit);
            return false;
        }
        let Some(mut state) = self.next_state() else { return false };
        self.cache.clear();
        let fuel = match self.options.max_instructions {
            Some(limit) => INSTRUCTIONS_PER_TURN.min(limit - self.stats.instructions),
            None => INSTRUCTIONS_PER_TURN,
        };
        let current = match self.run(&mut state, fuel) {
            Stop::Fuel | Stop::Forked => Some(state),
            Stop::End(outcome) => {
                self.end_path(state, outcome);
                None
            }
        };
        let forked = std::mem::take(&mut self.forked);
        let (search, view) = self.search();
        search.put(current, forked, &view);
        if self.solver.graph.len() > self.collect_at {
            self.collect();
        }
        self.drop_paths();
        self.check_memory();
        true
    }

    /// Tells the layers which paths are gone, if there are enough of them.
    fn drop_paths(&mut self) {
        if self.solver.tree.dropped().len() >= MAX_DROPPED_PATHS {
            self.solver.drop_paths();
        }
    }

    /// The strategy, and its view of the run.
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

    /// Ends the run: every open state is a path cut by this limit, with a test of its path so far.
    pub fn stop(&mut self, limit: Limit) {
        self.stopped.get_or_insert(limit);
        for state in self.search.drain() {
            let message = limit.stop_message();
            self.end_path(state, Outcome::Limit { limit, message });
            self.drop_paths();
        }
    }

    /// Frees expressions that are no longer used.
    fn collect(&mut self) {
        let mut roots: Vec<Expr> = Vec::new();
        let mut seen: FxHashSet<*const object::Object> = FxHashSet::default();
        let mut frames: FxHashSet<*const frame::Frame> = FxHashSet::default();
        self.search.each(&mut |state| {
            for top in state.stacks() {
                for frame in top.frames() {
                    // The callers of a frame seen before were seen with it.
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
        self.collect_at = MIN_COLLECT_NODES.max(2 * self.solver.graph.len());
    }

    /// Waits until the tests are on disk.
    pub fn finish_writing(&mut self) -> std::io::Result<Written> {
        match &mut self.writer {
            Some(writer) => writer.finish(),
            None => Ok(Written::default()),
        }
    }

    /// Has writing tests failed? `finish_writing` returns the error.
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

    /// Names of all functions, and whether each is the user's and has a body.
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

    /// Reasons why the exploration is incomplete: reason, place, count.
    pub fn incompleteness(&self) -> Vec<(String, String, u64)> {
        self.incomplete.rows(&self.program)
    }

    pub fn stopped(&self) -> Option<Limit> {
        self.stopped
    }

    pub fn open_states(&self) -> usize {
        self.search.len()
    }

    /// Coverage of the user's own code, and of the linked libraries.
    pub fn covered(&self) -> [Covered; 2] {
        [true, false].map(|user| self.coverage.covered(&self.program, user))
    }

    /// Coverage of each user function.
    pub fn coverage(&self) -> Vec<FunctionCoverage> {
        self.coverage.functions(&self.program)
    }
}
