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
