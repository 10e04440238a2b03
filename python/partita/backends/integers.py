"""The layers `integers`, for queries that provably do not wrap, and `integers:paper`, both with Z3's integers.

Answers: queries with arithmetic and comparisons only, if Z3 decides them within a small deadline.
Why sound: the formula of a constraint comes with the constraints that prove that nothing in it wraps. They are part of
every core, so a core is unsat in bit-vectors. The proved bounds are asserted too, so a model is one in bit-vectors.
When it helps: relations of several words that are not differences. It has not paid enough for the default chain.
Cost: one translation of each constraint while its proof holds, and Z3.
Source: "Integers instead of bit-vectors". `integers:paper` is the paper's translation: everything is signed and
overflow is ignored, and Z3 has no deadline but that of the query. Its answers are wrong where values wrap; it exists to
be measured with `verify(z3,mismatch=continue)`.
"""

from __future__ import annotations

import time
from typing import Any

import z3

from partita._core import QueryView, RestView, Sat, Unknown
from partita.backends.incremental import unsat
from partita.backends.integer_formulas import (
    Bounds,
    Formula,
    NotTranslatableError,
    PaperTranslation,
    SoundTranslation,
    Translation,
)
from partita.backends.integer_nodes import LeafPosition, SentNodes
from partita.backends.translate import BOOL
from partita.backends.z3 import AssumptionSolver
from partita.errors import UsageError
from partita.layers import Answer

DEADLINE_MS = 100
COUNTERS = ("translate_s", "solve_s", "passed_deadline")


