"""The nodes that were sent to a layer, as a graph to walk; and the integer variables that its leaves become.

A leaf is a variable, or a read of an array variable at a constant place. What cannot be an integer whatever its values
(bitwise operators, extracts, shifts, reads at unknown places) is an obstacle with a name: of several the one nearest
the root counts, as in the paper's Figure 9.
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
NAMES = [name for name, _, _ in OPERATORS]
DELEGATED = {
    "Extract": "extract", "Concat": "extract", "Shl": "shift", "LShr": "shift", "AShr": "shift",
    "Table": "array", "ConstArray": "array", "Store": "array",
}  # fmt: skip
BITWISE = ("Not", "And", "Or", "Xor")
SIGNED_OPERATORS = ("Slt", "Sle", "SDiv", "SRem", "SExt")
UNSIGNED_OPERATORS = ("Ult", "Ule", "UDiv", "URem", "ZExt")


class Node(NamedTuple):
    op: str
    kind: int
    width: int
    kids: tuple[int, ...]
    value: int = 0


@dataclass(frozen=True)
class Place:
    """Where a leaf's bits are: a variable (no element), or elements of an array from `first` on."""

    variable: int
    first: int = 0
    count: int = 0
    element: int = 0


class Nodes:
    """All nodes sent so far, by number, and the integer variables of leaves."""

    def __init__(self) -> None:
        self.context = z3.Context()
        self.nodes: dict[int, Node] = {}
        self.leaves: dict[int, tuple[Place, Term, bool]] = {}
        """The place of each leaf, its Z3 variable, and whether that is the signed value."""
        self._why: dict[int, str | None] = {}
        self._serial = 0

    def take(self, query: QueryView) -> list[int]:
        """Drops what is gone and takes in what is new; gives the numbers that are gone."""
        gone = [number for (number,) in struct.iter_unpack("=I", query.dropped)]
        for number in gone:
            for known in (self.nodes, self.leaves, self._why):
                known.pop(number, None)
        for number, op, kind, width, _, a, b, c in ROW.iter_unpack(query.nodes):
            name = NAMES[op]
            if name == "Const":
                value = query.wide[number] if width > 64 else a | b << 32
                self.nodes[number] = Node(name, kind, width, (), value)
            else:
                self.nodes[number] = Node(name, kind, width, (a, b, c)[: ARITY[op]])
        return gone

    def place(self, number: int) -> Place | None:
        """Where a leaf is; None for a read at a place that is not constant, or of an array that was written."""
        node = self.nodes[number]
        if node.op == "Var":
            return Place(number)
        array, index = (self.nodes[kid] for kid in node.kids)
        count = node.width // array.width
        if array.op != "Var" or index.op != "Const" or index.value + count > 1 << index.width:
            return None
        return Place(node.kids[0], index.value, count, array.width)

    def why_not(self, number: int) -> str | None:
        """What keeps a constraint from being read as integers whatever its values, nearest its root."""
        if number not in self._why:
            self._why[number] = self._search(number)
        return self._why[number]

    def _search(self, number: int) -> str | None:
        for at in self._downwards(number):
            node = self.nodes[at]
            if node.kind == ARRAY:
                continue
            if node.kind == BITS and (node.op in BITWISE or node.op in DELEGATED or node.width > 64):
                return "bitwise" if node.op in BITWISE else DELEGATED.get(node.op, "width")
            if node.op == "Eq" and self.nodes[node.kids[0]].kind == ARRAY:
                return "array"
            if node.op == "Read" and self.place(at) is None:
                return "array"
        return None

    def _downwards(self, number: int) -> Iterator[int]:
        """The nodes under a constraint, nearest the root first, without what reads look into."""
        seen, level = {number}, [number]
        while level:
            yield from level
            kids = (kid for at in level if self.nodes[at].op != "Read" for kid in self.nodes[at].kids)
            level = [kid for kid in dict.fromkeys(kids) if kid not in seen]
            seen.update(level)

    def upwards(self, number: int) -> list[int]:
        """The same nodes, each after those it is made of."""
        done: dict[int, None] = {}
        stack = [number]
        while stack:
            at = stack[-1]
            kids = () if self.nodes[at].op == "Read" else self.nodes[at].kids
            missing = [kid for kid in kids if kid not in done]
            stack.extend(missing)
            if not missing:
                done[stack.pop()] = None
        return list(done)

    def views(self, number: int) -> dict[int, bool]:
        """Of each leaf under a constraint whether it stands where its signed value counts."""
        found: dict[int, bool] = {}
        wanted = {number: True}
        for at in reversed(self.upwards(number)):
            node, view = self.nodes[at], wanted[at]
            if node.op in ("Var", "Read"):
                found[at] = view
                continue
            if node.op in SIGNED_OPERATORS or node.op in UNSIGNED_OPERATORS:
                view = node.op in SIGNED_OPERATORS
            for kid in node.kids:
                wanted.setdefault(kid, view)
        return found

    def leaf(self, number: int, signed: bool) -> Term:
        """The Z3 variable of a leaf; how it is seen first is how it stays."""
        if number not in self.leaves:
            # A number makes it unique: nodes come and go.
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
