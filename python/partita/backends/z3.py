"""The layer `z3`: the solver Z3 through its Python package.

One long-lived solver in a context of its own, with a scope a constraint: a query pops back to what it shares with the
one before and pushes the rest, tracked, so that cores can be read. Measured on the query logs against assumptions over
activation literals (which slow every check down as they add up, four times and more), plain assumptions, one scope a
query (1.5 to 2 times) and a fresh solver a query (2 to 4 times).
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import z3

from partita._core import QueryView, Sat, Unknown
from partita.backends.incremental import Backend, stopped, unsat
from partita.backends.translate import ARRAY, BOOL, Term, Terms
from partita.layers import Answer

MAKE = {
    "not": z3.Z3_mk_not,
    "xor": z3.Z3_mk_xor,
    "=": z3.Z3_mk_eq,
    "ite": z3.Z3_mk_ite,
    "bvnot": z3.Z3_mk_bvnot,
    "bvand": z3.Z3_mk_bvand,
    "bvor": z3.Z3_mk_bvor,
    "bvxor": z3.Z3_mk_bvxor,
    "bvadd": z3.Z3_mk_bvadd,
    "bvsub": z3.Z3_mk_bvsub,
    "bvmul": z3.Z3_mk_bvmul,
    "bvudiv": z3.Z3_mk_bvudiv,
    "bvurem": z3.Z3_mk_bvurem,
    "bvsdiv": z3.Z3_mk_bvsdiv,
    "bvsrem": z3.Z3_mk_bvsrem,
    "bvshl": z3.Z3_mk_bvshl,
    "bvlshr": z3.Z3_mk_bvlshr,
    "bvashr": z3.Z3_mk_bvashr,
    "bvult": z3.Z3_mk_bvult,
    "bvule": z3.Z3_mk_bvule,
    "bvslt": z3.Z3_mk_bvslt,
    "bvsle": z3.Z3_mk_bvsle,
    "concat": z3.Z3_mk_concat,
    "select": z3.Z3_mk_select,
    "store": z3.Z3_mk_store,
}
INDEXED = {"extract": z3.Z3_mk_extract, "zero_extend": z3.Z3_mk_zero_ext, "sign_extend": z3.Z3_mk_sign_ext}
NARY = {"and": z3.Z3_mk_and, "or": z3.Z3_mk_or}


class Maker:
    """Makes Z3's terms, through its C interface: the operators of its Python classes take several times as long."""

    def __init__(self) -> None:
        self.context = z3.Context()
        self.functions = {name: self._plain(make) for name, make in MAKE.items()}
        self.functions |= {name: self._indexed(make) for name, make in INDEXED.items()}
        self.functions |= {name: self._nary(make) for name, make in NARY.items()}
        self.sorts: dict[int, Any] = {}
        self.serial = 0

    # `ExprRef` holds a reference for as long as it lives.
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
        # A name can come back with another sort after it was dropped; a number makes it unique.
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


class Z3Backend(Backend):
    name = "z3"

    def __init__(self) -> None:
        super().__init__()
        self._context: Any = None
        self._solver: Any = None
        # Constraints in the solver, a scope each: number, term (a number can be reused) and tracking literal.
        self._stack: list[tuple[int, Term, Term]] = []
        self._limits = (NO_LIMIT, NO_LIMIT)

    def start(self) -> Maker:
        maker = Maker()
        self._context = maker.context
        self._solver = z3.Solver(ctx=maker.context)
        self._stack = []
        self._limits = (NO_LIMIT, NO_LIMIT)
        return maker

    def interrupt(self) -> None:
        if self._context is not None:
            self._context.interrupt()

    def _set_limits(self, deadline: float | None, memory_mb: int | None) -> None:
        left = NO_LIMIT
        if deadline is not None:
            left = max(1, min(NO_LIMIT - 1, int((deadline - time.monotonic()) * 1000)))
        limits = (left, NO_LIMIT if memory_mb is None else memory_mb)
        if limits != self._limits:
            self._solver.set("timeout", limits[0])
            self._solver.set("max_memory", limits[1])
            self._limits = limits

    def _enter(self, numbers: list[int], terms: Terms) -> None:
        """Makes the solver's scopes those of the numbers."""
        shared = 0
        for number, (known, term, _) in zip(numbers, self._stack, strict=False):
            if number != known or terms.term(number) is not term:
                break
            shared += 1
        if shared < len(self._stack):
            self._solver.pop(len(self._stack) - shared)
            del self._stack[shared:]
        for number in numbers[shared:]:
            term = terms.term(number)
            literal = z3.Bool(f"constraint{number}", self._context)
            self._solver.push()
            self._solver.assert_and_track(z3.BoolRef(term.ast, self._context), literal)
            self._stack.append((number, term, literal))

    def solve(self, query: QueryView, terms: Terms, deadline: float | None) -> Answer:
        self._enter(list(dict.fromkeys([*query.constraints, query.condition])), terms)
        self._set_limits(deadline, query.memory_mb)
        result = self._solver.check()
        if result == z3.sat:
            model = self._solver.model()
            return Sat({number: value(model, *terms.variables[number]) for number in query.variables})
        if result == z3.unsat:
            failed = {literal.get_id() for literal in self._solver.unsat_core()}
            core = {number for number, _, literal in self._stack if literal.get_id() in failed}
            return unsat(query, core, query.condition in core)
        reason = self._solver.reason_unknown()
        if "memory" in reason or "memout" in reason:
            return Unknown("memout")
        return stopped(query, deadline, reason)


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
