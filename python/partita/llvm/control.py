"""Terminators and phi instructions."""

from __future__ import annotations

from partita.llvm import fast_math
from partita.llvm.function import Handler, Lowering
from partita.llvm.tokens import Cursor
from partita.llvm.write import (
    BRANCH,
    CMP,
    INDIRECTBR,
    INT_PREDS,
    JUMP,
    RET,
    SELECT,
    SWITCH,
    UNREACHABLE,
    Operand,
    integer,
    long,
    reg,
)


def _label(low: Lowering, cursor: Cursor) -> int:
    cursor.expect("label")
    return low.edge(cursor.next())


def _br(low: Lowering, cursor: Cursor, name: str) -> None:
    if cursor.peek() == "label":
        low.terminate((JUMP, _label(low, cursor)))
        return
    cond = low.scalar(cursor, low.types.parse(cursor))
    cursor.expect(",")
    then = _label(low, cursor)
    cursor.expect(",")
    other = _label(low, cursor)
    if then == other:
        low.terminate((JUMP, then))
    else:
        low.terminate((BRANCH, then, other, *cond))


def _switch(low: Lowering, cursor: Cursor, name: str) -> None:
    type_ = low.types.parse(cursor)
    value = low.scalar(cursor, type_)
    cursor.expect(",")
    default = _label(low, cursor)
    cursor.expect("[")
    mask = (1 << type_.width) - 1
    cases: list[tuple[int, int]] = []
    while not cursor.accept("]"):
        low.types.parse(cursor)
        number = cursor.number() if cursor.peek() not in ("true", "false") else int(cursor.next() == "true")
        cursor.expect(",")
        cases.append((number & mask, _label(low, cursor)))
    width = type_.width
    if width > 64:
        value, width, cases = _switch_on_case_number(low, value, width, cases)
    if not cases:
        low.terminate((JUMP, default))
        return
    cases.sort()
    words: list[int] = []
    for number, edge in cases:
        words += (*long(number), edge)
    low.terminate((SWITCH, width, default, *value, len(cases), *words))


def _switch_on_case_number(
    low: Lowering, value: Operand, width: int, cases: list[tuple[int, int]]
) -> tuple[Operand, int, list[tuple[int, int]]]:
    """Turns a switch over more than 64 bits into one over the number of the matching case (0 if none matches)."""
    chosen = integer(0)
    for number, (constant, _) in enumerate(cases, 1):
        equal = low.new_register(1)
        low.emit((CMP | INT_PREDS["eq"], width, equal, *value, *low.integer(constant, width)))
        dst = low.new_register(32)
        low.emit((SELECT, dst, *reg(equal), *integer(number), *chosen))
        chosen = reg(dst)
    return chosen, 32, [(number, edge) for number, (_, edge) in enumerate(cases, 1)]


def _indirectbr(low: Lowering, cursor: Cursor, name: str) -> None:
    addr = low.pointer(cursor)
    cursor.expect(",")
    cursor.expect("[")
    edges: list[int] = []
    while not cursor.accept("]"):
        if edges:
            cursor.expect(",")
        edge = _label(low, cursor)
        edges.append(edge)
    distinct = list(dict.fromkeys(edges))
    low.terminate((INDIRECTBR, *addr, len(distinct), *distinct))


def _ret(low: Lowering, cursor: Cursor, name: str) -> None:
    if low.is_atomic:
        low.mark_atomic("end")
    if cursor.peek() == "void":
        low.terminate((RET, 0))
        return
    _, operands = low.typed(cursor)
    words = [word for operand in operands for word in operand]
    low.terminate((RET, len(operands), *words))


def _unreachable(low: Lowering, cursor: Cursor, name: str) -> None:
    low.terminate((UNREACHABLE,))


def _phi(low: Lowering, cursor: Cursor, name: str) -> None:
    cursor.skip_words(fast_math.FLAGS)  # its operands have flags of their own
    type_ = low.types.parse(cursor)
    dst = low.results(name, type_)
    while True:
        cursor.expect("[")
        operands = low.operands(cursor, type_)
        cursor.expect(",")
        low.phi(cursor.next(), dst, operands)
        cursor.expect("]")
        if not cursor.accept(","):
            break


HANDLERS: dict[str, Handler] = {
    "br": _br,
    "switch": _switch,
    "indirectbr": _indirectbr,
    "ret": _ret,
    "unreachable": _unreachable,
    "phi": _phi,
}
