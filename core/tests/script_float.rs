//! The theory of floating point in scripts. Formats are tiny where a variable is free, so that all values are tried.

use crate::script::{answers, session};
use partita_core::script::{Limits, Session};

/// The value of a closed term.
fn value(term: &str) -> String {
    let text = format!("(check-sat)(get-value ({term}))");
    let answer = answers(&text).pop().expect("an answer");
    answer
        .strip_prefix(&format!("(({term} "))
        .and_then(|rest| rest.strip_suffix("))"))
        .unwrap_or(&answer)
        .into()
}

fn verdict(declarations_and_assertions: &str) -> String {
    answers(&format!("(set-logic QF_ABVFP){declarations_and_assertions}(check-sat)")).join(" ")
}

#[test]
fn literals_and_special_numbers_have_their_bits() {
    for (term, right) in [
        ("(fp #b0 #b01111111 #b10000000000000000000000)", "(fp #b0 #b01111111 #b10000000000000000000000)"),
        ("(_ +oo 3 5)", "(_ +oo 3 5)"),
        ("(_ -oo 3 5)", "(_ -oo 3 5)"),
        ("(_ +zero 3 5)", "(_ +zero 3 5)"),
        ("(_ -zero 3 5)", "(_ -zero 3 5)"),
        ("(_ NaN 3 5)", "(_ NaN 3 5)"),
        ("(fp #b1 #b111 #b0001)", "(_ NaN 3 5)"),
        ("(fp.neg (_ -zero 8 24))", "(_ +zero 8 24)"),
        ("((_ to_fp 8 24) #x3f800000)", "(fp #b0 #b01111111 #b00000000000000000000000)"),
        ("RTP", "RTP"),
        ("roundTowardZero", "RTZ"),
        ("(ite true RNA RNE)", "RNA"),
    ] {
        assert_eq!(value(term), right, "{term}");
    }
}

#[test]
fn decimals_and_fractions_are_rounded_once() {
    let long = format!("0.1{}1", "0".repeat(3000));
    let half_up = format!("1.00000005960464477539062500{}1", "0".repeat(5000));
    for (term, right) in [
        ("((_ to_fp 11 53) RNE 0.1)", 0.1_f64.to_bits()),
        ("((_ to_fp 11 53) RNE (- 2.5))", (-2.5_f64).to_bits()),
        ("((_ to_fp 11 53) RNE (/ 1 3))", (1.0_f64 / 3.0).to_bits()),
        ("((_ to_fp 11 53) RNE (/ (- 1.0) 3.0))", (-1.0_f64 / 3.0).to_bits()),
        ("((_ to_fp 11 53) RTZ (/ 1 3))", (1.0_f64 / 3.0).to_bits()),
        ("((_ to_fp 11 53) RTP (/ 1 3))", (1.0_f64 / 3.0).to_bits() + 1),
        ("((_ to_fp 11 53) RNE 17)", 17.0_f64.to_bits()),
        ("((_ to_fp 11 53) RNE 1.5 (- 1074))", 2),
        ("((_ to_fp 11 53) RTZ (- 1.5) 3)", (-12.0_f64).to_bits()),
        ("((_ to_fp 11 53) RNE (- 0.0))", 0),
        (&format!("((_ to_fp 11 53) RTP {long})"), 0.1_f64.to_bits()),
        (&format!("((_ to_fp 11 53) RTN {long})"), 0.1_f64.to_bits() - 1),
    ] {
        let bits = format!("(= {term} ((_ to_fp 11 53) #x{right:016x}))");
        assert_eq!(value(&bits), "true", "{}", &bits[..bits.len().min(80)]);
    }
    // A tie in single precision, broken by a digit far behind.
    let text = format!("(= ((_ to_fp 8 24) RNE {half_up}) ((_ to_fp 8 24) #x3f800001))");
    assert_eq!(value(&text), "true");
}

