//! Commands that return information about the last check: values, models, cores.

use super::commands::{expect_end, source_text};
use super::{LastCheck, Session};
use crate::expr::smtlib::{Lexer, Parser, ScriptSort, SyntaxError, Term, Token, print_script_value};
use crate::expr::{Expr, Model};
use std::fmt::Write;

impl Session {
    /// Returns the model of the last check.
    ///
    /// # Errors
    ///
    /// Fails if the last check was not sat.
    fn model(&self) -> Result<Model, String> {
        let found = match &self.last {
            LastCheck::Sat(model) => return Ok(model.clone()),
            LastCheck::Unsat { .. } => "unsat",
            LastCheck::Unknown(_) => "unknown",
            LastCheck::None => "no check since the assertions changed",
        };
        Err(format!("expected a sat answer before asking for values, found {found}"))
    }

    fn print_values(&mut self, terms: &[Term], model: &Model) -> Vec<String> {
        let mut session = self.solver.evaluator.under(&self.solver.graph, model);
        let values: Vec<_> = terms.iter().map(|term| session.value(term.expr)).collect();
        terms.iter().zip(values).map(|(term, value)| print_script_value(term.sort, &value)).collect()
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
        let values = self.print_values(&terms, &model);
        let pairs: Vec<String> =
            texts.iter().zip(values).map(|(t, value)| format!("({t} {value})")).collect();
        Ok(format!("({})", pairs.join("\n ")))
    }

    pub(super) fn get_model(&mut self) -> Result<String, String> {
        let model = self.model()?;
        let declared = self.declared.clone();
        let variables: Vec<Term> = declared.iter().map(|&(_, variable)| variable).collect();
        let values = self.print_values(&variables, &model);
        let mut text = "(\n".to_string();
        for ((symbol, variable), value) in declared.into_iter().zip(values) {
            let (name, sort) = (self.print_declared(symbol), variable.sort);
            let _ = writeln!(text, "  (define-fun {name} () {sort} {value})");
        }
        // Choices of this model where the theory of floating point leaves results open.
        let open = self.symbols.unspecified_variables();
        let open: Vec<(String, Expr)> = open.map(|(name, variable)| (name.to_string(), variable)).collect();
        for (name, variable) in open {
            let sort = ScriptSort::of(self.solver.graph.sort(variable));
            let value = self.print_values(&[Term { expr: variable, sort }], &model).remove(0);
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
            LastCheck::Sat(_) | LastCheck::Unknown(_) | LastCheck::None => {
                Err(self.not_unsat("get-unsat-core"))
            }
        }
    }

    pub(super) fn get_unsat_assumptions(&mut self) -> Result<String, String> {
        match &self.last {
            LastCheck::Unsat { assumptions, .. } => Ok(format!("({})", assumptions.join(" "))),
            LastCheck::Sat(_) | LastCheck::Unknown(_) | LastCheck::None => {
                Err(self.not_unsat("get-unsat-assumptions"))
            }
        }
    }

    fn not_unsat(&self, command: &str) -> String {
        let found = match &self.last {
            LastCheck::Sat(_) => "sat",
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
        let values = self.print_values(&terms, &model);
        let pairs: Vec<String> = labels
            .iter()
            .zip(values)
            .map(|(&(symbol, _), value)| format!("({} {value})", self.print_declared(symbol)))
            .collect();
        Ok(format!("({})", pairs.join(" ")))
    }
}
