"""The layer `z3`: the solver Z3 through its Python package.

Each constraint has an activation literal that implies it; a query assumes the literals of its constraints, so that
nothing is retracted and learnt clauses are kept. After `RENEW_AFTER` checks a new solver is made (the terms are kept),
because an old one is slowed down by everything it has seen. Measured on the query logs: without renewal at least four
times slower on some; scopes along the common prefix are as fast on most, but ten times slower on bst_5 and
objres_u32_64; a new solver per query is two to four times slower.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import z3

from partita._core import QueryView, Sat, Unknown
from partita.backends import floats
from partita.backends.incremental import Backend, unknown, unsat
from partita.backends.translate import ARRAY, BOOL, FUNCTIONS, INDEXED, Term, Terms
from partita.layers import Answer

OTHER_NAMES = {"=": "eq", "zero_extend": "zero_ext", "sign_extend": "sign_ext"}
"""Functions that Z3 does not name as SMT-LIB does."""
MAKE = {name: getattr(z3, f"Z3_mk_{OTHER_NAMES.get(name, name)}") for name in FUNCTIONS}
NARY = ("and", "or")
FLOAT_NAMES = {"fp.isNaN": "is_nan", "fp.roundToIntegral": "round_to_integral"}
MAKE_FLOAT = {
    name: getattr(z3, f"Z3_mk_fpa_{FLOAT_NAMES.get(name, name.removeprefix('fp.'))}")
    for name in (*floats.FUNCTIONS, "fp.to_ieee_bv")
}


class Z3Builder:
    """Builds Z3's terms through its C interface: the operators of its Python classes take several times as long."""

    min_exponent = 2
    integral_formats: frozenset[tuple[int, int]] | None = None
    min_significand = 3

    def __init__(self) -> None:
        self.context = z3.Context()
        self.functions = {name: self._function(name, make) for name, make in MAKE.items()}
        self.functions |= {name: self._plain(make) for name, make in MAKE_FLOAT.items()}
        self.functions |= self._conversions()
        self.sorts: dict[int, Any] = {}
        self.float_sorts: dict[tuple[int, int], Any] = {}
        self.modes: dict[str, Term] = {}
        self.serial = 0

    def _function(self, name: str, make: Callable[..., Any]) -> Callable[..., Term]:
        if name in INDEXED:
            return self._indexed(make)
        return self._nary(make) if name in NARY else self._plain(make)

    # `ExprRef` owns a reference to the term.
    def _plain(self, make: Callable[..., Any]) -> Callable[..., Term]:
        context, ref = self.context, self.context.ref()
        return lambda *args: z3.ExprRef(make(ref, *[arg.ast for arg in args]), context)

    def _indexed(self, make: Callable[..., Any]) -> Callable[..., Term]:
        context, ref = self.context, self.context.ref()
        return lambda *args: z3.ExprRef(make(ref, *args[:-1], args[-1].ast), context)

    def _nary(self, make: Callable[..., Any]) -> Callable[..., Term]:
        context, ref = self.context, self.context.ref()
        pair = z3.Ast * 2
        return lambda a, b: z3.ExprRef(make(ref, 2, pair(a.ast, b.ast)), context)

    def _conversions(self) -> dict[str, Callable[..., Term]]:
        context, ref = self.context, self.context.ref()

        def to_float(make: Callable[..., Any]) -> Callable[..., Term]:
            def convert(exponent: int, significand: int, *args: Term) -> Term:
                sort = self.float_sort(exponent, significand)
                return z3.ExprRef(make(ref, *[arg.ast for arg in args], sort.ast), context)

            return convert

        def to_integer(make: Callable[..., Any]) -> Callable[..., Term]:
            return lambda width, mode, number: z3.ExprRef(make(ref, mode.ast, number.ast, width), context)

        return {
            "to_fp_bits": to_float(z3.Z3_mk_fpa_to_fp_bv),
            "to_fp_float": to_float(z3.Z3_mk_fpa_to_fp_float),
            "to_fp_signed": to_float(z3.Z3_mk_fpa_to_fp_signed),
            "to_fp_unsigned": to_float(z3.Z3_mk_fpa_to_fp_unsigned),
            "fp.to_ubv": to_integer(z3.Z3_mk_fpa_to_ubv),
            "fp.to_sbv": to_integer(z3.Z3_mk_fpa_to_sbv),
        }

    def float_sort(self, exponent: int, significand: int) -> Any:
        key = (exponent, significand)
        if key not in self.float_sorts:
            self.float_sorts[key] = z3.FPSort(exponent, significand, self.context)
        return self.float_sorts[key]

    def rounding(self, mode: str) -> Term:
        if mode not in self.modes:
            self.modes[mode] = getattr(z3, mode)(self.context)
        return self.modes[mode]

    def fresh_word(self, width: int, name: str, exponent: int, significand: int, number: Term) -> Term:
        raise AssertionError("Z3 has fp.to_ieee_bv")

    def bits(self, width: int) -> Any:
        if width not in self.sorts:
            self.sorts[width] = z3.BitVecSort(width, self.context)
        return self.sorts[width]

    def boolean(self, value: bool) -> Term:
        return z3.BoolVal(value, self.context)

    def constant(self, value: int, width: int) -> Term:
        if width <= 64:
            return z3.ExprRef(z3.Z3_mk_unsigned_int64(self.context.ref(), value, self.bits(width).ast), self.context)
        return z3.BitVecVal(value, width, self.context)

    def variable(self, name: str, kind: int, width: int, index_width: int) -> Term:
        # The serial number makes the name unique: a dropped name can be used again with another sort.
        self.serial += 1
        name = f"{name}!{self.serial}"
        if kind == BOOL:
            return z3.Bool(name, self.context)
        if kind == ARRAY:
            return z3.Array(name, self.bits(index_width), self.bits(width))
        return z3.BitVec(name, width, self.context)

    def const_array(self, element: Term, index_width: int, width: int) -> Term:
        return z3.ExprRef(
            z3.Z3_mk_const_array(self.context.ref(), self.bits(index_width).ast, element.ast), self.context
        )


