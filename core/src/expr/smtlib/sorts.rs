//! Sorts in scripts, including `define-sort`.
//!
//! Arrays map words to words (bit-vectors, floating-point numbers, rounding modes), so a sort, even one with parameters of a `define-sort`, has at most
//! two parts. Definitions are stored as flat templates, so applying a definition takes constant time even if
//! definitions use each other.

use super::lexer::{Token, shorten};
use super::symbols::{Symbol, Symbols};
use super::term_sort::{ScriptSort, WordSort};
use super::{Lexer, SyntaxError};
use crate::expr::Sort;
use crate::expr::float::Format;

/// A sort that may contain sort parameters.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Template {
    Known(ScriptSort),
    Parameter(u32),
    Array(Part, Part),
}

/// Index or element sort of an array.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Part {
    Word(WordSort),
    Parameter(u32),
}

/// A function from sorts to sorts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum SortFunction {
    Array,
    Defined { parameters: u32, body: Template },
}

impl Template {
    fn part(self) -> Result<Part, String> {
        match self {
            Template::Known(ScriptSort::Word(word)) => Ok(Part::Word(word)),
            Template::Parameter(i) => Ok(Part::Parameter(i)),
            Template::Known(found) => {
                Err(format!("expected (_ BitVec n) as index and element of an array, found {found}"))
            }
            Template::Array(..) => {
                Err("expected (_ BitVec n) as index and element of an array, found an array".into())
            }
        }
    }

    fn array(index: Part, element: Part) -> Template {
        match (index, element) {
            (Part::Word(index), Part::Word(element)) => Template::Known(ScriptSort::Array { index, element }),
            (index, element) => Template::Array(index, element),
        }
    }

    fn apply(self, args: &[Template]) -> Result<Template, String> {
        let part = |part| match part {
            Part::Word(_) => Ok(part),
            Part::Parameter(i) => args[i as usize].part(),
        };
        Ok(match self {
            Template::Known(_) => self,
            Template::Parameter(i) => args[i as usize],
            Template::Array(index, element) => Template::array(part(index)?, part(element)?),
        })
    }
}

impl SortFunction {
    fn apply(self, name: &str, args: &[Template]) -> Result<Template, String> {
        let wanted = match self {
            SortFunction::Array => 2,
            SortFunction::Defined { parameters, .. } => parameters as usize,
        };
        if args.len() != wanted {
            return Err(format!("expected {wanted} arguments to the sort `{name}`, found {}", args.len()));
        }
        match self {
            SortFunction::Array => Ok(Template::array(args[0].part()?, args[1].part()?)),
            SortFunction::Defined { body, .. } => body.apply(args),
        }
    }
}

/// Sorts with names of their own.
pub(super) const NAMED_SORTS: [(&str, ScriptSort); 6] = [
    ("Bool", ScriptSort::Bool),
    ("RoundingMode", ScriptSort::Word(WordSort::Rounding)),
    ("Float16", ScriptSort::Word(WordSort::Float(Format::HALF))),
    ("Float32", ScriptSort::Word(WordSort::Float(Format::SINGLE))),
    ("Float64", ScriptSort::Word(WordSort::Float(Format::DOUBLE))),
    ("Float128", ScriptSort::Word(WordSort::Float(Format::QUAD))),
];

impl Symbols {
    /// Reads a sort.
    pub fn read_sort(&mut self, lexer: &mut Lexer<'_>) -> Result<ScriptSort, SyntaxError> {
        match self.read_template(lexer, &[])? {
            Template::Known(sort) => Ok(sort),
            Template::Parameter(_) | Template::Array(..) => unreachable!("there are no parameters"),
        }
    }

    /// Reads the parameters and the body of a `define-sort` and defines the sort.
    pub fn read_sort_definition(&mut self, lexer: &mut Lexer<'_>, symbol: Symbol) -> Result<(), SyntaxError> {
        let at = lexer.start();
        lexer.open("a list of sort parameters")?;
        let mut parameters = Vec::new();
        loop {
            match lexer.token()? {
                Token::Symbol(name) | Token::Quoted(name) => parameters.push(self.number(name)),
                Token::Close => break,
                found => return lexer.unexpected("a sort parameter or `)`", found),
            }
        }
        let body = self.read_template(lexer, &parameters)?;
        let parameters = u32::try_from(parameters.len()).expect("as many as were read");
        self.define_sort(symbol, SortFunction::Defined { parameters, body })
            .map_err(|message| SyntaxError::new(at, message))
    }

    fn read_template(
        &mut self,
        lexer: &mut Lexer<'_>,
        parameters: &[Symbol],
    ) -> Result<Template, SyntaxError> {
        // Sort functions whose arguments are being read: name, offset, first argument.
        let mut open: Vec<(Symbol, usize, usize)> = Vec::new();
        let mut args: Vec<Template> = Vec::new();
        loop {
            let sort = match lexer.token()? {
                Token::Symbol(name) | Token::Quoted(name) => {
                    let symbol = self.number(name);
                    match parameters.iter().position(|&p| p == symbol) {
                        Some(i) => Template::Parameter(i as u32),
                        None => self.apply_sort(symbol, lexer.start(), &[])?,
                    }
                }
                Token::Open => match lexer.token()? {
                    Token::Symbol("_") => self.indexed_sort(lexer)?,
                    Token::Symbol(name) | Token::Quoted(name) => {
                        open.push((self.number(name), lexer.start(), args.len()));
                        continue;
                    }
                    found => return lexer.unexpected("a sort", found),
                },
                Token::Close if !open.is_empty() => {
                    let (symbol, at, first) = open.pop().expect("checked");
                    let sort = self.apply_sort(symbol, at, &args[first..])?;
                    args.truncate(first);
                    sort
                }
                found => return lexer.unexpected("a sort", found),
            };
            if open.is_empty() {
                return Ok(sort);
            }
            args.push(sort);
        }
    }

    fn apply_sort(&self, symbol: Symbol, at: usize, args: &[Template]) -> Result<Template, SyntaxError> {
        let name = self.name(symbol);
        match self.sort(symbol) {
            Some(f) => f.apply(name, args).map_err(|message| SyntaxError::new(at, message)),
            None => {
                let name = shorten(name);
                let message = format!(
                    "expected Bool, (_ BitVec n), (_ FloatingPoint e s) or (Array ...), found the sort `{name}`"
                );
                Err(SyntaxError::new(at, message))
            }
        }
    }

    /// Reads `BitVec n)` or `FloatingPoint e s)`, after `(_`.
    fn indexed_sort(&self, lexer: &mut Lexer<'_>) -> Result<Template, SyntaxError> {
        match lexer.token()? {
            Token::Symbol("BitVec") => {}
            Token::Symbol("FloatingPoint") => {
                let (exponent, significand) = (lexer.numeral()?, lexer.numeral()?);
                let format = super::float::format(exponent, significand);
                let format = format.map_err(|message| SyntaxError::new(lexer.start(), message))?;
                lexer.close()?;
                return Ok(Template::Known(ScriptSort::Word(WordSort::Float(format))));
            }
            found => return lexer.unexpected("`BitVec` or `FloatingPoint`", found),
        }
        let width = lexer.numeral()?;
        let sort = Sort::bits(width).map_err(|e| SyntaxError::new(lexer.start(), e.0))?;
        lexer.close()?;
        Ok(Template::Known(ScriptSort::of(sort)))
    }
}
