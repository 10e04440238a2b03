"""LLVM's types with their layout on x86-64 or on 32-bit x86, and their scalar leaves.

A pointer is 64 bits wide in a register in both; on 32-bit x86 it is stored as its low half.
"""

from __future__ import annotations

from partita.llvm.tokens import Cursor, UnsupportedError, tokens_of

# name: (bits, bytes allocated, alignment)
_FLOATS = {
    "half": (16, 2, 2),
    "bfloat": (16, 2, 2),
    "float": (32, 4, 4),
    "double": (64, 8, 8),
    "x86_fp80": (80, 16, 16),
    "fp128": (128, 16, 16),
}
# On 32-bit x86: bytes allocated, alignment.
_NARROW = {"double": (8, 4), "x86_fp80": (12, 4)}
# Floating-point types with arithmetic: their numbers in the serialised form.
FLOAT_KINDS = {"float": 0, "double": 1, "x86_fp80": 2, "half": 3, "bfloat": 4, "fp128": 5}
# Largest number of scalars in a first-class value. Clang emits far smaller ones.
_MAX_LEAVES = 4096
# The first of the address spaces that are relative to gs, fs or ss on x86. Lower ones are plain pointers.
_FIRST_SEGMENT = 256


SEVERAL = 255
"""`Type.element_bytes` of a type with scalars of several sizes."""


