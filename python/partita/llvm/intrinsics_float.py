"""Floating-point intrinsics. Exactly defined ones are instructions. Transcendental ones are calls of the C library, as
in compiled code, so that results are those of the linked library."""

from __future__ import annotations

from typing import TYPE_CHECKING

from partita.llvm.tokens import UnsupportedError
from partita.llvm.types import Type, float_kind
from partita.llvm.write import (
    FBIN,
    FBIN_OPS,
    FCAST,
    FCLASS,
    FCMP,
    FCMP_PREDS,
    FMA,
    FTOINT,
    FUN,
    FUN_OPS,
    INTTOF,
    Operand,
    constant_of,
    reg,
)

if TYPE_CHECKING:
    from partita.llvm.function import Lowering
    from partita.llvm.intrinsics import Intrinsic

_SIGNED, _SATURATE = 1 << 8, 2 << 8
_SIGNALS = 0x80 << 8
_SUFFIX = {"float": "f", "double": "", "x86_fp80": "l"}
_POWI = {"float": "__powisf2", "double": "__powidf2", "x86_fp80": "__powixf2"}


def _kind(type_: Type) -> int:
    return float_kind(type_.element_type() if type_.kind == "vector" else type_) << 16


def _unary(op: str) -> Intrinsic:
    def lower(low: Lowering, name: str, type_: Type, types: list[Type], args: list[list[Operand]]) -> None:
        for dst, a in zip(low.results(name, type_), args[0], strict=True):
            low.emit((FUN | FUN_OPS[op] | _kind(type_), dst, *a))

    return lower


def _binary(op: str) -> Intrinsic:
    def lower(low: Lowering, name: str, type_: Type, types: list[Type], args: list[list[Operand]]) -> None:
        for dst, a, b in zip(low.results(name, type_), args[0], args[1], strict=True):
            low.emit((FBIN | FBIN_OPS[op] | _kind(type_), dst, *a, *b))

    return lower


def _same(low: Lowering, name: str, type_: Type, types: list[Type], args: list[list[Operand]]) -> None:
    low.define(name, args[0][0] if type_.width else args[0])


def _fma(low: Lowering, name: str, type_: Type, types: list[Type], args: list[list[Operand]]) -> None:
    for dst, a, b, c in zip(low.results(name, type_), *args, strict=True):
        low.emit((FMA | _kind(type_), dst, *a, *b, *c))


def _fmuladd(low: Lowering, name: str, type_: Type, types: list[Type], args: list[list[Operand]]) -> None:
    """Rounds twice, as baseline x86-64 does, which has no fused instruction."""
    for dst, a, b, c in zip(low.results(name, type_), *args, strict=True):
        product = low.new_register((type_.element_type() if type_.kind == "vector" else type_).width)
        low.emit((FBIN | FBIN_OPS["fmul"] | _kind(type_), product, *a, *b))
        low.emit((FBIN | FBIN_OPS["fadd"] | _kind(type_), dst, *reg(product), *c))


def _to_integer(op: str) -> Intrinsic:
    """lrint, lround: rounds, then converts."""

    def lower(low: Lowering, name: str, type_: Type, types: list[Type], args: list[list[Operand]]) -> None:
        rounded = low.new_register(types[0].width)
        low.emit((FUN | FUN_OPS[op] | _kind(types[0]), rounded, *args[0][0]))
        low.emit((FTOINT | _SIGNED | _kind(types[0]), low.result(name, type_.width), *reg(rounded)))

    return lower


def _saturating(how: int) -> Intrinsic:
    def lower(low: Lowering, name: str, type_: Type, types: list[Type], args: list[list[Operand]]) -> None:
        for dst, a in zip(low.results(name, type_), args[0], strict=True):
            low.emit((FTOINT | how | _SATURATE | _kind(types[0]), dst, *a))

    return lower


def _is_fpclass(low: Lowering, name: str, type_: Type, types: list[Type], args: list[list[Operand]]) -> None:
    mask = constant_of(args[1][0])
    if mask is None:
        raise UnsupportedError("is.fpclass with a variable mask")
    for dst, a in zip(low.results(name, type_), args[0], strict=True):
        low.emit((FCLASS | _kind(types[0]), mask & 0x3FF, dst, *a))


