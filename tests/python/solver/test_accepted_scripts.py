"""Scripts that other solvers accept: extensions of the standard, sorts and commands, one case each."""

from __future__ import annotations

import pytest

from partita import _core
from partita.solver import DEFAULT_LAYERS, resolve

BYTE = "(declare-const x (_ BitVec 8))"

CASES = {
    "rejected": (f"{BYTE}(assert (bvult x y))(check-sat)", "unknown"),
    "rejected declaration": ("(declare-const y (_ BitVec 0))(check-sat)", "unknown"),
    "continued": (f"(set-option :continued-execution true){BYTE}(assert (bvult x y))(check-sat)", "sat"),
    "bvredor": (f"{BYTE}(assert (= (bvredor x) #b1))(assert (= x #x00))(check-sat)", "unsat"),
    "bvredand": (f"{BYTE}(assert (= (bvredand x) #b1))(assert (distinct x #xff))(check-sat)", "unsat"),
    "bvredxor": (f"{BYTE}(assert (= (bvredxor x) #b1))(assert (= x #x03))(check-sat)", "unsat"),
    "bvite": ("(declare-const b (_ BitVec 1))(assert (= (bvite b #x01 #x02) #x03))(check-sat)", "unsat"),
    "bvrol and bvror": (f"{BYTE}(assert (distinct (bvror (bvrol #x81 x) x) #x81))(check-sat)", "unsat"),
    "arrays of Bool": (
        "(declare-const a (Array Bool Bool))(assert (select a true))"
        "(assert (not (select a (select a true))))(check-sat)",
        "unsat",
    ),
    "arrays of arrays": (
        "(define-sort A () (Array (_ BitVec 8) (_ BitVec 8)))"
        "(declare-const m (Array (_ BitVec 8) A))(declare-const a A)"
        "(assert (= (select m #x01) a))(assert (distinct (select (select m #x01) #x02) (select a #x02)))(check-sat)",
        "unsat",
    ),
    "functions and sorts": (
        "(declare-sort U 0)(declare-fun f (U) U)(declare-const u U)"
        "(assert (= (f (f (f u))) u))(assert (= (f (f (f (f (f u))))) u))(assert (distinct (f u) u))(check-sat)",
        "unsat",
    ),
    "functions of words": (
        f"(set-logic QF_UFBV){BYTE}(declare-fun f ((_ BitVec 8) Bool) (_ BitVec 8))"
        "(assert (= (f x true) #x01))(assert (= (f #x02 (= x x)) #x03))(assert (= x #x02))(check-sat)",
        "unsat",
    ),
    "a width above 65,536": (
        "(declare-const x (_ BitVec 100000))(assert (= (bvadd x (_ bv1 100000)) (_ bv0 100000)))"
        "(check-sat)(assert (bvult x (_ bv5 100000)))(check-sat)",
        "sat unsat",
    ),
    "a product too large for the memory": (
        "(set-option :timeout 500)(declare-const x (_ BitVec 1000000))(declare-const y (_ BitVec 1000000))"
        "(assert (= (bvmul x y) (_ bv7 1000000)))(assert (bvult (_ bv1 1000000) x))(assert (bvult x y))(check-sat)",
        "unknown",
    ),
    "int_to_bv": ("(assert (distinct ((_ int_to_bv 8) (- 1)) #xff))(check-sat)", "unsat"),
    "int2bv": ("(assert (distinct ((_ int2bv 4) 300) #xc))(check-sat)", "unsat"),
    "nat2bv of bv2nat": ("(assert (distinct ((_ nat2bv 16) (bv2nat #xfe)) #x00fe))(check-sat)", "unsat"),
    "ubv_to_int": ("(assert (distinct ((_ int_to_bv 4) (ubv_to_int #xfe)) #xe))(check-sat)", "unsat"),
    "sbv_to_int": ("(assert (distinct ((_ int_to_bv 16) (sbv_to_int #xfe)) #xfffe))(check-sat)", "unsat"),
    "get-assignment": (f"{BYTE}(assert (! (= x #x01) :named p))(check-sat)(get-assignment)", "sat ((p true))"),
    "bit2bool": (f"{BYTE}(assert (distinct ((_ bit2bool 7) x) (bvslt x #x00)))(check-sat)", "unsat"),
    "bvxnor of three": (f"{BYTE}(assert (distinct (bvxnor x #x0f #x3c) (bvxor x #x33)))(check-sat)", "unsat"),
    "define-fun-rec": (
        f"{BYTE}(define-fun-rec f ((y (_ BitVec 8))) (_ BitVec 8) (bvadd y #x01))(assert (= (f x) x))(check-sat)",
        "unsat",
    ),
    "a label used later": (
        f"{BYTE}(assert (and (! (= x #x01) :named p) (not p)))(check-sat)",
        "unsat",
    ),
    "get-assertions": (f"{BYTE}(assert (= x  #b00000001))(get-assertions)", "((= x  #b00000001))"),
}


@pytest.mark.parametrize("name", CASES)
def test_gap(name: str) -> None:
    text, expected = CASES[name]
    spec, make = resolve(None)
    script = _core.Script("smtlib", spec, DEFAULT_LAYERS, make, None, None, None)
    answers: list[str] = []
    script.run(text.encode(), True, answers.append)
    accepted = [line for line in "".join(answers).strip().splitlines() if not line.startswith("(error")]
    assert " ".join(accepted) == expected, answers


def test_integers_of_terms_are_refused() -> None:
    spec, make = resolve(None)
    script = _core.Script("smtlib", spec, DEFAULT_LAYERS, make, None, None, None)
    answers: list[str] = []
    script.run(f"{BYTE}(assert (= ((_ int_to_bv 8) (bv2nat x)) x))(check-sat)".encode(), True, answers.append)
    assert "bv2nat: terms of sort Int are unsupported, except constants" in "".join(answers)
    assert "".join(answers).strip().endswith("unknown")
