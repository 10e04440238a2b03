"""Tests for layers of your own: the suite that every layer of the core must pass."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from partita import _core, backends
from partita.layers import Layer

__all__ = ["Answers", "conformance"]


class Answers(NamedTuple):
    """How the questions of the suite were answered."""

    sat: int
    unsat: int
    unknown: int


def conformance(
    layer: str | Callable[[], Layer], *, below: str = "sat", seed: int = 1, questions: int = 300
) -> Answers:
    """Puts a layer through the suite; AssertionError says what is wrong with it.

    `layer` is a class (or function) that gives a new layer with every call, as the suite needs three; or a chain as
    text. `below` is the chain that gets what the layer passes on; give "" for one that passes nothing on.

    Checked, on random questions along random path trees over variables so small that all assignments are tried: a model
    satisfies the query as it was asked, an unsat answer is right and so is its core, with no time left the answer is
    unknown, the same history gives the same answers, and nothing goes stale when paths and expressions are dropped.

    >>> class PassesOn:
    ...     name = "passes-on"
    ...     def check(self, query, rest):
    ...         return rest.check(query)
    ...     def forget(self):
    ...         pass
    >>> conformance(PassesOn, questions=50).unknown
    0
    """
    if isinstance(layer, str):
        return Answers(*_core.conformance(layer, backends.make, seed, questions))

    def make(name: str, variant: str | None, options: dict[str, str]) -> Layer | None:
        return layer() if name == "object0" else backends.make(name, variant, options)

    return Answers(*_core.conformance(f"object0 {below}", make, seed, questions))
