"""Reads the files in the folder of a run, as `docs/formats.md` describes them."""

from __future__ import annotations

import contextlib
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from partita.errors import UsageError
from partita.ktest import Test
from partita.results import Bug, Frame

SCHEMA = 1
NEEDED = """program command version environment stopped complete wall_s compile_s explore_s instructions paths bugs
 tests coverage incomplete solver memory_peak_mb""".split()
_FRAME = re.compile(r"  #\d+ (.*) at (.*):(\d+)")
_TEST_NUMBER = re.compile(r"test(\d+)")


def read_run(folder: Path) -> dict[str, Any]:
    """Reads `run.json`. Fails if another version of Partita wrote it."""
    if not folder.is_dir():
        found = f"the file `{folder}`" if folder.exists() else f"nothing at `{folder}`"
        raise UsageError(f"expected the folder of a run, found {found}")
    path = folder / "run.json"
    try:
        return _read_json(path, NEEDED)
    except FileNotFoundError:
        started = " (the run was killed, or is still running)" if (folder / "endings").is_file() else ""
        raise UsageError(
            f"expected the folder of a finished run, found `{folder}` without a run.json{started}"
        ) from None


def _read_json(path: Path, needed: Sequence[str]) -> dict[str, Any]:
    """Reads a JSON file of a run and checks its schema and fields."""
    try:
        data = json.loads(path.read_text())
    except FileNotFoundError:
        raise
    except (OSError, ValueError) as error:
        raise UsageError(f"cannot read `{path}`: {error}") from None
    schema = data.get("schema") if isinstance(data, dict) else None
    if schema != SCHEMA:
        raise UsageError(f"expected schema {SCHEMA} in `{path}`, found {schema}: another version of Partita wrote it")
    if missing := [name for name in needed if name not in data]:
        raise UsageError(f"expected `{missing[0]}` in `{path}`, found none: another version of Partita wrote it")
    found: dict[str, Any] = data
    return found


def read_tree(folder: Path) -> dict[str, Any] | None:
    """Reads `tree.json`; None if the run recorded none."""
    path = folder / "tree.json"
    try:
        data = _read_json(path, ("places", "sides", "endings", "nodes", "bugs"))
    except FileNotFoundError:
        return None
    columns = [data["nodes"].get(name) for name in ("parent", "place", "side", "ending", "test", "left_out")]
    if not columns[0] or any(column is None or len(column) != len(columns[0]) for column in columns):
        raise UsageError(f"`{path}` is damaged: its columns differ in length")
    return data


def read_slowest(folder: Path) -> list[dict[str, Any]] | None:
    """Reads the queries of `slowest.json`; None if the run recorded none."""
    try:
        rows: list[dict[str, Any]] = _read_json(folder / "slowest.json", ("queries",))["queries"]
    except FileNotFoundError:
        return None
    return rows


def read_errors(folder: Path) -> dict[int, str]:
    """Texts of the `.err` files by the numbers of their tests."""
    found = ((_TEST_NUMBER.match(path.name), path) for path in folder.glob("test*.err"))
    return {int(number[1]): path.read_text("utf-8", "replace") for number, path in found if number}


def read_stacks(folder: Path) -> dict[int, tuple[Frame, ...]]:
    """Call stacks from the `.err` files by the numbers of their tests, innermost frame first."""
    stacks = {}
    for number, text in read_errors(folder).items():
        found = map(_FRAME.fullmatch, text.splitlines())
        stacks[number] = tuple(Frame(frame[1], frame[2], int(frame[3])) for frame in found if frame)
    return stacks


def add_values(folder: Path, bugs: Sequence[Bug]) -> None:
    """Adds the variables at each bug to the `.err` file of its test."""
    for bug in bugs:
        if bug.values and bug.test is not None:
            lines = ["", "variables:"]
            for frame in bug.values:
                lines += [f"  {f'{frame.function}:{frame.line}' if frame.function else 'globals'}:"]
                lines += [f"    {name} = {value}" for name, value in frame.variables.items()]
            for path in folder.glob(f"test{bug.test:06}.*.err"):
                with contextlib.suppress(OSError), path.open("a") as file:  # run.json has them too
                    file.write("\n".join(lines) + "\n")


def number_of(test: Test) -> int | None:
    """Number of a test of a run."""
    found = _TEST_NUMBER.match(Path(test.name).name)
    return int(found[1]) if found else None


def sources_of(run: dict[str, Any], needed_for: str) -> list[Path]:
    """Paths of the program's files. Fails if one does not exist any more."""
    paths = [Path(name) for name in run["program"]]
    for path in paths:
        if not path.is_file():
            raise UsageError(
                f"cannot read `{path}`, {needed_for}: no such file; export in the folder where the run was started"
            )
    return paths


def new_place(out: Path) -> None:
    """Fails unless `out` is new or an empty folder, so that nothing is overwritten."""
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise UsageError(f"expected a new file or folder to write, found `{out}`: choose another one with -o")


@dataclass
class Covered:
    """Coverage of one source file."""

    lines: dict[int, bool] = field(default_factory=dict)
    functions: dict[str, int] = field(default_factory=dict)
    """First lines of functions, by name."""
    branches: dict[int, list[bool]] = field(default_factory=dict)
    """By line: whether each side of its branches was taken."""

    @property
    def line_counts(self) -> tuple[int, int]:
        return sum(self.lines.values()), len(self.lines)

    @property
    def branch_counts(self) -> tuple[int, int]:
        sides = [taken for branch in self.branches.values() for taken in branch]
        return sum(sides), len(sides)


def read_coverage(folder: Path) -> dict[str, Covered]:
    """Reads `coverage.lcov`, by source file. Empty if the program has no line numbers."""
    path = folder / "coverage.lcov"
    files: dict[str, Covered] = {}
    for number, row in enumerate(_rows(path), 1):
        key, _, rest = row.partition(":")
        try:
            if key == "SF":
                current = files.setdefault(rest, Covered())
            elif key == "FN":
                line, name = rest.split(",", 1)
                current.functions[name.rpartition(",")[2]] = int(line)
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
