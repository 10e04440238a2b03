"""Search strategies and layers of installed packages, found by the names of their entry points."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from partita.errors import UsageError

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint


def _entry_points(group: str) -> list[EntryPoint]:
    from importlib.metadata import entry_points  # 50 ms, needed by few commands

    return list(entry_points(group=group))


def names(group: str) -> list[str]:
    return sorted(point.name for point in _entry_points(group))


def find(group: str, name: str) -> Callable[..., Any] | None:
    """Loads the entry point of this name; None if no installed package has one."""
    for point in _entry_points(group):
        if point.name != name:
            continue
        try:
            found = point.load()
        except Exception as error:
            raise UsageError(f"cannot load `{name}` from {point.value}: {error}") from error
        if not callable(found):
            raise UsageError(f"expected a class or function at {point.value}, found {type(found).__name__}")
        made: Callable[..., Any] = found
        return made
    return None
