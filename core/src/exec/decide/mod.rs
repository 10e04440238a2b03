//! The room that decides: queries of the chain, forks, values, the search strategies, and the end of a path.
//!
//! Every live state has a feasible path with a complete model. `Decider` owns the solver and the recorder; it
//! knows states as data, and nothing of the instructions and models of functions that need its decisions.
mod alternatives;
pub mod certificate_tree;
mod concretise;
mod end;
mod least;
pub mod open_path;
mod queries;
mod query_budget;
mod readable;
pub mod replay;
mod schedule;
pub mod search;
mod seeding;
mod snapshot;
pub mod strings;
mod undefined;
mod variation;

pub use alternatives::Alternative;
pub use certificate_tree::{Kind, Subject};
pub use snapshot::{Copied, Owner, Snapshot};

use crate::budget::{Budget, Cancel, Unwinder};
use crate::exec::options::Options;
use crate::exec::outcome::{Limit, Outcome, Place};
use crate::exec::record::{Recorder, place_at};
use crate::exec::state::State;
use crate::exec::state::value::Value;
use crate::expr::smtlib::Printer;
use crate::expr::walk::Atom;
use crate::expr::{Bits, Expr, Graph, Model};
use crate::interval::Set;
use crate::program::{Callee, Inst, Program};
use crate::query::{Path, Status};
use crate::solve::Solver;
use certificate_tree::{CertificateTree, Continues, Point, Row, SideId};
use least::LeastInputs;
use query_budget::QueryBudgets;
use replay::Replay;
use rustc_hash::FxHashMap;
use std::sync::Arc;
use std::time::Instant;
use strings::{Choice, Decision, Strings};

/// Place of the newest point at the beginning of a turn.
const NO_POINT: (u64, u32) = (u64::MAX, 0);

/// Largest number of frames in the stack of a finished path.
pub const MAX_STACK_PLACES: usize = 64;

pub struct Decider {
    pub solver: Solver,
    pub recorder: Recorder,
    program: Arc<Program>,
    options: Arc<Options>,
    /// Budget of the current query: its deadline is that of the run, or an earlier one.
    budget: Budget,
    deadline: Option<Instant>,
    /// Effort of queries by program location.
    query_budgets: QueryBudgets,
    /// Expressions with zeros for their placeholders. Uses of values that nothing defined share most of their nodes, and
    /// random generators mix such values into thousands. Cleared before expressions are freed.
    zeroed: FxHashMap<Expr, Expr>,
    /// Least inputs of components of paths. Cleared before expressions are freed.
    least_inputs: LeastInputs,
    /// The run is over, so a query was not answered: the current state must not continue.
    run_over: bool,
    /// States forked by the current instruction, not yet taken by the search.
    forked: Vec<Box<State>>,
    /// The current state has shared its objects with another one since this flag was cleared.
    shares_objects: bool,
    /// Decisions of all paths, if they are recorded.
    pub certificate_tree: Option<Box<CertificateTree>>,
    /// Inputs of the only path, if they are given.
    given: Option<Box<snapshot::Given>>,
    /// Decision strings of the open states.
    pub strings: Strings,
    /// The path that the current state executes again.
    pub replay: Option<Replay>,
    /// The newest point of the current turn: number of instructions before it, and its number within the instruction.
    newest_point: (u64, u32),
    /// Number of instructions that the current state has executed at the end of this turn, if it uses all of it.
    turn_end: u64,
    /// Number of instructions left in this turn after the current one.
    left: u64,
    /// Can paths vary late: gives the search rare states a share?
    pub varies_late: bool,
    /// States whose environment varies from the start, until the run varies.
    pub waiting: Vec<Box<State>>,
    /// Paths that could vary at each place.
    varied_passes: variation::Passes,
}

impl Decider {
    pub fn new(mut solver: Solver, program: Arc<Program>, options: Arc<Options>) -> Decider {
        let budget = Budget::unlimited();
        solver.graph.unwinder = Unwinder::new(budget.cancel.clone());
        Decider {
            solver,
            recorder: Recorder::new(Arc::clone(&program), Arc::clone(&options)),
            program,
            options,
            budget,
            deadline: None,
            query_budgets: QueryBudgets::default(),
            zeroed: FxHashMap::default(),
            least_inputs: LeastInputs::default(),
            run_over: false,
            forked: Vec::new(),
            shares_objects: false,
            certificate_tree: None,
            given: None,
            strings: Strings::default(),
            replay: None,
            newest_point: NO_POINT,
            turn_end: 0,
            left: 0,
            varies_late: false,
            waiting: Vec::new(),
            varied_passes: variation::Passes::default(),
        }
    }

    /// A turn of `fuel` instructions begins for a state that has executed `executed`.
    pub fn begin_turn(&mut self, executed: u64, fuel: u64) {
        self.turn_end = executed + fuel;
        self.newest_point = NO_POINT;
    }

