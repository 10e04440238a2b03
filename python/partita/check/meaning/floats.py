"""Floating-point instructions in the checker, in the rounding mode to nearest.

Numbers are computed with exact fractions. Comparisons, signs and classes of terms are arithmetic of words; the other
operators are those of the second solver. A result that is no number has the bits that x86 gives it.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from math import isqrt
from typing import TYPE_CHECKING, Any

from partita.check.solver import MODES
from partita.check.terms import NUMBERS, NoSemanticsError, apply, concat, extract, ite, negation, operate, signed
from partita.llvm import write as w
from partita.llvm.types import FLOAT_KINDS

if TYPE_CHECKING:
    from partita.check.meaning.machine import Machine
    from partita.check.meaning.program import Function

_SIZES = {
    "half": (5, 11, 16),
    "bfloat": (8, 8, 16),
    "float": (8, 24, 32),
    "double": (11, 53, 64),
    "x86_fp80": (15, 64, 80),
    "fp128": (15, 113, 128),
}
FORMATS = {kind: _SIZES[name] for name, kind in FLOAT_KINDS.items() if name in _SIZES}
"""Bits of the exponent, of the significand and of a word of each format."""
_BINARY, _UNARY, _COMPARED = (sorted(table, key=table.__getitem__) for table in (w.FBIN_OPS, w.FUN_OPS, w.FCMP_PREDS))


class Format:
    """Words of one format."""

    def __init__(self, sizes: tuple[int, int, int]) -> None:
        self.sizes = sizes
        self.exponent, self.precision, self.width = sizes
        self.stored = self.width - 1 - self.exponent
        self.has_first_bit = self.stored == self.precision  # x87 stores it
        self.bias, self.top = (1 << (self.exponent - 1)) - 1, (1 << self.exponent) - 1
        self.sign = 1 << (self.width - 1)
        self.infinity = self.top << self.stored | (1 << 63 if self.has_first_bit else 0)
        self.quiet = 1 << (self.precision - 2)
        self.indefinite = self.sign | self.infinity | self.quiet

    def value(self, word: int) -> Fraction | None:
        """The number of a word, without its sign; None for infinity and words that are no numbers."""
        biased, stored = word >> self.stored & self.top, word & ((1 << self.stored) - 1)
        if biased == self.top:
            return None
        if biased and not self.has_first_bit:
            stored |= 1 << self.stored
        return stored * Fraction(2) ** (max(biased, 1) - self.bias - self.precision + 1)

    def number(self, word: int) -> Fraction:
        value = self.value(word)
        assert value is not None
        return -value if word & self.sign else value

    def word(self, value: Fraction, sign: int) -> int:
        """The nearest word; `sign` is that of zero."""
        if not value:
            return self.sign if sign else 0
        size, start = abs(value), self.sign if value < 0 else 0
        most = size.numerator.bit_length() - size.denominator.bit_length()
        most -= size < Fraction(2) ** most
        scale = max(most, 1 - self.bias) - self.precision + 1
        kept = round(size / Fraction(2) ** scale)  # ties to even
        if kept == 1 << self.precision:
            kept, scale = kept >> 1, scale + 1
        biased = scale + self.precision - 1 + self.bias if kept >> (self.precision - 1) else 0
        if biased >= self.top:
            return start | self.infinity
        return start | biased << self.stored | kept & ((1 << self.stored) - 1)

    def is_nan(self, x: Any) -> Any:
        return apply("bvult", self.width, self.infinity, apply("bvand", self.width, x, self.sign - 1))

    def order(self, x: Any) -> Any:
        """A word whose unsigned order is that of the numbers."""
        size = apply("bvand", self.width, x, self.sign - 1)
        negative = apply("=", 1, extract(x, self.width - 1, 1), 1)
        zero = apply("=", self.width, size, 0)
        key = ite(negative, apply("bvnot", self.width, x), apply("bvor", self.width, x, self.sign), self.width)
        return ite(zero, self.sign, key, self.width)

    def less(self, x: Any, y: Any) -> Any:
        return apply("bvult", self.width, self.order(x), self.order(y))

    def quieted(self, operands: list[Any], result: Any) -> Any:
        """The result, or the first operand that is no number."""
        for x in reversed(operands):
            result = ite(self.is_nan(x), apply("bvor", self.width, x, self.quiet), result, self.width)
        return result


def _extreme(f: Format, name: str, x: Any, y: Any) -> Any:
    """`minnum` and `maxnum` leave out what is no number, `minimum` and `maximum` return it. On SSE the former
    two return the first of two zeros; otherwise the negative one is below the other."""
    low, high = (y, x) if name.startswith("max") else (x, y)
    on_sse = name.endswith("num") and f.width in (32, 64)
    ordered = 1 if on_sse else extract(low, f.width - 1, 1)
    tie = apply("bvand", 1, apply("=", f.width, f.order(x), f.order(y)), ordered)
    number = ite(apply("bvor", 1, f.less(low, high), tie), x, y, f.width)
    found = ite(f.is_nan(x), y, ite(f.is_nan(y), x, number, f.width), f.width)
    return found if name.endswith("num") else f.quieted([x, y], found)


def _sum(f: Format, a: int, b: int) -> int:
    if f.value(a) is None or f.value(b) is None:
        both = f.value(a) is None and f.value(b) is None
        return f.indefinite if both and a != b else a if f.value(a) is None else b
    return f.word(f.number(a) + f.number(b), a & b & f.sign)


def _product(f: Format, a: int, b: int) -> int:
    sign, x, y = (a ^ b) & f.sign, f.value(a), f.value(b)
    if x is None or y is None:
        return f.indefinite if x == 0 or y == 0 else sign | f.infinity
    return f.word(-x * y if sign else x * y, sign)


def _quotient(f: Format, a: int, b: int) -> int:
    sign, x, y = (a ^ b) & f.sign, f.value(a), f.value(b)
    if x is None or y == 0:
        return f.indefinite if (x is None and y is None) or x == y == 0 else sign | f.infinity
    return f.word((-x if sign else x) / y, sign) if y is not None else sign


def _remainder(f: Format, a: int, b: int) -> int:
    x, y = f.value(a), f.value(b)
    if x is None or y == 0:
        return f.indefinite
    return a if y is None else f.word((-1 if a & f.sign else 1) * (x % y), a & f.sign)


def _root(f: Format, a: int) -> int:
    value = f.value(a)
    if a & f.sign and value != 0:
        return f.indefinite
    if not value:
        return a
    scaled = value * 4 ** (shift := f.precision + 3 + f.bias)
    root = isqrt(int(scaled))
    return f.word(Fraction(2 * root + (root * root != scaled), 2 << shift), 0)


def _integral(mode: str) -> Callable[[Format, int], int]:
    def compute(f: Format, a: int) -> int:
        if f.value(a) is None:
            return a
        x = f.number(a)
        down = x.numerator // x.denominator
        away = down + (x - down >= Fraction(1, 2)) if x >= 0 else down + (x - down > Fraction(1, 2))
        found = {"RTN": down, "RTP": -(-x.numerator // x.denominator), "RTZ": int(x), "RNE": round(x), "RNA": away}
        return f.word(Fraction(found[mode]), a & f.sign)

    return compute


def _fused(f: Format, a: int, b: int, c: int) -> int:
    if None in (f.value(a), f.value(b), f.value(c)):
        return _sum(f, _product(f, a, b), c)
    product = f.number(a) * f.number(b)
    return f.word(product + f.number(c), ((a ^ b) & c & f.sign) if not product else 0)


# Operators on words that are numbers or infinite; the first parameter is the format.
OPERATORS: dict[str, Callable[..., int]] = {
    "fadd": _sum, "fsub": lambda f, a, b: _sum(f, a, b ^ f.sign), "fmul": _product, "fdiv": _quotient,
    "frem": _remainder, "fma": _fused, "sqrt": _root, **{name: _integral(mode) for name, mode in MODES.items()},
}  # fmt: skip
NUMBERS.update(
    {f"fp.{name}": lambda p, *args, _f=function: _f(Format(p[0]), *args) for name, function in OPERATORS.items()}
)
# Conversions: the first parameter has the formats or widths.
NUMBERS["fp.int"] = lambda p, a: 0 if Format(p[0]).value(a) is None else int(Format(p[0]).number(a))
NUMBERS["fp.of"] = lambda p, a: Format(p[0]).word(Fraction(signed(a, p[1]) if p[2] else a), 0)
NUMBERS["fp.cast"] = lambda p, a: (
    (a & Format(p[0]).sign and Format(p[1]).sign) | Format(p[1]).infinity
    if Format(p[0]).value(a) is None else Format(p[1]).word(Format(p[0]).number(a), a & Format(p[0]).sign)
)  # fmt: skip


def format_of(kind: int) -> Format:
    """The format that an instruction names."""
    if kind not in FORMATS:
        raise NoSemanticsError("a floating-point format")
    return Format(FORMATS[kind])


def binary(m: Machine, f: Function, op: int, kind: int, dst: int, a: Any, b: Any) -> None:
    form, name = format_of(kind), _BINARY[op]
    x, y = m.get(a, form.width), m.get(b, form.width)
    if name == "copysign":
        size, sign = apply("bvand", form.width, x, form.sign - 1), apply("bvand", form.width, y, form.sign)
        return m.set(dst, apply("bvor", form.width, size, sign))
    if name not in OPERATORS:
        return m.set(dst, _extreme(form, name, x, y))
    known = [isinstance(v, int) and form.is_nan(v) for v in (x, y)]
    result = 0 if any(known) else operate(f"fp.{name}", (form.sizes,), form.width, x, y)
    return m.set(dst, form.quieted([x, y], result))


def unary(m: Machine, f: Function, op: int, kind: int, dst: int, a: Any) -> None:
    form, name, x = format_of(kind), _UNARY[op], m.get(a, format_of(kind).width)
    if name in ("fneg", "fabs"):
        op_, mask = ("bvxor", form.sign) if name == "fneg" else ("bvand", form.sign - 1)
        return m.set(dst, apply(op_, form.width, x, mask))
    result = 0 if isinstance(x, int) and form.is_nan(x) else operate(f"fp.{name}", (form.sizes,), form.width, x)
    return m.set(dst, form.quieted([x], result))


def fused(m: Machine, f: Function, op: int, kind: int, dst: int, a: Any, b: Any, c: Any) -> None:
    form = format_of(kind)
    values = [m.get(v, form.width) for v in (a, b, c)]
    known = [isinstance(v, int) and form.is_nan(v) for v in values]
    result = 0 if any(known) else operate("fp.fma", (form.sizes,), form.width, *values)
    m.set(dst, form.quieted(values, result))


def compare(m: Machine, f: Function, op: int, kind: int, dst: int, a: Any, b: Any) -> None:
    form, name = format_of(kind), _COMPARED[op & 15]
    x, y = m.get(a, form.width), m.get(b, form.width)
    unordered = apply("bvor", 1, form.is_nan(x), form.is_nan(y))
    less, more = form.less(x, y), form.less(y, x)
    equal = apply("=", form.width, form.order(x), form.order(y))
    truth = {"eq": equal, "gt": more, "ge": apply("bvor", 1, more, equal), "lt": less,
             "le": apply("bvor", 1, less, equal), "ne": apply("bvor", 1, less, more)}  # fmt: skip
    if name in ("false", "true"):
        return m.set(dst, int(name == "true"))
    if name in ("ord", "uno"):
        return m.set(dst, unordered if name == "uno" else negation(unordered))
    return m.set(dst, ite(unordered, int(name[0] == "u"), truth[name[1:]], 1))


def classify(m: Machine, f: Function, op: int, kind: int, mask: int, dst: int, a: Any) -> None:
    form, x = format_of(kind), m.get(a, format_of(kind).width)
    size = apply("bvand", form.width, x, form.sign - 1)
    least = 1 << form.stored  # of numbers with a full significand
    below = [
        1,
        least,
        form.infinity,
        form.infinity + 1,
        form.infinity + form.quiet,
    ]  # zero, subnormal, normal, infinite
    bits = [(32, 64), (16, 128), (8, 256), (4, 512), (1, 1), (2, 2)]
    negative, found = extract(x, form.width - 1, 1), int(mask & 2 != 0)
    for limit, (minus, plus) in reversed(list(zip(below, bits, strict=False))):
        here = ite(negative, int(mask & minus != 0), int(mask & plus != 0), 1)
        found = ite(apply("bvult", form.width, size, limit), here, found, 1)
    m.set(dst, found)


def to_integer(m: Machine, f: Function, op: int, kind: int, dst: int, a: Any) -> None:
    form, width, x = format_of(kind), f.widths[dst], m.get(a, format_of(kind).width)
    is_signed, saturates = op & 1, op & 2
    low, high = (-(1 << (width - 1)), 1 << (width - 1)) if is_signed else (0, 1 << width)
    below, above = form.word(Fraction(low - 1), 0), form.word(Fraction(high), 0)
    is_exact = form.value(below) is not None and form.number(below) == low - 1
    over = form.less(below, x) if is_exact else negation(form.less(x, form.word(Fraction(low), 0)))
    fits = apply("bvand", 1, apply("bvand", 1, over, form.less(x, above)), negation(form.is_nan(x)))
    if above & ~form.sign == form.infinity:
        raise NoSemanticsError("a conversion to an integer wider than the format")
    if saturates:
        raise NoSemanticsError("a saturating conversion to an integer")
    if f.part == 0 and m.options.get("float_cast", True):
        m.require(fits, "float-cast")
    inside = fits != 0 if isinstance(fits, int) else True
    number = operate("fp.int", (form.sizes, width, is_signed), width, x) if inside else 0
    m.set(dst, ite(fits, number, 1 << (width - 1), width))


def of_integer(m: Machine, f: Function, op: int, kind: int, width: int, dst: int, a: Any) -> None:
    form = format_of(kind)
    m.set(dst, operate("fp.of", (form.sizes, width, op & 1), form.width, m.get(a, width)))


def cast(m: Machine, f: Function, op: int, kind: int, dst: int, a: Any) -> None:
    old, new = format_of(op), format_of(kind)
    x = m.get(a, old.width)
    result = 0 if isinstance(x, int) and old.is_nan(x) else operate("fp.cast", (old.sizes, new.sizes), new.width, x)
    # A word that is no number keeps its sign and the first bits of its significand.
    less, more = old.precision - 1, new.precision - 1
    kept = extract(x, max(less - more, 0), min(less, more))
    payload = concat(kept, min(less, more), 0, more - less) if more > less else kept
    head = concat(
        extract(x, old.width - 1, 1), 1, extract(new.infinity, more, new.width - 1 - more), new.width - 1 - more
    )
    word = apply("bvor", new.width, concat(head, new.width - more, payload, more), new.quiet)
    m.set(dst, ite(old.is_nan(x), word, result, new.width))


STEPS = {
    w.FBIN: binary, w.FUN: unary, w.FMA: fused, w.FCMP: compare, w.FCLASS: classify, w.FTOINT: to_integer,
    w.INTTOF: of_integer, w.FCAST: cast,
}  # fmt: skip
