//! SMT-LIB terms: printed terms parse to the same expression, errors give position and message, and depth is not
//! limited.

use crate::random;
use partita_core::expr::smtlib::{Lexer, Parser, Printer, ScriptSort, Symbols, SyntaxError};
use partita_core::expr::{Evaluator, Expr, Graph, Op, Sort, Value};
use partita_core::random::Random;

fn setup() -> (Graph, Symbols) {
    let mut graph = Graph::new();
    let mut symbols = Symbols::new(&graph);
    for (name, sort) in [
        ("p", Sort::Bool),
        ("q", Sort::Bool),
        ("x", Sort::Bits(8)),
        ("y", Sort::Bits(8)),
        ("w", Sort::Bits(100)),
        ("a", Sort::Array { index: 8, element: 8 }),
    ] {
        let symbol = symbols.number(name);
        symbols.declare(&mut graph, symbol, ScriptSort::of(sort)).unwrap();
    }
    (graph, symbols)
}

fn read(graph: &mut Graph, symbols: &mut Symbols, text: &str) -> Result<Expr, SyntaxError> {
    Parser::new(graph, symbols, Lexer::new(text.as_bytes())).term().map(|term| term.expr)
}

#[test]
fn terms_of_all_kinds() {
    let (mut g, mut s) = setup();
    for (text, same) in [
        ("(let ((x y) (y x)) (bvsub x y))", "(bvsub y x)"),
        ("(let ((z (bvadd x y))) (let ((z (bvmul z z))) z))", "(bvmul (bvadd x y) (bvadd x y))"),
        ("((_ extract 3 0) #xab)", "#b1011"),
        ("(_ bv171 8)", "#xAB"),
        ("(_ bv511 8)", "#xff"),
        ("(concat #b1 #x0 #b111)", "#b10000111"),
        ("(! (= x y) :named eq :weight 2 :flag)", "(= y x)"),
        ("|x|", "x"),
        (
            "((as const (Array (_ BitVec 8) (_ BitVec 8))) #x01)",
            "((as const (Array (_ BitVec 8) (_ BitVec 8))) #b00000001)",
        ),
        ("(select ((as const (Array (_ BitVec 8) (_ BitVec 8))) x) y)", "x"),
        ("(as x (_ BitVec 8))", "x"),
        ("(bvadd x y #x01)", "(bvadd (bvadd x y) #x01)"),
        ("(and p)", "p"),
        ("(distinct p q p)", "false"),
        ("((_ rotate_left 4) #xab)", "#xba"),
        ("((_ repeat 2) #xa)", "#xaa"),
        ("(bvcomp x x)", "#b1"),
        ("(bvsmod #xf9 #x02)", "#x01"),
        ("(bvsaddo #x7f #x01)", "true"),
        ("(_ bv340282366920938463463374607431768211455 128)", "#xffffffffffffffffffffffffffffffff"),
    ] {
        let one = read(&mut g, &mut s, text).unwrap_or_else(|e| panic!("{text}: {e}"));
        let other = read(&mut g, &mut s, same).unwrap_or_else(|e| panic!("{same}: {e}"));
        assert_eq!(one, other, "{text}");
    }
}