#[test]
fn functions_are_those_of_the_standard() {
    let single = |x: f32| format!("((_ to_fp 8 24) #x{:08x})", x.to_bits());
    let (two, three, big) = (single(2.0), single(3.0), single(3e38));
    for (term, right) in [
        (format!("(fp.add RNE {two} {three})"), single(5.0)),
        (format!("(fp.sub RNE {two} {three})"), single(-1.0)),
        (format!("(fp.mul RNE {two} {three})"), single(6.0)),
        (format!("(fp.div RTN {two} {three})"), single(2.0 / 3.0 - 5.96e-8)),
        (format!("(fp.fma RNE {two} {three} {two})"), single(8.0)),
        (format!("(fp.sqrt RNE {two})"), single(2.0_f32.sqrt())),
        (format!("(fp.rem {three} {two})"), single(-1.0)),
        (format!("(fp.roundToIntegral RNA {})", single(2.5)), three.clone()),
        (format!("(fp.abs {})", single(-2.0)), two.clone()),
        (format!("(fp.min {two} {three})"), two.clone()),
        (format!("(fp.max {two} (_ NaN 8 24))"), two.clone()),
        (format!("(fp.add RNE {big} {big})"), "(_ +oo 8 24)".into()),
        (format!("(fp.add RTZ {big} {big})"), single(f32::MAX)),
        (format!("((_ to_fp 8 24) RNE ((_ to_fp 11 53) RNE {three}))"), three.clone()),
        ("((_ to_fp 8 24) RNE #xff)".into(), single(-1.0)),
        ("((_ to_fp_unsigned 8 24) RNE #xff)".into(), single(255.0)),
        (format!("(fp.sub RNE {two} (_ NaN 8 24))"), "(_ NaN 8 24)".into()),
    ] {
        assert_eq!(value(&format!("(= {term} {right})")), "true", "{term}");
    }
    for (term, right) in [
        (format!("((_ fp.to_sbv 8) RTZ {})", single(-2.9)), "#xfe"),
        (format!("((_ fp.to_ubv 8) RNE {})", single(2.5)), "#x02"),
        (format!("((_ fp.to_ubv 8) RTZ {})", single(-0.9)), "#x00"),
        (format!("(fp.to_ieee_bv {two})"), "#x40000000"),
        (format!("(fp.lt {two} {three} {big})"), "true"),
        (format!("(fp.gt {two} {three})"), "false"),
        (format!("(fp.geq {three} {three})"), "true"),
        ("(fp.eq (_ +zero 8 24) (_ -zero 8 24))".into(), "true"),
        ("(= (_ +zero 8 24) (_ -zero 8 24))".into(), "false"),
        ("(fp.eq (_ NaN 8 24) (_ NaN 8 24))".into(), "false"),
        ("(= (_ NaN 8 24) ((_ to_fp 8 24) #x7f800001))".into(), "true"),
        (format!("(distinct {two} {three} {two})"), "false"),
        ("(fp.isSubnormal ((_ to_fp 8 24) #x00000001))".into(), "true"),
        ("(fp.isNegative (_ NaN 8 24))".into(), "false"),
        ("(fp.isInfinite (_ -oo 8 24))".into(), "true"),
        ("(fp.isNormal (_ +oo 8 24))".into(), "false"),
        ("(fp.isPositive (_ +zero 8 24))".into(), "true"),
        ("(fp.isZero (_ -zero 8 24))".into(), "true"),
    ] {
        assert_eq!(value(&term), right, "{term}");
    }
}

#[test]
fn all_values_of_free_numbers_are_considered() {
    let x = "(declare-const x (_ FloatingPoint 3 4))(declare-const y (_ FloatingPoint 3 4))";
    for (assertion, right) in [
        ("(not (= x x))", "unsat"),
        ("(and (fp.isNaN x) (fp.isNaN y) (not (= x y)))", "unsat"),
        ("(and (= x y) (not (fp.eq x y)))", "sat"),
        ("(and (fp.lt x y) (fp.lt y x))", "unsat"),
        ("(not (= (fp.add RNE x y) (fp.add RNE y x)))", "unsat"),
        ("(not (= (fp.neg (fp.neg x)) x))", "unsat"),
        ("(and (not (fp.isNaN x)) (not (= ((_ to_fp 3 4) (fp.to_ieee_bv x)) x)))", "unsat"),
        ("(and (fp.isNaN x) (not (fp.isNaN ((_ to_fp 3 4) (fp.to_ieee_bv x)))))", "unsat"),
        ("(and (fp.leq x y) (not (fp.leq (fp.sqrt RNE x) (fp.sqrt RNE y))) (fp.isPositive x))", "unsat"),
    ] {
        assert_eq!(verdict(&format!("{x}(assert {assertion})")), right, "{assertion}");
    }
}

