"""Commands start quickly because they import little. Imports are counted, since times vary."""

from __future__ import annotations

import importlib
import subprocess
import sys

import pytest

from partita.cli import COMMANDS

PARSERS = {"argparse", "partita.cli"}
SOLVER = PARSERS | {"partita._core", "partita.cli.smt", "partita.solver"}
LARGE = {"email", "http", "importlib.metadata", "llvmlite", "matplotlib", "rich", "subprocess"}
"""Packages that take 10 ms or more each."""


@pytest.mark.parametrize(
    ("command", "needed", "excluded"),
    [
        (["--help"], PARSERS, {"partita._core", "partita.cli.run", "partita.explore", "partita.frontends"}),
        (["smt", "--help"], SOLVER, {"partita.cli.run", "partita.explore", "partita.frontends", "partita.reports"}),
    ],
)
def test_imports(command: list[str], needed: set[str], excluded: set[str]) -> None:
    done = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "partita", *command], capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0
    imported = {line.rpartition("|")[2].strip() for line in done.stderr.splitlines()}
    assert needed <= imported
    assert not (excluded | LARGE) & imported


@pytest.mark.parametrize("command", COMMANDS)
def test_summaries_are_those_of_the_modules(command: str) -> None:
    text = importlib.import_module(f"partita.cli.{command}").__doc__
    assert text is not None
    assert text.splitlines()[0] == COMMANDS[command]
