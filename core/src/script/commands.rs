//! SMT-LIB 2 commands.
//!
//! A command is read completely before it takes effect, so an invalid command changes nothing.

use super::{Assertion, Declaration, LastCheck, Session, UNSUPPORTED};
use crate::expr::smtlib::{Lexer, Parser, Printer, Symbol, SyntaxError, Term, Token, print_symbol};
use rustc_hash::FxHashSet;

/// Largest number of push levels.
const MAX_LEVELS: u64 = 1_000_000;

struct Definition {
    parameters: Vec<Term>,
    body: Term,
    named: Vec<(Symbol, Term)>,
}

type Reply = Result<Option<String>, SyntaxError>;

impl Session {
    /// Executes the command `text`.
    pub(super) fn execute(&mut self, text: &[u8]) -> Reply {
        let mut lexer = Lexer::new(text);
        lexer.open("a command")?;
        let token = lexer.token()?;
        let Token::Symbol(name) = token else { return lexer.unexpected("a command", token) };
        let answer = match name {
            "assert" => self.assert(lexer, text)?,
            "check-sat" => {
                expect_end(&mut lexer)?;
                Some(self.check_sat(&[]))
            }
            "check-sat-using" => {
                lexer.skip_expression()?;
                expect_end(&mut lexer)?;
                Some(self.check_sat(&[]))
            }
            "check-sat-assuming" => self.check_sat_assuming(lexer, text)?,
            "declare-const" => self.declare(lexer, false)?,
            "declare-fun" => self.declare(lexer, true)?,
            "define-const" => self.define(lexer, false)?,
            // The name is not visible in the body: a recursive definition is an error.
            "define-fun" | "define-fun-rec" => self.define(lexer, true)?,
            "define-sort" => {
                let symbol = symbol(&mut lexer, &mut self.symbols)?;
                check_rest(&lexer, text, 2)?;
                self.symbols.read_sort_definition(&mut lexer, symbol)?;
                None
            }
            "push" => {
                let count = levels(&mut lexer)?;
                if count.saturating_add(self.levels.len() as u64) > MAX_LEVELS {
                    return error(
                        &lexer,
                        format!("expected at most {MAX_LEVELS} levels, found {count} more"),
                    );
                }
                self.push(count);
                None
            }
            "pop" => {
                let count = levels(&mut lexer)?;
                let there = self.levels.len();
                if count > there as u64 {
                    return error(&lexer, format!("expected at most {there} levels to pop, found {count}"));
                }
                self.pop(count as usize);
                None
            }
            "get-value" => Some(self.get_value(lexer, text)?),
            "get-model" => self.without_arguments(&mut lexer, Session::get_model)?,
            "get-unsat-core" => self.without_arguments(&mut lexer, Session::get_unsat_core)?,
            "get-unsat-assumptions" => self.without_arguments(&mut lexer, Session::get_unsat_assumptions)?,
            "get-assignment" => self.without_arguments(&mut lexer, Session::get_assignment)?,
            "get-assertions" => self.without_arguments(&mut lexer, Session::get_assertions)?,
            "get-info" => Some(self.get_info(&mut lexer)?),
            "get-option" => Some(self.get_option(&mut lexer)?),
            "set-option" => {
                check_rest(&lexer, text, 2)?;
                if !self.set_option(&mut lexer)? {
                    return Ok(Some(UNSUPPORTED.into()));
                }
                None
            }
            "set-logic" => {
                let known = self.set_logic(&mut lexer)?;
                expect_end(&mut lexer)?;
                if !known {
                    return Ok(Some(UNSUPPORTED.into()));
                }
                None
            }
            "set-info" => {
                lexer.skip_expression()?;
                if lexer.token()? != Token::Close {
                    lexer.back();
                    lexer.skip_expression()?;
                    expect_end(&mut lexer)?;
                }
                None
            }
            "simplify" => self.simplify(lexer)?,
            "echo" => match lexer.token()? {
                Token::String(text) => {
                    expect_end(&mut lexer)?;
                    Some(text.replace("\"\"", "\""))
                }
                found => return lexer.unexpected("a string", found),
            },
            "reset" => {
                expect_end(&mut lexer)?;
                self.reset();
                None
            }
            "reset-assertions" => {
                expect_end(&mut lexer)?;
                self.reset_assertions();
                None
            }
            "exit" => {
                expect_end(&mut lexer)?;
                self.exited = true;
                None
            }
            "declare-sort" => self.declare_sort(lexer)?,
            "declare-datatype" | "declare-datatypes" | "define-funs-rec" | "get-proof" | "maximize"
            | "minimize" | "get-objectives" | "assert-soft" => {
                return Ok(Some(UNSUPPORTED.into()));
            }
            _ => return lexer.unexpected("a command", token),
        };
        Ok(answer.or_else(|| self.options.print_success.then(|| "success".to_string())))
    }