class Integers:
    """One of the two translations, as a layer."""

    def __init__(self, name: str, translation: type[Translation], deadline_ms: int | None) -> None:
        self.name = name
        self._translation = translation
        self._seconds = None if deadline_ms is None else deadline_ms / 1000
        self.counters: dict[str, float] = dict.fromkeys(COUNTERS, 0)
        self.forget()

    def forget(self) -> None:
        self._nodes = SentNodes(integer_arrays=self._translation is PaperTranslation)
        self._formulas: dict[int, Formula] = {}
        self._assumptions = AssumptionSolver(self._nodes.context)

    def interrupt(self) -> None:
        self._nodes.context.interrupt()

    def check(self, query: QueryView, rest: RestView) -> Answer:
        start, began = time.monotonic(), time.thread_time()
        dropped = set(self._nodes.update(query))
        if dropped:
            # Numbers are reused: drop formulas whose constraint or reasons were dropped.
            kept = self._formulas.items()
            self._formulas = {n: known for n, known in kept if n not in dropped and dropped.isdisjoint(known.reasons)}
        try:
            formulas = self._read(query, rest)
            elements = self._elements(formulas)
        except NotTranslatableError as reason:
            self.counters["translate_s"] += time.thread_time() - began
            return self._pass(query, rest, str(reason))
        translated = time.monotonic()
        self.counters["translate_s"] += time.thread_time() - began
        seconds = self._seconds
        if query.seconds is not None:
            left = query.seconds - (translated - start)
            seconds = left if seconds is None else min(seconds, left)
            if seconds <= 0:
                return Unknown("timeout")
        terms = {number: formula.term for number, formula in formulas.items()} | elements
        result, core = self._assumptions.check(terms, seconds, query.memory_mb)
        self.counters["solve_s"] += time.monotonic() - translated
        if result == z3.sat:
            return Sat(self._values(query, formulas, self._assumptions.model()))
        if result == z3.unsat:
            # Definitions of elements are part of the translation.
            core = {number for number in core if number in formulas}
            core = core.union(*(formulas[number].reasons for number in core))
            return unsat(query, core, query.condition in core and query.condition not in query.constraints)
        return self._pass(query, rest, "deadline")

    def _pass(self, query: QueryView, rest: RestView, reason: str) -> Answer:
        counter = f"passed_{reason}"
        self.counters[counter] = self.counters.get(counter, 0) + 1
        return rest.check(query)

    def _read(self, query: QueryView, rest: RestView) -> dict[int, Formula]:
        """The formulas of the condition and the constraints.

        Errors: `NotTranslatableError` with the first obstacle.
        """
        numbers = list(dict.fromkeys([query.condition, *query.constraints]))
        for number in numbers:
            obstacle = self._nodes.obstacle(number)
            if obstacle is not None:
                raise NotTranslatableError(obstacle)
        present = set(numbers)
        translation = self._translation(self._nodes, lambda terms: [Bounds(*row) for row in rest.bounds(query, terms)])
        formulas = {}
        for number in numbers:
            formula = self._formulas.get(number)
            # A proof holds if its reasons are among the constraints.
            if formula is None or not formula.reasons <= present:
                formula = self._formulas[number] = translation.read(number)
            formulas[number] = formula
        self._reject_overlaps(formulas)
        return formulas

    def _reject_overlaps(self, formulas: dict[int, Formula]) -> None:
        """Rejects leaves that share an element, which would become two unrelated integers."""
        owners: dict[tuple[int, int], LeafPosition] = {}
        for leaf in dict.fromkeys(leaf for formula in formulas.values() for leaf in formula.leaves):
            place = self._nodes.leaves[leaf][0]
            for at in range(place.first, place.first + place.count):
                if owners.setdefault((place.variable, at), place) != place:
                    raise NotTranslatableError("type-mismatch")

    def _elements(self, formulas: dict[int, Formula]) -> dict[int, Any]:
        """Leaves of arrays that are also read at other indices, as elements of the array; by negative numbers.

        Errors: `NotTranslatableError` if an array is read with several widths, or not at multiples of the width.
        """
        counts: dict[int, int] = {}
        for at in dict.fromkeys(at for formula in formulas.values() for at in formula.selections):
            selection = self._nodes.selected[at][0]
            if counts.setdefault(selection.variable, selection.count) != selection.count:
                raise NotTranslatableError("type-mismatch")
        found = {}
        for leaf in dict.fromkeys(leaf for formula in formulas.values() for leaf in formula.leaves) if counts else ():
            place, term, _ = self._nodes.leaves[leaf]
            if place.variable in counts and place.count:
                if place.count != counts[place.variable] or place.first % place.count:
                    raise NotTranslatableError("type-mismatch")
                found[-1 - leaf] = self._nodes.array(place.variable, place.count)[place.first // place.count] == term
        return found

    def _values(self, query: QueryView, formulas: dict[int, Formula], model: Any) -> dict[int, Any]:
        """Values of the query's variables from the integers of their leaves; other bits are zero."""
        values: dict[int, Any] = {}
        for leaf in dict.fromkeys(leaf for formula in formulas.values() for leaf in formula.leaves):
            place, term, _ = self._nodes.leaves[leaf]
            node = self._nodes.nodes[leaf]
            found = model.eval(term, model_completion=True)
            if node.kind == BOOL:
                values[place.variable] = z3.is_true(found)
                continue
            bits = found.as_long() % (1 << node.width)
            if place.count == 0:
                values[place.variable] = bits
                continue
            _, elements = values.setdefault(place.variable, (0, {}))
            for i in range(place.count):
                elements[place.first + i] = bits >> i * place.element & (1 << place.element) - 1
        for at in dict.fromkeys(at for formula in formulas.values() for at in formula.selections):
            selection, index, term = self._nodes.selected[at]
            first = model.eval(index, model_completion=True).as_long() * selection.count
            bits = model.eval(term, model_completion=True).as_long() % (1 << self._nodes.nodes[at].width)
            _, elements = values.setdefault(selection.variable, (0, {}))
            size = 1 << self._nodes.nodes[self._nodes.nodes[at].operands[1]].width
            for i in range(selection.count):
                elements[(first + i) % size] = bits >> i * selection.element & (1 << selection.element) - 1
        return {number: values[number] for number in query.variables if number in values}


def make(variant: str | None, options: dict[str, str]) -> Integers:
    """`integers` or `integers:paper`; `ms=N` sets the deadline of a query. The paper's has none of its own."""
    text = options.get("ms", str(DEADLINE_MS))
    if variant not in (None, "paper") or set(options) - {"ms"} or not text.isdecimal() or int(text) == 0:
        spelled = "integers" + (f":{variant}" if variant else "")
        spelled += "(" + ",".join(f"{key}={value}" for key, value in options.items()) + ")" if options else ""
        raise UsageError(f"expected `integers` or `integers:paper`, with (ms=N) or without, found `{spelled}`")
    if variant:
        return Integers("integers:paper", PaperTranslation, int(text) if "ms" in options else None)
    return Integers("integers", SoundTranslation, int(text))
