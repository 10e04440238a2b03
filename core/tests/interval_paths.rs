//! Facts about words, bytes and fields of words on paths: examples with their cores.

use crate::chain;
use crate::chain::solver;
use partita_core::budget::Budget;
use partita_core::expr::{Expr, Graph, Sort};
use partita_core::interval::Learner;
use partita_core::interval::set::MAX_INTERVALS;
use partita_core::query::{Answer, Path, Query, Status};
use partita_core::solve::Solver;

fn path(s: &mut Solver, constraints: &[Expr]) -> Path {
    let mut path = s.tree.root();
    for &constraint in constraints {
        path = s.tree.extend(&s.graph, path, constraint);
    }
    path
}

fn ask(s: &mut Solver, path: Path, condition: Expr) -> Answer {
    s.check(&Query::new(path, condition), &Budget::unlimited())
}

#[track_caller]
fn is_sat(s: &mut Solver, path: Path, condition: Expr) {
    let answer = ask(s, path, condition);
    assert!(matches!(answer, Answer::Sat(_)), "expected sat, found {answer:?}");
}

#[track_caller]
fn is_unsat(s: &mut Solver, path: Path, condition: Expr, core: &[Expr]) {
    match ask(s, path, condition) {
        Answer::Unsat(found) => {
            let mut expected = core.to_vec();
            expected.sort_unstable();
            assert_eq!(found.constraints.as_slice(), expected, "the core");
        }
        answer => panic!("expected unsat, found {answer:?}"),
    }
}

fn masked(g: &mut Graph, x: Expr, mask: u64, value: u64) -> Expr {
    let (mask, value) = (g.word(32, mask), g.word(32, value));
    let field = g.and(x, mask);
    g.eq(field, value)
}

#[test]
fn fields_of_a_word_are_exact_and_independent() {
    let mut s = solver("intervals");
    let g = &mut s.graph;
    let mode = g.var("st_mode", Sort::Bits(32)).unwrap();
    let limit = g.word(32, 0xffff);
    let small = g.ule(mode, limit);
    let directory = masked(g, mode, 0xf000, 0x4000);
    let readable = masked(g, mode, 0x1c0, 0x100);
    let (regular, group) = (masked(g, mode, 0xf000, 0x8000), masked(g, mode, 0x38, 0x28));
    let odd_bits = masked(g, mode, 0x5000, 0x1000);
    let p = path(&mut s, &[small, directory, readable]);
    is_unsat(&mut s, p, regular, &[directory]);
    is_unsat(&mut s, p, odd_bits, &[directory]);
    is_sat(&mut s, p, group);
    let large = s.graph.word(32, 0x4fff);
    let above = s.graph.ult(large, mode);
    is_unsat(&mut s, p, above, &[small, directory]);
}

#[test]
fn a_word_and_its_bytes_share_facts() {
    let mut s = solver("intervals");
    let g = &mut s.graph;
    let array = g.var("a", Sort::Array { index: 32, element: 8 }).unwrap();
    let (zero, two) = (g.word(32, 0), g.word(32, 2));
    let (word, byte) = (g.read(array, zero, 4), g.select(array, two));
    let known = g.word(32, 0x0102_0304);
    let is_known = g.eq(word, known);
    let (right, wrong) = (g.word(8, 2), g.word(8, 3));
    let (is_right, is_wrong) = (g.eq(byte, right), g.eq(byte, wrong));
    let p = path(&mut s, &[is_known]);
    is_sat(&mut s, p, is_right);
    is_unsat(&mut s, p, is_wrong, &[is_known]);
    let q = path(&mut s, &[is_wrong]);
    is_unsat(&mut s, q, is_known, &[is_wrong]);
    // The byte is 3, so the word is at least 0x30000.
    let limit = s.graph.word(32, 0x0003_0000);
    let (below, above) = (s.graph.ult(word, limit), s.graph.ule(limit, word));
    is_unsat(&mut s, q, below, &[is_wrong]);
    is_sat(&mut s, q, above);
}

