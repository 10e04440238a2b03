"""The classes of a program: hierarchy, layout of objects and static fields, resolution of members (JVMS 5.4.3).

An object is the address of its class descriptor, then its fields, those of superclasses first. An array is the address
of its descriptor, its length (32 bits) and, from `ARRAY_DATA` on, its elements.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from partita.errors import UsageError
from partita.jvm.classfile import ACC_ABSTRACT, ACC_FINAL, ACC_INTERFACE, ACC_STATIC, ClassFile, Field, Method
from partita.jvm.classpath import ClassPath
from partita.jvm.descriptors import SIZES, class_of, descriptor_of, size_of

HEADER = 8
ARRAY_LENGTH = 8
ARRAY_DATA = 16

OBJECT = "java/lang/Object"


BOXES = {"Integer": "I", "Long": "J", "Short": "S", "Byte": "B", "Character": "C"}
"""Classes of boxed numbers, of which small ones are cached (JLS 5.1.7)."""
EXTRA_FIELDS = {
    "java/lang/ThreadLocal": [("partita$value", "Ljava/lang/Object;"), ("partita$isSet", "I")],
    "java/io/InputStreamReader": [("partita$stream", "Ljava/io/InputStream;")],
    **{f"java/lang/{name}": [("partita$cached", "I")] for name in BOXES},
}
"""Fields that objects of library classes have for our own functions."""


PRIMITIVES = ("boolean", "byte", "char", "short", "int", "long", "float", "double", "void")


class MissingClassError(UsageError):
    """A class that is nowhere on the class path."""


@dataclass(eq=False)
class JClass:
    name: str
    file: ClassFile | None
    """None for arrays."""
    parent: JClass | None
    interfaces: list[JClass]
    is_user: bool
    methods: dict[tuple[str, str], Method] = field(default_factory=dict)
    fields: dict[tuple[str, str], Field] = field(default_factory=dict)
    offsets: dict[tuple[str, str], int] = field(default_factory=dict)
    """Offsets of the class's own instance fields, and of its static fields."""
    size: int = HEADER
    statics_size: int = 8
    """Bytes of the static fields; the first four are the state of the initialisation."""
    supertypes: frozenset[str] = frozenset()

    @property
    def is_interface(self) -> bool:
        return self.file is not None and bool(self.file.access & ACC_INTERFACE)

    @property
    def is_abstract(self) -> bool:
        return self.file is not None and bool(self.file.access & ACC_ABSTRACT)

    @property
    def is_final(self) -> bool:
        return self.file is None or bool(self.file.access & ACC_FINAL)

    @property
    def element(self) -> str:
        """Descriptor of the elements of an array."""
        return self.name[1:]


class World:
    def __init__(self, path: ClassPath) -> None:
        self.path = path
        self.classes: dict[str, JClass] = {}
        self.misses = False
        """Was a class nowhere on the class path?"""
        self._resolved: dict[tuple[str, str, str], Method | None] = {}

    def add(self, file: ClassFile, is_user: bool) -> JClass:
        """A class by its file; its superclasses are loaded."""
        parent = self.load(file.super_name) if file.super_name is not None else None
        interfaces = [self.load(name) for name in file.interfaces]
        file.fields += [Field(0, *extra) for extra in EXTRA_FIELDS.get(file.name, ())]
        found = JClass(file.name, file, parent, interfaces, is_user)
        found.methods = {(method.name, method.descriptor): method for method in file.methods}
        found.fields = {(each.name, each.descriptor): each for each in file.fields}
        size = parent.size if parent else HEADER
        for each in sorted(file.fields, key=lambda f: -size_of(f.descriptor)):
            width = size_of(each.descriptor)
            if each.access & ACC_STATIC:
                found.statics_size = -(-found.statics_size // width) * width
                found.offsets[each.name, each.descriptor] = found.statics_size
                found.statics_size += width
            else:
                size = -(-size // width) * width
                found.offsets[each.name, each.descriptor] = size
                size += width
        found.size = size
        self._close(found)
        return found

    def _close(self, found: JClass) -> None:
        above = [*([found.parent] if found.parent else []), *found.interfaces]
        found.supertypes = frozenset([found.name]).union(*(each.supertypes for each in above))
        if found.is_interface:
            found.supertypes |= {OBJECT}
        self.classes[found.name] = found

    def load(self, name: str) -> JClass:
        """A class by its name in the constant pool."""
        found = self.classes.get(name)
        if found is not None:
            return found
        if name.startswith("["):
            return self._load_array(name)
        if name in PRIMITIVES:
            found = JClass(name, None, None, [], False)
            self._close(found)
            return found
        read = self.path.find(name)
        if read is None:
            self.misses = True
            raise MissingClassError(f"expected the class `{name.replace('/', '.')}`, found it nowhere: set --classpath")
        return self.add(*read)

    def _load_array(self, name: str) -> JClass:
        top = self.load(OBJECT)
        interfaces = [self.load("java/lang/Cloneable"), self.load("java/io/Serializable")]
        found = JClass(name, None, top, interfaces, False)
        self._close(found)
        element = name[1:]
        if element[0] in "L[":
            # Arrays of references are covariant.
            inner = self.load(class_of(element))
            found.is_user = inner.is_user
            above = {"[" + descriptor_of(each) for each in inner.supertypes}
            found.supertypes |= frozenset(above)
        return found

    def element_size(self, name: str) -> int:
        return SIZES[name[1]]

    def find_field(self, owner: str, name: str, descriptor: str) -> tuple[JClass, Field] | None:
        key = name, descriptor
        todo = [self.load(owner)]
        while todo:
            each = todo.pop(0)
            if key in each.fields:
                return each, each.fields[key]
            todo = [*each.interfaces, *([each.parent] if each.parent else []), *todo]
        return None

    def find_method(self, owner: str, name: str, descriptor: str) -> Method | None:
        """The method that a class has by name and descriptor: its own, inherited, or a default method."""
        key = owner, name, descriptor
        if key not in self._resolved:
            self._resolved[key] = self._find_method(self.load(owner), name, descriptor)
        return self._resolved[key]

    def _find_method(self, start: JClass, name: str, descriptor: str) -> Method | None:
        each: JClass | None = start
        while each is not None:
            found = each.methods.get((name, descriptor))
            if found is not None:
                return found
            each = each.parent
        # The most specific method of an interface: one that no other candidate's interface extends.
        candidates: list[tuple[JClass, Method]] = []
        for interface in sorted(start.supertypes):
            other = self.load(interface)
            if other.is_interface and (name, descriptor) in other.methods:
                method = other.methods[name, descriptor]
                if not method.is_static:
                    candidates.append((other, method))
        best = [
            method
            for other, method in candidates
            if not any(other is not more and other.name in more.supertypes for more, _ in candidates)
        ]
        concrete = [method for method in best if not method.access & ACC_ABSTRACT]
        chosen = concrete or best
        return chosen[0] if chosen else None

    def is_subtype(self, name: str, other: str) -> bool:
        return other in self.load(name).supertypes
