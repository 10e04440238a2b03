"""Clauses, gates and circuits of the bit-vector operators, as in a textbook.

A boolean is a literal, as in DIMACS; a bit-vector is a tuple of literals, the lowest bit first. Gates fold constants
and equal gates are one gate; there is no other simplification.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable
from functools import reduce

TRUE, FALSE = 1, -1
Word = tuple[int, ...]


def constant(value: int, width: int) -> Word:
    return tuple(TRUE if value >> bit & 1 else FALSE for bit in range(width))


def inverted(a: Word) -> Word:
    return tuple(-x for x in a)


class Circuit:
    def __init__(self) -> None:
        self.flat = array("i", (TRUE, 0))
        """Clauses, each ended by a zero. The first one says what `TRUE` is."""
        self.variables = 1
        self._gates: dict[tuple[int, ...], int] = {}

    def fresh(self) -> int:
        self.variables += 1
        return self.variables

    def word(self, width: int) -> Word:
        return tuple(self.fresh() for _ in range(width))

    def clause(self, *literals: int) -> None:
        self.flat.extend(literals)
        self.flat.append(0)

    def _gate(self, key: tuple[int, ...], clauses: Callable[[int], tuple[tuple[int, ...], ...]]) -> int:
        output = self._gates.get(key)
        if output is None:
            output = self._gates[key] = self.fresh()
            for clause in clauses(output):
                self.clause(*clause)
        return output

    def both(self, a: int, b: int) -> int:
        if a == b or b == TRUE:
            return a
        if a == TRUE:
            return b
        if FALSE in (a, b) or a == -b:
            return FALSE
        a, b = min(a, b), max(a, b)
        return self._gate((0, a, b), lambda o: ((-o, a), (-o, b), (o, -a, -b)))

    def either(self, a: int, b: int) -> int:
        return -self.both(-a, -b)

    def differs(self, a: int, b: int) -> int:
        if abs(a) == TRUE or abs(b) == TRUE:
            return b if a == FALSE else -b if a == TRUE else a if b == FALSE else -a
        if abs(a) == abs(b):
            return FALSE if a == b else TRUE
        sign = 1 if (a < 0) == (b < 0) else -1
        a, b = sorted((abs(a), abs(b)))
        return sign * self._gate((1, a, b), lambda o: ((-o, a, b), (-o, -a, -b), (o, -a, b), (o, a, -b)))

    def choose(self, c: int, a: int, b: int) -> int:
        if abs(c) == TRUE or a == b:
            return a if c != FALSE else b
        if c < 0:
            c, a, b = -c, b, a
        if abs(a) == TRUE or abs(b) == TRUE or a == -b or c in (abs(a), abs(b)):
            return self.either(self.both(c, a), self.both(-c, b)) if a != -b else self.differs(c, b)
        return self._gate((2, c, a, b), lambda o: ((-c, -a, o), (-c, a, -o), (c, -b, o), (c, b, -o)))

    def all(self, literals: Word) -> int:
        return reduce(self.both, literals, TRUE)

    def any(self, literals: Word) -> int:
        return -self.all(inverted(literals))

    def equal(self, a: Word, b: Word) -> int:
        return self.all(tuple(-self.differs(x, y) for x, y in zip(a, b, strict=True)))

    def mux(self, c: int, a: Word, b: Word) -> Word:
        return tuple(self.choose(c, x, y) for x, y in zip(a, b, strict=True))

    def bitwise(self, gate: Callable[[int, int], int], a: Word, b: Word) -> Word:
        return tuple(gate(x, y) for x, y in zip(a, b, strict=True))

    def add(self, a: Word, b: Word, carry: int = FALSE) -> Word:
        total = []
        for x, y in zip(a, b, strict=True):
            half = self.differs(x, y)
            total.append(self.differs(half, carry))
            carry = self.choose(half, carry, x)
        return tuple(total)

    def subtract(self, a: Word, b: Word) -> Word:
        return self.add(a, inverted(b), TRUE)

    def negate(self, a: Word) -> Word:
        return self.subtract(constant(0, len(a)), a)

    def multiply(self, a: Word, b: Word) -> Word:
        total = constant(0, len(b))
        for place, bit in zip(range(len(b)), a, strict=True):
            shifted = (FALSE,) * place + b[: len(b) - place]
            total = self.add(total, tuple(self.both(bit, x) for x in shifted))
        return total

    def divide(self, a: Word, b: Word) -> tuple[Word, Word]:
        """Long division. By zero, every step subtracts zero: all ones, and the dividend."""
        wide, rest, quotient = (*b, FALSE), constant(0, len(b)), []
        for bit in reversed(a):
            shifted = (bit, *rest)
            fits = -self.less(shifted, wide)
            rest = self.mux(fits, self.subtract(shifted, wide), shifted)[:-1]
            quotient.append(fits)
        return tuple(reversed(quotient)), rest

    def divide_signed(self, a: Word, b: Word) -> tuple[Word, Word]:
        """Quotient towards zero; the remainder has the sign of the dividend."""
        quotient, rest = self.divide(self.magnitude(a), self.magnitude(b))
        sign = self.differs(a[-1], b[-1])
        return self.mux(sign, self.negate(quotient), quotient), self.mux(a[-1], self.negate(rest), rest)

    def modulo_signed(self, a: Word, b: Word) -> Word:
        """The remainder with the sign of the divisor."""
        rest = self.divide_signed(a, b)[1]
        other = self.both(self.any(rest), self.differs(a[-1], b[-1]))
        return self.mux(other, self.add(rest, b), rest)

    def magnitude(self, a: Word) -> Word:
        return self.mux(a[-1], self.negate(a), a)

    def less(self, a: Word, b: Word) -> int:
        result = FALSE
        for x, y in zip(a, b, strict=True):
            result = self.choose(self.differs(x, y), y, result)
        return result

    def less_signed(self, a: Word, b: Word) -> int:
        return self.less((*a[:-1], -a[-1]), (*b[:-1], -b[-1]))

    def shift_right(self, a: Word, amount: Word, fill: int) -> Word:
        width, too_far = len(a), FALSE
        for stage, bit in enumerate(amount):
            if 1 << stage >= width:
                too_far = self.either(too_far, bit)
            else:
                a = self.mux(bit, a[1 << stage :] + (fill,) * (1 << stage), a)
        return self.mux(too_far, (fill,) * width, a)

    def shift_left(self, a: Word, amount: Word) -> Word:
        return tuple(reversed(self.shift_right(tuple(reversed(a)), amount, FALSE)))
