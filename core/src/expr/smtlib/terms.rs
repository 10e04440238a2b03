//! Reading terms: bytes to graph nodes in one pass.
//!
//! What is being read is on a stack of frames (an application collecting its arguments, the bindings or the
//! body of a `let`, an annotation), so depth costs memory of ours and never of the host stack. A bound name
//! stands for the node it was bound to: sharing in the text is sharing in the graph, however deep the `let`s
//! are nested.

use super::lexer::{Token, shorten};
use super::symbols::{Mark, Meaning, Reserved, Symbol, Symbols};
use super::{Lexer, SyntaxError};
use crate::expr::builtin::Builtin;
use crate::expr::{Bits, Expr, Graph, MAX_WIDTH, Sort};
use rustc_hash::{FxHashMap, FxHashSet};

/// Nodes that uses of defined functions may cost in one command. Definitions built upon each other double in
/// size at each step, so a short text could ask for any amount.
const MAX_EXPANSION: u64 = 1 << 20;

/// More decimal digits than any value of the widest bit-vector has.
const MAX_DIGITS: usize = 20_000;

/// What is applied.
#[derive(Clone, Copy)]
enum Head {
    Builtin { f: Builtin, params: [u64; 2], count: u8 },
    Function(u32, Symbol),
    ConstArray { index: u32, element: u32 },
}

enum Frame {
    Apply {
        head: Head,
        first: usize,
        at: usize,
    },
    /// Values for the names bound since `first` are being read.
    Bindings {
        first: usize,
        name: Symbol,
    },
    Body {
        mark: Mark,
    },
    /// After `(!`; `whole` if it encloses the whole term.
    Annotated {
        whole: bool,
    },
}

/// Reads the terms of one command.
pub struct Parser<'p, 'a> {
    pub graph: &'p mut Graph,
    pub symbols: &'p mut Symbols,
    pub lexer: Lexer<'a>,
    /// Names that `:named` gave, in order. They mean nothing yet: whoever asked for the term defines them.
    pub named: Vec<(Symbol, Expr)>,
    /// The name given to the whole of the term read last.
    pub name: Option<Symbol>,
    given: FxHashSet<Symbol>,
    frames: Vec<Frame>,
    args: Vec<Expr>,
    bound: Vec<(Symbol, Expr)>,
    expanded: u64,
}

impl<'p, 'a> Parser<'p, 'a> {
    pub fn new(graph: &'p mut Graph, symbols: &'p mut Symbols, lexer: Lexer<'a>) -> Parser<'p, 'a> {
        Parser {
            graph,
            symbols,
            lexer,
            named: Vec::new(),
            name: None,
            given: FxHashSet::default(),
            frames: Vec::new(),
            args: Vec::new(),
            bound: Vec::new(),
            expanded: 0,
        }
    }

