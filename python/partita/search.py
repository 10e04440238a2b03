"""Search strategies in Python: `explore("prog.c", search=MyStrategy())`.

A strategy is told of every state that waits for its turn and says which one runs next. It decides the order alone: the
paths are the same with every strategy. What it raises ends the run and comes out of the loop that explores.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

from partita import _core, plugins
from partita._core import OpenState
from partita.errors import UsageError

__all__ = ["GROUP", "OpenState", "Search"]

GROUP = "partita.search"
"""The entry points that `--search` and `explore(search="name")` look for: each makes a strategy when called."""
BUILT_IN = tuple(name for name, _ in _core.SEARCHES)


class Search(Protocol):
    """An order of exploring. One object serves one run."""

    def add(self, state: OpenState) -> None:
        """A state waits: it was born at a fork, or it ran for a while and goes on from `state.line`."""

    def choose(self) -> int:
        """The `number` of the state to run next; it waits no more until it is added again. One waits at least."""

    def remove(self, number: int) -> None:
        """A state that waited was given up because memory is short."""


class Names:
    """All strategies that have a name. Installed packages are looked through only where the core's are not enough."""

    def __iter__(self) -> Iterator[str]:
        yield from BUILT_IN
        yield from plugins.names(GROUP)


def find(search: str | Search) -> str | Search:
    """A name of the core's, or a strategy."""
    if isinstance(search, str):
        if search in BUILT_IN:
            return search
        made = plugins.find(GROUP, search)
        if made is None:
            raise UsageError(f"expected a search ({', '.join(Names())}), found `{search}`")
        search = made()
    for method in ("add", "choose", "remove"):
        if not callable(getattr(search, method, None)):
            found = type(search).__name__
            raise UsageError(f"expected a search strategy with a method `{method}`, found {found} without")
    return search
