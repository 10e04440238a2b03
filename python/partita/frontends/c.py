"""C to bitcode, through the clang inside the pinned ziglang wheel (`zig clang`, which is clang itself: `zig cc` turns
sanitizers on and loses its output when asked for dependencies), always against the wheel's musl headers."""

from __future__ import annotations

import importlib.util
import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from partita.errors import UsageError

_TARGET = "x86_64-linux-musl"
_LIBC_INCLUDES = ("x86_64-linux-musl", "generic-musl", "x86-linux-any", "any-linux-any")
# What -O0 means here: clang's plain output, without the mark that forbids passes, with line tables only (variables'
# debug records would be a third of the text and are not read).
_PLAIN = ("-O0", "-Xclang", "-disable-O0-optnone")
_OPTIMIZABLE = ("-O1", "-Xclang", "-disable-llvm-passes")
_COMMON = ("-gline-tables-only", "-fno-stack-protector", "-w", "-fno-color-diagnostics", "-emit-llvm", "-c")
_DEPENDENCY = re.compile(r"((?:\\.|\$\$|[^\s\\])+)")


class Compiled(NamedTuple):
    """The bitcode of one source file and the files it was made from."""

    path: str
    bitcode: bytes
    dependencies: tuple[str, ...]


def runtime_include() -> Path:
    """Where `klee/klee.h` and `partita.h` are; beside this package, both installed and in a source checkout."""
    return Path(__file__).resolve().parent.parent / "runtime" / "include"


def zig_dir() -> Path:
    spec = importlib.util.find_spec("ziglang")
    if spec is None or not spec.submodule_search_locations:
        raise UsageError("the C compiler is missing: expected the package `ziglang` (pip install ziglang==0.15.2)")
    return Path(spec.submodule_search_locations[0])


def libc_headers(zig: Path) -> list[Path]:
    """Where the public headers of the wheel's musl are."""
    return [zig / "lib" / "libc" / "include" / name for name in _LIBC_INCLUDES]


def compiler(clang: str | None) -> list[str]:
    """The compiler with its include directories. Another clang keeps its own built-in headers."""
    zig = zig_dir()
    headers = libc_headers(zig)
    if clang is None:
        command = [str(zig / "zig"), "clang", "-nostdinc"]
        headers.insert(0, zig / "lib" / "include")
    else:
        command = [clang, "-nostdlibinc"]
    command += ["-target", _TARGET]
    for directory in (runtime_include(), *headers):
        command += ["-isystem", str(directory)]
    return command


def compile_c(
    paths: Sequence[str], *, cflags: Sequence[str] = (), clang: str | None = None, optimize: bool = False
) -> list[Compiled]:
    """Compiles each file to bitcode. What the compiler complains about is raised as it printed it."""
    command = [*compiler(clang), *(_OPTIMIZABLE if optimize else _PLAIN), *_COMMON, *cflags]
    from concurrent.futures import ThreadPoolExecutor  # a warm cache never comes here

    with ThreadPoolExecutor(max_workers=max(1, min(len(paths), os.cpu_count() or 1))) as pool:
        return list(pool.map(lambda path: _compile(command, path), paths))


def _compile(command: list[str], path: str) -> Compiled:
    import subprocess
    import tempfile

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
            raise UsageError(text or f"the compiler ended with status {done.returncode} on `{path}` and said nothing")
        bitcode = Path(output).read_bytes()
        found = _dependencies(Path(rules).read_text("utf-8", "surrogateescape"))
    return Compiled(path, bitcode, tuple(os.path.abspath(name) for name in found))


def _dependencies(rules: str) -> list[str]:
    """The prerequisites of a rule in make's syntax."""
    _, _, names = rules.replace("\\\n", " ").partition(": ")
    found = _DEPENDENCY.findall(names)
    return [re.sub(r"\\(.)", r"\1", name).replace("$$", "$") for name in found]
