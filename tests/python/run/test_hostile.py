"""A sample of the programs that try to break the limits; `tests/soak/hostile.py` runs all of them, with a table."""

from __future__ import annotations

from pathlib import Path

import pytest

from support import hostile

SAMPLE = (
    "malloc_gigabyte",
    "malloc_symbolic_size",
    "malloc_endless",
    "memset_after_symbolic_write",
    "inputs_fifty_thousand",
    "forks_breadth_first",
    "preimage_hash",
    "output_gigabyte_string",
)
SLOWER = 6.0
"""Tests run beside others on machines that may be busy; the soak test has the real limit."""


@pytest.mark.parametrize("name", SAMPLE)
def test_limits_hold(name: str, tmp_path: Path) -> None:
    measured = hostile.measure(hostile.PROGRAMS / f"{name}.c", tmp_path / "out")
    assert not measured.faults
    assert not measured.overruns(SLOWER)


def test_every_program_says_how_it_may_end() -> None:
    programs = hostile.programs()
    assert len(programs) >= 60
    for program in programs:
        statuses = hostile.header(program, "status").split()
        assert statuses, program.name
        assert set(statuses) <= {"0", "1", "3"}, program.name
