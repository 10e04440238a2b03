"""The files of musl that define a set of names, with all that they need, from an index in the package.

A program needs a hundredth of musl, and compiling all of it takes a minute. The index (`runtime/musl/index.txt`) has a
line for each file: its name, the names that it defines, `<`, the names that it needs. As in an archive, a weak
definition is enough where nothing else asks for the file with the strong one.

`python -m partita.frontends.musl_files` prints the index anew; a test compares a sample with the compiler.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

from partita.toolchain import runtime_include


class Row(NamedTuple):
    defines: frozenset[str]
    needs: frozenset[str]


def index_path() -> Path:
    return runtime_include().parent / "musl" / "index.txt"


def index() -> dict[str, Row]:
    """The rows by the name of the file, such as `stdio/printf.c`."""
    return rows_of(index_path())


@cache
def rows_of(path: Path) -> dict[str, Row]:
    """The rows of an index."""
    rows = {}
    for line in path.read_text().splitlines():
        name, _, rest = line.partition(": ")
        defines, _, needs = rest.partition("<")
        rows[name] = Row(frozenset(defines.split()), frozenset(needs.split()))
    return rows


def needed(names: Iterable[str], always: Sequence[str] = (), rows: Mapping[str, Row] | None = None) -> list[str]:
    """The files that define these names, and those that they need in turn."""
    rows = index() if rows is None else rows
    definers: dict[str, list[str]] = {}
    for file, row in rows.items():
        for name in row.defines:
            definers.setdefault(name, []).append(file)
    found: set[str] = set()
    open_files = {*always, *(file for name in names for file in definers.get(name, ()))}
    while open_files:
        found |= open_files
        wanted = {name for file in open_files for name in rows[file].needs}
        open_files = {file for name in wanted for file in definers.get(name, ())} - found
    return [file for file in rows if file in found]


def row_text(name: str, bitcode: bytes) -> str:
    from partita.cc.symbols import symbols

    found = symbols(bitcode)
    return f"{name}: {' '.join(sorted(found.defines))} < {' '.join(sorted(found.needs))}"


def main() -> None:
    from partita.frontends import musl

    sys.stdout.write("".join(f"{row_text(name, data)}\n" for name, data in musl.compiled(musl.all_files())))


if __name__ == "__main__":
    main()