    fn without_arguments(
        &mut self,
        lexer: &mut Lexer<'_>,
        command: fn(&mut Session) -> Result<String, String>,
    ) -> Reply {
        expect_end(lexer)?;
        command(self).map(Some).map_err(|message| SyntaxError::new(0, message))
    }

    /// Defines the `:named` terms of a command.
    fn define_named(&mut self, named: Vec<(Symbol, Term)>) {
        for (symbol, value) in named {
            self.symbols.define(symbol, value).expect("the reader checked that it is new");
            if self.solver.graph.is_bool(value.expr) {
                self.labels.push((symbol, value));
            }
        }
    }

    fn assert(&mut self, lexer: Lexer<'_>, text: &[u8]) -> Reply {
        let from = lexer.at();
        let mut parser = Parser::new(&mut self.solver.graph, &mut self.symbols, lexer);
        let expr = parser.boolean()?;
        let text = source_text(text, from, parser.lexer.at()).into();
        expect_end(&mut parser.lexer)?;
        let (name, named) = (parser.name, parser.named);
        self.define_named(named);
        self.assertions.push(Assertion { expr, name, text });
        self.last = LastCheck::None;
        Ok(None)
    }

    fn declare_sort(&mut self, mut lexer: Lexer<'_>) -> Reply {
        let symbol = symbol(&mut lexer, &mut self.symbols)?;
        let at = lexer.start();
        // The number of parameters is optional in some scripts.
        let mut parameters = 0;
        if lexer.token()? != Token::Close {
            lexer.back();
            parameters = lexer.numeral()?;
            expect_end(&mut lexer)?;
        }
        let Ok(parameters @ 0..=255) = u32::try_from(parameters) else {
            return error(&lexer, format!("expected at most 255 parameters of a sort, found {parameters}"));
        };
        self.symbols.declare_sort(symbol, parameters).map_err(|message| SyntaxError::new(at, message))?;
        Ok(None)
    }

    /// Executes `declare-const x S` or `declare-fun`.
    fn declare(&mut self, mut lexer: Lexer<'_>, function: bool) -> Reply {
        let symbol = symbol(&mut lexer, &mut self.symbols)?;
        let at = lexer.start();
        let mut parameters = Vec::new();
        if function {
            lexer.open("a list of parameter sorts")?;
            while lexer.token()? != Token::Close {
                lexer.back();
                parameters.push(self.symbols.read_sort(&mut lexer)?);
            }
        }
        let sort = self.symbols.read_sort(&mut lexer)?;
        expect_end(&mut lexer)?;
        let graph = &mut self.solver.graph;
        let declared = if parameters.is_empty() {
            let variable = self.symbols.declare(graph, symbol, sort);
            variable.map(|expr| Declaration::Constant(Term { expr, sort }))
        } else {
            self.symbols.declare_function(graph, symbol, &parameters, sort).map(Declaration::Function)
        };
        self.declared.push((symbol, declared.map_err(|message| SyntaxError::new(at, message))?));
        Ok(None)
    }

    fn define(&mut self, mut lexer: Lexer<'_>, function: bool) -> Reply {
        let symbol = symbol(&mut lexer, &mut self.symbols)?;
        let at = lexer.start();
        self.symbols.check_new(symbol).map_err(|message| SyntaxError::new(at, message))?;
        // Parameters are only visible in the body.
        let (mark, before) = (self.symbols.mark(), self.symbols.counts());
        let known = self.symbols.condition_count();
        let read = self.read_definition(lexer, function);
        self.symbols.undo(mark);
        let Definition { parameters, body, named } = read?;
        let conditions = match parameters.is_empty() {
            true => Vec::new(),
            false => self.symbols.take_conditions(known),
        };
        self.define_named(named);
        let defined = if parameters.is_empty() {
            self.symbols.define(symbol, body)
        } else {
            self.symbols.define_function(&self.solver.graph, symbol, parameters, body, before, conditions)
        };
        defined.map_err(|message| SyntaxError::new(at, message))?;
        Ok(None)
    }

