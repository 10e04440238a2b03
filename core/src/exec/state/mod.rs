//! One path while it runs: stack, memory, node of the path tree. Pure data: nothing here runs or decides.
pub mod address;
pub mod bytes;
pub mod contents;
pub mod frame;
pub mod inputs;
#[cfg(test)]
mod large_object_tests;
pub mod memory;
pub mod object;
pub mod output;
pub mod repeat;
pub mod seeds;
pub mod threads;
pub mod unwritten;
pub mod value;

use crate::exec::outcome::Place;
use crate::exec::record::coverage::Marks;
use crate::expr::Expr;
use crate::expr::float::Rounding;
use crate::persist::Map;
use crate::program::{FuncId, Program};
use crate::query::Path;
use address::ObjectId;
use frame::Frame;
use inputs::Inputs;
use memory::Memory;
use output::Output;
use seeds::Followed;
use smallvec::SmallVec;
use std::cell::Cell;
use std::sync::Arc;
use threads::Threads;
use value::Value;

/// Phase of the program, which selects the function to call when the bottom frame returns.
#[derive(Clone, Copy, Debug)]
pub enum Stage {
    /// Constructors from this index on; then `main`.
    Starting(usize),
    Main,
    /// `main` returned this status, or `exit` was called with it: handlers and destructors run.
    Exiting {
        /// A symbolic status gets its value when the path ends.
        status: Value,
        destructors: usize,
    },
}

/// A fact about an expression that the path implies, learnt when it was used.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fact {
    /// It equals this number.
    Equal(u64),
    /// It is an address with `count` bytes of this object.
    Inside { id: ObjectId, count: u64 },
}

/// Number of facts kept: enough for the operands of one instruction, which may be executed again.
const FACTS: usize = 4;

