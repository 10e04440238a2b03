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
_FLAGS = frozenset(("sym-arg", "sym-args", "sym-files", "sym-stdin", "sym-stdout", "max-fail"))


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
            "keep_stdout": any(is_flag(word, "sym-stdout") for word in words),
            "write_host": self.write_host,
            "settings": [("uid", os.getuid()), ("gid", os.getgid()), ("write-host", int(self.write_host))],
        }


def is_flag(word: str, name: str) -> bool:
    return word in (f"--{name}", f"-{name}")


def needs_kernel(words: Sequence[str]) -> bool:
    """Do these arguments ask for symbolic arguments or files?"""
    return any(word.lstrip("-") in _FLAGS for word in words if word.startswith("-"))


def symbolic_words(
    *, sym_files: tuple[int, int] | None, sym_stdin: int | None, sym_stdout: bool, max_fail: int
) -> tuple[str, ...]:
    """The flags of the kernel model for these options, which are checked here."""
    words: list[str] = []
    if sym_files is not None:
        count, size = sym_files
        if not 0 <= count <= MOST_FILES:
            raise UsageError(f"expected at most {MOST_FILES} symbolic files (A to Z), found {count} in sym_files")
        words += ["--sym-files", str(count), str(_size("sym_files", size))]
    if sym_stdin is not None:
        words += ["--sym-stdin", str(_size("sym_stdin", sym_stdin))]
    if sym_stdout:
        words.append("--sym-stdout")
    if max_fail:
        words += ["--max-fail", str(_size("max_fail", max_fail))]
    return tuple(words)


def _size(name: str, value: int) -> int:
    if not 0 <= value <= 1 << 24:
        raise UsageError(f"expected {name} to be a number from 0 to {1 << 24:,}, found {value}")
    return value


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
