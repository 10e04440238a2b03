"""Objects and arrays: fields, elements, allocation, casts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from partita.jvm import native_input, natives
from partita.jvm.arith import Operation
from partita.jvm.classfile import ACC_STATIC, ClassFormatError, ClassRef, MemberRef
from partita.jvm.decode import Instruction
from partita.jvm.descriptors import SIZES, WIDTHS, descriptor_of, kind_of
from partita.jvm.world import ARRAY_DATA, ARRAY_LENGTH
from partita.llvm.write import Operand, constant_of, integer, reg

if TYPE_CHECKING:
    from partita.jvm.method import MethodLowering

OPERATIONS: dict[int, Operation] = {}
_PRIMITIVE_ARRAYS = {4: "[Z", 5: "[C", 6: "[F", 7: "[D", 8: "[B", 9: "[S", 10: "[I", 11: "[J"}
_ELEMENTS = "IJFDABCS"
"""Types of elements in the order of the instructions; B is byte or boolean."""


def load_typed(m: MethodLowering, descriptor: str, address: Operand) -> Operand:
    """Loads a field or element, extended to the width of its kind."""
    bits = 8 * SIZES[descriptor[0]]
    value = m.fb.load(bits, address)
    if bits >= WIDTHS[kind_of(descriptor)]:
        return value
    return m.fb.cast("zext" if descriptor in "CZ" else "sext", bits, 32, value)


def store_typed(m: MethodLowering, descriptor: str, value: Operand, address: Operand) -> None:
    bits = 8 * SIZES[descriptor[0]]
    if bits < 32:
        value = m.fb.cast("trunc", 32, bits, value)
    m.fb.store(bits, value, address)


def _member(m: MethodLowering, i: Instruction) -> MemberRef:
    found = m.pool[i.args[0]] if i.args[0] < len(m.pool) else None
    if not isinstance(found, MemberRef):
        raise ClassFormatError(f"{m.place}: expected a member at {i.pc}, found constant {i.args[0]}")
    return found


def class_at(m: MethodLowering, i: Instruction) -> str:
    found = m.pool[i.args[0]] if i.args[0] < len(m.pool) else None
    if not isinstance(found, ClassRef):
        raise ClassFormatError(f"{m.place}: expected a class at {i.pc}, found constant {i.args[0]}")
    return found.name


def initialise(m: MethodLowering, name: str) -> None:
    """Runs the static initialiser of a class if it has not run."""
    owner = m.world.load(name)
    if not m.lowering.needs_initialisation(owner) or m.lowering.is_initialised_in(owner, m.method):
        return
    if name in m.initialised:
        return
    fb = m.fb
    state = fb.load(32, m.lowering.statics(m.part, owner))
    ready = fb.compare("eq", 32, state, integer(1))
    start, after = fb.new_block(), fb.new_block()
    fb.branch(ready, after, start)
    fb.start(start)
    thrown = fb.call(m.lowering.initialiser(owner), [], [64])
    failed = fb.compare("ne", 64, reg(thrown), integer(0))
    handlers = m.handlers()
    target = m.cold(("landing",), handlers) if m.is_user else m.dispatch(handlers)
    fb.branch(failed, target, after, [(m.exception, reg(thrown))])
    fb.start(after)
    m.initialised.add(name)


def _static_field(m: MethodLowering, i: Instruction) -> None:
    ref = _member(m, i)
    found = m.world.find_field(ref.owner, ref.name, ref.descriptor)
    if found is None or not found[1].access & ACC_STATIC:
        m.fb.unsupported(f"the static field {ref.owner.replace('/', '.')}.{ref.name}, which does not exist")
        return
    owner, _ = found
    kind = kind_of(ref.descriptor)
    replaced = m.lowering.static_object(m.part, owner, ref.name)
    if replaced is not None and i.op == 178:
        if (owner.name, ref.name) == ("java/lang/System", "in"):
            m.fb.call(native_input.standard_input(m.lowering), [], [])
        m.push(replaced, kind)
        return
    if m.lowering.is_replaced(owner) and not found[1].constant:
        m.fb.unsupported(f"the static field {owner.name.replace('/', '.')}.{ref.name}")
        return
    initialise(m, owner.name)
    why = natives.COUNTED_FIELDS.get((owner.name, ref.name))
    if why is not None and i.op == 178 and m.method.name != "<clinit>":
        m.fb.call("__partita_incomplete", [(m.part.text(why), 64)], [])
    address = m.lowering.statics(m.part, owner, owner.offsets[ref.name, ref.descriptor])
    if i.op == 178:
        m.push(load_typed(m, ref.descriptor, address), kind)
    else:
        store_typed(m, ref.descriptor, m.pop(kind), address)


def _field(m: MethodLowering, i: Instruction) -> None:
    ref = _member(m, i)
    kind = kind_of(ref.descriptor)
    value = m.pop(kind) if i.op == 181 else None
    target = m.pop("A")
    m.check_null(target)
    found = m.world.find_field(ref.owner, ref.name, ref.descriptor)
    if found is None or found[1].access & ACC_STATIC:
        m.fb.unsupported(f"the field {ref.owner.replace('/', '.')}.{ref.name}, which does not exist")
        return
    address = m.fb.offset(target, found[0].offsets[ref.name, ref.descriptor])
    if value is None:
        m.push(load_typed(m, ref.descriptor, address), kind)
    else:
        store_typed(m, ref.descriptor, value, address)


def length_of(m: MethodLowering, array: Operand) -> Operand:
    """Length of an array that is not null: it never changes, so one load is enough."""
    register = array[0] >> 3 if array[0] & 7 == 0 else None
    if register is not None and register in m.lengths:
        return m.lengths[register]
    length = m.fb.load(32, m.fb.offset(array, ARRAY_LENGTH))
    if register is not None:
        kept = m.length_register(register)
        if kept is not None:
            # Loaded before a loop, it serves in the loop.
            m.keep(kept)
            m.fb.redirect(length, kept)
            length = reg(kept)
        m.lengths[register] = length
    return length


def element_address(m: MethodLowering, array: Operand, index: Operand, size: int) -> Operand:
    m.check_null(array)
    length = length_of(m, array)
    outside = m.fb.compare("uge", 32, index, length)
    m.throw_if(outside, "java/lang/ArrayIndexOutOfBoundsException", index, length)
    known = constant_of(index)
    if known is not None:
        return m.fb.offset(array, ARRAY_DATA + known * size)
    return m.fb.offset(array, ARRAY_DATA, (index, 32, size))


def _load_element(m: MethodLowering, i: Instruction) -> None:
    element = _ELEMENTS[i.op - 46]
    index, array = m.pop("I"), m.pop("A")
    kind = element if element in "IJFDA" else "I"
    descriptor = "L" if element == "A" else element
    m.push(load_typed(m, descriptor, element_address(m, array, index, SIZES[descriptor])), kind)


def _store_element(m: MethodLowering, i: Instruction) -> None:
    element = _ELEMENTS[i.op - 79]
    kind = element if element in "IJFDA" else "I"
    value, index, array = m.pop(kind), m.pop("I"), m.pop("A")
    descriptor = "L" if element == "A" else element
    address = element_address(m, array, index, SIZES[descriptor])
    if element == "A" and constant_of(value) != 0:
        _check_store(m, array, value)
    store_typed(m, descriptor, value, address)


def _check_store(m: MethodLowering, array: Operand, value: Operand) -> None:
    """Throws an ArrayStoreException if the array cannot have the object as an element."""
    fb = m.fb
    test, after = fb.new_block(), fb.new_block()
    element = fb.load(64, fb.offset(fb.load(64, array), 8))
    slot = fb.load(64, fb.offset(element, 40))
    # Slot 0: every object is an Object.
    any_object = fb.compare("eq", 64, slot, integer(0))
    is_null = fb.compare("eq", 64, value, integer(0))
    fb.branch(fb.binary("or", 1, any_object, is_null), after, test)
    fb.start(test)
    flag = fb.load(64, fb.offset(fb.load(64, value), 0, (slot, 64, 1)))
    m.throw_if(fb.compare("eq", 64, flag, integer(0)), "java/lang/ArrayStoreException")
    fb.jump(after)
    fb.start(after)


def new_object(m: MethodLowering, name: str) -> Operand:
    """Allocates an object of a class; its fields are zero."""
    owner = m.world.load(name)
    m.lowering.instantiate(owner)
    made = reg(m.fb.call("calloc", [(integer(1), 64), (integer(owner.size), 64)], [64]))
    m.fb.store(64, m.lowering.descriptor(m.part, name), made)
    m.is_nonnull(made)
    return made


def _new(m: MethodLowering, i: Instruction) -> None:
    name = class_at(m, i)
    owner = m.world.load(name)
    if owner.is_abstract or owner.is_interface:
        m.fb.unsupported(f"an object of the abstract class {name.replace('/', '.')}")
        return
    initialise(m, name)
    m.push(new_object(m, name), "A")


def new_array(m: MethodLowering, name: str, length: Operand) -> Operand:
    """Allocates an array; throws if its length is negative."""
    fb = m.fb
    known = constant_of(length)
    if known is None or known >> 31:
        m.throw_if(fb.compare("slt", 32, length, integer(0)), "java/lang/NegativeArraySizeException", length)
    m.lowering.instantiate(m.world.load(name))
    length = _chosen_length(m, length)
    scale = m.world.element_size(name)
    size = fb.cast("zext", 32, 64, length)
    size = fb.binary("add", 64, fb.binary("mul", 64, size, integer(scale)), integer(ARRAY_DATA))
    made = reg(fb.call("calloc", [(integer(1), 64), (size, 64)], [64]))
    fb.store(64, m.lowering.descriptor(m.part, name), made)
    fb.store(32, length, fb.offset(made, ARRAY_LENGTH))
    m.is_nonnull(made)
    if known is not None:
        m.lengths[made[0] >> 3] = length
    return made


def _chosen_length(m: MethodLowering, length: Operand) -> Operand:
    """In the user's code, short arrays are explored first if the length is symbolic."""
    if constant_of(length) is not None or not m.is_user:
        return length
    return reg(m.fb.call("jvm_length", [(length, 32)], [32]))


