"""Finds proofs: a SAT solver refutes the clauses of the plain translation, and its models show which lemmas about
arrays are missing. Nothing here has to be trusted."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

from partita import _core
from partita.proof.arrays import Array, Arrays, Value
from partita.proof.circuit import Word
from partita.proof.file import Refuted
from partita.proof.script import Problem
from partita.proof.translate import translate

Lemma = tuple[Any, ...]


class SatisfiableError(Exception):
    """The plain translation has a model that satisfies all axioms of arrays."""


def prove(problem: Problem, timeout: float | None = None) -> Refuted:
    """A proof that the assertions of a check contradict each other. TimeoutError after `timeout` seconds."""
    end = None if timeout is None else time.monotonic() + timeout
    arrays = translate(problem)
    lemmas: dict[Lemma, None] = {}
    while True:
        rest = None if end is None else max(end - time.monotonic(), 0.001)
        found = _core.refute(arrays.circuit.variables, arrays.circuit.flat.tobytes(), rest)
        if isinstance(found, str):
            return Refuted(problem.number, [list(lemma) for lemma in lemmas], found)
        missing = [lemma for lemma in dict.fromkeys(Violated(arrays, found).lemmas()) if lemma not in lemmas]
        if not missing:
            raise SatisfiableError
        for lemma in missing:
            arrays.lemma(*lemma)
        lemmas |= dict.fromkeys(missing)


class Violated:
    """Lemmas that a model does not satisfy, or that mention accesses it does not have."""

    def __init__(self, arrays: Arrays, model: bytes) -> None:
        self._arrays = arrays
        self._model = model
        self._places = [self._number(word) for word in arrays.indices]
        self._accesses: dict[int, list[int]] = {}
        for array, index in arrays.accesses:
            self._accesses.setdefault(array, []).append(index)

    def lemmas(self) -> Iterator[Lemma]:
        for array in self._arrays.terms:
            yield from self._consistent(array)
            for index in self._accesses.get(array.number, ()):
                yield from self._downwards(array, index)
        for number, pair in enumerate(self._arrays.equalities):
            if not self._is_true(pair.literal):
                if pair.witness is None:
                    yield "differ", number
                continue
            indices = {*self._accesses.get(pair.one.number, ()), *self._accesses.get(pair.other.number, ())}
            for index in sorted(indices):
                if not self._agree(pair.one, pair.other, index):
                    yield "equal", number, index
            yield from self._elsewhere(number, pair.one)
        if self._arrays.equalities:
            yield from self._upwards()

    def _consistent(self, array: Array) -> Iterator[Lemma]:
        """Equal indices have equal elements."""
        first: dict[int, int] = {}
        if array.kind == "store" and (array.number, array.parts[1]) not in self._arrays.accesses:
            yield "hit", array.number
        for index in self._accesses.get(array.number, ()):
            other = first.setdefault(self._places[index], index)
            values = [self._arrays.accesses[array.number, at] for at in (other, index)]
            if other != index and not self._same(*values):
                yield "congruence", array.number, other, index

    def _downwards(self, array: Array, index: int) -> Iterator[Lemma]:
        """An access agrees with the arrays that its array is made of."""
        if array.kind == "store":
            base, place, value = array.parts
            if index == place:
                if not self._same(self._arrays.accesses[array.number, index], value):
                    yield "hit", array.number
            elif self._places[index] != self._places[place] and not self._agree(array, base, index):
                yield "miss", array.number, index
        elif array.kind == "ite":
            condition, one, other = array.parts
            name, base = ("then", one) if self._is_true(condition) else ("else", other)
            if not self._agree(array, base, index):
                yield name, array.number, index
        elif array.kind == "const" and not self._same(self._arrays.accesses[array.number, index], array.parts[0]):
            yield "const", array.number, index

    def _upwards(self) -> Iterator[Lemma]:
        """An access of a part is one of the whole: equal arrays may be made of it."""
        for array in self._arrays.terms:
            parts = {"store": array.parts[:1], "ite": array.parts[1:]}.get(array.kind, ())
            for part in parts:
                for index in self._accesses.get(part.number, ()):
                    if array.kind == "store":
                        place = self._places[array.parts[1]]
                        if self._places[index] != place and not self._agree(array, part, index):
                            yield "miss", array.number, index
                    elif array.kind == "ite":
                        is_then = part is array.parts[1]
                        if self._is_true(array.parts[0]) == is_then and not self._agree(array, part, index):
                            yield ("then" if is_then else "else"), array.number, index

    def _elsewhere(self, equality: int, array: Array) -> Iterator[Lemma]:
        """Equal arrays agree at an index that no store writes, if constant arrays occur."""
        width: int = array.sort[1]
        if not any(term.kind == "const" and term.sort == array.sort for term in self._arrays.terms):
            return
        written = {self._places[term.parts[1]] for term in self._arrays.terms if term.kind == "store"}
        if any(self._places[index] not in written for index in self._accesses.get(array.number, ())):
            return
        free = next(place for place in range(len(written) + 1) if place not in written)
        if free >> width == 0:
            words = enumerate(self._arrays.indices)
            number = next((n for n, word in words if self._is_constant(word, free, width)), None)
            # In the next round the constant has a number.
            yield ("index", free, width) if number is None else ("equal", equality, number)

    def _agree(self, one: Array, other: Array, index: int) -> bool:
        accesses = self._arrays.accesses
        keys = (one.number, index), (other.number, index)
        return all(key in accesses for key in keys) and self._same(accesses[keys[0]], accesses[keys[1]])

    def _same(self, a: Value, b: Value) -> bool:
        if not isinstance(a, Array) and not isinstance(b, Array):
            return self._number(a) == self._number(b)
        pairs = ({a, b} == {e.one, e.other} and self._is_true(e.literal) for e in self._arrays.equalities)
        return a is b or any(pairs)

    def _is_true(self, literal: int) -> bool:
        return (self._model[abs(literal) - 1] != 0) == (literal > 0)

    def _number(self, value: int | Word) -> int:
        word = (value,) if isinstance(value, int) else value
        return sum(self._is_true(literal) << place for place, literal in enumerate(word))

    def _is_constant(self, word: Word, value: int, width: int) -> bool:
        return len(word) == width and all(abs(literal) == 1 for literal in word) and self._number(word) == value
