"""Dynamic calls: string concatenation, lambdas and method references, methods of records.

Other bootstrap methods end the path by name.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from partita.jvm.calls import call_direct, pop_arguments
from partita.jvm.classfile import (
    ClassFormatError,
    ClassRef,
    Dynamic,
    MemberRef,
    MethodHandle,
    MethodType,
    Number,
    StringConst,
)
from partita.jvm.decode import Instruction
from partita.jvm.descriptors import WIDTHS, class_of, kind_of, parse_method
from partita.jvm.memory import new_object
from partita.jvm.synthetic import appended, lambda_class, record_class
from partita.llvm.write import Operand, reg

if TYPE_CHECKING:
    from partita.jvm.method import MethodLowering

_BUILDER = "java/lang/StringBuilder"
_CONCAT = "java/lang/invoke/StringConcatFactory"
_LAMBDA = "java/lang/invoke/LambdaMetafactory"
_RECORD = "java/lang/runtime/ObjectMethods"
Piece = tuple[Operand, str]


def invoke(m: MethodLowering, i: Instruction) -> int | None:
    site = m.pool[i.args[0]] if i.args[0] < len(m.pool) else None
    if not isinstance(site, Dynamic) or site.bootstrap >= len(m.file.bootstraps):
        raise ClassFormatError(f"{m.place}: expected a dynamic call at {i.pc}, found constant {i.args[0]}")
    handle, arguments = m.file.bootstraps[site.bootstrap]
    owner, name = handle.member.owner, handle.member.name
    if owner == _CONCAT and name in ("makeConcatWithConstants", "makeConcat"):
        return _concatenate(m, i, site, arguments)
    if owner == _LAMBDA and name in ("metafactory", "altMetafactory"):
        _lambda(m, site, arguments, name)
    elif owner == _RECORD:
        _record(m, site, arguments)
    else:
        m.fb.unsupported(f"a dynamic call of {owner.replace('/', '.')}.{name} in {m.place}")
    return None


def _concatenate(m: MethodLowering, i: Instruction, site: Dynamic, arguments: list[Any]) -> int | None:
    parameters, _ = parse_method(site.descriptor)
    values = [(value, kind) for (value, _), kind in zip(pop_arguments(m, site.descriptor), parameters, strict=True)]
    recipe = "\1" * len(values)
    constants = list(arguments)
    if site.name == "makeConcatWithConstants" and constants and isinstance(constants[0], StringConst):
        recipe = constants.pop(0).value
    pieces: list[Piece] = []
    text = ""

    def end_text() -> None:
        nonlocal text
        if text:
            pieces.append((m.lowering.string(m.part, text), "Ljava/lang/String;"))
        text = ""

    todo = iter(values)
    for letter in recipe:
        if letter == "\1":
            end_text()
            pieces.append(next(todo))
        elif letter == "\2":
            found = constants.pop(0)
            if isinstance(found, StringConst):
                text += found.value
            elif isinstance(found, Number) and found.kind == "I":
                text += str(found.bits - (found.bits >> 31 << 32))
            else:
                m.fb.unsupported(f"a constant of a string concatenation in {m.place}")
                return None
        else:
            text += letter
    end_text()
    if _is_printed(m, i):
        _print(m, pieces)
        return 1
    m.push(_build(m, pieces), "A")
    return None


def _is_printed(m: MethodLowering, i: Instruction) -> bool:
    """Is the string only printed? Then its parts are, and symbolic numbers need no fork for each number of digits."""
    at = m.index[i.pc] + 1
    if at >= len(m.instructions) or m.instructions[at].pc in m.starts or m.instructions[at].op != 182:
        return False
    ref = m.pool[m.instructions[at].args[0]]
    return (
        isinstance(ref, MemberRef)
        and (ref.owner, ref.descriptor) == ("java/io/PrintStream", "(Ljava/lang/String;)V")
        and ref.name in ("print", "println")
    )


def _print(m: MethodLowering, pieces: list[Piece]) -> None:
    following = m.instructions[m.index[m.pc] + 1]
    ref = m.pool[following.args[0]]
    stream = m.pop("A")
    shown: list[Piece] = []
    for value, kind in pieces:
        if kind[0] in "L[" and kind != "Ljava/lang/String;":
            method = m.world.find_method("java/lang/String", "valueOf", "(Ljava/lang/Object;)Ljava/lang/String;")
            assert method is not None
            text = call_direct(m, method, [(value, 64)])
            assert text is not None
            value, kind = text, "Ljava/lang/String;"
        shown.append((value, kind))
    m.check_null(stream)
    for value, kind in shown:
        kind = "I" if kind in "BS" else kind
        method = m.world.find_method("java/io/PrintStream", "print", f"({kind})V")
        assert method is not None
        call_direct(m, method, [(stream, 64), (value, WIDTHS[kind_of(kind)])])
    if ref.name == "println":
        method = m.world.find_method("java/io/PrintStream", "println", "()V")
        assert method is not None
        call_direct(m, method, [(stream, 64)])


def _build(m: MethodLowering, pieces: list[Piece]) -> Operand:
    def call(name: str, descriptor: str, *values: tuple[Operand, int]) -> Operand | None:
        method = m.world.find_method(_BUILDER, name, descriptor)
        assert method is not None
        return call_direct(m, method, list(values))

    builder = reg(m.fb.new_reg(64))
    m.fb.copy(builder[0] >> 3, new_object(m, _BUILDER))
    call("<init>", "()V", (builder, 64))
    for value, kind in pieces:
        wanted = appended(kind)
        call("append", f"({wanted})Ljava/lang/StringBuilder;", (builder, 64), (value, WIDTHS[kind_of(wanted)]))
    made = call("toString", "()Ljava/lang/String;", (builder, 64))
    assert made is not None
    m.is_nonnull(made)
    return made


def _lambda(m: MethodLowering, site: Dynamic, arguments: list[Any], factory: str) -> None:
    if len(arguments) < 3:
        raise ClassFormatError(f"{m.place}: a lambda at {m.pc} has too few arguments")
    erased, handle, instantiated = arguments[:3]
    if not (
        isinstance(erased, MethodType) and isinstance(handle, MethodHandle) and isinstance(instantiated, MethodType)
    ):
        raise ClassFormatError(f"{m.place}: a lambda at {m.pc} has wrong arguments")
    markers: list[str] = []
    methods = [(site.name, erased.descriptor)]
    if factory == "altMetafactory" and len(arguments) > 3:
        flags = arguments[3].bits
        rest = arguments[4:]
        if flags & 2:
            count = rest.pop(0).bits
            markers = [each.name for each in rest[:count] if isinstance(each, ClassRef)]
            rest = rest[count:]
        if flags & 4:
            count = rest.pop(0).bits
            methods += [(site.name, each.descriptor) for each in rest[:count] if isinstance(each, MethodType)]
    captured, result = parse_method(site.descriptor)
    number = m.lowering.next_synthetic()
    name = f"{m.file.name}$$Lambda${number}"
    made = lambda_class(
        name, class_of(result), markers, list(captured), methods, instantiated.descriptor, handle.kind,
        handle.member, m.file.source,
    )  # fmt: skip
    owner = m.world.add(made, False)
    values = pop_arguments(m, site.descriptor)
    target = reg(m.fb.new_reg(64))
    m.fb.copy(target[0] >> 3, new_object(m, name))
    for n, ((value, width), descriptor) in enumerate(zip(values, captured, strict=True)):
        from partita.jvm.memory import store_typed

        if n == 0 and handle.kind in (5, 7, 9) and descriptor[0] == "L":
            m.check_null(value)
        del width
        store_typed(m, descriptor, value, m.fb.offset(target, owner.offsets[f"captured{n}", descriptor]))
    m.is_nonnull(target)
    m.push(target, "A")


def _record(m: MethodLowering, site: Dynamic, arguments: list[Any]) -> None:
    if len(arguments) < 2 or not isinstance(arguments[0], ClassRef):
        raise ClassFormatError(f"{m.place}: the methods of a record at {m.pc} have wrong arguments")
    record = arguments[0].name
    name = f"{record}$$Record"
    owner = m.world.classes.get(name)
    if owner is None:
        fields = [
            (each.member.name, each.member.descriptor) for each in arguments[2:] if isinstance(each, MethodHandle)
        ]
        owner = m.world.add(record_class(name, record, fields), False)
    method = owner.methods[site.name, site.descriptor]
    value = call_direct(m, method, pop_arguments(m, site.descriptor))
    assert value is not None
    m.push(value, kind_of(parse_method(site.descriptor)[1]))
