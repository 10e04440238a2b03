"""Inline assembly: empty templates (barriers), hints and fences, and the instructions of GMP's `longlong.h` and its
many copies: double-word arithmetic and counting zeros on x86-64. Every other template is unsupported.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from partita.llvm.function import Lowering
from partita.llvm.tokens import UnsupportedError
from partita.llvm.types import Type
from partita.llvm.write import CMP, INT_PREDS, UN, UN_OPS, Operand, reg

# Maps the inputs (numbered after the outputs in the template) to the outputs, all 64 bits wide.
Instruction = Callable[[Lowering, list[Operand]], list[Operand]]
_MODIFIER = re.compile(r"\$\{(\d+):q\}")


def lower_assembly(
    low: Lowering, name: str, type_: Type, template: str, constraints: str, inputs: list[tuple[Type, list[Operand]]]
) -> None:
    """Emits the instructions for a template and defines its outputs."""
    text = " ".join(template.replace(";", " ; ").split())
    if not text:
        if type_.leaves:
            low.define(name, _tied_outputs(constraints, type_, inputs))
        return  # a barrier: an empty template does not change memory operands
    if text in _HINTS and not type_.leaves and not inputs:
        return
    plain = " ".join(_MODIFIER.sub(r"$\1", text).replace(",", " ").split())
    known = _TEMPLATES.get(plain)
    widths = [leaf.width for _, leaf in type_.leaves]
    operands = [operand for _, leaves in inputs for operand in leaves]
    fits = all(given.width == 64 for given, _ in inputs) and len(operands) == len(inputs)
    if known is None or not fits or "*" in constraints or len(widths) != known[0] or len(inputs) != known[1]:
        raise UnsupportedError(f"inline assembly `{' '.join(template.split())}`")
    results = known[2](low, operands)
    values = [low.resize(value, 64, width) for value, width in zip(results, widths, strict=True)]
    low.define(name, values[0] if type_.width else values)


def _tied_outputs(constraints: str, type_: Type, inputs: list[tuple[Type, list[Operand]]]) -> Operand | list[Operand]:
    """The outputs of an empty template. Each must be tied to an input (`"+r"(x)` in C)."""
    parts = [part for part in constraints.split(",") if not part.startswith("~")]
    outputs = [part for part in parts if part.startswith("=") and "*" not in part]
    given = [part for part in parts if not part.startswith("=") or "*" in part]
    tied: dict[int, list[Operand]] = {}
    for part, (_, operands) in zip(given, inputs, strict=False):
        if part.isdigit():
            tied[int(part)] = operands
    leaves = [operand for number in range(len(outputs)) for operand in tied.get(number, ())]
    if any(number not in tied for number in range(len(outputs))) or len(leaves) != len(type_.leaves):
        raise UnsupportedError(f"inline assembly `` with constraints `{constraints}`")
    return leaves[0] if type_.width else leaves


def _less(low: Lowering, a: Operand, b: Operand) -> Operand:
    """1 if a < b, unsigned, else 0."""
    dst = low.new_register(1)
    low.emit((CMP | INT_PREDS["ult"], 64, dst, *a, *b))
    return low.cast("zext", reg(dst), 1, 64)


def _count(op: str, low: Lowering, a: Operand) -> Operand:
    dst = low.new_register(64)
    low.emit((UN | UN_OPS[op], dst, *a))
    return reg(dst)


def _add(low: Lowering, inputs: list[Operand]) -> list[Operand]:
    a_high, b_high, a_low, b_low = inputs
    total = low.binary("add", 64, a_low, b_low)
    high = low.binary("add", 64, low.binary("add", 64, a_high, b_high), _less(low, total, a_low))
    return [high, total]


def _sub(low: Lowering, inputs: list[Operand]) -> list[Operand]:
    a_high, b_high, a_low, b_low = inputs
    borrow = _less(low, a_low, b_low)
    high = low.binary("sub", 64, low.binary("sub", 64, a_high, b_high), borrow)
    return [high, low.binary("sub", 64, a_low, b_low)]


def _wide(low: Lowering, high: Operand, low_half: Operand) -> Operand:
    upper = low.binary("shl", 128, low.cast("zext", high, 64, 128), low.integer(64, 128))
    return low.binary("or", 128, upper, low.cast("zext", low_half, 64, 128))


def _halves(low: Lowering, value: Operand) -> list[Operand]:
    upper = low.binary("lshr", 128, value, low.integer(64, 128))
    return [low.cast("trunc", value, 128, 64), low.cast("trunc", upper, 128, 64)]


def _mul(low: Lowering, inputs: list[Operand]) -> list[Operand]:
    a, b = (low.cast("zext", operand, 64, 128) for operand in inputs)
    return _halves(low, low.binary("mul", 128, a, b))


def _div(low: Lowering, inputs: list[Operand]) -> list[Operand]:
    low_half, high, divisor = inputs
    dividend, by = _wide(low, high, low_half), low.cast("zext", divisor, 64, 128)
    results = [low.binary(op, 128, dividend, by) for op in ("udiv", "urem")]
    return [low.cast("trunc", result, 128, 64) for result in results]


def _bsf(low: Lowering, inputs: list[Operand]) -> list[Operand]:
    return [_count("cttz", low, inputs[0])]


def _lzcnt(low: Lowering, inputs: list[Operand]) -> list[Operand]:
    return [_count("ctlz", low, inputs[0])]


def _bsr(low: Lowering, inputs: list[Operand]) -> list[Operand]:
    return [low.binary("sub", 64, low.integer(63, 64), _count("ctlz", low, inputs[0]))]


# Templates that change nothing that a program with one thread can see.
_HINTS = frozenset(("nop", "pause", "rep ; nop", "rep nop", "mfence", "lfence", "sfence"))
# Template without commas and `q` modifiers: number of outputs, number of inputs, semantics.
_TEMPLATES: dict[str, tuple[int, int, Instruction]] = {
    "addq $5 $1 adcq $3 $0": (2, 4, _add),
    "subq $5 $1 sbbq $3 $0": (2, 4, _sub),
    "mulq $3": (2, 2, _mul),
    "mulx $3 $0 $1": (2, 2, _mul),
    "divq $4": (2, 3, _div),
    "bsf $1 $0": (1, 1, _bsf),
    "bsr $1 $0": (1, 1, _bsr),
    "rep ; bsf $1 $0": (1, 1, _bsf),
    "rep ; bsr $1 $0": (1, 1, _lzcnt),
}
