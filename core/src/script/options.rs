//! Options and information of a session, by keyword.

use super::{LastCheck, Session};
use crate::expr::smtlib::{Lexer, SyntaxError, Token};
use std::fmt::Write;
use std::time::Duration;

/// Logics that the solver supports.
const LOGICS: [&str; 17] = [
    "QF_UF",
    "QF_AX",
    "QF_BV",
    "QF_ABV",
    "QF_AUFBV",
    "QF_UFBV",
    "QF_FP",
    "QF_BVFP",
    "QF_ABVFP",
    "QF_UFFP",
    "QF_UFBVFP",
    "QF_AUFBVFP",
    "QF_AFP",
    "QF_FPLRA",
    "QF_BVFPLRA",
    "QF_ABVFPLRA",
    "ALL",
];

/// Options that are stored and otherwise ignored: their features are always enabled.
const STORED_OPTIONS: [&str; 8] = [
    "produce-models",
    "produce-unsat-cores",
    "produce-unsat-assumptions",
    "produce-assertions",
    "produce-assignments",
    "random-seed",
    "diagnostic-output-channel",
    "regular-output-channel",
];

pub(super) struct Options {
    pub(super) print_success: bool,
    /// Whether checks after a rejected command answer about the accepted ones.
    pub(super) continued_execution: bool,
    /// Whether variables that assertions define are eliminated (`eliminate.rs`).
    pub(super) eliminate_variables: bool,
    /// Whether the boolean skeleton is simplified (`skeleton.rs`).
    pub(super) skeleton: bool,
    /// Whether terms with equal polynomials become one term (`polynomials.rs`).
    pub(super) equal_polynomials: bool,
    /// Whether terms that can have any value become variables (`unconstrained.rs`).
    pub(super) unconstrained_terms: bool,
    /// Estimated gates of products, quotients and remainders from which on they are left out at first (`on_demand.rs`); 0
    /// for never.
    pub(super) on_demand_gates: u64,
    /// Effort, in milliseconds, of a check that shares its state with the next one, before it is preprocessed by itself:
    /// preprocessed constraints are not those of other checks, so nothing is shared.
    pub(super) shared_ms: u64,
    pub(super) timeout: Option<Duration>,
    stored: Vec<(&'static str, String)>,
}

impl Options {
    pub(super) fn new(timeout: Option<Duration>) -> Options {
        Options {
            print_success: false,
            continued_execution: false,
            eliminate_variables: true,
            skeleton: true,
            equal_polynomials: true,
            unconstrained_terms: true,
            on_demand_gates: 4_000,
            shared_ms: 300,
            timeout,
            stored: Vec::new(),
        }
    }
}

impl Session {
    /// Reads `:option value`, after `set-option`. Returns false if the option does not exist.
    pub(super) fn set_option(&mut self, lexer: &mut Lexer<'_>) -> Result<bool, SyntaxError> {
        let name = keyword(lexer)?;
        match name {
            "print-success" => self.options.print_success = truth(lexer)?,
            "continued-execution" => self.options.continued_execution = truth(lexer)?,
            "eliminate-variables" => self.options.eliminate_variables = truth(lexer)?,
            "simplify-skeleton" => self.options.skeleton = truth(lexer)?,
            "equal-polynomials" => self.options.equal_polynomials = truth(lexer)?,
            "unconstrained-terms" => self.options.unconstrained_terms = truth(lexer)?,
            "on-demand-gates" => self.options.on_demand_gates = lexer.numeral()?,
            "global-declarations" | "global-decls" => self.symbols.global = truth(lexer)?,
            "shared-ms" => self.options.shared_ms = lexer.numeral()?,
            "timeout" => {
                // Milliseconds; zero and Z3's largest number mean no limit.
                let ms = lexer.numeral()?;
                let limited = ms != 0 && ms < u64::from(u32::MAX);
                self.options.timeout = limited.then(|| Duration::from_millis(ms));
            }
            other => {
                let Some(&known) = STORED_OPTIONS.iter().find(|&&known| known == other) else {
                    return Ok(false);
                };
                let value = match lexer.token()? {
                    Token::Symbol(value) | Token::Numeral(value) => value.to_string(),
                    Token::String(value) => format!("\"{value}\""),
                    found => return lexer.unexpected("a value for the option", found),
                };
                self.options.stored.retain(|(name, _)| *name != known);
                self.options.stored.push((known, value));
            }
        }
        Ok(true)
    }

