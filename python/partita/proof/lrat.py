"""Checks refutations in LRAT: every clause follows from earlier ones by unit propagation in the given order."""

from __future__ import annotations

from collections.abc import Iterable, Sequence


class RefutationError(Exception):
    """A step does not follow, or the empty clause is not reached."""


def clauses_of(flat: Iterable[int]) -> list[tuple[int, ...]]:
    """Clauses from literals with a zero after each clause."""
    result, clause = [], []
    for literal in flat:
        if literal:
            clause.append(literal)
        else:
            result.append(tuple(clause))
            clause = []
    return result


def check(clauses: Sequence[tuple[int, ...]], text: str) -> int:
    """Number of steps of a refutation of `clauses`, which have the numbers from 1 on."""
    known = dict(enumerate(clauses, 1))
    for step, line in enumerate(text.splitlines(), 1):
        try:
            numbers = [int(word) for word in line.split()]
            end = numbers.index(0, 1)
        except ValueError:
            raise RefutationError(f"step {step} is damaged: {line[:60]}") from None
        number, clause, hints = numbers[0], tuple(numbers[1:end]), numbers[end + 1 : -1]
        if number in known or numbers[-1] != 0 or len(numbers) == end + 1:
            raise RefutationError(f"step {step} is damaged: {line[:60]}")
        if not follows(known, clause, hints):
            raise RefutationError(f"step {step} does not follow: {line[:60]}")
        if not clause:
            return step
        known[number] = clause
    raise RefutationError("the empty clause is not derived")


def follows(known: dict[int, tuple[int, ...]], clause: tuple[int, ...], hints: Sequence[int]) -> bool:
    """Does assuming the contrary lead to a conflict by the units of the clauses `hints`?"""
    false = set(clause)
    for hint in hints:
        if hint not in known:
            return False
        unit = 0
        for literal in known[hint]:
            if literal not in false:
                if unit and literal != unit:
                    return False
                unit = literal
        if not unit:
            return True
        false.add(-unit)
    return False
