"""Objects to executables, through `zig cc`, which brings musl. It compiles musl when it links for the first time."""

from __future__ import annotations

import os
import subprocess

from partita.cc import elf, kept
from partita.cc.archive import is_archive, members, records_needed
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
        _complete(line, inputs)
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


def _is_foreign(name: str, data: bytes) -> bool:
    """Machine code that no `partita cc` has made."""
    if is_archive(data):
        return not any(kept.has_records(member) for member in members(name, data))
    return elf.is_elf(data) and not kept.has_records(data)


def _complete(line: CommandLine, inputs: dict[str, bytes]) -> None:
    """Adds to an executable that has bitcode what its own objects could not bring."""
    executable = line.output or "a.out"
    linked = _contents(executable)
    if not elf.is_elf(linked) or not kept.has_records(linked):
        return
    archives = [(name, data) for name, data in inputs.items() if is_archive(data)]
    archives += [(name, _contents(name)) for name in _libraries(line)]
    extra = records_needed(linked, archives)
    foreign = [name for name, data in inputs.items() if _is_foreign(name, data)]
    extra += [kept.pack(kept.Record(name, os.getcwd(), b"", "another compiler")) for name in foreign]
    if extra:
        kept.add(executable, b"".join(extra))


def _libraries(line: CommandLine) -> list[str]:
    """The archives that -l names and -L finds."""
    joined = ["".join(item.words) for item in line.items if item.kind is Kind.LINK]
    folders = [word[2:] for word in joined if word.startswith("-L")]
    names = [word[2:] for word in joined if word.startswith("-l")]
    found = []
    for name in names:
        file = name[1:] if name.startswith(":") else f"lib{name}.a"
        found += [path for folder in folders if os.path.isfile(path := os.path.join(folder, file))][:1]
    return found


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
