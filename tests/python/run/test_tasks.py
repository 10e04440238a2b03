"""A sample of the tasks in the manner of SV-COMP: `make tasks` runs all of them."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from support.tasks import TASKS, Task

SAMPLE = TASKS[::4]


@pytest.mark.parametrize("path", SAMPLE, ids=lambda path: path.stem)
def test_verdict(path: Path) -> None:
    task = Task.read(path)
    assert task.verdict() == task.expected


def test_tasks_cover_all_properties_and_verdicts() -> None:
    tasks = [Task.read(path) for path in TASKS]
    assert len(tasks) >= 80
    kinds = Counter((task.property, task.expected) for task in tasks)
    assert all(
        kinds[name, verdict] >= 6 for name in Counter(name for name, _ in kinds) for verdict in ("true", "false")
    )
    assert Counter(task.data_model for task in tasks)["ILP32"] >= 50
