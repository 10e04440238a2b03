"""Run options for the command line and for `explore()`, from the table of the core (core/src/exec/options/table.rs)."""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any, Literal, NamedTuple

from partita import _core
from partita.errors import UsageError
from partita.search import BUILT_IN, Names

ENVIRONMENT = {"HOME": "/", "LC_ALL": "C", "PATH": "/usr/local/bin:/usr/bin:/bin", "TZ": "UTC0"}
"""Default environment variables of an explored program: few, and the same on every machine."""
PYTHON_DEFAULTS: dict[str, Any] = {"env": ENVIRONMENT, "layers": None, "store": None}
"""Defaults of `explore()` that are not those of the command: scripts keep no answers unless they name a store."""

_DASHED_KINDS = ("seconds", "bytes", "layers", "words")
_SHOWN_DEFAULTS = ("count", "choice", "search", "layers")


class Option(NamedTuple):
    """A row of the table."""

    name: str
    kind: str
    expected: str
    """The allowed values, as messages have them."""
    placeholders: list[str]
    choices: list[str]
    default: Any
    group: str
    surface: Literal["both", "command", "arguments"]
    about: str

    @property
    def flag(self) -> str:
        """Spelling on the command line."""
        return f"--no-{self.name}" if self.default is True else f"--{self.name}"

    @property
    def keyword(self) -> str:
        """Name of the parameter of `explore()`."""
        return self.name.replace("-", "_")

    @property
    def python_default(self) -> Any:
        return PYTHON_DEFAULTS.get(self.name, self.default)

    @property
    def help(self) -> str:
        text = self.about
        if words := BUILT_IN if self.kind == "search" else self.choices if self.kind == "names" else ():
            text += f": {', '.join(words)}"
        if self.kind in _SHOWN_DEFAULTS and self.default is not None:
            text += f" (default: {self.default})"
        return text.replace("%", "%%")


OPTIONS = tuple(Option(*row) for row in _core.OPTIONS)
BY_FLAG = {option.flag: option for option in OPTIONS}
KEYWORDS = {option.keyword: option for option in OPTIONS if option.surface == "both"}
DASHED_FLAGS = frozenset(option.flag for option in OPTIONS if option.kind in _DASHED_KINDS)
"""Options whose values may begin with a dash (`--layers "-reuse"`), which argparse would take for another option."""


def machine_memory() -> int:
    """Bytes of memory that the machine has."""
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")


def checked(given: Mapping[str, Any], words: Sequence[str]) -> _core.RunOptions:
    """The options of a run from the arguments of `explore()`. Raises UsageError for a wrong one."""
    try:
        return _core.RunOptions(dict(given), list(words), machine_memory(), (os.getuid(), os.getgid()))
    except ValueError as error:
        raise UsageError(str(error)) from None


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds all options to the parser of `partita run`, by groups."""
    for group, options in groupby(OPTIONS, key=lambda option: option.group):
        section = parser.add_argument_group(group)
        for option in options:
            _add(section, option)


def _add(section: argparse._ArgumentGroup, option: Option) -> None:
    common: dict[str, Any] = {"dest": option.keyword, "help": option.help}
    if option.kind == "flag":
        action = "store_false" if option.default is True else "store_true"
        section.add_argument(option.flag, action=action, **common)
        return
    placeholders = option.placeholders
    common |= {
        "action": _Parse,
        "default": option.default,
        "nargs": None if len(placeholders) == 1 else len(placeholders),
        "metavar": placeholders[0] if len(placeholders) == 1 else tuple(placeholders),
    }
    # Installed packages are searched for strategies only if the core does not have the name.
    choices = Names() if option.kind == "search" else _Choices(option.choices) if option.kind == "choice" else None
    section.add_argument(option.flag, choices=choices, **common)


class _Choices(list[str]):
    """Choices for help and completion. argparse does not check them: the core does, with a better message."""

    def __contains__(self, _value: object) -> bool:
        return True


class _Parse(argparse.Action):
    """Parses the values of an option as its row says."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: str | Sequence[Any] | None,
        option_string: str | None = None,
    ) -> None:
        words = [values] if isinstance(values, str) else list(values or ())
        flag = self.option_strings[0]
        option = BY_FLAG[flag]
        try:
            if option.kind == "contents":
                value: Any = Path(words[0]).read_bytes()
            else:
                value = words[0] if option.kind == "search" else _core.parse_option(option.name, flag, words)
        except OSError as error:
            parser.error(f"cannot read `{words[0]}` for {flag}: {error.strerror}")
        except ValueError as error:
            parser.error(str(error))
        # For options of the project's file, which apply unless the command line has another value.
        namespace.explicit = {*getattr(namespace, "explicit", ()), self.dest}
        if option.surface == "arguments":
            namespace.symbolic_arguments = [*getattr(namespace, "symbolic_arguments", ()), flag, *words]
        elif option.kind == "words" and self.dest in getattr(namespace, "repeated", ()):
            setattr(namespace, self.dest, [*getattr(namespace, self.dest), *value])
        elif option.kind == "variables":
            setattr(namespace, self.dest, {**(getattr(namespace, self.dest) or ENVIRONMENT), **value})
        else:
            setattr(namespace, self.dest, value)
        if option.kind == "words":
            # Given again, such an option adds to its first value.
            namespace.repeated = {*getattr(namespace, "repeated", ()), self.dest}


def keywords(arguments: argparse.Namespace) -> dict[str, Any]:
    """The arguments of `explore()` from those of the command."""
    found = {keyword: getattr(arguments, keyword) for keyword in KEYWORDS}
    return {**found, "env": found["env"] or ENVIRONMENT}


def type_of(name: str, flag: str) -> Callable[[str], Any]:
    """The type of a run option, for an option of another command."""

    def parse(text: str) -> Any:
        try:
            return _core.parse_option(name, flag, [text])
        except ValueError as error:
            raise argparse.ArgumentTypeError(str(error)) from None

    return parse
