"""The functions of SMT-LIB by name: booleans, bit-vectors and arrays."""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from itertools import pairwise
from typing import Any

from partita.proof.arrays import Arrays, flat
from partita.proof.circuit import FALSE, Circuit, Word, constant, inverted

Function = Callable[..., Any]


def left(operator: Function) -> Function:
    """Left-associative application to one and more arguments."""
    return lambda *arguments: reduce(operator, arguments)


def operators(c: Circuit, arrays: Arrays) -> dict[str, Function]:
    """Functions without indices."""
    equal, less, less_signed = arrays.equal, c.less, c.less_signed

    def widened(a: Word, signed: bool) -> Word:
        return a + ((a[-1] if signed else FALSE),) * len(a)

    def overflows(operator: Function, signed: bool) -> Function:
        """Does the result at twice the width differ from the widened result?"""

        def predicate(a: Word, b: Word) -> int:
            wide: Word = operator(widened(a, signed), widened(b, signed))
            return -c.equal(wide, widened(wide[: len(a)], signed))

        return predicate

    def smallest(a: Word) -> int:
        return c.equal(a, constant(1 << len(a) - 1, len(a)))

    def product_is_beyond(a: Word, b: Word, negative: bool) -> int:
        sign = c.multiply(widened(a, True), widened(b, True))[-1]
        return c.both(overflows(c.multiply, True)(a, b), sign if negative else -sign)

    def rotated(a: Word, amount: Word, to_left: bool) -> Word:
        by = c.divide(amount, constant(len(a), len(a)))[1]
        back = c.subtract(constant(len(a), len(a)), by)
        lower, upper = (back, by) if to_left else (by, back)
        return c.bitwise(c.either, c.shift_right(a, lower, FALSE), c.shift_left(a, upper))

    return {
        "not": lambda a: -a,
        "and": left(c.both),
        "or": left(c.either),
        "xor": left(c.differs),
        "=>": lambda *args: reduce(lambda b, a: c.either(-a, b), reversed(args)),
        "=": lambda *args: c.all(tuple(equal(a, b) for a, b in pairwise(args))),
        "distinct": lambda *args: c.all(tuple(-equal(a, b) for n, b in enumerate(args) for a in args[:n])),
        "ite": arrays.choose,
        "select": lambda a, i: arrays.read(a, arrays.index(flat(i))),
        "store": lambda a, i, v: arrays.term(a.sort, "store", a, arrays.index(flat(i)), v),
        "concat": lambda *args: sum(reversed(args), ()),
        "bvnot": inverted,
        "bvand": left(lambda a, b: c.bitwise(c.both, a, b)),
        "bvor": left(lambda a, b: c.bitwise(c.either, a, b)),
        "bvxor": left(lambda a, b: c.bitwise(c.differs, a, b)),
        "bvnand": lambda a, b: inverted(c.bitwise(c.both, a, b)),
        "bvnor": lambda a, b: inverted(c.bitwise(c.either, a, b)),
        "bvxnor": left(lambda a, b: inverted(c.bitwise(c.differs, a, b))),
        "bvneg": c.negate,
        "bvadd": left(c.add),
        "bvsub": left(c.subtract),
        "bvmul": left(c.multiply),
        "bvudiv": lambda a, b: c.divide(a, b)[0],
        "bvurem": lambda a, b: c.divide(a, b)[1],
        "bvsdiv": lambda a, b: c.divide_signed(a, b)[0],
        "bvsrem": lambda a, b: c.divide_signed(a, b)[1],
        "bvsmod": c.modulo_signed,
        "bvshl": c.shift_left,
        "bvlshr": lambda a, b: c.shift_right(a, b, FALSE),
        "bvashr": lambda a, b: c.shift_right(a, b, a[-1]),
        "bvult": less,
        "bvule": lambda a, b: -less(b, a),
        "bvugt": lambda a, b: less(b, a),
        "bvuge": lambda a, b: -less(a, b),
        "bvslt": less_signed,
        "bvsle": lambda a, b: -less_signed(b, a),
        "bvsgt": lambda a, b: less_signed(b, a),
        "bvsge": lambda a, b: -less_signed(a, b),
        "bvcomp": lambda a, b: (c.equal(a, b),),
        "bvredor": lambda a: (c.any(a),),
        "bvredand": lambda a: (c.all(a),),
        "bvredxor": lambda a: (reduce(c.differs, a),),
        "bvinc": lambda a: c.add(a, constant(1, len(a))),
        "bvdec": lambda a: c.subtract(a, constant(1, len(a))),
        "bvite": lambda bit, a, b: c.mux(bit[0], a, b),
        "bvnego": smallest,
        "bvuaddo": overflows(c.add, False),
        "bvsaddo": overflows(c.add, True),
        "bvumulo": overflows(c.multiply, False),
        "bvsmulo": overflows(c.multiply, True),
        "bvusubo": less,
        "bvssubo": overflows(c.subtract, True),
        "bvsdivo": lambda a, b: c.both(smallest(a), c.all(b)),
        "bvumul_noovfl": lambda a, b: -overflows(c.multiply, False)(a, b),
        "bvsmul_noovfl": lambda a, b: -product_is_beyond(a, b, False),
        "bvsmul_noudfl": lambda a, b: -product_is_beyond(a, b, True),
        "ext_rotate_left": lambda a, amount: rotated(a, amount, True),
        "ext_rotate_right": lambda a, amount: rotated(a, amount, False),
        "bvrol": lambda a, amount: rotated(a, amount, True),
        "bvror": lambda a, amount: rotated(a, amount, False),
    }


def rotate(a: Word, places: int) -> Word:
    places %= len(a)
    return a[places:] + a[:places]


def repeat(count: int, a: Word) -> Word:
    if count < 1:
        raise ValueError("expected to repeat at least once")
    return a * count


def extract(high: int, low: int, a: Word) -> Word:
    if not 0 <= low <= high < len(a):
        raise ValueError(f"expected bits of {len(a)}, found {high} to {low}")
    return a[low : high + 1]


def bit(place: int, a: Word) -> int:
    return extract(place, place, a)[0]


INDEXED: dict[str, Function] = {
    "extract": extract,
    "bit2bool": bit,
    "repeat": repeat,
    "zero_extend": lambda count, a: a + (FALSE,) * count,
    "sign_extend": lambda count, a: a + (a[-1],) * count,
    "rotate_right": lambda places, a: rotate(a, places),
    "rotate_left": lambda places, a: rotate(a, -places),
}