def _new_array(m: MethodLowering, i: Instruction) -> None:
    if i.op == 188:
        if i.args[0] not in _PRIMITIVE_ARRAYS:
            raise ClassFormatError(f"{m.place}: an array at {i.pc} of the unknown type {i.args[0]}")
        name = _PRIMITIVE_ARRAYS[i.args[0]]
    else:
        name = "[" + descriptor_of(class_at(m, i))
    m.world.load(name)
    m.push(new_array(m, name, m.pop("I")), "A")


def _multi_array(m: MethodLowering, i: Instruction) -> None:
    """Arrays of arrays: the outer ones are filled by a loop in a helper function for each number of dimensions."""
    name, count = class_at(m, i), i.args[1]
    if not 1 <= count <= len(name) - len(name.lstrip("[")):
        raise ClassFormatError(f"{m.place}: an array at {i.pc} with {count} dimensions")
    lengths = [m.pop("I") for _ in range(count)][::-1]
    for length in lengths:
        known = constant_of(length)
        if known is None or known >> 31:
            m.throw_if(m.fb.compare("slt", 32, length, integer(0)), "java/lang/NegativeArraySizeException", length)
    maker = m.lowering.array_maker(name, count)
    made = reg(m.fb.call(maker, [(_chosen_length(m, length), 32) for length in lengths], [64]))
    m.is_nonnull(made)
    m.push(made, "A")


