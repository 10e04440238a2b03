"""Partita as a solver of claripy, and so of angr: `pip install partita[claripy]`.

    solver = partita.integrations.claripy.Solver()             # in place of claripy.Solver()
    state = angr.SimState(project, plugins={"solver": SimSolver(solver=solver)})

`Solver` is claripy's own front end, with its caches, over `BackendPartita`. Minimum and maximum are computed by the
chain of layers, mostly with two queries; further values of an expression extend the path of the first. Floating-point
operations are those of `claripy_floats`; strings raise claripy's `BackendError`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partialmethod, reduce
from typing import Any

import claripy
from claripy.backends import Backend, backends_by_type
from claripy.errors import BackendError, ClaripySolverInterruptError, UnsatError
from claripy.frontend import FullFrontend
from claripy.frontend.mixin.model_cache_mixin import ModelCacheMixin

from partita import Expr, Model, all_of, any_of, apply, boolean, bv, concat
from partita import Solver as Chain
from partita.errors import UndecidedError
from partita.integrations import claripy_floats as floats

__all__ = ["BackendPartita", "Solver", "SolverComposite", "backend"]

_FLOATS = floats.Occurrences()

Hook = Callable[[dict[str, Any]], object]


def _left_associative(name: str) -> Callable[..., Expr]:
    """An SMT-LIB function of two or more arguments, left-associative."""
    return lambda *args: reduce(lambda a, b: apply(name, a, b), args)


def _extend(name: str) -> Callable[[int, Expr], Expr]:
    return lambda count, value: apply(name, value, params=(count,))


def _rotate(left: bool) -> Callable[[Expr, Expr], Expr]:
    """Rotation by an amount that is an expression."""

    def rotate(value: Expr, amount: Expr) -> Expr:
        by = amount.urem(value.width)
        back = (bv(value.width, value.width) - by).urem(value.width)
        return (value << by) | value.lshr(back) if left else value.lshr(by) | (value << back)

    return rotate


def _reverse(value: Expr) -> Expr:
    if value.width % 8:
        raise BackendError(f"expected whole bytes to reverse, found {value.width} bits")
    parts = [value.extract(low + 7, low) for low in range(0, value.width, 8)]
    return concat(*parts) if len(parts) > 1 else value


OPERATIONS: dict[str, Callable[..., Any]] = {
    "__add__": _left_associative("bvadd"),
    "__sub__": _left_associative("bvsub"),
    "__mul__": _left_associative("bvmul"),
    "__floordiv__": _left_associative("bvudiv"),
    "__mod__": _left_associative("bvurem"),
    "SDiv": _left_associative("bvsdiv"),
    "SMod": _left_associative("bvsrem"),  # the sign of the dividend, as Z3's back end has it
    "__and__": _left_associative("bvand"),
    "__or__": _left_associative("bvor"),
    "__xor__": _left_associative("bvxor"),
    "__invert__": lambda a: ~a,
    "__neg__": lambda a: -a,
    "__lshift__": _left_associative("bvshl"),
    "__rshift__": _left_associative("bvashr"),
    "LShR": _left_associative("bvlshr"),
    "RotateLeft": _rotate(True),
    "RotateRight": _rotate(False),
    "Reverse": _reverse,
    "__eq__": lambda a, b: a == b,
    "__ne__": lambda a, b: a != b,
    **{
        name.upper(): _left_associative(f"bv{name}")
        for name in ("ult", "ule", "ugt", "uge", "slt", "sle", "sgt", "sge")
    },
    "And": lambda *args: all_of(args),
    "Or": lambda *args: any_of(args),
    "Xor": _left_associative("xor"),
    "Not": lambda a: ~a,
    "Concat": lambda *args: concat(*args) if len(args) > 1 else args[0],
    "Extract": lambda high, low, value: value.extract(high, low),
    "ZeroExt": _extend("zero_extend"),
    "SignExt": _extend("sign_extend"),
    "If": floats.choose,
    **floats.OPERATIONS,
}

LEAVES: dict[str, Callable[[Any], Any]] = {
    "BVS": lambda ast: bv(ast.args[0], ast.size()),
    "BVV": lambda ast: bv(ast.args[0], ast.size()),
    "BoolS": lambda ast: boolean(ast.args[0]),
    "BoolV": lambda ast: boolean(ast.args[0]),
    **floats.LEAVES,
}


class _Session:
    """A solver with the constraints that claripy has added. Claripy adds the same constraint several times."""

    def __init__(self, seconds: float | None, memory_mb: int | None) -> None:
        self.chain = Chain(timeout=seconds, memory_mb=memory_mb)
        # The hash of an expression identifies it while the expression exists.
        self.added: dict[int, tuple[Expr, Any]] = {}

    def add(self, expr: Expr, ast: Any) -> None:
        if hash(expr) not in self.added:
            self.added[hash(expr)] = (expr, ast)
            self.chain.add(expr)

    def clone(self) -> _Session:
        copy = _Session(self.chain.timeout, self.chain.memory_mb)
        for expr, ast in self.added.values():
            copy.add(expr, ast)
        return copy


class BackendPartita(Backend):  # type: ignore[misc]
    """A back end of claripy: converts its expressions, and answers its queries with a chain of layers."""

    __slots__ = ()
    reuse_z3_solver = False  # read by claripy's front end of every back end

    def __init__(self) -> None:
        super().__init__(solver_required=True)
        self._op_raw.update(OPERATIONS)
        self._op_expr.update(LEAVES)

    # Sessions: claripy calls them solvers.

    def solver(self, timeout: float | None = None, max_memory: float | None = None) -> _Session:
        """A new session. `timeout` is in milliseconds for each check, `max_memory` in megabytes."""
        return _Session(None if timeout is None else timeout / 1000, None if max_memory is None else int(max_memory))

    def clone_solver(self, session: _Session) -> _Session:
        return session.clone()

    def add(self, session: _Session, constraints: Sequence[Any], track: bool = False) -> None:
        for ast in constraints:
            session.add(self.convert(ast), ast)

    def unsat_core(self, session: _Session) -> list[Any]:
        """The core of the added constraints if they are unsatisfiable, otherwise an empty list."""
        if session.chain.check() != "unsat":
            return []
        return [session.added[hash(expr)][1] for expr in session.chain.unsat_core()]

    # Queries on converted expressions.

    def _check(self, solver: _Session, extra: Sequence[Expr], callback: Hook | None) -> Model | None:
        verdict = solver.chain.check(*extra)
        if verdict == "unknown":
            raise ClaripySolverInterruptError(solver.chain.reason_unknown)
        if verdict == "unsat":
            return None
        model = solver.chain.model()
        if callback is not None:
            callback(model.as_dict())
        return model

    def _satisfiable(
        self, extra_constraints: Sequence[Expr] = (), solver: Any = None, model_callback: Hook | None = None
    ) -> bool:
        return self._check(solver, extra_constraints, model_callback) is not None

    def _batch_eval(
        self,
        exprs: Sequence[Expr],
        n: int,
        extra_constraints: Sequence[Expr] = (),
        solver: Any = None,
        model_callback: Hook | None = None,
    ) -> list[tuple[Any, ...]]:
        found: list[tuple[Any, ...]] = []
        extra = list(extra_constraints)
        while len(found) < n:
            model = self._check(solver, extra, model_callback)
            if model is None:
                break
            row = tuple(model[expr] for expr in exprs)
            found.append(row)
            extra.append(any_of(~floats.same(expr, value) for expr, value in zip(exprs, row, strict=True)))
        return found

    def _eval(
        self,
        expr: Expr,
        n: int,
        extra_constraints: Sequence[Expr] = (),
        solver: Any = None,
        model_callback: Hook | None = None,
    ) -> list[Any]:
        rows = self._batch_eval([expr], n, extra_constraints, solver, model_callback)
        return [row[0] for row in rows]

    def _extreme(
        self,
        name: str,
        expr: Expr,
        extra_constraints: Sequence[Expr] = (),
        signed: bool = False,
        solver: Any = None,
        model_callback: Hook | None = None,
    ) -> int:
        if not self._satisfiable(extra_constraints, solver):
            raise UnsatError(f"unsat during {name}")
        try:
            found: int = getattr(solver.chain, name)(floats.word(expr), *extra_constraints, signed=signed)
        except UndecidedError as undecided:
            raise ClaripySolverInterruptError(str(undecided)) from None
        return found

    _min = partialmethod(_extreme, "minimum")
    _max = partialmethod(_extreme, "maximum")

    def _solution(
        self,
        expr: Expr,
        v: Expr | int,
        extra_constraints: Sequence[Expr] = (),
        solver: Any = None,
        model_callback: Hook | None = None,
    ) -> bool:
        return self._satisfiable([*extra_constraints, floats.same(expr, v)], solver, model_callback)

    # Answers without a query.

    def _is_true(self, e: Expr, extra_constraints: Any = (), solver: Any = None, model_callback: Any = None) -> bool:
        return str(e) == "true"

    def _is_false(self, e: Expr, extra_constraints: Any = (), solver: Any = None, model_callback: Any = None) -> bool:
        return str(e) == "false"


backend = BackendPartita()
"""One object for all solvers: it has no state except converted expressions."""
backends_by_type[BackendPartita.__name__] = backend  # where claripy looks when a solver is unpickled


class _PartitaFrontend(FullFrontend):  # type: ignore[misc]
    """Passes minimum and maximum directly to the back end: claripy's front end first queries two values to bound its
    search, and its cache of models confuses signed and unsigned extremes. Expressions with floating point get no answer
    from that cache, which ignores rounding modes, and are not simplified, which claripy lets Z3 do inexactly."""

    def min(self, e: Any, extra_constraints: Any = (), signed: bool = False, exact: Any = None) -> int:
        found: int = self._solver_backend.min(e, extra_constraints, signed, self._get_solver())
        return found

    def max(self, e: Any, extra_constraints: Any = (), signed: bool = False, exact: Any = None) -> int:
        found: int = self._solver_backend.max(e, extra_constraints, signed, self._get_solver())
        return found

    def simplify(self) -> Any:
        return self.constraints if self._has_floats() else super().simplify()

    def _has_floats(self, *others: Any) -> bool:
        return any(ast in _FLOATS for ast in (*self.constraints, *others))

    def _get_models(self, extra_constraints: Any = ()) -> Any:
        if self._has_floats(*extra_constraints):
            return iter(())
        return ModelCacheMixin._get_models(self, extra_constraints)

    def _get_batch_solutions(
        self, asts: Any, n: Any = None, extra_constraints: Any = (), allow_unconstrained: bool = True
    ) -> Any:
        if self._has_floats(*asts, *extra_constraints):
            return set()
        return ModelCacheMixin._get_batch_solutions(self, asts, n, extra_constraints, allow_unconstrained)

    def merge(self, others: Any, merge_conditions: Any, common_ancestor: Any = None) -> tuple[bool, Any]:
        """Constraints of several paths are merged, as over claripy's own complete back end."""
        return True, super().merge(others, merge_conditions, common_ancestor=common_ancestor)[1]


class Solver(*claripy.solvers.Solver.__bases__[:-1], _PartitaFrontend):  # type: ignore[misc]
    """claripy's default front end over Partita."""

    # Before those of the caches.
    min, max = _PartitaFrontend.min, _PartitaFrontend.max
    _get_models, _get_batch_solutions = _PartitaFrontend._get_models, _PartitaFrontend._get_batch_solutions

    def __init__(self, **options: Any) -> None:
        super().__init__(backend, **options)


class _CompositeChild(*claripy.solvers.SolverCompositeChild.__bases__[:-1], _PartitaFrontend):  # type: ignore[misc]
    min, max = _PartitaFrontend.min, _PartitaFrontend.max
    _get_models, _get_batch_solutions = _PartitaFrontend._get_models, _PartitaFrontend._get_batch_solutions

    def __init__(self, **options: Any) -> None:
        super().__init__(backend, **options)


class SolverComposite(claripy.SolverComposite):  # type: ignore[misc]
    """claripy's front end that separates independent constraints, angr's default, over Partita."""

    def __init__(self, template_solver: Any = None, **options: Any) -> None:
        super().__init__(template_solver=template_solver or _CompositeChild(), **options)
