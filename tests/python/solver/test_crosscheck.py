"""Random scripts: every chain compared with Z3, and a test that the comparison finds errors. `make fuzz` runs more."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

pytest.importorskip("z3", reason="the crosscheck needs Z3: pip install 'partita[z3]'")

from partita import backends
from partita.layers import Answer, QueryView, RestView, Sat, Unsat
from partita.solver import DEFAULT_LAYERS
from support import crosscheck as checker
from support.collected import LABEL, crosscheck_collected
from support.crosscheck import CHAINS, SET_CHAINS, Tally, crosscheck, text
from support.querygen import SETS

SCRIPTS = 64
PARTS = 4


@pytest.mark.parametrize("part", range(PARTS))
def test_every_chain_agrees_with_z3(part: int) -> None:
    total = Tally()
    for number in range(part, SCRIPTS, PARTS):
        total.add(crosscheck(f"test/{number}"))
    shown = [f"{m.chain}: {m.difference}\n{text(m.script)}" for m in total.mismatches]
    assert not shown, "\n\n".join(shown)
    for chain in CHAINS:
        assert total.verdicts[chain] > 250
        # Undecided within the time limit of the chain, on a machine that may be busy.
        assert total.undecided[chain] <= 25


@pytest.mark.parametrize("part", range(PARTS))
def test_sets_of_values_agree_with_z3(part: int) -> None:
    """5,000 queries to `intervals` and `enumerate`: repeated variables, mixed signs, wrapping at every boundary."""
    total, number = Tally(), part
    while total.verdicts[SET_CHAINS[0]] < 5000 // PARTS:
        total.add(crosscheck(f"test/sets{number}", SET_CHAINS[:1], SETS))
        number += PARTS
    shown = [f"{m.chain}: {m.difference}\n{text(m.script)}" for m in total.mismatches]
    assert not shown, "\n\n".join(shown)
    assert total.undecided[SET_CHAINS[0]] <= 25


def test_no_stale_facts_after_a_collection() -> None:
    tally = crosscheck_collected("test")
    shown = [f"{m.chain}: {m.difference}\n{text(m.script)}" for m in tally.mismatches]
    assert not shown, "\n\n".join(shown)
    assert tally.verdicts[LABEL] > 200


class WrongLayer:
    """Passes on and falsifies the answer."""

    name = "wrong"

    def __init__(self, falsify: Callable[[QueryView, Answer], Answer]) -> None:
        self.falsify = falsify

    def check(self, query: QueryView, rest: RestView) -> Answer:
        return self.falsify(query, rest.check(query))

    def forget(self) -> None: ...


def unsat_if_many_constraints(query: QueryView, answer: Answer) -> Answer:
    return Unsat(query.constraints) if isinstance(answer, Sat) and len(query.constraints) >= 3 else answer


def core_too_small(query: QueryView, answer: Answer) -> Answer:
    return Unsat(answer.core[:-1], answer.condition) if isinstance(answer, Unsat) and answer.core else answer


@pytest.mark.parametrize(("falsify", "kind"), [(unsat_if_many_constraints, "wrong unsat"), (core_too_small, "core")])
def test_a_wrong_answer_is_found_and_shrunk(
    monkeypatch: pytest.MonkeyPatch, falsify: Callable[[QueryView, Answer], Answer], kind: str
) -> None:
    def resolve(chain: str) -> tuple[str, Callable[..., Any]]:
        def make(name: str, variant: str | None, options: dict[str, str]) -> Any:
            return WrongLayer(falsify) if name == "wrong" else backends.make(name, variant, options)

        return chain, make

    monkeypatch.setattr(checker, "resolve", resolve)
    for number in range(20):
        found = crosscheck(f"lie/{number}", (f"wrong {DEFAULT_LAYERS}",)).mismatches
        if found:
            break
    assert checker.kind(found[0].difference) == kind
    assert len(found[0].script.steps) <= 5
