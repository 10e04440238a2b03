"""Constants: literals, initial values of globals, and constant expressions.

A constant scalar is a linear form `plus - minus + addend` over at most two addresses. Relocations can express no more,
and clang emits no more. Arithmetic is modulo the width, so truncation commutes with it.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import TYPE_CHECKING

from partita.llvm.tokens import Cursor, UnsupportedError, string_bytes, unquote
from partita.llvm.types import Type
from partita.llvm.write import Address

if TYPE_CHECKING:
    from partita.llvm.module import Module


@dataclass(frozen=True)
class Linear:
    """`plus - minus + addend`. The offset of an address is 0 here, or the block of a label address."""

    addend: int = 0
    plus: Address | None = None
    minus: Address | None = None

    def add(self, other: Linear, sign: int = 1) -> Linear:
        plus, minus = (other.plus, other.minus) if sign > 0 else (other.minus, other.plus)
        if (self.plus and plus) or (self.minus and minus):
            raise UnsupportedError("a constant expression over several addresses")
        plus, minus = self.plus or plus, self.minus or minus
        if plus == minus:
            plus = minus = None
        return Linear(self.addend + sign * other.addend, plus, minus)


class _Undefined:
    """The constants `undef` and `poison`."""

    def __init__(self, poison: bool) -> None:
        self.poison = poison


UNDEF_VALUE = _Undefined(poison=False)
POISON_VALUE = _Undefined(poison=True)

# A constant is a list of leaves, each a linear form or an undefined value.
Leaf = Linear | _Undefined

_CASTS = frozenset(("bitcast", "ptrtoint", "ptrtoaddr", "inttoptr", "addrspacecast", "trunc"))
_GEP_FLAGS = frozenset(("inbounds", "nusw", "nuw"))
_BIN_FLAGS = frozenset(("nuw", "nsw", "exact", "disjoint"))


def parse_constant(module: Module, cursor: Cursor, type_: Type) -> list[Leaf]:
    """The leaves of a constant of this type."""
    token = cursor.tokens[cursor.at]
    if type_.width:
        return [_scalar(module, cursor, type_)]
    if token in ("zeroinitializer", "undef", "poison"):
        cursor.at += 1
        plain: dict[str, Leaf] = {"zeroinitializer": Linear(), "undef": UNDEF_VALUE, "poison": POISON_VALUE}
        return [plain[token]] * len(type_.leaves)
    if token[:2] == 'c"':
        cursor.at += 1
        return [Linear(byte) for byte in string_bytes(token)]
    if token == "splat":
        cursor.at += 1
        cursor.expect("(")
        leaf = _scalar(module, cursor, module.types.parse(cursor))
        cursor.expect(")")
        return [leaf] * type_.count
    if token in ("[", "{", "<"):
        return _members(module, cursor, type_)
    raise UnsupportedError(f"constant `{token}` of type `{type_.name}`")


def _members(module: Module, cursor: Cursor, type_: Type) -> list[Leaf]:
    opening = cursor.next()
    if opening == "<" and cursor.accept("{"):
        opening = "<{"
    leaves: list[Leaf] = []
    closing = {"[": "]", "{": "}", "<": ">", "<{": "}"}[opening]
    first = True
    while not cursor.accept(closing):
        if not first:
            cursor.expect(",")
        first = False
        leaves += parse_constant(module, cursor, module.types.parse(cursor))
    if opening == "<{":
        cursor.expect(">")
    if len(leaves) != len(type_.leaves):
        raise UnsupportedError(f"a constant of {len(leaves)} scalars for `{type_.name}`")
    return leaves


def _scalar(module: Module, cursor: Cursor, type_: Type) -> Leaf:
    token = cursor.next()
    first = token[0]
    if first == "@":
        return Linear(plus=module.symbol_address(unquote(token)))
    if type_.kind == "float":
        bits = float_bits(token, type_.name)
        if bits is not None:
            return Linear(bits)
    elif first in "-0123456789":
        return Linear(int(token))
    if token in ("false", "null", "zeroinitializer", "none"):
        return Linear()
    if token == "true":
        return Linear(1)
    if token == "undef":
        return UNDEF_VALUE
    if token == "poison":
        return POISON_VALUE
    return _expression(module, cursor, token)


def _expression(module: Module, cursor: Cursor, token: str) -> Leaf:
    if token in ("dso_local_equivalent", "no_cfi"):
        return Linear(plus=module.symbol_address(unquote(cursor.next())))
    if token == "blockaddress":
        cursor.expect("(")
        function = unquote(cursor.next())
        cursor.expect(",")
        label = unquote(cursor.next())
        cursor.expect(")")
        return Linear(plus=module.label_address(function, label))
    if token in _CASTS:
        cursor.skip_words(_BIN_FLAGS)
        cursor.expect("(")
        from_type = module.types.parse(cursor)
        inner = _scalar(module, cursor, from_type)
        cursor.expect("to")
        to_type = module.types.parse(cursor)
        cursor.expect(")")
        # Only the low bits of an address can be relocated; those of a pointer of 32 bits are all it has.
        widens = to_type.stored_width > from_type.stored_width
        if widens and not (isinstance(inner, Linear) and inner.plus is inner.minus is None):
            raise UnsupportedError(f"constant expression `{token}` from `{from_type.name}` to `{to_type.name}`")
        if isinstance(inner, Linear) and inner.plus is None and inner.minus is None:
            return Linear(inner.addend & ((1 << from_type.width) - 1))
        return inner
    if token == "getelementptr":
        return _getelementptr(module, cursor)
    if token in ("add", "sub", "xor"):
        cursor.skip_words(_BIN_FLAGS)
        cursor.expect("(")
        left = _linear(_scalar(module, cursor, module.types.parse(cursor)), token)
        cursor.expect(",")
        right = _linear(_scalar(module, cursor, module.types.parse(cursor)), token)
        cursor.expect(")")
        if token == "xor":
            if left.plus or left.minus or right.plus or right.minus:
                raise UnsupportedError("constant expression `xor` of an address")
            return Linear(left.addend ^ right.addend)
        return left.add(right, 1 if token == "add" else -1)
    raise UnsupportedError(f"constant expression `{token}`")


def _linear(leaf: Leaf, where: str) -> Linear:
    if not isinstance(leaf, Linear):
        raise UnsupportedError(f"an undefined value in constant expression `{where}`")
    return leaf


def _getelementptr(module: Module, cursor: Cursor) -> Linear:
    cursor.skip_words(_GEP_FLAGS)
    if cursor.accept("inrange"):
        cursor.skip_group()
    cursor.expect("(")
    type_ = module.types.parse(cursor)
    cursor.expect(",")
    base = _linear(_scalar(module, cursor, module.types.parse(cursor)), "getelementptr")
    first = True
    while cursor.accept(","):
        index_type = module.types.parse(cursor)
        index = _linear(_scalar(module, cursor, index_type), "getelementptr")
        offset, type_ = member_offset(type_, signed(index, index_type.width), first=first)
        base = base.add(Linear(offset))
        first = False
    cursor.expect(")")
    return base


def signed(index: Linear, width: int) -> int:
    if index.plus or index.minus:
        raise UnsupportedError("an address as an index in a constant expression")
    value = index.addend & ((1 << width) - 1)
    return value - (1 << width) if value >> (width - 1) else value


def member_offset(type_: Type, index: int, *, first: bool) -> tuple[int, Type]:
    """The offset in bytes of a constant index of getelementptr, and the type of the member."""
    if first:
        return index * type_.size, type_
    if type_.kind == "struct":
        if not 0 <= index < len(type_.fields):
            raise UnsupportedError(f"member {index} of `{type_.name}`")
        return type_.offsets[index], type_.fields[index]
    element = type_.element_type()
    return index * element.size, element


def float_bits(token: str, type_name: str) -> int | None:
    """The bits of a floating-point literal, or None if the token is not one."""
    if token[:2] == "0x":
        if token[2] in "KHRLM":
            if token[2] in "LM":  # fp128 is written low half first
                return int(token[19:], 16) << 64 | int(token[3:19], 16)
            return int(token[3:], 16)
        bits = int(token[2:], 16)  # float and double are both written as double
        return _double_to_float_bits(bits) if type_name == "float" else bits
    if token[0] not in "-+0123456789":
        return None
    try:
        value = float(token)
    except ValueError:
        return None
    code, size = {"float": ("f", "I"), "double": ("d", "Q"), "half": ("e", "H")}.get(type_name, ("", ""))
    if not code:
        return None
    return int(struct.unpack("<" + size, struct.pack("<" + code, value))[0])


def _double_to_float_bits(bits: int) -> int:
    """Converts a double that a float can represent. NaNs are converted bit by bit, so that they keep their payload."""
    exponent = bits >> 52 & 0x7FF
    if exponent == 0x7FF:
        return bits >> 63 << 31 | 0x7F800000 | (bits >> 29 & 0x7FFFFF)
    (value,) = struct.unpack("<d", struct.pack("<Q", bits))
    return int(struct.unpack("<I", struct.pack("<f", value))[0])
