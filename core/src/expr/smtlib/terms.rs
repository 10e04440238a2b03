//! Parser of terms: bytes to graph nodes in one pass.
//!
//! Open terms are on an explicit stack of frames (an application with its arguments, the bindings or the body
//! of a `let`, an annotation), so depth never uses the host stack. A bound name refers to the node it was
//! bound to, so sharing in the text becomes sharing in the graph.

use super::lexer::{Token, shorten};
use super::symbols::{Mark, Meaning, Reserved, Symbol, Symbols};
use super::{Lexer, SyntaxError};
use crate::expr::builtin::Builtin;
use crate::expr::{Bits, Expr, Graph, MAX_WIDTH, Sort};
use rustc_hash::FxHashMap;

/// The function of an application.
#[derive(Clone, Copy)]
pub(super) enum Head {
    Builtin { f: Builtin, params: [u64; 2], count: u8 },
    Function(u32, Symbol),
    ConstArray { index: u32, element: u32 },
}

pub(super) enum Frame {
    Apply {
        head: Head,
        first: usize,
        at: usize,
    },
    /// The values of the names bound since `first` are being read.
    Bindings {
        first: usize,
        name: Symbol,
    },
    Body {
        mark: Mark,
    },
    /// An annotation; `whole` if it encloses the whole term.
    Annotated {
        whole: bool,
    },
}

/// Parses the terms of one command.
pub struct Parser<'p, 'a> {
    pub graph: &'p mut Graph,
    pub symbols: &'p mut Symbols,
    pub lexer: Lexer<'a>,
    /// Names given by `:named`, in order. The caller defines them.
    pub named: Vec<(Symbol, Expr)>,
    /// The name of the last term as a whole.
    pub name: Option<Symbol>,
    /// Terms of the labels given so far in this command; they can be used in the rest of it.
    pub(super) given: FxHashMap<Symbol, Expr>,
    pub(super) frames: Vec<Frame>,
    pub(super) args: Vec<Expr>,
    bound: Vec<(Symbol, Expr)>,
    pub(super) expanded: u64,
}

impl<'p, 'a> Parser<'p, 'a> {
    pub fn new(graph: &'p mut Graph, symbols: &'p mut Symbols, lexer: Lexer<'a>) -> Parser<'p, 'a> {
        Parser {
            graph,
            symbols,
            lexer,
            named: Vec::new(),
            name: None,
            given: FxHashMap::default(),
            frames: Vec::new(),
            args: Vec::new(),
            bound: Vec::new(),
            expanded: 0,
        }
    }

    /// Reads one term. Leaves no bindings behind, even on errors.
    pub fn term(&mut self) -> Result<Expr, SyntaxError> {
        let mark = self.symbols.mark();
        self.name = None;
        let result = self.read();
        self.symbols.undo(mark);
        self.frames.clear();
        self.args.clear();
        self.bound.clear();
        result
    }

    /// Reads a term that must be boolean.
    pub fn boolean(&mut self) -> Result<Expr, SyntaxError> {
        self.of_sort(Sort::Bool)
    }

    /// Reads a term that must have this sort.
    pub fn of_sort(&mut self, sort: Sort) -> Result<Expr, SyntaxError> {
        self.lexer.token()?;
        let at = self.lexer.start();
        self.lexer.back();
        let e = self.term()?;
        let found = self.graph.sort(e);
        if found != sort {
            return Err(SyntaxError::new(
                at,
                format!("expected a term of sort {sort}, found one of sort {found}"),
            ));
        }
        Ok(e)
    }

    /// Reads a symbol that is not a reserved word.
    pub fn symbol(&mut self) -> Result<Symbol, SyntaxError> {
        match self.lexer.token()? {
            Token::Quoted(name) => Ok(self.symbols.number(name)),
            Token::Symbol(name) => {
                let symbol = self.symbols.number(name);
                match self.symbols.meaning(symbol) {
                    Meaning::Reserved(_) => {
                        self.error(format!("expected a symbol, found the reserved word `{name}`"))
                    }
                    Meaning::Nothing | Meaning::Builtin(_) | Meaning::Value(_) | Meaning::Function(_) => {
                        Ok(symbol)
                    }
                }
            }
            found => self.lexer.unexpected("a symbol", found),
        }
    }

    pub(super) fn error<T>(&self, message: String) -> Result<T, SyntaxError> {
        Err(SyntaxError::new(self.lexer.start(), message))
    }

    fn read(&mut self) -> Result<Expr, SyntaxError> {
        loop {
            // Either a term is complete, or a frame was opened and its first term follows.
            let value = match self.lexer.token()? {
                Token::Symbol(name) => self.constant(name, false)?,
                Token::Quoted(name) => self.constant(name, true)?,
                Token::Open => match self.open()? {
                    Some(value) => value,
                    None => continue,
                },
                Token::Close if matches!(self.frames.last(), Some(Frame::Apply { .. })) => self.apply()?,
                Token::Hex(digits) => self.literal(4, digits)?,
                Token::Binary(digits) => self.literal(1, digits)?,
                found @ (Token::Close
                | Token::Keyword(_)
                | Token::Numeral(_)
                | Token::Decimal(_)
                | Token::String(_)
                | Token::End) => return self.lexer.unexpected("a term", found),
            };
            // Passes the value to its frame, which may be complete then.
            loop {
                match self.frames.last_mut() {
                    None => return Ok(value),
                    Some(Frame::Apply { .. }) => {
                        self.args.push(value);
                        break;
                    }
                    Some(Frame::Bindings { .. }) => {
                        self.binding(value)?;
                        break;
                    }
                    Some(&mut Frame::Body { mark }) => {
                        self.lexer.close()?;
                        self.symbols.undo(mark);
                    }
                    Some(&mut Frame::Annotated { whole }) => self.attributes(value, whole)?,
                }
                // The value of a `let` is that of its body, of an annotation that of its term.
                self.frames.pop();
            }
        }
    }

