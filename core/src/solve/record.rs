//! The layer `record`: writes every query into a file that `partita smt` reads, then passes it on.
//!
//! Answers: nothing; `Unknown` if the query cannot be written.
//! Why sound: the query is passed on unchanged.
//! When it helps: collecting query logs, reporting a bug, comparing solvers on the same queries.
//! Cost: printing and writing each query.
//! Source: KLEE's `QueryLoggingSolver`.

use super::spec::SpecError;
use super::{Layer, Rest};
use crate::budget::Why;
use crate::expr::kquery;
use crate::expr::smtlib::Printer;
use crate::query::{Alive, Answer, Query};
use crate::tuning::RecordOptions;
use std::fs::{self, File};
use std::io::Write;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Format {
    SmtLib,
    KQuery,
}

pub struct Record {
    out: File,
    format: Format,
    written: u64,
}

impl Record {
    /// Appends to `queries.smt2` or `queries.kquery` in the folder.
    pub fn new(options: RecordOptions) -> Result<Record, SpecError> {
        let dir = options.dir.expect("has a default");
        let (format, name) = match options.format {
            "kquery" => (Format::KQuery, "queries.kquery"),
            _ => (Format::SmtLib, "queries.smt2"),
        };
        let path = dir.join(name);
        let open = || {
            fs::create_dir_all(&dir)?;
            File::options().create(true).append(true).open(&path)
        };
        let file = open().map_err(|e| SpecError(format!("record: cannot write {}: {e}", path.display())))?;
        Ok(Record { out: file, format, written: 0 })
    }

    fn write(&mut self, query: &Query, rest: &mut Rest<'_>) -> Result<(), String> {
        let constraints = query.constraints(rest.tree);
        let text = match self.format {
            Format::SmtLib => {
                let mut all = constraints.to_vec();
                all.push(query.condition);
                format!("{}(reset)\n", Printer::new(rest.graph).script(&all))
            }
            // A KQuery file asks whether the constraints entail an expression: the query is satisfiable if they do not
            // entail the negated condition.
            Format::KQuery => {
                let negated = rest.graph.not(query.condition);
                kquery::print(rest.graph, &constraints, negated, &[], &[])? + "\n"
            }
        };
        self.written += 1;
        // One write per query, so that a killed run leaves only complete queries.
        self.out.write_all(text.as_bytes()).map_err(|e| e.to_string())
    }
}

impl Layer for Record {
    fn name(&self) -> &str {
        "record"
    }

    fn check(&mut self, query: &Query, rest: &mut Rest<'_>) -> Answer {
        match self.write(query, rest) {
            Ok(()) => rest.check(query).answer,
            Err(message) => Answer::Unknown(Why::Layer { name: "record".into(), message }),
        }
    }

    fn sweep(&mut self, _alive: &Alive<'_>) {}

    /// Nothing is attached to path nodes.
    fn drop_paths(&mut self, _gone: &[u32]) {}

    fn counters(&self) -> Vec<(String, f64)> {
        vec![("written".to_string(), self.written as f64)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::budget::Budget;
    use crate::expr::Sort;
    use crate::solve::Solver;

    #[test]
    fn queries_are_written_in_both_formats() {
        let dir = std::env::temp_dir().join(format!("partita-record-{}", std::process::id()));
        for (format, expected) in [("smt2", "(bvult x #x05)"), ("kquery", "(query [(Ult ")] {
            let options = RecordOptions { dir: Some(dir.clone()), format };
            let mut solver = Solver::new(vec![Box::new(Record::new(options).unwrap())]);
            let sort = if format == "smt2" { Sort::Bits(8) } else { Sort::Array { index: 32, element: 8 } };
            let x = solver.graph.var("x", sort).unwrap();
            let zero = solver.graph.word(32, 0);
            let word = if format == "smt2" { x } else { solver.graph.select(x, zero) };
            let (five, two) = (solver.graph.word(8, 5), solver.graph.word(8, 2));
            let (small, two) = (solver.graph.ult(word, five), solver.graph.eq(word, two));
            let path = solver.tree.extend(&solver.graph, solver.tree.root(), small);
            solver.check(&Query::new(path, two), &Budget::unlimited());
            let written = fs::read_to_string(dir.join(format!("queries.{format}"))).unwrap();
            assert!(written.contains(expected), "{written}");
        }
        fs::remove_dir_all(&dir).unwrap();
    }

    #[test]
    fn a_folder_that_cannot_be_made_is_named() {
        let options = RecordOptions { dir: Some("/dev/null/x".into()), format: "smt2" };
        let error = Record::new(options).err().unwrap().to_string();
        assert!(error.starts_with("record: cannot write /dev/null/x/queries.smt2: "), "{error}");
    }
}