#[test]
fn wrapping_sums_are_respected() {
    let mut s = solver("intervals enumerate");
    let g = &mut s.graph;
    let (x, y) = (g.var("x", Sort::Bits(8)).unwrap(), g.var("y", Sort::Bits(8)).unwrap());
    let one = g.word(8, 1);
    let next = g.add(x, one);
    let (less, more) = (g.ule(next, y), g.ule(y, x));
    let limit = g.word(8, 50);
    let bounded = g.ult(x, limit);
    let p = path(&mut s, &[less]);
    is_sat(&mut s, p, more);
    let q = path(&mut s, &[bounded, less]);
    is_unsat(&mut s, q, more, &[bounded, less]);
}

#[test]
fn a_contradictory_path_is_its_own_core() {
    let mut s = solver("intervals");
    let g = &mut s.graph;
    let (x, y) = (g.var("x", Sort::Bits(64)).unwrap(), g.var("y", Sort::Bits(64)).unwrap());
    let (low, high) = (g.word(64, 10), g.word(64, 20));
    let (below, above) = (g.ult(x, low), g.ult(high, x));
    let other = g.ult(y, low);
    let p = path(&mut s, &[below, other, above]);
    match ask(&mut s, p, other) {
        Answer::Unsat(core) => {
            assert!(!core.condition);
            assert!(core.constraints.contains(below) && core.constraints.contains(above));
            assert!(!core.constraints.contains(other));
        }
        answer => panic!("expected unsat, found {answer:?}"),
    }
}

#[test]
fn an_empty_set_decides_without_enumeration() {
    let mut s = solver("enumerate");
    let g = &mut s.graph;
    let (x, y) = (g.var("x", Sort::Bits(8)).unwrap(), g.var("y", Sort::Bits(64)).unwrap());
    let (low, high, wide) = (g.word(8, 10), g.word(8, 20), g.word(64, 7));
    let (below, above) = (g.ult(x, low), g.ult(high, x));
    let other = g.ult(wide, y);
    let p = path(&mut s, &[below, above]);
    is_unsat(&mut s, p, other, &[below, above]);
}

#[test]
fn values_of_an_address() {
    let mut s = solver("intervals");
    let g = &mut s.graph;
    let i = g.var("i", Sort::Bits(32)).unwrap();
    let wide = g.zext(i, 64);
    let (eight, base) = (g.word(64, 8), g.word(64, 0x1000));
    let offset = g.mul(wide, eight);
    let address = g.add(base, offset);
    let limit = g.word(32, 512);
    let bounded = g.ult(i, limit);
    let first = g.word(32, 0);
    let is_first = g.eq(i, first);
    let p = path(&mut s, &[bounded]);
    let q = path(&mut s, &[bounded, is_first]);
    let mut learner = Learner::default();
    let found = learner.values_on(&s.graph, &s.tree, p, address);
    assert_eq!((found.set.min(), found.set.max()), (Some(0x1000), Some(0x1000 + 8 * 511)));
    assert_eq!(found.set.count(), 512, "and nothing between them");
    assert_eq!(found.reasons.flatten().as_slice(), &[bounded]);
    let only = learner.values_on(&s.graph, &s.tree, q, address);
    assert_eq!(only.set.value(), Some(0x1000));
}

#[test]
fn the_core_has_only_the_relevant_constraints_on_a_word() {
    let mut s = solver("intervals");
    let g = &mut s.graph;
    let x = g.var("x", Sort::Bits(32)).unwrap();
    let mut constraints: Vec<Expr> = Vec::new();
    for hole in [3, 9, 40, 77, 1000] {
        let hole = g.word(32, hole);
        constraints.push(g.ne(x, hole));
    }
    let (low, high) = (g.word(32, 50), g.word(32, 2000));
    let (above, below) = (g.ult(low, x), g.ult(x, high));
    constraints.extend([above, below]);
    let (three, hundred, past) = (g.word(32, 3), g.word(32, 100), g.word(32, 2500));
    let (is_three, is_past) = (g.eq(x, three), g.ult(past, x));
    let narrow = g.urem(x, hundred);
    let is_hole = g.eq(narrow, hundred);
    let p = path(&mut s, &constraints);
    let first = constraints[0];
    is_unsat(&mut s, p, is_three, &[first]);
    is_unsat(&mut s, p, is_past, &[below]);
    // A remainder by 100 is never 100, on any path.
    is_unsat(&mut s, p, is_hole, &[]);
}

