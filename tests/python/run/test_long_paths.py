"""Paths of many rounds: the solver's effort, which counts work and no clock, grows with the number of rounds."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from support import PARTITA, PATIENCE_S, REPOSITORY

PROGRAMS = REPOSITORY / "benchmarks" / "families" / "paths"
SHORT, LONG = 200, 800


def explored(name: str, rounds: int, out: Path) -> dict[str, Any]:
    program = PROGRAMS / f"{name}.c"
    command = [str(PARTITA), "run", str(program), f"--cflags=-DN={rounds}", "--out", str(out)]
    subprocess.run([*command, "--quiet", "--store", "none"], check=False, timeout=PATIENCE_S)
    data: dict[str, Any] = json.loads((out / "run.json").read_text())
    assert data["complete"], data["incomplete"]
    return data


def effort_s(data: dict[str, Any]) -> float:
    return sum(layer["effort_s"] for layer in data["solver"]["layers"])


@pytest.mark.parametrize("name", ["bytes", "pairs", "window", "counter", "calls"])
def test_effort_is_linear_in_the_length_of_a_path(name: str, tmp_path: Path) -> None:
    short, long = (explored(name, rounds, tmp_path / str(rounds)) for rounds in (SHORT, LONG))
    assert long["paths"]["completed"] >= LONG - 2
    assert effort_s(long) < 6 * effort_s(short)


def test_a_state_that_depends_on_all_inputs_is_not_solved(tmp_path: Path) -> None:
    data = explored("machine", 400, tmp_path / "out")
    asked = {layer["name"]: layer["asked"] for layer in data["solver"]["layers"]}
    assert data["paths"]["completed"] == 401
    assert asked["sat"] < 20
