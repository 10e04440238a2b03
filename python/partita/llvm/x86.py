"""Intrinsics of x86's integer and bit instructions, SSE2 to AVX2: one row per name, without `llvm.x86.`.

Clang's headers express most of an instruction set as plain IR; these are the instructions that are left. A vector is a
list of elements. Instructions of 256 bits work on both halves as those of 128 bits do, unless the row says otherwise.
Names that are not here end the path with the name of the instruction.
"""

from __future__ import annotations

from collections.abc import Callable

from partita.llvm.function import Lowering
from partita.llvm.tokens import UnsupportedError
from partita.llvm.types import Type, float_kind
from partita.llvm.vectors import pack, unpack
from partita.llvm.write import (
    CMP,
    FCMP,
    FCMP_PREDS,
    INT_PREDS,
    SELECT,
    Operand,
    constant_of,
    integer,
    reg,
)

Row = Callable[[Lowering, str, Type, list[Type], list[list[Operand]]], None]
Elements = list[Operand]
_HALF = 128


def element_width(type_: Type) -> int:
    return type_.element_type().width if type_.kind == "vector" else type_.width


def compare(low: Lowering, pred: str, width: int, a: Operand, b: Operand) -> Operand:
    dst = low.new_register(1)
    low.emit((CMP | INT_PREDS[pred], width, dst, *a, *b))
    return reg(dst)


def choose(low: Lowering, width: int, cond: Operand, a: Operand, b: Operand) -> Operand:
    dst = low.new_register(width)
    low.emit((SELECT, dst, *cond, *a, *b))
    return reg(dst)


def _clamp(low: Lowering, a: Operand, width: int, least: int, most: int) -> Operand:
    """The signed number between two bounds."""
    return low.binary("smax", width, low.binary("smin", width, a, low.integer(most, width)), low.integer(least, width))


def halves(elements: Elements, width: int) -> list[Elements]:
    each = _HALF // width
    return [elements[at : at + each] for at in range(0, len(elements), each)]


def _elementwise(of: Callable[[Lowering, int, Operand, Operand], Operand]) -> Row:
    def lower(low: Lowering, name: str, type_: Type, types: list[Type], args: list[Elements]) -> None:
        width = element_width(types[0])
        low.define(name, [of(low, width, a, b) for a, b in zip(args[0], args[1], strict=True)])

    return lower


def _pack(least: Callable[[int], int], most: Callable[[int], int]) -> Row:
    """Elements of both operands with half the width, saturated."""

    def lower(low: Lowering, name: str, type_: Type, types: list[Type], args: list[Elements]) -> None:
        width, to = element_width(types[0]), element_width(type_)
        found: Elements = []
        for a, b in zip(halves(args[0], width), halves(args[1], width), strict=True):
            clamped = [_clamp(low, each, width, least(to), most(to)) for each in (*a, *b)]
            found += [low.cast("trunc", each, width, to) for each in clamped]
        low.define(name, found)

    return lower


_pack_signed = _pack(lambda to: -(1 << (to - 1)), lambda to: (1 << (to - 1)) - 1)
_pack_unsigned = _pack(lambda to: 0, lambda to: (1 << to) - 1)


def _average(low: Lowering, width: int, a: Operand, b: Operand) -> Operand:
    total = low.binary("add", 2 * width, low.cast("zext", a, width, 2 * width), low.cast("zext", b, width, 2 * width))
    rounded = low.binary("add", 2 * width, total, low.integer(1, 2 * width))
    return low.cast("trunc", low.binary("lshr", 2 * width, rounded, low.integer(1, 2 * width)), 2 * width, width)


def _high_product(kind: str) -> Callable[[Lowering, int, Operand, Operand], Operand]:
    def of(low: Lowering, width: int, a: Operand, b: Operand) -> Operand:
        wide = 2 * width
        product = low.binary("mul", wide, low.cast(kind, a, width, wide), low.cast(kind, b, width, wide))
        return low.cast("trunc", low.binary("lshr", wide, product, low.integer(width, wide)), wide, width)

    return of