#[test]
fn errors_say_what_was_expected_and_found() {
    let (mut g, mut s) = setup();
    for (text, at, message) in [
        ("(bvadd x p)", 0, "bvadd: expected (_ BitVec 8) like its first argument, found Bool"),
        ("(bvadd x\n  (bvnot z))", 18, "expected a declared symbol, found `z`"),
        ("(bvfoo x)", 1, "expected a declared function, found `bvfoo`"),
        ("(x y)", 1, "expected a function, found `x`, which takes no arguments"),
        ("bvadd", 0, "expected a term, found the function `bvadd` without arguments"),
        ("(let ((z x) (z y)) z)", 17, "expected each name once in a `let`, found `z` again"),
        ("(let () x)", 6, "expected a binding of a `let`, found `)`"),
        ("(forall ((z Bool)) z)", 1, "expected a quantifier-free term, found `forall`"),
        ("(_ bv1 0)", 7, "expected a width from 1 to 16777216, found 0"),
        ("(_ bv1 99999999999)", 7, "expected a width from 1 to 16777216, found 99999999999"),
        ("(_ bv1 99999999999999999999)", 7, "expected a numeral below 2^64, found `99999999999999999999`"),
        ("(_ foo 8)", 3, "expected `bvN` with a decimal number N, found `foo`"),
        ("((_ bvadd 1) x)", 4, "expected an indexed function, found `bvadd`"),
        ("(bvadd x", 8, "expected a term, found the end of the text"),
        ("12", 0, "expected a term, found `12`"),
        ("\"s\"", 0, "expected a term, found a string"),
        (")", 0, "expected a term, found `)`"),
        ("()", 1, "expected a function, found `)`"),
        ("let", 0, "expected a term, found the reserved word `let`"),
        ("(! p)", 4, "expected an attribute, found `)`"),
        ("(as x Bool)", 6, "expected a term of sort Bool, found one of sort (_ BitVec 8)"),
        ("((as const Bool) p)", 11, "expected an array sort after `as const`, found Bool"),
        ("((as const (Array Bool (_ BitVec 8))) p)", 0, "const: expected (_ BitVec 8), found Bool"),
        ("((as const (Array (_ BitVec 8) (_ BitVec 8))) p)", 0, "const: expected (_ BitVec 8), found Bool"),
    ] {
        let error = read(&mut g, &mut s, text).expect_err(text);
        assert_eq!((error.at, error.message.as_str()), (at, message), "{text}");
    }
    // No binding of an enclosing `let` is left.
    assert!(read(&mut g, &mut s, "(let ((z x)) (bvadd z q))").is_err());
    assert_eq!(read(&mut g, &mut s, "z").unwrap_err().message, "expected a declared symbol, found `z`");
}

#[test]
fn printed_terms_round_trip() {
    let mut exact = 0;
    let mut total = 0;
    for seed in 0..60 {
        let (mut g, mut s) = setup();
        let mut r = Random::new(seed);
        let variables: Vec<Expr> =
            ["p", "q", "x", "y", "w", "a"].iter().map(|n| g.lookup(n).unwrap()).collect();
        let leaves = random::Leaves {
            variables: variables.clone(),
            widths: vec![8, 16, 100],
            array: Sort::Array { index: 8, element: 8 },
            tables: seed % 3 == 0,
        };
        let pool = random::pool(&mut g, &mut r, &leaves, 120);
        let models: Vec<_> = (0..6).map(|_| random::model(&g, &mut r, &variables)).collect();
        for e in pool {
            let text = Printer::new(&g).term(e);
            let back =
                read(&mut g, &mut s, &text).unwrap_or_else(|error| panic!("seed {seed}: {error} in {text}"));
            total += 1;
            if back == e {
                exact += 1;
                continue;
            }
            // A table becomes a chain of stores; anything else must be the same node.
            let mut tables = false;
            g.post_order(&[e], |node| tables |= g.op(node) == Op::Table);
            assert!(tables, "seed {seed}: another node for {text}");
            let mut evaluator = Evaluator::new();
            for model in &models {
                let mut session = evaluator.under(&g, model);
                let (one, other) = (session.value(e), session.value(back));
                match (one, other) {
                    (Value::Bits(a), Value::Bits(b)) => assert_eq!(a, b, "seed {seed}: {text}"),
                    (Value::Array(a), Value::Array(b)) => assert_eq!(a, b, "seed {seed}: {text}"),
                    (a, b) => panic!("seed {seed}: {a:?} and {b:?}"),
                }
            }
        }
    }
    assert!(exact * 2 > total, "only {exact} of {total} were the same node");
}

