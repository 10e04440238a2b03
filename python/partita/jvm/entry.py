"""The function `main` of the Program: initialises the class, calls the entry method, reports an uncaught exception."""

from __future__ import annotations

from typing import TYPE_CHECKING

from partita.errors import UsageError
from partita.jvm.builder import FunctionBuilder
from partita.jvm.classfile import ACC_STATIC, Method
from partita.jvm.descriptors import WIDTHS, kind_of, parse_method, readable
from partita.jvm.native_class import text_arguments
from partita.jvm.natives import Body
from partita.jvm.symbolic import make_string, make_value
from partita.jvm.world import World
from partita.llvm.write import CALL, TOP, Operand, integer, reg

if TYPE_CHECKING:
    from partita.jvm.program import Lowering

MAIN = "([Ljava/lang/String;)V"


def find_entry(world: World, name: str, method: str) -> Method:
    """The method to start from. A name without a descriptor must be that of one method only."""
    owner = world.load(name)
    wanted, _, descriptor = method.partition("(")
    found = [
        each
        for each in owner.methods.values()
        if each.name == wanted and (not descriptor or each.descriptor == f"({descriptor}")
    ]
    if method == "main":
        mains = [each for each in found if each.descriptor == MAIN and each.access & ACC_STATIC]
        found = mains or found
    if not found:
        hint = "" if method != "main" else ": name another method with --entry Class.method"
        raise UsageError(f"expected a method `{method}` in the class `{readable(name)}`, found none{hint}")
    if len(found) > 1:
        names = ", ".join(f"{wanted}{each.descriptor}" for each in found)
        raise UsageError(
            f"expected one method `{method}` in `{readable(name)}`, found {len(found)}: write one of {names}"
        )
    if found[0].code is None:
        raise UsageError(
            f"expected a method with a body, found `{readable(name)}.{method}`, which is abstract or native"
        )
    return found[0]


def build_main(lowering: Lowering, entry: Method, symbolic: bool) -> None:
    fb = FunctionBuilder(lowering.user, "main", [32, 64], [32])
    b = Body(lowering, fb, None, 2)
    owner = lowering.world.load(entry.owner.name)
    failed, done = fb.new_block(), fb.new_block()
    thrown = fb.new_reg(64)

    def check(first: int) -> None:
        after = fb.new_block()
        fb.branch(fb.compare("ne", 64, reg(first), integer(0)), failed, after, [(thrown, reg(first))])
        fb.start(after)

    # The virtual machine's stack has another size than ours: deep recursion is a limit.
    fb.call("__partita_stack_is_limit", [], [])
    # Recursion without end is a bug, if nothing can catch the error.
    number = lowering.user.function("__partita_repetition_is_bug", [], [])
    fb.later(lambda: [] if lowering.catches_errors else [[CALL, TOP, 0, number, 0]])
    # Literals are String objects that exist before any code runs, so that their class must be ready first.
    check(fb.call(lowering.initialiser(lowering.world.load("java/lang/String")), [], [64]))
    if lowering.needs_initialisation(owner):
        check(fb.call(lowering.initialiser(owner), [], [64]))
    arguments: list[tuple[Operand, int]] = []
    if not entry.is_static:
        arguments.append((_receiver(b, owner.name, check), 64))
    for descriptor in parse_method(entry.descriptor)[0]:
        arguments.append((_argument(b, descriptor, symbolic), WIDTHS[kind_of(descriptor)]))
    lowering.need(entry)
    result = parse_method(entry.descriptor)[1]
    results = [64] if result == "V" else [64, WIDTHS[kind_of(result)]]
    check(fb.call(lowering.function_name(entry), arguments, results))
    fb.jump(done)
    fb.start(done)
    fb.ret(integer(0))
    fb.start(failed)
    message = fb.load(64, fb.offset(reg(thrown), b.field("java/lang/Throwable", "detailMessage", "Ljava/lang/String;")))
    some, report = fb.new_block(), fb.new_block()
    value, coder = fb.new_reg(64), fb.new_reg(8)
    empty = [(value, integer(0)), (coder, integer(0))]
    fb.branch(fb.compare("eq", 64, message, integer(0)), report, some, empty)
    fb.start(some)
    text, kind = b.string_parts(message)
    fb.jump(report, [(value, text), (coder, kind)])
    fb.start(report)
    fb.call("jvm_uncaught", [(reg(thrown), 64), (reg(value), 64), (reg(coder), 8)], [])
    fb.ret(integer(1))
    lowering.builders.append(fb)


def _receiver(b: Body, name: str, check) -> Operand:  # type: ignore[no-untyped-def]
    """An object made by the constructor without arguments."""
    lowering = b.lowering
    owner = lowering.world.load(name)
    constructor = owner.methods.get(("<init>", "()V"))
    if constructor is None or owner.is_abstract:
        raise UsageError(f"expected a static entry method, or a constructor of `{readable(name)}` without arguments")
    lowering.instantiate(owner)
    lowering.need(constructor)
    kept = b.fb.new_reg(64)
    b.fb.copy(kept, reg(b.fb.call("calloc", [(integer(1), 64), (integer(owner.size), 64)], [64])))
    b.fb.store(64, lowering.descriptor(b.fb.part, name), reg(kept))
    check(b.fb.call(lowering.function_name(constructor), [(reg(kept), 64)], [64]))
    return reg(kept)


def _argument(b: Body, descriptor: str, symbolic: bool) -> Operand:
    fb = b.fb
    kept = fb.new_reg(WIDTHS[kind_of(descriptor)])
    if descriptor == "[Ljava/lang/String;":
        b.lowering.instantiate(b.lowering.world.load(descriptor))
        kind = b.lowering.descriptor(fb.part, descriptor)
        value = reg(fb.call("jvm_arguments", [(b.args[0], 32), (b.args[1], 64), (kind, 64), *text_arguments(b)], [64]))
    elif not symbolic:
        raise UsageError("expected --symbolic-args for an entry method with parameters")
    elif descriptor == "Ljava/lang/String;":
        value = make_string(b)
    elif kind_of(descriptor) != "A":
        value = make_value(b, descriptor)
    else:
        raise UsageError(
            f"expected parameters of primitive types and strings for --symbolic-args, found {readable(descriptor)}"
        )
    fb.copy(kept, value)
    return reg(kept)
