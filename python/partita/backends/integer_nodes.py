"""The graph of nodes that were sent to the layer `integers`, and the integer variables of its leaves.

A leaf is a variable, or a read of an array variable at a constant index. With `integer_arrays`, as in the paper, a read
at another index is a selection from an array of integers: its elements have the width that the object was allocated
with (LLVM's type of the variable), and if that is unknown that of the reads. A read must have this width, and an index
that is a multiple of it by its form; everything else is a type mismatch. Nodes that cannot be integers for any values
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


@dataclass(frozen=True)
class Selection:
    """A read of an array variable at another index: `count` elements from `count * (index + offset)` on."""

    variable: int
    index: int
    offset: int
    count: int
    element: int


class SentNodes:
    """All current nodes by number, and the integer variables of leaves."""

    def __init__(self, integer_arrays: bool = False) -> None:
        self.integer_arrays = integer_arrays
        self.arrays: dict[tuple[int, int], Term] = {}
        """Array of integers of each array variable, by the number of its elements in an integer."""
        self.selected: dict[int, tuple[Selection, Term, Term]] = {}
        """Reads at other indices: the position, the index and the value."""
        self.allocated: dict[int, int] = {}
        """Bits of the elements that array variables were allocated with, if known; 0 if there are several widths."""
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
            for known in (self.nodes, self.leaves, self._obstacles, self.selected, self.allocated):
                known.pop(number, None)
        if dropped:
            gone = set(dropped)
            self.arrays = {key: term for key, term in self.arrays.items() if key[0] not in gone}
        if self.integer_arrays:
            self.allocated |= {number: 8 * count for number, count in query.allocated.items()}
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

    def selection(self, number: int) -> Selection | None:
        """A read of an array variable at an index whose form shows that it is a multiple of the width of the read."""
        node = self.nodes[number]
        array, index = (self.nodes[operand] for operand in node.operands)
        count = node.width // array.width
        if not self.integer_arrays or array.op != "Var" or index.op == "Const":
            return None
        variable, at, offset = node.operands[0], node.operands[1], 0
        if index.op == "Add" and count > 1:
            for constant, other in (index.operands, index.operands[::-1]):
                value = self.nodes[constant]
                if value.op == "Const" and value.value % count == 0:
                    offset, at = value.value // count, other
                    break
            index = self.nodes[at]
        if count == 1:
            return Selection(variable, at, offset, count, array.width)
        factors = {"Mul": count, "Shl": count.bit_length() - 1}
        if index.op not in factors or (index.op == "Shl" and count & count - 1):
            return None
        pairs = [index.operands] if index.op == "Shl" else [index.operands, index.operands[::-1]]
        for other, constant in pairs:
            value = self.nodes[constant]
            if value.op == "Const" and value.value == factors[index.op]:
                return Selection(variable, other, offset, count, array.width)
        return None

    def _has_allocated_type(self, node: SentNode) -> bool:
        """Whether a read has the width of the elements that its object was allocated with, at one of their indices."""
        allocated = self.allocated.get(node.operands[0])
        if allocated is None:
            return True
        array, index = (self.nodes[operand] for operand in node.operands)
        return node.width == allocated and (index.op != "Const" or index.value % (allocated // array.width) == 0)

    def operands(self, number: int) -> tuple[int, ...]:
        """Operands that are part of the formula: of a read at most the index of its element."""
        node = self.nodes[number]
        if node.op != "Read":
            return node.operands
        selection = None if self.place(number) is not None else self.selection(number)
        return () if selection is None else (selection.index,)

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
            if node.op == "Read" and not self._has_allocated_type(node):
                return "type-mismatch"
            if node.op == "Read" and self.place(at) is None and self.selection(at) is None:
                # The index is not one of elements of this width.
                of_variable = self.integer_arrays and self.nodes[node.operands[0]].op == "Var"
                return "type-mismatch" if of_variable else "array"
        return None

    def _breadth_first(self, number: int) -> Iterator[int]:
        """The nodes of a constraint, nearest the root first, without operands of reads."""
        seen, level = {number}, [number]
        while level:
            yield from level
            operands = (operand for at in level for operand in self.operands(at))
            level = [operand for operand in dict.fromkeys(operands) if operand not in seen]
            seen.update(level)

    def postorder(self, number: int) -> list[int]:
        """The nodes of a constraint, each after its operands, without operands of reads."""
        done: dict[int, None] = {}
        stack = [number]
        while stack:
            at = stack[-1]
            missing = [operand for operand in self.operands(at) if operand not in done]
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
                for operand in self.operands(at):
                    wanted.setdefault(operand, True)
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

    def array(self, variable: int, count: int) -> Term:
        """The array of integers of an array variable whose elements are read `count` at a time."""
        if (variable, count) not in self.arrays:
            self._serial += 1
            sort = z3.IntSort(self.context)
            self.arrays[variable, count] = z3.Array(f"a{self._serial}", sort, sort)
        return self.arrays[variable, count]

    def select(self, number: int, index: Term) -> Term:
        """The element of a read at an index that is not constant."""
        if number not in self.selected:
            selection = self.selection(number)
            assert selection is not None
            place = index + selection.offset if selection.offset else index
            self.selected[number] = selection, place, self.array(selection.variable, selection.count)[place]
        return self.selected[number][2]

    def integer(self, value: int) -> Term:
        return z3.IntVal(value, self.context)

    def boolean(self, value: bool) -> Term:
        return z3.BoolVal(value, self.context)
