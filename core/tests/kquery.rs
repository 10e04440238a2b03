//! KQuery: every query of the corpus parses, printed queries parse to equal expressions, errors give message and
//! position.

use crate::corpus;
use crate::random;
use partita_core::expr::kquery::{self, KQueryParser, ParsedQuery};
use partita_core::expr::{Bits, Evaluator, Expr, Graph, Model, Op, Sort, Value};
use partita_core::random::Random;

fn queries(graph: &mut Graph, text: &str) -> Result<Vec<ParsedQuery>, String> {
    let mut reader = KQueryParser::new(text.as_bytes());
    let mut all = Vec::new();
    while let Some(query) = reader.next(graph).map_err(|e| e.located(text.as_bytes(), 1, 1))? {
        all.push(query);
    }
    Ok(all)
}

const ARRAYS: &str = "array a[4] : w32 -> w8 = symbolic\narray t[3] : w32 -> w8 = [10 0x14 0b11110]\n";

/// The expression of a query.
fn expr(graph: &mut Graph, text: &str) -> Expr {
    queries(graph, &format!("{ARRAYS}(query [] {text})")).unwrap_or_else(|e| panic!("{text}: {e}"))[0].expr
}

#[test]
fn the_corpus_round_trips() {
    let mut evaluator = Evaluator::new();
    let mut count = 0;
    for (name, text) in corpus::texts(".kquery.gz") {
        let mut graph = Graph::new();
        let mut reader = KQueryParser::new(&text);
        let mut r = Random::new(1);
        while let Some(query) =
            reader.next(&mut graph).unwrap_or_else(|e| panic!("{name}: {}", e.located(&text, 1, 1)))
        {
            count += 1;
            if count % 50 != 0 {
                continue;
            }
            let printed = kquery::print(&graph, &query.constraints, query.expr, &query.values, &query.arrays)
                .unwrap_or_else(|e| panic!("{name}: {e}"));
            let back = queries(&mut graph, &printed).unwrap_or_else(|e| panic!("{name}: {e} in\n{printed}"));
            assert_eq!(back.len(), 1);
            let back = &back[0];
            assert_eq!(back.arrays.len(), query.arrays.len());
            let mut roots: Vec<Expr> = query.constraints.iter().chain(&query.values).copied().collect();
            roots.push(query.expr);
            let mut back_roots: Vec<Expr> = back.constraints.iter().chain(&back.values).copied().collect();
            back_roots.push(back.expr);
            assert_eq!(roots.len(), back_roots.len());
            let mut variables = Vec::new();
            graph.post_order(&roots, |e| {
                if graph.op(e) == Op::Var {
                    variables.push(e);
                }
            });
            let model = random::model(&graph, &mut r, &variables);
            let mut session = evaluator.under(&graph, &model);
            for (&one, &other) in roots.iter().zip(&back_roots) {
                assert!(one == other || session.bits(one) == session.bits(other), "{name}: {printed}");
            }
        }
    }
    assert!(count == 0 || count > 10_000, "{count} queries");
}

