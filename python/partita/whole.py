"""Whole programs: the libraries that a program is linked with."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from partita import _core
from partita.errors import UsageError
from partita.frontends import load_program
from partita.frontends.c import SOURCES
from partita.llvm.write import pointer_bytes

Libc = Literal["auto", "musl", "none"]

# Files of `runtime/lib` that programs with musl get too: functions that read bytes, with one decision per byte, without
# word reads and without tables; and functions of the compiler's own library.
_BESIDE_MUSL = ("complex.c", "ctype.c", "fenv.c", "string.c")


def libraries(
    program: bytes, names: Sequence[str], libc: Libc, needed: bool, modelled: frozenset[str] = frozenset()
) -> tuple[str, list[bytes]]:
    """Returns the libc that the program is linked with, and the libraries.

    `auto` is musl if the program uses a function that only musl has, if it was built with `partita cc`, or if the
    kernel model is `needed`; otherwise the functions of `runtime/lib` and the executor's models are enough. Functions
    in `modelled` are not required.
    """
    if libc == "none" and needed:
        raise UsageError("symbolic arguments, files and standard input need the C library: leave out `--libc none`")
    narrow = pointer_bytes(program) == 4
    ours = library(narrow)
    if libc == "none" or (libc == "auto" and not needed and not _wants_musl(program, names, ours, modelled)):
        return "none", [ours]
    from partita.frontends.musl import musl, narrow_flags

    flags = ["-m32"] if narrow else []
    numbers = narrow_flags() if narrow else []
    posix = load_program(sorted((_runtime() / "posix").glob("*.c")), entry=None, cflags=[*flags, *numbers])
    ours = load_program([_runtime() / "lib" / name for name in _BESIDE_MUSL], entry=None, cflags=flags)
    parts = [posix, ours]
    return "musl", [*parts, musl(_core.undefined_names([program, *parts]), narrow=narrow)]


def library(narrow: bool = False) -> bytes:
    """Our own functions of the C library (`runtime/lib`), compiled and cached; `narrow` for 32-bit programs."""
    return load_program(sorted((_runtime() / "lib").glob("*.c")), entry=None, cflags=["-m32"] if narrow else [])


def _runtime() -> Path:
    return Path(__file__).resolve().parent / "runtime"


def _wants_musl(program: bytes, names: Sequence[str], ours: bytes, modelled: frozenset[str]) -> bool:
    if any(not name.endswith((*SOURCES, ".bc", ".ll")) and _is_executable(name) for name in names):
        return True
    unknown = set(_core.unknown_names([program, ours])) - modelled
    if not unknown:
        return False
    from partita.frontends.musl import public_names

    return not public_names().isdisjoint(unknown)


def _is_executable(name: str) -> bool:
    with open(name, "rb") as file:
        return file.read(4) == b"\x7fELF"
