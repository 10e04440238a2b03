"""Turns C, C++ and Rust sources, bitcode, LLVM text and executables of `partita cc` into a serialised Program."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TypedDict

from partita.errors import UsageError
from partita.frontends import cache as program_cache
from partita.frontends import cpp, rust
from partita.frontends.bitcode import declared_names, defined_functions, guarded_module_text, is_bitcode, module_text
from partita.frontends.c import SOURCES, Compiled, compile_c
from partita.frontends.compile_commands import flags_of
from partita.frontends.executable import bitcode_of, is_executable, without_bitcode
from partita.frontends.targets import Targets
from partita.toolchain import SCOPES, compiler

__all__ = ["function_names", "load_program", "module_for_types", "sharing_sources", "without_bitcode"]


_shared: dict[tuple[object, ...], list[Compiled]] | None = None
"""Compiled sources, while several programs are made from the same ones."""


_names: dict[bytes, list[str]] = {}
"""Names that shared bitcode declares."""


@contextlib.contextmanager
def sharing_sources() -> Iterator[None]:
    """Compiles each source once with the same flags; sources must not change meanwhile."""
    global _shared
    _shared = {}
    try:
        yield
    finally:
        _shared = None
        _names.clear()


class _Given(TypedDict):
    """The caller's choices about compiling."""

    optimize: bool
    cflags: Sequence[str]
    clang: str | None
    in_memory: bool


def shared_names() -> list[str]:
    """The names that sources declare whose functions are started in turn; none otherwise."""
    found: set[str] = set()
    for each in (each for group in (_shared or {}).values() for each in group):
        if each.bitcode not in _names:
            _names[each.bitcode] = declared_names(each.bitcode)
        found.update(_names[each.bitcode])
    return sorted(found)


def _compile(group: Sequence[str], *, cflags: Sequence[str], clang: str | None, optimize: bool) -> list[Compiled]:
    key = (tuple(group), tuple(cflags), clang, optimize)
    if _shared is None:
        return compile_c(group, cflags=cflags, clang=clang, optimize=optimize)
    if key not in _shared:
        _shared[key] = compile_c(group, cflags=cflags, clang=clang, optimize=optimize)
    return _shared[key]


def _user_flags(cflags: Sequence[str], entry: str | None) -> Sequence[str]:
    """Flags for a program. Libraries, which have no entry, do not need the blocks of their variables."""
    return cflags if entry is None else [*SCOPES, *cflags]


def load_program(
    paths: Sequence[str | os.PathLike[str]],
    *,
    optimize: bool = False,
    cflags: Sequence[str] = (),
    clang: str | None = None,
    cache: bool = True,
    entry: str | None = "main",
    keep: Sequence[str] = (),
    targets: Targets | None = None,
    in_memory: bool = False,
) -> bytes:
    """The serialised Program of sources, bitcode (`.bc`), LLVM text (`.ll`) and executables, linked together.

    `optimize` runs LLVM's -O2 passes without vectorisation; otherwise values are only promoted to registers,
    or not even that with `in_memory`.
    `entry` is the function that exploration starts from, which then calls nothing that is not reached from it or from
    a function in `keep`; None keeps all definitions, as for a library. A program with `targets` is not cached.
    """
    names = [os.fspath(path) for path in paths]
    if not names:
        raise UsageError("expected at least one program file (.c, .cpp, .rs, .bc, .ll or an executable), found none")
    sources = [name for name in names if name.endswith(SOURCES)]
    in_rust = any(name.endswith(rust.RUST_SOURCES) for name in names)
    contents = {name: _read(name) for name in names}
    key = ""
    cache = cache and not targets
    if cache:
        key = program_cache.key_of(
            {
                "paths": [os.path.abspath(name) for name in names],
                "folder": os.getcwd() if sources or in_rust else "",
                "flags": [optimize, in_memory, list(cflags), entry, list(keep), [flags_of(name) for name in sources]],
                "compiler": _compiler_identity(clang) if sources else "",
                "rust": rust.identity() if in_rust else "",
                "lowering": program_cache.lowering_identity(),
            }
        )
        found = program_cache.lookup(key)
        if found is not None:
            return found
    # Time for libraries does not count for `max_time`: it is spent once.
    with program_cache.filling() if entry is None else contextlib.nullcontext():
        cflags = _user_flags(cflags, entry)
        given: _Given = {"optimize": optimize, "cflags": cflags, "clang": clang, "in_memory": in_memory}
        text, files = _module(names, contents, entry=entry, keep=keep, **given)
        from partita.llvm import lower  # not needed if the program is cached

        if targets:
            text = targets.insert(text)
            if not all(targets.has_code):
                targets.check(_module(names, contents, entry=None, keep=(), **given)[0])
        program = lower(text, library=(*cpp.library_folders(), *rust.library_folders()))
        if cache:
            program_cache.save(key, files, program)
    return program


