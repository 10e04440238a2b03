"""The conformance suite for layers, which every layer of the core passes, for layers of your own."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from partita import _core, backends
from partita.layers import Layer

__all__ = ["Answers", "conformance"]


class Answers(NamedTuple):
    """Number of queries of the suite by answer."""

    sat: int
    unsat: int
    unknown: int


def conformance(layer: str | Callable[[], Layer], *, below: str = "sat", seed: int = 1, queries: int = 300) -> Answers:
    """Runs the conformance suite on a layer. Raises AssertionError with the first violation.

    `layer` is a class (or function) that makes a new layer with every call, as the suite needs three; or a chain as
    text. `below` is the chain for the queries that the layer passes on; "" for a layer that passes nothing on.

    The queries are random, along random path trees, over variables so small that all assignments can be tried. Checked:
    a model satisfies the query, an unsat answer and its core are right, without time the answer is unknown, the same
    history gives the same answers, and no answer refers to paths or expressions that were dropped.

    >>> class PassesOn:
    ...     name = "passes-on"
    ...     def check(self, query, rest):
    ...         return rest.check(query)
    ...     def forget(self):
    ...         pass
    >>> conformance(PassesOn, queries=50).unknown
    0
    """
    if isinstance(layer, str):
        return Answers(*_core.conformance(layer, backends.make, seed, queries))

    def make(name: str, variant: str | None, options: dict[str, str]) -> Layer | None:
        return layer() if name == "object0" else backends.make(name, variant, options)

    return Answers(*_core.conformance(f"object0 {below}", make, seed, queries))