    /// The next instruction is the last but `left` of the turn.
    #[inline]
    pub fn set_left(&mut self, left: u64) {
        self.left = left;
    }

    /// Number of instructions that the current state executed before this one.
    pub(super) fn step(&self) -> u64 {
        self.turn_end - self.left - 1
    }

    /// Number of the next point of the current instruction. An instruction that is executed again has the same points.
    pub fn next_point(&mut self) -> u32 {
        let step = self.step();
        let point = if self.newest_point.0 == step { self.newest_point.1 + 1 } else { 0 };
        self.newest_point = (step, point);
        point
    }

    /// Gives the points of an operation `count` numbers, `first` being the newest one before it: how many it needs may
    /// depend on what the path implies, which an instruction that is executed again knows more of.
    pub fn skip_points(&mut self, first: (u64, u32), count: u32) {
        let before = if first.0 == self.step() { first.1 } else { 0 };
        debug_assert!(self.newest_point.0 != self.step() || self.newest_point.1 <= before + count);
        self.newest_point = (self.step(), before + count);
    }

    /// The newest point, for `skip_points`.
    pub fn newest_point(&self) -> (u64, u32) {
        self.newest_point
    }

    /// The state has decided: more than one continuation was possible.
    fn decided(&mut self, state: &mut State, point: u32, choice: Choice) {
        let (func, pc) = (state.frame.func, state.frame.pc);
        let course = (state.edges_taken >> 56) as u8;
        let decision = Decision { step: self.step(), point, choice, func, pc, course };
        state.string = self.strings.push(state.string, decision);
    }

    /// Handle that cancels the current query and the run, from any thread.
    pub fn cancel_handle(&self) -> Cancel {
        self.budget.cancel.clone()
    }

    pub fn is_cancelled(&self) -> bool {
        self.budget.cancel.is_cancelled()
    }

    /// Is the run over: cancelled, or out of time?
    pub fn is_over(&self) -> bool {
        self.budget.cancel.is_over()
    }

    /// Sets the end of the run.
    pub fn set_deadline(&mut self, deadline: Option<Instant>) {
        self.deadline = deadline;
    }

    /// Has a query stayed without an answer because the run is over? Then a side of the current path is not known.
    pub fn lost_answer(&self) -> bool {
        self.run_over
    }

    pub fn is_short_of_memory(&self) -> bool {
        self.budget.cancel.is_short_of_memory()
    }

    pub fn clear_memory_flag(&mut self) {
        self.budget.cancel.reset_memory();
    }

    /// Must the current state stop, because it forked, the run is over, or memory is short?
    #[inline]
    pub fn is_interrupted(&self) -> bool {
        !self.forked.is_empty() || self.run_over || self.budget.cancel.is_raised()
    }

    /// Ends the path of a long operation, if the run is over or memory is short. To be called from time to time.
    pub fn check_limits(&self) -> Result<(), Outcome> {
        if !self.budget.cancel.is_raised() {
            return Ok(());
        }
        let limit = match (self.is_cancelled(), self.is_short_of_memory()) {
            (true, _) => Limit::Interrupted,
            (false, true) => Limit::Memory,
            (false, false) => Limit::Time,
        };
        Err(Outcome::Limit { limit, message: limit.stop_message() })
    }

    /// Takes the states forked by the current instruction.
    pub fn take_forked(&mut self) -> Vec<Box<State>> {
        std::mem::take(&mut self.forked)
    }

    pub fn forked_count(&self) -> usize {
        self.forked.len()
    }

    /// States forked since there were `count` of them.
    pub fn forked_since(&mut self, count: usize) -> &mut [Box<State>] {
        &mut self.forked[count..]
    }

    /// Has the current state shared its objects with a fork since the last call?
    #[inline]
    pub fn take_shares_objects(&mut self) -> bool {
        std::mem::take(&mut self.shares_objects)
    }

    pub fn graph(&self) -> &Graph {
        &self.solver.graph
    }

    pub fn graph_mut(&mut self) -> &mut Graph {
        &mut self.solver.graph
    }

    /// Drops what refers to expressions that may be freed.
    pub fn forget_expressions(&mut self) {
        self.zeroed = FxHashMap::default();
        self.least_inputs.clear();
    }

    /// Support of an expression: the inputs and bytes that it mentions.
    pub fn support(&mut self, e: Expr) -> Arc<[Atom]> {
        self.solver.supports.of(&self.solver.graph, e)
    }

    /// Path without constraints, for the first state.
    pub fn empty_path(&mut self) -> Path {
        let root = self.solver.tree.root();
        self.solver.tree.retain(root)
    }

    /// Model of the state's path.
    pub fn model(&self, state: &State) -> &Model {
        self.solver.tree.model(state.path).expect("a live state has a feasible path")
    }

