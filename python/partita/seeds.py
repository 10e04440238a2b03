"""Seeds: inputs of fuzzers and of earlier runs that a run follows first, and the exchange with AFL++ while both run.

A seed is a `.ktest`, or a file of raw bytes as AFL++ and libFuzzer keep them. Raw bytes are the input of a fuzz target,
the symbolic file A, the symbolic standard input, or the symbolic objects of a program in the order in which it makes
them: the same rule as that of `partita export --format seeds`, backwards.
"""

from __future__ import annotations

import os
import stat
import struct
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from partita import ktest
from partita.errors import UsageError

Seed = tuple[list[tuple[str, bytes]], bytes]
"""Objects by name, and bytes for the other inputs."""
LONGEST = 1 << 10
"""Longest seed that enlarges the input of a fuzz target by itself."""
_STATUS = struct.pack("<24xI116x", stat.S_IFREG | 0o644)
_KLEE_2 = {"-data": "_data", "-stat": "_stat"}
POLL_S = 1.0


class Shape:
    """Where the raw bytes of a seed go."""

    def __init__(self, *, fuzz_target: bool, sym_files: tuple[int, int] | None, sym_stdin: int | None) -> None:
        self._fuzz_target = fuzz_target
        self._name = "A_data" if sym_files else "stdin" if sym_stdin is not None else None

    def seed(self, data: bytes) -> Seed:
        if self._fuzz_target:
            return [("size", len(data).to_bytes(4, "little")), ("data", data)], b""
        if self._name is None:
            return [], data
        # The status of files that the seed does not have must be possible.
        status = [(f"{name}_stat", _STATUS) for name in ("stdin", "stdout", *(f"{c}_data" for c in "ABCDEFGHIJ"))]
        return [(self._name, data), *status], b""


def files_of(folder: Path) -> list[Path]:
    """The files of a corpus, smallest first: those of a folder, and the queues of an output folder of AFL++."""
    if folder.is_file():
        return [folder]
    if not folder.is_dir():
        raise UsageError(f"expected a folder or a file of seeds, found nothing at `{folder}`")
    queues = [folder / "queue", *sorted(folder.glob("*/queue"))]
    places = [place for place in queues if place.is_dir()] or [folder]
    found = [file for place in places for file in place.iterdir() if file.is_file() and not file.name.startswith(".")]
    return sorted(found, key=lambda file: (file.stat().st_size, str(file)))


def read(folder: Path, shape: Shape) -> list[Seed]:
    """All seeds of a corpus. Errors: `UsageError` if there are none."""
    seeds = [seed for file in files_of(folder) for seed in _of_file(file, shape)]
    if not seeds:
        raise UsageError(f"expected seeds in `{folder}`, found no file")
    return seeds


def longest(folder: Path) -> int:
    """Size of the longest raw seed."""
    return max((file.stat().st_size for file in files_of(folder) if file.suffix != ".ktest"), default=0)


def _of_file(file: Path, shape: Shape) -> Iterator[Seed]:
    if file.suffix == ".ktest":
        yield [(_renamed(name), data) for name, data in ktest.read(file).objects], b""
    elif file.name != "endings" and file.suffix not in (".json", ".err", ".lcov", ".pack"):
        yield shape.seed(file.read_bytes())


def _renamed(name: str) -> str:
    """KLEE before version 3 wrote `A-data` for `A_data`."""
    for old, new in _KLEE_2.items():
        name = name.replace(old, new)
    return name


class Sync:
    """The exchange with AFL++: our tests become the queue of an instance `partita`, the others' queues our seeds."""

    def __init__(self, folder: Path, shape: Shape) -> None:
        if not folder.is_dir():
            raise UsageError(f"expected an output folder of afl-fuzz for --sync, found nothing at `{folder}`")
        self._folder, self._shape = folder, shape
        self._own = folder / "partita"
        try:
            for kind in ("queue", "crashes"):
                (self._own / kind).mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise UsageError(f"cannot write into `{self._own}`: {error.strerror}") from None
        self._read: set[Path] = set()
        self._tests: set[str] = set()
        self._known = {file.read_bytes() for file in (self._own / "queue").iterdir() if file.is_file()}
        self._next = {kind: len(list((self._own / kind).iterdir())) for kind in ("queue", "crashes")}
        self._last = 0.0

    def received(self) -> list[Seed]:
        """Seeds that other instances have found since the last call."""
        seeds = []
        for queue in sorted(self._folder.glob("*/queue")):
            if queue.parent == self._own:
                continue
            for file in sorted(queue.iterdir()):
                if file in self._read or not file.is_file() or file.name.startswith("."):
                    continue
                self._read.add(file)
                try:
                    data = file.read_bytes()
                except OSError:
                    continue  # AFL++ removes entries that it could trim
                # AFL++ has taken some of ours.
                if data not in self._known:
                    self._known.add(data)
                    seeds.append(self._shape.seed(data))
        return seeds

    def send(self, folder: Path) -> None:
        """Adds the tests of our run that are new to our queue."""
        from partita import _core
        from partita.reports.seeds import seed

        classes = {name for name, _ in _core.BUG_CLASSES}
        new = [file for file in sorted(folder.glob("test*.ktest")) if file.name not in self._tests]
        known = ktest.endings(folder) if new else {}
        for file in new:
            ending = known.get(file.stem.removeprefix("test"))
            if ending is None:
                continue  # it is being written
            self._tests.add(file.name)
            data = seed(ktest.parse(file.read_bytes(), file.name, ending))
            if data in self._known or not data:
                continue
            self._known.add(data)
            kind = "crashes" if ending in classes else "queue"
            name = f"id:{self._next[kind]:06},src:partita,{file.stem}"
            self._next[kind] += 1
            part = self._own / f".{name}"
            part.write_bytes(data)
            os.replace(part, self._own / kind / name)

    def is_due(self) -> bool:
        """Has the time of an exchange passed since the last one?"""
        if time.monotonic() - self._last < POLL_S:
            return False
        self._last = time.monotonic()
        return True


def with_file(arguments: Sequence[str]) -> list[str]:
    """Arguments in which `@@`, as for afl-fuzz, is the name of the symbolic file."""
    return ["A" if word == "@@" else word for word in arguments]
