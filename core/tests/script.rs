//! Scripts: the commands of SMT-LIB and KQuery files, with a complete layer for small queries.

use crate::corpus;
use partita_core::expr::walk::{Atom, Supports};
use partita_core::expr::{Bits, Evaluator, Expr, Graph, Model};
use partita_core::query::{Alive, Answer, Core, Query, Why};
use partita_core::script::{KQuerySession, Limits, Mode, Session, Step};
use partita_core::solve::{Layer, Rest, Solver};

/// Enumerates all assignments of the bits that a query depends on; cores are shrunk one constraint at a time.
struct Exhaustive;

fn solve(graph: &Graph, constraints: &[Expr]) -> Option<Option<Model>> {
    let mut supports = Supports::default();
    let mut atoms: Vec<Atom> = constraints.iter().flat_map(|&e| supports.of(graph, e).to_vec()).collect();
    atoms.sort_unstable();
    atoms.dedup();
    let width = |atom: &Atom| graph.width(atom.variable());
    let total: u32 = atoms.iter().map(width).sum();
    if total > 20 {
        return None;
    }
    let whole_arrays = atoms.iter().any(|atom| matches!(atom, Atom::Array(_)));
    let mut evaluator = Evaluator::new();
    for assignment in 0..1u64 << total {
        let mut model = Model::new();
        let mut left = assignment;
        for atom in &atoms {
            let bits = Bits::word(width(atom), left);
            left >>= width(atom);
            match *atom {
                Atom::Variable(v) => model.set_bits(v, bits),
                Atom::Element(v, i) => {
                    let partita_core::expr::Sort::Array { index, .. } = graph.sort(v) else { unreachable!() };
                    model.set_element(graph, v, &Bits::word(index, i), bits);
                }
                // All zeros: enough for a guess, not for a refutation.
                Atom::Array(_) => {}
            }
        }
        let mut session = evaluator.under(graph, &model);
        if constraints.iter().all(|&e| session.truth(e)) {
            return Some(Some(model));
        }
    }
    (!whole_arrays).then_some(None)
}

impl Layer for Exhaustive {
    fn name(&self) -> &str {
        "exhaustive"
    }

    fn check(&mut self, query: &Query, rest: &mut Rest<'_>) -> Answer {
        let path = query.constraints(rest.tree);
        let mut core: Vec<Expr> = path.iter().copied().chain([query.condition]).collect();
        match solve(rest.graph, &core) {
            None => {
                return Answer::Unknown(Why::Layer {
                    name: "exhaustive".into(),
                    message: "too \"large\"".into(),
                });
            }
            Some(Some(model)) => return Answer::Sat(model),
            Some(None) => {}
        }
        let mut i = 0;
        while i < core.len() {
            let mut fewer = core.clone();
            fewer.remove(i);
            if matches!(solve(rest.graph, &fewer), Some(None)) { core = fewer } else { i += 1 }
        }
        let condition = core.contains(&query.condition) && !path.contains(&query.condition);
        Answer::Unsat(Core {
            constraints: core.into_iter().filter(|e| path.contains(e)).collect(),
            condition,
        })
    }

