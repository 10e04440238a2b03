"""Which lines tests reach, natively: the kept bitcode of an executable, with a mark at every line, compiled again.

There is no profiling runtime among the pinned tools, and gcc's would need the project's build once more; the bitcode
has every line already. Each line is one byte of an array that all runs share through a file.
"""

from __future__ import annotations

import contextlib
import re
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from partita.cc.link import intrinsics
from partita.cc.musl import LINKER, prepare_musl
from partita.errors import UsageError
from partita.frontends.bitcode import linked_text, object_code
from partita.frontends.executable import bitcode_of, without_bitcode
from partita.llvm.positions import Positions
from partita.toolchain import runtime_include, zig_dir

VARIABLE = "PARTITA_REACHED_LINES"
_PAGE = 4096
_ARRAY = "partita_reached_lines"
_DEBUG = re.compile(r", !dbg !(\d+)")


class Line(NamedTuple):
    file: str
    number: int


class Instrumented(NamedTuple):
    binary: Path
    lines: list[Line]
    """The line of each byte."""
    reached: Path
    """The file of the bytes, for `VARIABLE`."""

    def coverage(self) -> dict[str, dict[int, bool]]:
        """For each file its lines that have code, and whether any run has reached them."""
        found: dict[str, dict[int, bool]] = {}
        for line, mark in zip(self.lines, self.reached.read_bytes(), strict=False):
            found.setdefault(line.file, {})[line.number] = bool(mark)
        return found


@contextlib.contextmanager
def instrument(executable: Path) -> Iterator[Instrumented]:
    """The executable with marks; it is gone after the `with`."""
    name = str(executable)
    missing = without_bitcode(name)
    if missing:
        raise UsageError(f"cannot count lines of `{name}`, which has no bitcode of {', '.join(missing)}")
    text, lines = with_marks(linked_text(bitcode_of(name, executable.read_bytes())))
    with tempfile.TemporaryDirectory(prefix="partita-coverage-") as made:
        folder = Path(made)
        (folder / "program.o").write_bytes(object_code(text))
        reached = folder / "reached"
        reached.write_bytes(bytes(_size(lines)))
        prepare_musl()
        inputs = [str(folder / "program.o"), str(runtime_include().parent / "coverage.c"), intrinsics(made)]
        command = [str(zig_dir() / "zig"), *LINKER, *inputs, "-o", str(folder / "program")]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise UsageError(f"cannot link `{name}` with marks at its lines:\n{done.stderr.rstrip()}")
        yield Instrumented(folder / "program", lines, reached)


def with_marks(text: str) -> tuple[str, list[Line]]:
    """A module that stores a one for each line before its first instruction in every block; and the lines."""
    positions = Positions()
    for row in text.split("\n"):
        if row.startswith("!"):
            positions.add(row)
    numbers: dict[Line, int] = {}
    result: list[str] = []
    last: Line | None = None
    may_mark = True
    for statement in _statements(text):
        if not statement.startswith("  "):
            last, may_mark = None, True  # a label, or outside of functions
        elif may_mark and " = phi " not in statement and (found := _DEBUG.search(statement)) is not None:
            position = positions.position(int(found[1]))
            line = Line(position.file, position.line)
            if line != last and line.file and line.number:
                number = numbers.setdefault(line, len(numbers))
                result.append(f"  store i8 1, ptr getelementptr (i8, ptr @{_ARRAY}, i64 {number})")
            last = line
        # Between such a call and its return nothing may stand.
        may_mark = "musttail call" not in statement
        result.append(statement)
    lines = list(numbers)
    size = _size(lines)
    result += [
        f"@{_ARRAY} = global [{size} x i8] zeroinitializer, align {_PAGE}",
        f"@{_ARRAY}_size = constant i64 {size}",
    ]
    return "\n".join(result), lines


def _statements(text: str) -> Iterator[str]:
    """The rows of a module; a `switch`, its cases and its position behind them are one."""
    rows = iter(text.split("\n"))
    for row in rows:
        if row.startswith("  switch ") and row.endswith("["):
            cases = [row]
            while not cases[-1].startswith("  ]"):
                cases.append(next(rows))
            row = "\n".join(cases)
        yield row


def _size(lines: Sequence[Line]) -> int:
    return max(1, -(-len(lines) // _PAGE)) * _PAGE


def lcov(coverage: dict[str, dict[int, bool]]) -> str:
    """As a tracefile that lcov and genhtml read."""
    rows = ["TN:"]
    for file, lines in sorted(coverage.items()):
        rows.append(f"SF:{file}")
        rows += [f"DA:{number},{int(reached)}" for number, reached in sorted(lines.items())]
        rows += [f"LF:{len(lines)}", f"LH:{sum(lines.values())}", "end_of_record"]
    return "\n".join(rows) + "\n"
