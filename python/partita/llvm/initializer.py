"""Initial values of globals as bytes and relocations, written while parsing so that large tables are cheap."""

from __future__ import annotations

from typing import TYPE_CHECKING

from partita.llvm.constants import Linear, parse_constant
from partita.llvm.tokens import Cursor, UnsupportedError, string_bytes
from partita.llvm.types import Type
from partita.llvm.write import Address

if TYPE_CHECKING:
    from partita.llvm.module import Module


class Initializer:
    """Bytes and relocations of one object. Bytes that were not written are zero."""

    def __init__(self, module: Module) -> None:
        self._module = module
        self.data = bytearray()
        self.relocs: list[tuple[int, int, Address, Address | None]] = []

    def fill(self, cursor: Cursor, type_: Type, at: int) -> None:
        """Writes the constant at the cursor to offset `at`."""
        token = cursor.tokens[cursor.at]
        if token in ("zeroinitializer", "undef", "poison", "null"):
            cursor.at += 1
        elif token[:2] == 'c"':
            cursor.at += 1
            self._put(at, string_bytes(token))
        elif type_.kind == "vector":
            self._vector(cursor, type_, at)
        elif token in ("[", "{", "<"):
            self._members(cursor, type_, at)
        else:
            (leaf,) = parse_constant(self._module, cursor, type_)
            if isinstance(leaf, Linear):
                self._scalar(leaf, type_.stored_width, at)

    def _members(self, cursor: Cursor, type_: Type, at: int) -> None:
        opening = cursor.next()
        if opening == "<":
            cursor.expect("{")
        closing = "]" if opening == "[" else "}"
        number = 0
        step = type_.element_type().size if type_.kind == "array" else 0
        while not cursor.accept(closing):
            if number:
                cursor.expect(",")
            inner = self._module.types.parse(cursor)
            self.fill(cursor, inner, at + (number * step if step else type_.offsets[number]))
            number += 1
        if opening == "<":
            cursor.expect(">")

    def _vector(self, cursor: Cursor, type_: Type, at: int) -> None:
        width = type_.element_type().stored_width
        total = 0
        for number, leaf in enumerate(parse_constant(self._module, cursor, type_)):
            if isinstance(leaf, Linear):
                if leaf.plus or leaf.minus:
                    if width != 8 * self._module.types.pointer_bytes:
                        raise UnsupportedError("an address in a vector whose elements are narrower or wider")
                    self._scalar(leaf, width, at + number * width // 8)
                else:
                    total |= (leaf.addend & ((1 << width) - 1)) << (number * width)
        if total:
            self._put(at, total.to_bytes((type_.count * width + 7) // 8, "little"))

    def _scalar(self, leaf: Linear, width: int, at: int) -> None:
        size = (width + 7) // 8
        if leaf.plus is None and leaf.minus is None:
            value = leaf.addend & ((1 << width) - 1)
            if value:
                self._put(at, value.to_bytes(size, "little"))
            return
        if leaf.plus is None or size > 8:
            raise UnsupportedError("a negated address, or one wider than 64 bits, in an initial value")
        plus = leaf.plus
        if plus.kind == 2:
            if leaf.addend:
                raise UnsupportedError("the address of a label plus a number in an initial value")
        else:
            plus = Address(plus.kind, plus.number, plus.offset + leaf.addend)
        self.relocs.append((at, size, plus, leaf.minus))

    def _put(self, at: int, raw: bytes) -> None:
        if len(self.data) < at:
            self.data.extend(bytes(at - len(self.data)))
        self.data[at : at + len(raw)] = raw
