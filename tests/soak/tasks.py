"""Runs all tasks of tests/programs/tasks and lists those with another verdict than the expected one."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "python"))

from support.tasks import TASKS, Task


def main() -> int:
    wrong = 0
    for path in TASKS:
        task = Task.read(path)
        found = task.verdict()
        if found != task.expected:
            wrong += 1
            print(f"{path.name}: expected {task.expected}, found {found}")
    print(f"{len(TASKS)} tasks, {wrong} with another verdict than the expected one")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
