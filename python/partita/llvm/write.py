"""The serialised form of a Program: numbers of instructions and operators, encoding of operands, and the file.

`core/src/program/load.rs` reads it and `inst.rs` has the same lists of operators in the same order. A change of any of
them changes `FORMAT_VERSION`.
"""

from __future__ import annotations

import os
import struct
import sys
import zlib
from array import array
from collections.abc import Iterator
from dataclasses import dataclass, field

FORMAT_VERSION = 4
_MAGIC = b"PARTITA\0"

# An operand is a tuple of words; the low three bits of the first are its kind.
Operand = tuple[int, ...]
UNDEF: Operand = (6,)
POISON: Operand = (6 | 8,)
ZERO: Operand = (1,)

(
    BIN, UN, OVERFLOW, FUNNEL, CMP, CAST, SELECT, COPY, FREEZE, LOAD, STORE, ALLOCA, GEP, CALL, MEMCOPY, MEMSET,
    VASTART, STACKSAVE, STACKRESTORE, ASSUME, FBIN, FUN, FMA, FCMP, FCLASS, FTOINT, INTTOF, FCAST, TRAP, UNSUPPORTED,
    JUMP, BRANCH, SWITCH, INDIRECTBR, RET, UNREACHABLE, LANDING, SCOPE,
) = range(38)  # fmt: skip


def _numbered(names: str) -> dict[str, int]:
    return {name: number << 8 for number, name in enumerate(names.split())}


# Operators by name, shifted to their position in the first word.
BIN_OPS = _numbered(
    "add sub mul udiv sdiv urem srem shl lshr ashr and or xor umin umax smin smax"
    " uaddsat saddsat usubsat ssubsat ushlsat sshlsat"
)
UN_OPS = _numbered("ctpop ctlz cttz bswap bitreverse abs")
OVERFLOW_OPS = _numbered("uadd sadd usub ssub umul smul")
INT_PREDS = _numbered("eq ne ugt uge ult ule sgt sge slt sle")
CAST_OPS = _numbered("zext sext trunc bool")
FBIN_OPS = _numbered("fadd fsub fmul fdiv frem copysign minnum maxnum minimum maximum")
FUN_OPS = _numbered("fneg fabs sqrt floor ceil trunc rint round roundeven")
FCMP_PREDS = _numbered("false oeq ogt oge olt ole one ord ueq ugt uge ult ule une uno true")
FLAGS = {"nuw": 1 << 16, "nsw": 2 << 16, "exact": 4 << 16, "disjoint": 8 << 16}
STRICT = 8 << 16
# The one flag of an instruction: indirect call, overlapping copy, fixed alloca, inbounds, left funnel shift, begin of
# a scope.
FLAG = 1 << 16
# In the width of an argument: it is signed. In the number of results of a call: the result is an integer, or none.
TOP = 1 << 31
# In the width of an argument of a 32-bit program: it is a floating-point number, or an integer of more than 32 bits.
NOT_A_WORD = 1 << 30

STRONG, WEAK, INTERNAL = range(3)


def reg(number: int) -> Operand:
    return (number << 3,)


def integer(value: int) -> Operand:
    """A constant of at most 64 bits, already reduced to its width."""
    if value < 1 << 29:
        return (value << 3 | 1,)
    return (2, value & 0xFFFFFFFF, value >> 32)


def long(value: int) -> tuple[int, int]:
    """A 64-bit number, signed or not, as two words."""
    return value & 0xFFFFFFFF, (value >> 32) & 0xFFFFFFFF


def global_address(number: int, offset: int = 0) -> Operand:
    return (number << 3 | 3, *long(offset))


def function_address(number: int) -> Operand:
    return (number << 3 | 4,)


def block_address(function: int, block: int) -> Operand:
    return (function << 3 | 5, block)


def wide(number: int) -> Operand:
    return (number << 3 | 7,)


def constant_of(operand: Operand) -> int | None:
    """The value of a constant operand of at most 64 bits, or None."""
    kind = operand[0] & 7
    if kind == 1:
        return operand[0] >> 3
    if kind == 2:
        return operand[1] | operand[2] << 32
    return None


@dataclass(frozen=True)
class Address:
    """A constant address in an initial value. Kind: 0 global, 1 function, 2 block (the offset is its number)."""

    kind: int
    number: int
    offset: int

    def words(self) -> tuple[int, ...]:
        return (self.kind, self.number, *long(self.offset))


@dataclass
class GlobalRecord:
    name: str
    linkage: int = STRONG
    defined: bool = False
    readonly: bool = False
    thread_local: bool = False
    alias: tuple[int, int] | None = None
    size: int = 0
    align: int = 1
    element_bytes: int = 0  # `Type.element_bytes`
    data: bytes = b""
    relocs: list[tuple[int, int, Address, Address | None]] = field(default_factory=list)  # offset, bytes, plus, minus
    unsupported: str | None = None


@dataclass
class FunctionRecord:
    name: str
    linkage: int = STRONG
    variadic: bool = False
    integers: bool = False  # parameters and result are integers or pointers
    signed_result: bool = False
    library: bool = False  # code of the C++ library that the program instantiates
    alias: int | None = None
    loc: int = 0
    params: int = 0
    results: list[int] = field(default_factory=list)
    widths: list[int] = field(default_factory=list)
    blocks: list[int] = field(default_factory=list)  # number of instructions of each
    edges: list[tuple[int, list[tuple[int, Operand]]]] = field(default_factory=list)  # target, ordered moves
    code: array[int] = field(default_factory=lambda: array("I"))
    locs: list[int] = field(default_factory=list)


