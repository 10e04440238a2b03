"""Random scripts for the crosscheck: queries at branches along paths, as an executor asks them, and corner cases.

A script is a list of steps over declared variables. Its terms are independent of the solver's expressions: nothing is
simplified before both solvers have read the same text. A callback decides which side of each branch is feasible, so
that paths stay feasible and most queries are not trivial.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field

BOOL = 0
MAX_OPERAND_SIZE = 60
"""Larger terms are not used as operands."""

Feasible = Callable[[list["Term"]], bool]


@dataclass(frozen=True)
class Term:
    """An operator applied to terms. `sort` is a width, 0 for a boolean, or the index and element widths of an array."""

    head: str
    kids: tuple[Term, ...]
    sort: int | tuple[int, int]
    text: str = field(init=False, compare=False)
    size: int = field(init=False, compare=False)

    def __post_init__(self) -> None:
        words = " ".join([self.head, *(kid.text for kid in self.kids)])
        object.__setattr__(self, "text", f"({words})" if self.kids else words)
        object.__setattr__(self, "size", 1 + sum(kid.size for kid in self.kids))


@dataclass(frozen=True)
class Step:
    """`assert`, `assume` (a check under the term), `check`, `push` or `pop`."""

    kind: str
    term: Term | None = None


@dataclass(frozen=True)
class Script:
    variables: tuple[Term, ...]
    steps: tuple[Step, ...]


def constant(value: int, width: int) -> Term:
    return Term(f"(_ bv{value % (1 << width)} {width})", (), width)


def boolean(value: bool) -> Term:
    return Term(str(value).lower(), (), BOOL)


def negated(term: Term) -> Term:
    return Term("not", (term,), BOOL)


UNSIGNED, SIGNED = ("bvult", "bvule", "bvugt", "bvuge"), ("bvslt", "bvsle", "bvsgt", "bvsge")
COMPARISONS = ("=", "distinct", *UNSIGNED, *SIGNED)
WIDTHS = (1, 2, 3, 4, 5, 7, 8, 9, 12, 15, 16, 17, 24, 31, 32, 33, 48, 63, 64)
SHAPES = ("bytes", "word", "words", "fields", "order", "linear", "memory", "table")
ORDERS = ("order", "order", "linear")
"""Order, difference and linear constraints alone."""
SETS = ("bytes", "word", "fields", "table")
"""Words, fields of words and tables: constraints that sets of values can decide."""

FLOATS = ("floats",)
"""Floating-point terms, which `floatgen` makes."""


class Maker:
    """Makes one script of a random shape."""

    def __init__(self, rng: random.Random, shapes: tuple[str, ...] = SHAPES) -> None:
        self.rng = rng
        self.shape = rng.choice(shapes)
        self.variables: list[Term] = []
        self.arrays: list[Term] = []
        self.pool: list[Term] = []
        self.first: list[Term] = []
        self.depth = rng.choice((1, 2, 2, 3))
        getattr(self, f"declare_{self.shape}")()
        if rng.random() < 0.15:
            self.declare("p", BOOL)

    def declare(self, name: str, sort: int | tuple[int, int]) -> Term:
        self.variables.append(Term(name, (), sort))
        return self.variables[-1]

    def declare_bytes(self) -> None:
        for i in range(self.rng.randint(1, 4)):
            self.declare(f"b{i}", 8)

    def declare_word(self) -> None:
        self.declare("x", self.rng.choice((*WIDTHS, self.rng.randint(1, 64))))

    def declare_words(self) -> None:
        for i in range(self.rng.randint(2, 4)):
            self.declare(f"x{i}", self.rng.choice(WIDTHS))

    def declare_fields(self) -> None:
        self.declare("x", self.rng.choice((8, 16, 24, 32, 32, 64)))
        self.declare("b", 8)

    def declare_order(self) -> None:
        width = self.rng.choice((3, 4, 7, 8, 16, 31, 32, 32, 63, 64, self.rng.randint(3, 64)))
        for i in range(self.rng.choice((2, 2, 3, 3, 4, 5))):
            self.declare(f"x{i}", width)
        # Bounds under which sums just wrap or just do not: signed, unsigned, or both.
        kinds = self.rng.choice((("bvult", "bvule"), ("bvslt", "bvsle"), ("bvule", "bvsle"), ()))
        for word in self.variables if kinds else []:
            for pair in ((word, self.bound(width)), (self.bound(width), word)):
                if self.rng.random() < 0.6:
                    self.first.append(Term(self.rng.choice(kinds), pair, BOOL))

    declare_linear = declare_order

    def bound(self, width: int) -> Term:
        small, rng = 1 << (width // 2), self.rng
        return constant(
            rng.choice((0, 1, 10, small, -1, -10, -small, rng.randint(-small, small), self.number(width))), width
        )

    def declare_memory(self) -> None:
        index = self.rng.choice((3, 8, 32, 32, 64))
        self.arrays.append(self.declare("a", (index, self.rng.choice((8, 8, 8, 4, 1)))))
        self.declare("i", self.rng.choice((index, min(index, 8))))
        if self.rng.random() < 0.5:
            self.declare("j", index)
        for n in range(self.rng.randint(0, 3)):
            index_term, element = self.index(index), self.word(self.element_width(self.arrays[-1]), 1)
            where = constant(n, index) if self.rng.random() < 0.4 else index_term
            self.arrays.append(Term("store", (self.arrays[-1], where, element), self.arrays[-1].sort))

    def declare_table(self) -> None:
        """Constant contents, written as assertions or as stores on a constant array."""
        index, element = self.rng.choice((3, 4, 8, 32)), self.rng.choice((1, 8, 8, 16, 32))
        values = [self.number(element) for _ in range(self.rng.randint(4, min(24, 1 << index)))]
        self.declare("i", index)
        self.declare("b", 8)
        if self.rng.random() < 0.5:
            table = self.declare("t", (index, element))
            for n, value in enumerate(values):
                read = Term("select", (table, constant(n, index)), element)
                self.first.append(Term("=", (read, constant(value, element)), BOOL))
        else:
            sort = f"(Array (_ BitVec {index}) (_ BitVec {element}))"
            table = Term(f"(as const {sort})", (constant(self.number(element), element),), (index, element))
            for n, value in enumerate(values):
                table = Term("store", (table, constant(n, index), constant(value, element)), (index, element))
        self.arrays.append(table)

    @staticmethod
    def element_width(array: Term) -> int:
        assert isinstance(array.sort, tuple)
        return array.sort[1]

    def number(self, width: int) -> int:
        """Returns a value near a wrap-around, a power of two, a mask, a small number, or any number."""
        rng, top = self.rng, 1 << width
        around = rng.choice((0, top >> 1, top, 1 << rng.randrange(width), rng.randrange(top)))
        masks = ((1 << rng.randint(0, width)) - 1) << rng.randrange(width)
        return rng.choice((around + rng.randint(-2, 2), around, rng.randrange(min(top, 20)), masks, ~masks)) % top

    def leaf(self, width: int) -> Term:
        rng = self.rng
        known = [t for t in self.pool if t.sort == width and t.size < MAX_OPERAND_SIZE]
        if known and rng.random() < 0.2:
            return rng.choice(known)
        if self.arrays and rng.random() < 0.6 and width % self.element_width(self.arrays[0]) == 0:
            return self.read(width)
        words = [v for v in self.variables if isinstance(v.sort, int) and v.sort != BOOL]
        if not words:
            return self.read(width)
        same = [v for v in words if v.sort == width]
        if same and rng.random() < 0.85:
            return rng.choice(same)
        return constant(self.number(width), width) if rng.random() < 0.15 else self.fit(rng.choice(words), width)

    def fit(self, term: Term, width: int) -> Term:
        """Extracts or extends the term to another width."""
        assert isinstance(term.sort, int)
        if term.sort > width:
            low = self.rng.choice((0, term.sort - width, self.rng.randint(0, term.sort - width)))
            return Term(f"(_ extract {low + width - 1} {low})", (term,), width)
        if term.sort < width:
            extend = self.rng.choice(("zero_extend", "sign_extend"))
            return Term(f"(_ {extend} {width - term.sort})", (term,), width)
        return term

    def index(self, width: int) -> Term:
        rng = self.rng
        if rng.random() < 0.4:
            return constant(rng.choice((0, 1, 2, 3, 4, self.number(width))), width)
        words = [v for v in self.variables if isinstance(v.sort, int) and v.sort != BOOL]
        index = self.fit(rng.choice(words), width)
        if rng.random() < 0.4:
            step = constant(rng.choice((1, 2, 4, (1 << width) - 1)), width)
            index = Term(rng.choice(("bvadd", "bvadd", "bvmul", "bvand")), (index, step), width)
        return index

    def read(self, width: int) -> Term:
        """Reads a word of memory: elements at consecutive indices, little-endian; or one fitted element."""
        array = self.rng.choice(self.arrays)
        assert isinstance(array.sort, tuple)
        index_width, element = array.sort
        index = self.index(index_width)
        count = width // element if width % element == 0 and width // element <= 8 else 1
        places = [index]
        for n in range(1, count):
            if index.head.startswith("(_ bv"):
                places.append(constant(int(index.head.split()[1][2:]) + n, index_width))
            else:
                places.append(Term("bvadd", (index, constant(n, index_width)), index_width))
        term = Term("select", (array, places[0]), element)
        for n, place in enumerate(places[1:], 2):
            term = Term("concat", (Term("select", (array, place), element), term), n * element)
        return self.fit(term, width)

    def word(self, width: int, depth: int) -> Term:
        rng = self.rng
        if depth <= 0 or rng.random() < 0.12:
            return self.leaf(width)
        term = self.compound(width, depth - 1)
        if term.size < MAX_OPERAND_SIZE:
            self.pool.append(term)
        return term

    def compound(self, width: int, depth: int) -> Term:
        rng = self.rng
        kind = rng.choice(("sum", "sum", "bits", "bits", "shift", "product", "divide", "one", "shape", "shape", "ite"))
        if kind == "shape":
            return self.reshaped(width, depth)
        if kind == "ite":
            return Term("ite", (self.condition(depth), self.word(width, depth), self.word(width, depth)), width)
        first = self.word(width, depth)
        if kind == "one":
            amount = rng.randint(0, width + 1)
            heads = ("bvnot", "bvneg", f"(_ rotate_left {amount})", f"(_ rotate_right {amount})")
            return Term(rng.choice(heads), (first,), width)
        heads_of = {
            "sum": ("bvadd", "bvsub"),
            "bits": ("bvand", "bvand", "bvor", "bvxor", "bvnand", "bvnor", "bvxnor"),
            "shift": ("bvshl", "bvlshr", "bvashr"),
            "product": ("bvmul",),
            "divide": ("bvudiv", "bvurem", "bvsdiv", "bvsrem", "bvsmod"),
        }
        # Products and quotients of two wide variables are hard for every solver.
        widest = {"product": 12, "divide": 10}.get(kind, 64)
        if width <= widest and rng.random() < 0.4:
            second = self.word(width, depth)
        elif kind == "shift":
            second = constant(rng.randint(0, width + 1), width)
        else:
            second = constant(self.number(width), width)
        pair = (second, first) if rng.random() < 0.2 and width <= widest else (first, second)
        return Term(rng.choice(heads_of[kind]), pair, width)

    def reshaped(self, width: int, depth: int) -> Term:
        """Extensions, extracts and concatenations; a comparison as one bit."""
        rng = self.rng
        if width == 1 and rng.random() < 0.3:
            inner = rng.choice(WIDTHS)
            return Term("bvcomp", (self.word(inner, depth), self.word(inner, depth)), 1)
        if width > 1 and rng.random() < 0.35:
            low = rng.choice((rng.randint(1, width - 1), width // 2))
            return Term("concat", (self.word(width - low, depth), self.word(low, depth)), width)
        near = [w for w in WIDTHS if w <= width + 32]
        return self.fit(self.word(rng.choice(near), depth), width)

    def condition(self, depth: int) -> Term:
        rng = self.rng
        known = [t for t in self.pool if t.sort == BOOL]
        chance = rng.random()
        if known and chance < 0.25:
            return self.varied(rng.choice(known))
        if chance < 0.4 and depth > 0:
            head = rng.choice(("and", "or", "or", "xor", "=>", "=", "ite"))
            count = 3 if head == "ite" else rng.choice((2, 2, 3)) if head in ("and", "or") else 2
            return Term(head, tuple(self.condition(depth - 1) for _ in range(count)), BOOL)
        if chance < 0.45:
            return negated(self.condition(depth - 1))
        booleans = [v for v in self.variables if v.sort == BOOL]
        if booleans and chance < 0.5:
            return rng.choice(booleans)
        special = {"order": self.ordered, "linear": self.linear, "fields": self.in_field}.get(self.shape)
        made = special() if special and rng.random() < 0.75 else self.comparison(depth)
        self.pool.append(made)
        return made

    def varied(self, term: Term) -> Term:
        """The term, or one beside it: another comparison, a constant or a variable changed somewhere in it."""
        rng = self.rng
        if term.kids:
            if term.head in COMPARISONS and isinstance(term.kids[0].sort, int) and term.kids[0].sort != BOOL:
                head = rng.choice((term.head, *COMPARISONS))
            else:
                head = term.head
            n = rng.randrange(len(term.kids))
            kids = (*term.kids[:n], self.varied(term.kids[n]), *term.kids[n + 1 :])
            return Term(head, kids, term.sort)
        if term.head.startswith("(_ bv"):
            assert isinstance(term.sort, int)
            value = int(term.head.split()[1][2:])
            changed = (value, value + 1, value - 1, value ^ 1 << rng.randrange(term.sort), ~value, -value)
            return constant(rng.choice(changed), term.sort)
        same = [v for v in self.variables if v.sort == term.sort]
        return rng.choice((term, *same))

    def comparison(self, depth: int) -> Term:
        rng = self.rng
        widths = [v.sort for v in self.variables if isinstance(v.sort, int) and v.sort != BOOL]
        widths += [self.element_width(a) * n for a in self.arrays for n in (1, 2, 4) if self.element_width(a) * n <= 64]
        width = rng.choice(widths) if rng.random() < 0.85 else rng.choice(WIDTHS)
        first = self.word(width, depth)
        second = constant(self.number(width), width) if rng.random() < 0.7 else self.word(width, depth)
        pair = (first, second) if rng.random() < 0.8 else (second, first)
        return Term(rng.choice(COMPARISONS), pair, BOOL)

    def some_words(self) -> tuple[Term, Term, int]:
        words = [v for v in self.variables if isinstance(v.sort, int) and v.sort != BOOL]
        first = self.rng.choice(words)
        assert isinstance(first.sort, int)
        return first, self.rng.choice([v for v in words if v.sort == first.sort]), first.sort

    def ordered(self) -> Term:
        """Order and difference constraints, with offsets that wrap and extensions under which they do not."""
        rng = self.rng
        first, second, width = self.some_words()
        if rng.random() < 0.25:
            extend, wider = rng.choice(("zero_extend", "sign_extend")), rng.randint(1, 32)
            first, second = (Term(f"(_ {extend} {wider})", (t,), width + wider) for t in (first, second))
            width += wider
        offset = self.bound(width)
        head = rng.choice(COMPARISONS)
        form = rng.randrange(5)
        if form == 0:
            return Term(head, (first, offset), BOOL)
        if form == 1:
            return Term(head, (Term("bvsub", (first, second), width), offset), BOOL)
        left = first if form == 2 else Term(rng.choice(("bvadd", "bvsub")), (first, offset), width)
        right = Term("bvadd", (second, constant(rng.randint(-2, 2), width)), width) if form == 4 else second
        return Term(head, (left, right) if rng.random() < 0.5 else (right, left), BOOL)

    def linear(self) -> Term:
        rng = self.rng
        first, second, width = self.some_words()

        def scaled(term: Term) -> Term:
            factor = rng.choice((1, 2, 3, 4, 5, 10, -1, -2, self.number(width)))
            return Term("bvmul", (constant(factor, width), term), width)

        total = Term(rng.choice(("bvadd", "bvsub")), (scaled(first), scaled(second)), width)
        other = rng.choice((constant(self.number(width), width), first, second))
        return Term(rng.choice(COMPARISONS), (total, other), BOOL)

    def in_field(self) -> Term:
        """Compares a mask, shift or extract of a word with a constant."""
        rng = self.rng
        word, _, width = self.some_words()
        low = rng.randrange(width)
        high = rng.randint(low, min(width - 1, low + 9))
        form = rng.randrange(4)
        field_width = high - low + 1
        if form == 0:
            part = Term(f"(_ extract {high} {low})", (word,), field_width)
            return Term(rng.choice(COMPARISONS), (part, constant(self.number(field_width), field_width)), BOOL)
        mask = constant(((1 << field_width) - 1) << low, width)
        part = Term("bvand", (word, mask), width)
        value = constant(self.number(field_width) << low, width)
        if form == 1:
            shift = constant(low, width)
            part = Term(rng.choice(("bvlshr", "bvashr")), (part, shift), width)
            value = constant(self.number(field_width), width)
        if form == 2:
            other = constant(self.number(width), width)
            part = Term(rng.choice(("bvor", "bvxor")), (part, other), width)
        return Term(rng.choice(COMPARISONS), (part, value), BOOL)

    def script(self, feasible: Feasible) -> Script:
        """Walks along a path: asks about both sides of branches, takes one side, pushes and pops."""
        rng = self.rng
        levels: list[list[Term]] = [[]]
        for term in self.first:
            if feasible([*levels[0], term]):
                levels[0].append(term)
        steps = [Step("assert", term) for term in levels[0]]
        for _ in range(rng.choice((4, 8, 12, 16, 24))):
            chance = rng.random()
            if chance < 0.12 and len(levels) > 1:
                levels.pop()
                steps.append(Step("pop"))
                continue
            if chance < 0.4:
                levels.append([])
                steps.append(Step("push"))
            condition = self.condition(self.depth)
            sides = [condition, negated(condition)]
            rng.shuffle(sides)
            steps += [Step("assume", side) for side in sides]
            path = [term for level in levels for term in level]
            if rng.random() < 0.93 and not feasible([*path, sides[0]]):
                sides.reverse()
            levels[-1].append(sides[0])
            steps.append(Step("assert", sides[0]))
            if rng.random() < 0.2:
                steps.append(Step("check"))
            # An infeasible path is checked once more, then left.
            if not feasible([*path, sides[0]]):
                if len(levels) == 1:
                    break
                levels.pop()
                steps += [Step("check"), Step("pop")]
        return Script(tuple(self.variables), tuple(steps))
