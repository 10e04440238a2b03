"""`java.lang.Class`, the constants of enum classes, and arrays made by their class."""

from __future__ import annotations

from partita.jvm.descriptor import ENUM_VALUES, FLAG_INTERFACE, FLAG_PRIMITIVE, FLAG_USER, SIMPLE_NAME
from partita.jvm.natives import TABLE, Body, Native, mirror_size, native
from partita.jvm.world import ARRAY_DATA, ARRAY_LENGTH
from partita.llvm.write import Operand, integer, reg

_CLASS = "java/lang/Class"
_STRING = "java/lang/String"


def descriptor_of_mirror(b: Body, mirror: Operand) -> Operand:
    """Descriptor of the class that a `Class` object, which is not null, stands for."""
    return b.fb.load(64, b.fb.offset(mirror, mirror_size(b.lowering) - 8))


def _own(b: Body) -> Operand:
    return descriptor_of_mirror(b, b.args[0])


def _has_flag(flag: int) -> Native:
    def function(b: Body) -> None:
        flags = b.fb.load(32, b.fb.offset(_own(b), 60))
        found = b.fb.compare("ne", 32, b.fb.binary("and", 32, flags, integer(flag)), integer(0))
        b.ret(b.fb.cast("zext", 1, 32, found))

    return function


TABLE[f"{_CLASS}.desiredAssertionStatus()Z"] = _has_flag(FLAG_USER)
TABLE[f"{_CLASS}.isInterface()Z"] = _has_flag(FLAG_INTERFACE)
TABLE[f"{_CLASS}.isPrimitive()Z"] = _has_flag(FLAG_PRIMITIVE)
TABLE[f"{_CLASS}.isArray()Z"] = lambda b: b.ret(
    b.fb.cast("zext", 1, 32, b.fb.compare("ne", 32, b.fb.load(32, b.fb.offset(_own(b), 4)), integer(0)))
)


@native(f"{_CLASS}.isInstance(Ljava/lang/Object;)Z")
def _is_instance(b: Body) -> None:
    b.lowering.test_all = True
    b.ret(reg(b.fb.call("jvm_is_instance", [(b.args[1], 64), (_own(b), 64)], [32])))


@native(f"{_CLASS}.isAssignableFrom(Ljava/lang/Class;)Z")
def _is_assignable(b: Body) -> None:
    b.lowering.test_all = True
    b.throw_if(b.fb.compare("eq", 64, b.args[1], integer(0)), "java/lang/NullPointerException")
    other = descriptor_of_mirror(b, b.args[1])
    b.ret(reg(b.fb.call("jvm_is_assignable", [(other, 64), (_own(b), 64)], [32])))


@native(f"{_CLASS}.cast(Ljava/lang/Object;)Ljava/lang/Object;")
def _cast(b: Body) -> None:
    fb = b.fb
    b.lowering.test_all = True
    test, done = fb.new_block(), fb.new_block()
    fb.branch(fb.compare("eq", 64, b.args[1], integer(0)), done, test)
    fb.start(test)
    fits = reg(fb.call("jvm_is_instance", [(b.args[1], 64), (_own(b), 64)], [32]))
    b.throw_if(fb.compare("eq", 32, fits, integer(0)), "java/lang/ClassCastException")
    fb.jump(done)
    fb.start(done)
    b.ret(b.args[1])


@native(f"{_CLASS}.getSuperclass()Ljava/lang/Class;")
def _superclass(b: Body) -> None:
    b.lowering.mirror_all = True
    b.ret(reg(b.fb.call("jvm_superclass", [(_own(b), 64)], [64])))


def text_arguments(b: Body) -> list[tuple[Operand, int]]:
    """Last arguments of the functions in C that make strings."""
    b.lowering.string(b.lowering.library, "")
    string, data = b.lowering.descriptor(b.fb.part, _STRING), b.lowering.descriptor(b.fb.part, "[B")
    return [(string, 64), (data, 64), (integer(b.field(_STRING, "value", "[B")), 32)]


def _name(at: int) -> Native:
    def function(b: Body) -> None:
        name = b.fb.load(64, b.fb.offset(_own(b), at))
        b.ret(reg(b.fb.call("jvm_text", [(name, 64), *text_arguments(b)], [64])))

    return function


TABLE[f"{_CLASS}.getName()Ljava/lang/String;"] = _name(24)
TABLE[f"{_CLASS}.getSimpleName()Ljava/lang/String;"] = _name(SIMPLE_NAME)


@native(f"{_CLASS}.toString()Ljava/lang/String;")
def _to_string(b: Body) -> None:
    arguments = text_arguments(b)
    b.ret(reg(b.fb.call("jvm_class_text", [(_own(b), 64), *arguments], [64])))


# Constants of enum classes: descriptors have the address of a function that returns them


def _values(b: Body, mirror: Operand) -> Operand:
    """The array of the constants of the enum class that a `Class` object stands for; null for other classes."""
    fb = b.fb
    b.lowering.enum_values = True
    function = fb.load(64, fb.offset(descriptor_of_mirror(b, mirror), ENUM_VALUES))
    result = fb.new_reg(64)
    some, end = fb.new_block(), fb.new_block()
    fb.branch(fb.compare("eq", 64, function, integer(0)), end, some, [(result, integer(0))])
    fb.start(some)
    first = fb.call(function, [], [64, 64])
    bad, after = fb.new_block(), fb.new_block()
    fb.branch(fb.compare("ne", 64, reg(first), integer(0)), bad, after)
    fb.start(bad)
    b.throw(reg(first))
    fb.start(after)
    fb.jump(end, [(result, reg(first + 1))])
    fb.start(end)
    return reg(result)


