"""Objects to executables, through `zig cc`, which brings musl. It compiles musl when it links for the first time."""

from __future__ import annotations

import os
import subprocess

from partita.cc import elf, kept
from partita.cc.arguments import CommandLine, Item, Kind
from partita.cc.musl import LINKER, prepare_musl
from partita.errors import UsageError
from partita.toolchain import driver, include_words, runtime_include, zig_dir

_INTRINSICS = (b"klee_", b"partita_", b"__VERIFIER_", b"reach_error")
_KINDS = (Kind.LINK, Kind.BOTH, Kind.INPUT, Kind.SOURCE, Kind.OUTPUT)


def link(line: CommandLine, objects: dict[Item, str]) -> int:
    """`objects` stand for the sources among the words."""
    words: list[str] = []
    for item in line.items:
        if item.kind in _KINDS:
            words += [objects[item]] if item in objects else item.words
    inputs = {word: _contents(word) for item in line.items if item.kind is Kind.INPUT for word in item.words}
    inputs.update((path, _contents(path)) for path in objects.values())
    if "-r" in words:
        return _run([str(zig_dir() / "zig"), "ld.lld", *(word for word in words if not word.startswith("-nost"))])
    prepare_musl()
    import tempfile

    with tempfile.TemporaryDirectory(prefix="partita-cc-") as folder:
        runtime = []
        if any(mark in data for data in inputs.values() for mark in _INTRINSICS):
            runtime = [intrinsics(folder)]
        status = _run([str(zig_dir() / "zig"), *LINKER, *words, *runtime])
    if status == 0:
        _note_foreign(line.output or "a.out", [word for word, data in inputs.items() if _is_foreign(data)])
    return status


def _run(command: list[str]) -> int:
    status = subprocess.run(command, check=False).returncode
    return status if status >= 0 else 128 - status


def _contents(path: str) -> bytes:
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError:
        return b""  # the linker says what is wrong with it


def _is_foreign(data: bytes) -> bool:
    """Machine code that no `partita cc` has made."""
    return (elf.is_elf(data) or data.startswith(b"!<arch>\n")) and not kept.has_records(data)


def _note_foreign(executable: str, names: list[str]) -> None:
    """Leaves word of objects without bitcode in an executable that has some from others."""
    if not names or not kept.has_records(_contents(executable)):
        return
    for name in names:
        kept.add(executable, kept.Record(name, os.getcwd(), b"", "another compiler"))


def intrinsics(folder: str) -> str:
    """What answers the intrinsics natively, as an archive: it comes in only if the program calls one."""
    source, made = str(runtime_include().parent / "replay.c"), os.path.join(folder, "replay.o")
    archive = os.path.join(folder, "libintrinsics.a")
    for command in (
        [*driver(), *include_words(), "-O1", "-w", "-c", source, "-o", made],
        [str(zig_dir() / "zig"), "ar", "rcs", archive, made],
    ):
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise UsageError(f"cannot compile the intrinsics natively:\n{done.stderr.rstrip()}")
    return archive
