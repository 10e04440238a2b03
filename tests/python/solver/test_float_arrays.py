"""Equality of whole arrays of numbers: it does not see the payload of NaN, nor elements at other NaNs than one."""

from __future__ import annotations

import pytest

from support import Run

HALF = "(declare-const a (Array (_ BitVec 8) Float16))(declare-const b (Array (_ BitVec 8) Float16))"
ZERO, NAN = "(_ +zero 5 11)", "(_ NaN 5 11)"
ALL_NAN = f"((as const (Array (_ BitVec 8) Float16)) {NAN})"


def answers(partita: Run, text: str) -> list[str]:
    return partita("smt", text=text).stdout.split()


@pytest.mark.parametrize(
    ("assertion", "verdict"),
    [
        ("(= a b)", "sat"),
        ("(not (= a b))", "sat"),
        ("(and (= a b) (not (= (select a #x07) (select b #x07))))", "unsat"),
        # Two NaNs are equal, whatever their bits.
        (
            f"(and (fp.isNaN (select a #x07)) (fp.isNaN (select b #x07))"
            f" (= (store a #x07 {ZERO}) (store b #x07 {ZERO})) (not (= a b)))",
            "unsat",
        ),
        ("(not (= a (store a #x07 (select a #x07))))", "unsat"),
        (f"(distinct a b (store a #x00 {NAN}))", "sat"),
        (
            f"(and (distinct a b) (= (store a #x00 {ZERO}) (store b #x00 {ZERO})) (= (select a #x00) (select b #x00)))",
            "unsat",
        ),
        (f"(= a {ALL_NAN})", "sat"),
        (f"(and (= a {ALL_NAN}) (not (fp.isNaN (select a #x33))))", "unsat"),
        (f"(and (distinct a {ALL_NAN}) (= (store a #x01 {NAN}) {ALL_NAN}) (fp.isNaN (select a #x01)))", "unsat"),
    ],
)
def test_elements(assertion: str, verdict: str, partita: Run) -> None:
    assert answers(partita, f"{HALF}(assert {assertion})(check-sat)") == [verdict]


def test_indices(partita: Run) -> None:
    modes = "RNE RNA RTP RTN RTZ".split()
    sort = "(Array RoundingMode (_ BitVec 2))"
    written = f"((as const {sort}) #b01)"
    for mode in modes:
        # Equal only when every mode is written.
        assert answers(partita, f"(assert (= {written} ((as const {sort}) #b10)))(check-sat)") == ["unsat"]
        written = f"(store {written} {mode} #b10)"
    assert answers(partita, f"(assert (= {written} ((as const {sort}) #b10)))(check-sat)") == ["sat"]

    tiny = "(Array (_ FloatingPoint 2 2) (_ BitVec 1))"
    written = f"((as const {tiny}) #b1)"
    for bits in range(16):
        written = f"(store {written} ((_ to_fp 2 2) #b{bits:04b}) #b0)"
    assert answers(partita, f"(assert (= {written} ((as const {tiny}) #b0)))(check-sat)") == ["sat"]

    half = "(Array Float16 (_ BitVec 4))"
    start = f"(declare-const a {half})(declare-const b {half})(declare-const x Float16)"
    nan_is_written = f"(assert (fp.isNaN x))(assert (= (store a x #x1) b))(assert (not (= (select b {NAN}) #x1)))"
    assert answers(partita, f"{start}{nan_is_written}(check-sat)") == ["unsat"]
    other = "(assert (not (= (store a x #x1) (store b x #x1))))(assert (= (select a x) #x3))"
    assert answers(partita, f"{start}{other}(check-sat)") == ["sat"]


def test_each_use_of_a_function_compares_its_own_arguments(partita: Run) -> None:
    text = """(define-sort A () (Array (_ BitVec 8) Float16))
        (define-fun same ((x A) (y A)) Bool (= x y))
        (declare-const a A)(declare-const b A)(declare-const c A)
        (assert (same a b))(assert (not (same b c)))(assert (not (same c a)))(check-sat)
        (push 1)(assert (same a c))(check-sat)(pop 1)
        (check-sat-assuming ((= (store a #x00 (_ NaN 5 11)) (store c #x00 (_ NaN 5 11)))))"""
    assert answers(partita, text) == ["sat", "unsat", "sat"]


def test_cores_name_assertions_only(partita: Run) -> None:
    text = f"""(set-option :produce-unsat-cores true){HALF}
        (assert (! (= a b) :named equal))(assert (! (fp.isNaN (select a #x00)) :named first))
        (assert (! (not (fp.isNaN (select b #x00))) :named second))(check-sat)(get-unsat-core)"""
    assert partita("smt", text=text).stdout.split("\n")[:2] == ["unsat", "(equal first second)"]


def test_an_index_between_small_and_large_is_refused(partita: Run) -> None:
    array = "(Array (_ FloatingPoint 3 8) Bool)".replace("Bool", "(_ BitVec 1)")
    text = f"(declare-const a {array})(declare-const b {array})(assert (= a b))(check-sat)"
    done = partita("smt", text=text)
    assert "=: comparison of arrays with this index is unsupported: (_ FloatingPoint 3 8)" in done.stdout
    assert "unknown" in done.stdout
