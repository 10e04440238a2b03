"""Tests as a seed corpus for fuzzers such as AFL++ and libFuzzer: one file of raw bytes per distinct input.

A seed is the symbolic standard input, if the run had one; otherwise the first symbolic file; otherwise the symbolic
objects concatenated, as a harness would cut them from its buffer; otherwise the arguments, each followed by a zero
byte, as AFL++'s argv-fuzz-inl.h reads them. Inputs that end in a bug are separate, since fuzzers reject crashing seeds.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from partita import _core, ktest
from partita.errors import UsageError
from partita.replay.environment import environment
from partita.reports.folder import new_place, read_run
from partita.seeds import files_of


def seed(test: ktest.Test) -> bytes:
    around = environment(test)
    if [name for name, _ in test.objects[:1]] == ["size"] and len(around.program_objects) <= 2:
        # The driver of a fuzz target makes the size first.
        return dict(around.program_objects).get("data", b"")
    if any(name == "stdin" for name, _ in test.objects):
        return around.stdin
    if around.files:
        return around.files[min(around.files)].contents
    if around.program_objects:
        return b"".join(data for _, data in around.program_objects)
    return b"".join(argument + b"\0" for argument in around.arguments[1:])


def _given(run: dict[str, Any]) -> set[bytes]:
    """Raw seeds that the run was given, which are not new."""
    folder = run.get("seeds")
    if folder is None or not Path(folder).exists():
        return set()
    return {file.read_bytes() for file in files_of(Path(folder)) if file.suffix != ".ktest"}


def export(folder: Path, out: Path) -> int:
    """Writes `seeds/` and `crashes/`. Returns the number of files."""
    new_place(out)
    classes = {name for name, _ in _core.BUG_CLASSES}
    known: set[tuple[str, bytes]] = set()
    given = _given(read_run(folder))
    try:
        for test in ktest.read_folder(folder):
            kind, data = "crashes" if test.ending in classes else "seeds", seed(test)
            if (kind, data) in known or (kind == "seeds" and data in given):
                continue
            known.add((kind, data))
            (out / kind).mkdir(parents=True, exist_ok=True)
            (out / kind / Path(test.name).stem).write_bytes(data)
    except OSError as error:
        raise UsageError(f"cannot write `{out}`: {error.strerror}") from None
    return len(known)
