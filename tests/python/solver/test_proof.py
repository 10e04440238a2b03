"""Proofs of `unsat`: the plain translation, the search for lemmas, the checker."""

from __future__ import annotations

import copy
import json
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from partita import Solver, _core
from partita.cli import main
from partita.proof import file, lrat
from partita.proof.arrays import Arrays
from partita.proof.circuit import TRUE, Circuit, Word, constant
from partita.proof.operators import INDEXED, operators
from partita.proof.search import SatisfiableError, prove
from support import Run
from support.scripts import Generator, partita_answers, proof_differences

WIDTH = 3

UNSAT = {
    "commutative": """(declare-const x (_ BitVec 6)) (declare-const y (_ BitVec 6))
        (assert (not (= (bvmul x y) (bvmul y x)))) (check-sat)""",
    "division": """(declare-const x (_ BitVec 5)) (declare-const y (_ BitVec 5))
        (define-fun back ((q (_ BitVec 5)) (r (_ BitVec 5))) (_ BitVec 5) (bvadd (bvmul q y) r))
        (assert (distinct x (back (bvudiv x y) (bvurem x y)))) (check-sat)""",
    "arrays": """(declare-const a (Array (_ BitVec 32) (_ BitVec 8))) (declare-const i (_ BitVec 32))
        (declare-const j (_ BitVec 32)) (assert (= (select a i) #x01))
        (assert (= (select (store (store a j #x02) i #x03) j) #x01)) (check-sat)""",
    "extensionality": """(define-sort A () (Array (_ BitVec 8) (_ BitVec 8))) (declare-const a A) (declare-const b A)
        (declare-const c Bool) (assert (distinct (= (ite c a b) a) (or c (= a b)))) (check-sat)""",
    "swaps": """(declare-const a (Array (_ BitVec 8) (_ BitVec 8))) (declare-const i (_ BitVec 8))
        (declare-const j (_ BitVec 8)) (assert (distinct (store (store a i (select a j)) j (select a i))
        (store (store a j (select a i)) i (select a j)))) (check-sat)""",
    "constant arrays": """(define-sort A () (Array (_ BitVec 16) (_ BitVec 4))) (declare-const i (_ BitVec 16))
        (assert (= ((as const A) #x0) (store ((as const A) #x1) i #x0))) (check-sat)""",
    "functions": """(declare-sort U 0) (declare-fun f (U Bool) U) (declare-const a U) (declare-const b U)
        (assert (and (= a b) (not (= (f a true) (f b true))))) (check-sat)""",
    "nested": """(declare-const m (Array (_ BitVec 2) (Array (_ BitVec 2) Bool))) (declare-const i (_ BitVec 2))
        (declare-const j (_ BitVec 2)) (assert (= i j)) (assert (select (select m i) j))
        (assert (not (select (select m j) i))) (check-sat)""",
    "levels": """(declare-const x (_ BitVec 4)) (push 1) (assert (! (bvult x #x3) :named low)) (check-sat)
        (assert (bvugt x #x4)) (check-sat) (pop 1) (declare-const low Bool) (assert (and low (not low)))
        (check-sat) (reset) (declare-const p Bool) (check-sat-assuming (p (not p)))""",
}


def proved(script: str) -> dict[str, Any]:
    checks = []
    for problem in file.read(script).values():
        try:
            checks.append(vars(prove(problem, 50)))
        except SatisfiableError:
            continue
    return {"schema": file.SCHEMA, "script": script, "checks": checks}


def number(word: Word | int) -> int:
    word = (word,) if isinstance(word, int) else word
    assert {abs(literal) for literal in word} == {TRUE}
    return sum((literal == TRUE) << place for place, literal in enumerate(word))


def expected(name: str, values: tuple[int, ...], params: tuple[int, ...], widths: tuple[int, ...]) -> int:
    arguments = [_core.bv(value, width) for value, width in zip(values, widths, strict=True)]
    solver = Solver()
    assert solver.check() == "sat"
    value = solver.model()[_core.apply(name, *arguments, params=params)]
    assert isinstance(value, int)
    return int(value)


