"""Bit-vector terms of the checker: construction, evaluation, and reading of SMT-LIB.

A value is a number, or a `Term` of a known width. Truth is a bit. Terms are shared: equal terms are the same object.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Any

UNWRITTEN = "unwritten "


class Term:
    __slots__ = ("args", "is_loose", "number", "op", "width")
    is_loose: bool

    def __init__(self, op: str, args: tuple[Any, ...], width: int, number: int) -> None:
        self.op, self.args, self.width, self.number = op, args, width, number
        self.is_loose = (op == "input" and args[0].startswith(UNWRITTEN)) or any(
            isinstance(arg, Term) and arg.is_loose for arg in args
        )
        """Does it depend on bytes that were never written?"""


class NoSemanticsError(Exception):
    """Something that this checker does not follow. Neither accepted nor rejected."""


_TERMS: dict[tuple[Any, ...], Term] = {}


def signed(value: int, width: int) -> int:
    return value - (1 << width) if value >> (width - 1) else value


def _sdiv(a: int, b: int, width: int) -> int:
    x, y = signed(a, width), signed(b, width)
    return (abs(x) // abs(y) * (1 if (x < 0) == (y < 0) else -1)) if y else (1 if x < 0 else -1)


def _srem(a: int, b: int, width: int) -> int:
    x, y = signed(a, width), signed(b, width)
    return x - _sdiv(a, b, width) * y if y else x


# Meaning of each operator on numbers; `w` is the width of the first operand.
NUMBERS: dict[str, Callable[..., int]] = {
    "bvadd": lambda w, a, b: a + b, "bvsub": lambda w, a, b: a - b, "bvmul": lambda w, a, b: a * b,
    "bvudiv": lambda w, a, b: a // b if b else -1, "bvurem": lambda w, a, b: a % b if b else a,
    "bvsdiv": lambda w, a, b: _sdiv(a, b, w), "bvsrem": lambda w, a, b: _srem(a, b, w),
    "bvshl": lambda w, a, b: a << b if b < w else 0, "bvlshr": lambda w, a, b: a >> b if b < w else 0,
    "bvashr": lambda w, a, b: signed(a, w) >> min(b, w), "bvand": lambda w, a, b: a & b,
    "bvor": lambda w, a, b: a | b, "bvxor": lambda w, a, b: a ^ b, "bvnot": lambda w, a: ~a, "bvneg": lambda w, a: -a,
    "=": lambda w, a, b: int(a == b), "bvult": lambda w, a, b: int(a < b), "bvule": lambda w, a, b: int(a <= b),
    "bvslt": lambda w, a, b: int(signed(a, w) < signed(b, w)),
    "bvsle": lambda w, a, b: int(signed(a, w) <= signed(b, w)),
}  # fmt: skip
PREDICATES = {"=", "bvult", "bvule", "bvslt", "bvsle"}


def make(op: str, args: tuple[Any, ...], width: int) -> Term:
    key = (op, *args)
    found = _TERMS.get(key)
    if found is None:
        found = _TERMS[key] = Term(op, args, width, len(_TERMS))
    return found


def apply(op: str, width: int, *args: Any) -> Any:
    """An operator on operands of this width."""
    if all(isinstance(arg, int) for arg in args):
        return NUMBERS[op](width, *args) & ((1 << (1 if op in PREDICATES else width)) - 1)
    if len(args) == 2:
        a, b = args
        if a is b and op in ("=", "bvule", "bvsle", "bvsub", "bvxor", "bvult", "bvslt"):
            return int(op in ("=", "bvule", "bvsle"))
        if op in ("=", "bvadd", "bvmul", "bvand", "bvor", "bvxor") and isinstance(a, int):
            a, b = b, a
        if isinstance(b, int):
            if op == "bvsub":
                op, b = "bvadd", -b & ((1 << width) - 1)
            if op == "bvadd" and a.op == "bvadd" and isinstance(a.args[2], int):
                a, b = a.args[1], (a.args[2] + b) & ((1 << width) - 1)
            if b == 0 and op in ("bvadd", "bvor", "bvxor", "bvshl", "bvlshr", "bvashr"):
                return a
            if b == 0 and op in ("bvmul", "bvand"):
                return 0
            if (op == "bvmul" and b == 1) or (op == "bvand" and b == (1 << width) - 1):
                return a
            if op == "=" and width == 1:
                return a if b else apply("bvxor", 1, a, 1)
            if op == "bvxor" and a.op == "bvxor" and isinstance(a.args[2], int):
                return apply("bvxor", width, a.args[1], a.args[2] ^ b)
        args = (a, b)
    return make(op, (width, *args), 1 if op in PREDICATES else width)


def operate(op: str, parameter: Any, width: int, *args: Any) -> Any:
    """An operator of floating point, with its formats as the parameter."""
    if all(isinstance(arg, int) for arg in args):
        return NUMBERS[op](parameter, *args) & ((1 << width) - 1)
    return make(op, (parameter, *args), width)


def extract(value: Any, low: int, width: int) -> Any:
    if isinstance(value, int):
        return value >> low & ((1 << width) - 1)
    if width == value.width:
        return value
    if value.op == "extract":
        return extract(value.args[0], value.args[1] + low, width)
    if value.op == "concat":
        high, rest, split, _ = value.args
        if low >= split:
            return extract(high, low - split, width)
        if low + width <= split:
            return extract(rest, low, width)
    if value.op == "ite" and all(isinstance(arg, int) for arg in value.args[1:]):
        return ite(value.args[0], extract(value.args[1], low, width), extract(value.args[2], low, width), width)
    return make("extract", (value, low, width), width)


def concat(high: Any, high_width: int, low: Any, low_width: int) -> Any:
    if isinstance(high, int) and isinstance(low, int):
        return high << low_width | low
    if isinstance(high, Term) and isinstance(low, Term):
        a, b = _piece(high), _piece(low)
        if a[0] is b[0] and a[1] == b[1] + low_width:
            return extract(a[0], b[1], high_width + low_width)
    # Right-nested, so that neighbouring pieces meet.
    if isinstance(high, Term) and high.op == "concat":
        first, middle, split, _ = high.args
        joined = concat(middle, split, low, low_width)
        return concat(first, high.width - split, joined, split + low_width)
    if isinstance(low, Term) and low.op == "concat":
        middle, rest, split, _ = low.args
        both = (isinstance(high, int) and isinstance(middle, int)) or _meet(high, middle, low_width - split)
        if both:
            joined = concat(high, high_width, middle, low_width - split)
            return concat(joined, high_width + low_width - split, rest, split)
    return make("concat", (high, low, low_width, high_width), high_width + low_width)


def _piece(term: Term) -> tuple[Term, int]:
    return (term.args[0], term.args[1]) if term.op == "extract" else (term, 0)


def _meet(high: Any, low: Any, low_width: int) -> bool:
    if isinstance(high, int) or isinstance(low, int):
        return False
    a, b = _piece(high), _piece(low)
    return a[0] is b[0] and a[1] == b[1] + low_width


def zext(value: Any, width: int, to: int) -> Any:
    return value if width == to else extract(value, 0, to) if to < width else concat(0, to - width, value, width)


def sext(value: Any, width: int, to: int) -> Any:
    if isinstance(value, int):
        return signed(value, width) & ((1 << to) - 1)
    return value if width == to else make("sext", (value, to), to)


def ite(condition: Any, a: Any, b: Any, width: int) -> Any:
    if isinstance(condition, int):
        return a if condition else b
    if a is b or (isinstance(a, int) and a == b):
        return a
    if width == 1 and (a, b) == (1, 0):
        return condition
    return make("ite", (condition, a, b, width), width)


def negation(bit: Any) -> Any:
    return apply("bvxor", 1, bit, 1)


def disjunction(bits: Iterable[Any]) -> Any:
    result: Any = 0
    for bit in bits:
        result = apply("bvor", 1, result, bit)
    return result


def byte_of(variable: str, index: Any) -> Term:
    """Byte of an input; the index has 32 bits."""
    return make("input", (variable, index), 8)


def operands(term: Term) -> list[Term]:
    return [arg for arg in term.args if isinstance(arg, Term)]


def needed(terms: Iterable[Term], known: Any) -> list[Term]:
    """Terms that are not known, operands first."""
    order, stack, seen = [], [(term, False) for term in terms], set()
    while stack:
        term, done = stack.pop()
        if done:
            order.append(term)
        elif term not in known and term not in seen:
            seen.add(term)
            stack.append((term, True))
            stack.extend((arg, False) for arg in operands(term))
    return order


def settled(value: Any) -> Any:
    """The value with zeros in place of bytes that were never written."""
    if isinstance(value, int) or not value.is_loose:
        return value
    new: dict[Any, Any] = {}
    for term in needed([value], new):
        args = [new.get(arg, arg) if isinstance(arg, Term) else arg for arg in term.args]
        if not term.is_loose:
            new[term] = term
        elif term.op == "input":
            new[term] = 0 if term.args[0].startswith(UNWRITTEN) else byte_of(args[0], args[1])
        elif term.op == "extract":
            new[term] = extract(args[0], args[1], args[2])
        elif term.op == "concat":
            new[term] = concat(args[0], args[3], args[1], args[2])
        elif term.op == "sext":
            new[term] = sext(args[0], term.args[0].width, args[1])
        elif term.op == "ite":
            new[term] = ite(args[0], args[1], args[2], args[3])
        elif term.op.startswith("fp."):
            new[term] = operate(term.op, args[0], term.width, *args[1:])
        else:
            new[term] = apply(term.op, args[0], *args[1:])
    return new[value]


class Evaluator:
    """Values of terms under one assignment of the inputs."""

    def __init__(self, inputs: dict[str, bytes]) -> None:
        self.inputs = inputs
        self.known: dict[Term, int] = {}

    def of(self, value: Any) -> int:
        if isinstance(value, int):
            return value
        for term in needed([value], self.known):
            self.known[term] = self._compute(term)
        return self.known[value]

    def _compute(self, term: Term) -> int:
        args = term.args

        def get(arg: Any) -> int:
            return arg if isinstance(arg, int) else self.known[arg]

        if term.op == "input":
            data, index = self.inputs.get(args[0], b""), get(args[1])
            return data[index] if index < len(data) else 0
        if term.op == "extract":
            return int(get(args[0]) >> args[1] & ((1 << args[2]) - 1))
        if term.op == "concat":
            return int(get(args[0]) << args[2] | get(args[1]))
        if term.op == "sext":
            return signed(get(args[0]), args[0].width) & ((1 << term.width) - 1)
        if term.op == "ite":
            return get(args[1]) if get(args[0]) else get(args[2])
        if term.op == "opaque":
            raise NoSemanticsError(f"the result of `{args[0]}` is used")
        return NUMBERS[term.op](args[0], *map(get, args[1:])) & ((1 << term.width) - 1)


_TOKEN = re.compile(r"[()]|\|[^|]*\||[^\s()|]+")
_CHAINS = {"bvadd", "bvmul", "bvand", "bvor", "bvxor"}


def read(text: str) -> Any:
    """Reads a term as the executor prints it. Booleans become bits."""
    tokens = _TOKEN.findall(text)
    stack: list[list[Any]] = [[]]
    for token in tokens:
        if token == "(":
            stack.append([])
        elif token == ")":
            done = stack.pop()
            stack[-1].append(done)
        else:
            stack[-1].append(token)
    return _Reader({}).term(stack[0][0])[0]


class _Reader:
    """Builds terms of parsed expressions; a term is a value and its width."""

    def __init__(self, names: dict[str, tuple[Any, int]]) -> None:
        self.names = names

    def term(self, tree: Any) -> tuple[Any, int]:
        while isinstance(tree, list) and tree[0] == "let":
            bound = {name: self.bound(value) for name, value in tree[1]}
            self.names = {**self.names, **bound}
            tree = tree[2]
        if isinstance(tree, str):
            if tree in self.names:
                return self.names[tree]
            if tree in ("true", "false"):
                return int(tree == "true"), 1
            if tree[:2] == "#b":
                return int(tree[2:], 2), len(tree) - 2
            if tree[:2] == "#x":
                return int(tree[2:], 16), 4 * (len(tree) - 2)
            raise NoSemanticsError(f"the term `{tree}`")
        head = tree[0]
        if head == "_" and tree[1][:2] == "bv":
            return int(tree[1][2:]), int(tree[2])
        if head == "select":
            function, _, width = self.array(tree[1])
            return function(self.term(tree[2])[0]), width
        args = [self.term(arg) for arg in tree[1:]]
        if isinstance(head, list):
            (value, width), numbers = args[0], [int(number) for number in head[2:]]
            if head[1] == "extract":
                return extract(value, numbers[1], numbers[0] - numbers[1] + 1), numbers[0] - numbers[1] + 1
            if head[1] in ("zero_extend", "sign_extend"):
                extend = zext if head[1] == "zero_extend" else sext
                return extend(value, width, width + numbers[0]), width + numbers[0]
        elif head == "concat":
            value, width = args[0]
            for low, low_width in args[1:]:
                value, width = concat(value, width, low, low_width), width + low_width
            return value, width
        elif head == "ite":
            return ite(args[0][0], args[1][0], args[2][0], args[1][1]), args[1][1]
        elif head in ("and", "or", "xor", "not", "=>", "distinct"):
            return self.boolean(head, args)
        elif head in ("bvuge", "bvugt", "bvsge", "bvsgt"):
            swapped = {"bvuge": "bvule", "bvugt": "bvult", "bvsge": "bvsle", "bvsgt": "bvslt"}[head]
            return apply(swapped, args[0][1], args[1][0], args[0][0]), 1
        elif head in NUMBERS:
            value, width = args[0]
            if len(args) == 1:
                return apply(head, width, value), width
            for other, _ in args[1:]:
                value = apply(head, width, value, other)
            if len(args) == 2 or head in _CHAINS:
                return value, 1 if head in PREDICATES else width
        raise NoSemanticsError(f"the operator `{head}`")

    def bound(self, tree: Any) -> tuple[Any, int]:
        """A bound term, or an array with the width 0."""
        head = tree[0] if isinstance(tree, list) else ""
        is_array = head == "store" or (isinstance(head, list) and head[:2] == ["as", "const"])
        return (self.array(tree), 0) if is_array else self.term(tree)

    def array(self, tree: Any) -> tuple[Callable[[Any], Any], int, int]:
        """An array as a function of the index; the widths of its index and of its elements."""
        if isinstance(tree, str):
            if tree in self.names:
                found: tuple[Callable[[Any], Any], int, int] = self.names[tree][0]
                return found
            return (lambda index: byte_of(tree.strip("|"), index)), 32, 8
        if tree[0] == "store":
            (rest, wide, width), place, element = self.array(tree[1]), self.term(tree[2])[0], self.term(tree[3])[0]
            return (lambda index: ite(apply("=", wide, index, place), element, rest(index), width)), wide, width
        if tree[0] == "ite":
            condition, (a, wide, width), (b, _, _) = self.term(tree[1])[0], self.array(tree[2]), self.array(tree[3])
            return (lambda index: ite(condition, a(index), b(index), width)), wide, width
        if isinstance(tree[0], list) and tree[0][:2] == ["as", "const"]:
            default = self.term(tree[1])[0]
            return (lambda _: default), int(tree[0][2][1][2]), int(tree[0][2][2][2])
        raise NoSemanticsError(f"the array `{tree[0]}`")

    def boolean(self, head: str, args: list[tuple[Any, int]]) -> tuple[Any, int]:
        values = [value for value, _ in args]
        if head == "not":
            return negation(values[0]), 1
        if head == "distinct" and len(values) == 2:
            return negation(apply("=", args[0][1], *values)), 1
        if head == "=>" and len(values) == 2:
            return disjunction([negation(values[0]), values[1]]), 1
        if head not in ("and", "or", "xor"):
            raise NoSemanticsError(f"the operator `{head}` on {len(values)} terms")
        result = values[0]
        for value in values[1:]:
            result = apply({"and": "bvand", "or": "bvor", "xor": "bvxor"}[head], 1, result, value)
        return result, 1
