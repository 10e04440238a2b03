"""Declared functions and sorts, arrays of booleans and of arrays: answers and models, the latter read back by Z3."""

from __future__ import annotations

import random
import re

import pytest

from partita import _core
from partita.solver import DEFAULT_LAYERS, resolve

ROW = "(Array (_ BitVec 8) (_ BitVec 8))"


def answers(text: str) -> str:
    spec, make = resolve(None)
    script = _core.Script("smtlib", spec, DEFAULT_LAYERS, make, 20.0, None, None)
    found: list[str] = []
    script.run(text.encode(), True, found.append)
    return "".join(found).strip()


def test_functions_and_sorts() -> None:
    text = """(declare-sort U 0)(declare-sort P 1)(declare-const a U)(declare-const b U)(declare-const p (P U))
(declare-fun f (U) U)(declare-fun q (U Bool) Bool)
(push)(assert (= (f (f (f a))) a))(assert (= (f (f (f (f (f a))))) a))(assert (distinct (f a) a))(check-sat)(pop)
(push)(assert (q a true))(assert (not (q b true)))(assert (= (f a) b))(check-sat)
(get-value ((= a b) (q b true) (= (f a) b)))(assert (= (f a) a))(check-sat)(pop)
(assert (q p true))(check-sat)"""
    assert answers(text) == "\n".join(
        [
            "unsat",
            "sat",
            "(((= a b) false)\n ((q b true) false)\n ((= (f a) b) true))",
            "unsat",
            '(error "line 6 column 9: q: expected U as argument 1, found (P U)")',
            "unknown",
        ]
    )


def test_arrays_of_booleans_and_arrays() -> None:
    text = f"""(declare-const m (Array (_ BitVec 8) {ROW}))(declare-const b (Array Bool Bool))
(declare-const i (_ BitVec 8))(declare-fun f ({ROW}) Bool)
(define-fun at ((m (Array (_ BitVec 8) {ROW})) (i (_ BitVec 8)) (j (_ BitVec 8))) (_ BitVec 8) (select (select m i) j))
(assert (= (at m i #x05) #x07))(assert (select b (= i #x01)))(check-sat)
(push)(assert (distinct (at (store m #x01 (select m i)) #x01 #x05) #x07))(check-sat)(pop)
(push)(assert (= (store (select m #x01) #x02 #x03) (select m #x02)))(assert (distinct (at m #x02 #x02) #x03))
(check-sat)(pop)
(push)(assert (f (select m #x01)))(assert (not (f (select m #x02))))(check-sat)
(get-value ((= (select m #x01) (select m #x02)) (f (select m #x02)) (f (select (store m #x09 (select m #x02)) #x09))))
(assert (= (select m #x01) (select m #x02)))(check-sat)(pop)
(declare-const c (Array Bool (Array (_ BitVec 1) Bool)))(declare-const d (Array Bool (Array (_ BitVec 1) Bool)))
(assert (and (= (select (select c true) #b0) (select (select d true) #b0)) (= (select c false) (select d false))))
(push)(assert (distinct c d))(check-sat)(pop)
(assert (and (= (select (select c true) #b1) (select (select d true) #b1)) (distinct c d)))(check-sat)"""
    values = "(((= (select m #x01) (select m #x02)) false)\n ((f (select m #x02)) false)\n "
    values += "((f (select (store m #x09 (select m #x02)) #x09)) false))"
    assert answers(text) == "\n".join(["sat", "unsat", "unsat", "sat", values, "unsat", "sat", "unsat"])


