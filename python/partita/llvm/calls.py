"""Calls: arguments, results and inline assembly. Intrinsics are in `intrinsics`."""

from __future__ import annotations

from typing import NamedTuple

from partita.llvm import fast_math, intrinsics
from partita.llvm.assembly import lower_assembly
from partita.llvm.calling_convention import CallingConvention
from partita.llvm.function import Handler, Lowering
from partita.llvm.tokens import Cursor, UnsupportedError, string_bytes
from partita.llvm.types import Type
from partita.llvm.write import CALL, FLAG, MEMCOPY, NOT_A_WORD, TOP, Operand, integer

_ALL_FIXED = 1 << 30  # number of fixed parameters of a function that is not variadic
_ASM_WORDS = frozenset(("sideeffect", "alignstack", "inteldialect", "unwind"))


class Argument(NamedTuple):
    type: Type
    operands: list[Operand]
    by_value: Type | None
    align: int
    signed: bool = False


def _parse_arguments(low: Lowering, cursor: Cursor) -> list[Argument]:
    cursor.expect("(")
    arguments: list[Argument] = []
    low.metadata_arguments = []
    first = True
    while not cursor.accept(")"):
        if not first:
            cursor.expect(",")
        first = False
        type_ = low.types.parse(cursor)
        if type_.kind == "metadata":
            low.metadata_arguments.append(_metadata(cursor))
            continue
        by_value: Type | None = None
        align = type_.align
        signed = False
        while not cursor.at_value():
            word = cursor.next()
            signed |= word == "signext"
            if word == "byval":
                cursor.expect("(")
                by_value = low.types.parse(cursor)
                cursor.expect(")")
                align = by_value.align
            elif word == "align":
                align = cursor.number() if cursor.peek() != "(" else _skip_group_keeping(cursor, align)
            else:
                cursor.skip_group()
        arguments.append(Argument(type_, low.operands(cursor, type_), by_value, align, signed))
    return arguments


def _skip_group_keeping(cursor: Cursor, align: int) -> int:
    cursor.skip_group()
    return align


def _metadata(cursor: Cursor) -> str:
    """The text of a metadata argument, without quotes if it is a string."""
    text = ""
    while cursor.peek() not in (",", ")", ""):
        text = cursor.next()
        cursor.skip_group()
    return text.strip('"')


def call(low: Lowering, cursor: Cursor, name: str) -> None:
    flags: list[str] = []
    while not low.types.is_start(cursor.peek()):
        flags.append(cursor.next())
        cursor.skip_group()
    classes = fast_math.excluded(flags)
    if not classes or not name:
        _call(low, cursor, name)
        return
    plain = name + " without flags"
    type_, arguments = _call(low, cursor, plain)
    values = low.named(plain)
    operands = [(a.type, a.operands) for a in arguments if len(a.operands) == len(values)]
    for lane, (dst, value) in enumerate(zip(low.results(name, type_), values, strict=True)):
        fast_math.weaken(low, classes, lane, dst, (type_, value), operands)


def _call(low: Lowering, cursor: Cursor, name: str) -> tuple[Type, list[Argument]]:
    """Lowers a call from its type on. Returns the type of the result, and the arguments."""
    type_ = low.types.parse(cursor)
    fixed = _ALL_FIXED
    if type_.kind == "func":
        if type_.variadic:
            fixed = len(type_.fields)
        type_ = type_.element_type()
    callee = cursor.peek()
    if callee == "asm":
        cursor.at += 1
        return type_, _assembly(low, cursor, name, type_)
    if callee.startswith("@llvm."):
        cursor.at += 1
        return type_, _intrinsic(low, cursor, name, type_, callee[6:])
    head, words = CALL | FLAG, low.scalar(cursor, low.types.ptr)
    if words[0] & 7 == 4:  # the address of a function: a direct call
        head, words = CALL, (words[0] >> 3,)
    arguments = _parse_arguments(low, cursor)
    _emit_call(low, name, type_, head, words, arguments, fixed)
    return type_, arguments


def _emit_call(
    low: Lowering,
    name: str,
    type_: Type,
    head: int,
    callee: tuple[int, ...],
    arguments: list[Argument],
    fixed: int,
) -> None:
    words: list[int] = []
    count = 0
    convention = CallingConvention(narrow=low.types.is_narrow)
    for number, argument in enumerate(arguments):
        places = convention.assign(argument.type, argument.by_value, argument.align)
        if argument.by_value is not None:
            pointer, size = argument.operands[0], argument.by_value.size
            if number < fixed:  # the callee gets its own copy
                copy = low.stack_slot(size, argument.align)
                low.emit((MEMCOPY, *copy, *pointer, *integer(size)))
                pointer = copy
            words += (64, places[0], size, *pointer)
            count += 1
            continue
        for operand, (_, leaf), place in zip(argument.operands, argument.type.leaves, places, strict=True):
            width, flags = leaf.width, TOP if argument.signed else 0
            if low.types.is_narrow:
                flags |= 0 if low.types.is_word(leaf) else NOT_A_WORD
                if number >= fixed:  # as it is in memory
                    operand, width = low.cast("trunc", operand, width, leaf.stored_width), leaf.stored_width
            words += (width | flags, place, 0, *operand)
            count += 1
    results = low.results(name, type_) if name else []
    first = results[0] if results else 0
    kind = TOP if low.types.is_word(type_) or not type_.leaves else 0
    low.emit((head, len(results) | kind, first, *callee, count, *words))


def call_library(low: Lowering, name: str, type_: Type, function: str, operands: list[tuple[Type, Operand]]) -> None:
    """Calls a C function by name, for intrinsics that the C library implements."""
    number = low.module.library_function(function, type_, [operand_type for operand_type, _ in operands])
    arguments = [Argument(operand_type, [operand], None, 8) for operand_type, operand in operands]
    _emit_call(low, name, type_, CALL, (number,), arguments, _ALL_FIXED)


def _intrinsic(low: Lowering, cursor: Cursor, name: str, type_: Type, intrinsic: str) -> list[Argument]:
    handler = intrinsics.find(intrinsic)
    if handler is None:
        raise UnsupportedError(f"intrinsic `llvm.{intrinsic}`")
    arguments = _parse_arguments(low, cursor)
    types = [argument.type for argument in arguments]
    handler(low, name, type_, types, [argument.operands for argument in arguments])
    return arguments


def _assembly(low: Lowering, cursor: Cursor, name: str, type_: Type) -> list[Argument]:
    cursor.skip_words(_ASM_WORDS)
    template = string_bytes(cursor.next()).decode("utf-8", "replace")
    cursor.expect(",")
    constraints = string_bytes(cursor.next()).decode("utf-8", "replace")
    arguments = _parse_arguments(low, cursor)
    inputs = [(argument.type, argument.operands) for argument in arguments]
    lower_assembly(low, name, type_, template, constraints, inputs)
    return arguments


def _tail(low: Lowering, cursor: Cursor, name: str) -> None:
    cursor.expect("call")
    call(low, cursor, name)


HANDLERS: dict[str, Handler] = {
    "call": call,
    "tail": _tail,
    "musttail": _tail,
    "notail": _tail,
}
