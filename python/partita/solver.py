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

DEFAULT_LAYERS = "simplify split solutions reuse intervals enumerate differences store sat"
"""The default chain: what is decided without a SAT solver first, the cheapest first. All of it is our own; without a
store the layer `store` is left out."""


def resolve(layers: str | Sequence[str | Layer] | None) -> tuple[str, Callable[..., Any]]:
    """A spec, and the function that makes the layers in it that the core does not have."""
    if layers is None or isinstance(layers, str):
        return layers or DEFAULT_LAYERS, backends.make
    objects: dict[str, Layer] = {}
    words = []
    for layer in layers:
        if isinstance(layer, str):
            words.append(layer)
        else:
            words.append(f"object{len(objects)}")
            objects[words[-1]] = layer

    def make(name: str, variant: str | None, options: dict[str, str]) -> Layer | None:
        return objects[name] if name in objects else backends.make(name, variant, options)

    return " ".join(words), make


def with_verify(spec: str, default: str, solver: str) -> tuple[str, str]:
    """Puts `verify` before everything, whether the spec is a chain or edits one."""
    verify = f"verify({solver})"
    if spec.lstrip()[:1] in ("-", "+"):
        return spec, f"{verify} {default}"
    return f"{verify} {spec}", default


class Solver:
    """Decides whether boolean expressions can hold together.

    `layers` is a chain as text ("simplify split z3"), an edit of the default chain ("-split"), or a sequence of names
    and layer objects (`partita.layers`). `timeout` (seconds) and `memory_mb` hold for each check. `store` is a file in
    which answers that took long outlive the solver ("default": the user's own). One thread at a time; a check lets
    other threads run, and Ctrl-C ends it.

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
        """Asserts each of the constraints, until the `pop` that matches the last `push`."""
        for constraint in constraints:
            self._core.add(_core.boolean(constraint) if isinstance(constraint, bool) else constraint)

    def push(self) -> None:
        """Marks a place to come back to with `pop`."""
        self._core.push()

    def pop(self, levels: int = 1) -> None:
        """Drops what was added since the last `push` (the last `levels` of them)."""
        try:
            self._core.pop(levels)
        except ValueError as error:
            raise UsageError(str(error)) from None

    def reset(self) -> None:
        """Drops all assertions."""
        self._core.reset()

    def check(self, *assumptions: Expr | bool, timeout: float | None = None) -> Verdict:
        """Can all assertions, and the assumptions, hold together? `timeout` overrides the solver's."""
        exprs = [_core.boolean(a) if isinstance(a, bool) else a for a in assumptions]
        limit = self.timeout if timeout is None else timeout
        verdict = self._core.check(exprs, limit, self.memory_mb)
        self._warn()
        return verdict

    def minimum(self, value: Expr, *assumptions: Expr | bool, signed: bool = False) -> int:
        """The least value a bit-vector can have; UsageError where the assertions and assumptions contradict each other.

        >>> solver, x = Solver(), bv("x", 32)
        >>> solver.add(x.ugt(10), x * x == 1369)
        >>> solver.minimum(x)
        37
        """
        return self._extreme(value, assumptions, False, signed)

    def maximum(self, value: Expr, *assumptions: Expr | bool, signed: bool = False) -> int:
        """The greatest value a bit-vector can have, likewise."""
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
        """Up to `limit` different combinations of values that these expressions can have together.

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
        """Values that satisfy everything; after a check that answered sat."""
        model = self._core.model()
        if model is None:
            raise UsageError(self._after("model", "sat"))
        return model

    def unsat_core(self) -> list[Expr]:
        """Assertions and assumptions that cannot hold together; after a check that answered unsat."""
        core = self._core.unsat_core()
        if core is None:
            raise UsageError(self._after("unsat_core", "unsat"))
        return core

    def _after(self, what: str, verdict: str) -> str:
        return f"expected {what}() right after a check() that answered {verdict}: nothing added or popped in between"

    @property
    def reason_unknown(self) -> str | None:
        """Why the last check answered unknown."""
        return self._core.reason_unknown()

    @property
    def assertions(self) -> list[Expr]:
        return self._core.assertions()

    @property
    def statistics(self) -> dict[str, Any]:
        """Queries, time, and for each layer how many it was asked, answered and passed on, with its own time."""
        return self._core.statistics()

    def flush(self) -> None:
        """Waits until all answers that are kept are in the store. Done by itself when the solver goes."""
        self._core.flush()

    def interrupt(self) -> None:
        """Ends a check under way in another thread; it answers unknown."""
        self._core.cancel()

    def collect(self) -> int:
        """Frees expressions that nobody holds; gives how many nodes. Done by itself as memory grows."""
        return self._core.collect()


def ite(condition: Expr | bool, then: Expr | int, otherwise: Expr | int) -> Expr:
    """`then` where the condition holds, else `otherwise`."""
    return _core.apply("ite", condition, then, otherwise)


def concat(*parts: Expr) -> Expr:
    """Bit-vectors joined, the first one highest."""
    return _core.apply("concat", *parts)


def all_of(conditions: Iterable[Expr | bool]) -> Expr:
    """True if all conditions are; of none: true."""
    parts = list(conditions)
    return _core.apply("and", *parts) if parts else _core.boolean(True)


def any_of(conditions: Iterable[Expr | bool]) -> Expr:
    """True if any condition is; of none: false."""
    parts = list(conditions)
    return _core.apply("or", *parts) if parts else _core.boolean(False)
