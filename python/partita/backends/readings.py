"""Constraints as formulas over Z3's integers: soundly, or as the paper reads them.

A reader turns a constraint into a formula from the leaves up; every leaf is an integer variable within the range of its
width. `Sound` reads a sum, product or quotient as an integer one only where the sets of its operands prove that it does
not wrap. The proof's constraints go with the formula, and so does what was proved: a model of the formula alone might
rely on a wrap that the constraints behind the proof exclude. `Paper` reads everything as signed and lets nothing wrap.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

import z3

from partita.backends.integer_nodes import SIGNED_OPERATORS, UNSIGNED_OPERATORS, Node, Nodes, Term
from partita.backends.translate import BITS, BOOL

SIGNED_VIEW, UNSIGNED_VIEW = True, False
ARITHMETIC = ("Add", "Sub", "Mul", "UDiv", "URem", "SDiv", "SRem")
DIVISIONS = ("UDiv", "URem", "SDiv", "SRem")


class DelegatedError(Exception):
    """Not to be read as integers, for this reason."""


class Bounds(NamedTuple):
    """What a query leaves a term, unsigned and signed, and the constraints that say so."""

    least: int
    greatest: int
    signed_least: int
    signed_greatest: int
    reasons: list[int]

    def ends(self, signed: bool) -> tuple[int, int]:
        return (self.signed_least, self.signed_greatest) if signed else (self.least, self.greatest)


@dataclass
class Formula:
    """A constraint read, the constraints behind the proofs it rests on, and the leaves in it."""

    term: Term
    reasons: set[int] = field(default_factory=set)
    leaves: list[int] = field(default_factory=list)


def ends_of(width: int, signed: bool) -> tuple[int, int]:
    return (-(1 << width - 1), (1 << width - 1) - 1) if signed else (0, (1 << width) - 1)


Read = tuple[Term, bool | None]
"""A term and its view; None where both views are the same."""


class Reader(ABC):
    """What both ways of reading have in common: the boolean part and the way up."""

    def __init__(self, nodes: Nodes, bounds: Callable[[list[int]], Iterable[Bounds]]) -> None:
        self.nodes = nodes
        self._ask = bounds
        self._reasons: set[int] = set()
        self._guards: list[Term] = []

    def read(self, number: int) -> Formula:
        """The formula of a constraint that `why_not` has no word against; its values may be."""
        order = self.nodes.upwards(number)
        views = self.nodes.views(number)
        self._reasons, self._guards = set(), []
        self.prepare(order)
        terms: dict[int, Read] = {}
        leaves = []
        for at in order:
            node = self.nodes.nodes[at]
            if node.op in ("Var", "Read"):
                terms[at] = self.leaf(at, node, views[at])
                leaves.append(at)
                continue
            kids = [terms[kid] for kid in node.kids]
            terms[at] = (self.truth(node, kids), None) if node.kind == BOOL else self.word(at, node, kids)
        return Formula(z3.And(terms[number][0], *self._guards), self._reasons, leaves)

    def leaf(self, number: int, node: Node, signed: bool) -> Read:
        term = self.nodes.leaf(number, signed)
        if node.kind == BOOL:
            return term, None
        signed = self.nodes.leaves[number][2]
        self._guards.append(self.inside(term, node.width, signed))
        return term, signed

    def inside(self, term: Term, width: int, signed: bool) -> Term:
        least, greatest = ends_of(width, signed)
        return z3.And(term >= least, term <= greatest)

    def truth(self, node: Node, kids: list[Read]) -> Term:
        terms = [term for term, _ in kids]
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
        kid = self.nodes.nodes[node.kids[0]]
        if kid.kind == BITS:
            a, b = self.same_view(kids, node.op, kid.width)
            return a < b if node.op in ("Ult", "Slt") else a <= b if node.op in ("Ule", "Sle") else a == b
        return terms[0] == terms[1]

    @abstractmethod
    def prepare(self, order: list[int]) -> None:
        """Before the terms of these nodes are read, operands first."""

    @abstractmethod
    def word(self, number: int, node: Node, kids: list[Read]) -> Read:
        """A node of bits as an integer."""

    @abstractmethod
    def same_view(self, kids: list[Read], op: str, width: int) -> list[Term]:
        """The operands of a comparison as integers that can be compared."""


class Sound(Reader):
    """Reads what is proved not to wrap."""

    def prepare(self, order: list[int]) -> None:
        nodes = self.nodes.nodes
        wanted = dict.fromkeys(kid for at in order if nodes[at].op in ARITHMETIC for kid in nodes[at].kids)
        self._bounds = dict(zip(wanted, self._ask(list(wanted)), strict=True)) if wanted else {}

    def same_view(self, kids: list[Read], op: str, width: int) -> list[Term]:
        if op in SIGNED_OPERATORS or op in UNSIGNED_OPERATORS:
            view = op in SIGNED_OPERATORS
        else:
            view = next((view for _, view in kids if view is not None), SIGNED_VIEW)
        return [self.seen(kid, view, width) for kid in kids]

    def seen(self, read: Read, signed: bool, width: int) -> Term:
        """A term in a view: by cases where it was read in the other one."""
        term, view = read
        if view is None or view == signed:
            return term
        if signed:
            return z3.If(term > (1 << width - 1) - 1, term - (1 << width), term)
        return z3.If(term < 0, term + (1 << width), term)

    def word(self, number: int, node: Node, kids: list[Read]) -> Read:
        match node.op:
            case "Const":
                top = node.value >> node.width - 1
                return self.nodes.integer(node.value - (top << node.width)), SIGNED_VIEW if top else None
            case "ZExt":
                return self.seen(kids[0], UNSIGNED_VIEW, self.nodes.nodes[node.kids[0]].width), None
            case "SExt":
                return self.seen(kids[0], SIGNED_VIEW, self.nodes.nodes[node.kids[0]].width), SIGNED_VIEW
            case "Ite":
                condition, then, otherwise = kids
                view = then[1] if then[1] is not None else otherwise[1]
                view = SIGNED_VIEW if view is None else view
                arms = [self.seen(arm, view, node.width) for arm in (then, otherwise)]
                return z3.If(condition[0], *arms), view
        return self.arithmetic(node, kids)

    def arithmetic(self, node: Node, kids: list[Read]) -> Read:
        """In the view of the operands if that can be proved not to wrap, or else in the other."""
        first = next((view for _, view in kids if view is not None), SIGNED_VIEW)
        views = [node.op in SIGNED_OPERATORS] if node.op in DIVISIONS else [first, not first]
        known = [self._bounds[kid] for kid in node.kids]
        last = self.nodes.nodes[node.kids[1]]
        if node.op == "Add" and last.op == "Const" and known[1].signed_least < 0:
            # Less by so much, in either view.
            negative = known[1].signed_least
            known[1] = Bounds(negative, negative, negative, negative, [])
            kids = [kids[0], (self.nodes.integer(negative), None)]
        # What the width alone proves needs no constraints.
        whole = Bounds(*ends_of(node.width, False), *ends_of(node.width, True), [])
        constant = [self.nodes.nodes[kid].op == "Const" for kid in node.kids]
        by_width = [of if fixed else whole for of, fixed in zip(known, constant, strict=True)]
        for view in views:
            for bounds in (by_width, known):
                if proved(node, view, bounds):
                    self._reasons.update(reason for of in bounds for reason in of.reasons)
                    a, b = (self.seen(kid, view, node.width) for kid in kids)
                    term = operation(node.op, a, b)
                    self._guards.append(self.inside(term, node.width, view))
                    if node.op in DIVISIONS:
                        self._guards.append(b != 0)
                    return term, view
        raise DelegatedError("may-wrap")


def proved(node: Node, signed: bool, bounds: list[Bounds]) -> bool:
    """Do the bounds of the operands show that the integer result is the machine's?"""
    (a, b), (c, d) = (of.ends(signed) for of in bounds)
    least, greatest = ends_of(node.width, signed)
    match node.op:
        case "Add":
            return a + c >= least and b + d <= greatest
        case "Sub":
            return a - d >= least and b - c <= greatest
        case "Mul":
            corners = [a * c, a * d, b * c, b * d]
            return min(corners) >= least and max(corners) <= greatest
    # By zero the machine's result is a convention of its own; the least number by -1 is out of range.
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
        # Z3's quotient leaves a remainder that is not negative; the machine's rounds towards zero.
        case "SDiv":
            return z3.If(a >= 0, a / b, -(-a / b))
        case "SRem":
            return z3.If(a >= 0, a % b, -(-a % b))
    raise AssertionError(f"operator {op} is not arithmetic")


class Paper(Reader):
    """Everything signed, nothing wraps; an extension changes nothing, and a quotient is Z3's."""

    def prepare(self, order: list[int]) -> None:
        """Nothing: this reading asks for no proof."""

    def leaf(self, number: int, node: Node, signed: bool) -> Read:
        return super().leaf(number, node, SIGNED_VIEW)

    def same_view(self, kids: list[Read], op: str, width: int) -> list[Term]:
        return [term for term, _ in kids]

    def word(self, number: int, node: Node, kids: list[Read]) -> Read:
        terms = [term for term, _ in kids]
        match node.op:
            case "Const":
                top = node.value >> node.width - 1
                return self.nodes.integer(node.value - (top << node.width)), SIGNED_VIEW
            case "ZExt" | "SExt":
                return kids[0]
            case "Ite":
                return z3.If(*terms), SIGNED_VIEW
        plain = {"SDiv": "UDiv", "SRem": "URem"}.get(node.op, node.op)
        return operation(plain, *terms), SIGNED_VIEW
