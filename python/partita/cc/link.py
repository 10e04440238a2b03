"""Links objects to executables with the parts of musl that they need, or with `zig cc`, which compiles all of it.

Shared libraries are not supported. `-shared` makes an archive of that name with the same objects, and linking with it
takes the members that are needed. So every executable is complete, and has all its bitcode.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence

from partita.cc import elf, embedded, parts
from partita.cc.archive import is_archive, members, records_needed
from partita.cc.arguments import CommandLine, Item, Kind
from partita.cc.musl import link_command
from partita.errors import UsageError
from partita.toolchain import driver, include_flags, runtime_include, zig_dir

_INTRINSICS = (b"klee_", b"partita_", b"__VERIFIER_", b"reach_error")
_SECTION_NAME = embedded.SECTION.encode()
_KINDS = (Kind.LINK, Kind.BOTH, Kind.INPUT, Kind.SOURCE, Kind.OUTPUT)


def link(line: CommandLine, objects: dict[Item, str]) -> int:
    """Links. `objects` replace the sources on the command line."""
    words: list[str] = []
    for item in line.items:
        if item.kind in _KINDS:
            words += [objects[item]] if item in objects else item.words
    inputs = {word: _contents(word) for item in line.items if item.kind is Kind.INPUT for word in item.words}
    inputs.update((path, _contents(path)) for path in objects.values())
    if "-r" in words:
        return _run([str(zig_dir() / "zig"), "ld.lld", *(word for word in words if not word.startswith("-nost"))])
    if "-shared" in words:
        return _archive_instead_of_shared(line.output or "a.out", [*inputs, *_libraries(line)])
    import tempfile

    with tempfile.TemporaryDirectory(prefix="partita-cc-") as folder:
        words = _with_archives(line, words, inputs, folder)
        runtime = []
        if any(mark in data.replace(_SECTION_NAME, b"") for data in inputs.values() for mark in _INTRINSICS):
            runtime = [intrinsics_archive(folder)]
        done = None if line.cpp else parts.link([*words, *runtime])
        if done is None:
            status = _run(link_command([*words, *runtime], cpp=line.cpp))
        else:
            sys.stderr.write(done.stderr)
            status = done.returncode
    if status == 0:
        _add_missing_bitcode(line, inputs)
    return status


def _archive_instead_of_shared(output: str, inputs: Sequence[str]) -> int:
    """Makes an archive in place of a shared library. `L` adds the members of archives among the inputs."""
    if os.path.lexists(output):
        os.unlink(output)
    return _run([str(zig_dir() / "zig"), "ar", "qcsL", output, *inputs])


def _with_archives(line: CommandLine, words: Sequence[str], inputs: Mapping[str, bytes], folder: str) -> list[str]:
    """The words, with archives that have names of shared libraries replaced by links with names of archives."""
    found = {word: word for word, data in inputs.items() if is_archive(data)}
    found.update((f"-l{name}", path) for name, path in _named_libraries(line).items())
    result: list[str] = []
    for word in _join_library_words(words):
        path = found.get(word)
        if path is not None and not path.endswith(".a"):
            plain = os.path.join(folder, f"{len(result)}.a")
            os.symlink(os.path.abspath(path), plain)
            word = plain
        result.append(word)
    return result


def _join_library_words(words: Sequence[str]) -> Iterator[str]:
    """Turns `-l name` into one word."""
    rest = iter(words)
    for word in rest:
        yield word + next(rest, "") if word == "-l" else word


def _run(command: list[str]) -> int:
    status = subprocess.run(command, check=False).returncode
    return status if status >= 0 else 128 - status


def _contents(path: str) -> bytes:
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError:
        return b""  # the linker reports it


def _is_foreign(name: str, data: bytes) -> bool:
    """Whether the file is machine code that was not made by `partita cc`."""
    if is_archive(data):
        return not any(embedded.has_records(member) for member in members(name, data))
    return elf.is_elf(data) and not embedded.has_records(data)


def _add_missing_bitcode(line: CommandLine, inputs: dict[str, bytes]) -> None:
    """Adds bitcode of archive members that only the bitcode needs, and the names of inputs without bitcode."""
    executable = line.output or "a.out"
    linked = _contents(executable)
    if not elf.is_elf(linked) or not embedded.has_records(linked):
        return
    archives = [(name, data) for name, data in inputs.items() if is_archive(data)]
    archives += [(name, _contents(name)) for name in _libraries(line)]
    extra = records_needed(linked, archives)
    foreign = [name for name, data in inputs.items() if _is_foreign(name, data)]
    extra += [embedded.pack(embedded.BitcodeRecord(name, os.getcwd(), b"", "another compiler")) for name in foreign]
    if extra:
        embedded.add(executable, b"".join(extra))


def _libraries(line: CommandLine) -> list[str]:
    """The archives of `-l`, found in the folders of `-L`."""
    return list(_named_libraries(line).values())


def _named_libraries(line: CommandLine) -> dict[str, str]:
    """Archives by name. A file named like a shared library is an archive if `_archive_instead_of_shared` made it."""
    joined = ["".join(item.words) for item in line.items if item.kind is Kind.LINK]
    folders = [word[2:] for word in joined if word.startswith("-L")]
    found: dict[str, str] = {}
    for name in (word[2:] for word in joined if word.startswith("-l")):
        files = [name[1:]] if name.startswith(":") else [f"lib{name}.so", f"lib{name}.a"]
        paths = (os.path.join(folder, file) for folder in folders for file in files)
        path = next((path for path in paths if is_archive(_contents(path))), None)
        if path is not None:
            found[name] = path
    return found


def intrinsics_archive(folder: str) -> str:
    """The native intrinsics as an archive, so that they are linked only if the program calls one."""
    source, made = str(runtime_include().parent / "replay.c"), os.path.join(folder, "replay.o")
    archive = os.path.join(folder, "libintrinsics.a")
    for command in (
        [*driver(), *include_flags(), "-O1", "-w", "-DWHOLE_PROGRAM", "-c", source, "-o", made],
        [str(zig_dir() / "zig"), "ar", "rcs", archive, made],
    ):
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise UsageError(f"cannot compile the intrinsics natively:\n{done.stderr.rstrip()}")
    return archive
