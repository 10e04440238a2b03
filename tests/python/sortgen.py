"""Queries that sorting programs ask: run on numbers with their symbols beside them, one path a run.

A run is an executor's: wherever two entries are compared and one is symbolic, both sides are asked about, the side
that the numbers take becomes part of the path, and nothing is asked twice on the same path.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass

WIDTH = 32


class Entry:
    """A number, and the term it stands for: a variable's name, or the number itself."""

    def __init__(self, run: Run, value: int, name: str | None = None) -> None:
        self.run, self.value = run, value
        self.symbolic = name is not None
        self.text = name or f"(_ bv{value % (1 << WIDTH)} {WIDTH})"

    def __gt__(self, other: Entry) -> bool:
        return self.run.branch("bvsgt", self, other, self.value > other.value)

    def same(self, other: Entry) -> bool:
        return self.run.branch("=", self, other, self.value == other.value)


class Run:
    """One path: what was asked on the way, as commands of SMT-LIB, each with its queries."""

    def __init__(self, asked: set[tuple[str, ...]]) -> None:
        self.path: list[str] = []
        self.commands: list[str] = []
        self.queries = 0
        self._asked = asked

    def assume(self, condition: str) -> None:
        self.path.append(condition)
        self.commands.append(f"(assert {condition})")

    def branch(self, relation: str, a: Entry, b: Entry, holds: bool) -> bool:
        if a.symbolic or b.symbolic:
            condition = f"({relation} {a.text} {b.text})"
            sides = [condition, f"(not {condition})"]
            key = (*self.path, condition)
            if key not in self._asked:
                self._asked.add(key)
                self.queries += 2
                self.commands += [f"(push 1)(assert {side})(check-sat)(pop 1)" for side in sides]
            self.assume(sides[0] if holds else sides[1])
        return holds


def insertion(entries: list[Entry]) -> None:
    for i in range(1, len(entries)):
        key, at = entries[i], i
        while at > 0 and entries[at - 1] > key:
            entries[at] = entries[at - 1]
            at -= 1
        entries[at] = key


def bubble(entries: list[Entry]) -> None:
    for end in range(len(entries) - 1, 0, -1):
        for i in range(end):
            if entries[i] > entries[i + 1]:
                entries[i], entries[i + 1] = entries[i + 1], entries[i]


def selection(entries: list[Entry]) -> None:
    for i in range(len(entries)):
        least = i
        for j in range(i + 1, len(entries)):
            if entries[least] > entries[j]:
                least = j
        entries[i], entries[least] = entries[least], entries[i]


def merge(entries: list[Entry]) -> None:
    if len(entries) < 2:
        return
    left, right = entries[: len(entries) // 2], entries[len(entries) // 2 :]
    merge(left)
    merge(right)
    for at in range(len(entries)):
        from_right = not left or (right and left[0] > right[0])
        entries[at] = (right if from_right else left).pop(0)


def quick(entries: list[Entry]) -> None:
    if len(entries) < 2:
        return
    pivot, low, high = entries[0], [], []
    for entry in entries[1:]:
        (low if pivot > entry else high).append(entry)
    quick(low)
    quick(high)
    entries[:] = [*low, pivot, *high]


def heap(entries: list[Entry]) -> None:
    def sink(at: int, end: int) -> None:
        while 2 * at + 1 < end:
            child = 2 * at + 1
            if child + 1 < end and entries[child + 1] > entries[child]:
                child += 1
            if not entries[child] > entries[at]:
                return
            entries[at], entries[child] = entries[child], entries[at]
            at = child

    for at in reversed(range(len(entries) // 2)):
        sink(at, len(entries))
    for end in reversed(range(1, len(entries))):
        entries[0], entries[end] = entries[end], entries[0]
        sink(0, end)


SORTS: dict[str, Callable[[list[Entry]], None]] = {
    "bubble": bubble, "heap": heap, "insertion": insertion, "merge": merge, "quick": quick, "selection": selection,
}  # fmt: skip


@dataclass(frozen=True)
class Sequence:
    """Queries in the order they are asked, as one script."""

    script: str
    queries: int


def collected(names: list[str], runs: Iterator[Run], most: int) -> Sequence:
    lines = [f"(declare-const {name} (_ BitVec {WIDTH}))" for name in names]
    queries = 0
    for run in runs:
        lines += ["(push 1)", *run.commands, "(pop 1)"]
        queries += run.queries
        if queries >= most:
            break
    return Sequence("\n".join(lines), queries)


def crosscheck(size: int, most: int, seed: int) -> Sequence:
    """Insertion sort against bubble sort on equal inputs: the paper's Figure 2, at least `most` queries of it."""
    rng = random.Random(f"crosscheck {size} {seed}")
    names = [f"{array}{i}" for array in "ab" for i in range(size)]
    asked: set[tuple[str, ...]] = set()

    def runs() -> Iterator[Run]:
        for _ in range(most):
            values = rng.sample(range(-100, 100), size)
            run = Run(asked)
            first, second = ([Entry(run, v, f"{array}{i}") for i, v in enumerate(values)] for array in "ab")
            for a, b in zip(first, second, strict=True):
                run.assume(f"(= {a.text} {b.text})")
            insertion(first)
            bubble(second)
            for a, b in zip(first, second, strict=True):
                assert a.same(b)
            yield run

    return collected(names, runs(), most)


def two_symbolic(algorithm: str, size: int, most: int, seed: int) -> Sequence:
    """One algorithm on constants with two symbolic entries among them."""
    rng = random.Random(f"{algorithm} {size} {seed}")
    constants = [rng.randrange(-1000, 1000) for _ in range(size)]
    places = rng.sample(range(size), 2)
    asked: set[tuple[str, ...]] = set()

    def runs() -> Iterator[Run]:
        for _ in range(most):
            run = Run(asked)
            entries = [Entry(run, value) for value in constants]
            for name, place in zip(("x", "y"), places, strict=True):
                entries[place] = Entry(run, rng.randrange(-1100, 1100), name)
            SORTS[algorithm](entries)
            yield run

    return collected(["x", "y"], runs(), most)
