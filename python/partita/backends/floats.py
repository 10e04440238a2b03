"""Float operators as terms of another solver.

Partita's operators work on words and define every bit; SMT-LIB has one NaN and leaves some results open. So each node
has two forms: a number, on which further float operators work natively, and a word, which is made only if other
operators see it. A word is that of the number, unless the number is NaN: then it is the NaN that x86 returns
(`core/src/expr/float/nan.rs`). SMT-LIB has no function from a number to its bits: a builder without `to_ieee_bv` gets a
fresh word with a definition, `to_fp` of which is the number. A definition restricts nothing, so it can be asserted for
good and is in no core.

Numbers of x87 store their integer bit. They become numbers of 15 and 64 bits; unsupported ones are NaN, and
pseudo-denormal numbers have the exponent 1.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from partita._core import OPERATORS
from partita.errors import UndecidedError

if TYPE_CHECKING:
    from partita.backends.translate import Terms

Term = Any

FUNCTIONS = (
    "fp.add", "fp.mul", "fp.div", "fp.fma", "fp.sqrt", "fp.roundToIntegral", "fp.rem", "fp.lt", "fp.leq", "fp.eq",
    "fp.isNaN", "fp.neg", "fp.abs",
)  # fmt: skip
"""Functions without indices; those in `ROUNDS` take a rounding mode first."""
CONVERSIONS = ("to_fp_bits", "to_fp_float", "to_fp_signed", "to_fp_unsigned", "fp.to_ubv", "fp.to_sbv")
"""Functions with indices, which come first: `to_fp` in its four forms, and to integers."""
IN_USE = frozenset({(5, 11), (8, 24), (11, 53), (15, 64), (15, 113)})
"""Half, single, double, x87 extended, quad."""
ROUNDING_MODES = ("RNE", "RNA", "RTP", "RTN", "RTZ")
ROUNDS = {"fp.add", "fp.mul", "fp.div", "fp.fma", "fp.sqrt", "fp.roundToIntegral"}
NUMBER = {name: number for number, (name, *_) in enumerate(OPERATORS)}
PLAIN = {
    number: smt for number, (_, family, _, smt, _, _) in enumerate(OPERATORS) if family == "Float" and smt in FUNCTIONS
}
COMPARISONS = {NUMBER["FLt"], NUMBER["FLe"], NUMBER["FEq"]}
TO_INTEGER = {NUMBER["FToUInt"]: "fp.to_ubv", NUMBER["FToSInt"]: "fp.to_sbv"}
FROM_INTEGER = {NUMBER["FFromUInt"]: "to_fp_unsigned", NUMBER["FFromSInt"]: "to_fp_signed"}
TO_FLOAT = NUMBER["FToF"]
ITE, XOR, AND, ULT = (NUMBER[name] for name in ("Ite", "Xor", "And", "Ult"))


@dataclass(frozen=True)
class Format:
    exponent: int
    significand: int
    explicit: bool

    @property
    def width(self) -> int:
        return self.exponent + self.significand + self.explicit

    @property
    def stored(self) -> int:
        """Bits of the significand that are stored."""
        return self.significand - 1 + self.explicit

    @property
    def sign(self) -> int:
        return 1 << (self.width - 1)

    @property
    def quiet(self) -> int:
        return 1 << (self.significand - 2)

    @property
    def infinity(self) -> int:
        integer = 1 << (self.significand - 1) if self.explicit else 0
        return ((1 << self.exponent) - 1) << self.stored | integer

    @property
    def nan(self) -> int:
        """The NaN of an invalid operation."""
        return self.sign | self.infinity | self.quiet

    @property
    def bias(self) -> int:
        return (1 << (self.exponent - 1)) - 1

    @property
    def implicit(self) -> Format:
        """These numbers without the stored integer bit."""
        return Format(self.exponent, self.significand, False)


def unpack(op: int, parameter: int, operand_width: int) -> tuple[Format, Format, int]:
    """Format, format of the operand and rounding mode of a node (`core/src/expr/float/parameter.rs`)."""
    form = Format(parameter & 31, parameter >> 5 & 0x1FFFF, bool(parameter >> 22 & 1))
    source = form
    if op == TO_FLOAT:
        exponent, explicit = parameter >> 26 & 31, bool(parameter >> 31)
        source = Format(exponent, operand_width - exponent - explicit, explicit)
    return form, source, parameter >> 23 & 7


@dataclass
class Number:
    """A node as a number. `word` makes its bits; the words of `operands` must exist before."""

    form: Format
    term: Term
    operands: tuple[int, ...]
    word: Callable[[], Term]
    magnitude_of: Term = None
    """The number whose absolute value it is."""


class Floats:
    """The float nodes of `terms`."""

    def __init__(self, terms: Terms) -> None:
        self.terms = terms
        self.builder = terms.builder
        self.numbers: dict[int, Number] = {}
        # Numbers made from words of other operators.
        self.read: dict[int, dict[Format, Term]] = {}
        self.definitions: dict[int, Term] = {}

    # Bit-vectors.

    def _constant(self, value: int, width: int) -> Term:
        return self.builder.constant(value, width)

    def _apply(self, name: str, *args: Any) -> Term:
        return self.builder.functions[name](*args)

    def _concat(self, *parts: Term) -> Term:
        word = parts[0]
        for part in parts[1:]:
            word = self._apply("concat", word, part)
        return word

    def _bit(self, word: Term, place: int) -> Term:
        return self._apply("extract", place, place, word)

    def _is(self, bits: Term, value: int, width: int) -> Term:
        return self._apply("=", bits, self._constant(value, width))

    # Words and numbers.

    def number(self, node: int, form: Format) -> Term:
        """A node as a number."""
        known = self.numbers.get(node)
        if known is not None and known.form == form:
            return known.term
        made = self.read.setdefault(node, {})
        if form not in made:
            word = self.terms.term(node)
            made[form] = self._from_word(form, self._implicit_word(word, form) if form.explicit else word)
        return made[form]

    def _from_word(self, form: Format, word: Term) -> Term:
        return self._apply("to_fp_bits", form.exponent, form.significand, word)

    def _is_unsupported(self, word: Term, form: Format) -> Term:
        """Whether a number of x87 has an exponent but no integer bit."""
        exponent = self._apply("extract", form.width - 2, form.stored, word)
        without = self._is(self._bit(word, form.significand - 1), 0, 1)
        return self._apply("and", self._apply("not", self._is(exponent, 0, form.exponent)), without)

    def _implicit_word(self, word: Term, form: Format) -> Term:
        """A number of x87 as a word without the integer bit."""
        exponent = self._apply("extract", form.width - 2, form.stored, word)
        integer = self._is(self._bit(word, form.significand - 1), 1, 1)
        pseudo = self._apply("and", self._is(exponent, 0, form.exponent), integer)
        exponent = self._apply("ite", pseudo, self._constant(1, form.exponent), exponent)
        fraction = self._apply("extract", form.significand - 2, 0, word)
        number = self._concat(self._bit(word, form.width - 1), exponent, fraction)
        nan = self._constant(form.implicit.nan, form.implicit.width)
        return self._apply("ite", self._is_unsupported(word, form), nan, number)

    def _bits(self, node: int, form: Format, term: Term) -> Term:
        """The bits of a number that is not NaN."""
        plain = form.implicit
        native = self.builder.functions.get("fp.to_ieee_bv")
        if native is not None:
            word = native(term)
        else:
            word = self.builder.fresh_word(plain.width, f"bits!{node}", plain.exponent, plain.significand, term)
            self.definitions[node] = self._apply("=", self._from_word(plain, word), term)
        if not form.explicit:
            return word
        exponent = self._apply("extract", plain.width - 2, plain.stored, word)
        integer = self._apply("ite", self._is(exponent, 0, form.exponent), self._constant(0, 1), self._constant(1, 1))
        upper = self._apply("extract", plain.width - 1, plain.stored, word)
        return self._concat(upper, integer, self._apply("extract", plain.stored - 1, 0, word))

    # NaN.

    def _nan(self, form: Format, nodes: tuple[int, ...]) -> Term:
        """The NaN of an operation with these operands."""
        default = self._constant(form.nan, form.width)
        words = [(self.terms.term(node), self._apply("fp.isNaN", self.number(node, form))) for node in nodes]
        quiet = self._constant(form.quiet, form.width)
        if not form.explicit:
            result = default
            for word, is_nan in reversed(words):
                result = self._apply("ite", is_nan, self._apply("bvor", word, quiet), result)
            return result
        # A quiet NaN, then the larger significand, then the positive one: the order of these keys.
        keys = [
            self._concat(
                self._apply("ite", is_nan, self._constant(1, 1), self._constant(0, 1)),
                self._bit(word, form.significand - 2),
                self._apply("extract", form.stored - 1, 0, word),
                self._apply("bvnot", self._bit(word, form.width - 1)),
            )
            for word, is_nan in words
        ]
        chosen, best = words[0][0], keys[0]
        for (word, _), key in zip(words[1:], keys[1:], strict=True):
            better = self._apply("bvult", best, key)
            chosen, best = self._apply("ite", better, word, chosen), self._apply("ite", better, key, best)
        no_operand, unsupported = self.builder.boolean(True), self.builder.boolean(False)
        for word, is_nan in words:
            no_operand = self._apply("and", no_operand, self._apply("not", is_nan))
            unsupported = self._apply("or", unsupported, self._is_unsupported(word, form))
        is_default = self._apply("or", no_operand, unsupported)
        return self._apply("ite", is_default, default, self._apply("bvor", chosen, quiet))

    def _converted_nan(self, form: Format, source: Format, node: int) -> Term:
        """A NaN in another format: its sign and the upper bits of its payload."""
        word = self.terms.term(node)
        old, new = source.significand - 1, form.significand - 1
        fraction = self._apply("extract", old - 1, 0, word)
        fraction = self._apply("bvor", fraction, self._constant(1 << (old - 1), old))
        if new > old:
            fraction = self._apply("concat", fraction, self._constant(0, new - old))
        elif new < old:
            fraction = self._apply("extract", old - 1, old - new, fraction)
        upper = (1 << form.exponent + form.explicit) - 1
        sign = self._bit(word, source.width - 1)
        nan = self._concat(sign, self._constant(upper, form.exponent + form.explicit), fraction)
        if source.explicit:
            default = self._constant(form.nan, form.width)
            nan = self._apply("ite", self._is_unsupported(word, source), default, nan)
        return nan

    # Nodes.

    def add(self, node: int, op: int, width: int, parameter: int, operands: tuple[int, ...]) -> None:
        """Translates a float operator."""
        form, source, rounding = unpack(op, parameter, self.terms.widths[operands[0]])
        for each in (form, source):
            if each.exponent < self.builder.min_exponent or each.significand < self.builder.min_significand:
                size = f"{each.exponent} bits of exponent and {each.significand} of significand"
                raise UndecidedError(f"this solver is not asked about numbers with {size}")
        allowed = self.builder.integral_formats
        rounds = op in TO_INTEGER or op == NUMBER["FRound"]
        if rounds and allowed is not None and (source.exponent, source.significand) not in allowed:
            raise UndecidedError("this solver is not asked to round numbers of this format to integers")
        mode = self.builder.rounding(ROUNDING_MODES[rounding])
        if op in TO_INTEGER:
            self.terms.terms[node] = self._to_integer(op, width, form, mode, operands[0])
            return
        if op in FROM_INTEGER:
            value = self.terms.term(operands[0])
            term = self._apply(FROM_INTEGER[op], form.exponent, form.significand, mode, value)
            self._keep(node, form, term, (), lambda: self._bits(node, form, term))
            return
        args = [self.number(operand, source) for operand in operands]
        if op in COMPARISONS:
            self.terms.terms[node] = self._apply(PLAIN[op], *args)
        elif op == TO_FLOAT:
            term = self._apply("to_fp_float", form.exponent, form.significand, mode, args[0])
            self._keep(
                node,
                form,
                term,
                operands,
                lambda: self._word(node, form, term, self._converted_nan(form, source, operands[0])),
            )
        else:
            term = self._apply(PLAIN[op], mode, *args) if PLAIN[op] in ROUNDS else self._apply(PLAIN[op], *args)
            self._keep(node, form, term, operands, lambda: self._word(node, form, term, self._nan(form, operands)))

    def _word(self, node: int, form: Format, term: Term, nan: Term) -> Term:
        return self._apply("ite", self._apply("fp.isNaN", term), nan, self._bits(node, form, term))

    def _keep(
        self, node: int, form: Format, term: Term, operands: tuple[int, ...], word: Callable[[], Term], of: Term = None
    ) -> None:
        self.numbers[node] = Number(form, term, operands, word, of)

    def _to_integer(self, op: int, width: int, form: Format, mode: Term, operand: int) -> Term:
        """The least signed integer if the number does not fit, where SMT-LIB leaves it open."""
        value = self.number(operand, form)
        integral = self._apply("fp.roundToIntegral", mode, value)
        is_signed = TO_INTEGER[op] == "fp.to_sbv"
        power = width - 1 if is_signed else width
        plain = form.implicit
        # The least power of two that is too large, or infinity.
        beyond = (power + plain.bias) << plain.stored if power <= plain.bias else plain.infinity
        below = self._apply("fp.lt", integral, self._literal(plain, beyond))
        if not is_signed:
            above = self._apply("fp.leq", self._literal(plain, 0), integral)
        else:
            # The negative of the power fits, negative infinity does not.
            compare = "fp.leq" if power <= plain.bias else "fp.lt"
            above = self._apply(compare, self._literal(plain, beyond | plain.sign), integral)
        fits = self._apply("and", below, above)
        integer = self._apply(TO_INTEGER[op], width, mode, value)
        return self._apply("ite", fits, integer, self._constant(1 << (width - 1), width))

    def _literal(self, form: Format, bits: int) -> Term:
        return self._from_word(form, self._constant(bits, form.width))

    def reads_number(self, node: int, op: int, operands: tuple[int, ...]) -> bool:
        """Translates `ite`, negation, absolute value and the test for NaN of numbers. False if it is none of them."""
        numbers, terms = self.numbers, self.terms
        if op == ITE:
            condition, then, other = operands
            known = numbers.get(then) or numbers.get(other)
            if known is None:
                return False
            chosen = terms.term(condition)
            term = self._apply("ite", chosen, self.number(then, known.form), self.number(other, known.form))
            self._keep(
                node, known.form, term, (then, other),
                lambda: self._apply("ite", chosen, terms.term(then), terms.term(other)),
            )  # fmt: skip
            return True
        a, b = operands[0], operands[1]
        if op == ULT:
            magnitude = numbers.get(b)
            if magnitude is None or magnitude.magnitude_of is None or magnitude.form.explicit:
                return False
            if terms.constants.get(a) != magnitude.form.infinity:
                return False
            terms.terms[node] = self._apply("fp.isNaN", magnitude.magnitude_of)
            return True
        if op not in (XOR, AND):
            return False
        if a not in numbers:
            a, b = b, a
        known = numbers.get(a)
        if known is None or known.form.explicit:
            return False
        sign = known.form.sign
        if terms.constants.get(b) != (sign if op == XOR else sign - 1):
            return False
        function, on_bits = ("fp.neg", "bvxor") if op == XOR else ("fp.abs", "bvand")
        self._keep(
            node, known.form, self._apply(function, known.term), (a,),
            lambda: self._apply(on_bits, terms.term(a), terms.term(b)),
            known.term if op == AND else None,
        )  # fmt: skip
        return True

    def word(self, node: int) -> Term:
        """The bits of a number, after those of its operands: chains are long, so there is no recursion."""
        stack = [node]
        while stack:
            top = stack[-1]
            number = self.numbers[top]
            missing = [i for i in number.operands if i in self.numbers and not self.terms.terms.has(i)]
            if missing:
                stack.extend(missing)
                continue
            stack.pop()
            if not self.terms.terms.has(top):
                self.terms.terms[top] = number.word()
        return self.terms.terms[node]
