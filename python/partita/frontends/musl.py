"""musl as a lowered program, built once per installation from the sources in the ziglang wheel, and cached.

Each C file of musl is compiled to bitcode. Our headers replace those with machine code (`runtime/musl/include`), and
our C files replace a few of musl's. LLVM links the bitcode and `partita.llvm` lowers it. The result is one library; a
run links the functions that the program reaches (`core/src/program/link.rs`).
"""

from __future__ import annotations

import contextlib
import fcntl
import importlib.util
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from partita.errors import UsageError
from partita.frontends import cache
from partita.frontends.bitcode import module_text
from partita.toolchain import driver, include_flags, runtime_include, zig_dir

_FLAGS = (
    *("-std=c99", "-ffreestanding", "-fno-builtin", "-D_XOPEN_SOURCE=700"),
    *("-O1", "-fno-stack-protector", "-gline-tables-only", "-w", "-fno-color-diagnostics", "-c"),
)
_FOLDERS = (
    "complex conf crypt ctype dirent env errno exit fcntl fenv internal ipc legacy linux locale math misc mman mq"
    " multibyte network passwd prng process regex sched search select signal stat stdio stdlib string temp termios"
    " thread time unistd"
).split()
# If __GNUC__ is defined, musl's string functions read whole words, past the end of their arguments.
_BYTEWISE_FLAGS = ("-U__GNUC__",)
# Functions that the executor has as operators, each for double, float and long double.
_OPERATORS = (
    "ceil copysign fabs floor fma fmax fmin fmod llrint llround lrint lround nearbyint remainder rint round sqrt trunc"
).split()
# Files that `runtime` or the executor replaces: start and end of a process, threads, copying and comparing bytes, the
# floating-point environment.
_REPLACED = frozenset(
    (
        "env/__libc_start_main env/__init_tls env/__reset_tls env/__stack_chk_fail internal/vdso exit/exit exit/_Exit"
        " exit/abort exit/atexit exit/assert unistd/_exit thread/pthread_create thread/pthread_cancel thread/synccall"
        " string/memcpy string/memmove string/mempcpy string/memset string/bzero string/memcmp string/strlen"
        " string/strnlen string/strcmp string/strncmp fenv/fenv fenv/fesetround fenv/feholdexcept fenv/feupdateenv"
        " fenv/fegetexceptflag fenv/fesetexceptflag"
    ).split()
) | {f"math/{name}{suffix}" for name in _OPERATORS for suffix in ("", "f", "l")}


def public_names() -> frozenset[str]:
    """The names that musl exports, from the list in the ziglang wheel, so that musl need not be built."""
    text = (zig_dir() / "lib" / "libc" / "musl" / "libc.S").read_text()
    words = (line.split() for line in text.splitlines() if line.startswith((".globl ", ".weak ", "WEAK")))
    return frozenset(found[1] for found in words)


def musl() -> bytes:
    """The serialised library, from the cache or newly built."""
    folder = cache.cache_dir() / "libc"
    entry = folder / cache.key_of({"flags": [_FLAGS, _BYTEWISE_FLAGS], "sources": _identity()})
    found = _read_entry(entry)
    if found is not None:
        return found
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with _locked(folder / "lock"):
            found = _read_entry(entry)  # another process may have built it in the meantime
            if found is None:
                with cache.filling():
                    found = _build()
                    _save(entry, found)
            return found
    except OSError as error:
        raise UsageError(
            f"cannot save the C library in `{folder}`: {error.strerror}; it needs 10 MB: free some space, or choose"
            " another folder with XDG_CACHE_HOME"
        ) from None


def _identity() -> list[object]:
    zig = zig_dir()
    status = (zig / "zig").stat()
    our_files = sorted([*_overrides().glob("*.c"), *(_overrides() / "include").glob("*.h")])
    hashes = [cache.file_hash(str(path)) for path in [*our_files, Path(__file__)]]
    return [str(zig), status.st_size, status.st_mtime_ns, hashes, cache.lowering_identity()]


def _overrides() -> Path:
    return runtime_include().parent / "musl"


def _read_entry(entry: Path) -> bytes | None:
    try:
        data = entry.read_bytes()
    except OSError:
        return None
    return data if cache.has_valid_checksum(data) else None


@contextlib.contextmanager
def _locked(path: Path) -> Iterator[None]:
    """Holds a lock that excludes other processes. It is released when the process ends."""
    with open(path, "w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            print("partita: another run is compiling the C library: waiting for it", file=sys.stderr)
            fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _save(entry: Path, data: bytes) -> None:
    handle, temporary = tempfile.mkstemp(dir=entry.parent, prefix=".new-")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        os.replace(temporary, entry)
    except OSError:
        os.unlink(temporary)
        raise


def _sources() -> list[Path]:
    root = zig_dir() / "lib" / "libc" / "musl" / "src"
    musl_files = [
        path
        for folder in _FOLDERS
        for path in sorted((root / folder).glob("*.c"))
        if f"{folder}/{path.stem}" not in _REPLACED
    ]
    return [*sorted(_overrides().glob("*.c")), *musl_files]


def compile_command(*headers: Path) -> list[str]:
    """The command that compiles a file of musl natively; `headers` are folders that replace some of musl's headers."""
    root = zig_dir() / "lib" / "libc" / "musl"
    folders = (root / name for name in "arch/x86_64 arch/generic src/include src/internal include".split())
    command = [*driver(), *_FLAGS]
    for path in (*headers, *folders):
        command += ["-I", str(path)]
    return [*command, *include_flags()]


def _build() -> bytes:
    from partita.llvm import lower

    sources, command = _sources(), [*compile_command(_overrides() / "include"), "-emit-llvm"]
    with tempfile.TemporaryDirectory(prefix="partita-libc-") as folder, _progress(len(sources)) as advance:

        def compile_one(item: tuple[int, Path]) -> bytes:
            number, source = item
            output = Path(folder) / f"{number}.bc"
            flags = _BYTEWISE_FLAGS if source.parent.name == "string" else ()
            words = [*command, *flags, "-o", str(output), "--", str(source)]
            done = subprocess.run(words, capture_output=True, text=True, check=False)
            if done.returncode != 0:
                raise UsageError(f"cannot compile the C library: {done.stderr.rstrip() or source}")
            advance()
            data = output.read_bytes()
            output.unlink()
            return data

        with ThreadPoolExecutor(max_workers=os.cpu_count() or 1) as pool:
            compiled = list(pool.map(compile_one, enumerate(sources)))
        return lower(module_text([(path.name, data) for path, data in zip(sources, compiled, strict=True)], entry=None))


@contextlib.contextmanager
def _progress(total: int):  # type: ignore[no-untyped-def]
    """A progress bar on standard error if that is a terminal, otherwise one line."""
    if importlib.util.find_spec("rich") is None or not sys.stderr.isatty():
        print("partita: compiling the C library, once for this installation (about a minute)", file=sys.stderr)
        yield lambda: None
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("compiling the C library, once for this installation", total=total)
        yield lambda: bar.advance(task)
