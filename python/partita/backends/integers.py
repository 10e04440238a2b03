"""The layer `integers`: queries that provably do not wrap, in Z3's integer arithmetic; and `integers:paper`.

Answers: what Z3 decides within a small deadline, of queries that are linear or multiply, divide and take remainders.
Why sound: a constraint becomes a formula only with the constraints that prove that nothing in it wraps; those are part
of every core, so a core is unsat in bit-vectors. What was proved is asserted too, so a model is one in bit-vectors.
When it helps: relations of several words that are no differences; never yet enough to be in the default chain.
Cost: translating each constraint once while its proof holds, and Z3.
Source: "Integers instead of bit-vectors". `integers:paper` is that paper's own reading, everything signed and overflow
ignored: it is wrong where things wrap, and exists to be measured with `verify`.
"""

from __future__ import annotations

import time
from typing import Any

import z3

from partita._core import QueryView, RestView, Sat, Unknown
from partita.backends.incremental import unsat
from partita.backends.integer_nodes import Nodes, Place
from partita.backends.readings import Bounds, DelegatedError, Formula, Paper, Reader, Sound
from partita.backends.translate import BOOL
from partita.backends.z3 import Assuming
from partita.errors import UsageError
from partita.layers import Answer

DEADLINE_MS = 100
COUNTERS = ("translate_s", "solve_s", "passed_deadline")


class Integers:
    """One of the two ways of reading, as a layer."""

    def __init__(self, name: str, reader: type[Reader], deadline_ms: int) -> None:
        self.name = name
        self._reader = reader
        self._seconds = deadline_ms / 1000
        self.counters: dict[str, float] = dict.fromkeys(COUNTERS, 0)
        self.forget()

    def forget(self) -> None:
        self._nodes = Nodes()
        self._formulas: dict[int, Formula] = {}
        self._assuming = Assuming(self._nodes.context)

    def interrupt(self) -> None:
        self._nodes.context.interrupt()

    def check(self, query: QueryView, rest: RestView) -> Answer:
        start = time.monotonic()
        gone = set(self._nodes.take(query))
        if gone:
            # Numbers are used again: neither a constraint nor what a proof rests on may be taken for another.
            kept = self._formulas.items()
            self._formulas = {n: known for n, known in kept if n not in gone and gone.isdisjoint(known.reasons)}
        try:
            formulas = self._read(query, rest)
        except DelegatedError as reason:
            self.counters["translate_s"] += time.monotonic() - start
            return self._pass(query, rest, str(reason))
        translated = time.monotonic()
        self.counters["translate_s"] += translated - start
        seconds = self._seconds
        if query.seconds is not None:
            seconds = min(seconds, query.seconds - (translated - start))
            if seconds <= 0:
                return Unknown("timeout")
        terms = {number: formula.term for number, formula in formulas.items()}
        result, core = self._assuming.check(terms, seconds, query.memory_mb)
        self.counters["solve_s"] += time.monotonic() - translated
        if result == z3.sat:
            return Sat(self._values(query, formulas, self._assuming.model()))
        if result == z3.unsat:
            core = core.union(*(formulas[number].reasons for number in core))
            return unsat(query, core, query.condition in core and query.condition not in query.constraints)
        return self._pass(query, rest, "deadline")

    def _pass(self, query: QueryView, rest: RestView, reason: str) -> Answer:
        counter = f"passed_{reason}"
        self.counters[counter] = self.counters.get(counter, 0) + 1
        return rest.check(query)

    def _read(self, query: QueryView, rest: RestView) -> dict[int, Formula]:
        """The formulas of the condition and the constraints. DelegatedError names the first obstacle."""
        numbers = list(dict.fromkeys([query.condition, *query.constraints]))
        for number in numbers:
            obstacle = self._nodes.why_not(number)
            if obstacle is not None:
                raise DelegatedError(obstacle)
        present = set(numbers)
        reader = self._reader(self._nodes, lambda terms: [Bounds(*row) for row in rest.bounds(query, terms)])
        formulas = {}
        for number in numbers:
            formula = self._formulas.get(number)
            # A proof holds wherever the constraints behind it do.
            if formula is None or not formula.reasons <= present:
                formula = self._formulas[number] = reader.read(number)
            formulas[number] = formula
        self._refuse_overlaps(formulas)
        return formulas

    def _refuse_overlaps(self, formulas: dict[int, Formula]) -> None:
        """An element that two leaves share would be two unrelated integers."""
        owners: dict[tuple[int, int], Place] = {}
        for leaf in dict.fromkeys(leaf for formula in formulas.values() for leaf in formula.leaves):
            place = self._nodes.leaves[leaf][0]
            for at in range(place.first, place.first + place.count):
                if owners.setdefault((place.variable, at), place) != place:
                    raise DelegatedError("type-mismatch")

    def _values(self, query: QueryView, formulas: dict[int, Formula], model: Any) -> dict[int, Any]:
        """The integers of the leaves as bits of the variables they are in; zero elsewhere."""
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
        return {number: values[number] for number in query.variables if number in values}


def make(variant: str | None, options: dict[str, str]) -> Integers:
    """`integers`, `integers:paper`, either with the deadline of a query: `integers(ms=N)`."""
    text = options.get("ms", str(DEADLINE_MS))
    if variant not in (None, "paper") or set(options) - {"ms"} or not text.isdecimal() or int(text) == 0:
        spelled = "integers" + (f":{variant}" if variant else "")
        spelled += "(" + ",".join(f"{key}={value}" for key, value in options.items()) + ")" if options else ""
        raise UsageError(f"expected `integers` or `integers:paper`, with (ms=N) or without, found `{spelled}`")
    return Integers("integers:paper" if variant else "integers", Paper if variant else Sound, int(text))