NO_LIMIT = 0xFFFFFFFF
RENEW_AFTER = 100
"""Number of checks after which a new solver is made."""


class AssumptionSolver:
    """A solver for sets of formulas, each asserted once with its own activation literal."""

    def __init__(self, context: Any) -> None:
        self.context = context
        self._open()

    def _open(self) -> None:
        self._solver = z3.Solver(ctx=self.context)
        # Activation literal of each formula, with the formula: numbers are reused.
        self._literals: dict[int, tuple[Term, Term]] = {}
        self._checks = 0
        self._limits = (NO_LIMIT, NO_LIMIT)

    def _literal(self, number: int, term: Term) -> Term:
        known = self._literals.get(number)
        if known is not None and known[0] is term:
            return known[1]
        literal = z3.FreshBool("constraint", self.context)
        implied = z3.Z3_mk_implies(self.context.ref(), literal.ast, term.ast)
        self._solver.add(z3.BoolRef(implied, self.context))
        self._literals[number] = (term, literal)
        return literal

    def check(self, formulas: dict[int, Term], seconds: float | None, memory_mb: int | None) -> tuple[Any, set[int]]:
        """Z3's answer; if it is unsat, also the numbers of the formulas in the core."""
        if self._checks >= RENEW_AFTER:
            self._open()
        self._checks += 1
        literals = {number: self._literal(number, term) for number, term in formulas.items()}
        left = NO_LIMIT if seconds is None else max(1, min(NO_LIMIT - 1, int(seconds * 1000)))
        limits = (left, NO_LIMIT if memory_mb is None else memory_mb)
        if limits != self._limits:
            self._solver.set("timeout", limits[0])
            self._solver.set("max_memory", limits[1])
            self._limits = limits
        result = self._solver.check(*literals.values())
        failed = {literal.get_id() for literal in self._solver.unsat_core()} if result == z3.unsat else set()
        return result, {number for number, literal in literals.items() if literal.get_id() in failed}

    def model(self) -> Any:
        return self._solver.model()

    def reason_unknown(self) -> str:
        return str(self._solver.reason_unknown())


class Z3Backend(Backend):
    name = "z3"

    def __init__(self) -> None:
        super().__init__()
        self._assumptions: Any = None

    def start(self) -> Z3Builder:
        builder = Z3Builder()
        self._assumptions = AssumptionSolver(builder.context)
        return builder

    def interrupt(self) -> None:
        if self._assumptions is not None:
            self._assumptions.context.interrupt()

    def solve(self, query: QueryView, terms: Terms, deadline: float | None) -> Answer:
        formulas = {number: terms.term(number) for number in (*query.constraints, query.condition)}
        seconds = None if deadline is None else deadline - time.monotonic()
        result, core = self._assumptions.check(formulas, seconds, query.memory_mb)
        if result == z3.sat:
            model = self._assumptions.model()
            return Sat({number: value(model, *terms.variables[number]) for number in query.variables})
        if result == z3.unsat:
            return unsat(query, core, query.condition in core and query.condition not in query.constraints)
        reason = self._assumptions.reason_unknown()
        if "memory" in reason or "memout" in reason:
            return Unknown("memout")
        return unknown(query, deadline, reason)


def value(model: Any, term: Term, kind: int, width: int, index_width: int) -> bool | int | tuple[int, dict[int, int]]:
    found = model.eval(term, model_completion=True)
    if kind == BOOL:
        return bool(z3.is_true(found))
    if kind != ARRAY:
        return int(found.as_long())
    entries: dict[int, int] = {}
    while z3.is_store(found):
        array, index, element = found.children()
        # The outermost store is the newest.
        entries.setdefault(index.as_long(), element.as_long())
        found = array
    if z3.is_K(found):
        return int(found.children()[0].as_long()), entries
    if z3.is_as_array(found):
        function = model[z3.get_as_array_func(found)]
        for i in range(function.num_entries()):
            entry = function.entry(i)
            entries.setdefault(entry.arg_value(0).as_long(), entry.value().as_long())
        return int(function.else_value().as_long()), entries
    raise ValueError(f"expected stores, a constant array or a function as an array's value, found {found.decl()}")


def make() -> Z3Backend:
    return Z3Backend()
