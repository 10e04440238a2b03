"""Partita as a solver of pySMT, named "partita": `pip install partita[pysmt]`.

    import partita.integrations.pysmt
    partita.integrations.pysmt.register()
    pysmt.shortcuts.is_sat(formula, solver_name="partita")

Quantifier-free bit-vectors and arrays of them, incremental, with assumptions, models and unsat cores.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pysmt.operators as op
from pysmt.environment import Environment, get_env
from pysmt.exceptions import ConvertExpressionError, PysmtValueError, SolverReturnedUnknownResultError
from pysmt.fnode import FNode
from pysmt.logics import QF_ABV, QF_BOOL, QF_BV, Logic
from pysmt.solvers.eager import EagerModel
from pysmt.solvers.options import SolverOptions
from pysmt.solvers.solver import Converter, IncrementalTrackingSolver, UnsatCoreSolver
from pysmt.walkers import DagWalker, handles

from partita import Expr, UsageError, apply, array, boolean, bv, const_array
from partita import Solver as Chain

__all__ = ["NAME", "PartitaSolver", "register"]

NAME = "partita"

FUNCTIONS = {
    op.AND: "and",
    op.OR: "or",
    op.NOT: "not",
    op.IMPLIES: "=>",
    op.IFF: "=",
    op.EQUALS: "=",
    op.ITE: "ite",
    op.BV_NOT: "bvnot",
    op.BV_NEG: "bvneg",
    op.BV_AND: "bvand",
    op.BV_OR: "bvor",
    op.BV_XOR: "bvxor",
    op.BV_CONCAT: "concat",
    op.BV_ADD: "bvadd",
    op.BV_SUB: "bvsub",
    op.BV_MUL: "bvmul",
    op.BV_UDIV: "bvudiv",
    op.BV_UREM: "bvurem",
    op.BV_SDIV: "bvsdiv",
    op.BV_SREM: "bvsrem",
    op.BV_LSHL: "bvshl",
    op.BV_LSHR: "bvlshr",
    op.BV_ASHR: "bvashr",
    op.BV_ULT: "bvult",
    op.BV_ULE: "bvule",
    op.BV_SLT: "bvslt",
    op.BV_SLE: "bvsle",
    op.BV_COMP: "bvcomp",
    op.ARRAY_SELECT: "select",
    op.ARRAY_STORE: "store",
}
"""SMT-LIB names of pySMT's operators without indices."""

INDEXED: dict[int, tuple[str, Callable[[FNode], tuple[int, ...]]]] = {
    op.BV_EXTRACT: ("extract", lambda f: (f.bv_extract_end(), f.bv_extract_start())),
    op.BV_ROL: ("rotate_left", lambda f: (f.bv_rotation_step(),)),
    op.BV_ROR: ("rotate_right", lambda f: (f.bv_rotation_step(),)),
    op.BV_ZEXT: ("zero_extend", lambda f: (f.bv_extend_step(),)),
    op.BV_SEXT: ("sign_extend", lambda f: (f.bv_extend_step(),)),
}
"""SMT-LIB names of pySMT's indexed operators, and their indices."""

LEAVES = {op.SYMBOL, op.BOOL_CONSTANT, op.BV_CONSTANT, op.ARRAY_VALUE}
UNSUPPORTED = set(op.ALL_TYPES) - set(FUNCTIONS) - set(INDEXED) - LEAVES


class PartitaOptions(SolverOptions):  # type: ignore[misc]
    """`solver_options`: `layers` (a chain as text) and `timeout` (seconds for each check)."""

    def __call__(self, solver: PartitaSolver) -> None:
        known = {"layers", "timeout"}
        if unknown := sorted(set(self.solver_options) - known):
            raise PysmtValueError(f"expected the options {', '.join(sorted(known))}, found `{unknown[0]}`")
        options = dict(self.solver_options)
        try:
            solver.chain = Chain(layers=options.get("layers"), timeout=options.get("timeout"))
        except UsageError as error:
            raise PysmtValueError(str(error)) from None


