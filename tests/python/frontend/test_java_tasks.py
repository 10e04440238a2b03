"""Tasks in the manner of SV-COMP's Java category (tests/programs/java): the verdict, and the place of each bug.

The first line of a task has its verdict: `true`, or the class of the only bug, whose line ends in `// BUG`. A task must
be decided: explored completely, or with the bug found.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from partita import explore
from support import PROGRAM_FOLDER
from support.java import compile_all, needs_jdk

pytestmark = needs_jdk

TASKS = sorted((PROGRAM_FOLDER / "java").glob("*.java"))


@pytest.fixture(scope="module")
def classes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return compile_all(TASKS, tmp_path_factory.mktemp("java") / "classes")


def test_there_are_sixty_tasks() -> None:
    assert len(TASKS) >= 60


@pytest.mark.parametrize("task", TASKS, ids=lambda task: task.stem)
def test_verdict(task: Path, classes: Path) -> None:
    text = task.read_text()
    head = re.match(r"// EXPECT: ([-a-z]+)\n", text)
    assert head is not None, f"{task}: expected a line `// EXPECT: true` or with a class of bug"
    lines = [number for number, line in enumerate(text.splitlines(), 1) if line.endswith("// BUG")]
    run = explore(classes / f"{task.stem}.class", max_time=30).finish()
    found = [(bug.class_, bug.line) for bug in run.bugs]
    assert found == ([] if head[1] == "true" else [(head[1], lines[0])])
    assert run.complete, run.summary()["incomplete"]
