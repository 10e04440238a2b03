"""Exploring from any function: `partita run lib.c --entry FUNC`, and from fuzz targets.

A driver in C (`driver.py`) makes the parameters symbolic and calls the function. It is a library to the program, so
that coverage and places of bugs are those of the program's own code.
"""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from partita.entry import assumptions, graph
from partita.entry.debug_info import DebugInfo, Scalar, Signature, Type
from partita.entry.driver import FUZZ_INITIALIZER, FUZZ_TARGET, Bounds, write_driver, write_fuzz_driver
from partita.errors import NoEntryError, UsageError
from partita.frontends import function_names, load_program, module_for_types
from partita.frontends.c import C_SOURCES
from partita.frontends.targets import Targets
from partita.llvm.write import pointer_bytes

__all__ = ["FUZZ_TARGET", "Entry", "bounds_of", "load_from"]

_SIZES = re.compile(r"(\d+)\.\.(\d+)")
_LISTED = 8
_LARGEST_SIZE = 1 << 16


class Entry(NamedTuple):
    """A function with its driver."""

    function: str
    program: bytes
    driver: bytes
    """The lowered driver."""
    source: str
    """The driver's C text, for replay."""
    file: str
    """The source file that defines the function; empty if it is not known."""
    signature: Signature | None
    bounds: Bounds

    def assumptions(
        self, inputs: Sequence[tuple[str, bytes]], conditions: Sequence[str], deadline: float | None = None
    ) -> assumptions.Assumptions | None:
        """Conditions on what the caller passes for a bug with these inputs; None if they are not known."""
        if self.signature is None or self.function == FUZZ_TARGET:
            return None
        return assumptions.find(self.signature, self.bounds, inputs, conditions, deadline)

    def object_of(self, name: str, inputs: Sequence[tuple[str, bytes]]) -> tuple[str, Type | None, int, int] | None:
        """The object of an input: the pointer that it was made for, type and number of its elements, and how many of
        them the pointer does not see."""
        if self.signature is None or self.function == FUZZ_TARGET:
            return None
        return graph.object_of(self.signature, self.bounds, inputs, name)

    def described(self, inputs: Sequence[tuple[str, bytes]]) -> tuple[str, ...]:
        """The inputs of a test as C would write them; empty for a fuzz target, whose input is bytes."""
        if self.signature is None or self.function == FUZZ_TARGET:
            return ()
        return tuple(graph.lines(self.signature, self.bounds, inputs))


def bounds_of(length: int, elements: int, objects: int, sizes: str) -> Bounds:
    """The limits of inputs from the options of a run."""
    found = _SIZES.fullmatch(sizes)
    if found is None or not int(found[1]) <= int(found[2]) <= _LARGEST_SIZE:
        raise UsageError(f"expected --sym-size to be MIN..MAX with MIN <= MAX <= {_LARGEST_SIZE}, found `{sizes}`")
    return Bounds(length, elements, objects, (int(found[1]), int(found[2])))


def load_from(
    names: Sequence[str],
    function: str | None,
    bounds: Bounds,
    assumption: str | None,
    *,
    optimize: bool = False,
    cflags: Sequence[str] = (),
    clang: str | None = None,
    targets: Targets | None = None,
    in_memory: bool = False,
) -> tuple[bytes, Entry | None]:
    """Compiles a program to start at a function. Without a name that is `main`, or else a fuzz target."""
    entry: Entry | None = None
    flags: dict[str, Any] = {"optimize": optimize, "cflags": cflags, "clang": clang, "targets": targets}
    flags["in_memory"] = in_memory
    if function is None or function == "main":
        try:
            program = load_program(names, **flags)
        except NoEntryError:
            if function is not None:
                raise
            function = choose_entry(names, cflags=cflags, clang=clang)
    if function is not None and function != "main":
        entry = load_entry(names, function, bounds, assumption, **flags)
        program = entry.program
    if assumption is not None and (entry is None or entry.function == FUZZ_TARGET):
        raise UsageError("--assume is about the parameters of --entry FUNC, and no function with parameters is started")
    return program, entry


def choose_entry(names: Sequence[str], *, cflags: Sequence[str] = (), clang: str | None = None) -> str:
    """The function to start from in a program without `main`: a fuzz target.

    Errors: `UsageError` that says what can be started.
    """
    defined = function_names(names, cflags=cflags, clang=clang)
    if FUZZ_TARGET in defined:
        return FUZZ_TARGET
    raise UsageError(_what_can_be_started(names, defined))


