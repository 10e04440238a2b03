"""A plain, slow, concrete interpreter of serialised programs: checks the lowering independently of the executor.

The bytes are decoded by the checker of certificates, so writer, format and semantics are tested without the executor.
Undefined values are zero; unsupported instructions raise. Memory is one array; the caller provides the C functions
that programs need.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable
from typing import Any

from partita.check.meaning.program import Function, Part
from partita.llvm import write as w

Native = Callable[["Machine", list[int]], int]
FUNCTIONS, BLOCKS, HEAP = 1 << 40, 1 << 41, 1 << 16


_BIN, _UN, _OVERFLOW, _PREDS, _FBIN, _FUN, _FPREDS = (
    [name for name, _ in sorted(table.items(), key=lambda item: item[1])]
    for table in (w.BIN_OPS, w.UN_OPS, w.OVERFLOW_OPS, w.INT_PREDS, w.FBIN_OPS, w.FUN_OPS, w.FCMP_PREDS)
)


class ExitedError(Exception):
    """The program called exit."""


class UnsupportedError(Exception):
    """The program reached something that was not lowered."""


def signed(value: int, width: int) -> int:
    return value - (1 << width) if value >> (width - 1) else value


def to_float(bits: int, kind: int) -> float:
    if kind == 2:
        sign, exponent, fraction = bits >> 79, bits >> 64 & 0x7FFF, bits & ((1 << 64) - 1)
        if exponent == 0x7FFF:
            value = math.inf if fraction << 1 & ((1 << 64) - 1) == 0 else math.nan
        else:
            value = math.ldexp(fraction, exponent - 16383 - 63)
        return -value if sign else value
    return float(struct.unpack("<f" if kind == 0 else "<d", bits.to_bytes(4 if kind == 0 else 8, "little"))[0])


def from_float(value: float, kind: int) -> int:
    if kind == 2:
        sign = 1 if math.copysign(1, value) < 0 else 0
        if value == 0:
            return sign << 79
        if math.isinf(value) or math.isnan(value):
            return sign << 79 | 0x7FFF << 64 | 1 << 63 | (1 << 62 if math.isnan(value) else 0)
        fraction, exponent = math.frexp(abs(value))
        return sign << 79 | (exponent + 16382) << 64 | int(math.ldexp(fraction, 64))
    try:
        raw = struct.pack("<f" if kind == 0 else "<d", value)
    except OverflowError:
        raw = struct.pack("<f", math.copysign(math.inf, value))
    return int.from_bytes(raw, "little")


class Machine:
    """Execution of a program: memory, allocation, calls."""

    def __init__(self, program: Part, natives: dict[str, Native], memory: int = 1 << 20) -> None:
        self.program = program
        self.natives = natives
        self.memory = bytearray(memory)
        self.top = HEAP
        self.places: list[int] = []
        self.trace: list[int] = []  # edges taken and functions entered: identifies the path
        for g in self.program.globals:
            self.places.append(self.allocate(g.size, g.align))
        for g, place in zip(self.program.globals, self.places, strict=True):
            self.memory[place : place + len(g.data)] = g.data
            for offset, size, target, minus in g.relocs:
                value = self.address(target) - (self.address(minus) if minus else 0)
                self.store(place + offset, value & ((1 << 8 * size) - 1), size)

    def allocate(self, size: int, align: int) -> int:
        place = (self.top + align - 1) // align * align
        self.top = place + max(size, 1)
        assert self.top < len(self.memory), "out of memory"
        return place

    def address(self, target: tuple[Any, ...]) -> int:
        kind, _, number, offset = target
        if kind == 0:
            alias = self.program.globals[number].alias
            if alias:
                return self.address((0, 0, alias[0], alias[1] + offset))
            bits = self.program.globals[number].bits
            is_null = bits & 1 and not bits & 4  # an undefined weak symbol
            return (0 if is_null else self.places[number]) + offset
        if kind == 1:
            alias = self.program.functions[number].alias
            return FUNCTIONS + 16 * (number if alias is None else alias) + offset
        return BLOCKS + (number << 20) + offset

    def load(self, place: int, size: int) -> int:
        assert HEAP <= place <= len(self.memory) - size, f"load at {place:#x}"
        return int.from_bytes(self.memory[place : place + size], "little")

    def store(self, place: int, value: int, size: int) -> None:
        assert HEAP <= place <= len(self.memory) - size, f"store at {place:#x}"
        self.memory[place : place + size] = value.to_bytes(size, "little")

    def string(self, place: int) -> str:
        return self.memory[place : self.memory.index(0, place)].decode("latin-1")

    def run(self, args: list[int]) -> int:
        """Runs constructors and main; returns main's result or the argument of exit."""
        try:
            for _, function in self.program.constructors:
                self.call(function, [])
            names = [f.name for f in self.program.functions]
            main = names.index("main")
            count = self.program.functions[main].params
            results = self.call(main, [(32, 8, 0, value) for value in args[:count]])
            return signed(results[0], 32)
        except ExitedError as end:
            return int(end.args[0])

    def call(self, number: int, args: list[tuple[int, int, int, int]]) -> list[int]:
        function = self.program.functions[number]
        if function.alias is not None:
            return self.call(function.alias, args)
        if not function.insts:
            value = self.natives[function.name](self, [value for _, _, _, value in args])
            return [value & ((1 << width) - 1) for width in function.results]
        self.trace.append(~number)
        frame = Frame(self, function, args)
        saved = self.top
        results = frame.run()
        self.top = saved
        return results


