//! Parser of parenthesised terms: indexed constants, functions, applications and annotations.

use super::SyntaxError;
use super::lexer::{Token, shorten};
use super::symbols::{Meaning, Symbol};
use super::terms::{Frame, Head, Parser};
use crate::expr::{Bits, Expr, Sort};
use rustc_hash::FxHashMap;

/// Most nodes that uses of defined functions may create in one command. Definitions that use each other can
/// double in size at each step, so a short text could request any amount.
const MAX_EXPANSION: u64 = 1 << 20;

/// Most digits of a decimal constant; every value of the widest bit-vector has fewer.
const MAX_DIGITS: usize = 20_000;

impl Parser<'_, '_> {
    /// Reads `bvN w)`, after `(_`.
    pub(super) fn indexed_constant(&mut self) -> Result<Expr, SyntaxError> {
        let token = self.lexer.token()?;
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
        // Truncates to the width, as SMT-LIB's nat2bv does.
        if digits.len() <= 19 && width <= 64 {
            let word = digits.parse().expect("at most 19 digits");
            return Ok(self.graph.word(width, word));
        }
        let bits = Bits::from_decimal(width, digits).expect("digits");
        Ok(self.graph.constant(bits))
    }

    /// Reads `x S)`, after `(as`: a constant with its sort.
    pub(super) fn qualified(&mut self) -> Result<Expr, SyntaxError> {
        let e = match self.lexer.token()? {
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

    /// Reads an indexed function or `as const`, after `((`.
    pub(super) fn compound_head(&mut self) -> Result<Head, SyntaxError> {
        match self.lexer.token()? {
            Token::Symbol("_") => {}
            Token::Symbol("as") => return self.const_array_head(),
            found => return self.lexer.unexpected("`_` or `as`", found),
        }
        let token = self.lexer.token()?;
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
        match self.lexer.token()? {
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

    /// Builds the application at its `)` and pops its frame.
    pub(super) fn apply(&mut self) -> Result<Expr, SyntaxError> {
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

    /// Applies a defined function to the arguments from `first` on.
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

    /// Reads the attributes of an annotation and its `)`.
    pub(super) fn attributes(&mut self, value: Expr, whole: bool) -> Result<(), SyntaxError> {
        let mut any = false;
        loop {
            match self.lexer.token()? {
                Token::Keyword("named") => {
                    let symbol = self.symbol()?;
                    self.symbols.check_new(symbol).map_err(|m| SyntaxError::new(self.lexer.start(), m))?;
                    if self.given.insert(symbol, value).is_some() {
                        let name = shorten(self.symbols.name(symbol)).into_owned();
                        return self.error(format!("expected a new name, found `{name}` again"));
                    }
                    self.named.push((symbol, value));
                    if whole {
                        self.name = Some(symbol);
                    }
                }
                Token::Keyword(_) => {
                    // The value of an attribute is optional.
                    let next = self.lexer.token()?;
                    self.lexer.back();
                    if !matches!(next, Token::Keyword(_) | Token::Close) {
                        self.lexer.skip_expression()?;
                    }
                }
                Token::Close if any => return Ok(()),
                found => return self.lexer.unexpected("an attribute", found),
            }
            any = true;
        }
    }
}
