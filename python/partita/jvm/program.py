"""Lowers a whole program: a worklist of methods that can be reached from the entry (rapid type analysis).

A method is lowered when a call of it is lowered, or when a class whose objects are made has it and a virtual call can
select it. Class descriptors, with the slots of virtual methods and instance tests, are written last.
"""

from __future__ import annotations

import struct
from collections import defaultdict
from collections.abc import Callable
from typing import Any

from partita.jvm import natives
from partita.jvm.builder import FunctionBuilder, Part
from partita.jvm.classfile import (
    ACC_ABSTRACT,
    ACC_NATIVE,
    ACC_STATIC,
    ClassFile,
    ClassFormatError,
    Method,
    Number,
    StringConst,
)
from partita.jvm.descriptor import (
    BUG_CLASSES,
    ENUM_VALUES,
    FIXED_SIZE,
    FLAG_IDENTITY,
    FLAG_INTERFACE,
    FLAG_PRIMITIVE,
    FLAG_USER,
    SIMPLE_NAME,
    SLOTS,
)  # fmt: skip
from partita.jvm.descriptors import class_of, readable, simple_name, size_of
from partita.jvm.method import MethodLowering, signature
from partita.jvm.world import ARRAY_DATA, ARRAY_LENGTH, OBJECT, PRIMITIVES, JClass, MissingClassError, World
from partita.llvm.write import (
    CALL,
    FLAG,
    GEP,
    INTERNAL,
    LOAD,
    TOP,
    UNSUPPORTED,
    Address,
    GlobalRecord,
    Operand,
    global_address,
    integer,
    long,
    reg,
)  # fmt: skip

STRING, BYTES, CLASS = "java/lang/String", "[B", "java/lang/Class"
Selector = tuple[str, str]