class Type:
    """A type. `width` is 0 unless it is a scalar; `size` is the stride of array elements in bytes."""

    __slots__ = (
        "_leaves",
        "align",
        "count",
        "element",
        "fields",
        "kind",
        "name",
        "offsets",
        "size",
        "variadic",
        "width",
    )

    def __init__(self, kind: str, name: str, width: int = 0, size: int = 0, align: int = 1) -> None:
        self.kind = kind  # int ptr float vector array struct func void opaque
        self.name = name
        self.width = width
        self.size = size
        self.align = align
        self.element: Type | None = None  # element of an array or vector; result of a function
        self.count = 0
        self.fields: tuple[Type, ...] = ()  # fields of a struct; parameters of a function
        self.offsets: tuple[int, ...] = ()
        self.variadic = False
        self._leaves: list[tuple[int, Type]] | None = None

    def element_type(self) -> Type:
        if self.element is None:
            raise UnsupportedError(f"type `{self.name}` has no elements")
        return self.element

    @property
    def stored_width(self) -> int:
        """Bits of a scalar in memory; fewer than in a register for a pointer of 32 bits."""
        return 8 * self.size if self.kind == "ptr" else self.width

    @property
    def sized(self) -> bool:
        return self.kind not in ("void", "opaque", "func", "label", "metadata", "token")

    @property
    def element_bytes(self) -> int:
        """Bytes of the scalars of a value of this type if all have the same size; 0 if it has none, or `SEVERAL`."""
        if self.width:
            return min((self.stored_width + 7) // 8, SEVERAL)
        if self.kind in ("array", "vector"):
            return self.element_type().element_bytes
        sizes = {field.element_bytes for field in self.fields} - {0} if self.kind == "struct" else set()
        return sizes.pop() if len(sizes) == 1 else SEVERAL if sizes else 0

    @property
    def leaves(self) -> list[tuple[int, Type]]:
        """The scalars of a value with their offsets in bytes. Vector elements narrower than a byte share offsets."""
        if self._leaves is None:
            if self.width:
                self._leaves = [(0, self)]
            elif self.kind in ("array", "vector"):
                element = self.element_type()
                inner = element.leaves
                if self.count * len(inner) > _MAX_LEAVES:
                    raise UnsupportedError(f"a value of {self.count * len(inner)} scalars (type `{self.name}`)")
                step = element.size if self.kind == "array" else (element.stored_width + 7) // 8
                self._leaves = [(i * step + at, leaf) for i in range(self.count) for at, leaf in inner]
            elif self.kind == "struct":
                pairs = zip(self.offsets, self.fields, strict=True)
                self._leaves = [(base + at, leaf) for base, field in pairs for at, leaf in field.leaves]
            elif self.kind == "void":
                self._leaves = []
            else:
                raise UnsupportedError(f"a value of type `{self.name}`")
        return self._leaves

    def leaf_range(self, index: int) -> tuple[int, int, Type]:
        """The first leaf of the member `index` of an aggregate, the one after its last, and the type of the member."""
        if self.kind == "struct":
            if not 0 <= index < len(self.fields):
                raise UnsupportedError(f"member {index} of `{self.name}`")
            start = sum(len(field.leaves) for field in self.fields[:index])
            return start, start + len(self.fields[index].leaves), self.fields[index]
        element = self.element_type()
        each = len(element.leaves)
        return index * each, (index + 1) * each, element


def _integer(width: int) -> Type:
    stored = (width + 7) // 8
    align = min(1 << (stored - 1).bit_length(), 16)
    return Type("int", f"i{width}", width, (stored + align - 1) // align * align, align)


class Types:
    """All types of a module; named structures are resolved when first used."""

    def __init__(self, pointer_bytes: int = 8) -> None:
        self.pointer_bytes = pointer_bytes
        self._known: dict[str, Type] = {
            "ptr": Type("ptr", "ptr", 64, pointer_bytes, pointer_bytes),
            "void": Type("void", "void"),
            "label": Type("label", "label"),
            "metadata": Type("metadata", "metadata"),
            "token": Type("token", "token"),
            **{name: Type("float", name, *layout) for name, layout in _FLOATS.items()},
        }
        if self.is_narrow:
            for name, (size, align) in _NARROW.items():
                self._known[name] = Type("float", name, _FLOATS[name][0], size, align)
        self._definitions: dict[str, str] = {}
        self.ptr = self._known["ptr"]
        self.void = self._known["void"]
        self.i1 = self.integer(1)
        self.i8 = self.integer(8)
        self.i64 = self.integer(64)

    @property
    def is_narrow(self) -> bool:
        """Are pointers 32 bits wide?"""
        return self.pointer_bytes == 4

    def is_word(self, type_: Type) -> bool:
        """Whether values of the type are passed in general registers, one each, or in as much of the stack."""
        return type_.kind in ("int", "ptr") and type_.stored_width <= 8 * self.pointer_bytes

    def declare(self, name: str, definition: str) -> None:
        self._definitions[name] = definition

    def integer(self, width: int) -> Type:
        name = f"i{width}"
        found = self._known.get(name)
        if found is None:
            if not 1 <= width <= 1 << 16:
                raise UnsupportedError(f"integers of {width} bits")
            found = self._known[name] = _integer(width)
            if self.is_narrow and 32 < width <= 64:
                found.align = 4
        return found

    def is_start(self, token: str) -> bool:
        """Whether a type can begin with this token."""
        return token in self._known or token[:1] in "[{<%" or (token[:1] == "i" and token[1:].isdigit())

    def parse(self, cursor: Cursor) -> Type:
        token = cursor.tokens[cursor.at]
        found = self._known.get(token)
        if found is None:
            found = self._parse_new(cursor)
        else:
            cursor.at += 1
        after = cursor.tokens[cursor.at]
        if after == "(" and found.kind != "metadata":
            return self._function(cursor, found)
        if after == "addrspace":
            cursor.at += 2
            if cursor.number() >= _FIRST_SEGMENT:
                raise UnsupportedError("a pointer relative to a segment register")
            cursor.expect(")")
        return found

    def _parse_new(self, cursor: Cursor) -> Type:
        token = cursor.next()
        if token[:1] == "i" and token[1:].isdigit():
            return self.integer(int(token[1:]))
        if token[:1] == "%":
            return self._named(token)
        if token == "[":
            count = cursor.number()
            cursor.expect("x")
            element = self.parse(cursor)
            cursor.expect("]")
            return self.array(count, element)
        if token == "{":
            return self._structure(self._members(cursor, "}"), packed=False)
        if token == "<":
            if cursor.accept("{"):
                fields = self._members(cursor, "}")
                cursor.expect(">")
                return self._structure(fields, packed=True)
            if cursor.peek() == "vscale":
                raise UnsupportedError("scalable vectors")
            count = cursor.number()
            cursor.expect("x")
            element = self.parse(cursor)
            cursor.expect(">")
            return self.vector(count, element)
        raise UnsupportedError(f"type `{token}`")

    def _members(self, cursor: Cursor, end: str) -> list[Type]:
        fields: list[Type] = []
        while not cursor.accept(end):
            if fields:
                cursor.expect(",")
            fields.append(self.parse(cursor))
        return fields

    def _named(self, token: str) -> Type:
        definition = self._definitions.get(token)
        if definition is None or definition == "opaque":
            found = Type("opaque", token)
        else:
            found = self.parse(Cursor(tokens_of(definition)))
        self._known[token] = found
        return found

    def array(self, count: int, element: Type) -> Type:
        name = f"[{count} x {element.name}]"
        found = self._known.get(name)
        if found is None:
            found = self._known[name] = Type("array", name, 0, count * element.size, element.align)
            found.element = element
            found.count = count
        return found

    def vector(self, count: int, element: Type) -> Type:
        name = f"<{count} x {element.name}>"
        found = self._known.get(name)
        if found is None:
            stored = (count * element.stored_width + 7) // 8
            align = 1 << max(stored - 1, 0).bit_length()
            size = (stored + align - 1) // align * align
            found = self._known[name] = Type("vector", name, 0, size, align)
            found.element = element
            found.count = count
        return found

    def structure(self, *fields: Type) -> Type:
        return self._structure(list(fields), packed=False)

    def _structure(self, fields: list[Type], *, packed: bool) -> Type:
        name = "{" + ",".join(field.name for field in fields) + "}"
        name = f"<{name}>" if packed else name
        found = self._known.get(name)
        if found is not None:
            return found
        at, align, offsets = 0, 1, []
        for field in fields:
            if not packed:
                at = (at + field.align - 1) // field.align * field.align
                align = max(align, field.align)
            offsets.append(at)
            at += field.size
        found = self._known[name] = Type("struct", name, 0, (at + align - 1) // align * align, align)
        found.fields = tuple(fields)
        found.offsets = tuple(offsets)
        return found

    def _function(self, cursor: Cursor, result: Type) -> Type:
        cursor.expect("(")
        fields: list[Type] = []
        variadic = False
        while not cursor.accept(")"):
            if fields or variadic:
                cursor.expect(",")
            if cursor.accept("..."):
                variadic = True
            else:
                fields.append(self.parse(cursor))
        found = Type("func", f"{result.name} (...)" if variadic else f"{result.name} ()")
        found.element = result
        found.fields = tuple(fields)
        found.variadic = variadic
        return found


def is_float(type_: Type) -> bool:
    """Is it a floating-point type with arithmetic?"""
    return type_.name in FLOAT_KINDS


def float_kind(type_: Type) -> int:
    """The number of a floating-point type in the serialised form."""
    kind = FLOAT_KINDS.get(type_.name)
    if kind is None:
        raise UnsupportedError(f"arithmetic on `{type_.name}`")
    return kind
