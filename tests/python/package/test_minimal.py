"""The package alone (`pip install --no-deps`): the solver works, and exploring names the packages that it needs."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

import partita
from partita.toolchain import EXPLORING_PACKAGES
from support import PATIENCE_S, REPOSITORY

SOLVE = """
from partita import Solver, bv
x = bv("x", 32)
solver = Solver()
solver.add(x * 3 == 33)
print(solver.check(), solver.model()[x])
"""


@pytest.fixture
def alone(tmp_path: Path):
    """Runs Python without site-packages, with the package `partita` as the only addition."""
    (tmp_path / "partita").symlink_to(Path(partita.__file__).parent)

    def run(*words: str) -> subprocess.CompletedProcess[str]:
        environment = {"PYTHONPATH": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path), "PATH": ""}
        command = [sys.executable, "-S", *words]
        return subprocess.run(
            command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=PATIENCE_S, check=False
        )

    return run


def test_nothing_else_is_installed(alone) -> None:
    for name in ("rich", *EXPLORING_PACKAGES):
        assert alone("-c", f"import {name}").returncode == 1


def test_the_solver_in_python(alone) -> None:
    done = alone("-c", SOLVE)
    assert (done.stdout, done.stderr) == ("sat 11\n", "")


def test_the_solver_as_a_command(alone) -> None:
    done = alone("-m", "partita", "smt", str(REPOSITORY / "examples" / "factor.smt2"))
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("sat\n")
    assert alone("-m", "partita", "--version").returncode == 0
    assert alone("-m", "partita", "run", "--help").returncode == 0


def test_exploring_names_the_missing_packages(alone) -> None:
    done = alone("-m", "partita", "run", str(REPOSITORY / "examples" / "rle.c"))
    missing = " ".join(EXPLORING_PACKAGES.values())
    expected = f"partita: error: exploring programs needs packages that are not installed: pip install {missing}\n"
    assert (done.returncode, done.stdout, done.stderr) == (2, "", expected)


def test_versions_are_those_of_the_project() -> None:
    (row,) = re.findall(r"^dependencies = \[(.*)\]$", (REPOSITORY / "pyproject.toml").read_text(), re.MULTILINE)
    for text in EXPLORING_PACKAGES.values():
        assert f'"{text.strip(chr(39))}"' in row