#[test]
fn a_symbolic_rounding_mode_has_five_values() {
    let start = "(declare-const m RoundingMode)(declare-const n RoundingMode)";
    let others = "(distinct m RNE RNA RTP RTN)";
    for (assertion, right) in [
        (others.to_string(), "sat"),
        (format!("(and {others} (not (= m RTZ)))"), "unsat"),
        (format!("(and {others} (not (= m n)) (distinct n RNE RNA RTP RTN))"), "unsat"),
        ("(= ((_ to_fp 3 4) m 0.3) ((_ to_fp 3 4) RTP 0.3))".into(), "sat"),
        (
            "(and (distinct m RTP) (= ((_ to_fp 3 4) m (/ 1 1000)) ((_ to_fp 3 4) RTP (/ 1 1000))))".into(),
            "unsat",
        ),
    ] {
        assert_eq!(verdict(&format!("{start}(assert {assertion})")), right, "{assertion}");
    }
}

/// Results that the standard leaves open can have any value, but the same one each time.
#[test]
fn unspecified_results_are_functions_of_the_operands() {
    let x = "(declare-const x (_ FloatingPoint 2 3))";
    for (assertion, right) in [
        ("(= ((_ fp.to_ubv 3) RNE (_ NaN 2 3)) #b101)", "sat"),
        ("(= ((_ fp.to_ubv 3) RNE (_ +oo 2 3)) #b010)", "sat"),
        ("(distinct ((_ fp.to_ubv 3) RNE (_ NaN 2 3)) ((_ fp.to_ubv 3) RNE (fp #b0 #b11 #b01)))", "unsat"),
        ("(= (fp.min (_ +zero 2 3) (_ -zero 2 3)) (_ +zero 2 3))", "sat"),
        ("(= (fp.min (_ +zero 2 3) (_ -zero 2 3)) (_ -zero 2 3))", "sat"),
        ("(not (fp.isZero (fp.max (_ +zero 2 3) (_ -zero 2 3))))", "unsat"),
        ("(distinct (fp.max (_ -zero 2 3) (_ -zero 2 3)) (_ -zero 2 3))", "unsat"),
    ] {
        assert_eq!(verdict(&format!("{x}(assert {assertion})")), right, "{assertion}");
    }
    let mut s = session();
    let model =
        s.feed(b"(assert (= ((_ fp.to_sbv 2) RTZ (_ NaN 2 3)) #b11))(check-sat)(get-model)").join("\n");
    assert!(model.starts_with("sat") && model.contains("(define-fun |fp.to_sbv!2!3!2| ()"), "{model}");
}

