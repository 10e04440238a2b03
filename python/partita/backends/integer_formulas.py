"""Constraints as formulas over Z3's integers: a sound translation, and the paper's.

A constraint is translated bottom-up; every leaf is an integer variable in the range of its width. `SoundTranslation`
translates a sum, product or quotient only if the sets of its operands prove that it does not wrap. The formula comes
with the reasons of the proof and with the proved bounds: a model of the formula alone might need a wrap that the
reasons exclude. `PaperTranslation` treats everything as signed and assumes that nothing wraps.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

import z3

from partita.backends.integer_nodes import SIGNED_OPERATORS, UNSIGNED_OPERATORS, SentNode, SentNodes, Term
from partita.backends.translate import BITS, BOOL

SIGNED_VIEW, UNSIGNED_VIEW = True, False
ARITHMETIC = ("Add", "Sub", "Mul", "UDiv", "URem", "SDiv", "SRem")
DIVISIONS = ("UDiv", "URem", "SDiv", "SRem")


class NotTranslatableError(Exception):
    """A constraint that cannot be translated to integers, with the reason."""


class Bounds(NamedTuple):
    """Range of a term in a query, unsigned and signed, and its reasons."""

    least: int
    greatest: int
    signed_least: int
    signed_greatest: int
    reasons: list[int]

    def limits(self, signed: bool) -> tuple[int, int]:
        return (self.signed_least, self.signed_greatest) if signed else (self.least, self.greatest)


@dataclass
class Formula:
    """The formula of a constraint, the reasons of its proofs, and its leaves."""

    term: Term
    reasons: set[int] = field(default_factory=set)
    leaves: list[int] = field(default_factory=list)
    selections: list[int] = field(default_factory=list)
    """Reads at indices that are not constant."""


def range_of_width(width: int, signed: bool) -> tuple[int, int]:
    return (-(1 << width - 1), (1 << width - 1) - 1) if signed else (0, (1 << width) - 1)


Read = tuple[Term, bool | None]
"""A term and its view (signed or unsigned); None if both views are equal."""


class Translation(ABC):
    """Common part of both translations: boolean operators and traversal."""

    def __init__(self, nodes: SentNodes, bounds: Callable[[list[int]], Iterable[Bounds]]) -> None:
        self.nodes = nodes
        self._ask = bounds
        self._reasons: set[int] = set()
        self._guards: list[Term] = []

    def read(self, number: int) -> Formula:
        """The formula of a constraint without an obstacle.

        Errors: `NotTranslatableError` if its values may wrap.
        """
        order = self.nodes.postorder(number)
        views = self.nodes.leaf_views(number)
        self._reasons, self._guards = set(), []
        self.prepare(order)
        terms: dict[int, Read] = {}
        leaves, selections = [], []
        for at in order:
            node = self.nodes.nodes[at]
            if node.op == "Read" and self.nodes.operands(at):
                term = self.nodes.select(at, terms[self.nodes.operands(at)[0]][0])
                self._guards.append(self.range_guard(term, node.width, SIGNED_VIEW))
                terms[at] = term, SIGNED_VIEW
                selections.append(at)
                continue
            if node.op in ("Var", "Read"):
                terms[at] = self.leaf(at, node, views[at])
                leaves.append(at)
                continue
            operands = [terms[operand] for operand in node.operands]
            terms[at] = (self.boolean(node, operands), None) if node.kind == BOOL else self.word(at, node, operands)
        return Formula(z3.And(terms[number][0], *self._guards), self._reasons, leaves, selections)

    def leaf(self, number: int, node: SentNode, signed: bool) -> Read:
        term = self.nodes.leaf(number, signed)
        if node.kind == BOOL:
            return term, None
        signed = self.nodes.leaves[number][2]
        self._guards.append(self.range_guard(term, node.width, signed))
        return term, signed

    def range_guard(self, term: Term, width: int, signed: bool) -> Term:
        least, greatest = range_of_width(width, signed)
        return z3.And(term >= least, term <= greatest)

    def boolean(self, node: SentNode, operands: list[Read]) -> Term:
        terms = [term for term, _ in operands]
        match node.op:
            case "Const":
                return self.nodes.boolean(node.value == 1)
            case "Not":
                return z3.Not(*terms)
            case "And":
                return z3.And(*terms)
            case "Or":
                return z3.Or(*terms)
            case "Xor":
                return z3.Xor(*terms)
            case "Ite":
                return z3.If(*terms)
        operand = self.nodes.nodes[node.operands[0]]
        if operand.kind == BITS:
            a, b = self.same_view(operands, node.op, operand.width)
            return a < b if node.op in ("Ult", "Slt") else a <= b if node.op in ("Ule", "Sle") else a == b
        return terms[0] == terms[1]

    @abstractmethod
    def prepare(self, order: list[int]) -> None:
        """Called before these nodes are translated; operands come first."""

    @abstractmethod
    def word(self, number: int, node: SentNode, operands: list[Read]) -> Read:
        """A bit-vector node as an integer."""

    @abstractmethod
    def same_view(self, operands: list[Read], op: str, width: int) -> list[Term]:
        """The operands of a comparison as integers of the same view."""


class SoundTranslation(Translation):
    """Translates operations that are proved not to wrap."""

    def prepare(self, order: list[int]) -> None:
        nodes = self.nodes.nodes
        wanted = dict.fromkeys(operand for at in order if nodes[at].op in ARITHMETIC for operand in nodes[at].operands)
        self._bounds = dict(zip(wanted, self._ask(list(wanted)), strict=True)) if wanted else {}

    def same_view(self, operands: list[Read], op: str, width: int) -> list[Term]:
        if op in SIGNED_OPERATORS or op in UNSIGNED_OPERATORS:
            view = op in SIGNED_OPERATORS
        else:
            view = next((view for _, view in operands if view is not None), SIGNED_VIEW)
        return [self.in_view(operand, view, width) for operand in operands]

    def in_view(self, read: Read, signed: bool, width: int) -> Term:
        """A term in a view, by case distinction if it has the other one."""
        term, view = read
        if view is None or view == signed:
            return term
        if signed:
            return z3.If(term > (1 << width - 1) - 1, term - (1 << width), term)
        return z3.If(term < 0, term + (1 << width), term)

    def word(self, number: int, node: SentNode, operands: list[Read]) -> Read:
        match node.op:
            case "Const":
                top = node.value >> node.width - 1
                return self.nodes.integer(node.value - (top << node.width)), SIGNED_VIEW if top else None
            case "ZExt":
                return self.in_view(operands[0], UNSIGNED_VIEW, self.nodes.nodes[node.operands[0]].width), None
            case "SExt":
                return self.in_view(operands[0], SIGNED_VIEW, self.nodes.nodes[node.operands[0]].width), SIGNED_VIEW
            case "Ite":
                condition, then, otherwise = operands
                view = then[1] if then[1] is not None else otherwise[1]
                view = SIGNED_VIEW if view is None else view
                arms = [self.in_view(arm, view, node.width) for arm in (then, otherwise)]
                return z3.If(condition[0], *arms), view
        return self.arithmetic(node, operands)

    def arithmetic(self, node: SentNode, operands: list[Read]) -> Read:
        """Translates in the view of the operands if it is proved not to wrap there, otherwise in the other view."""
        first = next((view for _, view in operands if view is not None), SIGNED_VIEW)
        views = [node.op in SIGNED_OPERATORS] if node.op in DIVISIONS else [first, not first]
        known = [self._bounds[operand] for operand in node.operands]
        last = self.nodes.nodes[node.operands[1]]
        if node.op == "Add" and last.op == "Const" and known[1].signed_least < 0:
            # A subtraction of the constant's magnitude, in either view.
            negative = known[1].signed_least
            known[1] = Bounds(negative, negative, negative, negative, [])
            operands = [operands[0], (self.nodes.integer(negative), None)]
        # A proof from the width alone needs no reasons.
        whole = Bounds(*range_of_width(node.width, False), *range_of_width(node.width, True), [])
        constant = [self.nodes.nodes[operand].op == "Const" for operand in node.operands]
        by_width = [of if fixed else whole for of, fixed in zip(known, constant, strict=True)]
        for view in views:
            for bounds in (by_width, known):
                if proved(node, view, bounds):
                    self._reasons.update(reason for of in bounds for reason in of.reasons)
                    a, b = (self.in_view(operand, view, node.width) for operand in operands)
                    term = operation(node.op, a, b)
                    self._guards.append(self.range_guard(term, node.width, view))
                    if node.op in DIVISIONS:
                        self._guards.append(b != 0)
                    return term, view
        raise NotTranslatableError("may-wrap")


def proved(node: SentNode, signed: bool, bounds: list[Bounds]) -> bool:
    """Whether the bounds of the operands prove that the integer result is the bit-vector result."""
    (a, b), (c, d) = (of.limits(signed) for of in bounds)
    least, greatest = range_of_width(node.width, signed)
    match node.op:
        case "Add":
            return a + c >= least and b + d <= greatest
        case "Sub":
            return a - d >= least and b - c <= greatest
        case "Mul":
            corners = [a * c, a * d, b * c, b * d]
            return min(corners) >= least and max(corners) <= greatest
    # Division by zero is defined by SMT-LIB, and the minimum divided by -1 wraps.
    zero = c <= 0 <= d
    return not zero and (node.op == "SRem" or not (a == least and c <= -1 <= d and signed))


def operation(op: str, a: Term, b: Term) -> Term:
    match op:
        case "Add":
            return a + b
        case "Sub":
            return a - b
        case "Mul":
            return a * b
        case "UDiv":
            return a / b
        case "URem":
            return a % b
        # Z3's remainder is never negative; bit-vector division rounds towards zero.
        case "SDiv":
            return z3.If(a >= 0, a / b, -(-a / b))
        case "SRem":
            return z3.If(a >= 0, a % b, -(-a % b))
    raise AssertionError(f"operator {op} is not arithmetic")


class PaperTranslation(Translation):
    """Everything is signed and nothing wraps; extensions change nothing, and division is Z3's."""

    def prepare(self, order: list[int]) -> None:
        """Nothing: this translation needs no proofs."""

    def leaf(self, number: int, node: SentNode, signed: bool) -> Read:
        return super().leaf(number, node, SIGNED_VIEW)

    def same_view(self, operands: list[Read], op: str, width: int) -> list[Term]:
        return [term for term, _ in operands]

    def word(self, number: int, node: SentNode, operands: list[Read]) -> Read:
        terms = [term for term, _ in operands]
        match node.op:
            case "Const":
                top = node.value >> node.width - 1
                return self.nodes.integer(node.value - (top << node.width)), SIGNED_VIEW
            case "ZExt" | "SExt":
                return operands[0]
            case "Ite":
                return z3.If(*terms), SIGNED_VIEW
        plain = {"SDiv": "UDiv", "SRem": "URem"}.get(node.op, node.op)
        return operation(plain, *terms), SIGNED_VIEW
