"""The memory that the workers of one machine share.

Each has the same share. A worker parks what does not fit; one whose only path needs more than its share gets all of
it: the others end, what they explored waits, and they start again when that path has ended or needs less. Only a path
that does not fit into all of it ends the run.
"""

from __future__ import annotations

ENOUGH = 0.8
"""A worker that had all needs no more than its share once it uses less than this part of it."""


class SharedMemory:
    """Who has how much."""

    def __init__(self, total: int | None, workers: int) -> None:
        self._total = total
        self._share = None if total is None else max(1, total // max(1, workers))
        self._is_alone = False
        self._needed_more = False

    def share(self) -> int | None:
        """The limit of a worker; None: it has one of its own."""
        return self._total if self._is_alone else self._share

    def room(self, capacity: int) -> int:
        """Number of workers that there is memory for."""
        return min(1, capacity) if self._is_alone else capacity

    def give_all(self) -> bool:
        """A worker needs more than its share. Returns whether it gets more: all others must end."""
        if self._total is None or self._is_alone or self._share == self._total:
            return False
        self._is_alone, self._needed_more = True, False
        return True

    def is_left(self, used: int, open_: int) -> bool:
        """The worker that has all uses this number of bytes and has this number of open paths. Returns whether others
        can start again."""
        if not self._is_alone or self._share is None:
            return False
        self._needed_more = self._needed_more or used > self._share
        if open_ and not (self._needed_more and used < ENOUGH * self._share):
            return False
        self._is_alone = False
        return True
