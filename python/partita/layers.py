"""What a layer written in Python is: an object that answers a query, or asks the layers below it.

Pass one to `Solver(layers=["simplify", my_layer, "bitwuzla"])`. Nothing it says is believed unchecked: a model is
evaluated, a core must be part of the query, and an exception becomes `unknown` with the end of its traceback.
"""

from __future__ import annotations

from typing import Protocol

from partita._core import LAYERS, OPERATORS, QueryView, RestView, Sat, Unknown, Unsat

__all__ = ["LAYERS", "OPERATORS", "Answer", "Layer", "QueryView", "RestView", "Sat", "Unknown", "Unsat"]

Answer = Sat | Unsat | Unknown


class Layer(Protocol):
    """One step of a chain. May also have `complete` (True: decides everything it is given), `counters` (a dict of
    numbers for the statistics) and `interrupt()` (called from another thread to end a check)."""

    @property
    def name(self) -> str: ...

    def check(self, query: QueryView, rest: RestView) -> Answer:
        """Answers, or returns `rest.check(query)`. Must first take in `query.dropped`, then `query.nodes`."""

    def forget(self) -> None:
        """Drops everything: all nodes will be sent again."""