#[test]
fn sharing_is_printed_once() {
    let (mut g, mut s) = setup();
    let mut e = g.lookup("x").unwrap();
    let y = g.lookup("y").unwrap();
    for _ in 0..200 {
        let product = g.mul(e, e);
        e = g.xor(product, y);
    }
    let text = Printer::new(&g).term(e);
    assert!(text.len() < 20_000, "{} bytes", text.len());
    assert_eq!(read(&mut g, &mut s, &text).unwrap(), e);
    // The names of bindings must not clash with variables.
    let odd = g.var("?1", Sort::Bits(8)).unwrap();
    let sum = g.mul(odd, y);
    let square = g.mul(sum, sum);
    assert_eq!(Printer::new(&g).term(square), "(let ((?2 (bvmul y ?1))) (bvmul ?2 ?2))");
}

#[test]
fn names_are_quoted_or_replaced() {
    let mut g = Graph::new();
    for (name, printed) in [("a b", "|a b|"), ("let", "|let|"), ("", "||"), ("1x", "|1x|"), ("x.1", "x.1")] {
        let v = g.var(name, Sort::Bool).unwrap();
        assert_eq!(Printer::new(&g).term(v), printed);
    }
    for name in ["and", "true", "a|b", "a\\b"] {
        let v = g.var(name, Sort::Bool).unwrap();
        assert_eq!(Printer::new(&g).term(v), format!("v!{}", v.id()));
    }
}

#[test]
fn a_million_levels() {
    let n = 1_000_000;
    for (open, leaf, close) in [
        ("(bvnot (bvadd x ", "y", "))"),
        ("(bvadd x (bvmul y ", "x", "))"),
        ("(let ((z (bvadd x y))) ", "z", ")"),
        ("(let ((x (bvmul x ", "y", "))) x)"),
        ("(! ", "p", " :weight 1)"),
        ("(ite p x (bvudiv y ", "x", "))"),
    ] {
        let (mut g, mut s) = setup();
        let levels = if open.len() > 12 { n / 2 } else { n };
        let text = format!("{}{leaf}{}", open.repeat(levels), close.repeat(levels));
        let e = read(&mut g, &mut s, &text).unwrap_or_else(|e| panic!("{open}: {e}"));
        let printed = Printer::new(&g).term(e);
        assert_eq!(read(&mut g, &mut s, &printed).unwrap(), e, "{open}");
    }
    let (mut g, mut s) = setup();
    let deep = "(".repeat(n);
    assert!(read(&mut g, &mut s, &deep).is_err());
    let nested = format!("((as const {} Bool", "(Id ".repeat(n));
    assert!(read(&mut g, &mut s, &nested).is_err());
}

#[test]
fn scripts_declare_define_and_state_tables_as_facts() {
    let mut g = Graph::new();
    let a = g.var("a", Sort::Array { index: 8, element: 8 }).unwrap();
    let i = g.var("i", Sort::Bits(8)).unwrap();
    let table = g.table_over(a, vec![7, 9].into());
    let read = g.select(table, i);
    let nine = g.word(8, 9);
    let equal = g.eq(read, nine);
    let less = g.ult(read, i);
    assert_eq!(
        Printer::new(&g).script(&[equal, less]),
        "(set-logic QF_ABV)\n\
         (declare-fun a () (Array (_ BitVec 8) (_ BitVec 8)))\n\
         (declare-fun i () (_ BitVec 8))\n\
         (assert (= (select a #x00) #x07))\n\
         (assert (= (select a #x01) #x09))\n\
         (define-fun ?1 () (_ BitVec 8) (select a i))\n\
         (assert (= ?1 #x09))\n\
         (assert (bvult ?1 i))\n\
         (check-sat)\n"
    );
    // The base is read below the end of the table: it must stay separate from the table.
    let zero = g.word(8, 0);
    let first = g.select(a, zero);
    let other = g.eq(first, i);
    let script = Printer::new(&g).script(&[equal, other]);
    assert!(script.contains("(store (store a #x00 #x07) #x01 #x09)"), "{script}");
    assert!(!script.contains("(assert (= (select a #x00) #x07))"), "{script}");
}