    /// Reads the next binding of a `let`, or starts its body.
    fn binding(&mut self, value: Expr) -> Result<(), SyntaxError> {
        let Some(&mut Frame::Bindings { first, name }) = self.frames.last_mut() else {
            unreachable!("called for bindings")
        };
        self.bound.push((name, value));
        self.lexer.close()?;
        match self.lexer.token()? {
            Token::Open => {
                let name = self.symbol()?;
                *self.frames.last_mut().expect("the bindings") = Frame::Bindings { first, name };
            }
            Token::Close => {
                let mark = self.symbols.mark();
                let by = self.symbols.new_let();
                for i in first..self.bound.len() {
                    let (symbol, value) = self.bound[i];
                    if !self.symbols.bind(symbol, value, by) {
                        let name = shorten(self.symbols.name(symbol)).into_owned();
                        return self
                            .error(format!("expected each name once in a `let`, found `{name}` again"));
                    }
                }
                self.bound.truncate(first);
                *self.frames.last_mut().expect("the bindings") = Frame::Body { mark };
            }
            found => return self.lexer.unexpected("another binding or `)`", found),
        }
        Ok(())
    }

    /// Resolves a symbol without arguments.
    #[inline]
    pub(super) fn constant(&mut self, name: &str, quoted: bool) -> Result<Expr, SyntaxError> {
        let symbol = self.symbols.number(name);
        match self.symbols.meaning(symbol) {
            Meaning::Value(e) => Ok(e),
            Meaning::Nothing => match self.given.get(&symbol) {
                Some(&e) => Ok(e),
                None => self.error(format!("expected a declared symbol, found `{}`", shorten(name))),
            },
            Meaning::Reserved(_) if quoted => {
                self.error(format!("expected a declared symbol, found `|{name}|`"))
            }
            Meaning::Reserved(_) => self.error(format!("expected a term, found the reserved word `{name}`")),
            Meaning::Builtin(_) | Meaning::Function(_) => {
                self.error(format!("expected a term, found the function `{name}` without arguments"))
            }
        }
    }

    fn literal(&mut self, shift: u32, digits: &str) -> Result<Expr, SyntaxError> {
        if digits.len() * shift as usize <= 64 {
            let word = u64::from_str_radix(digits, 1 << shift).expect("the lexer saw digits");
            return Ok(self.graph.word(digits.len() as u32 * shift, word));
        }
        match Bits::from_digits(shift, digits) {
            Some(bits) => Ok(self.graph.constant(bits)),
            None => {
                let width = digits.len() as u64 * u64::from(shift);
                self.error(format!("expected a constant of at most {MAX_WIDTH} bits, found one of {width}"))
            }
        }
    }

    /// Reads what follows `(`: a complete term without arguments, or the start of a frame.
    fn open(&mut self) -> Result<Option<Expr>, SyntaxError> {
        let at = self.lexer.start();
        let (name, quoted) = match self.lexer.token()? {
            Token::Symbol(name) => (name, false),
            Token::Quoted(name) => (name, true),
            Token::Open => {
                let head = self.compound_head()?;
                self.frames.push(Frame::Apply { head, first: self.args.len(), at });
                return Ok(None);
            }
            found => return self.lexer.unexpected("a function", found),
        };
        let symbol = self.symbols.number(name);
        let head = match self.symbols.meaning(symbol) {
            Meaning::Builtin(f) => Head::Builtin { f, params: [0; 2], count: 0 },
            Meaning::Function(place) => Head::Function(place, symbol),
            Meaning::Reserved(word) if !quoted => return self.reserved(word, name),
            Meaning::Value(_) => {
                return self.error(format!(
                    "expected a function, found `{}`, which takes no arguments",
                    shorten(name)
                ));
            }
            Meaning::Nothing | Meaning::Reserved(_) => {
                return self.error(format!("expected a declared function, found `{}`", shorten(name)));
            }
        };
        self.frames.push(Frame::Apply { head, first: self.args.len(), at });
        Ok(None)
    }

    /// Reads what follows `(` and a reserved word.
    fn reserved(&mut self, word: Reserved, name: &str) -> Result<Option<Expr>, SyntaxError> {
        match word {
            Reserved::Indexed => return self.indexed_constant().map(Some),
            Reserved::As => return self.qualified().map(Some),
            Reserved::Annotate => {
                let whole = self.frames.is_empty();
                self.frames.push(Frame::Annotated { whole });
            }
            Reserved::Let => {
                self.lexer.open("`(` before the bindings of a `let`")?;
                self.lexer.open("a binding of a `let`")?;
                let name = self.symbol()?;
                self.frames.push(Frame::Bindings { first: self.bound.len(), name });
            }
            Reserved::Foreign => {
                return self.error(format!("expected a quantifier-free term, found `{name}`"));
            }
        }
        Ok(None)
    }
}
