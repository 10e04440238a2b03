"""The C library of native programs.

Programs are linked with the files of musl that they need (`parts.py`). Where that is not enough, and for C++ and 32-bit
programs, zig links, as described here.

zig compiles its musl when it first links, and caches it. Native programs get musl's mathematics from an archive of
ours, compiled from the C files that the executor runs. zig has some of these functions in its own language, and musl
has some in assembler; both differ from the C files in the last bits of results. The archive takes about as long as
musl, so it is made when a program first needs it. musl itself uses only functions whose results are exact (`frexpl`,
`scalbn`, `fmodl` and the like), which are the same everywhere.
"""

from __future__ import annotations

import contextlib
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from partita.errors import UsageError
from partita.toolchain import (
    NARROW_FLAGS,
    NARROW_ZIG_TARGET,
    TARGET,
    driver,
    include_flags,
    is_narrow,
    runtime_include,
    zig_dir,
)

# Constant, whatever flags the objects were compiled with: zig caches one musl for each combination.
_FLAGS = ("-O0", "-g", "-fno-sanitize=all")
_MATH_FOLDERS = ("math", "complex")
# Functions that share a file with another one.
_ALIASES = {"drem", "dremf", "lgammal_r", "pow10", "pow10f", "pow10l", "signgam"}


def link_command(
    words: Sequence[str], *, mathematics: bool = True, cpp: bool = False, narrow: bool = False
) -> list[str]:
    """The command that compiles or links a native program. The first call compiles musl, or libc++, and says so."""
    archive = [prepare_musl(narrow)] if mathematics else []
    if not mathematics:
        _make_once("musl" + _suffix(narrow), "musl for native programs", lambda folder: _link_empty(folder, narrow))
    if cpp:
        _make_once("libc++", "libc++ for native programs", _link_empty_cpp)
    return [*_zig(cpp, narrow), *words, *archive]


def link(
    words: Sequence[str], *, mathematics: bool = True, cpp: bool = False, narrow: bool = False
) -> subprocess.CompletedProcess[str]:
    """Links a native program: with the parts of musl that it needs, or by zig."""
    from partita.cc import parts

    done = parts.link(words) if not cpp and not narrow else None
    if done is None:
        command = link_command(words, mathematics=mathematics, cpp=cpp, narrow=narrow)
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done


def _suffix(narrow: bool) -> str:
    return "32" if narrow else ""


def _zig(cpp: bool = False, narrow: bool = False) -> list[str]:
    target = ["-target", NARROW_ZIG_TARGET, *NARROW_FLAGS] if narrow else ["-target", TARGET]
    return [str(zig_dir() / "zig"), "c++" if cpp else "cc", *target, *_FLAGS]


def names_mathematics(sources: Sequence[str], flags: Sequence[str]) -> bool:
    """Can the program call mathematical functions? True if a name of one stands anywhere in its preprocessed text.

    Any file that is not C source is taken to call them; so is one that cannot be preprocessed.
    """
    if not all(source.endswith((".c", ".i")) for source in sources):
        return True
    narrow = is_narrow(flags)
    command = [*driver(narrow=narrow), *include_flags(narrow=narrow), *flags, "-w", "-E", "-P", *sources]
    done = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)
    if done.returncode != 0:
        return True
    words = {word.removeprefix("__builtin_") for word in re.findall(r"[A-Za-z_]\w*", done.stdout)}
    return not words.isdisjoint(_names())


def _names() -> set[str]:
    """Names of the mathematical functions."""
    return {source.stem for source in _math_sources()} | _ALIASES


def _math_sources() -> list[Path]:
    root = zig_dir() / "lib" / "libc" / "musl" / "src"
    return [path for name in _MATH_FOLDERS for path in sorted((root / name).glob("*.c"))]


def prepare_musl(narrow: bool = False) -> str:
    """The archive of mathematics. Has zig compile musl, and makes the archive, if this installation has neither yet."""
    return _make_once(
        "math" + _suffix(narrow),
        "musl and its mathematics for native programs",
        lambda folder: _link_empty(folder, narrow),
        lambda folder: _build_archive(folder, narrow),
    )


def _make_once(name: str, about: str, *steps: Callable[[str], str]) -> str:
    """The file that the last step makes, in zig's cache, once for this installation."""
    folder = zig_cache()
    result = os.path.join(folder, f"partita-{name}-{_short_name(str(zig_dir()))}.a")
    if os.path.exists(result):
        return result
    import tempfile

    with locked(result + ".lock"), tempfile.TemporaryDirectory(prefix="partita-cc-", dir=folder) as made:
        if os.path.exists(result):
            return result
        note = f"partita: compiling {about}, once for this installation (up to a minute on two cores)"
        print(note, file=sys.stderr, flush=True)
        made_files = [step(made) for step in steps]
        # Last: that it exists says that everything is done.
        os.replace(made_files[-1], result)
    return result


def _link_empty(folder: str, narrow: bool) -> str:
    """Has zig compile musl, by linking a program that does nothing."""
    source, binary = os.path.join(folder, "empty.c"), os.path.join(folder, "empty")
    with open(source, "w") as file:
        file.write("int main(void) { return 0; }\n")
    _run([*_zig(narrow=narrow), source, "-o", binary])
    return binary


def _link_empty_cpp(folder: str) -> str:
    """Has zig compile libc++, by linking a program that throws nothing."""
    source, binary = os.path.join(folder, "empty.cpp"), os.path.join(folder, "empty")
    with open(source, "w") as file:
        file.write("#include <string>\nint main() { return static_cast<int>(std::string().size()); }\n")
    _run([*_zig(cpp=True), source, "-o", binary])
    return binary


def _build_archive(folder: str, narrow: bool) -> str:
    from concurrent.futures import ThreadPoolExecutor

    from partita.frontends.musl import compile_command

    command = compile_command(narrow=narrow)
    sources = [str(path) for path in _math_sources()]
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
def locked(name: str) -> Iterator[None]:
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


def zig_cache() -> str:
    """The folder in which zig caches what it compiles, by its own rules."""
    found = os.environ.get("ZIG_GLOBAL_CACHE_DIR")
    if found:
        return found
    base = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return os.path.join(base, "zig")
