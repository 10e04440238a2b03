"""C++ exceptions: `invoke`, `landingpad`, `resume` and the numbers of types.

A call that may throw is followed by a `LANDING`, which says where an exception continues. The clauses of a landing pad
are a table in the program: numbers of 64 bits, as `runtime/cpp/unwind.cpp` reads them. First the number of clauses and
whether there is a cleanup; then for each clause its selector, its number of types, and their addresses. A `catch` has
one type (0 for all) and its number as selector; a `filter` has a negative selector.
"""

from __future__ import annotations

from partita.llvm.calls import call, call_library
from partita.llvm.constants import Leaf, Linear, parse_constant
from partita.llvm.function import Handler, Lowering
from partita.llvm.tokens import Cursor, UnsupportedError
from partita.llvm.write import COPY, INTERNAL, LANDING, UNREACHABLE, GlobalRecord, Operand, global_address, reg

_WORD = 8


def _invoke(low: Lowering, cursor: Cursor, name: str) -> None:
    call(low, cursor, name)
    while not cursor.accept("to"):
        cursor.next()
    cursor.expect("label")
    normal = low.edge(cursor.next())
    cursor.expect("unwind")
    cursor.expect("label")
    label = cursor.next()
    clauses = global_address(_table(low, low.block_of(label)))
    low.terminate((LANDING, normal, low.edge(label), low.exception_registers(), *clauses))


def _table(low: Lowering, block: int) -> int:
    """The number of the global with the clauses of a landing pad; `_landingpad` fills it."""
    number = low.landing_pads.get(block)
    if number is None:
        number = low.landing_pads[block] = len(low.writer.globals)
        name = f"{low.record.name}.clauses.{block}"
        low.writer.globals.append(GlobalRecord(name, INTERNAL, defined=True, readonly=True, align=_WORD))
    return number


def _landingpad(low: Lowering, cursor: Cursor, name: str) -> None:
    type_ = low.types.parse(cursor)
    cleanup = cursor.accept("cleanup")
    table = low.writer.globals[_table(low, low.block)]
    words: list[int] = []
    clauses = 0
    while cursor.peek() in ("catch", "filter"):
        is_filter = cursor.next() == "filter"
        leaves = parse_constant(low.module, cursor, low.types.parse(cursor))
        numbers = [low.module.type_number(_typeinfo(low, leaf)) for leaf in leaves]
        words += (-1 - clauses if is_filter else numbers[0], len(leaves))
        for leaf in leaves:
            assert isinstance(leaf, Linear)
            if leaf.plus is not None:
                table.relocs.append(((len(words) + 2) * _WORD, _WORD, leaf.plus, None))
            words.append(0)
        clauses += 1
    words[:0] = (clauses, int(cleanup))
    table.data = b"".join((word & 0xFFFFFFFFFFFFFFFF).to_bytes(_WORD, "little") for word in words)
    table.size = len(table.data)
    first = low.exception_registers()
    for number, dst in enumerate(low.results(name, type_)):
        low.emit((COPY, dst, *reg(first + number)))


def _typeinfo(low: Lowering, leaf: Leaf) -> Operand:
    if not isinstance(leaf, Linear) or leaf.minus is not None or (leaf.plus is not None and leaf.addend):
        raise UnsupportedError("an exception handler for something that is not a type")
    return low.constant(leaf, 64)


def _resume(low: Lowering, cursor: Cursor, name: str) -> None:
    _, (exception, _) = low.typed(cursor)
    call_library(low, "", low.types.void, "_Unwind_Resume", [(low.types.ptr, exception)])
    low.terminate((UNREACHABLE,))


HANDLERS: dict[str, Handler] = {"invoke": _invoke, "landingpad": _landingpad, "resume": _resume}
