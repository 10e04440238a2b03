"""Floating-point numbers in Python: words with a format.

>>> x = fp("x", 64)
>>> solver = Solver()
>>> solver.add(x + 1.0 == x, x < 1e300, x > 0)
>>> solver.check()
'sat'
>>> solver.model()[x] >= 2.0**53
True

`==`, `<` and the other comparisons are those of IEEE 754: NaN is equal to nothing and zeros are equal; `same_as`
compares numbers as SMT-LIB's `=` does. Operators round to nearest, ties to even; methods take another mode:
`x.add(y, Rounding.TOWARD_ZERO)`. `bits` is the word of a number, `Float(word, format)` a number that has this word.
"""

from __future__ import annotations

import enum
import math
import numbers
from fractions import Fraction
from typing import NamedTuple, NoReturn

from partita._core import Expr, Model, bv, float_operator
from partita.errors import UsageError
from partita.solver import concat, ite

__all__ = ["Float", "FloatFormat", "Rounding", "fp"]


class Rounding(enum.IntEnum):
    """Rounding modes of IEEE 754, in the order of SMT-LIB's RNE, RNA, RTP, RTN, RTZ."""

    NEAREST_EVEN = 0
    NEAREST_AWAY = 1
    TOWARD_POSITIVE = 2
    TOWARD_NEGATIVE = 3
    TOWARD_ZERO = 4


class FloatFormat(NamedTuple):
    """Bits of the exponent, and of the significand with its integer bit, which only x87's format stores."""

    exponent: int
    significand: int
    stores_integer_bit: bool = False

    @property
    def width(self) -> int:
        return self.exponent + self.significand + self.stores_integer_bit

    @property
    def bias(self) -> int:
        return (1 << (self.exponent - 1)) - 1

    @property
    def stored(self) -> int:
        """Bits of the significand that are stored."""
        return self.significand - 1 + self.stores_integer_bit

    def __str__(self) -> str:
        return f"({self.exponent}, {self.significand})"


FORMATS = {
    16: FloatFormat(5, 11),
    32: FloatFormat(8, 24),
    64: FloatFormat(11, 53),
    80: FloatFormat(15, 64, True),
    128: FloatFormat(15, 113),
}
"""Formats by the width of their numbers: half, single, double, x87 extended, quad. `FloatFormat(8, 8)` is bfloat."""

MAX_EXPONENT_BITS = 30
MAX_WIDTH = 65_536
"""Limits of the core."""

Value = int | float | Fraction


def fp(name_or_value: str | Value, format: int | tuple[int, int] | FloatFormat) -> Float:
    """A variable (named by a string) or a constant (a number, rounded to nearest) of a format: a width of `FORMATS`, or
    the bits of exponent and significand."""
    form = format_of(format)
    if isinstance(name_or_value, str):
        return Float(bv(name_or_value, form.width), form)
    return Float(bv(literal(name_or_value, form, Rounding.NEAREST_EVEN), form.width), form)


def format_of(format: int | tuple[int, int] | FloatFormat) -> FloatFormat:
    if isinstance(format, int) and format in FORMATS:
        return FORMATS[format]
    is_pair = isinstance(format, FloatFormat) or (isinstance(format, tuple) and len(format) == 2)
    if not is_pair or not all(isinstance(bits, int) for bits in format):  # type: ignore[union-attr]
        known = ", ".join(map(str, FORMATS))
        raise UsageError(f"expected a width ({known}) or (exponent bits, significand bits) as format, found {format!r}")
    form = FloatFormat(*format)  # type: ignore[misc]
    if not 2 <= form.exponent <= MAX_EXPONENT_BITS or form.significand < 2 or form.width > MAX_WIDTH:
        raise UsageError(
            f"expected 2 to {MAX_EXPONENT_BITS} bits of exponent and at least 2 of significand, {MAX_WIDTH} together at"
            f" most, found {form}"
        )
    return form


