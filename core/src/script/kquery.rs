//! KQuery sessions, one answer per query: `VALID` if the constraints entail the expression, `INVALID` and the
//! requested values if not, or `UNKNOWN` and the reason. In mode `Validity`: `true`, `false`, or `both`.

use super::Limits;
use super::check::{ask, conjuncts};
use crate::expr::kquery::{KQueryParser, ParsedQuery};
use crate::expr::{Bits, Expr, Model};
use crate::query::{Answer, Path, Status};
use crate::solve::Solver;
use rustc_hash::FxHashSet;
use std::collections::VecDeque;
use std::time::Duration;

/// Number of nodes above which dead nodes are collected.
const COLLECT_ABOVE: usize = 1 << 20;
/// Largest number of feasible paths retained for later queries.
const MAX_RECENT: usize = 4096;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Mode {
    /// Do the constraints entail the expression?
    Entailment,
    /// Do they entail the expression, its negation, or neither?
    Validity,
}

/// Answers the queries of KQuery texts.
pub struct KQuerySession {
    pub solver: Solver,
    pub limits: Limits,
    pub mode: Mode,
    retained_path: Option<Path>,
    /// Feasible paths with their models, retained because later queries of a log extend them.
    recent: VecDeque<Path>,
    unknowns: u64,
    collect_above: usize,
}

impl KQuerySession {
    pub fn new(solver: Solver, limits: Limits, mode: Mode) -> KQuerySession {
        let recent = VecDeque::new();
        KQuerySession {
            solver,
            limits,
            mode,
            retained_path: None,
            recent,
            unknowns: 0,
            collect_above: COLLECT_ABOVE,
        }
    }

    /// Number of queries answered `UNKNOWN`.
    pub fn unknowns(&self) -> u64 {
        self.unknowns
    }

    /// Answers every query of the text and passes each line of the answers to `emit` at once.
    ///
    /// # Errors
    ///
    /// Stops at the first error in the text, and returns it with its position.
    pub fn run(&mut self, text: &[u8], emit: &mut dyn FnMut(&str)) -> Result<(), String> {
        self.for_each_query(text, |session, query| session.answer(query).iter().for_each(|line| emit(line)))
    }

    /// Answers every query of the text and returns for each query how often each layer was asked and its own
    /// time.
    pub fn costs(&mut self, text: &[u8]) -> Result<Vec<Vec<(u64, Duration)>>, String> {
        let mut all = Vec::new();
        self.for_each_query(text, |session, query| {
            let meters = |solver: &Solver| solver.meters().map(|m| (m.asked, m.own)).collect::<Vec<_>>();
            let before = meters(&session.solver);
            session.answer(query);
            let after = meters(&session.solver);
            let spent = before.iter().zip(after).map(|(old, new)| (new.0 - old.0, new.1 - old.1));
            all.push(spent.collect());
        })?;
        Ok(all)
    }

    fn for_each_query(
        &mut self,
        text: &[u8],
        mut with: impl FnMut(&mut Self, &ParsedQuery),
    ) -> Result<(), String> {
        let mut parser = KQueryParser::new(text);
        loop {
            match parser.next(&mut self.solver.graph) {
                Ok(Some(query)) => with(self, &query),
                Ok(None) => return Ok(()),
                Err(error) => return Err(error.located(text, 1, 1)),
            }
            if self.solver.graph.len() > self.collect_above {
                self.solver.collect(parser.roots());
                self.collect_above = COLLECT_ABOVE.max(2 * self.solver.graph.len());
            }
        }
    }

    fn answer(&mut self, query: &ParsedQuery) -> Vec<String> {
        let negated = self.solver.graph.not(query.expr);
        match (self.ask(query, negated), self.mode) {
            (Answer::Unknown(why), _) => self.unknown(&why),
            (Answer::Unsat(_), Mode::Entailment) => vec!["VALID".into()],
            (Answer::Sat(model), Mode::Entailment) => self.values(query, &model),
            (Answer::Unsat(_), Mode::Validity) => vec!["true".into()],
            (Answer::Sat(_), Mode::Validity) => match self.ask(query, query.expr) {
                Answer::Unknown(why) => self.unknown(&why),
                Answer::Unsat(_) => vec!["false".into()],
                Answer::Sat(_) => vec!["both".into()],
            },
        }
    }

    fn unknown(&mut self, why: &crate::query::Why) -> Vec<String> {
        self.unknowns += 1;
        vec![format!("UNKNOWN {}", why.to_string().replace('\n', " "))]
    }

    fn ask(&mut self, query: &ParsedQuery, condition: Expr) -> Answer {
        let mut seen = FxHashSet::default();
        let mut path = Vec::new();
        for &constraint in &query.constraints {
            path.extend(conjuncts(&mut self.solver.graph, constraint, &mut seen));
        }
        // All conjuncts but the newest extend the path; the newest is the condition.
        let mut parts = conjuncts(&mut self.solver.graph, condition, &mut seen);
        let condition = parts.pop().unwrap_or(self.solver.graph.boolean(true));
        path.extend(parts);
        let answer = ask(&mut self.solver, &mut self.retained_path, path, condition, &self.limits.budget());
        if let (Answer::Sat(model), Some(path)) = (&answer, self.retained_path) {
            self.remember(path, condition, model);
        }
        answer
    }

    fn remember(&mut self, path: Path, condition: Expr, model: &Model) {
        let Solver { graph, tree, .. } = &mut self.solver;
        let further = tree.extend(graph, path, condition);
        if matches!(tree.status(further), Status::Unchecked) {
            tree.set_status(further, Status::Feasible(model.clone()));
        }
        self.recent.push_back(further);
        if self.recent.len() > MAX_RECENT {
            let oldest = self.recent.pop_front().expect("many");
            tree.release(oldest);
        }
    }

    /// Returns `INVALID` and one line per requested value and array: bytes in memory order, numbers highest
    /// digit first.
    fn values(&mut self, query: &ParsedQuery, model: &Model) -> Vec<String> {
        let mut lines = vec!["INVALID".to_string()];
        let mut session = self.solver.evaluator.under(&self.solver.graph, model);
        for (i, &e) in query.values.iter().enumerate() {
            lines.push(format!("value{i}: {}", hex(&session.bits(e))));
        }
        for array in &query.arrays {
            let crate::expr::Value::Array(value) = session.value(array.expr) else {
                unreachable!("an array")
            };
            let bytes: String = (0..array.size).map(|i| format!("{:02x}", value.get_word(i))).collect();
            lines.push(format!("{}: {bytes}", array.name));
        }
        lines
    }
}

fn hex(bits: &Bits) -> String {
    let whole = bits.zext(bits.width().next_multiple_of(4));
    whole.to_smtlib()[2..].to_string()
}