#[test]
fn a_core_by_enumeration_omits_unneeded_bounds() {
    let mut s = solver("enumerate");
    let g = &mut s.graph;
    let (x, y) = (g.var("x", Sort::Bits(4)).unwrap(), g.var("y", Sort::Bits(4)).unwrap());
    let (six, three, one) = (g.word(4, 6), g.word(4, 3), g.word(4, 1));
    let (x_small, y_small) = (g.ult(x, six), g.ult(y, six));
    // x * x is not 3 for any x; y only matters for the sum.
    let square = g.mul(x, x);
    let sum = g.add(square, y);
    let zero = g.word(4, 0);
    let y_zero = g.eq(y, zero);
    let is_three = g.eq(sum, three);
    let p = path(&mut s, &[x_small, y_small, y_zero]);
    is_unsat(&mut s, p, is_three, &[y_zero]);
    let is_one = equal(&mut s, sum, one);
    is_sat(&mut s, p, is_one);
}

#[test]
fn a_core_by_enumeration_has_few_of_the_bounds() {
    let mut s = solver("enumerate");
    let mut constraints: Vec<Expr> = Vec::new();
    let mut digit = |s: &mut Solver, name: &str| {
        let g = &mut s.graph;
        let x = g.var(name, Sort::Bits(8)).unwrap();
        let (low, high, five) = (g.word(8, 48), g.word(8, 57), g.word(8, 53));
        constraints.extend([g.ule(low, x), g.ule(x, high), g.ne(x, five)]);
        x
    };
    let [x, y, z] = ["x", "y", "z"].map(|name| digit(&mut s, name));
    let (x_high, y_high) = (constraints[1], constraints[4]);
    let g = &mut s.graph;
    // In the slice, but not needed.
    let (all, less) = (g.add(x, y), g.word(8, 10));
    let sum = g.add(all, z);
    constraints.push(g.ult(less, sum));
    let target = g.word(8, 200);
    let too_much = g.eq(all, target);
    let p = path(&mut s, &constraints);
    is_unsat(&mut s, p, too_much, &[x_high, y_high]);
}

fn equal(s: &mut Solver, a: Expr, b: Expr) -> Expr {
    s.graph.eq(a, b)
}

/// Parts combined by `or`, as in base64 decoders.
#[test]
fn words_without_common_bits_are_concatenated() {
    let mut s = solver("intervals");
    let g = &mut s.graph;
    let (a, b) = (g.var("a", Sort::Bits(8)).unwrap(), g.var("b", Sort::Bits(8)).unwrap());
    let (wide_a, wide_b) = (g.zext(a, 32), g.zext(b, 32));
    let (six, low_bits) = (g.word(32, 6), g.word(32, 63));
    let (high, low) = (g.shl(wide_a, six), g.and(wide_b, low_bits));
    let both = g.or(high, low);
    let five = g.word(8, 5);
    let is_five = g.eq(a, five);
    let (least, past) = (g.word(32, 5 << 6), g.word(32, 6 << 6));
    let (below, above) = (g.ult(both, least), g.ule(past, both));
    let (inside, odd) = (g.ule(least, both), g.word(32, 5 << 6 | 17));
    let is_odd = g.ule(odd, both);
    let p = path(&mut s, &[is_five]);
    is_unsat(&mut s, p, below, &[is_five]);
    is_unsat(&mut s, p, above, &[is_five]);
    is_sat(&mut s, p, inside);
    is_sat(&mut s, p, is_odd);
    let mut learner = Learner::default();
    let found = learner.values_on(&s.graph, &s.tree, p, both);
    assert_eq!(found.set.intervals()[..], [(5 << 6, 5 << 6 | 63)]);
}

