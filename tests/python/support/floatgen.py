"""Random scripts with floating-point terms for the crosscheck.

Variables are bit-vectors, read as numbers, so that models are compared bit by bit. Results that the standard leaves
open do not occur: conversions to integers are of numbers in range, and minimum and maximum are not asked for zeros of
different sign.
"""

from __future__ import annotations

from support.querygen import BOOL, Maker, Term, constant, negated

Format = tuple[int, int]

FORMATS: tuple[Format, ...] = ((4, 4), (4, 4), (4, 5), (5, 6), (5, 11), (8, 24), (11, 53))
MODES = ("RNE", "RNA", "RTP", "RTN", "RTZ")
COMPARISONS = ("fp.lt", "fp.leq", "fp.gt", "fp.geq", "fp.eq", "=")
CLASSES = ("Normal", "Subnormal", "Zero", "Infinite", "NaN", "Negative", "Positive")
MODE_SORT = (-1, -1)
"""Sort of a rounding mode; that of a number is its format with negative exponent bits."""
MAX_PRODUCT_BITS = 11
"""Products, quotients and roots of numbers with more bits are hard for every solver."""


def width_of(form: Format) -> int:
    return sum(form)


def number_sort(form: Format) -> tuple[int, int]:
    return -form[0], form[1]


class FloatMaker(Maker):
    """Makes one script over numbers of one format, and some of another."""

    def declare_floats(self) -> None:
        self.form = self.rng.choice(FORMATS)
        self.other = self.rng.choice(FORMATS[:5])
        for i in range(self.rng.choice((1, 1, 2, 3))):
            self.declare(f"x{i}", width_of(self.form))
        if self.rng.random() < 0.4:
            self.declare("y", width_of(self.other))
        if self.rng.random() < 0.3:
            self.declare("i", self.rng.choice((4, 8, 16)))

    def mode(self) -> Term:
        return Term(self.rng.choice((*MODES, "RNE", "RNE")), (), MODE_SORT)

    def of_bits(self, form: Format, bits: Term) -> Term:
        return Term(f"(_ to_fp {form[0]} {form[1]})", (bits,), number_sort(form))

    def constant_number(self, form: Format) -> Term:
        """A number that is likely to matter: around zero, one, powers of two, the greatest, infinities and NaN."""
        rng, stored = self.rng, form[1] - 1
        bias, top = (1 << (form[0] - 1)) - 1, 1 << (width_of(form) - 1)
        special = ((1 << form[0]) - 1) << stored
        near = rng.choice((0, bias << stored, (bias + rng.randint(-4, 4)) << stored, special, 1 << stored))
        word = rng.choice((near, near + rng.randint(-2, 2), near + (1 << rng.randrange(stored)), rng.randrange(top)))
        return self.of_bits(form, constant(word ^ rng.choice((0, 0, top)), width_of(form)))

    def variable_number(self, form: Format) -> Term:
        same = [v for v in self.variables if v.sort == width_of(form)]
        bits = self.rng.choice(same) if same else self.fit(self.rng.choice(self.variables[:1]), width_of(form))
        return self.of_bits(form, bits)

    def float_term(self, form: Format, depth: int) -> Term:
        rng = self.rng
        if depth <= 0 or rng.random() < 0.15:
            return self.constant_number(form) if rng.random() < 0.2 else self.variable_number(form)
        sort = number_sort(form)
        is_small = form[1] <= MAX_PRODUCT_BITS
        kinds = ["sum", "sum", "sign", "integral", "ite", "convert", "integer", "extreme", "scaled"]
        kinds += ["product", "quotient", "root"] if is_small else []
        kinds += ["fused"] if form[1] <= 5 else []
        kind = rng.choice(kinds)
        if kind == "sign":
            return Term(rng.choice(("fp.abs", "fp.neg")), (self.float_term(form, depth - 1),), sort)
        if kind == "ite":
            arms = (self.float_term(form, depth - 1), self.float_term(form, depth - 1))
            return Term("ite", (self.condition(depth - 1), *arms), sort)
        if kind == "convert":
            other = self.other if form == self.form else self.form
            return Term(f"(_ to_fp {form[0]} {form[1]})", (self.mode(), self.float_term(other, depth - 1)), sort)
        if kind == "integer":
            head = rng.choice(("to_fp", "to_fp_unsigned"))
            word = self.fit(rng.choice([v for v in self.variables if v.sort != BOOL]), rng.choice((3, 4, 8, 12)))
            return Term(f"(_ {head} {form[0]} {form[1]})", (self.mode(), word), sort)
        first = self.float_term(form, depth - 1)
        if kind in ("integral", "root"):
            return Term("fp.roundToIntegral" if kind == "integral" else "fp.sqrt", (self.mode(), first), sort)
        if kind == "fused":
            return Term("fp.fma", (self.mode(), first, *(self.float_term(form, depth - 1) for _ in range(2))), sort)
        if kind == "extreme":
            second = self.float_term(form, depth - 1)
            zeros = Term("and", tuple(Term("fp.isZero", (term,), BOOL) for term in (first, second)), BOOL)
            return Term("ite", (zeros, first, Term(rng.choice(("fp.min", "fp.max")), (first, second), sort)), sort)
        second = (
            self.constant_number(form) if rng.random() < 0.6 or kind == "scaled" else self.float_term(form, depth - 1)
        )
        heads = {"sum": ("fp.add", "fp.sub"), "product": ("fp.mul",), "quotient": ("fp.div",), "scaled": ("fp.mul",)}
        if kind == "scaled" and not is_small:
            heads["scaled"] = ("fp.add",)
        pair = (second, first) if rng.random() < 0.2 else (first, second)
        return Term(rng.choice(heads[kind]), (self.mode(), *pair), sort)

    def varied(self, term: Term) -> Term:
        """Conditions that keep a result from being open stay as they are."""
        if term.head == "ite" and any(kid.head.startswith(("(_ fp.to_", "fp.min", "fp.max")) for kid in term.kids):
            return term
        return super().varied(term)

    def comparison(self, depth: int) -> Term:
        rng = self.rng
        form = self.form if rng.random() < 0.8 else self.other
        if rng.random() < 0.1:
            return super().comparison(min(depth, 1))
        first = self.float_term(form, depth)
        if rng.random() < 0.15:
            return Term(f"fp.is{rng.choice(CLASSES)}", (first,), BOOL)
        if rng.random() < 0.12:
            return self.integer_comparison(form, first)
        second = self.constant_number(form) if rng.random() < 0.6 else self.float_term(form, depth)
        return Term(rng.choice(COMPARISONS), (first, second) if rng.random() < 0.8 else (second, first), BOOL)

    def integer_comparison(self, form: Format, number: Term) -> Term:
        """Compares the integer of a number in range with a constant."""
        width, signed = self.rng.choice((4, 5, 8)), self.rng.random() < 0.5
        # Two bits less than the integer has: every mode stays in range.
        limit = Term(
            f"(_ to_fp {form[0]} {form[1]})",
            (Term("RTZ", (), MODE_SORT), Term(f"{1 << (width - 2)}.0", (), MODE_SORT)),
            number_sort(form),
        )
        low = (
            Term("fp.neg", (limit,), number_sort(form))
            if signed
            else Term(f"(_ +zero {form[0]} {form[1]})", (), number_sort(form))
        )
        inside = Term("and", (Term("fp.leq", (low, number), BOOL), Term("fp.lt", (number, limit), BOOL)), BOOL)
        head = f"(_ fp.to_{'s' if signed else 'u'}bv {width})"
        integer = Term("ite", (inside, Term(head, (self.mode(), number), width), constant(0, width)), width)
        compare = Term(self.rng.choice(("=", "bvult", "bvsle")), (integer, constant(self.number(width), width)), BOOL)
        return negated(compare) if self.rng.random() < 0.2 else compare
