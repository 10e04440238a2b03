"""Calls: static, special, virtual and interface. Dynamic calls are in `dynamic.py`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from partita.jvm import native_math
from partita.jvm.arith import Operation
from partita.jvm.classfile import ACC_FINAL, ACC_PRIVATE, ClassFormatError, MemberRef, Method
from partita.jvm.decode import Instruction
from partita.jvm.descriptors import WIDTHS, kind_of, parse_method
from partita.jvm.world import OBJECT, PRIMITIVES
from partita.llvm.write import Operand, integer, reg

if TYPE_CHECKING:
    from partita.jvm.method import MethodLowering

OPERATIONS: dict[int, Operation] = {}
VIRTUAL, SPECIAL, STATIC, INTERFACE, DYNAMIC = range(182, 187)


def call_direct(m: MethodLowering, method: Method, arguments: list[tuple[Operand, int]]) -> Operand | None:
    """Calls a method that is known; its result."""
    m.lowering.need(method)
    return finish_call(m, method.descriptor, m.lowering.function_name(method), arguments)


def finish_call(
    m: MethodLowering, descriptor: str, callee: str | Operand, arguments: list[tuple[Operand, int]]
) -> Operand | None:
    result = parse_method(descriptor)[1]
    widths = [64] if result == "V" else [64, WIDTHS[kind_of(result)]]
    first = m.fb.call(callee, arguments, widths)
    m.check_thrown(first)
    return None if result == "V" else reg(first + 1)


def call_virtual(
    m: MethodLowering, ref: MemberRef, method: Method, arguments: list[tuple[Operand, int]]
) -> Operand | None:
    """Calls the method of the receiver's class: directly where the program has only one, otherwise through its slot."""
    lowering = m.lowering
    lowering.call_virtual(ref.owner, method)
    result = parse_method(method.descriptor)[1]
    widths = [64] if result == "V" else [64, WIDTHS[kind_of(result)]]
    first = m.fb.temp(*widths)
    lowering.emit_virtual(m.fb, m.part, ref.owner, method, arguments, first, widths)
    m.check_thrown(first)
    return None if result == "V" else reg(first + 1)


def pop_arguments(m: MethodLowering, descriptor: str) -> list[tuple[Operand, int]]:
    found = []
    for each in reversed(parse_method(descriptor)[0]):
        kind = kind_of(each)
        found.append((m.pop(kind), WIDTHS[kind]))
    return found[::-1]


def _invoke(m: MethodLowering, i: Instruction) -> int | None:
    ref = m.pool[i.args[0]] if i.args[0] < len(m.pool) else None
    if not isinstance(ref, MemberRef):
        raise ClassFormatError(f"{m.place}: expected a method at {i.pc}, found constant {i.args[0]}")
    arguments = pop_arguments(m, ref.descriptor)
    if i.op != STATIC:
        receiver = m.pop("A")
        m.check_null(receiver)
        arguments.insert(0, (receiver, 64))
    result = parse_method(ref.descriptor)[1]
    if ref.owner.startswith("[") and ref.name == "clone":
        value: Operand | None = reg(m.fb.call("jvm_clone", arguments, [64]))
    else:
        value = _call(m, i, ref, arguments)
    if m.fb.is_open and result != "V":
        assert value is not None
        m.push(value, kind_of(result))
    return None


def _call(m: MethodLowering, i: Instruction, ref: MemberRef, arguments: list[tuple[Operand, int]]) -> Operand | None:
    owner = OBJECT if ref.owner.startswith("[") else ref.owner
    method = m.world.find_method(owner, ref.name, ref.descriptor)
    if method is None:
        m.fb.unsupported(f"the method {ref.owner.replace('/', '.')}.{ref.name}{ref.descriptor}, which does not exist")
        return None
    if method.is_static != (i.op == STATIC):
        m.fb.unsupported(f"the method {ref.owner.replace('/', '.')}.{ref.name} with a changed `static`")
        return None
    if (owner, ref.name) == ("java/lang/Class", "getPrimitiveClass"):
        name = m.lowering.string_values.get((id(m.part), arguments[0][0]))
        if name in PRIMITIVES:
            return m.lowering.mirror(m.part, name)
    if (owner, ref.name, m.file.name) == ("java/lang/System", "nanoTime", "java/util/ImmutableCollections"):
        # The time decides an order there, which is counted where it is used.
        return integer(1)
    if owner.endswith("Math") and m.file.name in native_math.UNCOUNTED and ref.name in ("log", "log10"):
        m.lowering.needs_mathematics = True
        return reg(m.fb.call(ref.name, arguments, [64]))
    if i.op == STATIC:
        from partita.jvm.memory import initialise

        initialise(m, method.owner.name)
        return call_direct(m, method, arguments)
    if (owner, ref.name) == ("jdk/internal/misc/Unsafe", "objectFieldOffset") and len(arguments) == 3:
        offset = _field_offset(m, arguments[1][0], arguments[2][0])
        if offset is not None:
            return integer(offset)
    if i.op == SPECIAL:
        here = m.world.load(m.file.name)
        if ref.name != "<init>" and not ref.is_interface and here.parent and ref.owner in here.parent.supertypes:
            # A call of `super.name()` starts at the superclass, which may have a method of its own by now.
            method = m.world.find_method(here.parent.name, ref.name, ref.descriptor) or method
        return call_direct(m, method, arguments)
    known = m.world.load(owner)
    if method.access & (ACC_PRIVATE | ACC_FINAL) or (known.is_final and not known.is_interface):
        return call_direct(m, method, arguments)
    return call_virtual(m, MemberRef(owner, ref.name, ref.descriptor), method, arguments)


def _field_offset(m: MethodLowering, mirror: Operand, name: Operand) -> int | None:
    """Offset of a field whose class and name are constants, for `Unsafe`."""
    owner = m.lowering.mirror_names.get((id(m.part), mirror))
    field = m.lowering.string_values.get((id(m.part), name))
    if owner is None or field is None:
        return None
    return next((at for (each, _), at in m.world.load(owner).offsets.items() if each == field), None)


def _invoke_dynamic(m: MethodLowering, i: Instruction) -> int | None:
    from partita.jvm.dynamic import invoke

    return invoke(m, i)


OPERATIONS |= {VIRTUAL: _invoke, SPECIAL: _invoke, STATIC: _invoke, INTERFACE: _invoke, DYNAMIC: _invoke_dynamic}
