"""Options of a project, which `partita run` alone repeats: `partita.toml`, or `[tool.partita]` in pyproject.toml.

Keys are the names of options without dashes in front, and `program` and `arguments`. What the command line has
counts more. Paths are relative to the folder of the file, where the run starts.
"""

from __future__ import annotations

import argparse
import difflib
import importlib
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from partita.errors import UsageError
from partita.options import OPTIONS, Option

OWN_FILE = "partita.toml"
SHARED_FILE = "pyproject.toml"
_BY_NAME = {option.name: option for option in OPTIONS}
_SEPARATORS = {"names": ",", "layers": " "}


class ProjectFile(NamedTuple):
    path: Path
    words: list[str]
    """Command line of the options and the program."""
    arguments: list[str]
    """Arguments of the program."""


def find(start: Path) -> ProjectFile | None:
    """The options of the nearest project file, here or above; None without one."""
    for folder in (start, *start.parents):
        for name in (OWN_FILE, SHARED_FILE):
            path = folder / name
            if path.is_file():
                data = _read(path)
                table = data if name == OWN_FILE else data.get("tool", {}).get("partita")
                if table is not None:
                    return _converted(path, table)
    return None


def _read(path: Path) -> dict[str, Any]:
    if sys.version_info < (3, 11):
        raise UsageError(f"`{path}` needs Python 3.11 or newer to be read: give the program on the command line")
    # By name: for the type checker the oldest version of Python counts, which does not have it.
    tomllib = importlib.import_module("tomllib")
    try:
        found: dict[str, Any] = tomllib.loads(path.read_text())
        return found
    except (OSError, ValueError) as error:
        raise UsageError(f"cannot read `{path}`: {error}") from None


def _converted(path: Path, table: Mapping[str, Any]) -> ProjectFile:
    words: list[str] = []
    program: list[str] = []
    arguments: list[str] = []
    for key, value in table.items():
        if key in ("program", "arguments"):
            texts = [value] if isinstance(value, str) else value
            if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
                raise UsageError(f"expected `{key}` in `{path}` to be a string or a list of strings, found {value!r}")
            (program if key == "program" else arguments).extend(texts)
            continue
        option = _BY_NAME.get(key)
        if option is None:
            raise UsageError(_unknown(path, key))
        words += _words(path, option, value)
    return ProjectFile(path, [*words, *program], arguments)


def _unknown(path: Path, key: str) -> str:
    near = difflib.get_close_matches(key, ["program", "arguments", *_BY_NAME], n=1)
    hint = f": did you mean `{near[0]}`?" if near else ": see `partita run --help`"
    return f"expected the name of an option in `{path}`, found `{key}`{hint}"


def _words(path: Path, option: Option, value: Any) -> list[str]:
    """An option as the command line has it. The parser checks the value itself."""
    if option.kind == "flag":
        if not isinstance(value, bool):
            raise UsageError(f"expected `{option.name}` in `{path}` to be true or false, found {value!r}")
        return [] if value is option.default else [option.flag]
    if isinstance(value, Mapping):
        if option.kind != "variables":
            raise UsageError(f"expected `{option.name}` in `{path}` to be {option.expected}, found a table")
        return [f"{option.flag}={name}={text}" for name, text in value.items()]
    if isinstance(value, bool) or not isinstance(value, str | int | float | list):
        raise UsageError(f"expected `{option.name}` in `{path}` to be {option.expected}, found {value!r}")
    if not isinstance(value, list):
        return [f"{option.flag}={value}"]
    texts = [str(each) for each in value]
    if len(option.placeholders) > 1:
        return [option.flag, *texts]
    if option.kind == "words":
        if any(len(text.split()) != 1 for text in texts):
            raise UsageError(f"expected words without blanks for `{option.name}` in `{path}`, found {value!r}")
        return [f"{option.flag}={' '.join(texts)}"]
    return [f"{option.flag}={_SEPARATORS.get(option.kind, ' ').join(texts)}"]


def merged(given: argparse.Namespace, parse: Callable[[list[str]], argparse.Namespace], file: ProjectFile) -> None:
    """Fills what the command line `given` does not say from the file."""
    merge(given, parse(["run", *file.words]), file.arguments)


def merge(given: argparse.Namespace, found: argparse.Namespace, arguments: list[str]) -> None:
    """Fills what the command line `given` does not say from another one, whose program has these arguments."""
    explicit: set[str] = getattr(given, "explicit", set())
    given.program = found.program
    given.program_arguments = given.program_arguments or arguments
    for option in OPTIONS:
        if option.surface == "arguments":
            continue
        here, there = getattr(given, option.keyword), getattr(found, option.keyword)
        if option.kind == "variables":
            setattr(given, option.keyword, {**(there or {}), **(here or {})} or None)
        elif option.keyword not in explicit and here == option.default:
            setattr(given, option.keyword, there)
    if not hasattr(given, "symbolic_arguments") and hasattr(found, "symbolic_arguments"):
        given.symbolic_arguments = found.symbolic_arguments
