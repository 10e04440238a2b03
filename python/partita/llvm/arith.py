"""Integer and floating arithmetic, comparisons, casts, select and freeze: element by element for vectors."""

from __future__ import annotations

from partita.llvm import fast_math
from partita.llvm.function import Handler, Lowering
from partita.llvm.tokens import Cursor, UnsupportedError
from partita.llvm.types import Type, float_kind
from partita.llvm.vectors import bitcast
from partita.llvm.write import (
    BIN,
    BIN_OPS,
    CMP,
    FBIN,
    FBIN_OPS,
    FCAST,
    FCMP,
    FCMP_PREDS,
    FLAGS,
    FREEZE,
    FTOINT,
    FUN,
    FUN_OPS,
    INT_PREDS,
    INTTOF,
    SELECT,
    STRICT,
    UNDEF,
    Operand,
)

_INT_FLAGS = frozenset(FLAGS)
_CAST_FLAGS = frozenset(("nuw", "nsw", "nneg", *fast_math.FLAGS))
_SIGNED = 1 << 8
_SHIFTS = frozenset(BIN_OPS[op] for op in ("shl", "lshr", "ashr"))
"""Operations that are poison where the second operand is the width or more."""


def element(type_: Type) -> Type:
    """The scalar type that an elementwise operation computes with."""
    return type_.element_type() if type_.kind == "vector" else type_


def _binary(op: int) -> Handler:
    def lower(low: Lowering, cursor: Cursor, name: str) -> None:
        head = BIN | op | (STRICT if op in _SHIFTS else 0)
        for flag in cursor.skip_words(_INT_FLAGS):
            head |= FLAGS[flag]
        type_ = low.types.parse(cursor)
        a = low.operands(cursor, type_)
        cursor.expect(",")
        b = low.operands(cursor, type_)
        for dst, x, y in zip(low.results(name, type_), a, b, strict=True):
            low.emit((head, dst, *x, *y))

    return lower


def _float_binary(op: int) -> Handler:
    def lower(low: Lowering, cursor: Cursor, name: str) -> None:
        classes = fast_math.parse(cursor)
        type_, a = low.typed(cursor)
        cursor.expect(",")
        b = low.operands(cursor, type_)
        head = FBIN | op | float_kind(element(type_)) << 16
        results = fast_math.results(low, classes, name, type_, [(type_, a), (type_, b)])
        for dst, x, y in zip(results, a, b, strict=True):
            low.emit((head, dst, *x, *y))

    return lower


def _fneg(low: Lowering, cursor: Cursor, name: str) -> None:
    classes = fast_math.parse(cursor)
    type_, a = low.typed(cursor)
    head = FUN | FUN_OPS["fneg"] | float_kind(element(type_)) << 16
    for dst, x in zip(fast_math.results(low, classes, name, type_, []), a, strict=True):
        low.emit((head, dst, *x))


def _icmp(low: Lowering, cursor: Cursor, name: str) -> None:
    cursor.accept("samesign")
    pred = INT_PREDS.get(token := cursor.next())
    if pred is None:
        raise UnsupportedError(f"comparison `{token}`")
    type_, a = low.typed(cursor)
    cursor.expect(",")
    b = low.operands(cursor, type_)
    width = element(type_).width
    for dst, x, y in zip(low.results(name, comparison_type(low, type_)), a, b, strict=True):
        low.emit((CMP | pred, width, dst, *x, *y))


def comparison_type(low: Lowering, type_: Type) -> Type:
    """The type of a comparison of two values of this type."""
    return low.types.vector(type_.count, low.types.i1) if type_.kind == "vector" else low.types.i1


def _fcmp(low: Lowering, cursor: Cursor, name: str) -> None:
    classes = fast_math.parse(cursor)
    pred = FCMP_PREDS.get(token := cursor.next())
    if pred is None:
        raise UnsupportedError(f"comparison `{token}`")
    type_, a = low.typed(cursor)
    cursor.expect(",")
    b = low.operands(cursor, type_)
    head = FCMP | pred | float_kind(element(type_)) << 16
    results = fast_math.results(low, classes, name, comparison_type(low, type_), [(type_, a), (type_, b)])
    for dst, x, y in zip(results, a, b, strict=True):
        low.emit((head, dst, *x, *y))


