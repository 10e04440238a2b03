//! SMT-LIB 2 tokens as slices of the text. Positions are byte offsets; lines and columns are computed only
//! for errors.

use super::SyntaxError;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Token<'a> {
    Open,
    Close,
    Symbol(&'a str),
    /// `|...|` without the bars: a symbol, never a reserved word.
    Quoted(&'a str),
    /// A keyword without the colon.
    Keyword(&'a str),
    Numeral(&'a str),
    Decimal(&'a str),
    /// The digits of `#x...`.
    Hex(&'a str),
    /// The digits of `#b...`.
    Binary(&'a str),
    /// A string without the outer quotes; inner quotes are still doubled.
    String(&'a str),
    End,
}

/// Classes of bytes.
const SYMBOL: u8 = 1;
const DIGIT: u8 = 2;
const SPACE: u8 = 4;

static CLASS: [u8; 256] = {
    let mut class = [0; 256];
    let mut b = 0;
    while b < 256 {
        let c = b as u8;
        class[b] = match c {
            b'0'..=b'9' => SYMBOL | DIGIT,
            b'a'..=b'z' | b'A'..=b'Z' => SYMBOL,
            b'~' | b'!' | b'@' | b'$' | b'%' | b'^' | b'&' | b'*' | b'_' | b'-' | b'+' | b'=' | b'<'
            | b'>' | b'.' | b'?' | b'/' => SYMBOL,
            b' ' | b'\t' | b'\n' | b'\r' => SPACE,
            _ => 0,
        };
        b += 1;
    }
    class
};

fn is(b: u8, class: u8) -> bool {
    CLASS[b as usize] & class != 0
}

/// Returns whether `name` is a simple symbol, which needs no quotes.
pub(super) fn is_simple(name: &str) -> bool {
    let bytes = name.as_bytes();
    bytes.first().is_some_and(|&b| !is(b, DIGIT)) && bytes.iter().all(|&b| is(b, SYMBOL))
}

pub struct Lexer<'a> {
    text: &'a [u8],
    at: usize,
    /// Start of the last token.
    start: usize,
}

impl<'a> Lexer<'a> {
    pub fn new(text: &'a [u8]) -> Lexer<'a> {
        Lexer { text, at: 0, start: 0 }
    }

    /// Returns the start of the last token.
    pub fn start(&self) -> usize {
        self.start
    }

    /// Returns the offset at which the next token is searched.
    pub fn at(&self) -> usize {
        self.at
    }

    /// Puts the last token back.
    pub fn back(&mut self) {
        self.at = self.start;
    }

    #[inline]
    fn skip(&mut self) {
        while let Some(&b) = self.text.get(self.at) {
            if is(b, SPACE) {
                self.at += 1;
            } else if b == b';' {
                while self.text.get(self.at).is_some_and(|&b| b != b'\n') {
                    self.at += 1;
                }
            } else {
                return;
            }
        }
    }

    #[inline]
    fn run(&mut self, from: usize, accept: impl Fn(u8) -> bool) -> &'a str {
        while self.text.get(self.at).is_some_and(|&b| accept(b)) {
            self.at += 1;
        }
        // Only called for classes of ASCII characters.
        std::str::from_utf8(&self.text[from..self.at]).expect("ASCII")
    }

    #[inline]
    pub fn token(&mut self) -> Result<Token<'a>, SyntaxError> {
        self.skip();
        self.start = self.at;
        let Some(&b) = self.text.get(self.at) else { return Ok(Token::End) };
        self.at += 1;
        match b {
            b'(' => Ok(Token::Open),
            b')' => Ok(Token::Close),
            b'0'..=b'9' => self.number(),
            b if is(b, SYMBOL) => Ok(Token::Symbol(self.run(self.start, |b| is(b, SYMBOL)))),
            b'#' => self.digits(),
            b':' => {
                let name = self.run(self.start + 1, |b| is(b, SYMBOL));
                if name.is_empty() {
                    return Err(SyntaxError::new(self.start, "expected a keyword after `:`"));
                }
                Ok(Token::Keyword(name))
            }
            b'|' => {
                let inside = self.delimited(b'|', "a closing `|`")?;
                if inside.contains('\\') {
                    return Err(SyntaxError::new(
                        self.start,
                        "expected no `\\` in a quoted symbol, found one",
                    ));
                }
                Ok(Token::Quoted(inside))
            }
            b'"' => {
                let from = self.at;
                self.delimited(b'"', "a closing `\"`")?;
                while self.text.get(self.at) == Some(&b'"') {
                    self.at += 1;
                    self.delimited(b'"', "a closing `\"`")?;
                }
                self.utf8(from, self.at - 1).map(Token::String)
            }
            b => Err(SyntaxError::new(self.start, format!("expected a token, found {}", describe_byte(b)))),
        }
    }

    fn number(&mut self) -> Result<Token<'a>, SyntaxError> {
        let whole = self.run(self.start, |b| is(b, DIGIT));
        if self.text.get(self.at) == Some(&b'.') {
            self.at += 1;
            return Ok(Token::Decimal(self.run(self.start, |b| is(b, DIGIT))));
        }
        if self.text.get(self.at).is_some_and(|&b| is(b, SYMBOL)) {
            let all = self.run(self.start, |b| is(b, SYMBOL));
            return Err(SyntaxError::new(
                self.start,
                format!("expected a numeral, found `{}`", shorten(all)),
            ));
        }
        Ok(Token::Numeral(whole))
    }

    fn digits(&mut self) -> Result<Token<'a>, SyntaxError> {
        let kind = self.text.get(self.at).copied();
        self.at += usize::from(kind.is_some());
        let from = self.at;
        let token = match kind {
            Some(b'x') => Token::Hex(self.run(from, |b| b.is_ascii_hexdigit())),
            Some(b'b') => Token::Binary(self.run(from, |b| b == b'0' || b == b'1')),
            Some(_) | None => {
                return Err(SyntaxError::new(self.start, "expected `#x` or `#b`, found another `#`"));
            }
        };
        if self.at == from || self.text.get(self.at).is_some_and(|&b| is(b, SYMBOL)) {
            return Err(SyntaxError::new(self.start, "expected digits only after `#x` or `#b`"));
        }
        Ok(token)
    }

    /// Returns the text up to the next `end`, and skips `end`.
    fn delimited(&mut self, end: u8, expected: &str) -> Result<&'a str, SyntaxError> {
        let from = self.at;
        match self.text[from..].iter().position(|&b| b == end) {
            Some(n) => {
                self.at = from + n + 1;
                self.utf8(from, from + n)
            }
            None => {
                self.at = self.text.len();
                Err(SyntaxError::new(self.start, format!("expected {expected}, found the end of the text")))
            }
        }
    }

    fn utf8(&self, from: usize, to: usize) -> Result<&'a str, SyntaxError> {
        std::str::from_utf8(&self.text[from..to])
            .map_err(|e| SyntaxError::new(from + e.valid_up_to(), "expected UTF-8 text, found other bytes"))
    }

    /// Returns the error for the last token in a place where something else is expected.
    pub fn unexpected<T>(&self, expected: &str, found: Token<'_>) -> Result<T, SyntaxError> {
        let found = match found {
            Token::Open => "`(`".to_string(),
            Token::Close => "`)`".to_string(),
            Token::Symbol(s) => format!("`{}`", shorten(s)),
            Token::Quoted(s) => format!("`|{}|`", shorten(s)),
            Token::Keyword(s) => format!("`:{}`", shorten(s)),
            Token::Numeral(s) | Token::Decimal(s) => format!("`{}`", shorten(s)),
            Token::Hex(s) => format!("`#x{}`", shorten(s)),
            Token::Binary(s) => format!("`#b{}`", shorten(s)),
            Token::String(_) => "a string".to_string(),
            Token::End => "the end of the text".to_string(),
        };
        Err(SyntaxError::new(self.start, format!("expected {expected}, found {found}")))
    }

    pub fn close(&mut self) -> Result<(), SyntaxError> {
        match self.token()? {
            Token::Close => Ok(()),
            found => self.unexpected("`)`", found),
        }
    }

    pub fn open(&mut self, expected: &str) -> Result<(), SyntaxError> {
        match self.token()? {
            Token::Open => Ok(()),
            found => self.unexpected(expected, found),
        }
    }

    /// Reads a numeral of at most 64 bits.
    pub fn numeral(&mut self) -> Result<u64, SyntaxError> {
        match self.token()? {
            Token::Numeral(digits) => digits.parse().map_err(|_| {
                let found = shorten(digits);
                SyntaxError::new(self.start, format!("expected a numeral below 2^64, found `{found}`"))
            }),
            found => self.unexpected("a numeral", found),
        }
    }

    /// Skips one s-expression, which may consist of any tokens.
    pub fn skip_expression(&mut self) -> Result<(), SyntaxError> {
        let mut depth = 0u64;
        loop {
            match self.token()? {
                Token::Open => depth += 1,
                Token::Close if depth > 0 => depth -= 1,
                found @ (Token::Close | Token::End) => return self.unexpected("an expression", found),
                Token::Symbol(_) | Token::Quoted(_) | Token::Keyword(_) | Token::Numeral(_) => {}
                Token::Decimal(_) | Token::Hex(_) | Token::Binary(_) | Token::String(_) => {}
            }
            if depth == 0 {
                return Ok(());
            }
        }
    }
}

/// Shortens a long name for a message.
pub(super) fn shorten(text: &str) -> std::borrow::Cow<'_, str> {
    match text.char_indices().nth(40) {
        Some((at, _)) => format!("{}...", &text[..at]).into(),
        None => text.into(),
    }
}