    fn read_definition(&mut self, mut lexer: Lexer<'_>, function: bool) -> Result<Definition, SyntaxError> {
        let mut parameters = Vec::new();
        let mut names = FxHashSet::default();
        if function {
            lexer.open("a list of parameters")?;
            loop {
                match lexer.token()? {
                    Token::Close => break,
                    Token::Open => {}
                    found => return lexer.unexpected("a parameter or `)`", found),
                }
                let name = symbol(&mut lexer, &mut self.symbols)?;
                if !names.insert(name) {
                    return error(&lexer, "expected each parameter once, found one again".into());
                }
                let sort = self.symbols.read_sort(&mut lexer)?;
                lexer.close()?;
                parameters.push(self.symbols.bind_parameter(&mut self.solver.graph, name, sort));
            }
        }
        let sort = self.symbols.read_sort(&mut lexer)?;
        let at = lexer.at();
        let mut parser = Parser::new(&mut self.solver.graph, &mut self.symbols, lexer);
        let body = parser.of_sort(sort)?;
        expect_end(&mut parser.lexer)?;
        if let (Some(&(name, _)), false) = (parser.named.first(), parameters.is_empty()) {
            let name = parser.symbols.name(name);
            let message = format!("expected no :named in a function of parameters, found `{name}`");
            return Err(SyntaxError::new(at, message));
        }
        Ok(Definition { parameters, body, named: parser.named })
    }

    /// Checks with `(literals)`, which hold for this check only.
    fn check_sat_assuming(&mut self, mut lexer: Lexer<'_>, text: &[u8]) -> Reply {
        lexer.open("a list of assumptions")?;
        let mut parser = Parser::new(&mut self.solver.graph, &mut self.symbols, lexer);
        let mut assumptions = Vec::new();
        loop {
            if parser.lexer.token()? == Token::Close {
                break;
            }
            parser.lexer.back();
            let from = parser.lexer.at();
            let e = parser.boolean()?;
            assumptions.push((e, source_text(text, from, parser.lexer.at())));
        }
        expect_end(&mut parser.lexer)?;
        let named = parser.named;
        self.define_named(named);
        Ok(Some(self.check_sat(&assumptions)))
    }

    fn simplify(&mut self, lexer: Lexer<'_>) -> Reply {
        let mut parser = Parser::new(&mut self.solver.graph, &mut self.symbols, lexer);
        let e = parser.term()?;
        // Options of Z3's command may follow.
        while parser.lexer.token()? != Token::Close {
            parser.lexer.back();
            parser.lexer.skip_expression()?;
        }
        Ok(Some(self.printer().term(e.expr)))
    }

    /// Returns a printer that uses the names of the script.
    pub(super) fn printer(&self) -> Printer<'_> {
        let mut printer = Printer::new(&self.solver.graph);
        for (symbol, declaration) in &self.declared {
            let name = self.symbols.name(*symbol);
            let variable = match declaration {
                Declaration::Constant(term) => term.expr,
                Declaration::Function(f) => f.variable,
            };
            if name != self.solver.graph.name(variable) {
                printer.renamed.insert(variable, name.to_string());
            }
        }
        printer
    }

    /// Prints a declared symbol.
    pub(super) fn print_declared(&self, symbol: Symbol) -> String {
        let name = self.symbols.name(symbol);
        print_symbol(name).unwrap_or_else(|| format!("|{name}|"))
    }
}

/// Returns a part of the text of the command.
pub(super) fn source_text(text: &[u8], from: usize, to: usize) -> String {
    String::from_utf8_lossy(text[from..to].trim_ascii()).into_owned()
}

fn error<T>(lexer: &Lexer<'_>, message: String) -> Result<T, SyntaxError> {
    Err(SyntaxError::new(lexer.start(), message))
}

/// Reads the `)` at the end of the command.
pub(super) fn expect_end(lexer: &mut Lexer<'_>) -> Result<(), SyntaxError> {
    match lexer.token()? {
        Token::Close => Ok(()),
        found => lexer.unexpected("`)` at the end of the command", found),
    }
}

/// Checks that exactly `expressions` expressions follow, for commands that take effect while they are read.
fn check_rest(lexer: &Lexer<'_>, text: &[u8], expressions: usize) -> Result<(), SyntaxError> {
    let from = lexer.at();
    let mut ahead = Lexer::new(&text[from..]);
    let result =
        (0..expressions).try_for_each(|_| ahead.skip_expression()).and_then(|()| expect_end(&mut ahead));
    result.map_err(|e| SyntaxError::new(e.at + from, e.message))
}

/// Reads the number of a push or pop, 1 if it is missing, and the end of the command.
fn levels(lexer: &mut Lexer<'_>) -> Result<u64, SyntaxError> {
    if lexer.token()? == Token::Close {
        return Ok(1);
    }
    lexer.back();
    let count = lexer.numeral()?;
    expect_end(lexer)?;
    Ok(count)
}

/// Reads a symbol to declare or define.
fn symbol(lexer: &mut Lexer<'_>, symbols: &mut crate::expr::smtlib::Symbols) -> Result<Symbol, SyntaxError> {
    match lexer.token()? {
        Token::Symbol(name) | Token::Quoted(name) => Ok(symbols.number(name)),
        found => lexer.unexpected("a symbol", found),
    }
}