def _select(low: Lowering, cursor: Cursor, name: str) -> None:
    classes = fast_math.parse(cursor)
    _, conditions = low.typed(cursor)
    cursor.expect(",")
    type_, a = low.typed(cursor)
    cursor.expect(",")
    _, b = low.typed(cursor)
    if len(conditions) == 1:
        conditions = conditions * len(a)
    for dst, cond, x, y in zip(fast_math.results(low, classes, name, type_, []), conditions, a, b, strict=True):
        low.emit((SELECT, dst, *cond, *x, *y))


def _freeze(low: Lowering, cursor: Cursor, name: str) -> None:
    type_, a = low.typed(cursor)
    if all(operand == UNDEF for operand in a):
        # No instruction: an undefined operand is counted where it decides something, frozen or not.
        low.define(name, a[0] if type_.width else a)
        return
    for dst, x in zip(low.results(name, type_), a, strict=True):
        low.emit((FREEZE, dst, *x))


def _parse_cast(low: Lowering, cursor: Cursor) -> tuple[Type, list[Operand], Type]:
    cursor.skip_words(_CAST_FLAGS)
    from_type, operands = low.typed(cursor)
    cursor.expect("to")
    return from_type, operands, low.types.parse(cursor)


def _resizing(op: str) -> Handler:
    """Casts that keep the bits or change the width; a pointer is a 64-bit integer."""

    def lower(low: Lowering, cursor: Cursor, name: str) -> None:
        from_type, operands, to_type = _parse_cast(low, cursor)
        width, to = element(from_type).width, element(to_type).width
        if width == to:
            low.define(name, operands if to_type.kind == "vector" else operands[0])
            return
        kind = op or ("zext" if width < to else "trunc")
        # Clang truncates a byte to one bit where it is a `_Bool`; LLVM's optimisations, also for `x & 1`.
        if low.is_plain and (kind, width, to, to_type.kind) == ("trunc", 8, 1, "int"):
            kind = "bool"
        cast = [low.cast(kind, operand, width, to) for operand in operands]
        low.define(name, cast if to_type.kind == "vector" else cast[0])

    return lower


def _bitcast(low: Lowering, cursor: Cursor, name: str) -> None:
    from_type, operands, to_type = _parse_cast(low, cursor)
    low.define(name, bitcast(low, from_type, operands, to_type))


def _float_cast(low: Lowering, cursor: Cursor, name: str) -> None:
    classes = fast_math.parse(cursor)
    from_type, operands, to_type = _parse_cast(low, cursor)
    head = FCAST | float_kind(element(from_type)) << 8 | float_kind(element(to_type)) << 16
    results = fast_math.results(low, classes, name, to_type, [(from_type, operands)])
    for dst, x in zip(results, operands, strict=True):
        low.emit((head, dst, *x))


def _to_int(how: int) -> Handler:
    def lower(low: Lowering, cursor: Cursor, name: str) -> None:
        from_type, operands, to_type = _parse_cast(low, cursor)
        head = FTOINT | how | float_kind(element(from_type)) << 16
        for dst, x in zip(low.results(name, to_type), operands, strict=True):
            low.emit((head, dst, *x))

    return lower


def _from_int(how: int) -> Handler:
    def lower(low: Lowering, cursor: Cursor, name: str) -> None:
        from_type, operands, to_type = _parse_cast(low, cursor)
        head = INTTOF | how | float_kind(element(to_type)) << 16
        width = element(from_type).width
        for dst, x in zip(low.results(name, to_type), operands, strict=True):
            low.emit((head, width, dst, *x))

    return lower


HANDLERS: dict[str, Handler] = {
    **{op: _binary(BIN_OPS[op]) for op in "add sub mul udiv sdiv urem srem shl lshr ashr and or xor".split()},
    **{op: _float_binary(FBIN_OPS[op]) for op in "fadd fsub fmul fdiv frem".split()},
    "fneg": _fneg,
    "icmp": _icmp,
    "fcmp": _fcmp,
    "select": _select,
    "freeze": _freeze,
    "zext": _resizing("zext"),
    "sext": _resizing("sext"),
    "trunc": _resizing("trunc"),
    "ptrtoint": _resizing(""),
    "ptrtoaddr": _resizing(""),
    "inttoptr": _resizing(""),
    "addrspacecast": _resizing(""),
    "bitcast": _bitcast,
    "fptrunc": _float_cast,
    "fpext": _float_cast,
    "fptosi": _to_int(_SIGNED),
    "fptoui": _to_int(0),
    "sitofp": _from_int(_SIGNED),
    "uitofp": _from_int(0),
}
