"""Tasks in the manner of SV-COMP (tests/programs/tasks): property, data model and verdict are in the first line."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, NamedTuple

from partita import explore
from support import PROGRAM_FOLDER

TASKS = sorted((PROGRAM_FOLDER / "tasks").glob("*.c"))
_HEAD = re.compile(r"/\* property: ([\w-]+); data model: (LP64|ILP32); expected: (true|false) \*/\n")
# Bug classes that violate a property.
VIOLATIONS = {
    "unreach-call": {"assert"},
    "valid-memsafety": {
        *("null", "out-of-bounds-read", "out-of-bounds-write", "use-after-free", "double-free", "invalid-free"),
    },
    "no-overflow": {"overflow"},
}
# Other bugs that end a program as its semantics say, or let it go on. After one of any other class nothing is known.
DEFINED = {"assert", "abort", "exception", "deadlock", "lost-wakeup", "non-termination", "data-race"}


class Task(NamedTuple):
    path: Path
    property: str
    data_model: Any
    expected: str

    @classmethod
    def read(cls, path: Path) -> Task:
        head = _HEAD.match(path.read_text())
        assert head is not None, f"{path.name} has no first line of a task"
        return cls(path, *head.groups())

    def verdict(self) -> str:
        """`true` if the program was explored completely without a violation, `false` if one was found.

        Undefined behaviour of another class is neither: the rest of its path is not explored.
        """
        check: tuple[str, ...] = ("overflow",) if self.property == "no-overflow" else ()
        run = explore(self.path, data_model=self.data_model, check=check, max_time=60).finish()
        if any(bug.class_ in VIOLATIONS[self.property] for bug in run.bugs):
            return "false"
        others = sorted({bug.class_ for bug in run.bugs} - DEFINED)
        if others:
            return f"unknown: {', '.join(others)}"
        return "true" if run.complete else f"unknown: {run.summary()['incomplete']}"
