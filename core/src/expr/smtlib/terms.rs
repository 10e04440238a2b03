//! Parser of terms: bytes to graph nodes in one pass.
//!
//! Open terms are on an explicit stack of frames (an application with its arguments, the bindings or the body
//! of a `let`, an annotation), so depth never uses the host stack. A bound name refers to the node it was
//! bound to, so sharing in the text becomes sharing in the graph.

use super::float::FloatFunction;
use super::lexer::{Token, shorten};
use super::real::Real;
use super::symbols::{Mark, Meaning, Reserved, Symbol, Symbols};
use super::term_sort::{ROUNDING_WIDTH, ScriptSort, Term, WordSort};
use super::{Lexer, SyntaxError};
use crate::expr::builtin::Builtin;
use crate::expr::{Bits, Expr, Graph, MAX_WIDTH};
use rustc_hash::FxHashMap;

/// Most digits of a decimal constant; every value of the widest bit-vector has fewer.
pub(super) const MAX_DIGITS: usize = 20_000;

/// The function of an application.
#[derive(Clone, Copy)]
pub(super) enum Head {
    Builtin { f: Builtin, params: [u64; 2], count: u8 },
    Float { f: FloatFunction, params: [u64; 2], count: u8 },
    Function(u32, Symbol),
    Declared(u32, Symbol),
    ConstArray { index: WordSort, element: WordSort },
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
    pub named: Vec<(Symbol, Term)>,
    /// The name of the last term as a whole.
    pub name: Option<Symbol>,
    /// Terms of the labels given so far in this command; they can be used in the rest of it.
    pub(super) given: FxHashMap<Symbol, Term>,
    pub(super) frames: Vec<Frame>,
    pub(super) args: Vec<Term>,
    /// Real constants of the command.
    pub(super) reals: Vec<Real>,
    bound: Vec<(Symbol, Term)>,
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
            reals: Vec::new(),
            bound: Vec::new(),
            expanded: 0,
        }
    }

    /// Reads one term. Leaves no bindings behind, even on errors.
    pub fn term(&mut self) -> Result<Term, SyntaxError> {
        let mark = self.symbols.mark();
        self.name = None;
        let result = self.read();
        self.symbols.undo(mark);
        self.frames.clear();
        self.args.clear();
        self.bound.clear();
        if let Ok(Term { sort: ScriptSort::Real(_), .. }) = result {
            return self.error("expected a term of the supported logics, found a real constant".into());
        }
        result
    }

    /// Reads a term that must be boolean.
    pub fn boolean(&mut self) -> Result<Expr, SyntaxError> {
        self.of_sort(ScriptSort::Bool).map(|term| term.expr)
    }

    /// Reads a term that must have this sort.
    pub fn of_sort(&mut self, sort: ScriptSort) -> Result<Term, SyntaxError> {
        self.lexer.token()?;
        let at = self.lexer.start();
        self.lexer.back();
        let term = self.term()?;
        let found = term.sort;
        if found != sort {
            let (sort, found) = (self.symbols.show(sort), self.symbols.show(found));
            let message = format!("expected a term of sort {sort}, found one of sort {found}");
            return Err(SyntaxError::new(at, message));
        }
        Ok(term)
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
                    Meaning::Float(_) | Meaning::Rounding(_) | Meaning::Declared(_) => Ok(symbol),
                }
            }
            found => self.lexer.unexpected("a symbol", found),
        }
    }

    pub(super) fn error<T>(&self, message: String) -> Result<T, SyntaxError> {
        Err(SyntaxError::new(self.lexer.start(), message))
    }

    fn read(&mut self) -> Result<Term, SyntaxError> {
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
                Token::Numeral(text) | Token::Decimal(text) if self.takes_reals() => self.decimal(text)?,
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
    fn binding(&mut self, value: Term) -> Result<(), SyntaxError> {
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
    pub(super) fn constant(&mut self, name: &str, quoted: bool) -> Result<Term, SyntaxError> {
        let symbol = self.symbols.number(name);
        match self.symbols.meaning(symbol) {
            Meaning::Value(term) => Ok(term),
            Meaning::Rounding(mode) => Ok(Term {
                expr: self.graph.word(ROUNDING_WIDTH, mode as u64),
                sort: ScriptSort::Word(WordSort::Rounding),
            }),
            Meaning::Nothing => match self.given.get(&symbol) {
                Some(&e) => Ok(e),
                None => self.error(format!("expected a declared symbol, found `{}`", shorten(name))),
            },
            Meaning::Reserved(_) if quoted => {
                self.error(format!("expected a declared symbol, found `|{name}|`"))
            }
            Meaning::Reserved(_) => self.error(format!("expected a term, found the reserved word `{name}`")),
            Meaning::Builtin(_) | Meaning::Function(_) | Meaning::Float(_) | Meaning::Declared(_) => {
                self.error(format!("expected a term, found the function `{name}` without arguments"))
            }
        }
    }

    /// The term of a node whose sort the graph has.
    pub(super) fn core(&self, expr: Expr) -> Term {
        Term { expr, sort: ScriptSort::of(self.graph.sort(expr)) }
    }

    /// Returns whether the next term is an argument that may be a real constant.
    fn takes_reals(&self) -> bool {
        let Some(Frame::Apply { head: Head::Float { f, .. }, .. }) = self.frames.last() else { return false };
        use FloatFunction as F;
        matches!(f, F::ToFp | F::Divide | F::Minus | F::IntToBv | F::Int2Bv | F::Nat2Bv)
    }

    fn decimal(&mut self, text: &str) -> Result<Term, SyntaxError> {
        if text.len() > MAX_DIGITS {
            return self
                .error(format!("expected a constant of at most {MAX_DIGITS} digits, found {}", text.len()));
        }
        match Real::parse(text) {
            Some(value) => Ok(self.real(value)),
            None => self.error(format!("expected a decimal number, found `{}`", shorten(text))),
        }
    }

    fn literal(&mut self, shift: u32, digits: &str) -> Result<Term, SyntaxError> {
        if digits.len() * shift as usize <= 64 {
            let word = u64::from_str_radix(digits, 1 << shift).expect("the lexer saw digits");
            let e = self.graph.word(digits.len() as u32 * shift, word);
            return Ok(self.core(e));
        }
        match Bits::from_digits(shift, digits) {
            Some(bits) => {
                let e = self.graph.constant(bits);
                Ok(self.core(e))
            }
            None => {
                let width = digits.len() as u64 * u64::from(shift);
                self.error(format!("expected a constant of at most {MAX_WIDTH} bits, found one of {width}"))
            }
        }
    }

    /// Reads what follows `(`: a complete term without arguments, or the start of a frame.
    fn open(&mut self) -> Result<Option<Term>, SyntaxError> {
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
            Meaning::Float(f) if f.params() > 0 => {
                let (name, count) = (f.name(), f.params());
                return self.error(format!("{name}: expected {count} indices, found none"));
            }
            Meaning::Float(f) => Head::Float { f, params: [0; 2], count: 0 },
            Meaning::Function(place) => Head::Function(place, symbol),
            Meaning::Declared(place) => Head::Declared(place, symbol),
            Meaning::Reserved(word) if !quoted => return self.reserved(word, name),
            Meaning::Value(_) | Meaning::Rounding(_) => {
                return self.error(format!(
                    "expected a function, found `{}`, which takes no arguments",
                    shorten(name)
                ));
            }
            Meaning::Nothing if name == "fp.to_real" => {
                let message = "fp.to_real: terms of sort Real are unsupported, except constants";
                return self.error(message.to_string());
            }
            Meaning::Nothing | Meaning::Reserved(_) => {
                return self.error(format!("expected a declared function, found `{}`", shorten(name)));
            }
        };
        self.frames.push(Frame::Apply { head, first: self.args.len(), at });
        Ok(None)
    }

    /// Reads what follows `(` and a reserved word.
    fn reserved(&mut self, word: Reserved, name: &str) -> Result<Option<Term>, SyntaxError> {
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
