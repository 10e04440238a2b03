"""Interpreter that follows the tree of a certificate and derives every condition from the program itself.

One `Path` at a time. A condition that depends on the inputs is decided by the certificate's point at this instruction,
whose closed sides are proved; without a point the condition must be implied by the path, which is proved as well.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

from partita.check import floats, models
from partita.check.memory import FUNCTIONS, LABELS, EndedError, Memory
from partita.check.program import Function, Linked
from partita.check.terms import (  # fmt: skip
    UNWRITTEN,
    Evaluator,
    NoSemanticsError,
    apply,
    byte_of,
    concat,
    disjunction,
    extract,
    ite,
    negation,
    read,
    settled,
    sext,
    signed,
    zext,
)
from partita.llvm import write as w

_NAMES = {table: sorted(names, key=names.__getitem__) for table, names in (
    ("bin", w.BIN_OPS), ("un", w.UN_OPS), ("overflow", w.OVERFLOW_OPS), ("int", w.INT_PREDS))}  # fmt: skip
_SIMPLE = {"add", "sub", "mul", "udiv", "sdiv", "urem", "srem", "shl", "lshr", "ashr", "and", "or", "xor"}
_ORDER = {"ult": ("bvult", 0), "ule": ("bvule", 0), "ugt": ("bvult", 1), "uge": ("bvule", 1),
          "slt": ("bvslt", 0), "sle": ("bvsle", 0), "sgt": ("bvslt", 1), "sge": ("bvsle", 1)}  # fmt: skip
MAX_STACK, CALL_BYTES = 8 << 20, 48


class RejectedError(Exception):
    """The certificate is wrong: the place and the reason."""


class Frame:
    def __init__(self, function: int, registers: int, stack: int) -> None:
        self.function, self.pc, self.registers, self.stack = function, 0, [0] * registers, stack + CALL_BYTES
        self.locals: list[int] = []
        self.dynamic: list[int] = []
        self.jumps: list[tuple[int, int]] = []
        self.variadic = 0
        self.missing: list[range] = []

    def copy(self) -> Frame:
        new = copy.copy(self)
        new.registers, new.locals, new.dynamic = list(self.registers), list(self.locals), list(self.dynamic)
        new.jumps = list(self.jumps)
        return new


class Path:
    """A path while it is followed."""

    def __init__(self, program: Linked, arguments: list[str], environment: list[str]) -> None:
        self.memory = Memory()
        self.frames: list[Frame] = []
        self.side, self.step = 0, 0
        self.constraints: list[tuple[int, Any]] = []
        self.known: dict[Any, int] = {}
        """Values that the path gave to terms: 1 for conditions that hold."""
        self.inside: dict[Any, tuple[int, int]] = {}
        self.checked: dict[Any, int] = {}
        """Object that an address must stay in."""
        self.inputs = 0
        self.stage: tuple[str, Any] = ("start", 0)
        self.handlers: list[int] = []
        self.errno = 0
        self.setjmp_calls = 0
        self.restarts = False
        self.evaluator = Evaluator({})
        self.argc, self.argv = 1 + len(arguments[1:]), 0

    def copy(self) -> Path:
        new = copy.copy(self)
        new.memory, new.frames = self.memory.copy(), [frame.copy() for frame in self.frames]
        new.constraints, new.known, new.inside = list(self.constraints), dict(self.known), dict(self.inside)
        new.handlers, new.checked = list(self.handlers), dict(self.checked)
        return new


class Machine:
    """Follows all paths of a certificate."""

    def __init__(self, program: Linked, tree: Any, prover: Any, body: dict[str, Any]) -> None:
        self.program, self.tree, self.prover, self.options = program, tree, prover, body["options"]
        arguments, environment = body["arguments"], body["environment"]
        self.path = Path(program, arguments, environment)
        self.work: list[Path] = []
        self.never_loose: set[Any] = set()
        """Terms on which bytes that were never written have no effect."""
        self.leaves = 0
        self.at = (0, 0)
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

    # ---- decisions

    @property
    def frame(self) -> Frame:
        return self.path.frames[-1]

    def place(self) -> str:
        f = self.program.functions[self.at[0]]
        file, line = f.lines[self.at[1]]
        return f"{file.rsplit('/', 1)[-1]}:{line} in {f.name}, step {self.path.step}, decision {self.path.side}"

    def reject(self, why: str) -> RejectedError:
        return RejectedError(f"{self.place()}: {why}")

    def point(self, kind: str, purpose: str) -> Any:
        """The point of this instruction for such a decision, if the certificate has one next."""
        found = self.tree.points.get(self.path.side)
        if found and found.step == self.path.step and (found.kind, found.purpose) == (kind, purpose):
            if (found.function, found.pc) != (self.frame.function, self.frame.pc):
                raise self.reject(f"the certificate decides in function {found.function} at {found.pc}")
            return found
        return None

    def prove(self, condition: Any, what: str) -> None:
        """Proves that the path implies a bit."""
        if condition == 1 or self.path.known.get(condition) == 1:
            return
        path = [term for _, term in self.path.constraints]
        if not self.prover.is_unsat([*path, negation(condition)]):
            raise self.reject(f"{what}: the certificate has no decision for the other possibilities")

    def settle(self, value: Any, width: int) -> Any:
        """The value that decides something: bytes that were never written must make no difference."""
        found = settled(value)
        if found is not value and value not in self.never_loose:
            same = apply("=", width, value, found)
            if self.prover.is_unsat([negation(same)]):
                self.never_loose.add(value)  # on every path
            else:
                self.prove(same, "memory that was never written")
        return found

    def consume(self, point: Any, conditions: dict[int, Any]) -> int:
        """Checks the sides of a point, which have these conditions by value. Returns the value of the side taken."""
        rows = point.rows
        if sorted(row.value for row in rows) != sorted(conditions):
            raise self.reject(f"a {point.kind} has the sides {sorted(conditions)}, and the certificate has others")
        taken = None
        constraints = dict(self.path.constraints)
        start = self.path.copy() if any(row.how == "forked" for row in rows) else self.path
        for row in rows:
            condition = conditions[row.value]
            if row.how == "closed":
                missing = [side for side in row.sides if side not in constraints]
                if missing:
                    raise self.reject(f"a core has the decisions {missing}, which are not on this path")
                if not self.prover.is_unsat([*(constraints[side] for side in row.sides), condition]):
                    raise self.reject(f"the core {row.sides} does not close the side {row.value} of a {point.kind}")
            elif row.how == "forked":
                other = start.copy()
                self.enter(other, row.sides[0], condition, point, row.value)
                self.work.append(other)
            elif taken is None:
                taken = row
            else:
                raise self.reject("two sides of a decision continue on one path")
        if taken is None:
            raise self.reject("no side of a decision continues")
        self.enter(self.path, taken.sides[0], conditions[taken.value], point, taken.value)
        return int(taken.value)

    def enter(self, path: Path, side: int, condition: Any, point: Any, value: int) -> None:
        """Moves a path to a side."""
        path.side, path.evaluator = side, self.tree.witness(side)
        path.constraints.append((side, condition))
        if not isinstance(condition, int):
            self.learn(path, condition, 1)
        if path.evaluator.of(condition) != 1:
            raise self.reject(f"a test below does not take the side {value} of a {point.kind}")

    def learn(self, path: Path, condition: Any, truth: int) -> None:
        path.known[condition] = truth
        path.known[negation(condition)] = 1 - truth
        if truth and condition.op == "=" and isinstance(condition.args[2], int):
            path.known[condition.args[1]] = condition.args[2]

    def decide(self, condition: Any, kind: str = "condition", purpose: str = "") -> bool:
        """Truth of a bit."""
        condition = self.settle(condition, 1)
        point = self.point(kind, purpose)
        if point:
            return bool(self.consume(point, {1: condition, 0: negation(condition)}))
        if isinstance(condition, int):
            return bool(condition)
        if condition in self.path.known:
            return bool(self.path.known[condition])
        truth = self.path.evaluator.of(condition)
        self.prove(condition if truth else negation(condition), f"a {kind}")
        return bool(truth)

    def require(self, fine: Any, ending: str) -> None:
        """Ends the path in a bug where `fine` is false."""
        if not self.decide(fine, "check", ending):
            raise EndedError(ending)

    def value(self, value: Any, width: int, purpose: str) -> int:
        """The one number of a value on this path."""
        value = self.settle(value, width)
        point = self.point("value", purpose)
        if point:
            equal = apply("=", width, value, point.number)
            self.consume(point, {1: equal, 0: negation(equal)})
            return int(point.number)
        if isinstance(value, int):
            return value
        number = self.path.known.get(value)
        if number is None:
            number = self.path.evaluator.of(value)
            self.prove(apply("=", width, value, number), purpose)
        return number

    def assume(self, condition: Any, otherwise: str) -> None:
        condition = self.settle(condition, 1)
        point = self.point("assume", "")
        if point:
            self.consume(point, {1: condition})
            return
        if condition == 1:
            return
        self.prove(negation(condition), "an assumption")
        raise EndedError(otherwise)

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

    def target(self, point: Any, condition_of: Callable[[int], Any], valid: list[int]) -> int:
        """Decides among the valid targets of a pointer. Rows with a condition are errors, their result is negative."""
        conditions = {}
        for i, row in enumerate(point.rows):
            if row.condition is None:
                if row.value not in valid:
                    raise self.reject(f"no target is at {row.value:#x}")
                conditions[row.value] = condition_of(row.value)
                continue
            # Errors get numbers of their own. An open one must be an error for every input.
            row.value = -1 - i
            conditions[row.value] = read(row.condition)
            if row.how != "closed":
                anywhere = disjunction(condition_of(target) for target in valid)
                self.prove(negation(apply("bvand", 1, conditions[row.value], anywhere)), "an error")
        self.prove(disjunction(conditions.values()), "the targets of a pointer")
        return self.consume(point, conditions)

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

    def run(self) -> None:
        """Follows every path to its end."""
        self.work.append(self.path)
        while self.work:
            self.path = self.work.pop()
            try:
                while True:
                    self.instruction()
            except EndedError as end:
                self.end(str(end.args[0]))

    def end(self, ending: str) -> None:
        leaf = self.tree.leaves.get(self.path.side)
        if self.path.side in self.tree.points:
            raise self.reject(f"the path ends with `{ending}`, and the certificate goes on")
        if leaf is None:
            raise self.reject(f"the path ends with `{ending}`, and the certificate has no such path")
        if leaf.ending != ending:
            raise self.reject(f"the path ends with `{ending}`, in the certificate with `{leaf.ending}`")
        for side, condition in self.path.constraints:
            if self.path.evaluator.of(condition) != 1:
                raise self.reject(f"the test of this path contradicts decision {side}")
        self.leaves += 1

    def instruction(self) -> None:
        frame = self.frame
        f = self.program.functions[frame.function]
        inst, self.at = f.insts[frame.pc], (frame.function, frame.pc)
        edge = _STEPS[inst[0]](self, f, *inst[1:])
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

    def set(self, register: int, value: Any) -> None:
        self.frame.registers[register] = value

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


# ---- instructions: each returns None, the edge to take, or -1 if the top frame was set


def _binary(m: Machine, f: Function, op: int, flags: int, dst: int, a: Any, b: Any) -> None:
    name, width, x, y = _NAMES["bin"][op], f.widths[dst], m.get(a, f.widths[dst]), m.get(b, f.widths[dst])
    if name in ("udiv", "urem", "sdiv", "srem"):
        m.require(negation(apply("=", width, y, 0)), "division-by-zero")
        if name[0] == "s":
            most = apply("bvand", 1, apply("=", width, x, 1 << (width - 1)), apply("=", width, y, (1 << width) - 1))
            m.require(negation(most), "overflow")
    if f.part == 0:  # libraries are not checked
        if name in ("shl", "lshr", "ashr") and "shift" in m.options["checks"]:
            m.require(apply("bvult", width, y, width) if width > 1 else apply("=", 1, y, 0), "shift")
        elif name in ("add", "sub", "mul") and flags & w.FLAGS["nsw"] >> 16 and "overflow" in m.options["checks"]:
            m.require(_fits(f"s{name}", width, x, y)[1], "overflow")
    if name in _SIMPLE:
        m.set(dst, apply(f"bv{name}", width, x, y))
    elif name[1:] in ("min", "max"):
        less = apply("bvult" if name[0] == "u" else "bvslt", width, x, y)
        m.set(dst, ite(less, x, y, width) if name.endswith("min") else ite(less, y, x, width))
    elif isinstance(x, int) and isinstance(y, int) and name.endswith("sat"):
        p, q = (x, y) if name[0] == "u" else (signed(x, width), signed(y, width))
        exact = {"add": lambda: p + q, "sub": lambda: p - q, "shl": lambda: p << y}[name[1:-3]]()
        low, high = (0, (1 << width) - 1) if name[0] == "u" else (-(1 << (width - 1)), (1 << (width - 1)) - 1)
        m.set(dst, min(max(exact, low), high) & ((1 << width) - 1))
    else:
        raise NoSemanticsError(f"the operator {name} on inputs")


def _unary(m: Machine, f: Function, op: int, flags: int, dst: int, a: Any) -> None:
    name, width, x = _NAMES["un"][op], f.widths[dst], m.get(a, f.widths[dst])
    bits = [extract(x, i, 1) for i in range(width)]
    result: Any = width
    if name == "ctpop":
        result = 0
        for bit in bits:
            result = apply("bvadd", width, result, zext(bit, 1, width))
    elif name in ("ctlz", "cttz"):
        order = list(range(width)) if name == "ctlz" else list(reversed(range(width)))
        for i in order:
            result = ite(bits[i], width - 1 - i if name == "ctlz" else i, result, width)
    elif name == "abs":
        if flags & w.STRICT >> 16 and "overflow" in m.options["checks"] and f.part == 0:
            m.require(negation(apply("=", width, x, 1 << (width - 1))), "overflow")
        result = ite(apply("bvslt", width, x, 0), apply("bvneg", width, x), x, width)
    else:
        size = 8 if name == "bswap" else 1
        result = extract(x, 0, size)
        for i in range(1, width // size):
            result = concat(result, size * i, extract(x, size * i, size), size)
    m.set(dst, result)


def _fits(name: str, width: int, x: Any, y: Any) -> tuple[Any, Any]:
    """The result of addition, subtraction or multiplication, and whether it is the exact one."""
    wide, extend = 2 * width + 1, sext if name[0] == "s" else zext
    exact = apply(f"bv{name[1:]}", wide, extend(x, width, wide), extend(y, width, wide))
    low = extract(exact, 0, width)
    return low, apply("=", wide, extend(low, width, wide), exact)


def _overflow(m: Machine, f: Function, op: int, flags: int, dst: int, over: int, a: Any, b: Any) -> None:
    name, width, x, y = _NAMES["overflow"][op], f.widths[dst], m.get(a, f.widths[dst]), m.get(b, f.widths[dst])
    low, fits = _fits(name, width, x, y)
    m.set(dst, low)
    m.set(over, negation(fits))


def _funnel(m: Machine, f: Function, op: int, left: int, dst: int, a: Any, b: Any, c: Any) -> None:
    width, both = f.widths[dst], concat(m.get(a, f.widths[dst]), f.widths[dst], m.get(b, f.widths[dst]), f.widths[dst])
    amount = zext(apply("bvurem", 2 * width, zext(m.get(c, width), width, 2 * width), width), 2 * width, 2 * width)
    shifted = apply("bvshl" if left else "bvlshr", 2 * width, both, amount)
    m.set(dst, extract(shifted, width if left else 0, width))


def _compare(m: Machine, f: Function, op: int, flags: int, width: int, dst: int, a: Any, b: Any) -> None:
    name, x, y = _NAMES["int"][op], m.get(a, width), m.get(b, width)
    if name in ("eq", "ne"):
        equal = apply("=", width, x, y)
        return m.set(dst, equal if name == "eq" else negation(equal))
    operator, swapped = _ORDER[name]
    return m.set(dst, apply(operator, width, y, x) if swapped else apply(operator, width, x, y))


def _cast(m: Machine, f: Function, op: int, flags: int, width: int, dst: int, a: Any) -> None:
    m.set(dst, (sext if op == 1 else zext)(m.get(a, width), width, f.widths[dst]))


def _select(m: Machine, f: Function, op: int, flags: int, dst: int, c: Any, a: Any, b: Any) -> None:
    m.set(dst, ite(m.get(c, 1), m.get(a, f.widths[dst]), m.get(b, f.widths[dst]), f.widths[dst]))


def _copy(m: Machine, f: Function, op: int, flags: int, dst: int, a: Any) -> None:
    m.set(dst, m.get(a, f.widths[dst]))


def _load(m: Machine, f: Function, op: int, flags: int, align: int, dst: int, address: Any) -> None:
    m.set(dst, m.load(m.get(address), f.widths[dst]))


def _store(m: Machine, f: Function, op: int, flags: int, width: int, align: int, value: Any, address: Any) -> None:
    m.store(m.get(address), m.get(value, width), width)


def _alloca(m: Machine, f: Function, op: int, fixed: int, align: int, dst: int, size: Any) -> None:
    count = m.value(m.get(size), 64, "the size of a local array")
    m.frame.stack += count
    if m.frame.stack > MAX_STACK:
        raise EndedError("stack-overflow")
    base = m.path.memory.allocate(count, "stack", is_blank=True)
    (m.frame.locals if fixed else m.frame.dynamic).append(base)
    m.set(dst, base)


def _gep(m: Machine, f: Function, op: int, flags: int, dst: int, base: Any, offset: int, terms: Any) -> None:
    total = apply("bvadd", 64, m.get(base), offset & ((1 << 64) - 1))
    for width, scale, index in terms:
        wide = sext(m.get(index, width), width, 64) if width < 64 else extract(m.get(index, width), 0, 64)
        total = apply("bvadd", 64, total, apply("bvmul", 64, wide, scale & ((1 << 64) - 1)))
    m.set(dst, total)


def _call(m: Machine, f: Function, op: int, flags: int, count: int, first: int, callee: Any, args: Any) -> int | None:
    number = models.callee(m, m.get(callee))
    target = m.program.functions[number]
    values = [(width, at, size, m.get(value, 64 if size else width & ~w.TOP)) for width, at, size, value in args]
    if target.insts:
        m.enter_function(number, values)
        return -1
    width = f.widths[first] if count else 0
    result = models.call(m, target.name, [(size & ~w.TOP, value) for size, _, _, value in values], width)
    if result is models.JUMPED:
        return -1
    if count and result is not None:
        m.set(first, result)
    return None


def _memcopy(m: Machine, f: Function, op: int, flags: int, dst: Any, src: Any, size: Any) -> None:
    models.copy_bytes(m, m.get(dst), m.get(src), m.get(size), overlap=bool(flags))


def _memset(m: Machine, f: Function, op: int, flags: int, dst: Any, value: Any, size: Any) -> None:
    models.set_bytes(m, m.get(dst), m.get(value, 8), m.get(size))


def _va_start(m: Machine, f: Function, op: int, flags: int, general: int, vector: int, stack: int, place: Any) -> None:
    area = m.frame.variadic
    for offset, width, word in ((0, 32, general), (4, 32, vector), (8, 64, area + stack), (16, 64, area)):
        m.store(apply("bvadd", 64, m.get(place), offset), word, width)


def _stack_save(m: Machine, f: Function, op: int, flags: int, dst: int) -> None:
    m.set(dst, len(m.frame.dynamic))


def _stack_restore(m: Machine, f: Function, op: int, flags: int, mark: Any) -> None:
    keep = m.value(m.get(mark), 64, "a stack mark")
    while len(m.frame.dynamic) > keep:
        base = m.frame.dynamic.pop()
        m.frame.stack -= len(m.path.memory.objects[base].data)
        m.path.memory.remove(base)


def _scope(m: Machine, f: Function, op: int, begins: int, place: Any) -> None:
    m.path.memory.set_scope(m.get(place), bool(begins))


def _branch(m: Machine, f: Function, op: int, flags: int, then: int, other: int, condition: Any) -> int:
    return then if then == other or m.decide(m.get(condition, 1), "branch") else other


def _switch(m: Machine, f: Function, op: int, flags: int, width: int, default: int, value: Any, cases: Any) -> int:
    x = m.settle(m.get(value, width), width)
    if isinstance(x, int) and not m.point("switch", ""):
        return int(cases.get(x, default))
    conditions: dict[int, Any] = {}
    for case, edge in cases.items():
        if edge != default:
            conditions[edge] = disjunction([conditions.get(edge, 0), apply("=", width, x, case)])
    conditions[default] = negation(disjunction(conditions.values()))
    return _choose_edge(m, conditions)


def _choose_edge(m: Machine, conditions: dict[int, Any]) -> int:
    point = m.point("switch", "")
    if point:
        return m.consume(point, conditions)
    edge = next((e for e, c in conditions.items() if m.path.evaluator.of(c)), None)
    if edge is None:
        raise m.reject("no edge fits the test")
    m.prove(conditions[edge], "a switch")
    return edge


def _indirect(m: Machine, f: Function, op: int, flags: int, address: Any, edges: list[int]) -> int:
    x = m.settle(m.get(address), 64)
    labels: dict[int, int] = {}
    for edge in edges:
        labels.setdefault(LABELS + (m.frame.function << 16) + f.edges[edge][0], edge)
    conditions = {edge: apply("=", 64, x, label) for label, edge in labels.items()}
    m.require(disjunction(conditions.values()), "unreachable")
    return _choose_edge(m, conditions)


def _return(m: Machine, f: Function, op: int, flags: int, values: list[Any]) -> int:
    results = [m.get(value, width) for value, width in zip(values, f.results, strict=True)]
    m.end_locals()
    m.path.frames.pop()
    if not m.path.frames:
        return m.next_stage(results[0] if results else 0)
    caller = m.program.functions[m.frame.function]
    _, _, _, count, first, _, _ = caller.insts[m.frame.pc]
    for i, value in enumerate(results[:count]):
        m.set(first + i, m.resize(value, f.results[i], caller.widths[first + i], f, f.bits & 32))
    m.frame.pc += 1
    return -1


def _ending(ending: str) -> Any:
    def step(*_: Any) -> None:
        raise EndedError(ending)

    return step


def _nothing(m: Machine, *_: Any) -> None:
    """An assumption of the optimiser."""


_STEPS = {
    w.BIN: _binary, w.UN: _unary, w.OVERFLOW: _overflow, w.FUNNEL: _funnel, w.CMP: _compare, w.CAST: _cast,
    w.SELECT: _select, w.COPY: _copy, w.FREEZE: _copy, w.LOAD: _load, w.STORE: _store, w.ALLOCA: _alloca, w.GEP: _gep,
    w.CALL: _call, w.MEMCOPY: _memcopy, w.MEMSET: _memset, w.VASTART: _va_start, w.STACKSAVE: _stack_save,
    w.STACKRESTORE: _stack_restore, w.ASSUME: _nothing, w.TRAP: _ending("abort"), w.JUMP: lambda m, f, o, n, edge: edge,
    w.SCOPE: _scope, w.BRANCH: _branch, w.SWITCH: _switch, w.INDIRECTBR: _indirect, w.RET: _return,
    w.LANDING: lambda m, f, o, n, normal, *_: normal, w.UNREACHABLE: _ending("unreachable"),
    w.UNSUPPORTED: _ending("unsupported"),
    **floats.STEPS,
}  # fmt: skip
