"""`--project DIR`: sources and flags from a `compile_commands.json`, which CMake, Meson, Bear and others write.

The sources of a run are the file that defines the function to start and, as a linker would take them from a library,
files that define what those need. Each is compiled with the flags of its own command, without optimisation and
warnings.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from partita.cc.arguments import parse, split_words
from partita.cc.symbols import symbols
from partita.errors import UsageError
from partita.frontends.bitcode import defined_functions
from partita.frontends.c import SOURCES, compile_c

NAME = "compile_commands.json"
_LISTED = 5
# Options whose argument is a path, in the same word or the next one.
_PATHS = ("-isystem", "-iquote", "-idirafter", "-include", "-imacros", "--sysroot=", "-I")


class Source(str):
    """The path of a source that is compiled with flags of its own, after those of the run."""

    flags: tuple[str, ...] = ()

    @classmethod
    def of(cls, path: str, flags: Sequence[str]) -> Source:
        source = cls(path)
        source.flags = tuple(flags)
        return source


class Symbols(NamedTuple):
    """Names of a compiled file."""

    functions: frozenset[str]
    """Functions that it defines, static ones too."""
    visible: frozenset[str]
    """Functions and variables that other files can use."""
    needed: frozenset[str]


def flags_of(name: str) -> tuple[str, ...]:
    """The flags of a source's own; none for a plain path."""
    return name.flags if isinstance(name, Source) else ()


def read(folder: Path) -> dict[str, Source]:
    """The C sources of a project by absolute path. Of several commands for one file the first counts."""
    path = folder / NAME if folder.is_dir() else folder
    try:
        rows = json.loads(path.read_text())
        found: dict[str, Source] = {}
        for row in rows:
            base = row["directory"]
            file = os.path.normpath(os.path.join(base, row["file"]))
            words = row["arguments"] if "arguments" in row else split_words(row["command"])
            if file.endswith(SOURCES):
                found.setdefault(file, Source.of(file, [*_absolute(parse(words[1:]).bitcode_words(), base)]))
    except FileNotFoundError:
        raise UsageError(
            f"expected {NAME} in `{folder}`, found none: write it with `cmake -DCMAKE_EXPORT_COMPILE_COMMANDS=ON`, "
            "meson, or `bear -- make`"
        ) from None
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise UsageError(f"cannot read `{path}`: {type(error).__name__}: {error}") from None
    if not found:
        raise UsageError(f"expected C sources in `{path}`, found none")
    return found


def _absolute(words: Sequence[str], base: str) -> Iterator[str]:
    """The flags with paths that do not depend on the current folder."""
    follows = False
    for word in words:
        option = next((each for each in _PATHS if word.startswith(each)), None)
        if follows:
            yield os.path.normpath(os.path.join(base, word))
            follows = False
        elif option is not None and word != option:
            yield option + os.path.normpath(os.path.join(base, word.removeprefix(option)))
        else:
            yield word
            follows = option is not None


def select(
    folder: Path, names: Sequence[str], entry: str | None, *, cflags: Sequence[str] = (), clang: str | None = None
) -> list[Source]:
    """The sources of a run: the named ones, or the one that defines the entry; and what they need.

    Errors: `UsageError` if several files define the entry, or none does.
    """
    sources = read(folder)
    known = _all_symbols(list(sources.values()), cflags, clang)
    for name in names:
        if (path := _known(name, sources, folder)) not in known:
            compile_c([sources[path]], cflags=[*sources[path].flags, *cflags], clang=clang)  # raises its messages
    first = [_known(name, sources, folder) for name in names] or [_defining(entry or "main", known, folder)]
    return [sources[path] for path in _closure(first, known)]


def _known(name: str, sources: Mapping[str, Source], folder: Path) -> str:
    path = os.path.abspath(name)
    if path not in sources:
        raise UsageError(f"expected a source of the project `{folder}`, found `{name}`, which {NAME} does not have")
    return path


def _defining(entry: str, known: Mapping[str, Symbols], folder: Path) -> str:
    found = [path for path, each in known.items() if entry in each.functions]
    if not found:
        raise UsageError(f"expected a function `{entry}` in the sources of `{folder}`, found none: choose --entry FUNC")
    if len(found) > 1:
        listed = ", ".join(os.path.relpath(path) for path in found[:_LISTED])
        more = f" and {len(found) - _LISTED} more" if len(found) > _LISTED else ""
        raise UsageError(f"several files define `{entry}` ({listed}{more}): name one of them before --project")
    return found[0]


def _closure(first: Sequence[str], known: Mapping[str, Symbols]) -> list[str]:
    """The first files and those that define what they need, each name from the first file that has it."""
    chosen = list(first)
    visible = {name for path in chosen for name in known[path].visible}
    at = 0
    while at < len(chosen):
        for name in sorted(known[chosen[at]].needed - visible):
            # A file that would define a name for the second time cannot be linked, as of another program.
            others = (path for path, each in known.items() if name in each.visible and path not in chosen)
            path = next((path for path in others if visible.isdisjoint(known[path].visible)), None)
            if path is not None and name not in visible:
                chosen.append(path)
                visible |= known[path].visible
        at += 1
    return chosen


def _all_symbols(sources: Sequence[Source], cflags: Sequence[str], clang: str | None) -> dict[str, Symbols]:
    """The names of every source that compiles; the others belong to other machines or are generated later."""
    from concurrent.futures import ThreadPoolExecutor

    def compiled(source: Source) -> bytes | UsageError:
        try:
            return compile_c([source], cflags=[*source.flags, *cflags, "-femit-all-decls"], clang=clang)[0].bitcode
        except UsageError as error:
            return error

    with ThreadPoolExecutor(max_workers=os.cpu_count() or 1) as pool:
        results = dict(zip(sources, pool.map(compiled, sources), strict=True))
    found = {str(source): _symbols(source, data) for source, data in results.items() if isinstance(data, bytes)}
    if not found:
        raise next(error for error in results.values() if isinstance(error, UsageError))
    return found


def _symbols(source: Source, bitcode: bytes) -> Symbols:
    names = symbols(bitcode)
    return Symbols(frozenset(defined_functions([(source, bitcode)])), frozenset(names.defines), frozenset(names.needs))