class Frame:
    def __init__(self, machine: Machine, function: Function, args: list[tuple[int, int, int, int]]) -> None:
        self.m, self.f, self.args = machine, function, args
        self.regs = [0] * len(function.widths)
        for number in range(function.params):
            self.regs[number] = args[number][3]

    def get(self, operand: tuple[str, Any]) -> int:
        kind, value = operand
        if kind == "reg":
            return int(self.regs[value])
        if kind in ("int", "undef"):
            return int(value) if kind == "int" else 0
        return self.m.address(value) & ((1 << 64) - 1)

    def set(self, reg: int, value: int) -> None:
        self.regs[reg] = value & ((1 << self.f.widths[reg]) - 1)

    def run(self) -> list[int]:
        at = 0
        while True:
            edge = self.step(self.f.insts[at])
            at += 1
            if isinstance(edge, list):
                return edge
            if edge is None:
                continue
            self.m.trace.append(edge)
            block, moves = self.f.edges[edge]
            at = self.f.blocks[block]
            for dst, src in moves:
                self.set(dst, self.get(src))

    def step(self, inst: tuple[Any, ...]) -> int | list[int] | None:
        code, op, more, *rest = inst
        get, widths = self.get, self.f.widths
        if code == w.BIN:
            dst, a, b = rest
            self.set(dst, binary(_BIN[op], get(a), get(b), widths[dst]))
        elif code == w.CMP:
            width, dst, a, b = rest
            self.set(dst, compare(_PREDS[op], get(a), get(b), width))
        elif code == w.LOAD:
            _, dst, addr = rest
            self.set(dst, self.m.load(get(addr), (widths[dst] + 7) // 8))
        elif code == w.STORE:
            width, _, value, addr = rest
            self.m.store(get(addr), get(value), (width + 7) // 8)
        elif code == w.GEP:
            dst, base, offset, terms = rest
            self.set(dst, get(base) + offset + sum(signed(get(index), width) * scale for width, scale, index in terms))
        elif code == w.CAST:
            width, dst, a = rest
            self.set(dst, signed(get(a), width) if op == 1 else get(a))
        elif code == w.SELECT:
            dst, cond, a, b = rest
            self.set(dst, get(a) if get(cond) else get(b))
        elif code in (w.COPY, w.FREEZE):
            self.set(rest[0], get(rest[1]))
        elif code in (w.JUMP, w.LANDING):
            return int(rest[0])
        elif code == w.BRANCH:
            return int(rest[0] if get(rest[2]) else rest[1])
        elif code == w.SWITCH:
            _, default, value, cases = rest
            return int(cases.get(get(value), default))
        elif code == w.RET:
            return [get(value) for value in rest[0]]
        elif code == w.CALL:
            self.call(*rest)
        else:
            return self.step_rare(code, op, more, rest)
        return None

    def call(self, count: int, first: int, callee: tuple[str, Any], args: list[Any]) -> None:
        target = self.get(callee)
        assert target in range(FUNCTIONS, BLOCKS, 16), f"call of {target:#x}"
        values = [(width, align, size, self.get(value)) for width, align, size, value in args]
        results = self.m.call((target - FUNCTIONS) // 16, values)
        for number in range(count):
            self.set(first + number, results[number])

    def step_rare(self, code: int, op: int, more: int, rest: list[Any]) -> int | list[int] | None:
        get, m, widths = self.get, self.m, self.f.widths
        if code == w.ALLOCA:
            align, dst, size = rest
            self.set(dst, m.allocate(get(size), align))
        elif code == w.MEMCOPY:
            dst, src, size = (get(operand) for operand in rest)
            m.memory[dst : dst + size] = bytes(m.memory[src : src + size])
        elif code == w.MEMSET:
            dst, value, size = (get(operand) for operand in rest)
            m.memory[dst : dst + size] = bytes((value,)) * size
        elif code == w.UN:
            self.set(rest[0], unary(_UN[op], get(rest[1]), widths[rest[0]]))
        elif code == w.OVERFLOW:
            dst, over, a, b = rest
            value, flag = overflow(_OVERFLOW[op], get(a), get(b), widths[dst])
            self.set(dst, value)
            self.set(over, flag)
        elif code == w.FUNNEL:
            dst, a, b, c = rest
            width = widths[dst]
            both, shift = get(a) << width | get(b), get(c) % width
            self.set(dst, both << shift >> width if more else both >> shift)
        elif code == w.VASTART:
            self.va_start(rest[0], rest[1], rest[2], get(rest[3]))
        elif code == w.STACKSAVE:
            self.set(rest[0], m.top)
        elif code == w.STACKRESTORE:
            m.top = get(rest[0])
        elif code == w.SCOPE:
            pass  # memory keeps its contents
        elif code == w.ASSUME:
            assert get(rest[0]), "a violated assumption"
        elif code == w.INDIRECTBR:
            block = get(rest[0]) - BLOCKS & 0xFFFFF
            return next(int(edge) for edge in rest[1] if self.f.edges[edge][0] == block)
        elif code in (w.FBIN, w.FUN, w.FMA, w.FCMP, w.FCLASS, w.FTOINT, w.INTTOF, w.FCAST):
            self.floating(code, op, more, rest)
        elif code == w.UNSUPPORTED:
            raise UnsupportedError(m.program.strings[rest[0]])
        else:
            raise AssertionError(f"trap or unreachable code in {self.f.name}")
        return None

    def va_start(self, general: int, vector: int, stack: int, place: int) -> None:
        ends = [at + (size or (width + 7) // 8) for width, at, size, _ in self.args]
        area = self.m.allocate(max([176, *ends]), 16)
        for width, at, size, value in self.args:
            if size:
                self.m.memory[area + at : area + at + size] = self.m.memory[value : value + size]
            else:
                self.m.store(area + at, value, (width + 7) // 8)
        self.m.memory[place : place + 24] = struct.pack("<IIQQ", general, vector, area + stack, area)

    def floating(self, code: int, op: int, kind: int, rest: list[Any]) -> None:
        get, widths = self.get, self.f.widths
        if code == w.INTTOF:
            width, dst, a = rest
            self.set(dst, from_float(float(signed(get(a), width) if op & 1 else get(a)), kind))
        elif code == w.FCAST:
            self.set(rest[0], from_float(to_float(get(rest[1]), op), kind))
        elif code == w.FCLASS:
            mask, dst, a = rest
            self.set(dst, int(classes(to_float(get(a), kind)) & mask != 0))
        else:
            dst, *operands = rest
            values = [to_float(get(operand), kind) for operand in operands]
            if code == w.FTOINT:
                self.set(dst, int(values[0]))
            elif code == w.FCMP:
                self.set(dst, float_compare(_FPREDS[op], *values))
            elif code == w.FMA:
                self.set(dst, from_float(values[0] * values[1] + values[2], kind))
            elif code == w.FUN:
                self.set(dst, from_float(float_unary(_FUN[op], values[0]), kind))
            else:
                assert widths[dst] in (32, 64, 80)
                self.set(dst, from_float(float_binary(_FBIN[op], *values), kind))


def binary(op: str, a: int, b: int, width: int) -> int:
    x, y = signed(a, width), signed(b, width)
    low, high, top = -(1 << (width - 1)), (1 << (width - 1)) - 1, (1 << width) - 1
    if op in ("sdiv", "srem"):
        quotient = abs(x) // abs(y) * (1 if (x < 0) == (y < 0) else -1)
        return quotient if op == "sdiv" else x - quotient * y
    table: dict[str, Callable[[], int]] = {
        "add": lambda: a + b, "sub": lambda: a - b, "mul": lambda: a * b, "udiv": lambda: a // b, "urem": lambda: a % b,
        "shl": lambda: a << b, "lshr": lambda: a >> b, "ashr": lambda: x >> b, "and": lambda: a & b,
        "or": lambda: a | b, "xor": lambda: a ^ b, "umin": lambda: min(a, b), "umax": lambda: max(a, b),
        "smin": lambda: min(x, y),
        "smax": lambda: max(x, y), "uaddsat": lambda: min(a + b, top), "usubsat": lambda: max(a - b, 0),
        "saddsat": lambda: min(max(x + y, low), high), "ssubsat": lambda: min(max(x - y, low), high),
        "ushlsat": lambda: min(a << b, top), "sshlsat": lambda: min(max(x << b, low), high),
    }  # fmt: skip
    return table[op]()


def compare(pred: str, a: int, b: int, width: int) -> int:
    if pred[0] == "s":
        a, b = signed(a, width), signed(b, width)
    kind = pred if pred in ("eq", "ne") else pred[1:]
    table = {"eq": a == b, "ne": a != b, "gt": a > b, "ge": a >= b, "lt": a < b, "le": a <= b}
    return int(table[kind])


def unary(op: str, a: int, width: int) -> int:
    if op == "ctpop":
        return a.bit_count()
    if op == "ctlz":
        return width - a.bit_length()
    if op == "cttz":
        return (a & -a).bit_length() - 1 if a else width
    if op == "bswap":
        return int.from_bytes(a.to_bytes(width // 8, "little"), "big")
    if op == "bitreverse":
        return int(f"{a:0{width}b}"[::-1], 2)
    return abs(signed(a, width))


def overflow(op: str, a: int, b: int, width: int) -> tuple[int, int]:
    if op[0] == "s":
        a, b = signed(a, width), signed(b, width)
    exact = {"add": a + b, "sub": a - b, "mul": a * b}[op[1:]]
    wrapped = exact & ((1 << width) - 1)
    return wrapped, int((signed(wrapped, width) if op[0] == "s" else wrapped) != exact)


def float_binary(op: str, a: float, b: float) -> float:
    if op == "fadd":
        return a + b
    if op == "fsub":
        return a - b
    if op == "fmul":
        return a * b
    if op == "fdiv":
        if b == 0:
            return math.nan if a == 0 or math.isnan(a) else math.copysign(math.inf, a) * math.copysign(1, b)
        return a / b
    if op == "frem":
        return math.fmod(a, b) if b else math.nan
    if op == "copysign":
        return math.copysign(a, b)
    if math.isnan(a) or math.isnan(b):
        return b if math.isnan(a) and op.endswith("num") else a
    return min(a, b) if op.startswith("min") else max(a, b)


def float_unary(op: str, a: float) -> float:
    if op == "fneg":
        return -a
    if op == "fabs":
        return abs(a)
    if op == "sqrt":
        return math.sqrt(a) if a >= 0 else math.nan
    if op == "rint":
        return math.copysign(float(round(a)), a)
    if op == "round":
        return math.copysign(math.floor(abs(a) + 0.5), a)
    if op == "floor":
        return float(math.floor(a))
    return float(math.ceil(a) if op == "ceil" else math.trunc(a))


def float_compare(pred: str, a: float, b: float) -> int:
    nan = math.isnan(a) or math.isnan(b)
    if pred in ("false", "true"):
        return int(pred == "true")
    if pred in ("ord", "uno"):
        return int(nan == (pred == "uno"))
    if nan:
        return int(pred[0] == "u")
    return compare("ult"[:1] + pred[1:] if pred[1:] not in ("eq", "ne") else pred[1:], *_ordered(a, b), 64)


def _ordered(a: float, b: float) -> tuple[int, int]:
    return (0, 0) if a == b else ((0, 1) if a < b else (1, 0))


def classes(value: float) -> int:
    negative = math.copysign(1, value) < 0
    if math.isnan(value):
        return 2
    if math.isinf(value):
        return 4 if negative else 512
    if value == 0:
        return 32 if negative else 64
    if abs(value) < 2.2250738585072014e-308:
        return 16 if negative else 128
    return 8 if negative else 256
