"""The journal of a run: checkpoints in its folder, from which the run goes on after Ctrl-C, a limit or a kill.

A file that is only appended to: a head, then records with length and checksum. The first record says which program,
options and version the run has; every later record is a checkpoint that is complete by itself (results so far and open
paths), so the last intact record is all that a run needs to go on. Tests of later numbers are discarded then: their
paths are open again. A running run holds a lock on the file.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import json
import os
import struct
import time
import zlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from partita import _core
from partita.errors import UsageError
from partita.llvm.write import contents

NAME = "journal"
FOUND = "tests.found"
"""File of the tests that have no number yet, in the folder of the run."""
SCHEMA = 1
HEAD = b"PARTJR01"
FRAME = struct.Struct(">II")
LENGTH = struct.Struct(">I")
EVERY_S = 1.0
"""Least time between two checkpoints."""
SHARE = 0.005
"""Largest share of the time that checkpoints take."""
COMPACT_BYTES = 1 << 20
"""Size from which on a journal with many outdated checkpoints is written anew."""
BUILD = f"{_core.__version__} (sources {_core.BUILD_SOURCES[:12]})"
"""Version of Partita, with a hash of the sources of its core: another build may decide differently."""
PACK_HEAD = 8
CHECKPOINT_HEAD = 4

LIMITS = frozenset(
    "max_time max_solver_time max_memory max_instructions max_tests out store search seed seeds sync certificate "
    "verify layers jobs resume".split()
)
"""Options that another part of a run may have: they decide what is explored first, and when it ends."""
COMPILING = frozenset("cflags clang classpath".split())
"""Options that may have paths of one machine, and decide nothing but the program, which is compared itself."""


def guard(parts: Iterable[bytes], options: Mapping[str, Any], arguments: Iterable[str]) -> dict[str, str]:
    """Identifies a program, its options and the build: a journal is only for the same ones, wherever their files are.

    The program is what lowering has made of the sources, the runtime and the libraries, so that these count too."""
    program = hashlib.sha256()
    for part in parts:
        for piece in contents(part):
            program.update(LENGTH.pack(len(piece)))
            program.update(piece)
    kept = {name: value for name, value in options.items() if name not in LIMITS | COMPILING}
    text = repr((sorted(kept.items()), list(arguments)))
    return {
        "program": program.hexdigest(),
        "options": hashlib.sha256(text.encode()).hexdigest(),
        "version": BUILD,
    }


class Counts(NamedTuple):
    """Counts at a checkpoint."""

    tests: int
    open: int
    ended: int
    explored: float
    found: int
    """Bytes of tests that workers found and that have no number yet."""
    numbered: int
    """Tests that have one."""
    complete: bool


COUNTS = struct.Struct(">QQQdQQ")


@dataclass
class Contents:
    """The intact part of a journal."""

    head: dict[str, Any]
    counts: Counts
    checkpoint: bytes | None
    """The newest checkpoint; None: there is none yet."""
    size: int
    """Number of bytes up to the end of the newest checkpoint."""
    damaged: int
    """Number of bytes that are not intact."""


def _records(data: bytes) -> Iterator[tuple[bytes, int]]:
    """The intact records, each with the place of its end. After a damaged one the next that is intact is looked for at
    the place that its length says; a damaged length ends the journal."""
    at = len(HEAD)
    while at + FRAME.size <= len(data):
        length, sum_ = FRAME.unpack_from(data, at)
        record = data[at + FRAME.size : at + FRAME.size + length]
        at += FRAME.size + length
        # After a damaged length this may be any place: eight zeros there are no record of no bytes.
        if record and len(record) == length and zlib.crc32(record) == sum_:
            yield record, at


def read(folder: Path) -> Contents:
    """Reads the journal of a run. Raises UsageError if there is none, or its beginning is damaged."""
    path = folder / NAME
    try:
        data = path.read_bytes()
    except OSError as error:
        raise UsageError(f"expected the folder of a run with a journal, found `{folder}`: {error.strerror}") from None
    if data[: len(HEAD)] != HEAD:
        raise UsageError(f"the journal of `{folder}` is damaged at its beginning: start the run again")
    records = list(_records(data))
    head: dict[str, Any] | None = None
    with contextlib.suppress(ValueError, IndexError):
        head = json.loads(records[0][0])
    if not isinstance(head, dict) or "schema" not in head:
        raise UsageError(f"the journal of `{folder}` is damaged at its beginning: start the run again")
    if head["schema"] != SCHEMA:
        raise UsageError(f"expected a journal of schema {SCHEMA}, found {head['schema']} in `{folder}`")
    intact = len(HEAD) + sum(FRAME.size + len(record) for record, _ in records)
    counts, checkpoint, size = Counts(0, 1, 0, 0.0, 0, 0, complete=False), None, records[0][1]
    if len(records) > 1:
        record, size = records[-1]
        checkpoint = record[1:]
        tests, open_, ended, explored, found, numbered = COUNTS.unpack_from(checkpoint, CHECKPOINT_HEAD)
        counts = Counts(tests, open_, ended, explored, found, numbered, record[0] == 1)
    return Contents(head, counts, checkpoint, size, len(data) - intact)


def is_running(folder: Path) -> bool:
    """Does a run hold the lock of the journal?"""
    try:
        with (folder / NAME).open("rb") as file:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    return False


class Journal:
    """The journal of a run that is running."""

    def __init__(self, folder: Path, head: dict[str, Any], size: int | None) -> None:
        """`size`: bytes of an existing journal to be kept; None for a new one."""
        self._path = folder / NAME
        self._head = json.dumps({"schema": SCHEMA, **head}).encode()
        self._file = self._open(size is None)
        self._due = time.monotonic() + EVERY_S
        if size is None:
            self._file.write(HEAD)
            self._append(self._head)
        else:
            self._file.truncate(size)
            self._file.seek(size)

    def _open(self, is_new: bool) -> BinaryIO:
        try:
            file = self._path.open("xb" if is_new else "r+b", buffering=0)
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise UsageError(f"another run is writing into `{self._path.parent}`: wait until it has ended") from None
        except OSError as error:
            raise UsageError(f"cannot write `{self._path}`: {error.strerror}") from None
        return file

    def _append(self, record: bytes) -> None:
        data = FRAME.pack(len(record), zlib.crc32(record)) + record
        start = self._file.tell()
        try:
            while data:
                data = data[self._file.write(data) :]
        except OSError as error:
            # A cut record would hide later ones.
            with contextlib.suppress(OSError):
                self._file.truncate(start)
                self._file.seek(start)
            raise UsageError(
                f"cannot write `{self._path}`: {error.strerror}: free some space; the run can be resumed"
            ) from None

    def is_due(self) -> bool:
        return time.monotonic() >= self._due

    def write(self, checkpoint: bytes, complete: bool, started: float) -> None:
        """Appends a checkpoint, whose making began at `started`."""
        record = bytes([complete]) + checkpoint
        if self._file.tell() > COMPACT_BYTES + 8 * len(record):
            self._compact()
        self._append(record)
        now = time.monotonic()
        self._due = now + max(EVERY_S, (now - started) / SHARE)

    def _compact(self) -> None:
        """Begins anew with the newest checkpoint."""
        contents = self._path.read_bytes()
        newest = list(_records(contents))[-1][0]
        part = self._path.with_name(NAME + ".part")
        with part.open("wb", buffering=0) as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            before, self._file = self._file, file
            try:
                file.write(HEAD)
                self._append(self._head)
                self._append(newest)
                size = file.tell()
                os.replace(part, self._path)
            finally:
                self._file = before
        before.close()
        self._file = self._open(False)
        self._file.seek(size)

    def close(self) -> None:
        self._file.close()


def discard_tests(folder: Path, count: int) -> None:
    """Removes the tests of higher numbers: their paths are explored again."""
    for file in folder.glob("test[0-9]*.*"):
        digits = file.name[4:].split(".")[0]
        if digits.isdigit() and int(digits) > count:
            file.unlink()
    endings = folder / "endings"
    if endings.exists():
        lines = endings.read_text().splitlines(keepends=True)
        kept = [line for line in lines if line.endswith("\n") and int(line.split(" ", 1)[0]) <= count]
        endings.write_text("".join(kept))
    pack = folder / "tests.pack"
    if pack.exists():
        data = pack.read_bytes()
        at = PACK_HEAD
        while at + 12 <= len(data):
            (length,) = LENGTH.unpack_from(data, at)
            number = int.from_bytes(data[at + 4 : at + 12], "big")
            if number > count or at + 4 + length > len(data):
                break
            at += 4 + length
        os.truncate(pack, at if at > PACK_HEAD else 0)
        if at <= PACK_HEAD:
            pack.unlink()