def test_every_function_of_bit_vectors_has_its_meaning() -> None:
    circuit = Circuit()
    table = operators(circuit, Arrays(circuit))
    names = {name for name in _core.FUNCTIONS if name.startswith(("bv", "ext_"))} | {"concat"}
    assert names <= set(table), names - set(table)
    for name in sorted(names):
        unary = name in ("bvnot", "bvneg", "bvnego", "bvinc", "bvdec") or name.startswith("bvred")
        widths = (1, 2, 2) if name == "bvite" else (WIDTH,) * (1 if unary else 2)
        for values in product(*(range(1 << width) for width in widths)):
            words = [constant(value, width) for value, width in zip(values, widths, strict=True)]
            assert number(table[name](*words)) == expected(name, values, (), widths), (name, values)
    for name in INDEXED:
        params: list[tuple[int, ...]] = [(1,), (2,), (4,)]
        if name == "extract":
            params = [(high, low) for high in range(WIDTH) for low in range(high + 1)]
        elif name == "bit2bool":
            params = [(place,) for place in range(WIDTH)]
        for indices, value in product(params, range(1 << WIDTH)):
            found = number(INDEXED[name](*indices, constant(value, WIDTH)))
            assert found == expected(name, (value,), indices, (WIDTH,)), (name, indices, value)


@pytest.mark.parametrize(
    "name", ["bvadd", "bvmul", "bvudiv", "bvurem", "bvsrem", "bvsmod", "bvashr", "bvsmulo", "bvslt"]
)
def test_gates_of_variables_have_their_meaning(name: str) -> None:
    """With constants gates are folded; here the clauses determine each result."""
    for values in product((0, 1, 5, 7), (0, 3, 4, 7)):
        result = expected(name, values, (), (WIDTH, WIDTH))
        for claimed in (result, result ^ 1):
            circuit = Circuit()
            words = [circuit.word(WIDTH) for _ in values]
            output = operators(circuit, Arrays(circuit))[name](*words)
            output = (output,) if isinstance(output, int) else output
            for word, value in (*zip(words, values, strict=True), (output, claimed)):
                circuit.clause(circuit.equal(word, constant(value, len(word))))
            found = _core.refute(circuit.variables, circuit.flat.tobytes())
            assert isinstance(found, str) == (claimed != result), (name, values)


@pytest.mark.parametrize("name", UNSAT)
def test_proofs_are_found_and_checked(name: str) -> None:
    body = proved(UNSAT[name])
    summary = file.check(body)
    assert summary.checks == ([2, 3, 4] if name == "levels" else [1])
    assert (summary.lemmas > 0) == (name not in ("commutative", "division", "levels")), summary


def test_random_scripts_have_proofs() -> None:
    checked = 0
    for seed in range(25):
        script = Generator(f"proof/{seed}").make()
        count, wrong = proof_differences(script, partita_answers(script), 5.0)
        assert not wrong, (seed, wrong)
        checked += count
    assert checked > 10


