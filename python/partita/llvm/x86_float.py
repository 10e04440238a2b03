"""Intrinsics of x86's floating-point vector instructions, SSE to AVX: one row per name, without `llvm.x86.`.

Conversions to integers give the least integer for a number that does not fit, and for what is no number; that is
defined, unlike C's. Approximations (`rcpps`, `rsqrtps`) differ between processors and have no row.
"""

from __future__ import annotations

from partita.llvm.function import Lowering
from partita.llvm.tokens import UnsupportedError
from partita.llvm.types import Type, float_kind
from partita.llvm.write import FBIN, FBIN_OPS, FCAST, FTOINT, FUN, FUN_OPS, Operand, constant_of, reg
from partita.llvm.x86 import Elements, Row, choose, element_width, halves, ordered

_SIGNED, _SATURATE = 1 << 8, 2 << 8
# By bits 1 and 0 of the number that chooses a rounding; with bit 2 the current mode is used.
_ROUNDINGS = ("roundeven", "floor", "ceil", "trunc")
_CURRENT_MODE = 4
_MANTISSA, _BIAS = {32: 23, 64: 52}, {32: 127, 64: 1023}


def _float(low: Lowering, op: str, type_: Type, a: Operand, b: Operand) -> Operand:
    dst = low.new_register(type_.width)
    low.emit((FBIN | FBIN_OPS[op] | float_kind(type_) << 16, dst, *a, *b))
    return reg(dst)


def _rounded(low: Lowering, op: str, type_: Type, a: Operand) -> Operand:
    dst = low.new_register(type_.width)
    low.emit((FUN | FUN_OPS[op] | float_kind(type_) << 16, dst, *a))
    return reg(dst)


def _converted(low: Lowering, from_type: Type, to_type: Type, a: Operand) -> Operand:
    dst = low.new_register(to_type.width)
    low.emit((FCAST | float_kind(from_type) << 8 | float_kind(to_type) << 16, dst, *a))
    return reg(dst)


def _number(low: Lowering, args: list[Elements], at: int) -> int:
    found = constant_of(args[at][0])
    if found is None:
        raise UnsupportedError("an immediate operand that is not constant")
    return found


def _integer(low: Lowering, op: str, type_: Type, a: Operand, width: int) -> Operand:
    """The number rounded by `op`, as a signed integer."""
    rounded = a if op == "trunc" else _rounded(low, op, type_, a)
    found = low.new_register(width)
    low.emit((FTOINT | _SIGNED | _SATURATE | float_kind(type_) << 16, found, *rounded))
    size = type_.width
    limit = low.integer((_BIAS[size] + width - 1) << _MANTISSA[size], size)
    too_large = ordered(low, "uge", type_, rounded, limit)
    return choose(low, width, too_large, low.integer(1 << (width - 1), width), reg(found))


def _to_integers(op: str) -> Row:
    """`cvtps2dq`, `cvttsd2si` and relatives: as many elements as the result has, others are 0."""

    def lower(low: Lowering, name: str, type_: Type, types: list[Type], args: list[Elements]) -> None:
        element, width = types[0].element_type(), element_width(type_)
        if type_.kind != "vector":
            low.define(name, _integer(low, op, element, args[0][0], width))
            return
        found = [_integer(low, op, element, each, width) for each in args[0]]
        low.define(name, found + [low.integer(0, width)] * (type_.count - len(found)))

    return lower


def _to_single(low: Lowering, name: str, type_: Type, types: list[Type], args: list[Elements]) -> None:
    """`cvtpd2ps`."""
    element, single = types[0].element_type(), type_.element_type()
    found = [_converted(low, element, single, each) for each in args[0]]
    low.define(name, found + [low.integer(0, 32)] * (type_.count - len(found)))


def _first_to_single(low: Lowering, name: str, type_: Type, types: list[Type], args: list[Elements]) -> None:
    """`cvtsd2ss`: the other elements are the first operand's."""
    first = _converted(low, types[1].element_type(), type_.element_type(), args[1][0])
    low.define(name, [first, *args[0][1:]])


def _rounding(number: int) -> str:
    return "rint" if number & _CURRENT_MODE else _ROUNDINGS[number & 3]


def _round(low: Lowering, name: str, type_: Type, types: list[Type], args: list[Elements]) -> None:
    """`roundps`, `roundpd`."""
    op = _rounding(_number(low, args, 1))
    low.define(name, [_rounded(low, op, type_.element_type(), each) for each in args[0]])


