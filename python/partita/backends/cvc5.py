"""The layer `cvc5`: the solver cvc5 through its Python package.

There is one solver; constraints and condition are assumptions. cvc5 has a time limit for each check but no memory limit
and no way to interrupt it, and its package holds the GIL while it solves: Ctrl-C waits until the check ends.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from typing import Any

import cvc5
from cvc5 import Kind, RoundingMode

from partita._core import QueryView, Sat
from partita.backends import floats
from partita.backends.incremental import Backend, new_definitions, unknown, unsat
from partita.backends.translate import ARRAY, BOOL, FUNCTIONS, INDEXED, Term, Terms
from partita.layers import Answer

BIT_VECTOR_FUNCTIONS = ("concat", "extract", "zero_extend", "sign_extend", "rotate_left", "rotate_right")
"""Functions on bit-vectors whose names do not begin with `bv`."""
OTHER_NAMES = {"=": "EQUAL", "bvmul": "BITVECTOR_MULT"} | {
    name: f"BITVECTOR_{name.upper()}" for name in BIT_VECTOR_FUNCTIONS
}
"""Kinds that are not named after the SMT-LIB function: `bvadd` is `BITVECTOR_ADD`."""
KINDS = {name: Kind[OTHER_NAMES.get(name, re.sub("^bv", "bitvector_", name).upper())] for name in FUNCTIONS}
FLOAT_NAMES = {"fp.mul": "MULT", "fp.roundToIntegral": "RTI", "fp.isNaN": "IS_NAN"}
FLOAT_KINDS = {
    name: Kind[f"FLOATINGPOINT_{FLOAT_NAMES.get(name, name.removeprefix('fp.').upper())}"] for name in floats.FUNCTIONS
}
CONVERSION_KINDS = {
    "to_fp_bits": (Kind.FLOATINGPOINT_TO_FP_FROM_IEEE_BV, 2),
    "to_fp_float": (Kind.FLOATINGPOINT_TO_FP_FROM_FP, 2),
    "to_fp_signed": (Kind.FLOATINGPOINT_TO_FP_FROM_SBV, 2),
    "to_fp_unsigned": (Kind.FLOATINGPOINT_TO_FP_FROM_UBV, 2),
    "fp.to_ubv": (Kind.FLOATINGPOINT_TO_UBV, 1),
    "fp.to_sbv": (Kind.FLOATINGPOINT_TO_SBV, 1),
}
"""Kinds of the conversions, with their number of indices."""
MODES = {
    "RNE": RoundingMode.ROUND_NEAREST_TIES_TO_EVEN,
    "RNA": RoundingMode.ROUND_NEAREST_TIES_TO_AWAY,
    "RTP": RoundingMode.ROUND_TOWARD_POSITIVE,
    "RTN": RoundingMode.ROUND_TOWARD_NEGATIVE,
    "RTZ": RoundingMode.ROUND_TOWARD_ZERO,
}


class Cvc5Builder:
    """Builds cvc5's terms."""

    # As in `bitwuzla.py`.
    min_exponent = 4
    integral_formats: frozenset[tuple[int, int]] | None = floats.IN_USE
    min_significand = 2

    def __init__(self) -> None:
        self.manager = cvc5.TermManager()
        self.functions = {
            name: (self._indexed if name in INDEXED else self._plain)(kind) for name, kind in KINDS.items()
        }
        self.functions |= {name: self._plain(kind) for name, kind in FLOAT_KINDS.items()}
        self.functions |= {name: self._conversion(*known) for name, known in CONVERSION_KINDS.items()}

    def _plain(self, kind: Any) -> Callable[..., Term]:
        make = self.manager.mkTerm
        return lambda *args: make(kind, *args)

    def _indexed(self, kind: Any) -> Callable[..., Term]:
        make, operator = self.manager.mkTerm, self.manager.mkOp
        return lambda *args: make(operator(kind, *args[:-1]), args[-1])

    def _conversion(self, kind: Any, indices: int) -> Callable[..., Term]:
        make, operator = self.manager.mkTerm, self.manager.mkOp
        return lambda *args: make(operator(kind, *args[:indices]), *args[indices:])

    def rounding(self, mode: str) -> Term:
        return self.manager.mkRoundingMode(MODES[mode])

    def fresh_word(self, width: int, name: str, exponent: int, significand: int, number: Term) -> Term:
        return self.manager.mkConst(self.manager.mkBitVectorSort(width), name)

    def boolean(self, value: bool) -> Term:
        return self.manager.mkBoolean(value)

    def constant(self, value: int, width: int) -> Term:
        return self.manager.mkBitVector(width, f"{value:b}", 2)

    def _array_sort(self, index_width: int, width: int) -> Any:
        return self.manager.mkArraySort(self.manager.mkBitVectorSort(index_width), self.manager.mkBitVectorSort(width))

    def variable(self, name: str, kind: int, width: int, index_width: int) -> Term:
        if kind == BOOL:
            sort = self.manager.getBooleanSort()
        elif kind == ARRAY:
            sort = self._array_sort(index_width, width)
        else:
            sort = self.manager.mkBitVectorSort(width)
        return self.manager.mkConst(sort, name)

    def const_array(self, element: Term, index_width: int, width: int) -> Term:
        return self.manager.mkConstArray(self._array_sort(index_width, width), element)


