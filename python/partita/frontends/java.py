"""Java programs as parts of a Program: the user's classes first, then what they reach of the library."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from partita.errors import UsageError
from partita.frontends import cache, load_program

_SUFFIXES = (".java", ".class", ".jar")


def is_java(names: Sequence[str | os.PathLike[str]]) -> bool:
    """Is it a Java program? Folders are looked into; a mixture is an error."""
    found = [_is_java(Path(name)) for name in names]
    if any(found) and not all(found):
        wrong = os.fspath(names[found.index(False)])
        raise UsageError(f"expected Java files only beside `{os.fspath(names[found.index(True)])}`, found `{wrong}`")
    return any(found)


def _is_java(path: Path) -> bool:
    return path.suffix in _SUFFIXES or path.is_dir()


def check_arguments(arguments: Sequence[str]) -> None:
    """Arguments of a Java program are concrete and ASCII."""
    for word in arguments:
        if word.startswith("--sym-"):
            raise UsageError(
                f"expected concrete arguments of a Java program, found `{word}`: make inputs in the program"
            )
        if not word.isascii():
            raise UsageError(f"expected ASCII characters in an argument of a Java program, found `{word}`")


def load_java(
    names: Sequence[str | os.PathLike[str]],
    *,
    classpath: str | None,
    entry: str | None,
    symbolic_args: bool,
    string_length: int | None,
) -> tuple[bytes, list[bytes]]:
    """The serialised Program of the user's classes, and the libraries."""
    user, library, needs_mathematics = _lowered(
        [os.fspath(name) for name in names],
        classpath=classpath,
        entry=entry,
        symbolic_args=symbolic_args,
        string_length=string_length,
    )
    runtime = Path(__file__).resolve().parent.parent / "runtime" / "java"
    parts = [library, load_program(sorted(runtime.glob("*.c")), entry=None)]
    if needs_mathematics:
        parts.append(_mathematics())
    return user, parts


def _request(names: Sequence[str], classpath: str | None) -> list[object]:
    """Names of the files that classes can come from: a new one among them may change the program."""
    listed: list[object] = []
    for path in [Path(os.path.abspath(name)) for name in (*names, *(classpath or "").split(":")) if name]:
        folder = path if path.is_dir() else path.parent
        pattern = folder.rglob if path.is_dir() else folder.glob
        found = [str(each) for end in ("*.java", "*.class") for each in pattern(end)]
        listed.append([str(path), sorted(found)])
    return listed


def _lowered(names: list[str], *, classpath: str | None, **options: Any) -> tuple[bytes, bytes, bool]:
    """User's classes, library, and whether functions of mathematics are needed; cached while no file changes."""
    from partita.jvm.jdk import home, identity  # not needed for other programs

    package = Path(__file__).resolve().parent.parent
    sources = [*sorted(package.glob("jvm/**/*.py")), *sorted(package.glob("jvm/stubs/**/*.java"))]
    request = {
        "java": _request(names, classpath),
        "options": options,
        "jdk": identity(home()),
        "lowering": [cache.file_hash(str(file)) for file in (*sources, package / "llvm" / "write.py")],
    }
    user = cache.lookup(cache.key_of([request, "user"]))
    if user is not None:
        for needed in (False, True):
            library = cache.lookup(cache.key_of([request, "library", needed]))
            if library is not None:
                return user, library, needed
    from partita.jvm.frontend import lower_java  # not needed if the program is cached

    found = lower_java(names, classpath=classpath, **options)
    if not found.is_complete:
        # The missing class may appear in any folder.
        return found.user, found.library, found.needs_mathematics
    cache.save(cache.key_of([request, "library", found.needs_mathematics]), found.files, found.library)
    cache.save(cache.key_of([request, "user"]), found.files, found.user)
    return found.user, found.library, found.needs_mathematics


_FUNCTIONS = (
    "sin cos tan asin acos atan atan2 log log10 sinh cosh tanh expm1 log1p exp __sin __cos __tan __rem_pio2"
    " __rem_pio2_large __expo2 __math_divzero __math_invalid __math_oflow __math_uflow __math_xflow log_data exp_data"
    " scalbn"
).split()
"""Files of musl with functions of mathematics, and what they call."""


def _mathematics() -> bytes:
    """Functions of mathematics, compiled from musl's sources and cached."""
    from partita.toolchain import zig_dir

    root = zig_dir() / "lib" / "libc" / "musl"
    folders = "arch/x86_64 arch/generic src/include src/internal include".split()
    flags = ["-std=c99", "-ffreestanding", "-fno-builtin", "-O1", "-w", *(f"-I{root / name}" for name in folders)]
    return load_program([root / "src" / "math" / f"{name}.c" for name in _FUNCTIONS], cflags=flags, entry=None)
