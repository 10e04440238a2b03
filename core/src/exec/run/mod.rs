//! The room that runs: the program's code, memory accesses, instructions, models of functions, hooks.
//!
//! `Machine` executes one state at a time and owns what all states share of the program. Every decision goes to
//! its `Decider`.
mod access;
mod address_cache;
mod code;
pub mod hook;
mod host;
mod inner_loop;
mod leak;
pub mod models;
mod resolve;
mod sizes;
mod start;
mod step;
mod threads;

pub use inner_loop::Stop;

use crate::encoding::Decoder;
use crate::exec::decide::Decider;
use crate::exec::options::Options;
use crate::exec::state::State;
use crate::exec::state::object::Object;
use crate::expr::{Expr, Graph};
use crate::program::{EdgeId, FuncId, Program};
use crate::solve::Solver;
use address_cache::AddressCache;
use code::Code;
use hook::BoundHooks;
use host::Host;
use models::ModelRow;
use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::Arc;
use step::IntegerRanges;
use threads::Synchronisation;

/// Successors of a switch that a value may take, each with its condition.
type Successors = Arc<[(EdgeId, Expr)]>;

pub struct Machine {
    pub decider: Decider,
    program: Arc<Program>,
    options: Arc<Options>,
    main: FuncId,
    /// Decoded functions; `None` before the first call, and while the function runs.
    code: Vec<Option<Box<Code>>>,
    /// Addresses of globals.
    globals: Vec<u64>,
    models: Vec<Option<ModelRow>>,
    cache: AddressCache,
    host: Host,
    hooks: Option<BoundHooks>,
    integer_ranges: IntegerRanges,
    /// The program can read exception flags, so operations record them.
    tracks_exceptions: bool,
    synchronisation: Synchronisation,
    /// Conditions of the successors of switches, by place and value: most paths meet those of others. Cleared before
    /// expressions are freed.
    switches: FxHashMap<((FuncId, u32), Expr), Successors>,
    /// Objects that ended: most calls make local variables, and others have just ended.
    spare_objects: Vec<Arc<Object>>,
    /// Messages of `klee_warning_once` so far.
    warned: FxHashSet<String>,
}

impl Machine {
    /// Machine and first state for a program. Errors: the program has no `main`, or its globals or arguments do
    /// not fit the address space.
    pub fn new(
        mut program: Program,
        solver: Solver,
        options: Options,
    ) -> Result<(Machine, Box<State>), String> {
        let main =
            program.function("main").filter(|main| program.functions[main.index()].is_defined()).ok_or(
                "expected a function `main` to start from, found none: add one, or link the file that has it",
            )?;
        let models = models::bind(&program);
        let hooked: Vec<bool> = program
            .functions
            .iter()
            .map(|f| options.hooked.iter().any(|name| name == program.string(f.name)))
            .collect();
        program.nullify_absent_functions(|f| models[f.index()].is_some() || hooked[f.index()]);
        let image = start::image(&program)?;
        let (program, options) = (Arc::new(program), Arc::new(options));
        let mut machine = Machine {
            main,
            code: (0..program.functions.len()).map(|_| None).collect(),
            globals: image.globals,
            tracks_exceptions: program.function(models::READ_EXCEPTIONS).is_some(),
            synchronisation: Synchronisation::new(&program, &image.memory, options.preempt),
            models,
            cache: AddressCache::new(program.pointers),
            host: Host::new(options.write_host),
            hooks: None,
            integer_ranges: IntegerRanges::default(),
            switches: FxHashMap::default(),
            spare_objects: Vec::new(),
            warned: FxHashSet::default(),
            decider: Decider::new(solver, Arc::clone(&program), Arc::clone(&options)),
            program,
            options,
        };
        let first = machine.first_state(image.memory)?;
        Ok((machine, first))
    }

    /// The first state again.
    pub fn start_again(&mut self) -> Box<State> {
        let image = start::image(&self.program).expect("it fitted before");
        self.first_state(image.memory).expect("it could start before")
    }

    /// Encodes what was read of the host's files from this read on. Returns the number of all.
    pub fn encode_host_reads(&self, first: usize, out: &mut Vec<u8>) -> usize {
        self.host.encode_reads(first, out);
        self.host.read_count()
    }

    /// Adds what another process read of the host's files. Errors: the bytes are damaged, or a file has changed.
    pub fn add_host_reads(&mut self, from: &mut Decoder<'_>) -> Result<usize, String> {
        self.host.add_reads(from)?;
        Ok(self.host.read_count())
    }

    pub fn program(&self) -> &Arc<Program> {
        &self.program
    }

    pub fn options(&self) -> &Options {
        &self.options
    }

    fn graph(&mut self) -> &mut Graph {
        self.decider.graph_mut()
    }

    /// Visits the expressions that decoded functions refer to.
    pub fn roots(&self, visit: &mut dyn FnMut(Expr)) {
        for code in self.code.iter().flatten() {
            code.constants.iter().filter_map(|value| value.expr()).for_each(&mut *visit);
        }
    }

    pub fn has_hooks(&self) -> bool {
        self.hooks.is_some()
    }

    /// Drops what is kept of expressions, before these are collected.
    pub fn forget_expressions(&mut self) {
        self.switches = FxHashMap::default();
        if let Some(hooks) = &mut self.hooks {
            hooks.forget();
        }
    }

    fn decode(&mut self, func: FuncId) {
        if self.code[func.index()].is_none() {
            let graph = self.decider.graph_mut();
            let code = code::decode(&self.program, func, &self.globals, self.options.checks, graph);
            self.code[func.index()] = Some(Box::new(code));
        }
    }
}
