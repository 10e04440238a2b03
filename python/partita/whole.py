"""Whole programs: the libraries a program is linked with, and the surroundings it finds when it starts."""

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
"""The environment of an explored program unless the caller gives another: small, and the same on every machine."""

MOST_FILES = 26  # they are called A to Z
# Library functions that look at bytes: ours decide one byte at a time, without words read at once and without tables.
_SYMBOLIC = ("ctype.c", "string.c")
_FLAGS = {"sym-arg": 1, "sym-args": 3, "sym-files": 2, "sym-stdin": 1, "sym-stdout": 0, "max-fail": 1}
"""How many numbers follow each."""
_LARGEST = 1 << 24
_MOST_ARGUMENTS = 100  # they are called arg00 to arg99


class Surroundings(NamedTuple):
    """What the kernel model shows to the program."""

    symbolic: tuple[str, ...] = ()
    """Words such as `--sym-stdin 8`, in KLEE's spelling; they stand before the program's arguments."""
    stdin: bytes = b""
    environment: Mapping[str, str] = ENVIRONMENT
    write_host: bool = False

    def options(self, name: str, arguments: Sequence[str]) -> dict[str, Any]:
        """As `_core.Engine` wants it."""
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
    """The flag of the kernel model that this word is, with one dash or two as in KLEE."""
    name = word.removeprefix("-").removeprefix("-")
    return name if word.startswith("-") and name in _FLAGS else None


def needs_kernel(words: Sequence[str]) -> bool:
    """Do these arguments ask for symbolic arguments or files?"""
    return any(_flag(word) is not None for word in words)


def symbolic_words(
    *, sym_files: tuple[int, int] | None, sym_stdin: int | None, sym_stdout: bool, max_fail: int
) -> tuple[str, ...]:
    """The flags of the kernel model for these options."""
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


def check_words(words: Sequence[str]) -> None:
    """Refuses flags of the kernel model, wherever they stand among the arguments, that it could not follow."""
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
        if any(number > _LARGEST for number in numbers):
            raise UsageError(f"expected numbers of at most {_LARGEST:,} after {word}, found {max(numbers)}")
        if flag == "sym-files" and numbers[0] > MOST_FILES:
            raise UsageError(f"expected at most {MOST_FILES} symbolic files (A to Z), found {numbers[0]} after {word}")
        if flag == "sym-args" and numbers[0] > numbers[1]:
            raise UsageError(f"expected MIN MAX N after {word}, MIN at most MAX, found `{' '.join(texts)}`")
        if flag.startswith("sym-arg"):
            arguments += numbers[1] if flag == "sym-args" else 1
    if arguments > _MOST_ARGUMENTS:
        raise UsageError(f"expected at most {_MOST_ARGUMENTS} symbolic arguments, found {arguments}")


def libraries(
    program: bytes, names: Sequence[str], libc: Libc, needed: bool, modelled: frozenset[str] = frozenset()
) -> tuple[str, list[bytes]]:
    """Which libc the program gets, and the libraries that are.

    `auto` is musl where the program uses what only musl has, where it was built with `partita cc`, and where symbolic
    arguments or files are `needed`; else the functions of `runtime/lib` and the executor's models are enough. What is
    `modelled` is not looked for.
    """
    if libc not in ("auto", "musl", "none"):
        raise UsageError(f"expected libc to be auto, musl or none, found `{libc}`")
    if libc == "none" and needed:
        raise UsageError("symbolic arguments, files and input are part of the C library's world: drop `--libc none`")
    ours = library()
    if libc == "none" or (libc == "auto" and not needed and not _wants_musl(program, names, ours, modelled)):
        return "none", [ours]
    from partita.frontends.musl import musl

    posix = load_program(sorted((_runtime() / "posix").glob("*.c")), entry=None)
    strings = load_program([_runtime() / "lib" / name for name in _SYMBOLIC], entry=None)
    return "musl", [posix, strings, musl()]


def library() -> bytes:
    """What programs may call of the C library, compiled from our own sources and kept in the cache."""
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