def literal(value: Value, form: FloatFormat, rounding: Rounding) -> int:
    """The bits of a number rounded to a format."""
    if isinstance(value, bool) or not isinstance(value, numbers.Real):
        raise UsageError(f"expected a number, found {value!r}")
    special, top = (1 << form.exponent) - 1, 1 << (form.significand - 1)
    integer = top if form.stores_integer_bit else 0
    if isinstance(value, float) and not math.isfinite(value):
        if math.isnan(value):
            # The NaN of an invalid operation of x86.
            return pack(form, True, special, integer | top >> 1)
        return pack(form, value < 0, special, integer)
    exact = Fraction(value)
    negative = exact < 0 or (exact == 0 and math.copysign(1.0, float(value)) < 0)
    exact = abs(exact)
    if exact == 0:
        return pack(form, negative, 0, 0)
    exponent = exact.numerator.bit_length() - exact.denominator.bit_length()
    if exact < Fraction(2) ** exponent:
        exponent -= 1
    exponent = max(exponent, 1 - form.bias)
    scaled = exact / Fraction(2) ** (exponent - form.significand + 1)
    whole = scaled.numerator // scaled.denominator
    rest = scaled - whole
    up = {
        Rounding.NEAREST_EVEN: rest > Fraction(1, 2) or (rest == Fraction(1, 2) and whole % 2 == 1),
        Rounding.NEAREST_AWAY: rest >= Fraction(1, 2),
        Rounding.TOWARD_POSITIVE: rest > 0 and not negative,
        Rounding.TOWARD_NEGATIVE: rest > 0 and negative,
        Rounding.TOWARD_ZERO: False,
    }[rounding]
    whole += up
    if whole == 2 * top:
        whole, exponent = top, exponent + 1
    if exponent > form.bias:
        to_infinity = rounding in (Rounding.NEAREST_EVEN, Rounding.NEAREST_AWAY) or rounding == (
            Rounding.TOWARD_NEGATIVE if negative else Rounding.TOWARD_POSITIVE
        )
        if to_infinity:
            return pack(form, negative, special, integer)
        whole, exponent = 2 * top - 1, form.bias
    field = exponent + form.bias if whole >= top else 0
    return pack(form, negative, field, whole if form.stores_integer_bit else whole % top)


def pack(form: FloatFormat, negative: bool, exponent: int, stored: int) -> int:
    return int(negative) << (form.width - 1) | exponent << form.stored | stored