class Lowering:
    def __init__(self, world: World, source_of: Callable[[ClassFile], str], string_length: int | None) -> None:
        self.world: World = world
        self.source_of = source_of
        self.string_length = string_length
        self.user, self.library = Part(), Part()
        self.builders: list[FunctionBuilder] = []
        self.boxes = False
        """Does the program box numbers?"""
        self.mirror_all = False
        """Can the program ask any object for its class?"""
        self.static_objects: set[tuple[str, str]] = set()
        """Fields of `natives.STATIC_OBJECTS` that the program uses."""
        self.catches_errors = False
        """Can a handler catch a StackOverflowError?"""
        self.needs_mathematics = False
        """Does the program call functions of mathematics in C?"""
        self.test_all = False
        """Can the program test objects for any class that has a `Class` object?"""
        self.enum_values = False
        """Can the program ask a class for its enum constants?"""
        self._enums: set[str] = set()
        self._has_table = False
        self._synthetic = 0
        self._todo: list[Method] = []
        self._needed: set[int] = set()
        self._instantiated: dict[str, JClass] = {}
        self._called: dict[Selector, set[str]] = defaultdict(set)
        self._slots: dict[Any, int] = {}
        self._strings: dict[str, str] = {}
        self._makers: dict[str, Callable[[], None]] = {}
        self._descriptors: dict[str, JClass] = {}
        self._mirrors: set[str] = set()
        self._static_globals: set[str] = set()
        self._initialisers: set[str] = set()
        self._needs_initialisation: dict[str, bool] = {}
        self.lowered: set[str] = set()
        """Methods that are executed as their own bytecode."""
        self.executed_natives: set[str] = set()
        """Methods that the table of natives replaces."""
        self.mirror_names: dict[tuple[int, Operand], str] = {}
        self.string_values: dict[tuple[int, Operand], str] = {}

    # Names

    def function_name(self, method: Method) -> str:
        return f"{method.owner.name.replace('/', '.')}.{method.name}{method.descriptor}"

    def next_synthetic(self) -> int:
        self._synthetic += 1
        return self._synthetic

    def exists(self, name: str) -> bool:
        try:
            self.world.load(name)
        except MissingClassError:
            return False
        return True

    # Reached methods

    def need(self, method: Method) -> None:
        """A method is called: it will be lowered."""
        if id(method) not in self._needed:
            self._needed.add(id(method))
            self._todo.append(method)

    def instantiate(self, owner: JClass) -> None:
        """Objects of a class are made: virtual calls can reach its methods."""
        if owner.name in self._instantiated:
            return
        self._instantiated[owner.name] = owner
        for selector, declared in list(self._called.items()):
            if not declared.isdisjoint(owner.supertypes):
                self._need_target(owner, selector)

    def call_virtual(self, declared: str, method: Method) -> None:
        """A virtual call of a method on objects of a declared class."""
        selector = method.name, method.descriptor
        if declared in self._called[selector]:
            return
        self._called[selector].add(declared)
        for owner in list(self._instantiated.values()):
            if declared in owner.supertypes:
                self._need_target(owner, selector)

    def target(self, owner: JClass, selector: Selector) -> Method | None:
        """Method that a virtual call selects for objects of a class."""
        found = self.world.find_method(owner.name, *selector)
        if found is None or found.access & ACC_ABSTRACT:
            return None
        return found

    def _need_target(self, owner: JClass, selector: Selector) -> None:
        found = self.target(owner, selector)
        if found is not None:
            self.need(found)

    def emit_virtual(
        self,
        fb: FunctionBuilder,
        part: Part,
        declared: str,
        method: Method,
        arguments: list[tuple[Operand, int]],
        first: int,
        widths: list[int],
    ) -> None:
        """The call, decided after everything is lowered: direct if all objects of the class have one method."""
        selector = method.name, method.descriptor
        descriptor, target = fb.temp(64), fb.temp(64)
        receiver = arguments[0][0]
        rest: list[Any] = [len(arguments)]
        for value, width in arguments:
            rest += [width, 0, 0, *value]
        head = len(widths) | TOP
        parameters = [width for _, width in arguments]

        def make() -> list[list[Any]]:
            found = {}
            for owner in self._instantiated.values():
                if declared in owner.supertypes:
                    each = self.target(owner, selector)
                    found[None if each is None else id(each)] = each
            if len(found) == 1 and (only := next(iter(found.values()))) is not None:
                number = part.function(self.function_name(only), parameters, widths)
                return [[CALL, head, first, number, *rest]]
            if not found or set(found) == {None}:
                name = f"{readable(declared)}.{method.name}"
                return [[UNSUPPORTED, part.writer.string(f"a call of {name} on an object of an unknown class")]]
            slot = self.slot(selector)
            load_slot = [GEP, *long(slot), target, *reg(descriptor), 0]
            return [
                [LOAD, 8, descriptor, *receiver],
                load_slot,
                [LOAD, 8, target, *reg(target)],
                [CALL | FLAG, head, first, *reg(target), *rest],
            ]

        fb.later(make)

    # Descriptors

    def slot(self, key: Any) -> int:
        """Offset in descriptors of a virtual method or of an instance test."""
        return self._slots.setdefault(key, SLOTS + 8 * len(self._slots))

    def test_slot(self, name: str) -> int:
        return self.slot(name)

    def descriptor(self, part: Part, name: str) -> Operand:
        """Address of the descriptor of a class."""
        self._descriptors.setdefault(name, self.world.load(name))
        return global_address(part.global_number(f"class {name}"))

    def mirror(self, part: Part, name: str) -> Operand:
        """Address of the `java.lang.Class` object of a class."""
        if name not in self._mirrors:
            self._mirrors.add(name)
            self.descriptor(self.library, CLASS)
            self.instantiate(self.world.load(CLASS))
        address = global_address(part.global_number(f"mirror {name}"))
        self.mirror_names[id(part), address] = name
        return address

    # Strings

    def string(self, part: Part, value: str) -> Operand:
        """Address of the String object of a literal; equal literals are one object."""
        if value not in self._strings:
            name = self._strings[value] = f"string {len(self._strings)}"
            self._write_string(name, value)
        address = global_address(part.global_number(self._strings[value]))
        self.string_values[id(part), address] = value
        return address

    def literals(self, part: Part) -> Operand:
        """Address of a table of all literals, which ends in null."""
        self._has_table = True
        return global_address(part.global_number("literals"))

    def _write_literals(self) -> None:
        entries = [(8 * n, self._global(name)) for n, name in enumerate(self._strings.values())]
        size = 8 * len(entries) + 8
        self.write_global("literals", bytes(size), entries, size, readonly=True)

    def _write_string(self, name: str, value: str) -> None:
        string = self.world.load(STRING)
        self.instantiate(string)
        self.instantiate(self.world.load(BYTES))
        units = value.encode("utf-16-le", "surrogatepass")
        latin = all(units[i] == 0 for i in range(1, len(units), 2))
        data = units[::2] if latin else units
        part = self.library
        self.descriptor(part, STRING), self.descriptor(part, BYTES)
        raw = bytes(8) + len(data).to_bytes(4, "little") + bytes(4) + data
        bytes_name = f"{name} value"
        self.write_global(bytes_name, raw, [(0, self._global(f"class {BYTES}"))], len(raw))
        body = bytearray(string.size)
        body[string.offsets["coder", "B"]] = 0 if latin else 1
        relocs = [(0, self._global(f"class {STRING}")), (string.offsets["value", "[B"], self._global(bytes_name))]
        self.write_global(name, bytes(body), relocs, len(body))

    def _global(self, name: str, offset: int = 0) -> Address:
        return Address(0, self.library.global_number(name), offset)

    def write_global(
        self, name: str, data: bytes, relocs: list[tuple[int, Address]], size: int, readonly: bool = False
    ) -> GlobalRecord:
        record = self.library.writer.globals[self.library.global_number(name)]
        record.defined, record.readonly, record.size, record.align = True, readonly, size, 8
        record.data = data
        record.relocs = [(offset, 8, address, None) for offset, address in sorted(relocs, key=lambda r: r[0])]
        return record

    # Static fields and initialisers

    def statics(self, part: Part, owner: JClass, offset: int = 0) -> Operand:
        """Address of a static field."""
        if owner.name not in self._static_globals:
            self._static_globals.add(owner.name)
            for field in owner.fields.values():
                if field.access & ACC_STATIC and isinstance(field.constant, StringConst):
                    self.string(self.library, field.constant.value)
        return global_address(part.global_number(f"statics {owner.name}"), offset)

    def static_object(self, part: Part, owner: JClass, name: str) -> Operand | None:
        """Address of an object that a static field of the library always has, if it is one of those we provide."""
        natives.load_rows()
        if (owner.name, name) in natives.ALIASES:
            other, name = natives.ALIASES[owner.name, name]
            owner = self.world.load(other)
        made = natives.STATIC_OBJECTS.get((owner.name, name))
        if made is None:
            return None
        self.static_objects.add((owner.name, name))
        kind = self.world.load(made)
        self.instantiate(kind)
        self.descriptor(self.library, made)
        label = f"object {owner.name}.{name}"
        if not self.library.writer.globals[self.library.global_number(label)].defined:
            self.write_global(label, b"", [(0, self._global(f"class {made}"))], kind.size)
        return global_address(part.global_number(label))

    def is_replaced(self, owner: JClass) -> bool:
        """Does a class have static fields that its initialiser, which is not run, would set?"""
        return owner.name in natives.INITIALISED - natives.ZERO_FIELDS and ("<clinit>", "()V") in owner.methods

    def needs_initialisation(self, owner: JClass) -> bool:
        found = self._needs_initialisation.get(owner.name)
        if found is None:
            found = ("<clinit>", "()V") in owner.methods and owner.name not in natives.INITIALISED
            if not found and owner.parent is not None and not owner.is_interface:
                found = self.needs_initialisation(owner.parent)
            self._needs_initialisation[owner.name] = found
        return found

    def is_initialised_in(self, owner: JClass, method: Method) -> bool:
        """Has the initialiser of a class run, or started, when this method runs?"""
        if method.name == "<clinit>" and method.owner.name == owner.name:
            return True
        here = self.world.load(method.owner.name)
        # A static method, constructor or instance method runs after the initialisation of its class has begun.
        return owner.name in here.supertypes and not owner.is_interface and not here.is_interface

    def initialiser(self, owner: JClass) -> str:
        """Function that initialises a class."""
        name = f"initialise {owner.name}"
        if owner.name not in self._initialisers:
            self._initialisers.add(owner.name)
            self._makers[name] = lambda: natives.build_initialiser(self, owner, name)
        return name

    def exception_maker(self, name: str, count: int) -> str:
        """Function that makes an implicit exception."""
        label = f"make {name} {count}"
        if label not in self._makers:
            self._makers[label] = lambda: natives.build_exception(self, name, count, label)
            self.instantiate(self.world.load(name))
        return label

    def array_maker(self, name: str, count: int) -> str:
        """Function that makes an array of arrays."""
        label = f"array {count} {name}"
        if label not in self._makers:
            self._makers[label] = lambda: natives.build_array(self, name, count, label)
        return label

    def maker(self, label: str, build: Callable[[], None]) -> str:
        self._makers.setdefault(label, build)
        return label

    # The work

    def run(self) -> None:
        built: set[str] = set()
        while True:
            while self._todo:
                self._lower(self._todo.pop())
            if self.enum_values:
                self._find_enums()
            fresh = [name for name in self._makers if name not in built]
            if not fresh:
                break
            for name in fresh:
                built.add(name)
                self._makers[name]()

    def _find_enums(self) -> None:
        """Functions that return the constants of enum classes."""
        for name in [*self._mirrors, *self._instantiated]:
            owner = self.world.load(name)
            if owner.parent is not None and owner.parent.name == "java/lang/Enum" and name not in self._enums:
                self._enums.add(name)
                self._makers[f"constants of {name}"] = lambda owner=owner: self._build_constants(owner)  # type: ignore[misc]

    def _build_constants(self, owner: JClass) -> None:
        fb = FunctionBuilder(self.library, f"constants of {owner.name}", [], [64, 64])
        b = natives.Body(self, fb, None, 0)
        if self.needs_initialisation(owner):
            thrown = fb.call(self.initialiser(owner), [], [64])
            bad, after = fb.new_block(), fb.new_block()
            fb.branch(fb.compare("ne", 64, reg(thrown), integer(0)), bad, after)
            fb.start(bad)
            b.throw(reg(thrown))
            fb.start(after)
        b.ret(b.java(owner.name, "values", f"()[L{owner.name};"))
        self.builders.append(fb)

    def _lower(self, method: Method) -> None:
        key = f"{method.owner.name}.{method.name}{method.descriptor}"
        owner = self.world.load(method.owner.name)
        native = natives.find(key, owner.is_user)
        if native is not None:
            self.executed_natives.add(key)
            natives.build(self, method, native)
            return
        if method.code is None:
            parameters, results = signature(method)
            fb = FunctionBuilder(self.library, self.function_name(method), parameters, results)
            what = "native method" if method.access & ACC_NATIVE else "abstract method"
            fb.unsupported(f"the {what} {readable(method.owner.name)}.{method.name}{method.descriptor}")
            self.builders.append(fb)
            return
        self.lowered.add(key)
        MethodLowering(self, method, owner.is_user).lower()

    def finish(self) -> tuple[bytes, bytes]:
        """The serialised parts: the user's classes and the library."""
        for builder in self.builders:
            builder.finish()
        self._write_static_fields()
        self._write_descriptors()
        if self._has_table:
            self._write_literals()
        return self.user.writer.bytes(), self.library.writer.bytes()

    def _write_static_fields(self) -> None:
        for name in sorted(self._static_globals):
            owner = self.world.load(name)
            data = bytearray(owner.statics_size)
            relocs = []
            if not self.needs_initialisation(owner):
                data[0] = 1
            for key, field in owner.fields.items():
                if not field.access & ACC_STATIC or field.constant is None:
                    continue
                at = owner.offsets[key]
                if isinstance(field.constant, Number):
                    size = {"Z": 1, "B": 1, "C": 2, "S": 2, "I": 4, "F": 4, "J": 8, "D": 8}.get(field.descriptor)
                    if size is None:
                        raise ClassFormatError(f"{name}: the field {field.name} has a constant of another type")
                    data[at : at + size] = (field.constant.bits & ((1 << 8 * size) - 1)).to_bytes(size, "little")
                elif isinstance(field.constant, StringConst):
                    self.string(self.library, field.constant.value)
                    relocs.append((at, self._global(self._strings[field.constant.value])))
            self.write_global(f"statics {name}", bytes(data), relocs, len(data))

    def _write_descriptors(self) -> None:
        if self.mirror_all:
            self._mirrors.update(self._instantiated)
        for name in self._mirrors:
            self.descriptor(self.library, name)
        todo = list(self._descriptors)
        seen: set[str] = set()
        # Descriptors refer to others: superclasses and the elements of arrays.
        while todo:
            name = todo.pop()
            if name in seen:
                continue
            seen.add(name)
            owner = self.world.load(name)
            if owner.parent is not None:
                todo.append(owner.parent.name)
            if name.startswith("[") and name[1] in "L[":
                todo.append(class_of(name[1:]))
                self.slot(class_of(name[1:]))
        if self.mirror_all:
            # Superclasses too.
            self._mirrors.update(seen)
        if self.test_all:
            for name in sorted(self._mirrors - {OBJECT}):
                self.slot(name)
        for number, name in enumerate(sorted(seen)):
            self._write_descriptor(number, self.world.load(name))

    def _write_descriptor(self, number: int, owner: JClass) -> None:
        part = self.library
        name = owner.name
        data = bytearray(SLOTS + 8 * len(self._slots))
        relocs: list[tuple[int, Address]] = []
        data[0:4] = number.to_bytes(4, "little")
        if name.startswith("["):
            data[4:8] = self.world.element_size(name).to_bytes(4, "little")
            if name[1] in "L[":
                relocs.append((8, self._global(f"class {class_of(name[1:])}")))
        if name in self._mirrors:
            relocs.append((16, self._global(f"mirror {name}")))
            self._write_mirror(name)
        for at, text in ((24, name.replace("/", ".")), (32, self._bug_class(owner)), (SIMPLE_NAME, simple_name(name))):
            operand = part.text(text)
            relocs.append((at, Address(0, operand[0] >> 3, 0)))
        if name != OBJECT and name in self._slots:
            data[40:48] = self._slots[name].to_bytes(8, "little")
        if owner.parent is not None:
            relocs.append((48, self._global(f"class {owner.parent.name}")))
        data[56:60] = owner.size.to_bytes(4, "little")
        flags = FLAG_USER * owner.is_user | FLAG_INTERFACE * owner.is_interface | FLAG_PRIMITIVE * (name in PRIMITIVES)
        hashed = None if name in PRIMITIVES else self.target(owner, ("hashCode", "()I"))
        if hashed is not None and hashed.owner.name in (OBJECT, "java/lang/Enum"):
            flags |= FLAG_IDENTITY
        data[60:64] = flags.to_bytes(4, "little")
        if name in self._enums:
            relocs.append((ENUM_VALUES, Address(1, part.function(f"constants of {name}", [], [64, 64]), 0)))
        if ("partita$cached", "I") in owner.offsets:
            ((value, width),) = [
                (at, size_of(kind)) for (each, kind), at in owner.offsets.items() if each == "value" and kind in "BCSIJ"
            ]
            data[64:72] = struct.pack("<HHI", value, owner.offsets["partita$cached", "I"], width)
        for key, at in self._slots.items():
            if isinstance(key, str):
                data[at] = key in owner.supertypes
            elif name in self._instantiated and not owner.supertypes.isdisjoint(self._called[key]):
                found = self.target(owner, key)
                if found is not None:
                    parameters, results = signature(found)
                    function = part.function(self.function_name(found), parameters, results)
                    relocs.append((at, Address(1, function, 0)))
        self.write_global(f"class {name}", bytes(data), relocs, len(data), readonly=True)

    def _write_mirror(self, name: str) -> None:
        kind = self.world.load(CLASS)
        size = natives.mirror_size(self)
        self.write_global(
            f"mirror {name}",
            b"",
            [(0, self._global(f"class {CLASS}")), (size - 8, self._global(f"class {name}"))],
            size,
        )
        assert kind.size <= size - 8

    def _bug_class(self, owner: JClass) -> str:
        for name, bug in BUG_CLASSES.items():
            if name in owner.supertypes:
                return bug
        return "exception"


__all__ = ["ARRAY_DATA", "ARRAY_LENGTH", "FIXED_SIZE", "INTERNAL", "Lowering", "integer"]
