"""Layers written in Python: objects that answer a query, or pass it on to the layers below.

Pass one to `Solver(layers=["simplify", my_layer, "bitwuzla"])`. Every answer is checked: a model is evaluated, a core
must be part of the query, and an exception becomes `unknown` with the end of its traceback.
"""

from __future__ import annotations

from typing import Protocol, TypeAlias

from partita._core import LAYERS, OPERATORS, QueryView, RestView, Sat, Unknown, Unsat

__all__ = ["LAYERS", "OPERATORS", "Answer", "Layer", "QueryView", "RestView", "Sat", "Unknown", "Unsat"]

Answer: TypeAlias = Sat | Unsat | Unknown


class Layer(Protocol):
    """One step of a chain. May also have `complete` (True: decides every query), `counters` (a dict of numbers for the
    statistics) and `interrupt()` (called from another thread to end a check)."""

    @property
    def name(self) -> str: ...

    def check(self, query: QueryView, rest: RestView) -> Answer:
        """Answers, or returns `rest.check(query)`. Must first remove `query.dropped`, then add `query.nodes`."""

    def forget(self) -> None:
        """Drops all nodes; they will be sent again."""