fn describe_byte(b: u8) -> String {
    if b.is_ascii_graphic() { format!("`{}`", b as char) } else { format!("byte 0x{b:02x}") }
}

/// Returns the line and column, both from 1, of byte `at`.
pub fn position(text: &[u8], at: usize) -> (usize, usize) {
    let before = &text[..at.min(text.len())];
    let line = before.iter().filter(|&&b| b == b'\n').count() + 1;
    let column = before.iter().rev().take_while(|&&b| b != b'\n').count() + 1;
    (line, column)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tokens(text: &str) -> Vec<Token<'_>> {
        let mut lexer = Lexer::new(text.as_bytes());
        let mut all = Vec::new();
        loop {
            match lexer.token().unwrap() {
                Token::End => return all,
                token => all.push(token),
            }
        }
    }

    #[test]
    fn tokens_of_every_kind() {
        assert_eq!(
            tokens("(|a b| ?x ; comment )\n:named 12 1.5 #xfF #b01 \"a\"\"b\")"),
            [
                Token::Open,
                Token::Quoted("a b"),
                Token::Symbol("?x"),
                Token::Keyword("named"),
                Token::Numeral("12"),
                Token::Decimal("1.5"),
                Token::Hex("fF"),
                Token::Binary("01"),
                Token::String("a\"\"b"),
                Token::Close
            ]
        );
    }

    #[test]
    fn invalid_tokens_report_an_error() {
        for (text, message) in [
            ("\u{0}", "expected a token, found byte 0x00"),
            ("[", "expected a token, found `[`"),
            ("|ab", "expected a closing `|`, found the end of the text"),
            ("\"ab", "expected a closing `\"`, found the end of the text"),
            ("#q", "expected `#x` or `#b`, found another `#`"),
            ("#b012", "expected digits only after `#x` or `#b`"),
            ("12ab", "expected a numeral, found `12ab`"),
            (":", "expected a keyword after `:`"),
        ] {
            assert_eq!(Lexer::new(text.as_bytes()).token().unwrap_err().message, message);
        }
    }
}
