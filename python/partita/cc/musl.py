"""The C library of native programs.

zig compiles its musl when it first links, and caches it. Native programs get musl's mathematics from an archive of
ours, compiled from the C files that the executor runs. zig has some of these functions in its own language, and musl
has some in assembler; both differ from the C files in the last bits of results.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence

from partita.errors import UsageError
from partita.toolchain import TARGET, runtime_include, zig_dir

# Constant, whatever flags the objects were compiled with: zig caches one musl for each combination.
_FLAGS = ("cc", "-target", TARGET, "-O0", "-g", "-fno-sanitize=all")
_MATH_FOLDERS = ("math", "complex")


def link_command(words: Sequence[str]) -> list[str]:
    """The command that compiles or links a native program. The first call compiles musl and says so."""
    return [str(zig_dir() / "zig"), *_FLAGS, *words, prepare_musl()]


def prepare_musl() -> str:
    """The archive of mathematics. Has zig compile musl, and makes the archive, if this installation has neither yet."""
    folder = _zig_cache()
    installation = str(zig_dir())
    archive = os.path.join(folder, f"partita-math-{_short_name(installation)}.a")
    if os.path.exists(archive):
        return archive
    import tempfile

    with _locked(archive + ".lock"), tempfile.TemporaryDirectory(prefix="partita-cc-", dir=folder) as made:
        if os.path.exists(archive):
            return archive
        note = "partita: compiling musl for native programs, once for this installation (a minute on two cores)"
        print(note, file=sys.stderr, flush=True)
        source = os.path.join(made, "empty.c")
        with open(source, "w") as file:
            file.write("int main(void) { return 0; }\n")
        _run([str(zig_dir() / "zig"), *_FLAGS, source, "-o", os.path.join(made, "empty")])
        # Last: that it exists says that everything is done.
        os.replace(_build_archive(made), archive)
    return archive


def _build_archive(folder: str) -> str:
    from concurrent.futures import ThreadPoolExecutor

    from partita.frontends.musl import compile_command

    command = compile_command()
    root = zig_dir() / "lib" / "libc" / "musl" / "src"
    sources = [str(path) for name in _MATH_FOLDERS for path in sorted((root / name).glob("*.c"))]
    sources.append(str(runtime_include().parent / "lib" / "complex.c"))

    def compile_one(item: tuple[int, str]) -> str:
        number, source = item
        output = os.path.join(folder, f"{number}.o")
        _run([*command, "-o", output, "--", source])
        return output

    with ThreadPoolExecutor(max_workers=os.cpu_count() or 1) as pool:
        objects = list(pool.map(compile_one, enumerate(sources)))
    archive = os.path.join(folder, "math.a")
    _run([str(zig_dir() / "zig"), "ar", "rcs", archive, *objects])
    return archive


def _run(command: list[str]) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise UsageError(f"cannot compile musl:\n{done.stderr.rstrip()}")


@contextlib.contextmanager
def _locked(name: str) -> Iterator[None]:
    import fcntl

    try:
        os.makedirs(os.path.dirname(name), exist_ok=True)
        lock = os.open(name, os.O_RDWR | os.O_CREAT, 0o600)
    except OSError as error:
        why = f"{error.strerror}; set ZIG_GLOBAL_CACHE_DIR"
        raise UsageError(f"cannot write into zig's cache `{os.path.dirname(name)}`: {why}") from None
    with os.fdopen(lock):
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _short_name(text: str) -> str:
    import zlib

    return f"{zlib.crc32(text.encode()):08x}"


def _zig_cache() -> str:
    """The folder in which zig caches what it compiles, by its own rules."""
    found = os.environ.get("ZIG_GLOBAL_CACHE_DIR")
    if found:
        return found
    base = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return os.path.join(base, "zig")
