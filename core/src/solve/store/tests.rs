//! Tests of the parts of the store. `core/tests/store.rs` tests the layer as a whole.

use super::Verdict;
use super::backend::{Change, Found};
use super::canonical::{Canonical, canonical};
use super::decode::constraints;
use super::file::File;
use super::row::Row;
use super::shape::Shapes;
use crate::budget::Budget;
use crate::expr::walk::Atom;
use crate::expr::{Bits, Evaluator, Expr, Graph, Model, Sort, Value};
use crate::query::{Answer, Query};
use crate::random::Random;
use crate::solve::conformance::Small;
use crate::solve::spec::Spec;
use crate::solve::{Layer, Solver, build_chain};
use rustc_hash::FxHashMap;
use std::path::PathBuf;

/// A folder that is removed with the test.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Folder {
        let path = std::env::temp_dir().join(format!("partita-store-unit-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&path);
        Folder(path)
    }

    fn file(&self) -> PathBuf {
        self.0.join("answers.sqlite")
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn form(graph: &Graph, all: &[Expr]) -> Canonical {
    canonical(graph, &mut Shapes::default(), all, 10_000).expect("a small query")
}

/// The model with the variable names of the canonical form.
fn renamed(graph: &Graph, form: &Canonical, model: &Model, other: &Graph) -> Model {
    let mut result = Model::new();
    for (i, &atom) in form.variables.iter().enumerate() {
        // A variable may have been simplified away when the query was rebuilt.
        let Some(variable) = other.lookup(&format!("v{i}")) else { continue };
        let value = match atom {
            Atom::Variable(v) => Value::Bits(model.bits(v, graph.width(v))),
            Atom::Array(v) => Value::Array(model.array(v).expect("all variables have values").clone()),
            Atom::Element(v, i) => {
                let array = model.array(v).expect("all variables have values");
                Value::Bits(array.get(&Bits::word(array.index_width(), i)))
            }
        };
        result.set(variable, value);
    }
    result
}

/// Rebuilt from canonical bytes, a query holds for the same assignments. So queries with equal bytes have the same
/// answers.
#[test]
fn canonical_bytes_are_a_complete_description() {
    let mut random = Random::new(1);
    let mut graph = Graph::new();
    let small = Small::new(&mut graph);
    let (mut before, mut after) = (Evaluator::new(), Evaluator::new());
    for _ in 0..400 {
        let count = 1 + random.below(3);
        let all: Vec<Expr> = (0..count).map(|_| small.truth(&mut graph, &mut random, 2)).collect();
        let form = form(&graph, &all);
        let mut other = Graph::new();
        let rebuilt = constraints(&mut other, &form.bytes).expect("bytes just written");
        assert_eq!(rebuilt.len(), form.constraints.len());
        for model in small.models.iter().step_by(7) {
            let model_there = renamed(&graph, &form, model, &other);
            let (mut here, mut there) = (before.under(&graph, model), after.under(&other, &model_there));
            for (&e, &r) in form.constraints.iter().zip(&rebuilt) {
                assert_eq!(here.truth(e), there.truth(r));
            }
        }
    }
}

/// Exchanging variables and the order of the constraints changes nothing, except in rare cases of equal shapes.
#[test]
fn renamed_queries_are_equal() {
    let mut random = Random::new(2);
    let mut graph = Graph::new();
    let small = Small::new(&mut graph);
    let (mut same, mut total) = (0, 0);
    let [x, y] = small.words;
    let flag = graph.var("another flag", Sort::Bool).unwrap();
    let array = graph.var("another array", Sort::Array { index: 1, element: 2 }).unwrap();
    let exchange: FxHashMap<Expr, Expr> =
        [(x, y), (y, x), (small.flag, flag), (small.array, array)].into_iter().collect();
    for _ in 0..500 {
        let all: Vec<Expr> = (0..3).map(|_| small.truth(&mut graph, &mut random, 2)).collect();
        let mut other: Vec<Expr> = all.iter().map(|&e| graph.substitute(e, &exchange)).collect();
        other.reverse();
        let (one, two) = (form(&graph, &all), form(&graph, &other));
        same += u32::from(one.bytes == two.bytes && one.key == two.key);
        total += 1;
    }
    assert!(same * 10 > total * 8, "only {same} of {total}");
}

#[test]
fn elements_are_encoded_as_variables() {
    let mut g = Graph::new();
    let array = g.var("input", Sort::Array { index: 32, element: 8 }).unwrap();
    let mut query = |i: u64, j: u64| {
        let (i, j, nine) = (g.word(32, i), g.word(32, j), g.word(16, 9));
        let (word, byte) = (g.read(array, i, 2), g.select(array, j));
        let wide = g.zext(byte, 16);
        let sum = g.add(word, wide);
        let condition = g.ult(sum, nine);
        form(&g, &[condition]).bytes
    };
    assert_eq!(query(0, 5), query(70, 3));
    // The byte is part of the word.
    assert_ne!(query(0, 5), query(0, 1));
    assert_eq!(query(0, 1), query(8, 9));
    assert_ne!(query(0, 0), query(0, 1));
}

/// Pairs of queries with one significant difference.
#[test]
fn similar_queries_differ() {
    let mut g = Graph::new();
    let mut all: Vec<(&str, Vec<u8>)> = Vec::new();
    for width in [8, 9] {
        let x = g.var(&format!("x{width}"), Sort::Bits(width)).unwrap();
        let y = g.var(&format!("y{width}"), Sort::Bits(width)).unwrap();
        let (three, four) = (g.word(width, 3), g.word(width, 4));
        let cases = [
            ("unsigned", g.ult(x, y)),
            ("signed", g.slt(x, y)),
            ("or equal", g.ule(x, y)),
            ("constant 3", g.ult(x, three)),
            ("constant 4", g.ult(x, four)),
            ("signed constant", g.slt(x, three)),
            ("swapped", g.ult(three, x)),
        ];
        all.extend(cases.map(|(name, e)| (name, form(&g, &[e]).bytes)));
        let twice = g.mul(x, y);
        let larger = g.ult(twice, x);
        all.push(("product", form(&g, &[larger]).bytes));
        let both = [g.ult(x, y), g.ult(y, three)];
        all.push(("chain", form(&g, &both).bytes));
        let apart = [g.ult(x, y), g.ult(x, three)];
        all.push(("fork", form(&g, &apart).bytes));
    }
    let base = g.var("base", Sort::Array { index: 8, element: 8 }).unwrap();
    let index = g.var("index", Sort::Bits(8)).unwrap();
    for elements in [[1, 2, 3], [1, 2, 4], [2, 1, 3]] {
        let table = g.table_over(base, elements.to_vec().into());
        let (read, two) = (g.select(table, index), g.word(8, 2));
        let small = g.ult(read, two);
        all.push(("table", form(&g, &[small]).bytes));
    }
    for (i, (name, bytes)) in all.iter().enumerate() {
        for (other, more) in &all[..i] {
            assert_ne!(bytes, more, "{name} and {other}");
        }
    }
}

#[test]
fn large_queries_have_no_canonical_form() {
    let mut g = Graph::new();
    let base = g.var("base", Sort::Array { index: 32, element: 8 }).unwrap();
    let table = g.table_over(base, vec![7; 1_000_000].into());
    let index = g.var("index", Sort::Bits(32)).unwrap();
    let (read, two) = (g.select(table, index), g.word(8, 2));
    let query = [g.ult(read, two)];
    assert!(canonical(&g, &mut Shapes::default(), &query, 1000).is_none());
    assert!(canonical(&g, &mut Shapes::default(), &query, 1_000_000).is_some());
}

fn row(number: u64, size: usize) -> Row {
    let mut key = [0; 16];
    key[..8].copy_from_slice(&number.to_le_bytes());
    let query = vec![number as u8; size];
    Row { shape: number / 2, key, query, verdict: Verdict::Unsat, answer: vec![1, 0], cost_us: 5, used: 0 }
}

#[test]
fn rows_are_found_and_the_size_is_bounded() {
    let folder = Folder::new("rows");
    let mut file = File::open(&folder.file()).unwrap();
    let find = |file: &File, n: u64| match file.find(n / 2, &row(n, 0).key).unwrap() {
        Found::Row(found) => Some(found),
        Found::Nothing => None,
        Found::Damaged | Found::Unproved(_) => panic!("no row is damaged"),
    };
    file.apply(&[Change::Insert(row(1, 10)), Change::Insert(row(2, 10))], u64::MAX).unwrap();
    assert_eq!(find(&file, 2).map(|row| row.query), Some(vec![2; 10]));
    assert!(find(&file, 3).is_none());
    file.apply(&[Change::Remove(1, row(2, 0).key)], u64::MAX).unwrap();
    assert!(find(&file, 2).is_none());
    let limit = 300_000;
    for n in 10..500 {
        file.apply(&[Change::Insert(row(n, 2000))], limit).unwrap();
    }
    assert!(file.contents().unwrap().bytes <= limit);
    assert!(std::fs::metadata(folder.file()).unwrap().len() <= limit + 100_000);
    assert!(find(&file, 499).is_some() && find(&file, 10).is_none());
    assert!(file.contents().unwrap().unsat > 50);
    assert_eq!(file.shapes().unwrap().len() as u64, file.contents().unwrap().unsat.div_ceil(2));
    assert!(file.clear().unwrap() > 50);
    assert_eq!(file.contents().unwrap().unsat, 0);
}

/// A valid row with the verdict unsat for a satisfiable query.
#[test]
fn after_a_wrong_answer_the_file_is_not_used() {
    let folder = Folder::new("wrong");
    let text = format!("store(path={},eager=on,sample=1) sat", folder.file().display());
    let chain = || -> Vec<Box<dyn Layer>> {
        build_chain(&Spec::parse(&text, &Spec(Vec::new())).unwrap(), &mut |_| Ok(None)).unwrap()
    };
    let ask = |solver: &mut Solver| {
        let x = solver.graph.var("x", Sort::Bits(8)).unwrap();
        let (three, square) = (solver.graph.word(8, 9), solver.graph.mul(x, x));
        let condition = solver.graph.eq(square, three);
        solver.check(&Query::new(solver.tree.root(), condition), &Budget::unlimited())
    };
    let mut solver = Solver::new(chain());
    assert!(matches!(ask(&mut solver), Answer::Sat(_)));
    drop(solver);
    let mut file = File::open(&folder.file()).unwrap();
    let mut rows = Vec::new();
    file.each(|row| {
        rows.push(row.expect("a good row"));
        true
    })
    .unwrap();
    let [right] = &rows[..] else { panic!("expected one row, found {}", rows.len()) };
    let wrong = Row { verdict: Verdict::Unsat, answer: vec![1, 0], ..right.clone() };
    file.apply(&[Change::Remove(right.shape, right.key), Change::Insert(wrong)], u64::MAX).unwrap();
    drop(file);
    let mut solver = Solver::new(chain());
    assert!(matches!(ask(&mut solver), Answer::Sat(_)));
    let path = folder.file().display().to_string();
    assert_eq!(solver.notices(), [format!("the store {path} has a wrong answer; going on without it")]);
    assert_eq!(solver.notices(), [] as [String; 0]);
    let counters = &solver.statistics()[0].counters;
    assert_eq!(counters.iter().find(|(name, _)| name == "wrong").map(|(_, n)| *n), Some(1.0));
    drop(solver);
    assert_eq!(File::open(&folder.file()).unwrap().contents().unwrap().unsat, 0);
}

#[test]
fn wrong_options_are_named() {
    let error = |text: &str| {
        let spec = Spec::parse(text, &Spec(Vec::new())).unwrap();
        build_chain(&spec, &mut |_| Ok(None)).err().unwrap().to_string()
    };
    assert_eq!(error("store"), "expected `store(path=FILE)`, found `store`");
    assert_eq!(
        error("store(mb=0)"),
        "expected path=FILE, mb=1..1000000, sample=1..1000000, tries=1..1000000000, min_effort=0..1000000000, \
         share=0..1000, form_share=0..1000, wait_ms=1..1000000000, eager=on|off in `store(...)`, found `mb=0`"
    );
}