    fn sweep(&mut self, _: &Alive<'_>) {}

    fn drop_paths(&mut self, _gone: &[u32]) {}

    fn is_complete(&self) -> bool {
        true
    }
}

pub(crate) fn session() -> Session {
    Session::new(Solver::new(vec![Box::new(Exhaustive)]), Limits::default())
}

pub(crate) fn answers(text: &str) -> Vec<String> {
    session().feed(text.as_bytes())
}

#[test]
fn a_session() {
    let mut s = session();
    for (text, expected) in [
        ("(set-logic QF_BV)", &[][..]),
        ("(set-option :print-success true)", &["success"]),
        ("(declare-const x (_ BitVec 8)) (declare-fun y () (_ BitVec 8))", &["success", "success"]),
        ("(assert (bvult x #x05)) (check-", &["success"]),
        ("sat)", &["sat"]),
        ("(push)(assert (! (bvult #x07 x) :named big))(check-sat)", &["success", "success", "unsat"]),
        ("(get-unsat-core)", &["(big)"]),
        ("(pop 1)", &["success"]),
        ("(assert (= y (bvadd x #x01))) (assert (= x #x03))(check-sat)", &["success", "success", "sat"]),
        ("(get-value (x (bvmul  y y) (= x y)))", &["((x #x03)\n ((bvmul  y y) #x10)\n ((= x y) false))"]),
        (
            "(get-model)",
            &["(\n  (define-fun x () (_ BitVec 8) #x03)\n  (define-fun y () (_ BitVec 8) #x04)\n)"],
        ),
        ("(echo \"a \"\"b\"\"\")", &["a \"b\""]),
        ("(set-option :print-success false)", &[]),
        (
            "(get-info :name)(get-info :version)(get-info :foo)",
            &["(:name \"Partita\")", "(:version \"0.1.0\")", "unsupported"],
        ),
        (
            "(check-sat-assuming ((= y #x04) (not (= x #x03))))(get-unsat-assumptions)",
            &["unsat", "((not (= x #x03)))"],
        ),
        ("(check-sat-assuming (true))", &["sat"]),
        ("(get-assertions)", &["((bvult x #x05)\n (= y (bvadd x #x01))\n (= x #x03))"]),
        ("(reset)(check-sat)(exit)(check-sat)", &["sat"]),
    ] {
        assert_eq!(s.feed(text.as_bytes()), expected, "{text}");
    }
    assert!(s.has_exited());
    assert_eq!(s.step(), Step::Exit);
    assert_eq!(s.errors(), 0);
}

#[test]
fn errors_are_reported_and_change_nothing() {
    let mut s = session();
    let start = "(set-option :continued-execution true)(declare-const x (_ BitVec 8))\n(declare-const p Bool)\n(assert (= x #x01))";
    assert!(s.feed(start.as_bytes()).is_empty());
    for (text, expected) in [
        (
            "(assert (= x #b1))",
            "(error \"line 3 column 28: =: expected (_ BitVec 8) like its first argument, found (_ BitVec 1)\")",
        ),
        (
            "\n(assert x)",
            "(error \"line 4 column 9: expected a term of sort Bool, found one of sort (_ BitVec 8)\")",
        ),
        ("\n(assert (= x z))", "(error \"line 5 column 14: expected a declared symbol, found `z`\")"),
        (
            "\n(declare-const x Bool)",
            "(error \"line 6 column 16: expected a new symbol, found `x`, which is declared already\")",
        ),
        (
            "\n(declare-const and Bool)",
            "(error \"line 7 column 16: expected a new symbol, found the built-in function `and`\")",
        ),
        (
            "\n(declare-const z Int)",
            "(error \"line 8 column 18: expected Bool, (_ BitVec n), (_ FloatingPoint e s) or (Array ...), found the sort `Int`\")",
        ),
        (
            "\n(declare-fun f (Bool Int) Bool)",
            "(error \"line 9 column 22: expected Bool, (_ BitVec n), (_ FloatingPoint e s) or (Array ...), found the sort `Int`\")",
        ),
        ("\n(pop)", "(error \"line 10 column 5: expected at most 0 levels to pop, found 1\")"),
        (
            "\n(push 99999999999999)",
            "(error \"line 11 column 21: expected at most 1000000 levels, found 99999999999999 more\")",
        ),
        (
            "\n(get-model)",
            "(error \"line 12 column 1: expected a sat answer before asking for values, found no check since the assertions changed\")",
        ),
        (
            "\n(get-unsat-core)",
            "(error \"line 13 column 1: expected an unsat answer before get-unsat-core, found no check since the assertions changed\")",
        ),
        ("\n(frobnicate)", "(error \"line 14 column 2: expected a command, found `frobnicate`\")"),
        ("\nwhat\n", "(error \"line 15 column 1: expected a command, found `what`\")"),
        ("(check-sat) )\n", "(error \"line 16 column 13: expected a command, found `)`\")"),
        ("(assert p p)", "(error \"line 17 column 11: expected `)` at the end of the command, found `p`\")"),
        (
            "(set-option :print-success 1)",
            "(error \"line 17 column 40: expected `true` or `false`, found `1`\")",
        ),
        ("(echo hello)", "(error \"line 17 column 48: expected a string, found `hello`\")"),
        (
            "(define-fun f ((a Bool) (a Bool)) Bool a)",
            "(error \"line 17 column 79: expected each parameter once, found one again\")",
        ),
        (
            "(define-fun f () Bool x)",
            "(error \"line 17 column 117: expected a term of sort Bool, found one of sort (_ BitVec 8)\")",
        ),
        (
            "(assert (! p :named x))",
            "(error \"line 17 column 139: expected a new symbol, found `x`, which is declared already\")",
        ),
        ("()", "(error \"line 17 column 143: expected a command, found `)`\")"),
    ] {
        let found = s.feed(text.as_bytes());
        assert_eq!(found.last().map(String::as_str), Some(expected), "{text}");
    }
    assert_eq!(s.errors(), 21);
    assert_eq!(s.feed(b"(check-sat)(get-value (x))"), ["sat", "((x #x01))"]);
    assert!(s.feed(b"(assert (or p").is_empty());
    assert_eq!(
        s.finish(),
        Step::Done(Some("(error \"line 17 column 183: expected a term, found the end of the text\")".into()))
    );
    assert_eq!(s.finish(), Step::Idle);
}

#[test]
fn unsupported_commands_are_reported() {
    assert_eq!(
        answers(
            "(set-logic QF_LIA)(set-option :foo 1)(declare-datatype S ((s)))(get-proof)(get-option :foo)\
             (get-option :produce-models)(set-info :status sat)(set-info :flag)"
        ),
        ["unsupported", "unsupported", "unsupported", "unsupported", "unsupported", "true"]
    );
}

#[test]
fn unknown_has_a_reason() {
    let mut s = session();
    let text =
        "(declare-const x (_ BitVec 64))(assert (bvult x (bvmul x x)))(check-sat)(get-info :reason-unknown)";
    assert_eq!(s.feed(text.as_bytes()), ["unknown", "(:reason-unknown \"exhaustive: too \"\"large\"\"\")"]);
    assert_eq!(s.unknowns(), 1);
    let text = "(get-model)";
    assert_eq!(
        s.feed(text.as_bytes()),
        ["(error \"line 1 column 99: expected a sat answer before asking for values, found unknown\")"]
    );
}

#[test]
fn a_time_limit_holds() {
    let mut s = session();
    s.limits.cancel.cancel();
    let text =
        "(declare-const x (_ BitVec 8))(assert (bvult (bvmul x x) x))(check-sat)(get-info :reason-unknown)";
    assert_eq!(s.feed(text.as_bytes()), ["unknown", "(:reason-unknown \"canceled\")"]);
}

#[test]
fn definitions() {
    assert_eq!(
        answers(
            "(define-sort Byte () (_ BitVec 8))(define-sort Map (I E) (Array I E))(define-sort Bytes (I) (Map I Byte))
             (declare-const m (Bytes (_ BitVec 4)))
             (declare-const b Byte)
             (define-const c Byte #x0f)
             (define-fun inc ((v Byte)) Byte (bvadd v #x01))
             (define-fun twice ((v Byte) (w Byte)) Byte (inc (inc (bvadd v w))))
             (define-fun here () Byte (select m #x3))
             (assert (= (twice b c) here))
             (assert (= b #x01))
             (check-sat)(get-value (here b (select m (_ bv3 4)) (twice b b)))
             (get-model)
             (push)(define-fun inc2 ((v Byte)) Byte (inc (inc v)))(pop)(simplify (inc2 b))
             (inc b)(assert (inc b))(assert (= (inc c c) b))(assert (= (inc (= b b)) b))"
        ),
        [
            "sat",
            "((here #x12)\n (b #x01)\n ((select m (_ bv3 4)) #x12)\n ((twice b b) #x04))",
            "(\n  (define-fun m () (Array (_ BitVec 4) (_ BitVec 8)) (store ((as const (Array (_ BitVec 4) (_ BitVec 8))) #x00) #x3 #x12))\n  (define-fun b () (_ BitVec 8) #x01)\n)",
            "(error \"line 12 column 83: expected a declared function, found `inc2`\")",
            "(error \"line 13 column 15: expected a command, found `inc`\")",
            "(error \"line 13 column 29: expected a term of sort Bool, found one of sort (_ BitVec 8)\")",
            "(error \"line 13 column 48: inc: expected 1 arguments, found 2\")",
            "(error \"line 13 column 72: inc: expected (_ BitVec 8) as argument 1, found Bool\")",
        ]
    );
}

#[test]
fn definitions_that_double_at_each_step_are_stopped() {
    let mut text = "(define-fun f0 ((x (_ BitVec 8))) (_ BitVec 8) (bvmul x (bvadd x #x01)))".to_string();
    for i in 1..60 {
        let j = i - 1;
        text +=
            &format!("(define-fun f{i} ((x (_ BitVec 8)) ) (_ BitVec 8) (f{j} (bvxor (f{j} x) #x{i:02x})))");
    }
    let answers = answers(&text);
    assert!(
        answers[0].contains("expected definitions that expand to at most 1048576 nodes"),
        "{}",
        answers[0]
    );
}

#[test]
fn a_name_can_be_redeclared_with_another_sort() {
    assert_eq!(
        answers(
            "(push)(declare-const x Bool)(assert x)(check-sat)(pop)
             (declare-const x (_ BitVec 8))(declare-const x!1 (_ BitVec 8))
             (assert (= x #x01))(assert (= x!1 #x02))(check-sat)(get-value (x x!1))(get-assertions)
             (reset)(declare-const x (Array (_ BitVec 8) (_ BitVec 8)))(assert (= (select x #x00) #x05))
             (check-sat)(get-value ((select x #x00)))
             (set-option :global-declarations true)(push)(declare-const y Bool)(pop)(assert y)(check-sat)
             (reset-assertions)(assert (not y))(check-sat)"
        ),
        [
            "sat",
            "sat",
            "((x #x01)\n (x!1 #x02))",
            "((= x #x01)\n (= x!1 #x02))",
            "sat",
            "(((select x #x00) #x05))",
            "sat",
            "sat"
        ]
    );
}

#[test]
fn cores_name_assertions() {
    assert_eq!(
        answers(
            "(declare-const x (_ BitVec 4))(declare-const p Bool)
             (assert (! (and (bvult x #x4) p) :named a))
             (assert (! (bvult #x1 x) :named |b b|))
             (assert (! (not p) :named c))
             (assert (! (= x #x5) :named d))
             (check-sat)(get-unsat-core)
             (check-sat-assuming (c a))(get-unsat-assumptions)
             (push)(assert false)(check-sat)(get-unsat-core)(pop)"
        ),
        ["unsat", "(a d)", "unsat", "()", "unsat", "()"]
    );
}

/// Assertions that define elements one by one, as KLEE writes constant arrays.
fn table(names: bool) -> String {
    let mut text =
        "(declare-const t (Array (_ BitVec 8) (_ BitVec 8)))(declare-const i (_ BitVec 8))".to_string();
    for k in 0..8 {
        let element = format!("(= (select t (_ bv{k} 8)) (_ bv{} 8))", 10 * k);
        text += &if names {
            format!("(assert (! {element} :named e{k}))")
        } else {
            format!("(assert {element})")
        };
    }
    text
}

#[test]
fn tables_are_recognised_and_models_and_cores_are_those_of_the_assertions() {
    let mut s = session();
    // Without the table there would be far too many bits to enumerate.
    assert!(s.feed(table(false).as_bytes()).is_empty());
    assert_eq!(
        s.feed(b"(assert (= (select t (bvand i #x07)) #x1e))(check-sat)(get-value (i (select t #x05) (select t i)))"),
        ["sat", "((i #x03)\n ((select t #x05) #x32)\n ((select t i) #x1e))"]
    );
    let elements: Vec<String> = (1..8).map(|k| format!(" #x{k:02x} #x{:02x})", 10 * k)).collect();
    let array = "(Array (_ BitVec 8) (_ BitVec 8))";
    let stores = "(store ".repeat(7);
    assert_eq!(
        s.feed(b"(get-value (t))"),
        [format!("((t {stores}((as const {array}) #x00){}))", elements.concat())]
    );
    let mut s = session();
    s.feed(table(true).as_bytes());
    s.feed(b"(assert (! (= i #x02) :named index))(assert (! (= (select t #x03) #x1f) :named wrong))");
    assert_eq!(s.feed(b"(check-sat)"), ["unsat"]);
    let core = s.feed(b"(get-unsat-core)").remove(0);
    assert!(core.contains("wrong") && core.contains("e3") && !core.contains("index"), "{core}");
    let mut s = session();
    s.feed(table(true).as_bytes());
    s.feed(b"(assert (bvult (select t #x02) (select t #x09)))(assert (= i (select t #x07)))");
    assert_eq!(
        s.feed(b"(check-sat)(get-value (i (select t #x07) (bvult (select t #x02) (select t #x09))))"),
        ["sat", "((i #x46)\n ((select t #x07) #x46)\n ((bvult (select t #x02) (select t #x09)) true))"]
    );
    // An element defined twice with different values.
    let mut s = session();
    s.feed(table(false).as_bytes());
    assert_eq!(s.feed(b"(assert (= (select t #x01) #x00))(check-sat)"), ["unsat"]);
}

#[test]
fn shared_conjunctions_are_split_once() {
    let mut text = "(declare-const p0 Bool)(declare-const q0 Bool)".to_string();
    text += "(define-fun a0 () Bool (and (not p0) q0))";
    for i in 1..200 {
        let j = i - 1;
        text += &format!(
            "(declare-const p{i} Bool)(define-fun a{i} () Bool (and (or p{i} q0) a{j} (and a{j} (or q0 (not p{i})))))"
        );
    }
    text += "(assert a199)(check-sat)";
    assert_eq!(answers(&text).len(), 1);
}

#[test]
fn kquery_files() {
    let text = "array a[2] : w32 -> w8 = symbolic
        (query [(Eq 7 (Read w8 0 a))] (Ult (Read w8 0 a) 8))
        (query [(Eq 7 (Read w8 0 a))] (Ult (Read w8 1 a) 8) [(Read w8 0 a) (Eq 7 (Read w8 0 a))])
        (query [(Eq 7 (Read w8 0 a)) (Eq 9 (Read w8 1 a))] false [] [a])
        (query [(Eq 7 (Read w8 0 a))] (Eq 8 (Read w8 0 a)))
        (query [(Ult (ReadLSB w64 0 a) 5)] false)
        (query [false] false)";
    let run = |mode| {
        let mut session =
            KQuerySession::new(Solver::new(vec![Box::new(Exhaustive)]), Limits::default(), mode);
        let mut lines = Vec::new();
        session.run(text.as_bytes(), &mut |line| lines.push(line.to_string())).unwrap();
        assert_eq!(session.unknowns(), 1);
        lines
    };
    assert_eq!(
        run(Mode::Entailment),
        [
            "VALID",
            "INVALID",
            "value0: 07",
            "value1: 1",
            "INVALID",
            "a: 0709",
            "INVALID",
            "UNKNOWN exhaustive: too \"large\"",
            "VALID"
        ]
    );
    assert_eq!(
        run(Mode::Validity),
        ["true", "both", "false", "false", "UNKNOWN exhaustive: too \"large\"", "true"]
    );
    let mut session =
        KQuerySession::new(Solver::new(vec![Box::new(Exhaustive)]), Limits::default(), Mode::Entailment);
    let mut lines = Vec::new();
    let error = session.run(b"(query [] true)\n(query [] x)", &mut |line| lines.push(line.to_string()));
    assert_eq!(lines, ["VALID"]);
    assert_eq!(
        error.unwrap_err(),
        "line 2 column 11: expected an expression or a label seen before, found `x`"
    );
    // Cost of each query by layer: the first query asks no layer, the second asks once.
    let text = b"array a[1] : w32 -> w8 = symbolic (query [] true) (query [] (Eq 7 (Read w8 0 a)))";
    let costs = session.costs(text).unwrap();
    let asked: Vec<Vec<u64>> = costs.iter().map(|query| query.iter().map(|cost| cost.0).collect()).collect();
    assert_eq!(asked, [[0], [1]]);
    assert!(costs[0][0].1.is_zero() && !costs[1][0].1.is_zero());
}

#[test]
fn the_query_files_are_answered() {
    let directory = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/queries");
    let read = |name: &str| std::fs::read(directory.join(name)).unwrap_or_else(|e| panic!("{name}: {e}"));
    let run = |name: &str| {
        let mut s = session();
        let mut answers = s.feed(&read(name));
        if let Step::Done(answer) = s.finish() {
            answers.extend(answer);
        }
        answers
    };
    assert_eq!(
        run("errors.smt2"),
        [
            "(error \"line 2 column 9: =: expected (_ BitVec 8) like its first argument, found (_ BitVec 1)\")",
            "(error \"line 3 column 9: bvult: expected 2 arguments, found 1\")",
            "(error \"line 4 column 1: expected a command, found `stray`\")",
            "(error \"line 6 column 1: expected `)` at the end of the command, found the end of the text\")",
        ]
    );
    assert_eq!(run("table.smt2"), ["sat", "(((select in (_ bv0 32)) #x02))"]);
    let operators = run("operators.smt2");
    let expected =
        "(error \"line 15 column 1: expected a sat answer before asking for values, found unknown\")";
    assert_eq!((operators[0].as_str(), operators[1].as_str()), ("unknown", expected));
    assert!(operators.len() == 3 && operators[2].starts_with("(:queries 1"), "{operators:?}");
    let first = run("first.smt2");
    assert_eq!((first.len(), first[2].as_str(), first[3].as_str()), (5, "unsat", "(below)"), "{first:?}");
    for name in ["first.kquery", "bits.kquery"] {
        let solver = Solver::new(vec![Box::new(Exhaustive)]);
        let mut session = KQuerySession::new(solver, Limits::default(), Mode::Entailment);
        let mut lines = 0;
        session.run(&read(name), &mut |_| lines += 1).unwrap_or_else(|e| panic!("{name}: {e}"));
        assert!(lines > 0, "{name}");
    }
}

/// Short texts with large meanings: each must be processed or rejected quickly.
#[test]
fn short_texts_with_large_meanings() {
    let n = 1_000_000;
    let declare = "(declare-const p Bool)(declare-const b (_ BitVec 1))(declare-const x (_ BitVec 8))\
                   (declare-const a (Array (_ BitVec 8) (_ BitVec 8)))";
    let deep = format!("(assert (= x {}x{}))", "(bvadd #x01 (bvmul x ".repeat(n / 2), "))".repeat(n / 2));
    let stores = format!("(assert (= a {}a{}))", "(store ".repeat(n / 4), " x x)".repeat(n / 4));
    let ands = format!("(assert (and {}))", "(bvult x (bvadd x #x01)) ".repeat(n / 10));
    let distinct = format!("(assert (distinct {}))", "x ".repeat(5000));
    let repeated = "(assert (= ((_ repeat 65536) b) (concat ((_ repeat 65535) b) b)))";
    let rotated = "(assert (= ((_ rotate_left 99999999999) ((_ repeat 8192) x)) (bvmul ((_ repeat 8192) x) ((_ repeat 8192) x))))";
    let divided =
        "(assert (= ((_ repeat 8192) #x73) (bvudiv ((_ repeat 8192) #xa5) ((_ repeat 8191) #x5a))))";
    let literal = format!("(assert (= x #b{}))", "1".repeat(n));
    let digits = format!("(assert (= x (_ bv{} 8)))", "9".repeat(n));
    let names: String = (0..20_000).map(|i| format!("(! p :named n{i}) ")).collect();
    let named = format!("(assert (or {names}))");
    for text in [&deep, &stores, &ands, &distinct, repeated, rotated, divided, &literal, &digits, &named] {
        let mut s = session();
        let head = &text[..40.min(text.len())];
        let start = std::time::Instant::now();
        s.feed(declare.as_bytes());
        for answer in s.feed(text.as_bytes()) {
            assert!(answer.contains("expected"), "{head}: {answer}");
        }
        let asked = s.feed(b"(check-sat)(get-assertions)(get-value (p x))(reset)");
        assert_eq!(asked.len(), 3, "{head}");
        assert!(start.elapsed().as_secs() < 20, "{head}: {:?}", start.elapsed());
    }
}

#[test]
fn the_corpus_parses_without_errors() {
    for (name, text) in corpus::texts(".smt2.gz") {
        let mut s = Session::new(Solver::new(Vec::new()), Limits::default());
        let mut checks = 0;
        for answer in s.feed(&text) {
            // Without layers, only the simplifier decides.
            match answer.as_str() {
                "unknown" | "sat" | "unsat" => checks += 1,
                other => {
                    assert!(
                        other.contains("expected a sat answer") || other.starts_with("(("),
                        "{name}: {other}"
                    );
                }
            }
        }
        assert!(checks > 0, "{name}");
        assert_eq!(s.finish(), Step::Idle, "{name}");
    }
}

#[test]
fn a_long_session_collects_garbage() {
    let mut s = session();
    s.feed(b"(declare-const x (_ BitVec 8))(define-fun f ((v (_ BitVec 8))) (_ BitVec 8) (bvmul v #x03))(assert (= x #x07))");
    let mut largest = 0;
    for i in 0..30 {
        s.feed(b"(push)");
        for j in 0..20 {
            let wide = 64 * (30 * j + i + 1);
            // These expressions are not used again after the pop.
            s.feed(
                format!(
                    "(assert (distinct ((_ repeat {wide}) (bvadd x (f x) #x{:02x})) (_ bv{j} {})))",
                    i + 1,
                    8 * wide
                )
                .as_bytes(),
            );
        }
        s.feed(b"(pop)");
        largest = largest.max(s.solver.graph.len());
        assert_eq!(s.feed(b"(check-sat)(get-value (x (f x)))"), ["sat", "((x #x07)\n ((f x) #x15))"]);
    }
    assert!(largest > 100_000, "{largest} nodes: nothing was tested");
    assert!(s.solver.graph.len() < 3_000_000, "{}", s.solver.graph.len());
}

#[test]
fn checks_after_a_rejected_command_are_unknown() {
    let mut s = session();
    for (text, expected) in [
        ("(declare-const x (_ BitVec 4))(push)(assert (= x y))(check-sat)", "unknown"),
        (
            "(get-info :reason-unknown)",
            "(:reason-unknown \"script: a command was rejected: line 1 column 50: expected a declared symbol, found `y`\")",
        ),
        ("(check-sat-assuming ((= x #x1)))", "unknown"),
        ("(set-option :continued-execution true)(check-sat)", "sat"),
        ("(set-option :continued-execution false)(check-sat)", "unknown"),
        ("(pop)(check-sat)", "sat"),
        ("(push)(declare-const p Real)(pop)(check-sat)", "sat"),
        // Commands that only ask change nothing, rejected or not.
        ("(get-value (q))(check-sat)", "sat"),
        ("(set-option :foo 1)(set-logic FOO)(get-foo)(check-sat)", "sat"),
        ("(check-sat-assuming (q))(check-sat)", "sat"),
        ("(declare-datatype T ((c)))(check-sat)", "unknown"),
        ("(reset)(check-sat)", "sat"),
        ("(asert true)(check-sat)", "unknown"),
        ("(reset-assertions)(check-sat)", "sat"),
        ("(set-option :global-declarations true)(push)(assert q)(pop)(check-sat)", "sat"),
        ("(push)(declare-const r Real)(pop)(check-sat)", "unknown"),
        ("(reset-assertions)(check-sat)", "unknown"),
        ("(reset)(check-sat)", "sat"),
    ] {
        let found = s.feed(text.as_bytes());
        assert_eq!(found.last().map(String::as_str), Some(expected), "{text}");
    }
}

#[test]
fn labels_and_assertions_are_those_of_the_script() {
    assert_eq!(
        answers(
            "(declare-const x (_ BitVec 4))
             (assert (and (! (= x  #x3) :named three) (or three (! (bvult x #x2) :named small)) (not small)))
             (assert (let ((y (! (= x #x3) :named again))) (and y again)))
             (push)(assert (! (bvult x #x4) :named |a b|))(check-sat)(get-assignment)
             (pop)(check-sat)(get-assignment)(get-assertions)(assert (= three (! three :named three)))"
        ),
        [
            "sat",
            "((three true) (small false) (again true) (|a b| true))",
            "sat",
            "((three true) (small false) (again true))",
            "((and (! (= x  #x3) :named three) (or three (! (bvult x #x2) :named small)) (not small))\n \
             (let ((y (! (= x #x3) :named again))) (and y again)))",
            "(error \"line 5 column 95: expected a new symbol, found `three`, which is declared already\")",
        ]
    );
}

#[test]
fn definitions_that_could_be_recursive_but_are_not() {
    assert_eq!(
        answers(
            "(define-fun-rec twice ((v (_ BitVec 4))) (_ BitVec 4) (bvadd v v))
             (declare-const x (_ BitVec 4))(assert (= (twice x) #x6))(assert (bvult x #x8))
             (check-sat)(get-value (x))
             (define-fun-rec f ((v (_ BitVec 4))) (_ BitVec 4) (f v))(check-sat)"
        ),
        [
            "sat",
            "((x #x3))",
            "(error \"line 4 column 65: expected a declared function, found `f`\")",
            "unknown"
        ]
    );
}

#[test]
fn extensions_of_other_solvers() {
    assert_eq!(
        answers(
            "(declare-const x (_ BitVec 4))
             (assert (= (bvredor x) #b1))(assert (= (bvredand x) #b0))(assert (= (bvredxor x) #b1))
             (assert (= (bvite (bvredor x) (bvinc x) x) #x9))(check-sat)(get-value (x))
             (push)(define-fun bvinc ((v (_ BitVec 4))) (_ BitVec 4) v)(simplify (bvinc #x2))(pop)(simplify (bvinc #x2))
             (simplify (ext_rotate_left #x9 #x5))(simplify (bvsmul_noovfl #x7 #x7))(simplify (bvsmul_noudfl #x7 #x7))
             (assert (= (bvite x x x) x))"
        ),
        [
            "sat",
            "((x #x8))",
            "#x2",
            "#x3",
            "#x3",
            "false",
            "true",
            "(error \"line 6 column 25: bvite: expected a condition of one bit, found (_ BitVec 4)\")"
        ]
    );
}

#[test]
fn a_sort_may_have_one_element() {
    let text = "(declare-sort U 0)(declare-const x U)\
                (assert (= (store ((as const (Array U Bool)) false) x true) ((as const (Array U Bool)) true)))(check-sat)";
    let found = answers(text);
    assert!(found[0].contains("expected no constant array indexed by a declared sort"), "{found:?}");
    assert_eq!(found[1], "unknown");
}