    /// Returns the value of an option.
    pub(super) fn get_option(&self, lexer: &mut Lexer<'_>) -> Result<String, SyntaxError> {
        let name = keyword(lexer)?;
        lexer.close()?;
        Ok(match name {
            "print-success" => self.options.print_success.to_string(),
            "continued-execution" => self.options.continued_execution.to_string(),
            "eliminate-variables" => self.options.eliminate_variables.to_string(),
            "simplify-skeleton" => self.options.skeleton.to_string(),
            "equal-polynomials" => self.options.equal_polynomials.to_string(),
            "unconstrained-terms" => self.options.unconstrained_terms.to_string(),
            "on-demand-gates" => self.options.on_demand_gates.to_string(),
            "global-declarations" | "global-decls" => self.symbols.global.to_string(),
            "shared-ms" => self.options.shared_ms.to_string(),
            "timeout" => self.options.timeout.map_or(0, |limit| limit.as_millis()).to_string(),
            "produce-models"
            | "produce-unsat-cores"
            | "produce-unsat-assumptions"
            | "produce-assertions"
            | "produce-assignments" => self.stored(name).unwrap_or("true").to_string(),
            "random-seed" => self.stored(name).unwrap_or("0").to_string(),
            "diagnostic-output-channel" | "regular-output-channel" => {
                self.stored(name).unwrap_or("\"stdout\"").to_string()
            }
            _ => "unsupported".to_string(),
        })
    }

    fn stored(&self, name: &str) -> Option<&str> {
        self.options.stored.iter().find(|(known, _)| *known == name).map(|(_, value)| value.as_str())
    }

    /// Returns whether the logic is supported.
    pub(super) fn set_logic(&mut self, lexer: &mut Lexer<'_>) -> Result<bool, SyntaxError> {
        match lexer.token()? {
            Token::Symbol(name) | Token::Quoted(name) => Ok(LOGICS.contains(&name)),
            found => lexer.unexpected("a logic", found),
        }
    }

    pub(super) fn get_info(&self, lexer: &mut Lexer<'_>) -> Result<String, SyntaxError> {
        let name = keyword(lexer)?;
        lexer.close()?;
        Ok(match name {
            "name" => "(:name \"Partita\")".to_string(),
            "version" => format!("(:version \"{}\")", env!("CARGO_PKG_VERSION")),
            "authors" => "(:authors \"the Partita authors\")".to_string(),
            "error-behavior" => "(:error-behavior continued-execution)".to_string(),
            "assertion-stack-levels" => format!("(:assertion-stack-levels {})", self.levels.len()),
            "reason-unknown" => match &self.last {
                LastCheck::Unknown(why) => {
                    format!("(:reason-unknown \"{}\")", why.to_string().replace('"', "\"\""))
                }
                LastCheck::None | LastCheck::Sat { .. } | LastCheck::Unsat { .. } => {
                    return Err(SyntaxError::new(
                        0,
                        "expected an `unknown` answer before :reason-unknown, found none",
                    ));
                }
            },
            "all-statistics" => self.statistics(),
            _ => "unsupported".to_string(),
        })
    }

    fn statistics(&self) -> String {
        let mut text = format!("(:queries {}", self.solver.queries());
        let _ = write!(text, "\n :time {:.3}", self.solver.time().as_secs_f64());
        let _ = write!(text, "\n :nodes {}", self.solver.graph.len());
        let counts = &self.preprocessed;
        for (name, count) in [
            ("eliminated", counts.eliminated),
            ("booleans", counts.booleans),
            ("facts", counts.facts),
            ("equal-polynomials", counts.polynomials),
            ("unconstrained", counts.unconstrained),
            ("preprocessed-late", counts.late),
            ("attempts-on-demand", counts.attempts),
        ] {
            let _ = write!(text, "\n :{name} {count}");
        }
        for row in self.solver.statistics() {
            let (name, m) = (&row.name, &row.meter);
            for (what, count) in
                [("asked", m.asked), ("sat", m.sat), ("unsat", m.unsat), ("passed", m.passed)]
            {
                let _ = write!(text, "\n :{name}-{what} {count}");
            }
            let _ = write!(text, "\n :{name}-time {:.3}", m.own.as_secs_f64());
            for (what, count) in &row.counters {
                let _ = write!(text, "\n :{name}-{} {count}", what.replace('_', "-"));
            }
        }
        text.push(')');
        text
    }
}

fn keyword<'a>(lexer: &mut Lexer<'a>) -> Result<&'a str, SyntaxError> {
    match lexer.token()? {
        Token::Keyword(name) => Ok(name),
        found => lexer.unexpected("a keyword", found),
    }
}

fn truth(lexer: &mut Lexer<'_>) -> Result<bool, SyntaxError> {
    match lexer.token()? {
        Token::Symbol("true") => Ok(true),
        Token::Symbol("false") => Ok(false),
        found => lexer.unexpected("`true` or `false`", found),
    }
}
