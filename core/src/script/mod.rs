//! Scripts: SMT-LIB 2 commands and KQuery files, answered by a `Solver`.
//!
//! A `Session` accepts text in chunks of any size and executes a command as soon as it is complete, so the
//! same code serves files and interactive use. An invalid command answers `(error "...")` and changes
//! nothing. If it would have changed the assertions or the symbols, the script is about another problem than
//! the session (`rejected.rs`).

mod answers;
mod check;
mod commands;
mod eliminate;
mod kquery;
mod linear;
mod on_demand;
mod options;
mod polynomials;
mod preprocess;
mod rejected;
mod skeleton;
mod split;
mod tables;
mod unconstrained;

pub use kquery::{KQuerySession, Mode};

use crate::budget::{Budget, Cancel};
use crate::expr::smtlib::{DeclaredFunction, Mark, Symbol, Symbols, Term};
use crate::expr::{Expr, Model};
use crate::query::{Path, Why};
use crate::solve::Solver;
use check::Reuse;
use options::Options;
use preprocess::PreprocessCounts;
use rejected::Rejected;
use split::{CommandRange, Splitter};
use std::time::Duration;

/// Answer to a command that is not supported.
const UNSUPPORTED: &str = "unsupported";

/// Number of nodes above which dead nodes are collected.
const COLLECT_ABOVE: usize = 1 << 20;

struct Assertion {
    expr: Expr,
    name: Option<Symbol>,
    /// The term as it was written, for `get-assertions`.
    text: Box<str>,
}

/// State saved by a push.
struct Level {
    mark: Mark,
    assertions: usize,
    declared: usize,
    labels: usize,
    nested: usize,
}

/// A declared symbol.
#[derive(Clone)]
enum Declaration {
    Constant(Term),
    Function(DeclaredFunction),
}

/// Result of the last check, valid until the assertions change.
enum LastCheck {
    None,
    Sat {
        model: Model,
        /// Number of nested arrays that the check had.
        nested: usize,
    },
    Unsat {
        /// Names of the assertions in the core.
        core: Vec<Symbol>,
        /// Text of the assumptions in the core.
        assumptions: Vec<String>,
    },
    Unknown(Why),
}

/// Result of one step.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Step {
    /// The text contains no further complete command.
    Idle,
    /// A command was executed, with its answer (`None` for most, unless `:print-success` is set).
    Done(Option<String>),
    /// The script has executed `(exit)`.
    Exit,
}

/// Limits of each query, for all kinds of scripts.
#[derive(Clone, Default, Debug)]
pub struct Limits {
    /// Time limit of each query; `(set-option :timeout ms)` also sets it.
    pub timeout: Option<Duration>,
    pub memory_mb: Option<u64>,
    pub cancel: Cancel,
}

impl Limits {
    fn budget(&self) -> Budget {
        let mut budget = self.timeout.map_or_else(Budget::unlimited, Budget::for_time);
        budget.cancel = self.cancel.clone();
        budget.memory_mb = self.memory_mb;
        budget
    }
}

/// An SMT-LIB 2 session.
pub struct Session {
    pub solver: Solver,
    pub limits: Limits,
    symbols: Symbols,
    splitter: Splitter,
    options: Options,
    assertions: Vec<Assertion>,
    levels: Vec<Level>,
    /// Declared constants and functions, in order, for `get-model`.
    declared: Vec<(Symbol, Declaration)>,
    /// Boolean terms with a `:named` label, in order, for `get-assignment`.
    labels: Vec<(Symbol, Term)>,
    rejected: Rejected,
    last: LastCheck,
    reuse: Reuse,
    preprocessed: PreprocessCounts,
    /// The path of the last check, retained so that the next check shares its prefix.
    retained_path: Option<Path>,
    errors: u64,
    unknowns: u64,
    exited: bool,
    collect_above: usize,
}

impl Session {
    pub fn new(solver: Solver, limits: Limits) -> Session {
        let symbols = Symbols::new(&solver.graph);
        let options = Options::new(limits.timeout);
        Session {
            solver,
            limits,
            symbols,
            splitter: Splitter::default(),
            options,
            assertions: Vec::new(),
            levels: Vec::new(),
            declared: Vec::new(),
            labels: Vec::new(),
            rejected: Rejected::default(),
            last: LastCheck::None,
            reuse: Reuse::Nothing,
            preprocessed: PreprocessCounts::default(),
            retained_path: None,
            errors: 0,
            unknowns: 0,
            exited: false,
            collect_above: COLLECT_ABOVE,
        }
    }

    /// Appends text.
    pub fn add_text(&mut self, text: &[u8]) {
        self.splitter.add(text);
    }