@native(
    "java/util/EnumMap.getKeyUniverse(Ljava/lang/Class;)[Ljava/lang/Enum;",
    "java/util/EnumSet.getUniverse(Ljava/lang/Class;)[Ljava/lang/Enum;",
    f"{_CLASS}.getEnumConstants()[Ljava/lang/Object;",
    f"{_CLASS}.getEnumConstantsShared()[Ljava/lang/Object;",
)
def _universe(b: Body) -> None:
    b.throw_if(b.fb.compare("eq", 64, b.args[0], integer(0)), "java/lang/NullPointerException")
    b.ret(_values(b, b.args[0]))


@native("java/lang/Enum.valueOf(Ljava/lang/Class;Ljava/lang/String;)Ljava/lang/Enum;")
def _value_of(b: Body) -> None:
    fb = b.fb
    mirror, wanted = b.args
    for each in b.args:
        b.throw_if(fb.compare("eq", 64, each, integer(0)), "java/lang/NullPointerException")
    values = _values(b, mirror)
    b.throw_if(fb.compare("eq", 64, values, integer(0)), "java/lang/IllegalArgumentException")
    index = fb.new_reg(32)
    head, body, found, next_, missing = (fb.new_block() for _ in range(5))
    fb.jump(head, [(index, integer(0))])
    fb.start(head)
    length = fb.load(32, fb.offset(values, ARRAY_LENGTH))
    fb.branch(fb.compare("slt", 32, reg(index), length), body, missing)
    fb.start(body)
    each = fb.load(64, fb.offset(values, ARRAY_DATA, (reg(index), 32, 8)))
    name = fb.load(64, fb.offset(each, b.field("java/lang/Enum", "name", "Ljava/lang/String;")))
    same = b.java(_STRING, "equals", "(Ljava/lang/Object;)Z", name, wanted)
    fb.branch(fb.compare("ne", 32, same, integer(0)), found, next_)
    fb.start(found)
    b.ret(each)
    fb.start(next_)
    fb.jump(head, [(index, fb.binary("add", 32, reg(index), integer(1)))])
    fb.start(missing)
    join = "(Ljava/lang/String;)Ljava/lang/String;"
    owner = fb.load(64, fb.offset(descriptor_of_mirror(b, mirror), 24))
    text = reg(fb.call("jvm_canonical", [(owner, 64), *text_arguments(b)], [64]))
    text = b.java(_STRING, "concat", join, b.lowering.string(fb.part, "No enum constant "), text)
    text = b.java(_STRING, "concat", join, text, b.lowering.string(fb.part, "."))
    text = b.java(_STRING, "concat", join, text, wanted)
    exception = reg(fb.call(b.lowering.exception_maker("java/lang/IllegalArgumentException", 0), [], [64]))
    at = b.field("java/lang/Throwable", "detailMessage", "Ljava/lang/String;")
    fb.store(64, text, fb.offset(exception, at))
    b.throw(exception)


# Arrays of the class of another array


def _copy(b: Body, array: Operand, start: Operand, length: Operand, mirror: Operand) -> None:
    """A new array of a class with elements of another one from an index on, as far as there are any."""
    fb = b.fb
    b.throw_if(fb.compare("slt", 32, length, integer(0)), "java/lang/NegativeArraySizeException")
    made = reg(fb.call("jvm_new_array", [(descriptor_of_mirror(b, mirror), 64), (length, 32)], [64]))
    left = fb.binary("sub", 32, fb.load(32, fb.offset(array, ARRAY_LENGTH)), start)
    count = fb.select(32, fb.compare("slt", 32, left, length), left, length)
    arguments = [(array, 64), (start, 32), (made, 64), (integer(0), 32), (count, 32)]
    failed = reg(fb.call("jvm_arraycopy", arguments, [32]))
    b.throw_if(fb.compare("ne", 32, failed, integer(0)), "java/lang/ArrayStoreException")
    b.ret(made)


@native("java/util/Arrays.copyOf([Ljava/lang/Object;ILjava/lang/Class;)[Ljava/lang/Object;")
def _copy_of(b: Body) -> None:
    array, length, mirror = b.args
    b.throw_if(b.fb.compare("slt", 32, length, integer(0)), "java/lang/NegativeArraySizeException")
    b.throw_if(b.fb.compare("eq", 64, array, integer(0)), "java/lang/NullPointerException")
    _copy(b, array, integer(0), length, mirror)


@native("java/util/Arrays.copyOfRange([Ljava/lang/Object;IILjava/lang/Class;)[Ljava/lang/Object;")
def _copy_of_range(b: Body) -> None:
    fb = b.fb
    array, start, end, mirror = b.args
    b.throw_if(fb.compare("sgt", 32, start, end), "java/lang/IllegalArgumentException")
    b.throw_if(fb.compare("eq", 64, array, integer(0)), "java/lang/NullPointerException")
    length = fb.load(32, fb.offset(array, ARRAY_LENGTH))
    outside = fb.compare("ugt", 32, start, length)
    b.throw_if(outside, "java/lang/ArrayIndexOutOfBoundsException")
    _copy(b, array, start, fb.binary("sub", 32, end, start), mirror)
