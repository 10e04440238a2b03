"""Runs that are killed and resumed; `tests/soak/resume.py` has more programs and kills."""

from __future__ import annotations

from pathlib import Path

import pytest

from support import kills

PROGRAM = kills.Program("benchmarks/programs/bst_5.c")


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> kills.Whole:
    return kills.explore_whole(PROGRAM, tmp_path_factory.mktemp("whole") / "out")


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_run_that_is_killed_and_resumed_has_the_same_tests(jobs: int, whole: kills.Whole, tmp_path: Path) -> None:
    assert kills.kill_and_resume(whole, tmp_path, 3, jobs, seed=7) == 3


def test_a_full_disk_is_a_message_and_the_run_goes_on_later(whole: kills.Whole, tmp_path: Path) -> None:
    assert "cannot write" in kills.fill_disk(whole, tmp_path, 4_000)
