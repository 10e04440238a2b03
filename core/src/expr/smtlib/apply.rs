//! Parser of parenthesised terms: indexed constants, functions, applications and annotations.

use super::SyntaxError;
use super::lexer::{Token, shorten};
use super::symbols::{Meaning, Symbol};
use super::term_sort::{ScriptSort, Term, WordSort};
use super::terms::{Frame, Head, MAX_DIGITS, Parser};
use crate::expr::builtin::Builtin;
use crate::expr::{Bits, Expr, Sort};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

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
        let found = e.sort;
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
            ScriptSort::Array { index, element } => {
                self.lexer.close()?;
                Ok(Head::ConstArray { index, element })
            }
            found => self.error(format!("expected an array sort after `as const`, found {found}")),
        }
    }

    /// Builds the application at its `)` and pops its frame.
    pub(super) fn apply(&mut self) -> Result<Term, SyntaxError> {
        let Some(Frame::Apply { head, first, at }) = self.frames.pop() else {
            unreachable!("called for applications")
        };
        let args = &self.args[first..];
        let value = match head {
            Head::Builtin { f, params, count } => self
                .apply_builtin(f, &params[..count as usize], first)
                .map_err(|message| SyntaxError::new(at, message))?,
            Head::Float { f, params, count } => self.apply_float(f, &params[..count as usize], first, at)?,
            Head::ConstArray { index, element } => match args {
                [value] if value.sort == ScriptSort::Word(element) => Term {
                    expr: self.graph.const_array(index.width(), value.expr),
                    sort: ScriptSort::Array { index, element },
                },
                [value] => {
                    let found = value.sort;
                    return Err(SyntaxError::new(at, format!("const: expected {element}, found {found}")));
                }
                _ => {
                    let message = format!("const: expected 1 argument, found {}", args.len());
                    return Err(SyntaxError::new(at, message));
                }
            },
            Head::Function(place, symbol) => self.expand(place, symbol, first, at)?,
        };
        self.args.truncate(first);
        Ok(value)
    }

    /// Applies a function of booleans, bit-vectors and arrays; some of them take every sort.
    fn apply_builtin(&mut self, f: Builtin, params: &[u64], first: usize) -> Result<Term, String> {
        let args = &self.args[first..];
        let exprs: SmallVec<[Expr; 4]> = args.iter().map(|arg| arg.expr).collect();
        if args.iter().all(|arg| arg.sort.is_core()) {
            let e = self.graph.apply(f, params, &exprs).map_err(|e| e.0)?;
            return Ok(self.core(e));
        }
        let args: SmallVec<[Term; 4]> = args.iter().copied().collect();
        let name = f.name();
        let same = |args: &[Term], ordinal: &str| match args.iter().find(|arg| arg.sort != args[0].sort) {
            Some(other) => Err(format!(
                "{name}: expected {} like its {ordinal} argument, found {}",
                args[0].sort, other.sort
            )),
            None => Ok(args[0].sort),
        };
        match (f, &args[..]) {
            (Builtin::Equal | Builtin::Distinct, [_, _, ..]) => {
                let sort = same(&args, "first")?;
                let ScriptSort::Word(word) = sort else {
                    return Err(format!(
                        "{name}: comparison of arrays of floating-point numbers is unsupported"
                    ));
                };
                // The number and the sorts of the arguments are correct; this checks the limit of `distinct`.
                f.result(params, &vec![sort.sort(); args.len()]).map_err(|e| e.0)?;
                let pairs: Vec<(Expr, Expr)> = if f == Builtin::Equal {
                    exprs.windows(2).map(|pair| (pair[0], pair[1])).collect()
                } else {
                    let pairs = (0..exprs.len()).flat_map(|i| (0..i).map(move |j| (i, j)));
                    pairs.map(|(i, j)| (exprs[i], exprs[j])).collect()
                };
                let mut all = self.graph.boolean(true);
                for (a, b) in pairs {
                    let equal = self.graph.equal_words(word, a, b);
                    let holds = if f == Builtin::Equal { equal } else { self.graph.not(equal) };
                    all = self.graph.and(all, holds);
                }
                Ok(Term { expr: all, sort: ScriptSort::Bool })
            }
            (Builtin::Ite, [condition, then, _]) if condition.sort == ScriptSort::Bool => {
                let sort = same(&args[1..], "second")?;
                if let ScriptSort::Real(_) = then.sort {
                    return Err(format!("{name}: expected a term of the supported logics, found Real"));
                }
                Ok(Term { expr: self.graph.ite(exprs[0], exprs[1], exprs[2]), sort })
            }
            (Builtin::Select | Builtin::Store, [array, at, rest @ ..])
                if rest.len() == usize::from(f == Builtin::Store) =>
            {
                let ScriptSort::Array { index, element } = array.sort else {
                    return Err(format!("{name}: expected an array, found {}", array.sort));
                };
                if at.sort != ScriptSort::Word(index) {
                    return Err(format!(
                        "{name}: expected {index} as index of {}, found {}",
                        array.sort, at.sort
                    ));
                }
                let place = self.graph.canonical_word(index, at.expr);
                let Some(value) = rest.first() else {
                    return Ok(Term {
                        expr: self.graph.select(array.expr, place),
                        sort: ScriptSort::Word(element),
                    });
                };
                if value.sort != ScriptSort::Word(element) {
                    return Err(format!(
                        "{name}: expected {element} as element of {}, found {}",
                        array.sort, value.sort
                    ));
                }
                Ok(Term { expr: self.graph.store(array.expr, place, value.expr), sort: array.sort })
            }
            _ => {
                let other = args.iter().find(|arg| !arg.sort.is_core()).expect("checked above");
                Err(format!("{name}: expected booleans, bit-vectors or arrays of them, found {}", other.sort))
            }
        }
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
            let (expected, found) = (parameter.sort, arg.sort);
            if expected != found {
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
