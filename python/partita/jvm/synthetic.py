"""Classes that the virtual machine would make at run time, written as bytecode and lowered like any other."""

from __future__ import annotations

import struct
from typing import Any

from partita.jvm.classfile import (
    ACC_FINAL,
    ACC_STATIC,
    ClassFile,
    ClassRef,
    Code,
    Field,
    MemberRef,
    Method,
    StringConst,
)
from partita.jvm.descriptors import kind_of, parse_method
from partita.jvm.world import OBJECT

_KINDS = "IJFDA"
WRAPPERS = {
    "Z": "java/lang/Boolean", "B": "java/lang/Byte", "C": "java/lang/Character", "S": "java/lang/Short",
    "I": "java/lang/Integer", "J": "java/lang/Long", "F": "java/lang/Float", "D": "java/lang/Double",
}  # fmt: skip
_PRIMITIVES = {name: letter for letter, name in WRAPPERS.items()}
_VALUE_METHODS = {
    "Z": "booleanValue", "B": "byteValue", "C": "charValue", "S": "shortValue", "I": "intValue", "J": "longValue",
    "F": "floatValue", "D": "doubleValue",
}  # fmt: skip


class Assembler:
    """Writes the code of a method."""

    def __init__(self, pool: list[Any]) -> None:
        self.pool = pool
        self.code = bytearray()
        self.slots = 0

    def constant(self, value: Any) -> int:
        self.pool.append(value)
        return len(self.pool) - 1

    def op(self, code: int, *operands: int) -> None:
        self.code.append(code)
        self.code += bytes(operands)

    def with_constant(self, code: int, value: Any) -> None:
        self.code.append(code)
        self.code += struct.pack(">H", self.constant(value))

    def load(self, descriptor: str, slot: int) -> int:
        """Pushes a local variable; the next slot."""
        self.op(21 + _KINDS.index(kind_of(descriptor)), slot)
        return slot + (2 if kind_of(descriptor) in "JD" else 1)

    def ret(self, descriptor: str) -> None:
        self.op(177 if descriptor == "V" else 172 + _KINDS.index(kind_of(descriptor)))

    def call(self, code: int, owner: str, name: str, descriptor: str) -> None:
        self.with_constant(code, MemberRef(owner, name, descriptor, code == 185))
        if code == 185:
            self.code += b"\1\0"

    def convert(self, source: str, target: str) -> None:
        """Adapts the top of the stack: casts, boxing, unboxing, widening, as method handles do (`asType`)."""
        if target == "V" or source == target:
            if target == "V" and source != "V":
                self.op(88 if source in "JD" else 87)
            return
        if source == "V":
            self.op(1)
        elif source[0] not in "L[" and target[0] not in "L[":
            self._widen(source, target)
        elif source[0] not in "L[":
            # A primitive becomes an object: of the target's class, or of its own if the target is more general.
            letter = _PRIMITIVES.get(target[1:-1], source)
            self._widen(source, letter)
            self.call(184, WRAPPERS[letter], "valueOf", f"({letter})L{WRAPPERS[letter]};")
        elif target[0] not in "L[":
            letter = _PRIMITIVES.get(source[1:-1], target)
            owner = WRAPPERS[letter]
            self.with_constant(192, ClassRef(owner))
            self.call(182, owner, _VALUE_METHODS[letter], f"(){letter}")
            self._widen(letter, target)
        else:
            self.with_constant(192, ClassRef(target[1:-1] if target[0] == "L" else target))

    def _widen(self, source: str, target: str) -> None:
        a, b = kind_of(source), kind_of(target)
        codes = {"IJ": 133, "IF": 134, "ID": 135, "JF": 137, "JD": 138, "FD": 141}
        if a != b:
            self.op(codes[a + b])

    def string(self, text: str) -> None:
        self.with_constant(19, StringConst(text))

    def finish(self, max_locals: int) -> Code:
        return Code(64, max_locals, bytes(self.code), [], [])


def make_class(name: str, interfaces: list[str], fields: list[tuple[str, str]], source: str | None) -> ClassFile:
    made = ClassFile(name, ACC_FINAL, OBJECT, interfaces, [], [], [None], source)
    made.fields = [Field(0, each, descriptor) for each, descriptor in fields]
    return made


def add_method(owner: ClassFile, name: str, descriptor: str, assembler: Assembler, static: bool = False) -> Method:
    parameters, _ = parse_method(descriptor)
    slots = sum(2 if each in "JD" else 1 for each in parameters) + (0 if static else 1)
    method = Method(ACC_STATIC if static else 1, name, descriptor, assembler.finish(slots), owner)
    owner.methods.append(method)
    return method


