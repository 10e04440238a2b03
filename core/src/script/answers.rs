//! Commands that return information about the last check: values, models, cores.

use super::commands::{expect_end, source_text};
use super::{Declaration, LastCheck, Session};
use crate::expr::smtlib::{Lexer, Parser, ScriptSort, SyntaxError, Term, Token};
use crate::expr::{Expr, Model, Value};
use std::collections::BTreeSet;
use std::fmt::Write;

impl Session {
    /// Returns the model of the last check.
    ///
    /// # Errors
    ///
    /// Fails if the last check was not sat.
    fn model(&mut self) -> Result<Model, String> {
        let found = match &mut self.last {
            LastCheck::Sat { model, nested } => {
                let (graph, evaluator) = (&self.solver.graph, &mut self.solver.evaluator);
                self.symbols.extend_model(graph, evaluator, model, *nested);
                return Ok(model.clone());
            }
            LastCheck::Unsat { .. } => "unsat",
            LastCheck::Unknown(_) => "unknown",
            LastCheck::None => "no check since the assertions changed",
        };
        Err(format!("expected a sat answer before asking for values, found {found}"))
    }

    /// Prints values of terms. Adds the elements of declared sorts in them to `elements`.
    fn print_values(
        &mut self,
        terms: &[Term],
        model: &Model,
        elements: &mut BTreeSet<String>,
    ) -> Vec<String> {
        let mut session = self.solver.evaluator.under(&self.solver.graph, model);
        let values: Vec<_> = terms.iter().map(|term| session.value(term.expr)).collect();
        let symbols = &mut self.symbols;
        terms
            .iter()
            .zip(values)
            .map(|(term, value)| symbols.print_value(term.sort, &value, elements))
            .collect()
    }

    pub(super) fn get_value(&mut self, mut lexer: Lexer<'_>, text: &[u8]) -> Result<String, SyntaxError> {
        lexer.open("a list of terms")?;
        let mut parser = Parser::new(&mut self.solver.graph, &mut self.symbols, lexer);
        let mut terms = Vec::new();
        let mut texts = Vec::new();
        loop {
            if parser.lexer.token()? == Token::Close {
                break;
            }
            parser.lexer.back();
            let from = parser.lexer.at();
            terms.push(parser.term()?);
            texts.push(source_text(text, from, parser.lexer.at()));
        }
        expect_end(&mut parser.lexer)?;
        let model = self.model().map_err(|message| SyntaxError::new(0, message))?;
        let values = self.print_values(&terms, &model, &mut BTreeSet::new());
        let pairs: Vec<String> =
            texts.iter().zip(values).map(|(t, value)| format!("({t} {value})")).collect();
        Ok(format!("({})", pairs.join("\n ")))
    }

    pub(super) fn get_model(&mut self) -> Result<String, String> {
        let model = self.model()?;
        let declared = self.declared.clone();
        let (mut definitions, mut elements) = (String::new(), BTreeSet::new());
        for (symbol, declaration) in declared {
            let name = self.print_declared(symbol);
            let definition = match declaration {
                Declaration::Constant(term) => {
                    let value = self.print_values(&[term], &model, &mut elements).remove(0);
                    format!("(define-fun {name} () {} {value})", self.symbols.show(term.sort))
                }
                Declaration::Function(f) => {
                    let mut session = self.solver.evaluator.under(&self.solver.graph, &model);
                    let Value::Array(value) = session.value(f.variable) else { unreachable!("an array") };
                    self.symbols.print_function(&name, &f, &value, &mut elements)
                }
            };
            let _ = writeln!(definitions, "  {definition}");
        }
        // The elements of declared sorts are declared, as other solvers do, so that the definitions can be read.
        let mut text = "(\n".to_string();
        for declaration in elements {
            let _ = writeln!(text, "  {declaration}");
        }
        text.push_str(&definitions);
        // Choices of this model where the theory of floating point leaves results open.
        let open = self.symbols.unspecified_variables();
        let open: Vec<(String, Expr)> = open.map(|(name, variable)| (name.to_string(), variable)).collect();
        for (name, variable) in open {
            let sort = ScriptSort::of(self.solver.graph.sort(variable));
            let value =
                self.print_values(&[Term { expr: variable, sort }], &model, &mut BTreeSet::new()).remove(0);
            let sort = self.symbols.show(sort);
            let _ = writeln!(text, "  (define-fun |{name}| () {sort} {value})");
        }
        text.push(')');
        Ok(text)
    }

    pub(super) fn get_unsat_core(&mut self) -> Result<String, String> {
        match &self.last {
            LastCheck::Unsat { core, .. } => {
                let names: Vec<String> = core.iter().map(|&symbol| self.print_declared(symbol)).collect();
                Ok(format!("({})", names.join(" ")))
            }
            LastCheck::Sat { .. } | LastCheck::Unknown(_) | LastCheck::None => {
                Err(self.not_unsat("get-unsat-core"))
            }
        }
    }

    pub(super) fn get_unsat_assumptions(&mut self) -> Result<String, String> {
        match &self.last {
            LastCheck::Unsat { assumptions, .. } => Ok(format!("({})", assumptions.join(" "))),
            LastCheck::Sat { .. } | LastCheck::Unknown(_) | LastCheck::None => {
                Err(self.not_unsat("get-unsat-assumptions"))
            }
        }
    }

    fn not_unsat(&self, command: &str) -> String {
        let found = match &self.last {
            LastCheck::Sat { .. } => "sat",
            LastCheck::Unsat { .. } => "unsat",
            LastCheck::Unknown(_) => "unknown",
            LastCheck::None => "no check since the assertions changed",
        };
        format!("expected an unsat answer before {command}, found {found}")
    }

    /// The assertions as they were written.
    pub(super) fn get_assertions(&mut self) -> Result<String, String> {
        let terms: Vec<&str> = self.assertions.iter().map(|a| &*a.text).collect();
        Ok(format!("({})", terms.join("\n ")))
    }

    /// The truth values of the boolean terms that have a label.
    pub(super) fn get_assignment(&mut self) -> Result<String, String> {
        let model = self.model()?;
        let labels = self.labels.clone();
        let terms: Vec<Term> = labels.iter().map(|&(_, term)| term).collect();
        let values = self.print_values(&terms, &model, &mut BTreeSet::new());
        let pairs: Vec<String> = labels
            .iter()
            .zip(values)
            .map(|(&(symbol, _), value)| format!("({} {value})", self.print_declared(symbol)))
            .collect();
        Ok(format!("({})", pairs.join(" ")))
    }
}
