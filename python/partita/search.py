"""Search strategies in Python: `explore("prog.c", search=MyStrategy())`.

A strategy receives every open state and chooses the one that runs next. It decides only the order: every strategy
explores the same paths. An exception that it raises ends the run and is raised by the loop that explores.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

from partita import _core, plugins
from partita._core import OpenState
from partita.errors import UsageError

__all__ = ["GROUP", "OpenState", "Search"]

GROUP = "partita.search"
"""Group of the entry points that `--search` and `explore(search="name")` look up. Calling one makes a strategy."""
BUILT_IN = tuple(name for name, _ in _core.SEARCHES)


class Search(Protocol):
    """A search strategy. One object serves one run."""

    def add(self, state: OpenState) -> None:
        """Adds an open state: it was just forked, or it ran for a while and continues at `state.line`."""

    def choose(self) -> int:
        """Returns the `number` of the state to run next, and removes it; it may be added again. Never called without
        an open state."""

    def remove(self, number: int) -> None:
        """Removes a state that was dropped because memory is short."""


class Names:
    """Names of all strategies. Installed packages are searched only if the core does not have the name."""

    def __iter__(self) -> Iterator[str]:
        yield from BUILT_IN
        yield from plugins.names(GROUP)


def find(search: str | Search) -> str | Search:
    """Returns the name of a built-in strategy, or a strategy object."""
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
            raise UsageError(f"expected a search strategy with a method `{method}`, found {found} without it")
    return search
