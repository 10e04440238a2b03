"""Reads class files (Java Virtual Machine Specification, chapter 4): constant pool, fields, methods, attributes.

Nothing is trusted: every index and length is checked, and a malformed file is one `UsageError` with its name and the
place of the fault. Attributes that we do not use are skipped.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass, field
from typing import Any

from partita.errors import UsageError

MIN_VERSION, MAX_VERSION = 45, 61
"""Major versions that are read: up to 61, which is Java 17."""

ACC_STATIC, ACC_FINAL, ACC_SYNCHRONIZED, ACC_NATIVE, ACC_INTERFACE, ACC_ABSTRACT = 8, 16, 32, 256, 512, 1024
ACC_PRIVATE, ACC_PUBLIC, ACC_ENUM = 2, 1, 0x4000

_CLASS_REFERENCE, _STRING, _METHOD_TYPE, _MODULE, _PACKAGE = 7, 8, 16, 19, 20
_FIELD, _METHOD, _INTERFACE_METHOD, _NAME_AND_TYPE = 9, 10, 11, 12
_METHOD_HANDLE, _DYNAMIC, _INVOKE_DYNAMIC = 15, 17, 18


class ClassFormatError(UsageError):
    """A class file that cannot be read."""


@dataclass(frozen=True)
class ClassRef:
    name: str


@dataclass(frozen=True)
class StringConst:
    value: str


@dataclass(frozen=True)
class Number:
    """A numeric constant: kind I, J, F or D, and its bits."""

    kind: str
    bits: int


@dataclass(frozen=True)
class MemberRef:
    """A field or method by class, name and descriptor."""

    owner: str
    name: str
    descriptor: str
    is_interface: bool = False


@dataclass(frozen=True)
class MethodHandle:
    kind: int
    member: MemberRef


@dataclass(frozen=True)
class MethodType:
    descriptor: str


@dataclass(frozen=True)
class Dynamic:
    """An `invokedynamic` call site or a dynamic constant: bootstrap method, name and descriptor."""

    bootstrap: int
    name: str
    descriptor: str


@dataclass(frozen=True)
class Handler:
    start: int
    end: int
    target: int
    catch: str | None


@dataclass
class Code:
    max_stack: int
    max_locals: int
    code: bytes
    handlers: list[Handler]
    lines: list[tuple[int, int]]
    names: list[tuple[int, int, str, str, int]] = field(default_factory=list)
    """Local variables: start, length, name, descriptor, slot."""


@dataclass
class Field:
    access: int
    name: str
    descriptor: str
    constant: Any = None


@dataclass
class Method:
    access: int
    name: str
    descriptor: str
    code: Code | None = None
    owner: ClassFile = None  # type: ignore[assignment]  # set by the reader

    @property
    def is_static(self) -> bool:
        return bool(self.access & ACC_STATIC)


@dataclass
class ClassFile:
    name: str
    access: int
    super_name: str | None
    interfaces: list[str]
    fields: list[Field]
    methods: list[Method]
    pool: list[Any]
    source: str | None = None
    bootstraps: list[tuple[MethodHandle, list[Any]]] = field(default_factory=list)
    record: list[tuple[str, str]] | None = None

    @property
    def is_interface(self) -> bool:
        return bool(self.access & ACC_INTERFACE)


def version_of(data: bytes) -> int:
    """Major version of a class file."""
    return struct.unpack(">H", data[6:8])[0] if len(data) >= 8 else 0


def read_class(data: bytes, place: str) -> ClassFile:
    """Reads a class file. `place` names it in messages."""
    try:
        return _Reader(data, place).read()
    except struct.error:
        raise ClassFormatError(f"{place}: the class file is truncated") from None
    except (IndexError, KeyError, AttributeError, TypeError):
        raise ClassFormatError(
            f"{place}: the class file is malformed: an index of the constant pool is wrong"
        ) from None
    except UnicodeDecodeError:
        raise ClassFormatError(f"{place}: the class file is malformed: a name is not UTF-8") from None


def decode_text(raw: bytes) -> str:
    """Modified UTF-8: two bytes for NUL, surrogates encoded one by one and left so."""
    if b"\xc0" not in raw and b"\xed" not in raw:
        return raw.decode("utf-8")
    return raw.replace(b"\xc0\x80", b"\0").decode("utf-8", "surrogatepass")


class _Reader:
    def __init__(self, data: bytes, place: str) -> None:
        self.data = data
        self.at = 0
        self.place = place
        self.pool: list[Any] = []

    def fail(self, what: str) -> ClassFormatError:
        return ClassFormatError(f"{self.place}: the class file is malformed: {what}")

    def u1(self) -> int:
        self.at += 1
        if self.at > len(self.data):
            raise struct.error
        return self.data[self.at - 1]

    def u2(self) -> int:
        self.at += 2
        return int(struct.unpack_from(">H", self.data, self.at - 2)[0])

    def u4(self) -> int:
        self.at += 4
        return int(struct.unpack_from(">I", self.data, self.at - 4)[0])

    def take(self, count: int) -> bytes:
        if self.at + count > len(self.data):
            raise struct.error
        self.at += count
        return self.data[self.at - count : self.at]

    def read(self) -> ClassFile:
        if len(self.data) < 4 or self.u4() != 0xCAFEBABE:
            raise ClassFormatError(f"{self.place}: expected a class file, found something else")
        _minor, major = self.u2(), self.u2()
        if not MIN_VERSION <= major <= MAX_VERSION:
            raise ClassFormatError(
                f"{self.place}: expected a class file of Java 17 or older, found version {major} (Java {major - 44}):"
                " compile with `javac --release 17`"
            )
        self._read_pool()
        access, this, parent = self.u2(), self.u2(), self.u2()
        name = self._class_name(this)
        interfaces = [self._class_name(self.u2()) for _ in range(self.u2())]
        fields = [self._field() for _ in range(self.u2())]
        methods = [self._method() for _ in range(self.u2())]
        found = ClassFile(
            name, access, self._class_name(parent) if parent else None, interfaces, fields, methods, self.pool
        )
        for method in methods:
            method.owner = found
        for kind, end in self._attributes():
            if kind == "SourceFile":
                found.source = self._utf8(self.u2())
            elif kind == "BootstrapMethods":
                for _ in range(self.u2()):
                    handle = self.pool[self.u2()]
                    if not isinstance(handle, MethodHandle):
                        raise self.fail("a bootstrap method is no method handle")
                    found.bootstraps.append((handle, [self.pool[self.u2()] for _ in range(self.u2())]))
            elif kind == "Record":
                found.record = []
                for _ in range(self.u2()):
                    found.record.append((self._utf8(self.u2()), self._utf8(self.u2())))
                    for _ in self._attributes():
                        pass
            self.at = end
        if found.super_name is None and name != "java/lang/Object":
            raise self.fail("it has no superclass")
        return found

    def _read_pool(self) -> None:
        count = self.u2()
        raw: list[Any] = [None] * count
        i = 1
        while i < count:
            tag = self.u1()
            if tag == 1:
                raw[i] = decode_text(self.take(self.u2()))
            elif tag == 3:
                raw[i] = Number("I", self.u4())
            elif tag == 4:
                raw[i] = Number("F", self.u4())
            elif tag in (5, 6):
                raw[i] = Number("J" if tag == 5 else "D", self.u4() << 32 | self.u4())
                i += 1
            elif tag in (_CLASS_REFERENCE, _STRING, _METHOD_TYPE, _MODULE, _PACKAGE):
                raw[i] = (tag, self.u2())
            elif tag in (_FIELD, _METHOD, _INTERFACE_METHOD, _NAME_AND_TYPE, _DYNAMIC, _INVOKE_DYNAMIC):
                raw[i] = (tag, self.u2(), self.u2())
            elif tag == _METHOD_HANDLE:
                raw[i] = (tag, self.u1(), self.u2())
            else:
                raise self.fail(f"constant {i} has the unknown tag {tag}")
            i += 1
        self.pool = [self._resolved(raw, entry, 0) for entry in raw]

    def _resolved(self, raw: list[Any], entry: Any, depth: int) -> Any:
        """Constants with their indices replaced by what they refer to."""
        if not isinstance(entry, tuple):
            return entry
        if depth > 3:
            raise self.fail("constants refer to each other in a circle")
        tag = entry[0]

        def text(index: int) -> str:
            found = raw[index]
            if not isinstance(found, str):
                raise self.fail(f"constant {index} is no text")
            return found

        def at(index: int) -> Any:
            return self._resolved(raw, raw[index], depth + 1)

        if tag == _CLASS_REFERENCE:
            return ClassRef(text(entry[1]))
        if tag == _STRING:
            return StringConst(text(entry[1]))
        if tag == _METHOD_TYPE:
            return MethodType(text(entry[1]))
        if tag in (_MODULE, _PACKAGE):
            return text(entry[1])
        if tag == _NAME_AND_TYPE:
            return (text(entry[1]), text(entry[2]))
        if tag == _METHOD_HANDLE:
            return MethodHandle(entry[1], at(entry[2]))
        pair = at(entry[2])
        if not (isinstance(pair, tuple) and len(pair) == 2):
            raise self.fail("a member has no name and type")
        if tag in (_DYNAMIC, _INVOKE_DYNAMIC):
            return Dynamic(entry[1], pair[0], pair[1])
        owner = at(entry[1])
        if not isinstance(owner, ClassRef):
            raise self.fail("a member has no class")
        return MemberRef(owner.name, pair[0], pair[1], tag == _INTERFACE_METHOD)

    def _utf8(self, index: int) -> str:
        found = self.pool[index]
        if not isinstance(found, str):
            raise self.fail(f"constant {index} is no text")
        return found

    def _class_name(self, index: int) -> str:
        found = self.pool[index]
        if not isinstance(found, ClassRef):
            raise self.fail(f"constant {index} is no class")
        return found.name

    def _attributes(self) -> Any:
        """Names of attributes, each with its end; the reader is at its first byte."""
        for _ in range(self.u2()):
            name = self._utf8(self.u2())
            size = self.u4()
            end = self.at + size
            if end > len(self.data):
                raise struct.error
            yield name, end
            self.at = end

    def _field(self) -> Field:
        found = Field(self.u2(), self._utf8(self.u2()), self._utf8(self.u2()))
        for kind, _end in self._attributes():
            if kind == "ConstantValue":
                found.constant = self.pool[self.u2()]
        return found

    def _method(self) -> Method:
        found = Method(self.u2(), self._utf8(self.u2()), self._utf8(self.u2()))
        for kind, _end in self._attributes():
            if kind == "Code":
                found.code = self._code()
        return found

    def _code(self) -> Code:
        max_stack, max_locals = self.u2(), self.u2()
        code = self.take(self.u4())
        if not code:
            raise self.fail("a method has no instructions")
        handlers = []
        for _ in range(self.u2()):
            start, end, target, catch = self.u2(), self.u2(), self.u2(), self.u2()
            if not (start < end <= len(code) and target < len(code)):
                raise self.fail("an exception handler is outside of its method")
            handlers.append(Handler(start, end, target, self._class_name(catch) if catch else None))
        lines: list[tuple[int, int]] = []
        names: list[tuple[int, int, str, str, int]] = []
        for kind, _end in self._attributes():
            if kind == "LineNumberTable":
                lines += [(self.u2(), self.u2()) for _ in range(self.u2())]
            elif kind == "LocalVariableTable":
                for _ in range(self.u2()):
                    start, length = self.u2(), self.u2()
                    names.append((start, length, self._utf8(self.u2()), self._utf8(self.u2()), self.u2()))
        return Code(max_stack, max_locals, code, handlers, sorted(lines), names)