def random_problem(choose: random.Random) -> tuple[str, str]:
    """Declarations and assertions about terms of depth at most 3."""
    row = "(Array Bool (_ BitVec 2))" if choose.random() < 0.5 else "(Array (_ BitVec 5) (_ BitVec 5))"
    key, cell = (
        row[7:].removesuffix(")").split(" ", 1) if row.startswith("(Array Bool") else ("(_ BitVec 5)", "(_ BitVec 5)")
    )
    functions = {
        "f": (["U"], "U"),
        "g": (["U", cell], cell),
        "p": (["U", "Bool"], "Bool"),
        "r": ([row], "U"),
        "h": ([cell, key], row),
    }
    atoms = {
        "U": ["u", "v", "w"],
        cell: ["x", "y"],
        "Bool": ["c", "d"],
        row: ["s", "t"],
        f"(Array {cell} {row})": ["m", "n"],
        "(Array U Bool)": ["k"],
    }
    declarations = ["(declare-sort U 0)"]
    declarations += [f"(declare-const {name} {sort})" for sort, names in atoms.items() for name in names]
    declarations += [f"(declare-fun {f} ({' '.join(args)}) {result})" for f, (args, result) in functions.items()]
    arrays = {s: re.fullmatch(r"\(Array (Bool|U|\(_ BitVec \d\)) (.*)\)", s) for s in atoms if s.startswith("(Array")}

    def term(sort: str, depth: int) -> str:
        if sort == key and sort not in atoms:
            return choose.choice(["true", "false"])
        if depth == 0 or choose.random() < 0.25:
            return choose.choice(atoms[sort])
        options: list[str] = [f"(ite {term('Bool', depth - 1)} {term(sort, depth - 1)} {term(sort, depth - 1)})"]
        for f, (args, result) in functions.items():
            if result == sort:
                options.append(f"({f} {' '.join(term(a, depth - 1) for a in args)})")
        for array, match in arrays.items():
            assert match is not None
            index, element = match.groups()
            if element == sort:
                options.append(f"(select {term(array, depth - 1)} {term(index, depth - 1)})")
            if array == sort:
                stored = f"{term(index, depth - 1)} {term(element, depth - 1)}"
                options.append(f"(store {term(array, depth - 1)} {stored})")
        if sort == "Bool":
            other = choose.choice(list(atoms))
            options.append(f"(= {term(other, depth - 1)} {term(other, depth - 1)})")
            options.append(f"(not {term('Bool', depth - 1)})")
        return choose.choice(options)

    assertions = []
    for _ in range(choose.randrange(2, 9)):
        sort = choose.choice(list(atoms))
        relation = choose.choice(["=", "distinct"])
        assertions.append(f"(assert ({relation} {term(sort, 2)} {term(sort, 2)}))")
    return "\n".join(declarations), "\n".join(assertions)


@pytest.mark.parametrize("part", range(4))
def test_random_problems_agree_with_z3(part: int) -> None:
    z3 = pytest.importorskip("z3", reason="Z3 reads the models: pip install z3-solver")
    seen = {"sat": 0, "unsat": 0}
    for number in range(40):
        declarations, assertions = random_problem(random.Random(f"declared/{part}/{number}"))
        found = answers(f"{declarations}\n{assertions}\n(check-sat)\n")
        reference = z3.Solver()
        reference.set("timeout", 10_000)
        reference.from_string(declarations + assertions)
        expected = str(reference.check())
        assert expected == "unknown" or found == expected, (declarations, assertions)
        if found == "sat":
            model = answers(f"{declarations}\n{assertions}\n(check-sat)\n(get-model)\n").removeprefix("sat\n")
            elements = re.findall(r"\(declare-fun (\S+!val!\d+) \(\) (\w+)\)", model)
            names = [name for name, _ in elements]
            distinct = f"(assert (distinct {' '.join(names)}))" if len(names) > 1 else ""
            definitions = model.strip().removeprefix("(").removesuffix(")")
            back = z3.Solver()
            back.from_string(f"(declare-sort U 0)\n{definitions}\n{distinct}\n{assertions}")
            assert str(back.check()) == "sat", (declarations, assertions, model)
        seen[found] += 1
    assert min(seen.values()) >= 5, seen
