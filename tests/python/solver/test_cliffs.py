"""Families of scripts that once took far longer than their neighbours (experiments/family_scripts.py)."""

from __future__ import annotations

import time

import pytest

from experiments.family_scripts import FAMILIES
from partita import _core
from partita.solver import DEFAULT_LAYERS, resolve

WRITE = {family.name: family.write for family in FAMILIES}
# Size, answer and limit of conflicts, which does not depend on the machine.
EXPECTED = {
    "polynomials-in-context": (64, "unsat", 0),
    "unsigned-guard": (64, "unsat", 300),
    "division-identity": (32, "unsat", 0),
    "memory-copy": (4, "unsat", 9_000),
    "memory-sort": (5, "unsat", 4_000),
    "remainder-choices": (16, "sat", 450),
}


def solved(text: str) -> tuple[str, float]:
    """The answer and the number of conflicts."""
    spec, make = resolve(None)
    script = _core.Script("smtlib", spec, DEFAULT_LAYERS, make, None, None, None)
    answers: list[str] = []
    script.run(text.encode(), True, answers.append)
    return "".join(answers).strip(), sum(layer.get("conflicts", 0) for layer in script.statistics()["layers"])


@pytest.mark.parametrize("name", EXPECTED)
def test_few_conflicts(name: str) -> None:
    size, answer, most = EXPECTED[name]
    # A search that does not end is an answer too.
    found, conflicts = solved("(set-option :timeout 8000)\n" + WRITE[name](size))
    assert found == answer
    assert conflicts <= most


def test_independent_constraints_take_linear_time() -> None:
    def seconds(count: int) -> float:
        text = WRITE["independent-pushed"](count)
        start = time.process_time()
        assert solved(text)[0] == "sat"
        return time.process_time() - start

    few, many = min(seconds(1_000) for _ in range(3)), min(seconds(16_000) for _ in range(2))
    assert many < 60 * few, "16 times as many constraints: 16 times as long, 256 times if every one visits all others"
