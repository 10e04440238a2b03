"""What an exploration finds, typed."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any, Literal

NUMBER_SIZES = (1, 2, 4, 8)
Kind = Literal["exit", "bug", "limit", "unsupported"]


def shown(file: str) -> str:
    """A file as a person would name it: relative, if it lies below the current folder."""
    relative = os.path.relpath(file)
    return file if relative.startswith(os.pardir) else relative


def as_text(data: bytes) -> str:
    """An input as text, with a dot for every byte that has no sign of its own."""
    return "".join(chr(byte) if 32 <= byte < 127 else "." for byte in data)


def as_number(data: bytes) -> str | None:
    """An input as a number in memory order, if it has the size of one."""
    if len(data) not in NUMBER_SIZES:
        return None
    signed, unsigned = (int.from_bytes(data, "little", signed=s) for s in (True, False))
    return f"{signed}" + (f" (unsigned {unsigned})" if unsigned != signed else "")


@dataclass(frozen=True)
class Frame:
    """One line of a stack trace; line 0 is unknown."""

    function: str
    file: str
    line: int


@dataclass(frozen=True)
class Path:
    """One finished path: how it ended, where, and the inputs that make the program take it."""

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
    """Name and bytes of each symbolic object, in the order they were made."""
    test: int | None
    """The number of its test, if one was written."""
    output: bytes
    """What it wrote to standard output."""

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
        )


@dataclass(frozen=True)
class Bug:
    """A distinct bug: the paths that end in one class at one place."""

    class_: str
    file: str
    line: int
    message: str
    test: int | None
    paths: int
    inputs: tuple[tuple[str, bytes], ...] = ()
    """Name and bytes of each symbolic object, for the first path into it."""

    @classmethod
    def of(cls, raw: dict[str, Any]) -> Bug:
        names = ("file", "line", "message", "test", "paths")
        return cls(class_=raw["class"], inputs=tuple(raw["inputs"]), **{name: raw[name] for name in names})

    @property
    def place(self) -> str:
        return f"{shown(self.file)}:{self.line}" if self.line else "unknown place"

    def __str__(self) -> str:
        return f"{self.place}: error: {self.message} [{self.class_}]"
