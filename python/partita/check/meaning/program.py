"""Reads the serialised parts of a program and links them, independently of the executor's loader and linker.

Only the numbering of functions and globals is taken from the certificate: addresses depend on it. Every name is
resolved here, and must lead to a symbol that is numbered.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from partita.check.terms import NoSemanticsError
from partita.llvm import write as w

Operand = tuple[str, Any]
# Number of words and of operands that follow, for instructions of fixed shape.
SHAPES = {
    w.BIN: (1, 2), w.UN: (1, 1), w.OVERFLOW: (2, 2), w.FUNNEL: (1, 3), w.CMP: (2, 2), w.CAST: (2, 1), w.SELECT: (1, 3),
    w.COPY: (1, 1), w.FREEZE: (1, 1), w.LOAD: (2, 1), w.STORE: (2, 2), w.ALLOCA: (2, 1), w.MEMCOPY: (0, 3),
    w.MEMSET: (0, 3), w.VASTART: (3, 1), w.STACKSAVE: (1, 0), w.STACKRESTORE: (0, 1), w.ASSUME: (0, 1), w.FBIN: (1, 2),
    w.FUN: (1, 1), w.FMA: (1, 3), w.FCMP: (1, 2), w.FCLASS: (2, 1), w.FTOINT: (1, 1), w.INTTOF: (2, 1), w.FCAST: (1, 1),
    w.TRAP: (0, 0), w.UNSUPPORTED: (1, 0), w.JUMP: (1, 0), w.BRANCH: (2, 1), w.UNREACHABLE: (0, 0),
    w.LANDING: (3, 1), w.SCOPE: (0, 1),
}  # fmt: skip


@dataclass
class Global:
    name: str
    bits: int
    size: int
    align: int
    alias: tuple[int, int] | None
    data: bytes
    relocs: list[tuple[int, int, tuple[Any, ...], tuple[Any, ...] | None]]
    part: int = 0

    @property
    def is_defined(self) -> bool:
        return bool(self.bits & 4)


@dataclass
class Function:
    name: str
    bits: int
    alias: int | None
    params: int
    results: list[int]
    widths: list[int]
    blocks: list[int]
    """Index of the first instruction of each block."""
    edges: list[tuple[int, list[tuple[int, Operand]]]]
    insts: list[tuple[Any, ...]]
    lines: list[tuple[str, int]]
    part: int = 0


class Part:
    """One serialised part. References to symbols keep the number of their part."""

    def __init__(self, data: bytes, part: int) -> None:
        words, blob = struct.unpack_from("<II", data, 16)
        self.part = part
        self.words = struct.unpack_from(f"<{words}I", data, 24)
        self.blob = data[24 + 4 * words : 24 + 4 * words + blob]
        self.at = self.blob_at = self.undefined = 0
        self.strings = [self.take(self.word()).decode() for _ in range(self.word())]
        self.wides = [self.limbs() for _ in range(self.word())]
        self.globals = [self.global_variable() for _ in range(self.word())]
        self.locs = [(self.strings[self.word()], self.word(), self.word())[:2] for _ in range(self.word())]
        self.functions = [self.function() for _ in range(self.word())]
        self.constructors = [(self.word(), self.word()) for _ in range(self.word())]
        self.destructors = [(self.word(), self.word()) for _ in range(self.word())]
        if self.word() != 8:
            raise NoSemanticsError("a program with pointers of 32 bits")

    def word(self) -> int:
        self.at += 1
        return int(self.words[self.at - 1])

    def long(self) -> int:
        return self.word() | self.word() << 32

    def signed(self) -> int:
        value = self.long()
        return value - (1 << 64) if value >> 63 else value

    def take(self, count: int) -> bytes:
        self.blob_at += count
        return self.blob[self.blob_at - count : self.blob_at]

    def limbs(self) -> int:
        return sum(self.long() << (64 * i) for i in range(self.word()))

    def address(self) -> tuple[int, int, int, int]:
        return self.word(), self.part, self.word(), self.signed()

    def global_variable(self) -> Global:
        name, bits, size, align = self.strings[self.word()], self.word(), self.long(), self.word()
        alias = (self.word(), self.signed()) if bits & 32 else None
        if bits & 64:
            self.word()
        data = self.take(self.word())
        relocs = []
        for _ in range(self.word()):
            offset, shape, target = self.long(), self.word(), self.address()
            relocs.append((offset, shape & 255, target, self.address() if shape & 256 else None))
        return Global(name, bits, size, align, alias, data, relocs, self.part)

    def operand(self) -> Operand:
        word = self.word()
        kind, number = word & 7, word >> 3
        if kind == 0:
            return "reg", number
        if kind == 1:
            return "int", number
        if kind == 6:
            self.undefined += 1
            return "undef", f"{self.part}.{self.undefined}"
        if kind == 2:
            return "int", self.long()
        if kind == 7:
            return "int", self.wides[number]
        offset = self.signed() if kind == 3 else self.word() if kind == 5 else 0
        return "addr", (kind - 3, self.part, number, offset)

    def function(self) -> Function:
        name, bits, _ = self.strings[self.word()], self.word(), self.word()
        alias = self.word() if bits & 8 else None
        params = self.word()
        results = [self.word() for _ in range(self.word())]
        widths = [self.word() for _ in range(self.word())]
        counts = [self.word() for _ in range(self.word())]
        edges = []
        for _ in range(self.word()):
            target = self.word()
            edges.append((target, [(self.word(), self.operand()) for _ in range(self.word())]))
        insts = [self.inst() for _ in range(sum(counts))]
        lines = [self.locs[self.word()] for _ in range(sum(counts))]
        blocks = [sum(counts[:i]) for i in range(len(counts))]
        return Function(name, bits, alias, params, results, widths, blocks, edges, insts, lines, self.part)

    def inst(self) -> tuple[Any, ...]:
        head = self.word()
        code, op, more = head & 255, head >> 8 & 255, head >> 16 & 255
        shape = SHAPES.get(code)
        if shape is not None:
            fields = [self.word() for _ in range(shape[0])]
            return (code, op, more, *fields, *[self.operand() for _ in range(shape[1])])
        if code == w.GEP:
            offset, dst, base = self.signed(), self.word(), self.operand()
            terms = [(self.word(), self.signed(), self.operand()) for _ in range(self.word())]
            return (code, op, more, dst, base, offset, terms)
        if code == w.CALL:
            count, first = self.word(), self.word()
            callee = self.operand() if more else ("addr", (1, self.part, self.word(), 0))
            args = [(self.word(), self.word(), self.word(), self.operand()) for _ in range(self.word())]
            return (code, op, more, count & ~w.TOP, first, callee, args)
        if code == w.SWITCH:
            width, default, value = self.word(), self.word(), self.operand()
            return (code, op, more, width, default, value, {self.long(): self.word() for _ in range(self.word())})
        if code == w.INDIRECTBR:
            return (code, op, more, self.operand(), [self.word() for _ in range(self.word())])
        assert code == w.RET, f"instruction {code}"
        return (code, op, more, [self.operand() for _ in range(self.word())])


class Linked:
    """The linked program: functions and globals in the order of the certificate."""

    def __init__(self, parts: list[bytes], functions: list[list[int]], globals_: list[list[int]]) -> None:
        self.parts = [Part(data, number) for number, data in enumerate(parts)]
        self.functions = [self.parts[part].functions[index] for part, index in functions]
        self.globals = [self.parts[part].globals[index] for part, index in globals_]
        self._ids: list[dict[tuple[int, int], int]] = [
            {(part, index): number for number, (part, index) in enumerate(rows)} for rows in (functions, globals_)
        ]
        self._named: list[dict[str, int]] = [{}, {}]
        symbols: list[Sequence[Function | Global]] = [self.functions, self.globals]
        for named, rows in zip(self._named, symbols, strict=True):
            for number, symbol in enumerate(rows):
                if symbol.bits & 3 != w.INTERNAL:
                    named.setdefault(symbol.name, number)
        structors = [(priority, part.part, f) for part in self.parts for priority, f in part.constructors]
        self.constructors = [self.function(part, f) for _, part, f in sorted(structors, key=lambda s: s[0])]
        structors = [(-priority, part.part, f) for part in self.parts for priority, f in part.destructors]
        self.destructors = [self.function(part, f) for _, part, f in sorted(structors, key=lambda s: s[0])]

    def function(self, part: int, index: int) -> int:
        """Number of the function that this reference leads to."""
        symbol = self.parts[part].functions[index]
        number = self._number(0, part, index, symbol.name, symbol.bits)
        alias = self.functions[number].alias
        return number if alias is None else self.function(self.functions[number].part, alias)

    def variable(self, part: int, index: int) -> tuple[int, int]:
        """Number of the global that this reference leads to, and an offset."""
        symbol = self.parts[part].globals[index]
        number = self._number(1, part, index, symbol.name, symbol.bits)
        target = self.globals[number]
        if target.alias is None:
            return number, 0
        found, offset = self.variable(target.part, target.alias[0])
        return found, offset + target.alias[1]

    def _number(self, kind: int, part: int, index: int, name: str, bits: int) -> int:
        return self._ids[kind][part, index] if bits & 3 == w.INTERNAL else self._named[kind][name]