#[test]
fn numbers_are_in_functions_arrays_and_models() {
    let text = "(define-sort F () (_ FloatingPoint 2 3))
        (define-fun twice ((x F)) F (fp.add RNE x x))
        (declare-const x F) (declare-const m RoundingMode)
        (assert (= (twice x) (fp #b0 #b10 #b00)))
        (assert (= m RTN))
        (check-sat) (get-value (x m (twice x))) (get-model)";
    let right = [
        "sat",
        "((x (fp #b0 #b01 #b00))\n (m RTN)\n ((twice x) (fp #b0 #b10 #b00)))",
        "(\n  (define-fun x () (_ FloatingPoint 2 3) (fp #b0 #b01 #b00))\n  (define-fun m () RoundingMode RTN)\n)",
    ];
    assert_eq!(answers(text), right);
    let arrays = "(declare-const a (Array (_ FloatingPoint 2 3) (_ FloatingPoint 2 3)))";
    for (assertion, right) in [
        // One index is NaN, whatever its bits.
        ("(distinct (select a (_ NaN 2 3)) (select a (fp #b0 #b11 #b01)))", "unsat"),
        ("(distinct (select (store a (fp #b0 #b11 #b01) (_ +oo 2 3)) (_ NaN 2 3)) (_ +oo 2 3))", "unsat"),
        ("(fp.isNaN (select a (_ +oo 2 3)))", "sat"),
    ] {
        assert_eq!(verdict(&format!("{arrays}(assert {assertion})")), right, "{assertion}");
    }
}

#[test]
fn sorts_and_numbers_of_arguments_are_checked() {
    let start = "(declare-const x (_ FloatingPoint 8 24))(declare-const b (_ BitVec 32))(declare-const a (Array Float32 Float32))";
    for (command, message) in [
        (
            "(assert (= x b))",
            "=: expected (_ FloatingPoint 8 24) like its first argument, found (_ BitVec 32)",
        ),
        ("(assert (fp.lt x b))", "fp.lt: expected a floating-point number, found (_ BitVec 32)"),
        (
            "(assert (fp.lt x (_ +oo 11 53)))",
            "fp.lt: expected (_ FloatingPoint 8 24) like the argument before it, found (_ FloatingPoint 11 53)",
        ),
        ("(assert (fp.isNaN (fp.add x x x)))", "fp.add: expected RoundingMode, found (_ FloatingPoint 8 24)"),
        ("(assert (fp.isNaN (fp.add RNE x)))", "fp.add: expected 3 arguments, found 2"),
        (
            "(assert (= b (bvadd x b)))",
            "bvadd: expected booleans, bit-vectors or arrays of them, found (_ FloatingPoint 8 24)",
        ),
        ("(assert x)", "expected a term of sort Bool, found one of sort (_ FloatingPoint 8 24)"),
        (
            "(assert (fp.isNaN ((_ to_fp 8 24) (_ bv0 31))))",
            "to_fp: expected (_ BitVec 32), found (_ BitVec 31)",
        ),
        ("(assert (fp.isNaN (to_fp RNE b)))", "to_fp: expected 2 indices, found none"),
        (
            "(declare-const y (_ FloatingPoint 1 24))",
            "expected 2 to 30 bits of exponent and at least 2 of significand, 65536 together at most, found 1 and 24",
        ),
        (
            "(declare-const y (_ FloatingPoint 99999999999 24))",
            "expected 2 to 30 bits of exponent and at least 2 of significand, 65536 together at most, found 99999999999 and 24",
        ),
        (
            "(declare-const y (_ FloatingPoint 15 65536))",
            "expected 2 to 30 bits of exponent and at least 2 of significand, 65536 together at most, found 15 and 65536",
        ),
        (
            "(assert (fp.isNaN (fp.to_real x)))",
            "fp.to_real: terms of sort Real are unsupported, except constants",
        ),
        (
            "(declare-const r Real)",
            "expected Bool, (_ BitVec n), (_ FloatingPoint e s) or (Array ...), found the sort `Real`",
        ),
        (
            "(assert (fp.isNaN ((_ to_fp 8 24) RNE (/ 1 0))))",
            "/: expected a divisor other than zero, found zero",
        ),
        (
            "(assert (fp.isNaN ((_ to_fp 8 24) RNE (/ 1 b))))",
            "/: expected a real constant, found (_ BitVec 32)",
        ),
        ("(assert (= ((_ fp.to_ubv 0) RNE x) b))", "fp.to_ubv: expected a width from 1 to 16777216, found 0"),
        (
            "(assert (fp.isNaN (select a b)))",
            "select: expected (_ FloatingPoint 8 24) as index of (Array (_ FloatingPoint 8 24) (_ FloatingPoint 8 24)), found (_ BitVec 32)",
        ),
        ("(assert (= x 1.5))", "expected a term, found `1.5`"),
        ("(assert (/ 1 2))", "expected a term of the supported logics, found a real constant"),
    ] {
        let mut s = session();
        assert!(s.feed(start.as_bytes()).is_empty());
        let answer = s.feed(command.as_bytes()).join(" ");
        assert!(answer.starts_with("(error") && answer.contains(message), "{command}: {answer}");
    }
}

/// Scripts of bit-vectors may use the names of the theory for their own symbols.
#[test]
fn names_of_the_theory_can_be_declared() {
    let text =
        "(declare-const fp (_ BitVec 2))(declare-const RNE Bool)(assert (and RNE (= fp #b10)))(check-sat)";
    assert_eq!(answers(text), ["sat"]);
}

/// Printed operators are read as the same function, except for the bits of NaN and integers that do not fit, which
/// SMT-LIB leaves open.
#[test]
fn printed_operators_are_read_back() {
    use partita_core::expr::float::{FloatParameter, Format, Rounding};
    use partita_core::expr::smtlib::Printer;
    use partita_core::expr::{Bits, Family, Graph, Op, Sort};
    const NAMES: [&str; 3] = ["a", "b", "c"];
    const TOP: u64 = 1 << 63;
    // Numbers of both signs, a subnormal one, one with an integer bit that it should not have, one without that it should
    // have, an infinity, the largest.
    const X87: [[u64; 2]; 9] = [
        [TOP, 0x3fff],
        [0xa << 60, 0x4000],
        [0xc << 60, 0xc000],
        [5, 0],
        [TOP | 7, 0x8000],
        [1 << 62, 0x3fff],
        [TOP, 0x7fff],
        [u64::MAX, 0x7ffe],
        [0xb << 60 | 1, 0x4005],
    ];
    let tiny: Vec<Bits> = (0..32).map(|i| Bits::word(5, i)).collect();
    let x87: Vec<Bits> = X87.iter().map(|words| Bits::from_words(80, words)).collect();
    let operators = || Op::ALL.iter().flat_map(|op| Rounding::ALL.map(|rounding| (op, rounding)));
    let formats = [(Format::ieee(2, 3), tiny), (Format::X87, x87)];
    let mut compared = 0;
    for ((format, samples), (&op, rounding)) in
        formats.iter().flat_map(|format| operators().map(move |operator| (format, operator)))
    {
        let (format, width) = (*format, format.width());
        let Family::Float(float) = op.family() else { continue };
        let mut graph = Graph::new();
        let names = &NAMES[..op.arity()];
        let kids: Vec<_> = names.iter().map(|name| graph.var(name, Sort::Bits(width)).unwrap()).collect();
        let parameter = FloatParameter::new(format, rounding);
        let e = graph.float(float, parameter, width, &kids);
        let text = Printer::new(&graph).term(e);
        for sample in 0..6u64 {
            let values: Vec<Bits> = (0..op.arity() as u64)
                .map(|i| samples[(sample * 5 + i * 11 + 3) as usize % samples.len()].clone())
                .collect();
            let constants: Vec<_> = values.iter().map(|value| graph.constant(value.clone())).collect();
            let folded = graph.float(float, parameter, width, &constants);
            let bits = graph.const_bits(folded).expect("constants are folded");
            let is_open = match op {
                Op::FToUInt | Op::FToSInt => bits == Bits::word(width, 1).shl(u64::from(width) - 1),
                _ => !graph.is_bool(folded) && format.is_nan(&bits),
            };
            if is_open {
                continue;
            }
            let bound: String = names
                .iter()
                .zip(&values)
                .map(|(name, value)| format!("({name} {})", value.to_smtlib()))
                .collect();
            let term = format!("(let ({bound}) {text})");
            let right = if graph.is_bool(folded) { (!bits.is_zero()).to_string() } else { bits.to_smtlib() };
            assert_eq!(value(&term), right, "{term}");
            compared += 1;
        }
    }
    assert!(compared > 400, "{compared}");
}

#[test]
fn arrays_of_numbers_inside_arrays() {
    for (index, format, bits) in
        [(1, "5 11", ["#x7e00", "#x7c01"]), (32, "8 24", ["#x7fc00000", "#xff800001"])]
    {
        let inner = format!("(Array (_ BitVec {index}) (_ FloatingPoint {format}))");
        let declarations = format!(
            "(declare-const x (Array (_ BitVec 5) {inner}))(declare-const a {inner})\
             (declare-const i (_ BitVec 5))(declare-const j (_ BitVec 5))(declare-const k (_ BitVec {index}))"
        );
        let nan = |bits: &str| format!("((_ to_fp {format}) {bits})");
        let [one, other] = bits.map(|bits| format!("(store x i (store a k {}))", nan(bits)));
        let verdict = |assertions: &str| {
            let mut session = Session::new(crate::chain::solver("simplify split sat"), Limits::default());
            session.feed(format!("{declarations}{assertions}(check-sat)").as_bytes()).join(" ")
        };
        // Only the bits of NaN differ.
        assert_eq!(verdict(&format!("(assert (distinct {one} {other}))")), "unsat");
        assert_eq!(verdict(&format!("(assert (= {one} {other}))")), "sat");
        assert_eq!(verdict("(assert (= i j))(assert (distinct (select x i) (select x j)))"), "unsat");
        assert_eq!(verdict("(assert (distinct (select x i) (select x j)))"), "sat");
        let read = "(select (select x i) k)";
        assert_eq!(
            verdict(&format!("(assert (= (select x i) a))(assert (distinct {read} (select a k)))")),
            "unsat"
        );
        assert_eq!(
            verdict(&format!("(assert (= (select x i) a))(assert (not (fp.eq {read} (select a k))))")),
            "sat"
        );
        // NaN in one array and a number in the other.
        let text = format!(
            "(assert (= (select x i) (store a k {})))(assert (= (select x j) a))(assert (fp.leq (select a k) (select a k)))\
             (assert (= i j))",
            nan(bits[0])
        );
        assert_eq!(verdict(&text), "unsat");
    }
    let refused = "(declare-const x (Array (_ BitVec 5) (Array Float16 (_ BitVec 1))))";
    assert!(verdict(refused).contains("as index"), "{}", verdict(refused));
}
