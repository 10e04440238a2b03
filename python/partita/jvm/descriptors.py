"""Descriptors of fields and methods (JVMS 4.3), and what values of their types are in a Program.

Values have one of five kinds: I (int and smaller), J, F, D and A (references). References are addresses of 64 bits.
"""

from __future__ import annotations

from functools import lru_cache

from partita.jvm.classfile import ClassFormatError

WIDTHS = {"I": 32, "J": 64, "F": 32, "D": 64, "A": 64}
"""Width of a register of each kind."""
SIZES = {"Z": 1, "B": 1, "C": 2, "S": 2, "I": 4, "F": 4, "J": 8, "D": 8, "L": 8, "[": 8}
"""Bytes of a field or array element, by the first letter of its descriptor."""
_KINDS = {"Z": "I", "B": "I", "C": "I", "S": "I", "I": "I", "J": "J", "F": "F", "D": "D", "L": "A", "[": "A"}


def kind_of(descriptor: str) -> str:
    """Kind of the values of a type."""
    try:
        return _KINDS[descriptor[0]]
    except (KeyError, IndexError):
        raise ClassFormatError(f"expected a descriptor, found `{descriptor}`") from None


def size_of(descriptor: str) -> int:
    kind_of(descriptor)
    return SIZES[descriptor[0]]


@lru_cache(maxsize=65536)
def parse_method(descriptor: str) -> tuple[tuple[str, ...], str]:
    """Descriptors of the parameters, and of the result (`V` for none)."""
    if not descriptor.startswith("("):
        raise ClassFormatError(f"expected a method descriptor, found `{descriptor}`")
    parameters = []
    at = 1
    while at < len(descriptor) and descriptor[at] != ")":
        end = _end(descriptor, at)
        parameters.append(descriptor[at:end])
        at = end
    if at >= len(descriptor):
        raise ClassFormatError(f"expected a method descriptor, found `{descriptor}`")
    result = descriptor[at + 1 :]
    if result != "V" and _end(descriptor, at + 1) != len(descriptor):
        raise ClassFormatError(f"expected a method descriptor, found `{descriptor}`")
    return tuple(parameters), result


def _end(descriptor: str, at: int) -> int:
    """End of the type that starts at an index."""
    while at < len(descriptor) and descriptor[at] == "[":
        at += 1
    if at >= len(descriptor) or descriptor[at] not in _KINDS:
        raise ClassFormatError(f"expected a descriptor, found `{descriptor}`")
    if descriptor[at] != "L":
        return at + 1
    end = descriptor.find(";", at)
    if end < 0:
        raise ClassFormatError(f"expected a descriptor, found `{descriptor}`")
    return end + 1


def class_of(descriptor: str) -> str:
    """Name of the class of a reference type, as the constant pool has it: `[I` and `[Lp/C;` for arrays."""
    return descriptor[1:-1] if descriptor[0] == "L" else descriptor


def descriptor_of(name: str) -> str:
    """Descriptor of a class by its name in the constant pool."""
    return name if name.startswith("[") else f"L{name};"


def readable(name: str) -> str:
    """A class as Java sources write it: `java.util.Map$Entry`, `int[]`."""
    dimensions = len(name) - len(name.lstrip("["))
    if dimensions:
        basic = {"Z": "boolean", "B": "byte", "C": "char", "S": "short", "I": "int", "J": "long", "F": "float"}
        basic |= {"D": "double"}
        name = basic.get(name[dimensions], name[dimensions + 1 : -1])
    return name.replace("/", ".") + "[]" * dimensions


def simple_name(name: str) -> str:
    """Name of a class without its package and outer classes; empty for an anonymous class."""
    text = readable(name)
    last = text.rpartition(".")[2]
    head, dollar, inner = last.rpartition("$")
    # `Outer$1Local` is a local class; a name that ends in `$` has no outer class.
    return inner.lstrip("0123456789") if head and dollar and inner else last