class PartitaConverter(Converter, DagWalker):  # type: ignore[misc]
    """Formulas of pySMT as expressions."""

    def __init__(self, environment: Environment) -> None:
        DagWalker.__init__(self, environment)
        self.symbols: dict[FNode, Expr] = {}

    def convert(self, formula: FNode) -> Expr:
        expr: Expr = self.walk(formula)
        return expr

    @handles(FUNCTIONS)  # type: ignore[untyped-decorator]
    def walk_function(self, formula: FNode, args: Sequence[Expr], **_: Any) -> Expr:
        return apply(FUNCTIONS[formula.node_type()], *args)

    @handles(INDEXED)  # type: ignore[untyped-decorator]
    def walk_indexed(self, formula: FNode, args: Sequence[Expr], **_: Any) -> Expr:
        name, params = INDEXED[formula.node_type()]
        return apply(name, *args, params=params(formula))

    def walk_symbol(self, formula: FNode, **_: Any) -> Expr:
        name, sort = formula.symbol_name(), formula.symbol_type()
        if sort.is_bool_type():
            expr = boolean(name)
        elif sort.is_bv_type():
            expr = bv(name, sort.width)
        else:
            expr = array(name, *self._widths(sort))
        self.symbols[formula] = expr
        return expr

    def walk_bool_constant(self, formula: FNode, **_: Any) -> Expr:
        return boolean(formula.constant_value())

    def walk_bv_constant(self, formula: FNode, **_: Any) -> Expr:
        return bv(formula.constant_value(), formula.bv_width())

    def walk_array_value(self, formula: FNode, args: Sequence[Expr], **_: Any) -> Expr:
        index_width, _element = self._widths(formula.get_type())
        expr = const_array(index_width, args[0])
        for index, element in zip(args[1::2], args[2::2], strict=True):
            expr = expr.store(index, element)
        return expr

    @handles(UNSUPPORTED)  # type: ignore[untyped-decorator]
    def walk_other(self, formula: FNode, **_: Any) -> Expr:
        raise ConvertExpressionError(f"expected bit-vectors, arrays and booleans, found {formula}", formula)

    def _widths(self, sort: Any) -> tuple[int, int]:
        if not (sort.is_array_type() and sort.index_type.is_bv_type() and sort.elem_type.is_bv_type()):
            raise ConvertExpressionError(f"expected arrays from bit-vectors to bit-vectors, found {sort}")
        return sort.index_type.width, sort.elem_type.width


class PartitaSolver(IncrementalTrackingSolver, UnsatCoreSolver):  # type: ignore[misc]
    """A chain of layers behind pySMT's interface."""

    LOGICS = (QF_BV, QF_ABV, QF_BOOL)
    OptionsClass = PartitaOptions
    chain: Chain

    def __init__(self, environment: Environment, logic: Logic, **options: Any) -> None:
        IncrementalTrackingSolver.__init__(self, environment=environment, logic=logic, **options)
        self.options(self)
        self.mgr = environment.formula_manager
        self.converter = PartitaConverter(environment)
        self._names: dict[FNode, str] = {}

    def _reset_assertions(self) -> None:
        self.chain.reset()

    def _add_assertion(self, formula: FNode, named: str | None = None) -> FNode:
        self._assert_is_boolean(formula)
        if named is not None:
            self._names[formula] = named
        self.chain.add(self.converter.convert(formula))
        return formula

    def _solve(self, assumptions: Sequence[FNode] | None = None) -> bool:
        verdict = self.chain.check(*(self.converter.convert(formula) for formula in assumptions or ()))
        if verdict == "unknown":
            raise SolverReturnedUnknownResultError(self.chain.reason_unknown)
        return verdict == "sat"

    def _push(self, levels: int = 1) -> None:
        for _ in range(levels):
            self.chain.push()

    def _pop(self, levels: int = 1) -> None:
        self.chain.pop(levels)

    def _exit(self) -> None:
        del self.chain

    def get_value(self, item: FNode) -> FNode:
        self._assert_no_function_type(item)
        return self._constant(item.get_type(), self.chain.model()[self.converter.convert(item)])

    def get_model(self) -> EagerModel:
        model = self.chain.model()
        values = {
            symbol: self._constant(symbol.symbol_type(), model[e]) for symbol, e in self.converter.symbols.items()
        }
        return EagerModel(assignment=values, environment=self.environment)

    def print_model(self, name_filter: str | None = None) -> None:
        for symbol in self.converter.symbols:
            if name_filter is None or not symbol.symbol_name().startswith(name_filter):
                print(f"{symbol.symbol_name()} = {self.get_value(symbol)}")

    def get_unsat_core(self) -> set[FNode]:
        self._check_unsat_core_config()
        core = {hash(expr) for expr in self.chain.unsat_core()}
        return {formula for formula in self.assertions if hash(self.converter.convert(formula)) in core}

    def get_named_unsat_core(self) -> dict[str, FNode]:
        core = enumerate(self.get_unsat_core())
        return {self._names.get(formula, f"_a{number}"): formula for number, formula in core}

    def _constant(self, sort: Any, value: Any) -> FNode:
        if sort.is_bool_type():
            return self.mgr.Bool(value)
        if sort.is_bv_type():
            return self.mgr.BV(value, sort.width)
        default, elements = value
        index, element = sort.index_type.width, sort.elem_type.width
        rows = {self.mgr.BV(at, index): self.mgr.BV(to, element) for at, to in elements.items()}
        return self.mgr.Array(sort.index_type, self.mgr.BV(default, element), rows)


def register(environment: Environment | None = None, *, preferred: bool = False) -> None:
    """Registers the solver in an environment of pySMT (default: the current one), before all others if `preferred`."""
    factory = (environment or get_env()).factory
    factory._all_solvers[NAME] = PartitaSolver
    factory._all_unsat_core_solvers[NAME] = PartitaSolver
    order = [name for name in factory.solver_preference_list if name != NAME]
    factory.set_solver_preference_list([NAME, *order] if preferred else [*order, NAME])