def altered(body: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Proofs that do not show what they say, by what was done to them."""
    lines = body["checks"][0]["lrat"].splitlines()

    def with_lines(*changed: str) -> dict[str, Any]:
        result = copy.deepcopy(body)
        result["checks"][0]["lrat"] = "\n".join(changed)
        return result

    def with_check(**fields: Any) -> dict[str, Any]:
        result = copy.deepcopy(body)
        result["checks"][0].update(fields)
        return result

    lemmas = body["checks"][0]["lemmas"]
    first, rest = lines[0].split(" ", 1)
    literal, hints = rest.split(" ", 1)
    result = {
        "no empty clause": with_lines(*lines[:-1]),
        "no steps": with_lines(),
        "only the empty clause": with_lines(f"{first} 0 1 0"),
        "a literal less": with_lines(f"{first} {hints}", *lines[1:]),
        "a literal negated": with_lines(f"{first} {-int(literal)} {hints}", *lines[1:]),
        "a hint that is not there": with_lines(*lines[:-1], lines[-1].replace(" 0 ", " 0 99999999 ", 1)),
        "no hints": with_lines(*lines[:-1], lines[-1].split(" ")[0] + " 0 0"),
        "not numbers": with_lines("x y z", *lines),
        "a given clause replaced": with_lines(f"1 {-TRUE} 0 1 0", *lines),
        "another check": with_check(check=2),
        "no lemma": with_check(lemmas=[]),
        "a lemma less": with_check(lemmas=lemmas[1:]),
        "another lemma": with_check(lemmas=[["hit", 0], *lemmas[1:]]),
        "an unknown lemma": with_check(lemmas=[["other", 0, 1], *lemmas]),
        "a lemma with text": with_check(lemmas=[["hit", "0"], *lemmas]),
        "no proofs": {**body, "checks": []},
        "twice": {**body, "checks": body["checks"] * 2},
        "another script": {**body, "script": body["script"].replace("#x01)) (check", "#x02)) (check")},
        "a script without an assertion": {
            **body,
            "script": body["script"].replace("(assert (= (select a i) #x01))", ""),
        },
        "a script with floats": {**body, "script": "(declare-const x Float32) (assert (fp.isNaN x)) (check-sat)"},
        "a script with wrong sorts": {**body, "script": body["script"].replace("#x03", "#b1")},
    }
    return result


def test_altered_proofs_are_rejected() -> None:
    body = proved(UNSAT["arrays"])
    file.check(body)
    alterations = altered(body)
    assert all(other != body for other in alterations.values())
    for name, other in alterations.items():
        try:
            file.check(other)
        except file.RejectedProofError:
            continue
        pytest.fail(f"accepted: {name}")


@pytest.mark.parametrize("text", ["1 0 1 0", "2 0 1 0", "2 -1 0 1 0\n3 0 1 2 0", "2 0 2 0", "2 0 1 1 0", "2 1 0 1 0"])
def test_satisfiable_clauses_have_no_refutation(text: str) -> None:
    with pytest.raises(lrat.RefutationError):
        lrat.check([(TRUE,)], text)


class Wrong:
    """A layer that says `unsat` to everything."""

    name = "wrong"

    def check(self, query: Any, rest: Any) -> Any:
        return _core.Unsat(range(len(query.constraints)))

    def forget(self) -> None:
        pass


@pytest.mark.parametrize(
    "script",
    [
        "(declare-const x (_ BitVec 8)) (assert (= (bvmul x x) #x31)) (check-sat)",
        """(declare-const a (Array (_ BitVec 8) (_ BitVec 8))) (declare-const i (_ BitVec 8))
        (assert (= (select (store a i #x01) #x02) #x03)) (check-sat)""",
    ],
)
def test_a_wrong_unsat_has_no_proof(
    script: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from partita.cli import smt

    source, path = tmp_path / "a.smt2", tmp_path / "proof"
    source.write_text(script)
    path.write_text("of an earlier run")
    resolve = smt.resolve
    monkeypatch.setattr(smt, "resolve", lambda _: resolve([Wrong()]))
    status = main(["smt", str(source), "--proof", str(path)])
    captured = capsys.readouterr()
    assert (status, captured.out) == (4, "unsat\n")
    assert "check 1: unsat is wrong: the plain translation has a model" in captured.err
    assert not path.exists()


def test_proofs_on_the_command_line(partita: Run, tmp_path: Path) -> None:
    source, other, path = tmp_path / "a.smt2", tmp_path / "b.smt2", tmp_path / "proof.json"
    source.write_text(UNSAT["levels"])
    other.write_text(UNSAT["arrays"])
    done = partita("smt", str(source), "--proof", str(path))
    assert (done.stdout, done.stderr, done.returncode) == ("sat\nunsat\nunsat\nunsat\n", "", 0)
    done = partita("check", str(path), "--script", str(source))
    assert done.returncode == 0
    assert done.stdout.startswith(f"{path}: unsatisfiable: check 2, 3, 4 of its script; "), done.stdout
    done = partita("check", str(path), "--script", str(other))
    assert (done.returncode, done.stderr) == (1, f"partita: error: {path}: rejected: it is not about `{other}`\n")
    body = json.loads(path.read_text())
    body["checks"][0]["check"] = 1
    path.write_text(json.dumps(body))
    done = partita("check", str(path))
    assert done.returncode == 1
    assert "rejected: check 1: " in done.stderr


def test_scripts_without_a_proof(partita: Run, tmp_path: Path) -> None:
    source, path = tmp_path / "a.smt2", tmp_path / "proof.json"
    source.write_text("(declare-const p Bool) (assert p) (check-sat)")
    done = partita("smt", str(source), "--proof", str(path))
    assert (done.stdout, done.returncode, path.exists()) == ("sat\n", 0, False)
    assert "nothing was answered unsat" in done.stderr
    source.write_text("(declare-const x Float32) (assert (and (fp.isNaN x) (fp.isZero x))) (check-sat)")
    done = partita("smt", str(source), "--proof", str(path))
    assert (done.stdout, done.returncode, path.exists()) == ("unsat\n", 3, False)
    assert "no proof: the plain translation does not support: sort Float32" in done.stderr
    done = partita("smt", "-", "--proof", str(path), text="(check-sat)")
    assert (done.returncode, done.stderr) == (2, "partita: error: expected a .smt2 file with --proof, found -\n")