class Float:
    """A floating-point number: a word and its format."""

    __slots__ = ("bits", "format")

    bits: Expr
    """The word of the number: sign, exponent, fraction. NaN has many words."""
    format: FloatFormat

    def __init__(self, bits: Expr, format: int | tuple[int, int] | FloatFormat) -> None:
        form = format_of(format)
        if not isinstance(bits, Expr) or bits.width != form.width:
            found = f"{bits.width} bits" if isinstance(bits, Expr) else repr(bits)
            raise UsageError(f"expected a word of {form.width} bits for the format {form}, found {found}")
        self.bits = bits
        self.format = form

    def __repr__(self) -> str:
        return f"Float({self.bits!r}, {tuple(self.format)!r})"

    def __bool__(self) -> NoReturn:
        raise TypeError("a number has no truth value: write ~x.is_zero()")

    __hash__ = None  # type: ignore[assignment]

    def _other(self, value: Float | Value) -> Float:
        if not isinstance(value, Float):
            return fp(value, self.format)
        if value.format != self.format:
            raise UsageError(
                f"expected a number of the format {self.format}, found {value.format}: write x.to_float({self.format})"
            )
        return value

    def _apply(self, name: str, *others: Float | Value, rounding: int = 0) -> Float:
        words = [self.bits, *(self._other(other).bits for other in others)]
        return Float(float_operator(name, self.format, self.format, int(rounding), 0, words), self.format)

    def _compare(self, name: str, left: Float, right: Float) -> Expr:
        return float_operator(name, self.format, self.format, 0, 0, [left.bits, right.bits])

    # Arithmetic.

    def add(self, other: Float | Value, rounding: int = Rounding.NEAREST_EVEN) -> Float:
        return self._apply("FAdd", other, rounding=rounding)

    def sub(self, other: Float | Value, rounding: int = Rounding.NEAREST_EVEN) -> Float:
        number = self._other(other)
        # The sign of a NaN stays, as x86 has it.
        minus = Float(ite(number.is_nan(), number.bits, (-number).bits), self.format)
        return self._apply("FAdd", minus, rounding=rounding)

    def mul(self, other: Float | Value, rounding: int = Rounding.NEAREST_EVEN) -> Float:
        return self._apply("FMul", other, rounding=rounding)

    def div(self, other: Float | Value, rounding: int = Rounding.NEAREST_EVEN) -> Float:
        return self._apply("FDiv", other, rounding=rounding)

    def fma(self, factor: Float | Value, addend: Float | Value, rounding: int = Rounding.NEAREST_EVEN) -> Float:
        """`self * factor + addend`, rounded once."""
        return self._apply("FMulAdd", factor, addend, rounding=rounding)

    def sqrt(self, rounding: int = Rounding.NEAREST_EVEN) -> Float:
        return self._apply("FSqrt", rounding=rounding)

    def rem(self, other: Float | Value) -> Float:
        """IEEE remainder: the quotient is rounded to nearest, ties to even."""
        return self._apply("FRem", other)

    def round_to_integral(self, rounding: int = Rounding.NEAREST_EVEN) -> Float:
        return self._apply("FRound", rounding=rounding)

    def __add__(self, other: Float | Value) -> Float:
        return self.add(other)

    def __radd__(self, other: Value) -> Float:
        return self._other(other).add(self)

    def __sub__(self, other: Float | Value) -> Float:
        return self.sub(other)

    def __rsub__(self, other: Value) -> Float:
        return self._other(other).sub(self)

    def __mul__(self, other: Float | Value) -> Float:
        return self.mul(other)

    def __rmul__(self, other: Value) -> Float:
        return self._other(other).mul(self)

    def __truediv__(self, other: Float | Value) -> Float:
        return self.div(other)

    def __rtruediv__(self, other: Value) -> Float:
        return self._other(other).div(self)

    def __neg__(self) -> Float:
        return Float(self.bits ^ (1 << (self.format.width - 1)), self.format)

    def __abs__(self) -> Float:
        return Float(self.bits & ((1 << (self.format.width - 1)) - 1), self.format)

    def min(self, other: Float | Value) -> Float:
        """The smaller number; the other one if one is NaN. Negative zero is below positive zero."""
        return self._extreme(self._other(other), False)

    def max(self, other: Float | Value) -> Float:
        """The larger number; the other one if one is NaN. Negative zero is below positive zero."""
        return self._extreme(self._other(other), True)

    def _extreme(self, other: Float, largest: bool) -> Float:
        before = other < self if largest else self < other
        tie = (self == other) & (other if largest else self).is_sign_set()
        first = before | tie | (~self.is_nan() & other.is_nan())
        return Float(ite(first, self.bits, other.bits), self.format)

    # Comparisons.

    def __lt__(self, other: Float | Value) -> Expr:
        return self._compare("FLt", self, self._other(other))

    def __le__(self, other: Float | Value) -> Expr:
        return self._compare("FLe", self, self._other(other))

    def __gt__(self, other: Float | Value) -> Expr:
        return self._compare("FLt", self._other(other), self)

    def __ge__(self, other: Float | Value) -> Expr:
        return self._compare("FLe", self._other(other), self)

    def __eq__(self, other: Float | Value) -> Expr:  # type: ignore[override]
        return self._compare("FEq", self, self._other(other))

    def __ne__(self, other: Float | Value) -> Expr:  # type: ignore[override]
        return ~(self == other)

    def same_as(self, other: Float | Value) -> Expr:
        """Whether both are the same number: NaN is the same as NaN, zeros of different sign are not the same."""
        number = self._other(other)
        return (self.bits == number.bits) | (self.is_nan() & number.is_nan())

    # Classification.

    def _magnitude(self) -> Expr:
        return abs(self).bits

    def _infinity(self) -> int:
        return literal(math.inf, self.format, Rounding.NEAREST_EVEN)

    def _unsupported(self) -> Expr:
        """Whether a number of x87 has an exponent but no integer bit."""
        form = self.format
        exponent = self.bits.extract(form.width - 2, form.stored)
        return (exponent != 0) & (self.bits.extract(form.significand - 1, form.significand - 1) == 0)

    def is_nan(self) -> Expr:
        """Whether it is NaN, or a number that x87 does not support."""
        above = self._magnitude().ugt(self._infinity())
        return above | self._unsupported() if self.format.stores_integer_bit else above

    def is_infinite(self) -> Expr:
        return self._magnitude() == self._infinity()

    def is_zero(self) -> Expr:
        return self._magnitude() == 0

    def is_subnormal(self) -> Expr:
        magnitude = self._magnitude()
        return magnitude.ult(1 << (self.format.significand - 1)) & (magnitude != 0)

    def is_normal(self) -> Expr:
        magnitude = self._magnitude()
        between = magnitude.uge(1 << (self.format.significand - 1)) & magnitude.ult(self._infinity())
        return between & ~self._unsupported() if self.format.stores_integer_bit else between

    def is_sign_set(self) -> Expr:
        """Whether the sign bit is set, of NaN too."""
        top = self.format.width - 1
        return self.bits.extract(top, top) == 1

    def is_negative(self) -> Expr:
        """Whether it is negative and not NaN; so is negative zero."""
        return self.is_sign_set() & ~self.is_nan()

    def is_positive(self) -> Expr:
        """Whether it is positive and not NaN; so is positive zero."""
        return ~(self.is_sign_set() | self.is_nan())

    # Conversions.

    def to_float(self, format: int | tuple[int, int] | FloatFormat, rounding: int = Rounding.NEAREST_EVEN) -> Float:
        form = format_of(format)
        return Float(float_operator("FToF", form, self.format, int(rounding), 0, [self.bits]), form)

    def to_sint(self, width: int, rounding: int = Rounding.TOWARD_ZERO) -> Expr:
        """A signed integer; the least one if the number does not fit, as x86 has it."""
        return float_operator("FToSInt", self.format, self.format, int(rounding), width, [self.bits])

    def to_uint(self, width: int, rounding: int = Rounding.TOWARD_ZERO) -> Expr:
        """An unsigned integer; `1 << (width - 1)` if the number does not fit."""
        return float_operator("FToUInt", self.format, self.format, int(rounding), width, [self.bits])

    @staticmethod
    def from_sint(
        value: Expr, format: int | tuple[int, int] | FloatFormat, rounding: int = Rounding.NEAREST_EVEN
    ) -> Float:
        form = format_of(format)
        return Float(float_operator("FFromSInt", form, form, int(rounding), 0, [value]), form)

    @staticmethod
    def from_uint(
        value: Expr, format: int | tuple[int, int] | FloatFormat, rounding: int = Rounding.NEAREST_EVEN
    ) -> Float:
        form = format_of(format)
        return Float(float_operator("FFromUInt", form, form, int(rounding), 0, [value]), form)

    @staticmethod
    def from_parts(sign: Expr, exponent: Expr, fraction: Expr) -> Float:
        """SMT-LIB's `fp`: a number of its sign bit, exponent and fraction."""
        return Float(concat(sign, exponent, fraction), (exponent.width, fraction.width + 1))

    # Values.

    def value_in(self, model: Model) -> float | Fraction:
        """The value in a model, as `model[x]`. Finite numbers that `float` may not have are fractions."""
        return decode(model[self.bits], self.format)


def decode(bits: int, form: FloatFormat) -> float | Fraction:
    """The value of a word."""
    negative = bits >> (form.width - 1) == 1
    exponent = bits >> form.stored & ((1 << form.exponent) - 1)
    stored = bits & ((1 << form.stored) - 1)
    top = 1 << (form.significand - 1)
    if form.stores_integer_bit and exponent != 0 and stored < top:
        return math.nan
    fraction = stored % top
    if exponent == (1 << form.exponent) - 1:
        return math.nan if fraction else -math.inf if negative else math.inf
    significand = stored if form.stores_integer_bit else fraction + (top if exponent else 0)
    if significand == 0:
        return -0.0 if negative else 0.0
    power = max(exponent, 1) - form.bias - form.significand + 1
    exact = Fraction(-significand if negative else significand) * Fraction(2) ** power
    fits = form.exponent <= 11 and form.significand <= 53
    return float(exact) if fits else exact
