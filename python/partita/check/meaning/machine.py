"""Interpreter of the program of a certificate: memory accesses, calls, and the steps of a path.

Every condition that depends on the inputs is derived here, and decided by `decide.py` along the certificate's tree.
"""

from __future__ import annotations

import copy
from typing import Any

from partita.check.certificate import unpack
from partita.check.decide import Decider, EndedError, Trail
from partita.check.meaning import models
from partita.check.meaning.memory import FUNCTIONS, LABELS, Memory
from partita.check.meaning.program import Function, Linked
from partita.check.meaning.steps import MAX_STACK, STEPS
from partita.check.terms import (  # fmt: skip
    UNWRITTEN,
    NoSemanticsError,
    apply,
    byte_of,
    disjunction,
    extract,
    ite,
    negation,
    read,
    sext,
    zext,
)
from partita.errors import UsageError
from partita.llvm import write as w

CALL_BYTES = 48
CHECKS = {"overflow", "shift", "uninitialized", "non-termination", "no-uninitialized", "no-non-termination"}
"""Optional checks of a run that are checked here too."""
KERNEL = "__partita_setting"
"""A function of the kernel model."""


class Frame:
    def __init__(self, function: int, registers: int, stack: int) -> None:
        self.function, self.pc, self.registers, self.stack = function, 0, [0] * registers, stack + CALL_BYTES
        self.locals: list[int] = []
        self.dynamic: list[int] = []
        self.jumps: dict[int, tuple[int, int]] = {}
        """By calls of `setjmp`: the value in the `jmp_buf`, and the number of objects of variable size."""
        self.variadic = 0
        self.missing: list[range] = []

    def copy(self) -> Frame:
        new = copy.copy(self)
        new.registers, new.locals, new.dynamic = list(self.registers), list(self.locals), list(self.dynamic)
        new.jumps = dict(self.jumps)
        return new


class Path(Trail):
    """A path while it is followed."""

    def __init__(self, arguments: list[str]) -> None:
        super().__init__()
        self.memory = Memory()
        self.frames: list[Frame] = []
        self.inside: dict[Any, tuple[int, int]] = {}
        self.checked: dict[Any, int] = {}
        """Object that an address must stay in."""
        self.inputs = 0
        self.stage: tuple[str, Any] = ("start", 0)
        self.handlers: list[int] = []
        self.errno = 0
        self.setjmp_calls = 0
        self.restarts = False
        self.argc, self.argv = 1 + len(arguments[1:]), 0

    def copy(self) -> Path:
        new = copy.copy(self)
        new.memory, new.frames = self.memory.copy(), [frame.copy() for frame in self.frames]
        new.constraints, new.known, new.inside = list(self.constraints), dict(self.known), dict(self.inside)
        new.handlers, new.checked = list(self.handlers), dict(self.checked)
        return new


