"""Objects to executables, through `zig cc`, which brings musl. It compiles musl when it links for the first time."""

from __future__ import annotations

import os
import subprocess
import sys

from partita.cc import elf, kept
from partita.cc.arguments import CommandLine, Item, Kind
from partita.errors import UsageError
from partita.toolchain import TARGET, driver, include_words, runtime_include, zig_dir

# Always the same, whatever the objects were compiled with: zig keeps one musl for each combination.
FLAGS = ("-target", TARGET, "-O0", "-g", "-fno-sanitize=all")
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
        status = _run([str(zig_dir() / "zig"), "cc", *FLAGS, *words, *runtime])
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


def prepare_musl() -> None:
    """Makes zig compile musl now, and says so, if it has not done it yet for this installation."""
    folder = _zig_cache()
    installation = str(zig_dir())
    stamp = os.path.join(folder, f"partita-musl-{_short_name(installation)}")
    if os.path.exists(stamp):
        return
    import fcntl
    import tempfile

    try:
        os.makedirs(folder, exist_ok=True)
        lock = os.open(stamp + ".lock", os.O_RDWR | os.O_CREAT, 0o600)
    except OSError as error:
        why = f"{error.strerror}; set ZIG_GLOBAL_CACHE_DIR"
        raise UsageError(f"cannot write into zig's cache `{folder}`: {why}") from None
    with os.fdopen(lock), tempfile.TemporaryDirectory(prefix="partita-cc-") as made:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if os.path.exists(stamp):
            return
        note = "partita cc: compiling musl for native programs, once for this installation (40 s on two cores)"
        print(note, file=sys.stderr, flush=True)
        source = os.path.join(made, "empty.c")
        with open(source, "w") as file:
            file.write("int main(void) { return 0; }\n")
        command = [str(zig_dir() / "zig"), "cc", *FLAGS, source, "-o", os.path.join(made, "empty")]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise UsageError(f"cannot compile musl:\n{done.stderr.rstrip()}")
        with open(stamp, "w") as file:
            file.write(installation + "\n")


def _short_name(text: str) -> str:
    import zlib

    return f"{zlib.crc32(text.encode()):08x}"


def _zig_cache() -> str:
    """Where zig keeps what it has compiled, by its own rules."""
    found = os.environ.get("ZIG_GLOBAL_CACHE_DIR")
    if found:
        return found
    base = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return os.path.join(base, "zig")
