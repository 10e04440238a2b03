//! The layer `sat` on the query logs of the corpus, compared with the recorded answers: a sample of each log, or
//! all queries with PARTITA_CORPUS=all.

use crate::chain::solver;
use crate::corpus;
use partita_core::budget::Budget;
use partita_core::expr::kquery::KQueryParser;
use partita_core::query::Query;
use std::time::Duration;

/// Pairs `["type", "answer"]` of the list `"kquery"`. The files are simple enough to split at quotes.
fn recorded(json: &str) -> Vec<(String, String)> {
    let list = json.split("\"kquery\"").nth(1).expect("a list of answers");
    let list = list.split("]]").next().expect("the end of the list");
    let words: Vec<&str> = list.split('"').skip(1).step_by(2).collect();
    words.chunks_exact(2).map(|pair| (pair[0].to_string(), pair[1].to_string())).collect()
}

#[test]
fn recorded_answers_are_confirmed() {
    let directory = corpus::directory();
    let all = std::env::var("PARTITA_CORPUS").is_ok_and(|value| value == "all");
    let most = if all { usize::MAX } else { 120 };
    for (name, text) in corpus::texts(".kquery.gz") {
        let json = directory.join(name.replace(".kquery.gz", ".json"));
        let answers = recorded(&std::fs::read_to_string(json).expect("answers beside the log"));
        let mut solver = solver("sat");
        let mut reader = KQueryParser::new(&text);
        let mut number = 0;
        while let Some(query) = reader.next(&mut solver.graph).expect("a query") {
            let Some((kind, answer)) = answers.get(number) else { break };
            number += 1;
            if number > most {
                break;
            }
            let mut path = solver.tree.root();
            for &constraint in &query.constraints {
                path = solver.tree.extend(&solver.graph, path, constraint);
            }
            // Can the expression be false, and can it be true?
            let negated = solver.graph.not(query.expr);
            let mut ask = |condition| {
                let budget = Budget::for_time(Duration::from_secs(60));
                solver.check(&Query::new(path, condition), &budget).verdict()
            };
            let expected: (&str, Option<&str>) = match (kind.as_str(), answer.as_str()) {
                ("Validity", "true") => ("unsat", Some("sat")),
                ("Validity", "false") => ("sat", Some("unsat")),
                ("Validity", "both") => ("sat", Some("sat")),
                ("Truth", "true") => ("unsat", None),
                ("Truth", "not-always-true") => ("sat", None),
                // These ask for a model of the constraints; their expression is `false`.
                ("Value" | "InitialValues", "sat") => ("sat", None),
                other => panic!("{name}: an answer of an unknown kind: {other:?}"),
            };
            assert_eq!(ask(negated), expected.0, "{name}, query {number}: {kind} {answer}");
            if let Some(verdict) = expected.1 {
                assert_eq!(ask(query.expr), verdict, "{name}, query {number}: {kind} {answer}");
            }
        }
        assert!(number > 0, "{name}: no query was checked");
    }
}