def _rounded_product(low: Lowering, width: int, a: Operand, b: Operand) -> Operand:
    """`pmulhrsw`: bits 16 to 1 of the product shifted by 14, rounded."""
    product = low.binary("mul", 32, low.cast("sext", a, 16, 32), low.cast("sext", b, 16, 32))
    shifted = low.binary("add", 32, low.binary("ashr", 32, product, low.integer(14, 32)), low.integer(1, 32))
    return low.cast("trunc", low.binary("lshr", 32, shifted, low.integer(1, 32)), 32, 16)


def _sign(low: Lowering, width: int, a: Operand, b: Operand) -> Operand:
    zero = low.integer(0, width)
    negated = low.binary("sub", width, zero, a)
    other = choose(low, width, compare(low, "eq", width, b, zero), zero, a)
    return choose(low, width, compare(low, "slt", width, b, zero), negated, other)


def _multiply_add(first: str) -> Row:
    """Sums of products of neighbours. `first` extends the first operand; with `zext` sums saturate (`pmaddubsw`)."""

    def lower(low: Lowering, name: str, type_: Type, types: list[Type], args: list[Elements]) -> None:
        width, to = element_width(types[0]), element_width(type_)
        inner = 32 if first == "zext" else to
        found: Elements = []
        for i in range(0, len(args[0]), 2):
            products = [
                low.binary(
                    "mul",
                    inner,
                    low.cast(first, args[0][j], width, inner),
                    low.cast("sext", args[1][j], width, inner),
                )
                for j in (i, i + 1)
            ]
            total = low.binary("add", inner, *products)
            if first == "zext":
                total = low.cast("trunc", _clamp(low, total, inner, -32768, 32767), inner, to)
            found.append(total)
        low.define(name, found)

    return lower


def _absolute_differences(low: Lowering, name: str, type_: Type, types: list[Type], args: list[Elements]) -> None:
    """`psadbw`: for each eight bytes the sum of absolute differences, in 64 bits."""
    found: Elements = []
    for at in range(0, len(args[0]), 8):
        total: Operand = low.integer(0, 64)
        for a, b in zip(args[0][at : at + 8], args[1][at : at + 8], strict=True):
            difference = low.binary("sub", 8, low.binary("umax", 8, a, b), low.binary("umin", 8, a, b))
            total = low.binary("add", 64, total, low.cast("zext", difference, 8, 64))
        found.append(total)
    low.define(name, found)


def _offset_differences(low: Lowering, name: str, type_: Type, types: list[Type], args: list[Elements]) -> None:
    """`mpsadbw`: sums of absolute differences of four bytes at eight places of the first operand, in each half."""
    number = constant_of(args[2][0])
    if number is None:
        raise UnsupportedError("an immediate operand that is not constant")
    found: Elements = []
    for half, (a, b) in enumerate(zip(halves(args[0], 8), halves(args[1], 8), strict=True)):
        control = number >> 3 * half
        first, second = control & 4, 4 * (control & 3)
        for at in range(8):
            total: Operand = low.integer(0, 16)
            for x, y in zip(a[first + at : first + at + 4], b[second : second + 4], strict=True):
                difference = low.binary("sub", 8, low.binary("umax", 8, x, y), low.binary("umin", 8, x, y))
                total = low.binary("add", 16, total, low.cast("zext", difference, 8, 16))
            found.append(total)
    low.define(name, found)


def _horizontal(op: str) -> Row:
    """Sums or differences of neighbours, of the first operand and then of the second, in each half."""

    def lower(low: Lowering, name: str, type_: Type, types: list[Type], args: list[Elements]) -> None:
        width = element_width(types[0])
        found: Elements = []
        for a, b in zip(halves(args[0], width), halves(args[1], width), strict=True):
            for each in (a, b):
                found += [low.binary(op, width, each[i], each[i + 1]) for i in range(0, len(each), 2)]
        low.define(name, found)

    return lower


