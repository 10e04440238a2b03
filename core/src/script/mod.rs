//! Scripts: SMT-LIB 2 commands and KQuery files, answered over a `Solver`.
//!
//! A `Session` is fed text in pieces of any size and executes a command as soon as its last parenthesis has
//! arrived, so the same code serves files and a dialogue. A wrong command answers `(error "...")` and changes
//! nothing; the session lives on with its assertions intact.

mod answers;
mod check;
mod commands;
mod kquery;
mod options;
mod split;
mod tables;

pub use kquery::{KQuerySession, Mode};

use crate::budget::{Budget, Cancel};
use crate::expr::smtlib::{Mark, Symbol, Symbols};
use crate::expr::{Expr, Model};
use crate::query::{Path, Why};
use crate::solve::Solver;
use options::Options;
use split::{Piece, Splitter};
use std::time::Duration;

/// Nodes beyond which what is no longer needed is collected.
const COLLECT_ABOVE: usize = 1 << 20;

struct Assertion {
    expr: Expr,
    name: Option<Symbol>,
}

/// What a push remembers.
struct Level {
    mark: Mark,
    assertions: usize,
    declared: usize,
}

/// How the last check ended, as long as the assertions are the same.
enum Last {
    Nothing,
    Sat(Model),
    Unsat {
        /// Names of assertions.
        core: Vec<Symbol>,
        /// The text of assumptions.
        assumptions: Vec<String>,
    },
    Unknown(Why),
}

/// What one step did.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Step {
    /// No complete command is left in the text so far.
    Idle,
    /// A command was executed, with this answer (none for most, unless `:print-success` is set).
    Done(Option<String>),
    /// The script said `(exit)`.
    Exit,
}

/// What all kinds of scripts say about how long a question may take.
#[derive(Clone, Default, Debug)]
pub struct Limits {
    /// For each question; `(set-option :timeout ms)` sets it as well.
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

/// A dialogue in SMT-LIB 2.
pub struct Session {
    pub solver: Solver,
    pub limits: Limits,
    symbols: Symbols,
    splitter: Splitter,
    options: Options,
    assertions: Vec<Assertion>,
    levels: Vec<Level>,
    /// Declared constants, in order, for `get-model`.
    declared: Vec<(Symbol, Expr)>,
    last: Last,
    /// The path of the last check, held so that the next one finds what they share.
    held: Option<Path>,
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
            last: Last::Nothing,
            held: None,
            errors: 0,
            unknowns: 0,
            exited: false,
            collect_above: COLLECT_ABOVE,
        }
    }

    /// Adds text to what is still to be executed.
    pub fn add_text(&mut self, text: &[u8]) {
        self.splitter.add(text);
    }

    /// Executes the next command, if a whole one is there.
    pub fn step(&mut self) -> Step {
        if self.exited {
            return Step::Exit;
        }
        match self.splitter.next() {
            Some(piece) => self.run(piece),
            None => Step::Idle,
        }
    }

    /// The text has ended: what is left of it is a command cut short.
    pub fn finish(&mut self) -> Step {
        match self.splitter.rest() {
            Some(piece) if !self.exited => self.run(piece),
            Some(_) | None => Step::Idle,
        }
    }

    /// Adds text and gives all answers to what is complete.
    pub fn feed(&mut self, text: &[u8]) -> Vec<String> {
        self.add_text(text);
        let mut answers = Vec::new();
        while let Step::Done(answer) = self.step() {
            answers.extend(answer);
        }
        answers
    }

    fn run(&mut self, piece: Piece) -> Step {
        // The text is lent out while the command runs.
        let text = self.splitter.take_text();
        let result = self.execute(&text[piece.start..piece.end]);
        self.splitter.return_text(text);
        self.collect_if_large();
        let answer = match result {
            Ok(answer) => answer,
            Err(error) => {
                self.errors += 1;
                let (line, column) = self.splitter.position(piece.start + error.at);
                let message = error.message.replace('"', "\"\"");
                Some(format!("(error \"line {line} column {column}: {message}\")"))
            }
        };
        if self.exited && answer.is_none() {
            return Step::Exit;
        }
        Step::Done(answer)
    }

    /// Wrong commands so far.
    pub fn errors(&self) -> u64 {
        self.errors
    }

    /// Checks answered `unknown` so far.
    pub fn unknowns(&self) -> u64 {
        self.unknowns
    }

    pub fn has_exited(&self) -> bool {
        self.exited
    }

    /// Forgets everything but the text still to come and what the chain has learnt.
    fn reset(&mut self) {
        self.symbols = Symbols::new(&self.solver.graph);
        self.options = Options::new(self.limits.timeout);
        self.assertions.clear();
        self.levels.clear();
        self.declared.clear();
        self.last = Last::Nothing;
    }

    /// Between commands, where all that is needed can be named: frees the rest once there is much of it.
    fn collect_if_large(&mut self) {
        if self.solver.graph.len() <= self.collect_above {
            return;
        }
        let mut roots: Vec<Expr> = self.symbols.roots().collect();
        roots.extend(self.assertions.iter().map(|assertion| assertion.expr));
        if let Last::Sat(model) = &self.last {
            roots.extend(model.iter().map(|(variable, _)| variable));
        }
        self.solver.collect(roots);
        self.collect_above = COLLECT_ABOVE.max(2 * self.solver.graph.len());
    }

    fn reset_assertions(&mut self) {
        let global = self.symbols.global;
        self.assertions.clear();
        self.levels.clear();
        self.last = Last::Nothing;
        if !global {
            self.symbols = Symbols::new(&self.solver.graph);
            self.declared.clear();
        }
    }

    fn push(&mut self, count: u64) {
        for _ in 0..count {
            let mark = self.symbols.mark();
            self.levels.push(Level {
                mark,
                assertions: self.assertions.len(),
                declared: self.declared.len(),
            });
        }
        self.last = Last::Nothing;
    }

    /// Takes back `count` levels, which there must be.
    fn pop(&mut self, count: usize) {
        let Some(at) = self.levels.len().checked_sub(count).filter(|_| count > 0) else { return };
        let level = &self.levels[at];
        self.symbols.undo(level.mark);
        self.assertions.truncate(level.assertions);
        if !self.symbols.global {
            self.declared.truncate(level.declared);
        }
        self.levels.truncate(at);
        self.last = Last::Nothing;
    }
}
