"""Java programs as parts of a Program: the user's classes first, then what they reach of the library."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from partita.errors import UsageError
from partita.frontends import load_program

_SUFFIXES = (".java", ".class", ".jar")


def is_java(names: Sequence[str | os.PathLike[str]]) -> bool:
    """Is it a Java program? Folders are looked into; a mixture is an error."""
    found = [_is_java(Path(name)) for name in names]
    if any(found) and not all(found):
        wrong = os.fspath(names[found.index(False)])
        raise UsageError(f"expected Java files only beside `{os.fspath(names[found.index(True)])}`, found `{wrong}`")
    return any(found)


def _is_java(path: Path) -> bool:
    return path.suffix in _SUFFIXES or path.is_dir()


def load_java(
    names: Sequence[str | os.PathLike[str]],
    *,
    classpath: str | None,
    entry: str | None,
    symbolic_args: bool,
    string_length: int | None,
) -> tuple[bytes, list[bytes]]:
    """The serialised Program of the user's classes, and the libraries."""
    from partita.jvm import lower_java  # not needed for other programs

    user, library = lower_java(
        [os.fspath(name) for name in names],
        classpath=classpath,
        entry=entry,
        symbolic_args=symbolic_args,
        string_length=string_length,
    )
    runtime = Path(__file__).resolve().parent.parent / "runtime" / "java"
    return user, [library, load_program(sorted(runtime.glob("*.c")), entry=None)]
