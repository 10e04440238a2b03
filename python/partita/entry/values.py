"""Values of C as C writes them, by their types."""

from __future__ import annotations

import struct
from decimal import Decimal, localcontext

from partita.entry.debug_info import Array, Pointer, Record, Scalar, Type, size_of

_FLOATS = {2: "<e", 4: "<f", 8: "<d"}


def shown(type_: Type | None, data: bytes) -> str:
    """The value of an object. Members that are zero, and pointers, which are inputs of their own, are left out."""
    match type_:
        case Scalar():
            return _scalar(type_, data) if len(data) == type_.size else _several(type_, data)
        case Array(element=element):
            return _several(element, data)
        case Record(is_union=False) if len(data) == type_.size and type_.members:
            return "{" + ", ".join(_members(type_, data)) + "}"
        case _:
            return f"hex {data.hex(' ')}" if any(data) else "zeros"


def elements(type_: Type | None, data: bytes) -> str:
    """The elements of an array. Zeros at its end are elements like others."""
    if isinstance(type_, Scalar) and type_.name == "char":
        return _text(data, keeps_zeros=True)
    return _several(type_, data) if type_ is not None and data else "{}"


def _members(record: Record, data: bytes) -> list[str]:
    found = []
    for member in record.members:
        part = data[member.offset : member.offset + size_of(member.type)]
        if any(part) and not isinstance(member.type, Pointer):
            found.append(f".{member.name} = {shown(member.type, part)}")
    return found or ["0"]


def _several(element: Type, data: bytes) -> str:
    if isinstance(element, Scalar) and element.name == "char":
        return _text(data)
    size = size_of(element) or 1
    parts = [shown(element, data[at : at + size]) for at in range(0, len(data), size)]
    while len(parts) > 1 and parts[-1] == parts[-2]:
        parts.pop()
    more = ", ..." if len(parts) * size < len(data) and parts[-1] != "0" else ""
    return "{" + ", ".join(parts) + more + "}"


def _text(data: bytes, *, keeps_zeros: bool = False) -> str:
    # Zeros inside are shown: what is behind them decides something, or it would be zero too.
    body = data if keeps_zeros else data.rstrip(b"\0")
    escaped = "".join(chr(byte) if 32 <= byte < 127 and chr(byte) not in '"\\' else f"\\x{byte:02x}" for byte in body)
    return f'"{escaped}"'


def _scalar(type_: Scalar, data: bytes) -> str:
    if type_.encoding == "float" and type_.size in _FLOATS:
        return repr(struct.unpack(_FLOATS[type_.size], data)[0])
    if type_.encoding == "float":
        return _long_double(data) if type_.name == "long double" else f"hex {data.hex(' ')}"
    if type_.encoding == "boolean":
        return "true" if any(data) else "false"
    number = int.from_bytes(data, "little", signed=type_.encoding in ("signed", "enum"))
    if type_.name == "char" and 32 <= number < 127:
        return f"'{chr(number)}'"
    return str(number)


def _long_double(data: bytes) -> str:
    """A number of x87 in as many digits as distinguish it."""
    word = int.from_bytes(data[:10], "little")
    significand, exponent, sign = word % (1 << 64), word >> 64 & 0x7FFF, "-" if word >> 79 else ""
    has_integer_bit = bool(significand >> 63)
    if exponent == 0x7FFF and significand == 1 << 63:
        return sign + "inf"
    if exponent == 0x7FFF or (exponent and not has_integer_bit):
        return "nan"
    with localcontext() as context:
        context.prec = 40
        number = significand * Decimal(2) ** (max(exponent, 1) - 16383 - 63)
        context.prec = 21
        text = f"{(+number).normalize():g}" if number else "0"
    return f"{sign}{text}L"
