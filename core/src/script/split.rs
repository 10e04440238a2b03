//! Splitter of text that arrives in chunks into commands: one s-expression each, found by counting
//! parentheses outside strings, quoted symbols and comments. Other text ends at the end of its line.

use crate::expr::smtlib::position;

/// A command, as a range of the text.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct CommandRange {
    pub(super) start: usize,
    pub(super) end: usize,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
enum LexState {
    #[default]
    Plain,
    Comment,
    String,
    Quoted,
    /// Text outside parentheses.
    Stray,
}

#[derive(Default)]
pub(super) struct Splitter {
    text: Vec<u8>,
    /// Position up to which the text was scanned.
    at: usize,
    depth: u64,
    state: LexState,
    /// Start of the current command.
    start: Option<usize>,
    /// A position in the text with its line and column, from 0: later positions are computed from it.
    known: (usize, usize, usize),
}

impl Splitter {
    pub(super) fn add(&mut self, text: &[u8]) {
        let done = self.start.unwrap_or(self.at);
        if done > self.text.len() / 2 {
            let (line, column) = self.position(done);
            self.text.drain(..done);
            self.at -= done;
            self.start = self.start.map(|start| start - done);
            self.known = (0, line - 1, column - 1);
        }
        self.text.extend_from_slice(text);
    }

    /// Returns the next complete command.
    pub(super) fn next(&mut self) -> Option<CommandRange> {
        while let Some(&b) = self.text.get(self.at) {
            self.at += 1;
            match (self.state, b) {
                (LexState::Plain, b'(') => {
                    self.start.get_or_insert(self.at - 1);
                    self.depth += 1;
                }
                (LexState::Plain, b')') if self.depth > 1 => self.depth -= 1,
                (LexState::Plain, b')') if self.depth == 1 => return Some(self.command_until(self.at)),
                (LexState::Plain, b';') => self.state = LexState::Comment,
                (LexState::Plain, b' ' | b'\t' | b'\r' | b'\n') => {}
                (LexState::Plain, _) if self.depth == 0 => {
                    self.start = Some(self.at - 1);
                    self.state = LexState::Stray;
                }
                (LexState::Plain, b'"') => self.state = LexState::String,
                (LexState::Plain, b'|') => self.state = LexState::Quoted,
                (LexState::Comment, b'\n') | (LexState::String, b'"') | (LexState::Quoted, b'|') => {
                    // A doubled quote counts as the end of one string and the start of another.
                    self.state = LexState::Plain;
                }
                (LexState::Stray, b'\n') => return Some(self.command_until(self.at)),
                (
                    LexState::Plain
                    | LexState::Comment
                    | LexState::String
                    | LexState::Quoted
                    | LexState::Stray,
                    _,
                ) => {}
            }
        }
        None
    }

    /// Returns the incomplete command at the end of the text.
    pub(super) fn rest(&mut self) -> Option<CommandRange> {
        self.start.is_some().then(|| self.command_until(self.text.len()))
    }

    fn command_until(&mut self, end: usize) -> CommandRange {
        self.at = end;
        self.depth = 0;
        self.state = LexState::Plain;
        CommandRange { start: self.start.take().expect("a command has started"), end }
    }

    pub(super) fn take_text(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.text)
    }

    pub(super) fn return_text(&mut self, text: Vec<u8>) {
        self.text = text;
    }

    /// Returns the line and column, from 1, of a position in the text.
    pub(super) fn position(&mut self, at: usize) -> (usize, usize) {
        let (from, line, column) = self.known;
        let at = at.min(self.text.len());
        debug_assert!(at >= from, "positions ascend because commands are executed in order");
        let (l, c) = position(&self.text[from..], at - from);
        let here = (line + l - 1, if l == 1 { column + c - 1 } else { c - 1 });
        self.known = (at, here.0, here.1);
        (here.0 + 1, here.1 + 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pieces(chunks: &[&str]) -> Vec<String> {
        let mut splitter = Splitter::default();
        let mut all = Vec::new();
        for chunk in chunks {
            splitter.add(chunk.as_bytes());
            while let Some(command) = splitter.next() {
                all.push(String::from_utf8(splitter.text[command.start..command.end].to_vec()).unwrap());
            }
        }
        if let Some(command) = splitter.rest() {
            all.push(format!("rest {}", String::from_utf8_lossy(&splitter.text[command.start..command.end])));
        }
        all
    }

    #[test]
    fn commands_end_at_their_last_parenthesis() {
        let text = "(a (b)) ; (c\n(d \"x)\"\"(\" |)|)  oops (e)\n(f";
        let expected = ["(a (b))", "(d \"x)\"\"(\" |)|)", "oops (e)\n", "rest (f"];
        assert_eq!(pieces(&[text]), expected);
        let bytes: Vec<String> = text.chars().map(|c| c.to_string()).collect();
        assert_eq!(pieces(&bytes.iter().map(String::as_str).collect::<Vec<_>>()), expected);
    }

    #[test]
    fn positions_stay_correct_after_text_is_dropped() {
        let mut splitter = Splitter::default();
        splitter.add(b"(a)\n(b)\n  (c)");
        let last = std::iter::from_fn(|| splitter.next()).last().unwrap();
        assert_eq!(splitter.position(last.start), (3, 3));
        splitter.add(b" (d)");
        let next = splitter.next().unwrap();
        assert_eq!(splitter.position(next.start), (3, 7));
    }
}
