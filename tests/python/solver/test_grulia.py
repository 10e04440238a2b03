"""`reuse:grulia(path=FILE)`: the repository of Grulia, shared between runs, as Green's is."""

from __future__ import annotations

from pathlib import Path

import pytest

from partita import Solver, array, bv
from partita.testing import conformance


def run(file: Path, partial: str, name: str, square: int) -> tuple[str, dict[str, float], float]:
    """Verdict, counters of Grulia, and the number of queries that it passed on."""
    solver = Solver(layers=f"reuse:grulia(partial={partial},path={file}) sat(engine=conflicts)")
    word = bv(name, 32)
    solver.add(word * word == square)
    verdict = solver.check()
    grulia, sat = solver.statistics["layers"]
    return verdict, grulia, sat["asked"]


@pytest.mark.parametrize("partial", ["on", "off"])
def test_a_run_answers_from_what_others_solved(tmp_path: Path, partial: str) -> None:
    file = tmp_path / "repository"
    assert [run(file, partial, name, square)[::2] for name, square in (("a", 49), ("b", 3))] == [
        ("sat", 1),
        ("unsat", 1),
    ]
    for name, square, verdict, near in (("c", 49, "sat", "sat_near"), ("d", 3, "unsat", "unsat_near")):
        found, counters, passed = run(file, partial, name, square)
        assert (found, passed, counters[near]) == (verdict, 0, 1)
        assert counters["loaded"] >= 2
    # Partial solutions are in the repository too.
    assert (run(file, partial, "e", 49)[1]["loaded"] > 2) == (partial == "on")


def test_whole_arrays(tmp_path: Path) -> None:
    chain = f"reuse:grulia(path={tmp_path / 'repository'}) sat"
    for name, passed in (("one", 1), ("other", 0)):
        memory, index = array(name, 8, 8), bv(f"{name}_index", 8)
        solver = Solver(layers=chain)
        solver.add(memory[index] * memory[index] == 49, index.ugt(3))
        assert solver.check() == "sat"
        assert solver.statistics["layers"][1]["asked"] == passed
        del solver  # it writes what it has before the next one reads


def test_a_file_that_cannot_be_used_is_reported(tmp_path: Path) -> None:
    (tmp_path / "no").write_bytes(b"something else, and long enough" * 50)
    for path in (tmp_path, tmp_path / "no"):
        with pytest.warns(RuntimeWarning, match="the repository of Grulia is not shared"):
            solver = Solver(layers=f"reuse:grulia(path={path}) sat")
        solver.add(bv("x", 8) * bv("x", 8) == 49)
        assert solver.check() == "sat"
    assert (tmp_path / "no").read_bytes() == b"something else, and long enough" * 50


def test_damaged_rows_are_not_used(tmp_path: Path) -> None:
    import sqlite3

    file = tmp_path / "repository"
    run(file, "off", "a", 49)
    run(file, "off", "b", 3)
    with sqlite3.connect(file) as connection:
        assert connection.execute("UPDATE answer SET answer = zeroblob(length(answer))").rowcount == 2
    verdict, counters, passed = run(file, "off", "c", 3)
    assert (verdict, counters["loaded"], passed) == ("unsat", 0, 1)


def test_conformance(tmp_path: Path) -> None:
    for seed in (3, 3, 4):  # the second time from what the first has written
        chain = f"split reuse:grulia(partial=on,path={tmp_path / 'repository'}) sat(engine=conflicts)"
        sat, unsat, unknown = conformance(chain, seed=seed, queries=150)
        assert min(sat, unsat) > 10
        assert unknown == 0
