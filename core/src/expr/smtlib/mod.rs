//! SMT-LIB 2 terms over booleans, bit-vectors and arrays: reading and printing.
//!
//! Reading goes from bytes to graph nodes in one pass, without a tree in between: `lexer` gives tokens,
//! `symbols` says what a name means here, `sorts` and `terms` keep their own stacks, so that no nesting of the
//! input can exhaust ours. Commands are not here but in `script`. Printing binds what is shared to names, so
//! that a graph of n nodes prints in a text of size O(n).

mod apply;
mod lexer;
mod print;
mod sorts;
mod symbols;
mod terms;

pub use lexer::{Lexer, Token, position};
pub use print::{Printer, print_symbol, print_value};
pub use symbols::{Mark, Symbol, Symbols};
pub use terms::Parser;

use std::fmt;

/// Input that is not what the language allows: where (a byte offset into the text given), and what was
/// expected and found there.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SyntaxError {
    pub at: usize,
    pub message: String,
}

impl SyntaxError {
    pub fn new(at: usize, message: impl Into<String>) -> SyntaxError {
        SyntaxError { at, message: message.into() }
    }

    /// `line L column C: message`, for a text that begins at line `line` and column `column`.
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
