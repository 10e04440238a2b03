"""The graph of nodes that were sent to the layer `integers`, and the integer variables of its leaves.

A leaf is a variable, or a read of an array variable at a constant index. Nodes that cannot be integers for any values
(bitwise operators, extracts, shifts, reads at other indices) are obstacles. An obstacle has a name; the one nearest the
root is reported, as in the paper's Figure 9.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import z3

from partita._core import OPERATORS, QueryView
from partita.backends.translate import ARITY, ARRAY, BITS, BOOL, ROW

Term = Any
NAMES = [name for name, *_ in OPERATORS]
FAMILIES = {name: family for name, family, *_ in OPERATORS}
OBSTACLES_BY_FAMILY = {"Bits": "bitwise", "Shift": "shift", "Array": "array"}
TRANSLATED = ("Read", "Add", "Sub", "Mul", "UDiv", "URem", "SDiv", "SRem", "ZExt", "SExt", "Ite")
"""Operators with bit-vectors as results that are integers for some values."""
OBSTACLES = {
    name: OBSTACLES_BY_FAMILY.get(family, "extract" if family == "Shape" else "non-linear")
    for name, family in FAMILIES.items()
    if family not in ("Leaf", "Compare") and name not in TRANSLATED
}
SIGNED_OPERATORS = ("Slt", "Sle", "SDiv", "SRem", "SExt")
UNSIGNED_OPERATORS = ("Ult", "Ule", "UDiv", "URem", "ZExt")


class SentNode(NamedTuple):
    op: str
    kind: int
    width: int
    operands: tuple[int, ...]
    value: int = 0


@dataclass(frozen=True)
class LeafPosition:
    """The bits of a leaf: a variable (count 0), or `count` elements of an array from `first`, `element` bits each."""

    variable: int
    first: int = 0
    count: int = 0
    element: int = 0


class SentNodes:
    """All current nodes by number, and the integer variables of leaves."""

    def __init__(self) -> None:
        self.context = z3.Context()
        self.nodes: dict[int, SentNode] = {}
        self.leaves: dict[int, tuple[LeafPosition, Term, bool]] = {}
        """Position of each leaf, its Z3 variable, and whether that is the signed value."""
        self._obstacles: dict[int, str | None] = {}
        self._serial = 0

    def update(self, query: QueryView) -> list[int]:
        """Removes dropped nodes and adds new ones; returns the numbers of the dropped nodes."""
        dropped = [number for (number,) in struct.iter_unpack("=I", query.dropped)]
        for number in dropped:
            for known in (self.nodes, self.leaves, self._obstacles):
                known.pop(number, None)
        for number, op, kind, width, _, a, b, c in ROW.iter_unpack(query.nodes):
            name = NAMES[op]
            if name == "Const":
                value = query.wide[number] if width > 64 else a | b << 32
                self.nodes[number] = SentNode(name, kind, width, (), value)
            else:
                self.nodes[number] = SentNode(name, kind, width, (a, b, c)[: ARITY[op]])
        return dropped

    def place(self, number: int) -> LeafPosition | None:
        """Position of a leaf; None for a read at an index that is not constant, or of an array that was written."""
        node = self.nodes[number]
        if node.op == "Var":
            return LeafPosition(number)
        array, index = (self.nodes[operand] for operand in node.operands)
        count = node.width // array.width
        if array.op != "Var" or index.op != "Const" or index.value + count > 1 << index.width:
            return None
        return LeafPosition(node.operands[0], index.value, count, array.width)

    def obstacle(self, number: int) -> str | None:
        """The obstacle nearest the root of a constraint, or None."""
        if number not in self._obstacles:
            self._obstacles[number] = self._search(number)
        return self._obstacles[number]

    def _search(self, number: int) -> str | None:
        for at in self._breadth_first(number):
            node = self.nodes[at]
            if node.kind == ARRAY:
                continue
            if node.kind == BITS and (node.op in OBSTACLES or node.width > 64):
                return OBSTACLES.get(node.op, "width")
            if node.op == "Eq" and self.nodes[node.operands[0]].kind == ARRAY:
                return "array"
            if node.op == "Read" and self.place(at) is None:
                return "array"
        return None

    def _breadth_first(self, number: int) -> Iterator[int]:
        """The nodes of a constraint, nearest the root first, without operands of reads."""
        seen, level = {number}, [number]
        while level:
            yield from level
            operands = (operand for at in level if self.nodes[at].op != "Read" for operand in self.nodes[at].operands)
            level = [operand for operand in dict.fromkeys(operands) if operand not in seen]
            seen.update(level)

    def postorder(self, number: int) -> list[int]:
        """The nodes of a constraint, each after its operands, without operands of reads."""
        done: dict[int, None] = {}
        stack = [number]
        while stack:
            at = stack[-1]
            operands = () if self.nodes[at].op == "Read" else self.nodes[at].operands
            missing = [operand for operand in operands if operand not in done]
            stack.extend(missing)
            if not missing:
                done[stack.pop()] = None
        return list(done)

    def leaf_views(self, number: int) -> dict[int, bool]:
        """For each leaf of a constraint, whether it is used by a signed operator."""
        found: dict[int, bool] = {}
        wanted = {number: True}
        for at in reversed(self.postorder(number)):
            node, view = self.nodes[at], wanted[at]
            if node.op in ("Var", "Read"):
                found[at] = view
                continue
            if node.op in SIGNED_OPERATORS or node.op in UNSIGNED_OPERATORS:
                view = node.op in SIGNED_OPERATORS
            for operand in node.operands:
                wanted.setdefault(operand, view)
        return found

    def leaf(self, number: int, signed: bool) -> Term:
        """The Z3 variable of a leaf. The first use decides whether it is the signed value."""
        if number not in self.leaves:
            # The serial number makes the name unique: numbers of nodes are reused.
            self._serial += 1
            node, place = self.nodes[number], self.place(number)
            assert place is not None
            make = z3.Bool if node.kind == BOOL else z3.Int
            self.leaves[number] = (place, make(f"v{self._serial}", self.context), signed)
        return self.leaves[number][1]

    def integer(self, value: int) -> Term:
        return z3.IntVal(value, self.context)

    def boolean(self, value: bool) -> Term:
        return z3.BoolVal(value, self.context)