#[inline(always)]
fn with_edge(hash: u64, edge: u32) -> u64 {
    (hash.rotate_left(5) ^ u64::from(edge)).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

#[derive(Clone)]
pub struct State {
    /// Number in order of creation; the first state is 0.
    pub id: u64,
    /// Its leaf in the fork tree.
    pub fork_leaf: u32,
    /// Its newest decision, if decisions are recorded (`decide::certificate_tree`).
    pub decision: u32,
    /// Its decision string (`decide::strings`).
    pub string: u32,
    /// Number of instructions executed on its path, at the beginning of its turn.
    pub executed: u64,
    pub frame: Frame,
    /// Its threads, once there have been two.
    pub threads: Option<Box<Threads>>,
    /// Edge to take first, if the state was forked at a branch.
    pub edge: Option<u32>,
    /// Rolling hash of the sides of branches and switches that it took (`note_edge`).
    pub edges_taken: u64,
    pub memory: Memory,
    /// Node of the path tree; retained on a fork and released at the end of the path.
    pub path: Path,
    pub inputs: Inputs,
    pub stage: Stage,
    /// Handlers registered with `atexit` or `__cxa_atexit`, the latter with their argument; called last one first.
    pub handlers: Arc<Vec<(FuncId, Option<Value>)>>,
    /// Top frame when `exit` was called, if leaks are checked: its objects are live.
    pub exit_frame: Option<Arc<Frame>>,
    /// Number of decisions with more than one feasible side.
    pub depth: u32,
    /// Values already tried by the current instruction.
    pub values_tried: u32,
    /// The newest facts, oldest first. They stay true: paths only get longer.
    pub facts: SmallVec<[(Expr, Fact); FACTS]>,
    /// Objects that addresses are computed from, where the address alone does not show it.
    pub origins: Map<(Expr, ObjectId)>,
    /// Number of calls of `setjmp`.
    pub setjmp_calls: u64,
    /// Rounding mode of floating-point operations, set by `fesetround`.
    pub rounding: Rounding,
    /// Exception flags raised so far, if the program can read them; as many bits as `Graph` has flags.
    pub exceptions: Value,
    /// Its environment varies (`__partita_vary`): the search gives it a share.
    pub is_rare: bool,
    /// Behaviour that the call it was forked at has, until it has executed that; 0 if none.
    pub variation: u32,
    /// `klee_set_forking`.
    pub may_fork: bool,
    /// It ends in a bug whatever its inputs are, and only needs one message (`__partita_follow_model`): it takes its
    /// model's side at each decision, without queries.
    pub is_doomed: bool,
    /// Conditions that the inputs of its test should satisfy if they can, the most important first
    /// (`klee_prefer_cex`).
    pub preferences: Arc<Vec<Expr>>,
    /// It gets no test (`klee_silent_exit`).
    pub is_silent: bool,
    /// A full stack is a limit and no bug (`__partita_stack_is_limit`): the program's own machine has another size.
    pub stack_is_limit: bool,
    /// Place of its bug, if the program reported it with one (`klee_report_bug`).
    pub blamed: Option<Arc<Place>>,
    /// Functions and instructions of the frames when the program noted them (`__partita_note_stack`): the stack of a bug
    /// that it reports later.
    pub noted_stack: Option<Arc<[(FuncId, u32)]>>,
    /// Recursion that repeats is a bug (`__partita_repetition_is_bug`).
    pub repetition_is_bug: bool,
    /// A call on the stack that later ones are compared with.
    pub repeated: Option<Arc<repeat::Call>>,
    /// Standard output of the program.
    pub output: Arc<Output>,
    /// Address of `errno`: the C library's, or that of an object created on first use.
    pub errno: Option<u64>,
    /// Marks it reached that no test had then (only with `--tests coverage`).
    pub untested: Arc<Marks>,
    /// Targets of the search that it reached.
    pub targets: Arc<Vec<u32>>,
    /// Object that an access was to stay in, if a bug says so.
    pub faulty: Cell<Option<ObjectId>>,
    /// Seeds that it follows; its path model is that of the first.
    pub seeds: Arc<Vec<Followed>>,
    /// Number of allocations that could fail, and the input that decides about them (`--malloc-fails`).
    pub allocations: u64,
    pub failing: Option<Expr>,
    /// Number of objects that began unwritten (`--uninitialized symbolic`).
    pub births: u64,
    /// `argc` and the address of `argv`.
    pub arguments: (u64, u64),
}

impl State {
    /// The current top frame, the one at the call of `exit`, and those of other threads.
    pub fn stacks(&self) -> impl Iterator<Item = &Frame> {
        let others = self.threads.iter().flat_map(|threads| threads.stacks());
        std::iter::once(&self.frame).chain(self.exit_frame.as_deref()).chain(others)
    }

    /// Its memory, and earlier ones that threads are compared with.
    pub fn memories(&self) -> impl Iterator<Item = &Memory> {
        let earlier =
            self.threads.iter().flat_map(|threads| threads.visits()).filter_map(|v| v.memory.as_ref());
        std::iter::once(&self.memory).chain(earlier)
    }

    /// Adds the expressions it refers to, other than those of frames and objects, which states share.
    pub fn roots(&self, visit: &mut dyn FnMut(Expr)) {
        self.facts.iter().for_each(|fact| visit(fact.0));
        self.origins.iter().for_each(|(_, &(e, _))| visit(e));
        let repeated = self.repeated.iter().flat_map(|call| &call.arguments);
        repeated.filter_map(|value| value.expr()).for_each(&mut *visit);
        self.inputs.newest_first().for_each(|input| visit(input.array));
        self.preferences.iter().copied().for_each(&mut *visit);
        self.output.roots(visit);
        self.exceptions.expr().into_iter().for_each(&mut *visit);
        if let Some(threads) = &self.threads {
            threads.roots(visit);
        }
        if let Stage::Exiting { status, .. } = self.stage {
            status.expr().into_iter().for_each(&mut *visit);
        }
    }

    /// Adds an edge of a branch or a switch to the hash of those that it took.
    #[inline(always)]
    pub fn note_edge(&mut self, edge: u32) {
        self.edges_taken = with_edge(self.edges_taken, edge);
    }

    /// First bits of the hash of the edges that it took, with the one that it takes first if it was forked at a branch.
    pub fn course(&self) -> u16 {
        (self.edge.map_or(self.edges_taken, |edge| with_edge(self.edges_taken, edge)) >> 48) as u16
    }

    /// Innermost frame in the user's code.
    pub fn user_frame(&self, program: &Program) -> &Frame {
        let user = |frame: &&Frame| !program.functions[frame.func.index()].library;
        self.frame.frames().find(user).unwrap_or(&self.frame)
    }

    /// Does it continue exactly as an earlier version of itself did? What follows is a function of what is compared
    /// here: the stack, memory, the path condition, inputs and output so far.
    pub fn repeats(&self, earlier: &State) -> bool {
        self.frame.is_same(&earlier.frame)
            && self.threads.is_none()
            && self.path == earlier.path
            && self.edge == earlier.edge
            && self.inputs.len() == earlier.inputs.len()
            && matches!((self.stage, earlier.stage), (Stage::Main, Stage::Main))
            && Arc::ptr_eq(&self.handlers, &earlier.handlers)
            && Arc::ptr_eq(&self.output, &earlier.output)
            && self.values_tried == earlier.values_tried
            && self.setjmp_calls == earlier.setjmp_calls
            && self.rounding == earlier.rounding
            && self.exceptions.is_same(earlier.exceptions)
            && self.allocations == earlier.allocations
            && self.memory.has_contents_of(&earlier.memory)
    }

    pub fn learn(&mut self, e: Expr, fact: Fact) {
        self.facts.retain(|known| known.0 != e);
        if self.facts.len() == FACTS {
            self.facts.remove(0);
        }
        self.facts.push((e, fact));
    }

    pub fn fact(&self, e: Expr) -> Option<Fact> {
        self.facts.iter().find(|known| known.0 == e).map(|known| known.1)
    }
}
