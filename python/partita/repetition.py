"""Values of variables at bugs.

Exploring keeps most variables in registers. So when a run has ended, the input of each bug is executed once more, with
constants for inputs and with all variables in memory, and memory at the bug is read by the types of debug information.
A repetition that does not end in the same bug at the same place shows nothing, and neither does a byte that was never
written.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from partita import _core, members
from partita.entry import values
from partita.entry.debug_info import Array, Pointer, Record, Scalar, Type, size_of
from partita.errors import UsageError
from partita.findings import source_lines
from partita.frontends import cpp, module_with_variables, rust
from partita.results import Bug, FrameValues
from partita.variables import Variables

MAX_BUGS = 50
MAX_FRAMES = 4
MAX_VARIABLES = 16
MAX_ELEMENTS = 16
MAX_TEXT = 40
REPETITION_S = 2.0
"""Time for one repetition; compiling the program once more comes before."""


class Object(NamedTuple):
    """An object at a bug."""

    address: int
    size: int
    kind: str
    frame: int
    number: int
    name: str
    data: bytes
    known: bytes


class Program(NamedTuple):
    """The program with all variables in memory, and its debug information."""

    engine: Callable[[], _core.Engine]
    variables: Variables


def in_memory_program(names: Sequence[str], flags: dict[str, Any], engine: Callable[[bytes], _core.Engine]) -> Program:
    """Compiles the program for repetitions."""
    from partita.llvm import lower  # not needed by a run without bugs

    text = module_with_variables(names, **flags | {"in_memory": True})
    lowered = lower(text, library=(*cpp.library_folders(), *rust.library_folders()))
    return Program(lambda: engine(lowered), Variables(text))


class Found(NamedTuple):
    """Variables at a bug, and its message with the concrete offset."""

    frames: tuple[FrameValues, ...]
    message: str


class Repetition:
    """Repeats the bugs of one run."""

    def __init__(self, compile_program: Callable[[], Program]) -> None:
        self._compile = compile_program
        self._program: Program | None = None

    def values_at(self, bugs: Sequence[Bug], deadline: float) -> dict[tuple[str, str, int], Found]:
        """Variables at these bugs, by class and place. What is not known by the deadline is left out."""
        found: dict[tuple[str, str, int], Found] = {}
        for bug in bugs[:MAX_BUGS]:
            whole = all(size == len(data) for size, (_, data) in zip(bug.sizes, bug.inputs, strict=True))
            if not whole or not bug.line or time.monotonic() >= deadline:
                continue
            try:
                self._program = self._program or self._compile()
                snapshot = self._repeated(self._program, bug)
            except (UsageError, ValueError, RuntimeError):
                return found  # sources may have changed, and tools may be gone
            if snapshot is not None:
                shown = Memory(self._program.variables, snapshot).frames(bug)
                found[bug.class_, bug.file, bug.line] = Found(shown, snapshot["message"])
        return found

    def _repeated(self, program: Program, bug: Bug) -> dict[str, Any] | None:
        engine = program.engine()
        engine.follow_inputs(list(bug.inputs))
        end = time.monotonic() + REPETITION_S
        snapshot = engine.snapshot()
        while snapshot is None and time.monotonic() < end and engine.advance(0.05):
            snapshot = engine.snapshot()
        snapshot = snapshot or engine.snapshot()
        if snapshot is None or [snapshot.get(name) for name in ("class", "file", "line")] != [
            bug.class_,
            bug.file,
            bug.line,
        ]:
            return None
        return snapshot


class Memory:
    """Memory at a bug."""

    def __init__(self, variables: Variables, snapshot: dict[str, Any]) -> None:
        self._variables = variables
        self._stack: list[tuple[str, int]] = snapshot["frames"]
        self._objects = sorted(Object(*row) for row in snapshot["objects"])
        self._frame = 0
        """The frame whose variables are shown."""
        self._names: dict[int, tuple[str, Type | None]] = {}
        """Names and types of variables by their addresses."""
        for each in self._objects:
            key = (None, each.name, 0) if each.kind == "global" else None
            if each.kind == "local":
                key = (self._stack[each.frame][0], "", each.number)
            declared = variables.find(key) if key else None
            if declared is not None and declared.size == each.size:
                self._names[each.address] = declared.name, declared.type

    def frames(self, bug: Bug) -> tuple[FrameValues, ...]:
        """The variables of the innermost frames of the user, and the global ones that the line of the bug names."""
        found = []
        for number, (function, line) in enumerate(self._stack[:MAX_FRAMES]):
            self._frame = number
            own = sorted(
                (each for each in self._objects if each.kind == "local" and each.frame == number),
                key=lambda each: each.number,
            )
            found.append(FrameValues(function, line, self._shown(own)))
        lines = source_lines(bug.file)
        words = set(re.findall(r"\w+", lines[bug.line - 1])) if bug.line <= len(lines) else set()
        words -= {name for frame in found[:1] for name in frame.variables}
        self._frame = -1
        globals_ = [each for each in self._objects if each.kind == "global" and each.name in words]
        if shown := self._shown(globals_):
            found.append(FrameValues("", 0, shown))
        return tuple(frame for frame in found if frame.variables)

    def _shown(self, objects: Sequence[Object]) -> dict[str, str]:
        # The innermost of several variables with one name is declared last.
        shown: dict[str, str] = {}
        for each in objects:
            name, type_ = self._names.get(each.address, ("", None))
            text = None if type_ is None else self._value(type_, each.data, each.known)
            if text is not None and name:
                shown.pop(name, None)
                shown[name] = text
        return dict(list(shown.items())[:MAX_VARIABLES])

    def _value(self, type_: Type, data: bytes, known: bytes, depth: int = 0) -> str | None:
        """A value; None if it is not known, or if all of it is never written."""
        size = size_of(type_)
        match type_:
            case Scalar():
                if type_.encoding == "bytes" or len(known) < size or not all(known[:size]):
                    return None
                return values.shown(type_, data[:size])
            case Pointer(target=target):
                if len(known) < size or not all(known[:size]):
                    return None
                return self._pointer(target, int.from_bytes(data[:size], "little"), depth)
            case Array(element=element, count=count):
                return self._array(element, count, data, known, depth)
            case Record(is_union=False, members=inside):
                parts = []
                for each in inside:
                    part = slice(each.offset, each.offset + size_of(each.type))
                    text = self._value(each.type, data[part], known[part], depth + 1) if each.name else None
                    parts += [] if text is None else [f".{each.name} = {text}"]
                return "{" + ", ".join(parts) + "}" if parts else None
            case _:
                return None

    def _array(self, element: Type, count: int, data: bytes, known: bytes, depth: int) -> str | None:
        size = size_of(element)
        if not size or not any(known):
            return None
        if isinstance(element, Scalar) and element.name == "char":
            # Bytes behind a zero belong to the array too.
            whole = data[:count].rstrip(b"\0")
            is_text = all(known[:count]) and len(known) >= count and b"\0" not in whole
            text = self._text(data[:count], known[:count]) if is_text or not all(known[:count]) else None
            if text is not None:
                return text
        parts = []
        for at in range(0, min(count, MAX_ELEMENTS) * size, size):
            parts.append(self._value(element, data[at : at + size], known[at : at + size], depth + 1) or "?")
        if all(part == "?" for part in parts):
            return None
        while len(parts) > 1 and parts[-1] == parts[-2] == "?":
            parts.pop()
        return "{" + ", ".join(parts) + (", ..." if len(parts) < count else "") + "}"

    def _text(self, data: bytes, known: bytes) -> str | None:
        """Characters up to the terminator; None if there is none, or one before it is not known."""
        end = data.find(b"\0") if b"\0" in data else len(data)
        if not all(known[: end + 1]) or (end == len(data) and not all(map(_is_plain, data))):
            return None
        body = "".join(chr(byte) if _is_plain(byte) else f"\\x{byte:02x}" for byte in data[: min(end, MAX_TEXT)])
        return f'"{body}"' + ("..." if end > MAX_TEXT else "")

    def _pointer(self, target: Type | None, address: int, depth: int) -> str | None:
        if not address:
            return "NULL"
        found = next((each for each in self._objects if each.address <= address <= each.address + each.size), None)
        if found is None:
            return None
        offset = address - found.address
        is_end = offset == found.size
        if isinstance(target, Scalar) and target.name == "char" and not is_end and depth < 2:
            text = self._text(found.data[offset:], found.known[offset:])
            # An object that is longer than what was copied may have no terminator there.
            if text is not None and b"\0" in found.data[offset:]:
                return text
        name, type_ = self._names.get(found.address, ("", None))
        if name:
            # Another function's variable, or that of another activation.
            other = found.kind == "local" and found.frame != self._frame
            of = f" of {self._stack[found.frame][0]}" if other else ""
            if isinstance(type_, Array) and offset % (size_of(type_.element) or 1) == 0:
                index = offset // (size_of(type_.element) or 1)
                return (name if index == 0 else f"&{name}[{index}]") + of
            if offset == 0:
                return f"&{name}{of}"
            place = members.place(name, type_, offset, size_of(target))
            return None if place is None else f"&{place}{of}"
        where = f"{found.size} bytes of the heap" if found.size != 1 else "1 byte of the heap"
        if depth:
            return None
        if offset or target is None or not size_of(target):
            return f"{where}, at offset {offset}" if offset else where
        count = found.size // size_of(target)
        inside = target if count == 1 else Array(target, count)
        text = self._value(inside, found.data, found.known, depth + 1)
        return where if text is None else f"&{text}"


def _is_plain(byte: int) -> bool:
    return 32 <= byte < 127 and chr(byte) not in '"\\'