def _shuffle_bytes(low: Lowering, name: str, type_: Type, types: list[Type], args: list[Elements]) -> None:
    """`pshufb`: the byte of the same half that the low four bits of an index name; 0 if its top bit is set."""
    found: Elements = []
    for a, indices in zip(halves(args[0], 8), halves(args[1], 8), strict=True):
        found += [_selected_byte(low, a, index) for index in indices]
    low.define(name, found)


def _selected_byte(low: Lowering, bytes_: Elements, index: Operand) -> Operand:
    known = constant_of(index)
    if known is not None:
        return low.integer(0, 8) if known & 0x80 else bytes_[known & 15]
    chosen = _element(low, bytes_, 8, low.binary("and", 8, index, low.integer(15, 8)), 8)
    return choose(low, 8, compare(low, "slt", 8, index, low.integer(0, 8)), low.integer(0, 8), chosen)


def _element(low: Lowering, elements: Elements, width: int, index: Operand, index_width: int) -> Operand:
    """The element that an index below their number, a power of two, names: a tree of choices by its bits."""
    bit = 0
    while len(elements) > 1:
        shifted = low.binary("lshr", index_width, index, low.integer(bit, index_width))
        odd = low.cast("trunc", shifted, index_width, 1)
        elements = [choose(low, width, odd, elements[i + 1], elements[i]) for i in range(0, len(elements), 2)]
        bit += 1
    return elements[0]


def _permute(low: Lowering, name: str, type_: Type, types: list[Type], args: list[Elements]) -> None:
    """`vpermd`, `vpermps`: elements of the whole vector."""
    mask = low.integer(len(args[0]) - 1, 32)
    indices = [low.binary("and", 32, index, mask) for index in args[1]]
    low.define(name, [_element(low, args[0], element_width(types[0]), index, 32) for index in indices])


def _permute_halves(low: Lowering, name: str, type_: Type, types: list[Type], args: list[Elements]) -> None:
    """`vpermilps` and `vpermilpd` with a vector of indices: elements of the same half. The latter uses bit 1."""
    width, index_width = element_width(types[0]), element_width(types[1])
    found: Elements = []
    for a, indices in zip(halves(args[0], width), halves(args[1], width), strict=True):
        for index in indices:
            if width == 64:
                index = low.binary("lshr", index_width, index, low.integer(1, index_width))
            index = low.binary("and", index_width, index, low.integer(len(a) - 1, index_width))
            found.append(_element(low, a, width, index, index_width))
    low.define(name, found)


