//! Rejected commands that would have changed the assertions or the symbols.
//!
//! After one of them the assertions of the session are not those of the script, and `sat` or `unsat` would be
//! about another problem. So `check-sat` answers `unknown`, unless `(set-option :continued-execution true)` asks
//! for the answer about what was accepted. A pop below the level of a rejected command ends its effect.

use crate::expr::smtlib::{Lexer, Token};

/// Rejected commands, with position and message.
#[derive(Default)]
pub(super) struct Rejected {
    /// The first one that no pop undoes: a declaration or definition, if these are global.
    lasting: Option<String>,
    /// The first one of each level, lowest level first.
    levels: Vec<(usize, String)>,
}

impl Rejected {
    pub(super) fn add(&mut self, level: usize, lasting: bool, message: &str) {
        if lasting {
            self.lasting.get_or_insert_with(|| message.to_string());
        } else if self.levels.last().is_none_or(|(known, _)| *known < level) {
            self.levels.push((level, message.to_string()));
        }
    }

    /// Forgets the commands above `level`.
    pub(super) fn pop(&mut self, level: usize) {
        while self.levels.last().is_some_and(|(known, _)| *known > level) {
            self.levels.pop();
        }
    }

    /// Forgets all commands but those that no pop undoes.
    pub(super) fn pop_all(&mut self) {
        self.levels.clear();
    }

    /// Position and message of a rejected command.
    pub(super) fn first(&self) -> Option<&str> {
        self.lasting.as_deref().or_else(|| self.levels.first().map(|(_, message)| message.as_str()))
    }
}

/// Returns whether a command is an assertion, which a pop always undoes.
pub(super) fn is_assertion(text: &[u8]) -> bool {
    let mut lexer = Lexer::new(text);
    matches!((lexer.token(), lexer.token()), (Ok(Token::Open), Ok(Token::Symbol("assert"))))
}

/// Returns whether a command, or text that is none, is meant to change the assertions or the symbols.
pub(super) fn changes_problem(text: &[u8]) -> bool {
    let mut lexer = Lexer::new(text);
    let (Ok(Token::Open), Ok(Token::Symbol(name))) = (lexer.token(), lexer.token()) else { return true };
    // Optimisation does not change what satisfies the assertions.
    let only_asks = matches!(
        name,
        "echo" | "exit" | "simplify" | "eval" | "help" | "display" | "minimize" | "maximize" | "assert-soft"
    );
    !only_asks && !["get-", "set-", "check-"].iter().any(|prefix| name.starts_with(prefix))
}
