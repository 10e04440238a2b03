//! Sorts in scripts, including `define-sort`.
//!
//! Definitions are stored as templates. The size of a sort is limited, so applying a definition takes constant time even if
//! definitions use each other.

use super::declared::SortDeclaration;
use super::lexer::{Token, shorten};
use super::symbols::{Symbol, Symbols};
use super::term_sort::{ScriptSort, WordSort};
use super::{Lexer, SyntaxError};
use crate::expr::Sort;
use crate::expr::float::Format;
use std::sync::Arc;

/// Largest number of sort symbols in a sort, definitions expanded.
const MAX_SIZE: u32 = 256;

/// A sort that may contain sort parameters.
#[derive(Clone, Debug)]
pub(super) enum Template {
    Known(ScriptSort),
    Parameter(u32),
    /// A sort function that is not a definition, its arguments, and the size of the sort.
    Apply(SortFunction, Arc<[Template]>, u32),
}

/// A function from sorts to sorts.
#[derive(Clone, Debug)]
pub(super) enum SortFunction {
    Array,
    Declared(SortDeclaration),
    Defined { parameters: u32, body: Arc<Template> },
}

impl Template {
    fn size(&self) -> u32 {
        match self {
            Template::Known(_) | Template::Parameter(_) => 1,
            Template::Apply(_, _, size) => *size,
        }
    }
}

impl SortFunction {
    fn parameters(&self) -> u32 {
        match self {
            SortFunction::Array => 2,
            SortFunction::Declared(declaration) => declaration.parameters,
            SortFunction::Defined { parameters, .. } => *parameters,
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
            Template::Parameter(_) | Template::Apply(..) => unreachable!("there are no parameters"),
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
        self.define_sort(symbol, SortFunction::Defined { parameters, body: Arc::new(body) })
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

    fn apply_sort(&mut self, symbol: Symbol, at: usize, args: &[Template]) -> Result<Template, SyntaxError> {
        let Some(f) = self.sort(symbol) else {
            let name = shorten(self.name(symbol));
            let message = format!(
                "expected Bool, (_ BitVec n), (_ FloatingPoint e s) or (Array ...), found the sort `{name}`"
            );
            return Err(SyntaxError::new(at, message));
        };
        let wanted = f.parameters() as usize;
        if args.len() != wanted {
            let name = self.name(symbol);
            let message = format!("expected {wanted} arguments to the sort `{name}`, found {}", args.len());
            return Err(SyntaxError::new(at, message));
        }
        self.applied(&f, args).map_err(|message| SyntaxError::new(at, message))
    }

    /// Applies a sort function to as many arguments as it has parameters.
    fn applied(&mut self, f: &SortFunction, args: &[Template]) -> Result<Template, String> {
        if let SortFunction::Defined { body, .. } = f {
            return self.instance(body, args);
        }
        let size = args.iter().map(Template::size).fold(1, u32::saturating_add);
        if size > MAX_SIZE {
            return Err(format!("expected a sort of at most {MAX_SIZE} symbols, found a larger one"));
        }
        let known: Option<Vec<ScriptSort>> = args
            .iter()
            .map(|arg| match arg {
                Template::Known(sort) => Some(*sort),
                Template::Parameter(_) | Template::Apply(..) => None,
            })
            .collect();
        let Some(known) = known else { return Ok(Template::Apply(f.clone(), args.into(), size)) };
        Ok(Template::Known(match f {
            SortFunction::Array => {
                let (index, element) = (self.word_sort(known[0])?, self.word_sort(known[1])?);
                ScriptSort::Array { index, element }
            }
            SortFunction::Declared(declaration) => self.declared_instance(*declaration, &known),
            SortFunction::Defined { .. } => unreachable!("handled above"),
        }))
    }

    /// Replaces the parameters of a template. The depth is limited by the size of a sort.
    fn instance(&mut self, template: &Template, args: &[Template]) -> Result<Template, String> {
        match template {
            Template::Known(_) => Ok(template.clone()),
            Template::Parameter(i) => Ok(args[*i as usize].clone()),
            Template::Apply(f, inner, _) => {
                let inner: Result<Vec<Template>, String> =
                    inner.iter().map(|arg| self.instance(arg, args)).collect();
                self.applied(f, &inner?)
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
