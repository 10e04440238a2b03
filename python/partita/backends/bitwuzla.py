"""The layer `bitwuzla`: the solver Bitwuzla through its Python package.

Constraints and condition of a query are assumptions, so that nothing is retracted and bit-blasted terms and learnt
clauses are kept. After `RENEW_AFTER` checks a new instance is made (the terms are kept), because an old one is slowed
down by everything it has seen: on strtol_6 this takes 3.8 s instead of 19.5 s, and elsewhere it costs nothing. Scopes
along the common prefix take as long as assumptions; a new instance per query takes up to four times as long. The
terminator checks deadline and cancellation.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from typing import Any

from bitwuzla import Bitwuzla, Kind, Option, Options, Result, RoundingMode, TermManager

from partita._core import QueryView, Sat
from partita.backends import floats
from partita.backends.incremental import Backend, new_definitions, unknown, unsat
from partita.backends.translate import ARRAY, BOOL, FUNCTIONS, INDEXED, Term, Terms
from partita.layers import Answer

OTHER_NAMES = {
    "=": "EQUAL", "bvlshr": "BV_SHR", "concat": "BV_CONCAT", "extract": "BV_EXTRACT", "zero_extend": "BV_ZERO_EXTEND",
    "sign_extend": "BV_SIGN_EXTEND", "select": "ARRAY_SELECT", "store": "ARRAY_STORE",
}  # fmt: skip
"""Kinds that are not named after the SMT-LIB function: `bvadd` is `BV_ADD`."""
KINDS = {name: Kind[OTHER_NAMES.get(name, re.sub("^bv", "bv_", name).upper())] for name in FUNCTIONS}
FLOAT_NAMES = {"fp.roundToIntegral": "FP_RTI", "fp.eq": "FP_EQUAL", "fp.isNaN": "FP_IS_NAN"}
FLOAT_KINDS = {name: Kind[FLOAT_NAMES.get(name, name.replace(".", "_").upper())] for name in floats.FUNCTIONS}
CONVERSION_KINDS = {
    "to_fp_bits": (Kind.FP_TO_FP_FROM_BV, 2),
    "to_fp_float": (Kind.FP_TO_FP_FROM_FP, 2),
    "to_fp_signed": (Kind.FP_TO_FP_FROM_SBV, 2),
    "to_fp_unsigned": (Kind.FP_TO_FP_FROM_UBV, 2),
    "fp.to_ubv": (Kind.FP_TO_UBV, 1),
    "fp.to_sbv": (Kind.FP_TO_SBV, 1),
}
"""Kinds of the conversions, with their number of indices."""

RENEW_AFTER = 200
"""Number of checks after which a new instance is made."""


class BitwuzlaBuilder:
    """Builds Bitwuzla's terms."""

    # With two bits of exponent SymFPU, which Bitwuzla and cvc5 use, adds some numbers wrongly. Rounding to an integer
    # ends the process in some formats, (3, 3) and (4, 5) among them: only formats in use are allowed.
    min_exponent = 4
    integral_formats: frozenset[tuple[int, int]] | None = floats.IN_USE
    min_significand = 2

    def __init__(self) -> None:
        self.manager = TermManager()
        self.functions = {
            name: (self._indexed if name in INDEXED else self._plain)(kind) for name, kind in KINDS.items()
        }
        self.functions |= {name: self._plain(kind) for name, kind in FLOAT_KINDS.items()}
        self.functions |= {name: self._conversion(*known) for name, known in CONVERSION_KINDS.items()}
        self.sorts: dict[int, Any] = {}

    def _plain(self, kind: Kind) -> Callable[..., Term]:
        make = self.manager.mk_term
        return lambda *args: make(kind, list(args))

    def _indexed(self, kind: Kind) -> Callable[..., Term]:
        make = self.manager.mk_term
        return lambda *args: make(kind, [args[-1]], list(args[:-1]))

    def _conversion(self, kind: Kind, indices: int) -> Callable[..., Term]:
        make = self.manager.mk_term
        return lambda *args: make(kind, list(args[indices:]), list(args[:indices]))

    def rounding(self, mode: str) -> Term:
        return self.manager.mk_rm_value(RoundingMode[mode])

    def fresh_word(self, width: int, name: str, exponent: int, significand: int, number: Term) -> Term:
        return self.manager.mk_const(self.bits(width), name)

    def bits(self, width: int) -> Any:
        if width not in self.sorts:
            self.sorts[width] = self.manager.mk_bv_sort(width)
        return self.sorts[width]

    def boolean(self, value: bool) -> Term:
        return self.manager.mk_true() if value else self.manager.mk_false()

    def constant(self, value: int, width: int) -> Term:
        return self.manager.mk_bv_value(self.bits(width), value)

    def variable(self, name: str, kind: int, width: int, index_width: int) -> Term:
        if kind == BOOL:
            sort = self.manager.mk_bool_sort()
        elif kind == ARRAY:
            sort = self.manager.mk_array_sort(self.bits(index_width), self.bits(width))
        else:
            sort = self.bits(width)
        return self.manager.mk_const(sort, name)

    def const_array(self, element: Term, index_width: int, width: int) -> Term:
        return self.manager.mk_const_array(
            self.manager.mk_array_sort(self.bits(index_width), self.bits(width)), element
        )


