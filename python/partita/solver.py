"""The Python solver: assertions, a chain of layers that decides them, models and cores."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Literal

from partita import _core, backends
from partita._core import Expr, Model
from partita.errors import UndecidedError, UsageError
from partita.layers import Layer
from partita.store import Store, choose

Verdict = Literal["sat", "unsat", "unknown"]

DEFAULT_LAYERS = _core.DEFAULT_LAYERS
"""The default chain, as the table of run options has it. Without a store the layer `store` is left out."""


def resolve(layers: str | Sequence[str | Layer] | None) -> tuple[str, Callable[..., Any]]:
    """Returns a spec, and the function that makes those of its layers that the core does not have."""
    if layers is None or isinstance(layers, str):
        return layers or DEFAULT_LAYERS, backends.make
    objects: dict[str, Layer] = {}
    items = []
    for layer in layers:
        if isinstance(layer, str):
            items.append(layer)
        else:
            items.append(f"object{len(objects)}")
            objects[items[-1]] = layer

    def make(name: str, variant: str | None, options: dict[str, str]) -> Layer | None:
        return objects[name] if name in objects else backends.make(name, variant, options)

    return " ".join(items), make


def with_verify(spec: str, default: str, solver: str) -> tuple[str, str]:
    """Puts `verify` first, both in a spec that is a chain and in one that edits the default."""
    verify = f"verify({solver})"
    if spec.lstrip()[:1] in ("-", "+"):
        return spec, f"{verify} {default}"
    return f"{verify} {spec}", default


class Solver:
    """Decides whether boolean expressions are satisfiable together.

    `layers` is a chain as text ("simplify split z3"), an edit of the default chain ("-split"), or a sequence of names
    and layer objects (`partita.layers`). `timeout` (seconds) and `memory_mb` apply to each check. `store` is a file or
    a Redis server that keeps expensive answers for later solvers ("default": the user's own file). Only one thread at a
    time may use a solver; a check lets other threads run, and Ctrl-C ends it.

    >>> x = bv("x", 32)
    >>> solver = Solver()
    >>> solver.add(x * 3 == 33, x.ult(100))
    >>> solver.check()
    'sat'
    >>> solver.model()[x]
    11
    """

    def __init__(
        self,
        *,
        layers: str | Sequence[str | Layer] | None = None,
        timeout: float | None = None,
        memory_mb: int | None = None,
        store: Store = None,
    ) -> None:
        spec, make = resolve(layers)
        try:
            self._core = _core.Solver(spec, DEFAULT_LAYERS, make, choose(store, spec))
        except ValueError as error:
            raise UsageError(str(error)) from None
        self.timeout = timeout
        self.memory_mb = memory_mb
        self._warn()

    def add(self, *constraints: Expr | bool) -> None:
        """Asserts the constraints, until the `pop` that matches the last `push`."""
        for constraint in constraints:
            self._core.add(_core.boolean(constraint) if isinstance(constraint, bool) else constraint)

    def push(self) -> None:
        """Starts a level of assertions that `pop` removes."""
        self._core.push()

    def pop(self, levels: int = 1) -> None:
        """Removes the assertions of the last `levels` levels."""
        try:
            self._core.pop(levels)
        except ValueError as error:
            raise UsageError(str(error)) from None

    def reset(self) -> None:
        """Removes all assertions and levels."""
        self._core.reset()

    def check(self, *assumptions: Expr | bool, timeout: float | None = None) -> Verdict:
        """Decides whether the assertions and assumptions are satisfiable. `timeout` overrides that of the solver."""
        exprs = [_core.boolean(a) if isinstance(a, bool) else a for a in assumptions]
        limit = self.timeout if timeout is None else timeout
        verdict = self._core.check(exprs, limit, self.memory_mb)
        self._warn()
        return verdict

    def minimum(self, value: Expr, *assumptions: Expr | bool, signed: bool = False) -> int:
        """The least value of a bit-vector. Raises UsageError if the assertions and assumptions contradict each other.

        >>> solver, x = Solver(), bv("x", 32)
        >>> solver.add(x.ugt(10), x * x == 1369)
        >>> solver.minimum(x)
        37
        """
        return self._extreme(value, assumptions, False, signed)

    def maximum(self, value: Expr, *assumptions: Expr | bool, signed: bool = False) -> int:
        """The greatest value of a bit-vector. Raises like `minimum`."""
        return self._extreme(value, assumptions, True, signed)

    def _extreme(self, value: Expr, assumptions: Sequence[Expr | bool], greatest: bool, signed: bool) -> int:
        exprs = [_core.boolean(a) if isinstance(a, bool) else a for a in assumptions]
        found = self._core.extreme(value, exprs, (greatest, signed), self.timeout, self.memory_mb)
        self._warn()
        if found is None:
            raise UsageError("expected assertions that can hold together, found a contradiction")
        if isinstance(found, str):
            raise UndecidedError(found)
        return found

    def values(self, *values: Expr, limit: int, assumptions: Sequence[Expr | bool] = ()) -> list[tuple[Any, ...]]:
        """Up to `limit` different combinations of values of these expressions.

        >>> solver, x = Solver(), bv("x", 8)
        >>> solver.add(x.ult(3))
        >>> sorted(solver.values(x, limit=10))
        [(0,), (1,), (2,)]
        """
        found: list[tuple[Any, ...]] = []
        others = list(assumptions)
        while len(found) < limit:
            verdict = self.check(*others)
            if verdict == "unknown":
                raise UndecidedError(self.reason_unknown or "unknown")
            if verdict == "unsat":
                break
            model = self.model()
            row = tuple(model[value] for value in values)
            found.append(row)
            others.append(any_of(value != part for value, part in zip(values, row, strict=True)))
        return found

    def _warn(self) -> None:
        for line in self._core.notices():
            warnings.warn(line, RuntimeWarning, stacklevel=3)

    def model(self) -> Model:
        """The model of the last check, which must have answered sat."""
        model = self._core.model()
        if model is None:
            raise UsageError(self._after("model", "sat"))
        return model

    def unsat_core(self) -> list[Expr]:
        """Assertions and assumptions that contradict each other. The last check must have answered unsat."""
        core = self._core.unsat_core()
        if core is None:
            raise UsageError(self._after("unsat_core", "unsat"))
        return core

    def _after(self, what: str, verdict: str) -> str:
        return f"expected {what}() directly after a check() that answered {verdict}, without add() or pop() in between"

    @property
    def reason_unknown(self) -> str | None:
        """The reason of the last check for answering unknown."""
        return self._core.reason_unknown()

    @property
    def assertions(self) -> list[Expr]:
        return self._core.assertions()

    @property
    def statistics(self) -> dict[str, Any]:
        """Number of queries, time, and for each layer its queries asked, answered and passed on, and its own time."""
        return self._core.statistics()

    def flush(self) -> None:
        """Waits until all answers are written to the store. Called when the solver is dropped."""
        self._core.flush()

    def interrupt(self) -> None:
        """Ends a check that runs in another thread; it answers unknown."""
        self._core.cancel()

    def collect(self) -> int:
        """Frees expressions that are not referenced and returns the number of nodes. Called as memory grows."""
        return self._core.collect()


def ite(condition: Expr | bool, then: Expr | int, otherwise: Expr | int) -> Expr:
    """`then` if the condition holds, else `otherwise`."""
    return _core.apply("ite", condition, then, otherwise)


def concat(*parts: Expr) -> Expr:
    """Concatenates bit-vectors; the first one has the most significant bits."""
    return _core.apply("concat", *parts)


def all_of(conditions: Iterable[Expr | bool]) -> Expr:
    """Conjunction of the conditions; true without any."""
    parts = list(conditions)
    return _core.apply("and", *parts) if parts else _core.boolean(True)


def any_of(conditions: Iterable[Expr | bool]) -> Expr:
    """Disjunction of the conditions; false without any."""
    parts = list(conditions)
    return _core.apply("or", *parts) if parts else _core.boolean(False)
