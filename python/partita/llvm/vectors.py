"""Members of aggregates and vectors: extract, insert, shuffle, and bit casts between shapes."""

from __future__ import annotations

from partita.llvm.function import Handler, Lowering
from partita.llvm.tokens import Cursor, UnsupportedError
from partita.llvm.types import Type
from partita.llvm.write import CMP, INT_PREDS, POISON, SELECT, Operand, constant_of, integer, reg


def pack(low: Lowering, operands: list[Operand], width: int) -> Operand:
    """Concatenates the elements in one integer, the first in the low bits."""
    total = width * len(operands)
    if len(operands) == 1:
        return operands[0]
    whole: Operand | None = None
    for number, operand in enumerate(operands):
        part = low.cast("zext", operand, width, total)
        if number:
            part = low.binary("shl", total, part, low.integer(number * width, total))
        whole = part if whole is None else low.binary("or", total, whole, part)
    if whole is None:
        raise UnsupportedError("an empty vector")
    return whole


def unpack(low: Lowering, whole: Operand, width: int, count: int) -> list[Operand]:
    """The inverse of `pack`."""
    total = width * count
    if count == 1:
        return [whole]
    parts = []
    for number in range(count):
        shifted = low.binary("lshr", total, whole, low.integer(number * width, total)) if number else whole
        parts.append(low.cast("trunc", shifted, total, width))
    return parts


def bitcast(low: Lowering, from_type: Type, operands: list[Operand], to_type: Type) -> Operand | list[Operand]:
    from_vector, to_vector = from_type.kind == "vector", to_type.kind == "vector"
    width = from_type.element_type().width if from_vector else from_type.width
    to = to_type.element_type().width if to_vector else to_type.width
    count = to_type.count if to_vector else 1
    if not width or not to or width * len(operands) != to * count:
        raise UnsupportedError(f"bitcast from `{from_type.name}` to `{to_type.name}`")
    if width != to:
        operands = unpack(low, pack(low, operands, width), to, count)
    return operands if to_vector else operands[0]


def _indices(cursor: Cursor) -> list[int]:
    found = []
    while cursor.accept(","):
        found.append(cursor.number())
    return found


def _member(type_: Type, indices: list[int]) -> tuple[int, int, Type]:
    start, end = 0, len(type_.leaves)
    for index in indices:
        first, last, type_ = type_.leaf_range(index)
        start, end = start + first, start + last
    return start, end, type_


def _extractvalue(low: Lowering, cursor: Cursor, name: str) -> None:
    type_, leaves = low.typed(cursor)
    start, end, member = _member(type_, _indices(cursor))
    low.define(name, leaves[start] if member.width else leaves[start:end])


def _insertvalue(low: Lowering, cursor: Cursor, name: str) -> None:
    type_, leaves = low.typed(cursor)
    cursor.expect(",")
    _, new = low.typed(cursor)
    start, end, _ = _member(type_, _indices(cursor))
    low.define(name, leaves[:start] + new + leaves[end:])


def _extractelement(low: Lowering, cursor: Cursor, name: str) -> None:
    type_, leaves = low.typed(cursor)
    cursor.expect(",")
    index_type = low.types.parse(cursor)
    index = low.scalar(cursor, index_type)
    known = constant_of(index)
    if known is not None:
        low.define(name, leaves[known] if known < len(leaves) else POISON)
        return
    chosen = leaves[0]
    for number in range(1, len(leaves)):
        dst = low.new_register(type_.element_type().width)
        low.emit((SELECT, dst, *_equal(low, index_type.width, index, number), *leaves[number], *chosen))
        chosen = reg(dst)
    low.define(name, chosen)


def _insertelement(low: Lowering, cursor: Cursor, name: str) -> None:
    type_, leaves = low.typed(cursor)
    cursor.expect(",")
    _, (new,) = low.typed(cursor)
    cursor.expect(",")
    index_type = low.types.parse(cursor)
    index = low.scalar(cursor, index_type)
    known = constant_of(index)
    if known is not None:
        low.define(name, [new if number == known else leaf for number, leaf in enumerate(leaves)])
        return
    for number, dst in enumerate(low.results(name, type_)):
        low.emit((SELECT, dst, *_equal(low, index_type.width, index, number), *new, *leaves[number]))


def _equal(low: Lowering, width: int, index: Operand, number: int) -> Operand:
    dst = low.new_register(1)
    low.emit((CMP | INT_PREDS["eq"], width, dst, *index, *integer(number)))
    return reg(dst)


def _shufflevector(low: Lowering, cursor: Cursor, name: str) -> None:
    _, first = low.typed(cursor)
    cursor.expect(",")
    _, second = low.typed(cursor)
    cursor.expect(",")
    mask_type, mask = low.typed(cursor)
    both = first + second
    chosen = []
    for operand in mask:
        index = constant_of(operand)
        chosen.append(POISON if index is None else both[index])
    if len(chosen) != mask_type.count:
        raise UnsupportedError(f"shuffle mask `{mask_type.name}`")
    low.define(name, chosen)


HANDLERS: dict[str, Handler] = {
    "extractvalue": _extractvalue,
    "insertvalue": _insertvalue,
    "extractelement": _extractelement,
    "insertelement": _insertelement,
    "shufflevector": _shufflevector,
}
