"""Typed results of an exploration: paths, bugs, stack frames."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from partita.entry.assumptions import Assumptions

NUMBER_SIZES = (1, 2, 4, 8)
Kind = Literal["exit", "bug", "limit", "unsupported"]


def shown(file: str) -> str:
    """The path of a file for messages: relative if it is below the current folder."""
    relative = os.path.relpath(file)
    return file if relative.startswith(os.pardir) else relative


def counted(number: int, noun: str) -> str:
    """`1 bug`, `2 bugs`, `1,000 bugs`."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def as_text(data: bytes) -> str:
    """An input as text, with a dot for every byte that is not printable."""
    return "".join(chr(byte) if 32 <= byte < 127 else "." for byte in data)


def as_number(data: bytes) -> str | None:
    """An input as a little-endian number, if it has the size of one."""
    if len(data) not in NUMBER_SIZES:
        return None
    signed, unsigned = (int.from_bytes(data, "little", signed=s) for s in (True, False))
    return f"{signed}" + (f" (unsigned {unsigned})" if unsigned != signed else "")


@dataclass(frozen=True)
class Frame:
    """One frame of a call stack; line 0 is unknown."""

    function: str
    file: str
    line: int


@dataclass(frozen=True)
class Path:
    """One finished path: how and where it ended, and the inputs that make the program take it."""

    kind: Kind
    ending: str
    """`exit N`, a class of bug, `limit NAME` or `unsupported`."""
    status: int | None
    """The exit status, for a path that ended normally."""
    class_: str | None
    """The class of a bug, or the name of a limit."""
    message: str | None
    detail: str | None
    """The traceback of a hook that raised."""
    file: str
    line: int
    stack: tuple[Frame, ...]
    inputs: tuple[tuple[str, bytes], ...]
    """Name and bytes of each symbolic object, in the order of their creation."""
    test: int | None
    """The number of its test, if one was written."""
    output: bytes
    """Bytes written to standard output."""
    condition: str | None = None
    """The path condition as an SMT-LIB script, after `Run.keep_conditions()`."""

    @classmethod
    def of(cls, raw: dict[str, Any]) -> Path:
        stack = tuple(Frame(*frame) for frame in raw["stack"])
        return cls(
            kind=raw["kind"],
            ending=raw["ending"],
            status=raw["status"],
            class_=raw["class"],
            message=raw["message"],
            detail=raw["detail"],
            file=raw["file"],
            line=raw["line"],
            stack=stack,
            inputs=tuple(raw["inputs"]),
            test=raw["test"],
            output=raw["output"],
            condition=raw["condition"],
        )


@dataclass(frozen=True)
class FrameValues:
    """Variables of one function on the stack at a bug."""

    function: str
    """Empty for global variables."""
    line: int
    variables: Mapping[str, str]
    """Values as C writes them, by name."""

    def __str__(self) -> str:
        return ", ".join(f"{name} = {value}" for name, value in self.variables.items())


@dataclass(frozen=True)
class Bug:
    """A distinct bug: all paths that end in the same class at the same place."""

    class_: str
    file: str
    line: int
    message: str
    test: int | None
    paths: int
    inputs: tuple[tuple[str, bytes], ...] = ()
    """Name and bytes of each symbolic object, on the first path into the bug; of an object of more than 1 MB the first
    megabyte. Its test has all of it."""
    sizes: tuple[int, ...] = ()
    """Size of each of these objects."""
    described: tuple[str, ...] = ()
    """The inputs as C would write them, if their types are known (`entry`)."""
    typed: Mapping[str, str] = field(default_factory=dict)
    """Values of inputs as C writes them, by name, where bytes would mislead and the type is known."""
    fingerprint: str = ""
    """Identity of the bug in other runs (`partita.findings`)."""
    accepted: bool = False
    """Is it in the baseline of the run?"""
    assumes: Assumptions | None = None
    """Conditions on the caller, of a finished run with `entry`."""
    values: tuple[FrameValues, ...] = ()
    """Variables at the bug, of a finished run that writes a folder: innermost function first, then global ones."""

    @classmethod
    def of(cls, raw: dict[str, Any]) -> Bug:
        names = ("file", "line", "message", "test", "paths")
        inputs, sizes = tuple(raw["inputs"]), tuple(raw["sizes"])
        return cls(class_=raw["class"], inputs=inputs, sizes=sizes, **{name: raw[name] for name in names})

    def as_row(self) -> dict[str, Any]:
        """The bug as `run.json` has it."""
        row = {"class": self.class_, "file": self.file, "line": self.line, "message": self.message, "test": self.test}
        more: dict[str, Any] = {"paths": self.paths, "fingerprint": self.fingerprint, "accepted": self.accepted}
        more |= {"input": list(self.described), "certain": None, "assumes": []}
        if self.assumes is not None:
            assumes = list(self.assumes.conditions)
            more |= {"certain": self.assumes.certain, "assumes": assumes, "caller": str(self.assumes)}
        more["values"] = [
            {"function": each.function, "line": each.line, "variables": dict(each.variables)} for each in self.values
        ]
        return {**row, **more}

    @property
    def place(self) -> str:
        return f"{shown(self.file)}:{self.line}" if self.line else "unknown place"

    def __str__(self) -> str:
        return f"{self.place}: {'accepted' if self.accepted else 'error'}: {self.message} [{self.class_}]"