def _library(function: str) -> Intrinsic:
    def lower(low: Lowering, name: str, type_: Type, types: list[Type], args: list[list[Operand]]) -> None:
        from partita.llvm.calls import call_library  # calls needs the table of intrinsics

        if type_.name not in _SUFFIX:
            raise UnsupportedError(f"`{function}` on `{type_.name}`")
        target = _POWI[type_.name] if function == "powi" else function + _SUFFIX[type_.name]
        call_library(low, name, type_, target, [(t, a[0]) for t, a in zip(types, args, strict=True)])

    return lower


def _reduce(op: str, start: bool) -> Intrinsic:
    def lower(low: Lowering, name: str, type_: Type, types: list[Type], args: list[list[Operand]]) -> None:
        lanes = [args[0][0], *args[1]] if start else args[0]
        total = lanes[0]
        for operand in lanes[1:]:
            dst = low.new_register(type_.width)
            low.emit((FBIN | FBIN_OPS[op] | _kind(type_), dst, *total, *operand))
            total = reg(dst)
        low.define(name, total)

    return lower


def _convert(head: int) -> Intrinsic:
    """Converts between integers and floating-point formats, or between two formats."""

    def lower(low: Lowering, name: str, type_: Type, types: list[Type], args: list[list[Operand]]) -> None:
        from_type = types[0].element_type() if types[0].kind == "vector" else types[0]
        for dst, a in zip(low.results(name, type_), args[0], strict=True):
            if head & 255 == FCAST:
                low.emit((head | float_kind(from_type) << 8 | _kind(type_), dst, *a))
            elif head & 255 == FTOINT:
                low.emit((head | _kind(types[0]), dst, *a))
            else:
                low.emit((head | _kind(type_), from_type.width, dst, *a))

    return lower


def _compare(how: int) -> Intrinsic:
    def lower(low: Lowering, name: str, type_: Type, types: list[Type], args: list[list[Operand]]) -> None:
        pred = FCMP_PREDS.get(low.metadata_arguments[0]) if low.metadata_arguments else None
        if pred is None:
            raise UnsupportedError("a constrained comparison without a predicate")
        for dst, a, b in zip(low.results(name, type_), args[0], args[1], strict=True):
            low.emit((FCMP | how | pred | _kind(types[0]), dst, *a, *b))

    return lower


ROWS: dict[str, Intrinsic] = {
    **{op: _unary(op) for op in "fabs sqrt floor ceil trunc rint round roundeven".split()},
    # They differ in the exception flags.
    "nearbyint": _unary("rint"),
    **{op: _binary(op) for op in "copysign minnum maxnum minimum maximum".split()},
    "minimumnum": _binary("minnum"),
    "maximumnum": _binary("maxnum"),
    "canonicalize": _same,
    "arithmetic.fence": _same,
    "fma": _fma,
    "fmuladd": _fmuladd,
    "lrint": _to_integer("rint"),
    "llrint": _to_integer("rint"),
    "lround": _to_integer("round"),
    "llround": _to_integer("round"),
    "fptosi.sat": _saturating(_SIGNED),
    "fptoui.sat": _saturating(0),
    "is.fpclass": _is_fpclass,
    **{
        name: _library(name)
        for name in (
            "sin cos tan asin acos atan atan2 sinh cosh tanh exp exp2 exp10 log log2 log10 pow powi ldexp"
        ).split()
    },
    "vector.reduce.fadd": _reduce("fadd", start=True),
    "vector.reduce.fmul": _reduce("fmul", start=True),
    "vector.reduce.fmin": _reduce("minnum", start=False),
    "vector.reduce.fmax": _reduce("maxnum", start=False),
}
# `#pragma STDC FENV_ACCESS ON` turns plain instructions into these. They mean the same: rounding is always to nearest.
_CONSTRAINED: dict[str, Intrinsic] = {
    **{op: _binary(op) for op in "fadd fsub fmul fdiv frem".split()},
    "fptosi": _convert(FTOINT | _SIGNED),
    "fptoui": _convert(FTOINT),
    "sitofp": _convert(INTTOF | _SIGNED),
    "uitofp": _convert(INTTOF),
    "fpext": _convert(FCAST),
    "fptrunc": _convert(FCAST),
    "fcmp": _compare(0),
    "fcmps": _compare(_SIGNALS),
    **{
        name: ROWS[name]
        for name in (
            "sqrt floor ceil trunc rint round roundeven nearbyint minnum maxnum minimum maximum fma fmuladd lrint"
            " llrint lround llround sin cos tan asin acos atan atan2 sinh cosh tanh exp exp2 log log2 log10 pow"
            " powi ldexp"
        ).split()
    },
}
ROWS.update({f"experimental.constrained.{name}": row for name, row in _CONSTRAINED.items()})
