"""Nodes of the expression graph as terms of another solver, kept from one query to the next.

A query brings the nodes that are new since the last one, operands first, as rows of numbers. Operators are mapped to
SMT-LIB functions here, so that a back end only says how it makes each SMT-LIB function. Two things have no function:
a read of several adjacent elements becomes a concatenation of selects, and a read of a table of constants becomes a
tree of `ite` over the bits of the index.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Any, Protocol

from partita._core import OPERATORS, QueryView

Term = Any
Make = Callable[..., Term]

ROW = struct.Struct("=8I")
BOOL, BITS, ARRAY = range(3)
ON_BOOL = {"Not": "not", "And": "and", "Or": "or", "Xor": "xor"}
SPECIAL = ("Const", "Var", "Table", "ConstArray", "Read", "Extract", "ZExt", "SExt")
CONST, VAR, TABLE, CONST_ARRAY, READ, EXTRACT, ZEXT, SEXT = (
    next(number for number, row in enumerate(OPERATORS) if row[0] == name) for name in SPECIAL
)
ARITY = [arity for _, arity, _ in OPERATORS]
FUNCTIONS = sorted({smt for name, _, smt in OPERATORS if smt and name != "ConstArray"} | set(ON_BOOL.values()))
"""The SMT-LIB functions a back end must be able to make."""


class Builder(Protocol):
    """How a solver makes terms. `functions` has an entry for each of `FUNCTIONS`; indexed ones take their indices
    first: `functions["extract"](high, low, term)`."""

    functions: dict[str, Make]

    def boolean(self, value: bool) -> Term: ...

    def constant(self, value: int, width: int) -> Term: ...

    def variable(self, name: str, kind: int, width: int, index_width: int) -> Term: ...

    def const_array(self, element: Term, index_width: int, width: int) -> Term: ...


class Terms:
    """The terms of all nodes sent so far, by number."""

    def __init__(self, builder: Builder) -> None:
        self.builder = builder
        self.terms: dict[int, Term] = {}
        # Of each node the width (of an array: its elements'), of each array the index width.
        self.widths: dict[int, int] = {}
        self.index_widths: dict[int, int] = {}
        # Term, kind, width and index width of each variable.
        self.variables: dict[int, tuple[Term, int, int, int]] = {}
        # Base and elements of each table. It becomes a term only where something else than a read needs one.
        self.tables: dict[int, tuple[int, list[int]]] = {}
        # Words that are a narrower word with zeros above, with that word.
        self.narrow: dict[int, int] = {}
        self.on_bits = [self._maker(name, smt) for name, _, smt in OPERATORS]
        self.on_bool = [self._maker(name, ON_BOOL.get(name, smt)) for name, _, smt in OPERATORS]

    def _maker(self, name: str, smt: str) -> Make | None:
        return None if name in SPECIAL else self.builder.functions[smt]

    def take(self, query: QueryView) -> None:
        """Takes in what the query brings: drops what is gone, then translates what is new."""
        for (number,) in struct.iter_unpack("=I", query.dropped):
            self.terms.pop(number, None)
            self.widths.pop(number, None)
            self.index_widths.pop(number, None)
            self.variables.pop(number, None)
            self.tables.pop(number, None)
            self.narrow.pop(number, None)
        terms = self.terms
        for number, op, kind, width, index_width, a, b, c in ROW.iter_unpack(query.nodes):
            self.widths[number] = width
            if kind == ARRAY:
                self.index_widths[number] = index_width
            make = self.on_bool[op] if kind == BOOL else self.on_bits[op]
            if make is None:
                self._special(query, number, op, kind, width, index_width, a, b)
                continue
            operands = (a, b, c)[: ARITY[op]]
            try:
                args = [terms[i] for i in operands]
            except KeyError:
                args = [self.term(i) for i in operands]
            terms[number] = make(*args)

    def _special(
        self, query: QueryView, number: int, op: int, kind: int, width: int, index_width: int, a: int, b: int
    ) -> None:
        builder, terms = self.builder, self.terms
        if op == CONST and kind == BOOL:
            terms[number] = builder.boolean(a == 1)
        elif op == CONST:
            terms[number] = builder.constant(query.wide[number] if width > 64 else a | b << 32, width)
        elif op == VAR:
            term = builder.variable(query.names[number], kind, width, index_width)
            terms[number] = term
            self.variables[number] = (term, kind, width, index_width)
        elif op == TABLE:
            self.tables[number] = (a, query.tables[number])
        elif op == CONST_ARRAY:
            terms[number] = builder.const_array(terms[a], index_width, width)
        elif op == READ:
            terms[number] = self._read(a, b, width)
        elif op == EXTRACT:
            terms[number] = builder.functions["extract"](b + width - 1, b, terms[a])
        elif op == ZEXT:
            self.narrow[number] = a
            terms[number] = builder.functions["zero_extend"](width - self.widths[a], terms[a])
        elif op == SEXT:
            terms[number] = builder.functions["sign_extend"](width - self.widths[a], terms[a])
        else:
            raise AssertionError(f"operator {OPERATORS[op]} has no translation")

    def term(self, number: int) -> Term:
        """The term of a node that was sent; a table becomes stores over its base."""
        tables = []
        below = number
        while below not in self.terms:
            tables.append(below)
            below = self.tables[below][0]
        for table in reversed(tables):
            base, elements = self.tables[table]
            term, width, index_width = self.terms[base], self.widths[table], self.index_widths[table]
            for i, element in enumerate(elements):
                index = self.builder.constant(i, index_width)
                term = self.builder.functions["store"](term, index, self.builder.constant(element, width))
            self.terms[table] = term
        return self.terms[number]

    def _read(self, array: int, index: int, width: int) -> Term:
        """Adjacent elements as one word, the one at `index` lowest."""
        functions, index_width = self.builder.functions, self.index_widths[array]
        at = self.terms[index]
        result = self._element(array, at, self.narrow.get(index))
        for i in range(1, width // self.widths[array]):
            offset = self.builder.constant(i % (1 << index_width), index_width)
            result = functions["concat"](self._element(array, functions["bvadd"](at, offset), None), result)
        return result

    def _element(self, array: int, at: Term, narrow: int | None) -> Term:
        if array in self.tables:
            return self._table_element(array, at, narrow)
        return self.builder.functions["select"](self.terms[array], at)

    def _table_element(self, table: int, whole: Term, narrow: int | None) -> Term:
        """An element of a table: a tree of choices by the bits of the index, equal halves made once; indices past the
        end go to what lies below the table. Where the index is a narrower word with zeros above, that word decides,
        and often nothing lies past the end.

        Element assertions on an array, store chains and this were measured on the corpus: Bitwuzla needs 51.6 s for
        the 15 queries of b64tab_4 with element assertions and 0.2 s with this."""
        functions, constant = self.builder.functions, self.builder.constant
        base, elements = self.tables[table]
        width, index_width, at = self.widths[table], self.index_widths[table], whole
        if narrow is not None:
            at, index_width = self.terms[narrow], self.widths[narrow]
        bits = min((len(elements) - 1).bit_length(), index_width)
        elements = elements[: 1 << bits]
        outside = self._element(base, whole, narrow) if len(elements) < 1 << index_width else None
        # Subtrees are numbered as they are made, so that equal ones are found without comparing terms.
        made: list[Term] = []
        numbers: dict[int | str | tuple[int, int, int], int] = {}
        level = []
        for element in elements:
            if element not in numbers:
                numbers[element] = len(made)
                made.append(constant(element, width))
            level.append(numbers[element])
        if len(level) < 1 << bits:
            level += [len(made)] * ((1 << bits) - len(level))
            made.append(outside)
        for bit in range(bits):
            chosen = functions["="](functions["extract"](bit, bit, at), constant(1, 1))
            halves = []
            for low, high in zip(level[::2], level[1::2], strict=True):
                key = (bit, low, high)
                if low != high and key not in numbers:
                    numbers[key] = len(made)
                    made.append(functions["ite"](chosen, made[high], made[low]))
                halves.append(low if low == high else numbers[key])
            level = halves
        result = made[level[0]]
        if index_width > bits:
            inside = functions["bvult"](at, constant(1 << bits, index_width))
            result = functions["ite"](inside, result, outside)
        return result