class Cvc5Backend(Backend):
    name = "cvc5"

    def __init__(self) -> None:
        super().__init__()
        self._solver: Any = None
        self._defined: dict[int, Term] = {}

    def start(self) -> Cvc5Builder:
        builder = Cvc5Builder()
        self._solver = cvc5.Solver(builder.manager)
        self._solver.setOption("incremental", "true")
        self._solver.setOption("produce-models", "true")
        self._solver.setOption("produce-unsat-assumptions", "true")
        # Formats other than single and double.
        self._solver.setOption("fp-exp", "true")
        self._solver.setLogic("QF_ABVFP")
        self._defined = {}
        return builder

    def solve(self, query: QueryView, terms: Terms, deadline: float | None) -> Answer:
        left = 0 if deadline is None else max(1, int((deadline - time.monotonic()) * 1000))
        self._solver.setOption("tlimit-per", str(left))
        assumptions = [terms.term(number) for number in query.constraints]
        condition = terms.term(query.condition)
        for definition in new_definitions(terms, self._defined):
            self._solver.assertFormula(definition)
        result = self._solver.checkSatAssuming(*assumptions, condition)
        if result.isSat():
            return Sat({number: self._value(*terms.variables[number]) for number in query.variables})
        if result.isUnsat():
            failed = set(self._solver.getUnsatAssumptions())
            core = {n for n, term in zip(query.constraints, assumptions, strict=True) if term in failed}
            return unsat(query, core, condition in failed or not failed)
        return unknown(query, deadline, str(result.getUnknownExplanation()))

    def _value(self, term: Term, kind: int, width: int, index_width: int) -> bool | int | tuple[int, dict[int, int]]:
        value = self._solver.getValue(term)
        if kind == BOOL:
            return bool(value.getBooleanValue())
        if kind != ARRAY:
            return int(value.getBitVectorValue(16), 16)
        entries: dict[int, int] = {}
        while value.getKind() == Kind.STORE:
            array, index, element = value
            # The outermost store is the newest.
            entries.setdefault(int(index.getBitVectorValue(16), 16), int(element.getBitVectorValue(16), 16))
            value = array
        if value.getKind() != Kind.CONST_ARRAY:
            raise ValueError(f"expected stores over a constant array as an array's value, found {value.getKind()}")
        return int(value.getConstArrayBase().getBitVectorValue(16), 16), entries


def make() -> Cvc5Backend:
    return Cvc5Backend()