#[test]
fn expressions_match_klee() {
    let mut g = Graph::new();
    let a = {
        expr(&mut g, "true");
        g.lookup("a").unwrap()
    };
    let mut model = Model::new();
    for (i, byte) in [0x12, 0x80, 0x00, 0xff].into_iter().enumerate() {
        model.set_element(&g, a, &Bits::word(32, i as u64), Bits::word(8, byte));
    }
    let mut evaluator = Evaluator::new();
    for (text, truth) in [
        ("(Eq 0x8012 (ReadLSB w16 0 a))", true),
        ("(Eq 0x1280 (ReadMSB w16 0 a))", true),
        ("(Eq 0xff008012 (ReadLSB w32 0 a))", true),
        ("(Slt (Read w8 1 a) 0)", true),
        ("(Eq -1 (Read w8 3 a))", true),
        ("(Eq 20 (Read w8 1 t))", true),
        ("(Eq 30 (Read w8 (Extract w32 0 (w64 2)) t))", true),
        ("(Eq 7 (Read w8 1 [1=7, 1=8] @ t))", true),
        ("(Eq 8 (Read w8 2 [1=7, 2=8, 2=9] @ t))", true),
        ("(Eq 9 (Read w8 2 [1=7] @ [2=9] @ t))", true),
        ("(Eq 10 (Read w8 0 [] @ t))", true),
        ("(And (Eq (Read w8 0 U:[0=1] @ a) 1) (Eq (Read w8 0 U) 1))", true),
        ("(Eq N0:(ZExt w32 (Eq 18 (Read w8 0 a))) (Add w32 N0 0))", true),
        ("(Eq 1 (ZExt w8 (Eq 18 (Read w8 0 a))))", true),
        ("(Eq 255 (SExt w8 (Extract w1 7 (Read w8 1 a))))", true),
        ("(Eq false (Extract w1 7 (Read w8 0 a)))", true),
        ("(And w1 (Extract w1 7 (Read w8 1 a)) true)", true),
        ("(Not (Eq 1 (Read w8 2 a)))", true),
        ("(Not w1 (w1 0))", true),
        ("(Eq (w8 254) (Not w8 (w8 1)))", true),
        ("(Add w1 true (w1 0))", true),
        ("(Ult (w1 0) true)", true),
        ("(Xor (Eq 18 (Read w8 0 a)) false)", true),
        ("(Select w1 (Eq 18 (Read w8 0 a)) true false)", true),
        ("(Eq 5 (Select w8 (Eq 18 (Read w8 0 a)) 5 6))", true),
        ("(Eq 0x1280 (Concat w16 (Read w8 0 a) (Read w8 1 a)))", true),
        ("(Eq 1 (Concat w9 (w8 0) true))", true),
        ("(Ne 1 (Read w8 2 a))", true),
        ("(Ugt (Read w8 3 a) (Read w8 1 a))", true),
        ("(Sge (Read w8 1 a) (Read w8 0 a))", false),
        ("(Eq 2 (URem w8 (Read w8 0 a) 16))", true),
        ("(Eq 0xfe (LShr w8 (Read w8 3 a) 1))", false),
        ("(Eq 0xff (AShr w8 (Read w8 3 a) 7))", true),
        // KLEE's solvers get 0 for a shift by the width or more; it folds constants with the sign.
        ("(Eq 0 (AShr w8 (Read w8 3 a) 8))", true),
        ("(Eq 0 (AShr w8 (Read w8 3 a) (Read w8 1 a)))", true),
        ("(Eq 0 (AShr w8 (w8 255) (Read w8 1 a)))", true),
        ("(Eq 0xff (AShr w8 (w8 255) (w8 9)))", true),
        ("(Eq 0xff (AShr w8 (Read w8 3 a) (Select (Ult N0:(Read w8 1 a) 8) N0 7)))", true),
        ("# a comment\n false", false),
    ] {
        let e = expr(&mut g, text);
        assert_eq!(evaluator.under(&g, &model).truth(e), truth, "{text}");
    }
}

#[test]
fn errors_give_message_and_position() {
    for (text, message) in [
        ("(query [] (Foo 1 2))", "line 1 column 12: expected an operator, found `Foo`"),
        ("(query [] N0)", "line 1 column 11: expected an expression or a label seen before, found `N0`"),
        (
            "(query [] (Eq 1 2))",
            "line 1 column 11: Eq: expected an operand with a width, found only numbers; write `(w32 5)` for one",
        ),
        ("(query [] (Eq (w8 1) (w9 1)))", "line 1 column 11: Eq: expected w8, found w9"),
        ("(query [] (Eq 256 (w8 1)))", "line 1 column 11: expected a number of at most 8 bits, found `256`"),
        ("(query [] (Add w8 1))", "line 1 column 11: Add: expected 2 operands, found 1"),
        ("(query [] (w0 1))", "line 1 column 12: expected a type from w1 to w16777216, found w0"),
        (
            "(query [] (w99999999999999999999 1))",
            "line 1 column 12: expected a type from w1 to w16777216, found w18446744073709551615",
        ),
        ("(query [] (Read w8 0 b))", "line 1 column 22: expected a declared array, found `b`"),
        ("(query [] (w8 1))", "line 1 column 16: condition: expected w1, found w8"),
        ("(query [", "line 1 column 9: expected an expression, found the end of the text"),
        ("array b[2] : w32 -> w8 = [1]", "line 1 column 28: expected 2 elements of `b`, found 1"),
        (
            "array b[2] : w64 -> w8 = symbolic",
            "line 1 column 14: expected the index type `w32`, found the type `w64`",
        ),
        (
            "array b[2] : w32 -> w8 = [300]",
            "line 1 column 27: expected a number of at most 8 bits, found `300`",
        ),
        ("\u{1}", "line 1 column 1: expected a token, found byte 0x01"),
        ("query", "line 1 column 1: expected `array` or `(query`, found `query`"),
        (
            "(query []\n  (Extract w8 30 (w32 1)))",
            "line 2 column 3: Extract: expected offset and width within w32, found 30 and w8",
        ),
        (
            "(query [] (ZExt w8 (w32 1)))",
            "line 1 column 11: ZExt: expected at least w32, the operand's type, found w8",
        ),
        ("(query [] true [] [b])", "line 1 column 20: expected a declared array, found `b`"),
    ] {
        assert_eq!(queries(&mut Graph::new(), text).unwrap_err(), message, "{text}");
    }
}

