"""The experiment `coverage`: a utility that fails, a start that goes on, and an experiment that is killed."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from experiments import coverage
from partita.errors import UsageError
from support import PATIENCE_S

ROOT = Path(__file__).parents[3]
HEAD = {"schema": 2, "seconds": 3.0, "options": "--sym-stdin 8"}


def row(percent: float) -> dict[str, Any]:
    curve = [(0.0, 0.0), (3.0, percent)]
    return {"lines": 10, "tests": 2, "curve": curve, "different": [], "unstable": 0, "sat_share": 0.0}


def test_a_utility_that_fails_does_not_stop_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    def measure(binary: Path, seconds: float, options: Sequence[str]) -> dict[str, Any]:
        if binary.name == "bad":
            raise RuntimeError("exit status 4")
        return row(50.0)

    monkeypatch.setattr(coverage, "measure", measure)
    binaries = {name: Path(name) for name in ("one", "bad", "two")}
    found = dict(coverage._measured(binaries, 3.0, (), 2))
    assert found == {"one": row(50.0), "bad": "exit status 4", "two": row(50.0)}


def test_figures_are_kept_under_the_same_conditions(tmp_path: Path) -> None:
    path = tmp_path / "coverage.json"
    assert coverage._kept(path, HEAD, ["cat"]) == {}
    path.write_text(json.dumps({**HEAD, "utilities": {"cat": row(50.0), "head": row(60.0)}}))
    assert list(coverage._kept(path, HEAD, ["cat", "tail"])) == ["cat"]
    with pytest.raises(UsageError, match="figures of other conditions"):
        coverage._kept(path, {**HEAD, "seconds": 4.0}, ["cat"])


def explorers(out: Path) -> list[str]:
    """Command lines of processes that explore into this folder."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = path.read_bytes().decode("utf-8", "replace").split("\0")
        except OSError:
            continue
        if str(out) in words and "run" in words:
            found.append(" ".join(words))
    return found


def wait_for(out: Path, count: int) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while len(explorers(out)) != count:
        assert time.monotonic() < deadline, explorers(out)
        time.sleep(0.05)


def test_a_killed_experiment_leaves_no_explorer(tmp_path: Path) -> None:
    program, out = tmp_path / "endless.c", tmp_path / "out"
    program.write_text("int main(void) {\n  volatile unsigned n = 0;\n  for (;;) n++;\n}\n")
    code = "import sys; from pathlib import Path; from experiments.explorer import run_for;"
    code += "run_for(1000, [sys.argv[1]], Path(sys.argv[2]))"
    experiment = subprocess.Popen([sys.executable, "-c", code, str(program), str(out)], cwd=ROOT)
    try:
        wait_for(out, 1)
    finally:
        experiment.kill()
        experiment.wait()
    wait_for(out, 0)