def _what_can_be_started(names: Sequence[str], defined: Sequence[str]) -> str:
    if not defined:
        return "expected a program with a function `main`, found no function at all: give the file that defines it"
    shown = ", ".join(defined[:_LISTED]) + (f" and {len(defined) - _LISTED} more" if len(defined) > _LISTED else "")
    return (
        f"expected a program with a function `main`, found {shown}:\n"
        f"  start one of them with symbolic parameters: partita run {' '.join(names)} --entry {defined[0]}\n"
        f"  or all of them in turn: partita run {' '.join(names)} --entry all"
    )


def functions_of(names: Sequence[str], *, cflags: Sequence[str] = (), clang: str | None = None) -> list[str]:
    """The functions that these files define, in the order of their lines; `main` and fuzz targets first.

    Functions of headers are left out, if the files are sources; but a library may be one header that a source includes.
    """
    info = DebugInfo(module_for_types(names, cflags=[*cflags, "-femit-all-decls"], clang=clang))
    sources = {os.path.abspath(name) for name in names if name.endswith(C_SOURCES)}
    defined = list(info.functions())
    found = [each for each in defined if not sources or os.path.abspath(each.file) in sources]
    folders = {os.path.dirname(source) for source in sources}
    found = found or [each for each in defined if os.path.dirname(os.path.abspath(each.file)) in folders]
    first = ("main", FUZZ_TARGET)
    found = [each for each in found if each.name != FUZZ_INITIALIZER]
    return [each.name for each in sorted(found, key=lambda each: (each.name not in first, each.file, each.line))]


def load_entry(
    names: Sequence[str],
    function: str,
    bounds: Bounds,
    assumption: str | None,
    *,
    optimize: bool = False,
    cflags: Sequence[str] = (),
    clang: str | None = None,
    targets: Targets | None = None,
    in_memory: bool = False,
) -> Entry:
    """Compiles the program for starting at this function, and its driver."""
    cflags = [*cflags, "-femit-all-decls"]  # static functions that nothing calls
    text = module_for_types(names, cflags=cflags, clang=clang)
    info = DebugInfo(text)
    signature = info.function(function)
    if function == FUZZ_TARGET:
        source = write_fuzz_driver(info.function(FUZZ_INITIALIZER) is not None, bounds)
    else:
        if signature is None:
            raise UsageError(_unknown(function, [each.name for each in info.functions()], names))
        for each in signature.parameters:
            if isinstance(each.type, Scalar) and each.type.encoding == "bytes":
                raise UsageError(
                    f"expected parameters with types of C for --entry, found `{each.name}` of `{function}`,"
                    f" which is {each.type.name}: start it from a function of your own"
                )
        source = write_driver(signature, bounds, [assumption] if assumption else [])
    keep = [FUZZ_INITIALIZER] if function == FUZZ_TARGET else []
    flags: dict[str, Any] = {"optimize": optimize, "cflags": cflags, "clang": clang, "targets": targets}
    program = load_program(names, entry=function, keep=keep, in_memory=in_memory, **flags)
    file = "" if signature is None else signature.file
    return Entry(
        function, program, _compiled(source, assumption, pointer_bytes(program) == 4), source, file, signature, bounds
    )


def _unknown(function: str, found: Iterable[str], names: Sequence[str]) -> str:
    defined = sorted(found)
    if not defined:
        return f"`{' '.join(names)}` has no debug information, which --entry needs: compile with -g"
    shown = ", ".join(defined[:_LISTED]) + (", ..." if len(defined) > _LISTED else "")
    return f"expected --entry to be a function of the program, found `{function}`: it defines {shown}"


def _compiled(source: str, assumption: str | None, narrow: bool) -> bytes:
    target = ["-m32"] if narrow else []
    with tempfile.TemporaryDirectory(prefix="partita-entry-") as folder:
        path = os.path.join(folder, "driver.c")
        Path(path).write_text(source)
        try:
            return load_program([path], entry=None, cache=False, cflags=[f"-ffile-prefix-map={folder}/=", *target])
        except UsageError as error:
            if assumption:
                raise UsageError(f"--assume `{assumption}` does not compile:\n{error}") from None
            raise