def _shift(op: str) -> Row:
    """All elements by one amount, a number or the low 64 bits of a vector. Too large: 0, or the sign."""

    def lower(low: Lowering, name: str, type_: Type, types: list[Type], args: list[Elements]) -> None:
        width = element_width(types[0])
        if types[1].kind == "vector":
            each = element_width(types[1])
            amount = pack(low, args[1][: 64 // each], each)
        else:
            amount = low.cast("zext", args[1][0], types[1].width, 64)
        low.define(name, [_shifted(low, op, width, a, amount, 64) for a in args[0]])

    return lower


def _shifted(low: Lowering, op: str, width: int, a: Operand, amount: Operand, amount_width: int) -> Operand:
    limit = low.integer(width, amount_width)
    fits = compare(low, "ult", amount_width, amount, limit)
    least = choose(low, amount_width, fits, amount, low.integer(width - 1, amount_width))
    shifted = low.binary(op, width, a, low.resize(least, amount_width, width))
    return shifted if op == "ashr" else choose(low, width, fits, shifted, low.integer(0, width))


def _shift_each(op: str) -> Row:
    def lower(low: Lowering, name: str, type_: Type, types: list[Type], args: list[Elements]) -> None:
        width = element_width(types[0])
        low.define(name, [_shifted(low, op, width, a, b, width) for a, b in zip(args[0], args[1], strict=True)])

    return lower


def _signs(low: Lowering, name: str, type_: Type, types: list[Type], args: list[Elements]) -> None:
    """`pmovmskb`, `movmskps`: the top bits of all elements as a number."""
    width = element_width(types[0])
    bits = [low.cast("trunc", low.binary("lshr", width, a, low.integer(width - 1, width)), width, 1) for a in args[0]]
    low.define(name, low.resize(pack(low, bits, 1), len(bits), type_.width))


def _blend(low: Lowering, name: str, type_: Type, types: list[Type], args: list[Elements]) -> None:
    """Elements of the second operand where the top bit of the mask is set."""
    width, zero = element_width(types[0]), low.integer(0, element_width(types[0]))
    low.define(
        name,
        [choose(low, width, compare(low, "slt", width, mask, zero), b, a) for a, b, mask in zip(*args, strict=True)],
    )


def _test(carry: bool | None, *, signs: bool) -> Row:
    """`ptest`, `vtestps`: is `a & b` zero (False), is `~a & b` (True), or neither (None), in all bits or the signs?"""

    def lower(low: Lowering, name: str, type_: Type, types: list[Type], args: list[Elements]) -> None:
        width = element_width(types[0])
        total = width * len(args[0])
        a, b = (pack(low, each, width) for each in args)
        mask = sum(1 << (i * width + width - 1) for i in range(len(args[0]))) if signs else (1 << total) - 1
        zero = low.integer(0, total)

        def is_zero(first: Operand) -> Operand:
            both = low.binary("and", total, low.binary("and", total, first, b), low.integer(mask, total))
            return compare(low, "eq", total, both, zero)

        inverted = low.binary("xor", total, a, low.integer(-1, total))
        if carry is None:
            either = low.binary("or", 1, is_zero(a), is_zero(inverted))
            found = low.binary("xor", 1, either, integer(1))
        else:
            found = is_zero(inverted if carry else a)
        low.define(name, low.cast("zext", found, 1, type_.width))

    return lower


def _least_of_words(low: Lowering, name: str, type_: Type, types: list[Type], args: list[Elements]) -> None:
    """`phminposuw`: the least of eight words and its first position."""
    best, at = args[0][0], low.integer(0, 16)
    for i, each in enumerate(args[0][1:], 1):
        less = compare(low, "ult", 16, each, best)
        best, at = choose(low, 16, less, each, best), choose(low, 16, less, low.integer(i, 16), at)
    low.define(name, [best, at, *[low.integer(0, 16)] * 6])


def _crc(width: int) -> Row:
    """`crc32`: the polynomial of Castagnoli, reflected."""

    def lower(low: Lowering, name: str, type_: Type, types: list[Type], args: list[Elements]) -> None:
        value = low.resize(args[0][0], type_.width, 32)
        data = args[1][0]
        for at in range(0, width, 8):
            byte = low.cast("trunc", low.binary("lshr", width, data, low.integer(at, width)), width, 8)
            value = low.binary("xor", 32, value, low.cast("zext", byte, 8, 32))
            for _ in range(8):
                odd = low.cast("trunc", value, 32, 1)
                shifted = low.binary("lshr", 32, value, low.integer(1, 32))
                reduced = low.binary("xor", 32, shifted, low.integer(0x82F63B78, 32))
                value = choose(low, 32, odd, reduced, shifted)
        low.define(name, low.resize(value, 32, type_.width))

    return lower


_COMPARISONS = ("oeq olt ole uno une uge ugt ord ueq ult ule false one oge ogt true").split()


def ordered(low: Lowering, pred: str, type_: Type, a: Operand, b: Operand) -> Operand:
    dst = low.new_register(1)
    low.emit((FCMP | FCMP_PREDS[pred] | float_kind(type_) << 16, dst, *a, *b))
    return reg(dst)


def _float_compare(*, first: bool) -> Row:
    """`cmpps` and relatives: all bits set where the comparison holds; `first`: only the first elements are compared."""

    def lower(low: Lowering, name: str, type_: Type, types: list[Type], args: list[Elements]) -> None:
        number = constant_of(args[2][0])
        if number is None:
            raise UnsupportedError("a comparison of vectors that is not constant")
        element, width = types[0].element_type(), element_width(types[0])
        count = 1 if first else len(args[0])
        found = [
            low.cast("sext", ordered(low, _COMPARISONS[number & 15], element, a, b), 1, width)
            for a, b in zip(args[0][:count], args[1][:count], strict=True)
        ]
        low.define(name, found + args[0][count:])

    return lower


def _float_extreme(pred: str, *, first: bool) -> Row:
    """`minps`, `maxps`: the second operand if neither is less, or one is no number."""

    def lower(low: Lowering, name: str, type_: Type, types: list[Type], args: list[Elements]) -> None:
        element, width = types[0].element_type(), element_width(types[0])
        count = 1 if first else len(args[0])
        found = [
            choose(low, width, ordered(low, pred, element, a, b), a, b)
            for a, b in zip(args[0][:count], args[1][:count], strict=True)
        ]
        low.define(name, found + args[0][count:])

    return lower


def _float_order(pred: str) -> Row:
    """`comiss`, `ucomisd` and relatives on the first elements."""

    def lower(low: Lowering, name: str, type_: Type, types: list[Type], args: list[Elements]) -> None:
        found = ordered(low, pred, types[0].element_type(), args[0][0], args[1][0])
        low.define(name, low.cast("zext", found, 1, type_.width))

    return lower


def _bit_field(low: Lowering, name: str, type_: Type, types: list[Type], args: list[Elements]) -> None:
    """`bextr`: as many bits as bits 15 to 8 of the control say, from the one that bits 7 to 0 name."""
    width, (value, control) = type_.width, (args[0][0], args[1][0])
    start = low.binary("and", width, control, low.integer(255, width))
    length = low.binary(
        "and", width, low.binary("lshr", width, control, low.integer(8, width)), low.integer(255, width)
    )
    shifted = _shifted(low, "lshr", width, value, start, width)
    low.define(name, low.binary("and", width, shifted, _ones(low, width, length)))


def _ones(low: Lowering, width: int, count: Operand) -> Operand:
    """As many low bits as `count` says."""
    ones = _shifted(low, "shl", width, low.integer(-1, width), count, width)
    return low.binary("xor", width, ones, low.integer(-1, width))


def _zero_high(low: Lowering, name: str, type_: Type, types: list[Type], args: list[Elements]) -> None:
    """`bzhi`: the bits below the one that bits 7 to 0 of the second operand name."""
    width = type_.width
    count = low.binary("and", width, args[1][0], low.integer(255, width))
    low.define(name, low.binary("and", width, args[0][0], _ones(low, width, count)))


def _deposit(low: Lowering, name: str, type_: Type, types: list[Type], args: list[Elements]) -> None:
    """`pdep`: the low bits of the first operand at the positions of the mask's ones."""
    width, (value, mask) = type_.width, (args[0][0], args[1][0])
    result = low.integer(0, width)
    for at in range(width):
        bit = low.binary("and", width, mask, low.integer(1 << at, width))
        is_set = compare(low, "ne", width, bit, low.integer(0, width))
        moved = low.binary("shl", width, low.binary("and", width, value, integer(1)), low.integer(at, width))
        result = low.binary("or", width, result, choose(low, width, is_set, moved, low.integer(0, width)))
        value = choose(low, width, is_set, low.binary("lshr", width, value, integer(1)), value)
    low.define(name, result)


def _extract(low: Lowering, name: str, type_: Type, types: list[Type], args: list[Elements]) -> None:
    """`pext`: the bits at the positions of the mask's ones, as low bits."""
    width, (value, mask) = type_.width, (args[0][0], args[1][0])
    result, place = low.integer(0, width), low.integer(1, width)
    for at in range(width):
        bit = low.binary("and", width, mask, low.integer(1 << at, width))
        is_set = compare(low, "ne", width, bit, low.integer(0, width))
        taken = low.binary("and", width, value, low.integer(1 << at, width))
        is_one = low.binary("and", 1, is_set, compare(low, "ne", width, taken, low.integer(0, width)))
        result = low.binary("or", width, result, choose(low, width, is_one, place, low.integer(0, width)))
        place = choose(low, width, is_set, low.binary("shl", width, place, integer(1)), place)
    low.define(name, result)


def _carry(op: str) -> Row:
    """`adc`, `sbb`: the carry out and the result; the carry in is a byte that is 0 or not."""

    def lower(low: Lowering, name: str, type_: Type, types: list[Type], args: list[Elements]) -> None:
        width = element_width(types[1])
        wide = width + 1
        carry = low.cast("zext", compare(low, "ne", 8, args[0][0], low.integer(0, 8)), 1, wide)
        a, b = (low.cast("zext", each[0], width, wide) for each in args[1:])
        total = low.binary(op, wide, low.binary(op, wide, a, b), carry)
        out = low.cast("trunc", low.binary("lshr", wide, total, low.integer(width, wide)), wide, 1)
        low.define(name, [low.cast("zext", out, 1, 8), low.cast("trunc", total, wide, width)])

    return lower


def _carryless(low: Lowering, name: str, type_: Type, types: list[Type], args: list[Elements]) -> None:
    """`pclmulqdq`: the product of two 64-bit polynomials over two elements, chosen by bits 0 and 4 of the number."""
    number = constant_of(args[2][0]) or 0
    a, b = args[0][number & 1], args[1][number >> 4 & 1]
    wide = low.cast("zext", a, 64, 128)
    result = low.integer(0, 128)
    for at in range(64):
        bit = low.binary("and", 64, b, low.integer(1 << at, 64))
        moved = low.binary("shl", 128, wide, low.integer(at, 128))
        is_set = compare(low, "ne", 64, bit, low.integer(0, 64))
        result = low.binary("xor", 128, result, choose(low, 128, is_set, moved, low.integer(0, 128)))
    low.define(name, unpack(low, result, 64, 2))


def _nothing(low: Lowering, name: str, type_: Type, types: list[Type], args: list[Elements]) -> None:
    """Fences and hints."""


def _both(name: str, row: Row, *, sse: str, suffix: str = "") -> dict[str, Row]:
    """A row of 128 bits, and the one of AVX2."""
    return {f"{sse}.{name}{suffix}": row, f"avx2.{name}": row}


ROWS: dict[str, Row] = {
    **_both("packssdw", _pack_signed, sse="sse2", suffix=".128"),
    **_both("packsswb", _pack_signed, sse="sse2", suffix=".128"),
    **_both("packuswb", _pack_unsigned, sse="sse2", suffix=".128"),
    **_both("packusdw", _pack_unsigned, sse="sse41"),
    **_both("pavg.b", _elementwise(_average), sse="sse2"),
    **_both("pavg.w", _elementwise(_average), sse="sse2"),
    **_both("pmulh.w", _elementwise(_high_product("sext")), sse="sse2"),
    **_both("pmulhu.w", _elementwise(_high_product("zext")), sse="sse2"),
    **_both("pmul.hr.sw", _elementwise(_rounded_product), sse="ssse3", suffix=".128"),
    **_both("pmadd.wd", _multiply_add("sext"), sse="sse2"),
    **_both("pmadd.ub.sw", _multiply_add("zext"), sse="ssse3", suffix=".128"),
    **_both("psad.bw", _absolute_differences, sse="sse2"),
    **_both("pshuf.b", _shuffle_bytes, sse="ssse3", suffix=".128"),
    **_both("pmovmskb", _signs, sse="sse2", suffix=".128"),
    **_both("pblendvb", _blend, sse="sse41"),
    **{
        key: row
        for letter in "bwd"
        for key, row in _both(f"psign.{letter}", _elementwise(_sign), sse="ssse3", suffix=".128").items()
    },
    **{
        key: row
        for word, op in (("add", "add"), ("sub", "sub"))
        for letter, kind in (("w", op), ("d", op), ("sw", f"s{op}sat"))
        for key, row in _both(f"ph{word}.{letter}", _horizontal(kind), sse="ssse3", suffix=".128").items()
    },
    **{
        key: _shift(op)
        for word, op, letters in (("sll", "shl", "wdq"), ("srl", "lshr", "wdq"), ("sra", "ashr", "wd"))
        for letter in letters
        for form in ("", "i")
        for key in _both(f"p{word}{form}.{letter}", _nothing, sse="sse2")
    },
    **{
        f"avx2.p{word}v.{letter}{suffix}": _shift_each(op)
        for word, op, letters in (("sll", "shl", "dq"), ("srl", "lshr", "dq"), ("sra", "ashr", "d"))
        for letter in letters
        for suffix in ("", ".256")
    },
    **dict.fromkeys(("sse.movmsk.ps", "sse2.movmsk.pd", "avx.movmsk.ps.256", "avx.movmsk.pd.256"), _signs),
    **dict.fromkeys("sse41.blendvpd sse41.blendvps avx.blendv.pd.256 avx.blendv.ps.256".split(), _blend),
    **dict.fromkeys(("avx2.permd", "avx2.permps"), _permute),
    **{f"avx.vpermilvar.{kind}{size}": _permute_halves for kind in ("ps", "pd") for size in ("", ".256")},
    **dict.fromkeys(("sse41.ptestz", "avx.ptestz.256"), _test(False, signs=False)),
    **dict.fromkeys(("sse41.ptestc", "avx.ptestc.256"), _test(True, signs=False)),
    **dict.fromkeys(("sse41.ptestnzc", "avx.ptestnzc.256"), _test(None, signs=False)),
    **{
        f"avx.vtest{letter}.{kind}{size}": _test(carry, signs=True)
        for letter, carry in (("z", False), ("c", True), ("nzc", None))
        for kind in ("ps", "pd")
        for size in ("", ".256")
    },
    "sse41.phminposuw": _least_of_words,
    **_both("mpsadbw", _offset_differences, sse="sse41"),
    **{f"sse42.crc32.32.{width}": _crc(width) for width in (8, 16, 32)},
    "sse42.crc32.64.64": _crc(64),
    **dict.fromkeys("sse.cmp.ps sse2.cmp.pd avx.cmp.ps.256 avx.cmp.pd.256".split(), _float_compare(first=False)),
    **dict.fromkeys(("sse.cmp.ss", "sse2.cmp.sd"), _float_compare(first=True)),
    **{
        f"{name}.{word}.{kind}": _float_extreme(pred, first=kind in ("ss", "sd"))
        for word, pred in (("min", "olt"), ("max", "ogt"))
        for name, kind in (
            *(("sse", "ps"), ("sse", "ss"), ("sse2", "pd"), ("sse2", "sd")),
            *(("avx", "ps.256"), ("avx", "pd.256")),
        )
    },
    **{
        f"{name}.{quiet}comi{word}{kind}": _float_order(pred)
        for word, pred in (
            *(("eq", "oeq"), ("lt", "olt"), ("le", "ole"), ("gt", "ogt"), ("ge", "oge"), ("neq", "une")),
        )
        for quiet in ("", "u")
        for name, kind in (("sse", ".ss"), ("sse2", ".sd"))
    },
    **{f"bmi.bextr.{width}": _bit_field for width in (32, 64)},
    **{f"bmi.bzhi.{width}": _zero_high for width in (32, 64)},
    **{f"bmi.pdep.{width}": _deposit for width in (32, 64)},
    **{f"bmi.pext.{width}": _extract for width in (32, 64)},
    **{f"addcarry.{width}": _carry("add") for width in (32, 64)},
    **{f"subborrow.{width}": _carry("sub") for width in (32, 64)},
    "pclmulqdq": _carryless,
    **dict.fromkeys(
        "sse.sfence sse2.lfence sse2.mfence sse2.pause sse2.clflush avx.vzeroupper avx.vzeroall".split(), _nothing
    ),
}
