"""The layer `z3(partial=on)`: Z3 with the assignments of the inputs at its conflicts, as partial solutions.

Z3's interface has no access to conflicts. A user propagator is told when a term that it watches gets a value, and when
the search goes back: what it knows just before that is the assignment at the conflict, except for bits that got their
values in the last propagation. It watches single bits of the inputs, since a word has a value only when all of its bits
have. Only Z3's general engine tells it anything: the one for bit-vectors alone, which is faster, removes the terms
before the search. So this layer is slower than `z3`. It exists for the third paper's experiments: its authors changed
Z3.

Answers: as `z3`, and `RestView.keep_partial` gets the partial solutions: distinct ones, sampled uniformly.
Cost: a new solver for each query, and a call of Python for each bit that gets a value.
Source: "Partial solutions in the cache" (FSE 2024), Algorithm 4 and section 4.1.
"""

from __future__ import annotations

import random
import struct
import time
from typing import Any

import z3

from partita._core import OPERATORS, QueryView, RestView, Sat, Unknown
from partita.backends.incremental import Backend, unknown, unsat
from partita.backends.translate import ARRAY, BITS, BOOL, ROW, Term, Terms
from partita.backends.z3 import NO_LIMIT, Z3Builder, value
from partita.layers import Answer

READ = [name for name, *_ in OPERATORS].index("Read")
Place = tuple[int, int | None, int]
"""A bit of an input: number of the variable, index of the element of an array, and the bit."""
Values = dict[int, Any]


class Unwatched(z3.UserPropagateBase):  # type: ignore[misc]  # z3 has no types
    """For a search that Z3 starts inside its own, for quantifiers: its assignments are not of the query's inputs."""

    def __init__(self, context: Any) -> None:
        super().__init__(None, context)

    def push(self) -> None: ...

    def pop(self, levels: int) -> None: ...

    def fresh(self, new_ctx: Any) -> Unwatched:
        return Unwatched(new_ctx)


class Watcher(z3.UserPropagateBase):  # type: ignore[misc]  # z3 has no types
    """Knows the bits that have a value, and takes their assignment whenever the search goes back."""

    def __init__(self, solver: Any, bits: dict[Place, Term], limit: int) -> None:
        super().__init__(solver)
        self.found: list[frozenset[tuple[Place, bool]]] = []
        self.distinct = 0
        self._seen: set[int] = set()
        self._trail: list[tuple[Place, bool]] = []
        self._levels: list[int] = []
        self._limit = limit
        self._random = random.Random(1)
        self._places = {term.get_id(): place for place, term in bits.items()}
        self.add_fixed(self._fixed)
        for term in bits.values():
            self.add(term)

    def push(self) -> None:
        self._levels.append(len(self._trail))

    def pop(self, levels: int) -> None:
        self._take()
        del self._trail[self._levels[-levels] :]
        del self._levels[-levels:]

    def fresh(self, new_ctx: Any) -> Unwatched:
        return Unwatched(new_ctx)

    def _fixed(self, term: Any, found: Any) -> None:
        self._trail.append((self._places[term.get_id()], found.eq(self._one(found))))

    def _one(self, found: Any) -> Any:
        return z3.BoolVal(True, found.ctx) if z3.is_bool(found) else z3.BitVecVal(1, 1, found.ctx)

    def _take(self) -> None:
        """Keeps the assignment: each distinct one with the same probability."""
        assignment = frozenset(self._trail)
        if not assignment or hash(assignment) in self._seen:
            return
        self._seen.add(hash(assignment))
        self.distinct += 1
        if len(self.found) < self._limit:
            self.found.append(assignment)
        elif (at := self._random.randrange(self.distinct)) < self._limit:
            self.found[at] = assignment


