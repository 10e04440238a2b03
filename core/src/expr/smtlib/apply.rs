//! Parser of parenthesised terms: indexed constants, functions, applications and annotations.

use super::SyntaxError;
use super::lexer::{Token, shorten};
use super::symbols::{Meaning, Symbol, WitnessCondition};
use super::term_sort::{ScriptSort, Term, WordSort};
use super::terms::{Frame, Head, MAX_DIGITS, Parser};
use crate::expr::{Bits, Sort};
use rustc_hash::FxHashMap;

/// Most nodes that uses of defined functions may create in one command. Definitions that use each other can
/// double in size at each step, so a short text could request any amount.
const MAX_EXPANSION: u64 = 1 << 20;

impl Parser<'_, '_> {
    /// Reads `bvN w)` or a special number such as `+oo e s)`, after `(_`.
    pub(super) fn indexed_constant(&mut self) -> Result<Term, SyntaxError> {
        let token = self.lexer.token()?;
        let Token::Symbol(name) = token else { return self.lexer.unexpected("`bvN`", token) };
        if matches!(name, "+oo" | "-oo" | "+zero" | "-zero" | "NaN") {
            return self.special_number(name);
        }
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
            let e = self.graph.word(width, word);
            return Ok(self.core(e));
        }
        let bits = Bits::from_decimal(width, digits).expect("digits");
        let e = self.graph.constant(bits);
        Ok(self.core(e))
    }

    /// Reads the format of an infinity, a zero or NaN.
    fn special_number(&mut self, name: &str) -> Result<Term, SyntaxError> {
        let (exponent, significand) = (self.lexer.numeral()?, self.lexer.numeral()?);
        let format = match super::float::format(exponent, significand) {
            Ok(format) => format,
            Err(message) => return self.error(message),
        };
        self.lexer.close()?;
        let bits = match name {
            "NaN" => format.nan(),
            "+zero" | "-zero" => format.zero(name == "-zero"),
            _ => format.infinity(name == "-oo"),
        };
        Ok(Term { expr: self.graph.constant(bits), sort: ScriptSort::Word(WordSort::Float(format)) })
    }

    /// Reads `x S)`, after `(as`: a constant with its sort.
    pub(super) fn qualified(&mut self) -> Result<Term, SyntaxError> {
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
        if e.sort != sort {
            let (sort, found) = (self.symbols.show(sort), self.symbols.show(e.sort));
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
                    Meaning::Float(f) if f.params() > 0 => {
                        let mut params = [0; 2];
                        for param in &mut params[..f.params()] {
                            *param = self.lexer.numeral()?;
                        }
                        self.lexer.close()?;
                        return Ok(Head::Float { f, params, count: f.params() as u8 });
                    }
                    Meaning::Float(_) | Meaning::Rounding(_) => {
                        return self.lexer.unexpected("an indexed function", token);
                    }
                    Meaning::Builtin(_) | Meaning::Nothing | Meaning::Reserved(_) => {
                        return self.lexer.unexpected("an indexed function", token);
                    }
                    Meaning::Value(_) | Meaning::Function(_) | Meaning::Declared(_) => {
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
            ScriptSort::Array { index, .. } if self.symbols.mentions_declared(index) => {
                let index = self.symbols.show_word(index);
                self.error(format!(
                    "expected no constant array indexed by a declared sort, found index {index}"
                ))
            }
            ScriptSort::Array { index, element } => {
                self.lexer.close()?;
                Ok(Head::ConstArray { index, element })
            }
            found => {
                let found = self.symbols.show(found);
                self.error(format!("expected an array sort after `as const`, found {found}"))
            }
        }
    }

    /// Builds the application at its `)` and pops its frame.
    pub(super) fn apply(&mut self) -> Result<Term, SyntaxError> {
        let Some(Frame::Apply { head, first, at }) = self.frames.pop() else {
            unreachable!("called for applications")
        };
        let value = match head {
            Head::Builtin { f, params, count } => self
                .apply_builtin(f, &params[..count as usize], first)
                .map_err(|message| SyntaxError::new(at, message))?,
            Head::Float { f, params, count } => self.apply_float(f, &params[..count as usize], first, at)?,
            Head::ConstArray { index, element } => {
                self.const_array(index, element, first).map_err(|message| SyntaxError::new(at, message))?
            }
            Head::Declared(place, symbol) => {
                let result = self.symbols.apply_declared(self.graph, place, &self.args[first..]);
                result.map_err(|message| {
                    let name = shorten(self.symbols.name(symbol));
                    SyntaxError::new(at, format!("{name}: {message}"))
                })?
            }
            Head::Function(place, symbol) => self.expand(place, symbol, first, at)?,
        };
        self.args.truncate(first);
        Ok(value)
    }

    fn const_array(&mut self, index: WordSort, element: WordSort, first: usize) -> Result<Term, String> {
        let args = &self.args[first..];
        let &[value] = args else { return Err(format!("const: expected 1 argument, found {}", args.len())) };
        if self.symbols.word_sort(value.sort)? != element {
            let (element, found) = (self.symbols.show_word(element), self.symbols.show(value.sort));
            return Err(format!("const: expected {element}, found {found}"));
        }
        let word = self.symbols.word_of(self.graph, element, value.expr);
        let sort = ScriptSort::Array { index, element };
        Ok(Term { expr: self.graph.const_array(index.width(), word), sort })
    }

    /// Applies a defined function to the arguments from `first` on.
    fn expand(&mut self, place: u32, symbol: Symbol, first: usize, at: usize) -> Result<Term, SyntaxError> {
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
            if parameter.sort != arg.sort {
                let (expected, found) = (self.symbols.show(parameter.sort), self.symbols.show(arg.sort));
                let message = format!("{name}: expected {expected} as argument {}, found {found}", i + 1);
                return Err(SyntaxError::new(at, message));
            }
            map.insert(parameter.expr, arg.expr);
        }
        self.expanded += f.size;
        if self.expanded > MAX_EXPANSION {
            let message = format!(
                "expected definitions that expand to at most {MAX_EXPANSION} nodes in one command, found more at `{name}`"
            );
            return Err(SyntaxError::new(at, message));
        }
        let Term { expr, sort } = f.body;
        let (made, terms, conditions) = (f.nested.clone(), f.terms, f.conditions.clone());
        self.symbols.count_terms(terms).map_err(|message| SyntaxError::new(at, message))?;
        self.symbols.instantiate_nested(self.graph, made, &mut map);
        for known in conditions {
            let witness = self.symbols.witness(self.graph, self.graph.sort(known.witness));
            map.insert(known.witness, witness);
            let condition = self.graph.substitute(known.condition, &map);
            self.symbols.conditions.push(WitnessCondition { witness, condition });
        }
        Ok(Term { expr: self.graph.substitute(expr, &map), sort })
    }

    /// Reads the attributes of an annotation and its `)`.
    pub(super) fn attributes(&mut self, value: Term, whole: bool) -> Result<(), SyntaxError> {
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
