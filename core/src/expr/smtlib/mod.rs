//! SMT-LIB 2 terms over booleans, bit-vectors, floating-point numbers and arrays: parser and printer.
//!
//! The parser builds graph nodes from bytes in one pass without a syntax tree: `lexer` returns tokens,
//! `symbols` resolves names, `sorts` and `terms` use explicit stacks, so nesting cannot overflow the host
//! stack. Commands are in `script`. The printer binds shared nodes to names, so a graph of n nodes prints as
//! a text of size O(n).

mod apply;
mod array_equality;
mod declared;
mod float;
mod general;
mod lexer;
mod nested;
mod print;
mod real;
mod sorts;
mod symbols;
mod term_sort;
mod terms;

pub use declared::DeclaredFunction;
pub use lexer::{Lexer, Token, position};
pub use print::{Printer, print_symbol, print_value};
pub use symbols::{Counts, Mark, Symbol, Symbols, WitnessCondition};
pub use term_sort::{ScriptSort, Term, WordSort};
pub use terms::Parser;

use std::fmt;

/// A syntax or sort error: a byte offset into the text, and what was expected and found there.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SyntaxError {
    pub at: usize,
    pub message: String,
}

impl SyntaxError {
    pub fn new(at: usize, message: impl Into<String>) -> SyntaxError {
        SyntaxError { at, message: message.into() }
    }

    /// Formats `line L column C: message`, for a text that starts at line `line` and column `column`.
    pub fn located(&self, text: &[u8], line: usize, column: usize) -> String {
        let (l, c) = position(text, self.at);
        let column = if l == 1 { column + c - 1 } else { c };
        format!("line {} column {column}: {}", line + l - 1, self.message)
    }
}

impl fmt::Display for SyntaxError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "offset {}: {}", self.at, self.message)
    }
}

impl std::error::Error for SyntaxError {}
