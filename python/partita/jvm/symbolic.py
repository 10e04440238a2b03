"""Symbolic input: methods that return any value of their type, by the names of SV-COMP, SPF and our own jar."""

from __future__ import annotations

from typing import TYPE_CHECKING

from partita.llvm.write import Operand, integer, reg

if TYPE_CHECKING:
    from partita.jvm.natives import Body, Native

_VERIFIER = "org/sosy_lab/sv_benchmarks/Verifier."
_DEBUG = "gov/nasa/jpf/symbc/Debug."
_OURS = "partita/Symbolic."

_TYPES = {"Boolean": "Z", "Byte": "B", "Char": "C", "Short": "S", "Int": "I", "Integer": "I", "Long": "J"}
_TYPES |= {"Float": "F", "Double": "D", "Real": "D", "String": "Ljava/lang/String;"}
_WIDTHS = {"Z": 1, "B": 8, "C": 16, "S": 16, "I": 32, "J": 64, "F": 32, "D": 64}
_NAMES = {"Z": "boolean", "B": "byte", "C": "char", "S": "short", "I": "int", "J": "long", "F": "float", "D": "double"}


def find(key: str) -> Native | None:
    """The body of a method that makes symbolic input, or assumes a condition."""
    if not key.startswith((_VERIFIER, _DEBUG, _OURS)):
        return None
    _owner, _, rest = key.partition(".")
    name, _, descriptor = rest.partition("(")
    if name in ("assume", "ignore"):
        return _assume
    for prefix in ("nondet", "makeSymbolic", "make", "any"):
        kind = _TYPES.get(name.removeprefix(prefix)) if name.startswith(prefix) else None
        if kind is not None and descriptor.endswith(f"){kind}"):
            named = descriptor.startswith("Ljava/lang/String;")
            sized = descriptor.startswith("Ljava/lang/String;I)")
            return lambda b: _value(b, kind, named, sized)
    return None


def _assume(b: Body) -> None:
    b.fb.call("__VERIFIER_assume", [(b.args[0], 32)], [])
    b.ret()


def _value(b: Body, kind: str, named: bool, sized: bool) -> None:
    name = None
    if named:
        name, _ = b.string_parts(b.args[0])
    if kind == "Ljava/lang/String;":
        b.ret(make_string(b, name, b.args[1] if sized else None))
    else:
        b.ret(make_value(b, kind, name))


def make_value(b: Body, kind: str, name: Operand | None = None) -> Operand:
    """Any value of a primitive type; `name` are the bytes of a String with the name of the input."""
    fb = b.fb
    width = _WIDTHS[kind]
    if name is None:
        value = reg(fb.call(f"__VERIFIER_nondet_{_NAMES[kind]}", [], [width]))
    else:
        size = max(1, width // 8)
        value = fb.load(width, reg(fb.call("jvm_symbolic", [(integer(size), 64), (name, 64)], [64])))
    if width >= 32:
        return value
    return fb.cast("zext" if kind in "ZC" else "sext", width, 32, value)


def make_string(b: Body, name: Operand | None = None, limit: Operand | None = None) -> Operand:
    """Any string of Latin-1 characters up to the length that is explored; more is counted as not explored."""
    fb, lowering = b.fb, b.lowering
    bound = lowering.string_length
    most = integer(bound) if bound is not None else integer(DEFAULT_STRING_LENGTH)
    if limit is None and bound is None:
        why = f"symbolic strings longer than {DEFAULT_STRING_LENGTH} characters: set --string-length"
        fb.call("__partita_incomplete", [(fb.part.text(why), 64)], [])
    if limit is not None:
        most = limit
    lowering.string(lowering.library, "")
    string, data = lowering.descriptor(fb.part, "java/lang/String"), lowering.descriptor(fb.part, "[B")
    offset = integer(b.field("java/lang/String", "value", "[B"))
    arguments = [(most, 32), (name or integer(0), 64), (string, 64), (data, 64), (offset, 32)]
    return reg(fb.call("jvm_symbolic_string", arguments, [64]))


DEFAULT_STRING_LENGTH = 8
