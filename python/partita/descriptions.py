"""Bugs of a run described by debug information: names of variables, inputs by their types, values at the bug."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Sequence
from dataclasses import replace

from partita.entry import Entry
from partita.errors import UsageError
from partita.findings import source_lines
from partita.repetition import Found, Repetition
from partita.results import Bug
from partita.variables import (
    Variable,
    Variables,
    is_number,
    is_text,
    member_at,
    misleads,
    named,
    named_input,
    value_of,
)

_ANY_OFFSET = " at a symbolic offset can leave "
_OFFSET = re.compile(r" at offset (-?\d+) of ")
_AT = re.compile(r" at `([^`]+)` of ")
VALUES_SHARE, MIN_VALUES_S = 0.1, 5.0
"""Time for the values of variables at bugs, as a share of `max_time`, and its least value in seconds for runs that no
limit ended."""


class Descriptions:
    """Describes bugs. The program is compiled with debug information of variables when the first bug needs it."""

    def __init__(self) -> None:
        self.compile: Callable[[], str] | None = None
        """Compiles the program with debug information of variables."""
        self.entry: Entry | None = None
        self.repetition: Repetition | None = None
        self._variables: Variables | None = None
        self._found: dict[tuple[str, str, int], Found] = {}

    def described(self, bug: Bug, variable: Variable | None) -> Bug:
        """The bug with a message that names things, its inputs by their types, and variables there."""
        found = self._found.get((bug.class_, bug.file, bug.line))
        message = self._message(bug, variable, None if found is None else found.message)
        if self.entry is not None:
            described = self.entry.described(bug.inputs)
            return replace(bug, message=message, described=described, values=() if found is None else found.frames)
        typed = self._typed(bug.inputs, bug.class_ in ("float", "float-cast"))
        return replace(bug, message=message, typed=typed, values=() if found is None else found.frames)

    def repeat(self, bugs: Sequence[Bug], max_time: float | None, stopped: str | None) -> None:
        """Finds the values of variables at these bugs, but not after a signal or where memory is short."""
        if self.repetition is not None and bugs and stopped not in ("interrupted", "max-memory"):
            allowed = max(MIN_VALUES_S if stopped is None else 0, VALUES_SHARE * (max_time or MIN_VALUES_S))
            self._found = self.repetition.values_at(bugs, time.monotonic() + allowed)

    def _message(self, bug: Bug, variable: Variable | None, concrete: str | None) -> str:
        if variable is None:
            return bug.message
        lines = source_lines(bug.file)
        source = lines[bug.line - 1] if 0 < bug.line <= len(lines) else ""
        offset = _OFFSET.search(concrete or "")
        if variable[0] == "":
            of_input = None if self.entry is None else self.entry.object_of(variable[1], bug.inputs)
            if of_input is None:
                return bug.message
            message = named_input(bug.message, *of_input, source)
            here = _AT.search(named_input(concrete or "", *of_input, source))
            return f"{message}, here at `{here[1]}`" if here and _ANY_OFFSET in bug.message else message
        if not self._debug():
            return bug.message
        assert self._variables is not None
        declared = self._variables.find(variable)
        message = named(bug.message, declared, source)
        if _ANY_OFFSET in bug.message and declared is not None and offset is not None and message != bug.message:
            at = member_at(bug.message, declared, int(offset[1]), source)
            return message if at is None else f"{message}, here at `{at}`"
        return message

    def _typed(self, inputs: Sequence[tuple[str, bytes]], is_float: bool) -> dict[str, str]:
        """Values of inputs by the types of variables with their names, where text or a number would mislead: in a bug
        of floating point every number may be one."""
        names = [name for name, data in inputs if name.isidentifier() and (is_float or misleads(data))]
        if not names or not self._debug():
            return {}
        assert self._variables is not None
        types = {name: self._variables.type_of(name, len(data)) for name, data in inputs if name in names}
        known = {name: type_ for name, type_ in types.items() if type_ is not None}
        return {
            name: value_of(known[name], data)
            for name, data in inputs
            if name in known and not is_text(known[name], data) and not is_number(known[name], data)
        }

    def _debug(self) -> bool:
        """Compiles the program with debug information of variables, once. Returns whether there is any."""
        if self._variables is None and self.compile is not None:
            try:
                self._variables = Variables(self.compile())
            except UsageError:
                # The sources may have changed or gone since the run began: messages are right without names.
                self._variables = Variables("")
        return self._variables is not None