#[test]
fn deep_expressions() {
    let n = 300_000;
    let mut g = Graph::new();
    let nots = format!("{}(Eq 0 (Read w8 0 a)){}", "(Xor (Eq 1 (Read w8 1 a)) ".repeat(n), ")".repeat(n));
    expr(&mut g, &nots);
    let indices = format!("(Eq 1 {}(Read w8 0 a){})", "(Read w8 (ZExt w32 ".repeat(n), ") a)".repeat(n));
    let deep = expr(&mut g, &indices);
    let printed = kquery::print(&g, &[], deep, &[], &[]).unwrap();
    assert_eq!(queries(&mut g, &printed).unwrap()[0].expr, deep);
    let versions = format!("(Eq 1 (Read w8 0 {} a))", "[1=2] @ ".repeat(n));
    expr(&mut g, &versions);
}

#[test]
fn random_expressions_round_trip() {
    let array = Sort::Array { index: 32, element: 8 };
    let mut printed_count = 0;
    for seed in 0..40 {
        let mut g = Graph::new();
        let mut r = Random::new(seed);
        let mut variables: Vec<Expr> = vec![g.var("a", array).unwrap(), g.var("b", array).unwrap()];
        for (name, sort) in
            [("p", Sort::Bool), ("x", Sort::Bits(32)), ("y", Sort::Bits(8)), ("z", Sort::Bits(13))]
        {
            variables.push(g.var(name, sort).unwrap());
        }
        let leaves = random::Leaves {
            variables: variables.clone(),
            widths: vec![8, 32],
            array,
            tables: seed % 2 == 0,
        };
        let pool = random::pool(&mut g, &mut r, &leaves, 80);
        let original = random::model(&g, &mut r, &variables);
        for e in pool {
            if g.is_array(e) {
                continue;
            }
            // As a value, so that any width is possible.
            let Ok(text) = kquery::print(&g, &[], g.boolean(true), &[e], &[]) else { continue };
            printed_count += 1;
            // Into a separate graph: variables that are not arrays become arrays of bytes.
            let mut h = Graph::new();
            let back =
                queries(&mut h, &text).unwrap_or_else(|error| panic!("seed {seed}: {error} in\n{text}"));
            let model = as_bytes(&g, &original, &mut h);
            let value = back[0].values[0];
            let mut evaluator = Evaluator::new();
            let expected = Evaluator::new().under(&g, &original).bits(e);
            assert_eq!(evaluator.under(&h, &model).bits(value), expected, "seed {seed}\n{text}");
        }
    }
    assert!(printed_count > 1000, "{printed_count}");
}

/// The model over arrays of bytes, in the layout of the printer. Bases of tables keep their values.
fn as_bytes(g: &Graph, model: &Model, h: &mut Graph) -> Model {
    let array = Sort::Array { index: 32, element: 8 };
    let mut bytes = Model::new();
    for (variable, value) in model.iter() {
        let Ok(copy) = h.var(g.name(variable), array) else { panic!("an array of bytes") };
        match value {
            Value::Array(contents) => bytes.set(copy, Value::Array(contents.clone())),
            Value::Bits(bits) => {
                let whole = bits.zext(bits.width().next_multiple_of(8));
                for i in 0..whole.width() / 8 {
                    let byte = whole.extract((8 * i).into(), 8);
                    bytes.set_element(h, copy, &Bits::word(32, i.into()), byte);
                }
            }
        }
    }
    bytes
}
