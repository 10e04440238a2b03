"""Reading a run's folder back: what `docs/formats.md` describes, and nothing else."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from partita.errors import UsageError
from partita.results import Frame

SCHEMA = 1
_FRAME = re.compile(r"  #\d+ (.*) at (.*):(\d+)")
_TEST_NUMBER = re.compile(r"test(\d+)")


def read_run(folder: Path) -> dict[str, Any]:
    """`run.json`, if this version can read it."""
    path = folder / "run.json"
    try:
        data = json.loads(path.read_text())
    except (FileNotFoundError, NotADirectoryError):
        raise UsageError(f"expected the folder of a finished run, found `{folder}` without a run.json") from None
    except (OSError, ValueError) as error:
        raise UsageError(f"cannot read `{path}`: {error}") from None
    schema = data.get("schema") if isinstance(data, dict) else None
    if schema != SCHEMA:
        raise UsageError(f"expected schema {SCHEMA} in `{path}`, found {schema}: another version of Partita wrote it")
    found: dict[str, Any] = data
    return found


def read_stacks(folder: Path) -> dict[int, tuple[Frame, ...]]:
    """The stack of every test that has an `.err` file, innermost frame first."""
    stacks = {}
    for path in folder.glob("test*.err"):
        if number := _TEST_NUMBER.match(path.name):
            found = map(_FRAME.fullmatch, path.read_text("utf-8", "replace").splitlines())
            stacks[int(number[1])] = tuple(Frame(frame[1], frame[2], int(frame[3])) for frame in found if frame)
    return stacks


@dataclass
class Covered:
    """What was reached of one source file."""

    lines: dict[int, bool] = field(default_factory=dict)
    branches: dict[int, list[bool]] = field(default_factory=dict)
    """By line: was each way out of its branches taken?"""

    @property
    def line_counts(self) -> tuple[int, int]:
        return sum(self.lines.values()), len(self.lines)

    @property
    def branch_counts(self) -> tuple[int, int]:
        ways = [way for branch in self.branches.values() for way in branch]
        return sum(ways), len(ways)


def read_coverage(folder: Path) -> dict[str, Covered]:
    """`coverage.lcov`, by file. A run without one covered nothing that has a place."""
    path = folder / "coverage.lcov"
    files: dict[str, Covered] = {}
    for number, row in enumerate(_rows(path), 1):
        key, _, rest = row.partition(":")
        try:
            if key == "SF":
                current = files.setdefault(rest, Covered())
            elif key == "DA":
                line, count = rest.split(",")[:2]
                current.lines[int(line)] = int(count) > 0
            elif key == "BRDA":
                line, _, _, count = rest.split(",")
                current.branches.setdefault(int(line), []).append(count not in ("-", "0"))
        except (ValueError, UnboundLocalError):
            raise UsageError(f"`{path}` is damaged: line {number} is `{row}`") from None
    return files


def _rows(path: Path) -> Iterator[str]:
    try:
        yield from path.read_text("utf-8", "replace").splitlines()
    except FileNotFoundError:
        return