    /// Evaluates an expression under the path model.
    pub fn evaluate(&mut self, state: &State, e: Expr) -> Bits {
        let model = self.solver.tree.model(state.path).expect("a live state has a feasible path");
        self.solver.evaluator.under(&self.solver.graph, model).bits(e)
    }

    pub fn evaluate_word(&mut self, state: &State, value: Value) -> u64 {
        match value.expr() {
            Some(e) => self.evaluate(state, e).low(),
            None => value.word,
        }
    }

    /// Set of values that contains all values of an expression on the state's path.
    pub fn values(&mut self, state: &State, e: Expr) -> Set {
        let set = self.solver.values(state.path, e);
        if self.certificate_tree.is_some() {
            let root = self.solver.tree.root();
            if self.solver.values(root, e) != set
                && let Some(decisions) = &mut self.certificate_tree
            {
                decisions.set_narrowed(state.decision);
            }
        }
        set
    }

    /// Adds `constraint`, which `model` satisfies, to the state's path.
    fn extend_path(&mut self, state: &mut State, constraint: Expr, model: Model) {
        let node = self.solver.tree.extend(&self.solver.graph, state.path, constraint);
        if node != state.path {
            self.solver.tree.set_status(node, Status::Feasible(model));
        }
        if let Some(decisions) = &mut self.certificate_tree {
            let tree = &self.solver.tree;
            for path in tree.upwards(node).take_while(|path| *path != state.path) {
                decisions.add_constraint(state.decision, tree.constraint(path));
            }
        }
        self.solver.tree.release(state.path);
        state.path = node;
        self.keep_seeds(state, constraint);
    }

    /// Adds a condition that the path model satisfies to the path.
    fn add_constraint(&mut self, state: &mut State, condition: Expr) {
        let model = self.model(state).clone();
        self.extend_path(state, condition, model);
    }

    /// Records a point of this state, if decisions are recorded: the state takes the side `taken`, whose condition
    /// is added to its path after this call. `others` are the other sides.
    fn record_point(
        &mut self,
        state: &mut State,
        subject: Subject<'_>,
        condition: Option<Expr>,
        taken: u64,
        others: impl FnOnce(&CertificateTree, SideId) -> Vec<Row>,
    ) {
        let Some(mut decisions) = self.certificate_tree.take() else { return };
        let parent = state.decision;
        let own = decisions.add_side(parent);
        let mut rows = vec![Row { value: taken, continues: Continues::Taken(own), condition: None }];
        rows.extend(others(&decisions, parent));
        // The term of a value need not be an operand of the instruction.
        let condition = condition.filter(|_| subject.kind == Kind::Value || self.calls_model(state));
        decisions.points.push(Point {
            parent,
            func: state.frame.func,
            pc: state.frame.pc,
            step: self.step(),
            kind: subject.kind,
            purpose: subject.purpose.into(),
            number: subject.number,
            condition: condition.map(|e| Printer::new(&self.solver.graph).term(e)),
            rows,
        });
        state.decision = own;
        self.certificate_tree = Some(decisions);
    }

    /// Is the current instruction a call that may be answered by a model?
    fn calls_model(&self, state: &State) -> bool {
        match &self.program.functions[state.frame.func.index()].insts[state.frame.pc as usize] {
            Inst::Call(call) => match call.callee {
                Callee::Direct(func) => !self.program.functions[func.index()].is_defined(),
                Callee::Indirect(_) => true,
            },
            _ => false,
        }
    }

    /// Place that the program reported, or that of the innermost frame in the user's code.
    pub fn place(&self, state: &State) -> Place {
        if let Some(place) = &state.blamed {
            return Place::clone(place);
        }
        let frame = state.user_frame(&self.program);
        place_at(&self.program, frame.func, frame.pc)
    }

    /// Source places of all frames, innermost first.
    /// For a bug that the program reported with its place, those that it noted.
    pub fn stack_of(&self, state: &State) -> Vec<Place> {
        if let (Some(_), Some(noted)) = (&state.blamed, &state.noted_stack) {
            return noted.iter().map(|&(func, pc)| place_at(&self.program, func, pc)).collect();
        }
        let place = |frame: &crate::exec::state::frame::Frame| place_at(&self.program, frame.func, frame.pc);
        state.frame.frames().take(MAX_STACK_PLACES).map(place).collect()
    }

    /// Counts something that was not done and that changes no outcome.
    pub fn note(&mut self, state: &State, what: &str) {
        if self.is_replaying() {
            return;
        }
        let frame = state.user_frame(&self.program);
        self.recorder.add_note(what, frame.func, frame.pc);
    }

    /// Counts a reason why the exploration is incomplete.
    pub fn incomplete(&mut self, state: &State, why: &str) {
        if self.is_replaying() || state.is_doomed || self.is_apart(state) {
            return; // `end_path` counts a doomed path if it ends in no bug
        }
        let frame = state.user_frame(&self.program);
        self.recorder.add_incomplete(why, frame.func, frame.pc);
    }
}
