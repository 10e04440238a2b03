"""Lowers one method: abstract interpretation of the operand stack, block by block, straight to registers.

A local variable has one register per kind of value. Stack entries are operands; where a block ends they go to the
canonical registers of their positions, where the successors find them. A method returns the exception it ends with (0
for none) before its result, so that each call is followed by one branch.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from partita.errors import UsageError
from partita.jvm import arith, calls, control, memory, natives
from partita.jvm.builder import UNDEF, FunctionBuilder
from partita.jvm.classfile import ClassFormatError, Handler, Method
from partita.jvm.decode import (
    ATHROW,
    BRANCHES,
    GOTO,
    GOTO_W,
    LOOKUPSWITCH,
    RETURNS,
    TABLESWITCH,
    decode,
    leaders,
    targets,
)  # fmt: skip
from partita.jvm.descriptors import WIDTHS, kind_of, parse_method
from partita.jvm.world import MissingClassError
from partita.llvm.write import Operand, constant_of, integer, reg

if TYPE_CHECKING:
    from partita.jvm.program import Lowering

OPERATIONS = {**arith.OPERATIONS, **memory.OPERATIONS, **calls.OPERATIONS, **control.OPERATIONS}
NULL: Operand = integer(0)
ASTORE, ASTORE_0 = 58, 75
_OVERFLOW = frozenset(
    f"java/lang/{name}" for name in ("Throwable", "Error", "VirtualMachineError", "StackOverflowError")
)
"""Classes whose handlers catch a StackOverflowError."""


def signature(method: Method) -> tuple[list[int], list[int]]:
    """Widths of the parameters and of the results."""
    parameters, result = parse_method(method.descriptor)
    widths = [] if method.is_static else [64]
    widths += [WIDTHS[kind_of(each)] for each in parameters]
    return widths, [64] if result == "V" else [64, WIDTHS[kind_of(result)]]


class MethodLowering:
    def __init__(self, lowering: Lowering, method: Method, is_user: bool) -> None:
        assert method.code is not None
        self.lowering = lowering
        self.world = lowering.world
        self.method = method
        self.file = method.owner
        self.pool = method.owner.pool
        self.is_user = is_user
        self.code = method.code
        self.place = f"{method.owner.name.replace('/', '.')}.{method.name}"
        self.part = lowering.user if is_user else lowering.library
        parameters, results = signature(method)
        self.fb = FunctionBuilder(self.part, lowering.function_name(method), parameters, results)
        self.results = results
        self.stack: list[tuple[Operand, str]] = []
        self.nonnull: set[int] = set()
        self.lengths: dict[int, Operand] = {}
        self.initialised: set[str] = set()
        self._facts: dict[int, tuple[set[int], dict[int, Operand], set[str]]] = {}
        self._sources: dict[int, set[int]] = {}
        self._handler_starts = {handler.target for handler in self.code.handlers}
        # Handlers of the library for every exception are those of `finally`, which throw it again.
        if any(handler.catch in _OVERFLOW or (handler.catch is None and is_user) for handler in self.code.handlers):
            lowering.catches_errors = True
        self._length_registers: dict[int, int] = {}
        self.pc = 0
        self._locals: dict[tuple[int, str], int] = {}
        self._positions: dict[tuple[int, str], int] = {}
        self._entries: dict[int, list[str]] = {}
        self._dispatches: dict[tuple[Handler, ...], int] = {}
        self._cold: dict[tuple[object, ...], int] = {}
        self._todo_cold: list[tuple[int, tuple[object, ...], tuple[Handler, ...], int]] = []
        self._exception: int | None = None
        self._arguments: dict[int, int] = {}
        self.blocks: dict[int, int] = {}
        slot = number = 0
        if not method.is_static:
            self._locals[0, "A"] = 0
            slot = number = 1
        for descriptor in parse_method(method.descriptor)[0]:
            kind = kind_of(descriptor)
            self._locals[slot, kind] = number
            slot += 2 if kind in "JD" else 1
            number += 1
        self._lines = dict(self.code.lines)
        self._source = lowering.source_of(self.file) if is_user else ""

    # Locals and stack

    def local(self, slot: int, kind: str) -> int:
        """Register of a local variable."""
        key = slot, kind
        if key not in self._locals:
            self._locals[key] = self.fb.new_reg(WIDTHS[kind])
        return self._locals[key]

    def position(self, index: int, kind: str) -> int:
        """Canonical register of a stack position."""
        key = index, kind
        if key not in self._positions:
            self._positions[key] = self.fb.new_reg(WIDTHS[kind])
        return self._positions[key]

    def push(self, value: Operand, kind: str) -> None:
        self.stack.append((value, kind))

    def pop(self, kind: str = "") -> Operand:
        if not self.stack:
            raise ClassFormatError(f"{self.place}: the operand stack is empty at {self.pc}")
        value, found = self.stack.pop()
        if kind and found != kind:
            raise ClassFormatError(f"{self.place}: expected kind {kind} on the stack at {self.pc}, found {found}")
        return value

    def set_local(self, slot: int, kind: str, value: Operand) -> None:
        target = self.local(slot, kind)
        self.keep(target)
        known = value[0] & 7 == 0 and value[0] >> 3 in self.nonnull
        length = self.lengths.get(value[0] >> 3) if value[0] & 7 == 0 else None
        if value != reg(target):
            self.forget(target)
        if any(entry == value for entry, _ in self.stack) or not self.fb.redirect(value, target):
            self.fb.copy(target, value)
        else:
            for each, held in self.lengths.items():
                if held == value:
                    self.lengths[each] = reg(target)
        if known or value[0] & 7 == 3:
            self.nonnull.add(target)
        if length is not None and constant_of(length) is not None:
            # A register with the length of one local is written again when that local has another array.
            self.lengths[target] = length

    def forget(self, register: int) -> None:
        """A register gets another value: nothing is known of it."""
        self.nonnull.discard(register)
        self.lengths.pop(register, None)
        for each in [key for key, length in self.lengths.items() if length == reg(register)]:
            del self.lengths[each]

    def keep(self, register: int) -> None:
        """Copies stack entries in this register, which is about to change, elsewhere."""
        for i, (value, kind) in enumerate(self.stack):
            if value == reg(register):
                saved = self.fb.temp(WIDTHS[kind])
                self.fb.copy(saved, value)
                self.stack[i] = reg(saved), kind

    def flush(self) -> None:
        """Moves the stack to its canonical registers, at the end of a block."""
        moves = []
        for i, (value, kind) in enumerate(self.stack):
            target = self.position(i, kind)
            if value != reg(target):
                moves.append((i, target, value, kind))
        written = {reg(target) for _, target, _, _ in moves}
        if any(value in written for _, _, value, _ in moves):
            for n, (i, target, value, kind) in enumerate(moves):
                saved = self.fb.temp(WIDTHS[kind])
                self.fb.copy(saved, value)
                moves[n] = i, target, reg(saved), kind
        for i, target, value, kind in moves:
            self.fb.copy(target, value)
            self.stack[i] = reg(target), kind

    def goes_to(self, pc: int) -> int:
        """Block of a program counter that the current block continues with; the stack must have been flushed."""
        kinds = [kind for _, kind in self.stack]
        found = self._entries.setdefault(pc, kinds)
        if found != kinds:
            raise ClassFormatError(f"{self.place}: the operand stack at {pc} differs between ways to it")
        return self.blocks[pc]

    # Exceptions

    @property
    def exception(self) -> int:
        """Register of the exception in flight."""
        if self._exception is None:
            self._exception = self.fb.new_reg(64)
        return self._exception

    def handlers(self) -> tuple[Handler, ...]:
        found = []
        for handler in self.code.handlers:
            if handler.start <= self.pc < handler.end:
                found.append(handler)
                if handler.catch is None:
                    break
        return tuple(found)

    def dispatch(self, handlers: tuple[Handler, ...]) -> int:
        """Block that selects the handler of the exception in flight, or returns it."""
        if handlers not in self._dispatches:
            block = self._dispatches[handlers] = self.fb.new_block()
            self._todo_cold.append((block, ("dispatch",), handlers, self.fb.loc))
            for handler in handlers:
                self._entries.setdefault(handler.target, ["A"])
        return self._dispatches[handlers]

    def throw(self, value: Operand) -> None:
        """Ends the block by throwing an exception object that is not null."""
        if self.is_user:
            self.mark_thrown(value)
        self.fb.jump(self.dispatch(self.handlers()), [(self.exception, value)])

    def mark_thrown(self, value: Operand) -> None:
        file, line = self._source, self._line()
        self.fb.call("jvm_thrown", [(value, 64), (self.part.text(file), 64), (integer(line), 32)], [])

    def _line(self) -> int:
        found = 0
        for pc, line in self.code.lines:
            if pc <= self.pc:
                found = line
        return found

    def check_thrown(self, register: int) -> None:
        """Continues if the register of a call's exception is 0."""
        failed = self.fb.compare("ne", 64, reg(register), NULL)
        handlers = self.handlers()
        after = self.fb.new_block()
        target = self.cold(("landing",), handlers) if self.is_user else self.dispatch(handlers)
        self.fb.branch(failed, target, after, [(self.exception, reg(register))])
        self.fb.start(after)

    def cold(self, kind: tuple[object, ...], handlers: tuple[Handler, ...]) -> int:
        """Block that makes an exception of this kind and dispatches it: one per line of the method."""
        key = (kind, handlers, self.fb.loc)
        if key not in self._cold:
            block = self._cold[key] = self.fb.new_block()
            self._todo_cold.append((block, (*kind, self._line()), handlers, self.fb.loc))
            self.dispatch(handlers)
        return self._cold[key]

    def argument(self, index: int) -> int:
        """Register that passes a number to a block that makes an exception."""
        if index not in self._arguments:
            self._arguments[index] = self.fb.new_reg(32)
        return self._arguments[index]

    def throw_if(self, condition: Operand, name: str, *numbers: Operand) -> None:
        """Throws an implicit exception if the condition holds."""
        target = self.cold((name, len(numbers)), self.handlers())
        after = self.fb.new_block()
        moves = [(self.argument(i), value) for i, value in enumerate(numbers)]
        self.fb.branch(condition, target, after, moves)
        self.fb.start(after)

    def check_null(self, value: Operand) -> None:
        """Throws a NullPointerException if a reference is null."""
        if value[0] & 7 == 3:
            return
        if value[0] & 7 == 0:
            register = value[0] >> 3
            if register in self.nonnull:
                return
            self.throw_if(self.fb.compare("eq", 64, value, NULL), "java/lang/NullPointerException")
            self.nonnull.add(register)
            return
        target = self.cold(("java/lang/NullPointerException", 0), self.handlers())
        after = self.fb.new_block()
        self.fb.branch(integer(1), target, after)
        self.fb.start(after)

    def is_nonnull(self, value: Operand) -> None:
        """Remembers that a reference in a register is not null."""
        if value[0] & 7 == 0:
            self.nonnull.add(value[0] >> 3)

    # Blocks

    def lower(self) -> None:
        fb = self.fb
        instructions = decode(self.code, self.place)
        starts = leaders(instructions, self.code, self.place)
        index = {instruction.pc: i for i, instruction in enumerate(instructions)}
        self.instructions = instructions
        self.index = index
        self.starts = starts
        self.ways = Counter(pc for each in instructions for pc in targets(each))
        self.ways.update(handler.target for handler in self.code.handlers)
        self.blocks = {pc: fb.new_block() for pc in sorted(starts)}
        self._find_ways()
        self.fb.loc = self.record_loc = self._loc(0)
        self.fb.record.loc = self.record_loc
        this = not self.method.is_static and not any(
            (i.op in (58,) and i.args[0] == 0) or i.op == 75 for i in instructions
        )
        if f"{self.file.name}.{self.method.name}{self.method.descriptor}" in natives.IDENTITY_ORDERED:
            fb.call("jvm_table_order", [], [])
        fb.jump(self.blocks[0])
        self._entries[0] = []
        done: set[int] = set()
        todo = [0]
        while todo:
            pc = todo.pop()
            if pc in done:
                continue
            done.add(pc)
            fb.free_temps()
            fb.start(self.blocks[pc])
            self.stack = [(reg(self.position(i, kind)), kind) for i, kind in enumerate(self._entries[pc])]
            self._enter(pc, done)
            if this:
                self.nonnull.add(0)
            self.pc = pc
            # The block may start within a line, whose position another block had.
            fb.loc = self._position_of_line()
            self._lower_block(index[pc])
            held = set(self._locals.values())
            lengths = {each: length for each, length in self.lengths.items() if each in held}
            self._facts[pc] = (self.nonnull & held, lengths, set(self.initialised))
            while self._todo_cold:
                self._lower_cold(*self._todo_cold.pop())
            # Blocks in the order of the code: ways into a block come before it, other than those back to a loop's head.
            todo = sorted((each for each in self._entries if each not in done), reverse=True)
        self.lowering.builders.append(fb)

    def _find_ways(self) -> None:
        """Blocks that lead to each block."""
        starts = sorted(self.starts)
        for start, end in zip(starts, [*starts[1:], len(self.code.code)], strict=True):
            at = self.index[start]
            while self.instructions[at].next < end:
                at += 1
            last = self.instructions[at]
            for target in targets(last):
                self._sources.setdefault(target, set()).add(start)
            if last.op not in (*RETURNS, ATHROW, GOTO, GOTO_W, TABLESWITCH, LOOKUPSWITCH):
                self._sources.setdefault(last.next, set()).add(start)
            # Booleans made of a condition skip three instructions, to the block after them.
            if last.op in BRANCHES:
                for skipped in self.instructions[at + 1 : at + 5]:
                    if skipped.pc in self.starts:
                        self._sources.setdefault(skipped.pc, set()).add(start)

    def _enter(self, pc: int, done: set[int]) -> None:
        """Facts at the start of a block: those that hold on all ways to it.

        On the way back to the head of a loop, facts hold that hold before the loop and that no store in it ends. The
        registers of lengths belong to one local each, so that they keep their values.
        """
        self.nonnull, self.lengths, self.initialised = set(), {}, set()
        sources = self._sources.get(pc, set())
        before = [source for source in sources if source < pc]
        if not before or pc in self._handler_starts or not done.issuperset(before):
            return
        facts = [self._facts[source] for source in before]
        self.nonnull = set.intersection(*(each[0] for each in facts))
        self.initialised = set.intersection(*(each[2] for each in facts))
        first, *others = (each[1] for each in facts)
        self.lengths = {key: value for key, value in first.items() if all(each.get(key) == value for each in others)}
        loop_end = max((source for source in sources if source >= pc), default=None)
        if loop_end is not None:
            ends = [start for start in self.starts if start > loop_end]
            stored = self._stored(pc, min(ends, default=len(self.code.code)))
            self.nonnull -= stored
            self.lengths = {key: value for key, value in self.lengths.items() if key not in stored}

    def _stored(self, start: int, end: int) -> set[int]:
        """Registers of references that instructions in a range store to."""
        found = set()
        for instruction in self.instructions:
            if start <= instruction.pc < end:
                slot = None
                if instruction.op == ASTORE:
                    slot = instruction.args[0]
                elif ASTORE_0 <= instruction.op < ASTORE_0 + 4:
                    slot = instruction.op - ASTORE_0
                if slot is not None and (slot, "A") in self._locals:
                    found.add(self._locals[slot, "A"])
        return found

    def length_register(self, register: int) -> int | None:
        """Register that keeps the length of the array in a local variable; None if it is no local."""
        if register not in self._locals.values():
            return None
        if register not in self._length_registers:
            self._length_registers[register] = self.fb.new_reg(32)
        return self._length_registers[register]

    def _lower_block(self, at: int) -> None:
        fb = self.fb
        while True:
            instruction = self.instructions[at]
            self.pc = instruction.pc
            if instruction.pc in self._lines:
                fb.loc = self._loc(instruction.pc)
            operation = OPERATIONS.get(instruction.op)
            if operation is None:
                fb.unsupported(f"instruction {instruction.op} in {self.place}")
                return
            try:
                skipped = operation(self, instruction)
            except MissingClassError as error:
                if self.is_user:
                    raise UsageError(f"{self._source}:{self._line()}: {error}") from None
                # Classes of the library mention others that no module of this JDK has.
                fb.unsupported(str(error))
                return
            if not fb.is_open:
                return
            at += 1 + (skipped or 0)
            if at == len(self.instructions):
                raise ClassFormatError(f"{self.place}: the method ends without a return")
            following = self.instructions[at].pc
            if following in self.starts:
                self.flush()
                fb.jump(self.goes_to(following))
                return

    def _position_of_line(self) -> int:
        return self.part.writer.loc(self._source, self._line(), 0) if self.is_user else 0

    def _loc(self, pc: int) -> int:
        if not self.is_user:
            return 0
        line = self._lines.get(pc)
        return self.fb.loc if line is None else self.part.writer.loc(self._source, line, 0)

    def _lower_cold(self, block: int, kind: tuple[object, ...], handlers: tuple[Handler, ...], loc: int) -> None:
        fb = self.fb
        fb.loc = loc
        fb.free_temps()
        fb.start(block)
        if kind[0] == "dispatch":
            self._lower_dispatch(handlers)
            return
        thrown: Operand = reg(self.exception)
        if kind[0] != "landing":
            name, count = kind[0], int(str(kind[1]))
            arguments = [(reg(self.argument(i)), 32) for i in range(count)]
            maker = self.lowering.exception_maker(str(name), len(arguments))
            thrown = reg(fb.call(maker, arguments, [64]))
        line = integer(int(str(kind[-1])))
        if self.is_user:
            fb.call("jvm_thrown", [(thrown, 64), (self.part.text(self._source), 64), (line, 32)], [])
        fb.jump(self.dispatch(handlers), [(self.exception, thrown)])

    def _lower_dispatch(self, handlers: tuple[Handler, ...]) -> None:
        fb = self.fb
        exception = reg(self.exception)
        for handler in handlers:
            target = self.blocks[handler.target]
            moves = [(self.position(0, "A"), exception)]
            if handler.catch is None or handler.catch == "java/lang/Throwable":
                fb.jump(target, moves)
                return
            following = fb.new_block()
            if not self.lowering.exists(handler.catch):
                continue
            found = self.instance_test(exception, handler.catch)
            entry = fb.new_block()
            fb.branch(found, entry, following)
            fb.start(entry)
            fb.jump(target, moves)
            fb.start(following)
        fb.ret(exception, *([UNDEF] * (len(self.results) - 1)))

    def instance_test(self, value: Operand, name: str) -> Operand:
        """Condition that an object, which is not null, is an instance of a class."""
        fb = self.fb
        descriptor = fb.load(64, value)
        slot = self.lowering.test_slot(name)
        return fb.compare("ne", 64, fb.load(64, fb.offset(descriptor, slot)), NULL)

    def is_constant(self, value: Operand) -> bool:
        return constant_of(value) is not None
