"""Rust to bitcode: sources through the machine's `rustc`, and what panics need in the bitcode of any Rust program.

`rustc -C lto=fat` links the standard library's own bitcode, which comes with the toolchain: everything is executed,
down to calls of the C library, which is musl here. A panic is a bug: calls are inserted where one begins and where it
would unwind or end the process (`runtime/posix/panic.c`), so that it is the same with `panic=abort` and `panic=unwind`.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

from partita.errors import UsageError
from partita.frontends import cache
from partita.toolchain import how_it_ended, runtime_include

RUST_SOURCES = (".rs",)
_MARK = b"rust_begin_unwind"
_DEFINE = re.compile(r"^define [^\n]*?@(?:\"([^\"]+)\"|([\w.$-]+))\(")
# The first is never inlined; programs without `core`'s formatting reach one of the others.
_BEGINS = re.compile(
    r"4core9panicking\d+panic_(?:nounwind_)?fmt|(?:^|\d)rust_begin_unwind$|3std9panicking\d+(?:rust_)?panic_with_hook"
)
_ENDS = re.compile(r"(?:^|\d)rust_panic$")
# Line tables, overflow checks and no optimisation, as in a debug build.
_FLAGS = ("-g", "-C", "panic=abort", "-C", "codegen-units=1", "--edition=2021")
_CRATE = "partita"


def library_folders() -> tuple[str, ...]:
    """The folders of the standard library, as its debug information names them, and of the crate `partita`."""
    return ("/rustc/", "/rust/deps/", str(_crate_source().parent))


def is_rust(bitcode: bytes) -> bool:
    """Is it the bitcode of a Rust program, with the standard library?"""
    return _MARK in bitcode


def with_panics(text: str) -> str:
    """The module with the calls that panics need."""
    lines: list[str] = []
    inserted = ""
    for line in text.splitlines():
        if start := _DEFINE.match(line):
            name = start[1] or start[2]
            inserted = "begins" if _BEGINS.search(name) else "ends" if _ENDS.search(name) else ""
        elif inserted and line.startswith("  ") and " alloca " not in line and not line.startswith("    #dbg"):
            lines.append(f"  call void @__partita_panic_{inserted}()")
            inserted = ""
        lines.append(line)
    lines += ["declare void @__partita_panic_begins()", "declare void @__partita_panic_ends()", ""]
    return re.sub(r"@abort\b", "@__partita_panic_abort", "\n".join(lines))


def rustc() -> str:
    """The compiler.

    Errors: `UsageError` if it is not on PATH.
    """
    found = shutil.which("rustc")
    if found is None:
        raise UsageError(
            "expected `rustc` on PATH to compile Rust, found none: install Rust, or give bitcode of"
            " `rustc -g -C lto=fat -C panic=abort --emit=llvm-bc,link`"
        )
    return found


def compile_rust(path: str, flags: Sequence[str] = ()) -> bytes:
    """The bitcode of a program with the standard library. The crate `partita` can be used in it."""
    with tempfile.TemporaryDirectory(prefix="partita-rust-") as folder:
        library = _crate(Path(folder), ["--cfg", "partita"])
        output = Path(folder) / "out.bc"
        # Linking is what makes rustc collect all bitcode; the executable is not needed.
        linker = shutil.which("true") or "true"
        words = ["-C", "lto=fat", "-C", f"linker={linker}", "--emit", f"llvm-bc={output},link={folder}/out"]
        _run([rustc(), *_FLAGS, *words, *_extern(library), *flags, os.path.abspath(path)])
        return output.read_bytes()


def compile_native(path: str, output: Path, flags: Sequence[str] = ()) -> None:
    """The program as an executable that takes the values of its inputs from a test."""
    library = _crate(output.parent, [])
    _run([rustc(), *_FLAGS, *_extern(library), *flags, "-o", str(output), os.path.abspath(path)])


def identity() -> list[str]:
    """Identity of what bitcode is made with, beside its source: the compiler and the crate."""
    done = subprocess.run([rustc(), "--version", "--verbose"], capture_output=True, text=True, check=False)
    return [done.stdout, " ".join(_FLAGS), cache.file_hash(str(_crate_source())) or ""]


def _crate_source() -> Path:
    return runtime_include().parent / "rust" / "partita.rs"


def _crate(folder: Path, flags: Sequence[str]) -> Path:
    """The crate `partita`, compiled."""
    output = folder / f"lib{_CRATE}.rlib"
    words = ["--crate-type=rlib", f"--crate-name={_CRATE}", "-C", "embed-bitcode=yes", "-o", str(output)]
    _run([rustc(), *_FLAGS, *words, *flags, str(_crate_source())])
    return output


def _extern(library: Path) -> list[str]:
    return ["--extern", f"{_CRATE}={library}"]


def _run(command: Sequence[str]) -> None:
    done = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)
    if done.returncode != 0:
        raise UsageError(done.stderr.rstrip() or f"`{command[0]}` {how_it_ended(done.returncode)}, without a message")
