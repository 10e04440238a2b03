"""Translates nodes of the expression graph to terms of another solver. Terms are kept between queries.

A query has the nodes that are new since the last query, operands first, as rows of numbers. Operators are mapped to
SMT-LIB functions here, so that a back end only implements SMT-LIB functions. Reads of several adjacent elements and
tables of constants, for which SMT-LIB has no functions, are in `arrays.py`, float operators in `floats.py`.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Any, Protocol

from partita._core import OPERATORS, QueryView
from partita.backends import arrays
from partita.backends.floats import AND, ITE, ULT, XOR, Floats

Term = Any
Make = Callable[..., Term]

ROW = struct.Struct("=8I")
BOOL, BITS, ARRAY = range(3)
SPECIAL = ("Const", "Var", "Table", "ConstArray", "Read", "Store", "Concat", "Extract", "ZExt", "SExt")
CONST, VAR, TABLE, CONST_ARRAY, READ, STORE, CONCAT, EXTRACT, ZEXT, SEXT = (
    next(number for number, row in enumerate(OPERATORS) if row[0] == name) for name in SPECIAL
)
ARITY = [arity for _, _, arity, *_ in OPERATORS]
HAS_PARAMETER = [parameter for *_, parameter in OPERATORS]
IS_FLOAT = [family == "Float" for _, family, *_ in OPERATORS]
FUNCTIONS = sorted(
    {
        smt
        for name, family, _, bits, bools, _ in OPERATORS
        for smt in (bits, bools)
        if smt and name != "ConstArray" and family != "Float"
    }
)
"""The SMT-LIB functions that a back end must implement."""
INDEXED = {
    "zero_extend",
    "sign_extend",
    *(smt for _, family, _, smt, _, parameter in OPERATORS if parameter and family != "Float"),
}
"""The functions that have indices."""
ON_NUMBERS = (ITE, XOR, AND, ULT)
"""Operators that have a form on numbers."""


class Builder(Protocol):
    """Builds terms of a solver. `functions` has an entry for each of `FUNCTIONS`, `floats.FUNCTIONS` and
    `floats.CONVERSIONS`; indexed functions take their indices first: `functions["extract"](high, low, term)`. It may
    have one for `fp.to_ieee_bv`; otherwise the words of numbers are defined, by `fresh_word`."""

    functions: dict[str, Make]
    min_exponent: int
    """Numbers with fewer bits of exponent are refused."""
    integral_formats: frozenset[tuple[int, int]] | None
    """Formats whose numbers may be rounded to integers; None: all."""
    min_significand: int
    """Numbers with fewer bits of significand, the hidden one included, are refused."""

    def boolean(self, value: bool) -> Term: ...

    def constant(self, value: int, width: int) -> Term: ...

    def variable(self, name: str, kind: int, width: int, index_width: int) -> Term: ...

    def const_array(self, element: Term, index_width: int, width: int) -> Term: ...

    def rounding(self, mode: str) -> Term:
        """A rounding mode, by its short name in SMT-LIB."""
        ...

    def fresh_word(self, width: int, name: str, exponent: int, significand: int, number: Term) -> Term:
        """A new word; `Floats.definitions` says that it has the bits of the number."""
        ...


class Words(dict[int, Term]):
    """Terms of nodes as words; those of numbers are made when they are used."""

    def __init__(self, terms: Terms) -> None:
        super().__init__()
        self.owner = terms

    def has(self, number: int) -> bool:
        return number in self

    def __missing__(self, number: int) -> Term:
        if number in self.owner.floats.numbers:
            return self.owner.floats.word(number)
        raise KeyError(number)


class Terms:
    """The terms of all current nodes, by number."""

    def __init__(self, builder: Builder) -> None:
        self.builder = builder
        self.terms = Words(self)
        # Width of each node (of an array: of its elements), index width of each array.
        self.widths: dict[int, int] = {}
        self.index_widths: dict[int, int] = {}
        # Term, kind, width and index width of each variable.
        self.variables: dict[int, tuple[Term, int, int, int]] = {}
        # For reads: constants, concatenations, zero-extended words, tables (base, elements) and stores (array, index,
        # element). Tables and stores become terms only if a read needs them.
        self.constants: dict[int, int] = {}
        self.concats: dict[int, tuple[int, int]] = {}
        self.narrow: dict[int, int] = {}
        self.tables: dict[int, tuple[int, list[int]]] = {}
        self.stores: dict[int, tuple[int, int, int]] = {}
        self.floats = Floats(self)
        self._by_number: list[dict[int, Any]] = [
            self.terms, self.widths, self.index_widths, self.variables, self.constants,
            self.concats, self.narrow, self.tables, self.stores,
            self.floats.numbers, self.floats.read, self.floats.definitions,
        ]  # fmt: skip
        self.on_bits = [self._maker(name, family, smt) for name, family, _, smt, _, _ in OPERATORS]
        self.on_bool = [self._maker(name, family, smt) for name, family, _, _, smt, _ in OPERATORS]

    def _maker(self, name: str, family: str, smt: str) -> Make | None:
        special = name in SPECIAL or family == "Float" or smt in INDEXED
        return None if special else self.builder.functions[smt]

    def update(self, query: QueryView) -> None:
        """Removes the nodes that the query drops, then translates its new nodes."""
        for (number,) in struct.iter_unpack("=I", query.dropped):
            for known in self._by_number:
                known.pop(number, None)
        terms, numbers = self.terms, self.floats.numbers
        for number, op, kind, width, index_width, a, b, c in ROW.iter_unpack(query.nodes):
            self.widths[number] = width
            if kind == ARRAY:
                self.index_widths[number] = index_width
            make = self.on_bool[op] if kind == BOOL else self.on_bits[op]
            if make is None:
                self._special(query, number, op, kind, width, index_width, a, b, c)
                continue
            operands = (a, b, c)[: ARITY[op]]
            if numbers and op in ON_NUMBERS and self.floats.reads_number(number, op, operands):
                continue
            try:
                args = [terms[i] for i in operands]
            except KeyError:
                args = [self.term(i) for i in operands]
            terms[number] = make(*args)

    def _special(
        self, query: QueryView, number: int, op: int, kind: int, width: int, index_width: int, a: int, b: int, c: int
    ) -> None:
        builder, terms = self.builder, self.terms
        if op == CONST and kind == BOOL:
            terms[number] = builder.boolean(a == 1)
        elif op == CONST:
            value = query.wide[number] if width > 64 else a | b << 32
            self.constants[number] = value
            terms[number] = builder.constant(value, width)
        elif op == VAR:
            term = builder.variable(query.names[number], kind, width, index_width)
            terms[number] = term
            self.variables[number] = (term, kind, width, index_width)
        elif op == TABLE:
            self.tables[number] = (a, query.tables[number])
        elif op == CONST_ARRAY:
            terms[number] = builder.const_array(terms[a], index_width, width)
        elif op == READ:
            terms[number] = arrays.read(self, a, b, width // self.widths[a])
        elif op == STORE:
            self.stores[number] = (a, b, c)
        elif op == CONCAT:
            self.concats[number] = (a, b)
            terms[number] = builder.functions["concat"](terms[a], terms[b])
        elif op == EXTRACT:
            terms[number] = builder.functions["extract"](b + width - 1, b, terms[a])
        elif op == ZEXT:
            self.narrow[number] = a
            terms[number] = builder.functions["zero_extend"](width - self.widths[a], terms[a])
        elif op == SEXT:
            terms[number] = builder.functions["sign_extend"](width - self.widths[a], terms[a])
        elif IS_FLOAT[op]:
            operands = (a, b, c)[: ARITY[op]]
            # The parameter follows the operands; that of three operands is in the place of the index width.
            parameter = index_width if len(operands) == 3 else (a, b, c)[len(operands)]
            self.floats.add(number, op, width, parameter, operands)
        elif HAS_PARAMETER[op]:
            *words, parameter = (a, b, c)[: ARITY[op] + 1]
            terms[number] = builder.functions[OPERATORS[op][3]](parameter, *(self.term(i) for i in words))
        else:
            raise AssertionError(f"operator {OPERATORS[op]} has no translation")

    def term(self, number: int) -> Term:
        """The term of a node. Terms of tables and stores are made here, a table as stores over its base."""
        if number in self.floats.numbers:
            return self.terms[number]
        waiting = []
        below = number
        while below not in self.terms:
            waiting.append(below)
            below = self.tables[below][0] if below in self.tables else self.stores[below][0]
        store, constant = self.builder.functions["store"], self.builder.constant
        for array in reversed(waiting):
            if array in self.stores:
                base, index, element = self.stores[array]
                self.terms[array] = store(self.terms[base], self.terms[index], self.terms[element])
                continue
            base, elements = self.tables[array]
            term, width, index_width = self.terms[base], self.widths[array], self.index_widths[array]
            for i, value in enumerate(elements):
                term = store(term, constant(i, index_width), constant(value, width))
            self.terms[array] = term
        return self.terms[number]
