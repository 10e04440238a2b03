"""Bugs of a run as a build server sees them: with fingerprints that later runs have too, and those that were accepted.

A fingerprint is made of the class, the file relative to the project, and the text of the line with its number among the
equal lines of the file. It stays the same when other lines change or move, and does not depend on the order of the
search or on the test.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
from collections.abc import Iterable, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from partita.errors import UsageError
from partita.toolchain import cpp_include, runtime_include, zig_dir

SCHEMA = 1
FINGERPRINT = "partitaBug/v1"
_PROJECT_MARKS = (".git", "partita.toml")


def project_root(start: Path) -> Path:
    """The nearest folder above with `.git` or `partita.toml`; else `start`."""
    start = start.resolve()
    for folder in (start, *start.parents):
        if any((folder / mark).exists() for mark in _PROJECT_MARKS):
            return folder
    return start


def relative(file: str, root: Path) -> str:
    """The file relative to the project, with slashes; as it is if it is elsewhere."""
    path = os.path.relpath(os.path.realpath(file), root)
    return file if path.startswith(os.pardir) else Path(path).as_posix()


def root_of_run(folder: Path) -> Path:
    """The project of a run: that around its folder, or else that of the current folder."""
    found = project_root(folder)
    return found if any((found / mark).exists() for mark in _PROJECT_MARKS) else project_root(Path.cwd())


def is_system_header(file: str) -> bool:
    """Is it a header of the compiler, of a C library or of Partita, which is not part of the user's program?"""
    return file.startswith(_system_folders())


@lru_cache(maxsize=1)
def _system_folders() -> tuple[str, ...]:
    folders = ["/usr/include", "/usr/local/include", "/usr/lib", str(runtime_include()), str(cpp_include())]
    with contextlib.suppress(UsageError):  # reports need no compiler
        folders.append(str(zig_dir()))
    return tuple(f"{each}{os.sep}" for folder in folders for each in dict.fromkeys((folder, os.path.realpath(folder))))


def source_lines(file: str) -> tuple[str, ...]:
    """The lines of a source file; none if it cannot be read."""
    try:
        status = os.stat(file)
        return _lines(file, status.st_mtime_ns, status.st_size)
    except OSError:
        return ()


@lru_cache(maxsize=64)
def _lines(file: str, _time: int, _size: int) -> tuple[str, ...]:
    return tuple(Path(file).read_text("utf-8", "replace").splitlines())


def fingerprint(class_: str, file: str, line: int, root: Path) -> str:
    """The identity of a bug across runs."""
    lines = source_lines(file)
    text, number = f"line {line}", 0
    if 0 < line <= len(lines):
        text = " ".join(lines[line - 1].split())
        number = sum(" ".join(each.split()) == text for each in lines[: line - 1])
    parts = [class_, relative(file, root), text, str(number)]
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:32]


class Baseline(NamedTuple):
    """The file of accepted bugs."""

    path: Path
    rows: tuple[Mapping[str, Any], ...]

    @classmethod
    def read(cls, path: Path, may_be_new: bool = False) -> Baseline:
        """Reads the file. A missing one is an error unless it is about to be written."""
        try:
            data = json.loads(path.read_text())
        except FileNotFoundError:
            if may_be_new:
                return cls(path, ())
            raise UsageError(f"cannot read `{path}` of --baseline: no such file; --update-baseline writes it") from None
        except (OSError, ValueError) as error:
            raise UsageError(f"cannot read `{path}` of --baseline: {error}") from None
        rows = data.get("accepted") if isinstance(data, dict) and data.get("schema") == SCHEMA else None
        if not isinstance(rows, list) or not all(isinstance(row, dict) and "fingerprint" in row for row in rows):
            raise UsageError(
                f"expected a baseline with schema {SCHEMA} and `accepted`, found something else in `{path}`"
            )
        return cls(path, tuple(rows))

    @property
    def accepted(self) -> frozenset[str]:
        return frozenset(row["fingerprint"] for row in self.rows)

    def update(self, bugs: Iterable[Mapping[str, Any]], root: Path) -> int:
        """Adds these bugs, rows of `run.json`, and writes the file. Returns the number of new ones.

        Others are kept: a run may be incomplete, or one of several. To drop what is fixed, delete the file first.
        """
        known = {row["fingerprint"]: dict(row) for row in self.rows}
        before = len(known)
        for bug in bugs:
            row = {key: bug[key] for key in ("fingerprint", "class", "file", "line", "message")}
            known[bug["fingerprint"]] = row | {"file": relative(bug["file"], root)}
        rows = sorted(known.values(), key=lambda row: (str(row.get("file")), row.get("line", 0), row["fingerprint"]))
        try:
            self.path.write_text(json.dumps({"schema": SCHEMA, "accepted": rows}, indent=1) + "\n")
        except OSError as error:
            raise UsageError(f"cannot write `{self.path}`: {error.strerror}") from None
        return len(known) - before
