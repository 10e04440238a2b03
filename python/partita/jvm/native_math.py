"""Functions of mathematics that the JDK has as native code: musl's. Their last bit depends on the virtual machine."""

from __future__ import annotations

from partita.jvm.natives import TABLE, Body, Native, count
from partita.llvm.write import Operand, reg

_ONE = ("sin", "cos", "tan", "asin", "acos", "atan", "log", "log10", "sinh", "cosh", "tanh", "expm1", "log1p")
_TWO = {"atan2": "atan2", "IEEEremainder": "remainder"}
INEXACT = "one of several values: the last bit of a function of `Math`"
UNCOUNTED = frozenset(["java/math/BigInteger", "java/math/BigDecimal"])
"""Classes of the library whose results do not depend on the last bit: they estimate sizes."""


def _function(name: str, arguments: int) -> Native:
    def function(b: Body) -> None:
        if name != "remainder":
            count(b, INEXACT)
        b.ret(call(b, name, arguments))

    return function


def call(b: Body, name: str, arguments: int) -> Operand:
    """Calls a function in C, which the program is then linked with."""
    b.lowering.needs_mathematics = True
    return reg(b.fb.call(name, [(each, 64) for each in b.args[:arguments]], [64]))


for _owner in ("Math", "StrictMath"):
    for _name in _ONE:
        TABLE[f"java/lang/{_owner}.{_name}(D)D"] = _function(_name, 1)
    for _name, _other in _TWO.items():
        TABLE[f"java/lang/{_owner}.{_name}(DD)D"] = _function(_other, 2)