def module_for_types(names: Sequence[str], *, cflags: Sequence[str] = (), clang: str | None = None) -> str:
    """The text of all definitions, with the debug information of types if they are compiled here."""
    contents = {name: _read(name) for name in names}
    flags = [*cflags, "-g"]
    return _module(names, contents, optimize=False, cflags=flags, clang=clang, entry=None, keep=())[0]


def module_with_variables(
    names: Sequence[str],
    *,
    optimize: bool = False,
    cflags: Sequence[str] = (),
    clang: str | None = None,
    entry: str | None = "main",
    keep: Sequence[str] = (),
    in_memory: bool = False,
) -> str:
    """The text of the module that `load_program` lowers, with the debug information of variables."""
    contents = {name: _read(name) for name in names}
    flags = [*_user_flags(cflags, entry), "-g"]
    given: _Given = {"optimize": optimize, "cflags": flags, "clang": clang, "in_memory": in_memory}
    return _module(names, contents, entry=entry, keep=keep, **given)[0]


def function_names(names: Sequence[str], *, cflags: Sequence[str] = (), clang: str | None = None) -> list[str]:
    """The functions that the files define, in their order."""
    contents = {name: _read(name) for name in names}
    inputs, _ = _bitcode(names, contents, optimize=False, cflags=cflags, clang=clang)
    if not _are_sources(names):
        guarded_module_text(inputs, entry=None)  # ends with a message where LLVM would end the process
    return defined_functions(inputs)


def _are_sources(names: Sequence[str]) -> bool:
    """Are all files compiled here? LLVM is known to read what our own compiler writes."""
    return all(name.endswith(SOURCES) for name in names)


def _bitcode(
    names: Sequence[str],
    contents: dict[str, bytes],
    *,
    optimize: bool,
    cflags: Sequence[str],
    clang: str | None,
) -> tuple[list[tuple[str, bytes]], list[str]]:
    """The bitcode of each file, and all files it was made from."""
    sources = [name for name in names if name.endswith(SOURCES)]
    groups: dict[tuple[str, ...], list[str]] = {}
    for name in sources:
        groups.setdefault(flags_of(name), []).append(name)
    compiled = {
        each.path: each
        for own, group in groups.items()
        for each in _compile(group, cflags=[*own, *cflags], clang=clang, optimize=optimize)
    }
    inputs: list[tuple[str, bytes]] = []
    for name in names:
        if name.endswith(rust.RUST_SOURCES):
            inputs.append((name, rust.compile_rust(name, [flag for flag in cflags if flag not in (*SCOPES, "-g")])))
        elif name in compiled:
            inputs.append((name, compiled[name].bitcode))
        elif is_executable(contents[name]):
            inputs += bitcode_of(name, contents[name])
        else:
            inputs.append((name, contents[name]))
    files = {os.path.abspath(name) for name in names}
    files.update(path for c in compiled.values() for path in c.dependencies)
    return inputs, sorted(files)


def _module(
    names: Sequence[str],
    contents: dict[str, bytes],
    *,
    optimize: bool,
    cflags: Sequence[str],
    clang: str | None,
    entry: str | None,
    keep: Sequence[str],
    in_memory: bool = False,
) -> tuple[str, list[str]]:
    """The text of one module, and the files it was made from."""
    inputs, files = _bitcode(names, contents, optimize=optimize, cflags=cflags, clang=clang)
    if entry is not None and (libraries := cpp.libraries([data for _, data in inputs])):
        inputs += libraries
        keep = [*keep, *cpp.ENTRIES]
    read = module_text if _are_sources(names) else guarded_module_text
    text = read(inputs, entry=entry, keep=keep, optimize=optimize, in_memory=in_memory)
    if any(rust.is_rust(data) for _, data in inputs):
        text = rust.with_panics(text)
    return text, files


def _read(name: str) -> bytes:
    try:
        data = Path(name).read_bytes()
    except OSError as error:
        raise UsageError(f"cannot read `{name}`: {error.strerror}") from None
    if (
        not name.endswith((*SOURCES, *rust.RUST_SOURCES, ".bc", ".ll"))
        and not is_bitcode(data)
        and not is_executable(data)
    ):
        expected = (
            "a source in C (.c, .i), C++ (.cpp, .cc, .cxx) or Rust (.rs), bitcode (.bc), LLVM text (.ll) or an"
            " executable"
        )
        raise UsageError(f"expected {expected}, found `{name}`")
    if name.endswith(".bc") and not is_bitcode(data):
        raise UsageError(f"expected LLVM bitcode in `{name}`, found something else: compile with `-emit-llvm -c`")
    return data


def _compiler_identity(clang: str | None) -> list[object]:
    """The command and the size and time of its file, to distinguish versions with the same name."""
    command = compiler(clang)
    try:
        status = os.stat(command[0])
    except OSError:
        return [command]
    return [command, status.st_size, status.st_mtime_ns]
