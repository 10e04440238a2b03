"""`--target FILE:LINE` and functions: calls of `__partita_target(number)` before their code, in the text of a module.

The executor counts a target as reached when the call executes, and prefers states that are near to one (`targets.rs` of
the core). A line can have code at several places, in templates of macros and in copies of loops: each gets the call.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from partita.errors import UsageError

FUNCTION = "__partita_target"
_DEFINE = re.compile(r'^define [^\n]*?@(?:"([^"]+)"|([\w.$-]+))\(')
_POSITION = re.compile(r", !dbg !(\d+)")
_NODE = re.compile(r"^!(\d+) = (?:distinct )?!(\w+)\((.*)\)$")
_FIELD = re.compile(r'(\w+): (?:!(\d+)|(\d+)|"((?:[^"\\]|\\.)*)")')
SCOPE_MARKER = "call void @llvm.lifetime."
"""Where the block of a variable begins or ends, which is no code of the program."""
# Instructions that must be the first of their block.
_FIRST = re.compile(r"^  (?:%[^=]+ = )?(?:phi|landingpad|catchpad|cleanuppad) ")


class Target(NamedTuple):
    """A place that the search is to reach."""

    text: str
    """As the user wrote it."""
    file: str
    """Empty for a function."""
    line: int
    function: str

    @classmethod
    def of(cls, text: str) -> Target:
        file, colon, line = text.rpartition(":")
        if colon and line.isdecimal() and file:
            return cls(text, file, int(line), "")
        if re.fullmatch(r"[\w.$]+", text):
            return cls(text, "", 0, text)
        raise UsageError(f"expected --target to be FILE:LINE or a function, found `{text}`")

    def is_at(self, file: str, line: int) -> bool:
        """Is it this line? The file may be given without its first folders."""
        if line != self.line:
            return False
        mine = os.path.normpath(self.file)
        theirs = os.path.normpath(file)
        return theirs == os.path.abspath(mine) or theirs == mine or theirs.endswith(f"/{mine.lstrip('/')}")


class Targets:
    """The targets of a run, and what compiling has found out about them."""

    def __init__(self, texts: Sequence[str]) -> None:
        self.all = [Target.of(text) for text in texts]
        self.has_code = [False] * len(self.all)
        """Whether each has code that the entry can call at all."""

    def __bool__(self) -> bool:
        return bool(self.all)

    def insert(self, text: str) -> str:
        """The module with a call for each target."""
        inserted, self.has_code = insert(text, self.all)
        return inserted

    def check(self, text: str) -> None:
        """Fails if a target has no code in the module of all definitions."""
        for target, found in zip(self.all, insert(text, self.all)[1], strict=True):
            if not found:
                raise UsageError(_no_code(target, text))


def insert(text: str, targets: Sequence[Target]) -> tuple[str, list[bool]]:
    """The module with a call for each target, and whether each has code in it."""
    positions = Positions(text)
    found = [False] * len(targets)
    lines: list[str] = []
    entered: list[int] = []
    inside, last = False, -1
    for line in text.splitlines():
        here: list[tuple[int, str]] = []
        if start := _DEFINE.match(line):
            function = start[1] or start[2]
            inside, last = True, -1
            entered = [i for i, target in enumerate(targets) if target.function == function]
        elif line == "}":
            inside = False
        elif inside and not line.startswith("  "):
            last = -1  # a label: another block
        elif inside and SCOPE_MARKER not in line and not _FIRST.match(line):
            position = _POSITION.search(line)
            if " alloca " not in line:
                here += [(i, "" if position is None else position[0]) for i in entered]
                entered = []
            number = last if position is None else int(position[1])
            if position is not None and number != last:
                at = positions.of(number)
                here += [(i, position[0]) for i, target in enumerate(targets) if target.line and target.is_at(*at)]
            last = number
        for i, position_text in here:
            found[i] = True
            lines.append(_call(i, position_text))
        lines.append(line)
    if any(found):
        lines.append(f"declare void @{FUNCTION}(i32)")
    return "\n".join(lines) + "\n", found


def _no_code(target: Target, text: str) -> str:
    if target.function:
        return f"expected --target to be a function of the program, found `{target.text}`"
    positions = Positions(text)
    places = {positions.of(number) for _, number in code_of(text)}
    lines = sorted({line for file, line in places if line and target._replace(line=line).is_at(file, line)})
    if not lines:
        return f"expected --target to be a line of the program, found `{target.text}`: no code is from this file"
    near = sorted(sorted(lines, key=lambda line: abs(line - target.line))[:3])
    shown = ", ".join(map(str, near))
    return f"expected --target to be a line with code, found `{target.text}`: lines with code nearby are {shown}"


def code_of(text: str) -> Iterator[tuple[str, int]]:
    """Function and debug location of every instruction."""
    function = ""
    for line in text.splitlines():
        if start := _DEFINE.match(line):
            function = start[1] or start[2]
        elif line == "}":
            function = ""
        elif function and SCOPE_MARKER not in line and (position := _POSITION.search(line)):
            yield function, int(position[1])


def _call(number: int, position: str) -> str:
    return f"  call void @{FUNCTION}(i32 {number}){position}"


class Positions:
    """File and line of debug locations."""

    def __init__(self, text: str) -> None:
        self._nodes: dict[int, tuple[str, dict[str, str]]] = {}
        for line in text.splitlines():
            if line.startswith("!") and (node := _NODE.match(line)):
                fields = {name: ref or number or string for name, ref, number, string in _FIELD.findall(node[3])}
                self._nodes[int(node[1])] = (node[2], fields)

    def of(self, number: int) -> tuple[str, int]:
        kind, fields = self._nodes.get(number, ("", {}))
        if kind != "DILocation":
            return "", 0
        return self._file(fields.get("scope", "")), int(fields.get("line", "0"))

    def _file(self, scope: str) -> str:
        _, fields = self._nodes.get(int(scope or -1), ("", {}))
        if "file" in fields:
            _, file = self._nodes.get(int(fields["file"]), ("", {}))
            name, folder = file.get("filename", ""), file.get("directory", "")
            return name if name.startswith("/") or not folder else f"{folder}/{name}"
        return self._file(fields["scope"]) if "scope" in fields else ""
