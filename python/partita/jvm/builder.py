"""Builds one function of a Program: registers, blocks, instructions, edges.

Registers are variables, not single assignments: locals and canonical stack positions of the bytecode have one each, and
temporaries are shared by blocks, since no temporary is live where a block of the bytecode ends.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Sequence
from typing import Any

from partita.llvm.write import (
    BIN,
    BIN_OPS,
    BRANCH,
    CALL,
    CAST,
    CAST_OPS,
    CMP,
    COPY,
    FBIN,
    FBIN_OPS,
    FCAST,
    FCMP,
    FCMP_PREDS,
    FLAG,
    FTOINT,
    FUN,
    FUN_OPS,
    GEP,
    INT_PREDS,
    INTTOF,
    JUMP,
    LOAD,
    MEMCOPY,
    MEMSET,
    RET,
    SELECT,
    STORE,
    SWITCH,
    TOP,
    UNDEF,
    UNREACHABLE,
    UNSUPPORTED,
    FunctionRecord,
    Operand,
    Writer,
    constant_of,
    integer,
    long,
    reg,
)  # fmt: skip

FLOAT_KINDS = {"F": 0, "D": 1 << 16}
_EDGE = object()


class Instruction:
    """Words of an instruction. Edges are (`_EDGE`, target, moves) until the function is finished."""

    __slots__ = ("dst", "loc", "words")

    def __init__(self, words: list[Any], loc: int, dst: int | None) -> None:
        self.words = words
        self.loc = loc
        self.dst = dst
        """Index of the word with the destination, if there is one destination."""


class FunctionBuilder:
    def __init__(self, part: Part, name: str, parameters: Sequence[int], results: Sequence[int]) -> None:
        self.part = part
        self.record = part.define(name, parameters, results)
        self.widths: list[int] = list(parameters)
        self.results = list(results)
        self.blocks: list[list[Instruction] | None] = []
        self.loc = 0
        self._pools: dict[tuple[int, ...], list[int]] = {}
        self._used: dict[tuple[int, ...], int] = {}
        self._temporaries: set[int] = set()
        self.block = self.new_block()
        self.code = self.start(self.block)

    # Registers

    def new_reg(self, width: int) -> int:
        self.widths.append(width)
        return len(self.widths) - 1

    def temp(self, *widths: int) -> int:
        """First of temporaries of these widths, in a row."""
        pool = self._pools.setdefault(widths, [])
        used = self._used.get(widths, 0)
        if used == len(pool):
            pool.append(len(self.widths))
            self._temporaries.update(range(len(self.widths), len(self.widths) + len(widths)))
            self.widths.extend(widths)
        self._used[widths] = used + 1
        return pool[used]

    def free_temps(self) -> None:
        """Temporaries may be used again: nothing refers to those in use."""
        self._used.clear()

    # Blocks

    def new_block(self) -> int:
        self.blocks.append(None)
        return len(self.blocks) - 1

    def start(self, block: int) -> list[Instruction]:
        """Makes the next instructions go into a block."""
        self.block = block
        self.code = self.blocks[block] = []
        return self.code

    @property
    def is_open(self) -> bool:
        """Can instructions be added? Not after a terminator."""
        return not self.code or self.code[-1].words[0] & 255 < JUMP

    def emit(self, words: list[Any], dst: int | None = None) -> None:
        self.code.append(Instruction(words, self.loc, dst))

    def redirect(self, source: Operand, target: int) -> bool:
        """Makes the last instruction write to `target` if it writes the temporary `source`."""
        if source[0] & 7 or not self.code or source[0] >> 3 not in self._temporaries:
            return False
        last = self.code[-1]
        if last.dst is None or last.words[last.dst] != source[0] >> 3:
            return False
        last.words[last.dst] = target
        return True

    # Instructions

    def binary(self, op: str, width: int, a: Operand, b: Operand) -> Operand:
        x, y = constant_of(a), constant_of(b)
        if y is not None and x is not None and (folded := _fold(op, width, x, y)) is not None:
            return integer(folded)
        if y == 0 and op in ("add", "sub", "or", "xor", "shl", "lshr", "ashr"):
            return a
        dst = self.temp(width)
        self.emit([BIN | BIN_OPS[op], dst, *a, *b], 1)
        return reg(dst)

    def compare(self, predicate: str, width: int, a: Operand, b: Operand) -> Operand:
        dst = self.temp(1)
        self.emit([CMP | INT_PREDS[predicate], width, dst, *a, *b], 2)
        return reg(dst)

    def cast(self, op: str, width: int, to: int, a: Operand) -> Operand:
        value = constant_of(a)
        if value is not None:
            if op == "sext" and value >> (width - 1):
                value -= 1 << width
            return integer(value & ((1 << to) - 1))
        dst = self.temp(to)
        self.emit([CAST | CAST_OPS[op], width, dst, *a], 2)
        return reg(dst)

    def select(self, width: int, condition: Operand, a: Operand, b: Operand) -> Operand:
        dst = self.temp(width)
        self.emit([SELECT, dst, *condition, *a, *b], 1)
        return reg(dst)

    def copy(self, dst: int, a: Operand) -> None:
        if a != reg(dst):
            self.emit([COPY, dst, *a], 1)

    def load(self, width: int, address: Operand) -> Operand:
        dst = self.temp(width)
        self.emit([LOAD, 1, dst, *address], 2)
        return reg(dst)

    def store(self, width: int, value: Operand, address: Operand) -> None:
        self.emit([STORE, width, 1, *value, *address])

    def offset(self, base: Operand, offset: int, *terms: tuple[Operand, int, int]) -> Operand:
        """`base + offset + index * scale`; terms are (index, width, scale)."""
        if not offset and not terms:
            return base
        if base[0] & 7 == 3 and not terms:
            return (base[0], *long((base[1] | base[2] << 32) + offset))
        dst = self.temp(64)
        words: list[Any] = [GEP, *long(offset), dst, *base, len(terms)]
        for index, width, scale in terms:
            words += [width, *long(scale), *index]
        self.emit(words, 3)
        return reg(dst)

    def call(self, callee: str | Operand, arguments: Sequence[tuple[Operand, int]], results: Sequence[int]) -> int:
        """Calls a function by name or address; the first of the registers of its results."""
        first = self.temp(*results) if results else 0
        indirect = not isinstance(callee, str)
        words: list[Any] = [CALL | (FLAG if indirect else 0), len(results) | TOP, first]
        if isinstance(callee, str):
            words.append(self.part.function(callee, [width for _, width in arguments], results))
        else:
            words += callee
        words.append(len(arguments))
        for value, width in arguments:
            words += [width, 0, 0, *value]
        self.emit(words, 2 if len(results) == 1 else None)
        return first

    def later(self, make: Callable[[], list[list[Any]]]) -> None:
        """Instructions that are known when everything has been lowered."""
        self.emit([-1, make])

    def float_binary(self, op: str, kind: str, a: Operand, b: Operand) -> Operand:
        dst = self.temp(64 if kind == "D" else 32)
        self.emit([FBIN | FBIN_OPS[op] | FLOAT_KINDS[kind], dst, *a, *b], 1)
        return reg(dst)

    def float_unary(self, op: str, kind: str, a: Operand) -> Operand:
        dst = self.temp(64 if kind == "D" else 32)
        self.emit([FUN | FUN_OPS[op] | FLOAT_KINDS[kind], dst, *a], 1)
        return reg(dst)

    def float_compare(self, predicate: str, kind: str, a: Operand, b: Operand) -> Operand:
        dst = self.temp(1)
        self.emit([FCMP | FCMP_PREDS[predicate] | FLOAT_KINDS[kind], dst, *a, *b], 1)
        return reg(dst)

    def float_to_int(self, kind: str, width: int, a: Operand) -> Operand:
        dst = self.temp(width)
        self.emit([FTOINT | 3 << 8 | FLOAT_KINDS[kind], dst, *a], 1)
        return reg(dst)

    def int_to_float(self, width: int, kind: str, a: Operand) -> Operand:
        dst = self.temp(64 if kind == "D" else 32)
        self.emit([INTTOF | 1 << 8 | FLOAT_KINDS[kind], width, dst, *a], 2)
        return reg(dst)

    def float_cast(self, source: str, kind: str, a: Operand) -> Operand:
        dst = self.temp(64 if kind == "D" else 32)
        self.emit([FCAST | FLOAT_KINDS[source] >> 8 | FLOAT_KINDS[kind], dst, *a], 1)
        return reg(dst)

    def copy_bytes(self, target: Operand, source: Operand, length: Operand) -> None:
        self.emit([MEMCOPY | FLAG, *target, *source, *length])

    def set_bytes(self, target: Operand, value: Operand, length: Operand) -> None:
        self.emit([MEMSET, *target, *value, *length])

    def unsupported(self, message: str) -> None:
        """Ends the path with a message."""
        self.emit([UNSUPPORTED, self.part.writer.string(message)])
        self.emit([UNREACHABLE])

    # Terminators

    def jump(self, target: int, moves: Sequence[tuple[int, Operand]] = ()) -> None:
        self.emit([JUMP, (_EDGE, target, moves)])

    def branch(
        self,
        condition: Operand,
        then: int,
        other: int,
        moves: Sequence[tuple[int, Operand]] = (),
        other_moves: Sequence[tuple[int, Operand]] = (),
    ) -> None:
        if then == other:
            self.jump(then, moves)
        else:
            self.emit([BRANCH, (_EDGE, then, moves), (_EDGE, other, other_moves), *condition])

    def switch(self, width: int, value: Operand, cases: Sequence[tuple[int, int]], default: int) -> None:
        words: list[Any] = [SWITCH, width, (_EDGE, default, ()), *value, len(cases)]
        for number, target in sorted(cases):
            words += [*long(number), (_EDGE, target, ())]
        self.emit(words)

    def ret(self, *values: Operand) -> None:
        self.emit([RET, len(values), *(word for value in values for word in value)])

    # The end

    def finish(self) -> None:
        """Writes the record. Blocks that were never started are left out: nothing leads to them."""
        record = self.record
        record.widths = self.widths
        numbers: dict[int, int] = {}
        for block, code in enumerate(self.blocks):
            if code:
                numbers[block] = len(numbers)
        for code in self.blocks:
            if not code:
                continue
            edges: dict[int, int] = {}
            count = 0
            for instruction in code:
                words = instruction.words
                several = words[1]() if words[0] == -1 else (words,)
                for each in several:
                    record.code.extend(self._words(each, numbers, edges, record))
                    record.locs.append(instruction.loc)
                    count += 1
            record.blocks.append(count)

    def _words(
        self, words: list[Any], numbers: dict[int, int], edges: dict[int, int], record: FunctionRecord
    ) -> list[int]:
        if words[0] & 255 not in (JUMP, BRANCH, SWITCH):
            return words
        plain: list[int] = []
        for word in words:
            if isinstance(word, tuple):
                _, target, moves = word
                if target not in edges:
                    edges[target] = len(record.edges)
                    record.edges.append((numbers[target], [move for move in moves if move[1] != reg(move[0])]))
                plain.append(edges[target])
            else:
                plain.append(word)
        return plain


def _fold(op: str, width: int, x: int, y: int) -> int | None:
    mask = (1 << width) - 1
    if op == "add":
        return x + y & mask
    if op == "sub":
        return x - y & mask
    if op == "mul":
        return x * y & mask
    if op == "and":
        return x & y
    return None


class Part:
    """One of the programs that are linked: the user's own classes, or the library."""

    def __init__(self) -> None:
        self.writer = Writer()
        self._functions: dict[str, int] = {}
        self._globals: dict[str, int] = {}
        self._texts: dict[str, str] = {}

    def function(self, name: str, parameters: Sequence[int], results: Sequence[int]) -> int:
        """Number of a function, which is declared if it is not yet known."""
        number = self._functions.get(name)
        if number is None:
            number = self._functions[name] = len(self.writer.functions)
            record = FunctionRecord(name, params=len(parameters), results=list(results), integers=True)
            record.widths = list(parameters)
            self.writer.functions.append(record)
        return number

    def define(self, name: str, parameters: Sequence[int], results: Sequence[int]) -> FunctionRecord:
        record = self.writer.functions[self.function(name, parameters, results)]
        record.params, record.results, record.code = len(parameters), list(results), array("I")
        return record

    def global_number(self, name: str) -> int:
        """Number of a global, which is declared if it is not yet known."""
        number = self._globals.get(name)
        if number is None:
            from partita.llvm.write import GlobalRecord

            number = self._globals[name] = len(self.writer.globals)
            self.writer.globals.append(GlobalRecord(name))
        return number

    def text(self, text: str) -> Operand:
        """Address of a constant text that ends in NUL, for models."""
        from partita.llvm.write import INTERNAL, global_address

        name = self._texts.get(text)
        if name is None:
            name = self._texts[text] = f"text {len(self._texts)}"
            record = self.writer.globals[self.global_number(name)]
            data = text.encode("utf-8", "replace") + b"\0"
            record.linkage, record.defined, record.readonly = INTERNAL, True, True
            record.size, record.data = len(data), data
        return global_address(self.global_number(name))


__all__ = ["UNDEF", "FunctionBuilder", "Instruction", "Part"]
