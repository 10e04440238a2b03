"""Lowering of one function: its values, registers, blocks and edges. The instructions are in `arith`, `memory`,
`control`, `vectors`, `calls` and `intrinsics`.

A value is the operand of a scalar, or the list of operands of an aggregate's leaves. Casts that change no bit, and
extracting members of aggregates, only rename operands. This is right because an SSA value is recomputed whenever its
defining block is entered, so an alias never outlives the value of the register. A value that is used before its
definition gets its register at the first use.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable
from typing import TYPE_CHECKING, cast

from partita.llvm.calling_convention import CallingConvention
from partita.llvm.constants import Leaf, Linear, parse_constant
from partita.llvm.tokens import Cursor, UnsupportedError, split_line, unquote
from partita.llvm.types import Type
from partita.llvm.write import (
    ALLOCA,
    BIN,
    BIN_OPS,
    CAST,
    CAST_OPS,
    COPY,
    FLAG,
    GEP,
    POISON,
    UNDEF,
    UNREACHABLE,
    UNSUPPORTED,
    Address,
    FunctionRecord,
    Operand,
    block_address,
    function_address,
    global_address,
    integer,
    long,
    reg,
)

if TYPE_CHECKING:
    from partita.llvm.module import Module

Value = Operand | list[Operand]
Handler = Callable[["Lowering", Cursor, str], None]


class Lowering:
    """One function being lowered."""

    def __init__(self, module: Module, record: FunctionRecord, labels: dict[str, int]) -> None:
        self.module = module
        self.types = module.types
        self.writer = module.writer
        self.record = record
        self.labels = labels
        self.block = 0
        self.is_plain = False  # as clang translated it, without optimisation
        self.terminated = False
        self.convention = CallingConvention(narrow=module.types.is_narrow)  # places of the parameters
        self.metadata_arguments: list[str] = []  # of the call being lowered
        self.landing_pads: dict[int, int] = {}  # globals with the clauses of landing pads, by block
        self._exception: int | None = None
        self._values: dict[str, Value] = {}
        self._unknown: set[str] = set()
        self._code = array("I")
        self._locs: list[int] = []
        self._loc = 0
        self._entry_code = array("I")
        self._entry_count = 0
        self._edges: dict[tuple[int, int], int] = {}
        self._phis: dict[tuple[int, int], list[tuple[int, Operand]]] = {}

    # Text

    def parameter(self, name: str, type_: Type, by_value: Type | None, align: int) -> None:
        self.convention.assign(type_, by_value, align)
        operands = [reg(self.new_register(leaf.width)) for _, leaf in type_.leaves]
        self.record.params += len(operands)
        self._values[name] = operands[0] if type_.width else operands

    def body(self, lines: list[str], handlers: dict[str, Handler]) -> None:
        """Lowers the lines between the braces."""
        record = self.record
        count = 0
        started = False
        at = 0
        if self.is_atomic:
            self.mark_atomic("begin")
        while at < len(lines):
            line = lines[at]
            at += 1
            if not line:
                continue
            if line[0] != " ":
                if started:
                    self._end_block(count)
                    count = len(self._locs)
                    self.block += 1
                started = True
                continue
            started = True
            if line.startswith(_DEBUG_RECORD):
                continue
            # A switch continues to its closing bracket, an invoke to its destinations.
            while at < len(lines) and lines[at].startswith(("    ", "  ]")) and not lines[at].startswith(_DEBUG_RECORD):
                line += " " + lines[at].strip()
                at += 1
            self._line(line, handlers)
        self._end_block(count)
        record.code = self._entry_code + self._code
        record.blocks[0] += self._entry_count
        record.locs = [0] * self._entry_count + self._locs
        self._finish_edges()

    @property
    def is_atomic(self) -> bool:
        """Whether no other thread runs during a call, by the rules of SV-COMP."""
        name = self.record.name
        return name.startswith(_ATOMIC) and name not in (_ATOMIC + "begin", _ATOMIC + "end")

    def mark_atomic(self, end: str) -> None:
        from partita.llvm.calls import call_library  # calls needs this module

        call_library(self, "", self.types.void, _ATOMIC + end, [])

    def unsupported_signature(self, what: str) -> None:
        """Gives a function with unsupported parameters a body that ends every path which calls it."""
        self.record.params, self.record.results, self.record.widths = 0, [], []
        self.unsupported(what)
        self.terminate((UNREACHABLE,))
        self._end_block(0)
        self.record.code, self.record.locs = self._code, self._locs

    def _line(self, line: str, handlers: dict[str, Handler]) -> None:
        if self.terminated:
            return
        tokens, debug = split_line(line)
        self._loc = self.module.loc(debug) if debug >= 0 else 0
        cursor = Cursor(tokens)
        name = ""
        if tokens[1] == "=":
            name = tokens[0]
            cursor.at = 2
        opcode = tokens[cursor.at]
        cursor.at += 1
        handler = handlers.get(opcode)
        try:
            if handler is None:
                raise UnsupportedError(f"instruction `{opcode}`")
            handler(self, cursor, name)
        except (UnsupportedError, ValueError) as error:
            self.unsupported(str(error), name)
            if opcode in _TERMINATORS:
                self.terminate((UNREACHABLE,))

    def _end_block(self, start: int) -> None:
        if not self.terminated:
            self.unsupported("a block without a terminator")
            self.emit((UNREACHABLE,))
        self.terminated = False
        self.record.blocks.append(len(self._locs) - start)

    def unsupported(self, what: str, name: str = "") -> None:
        """Emits an instruction that ends the path. The value of the lowered instruction, if any, is undefined."""
        place = self.module.place(self._loc)
        text = f"{what} in function `{self.record.name}`" + (f" at {place}" if place else "")
        self.emit((UNSUPPORTED, self.writer.string(text)))
        if name:
            self._unknown.add(name)

    # Emitting

    def emit(self, words: tuple[int, ...]) -> None:
        self._code.extend(words)
        self._locs.append(self._loc)

    def terminate(self, words: tuple[int, ...]) -> None:
        self.emit(words)
        self.terminated = True

    def emit_at_entry(self, words: tuple[int, ...]) -> None:
        """Emits at the start of the function: computed constants, copies of arguments passed by value."""
        self._entry_code.extend(words)
        self._entry_count += 1

    # Registers and values

    def new_register(self, width: int) -> int:
        self.record.widths.append(width)
        return len(self.record.widths) - 1

    def result(self, name: str, width: int) -> int:
        """The register of a scalar result."""
        known = self._values.get(name)
        if known is not None:
            return cast(Operand, known)[0] >> 3
        number = self.new_register(width)
        self._values[name] = (number << 3,)
        return number

    def results(self, name: str, type_: Type) -> list[int]:
        """The consecutive registers of a result of any type."""
        if type_.width:
            return [self.result(name, type_.width)]
        known = self._values.get(name)
        if known is None:
            known = self._values[name] = [reg(self.new_register(leaf.width)) for _, leaf in type_.leaves]
        return [operand[0] >> 3 for operand in cast("list[Operand]", known)]

    def define(self, name: str, value: Value) -> None:
        """Makes the name an alias of existing operands."""
        known = self._values.get(name)
        if known is None:
            self._values[name] = value
            return
        old = known if isinstance(known, list) else [known]
        new = value if isinstance(value, list) else [value]
        for dst, src in zip(old, new, strict=True):
            self.emit((COPY, dst[0] >> 3, *src))

    def named(self, name: str) -> list[Operand]:
        """The operands of a value that is defined."""
        value = self._values[name]
        return value if isinstance(value, list) else [value]

    def value(self, cursor: Cursor, type_: Type) -> Value:
        """The value at the cursor, which has the given type."""
        token = cursor.tokens[cursor.at]
        first = token[:1]
        if first == "%":
            cursor.at += 1
            known = self._values.get(token)
            if known is not None:
                return known
            return self._forward_reference(token, type_)
        if type_.kind == "int" and first in "-0123456789" and type_.width <= 64 and token:
            cursor.at += 1
            return integer(int(token) & ((1 << type_.width) - 1))
        leaves = parse_constant(self.module, cursor, type_)
        if type_.width:
            return self.constant(leaves[0], type_.width)
        pairs = zip(leaves, type_.leaves, strict=True)
        return [self.constant(constant, leaf.width) for constant, (_, leaf) in pairs]

    def _forward_reference(self, token: str, type_: Type) -> Value:
        """A value that the text has not defined yet, or whose instruction is unsupported."""
        if token in self._unknown:
            return UNDEF if type_.width else [UNDEF] * len(type_.leaves)
        operands = [reg(self.new_register(leaf.width)) for _, leaf in type_.leaves]
        value: Value = operands[0] if type_.width else operands
        self._values[token] = value
        return value

    def scalar(self, cursor: Cursor, type_: Type) -> Operand:
        if not type_.width:
            raise UnsupportedError(f"a scalar expected, found type `{type_.name}`")
        return cast(Operand, self.value(cursor, type_))

    def operands(self, cursor: Cursor, type_: Type) -> list[Operand]:
        """The leaves of a value of any type."""
        value = self.value(cursor, type_)
        return value if isinstance(value, list) else [value]

    def typed(self, cursor: Cursor) -> tuple[Type, list[Operand]]:
        type_ = self.types.parse(cursor)
        return type_, self.operands(cursor, type_)

    def pointer(self, cursor: Cursor) -> Operand:
        return self.scalar(cursor, self.types.parse(cursor))

    def integer(self, value: int, width: int) -> Operand:
        return self.writer.constant(value, width)

    def constant(self, leaf: Leaf, width: int) -> Operand:
        """A constant as an operand. It is computed at the start of the function if no operand can express it."""
        if not isinstance(leaf, Linear):
            return POISON if leaf.poison else UNDEF
        if leaf.plus is None and leaf.minus is None:
            return self.writer.constant(leaf.addend, width)
        value = self._address(leaf.plus, 0 if leaf.minus else leaf.addend)
        if leaf.minus is not None:
            difference = self.new_register(64)
            self.emit_at_entry((BIN | BIN_OPS["sub"], difference, *value, *self._address(leaf.minus, 0)))
            value = reg(difference)
            if leaf.addend:
                total = self.new_register(64)
                self.emit_at_entry((BIN | BIN_OPS["add"], total, *value, *self.integer(leaf.addend, 64)))
                value = reg(total)
        if width != 64:
            cast = self.new_register(width)
            self.emit_at_entry((CAST | CAST_OPS["trunc" if width < 64 else "zext"], 64, cast, *value))
            value = reg(cast)
        return value

    def _address(self, address: Address | None, addend: int) -> Operand:
        if address is None:
            return self.integer(addend, 64)
        if address.kind == 0:
            return global_address(address.number, address.offset + addend)
        plain = function_address(address.number) if address.kind == 1 else block_address(address.number, address.offset)
        offset = addend + (address.offset if address.kind == 1 else 0)
        if not offset:
            return plain
        moved = self.new_register(64)
        self.emit_at_entry((GEP, *long(offset), moved, *plain, 0))
        return reg(moved)

    # Code that several instructions need

    def binary(self, op: str, width: int, a: Operand, b: Operand) -> Operand:
        dst = self.new_register(width)
        self.emit((BIN | BIN_OPS[op], dst, *a, *b))
        return reg(dst)

    def cast(self, op: str, a: Operand, width: int, to: int) -> Operand:
        """`zext`, `sext`, `trunc` or `bool`; emits nothing if the width does not change."""
        if width == to:
            return a
        dst = self.new_register(to)
        self.emit((CAST | CAST_OPS[op], width, dst, *a))
        return reg(dst)

    def resize(self, a: Operand, width: int, to: int) -> Operand:
        """Zero-extends or truncates."""
        return self.cast("zext" if width < to else "trunc", a, width, to)

    def offset(self, base: Operand, offset: int) -> Operand:
        """The address `base + offset`."""
        if not offset:
            return base
        if base[0] & 7 == 3:
            old = base[1] | base[2] << 32
            return (base[0], *long(old + offset))
        dst = self.new_register(64)
        self.emit((GEP | FLAG, *long(offset), dst, *base, 0))
        return reg(dst)

    def stack_slot(self, size: int, align: int) -> Operand:
        """Allocates an object in the frame that the program does not declare."""
        dst = self.new_register(64)
        self.emit_at_entry((ALLOCA | FLAG, align, dst, *integer(size)))
        return reg(dst)

    def exception_registers(self) -> int:
        """The first of two registers: the exception that unwinds the stack, and the selector of its handler."""
        if self._exception is None:
            self._exception = self.new_register(64)
            self.new_register(32)
        return self._exception

    # Edges

    def edge(self, label: str) -> int:
        """The edge from this block to a label."""
        return self._edges.setdefault((self.block, self.block_of(label)), len(self._edges))

    def block_of(self, label: str) -> int:
        target = self.labels.get(unquote(label))
        if target is None:
            raise UnsupportedError(f"label `{label}`")
        return target

    def phi(self, label: str, dst: list[int], src: list[Operand]) -> None:
        """Assigns these values to the registers on the edge from `label` to this block."""
        source = self.block_of(label)
        moves = self._phis.setdefault((source, self.block), [])
        known = {number for number, _ in moves}
        # A switch lists one predecessor several times, with equal values.
        moves += [(number, operand) for number, operand in zip(dst, src, strict=True) if number not in known]

    def _finish_edges(self) -> None:
        for key in self._edges:
            self.record.edges.append((key[1], self._ordered(self._phis.get(key, []))))

    def _ordered(self, moves: list[tuple[int, Operand]]) -> list[tuple[int, Operand]]:
        """Orders parallel moves sequentially: a register is overwritten only when no remaining move reads it."""
        waiting = {dst: src for dst, src in moves if src != (dst << 3,)}
        readers: dict[int, int] = {}
        for src in waiting.values():
            if src[0] & 7 == 0:
                readers[src[0] >> 3] = readers.get(src[0] >> 3, 0) + 1
        ordered: list[tuple[int, Operand]] = []
        ready = [dst for dst in waiting if not readers.get(dst)]
        while waiting:
            if not ready:  # only cycles are left: save one register in a temporary
                dst = next(iter(waiting))
                spare = self.new_register(self.record.widths[dst])
                ordered.append((spare, reg(dst)))
                for other, src in waiting.items():
                    if src == (dst << 3,):
                        waiting[other] = reg(spare)
                readers[dst] = 0
                ready.append(dst)
            dst = ready.pop()
            src = waiting.pop(dst)
            ordered.append((dst, src))
            if src[0] & 7 == 0:
                source = src[0] >> 3
                left = readers.get(source, 0) - 1
                readers[source] = left
                if left == 0 and source in waiting:
                    ready.append(source)
        return ordered


_ATOMIC = "__VERIFIER_atomic_"  # prefix of functions that are atomic (SV-COMP)
_DEBUG_RECORD = "    #dbg_"
_TERMINATORS = frozenset(
    "br switch indirectbr ret unreachable invoke callbr resume cleanupret catchret catchswitch".split()
)
