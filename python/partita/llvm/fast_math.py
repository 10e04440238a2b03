"""Fast-math flags: with `nnan` (`ninf`) an operation is poison if an operand or its result is NaN (an infinity).

A result is then `r ^ (poison if it is so else 0)`, where `r` is the result of IEEE 754: a decision that depends on
the poison is counted, and goes on with `r`. The other flags allow other results of the same operation (`arcp`,
`afn`, `reassoc`, `contract`, `nsz`); these are the exact ones, as without flags.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from partita.llvm.tokens import Cursor
from partita.llvm.types import Type, float_kind, is_float
from partita.llvm.write import BIN, BIN_OPS, FCLASS, POISON, SELECT, Operand, integer, reg

if TYPE_CHECKING:
    from partita.llvm.function import Lowering

FLAGS = frozenset("fast nnan ninf nsz arcp contract afn reassoc".split())
_NANS, _INFINITIES = 0x003, 0x204
"""Classes of `llvm.is.fpclass`."""

Lanes = tuple[Type, list[Operand]]


def excluded(flags: Sequence[str]) -> int:
    """The classes of numbers that flags exclude."""
    fast = "fast" in flags
    return (_NANS if fast or "nnan" in flags else 0) | (_INFINITIES if fast or "ninf" in flags else 0)


def parse(cursor: Cursor) -> int:
    """Reads flags; the classes of numbers that they exclude."""
    return excluded(cursor.skip_words(FLAGS))


def results(low: Lowering, classes: int, name: str, type_: Type, operands: Sequence[Lanes]) -> Iterator[int]:
    """The register of each lane of a result, to be written before the next is asked for."""
    for lane, dst in enumerate(low.results(name, type_)):
        if not classes:
            yield dst
            continue
        plain = low.new_register(_scalar(type_).width)
        yield plain
        weaken(low, classes, lane, dst, (type_, reg(plain)), operands)


def weaken(
    low: Lowering, classes: int, lane: int, dst: int, result: tuple[Type, Operand], operands: Sequence[Lanes]
) -> None:
    """Sets a register to a result, or to poison if it or an operand is of one of the classes."""
    type_, value = result
    checked = [(_scalar(operand_type), values[lane]) for operand_type, values in operands]
    excludes: Operand | None = None
    for operand_type, operand in [*checked, (_scalar(type_), value)]:
        if is_float(operand_type):
            found = low.new_register(1)
            low.emit((FCLASS | float_kind(operand_type) << 16, classes, found, *operand))
            excludes = low.binary("or", 1, excludes, reg(found)) if excludes else reg(found)
    if excludes is None:
        raise ValueError("fast-math flags without a number")
    unknown = low.new_register(_scalar(type_).width)
    low.emit((SELECT, unknown, *excludes, *POISON, *integer(0)))
    low.emit((BIN | BIN_OPS["xor"], dst, *value, *reg(unknown)))


def _scalar(type_: Type) -> Type:
    return type_.element_type() if type_.kind == "vector" else type_
