"""Preprocessing of single checks: each step decides a script that is hard without it, and is counted."""

from __future__ import annotations

import re

import pytest

from partita import _core
from partita.solver import DEFAULT_LAYERS, resolve

WORDS = "".join(f"(declare-const {name} (_ BitVec 32))" for name in "ijkr")
SUMS = ["(= (bvsub (bvadd i j) k) #x00000000)", "(= (bvsub k j) r)", "(= (bvsub (bvadd j #x00000001) k) #x00000000)"]
GOAL = "(= (bvmul #x00000004 r) (bvmul #x00000004 i))"


def run(text: str) -> tuple[list[str], dict[str, int]]:
    spec, make = resolve(None)
    script = _core.Script("smtlib", spec, DEFAULT_LAYERS, make, None, None, None)
    answers: list[str] = []
    script.run(f"{text}(get-info :all-statistics)".encode(), True, answers.append)
    words = "".join(answers)
    counters = {name: int(count) for name, count in re.findall(r":([a-z-]+) (\d+)\b(?!\.)", words)}
    return re.findall(r"^(?:sat|unsat|unknown)$", words, re.MULTILINE), counters


def test_sums_define_variables() -> None:
    assertions = "".join(f"(assert {e})" for e in [*SUMS, f"(not {GOAL})"])
    answers, counters = run(f"{WORDS}{assertions}(check-sat)")
    assert answers == ["unsat"]
    assert counters["eliminated"] >= 2
    assert counters.get("sat-conflicts", 0) == 0


def test_models_extend_to_variables_that_sums_define() -> None:
    assertions = "".join(f"(assert {e})" for e in [*SUMS[:2], "(bvult i k)", "(distinct j (bvmul i i))"])
    answers, counters = run(f"{WORDS}{assertions}(check-sat)(get-value (i j k r))")
    assert answers == ["sat"]
    assert counters["eliminated"] >= 2


@pytest.mark.parametrize("negated", ["(not (=> (and {} {} {}) {}))", "(not (or (not (and {} {} {})) {}))"])
def test_hypotheses_of_a_negated_implication_are_constraints(negated: str) -> None:
    answers, counters = run(f"{WORDS}(assert {negated.format(*SUMS, GOAL)})(check-sat)")
    assert answers == ["unsat"]
    assert counters["eliminated"] >= 2
    assert counters.get("sat-conflicts", 0) == 0


@pytest.mark.parametrize(
    "identity",
    [
        "(= (bvadd (bvor i j) (bvand i j)) (bvadd i j))",
        "(= (bvadd (bvxor i j) (bvshl (bvand i j) #x00000001)) (bvadd i j))",
        "(= (bvsub (bvor i j) j) (bvand i (bvnot j)))",
        "(= (bvand j (bvnot (bvneg i))) (bvadd i (bvor j (bvneg i))))",
        "(= (bvnot (bvadd i j)) (bvadd (bvnot i) (bvadd (bvnot j) #x00000001)))",
    ],
)
def test_mixed_identities_need_no_solver(identity: str) -> None:
    answers, counters = run(f"{WORDS}(assert (not {identity}))(check-sat)")
    assert answers == ["unsat"]
    assert counters["queries"] == 0, counters


def test_a_signed_overflow_of_a_shifted_word_is_decided() -> None:
    script = (
        "(declare-const x (_ BitVec 84))(assert (bvsmulo x (bvashr x x)))"
        "(assert (distinct x (concat #b1 (_ bv0 83))))(check-sat)"
    )
    assert run(script)[0] == ["unsat"]


FLOATS = "".join(f"(declare-const {name} Float64)" for name in "abcx")


def test_equal_floats_are_one() -> None:
    sum_of = "(fp.lt (fp.add RNE (fp.mul RNE {0} {0}) x) {1})"
    assertions = f"(assert (= a b))(assert (= c b))(assert {sum_of.format('a', 'c')})"
    answers, counters = run(f"{FLOATS}{assertions}(assert (not {sum_of.format('b', 'a')}))(check-sat)")
    assert answers == ["unsat"]
    assert counters["eliminated"] >= 2
    assert counters.get("sat-conflicts", 0) == 0


@pytest.mark.parametrize("number", ["(_ NaN 11 53)", "(_ -zero 11 53)", "((_ to_fp 11 53) RNE 2.5)"])
def test_models_extend_to_equal_floats(number: str) -> None:
    text = f"{FLOATS}(assert (= a b))(assert (= c a))(assert (= {number} (fp.abs (fp.neg b))))"
    expected = "unsat" if "-zero" in number else "sat"
    assert run(f"{text}(check-sat)")[0] == [expected]
    assert run(f"{text}(assert (distinct c b))(check-sat)")[0] == ["unsat"]


def test_a_word_that_is_read_as_a_number_keeps_its_bits() -> None:
    word = "(declare-const w (_ BitVec 8))(declare-const a (_ FloatingPoint 3 5))(assert (= a ((_ to_fp 3 5) w)))"
    for bits in ("#x73", "#xff", "#x78", "#x00", "#x80"):
        assert run(f"{word}(assert (= w {bits}))(check-sat)")[0] == ["sat"], bits
    assert run(f"{word}(assert (fp.isNaN a))(assert (= w #xff))(check-sat)")[0] == ["sat"]
    assert run(f"{word}(assert (fp.isNaN a))(assert (= w #x70))(check-sat)")[0] == ["unsat"]


@pytest.mark.parametrize(("operator", "other"), [("bvudiv", "(bvlshr i j)"), ("bvmul", "(bvshl i j)")])
def test_a_power_of_two_that_is_shifted_needs_no_divider(operator: str, other: str) -> None:
    shifted = f"(assert (= k (bvshl #x00000001 j)))(assert (= r ({operator} i k)))"
    text = f"{WORDS}(assert (bvult j #x00000020)){shifted}(assert (distinct r {other}))(check-sat)"
    answers, counters = run(text)
    assert answers == ["unsat"]
    assert counters.get("sat-conflicts", 0) == 0
