"""Base class of the complete solvers: translation, counters, deadlines, restarts."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod

from partita._core import QueryView, RestView, Unknown, Unsat
from partita.backends.translate import Builder, Term, Terms
from partita.layers import Answer


class Backend(ABC):
    """A complete solver as the last layer of a chain. Derived classes make terms and decide queries; `solve` is not
    called after the deadline. `translate_s` is the processor time of translation, `solve_s` the time of the solver."""

    name: str
    complete = True

    def __init__(self) -> None:
        self.counters: dict[str, float] = {"translate_s": 0.0, "solve_s": 0.0, "nodes": 0, "restarts": 0}
        self._terms: Terms | None = None

    @abstractmethod
    def start(self) -> Builder:
        """Makes a new, empty solver; returns the builder of its terms."""

    @abstractmethod
    def solve(self, query: QueryView, terms: Terms, deadline: float | None) -> Answer:
        """Decides the query, whose nodes are all in `terms`. `deadline` is a value of `time.monotonic()`."""

    def check(self, query: QueryView, rest: RestView) -> Answer:
        start, began = time.monotonic(), time.thread_time()
        deadline = None if query.seconds is None else start + query.seconds
        if self._terms is None:
            self._terms = Terms(self.start())
        self._terms.update(query)
        self.counters["nodes"] += len(query.nodes) // 32
        translated = time.monotonic()
        self.counters["translate_s"] += time.thread_time() - began
        if query.cancelled():
            return Unknown("canceled")
        if deadline is not None and translated >= deadline:
            return Unknown("timeout")
        try:
            return self.solve(query, self._terms, deadline)
        finally:
            self.counters["solve_s"] += time.monotonic() - translated

    def forget(self) -> None:
        self._terms = None
        self.counters["restarts"] += 1


def new_definitions(terms: Terms, asserted: dict[int, Term]) -> list[Term]:
    """Definitions of words that are not asserted yet. Terms of all formulas of the query must have been made."""
    definitions = terms.floats.definitions
    new = [(number, term) for number, term in definitions.items() if asserted.get(number) is not term]
    asserted.update(new)
    return [term for _, term in new]


def unknown(query: QueryView, deadline: float | None, otherwise: str) -> Unknown:
    """The answer of a solver that gave up: cancelled, timeout, or else the solver's own reason."""
    if query.cancelled():
        return Unknown("canceled")
    if deadline is not None and time.monotonic() >= deadline - 0.005:
        return Unknown("timeout")
    return Unknown(otherwise)


def unsat(query: QueryView, core: set[int], condition: bool) -> Unsat:
    """The core as constraints of the query, in path order."""
    return Unsat([number for number in query.constraints if number in core], condition)