class Z3Conflicts(Backend):
    name = "z3"

    def __init__(self) -> None:
        super().__init__()
        self.counters |= {"conflicts": 0, "partial": 0}
        self._context: Any = None
        self._reads: dict[int, tuple[int, int, int]] = {}
        self._limit = 0
        self._found: list[Values] = []

    def start(self) -> Z3Builder:
        self._reads = {}
        builder = Z3Builder()
        self._context = builder.context
        return builder

    def interrupt(self) -> None:
        if self._context is not None:
            self._context.interrupt()

    def check(self, query: QueryView, rest: RestView) -> Answer:
        self._limit, self._found = rest.partial_limit, []
        for (number,) in struct.iter_unpack("=I", query.dropped):
            self._reads.pop(number, None)
        answer = super().check(query, rest)
        if self._found:
            rest.keep_partial(query, self._found)
        return answer

    def solve(self, query: QueryView, terms: Terms, deadline: float | None) -> Answer:
        context = self._context
        solver = z3.SimpleSolver(ctx=context)
        if deadline is not None:
            solver.set("timeout", max(1, min(NO_LIMIT - 1, int((deadline - time.monotonic()) * 1000))))
        if query.memory_mb is not None:
            solver.set("max_memory", query.memory_mb)
        literals = {}
        for number in dict.fromkeys((*query.constraints, query.condition)):
            literals[number] = z3.FreshBool("constraint", context)
            solver.add(z3.Implies(literals[number], z3.BoolRef(terms.term(number).ast, context)))
        bits = self._bits(query, terms) if self._limit else {}
        watcher = Watcher(solver, bits, self._limit) if bits else None
        result = solver.check(*literals.values())
        if watcher is not None:
            self._found = [_values(query, terms, assignment) for assignment in watcher.found]
            self.counters["partial"] += len(self._found)
            statistics = solver.statistics()
            self.counters["conflicts"] += statistics.conflicts if "conflicts" in statistics.keys() else 0  # noqa: SIM118
        if result == z3.sat:
            model = solver.model()
            return Sat({number: value(model, *terms.variables[number]) for number in query.variables})
        if result == z3.unsat:
            failed = {literal.get_id() for literal in solver.unsat_core()}
            core = {number for number, literal in literals.items() if literal.get_id() in failed}
            return unsat(query, core, query.condition in core and query.condition not in query.constraints)
        reason = str(solver.reason_unknown())
        if "memory" in reason or "memout" in reason:
            return Unknown("memout")
        return unknown(query, deadline, reason)

    def _bits(self, query: QueryView, terms: Terms) -> dict[Place, Term]:
        """The single bits of the inputs of the query; of arrays those of elements that are read at constant indices."""
        context, make = self._context, terms.builder.functions
        self._note_reads(query, terms)
        found: dict[Place, Term] = {}

        def add(number: int, index: int | None, term: Term, width: int) -> None:
            for bit in range(width):
                found[number, index, bit] = z3.BitVecRef(make["extract"](bit, bit, term).ast, context)

        for number in query.variables:
            term, kind, width, index_width = terms.variables[number]
            if kind == BITS:
                add(number, None, term, width)
            elif kind == BOOL:
                found[number, None, 0] = term
        elements = {
            (array, first + i)
            for array, first, count in self._reads.values()
            for i in range(count)
            if array in query.variables and terms.variables[array][1] == ARRAY
        }
        for array, index in sorted(elements):
            term, _, width, index_width = terms.variables[array]
            element = make["select"](term, terms.builder.constant(index % (1 << index_width), index_width))
            add(array, index % (1 << index_width), element, width)
        return found

    def _note_reads(self, query: QueryView, terms: Terms) -> None:
        for number, op, kind, width, _, a, b, _ in ROW.iter_unpack(query.nodes):
            if op == READ and kind == BITS and a in terms.variables and b in terms.constants:
                self._reads[number] = (a, terms.constants[b], width // terms.widths[a])


def _values(query: QueryView, terms: Terms, assignment: frozenset[tuple[Place, bool]]) -> Values:
    """The values of all variables of the query; bits without a value are zero."""
    values: Values = {}
    for number in query.variables:
        kind = terms.variables[number][1]
        values[number] = (0, {}) if kind == ARRAY else False if kind == BOOL else 0
    for (number, index, bit), is_set in assignment:
        if index is not None:
            elements = values[number][1]
            elements[index] = elements.get(index, 0) | is_set << bit
        elif terms.variables[number][1] == BOOL:
            values[number] = is_set
        else:
            values[number] |= is_set << bit
    return values


def make() -> Z3Conflicts:
    return Z3Conflicts()
