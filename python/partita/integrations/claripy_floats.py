"""Floating-point operations of claripy as numbers of `partita.floats`.

claripy has two formats, single and double. A conversion to an integer that does not fit is x86's, which is one of the
values that claripy's own Z3 back end leaves open. The bits of NaN (`raw_to_bv`) are any of its words.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

from claripy.ast import FP, Base
from claripy.errors import BackendError
from claripy.fp import RM, FSort

from partita import Expr, ite
from partita.floats import Float, FloatFormat, Rounding, fp

ROUNDING = {
    RM.RM_NearestTiesEven: Rounding.NEAREST_EVEN,
    RM.RM_NearestTiesAwayFromZero: Rounding.NEAREST_AWAY,
    RM.RM_TowardsZero: Rounding.TOWARD_ZERO,
    RM.RM_TowardsPositiveInf: Rounding.TOWARD_POSITIVE,
    RM.RM_TowardsNegativeInf: Rounding.TOWARD_NEGATIVE,
}


def _format(sort: FSort) -> FloatFormat:
    return FloatFormat(sort.exp, sort.mantissa)


def _rounded(method: Callable[..., Any]) -> Callable[..., Any]:
    """A method of `Float` whose rounding mode claripy gives first."""
    return lambda mode, *operands: method(*operands, ROUNDING[mode])


def _to_float(*arguments: Any) -> Float:
    """`(bits, sort)` reads the bits of a number; `(mode, number or signed integer, sort)` converts."""
    if len(arguments) == 2:
        bits, sort = arguments
        return Float(bits, _format(sort))
    mode, value, sort = arguments
    if isinstance(value, Float):
        return value.to_float(_format(sort), ROUNDING[mode])
    return Float.from_sint(value, _format(sort), ROUNDING[mode])


OPERATIONS: dict[str, Callable[..., Any]] = {
    "fpAdd": _rounded(Float.add),
    "fpSub": _rounded(Float.sub),
    "fpMul": _rounded(Float.mul),
    "fpDiv": _rounded(Float.div),
    "fpSqrt": _rounded(Float.sqrt),
    "fpAbs": operator.abs,
    "fpNeg": operator.neg,
    "fpLT": operator.lt,
    "fpLEQ": operator.le,
    "fpGT": operator.gt,
    "fpGEQ": operator.ge,
    "fpEQ": operator.eq,
    "fpNEQ": operator.ne,
    "fpIsNaN": Float.is_nan,
    "fpIsInf": Float.is_infinite,
    "fpFP": Float.from_parts,
    "fpToFP": _to_float,
    "fpToFPUnsigned": lambda mode, value, sort: Float.from_uint(value, _format(sort), ROUNDING[mode]),
    "fpToIEEEBV": lambda value: value.bits,
    "fpToSBV": lambda mode, value, width: value.to_sint(width, ROUNDING[mode]),
    "fpToUBV": lambda mode, value, width: value.to_uint(width, ROUNDING[mode]),
}

LEAVES: dict[str, Callable[[Any], Float]] = {
    # claripy lets a number and a bit-vector have one name.
    "FPS": lambda ast: fp(f"fp {ast.args[0]}", _format(ast.args[1])),
    "FPV": lambda ast: fp(ast.args[0], _format(ast.args[1])),
}

_MAX_KNOWN = 1 << 16


class Occurrences:
    """Whether expressions of claripy contain floating-point operations, by their hash."""

    def __init__(self) -> None:
        self.known: dict[int, bool] = {}

    def __contains__(self, ast: Any) -> bool:
        if len(self.known) > _MAX_KNOWN:
            self.known.clear()
        stack = [ast]
        while stack:
            top = stack[-1]
            if top.hash() in self.known:
                stack.pop()
                continue
            unknown = [kid for kid in top.args if isinstance(kid, Base) and kid.hash() not in self.known]
            if unknown:
                stack.extend(unknown)
                continue
            stack.pop()
            inside = any(isinstance(kid, Base) and self.known[kid.hash()] for kid in top.args)
            self.known[top.hash()] = inside or isinstance(top, FP)
        return self.known[ast.hash()]


def same(value: Expr | Float, constant: Any) -> Expr:
    """Whether an expression has a value of a model: of numbers, NaN is NaN and zeros have a sign."""
    return value.same_as(constant) if isinstance(value, Float) else value == constant


def word(value: Expr | Float) -> Expr:
    """A bit-vector, as minimum and maximum need."""
    if isinstance(value, Float):
        raise BackendError("expected a bit-vector for a minimum or maximum, found a floating-point number")
    return value


def choose(condition: Expr, then: Any, otherwise: Any) -> Any:
    """`If` of bit-vectors, booleans or numbers."""
    if isinstance(then, Float):
        return Float(ite(condition, then.bits, otherwise.bits), then.format)
    return ite(condition, then, otherwise)