    /// Reads one term. On an error no binding is left behind.
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
        self.lexer.next()?;
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
        match self.lexer.next()? {
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

    fn error<T>(&self, message: String) -> Result<T, SyntaxError> {
        Err(SyntaxError::new(self.lexer.start(), message))
    }

    fn read(&mut self) -> Result<Expr, SyntaxError> {
        loop {
            // Either a term is complete, or a frame was opened and its first term comes next.
            let value = match self.lexer.next()? {
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
            // Hand it to the frame it belongs to; some frames are complete with it.
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
                // The value of a `let` is its body's, of an annotation its term's.
                self.frames.pop();
            }
        }
    }

    /// After a value in the bindings of a `let`: the next binding, or the body.
    fn binding(&mut self, value: Expr) -> Result<(), SyntaxError> {
        let Some(&mut Frame::Bindings { first, name }) = self.frames.last_mut() else {
            unreachable!("called for bindings")
        };
        self.bound.push((name, value));
        self.lexer.close()?;
        match self.lexer.next()? {
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

    /// A symbol that stands alone.
    #[inline]
    fn constant(&mut self, name: &str, quoted: bool) -> Result<Expr, SyntaxError> {
        let symbol = self.symbols.number(name);
        match self.symbols.meaning(symbol) {
            Meaning::Value(e) => Ok(e),
            Meaning::Nothing => self.error(format!("expected a declared symbol, found `{}`", shorten(name))),
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

    /// After `(`: a whole term of no arguments, or a new frame.
    fn open(&mut self) -> Result<Option<Expr>, SyntaxError> {
        let at = self.lexer.start();
        let (name, quoted) = match self.lexer.next()? {
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

    /// After `(` and a reserved word.
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

    /// `bvN w)`, after `(_`.
    fn indexed_constant(&mut self) -> Result<Expr, SyntaxError> {
        let token = self.lexer.next()?;
        let Token::Symbol(name) = token else { return self.lexer.unexpected("`bvN`", token) };
        let digits = match name.strip_prefix("bv") {
            Some(digits) if !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit()) => digits,
            Some(_) | None => return self.lexer.unexpected("`bvN` with a decimal number N", token),
        };
        if digits.len() > MAX_DIGITS {
            return self.error(format!(
                "expected a constant of at most {MAX_DIGITS} digits, found {}",
                digits.len()
            ));
        }
        let width = self.lexer.numeral()?;
        let width = match Sort::bits(width) {
            Ok(_) => width as u32,
            Err(e) => return self.error(e.0),
        };
        self.lexer.close()?;
        // Cut to the width, as SMT-LIB's nat2bv does.
        if digits.len() <= 19 && width <= 64 {
            let word = digits.parse().expect("at most 19 digits");
            return Ok(self.graph.word(width, word));
        }
        let bits = Bits::from_decimal(width, digits).expect("digits");
        Ok(self.graph.constant(bits))
    }

    /// `x S)`, after `(as`: a constant with its sort.
    fn qualified(&mut self) -> Result<Expr, SyntaxError> {
        let e = match self.lexer.next()? {
            Token::Symbol("const") => {
                return self
                    .error("expected `((as const S) value)`, found `(as const S)` without a value".into());
            }
            Token::Symbol(name) => self.constant(name, false)?,
            Token::Quoted(name) => self.constant(name, true)?,
            found => return self.lexer.unexpected("a symbol", found),
        };
        let sort = self.symbols.read_sort(&mut self.lexer)?;
        let found = self.graph.sort(e);
        if found != sort {
            return self.error(format!("expected a term of sort {sort}, found one of sort {found}"));
        }
        self.lexer.close()?;
        Ok(e)
    }

    /// After `((`: an indexed function or a constant array's.
    fn compound_head(&mut self) -> Result<Head, SyntaxError> {
        match self.lexer.next()? {
            Token::Symbol("_") => {}
            Token::Symbol("as") => return self.const_array_head(),
            found => return self.lexer.unexpected("`_` or `as`", found),
        }
        let token = self.lexer.next()?;
        let f = match token {
            Token::Symbol(name) => {
                let symbol = self.symbols.number(name);
                match self.symbols.meaning(symbol) {
                    Meaning::Builtin(f) if f.params() > 0 => f,
                    Meaning::Builtin(_) | Meaning::Nothing | Meaning::Reserved(_) => {
                        return self.lexer.unexpected("an indexed function", token);
                    }
                    Meaning::Value(_) | Meaning::Function(_) => {
                        return self.lexer.unexpected("an indexed function", token);
                    }
                }
            }
            found => return self.lexer.unexpected("an indexed function", found),
        };
        let mut params = [0; 2];
        for param in &mut params[..f.params()] {
            *param = self.lexer.numeral()?;
        }
        self.lexer.close()?;
        Ok(Head::Builtin { f, params, count: f.params() as u8 })
    }

    fn const_array_head(&mut self) -> Result<Head, SyntaxError> {
        match self.lexer.next()? {
            Token::Symbol("const") => {}
            found => return self.lexer.unexpected("`const`", found),
        }
        match self.symbols.read_sort(&mut self.lexer)? {
            Sort::Array { index, element } => {
                self.lexer.close()?;
                Ok(Head::ConstArray { index, element })
            }
            found @ (Sort::Bool | Sort::Bits(_)) => {
                self.error(format!("expected an array sort after `as const`, found {found}"))
            }
        }
    }

    /// At the `)` of an application: its value. The frame goes.
    fn apply(&mut self) -> Result<Expr, SyntaxError> {
        let Some(Frame::Apply { head, first, at }) = self.frames.pop() else {
            unreachable!("called for applications")
        };
        let args = &self.args[first..];
        let value = match head {
            Head::Builtin { f, params, count } => {
                self.graph.apply(f, &params[..count as usize], args).map_err(|e| SyntaxError::new(at, e.0))?
            }
            Head::ConstArray { index, element } => {
                let sort = Sort::Bits(element);
                match args {
                    [value] if self.graph.sort(*value) == sort => self.graph.const_array(index, *value),
                    [value] => {
                        let found = self.graph.sort(*value);
                        return Err(SyntaxError::new(at, format!("const: expected {sort}, found {found}")));
                    }
                    _ => {
                        let message = format!("const: expected 1 argument, found {}", args.len());
                        return Err(SyntaxError::new(at, message));
                    }
                }
            }
            Head::Function(place, symbol) => self.expand(place, symbol, first, at)?,
        };
        self.args.truncate(first);
        Ok(value)
    }

    /// A defined function of the arguments from `first` on.
    fn expand(&mut self, place: u32, symbol: Symbol, first: usize, at: usize) -> Result<Expr, SyntaxError> {
        let f = self.symbols.function(place);
        let name = shorten(self.symbols.name(symbol));
        let args = &self.args[first..];
        if args.len() != f.parameters.len() {
            let (expected, found) = (f.parameters.len(), args.len());
            return Err(SyntaxError::new(
                at,
                format!("{name}: expected {expected} arguments, found {found}"),
            ));
        }
        let mut map = FxHashMap::default();
        for (i, (&parameter, &arg)) in f.parameters.iter().zip(args).enumerate() {
            let (expected, found) = (self.graph.sort(parameter), self.graph.sort(arg));
            if expected != found {
                let message = format!("{name}: expected {expected} as argument {}, found {found}", i + 1);
                return Err(SyntaxError::new(at, message));
            }
            map.insert(parameter, arg);
        }
        self.expanded += f.size;
        if self.expanded > MAX_EXPANSION {
            let message = format!(
                "expected definitions that expand to at most {MAX_EXPANSION} nodes in one command, found more at `{name}`"
            );
            return Err(SyntaxError::new(at, message));
        }
        Ok(self.graph.substitute(f.body, &map))
    }

    /// After the term of an annotation: its attributes and the `)`.
    fn attributes(&mut self, value: Expr, whole: bool) -> Result<(), SyntaxError> {
        let mut any = false;
        loop {
            match self.lexer.next()? {
                Token::Keyword("named") => {
                    let symbol = self.symbol()?;
                    self.symbols.check_new(symbol).map_err(|m| SyntaxError::new(self.lexer.start(), m))?;
                    if !self.given.insert(symbol) {
                        let name = shorten(self.symbols.name(symbol)).into_owned();
                        return self.error(format!("expected a new name, found `{name}` again"));
                    }
                    self.named.push((symbol, value));
                    if whole {
                        self.name = Some(symbol);
                    }
                }
                Token::Keyword(_) => match self.lexer.next()? {
                    // An attribute may come without a value.
                    Token::Keyword(_) | Token::Close => self.lexer.back(),
                    _ => {
                        self.lexer.back();
                        self.lexer.skip_expression()?;
                    }
                },
                Token::Close if any => return Ok(()),
                found => return self.lexer.unexpected("an attribute", found),
            }
            any = true;
        }
    }
}
