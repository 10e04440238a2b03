"""Source positions: resolves `!dbg !N` through the metadata of a module."""

from __future__ import annotations

import os
import re
from typing import NamedTuple

_FIELD = re.compile(r'(\w+): (?:!(\d+)|(\d+)|"((?:[^"\\]|\\.)*)")')


class Position(NamedTuple):
    file: str
    line: int
    column: int


class Positions:
    """The numbered metadata of a module. Files in the folders `library` are not the user's."""

    def __init__(self, library: tuple[str, ...] = ()) -> None:
        self._library = library
        self._metadata: dict[int, str] = {}
        self._files: dict[int, str] = {}

    def add(self, line: str) -> None:
        """Adds a line of the module that starts with `!`."""
        number, _, rest = line[1:].partition(" = ")
        if number.isdigit():
            self._metadata[int(number)] = rest

    def position(self, debug: int) -> Position:
        """The position of an instruction or a function. Code of a library that was inlined is at the user's call."""
        fields = self._fields(debug)
        # The position of an instruction names its scope; a function is itself a scope.
        file = self._file_of(debug if "file" in fields else int(fields.get("scope", "-1")))
        while "inlinedAt" in fields and file.startswith(self._library):
            fields = self._fields(int(fields["inlinedAt"]))
            file = self._file_of(int(fields.get("scope", "-1")))
        return Position(file, int(fields.get("line", "0")), int(fields.get("column", "0")))

    def is_optimized(self, function: int) -> bool:
        """Did the compiler optimise the function with this metadata?"""
        return "DISPFlagOptimized" in self._metadata.get(function, "")

    def _fields(self, number: int) -> dict[str, str]:
        text = self._metadata.get(number, "")
        return {name: node or count or string for name, node, count, string in _FIELD.findall(text)}

    def _file_of(self, scope: int) -> str:
        """The path of the file of a scope: its own, or that of the nearest enclosing scope with a file."""
        enclosing = []
        while scope not in self._files:
            enclosing.append(scope)
            self._files[scope] = ""  # damaged metadata may be cyclic
            fields = self._fields(scope)
            if "file" in fields or "scope" not in fields:
                file = self._fields(int(fields.get("file", "-1")))
                path = os.path.join(file.get("directory", ""), file.get("filename", ""))
                self._files[scope] = os.path.normpath(path) if path else ""
                break
            scope = int(fields["scope"])
        found = self._files[scope]
        self._files.update(dict.fromkeys(enclosing, found))
        return found
