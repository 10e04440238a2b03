//! Cutting text that arrives in pieces into commands: one s-expression each, found by counting parentheses
//! outside strings, quoted symbols and comments. What is no s-expression is cut at the end of its line.

use crate::expr::smtlib::position;

/// A command, as a range of the text.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Piece {
    pub(super) start: usize,
    pub(super) end: usize,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
enum Inside {
    #[default]
    Plain,
    Comment,
    String,
    Quoted,
    /// Something outside any parentheses.
    Stray,
}

#[derive(Default)]
pub(super) struct Splitter {
    text: Vec<u8>,
    /// Up to where the text has been looked at.
    at: usize,
    depth: u64,
    inside: Inside,
    /// Where the command under way began.
    start: Option<usize>,
    /// A place in the text and its line and column, from 0: positions are counted from here.
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

    /// The next whole command.
    pub(super) fn next(&mut self) -> Option<Piece> {
        while let Some(&b) = self.text.get(self.at) {
            self.at += 1;
            match (self.inside, b) {
                (Inside::Plain, b'(') => {
                    self.start.get_or_insert(self.at - 1);
                    self.depth += 1;
                }
                (Inside::Plain, b')') if self.depth > 1 => self.depth -= 1,
                (Inside::Plain, b')') if self.depth == 1 => return Some(self.piece(self.at)),
                (Inside::Plain, b';') => self.inside = Inside::Comment,
                (Inside::Plain, b' ' | b'\t' | b'\r' | b'\n') => {}
                (Inside::Plain, _) if self.depth == 0 => {
                    self.start = Some(self.at - 1);
                    self.inside = Inside::Stray;
                }
                (Inside::Plain, b'"') => self.inside = Inside::String,
                (Inside::Plain, b'|') => self.inside = Inside::Quoted,
                (Inside::Comment, b'\n') | (Inside::String, b'"') | (Inside::Quoted, b'|') => {
                    // A doubled quote ends one string and begins another: the same for counting.
                    self.inside = Inside::Plain;
                }
                (Inside::Stray, b'\n') => return Some(self.piece(self.at)),
                (Inside::Plain | Inside::Comment | Inside::String | Inside::Quoted | Inside::Stray, _) => {}
            }
        }
        None
    }

    /// What is left when the text has ended.
    pub(super) fn rest(&mut self) -> Option<Piece> {
        self.start.is_some().then(|| self.piece(self.text.len()))
    }

    fn piece(&mut self, end: usize) -> Piece {
        self.at = end;
        self.depth = 0;
        self.inside = Inside::Plain;
        Piece { start: self.start.take().expect("a command is under way"), end }
    }

    pub(super) fn take_text(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.text)
    }

    pub(super) fn return_text(&mut self, text: Vec<u8>) {
        self.text = text;
    }

    /// The line and column, from 1, of a place in the text.
    pub(super) fn position(&mut self, at: usize) -> (usize, usize) {
        let (from, line, column) = self.known;
        let at = at.min(self.text.len());
        debug_assert!(at >= from, "places are asked for in rising order: commands are executed in order");
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
            while let Some(piece) = splitter.next() {
                all.push(String::from_utf8(splitter.text[piece.start..piece.end].to_vec()).unwrap());
            }
        }
        if let Some(piece) = splitter.rest() {
            all.push(format!("rest {}", String::from_utf8_lossy(&splitter.text[piece.start..piece.end])));
        }
        all
    }

    #[test]
    fn commands_are_cut_at_their_last_parenthesis() {
        let text = "(a (b)) ; (c\n(d \"x)\"\"(\" |)|)  oops (e)\n(f";
        let expected = ["(a (b))", "(d \"x)\"\"(\" |)|)", "oops (e)\n", "rest (f"];
        assert_eq!(pieces(&[text]), expected);
        let bytes: Vec<String> = text.chars().map(|c| c.to_string()).collect();
        assert_eq!(pieces(&bytes.iter().map(String::as_str).collect::<Vec<_>>()), expected);
    }

    #[test]
    fn positions_survive_the_dropping_of_text() {
        let mut splitter = Splitter::default();
        splitter.add(b"(a)\n(b)\n  (c)");
        let last = std::iter::from_fn(|| splitter.next()).last().unwrap();
        assert_eq!(splitter.position(last.start), (3, 3));
        splitter.add(b" (d)");
        let next = splitter.next().unwrap();
        assert_eq!(splitter.position(next.start), (3, 7));
    }
}