def _array_length(m: MethodLowering, i: Instruction) -> None:
    array = m.pop("A")
    m.check_null(array)
    m.push(length_of(m, array), "I")


def _check_cast(m: MethodLowering, i: Instruction) -> None:
    fb = m.fb
    name = class_at(m, i)
    value = m.pop("A")
    if name == "java/lang/Object" or constant_of(value) == 0:
        m.push(value, "A")
        return
    if not m.lowering.exists(name):
        m.fb.unsupported(f"the class {name.replace('/', '.')}, which is nowhere on the class path")
        return
    if value[0] & 7 == 0 and value[0] >> 3 in m.nonnull:
        m.throw_if(_not(m, m.instance_test(value, name)), "java/lang/ClassCastException")
    else:
        test, after = fb.new_block(), fb.new_block()
        fb.branch(fb.compare("eq", 64, value, integer(0)), after, test)
        fb.start(test)
        m.throw_if(_not(m, m.instance_test(value, name)), "java/lang/ClassCastException")
        fb.jump(after)
        fb.start(after)
    m.push(value, "A")


def _not(m: MethodLowering, condition: Operand) -> Operand:
    return m.fb.binary("xor", 1, condition, integer(1))


def _instance_of(m: MethodLowering, i: Instruction) -> None:
    fb = m.fb
    name = class_at(m, i)
    value = m.pop("A")
    if not m.lowering.exists(name):
        m.fb.unsupported(f"the class {name.replace('/', '.')}, which is nowhere on the class path")
        return
    result = fb.new_reg(32)
    m.keep(result)
    test, after = fb.new_block(), fb.new_block()
    fb.branch(fb.compare("eq", 64, value, integer(0)), after, test, [(result, integer(0))])
    fb.start(test)
    found = fb.cast("zext", 1, 32, m.instance_test(value, name))
    fb.jump(after, [(result, found)])
    fb.start(after)
    m.push(reg(result), "I")


OPERATIONS |= {178: _static_field, 179: _static_field, 180: _field, 181: _field}
OPERATIONS |= dict.fromkeys(range(46, 54), _load_element)
OPERATIONS |= dict.fromkeys(range(79, 87), _store_element)
OPERATIONS |= {187: _new, 188: _new_array, 189: _new_array, 197: _multi_array, 190: _array_length}
OPERATIONS |= {192: _check_cast, 193: _instance_of}
