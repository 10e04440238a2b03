"""Arrays and declared functions: an access is a fresh value, and lemmas relate accesses.

Every lemma is an instance of an axiom, so it holds for all arrays whatever its numbers are. A proof lists those that
it needs. A function is an array over its arguments.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from partita.proof.circuit import TRUE, Circuit, Word, constant
from partita.proof.script import NoProofError

Sort = tuple[Any, ...]
"""("Bool",), ("BitVec", width), ("Array", bits of the index, sort of the elements) or ("declared", name)."""

ELEMENT_BITS = 32
"""Width of the numbers of elements of a declared sort. A formula that has a model has one with 2^32 elements, since it
has fewer terms."""


@dataclass(eq=False)
class Array:
    number: int
    sort: Sort
    kind: str
    parts: tuple[Any, ...] = ()


Value = int | Word | Array


@dataclass
class Equality:
    literal: int
    one: Array
    other: Array
    witness: int | None = None


@dataclass
class Arrays:
    circuit: Circuit
    terms: list[Array] = field(default_factory=list)
    indices: list[Word] = field(default_factory=list)
    accesses: dict[tuple[int, int], Value] = field(default_factory=dict)
    """Values by the numbers of the array and of the index."""
    equalities: list[Equality] = field(default_factory=list)
    _known: dict[Any, Any] = field(default_factory=dict)

    def fresh(self, sort: Sort) -> Value:
        if sort[0] == "Array":
            return self.term(sort, "variable", len(self.terms))
        return self.circuit.fresh() if sort[0] == "Bool" else self.circuit.word(bits(sort))

    def term(self, sort: Sort, kind: str, *parts: Any) -> Array:
        key = (sort, kind, *(part.number if isinstance(part, Array) else part for part in parts))
        if key not in self._known:
            self.terms.append(Array(len(self.terms), sort, kind, parts))
            self._known[key] = self.terms[-1]
        found: Array = self._known[key]
        return found

    def index(self, word: Word) -> int:
        if word not in self._known:
            self._known[word] = len(self.indices)
            self.indices.append(word)
        number: int = self._known[word]
        return number

    def read(self, a: Array, index: int) -> Value:
        if len(self.indices[index]) != a.sort[1]:
            raise NoProofError("an index of another width")
        key = (a.number, index)
        if key not in self.accesses:
            self.accesses[key] = self.fresh(a.sort[2])
        return self.accesses[key]

    def equal(self, a: Value, b: Value) -> int:
        if isinstance(a, int) and isinstance(b, int):
            return -self.circuit.differs(a, b)
        if isinstance(a, tuple) and isinstance(b, tuple):
            return self.circuit.equal(a, b)
        if not isinstance(a, Array) or not isinstance(b, Array) or a.sort != b.sort:
            raise NoProofError("values of different sorts are compared")
        if a is b:
            return TRUE
        one, other = sorted((a, b), key=lambda term: term.number)
        key = ("=", one.number, other.number)
        if key not in self._known:
            self._known[key] = Equality(self.circuit.fresh(), one, other)
            self.equalities.append(self._known[key])
        found: Equality = self._known[key]
        return found.literal

    def choose(self, c: int, a: Value, b: Value) -> Value:
        if isinstance(a, Array) and isinstance(b, Array) and a.sort == b.sort:
            return self.term(a.sort, "ite", c, a, b)
        if isinstance(a, tuple) and isinstance(b, tuple):
            return self.circuit.mux(c, a, b)
        if isinstance(a, int) and isinstance(b, int):
            return self.circuit.choose(c, a, b)
        raise NoProofError("values of different sorts in ite")

    def lemma(self, name: str, *numbers: int) -> None:
        """Adds an instance of an axiom."""
        match name, numbers:
            case "index", (value, width):  # names a constant; no clause
                self.index(constant(value, width))
            case "hit", (n,):  # read(store(a, i, v), i) = v
                _, index, value = self._parts(n, "store")
                self.circuit.clause(self.equal(self.read(self.terms[n], index), value))
            case "miss", (n, i):  # i = j or read(store(a, j, v), i) = read(a, i)
                a, index, _ = self._parts(n, "store")
                same = self.circuit.equal(self.indices[i], self.indices[index])
                self.circuit.clause(same, self._same_at(self.terms[n], a, i))
            case "then", (n, i):  # not c or read(ite(c, a, b), i) = read(a, i)
                c, a, _ = self._parts(n, "ite")
                self.circuit.clause(-c, self._same_at(self.terms[n], a, i))
            case "else", (n, i):  # c or read(ite(c, a, b), i) = read(b, i)
                c, _, b = self._parts(n, "ite")
                self.circuit.clause(c, self._same_at(self.terms[n], b, i))
            case "const", (n, i):  # read(const(v), i) = v
                (value,) = self._parts(n, "const")
                self.circuit.clause(self.equal(self.read(self.terms[n], i), value))
            case "congruence", (n, i, j):  # i /= j or read(a, i) = read(a, j)
                values = self.read(self.terms[n], i), self.read(self.terms[n], j)
                same = self.circuit.equal(self.indices[i], self.indices[j])
                self.circuit.clause(-same, self.equal(*values))
            case "equal", (e, i):  # a /= b or read(a, i) = read(b, i)
                pair = self.equalities[e]
                self.circuit.clause(-pair.literal, self._same_at(pair.one, pair.other, i))
            case "differ", (e,):  # a = b or read(a, k) /= read(b, k), with a new k for this pair
                pair = self.equalities[e]
                if pair.witness is None:
                    pair.witness = self.index(self.circuit.word(pair.one.sort[1]))
                    same = self._same_at(pair.one, pair.other, pair.witness)
                    self.circuit.clause(pair.literal, -same)
            case _:
                raise NoProofError(f"lemma {name} with {len(numbers)} numbers")

    def _parts(self, number: int, kind: str) -> tuple[Any, ...]:
        if self.terms[number].kind != kind:
            raise NoProofError(f"array {number} is not a {kind}")
        return self.terms[number].parts

    def _same_at(self, a: Array, b: Array, index: int) -> int:
        return self.equal(self.read(a, index), self.read(b, index))


def bits(sort: Sort) -> int:
    """Number of bits of a value of the sort."""
    match sort:
        case ("Bool",):
            return 1
        case ("BitVec", width):
            return int(width)
        case ("declared", _):
            return ELEMENT_BITS
    raise NoProofError("an array as an index or an argument")


def flat(value: Value) -> Word:
    if isinstance(value, Array):
        raise NoProofError("an array as an index or an argument")
    return (value,) if isinstance(value, int) else value
