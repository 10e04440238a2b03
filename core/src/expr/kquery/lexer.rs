//! KQuery tokens as slices of the text.

use crate::expr::smtlib::SyntaxError;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Token<'a> {
    Open,
    Close,
    ListOpen,
    ListClose,
    At,
    Comma,
    Equals,
    Colon,
    Arrow,
    Word(&'a str),
    /// `w32`
    Type(u64),
    /// A number with its sign and base prefix.
    Number(&'a str),
    End,
}

pub(super) struct Lexer<'a> {
    text: &'a [u8],
    at: usize,
    start: usize,
}

fn in_word(b: u8) -> bool {
    b.is_ascii_alphanumeric() || matches!(b, b'_' | b'.' | b'-')
}

/// Returns the width of a type such as `w32`.
pub(super) fn type_width(word: &str) -> Option<u64> {
    let digits = word.strip_prefix('w')?;
    (!digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit()))
        .then(|| digits.parse().unwrap_or(u64::MAX))
}

impl<'a> Lexer<'a> {
    pub(super) fn new(text: &'a [u8]) -> Lexer<'a> {
        Lexer { text, at: 0, start: 0 }
    }

    pub(super) fn start(&self) -> usize {
        self.start
    }

    pub(super) fn back(&mut self) {
        self.at = self.start;
    }

    /// Goes back to the end of a word of `length` bytes at `start`, which becomes the last token again.
    pub(super) fn return_to(&mut self, start: usize, length: usize) {
        self.start = start;
        self.at = start + length;
    }

    fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    pub(super) fn token(&mut self) -> Result<Token<'a>, SyntaxError> {
        while let Some(b) = self.peek() {
            match b {
                b' ' | b'\t' | b'\n' | b'\r' => self.at += 1,
                b'#' => {
                    while self.peek().is_some_and(|b| b != b'\n') {
                        self.at += 1;
                    }
                }
                _ => break,
            }
        }
        self.start = self.at;
        let Some(b) = self.peek() else { return Ok(Token::End) };
        self.at += 1;
        Ok(match b {
            b'(' => Token::Open,
            b')' => Token::Close,
            b'[' => Token::ListOpen,
            b']' => Token::ListClose,
            b'@' => Token::At,
            b',' => Token::Comma,
            b'=' => Token::Equals,
            b':' => Token::Colon,
            b'-' if self.peek() == Some(b'>') => {
                self.at += 1;
                Token::Arrow
            }
            b'+' | b'-' | b'0'..=b'9' => Token::Number(self.word()),
            b'a'..=b'z' | b'A'..=b'Z' | b'_' | b'.' => {
                let word = self.word();
                type_width(word).map_or(Token::Word(word), Token::Type)
            }
            b => {
                let found =
                    if b.is_ascii_graphic() { format!("`{}`", b as char) } else { format!("byte 0x{b:02x}") };
                return Err(SyntaxError::new(self.start, format!("expected a token, found {found}")));
            }
        })
    }

    fn word(&mut self) -> &'a str {
        while self.peek().is_some_and(in_word) {
            self.at += 1;
        }
        std::str::from_utf8(&self.text[self.start..self.at]).expect("ASCII")
    }

    pub(super) fn error<T>(&self, message: String) -> Result<T, SyntaxError> {
        Err(SyntaxError::new(self.start, message))
    }

    /// Returns the error for the last token in a place where something else is expected.
    pub(super) fn unexpected<T>(&self, expected: &str, found: Token<'_>) -> Result<T, SyntaxError> {
        let found = match found {
            Token::Open => "`(`".to_string(),
            Token::Close => "`)`".to_string(),
            Token::ListOpen => "`[`".to_string(),
            Token::ListClose => "`]`".to_string(),
            Token::At => "`@`".to_string(),
            Token::Comma => "`,`".to_string(),
            Token::Equals => "`=`".to_string(),
            Token::Colon => "`:`".to_string(),
            Token::Arrow => "`->`".to_string(),
            Token::Word(word) | Token::Number(word) => format!("`{}`", word.get(..40).unwrap_or(word)),
            Token::Type(width) => format!("the type `w{width}`"),
            Token::End => "the end of the text".to_string(),
        };
        self.error(format!("expected {expected}, found {found}"))
    }

    pub(super) fn expect(&mut self, wanted: Token<'_>, expected: &str) -> Result<(), SyntaxError> {
        match self.token()? {
            found if found == wanted => Ok(()),
            found => self.unexpected(expected, found),
        }
    }
}
