"""Constants, locals, the stack, arithmetic, conversions and comparisons, with Java's semantics (JLS 15.17 to 15.22)."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from partita.jvm.classfile import ClassFormatError, ClassRef, Dynamic, MethodHandle, MethodType, Number, StringConst
from partita.jvm.decode import Instruction
from partita.jvm.descriptors import WIDTHS
from partita.llvm.write import Operand, constant_of, integer, reg

if TYPE_CHECKING:
    from partita.jvm.method import MethodLowering

Operation = Callable[["MethodLowering", Instruction], "int | None"]
OPERATIONS: dict[int, Operation] = {}
_KINDS = "IJFDA"


def operation(*codes: int) -> Callable[[Operation], Operation]:
    def register(function: Operation) -> Operation:
        for code in codes:
            OPERATIONS[code] = function
        return function

    return register


@operation(0)
def _nop(m: MethodLowering, i: Instruction) -> None:
    pass


@operation(*range(1, 18))
def _constant(m: MethodLowering, i: Instruction) -> None:
    op = i.op
    if op == 1:
        m.push(integer(0), "A")
    elif op <= 8:
        m.push(integer((op - 3) & 0xFFFFFFFF), "I")
    elif op <= 10:
        m.push(integer(op - 9), "J")
    elif op <= 13:
        m.push(integer((0, 0x3F800000, 0x40000000)[op - 11]), "F")
    elif op <= 15:
        m.push(integer((0, 0x3FF0000000000000)[op - 14]), "D")
    else:
        m.push(integer(i.args[0] & 0xFFFFFFFF), "I")


@operation(18, 19, 20)
def _load_constant(m: MethodLowering, i: Instruction) -> None:
    if not 0 < i.args[0] < len(m.pool):
        raise ClassFormatError(f"{m.place}: constant {i.args[0]} at {i.pc} does not exist")
    found = m.pool[i.args[0]]
    if isinstance(found, Number):
        m.push(integer(found.bits), found.kind)
    elif isinstance(found, StringConst):
        m.push(m.lowering.string(m.part, found.value), "A")
    elif isinstance(found, ClassRef):
        m.push(m.lowering.mirror(m.part, found.name), "A")
    elif isinstance(found, (Dynamic, MethodHandle, MethodType)):
        m.fb.unsupported(f"a constant of {type(found).__name__} in {m.place}")
    else:
        raise ClassFormatError(f"{m.place}: constant {i.args[0]} at {i.pc} cannot be loaded")


@operation(*range(21, 46))
def _load(m: MethodLowering, i: Instruction) -> None:
    kind, slot = (_KINDS[i.op - 21], i.args[0]) if i.op < 26 else (_KINDS[(i.op - 26) // 4], (i.op - 26) % 4)
    m.push(reg(m.local(slot, kind)), kind)


@operation(*range(54, 79))
def _store(m: MethodLowering, i: Instruction) -> None:
    kind, slot = (_KINDS[i.op - 54], i.args[0]) if i.op < 59 else (_KINDS[(i.op - 59) // 4], (i.op - 59) % 4)
    m.set_local(slot, kind, m.pop(kind))


@operation(132)
def _increment(m: MethodLowering, i: Instruction) -> None:
    slot, by = i.args
    local = reg(m.local(slot, "I"))
    m.set_local(slot, "I", m.fb.binary("add", 32, local, integer(by & 0xFFFFFFFF)))


@operation(*range(87, 96))
def _stack(m: MethodLowering, i: Instruction) -> None:
    """pop to swap: entries of two words count twice."""
    stack = m.stack

    def take(words: int) -> list[tuple[Operand, str]]:
        taken: list[tuple[Operand, str]] = []
        while words > 0:
            if not stack:
                raise ClassFormatError(f"{m.place}: the operand stack is empty at {i.pc}")
            taken.insert(0, stack.pop())
            words -= 2 if taken[0][1] in "JD" else 1
        return taken

    if i.op in (87, 88):
        take(i.op - 86)
    elif i.op == 95:
        second, first = take(1), take(1)
        stack += [*second, *first]
    else:
        count = 1 if i.op < 92 else 2
        top = take(count)
        below = take((i.op - 89) % 3)
        stack += [*top, *below, *top]


_BINARY = {96: "add", 100: "sub", 104: "mul", 126: "and", 128: "or", 130: "xor"}


@operation(*(code + shift for code in _BINARY for shift in (0, 1)))
def _integer(m: MethodLowering, i: Instruction) -> None:
    code = i.op if i.op in _BINARY else i.op - 1
    kind = _KINDS[i.op - code]
    b, a = m.pop(kind), m.pop(kind)
    m.push(m.fb.binary(_BINARY[code], WIDTHS[kind], a, b), kind)


@operation(98, 99, 102, 103, 106, 107, 110, 111, 114, 115)
def _float(m: MethodLowering, i: Instruction) -> None:
    kind = "FD"[(i.op - 98) % 4]
    op = ("fadd", "fsub", "fmul", "fdiv", "frem")[(i.op - 98) // 4]
    b, a = m.pop(kind), m.pop(kind)
    m.push(m.fb.float_binary(op, kind, a, b), kind)


@operation(108, 109, 112, 113)
def _divide(m: MethodLowering, i: Instruction) -> None:
    """Division and remainder. The least value divided by -1 is itself, with remainder 0."""
    fb = m.fb
    kind = "IJ"[i.op & 1]
    width = WIDTHS[kind]
    op = "sdiv" if i.op < 112 else "srem"
    b, a = m.pop(kind), m.pop(kind)
    divisor = constant_of(b)
    minus_one = integer((1 << width) - 1)
    if divisor is None or divisor == 0:
        zero = fb.compare("eq", width, b, integer(0)) if divisor is None else integer(1)
        m.throw_if(zero, "java/lang/ArithmeticException")
    if divisor is None:
        negated = fb.compare("eq", width, b, minus_one)
        safe = fb.select(width, negated, integer(1), b)
        result = fb.binary(op, width, a, safe)
        if op == "sdiv":
            result = fb.select(width, negated, fb.binary("sub", width, integer(0), a), result)
    elif b == minus_one:
        result = fb.binary("sub", width, integer(0), a) if op == "sdiv" else integer(0)
    else:
        result = fb.binary(op, width, a, integer(1) if divisor == 0 else b)
    m.push(result, kind)


@operation(116, 117, 118, 119)
def _negate(m: MethodLowering, i: Instruction) -> None:
    kind = _KINDS[i.op - 116]
    a = m.pop(kind)
    if kind in "IJ":
        m.push(m.fb.binary("sub", WIDTHS[kind], integer(0), a), kind)
    else:
        m.push(m.fb.float_unary("fneg", kind, a), kind)


@operation(*range(120, 126))
def _shift(m: MethodLowering, i: Instruction) -> None:
    kind = "IJ"[i.op & 1]
    width = WIDTHS[kind]
    count, a = m.pop("I"), m.pop(kind)
    count = m.fb.binary("and", 32, count, integer(width - 1))
    if kind == "J":
        count = m.fb.cast("zext", 32, 64, count)
    m.push(m.fb.binary(("shl", "ashr", "lshr")[(i.op - 120) // 2], width, a, count), kind)


@operation(*range(133, 148))
def _convert(m: MethodLowering, i: Instruction) -> None:
    fb = m.fb
    op = i.op
    if op >= 145:
        width, cast = {145: (8, "sext"), 146: (16, "zext"), 147: (16, "sext")}[op]
        m.push(fb.cast(cast, width, 32, fb.cast("trunc", 32, width, m.pop("I"))), "I")
        return
    source = _KINDS[(op - 133) // 3]
    others = [kind for kind in "IJFD" if kind != source]
    target = others[(op - 133) % 3]
    a = m.pop(source)
    if source in "IJ" and target in "IJ":
        result = fb.cast("sext" if source == "I" else "trunc", WIDTHS[source], WIDTHS[target], a)
    elif source in "IJ":
        result = fb.int_to_float(WIDTHS[source], target, a)
    elif target in "IJ":
        result = fb.float_to_int(source, WIDTHS[target], a)
    else:
        result = fb.float_cast(source, target, a)
    m.push(result, target)


@operation(148, 149, 150, 151, 152)
def _compare(m: MethodLowering, i: Instruction) -> int | None:
    """lcmp and the comparisons of floats: one comparison if a branch follows, otherwise -1, 0 or 1."""
    fb = m.fb
    kind = "JFFDD"[i.op - 148]
    b, a = m.pop(kind), m.pop(kind)
    following = m.instructions[m.index[i.pc] + 1]
    if 153 <= following.op <= 158 and following.pc not in m.starts:
        name = ("eq", "ne", "lt", "ge", "gt", "le")[following.op - 153]
        if kind == "J":
            condition = fb.compare(name if name in ("eq", "ne") else "s" + name, 64, a, b)
        else:
            # NaN is less (fcmpl) or greater (fcmpg) than anything.
            nan_true = name == "ne" or name in (("lt", "le") if i.op in (149, 151) else ("gt", "ge"))
            condition = fb.float_compare(("u" if nan_true else "o") + name, kind, a, b)
        from partita.jvm.control import decide

        m.pc = following.pc
        return 1 + (decide(m, following, condition) or 0)
    if kind == "J":
        less, equal = fb.compare("slt", 64, a, b), fb.compare("eq", 64, a, b)
    else:
        less = fb.float_compare("ult" if i.op in (149, 151) else "olt", kind, a, b)
        equal = fb.float_compare("oeq", kind, a, b)
    rest = fb.select(32, equal, integer(0), integer(1))
    m.push(fb.select(32, less, integer(0xFFFFFFFF), rest), "I")
    return None