class Machine(Decider):
    """Follows all paths of a certificate."""

    path: Path

    def __init__(self, program: Linked, tree: Any, prover: Any, body: dict[str, Any]) -> None:
        super().__init__(tree, prover)
        self.program, self.options = program, body["options"]
        arguments, environment = body["arguments"], body["environment"]
        self.path = Path(arguments)
        self.at = (0, 0)
        self.poison = 0
        self.globals: list[int] = []
        self._start(arguments, environment)

    def _start(self, arguments: list[str], environment: list[str]) -> None:
        memory = self.path.memory
        for g in self.program.globals:
            absent = g.alias is not None or (not g.is_defined and g.bits & 3 == w.WEAK)
            self.globals.append(0 if absent else memory.allocate(g.size, "global"))
        for g, base in zip(self.program.globals, self.globals, strict=True):
            if not base:
                continue
            found = memory.objects[base]
            found.is_constant = bool(g.bits & 8)
            found.data[: len(g.data)] = g.data
            if not g.is_defined:
                if g.name not in models.STREAMS:
                    raise NoSemanticsError(f"the variable `{g.name}` without a definition")
                found.data[:] = models.STREAMS[g.name].to_bytes(8, "little")
            for offset, size, target, minus in g.relocs:
                value = self.address(target) - (self.address(minus) if minus else 0)
                value += int.from_bytes(found.data[offset : offset + size], "little")
                found.write(offset, value & ((1 << 8 * size) - 1), size)
        pointers = []
        for words in (arguments, environment):
            for text in words:
                data = text.encode() + b"\0"
                pointers.append(memory.allocate(len(data), "stack"))
                memory.objects[pointers[-1]].data[:] = data
            pointers.append(0)
        self.path.argv = memory.allocate(8 * len(pointers), "stack")
        for i, pointer in enumerate(pointers):
            memory.objects[self.path.argv].write(8 * i, pointer, 8)
        self.path.evaluator = self.tree.witness(0)
        self.next_stage()

    def address(self, target: tuple[int, int, int, int]) -> int:
        kind, part, number, offset = target
        if kind == 0:
            found, more = self.program.variable(part, number)
            return self.globals[found] + offset + more & ((1 << 64) - 1)
        function = self.program.function(part, number)
        if kind == 2:
            return LABELS + (function << 16) + offset
        f = self.program.functions[function]
        if not f.insts and f.bits & 3 == w.WEAK and not models.find(f.name):
            return offset
        return FUNCTIONS + 16 * function + offset

    @property
    def frame(self) -> Frame:
        return self.path.frames[-1]

    def place(self) -> str:
        f = self.program.functions[self.at[0]]
        file, line = f.lines[self.at[1]]
        return f"{file.rsplit('/', 1)[-1]}:{line} in {f.name}, step {self.path.step}, decision {self.path.side}"

    def position(self) -> tuple[int, int]:
        return self.frame.function, self.frame.pc

    # ---- memory

    def locate(self, address: Any, count: int, verb: str) -> tuple[int, Any]:
        """Object, by its base, and offset of an access."""
        address = self.settle(address, 64)
        memory = self.path.memory
        if isinstance(address, int) and not self.concerns(address, count, verb):
            found, offset = memory.at(address, count, verb)
            self.check_passed(found.base, offset, count, verb)
            return found.base, offset
        base = self.resolve(address, count, verb)
        if verb == "write" and memory.objects[base].is_constant:
            raise EndedError("read-only-write")
        offset = apply("bvsub", 64, address, base)
        point = self.point("value", "an offset in a large object")
        return base, self.value(offset, 64, "an offset in a large object") if point else offset

    def concerns(self, address: int, count: int, verb: str) -> bool:
        """Is the next decision about this address, which is a number here and a term in the executor?"""
        point = self.point("check", verb) or self.point("target", verb)
        base = point and (point.number or next(row.value for row in point.rows if row.how == "taken"))
        return base in self.path.memory.objects and self.contains(address, base, count) == 1

    def contains(self, address: Any, base: int, count: int) -> Any:
        """Condition that an access is in the object."""
        size = len(self.path.memory.objects[base].data)
        return apply("bvule", 64, apply("bvsub", 64, address, base), size - count) if size >= count else 0

    def resolve(self, address: Any, count: int, verb: str) -> int:
        objects, path = self.path.memory.objects, self.path
        # Any condition may be used to take cases apart: its sides are followed or proved impossible.
        while (point := self.point("value", "the base of a pointer")) and point.condition:
            condition = read(point.condition)
            self.consume(point, {1: condition, 0: negation(condition)})
        point = self.point("check", verb)
        if point:
            if point.number not in objects:
                raise self.reject(f"no object is at {point.number:#x}")
            fine = self.contains(address, point.number, count)
            path.checked[address] = point.number
            if not self.consume(point, {1: fine, 0: negation(fine)}):
                raise EndedError(f"out-of-bounds-{verb}")
            path.inside[address] = (point.number, count)
            return int(point.number)
        point = self.point("target", verb)
        if point:
            base = self.target(point, lambda base: self.contains(address, base, count), list(objects))
            if base < 0:
                raise path.memory.fault(path.evaluator.of(address), verb)
            path.inside[address] = (base, count)
            return base
        # A forked path executes the instruction again: it left the object.
        if address in path.checked and path.known.get(self.contains(address, path.checked[address], count)) == 0:
            raise EndedError(f"out-of-bounds-{verb}")
        known = path.inside.get(address)
        if known and known[1] >= count and known[0] in objects:
            return known[0]
        number = path.evaluator.of(address)
        try:
            base = path.memory.at(number, count, "read")[0].base
        except EndedError:
            anywhere = disjunction(self.contains(address, base, count) for base in objects)
            self.prove(negation(anywhere), "an invalid pointer")
            raise path.memory.fault(number, verb) from None
        self.prove(self.contains(address, base, count), "an access at a symbolic address")
        return base

    def check_passed(self, base: int, offset: int, count: int, verb: str) -> None:
        for frame in self.path.frames:
            missing = frame.missing if frame.variadic == base and verb == "read" else []
            if any(slot.start < offset + count and offset < slot.stop for slot in missing):
                raise EndedError("out-of-bounds-read")

    def load(self, address: Any, width: int) -> Any:
        count = (width + 7) // 8
        base, offset = self.locate(address, count, "read")
        found = self.path.memory.objects[base]
        value = found.read(offset, count) if isinstance(offset, int) else found.read_among(offset, count)
        return extract(value, 0, width)

    def store(self, address: Any, value: Any, width: int) -> None:
        count = (width + 7) // 8
        base, offset = self.locate(address, count, "write")
        value, found = zext(value, width, 8 * count), self.path.memory.own(base)
        if isinstance(offset, int):
            found.write(offset, value, count)
        else:
            found.write_among(offset, value, count)

    # ---- running

    def instruction(self) -> None:
        frame = self.frame
        f = self.program.functions[frame.function]
        inst, self.at = f.insts[frame.pc], (frame.function, frame.pc)
        edge = STEPS[inst[0]](self, f, *inst[1:])
        self.path.step += 1
        if edge is None:
            frame.pc += 1
        elif edge >= 0:
            block, moves = f.edges[edge]
            for dst, src in moves:
                frame.registers[dst] = self.get(src, f.widths[dst])
            frame.pc = f.blocks[block]

    def get(self, operand: tuple[str, Any], width: int = 64) -> Any:
        kind, value = operand
        if kind == "reg":
            return self.frame.registers[value]
        if kind == "undef":
            return extract(models.join([byte_of(UNWRITTEN + value, i) for i in range((width + 7) // 8)]), 0, width)
        return value if kind == "int" else self.address(value)

    def poisoned(self, value: Any, width: int, is_bad: Any) -> Any:
        """The value, or anything where `is_bad` holds."""
        if is_bad == 0:
            return value
        return apply("bvxor", width, value, ite(is_bad, self.unknown(width), 0, width))

    def unknown(self, width: int) -> Any:
        self.poison += 1
        return self.get(("undef", f"poison {self.poison}"), width)

    def set(self, register: int, value: Any) -> None:
        self.frame.registers[register] = value

    def restore_stack(self, keep: int) -> None:
        """Ends local objects of variable size, except the first `keep`."""
        while len(self.frame.dynamic) > keep:
            base = self.frame.dynamic.pop()
            self.frame.stack -= len(self.path.memory.objects[base].data)
            self.path.memory.remove(base)

    def end_locals(self) -> None:
        for base in (*self.frame.locals, *self.frame.dynamic):
            self.path.memory.remove(base)

    def enter_function(self, number: int, args: list[tuple[int, int, int, Any]]) -> None:
        f = self.program.functions[number]
        if len(args) < f.params:
            raise EndedError("model-error")
        frame = Frame(number, len(f.widths), self.frame.stack)
        for i in range(f.params):
            frame.registers[i] = self.resize(args[i][3], args[i][0], f.widths[i], f, args[i][0] & w.TOP)
        if f.bits & 4:
            frame.variadic = self.variadic_area(args)
            frame.locals.append(frame.variadic)
            passed = [range(at, at + (size or ((width & ~w.TOP) + 7) // 8)) for width, at, size, _ in args]
            slots = [range(i, i + 8) for i in range(0, 48, 8)] + [range(i, i + 16) for i in range(48, 176, 16)]
            frame.missing = [s for s in slots if not any(p.start < s.stop and s.start < p.stop for p in passed)]
        self.path.frames.append(frame)
        if frame.stack > MAX_STACK:
            raise EndedError("stack-overflow")

    def resize(self, value: Any, width: int, to: int, f: Function, is_signed: int) -> Any:
        """Integer that is passed to or from a function called through another type."""
        width &= ~w.TOP
        if width != to and (not f.bits & 16 or max(width, to) > 64):
            raise NoSemanticsError("a call through another type")
        return (sext if is_signed and to > width else zext)(value, width, to)

    def variadic_area(self, args: list[tuple[int, int, int, Any]]) -> int:
        ends = [at + (size or ((width & ~w.TOP) + 7) // 8) for width, at, size, _ in args]
        area = self.path.memory.allocate((max([176, *ends]) + 7) // 8 * 8, "stack", is_blank=True)
        for width, at, size, value in args:
            if size:
                models.copy_bytes(self, area + at, value, size)
            else:
                self.store(area + at, value, width & ~w.TOP)
        return area

    def next_stage(self, result: Any = 0) -> int:
        """Goes on after the bottom frame has returned."""
        path, program = self.path, self.program
        name, data = path.stage
        if name == "start" and data < len(program.constructors):
            path.stage, function = ("start", data + 1), program.constructors[data]
        elif name == "start":
            path.stage = ("main", 0)
            function = next(i for i, f in enumerate(program.functions) if f.name == "main" and f.insts)
        else:
            status, done = (result, 0) if name == "main" else data
            path.stage = ("exit", (status, done))
            if path.handlers:
                function = path.handlers.pop()
            elif done < len(program.destructors):
                path.stage, function = ("exit", (status, done + 1)), program.destructors[done]
            else:
                raise EndedError(f"exit {path.evaluator.of(self.settle(status, 32)) & 0xFF}")
        f = program.functions[function]
        frame = Frame(function, len(f.widths), 0)
        for i, word in enumerate((path.argc, path.argv, path.argv + 8 * (path.argc + 1))[: f.params]):
            frame.registers[i] = word & ((1 << f.widths[i]) - 1)
        path.frames = [frame]
        return -1


def interpreter(body: dict[str, Any], tree: Any, prover: Any) -> Machine:
    """The machine of a certificate's program, before its first instruction."""
    unknown = [name for name in body["options"]["checks"] if name not in CHECKS]
    if unknown:
        raise UsageError(f"certificates of runs with --check {unknown[0]} cannot be checked")
    if any(leaf[2] == "non-termination" for leaf in body["leaves"]):
        raise UsageError("certificates of programs with endless loops cannot be checked")
    program = Linked([unpack(part) for part in body["parts"]], body["functions"], body["globals"])
    if any(f.name == KERNEL for f in program.functions):
        is_cpp = any(f.name.startswith("_Z") for f in program.functions if f.part == 0)
        why = "it is C++, whose library needs them" if is_cpp else "it was linked with them"
        raise NoSemanticsError(f"a program on musl and the kernel model ({why})")
    return Machine(program, tree, prover, body)
