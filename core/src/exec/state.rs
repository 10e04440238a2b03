//! One path under way: where it is, what it remembers, and on which node of the path tree it stands.
use super::address::ObjectId;
use super::frame::Frame;
use super::memory::Memory;
use super::output::Output;
use super::value::Value;
use crate::expr::Expr;
use crate::program::FuncId;
use crate::query::Path;
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

#[derive(Clone)]
pub struct State {
    /// In order of creation; the first state is 0.
    pub id: u64,
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
    /// Decisions with more than one feasible side so far.
    pub depth: u32,
    /// Objects already tried by the symbolic access under way.
    pub tried: u32,
    /// `klee_set_forking`.
    pub may_fork: bool,
    /// What the program wrote to standard output.
    pub output: Arc<Output>,
    /// The object behind `errno`, once asked for.
    pub errno: Option<ObjectId>,
    /// `argc` and the address of `argv`.
    pub arguments: (u64, u64),
}