class BitwuzlaBackend(Backend):
    name = "bitwuzla"

    def __init__(self) -> None:
        super().__init__()
        self._solver: Any = None
        self._checks = 0
        self._defined: dict[int, Term] = {}
        self._memory_mb: int | None = None
        self._query: QueryView | None = None
        self._deadline: float | None = None

    def start(self) -> BitwuzlaBuilder:
        self._solver = None
        return BitwuzlaBuilder()

    def _open(self, builder: BitwuzlaBuilder, memory_mb: int | None) -> None:
        options = Options()
        options.set(Option.PRODUCE_MODELS, True)
        options.set(Option.PRODUCE_UNSAT_ASSUMPTIONS, True)
        if memory_mb is not None:
            options.set(Option.MEMORY_LIMIT, memory_mb)
        self._solver = Bitwuzla(builder.manager, options)
        self._solver.configure_terminator(self._must_stop)
        self._memory_mb = memory_mb
        self._checks = 0
        self._defined = {}

    def _must_stop(self) -> bool:
        if self._query is not None and self._query.cancelled():
            return True
        return self._deadline is not None and time.monotonic() >= self._deadline

    def solve(self, query: QueryView, terms: Terms, deadline: float | None) -> Answer:
        if self._solver is None or self._memory_mb != query.memory_mb or self._checks >= RENEW_AFTER:
            assert isinstance(terms.builder, BitwuzlaBuilder)
            self._open(terms.builder, query.memory_mb)
        self._checks += 1
        self._query, self._deadline = query, deadline
        try:
            numbers = query.constraints
            assumptions = [terms.term(number) for number in numbers]
            condition = terms.term(query.condition)
            for definition in new_definitions(terms, self._defined):
                self._solver.assert_formula(definition)
            result = self._solver.check_sat(*assumptions, condition)
            if result == Result.SAT:
                return Sat({number: self._value(*terms.variables[number]) for number in query.variables})
            if result == Result.UNSAT:
                failed = {term.id() for term in self._solver.get_unsat_assumptions()}
                core = {n for n, term in zip(numbers, assumptions, strict=True) if term.id() in failed}
                return unsat(query, core, condition.id() in failed or not failed)
            return unknown(query, deadline, "memout" if query.memory_mb is not None else "gave up without a reason")
        finally:
            self._query = self._deadline = None

    def _value(self, term: Term, kind: int, width: int, index_width: int) -> bool | int | tuple[int, dict[int, int]]:
        value = self._solver.get_value(term)
        if kind == BOOL:
            return bool(value.value())
        if kind != ARRAY:
            return int(value.value(16), 16)
        entries: dict[int, int] = {}
        while value.kind() == Kind.ARRAY_STORE:
            array, index, element = value.children()
            # The outermost store is the newest.
            entries.setdefault(int(index.value(16), 16), int(element.value(16), 16))
            value = array
        if value.kind() != Kind.CONST_ARRAY:
            raise ValueError(f"expected stores over a constant array as an array's value, found {value.kind()}")
        return int(value.children()[0].value(16), 16), entries


def make() -> BitwuzlaBackend:
    return BitwuzlaBackend()
