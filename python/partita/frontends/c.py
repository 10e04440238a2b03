"""C and C++ to bitcode, with the pinned compiler (`toolchain.py`) or another clang."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from partita.errors import UsageError
from partita.toolchain import CPP_STANDARD, PLAIN, TO_BITCODE, compiler

C_SOURCES = (".c", ".i")
CPP_SOURCES = (".cc", ".cpp", ".cxx", ".c++", ".cp", ".C", ".CPP", ".ii")
SOURCES = (*C_SOURCES, *CPP_SOURCES)
_PREPROCESSED = (".i", ".ii")
_OPTIMIZABLE = ("-O1", "-Xclang", "-disable-llvm-passes")
_DEPENDENCY = re.compile(r"((?:\\.|\$\$|[^\s\\])+)")


class Compiled(NamedTuple):
    """The bitcode of one source file, and the files it depends on."""

    path: str
    bitcode: bytes
    dependencies: tuple[str, ...]


def compile_c(
    paths: Sequence[str], *, cflags: Sequence[str] = (), clang: str | None = None, optimize: bool = False
) -> list[Compiled]:
    """Compiles each file to bitcode.

    Errors: `UsageError` with the compiler's messages as printed.
    """
    words = [*(_OPTIMIZABLE if optimize else PLAIN), *TO_BITCODE, *cflags]

    def command(path: str) -> list[str]:
        if path.endswith(CPP_SOURCES):
            return [*compiler(clang, cpp=True), CPP_STANDARD, *words]
        return [*compiler(clang), *words]

    from concurrent.futures import ThreadPoolExecutor  # not needed if the program is cached

    with ThreadPoolExecutor(max_workers=max(1, min(len(paths), os.cpu_count() or 1))) as pool:
        return list(pool.map(lambda path: _compile(command(path), path), paths))


def _compile(command: list[str], path: str) -> Compiled:
    import subprocess
    import tempfile

    preprocessed = path.endswith(_PREPROCESSED)
    if preprocessed:
        # Clang would expand its predefined macros again.
        command = [*command, "-undef"]
    with tempfile.TemporaryDirectory(prefix="partita-") as folder:
        output, rules = os.path.join(folder, "out.bc"), os.path.join(folder, "out.d")
        try:
            done = subprocess.run(
                [*command, "-MD", "-MF", rules, "-o", output, "--", path], capture_output=True, check=False
            )
        except OSError as error:
            raise UsageError(f"cannot run the compiler `{command[0]}`: {error.strerror}; check --clang") from None
        if done.returncode != 0 or not os.path.exists(output):
            text = done.stderr.decode("utf-8", "replace").rstrip()
            raise UsageError(text or f"the compiler ended with status {done.returncode} on `{path}` without a message")
        bitcode = Path(output).read_bytes()
        # A preprocessed source depends on nothing else, and has no rules.
        found = [path] if preprocessed else _dependencies(Path(rules).read_text("utf-8", "surrogateescape"))
    return Compiled(path, bitcode, tuple(os.path.abspath(name) for name in found))


def _dependencies(rules: str) -> list[str]:
    """The prerequisites of a rule in make's syntax."""
    _, _, names = rules.replace("\\\n", " ").partition(": ")
    found = _DEPENDENCY.findall(names)
    return [re.sub(r"\\(.)", r"\1", name).replace("$$", "$") for name in found]