#[test]
fn an_index_with_one_value_is_resolved_in_tables_and_arrays() {
    let mut s = solver("intervals");
    let g = &mut s.graph;
    let array = g.var("a", Sort::Array { index: 32, element: 8 }).unwrap();
    let flag = g.var("flag", Sort::Bits(32)).unwrap();
    let zero = g.word(32, 0);
    let (near, far) = (g.word(32, 3), g.word(32, 1000));
    let unset = g.eq(flag, zero);
    let index = g.ite(unset, near, far);
    let byte = g.select(array, index);
    let seven = g.word(8, 7);
    let is_seven = g.eq(byte, seven);
    let set = g.not(unset);
    let at_far = g.select(array, far);
    let is_not = g.ne(at_far, seven);
    let p = path(&mut s, &[set, is_not]);
    is_unsat(&mut s, p, is_seven, &[set, is_not]);
    let q = path(&mut s, &[set]);
    is_sat(&mut s, q, is_seven);
}

#[test]
fn inexact_conditions_are_passed_on_or_answered_correctly() {
    let mut s = solver("intervals enumerate");
    let g = &mut s.graph;
    let wide = g.var("w", Sort::Bits(128)).unwrap();
    let one = g.constant(partita_core::expr::Bits::word(128, 1));
    let array = g.var("a", Sort::Array { index: 32, element: 8 }).unwrap();
    let i = g.var("i", Sort::Bits(32)).unwrap();
    let j = g.var("j", Sort::Bits(32)).unwrap();
    let value = g.word(8, 9);
    let stored = g.store(array, i, value);
    let read = g.select(stored, j);
    let is_nine = g.eq(read, value);
    let same = g.eq(i, j);
    let other = g.ne(read, value);
    let p = path(&mut s, &[same]);
    is_sat(&mut s, p, is_nine);
    let answer = ask(&mut s, p, other);
    assert!(!matches!(answer, Answer::Sat(_)), "a[i := 9][i] is 9");
    let root = s.tree.root();
    let (zero_wide, more) = (s.graph.eq(wide, one), s.graph.ult(one, wide));
    is_not_unsat(&mut s, root, zero_wide);
    is_not_unsat(&mut s, root, more);
}

#[track_caller]
fn is_not_unsat(s: &mut Solver, path: Path, condition: Expr) {
    let answer = ask(s, path, condition);
    assert!(!matches!(answer, Answer::Unsat(_)), "found {answer:?}");
}

#[test]
fn a_thousand_constraints_on_one_word_stay_within_the_limit() {
    let mut s = solver("intervals");
    let x = s.graph.var("x", Sort::Bits(32)).unwrap();
    let mut p = s.tree.root();
    let mut learner = Learner::default();
    for i in 0..1000 {
        let hole = s.graph.word(32, i * i * 4);
        let constraint = s.graph.ne(x, hole);
        p = s.tree.extend(&s.graph, p, constraint);
    }
    let found = learner.values_on(&s.graph, &s.tree, p, x);
    assert!(found.set.intervals().len() <= MAX_INTERVALS);
    assert!(!found.set.contains(0) || found.set.is_full() || found.set.intervals().len() == MAX_INTERVALS);
    // 5 is not a gap: the layer finds a model although the set has filled some of the gaps.
    let nine = s.graph.word(32, 9);
    let below = s.graph.ult(x, nine);
    is_sat(&mut s, p, below);
    if let Answer::Sat(model) = ask(&mut s, p, below) {
        s.tree.set_status(p, Status::Feasible(model));
    }
    is_sat(&mut s, p, below);
}

#[test]
fn variants_and_options_are_checked() {
    let error = chain::error;
    assert_eq!(error("intervals:fast"), "expected `intervals` or `intervals:paper`, found `intervals:fast`");
    assert_eq!(
        error("intervals:paper(repair=on)"),
        "expected shift=on|off in `intervals:paper(...)`, found `repair=on`"
    );
    let message = error("intervals(repair=perhaps)");
    assert!(
        message.starts_with(
            "expected throttle=on|off, repair=on|off, repairs=1..1000000000, search=on|off, search_words="
        ),
        "{message}"
    );
    assert!(message.ends_with(" in `intervals(...)`, found `repair=perhaps`"), "{message}");
    assert_eq!(
        error("enumerate(work=many)"),
        "expected throttle=on|off, work=0..18446744073709551615, float_work=0..18446744073709551615 in `enumerate(...)`, \
         found `work=many`"
    );
}
