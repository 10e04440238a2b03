"""Whole programs: the libraries that a program is linked with, and the environment that it starts in."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple

from partita import _core
from partita.errors import UsageError
from partita.frontends import load_program

Libc = Literal["auto", "musl", "none"]

ENVIRONMENT = {"HOME": "/", "LC_ALL": "C", "PATH": "/usr/local/bin:/usr/bin:/bin", "TZ": "UTC0"}
"""Default environment variables of an explored program: few, and the same on every machine."""

MAX_FILES = 26  # named A to Z
# Files of `runtime/lib` that programs with musl get too: functions that read bytes, with one decision per byte, without
# word reads and without tables; and functions of the compiler's own library.
_BESIDE_MUSL = ("complex.c", "ctype.c", "string.c")
_FLAGS = {"sym-arg": 1, "sym-args": 3, "sym-files": 2, "sym-stdin": 1, "sym-stdout": 0, "max-fail": 1}
"""Number of values of each flag of the kernel model."""
_MAX_VALUE = 1 << 24
_MAX_ARGUMENTS = 100  # named arg00 to arg99


class Environment(NamedTuple):
    """The world that the kernel model shows to the program."""

    symbolic: tuple[str, ...] = ()
    """Flags such as `--sym-stdin 8`, as in KLEE, which precede the program's arguments."""
    stdin: bytes = b""
    environment: Mapping[str, str] = ENVIRONMENT
    write_host: bool = False

    def options(self, name: str, arguments: Sequence[str]) -> dict[str, Any]:
        """The options for `_core.Engine`."""
        words = [*self.symbolic, *arguments]
        return {
            "arguments": [name, *words],
            "environment": [f"{key}={value}" for key, value in self.environment.items()],
            "stdin": self.stdin,
            "keep_stdout": any(_flag(word) == "sym-stdout" for word in words),
            "write_host": self.write_host,
            "settings": [("uid", os.getuid()), ("gid", os.getgid()), ("write-host", int(self.write_host))],
        }


def _flag(word: str) -> str | None:
    """The flag of the kernel model that this argument is, with one dash or two as in KLEE; None for other arguments."""
    name = word.removeprefix("-").removeprefix("-")
    return name if word.startswith("-") and name in _FLAGS else None


def needs_kernel(words: Sequence[str]) -> bool:
    """Do these arguments contain flags of the kernel model?"""
    return any(_flag(word) is not None for word in words)


def kernel_flags(
    *, sym_files: tuple[int, int] | None, sym_stdin: int | None, sym_stdout: bool, max_fail: int
) -> tuple[str, ...]:
    """Flags of the kernel model for these options."""
    words: list[str] = []
    if sym_files is not None:
        words += ["--sym-files", *map(str, sym_files)]
    if sym_stdin is not None:
        words += ["--sym-stdin", str(sym_stdin)]
    if sym_stdout:
        words.append("--sym-stdout")
    if max_fail:
        words += ["--max-fail", str(max_fail)]
    return tuple(words)


def check_flags(words: Sequence[str]) -> None:
    """Checks the flags of the kernel model among the arguments. Raises UsageError for a value out of range."""
    arguments = 0
    rest = iter(words)
    for word in rest:
        flag = _flag(word)
        if flag is None:
            continue
        texts = [next(rest, "") for _ in range(_FLAGS[flag])]
        if not all(text.isdecimal() for text in texts):
            count = "a whole number" if len(texts) == 1 else f"{len(texts)} whole numbers"
            raise UsageError(f"expected {count} after {word}, found `{' '.join(texts).strip()}`")
        numbers = [int(text) for text in texts]
        if any(number > _MAX_VALUE for number in numbers):
            raise UsageError(f"expected numbers of at most {_MAX_VALUE:,} after {word}, found {max(numbers)}")
        if flag == "sym-files" and numbers[0] > MAX_FILES:
            raise UsageError(f"expected at most {MAX_FILES} symbolic files (A to Z), found {numbers[0]} after {word}")
        if flag == "sym-args" and numbers[0] > numbers[1]:
            raise UsageError(f"expected MIN MAX N after {word}, MIN at most MAX, found `{' '.join(texts)}`")
        if flag.startswith("sym-arg"):
            arguments += numbers[1] if flag == "sym-args" else 1
    if arguments > _MAX_ARGUMENTS:
        raise UsageError(f"expected at most {_MAX_ARGUMENTS} symbolic arguments, found {arguments}")


def libraries(
    program: bytes, names: Sequence[str], libc: Libc, needed: bool, modelled: frozenset[str] = frozenset()
) -> tuple[str, list[bytes]]:
    """Returns the libc that the program is linked with, and the libraries.

    `auto` is musl if the program uses a function that only musl has, if it was built with `partita cc`, or if the
    kernel model is `needed`; otherwise the functions of `runtime/lib` and the executor's models are enough. Functions
    in `modelled` are not required.
    """
    if libc not in ("auto", "musl", "none"):
        raise UsageError(f"expected libc to be auto, musl or none, found `{libc}`")
    if libc == "none" and needed:
        raise UsageError("symbolic arguments, files and standard input need the C library: leave out `--libc none`")
    ours = library()
    if libc == "none" or (libc == "auto" and not needed and not _wants_musl(program, names, ours, modelled)):
        return "none", [ours]
    from partita.frontends.musl import musl

    posix = load_program(sorted((_runtime() / "posix").glob("*.c")), entry=None)
    ours = load_program([_runtime() / "lib" / name for name in _BESIDE_MUSL], entry=None)
    return "musl", [posix, ours, musl()]


def library() -> bytes:
    """Our own functions of the C library (`runtime/lib`), compiled and cached."""
    return load_program(sorted((_runtime() / "lib").glob("*.c")), entry=None)


def _runtime() -> Path:
    return Path(__file__).resolve().parent / "runtime"


def _wants_musl(program: bytes, names: Sequence[str], ours: bytes, modelled: frozenset[str]) -> bool:
    if any(not name.endswith((".c", ".bc", ".ll")) and _is_executable(name) for name in names):
        return True
    unknown = set(_core.unknown_names([program, ours])) - modelled
    if not unknown:
        return False
    from partita.frontends.musl import public_names

    return not public_names().isdisjoint(unknown)


def _is_executable(name: str) -> bool:
    with open(name, "rb") as file:
        return file.read(4) == b"\x7fELF"
