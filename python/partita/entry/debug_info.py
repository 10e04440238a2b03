"""Types of C from the debug information of a module's text: the parameters of a function, and what they point to."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import NamedTuple

_FIELD = re.compile(r'(\w+): (?:!(\d+)|(-?\d+)|"((?:[^"\\]|\\.)*)"|([\w| ]+))')
_NODE = re.compile(r"!(\d+)")
_DEFINITION = re.compile(r'^define [^\n]*?@(?:"([^"]+)"|([\w.$-]+))\([^\n]*!dbg !(\d+)', re.MULTILINE)
_QUALIFIERS = ("typedef", "const_type", "volatile_type", "restrict_type", "atomic_type")


@dataclass(frozen=True)
class Scalar:
    """An integer, a floating-point number, an enumeration, or memory without a type of its own."""

    name: str
    size: int
    encoding: str
    """`signed`, `unsigned`, `boolean`, `float`, `enum`, or `bytes` for what C cannot name here."""


@dataclass(frozen=True)
class Pointer:
    target: Type | None
    """None: `void`."""


@dataclass(frozen=True)
class Function:
    """The type of a function, which only pointers have."""


@dataclass(frozen=True)
class Array:
    element: Type
    count: int


@dataclass(frozen=True)
class Member:
    name: str
    offset: int
    type: Type
    """Bit-fields have none: their bytes are filled as one number."""


@dataclass(eq=False)
class Record:
    """A structure or a union. Two records are the same type only if they are the same object."""

    tag: str
    is_union: bool
    size: int
    members: list[Member] = field(default_factory=list)
    """Empty for a type that is declared only."""


Type = Scalar | Pointer | Function | Array | Record


@dataclass(frozen=True)
class Parameter:
    name: str
    type: Type


@dataclass(frozen=True)
class Signature:
    """A function that can be started."""

    name: str
    parameters: tuple[Parameter, ...]
    returns: Type | None
    file: str
    line: int
    variadic: bool


class Declared(NamedTuple):
    """A variable as the source declares it."""

    name: str
    declaration: str
    size: int
    element: int
    """Size of an element of an array; 0 for anything else."""
    file: str
    line: int
    type: Type | None = None


def size_of(type_: Type | None) -> int:
    """Size in bytes; 0 if it is not known here."""
    match type_:
        case Scalar(size=size):
            return size
        case Pointer():
            return 8
        case Array(element=element, count=count):
            return size_of(element) * count
        case Record(size=size):
            return size
        case _:
            return 0


class DebugInfo:
    """The numbered metadata of a module."""

    def __init__(self, text: str) -> None:
        self._nodes: dict[int, str] = {}
        self._types: dict[int, Type | None] = {}
        self._records: dict[int, Record] = {}
        for line in text.splitlines():
            if line.startswith("!"):
                number, _, rest = line[1:].partition(" = ")
                if number.isdigit():
                    self._nodes[int(number)] = rest
        self._functions = {quoted or plain: int(node) for quoted, plain, node in _DEFINITION.findall(text)}
        self._names: dict[int, dict[int, str]] = {}
        for rest in self._nodes.values():
            if rest.startswith("!DILocalVariable(") and "arg: " in rest:
                fields = _fields(rest)
                scope = self._names.setdefault(int(fields["scope"]), {})
                scope[int(fields["arg"])] = fields.get("name", "")

    def functions(self) -> Iterator[Signature]:
        """The functions that the module defines, with debug information."""
        for name in self._functions:
            found = self.function(name)
            if found is not None:
                yield found

    def function(self, name: str) -> Signature | None:
        """The signature of a function; None if the module does not define it with debug information."""
        node = self._functions.get(name)
        text = self._nodes.get(-1 if node is None else node, "")
        if "!DISubprogram(" not in text:
            return None
        fields = _fields(text)
        types = self._list(_fields(self._nodes[int(fields["type"])]).get("types"))
        names = self._names.get(node or 0, {})
        variadic = len(types) > 1 and types[-1] is None
        parameters = [
            Parameter(names.get(i) or f"arg{i}", self._type(number) or Scalar("int", 4, "signed"))
            for i, number in enumerate(types[1:], 1)
            if number is not None
        ]
        file = _fields(self._nodes.get(int(fields.get("file", "-1")), ""))
        folder, path = file.get("directory", ""), file.get("filename", "")
        place = path if path.startswith("/") or not folder else f"{folder}/{path}"
        returns = self._type(types[0]) if types and types[0] is not None else None
        return Signature(name, tuple(parameters), returns, place, int(fields.get("line", "0")), variadic)

    def variables_named(self, name: str) -> list[int]:
        """Nodes of the variables with this name."""
        mark = f'name: "{name}"'
        return [node for node, text in self._nodes.items() if "Variable(" in text and mark in text]

    def typed(self, node: int) -> Type | None:
        """The type of a variable."""
        fields = _fields(self._nodes.get(node, ""))
        return self._type(int(fields["type"])) if "type" in fields else None

    def variable(self, node: int) -> Declared | None:
        """The declaration of a local or global variable at this node."""
        text = self._nodes.get(node, "")
        fields = _fields(text)
        if "!DIGlobalVariableExpression(" in text:
            return self.variable(int(fields["var"]))
        if "Variable(" not in text or "name" not in fields or "type" not in fields:
            return None
        number = int(fields["type"])
        type_ = self._type(number)
        element = size_of(type_.element) if isinstance(type_, Array) else 0
        file = _fields(self._nodes.get(int(fields.get("file", "-1")), ""))
        folder, path = file.get("directory", ""), file.get("filename", "")
        place = path if path.startswith("/") or not folder else f"{folder}/{path}"
        written = self.declaration(number, fields["name"])
        return Declared(fields["name"], written, size_of(type_), element, place, int(fields.get("line", "0")), type_)

    def declaration(self, number: int | None, name: str) -> str:
        """A declaration in C of a name with the type at a node, by the names that the source has for types."""
        text = self._nodes.get(-1 if number is None else number, "")
        fields = _fields(text)
        tag = fields.get("tag", "").removeprefix("DW_TAG_")
        base = int(fields["baseType"]) if fields.get("baseType", "null") != "null" else None
        if number is None:
            return f"void {name}".rstrip()
        if tag == "pointer_type":
            inner = self._nodes.get(-1 if base is None else base, "")
            if "DISubroutineType(" in inner:
                return f"(*{name})()"
            return self.declaration(base, f"(*{name})" if "DW_TAG_array_type" in inner else f"*{name}")
        if tag == "array_type":
            counts = [
                _fields(self._nodes.get(-1 if each is None else each, "")).get("count", "")
                for each in self._list(fields.get("elements"))
            ]
            return self.declaration(base, name + "".join(f"[{count}]" for count in counts))
        if tag in ("const_type", "volatile_type", "restrict_type", "atomic_type"):
            word = {"const_type": "const ", "volatile_type": "volatile "}.get(tag, "")
            return word + self.declaration(base, name)
        keyword = {"structure_type": "struct ", "union_type": "union ", "enumeration_type": "enum "}.get(tag, "")
        return f"{keyword}{fields.get('name', '{...}')} {name}".rstrip()

    def _list(self, node: str | None) -> list[int | None]:
        """The elements of a tuple of nodes; None for `null`."""
        text = self._nodes.get(int(node), "") if node else ""
        inner = text[text.find("{") + 1 : text.rfind("}")]
        words = [word.strip() for word in inner.split(",") if word.strip()]
        return [int(word[1:]) if _NODE.fullmatch(word) else None for word in words]

    def _type(self, number: int | None) -> Type | None:
        """The type at a node without qualifiers and names; None is `void`."""
        if number is None:
            return None
        if number not in self._types:
            self._types[number] = self._read(number)
        return self._types[number]

    def _read(self, number: int) -> Type | None:
        text = self._nodes.get(number, "")
        fields = _fields(text)
        tag = fields.get("tag", "").removeprefix("DW_TAG_")
        base = int(fields["baseType"]) if fields.get("baseType", "null") != "null" else None
        size = int(fields.get("size", "0")) // 8
        if "!DIBasicType(" in text:
            encoding = fields.get("encoding", "").removeprefix("DW_ATE_").removesuffix("_char")
            return Scalar(fields.get("name", "int"), size, encoding)
        if "!DISubroutineType(" in text:
            return Function()
        if tag in _QUALIFIERS:
            found = self._type(base)
            # The only typedef that says what a pointer leads to.
            if fields.get("name") == "wchar_t" and isinstance(found, Scalar):
                return replace(found, name="wchar_t")
            return found
        if tag == "pointer_type":
            return self._pointer(base)
        if tag == "enumeration_type":
            return Scalar("int" if size == 4 else f"enum of {size} bytes", size, "enum")
        if tag == "array_type":
            return self._array(self._type(base), self._list(fields.get("elements")), size)
        if tag in ("structure_type", "union_type", "class_type"):
            return self._record(number, fields, size, tag == "union_type")
        return Scalar("a reference" if "reference_type" in tag else fields.get("name", "bytes"), size, "bytes")

    def _pointer(self, base: int | None) -> Pointer:
        # A record may contain a pointer to itself: it is entered before its members are read.
        return Pointer(self._type(base))

    def _array(self, element: Type | None, ranges: list[int | None], size: int) -> Type:
        element = element or Scalar("unsigned char", 1, "unsigned")
        for node in reversed(ranges):
            count = _fields(self._nodes.get(-1 if node is None else node, "")).get("count", "0")
            element = Array(element, max(0, int(count)))
        return element

    def _record(self, number: int, fields: dict[str, str], size: int, is_union: bool) -> Record:
        record = Record(fields.get("name", ""), is_union, size)
        self._types[number] = record
        for node in self._list(fields.get("elements")):
            member = _fields(self._nodes.get(-1 if node is None else node, ""))
            if member.get("tag") != "DW_TAG_member" or "DIFlagBitField" in member.get("flags", ""):
                continue
            type_ = self._type(int(member["baseType"]))
            if type_ is not None:
                record.members.append(Member(member.get("name", ""), int(member.get("offset", "0")) // 8, type_))
        return record


def _fields(text: str) -> dict[str, str]:
    return {name: node or number or string or word for name, node, number, string, word in _FIELD.findall(text)}