def lambda_class(
    name: str, interface: str, markers: list[str], captured: list[str], methods: list[tuple[str, str]],
    instantiated: str, kind: int, target: MemberRef, source: str | None,
) -> ClassFile:  # fmt: skip
    """The class of a lambda or method reference: its fields are the captured values, its method calls the target."""
    fields = [(f"captured{i}", descriptor) for i, descriptor in enumerate(captured)]
    made = make_class(name, [interface, *markers], fields, source)
    for method, descriptor in methods:
        a = Assembler(made.pool)
        parameters, result = parse_method(descriptor)
        actual, _ = parse_method(instantiated)
        wanted, given = parse_method(target.descriptor)
        wanted_all = list(wanted)
        if kind in (5, 7, 9):
            wanted_all.insert(0, f"L{target.owner};")
        if kind == 8:
            a.with_constant(187, ClassRef(target.owner))
            a.op(89)
            given = f"L{target.owner};"
        at = 0
        for field, each in fields:
            a.op(42)
            a.with_constant(180, MemberRef(name, field, each))
            a.convert(each, wanted_all[at])
            at += 1
        slot = 1
        for each, precise in zip(parameters, actual, strict=True):
            slot = a.load(each, slot)
            known = precise if each[0] in "L[" and precise[0] in "L[" else each
            if wanted_all[at][0] in "L[" and known[0] in "L[":
                if wanted_all[at] != "Ljava/lang/Object;":
                    a.convert("Ljava/lang/Object;", wanted_all[at])
            else:
                a.convert(known, wanted_all[at])
            at += 1
        code = {5: 182, 6: 184, 7: 183, 8: 183, 9: 185}[kind]
        a.call(code, target.owner, target.name, target.descriptor)
        if given[0] in "L[" and result[0] in "L[":
            pass
        else:
            a.convert(given, result)
        a.ret(result)
        add_method(made, method, descriptor, a)
    return made


def record_class(name: str, record: str, fields: list[tuple[str, str]]) -> ClassFile:
    """Static `toString`, `hashCode` and `equals` of a record, as `java.lang.runtime.ObjectMethods` makes them."""
    made = make_class(name, [], [], None)
    own = f"L{record};"
    a = Assembler(made.pool)
    builder = "java/lang/StringBuilder"
    a.with_constant(187, ClassRef(builder))
    a.op(89)
    a.call(183, builder, "<init>", "()V")
    simple = record.rpartition("/")[2].rpartition("$")[2].lstrip("0123456789")
    for i, (field, descriptor) in enumerate(fields):
        a.string((f"{simple}[" if i == 0 else ", ") + f"{field}=")
        a.call(182, builder, "append", "(Ljava/lang/String;)Ljava/lang/StringBuilder;")
        a.op(42)
        a.with_constant(180, MemberRef(record, field, descriptor))
        a.call(182, builder, "append", f"({appended(descriptor)})Ljava/lang/StringBuilder;")
    a.string("]" if fields else f"{simple}[]")
    a.call(182, builder, "append", "(Ljava/lang/String;)Ljava/lang/StringBuilder;")
    a.call(182, builder, "toString", "()Ljava/lang/String;")
    a.ret("Ljava/lang/String;")
    add_method(made, "toString", f"({own})Ljava/lang/String;", a, static=True)
    a = Assembler(made.pool)
    a.op(3)
    for field, descriptor in fields:
        a.op(16, 31)
        a.op(104)
        a.op(42)
        a.with_constant(180, MemberRef(record, field, descriptor))
        if descriptor[0] in "L[":
            a.call(184, "java/util/Objects", "hashCode", "(Ljava/lang/Object;)I")
        else:
            a.call(184, WRAPPERS[descriptor], "hashCode", f"({descriptor})I")
        a.op(96)
    a.ret("I")
    add_method(made, "hashCode", f"({own})I", a, static=True)
    a = Assembler(made.pool)
    jumps: list[int] = []

    def leave(code: int) -> None:
        jumps.append(len(a.code))
        a.op(code, 0, 0)

    a.op(43)
    a.with_constant(193, ClassRef(record))
    leave(153)
    for field, descriptor in fields:
        for other in (42, 43):
            a.op(other)
            if other == 43:
                a.with_constant(192, ClassRef(record))
            a.with_constant(180, MemberRef(record, field, descriptor))
        if descriptor[0] in "L[":
            a.call(184, "java/util/Objects", "equals", "(Ljava/lang/Object;Ljava/lang/Object;)Z")
            leave(153)
        elif descriptor in "FD":
            a.call(184, WRAPPERS[descriptor], "compare", f"({descriptor}{descriptor})I")
            leave(154)
        elif descriptor == "J":
            a.op(148)
            leave(154)
        else:
            leave(160)
    a.op(4)
    a.ret("I")
    for jump in jumps:
        a.code[jump + 1 : jump + 3] = struct.pack(">h", len(a.code) - jump)
    a.op(3)
    a.ret("I")
    add_method(made, "equals", f"({own}Ljava/lang/Object;)Z", a, static=True)
    return made


def appended(descriptor: str) -> str:
    """Type of the parameter of `StringBuilder.append` for a type."""
    if descriptor in ("B", "S"):
        return "I"
    if descriptor[0] in "L[" and descriptor != "Ljava/lang/String;":
        return "Ljava/lang/Object;"
    return descriptor