def pointer_bytes(program: bytes) -> int:
    """Bytes of a pointer in a serialised program."""
    (words,) = struct.unpack_from("<I", program, 16)
    return int(struct.unpack_from("<I", program, 24 + 4 * (words - 1))[0])


def contents(program: bytes) -> Iterator[bytes]:
    """The pieces of a serialised program that do not depend on where its files are.

    Paths of source files are absolute, and nothing else in the table of strings begins with a slash: of these only the
    last part counts.
    """
    words, size = struct.unpack_from("<II", program, 16)
    (count,) = struct.unpack_from("<I", program, 24)
    lengths = struct.unpack_from(f"<{count}I", program, 28)
    at = 24 + 4 * words
    pieces = []
    for length in lengths:
        text = program[at : at + length]
        pieces.append(os.path.basename(text) if text[:1] == b"/" else text)
        at += length
    yield b"\0".join(pieces)
    yield program[28 + 4 * count : 24 + 4 * words]
    yield program[at : 24 + 4 * words + size]


class Writer:
    """Collects the parts of a program and serialises them."""

    def __init__(self) -> None:
        self.pointer_bytes = 8
        self.functions: list[FunctionRecord] = []
        self.globals: list[GlobalRecord] = []
        self.constructors: list[tuple[int, int]] = []
        self.destructors: list[tuple[int, int]] = []
        self._strings: dict[str, int] = {}
        self._wides: dict[tuple[int, int], int] = {}
        self._locs: dict[tuple[int, int, int], int] = {(0, 0, 0): 0}

    def string(self, text: str) -> int:
        return self._strings.setdefault(text, len(self._strings))

    def loc(self, file: str, line: int, column: int) -> int:
        if line == 0:
            return 0
        return self._locs.setdefault((self.string(file), line, column), len(self._locs))

    def constant(self, value: int, width: int) -> Operand:
        """A constant of any width. `value` is reduced modulo the width."""
        value &= (1 << width) - 1
        if width <= 64:
            return integer(value)
        key = value, (width + 63) // 64
        return wide(self._wides.setdefault(key, len(self._wides)))

    def bytes(self) -> bytes:
        words = array("I")
        blob = bytearray()
        body = array("I")
        self._write_globals(body, blob_later := bytearray())
        body.append(len(self._locs))
        for loc in self._locs:
            body.extend(loc)
        body.append(len(self.functions))
        for function in self.functions:
            self._write_function(body, function)
        for structors in (self.constructors, self.destructors):
            body.append(len(structors))
            for priority, number in structors:
                body.extend((priority, number))
        body.append(self.pointer_bytes)
        # Strings are written last, since the sections above may add some; they come first in the file.
        words.append(len(self._strings))
        for text in self._strings:
            raw = text.encode("utf-8", "surrogateescape").decode("utf-8", "replace").encode("utf-8")
            words.append(len(raw))
            blob += raw
        words.append(len(self._wides))
        for value, limbs in self._wides:
            words.append(limbs)
            for _ in range(limbs):
                words.extend(long(value))
                value >>= 64
        words += body
        blob += blob_later
        if sys.byteorder == "big":
            words.byteswap()
        rest = struct.pack("<II", len(words), len(blob)) + words.tobytes() + bytes(blob)
        return _MAGIC + struct.pack("<II", FORMAT_VERSION, zlib.crc32(rest)) + rest

    def _write_globals(self, out: array[int], blob: bytearray) -> None:
        out.append(len(self.globals))
        for g in self.globals:
            bits = g.linkage | g.defined << 2 | g.readonly << 3 | g.thread_local << 4
            bits |= (g.alias is not None) << 5 | (g.unsupported is not None) << 6 | g.element_bytes << 8
            out.extend((self.string(g.name), bits, *long(g.size), g.align))
            if g.alias is not None:
                out.extend((g.alias[0], *long(g.alias[1])))
            if g.unsupported is not None:
                out.append(self.string(g.unsupported))
            data = g.data.rstrip(b"\0")
            out.append(len(data))
            blob += data
            out.append(len(g.relocs))
            for offset, size, plus, minus in g.relocs:
                out.extend((*long(offset), size | (minus is not None) << 8, *plus.words()))
                if minus is not None:
                    out.extend(minus.words())

    def _write_function(self, out: array[int], f: FunctionRecord) -> None:
        bits = f.linkage | f.variadic << 2 | (f.alias is not None) << 3 | f.integers << 4 | f.signed_result << 5
        bits |= f.library << 6
        out.extend((self.string(f.name), bits, f.loc))
        if f.alias is not None:
            out.append(f.alias)
        out.append(f.params)
        for numbers in (f.results, f.widths, f.blocks):
            out.append(len(numbers))
            out.extend(numbers)
        out.append(len(f.edges))
        for target, moves in f.edges:
            out.extend((target, len(moves)))
            for dst, src in moves:
                out.append(dst)
                out.extend(src)
        out.extend(f.code)
        out.extend(f.locs)