    /// Executes the next command if it is complete.
    pub fn step(&mut self) -> Step {
        if self.exited {
            return Step::Exit;
        }
        match self.splitter.next() {
            Some(command) => self.run(command),
            None => Step::Idle,
        }
    }

    /// Executes the incomplete command at the end of the text, which is an error.
    pub fn finish(&mut self) -> Step {
        match self.splitter.rest() {
            Some(command) if !self.exited => self.run(command),
            Some(_) | None => Step::Idle,
        }
    }

    /// Appends text, executes all complete commands and returns their answers.
    pub fn feed(&mut self, text: &[u8]) -> Vec<String> {
        self.add_text(text);
        let mut answers = Vec::new();
        while let Step::Done(answer) = self.step() {
            answers.extend(answer);
        }
        answers
    }

    fn run(&mut self, command: CommandRange) -> Step {
        // The session is borrowed mutably while the command reads the text.
        let text = self.splitter.take_text();
        let result = self.execute(&text[command.start..command.end]);
        let is_assertion = rejected::is_assertion(&text[command.start..command.end]);
        let changes_problem = rejected::changes_problem(&text[command.start..command.end]);
        self.splitter.return_text(text);
        self.collect_if_large();
        let rejected = match &result {
            Ok(Some(answer)) if changes_problem && answer == UNSUPPORTED => {
                Some((0, "an unsupported command"))
            }
            Ok(_) => None,
            Err(error) => Some((error.at, error.message.as_str())),
        };
        let located = rejected.map(|(at, message)| {
            let (line, column) = self.splitter.position(command.start + at);
            format!("line {line} column {column}: {message}")
        });
        if let (Some(located), true) = (&located, changes_problem) {
            self.rejected.add(self.levels.len(), self.symbols.global && !is_assertion, located);
        }
        let answer = match result {
            Ok(answer) => answer,
            Err(_) => {
                self.errors += 1;
                let located = located.expect("an error").replace('"', "\"\"");
                Some(format!("(error \"{located}\")"))
            }
        };
        if self.exited && answer.is_none() {
            return Step::Exit;
        }
        Step::Done(answer)
    }

    /// Number of invalid commands.
    pub fn errors(&self) -> u64 {
        self.errors
    }

    /// Number of checks answered `unknown`.
    pub fn unknowns(&self) -> u64 {
        self.unknowns
    }

    pub fn has_exited(&self) -> bool {
        self.exited
    }

    /// Resets everything but the remaining text and the state of the chain.
    fn reset(&mut self) {
        self.symbols = Symbols::new(&self.solver.graph);
        self.options = Options::new(self.limits.timeout);
        self.assertions.clear();
        self.levels.clear();
        self.declared.clear();
        self.labels.clear();
        self.rejected = Rejected::default();
        self.last = LastCheck::None;
    }

    /// Collects dead nodes between commands, when all roots are known.
    fn collect_if_large(&mut self) {
        if self.solver.graph.len() <= self.collect_above {
            return;
        }
        let mut roots: Vec<Expr> = self.symbols.roots().collect();
        roots.extend(self.assertions.iter().map(|assertion| assertion.expr));
        if let LastCheck::Sat { model, .. } = &self.last {
            roots.extend(model.iter().map(|(variable, _)| variable));
        }
        self.solver.collect(roots);
        self.collect_above = COLLECT_ABOVE.max(2 * self.solver.graph.len());
    }

    fn reset_assertions(&mut self) {
        let global = self.symbols.global;
        self.assertions.clear();
        self.levels.clear();
        self.rejected.pop_all();
        self.last = LastCheck::None;
        if !global {
            self.symbols = Symbols::new(&self.solver.graph);
            self.declared.clear();
            self.labels.clear();
            self.rejected = Rejected::default();
        }
    }

    fn push(&mut self, count: u64) {
        for _ in 0..count {
            let mark = self.symbols.mark();
            self.levels.push(Level {
                mark,
                assertions: self.assertions.len(),
                declared: self.declared.len(),
                labels: self.labels.len(),
                nested: self.symbols.nested_count(),
            });
        }
        self.last = LastCheck::None;
    }

    /// Pops `count` levels, which must exist.
    fn pop(&mut self, count: usize) {
        let Some(at) = self.levels.len().checked_sub(count).filter(|_| count > 0) else { return };
        let level = &self.levels[at];
        self.symbols.undo(level.mark);
        self.assertions.truncate(level.assertions);
        if !self.symbols.global {
            self.declared.truncate(level.declared);
            self.labels.truncate(level.labels);
            self.symbols.forget_nested(level.nested);
        }
        self.rejected.pop(at);
        self.levels.truncate(at);
        self.last = LastCheck::None;
    }
}
