"""Line coverage of native runs: compiles the embedded bitcode of an executable with a store at every line.

The pinned tools have no profiling runtime, and gcc's would need another build of the project. Each line has one byte in
an array that all runs share through a file.
"""

from __future__ import annotations

import contextlib
import re
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from partita.cc.compile import native_command
from partita.cc.link import intrinsics_archive
from partita.cc.musl import link
from partita.errors import UsageError
from partita.frontends.bitcode import linked_text, object_code
from partita.frontends.executable import bitcode_of, without_bitcode
from partita.frontends.targets import SCOPE_MARKER
from partita.llvm.positions import Positions
from partita.toolchain import runtime_include

LINES_VARIABLE = "PARTITA_REACHED_LINES"
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
    """The file with the bytes, the value of `LINES_VARIABLE`."""

    def coverage(self) -> dict[str, dict[int, bool]]:
        """For each file: its lines with code, and whether a run reached them."""
        found: dict[str, dict[int, bool]] = {}
        for line, mark in zip(self.lines, self.reached.read_bytes(), strict=False):
            found.setdefault(line.file, {})[line.number] = bool(mark)
        return found


@contextlib.contextmanager
def instrument(executable: Path) -> Iterator[Instrumented]:
    """The instrumented executable, which exists within the `with`."""
    name = str(executable)
    missing = without_bitcode(name)
    if missing:
        raise UsageError(f"cannot count lines of `{name}`, which has no bitcode of {', '.join(missing)}")
    text, lines = instrument_lines(linked_text(bitcode_of(name, executable.read_bytes())))
    with tempfile.TemporaryDirectory(prefix="partita-coverage-") as made:
        folder = Path(made)
        (folder / "program.o").write_bytes(object_code(text))
        reached = folder / "reached"
        reached.write_bytes(bytes(_size(lines)))
        source, marks = str(runtime_include().parent / "coverage.c"), str(folder / "coverage.o")
        command = native_command(["-O0", "-c", source, "-o", marks])
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode == 0:
            inputs = [str(folder / "program.o"), marks, intrinsics_archive(made)]
            done = link([*inputs, "-o", str(folder / "program")])
        if done.returncode != 0:
            raise UsageError(f"cannot link `{name}` with line coverage:\n{done.stderr.rstrip()}")
        yield Instrumented(folder / "program", lines, reached)


def instrument_lines(text: str) -> tuple[str, list[Line]]:
    """A module that stores 1 for each line before its first instruction in every block; and the lines."""
    positions = Positions()
    for row in text.split("\n"):
        if row.startswith("!"):
            positions.add(row)
    numbers: dict[Line, int] = {}
    result: list[str] = []
    last: Line | None = None
    may_insert = True
    for statement in _statements(text):
        if not statement.startswith("  "):
            last, may_insert = None, True  # a label, or outside of functions
        elif SCOPE_MARKER in statement:
            pass  # where a block begins or ends is no line with code
        elif may_insert and " = phi " not in statement and (found := _DEBUG.search(statement)) is not None:
            position = positions.position(int(found[1]))
            line = Line(position.file, position.line)
            if line != last and line.file and line.number:
                number = numbers.setdefault(line, len(numbers))
                result.append(f"  store i8 1, ptr getelementptr (i8, ptr @{_ARRAY}, i64 {number})")
            last = line
        # LLVM allows no instruction between such a call and its return.
        may_insert = "musttail call" not in statement
        result.append(statement)
    lines = list(numbers)
    size = _size(lines)
    result += [
        f"@{_ARRAY} = global [{size} x i8] zeroinitializer, align {_PAGE}",
        f"@{_ARRAY}_size = constant i64 {size}",
    ]
    return "\n".join(result), lines


def _statements(text: str) -> Iterator[str]:
    """The lines of a module. A `switch` with its cases and its position is one item."""
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
    """Coverage as a tracefile for lcov and genhtml."""
    rows = ["TN:"]
    for file, lines in sorted(coverage.items()):
        rows.append(f"SF:{file}")
        rows += [f"DA:{number},{int(reached)}" for number, reached in sorted(lines.items())]
        rows += [f"LF:{len(lines)}", f"LH:{sum(lines.values())}", "end_of_record"]
    return "\n".join(rows) + "\n"
