"""Complete solvers as layers: the conformance suite, arrays, and solver processes that misbehave."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest

from partita import Solver, UsageError, array, backends, bv, table
from partita.backends import process
from partita.testing import conformance
from support import PARTITA

PACKAGES = ["bitwuzla", "z3", "cvc5"]


@pytest.mark.parametrize("backend", PACKAGES)
@pytest.mark.parametrize("above", ["", "simplify split "])
def test_conformance(backend: str, above: str) -> None:
    sat, unsat, unknown = conformance(above + backend, seed=11, queries=200)
    assert sat > 50
    assert unsat > 50
    assert unknown == 0


def test_conformance_rejects_a_wrong_core() -> None:
    """The conformance suite fails a layer that returns a wrong core."""
    from partita import _core
    from partita.layers import Answer, QueryView, RestView, Unsat

    class WrongCore:
        name = "liar"
        complete = True

        def check(self, query: QueryView, rest: RestView) -> Answer:
            return Unsat([])

        def forget(self) -> None: ...

    with pytest.raises(AssertionError, match="answered unsat, but this core has a model"):
        _core.conformance("object", lambda name, variant, options: WrongCore(), 1, 50)


@pytest.mark.parametrize("backend", PACKAGES)
def test_tables_words_and_stores(backend: str) -> None:
    """Checks every read by evaluating it under the model, which is independent of the translation."""
    memory, i = array("memory", 32, 8), bv("i", 32)
    numbers = [(7 * n * n + 3) % 256 for n in range(100)]
    tab = table(memory, numbers)
    written = memory
    for place in (0, 1, 2, 3, 4, 5, 6, 7, 1000):
        written = written.store(place, bv(f"b{place}", 8))
    for source, index, expected in [
        (tab, i, numbers[42]),
        (tab, bv("byte", 8).zext(32), numbers[42]),
        (tab, (bv("byte", 5).concat(bv(0, 2))).zext(32), numbers[64]),
        (written, i, 77),
        (written.store(i, 5), i + 1, 77),
    ]:
        solver = Solver(layers=f"simplify split {backend}")
        word = source[index + 3].concat(source[index + 2]).concat(source[index + 1]).concat(source[index])
        solver.add(source[index] == expected)
        assert solver.check() == "sat", solver.reason_unknown
        assert solver.check(word.ugt(0x30000000)) == "sat", solver.reason_unknown
        assert solver.check(index.ugt(90), index.ult(200), word != 0) in ("sat", "unsat"), solver.reason_unknown
        assert solver.check(index.ugt(150), index.ult(200), source[index] == 1) == "unsat"


def test_a_missing_package_names_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(UsageError) as caught:
        Solver(layers="z3")
    assert str(caught.value) == "the layer `z3` needs a package that is not installed: pip install 'partita[z3]'"
    assert backends.installed() == []


# Partita's own solver as a process for the `process` layer.
PARTITA_SMT = f"{PARTITA} smt -in"


def program(path: Path, body: str) -> str:
    path.write_text(f"#!{sys.executable}\n{body}\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return str(path)


def through(command: str, timeout: float = 20) -> Solver:
    solver = Solver(layers=f"process(cmd={command})", timeout=timeout)
    x, a = bv("x", 8), array("a", 8, 8)
    solver.add(a[x] == 7, a.store(x + 1, 9)[3] == 9, x != 2, (x * 3).ugt(8))
    return solver


def test_a_process_returns_verdicts_and_values() -> None:
    solver = through(PARTITA_SMT)
    assert solver.check() == "sat", solver.reason_unknown
    x, a = bv("x", 8), array("a", 8, 8)
    assert solver.model()[a[x]] == 7
    assert solver.model()[a[3]] == 9
    assert solver.check(a[x] == 8) == "unsat"


def test_a_process_passes_conformance() -> None:
    # Few queries, since each starts a process.
    sat, unsat, unknown = conformance(f"process(cmd={PARTITA_SMT})", seed=3, queries=3)
    assert sat + unsat == 3
    assert unknown == 0


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("import sys; sys.exit('out of luck')", "ended with status 1 and no answer: out of luck"),
        ("print('segmentation fault')", "expected sat, unsat or unknown, found 'segmentation fault'"),
        ("print('unknown')", "the solver answered unknown"),
        ("print('sat')", "expected a value of n"),
        (
            "print('sat'); [print(f'((n{i} #x00))((v{i}_n{j} #x00))') for i in range(99) for j in range(99)]",
            "model does not",
        ),
        ("import os; os.write(1, bytes(range(256)))", "expected sat, unsat or unknown, found"),
        ("import time; time.sleep(600)", "timeout"),
        ("print('sat', flush=True); import time; time.sleep(600)", "timeout"),
    ],
)
def test_a_process_that_crashes_hangs_or_answers_wrongly(tmp_path: Path, body: str, reason: str) -> None:
    solver = through(program(tmp_path / "solver", body), timeout=1.5 if reason == "timeout" else 120)
    start = time.monotonic()
    assert solver.check() == "unknown"
    assert reason in str(solver.reason_unknown)
    assert time.monotonic() - start < 60


def test_aliases_run_programs_on_the_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    with pytest.raises(UsageError, match="needs a program that is not on PATH: yices-smt2"):
        Solver(layers="yices-smt2")
    program(tmp_path / "yices-smt2", f"import os; os.execvp({PARTITA_SMT.split()[0]!r}, {[*PARTITA_SMT.split()]!r})")
    solver = Solver(layers="yices-smt2")
    assert solver.check(bv("x", 8) == 3) == "sat", solver.reason_unknown
    assert set(process.ALIASES) >= {"stp", "yices-smt2", "boolector", "mathsat"}


def test_importing_partita_imports_no_solver() -> None:
    code = "import sys, partita, partita.cli; sys.exit(any(m in sys.modules for m in ('z3', 'bitwuzla', 'cvc5')))"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0
