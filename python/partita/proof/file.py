"""Proof files: the script, and for each proved check its lemmas and its refutation."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from partita.proof import lrat
from partita.proof.script import NoProofError, Problem, Script, commands
from partita.proof.translate import translate

SCHEMA = "partita-proof-1"


class RejectedProofError(Exception):
    """The proof does not show what it says."""


@dataclass
class Refuted:
    """A check whose assertions contradict each other, with the proof."""

    check: int
    lemmas: list[list[Any]]
    lrat: str


@dataclass
class Summary:
    checks: list[int]
    clauses: int = 0
    lemmas: int = 0
    steps: int = 0


def write(path: Path, script: str, refuted: Sequence[Refuted]) -> None:
    checks = [{"check": one.check, "lemmas": one.lemmas, "lrat": one.lrat} for one in refuted]
    path.write_text(json.dumps({"schema": SCHEMA, "script": script, "checks": checks}) + "\n")


def check(body: dict[str, Any]) -> Summary:
    """Checks every proof of the file."""
    try:
        wanted = [Refuted(int(row["check"]), row["lemmas"], row["lrat"]) for row in body["checks"]]
        problems = read(body["script"])
        if not wanted:
            raise RejectedProofError("it has no proof")
        summary = Summary([])
        for one in wanted:
            if one.check not in problems or one.check in summary.checks:
                raise RejectedProofError(f"the script has no check {one.check}, or its proof is there twice")
            _check_one(problems[one.check], one, summary)
        return summary
    except NoProofError as error:
        raise RejectedProofError(f"not supported: {error}") from None
    except (KeyError, IndexError, TypeError, ValueError, AttributeError) as error:
        raise RejectedProofError(f"damaged, or a script with wrong sorts: {error!r}") from None


def read(script: str) -> dict[int, Problem]:
    state = Script()
    found = (state.execute(command) for _, command in commands(script))
    return {problem.number: problem for problem in found if problem is not None}


def _check_one(problem: Problem, one: Refuted, summary: Summary) -> None:
    arrays = translate(problem)
    for name, *numbers in one.lemmas:
        if not all(isinstance(number, int) and number >= 0 for number in numbers):
            raise RejectedProofError(f"check {one.check}: damaged lemma {name}")
        arrays.lemma(name, *numbers)
    clauses = lrat.clauses_of(arrays.circuit.flat)
    try:
        summary.steps += lrat.check(clauses, one.lrat)
    except lrat.RefutationError as error:
        raise RejectedProofError(f"check {one.check}: {error}") from None
    summary.checks.append(one.check)
    summary.clauses += len(clauses)
    summary.lemmas += len(one.lemmas)
