//! One path under way: where it is, what it remembers, and on which node of the path tree it stands.
use super::address::ObjectId;
use super::coverage::Marks;
use super::frame::Frame;
use super::memory::Memory;
use super::output::Output;
use super::value::Value;
use crate::expr::Expr;
use crate::program::FuncId;
use crate::query::Path;
use smallvec::SmallVec;
use std::sync::Arc;

/// A symbolic object of the path: what a test has to give a value to.
#[derive(Clone, Debug)]
pub struct Input {
    pub name: Arc<str>,
    /// An array of bytes.
    pub array: Expr,
    pub size: u64,
}

/// What is called when the function at the bottom of the stack returns.
#[derive(Clone, Copy, Debug)]
pub enum Stage {
    /// Constructors, the next one first to be called; then `main`.
    Starting(usize),
    Main,
    /// After `main` returned this status, or `exit` was called with it: handlers and destructors.
    Exiting {
        /// Which number a symbolic one is, only the end of the path decides.
        status: Value,
        destructors: usize,
    },
}

/// What the path implies of an expression, found out when it was used.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fact {
    /// It is this number.
    Equal(u64),
    /// There are `count` bytes of this object at that address.
    Inside { id: ObjectId, count: u64 },
}

/// Facts that a state remembers: enough for the operands of one instruction, which may be executed again.
const FACTS: usize = 4;

#[derive(Clone)]
pub struct State {
    /// In order of creation; the first state is 0.
    pub id: u64,
    /// Its leaf in the tree of forks.
    pub node: u32,
    pub frame: Frame,
    /// The edge to take first, for a state that was born at a branch.
    pub edge: Option<u32>,
    pub memory: Memory,
    /// Held by the state: `Engine` retains it on a fork and releases it at the end.
    pub path: Path,
    pub inputs: Arc<Vec<Input>>,
    pub stage: Stage,
    /// Registered with `atexit`, last one first to be called.
    pub handlers: Arc<Vec<FuncId>>,
    /// The frames that `exit` was called from, where leaks are looked for: what they hold is alive.
    pub left: Option<Arc<Frame>>,
    /// Decisions with more than one feasible side so far.
    pub depth: u32,
    /// Values already tried by the instruction under way.
    pub tried: u32,
    /// The last facts found out, the newest last. They stay true: paths only get longer.
    pub facts: SmallVec<[(Expr, Fact); FACTS]>,
    /// How many calls of `setjmp` were numbered.
    pub jumps: u64,
    /// `klee_set_forking`.
    pub may_fork: bool,
    /// What the program wrote to standard output.
    pub output: Arc<Output>,
    /// The address of `errno`: the C library's, or that of an object of its own once asked for.
    pub errno: Option<u64>,
    /// What it reached that no test did then (only with `--tests coverage`).
    pub untested: Arc<Marks>,
    /// `argc` and the address of `argv`.
    pub arguments: (u64, u64),
}

impl State {
    /// The innermost frame under way, and the one that `exit` left.
    pub fn stacks(&self) -> impl Iterator<Item = &Frame> {
        std::iter::once(&self.frame).chain(self.left.as_deref())
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