def _round_first(low: Lowering, name: str, type_: Type, types: list[Type], args: list[Elements]) -> None:
    """`roundss`, `roundsd`: the first element of the second operand."""
    op = _rounding(_number(low, args, 2))
    low.define(name, [_rounded(low, op, type_.element_type(), args[1][0]), *args[0][1:]])


def _horizontal(op: str) -> Row:
    """`haddps` and relatives: of neighbours of the first operand and then of the second, in each half."""

    def lower(low: Lowering, name: str, type_: Type, types: list[Type], args: list[Elements]) -> None:
        element = type_.element_type()
        found: Elements = []
        for a, b in zip(halves(args[0], element.width), halves(args[1], element.width), strict=True):
            for each in (a, b):
                found += [_float(low, op, element, each[i], each[i + 1]) for i in range(0, len(each), 2)]
        low.define(name, found)

    return lower


def _add_subtract(low: Lowering, name: str, type_: Type, types: list[Type], args: list[Elements]) -> None:
    """`addsubps`: differences of elements with even numbers, sums of the others."""
    element = type_.element_type()
    pairs = enumerate(zip(args[0], args[1], strict=True))
    low.define(name, [_float(low, "fadd" if i & 1 else "fsub", element, a, b) for i, (a, b) in pairs])


def _dot_product(low: Lowering, name: str, type_: Type, types: list[Type], args: list[Elements]) -> None:
    """`dpps`, `dppd`: bits 7 to 4 choose the products, bits 3 to 0 the elements that get their sum; others are 0."""
    number, element = _number(low, args, 2), type_.element_type()
    zero = low.integer(0, element.width)
    found: Elements = []
    for a, b in zip(halves(args[0], element.width), halves(args[1], element.width), strict=True):
        terms = [
            _float(low, "fmul", element, x, y) if number >> (4 + i) & 1 else zero
            for i, (x, y) in enumerate(zip(a, b, strict=True))
        ]
        while len(terms) > 1:
            terms = [_float(low, "fadd", element, terms[i], terms[i + 1]) for i in range(0, len(terms), 2)]
        found += [terms[0] if number >> i & 1 else zero for i in range(len(a))]
    low.define(name, found)


def _insert(low: Lowering, name: str, type_: Type, types: list[Type], args: list[Elements]) -> None:
    """`insertps`: bits 7 and 6 choose the element, 5 and 4 its place, 3 to 0 the places that become 0."""
    number = _number(low, args, 2)
    found = list(args[0])
    found[number >> 4 & 3] = args[1][number >> 6 & 3]
    low.define(name, [low.integer(0, 32) if number >> i & 1 else each for i, each in enumerate(found)])


ROWS: dict[str, Row] = {
    **{
        f"{kind}.cvt{letter}{source}2si{size}": _to_integers(op)
        for kind, source in (("sse", "ss"), ("sse2", "sd"))
        for letter, op in (("", "rint"), ("t", "trunc"))
        for size in ("", "64")
    },
    **{f"sse2.cvt{kind}": _to_integers("rint") for kind in ("ps2dq", "pd2dq")},
    **{f"sse2.cvtt{kind}": _to_integers("trunc") for kind in ("ps2dq", "pd2dq")},
    **{f"avx.cvt.{kind}.256": _to_integers("rint") for kind in ("ps2dq", "pd2dq")},
    **{f"avx.cvtt.{kind}.256": _to_integers("trunc") for kind in ("ps2dq", "pd2dq")},
    **dict.fromkeys(("sse2.cvtpd2ps", "avx.cvt.pd2.ps.256"), _to_single),
    "sse2.cvtsd2ss": _first_to_single,
    **dict.fromkeys("sse41.round.ps sse41.round.pd avx.round.ps.256 avx.round.pd.256".split(), _round),
    **dict.fromkeys(("sse41.round.ss", "sse41.round.sd"), _round_first),
    **{
        f"{name}.h{word}.{kind}": _horizontal(f"f{word}")
        for word in ("add", "sub")
        for name, kind in (("sse3", "ps"), ("sse3", "pd"), ("avx", "ps.256"), ("avx", "pd.256"))
    },
    **dict.fromkeys("sse3.addsub.ps sse3.addsub.pd avx.addsub.ps.256 avx.addsub.pd.256".split(), _add_subtract),
    **dict.fromkeys("sse41.dpps sse41.dppd avx.dp.ps.256".split(), _dot_product),
    "sse41.insertps": _insert,
}
