"""Whole programs: the libraries that a program is linked with."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Literal, NamedTuple

from partita import _core
from partita.errors import UsageError
from partita.frontends import load_program, shared_names
from partita.frontends.c import SOURCES
from partita.llvm.write import pointer_bytes

Libc = Literal["auto", "musl", "none"]

# Files of `runtime/lib` that programs with musl get too: functions that read bytes, with one decision per byte, without
# word reads and without tables; numbers from text; and functions of the compiler's own library.
_BESIDE_MUSL = ("classify.c", "complex.c", "ctype.c", "fenv.c", "numbers.c", "string.c")


# Functions and variables of <stdio.h> that the executor has models of. They share no state with musl's streams.
_PRINTING = (
    "printf vprintf fprintf vfprintf dprintf vdprintf sprintf vsprintf snprintf vsnprintf puts fputs putchar fputc putc"
    " fwrite perror fflush stdin stdout stderr"
).split()
# Other functions of <stdio.h> that a program may use beside the models: they use no stream.
_BESIDE_MODELS = frozenset("sscanf vsscanf __isoc99_sscanf __isoc99_vsscanf asprintf vasprintf remove rename".split())
# Functions that write to standard output beside <stdio.h>, or change where it goes.
_DESCRIPTORS = frozenset("write writev pwrite pwritev dup dup2 dup3 close closefrom fcntl sendfile splice".split())
# Formats that the models do not know.
_UNKNOWN_FORMAT = re.compile(rb"%[-+ #0-9.*']*(?:m|l[sc]|[CS]|[0-9]+\$|L[aAeEfFgG])")


class Linked(NamedTuple):
    """The C library of a program."""

    libc: str
    """`musl` or `none`."""
    why: str
    """The reason, in words."""
    parts: list[bytes]
    """The libraries."""
    absent: tuple[str, ...] = ()
    """Names that these do not define, because models of the executor serve."""


def libraries(
    program: bytes,
    names: Sequence[str],
    libc: Libc,
    needed: bool,
    modelled: frozenset[str] = frozenset(),
    models_print: bool = True,
) -> Linked:
    """The libraries that the program is linked with.

    `auto` is musl if the program uses a function that only musl has, if it was built with `partita cc`, or if the
    kernel model is `needed`; otherwise the functions of `runtime/lib` and the executor's models are enough. With musl,
    models print if the program uses no other streams, unless `models_print` is False. Functions in `modelled` are not
    required.
    """
    if libc == "none" and needed:
        raise UsageError("symbolic arguments, files and standard input need the C library: leave out `--libc none`")
    narrow = pointer_bytes(program) == 4
    ours = library(narrow)
    if libc == "none":
        return Linked("none", "as --libc says", [ours])
    why = "as --libc says" if libc == "musl" else _need_of_musl(program, names, ours, needed, modelled)
    if why is None:
        return Linked("none", "every function that the program uses is modelled", [ours])
    from partita.frontends.musl import musl, narrow_flags

    flags = ["-m32"] if narrow else []
    numbers = narrow_flags() if narrow else []
    posix = load_program(sorted((_runtime() / "posix").glob("*.c")), entry=None, cflags=[*flags, *numbers])
    # Numbers of 64 bits are made of those of `long`.
    beside = [name for name in _BESIDE_MUSL if not (narrow and name == "numbers.c")]
    parts = [posix, load_program([_runtime() / "lib" / name for name in beside], entry=None, cflags=flags)]
    # Functions that are started in turn get one library, of what all of them need.
    # The kernel model is reached from musl: all that it needs counts, not only what the program reaches without musl.
    undefined = _core.undefined_names([program, *parts]) + _core.undefined_names([posix]) + shared_names()
    parts.append(musl(undefined, narrow=narrow))
    if libc == "auto" and models_print and not narrow and _models_print(program, parts):
        return Linked("musl", f"{why}; models print, because it uses no other streams", parts, tuple(_PRINTING))
    return Linked("musl", why, parts)


def _models_print(program: bytes, parts: list[bytes]) -> bool:
    """Whether the models of <stdio.h> can stand for musl's: nothing else uses standard output or a stream."""
    from partita.frontends.musl import stdio_names

    used = set(_core.unknown_names([program]))
    others = (stdio_names() - set(_PRINTING) - _BESIDE_MODELS) | _DESCRIPTORS
    if not used.isdisjoint(others) or _UNKNOWN_FORMAT.search(program):
        return False
    linked, missing = _core.linked_names([program, *parts], _PRINTING)
    # `write` has a model too, and is not unknown: it is linked if the program uses it.
    return set(missing).isdisjoint(_PRINTING) and set(linked).isdisjoint(("write", "fopen", "__fdopen", "__ofl_add"))


def library(narrow: bool = False) -> bytes:
    """Our own functions of the C library (`runtime/lib`), compiled and cached; `narrow` for 32-bit programs."""
    return load_program(sorted((_runtime() / "lib").glob("*.c")), entry=None, cflags=["-m32"] if narrow else [])


def _runtime() -> Path:
    return Path(__file__).resolve().parent / "runtime"


def _need_of_musl(
    program: bytes, names: Sequence[str], ours: bytes, needed: bool, modelled: frozenset[str]
) -> str | None:
    """The reason why a program needs musl; None if it does not."""
    if any(not name.endswith((*SOURCES, ".bc", ".ll")) and _is_executable(name) for name in names):
        return "it was built with `partita cc`"
    if needed:
        return "arguments, files or standard input are symbolic or given"
    unknown = set(_core.unknown_names([program, ours])) - modelled
    if not unknown:
        return None
    from partita.frontends.musl import public_names

    found = sorted(public_names().intersection(unknown))
    if not found:
        return None
    more = f" and {len(found) - 3} more" if len(found) > 3 else ""
    return f"it uses {', '.join(f'`{name}`' for name in found[:3])}{more}"


def _is_executable(name: str) -> bool:
    with open(name, "rb") as file:
        return file.read(4) == b"\x7fELF"
