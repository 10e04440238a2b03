"""Figure 1 of the third paper: the number of solves for a small program, with different caches."""

from __future__ import annotations

from experiments.experiment import Case, Effort, Experiment, Panel, Scale, Setup
from partita.solver import DEFAULT_LAYERS

CONFIGURATIONS = {
    "no cache": Setup("split sat(engine=conflicts,harvest=off)", path_model=False),
    "KLEE's cache": Setup("split reuse:klee sat(engine=conflicts,harvest=off)", path_model=False),
    "control": Setup("split solutions:paper(harvest=off) sat(engine=conflicts)", path_model=False),
    "paper": Setup("split solutions:paper sat(engine=conflicts)", path_model=False),
    "default": Setup(DEFAULT_LAYERS),
}


def cases(scale: Scale) -> list[Case]:
    return [Case("both sides asked", "both sides asked", "foo.smt2"), Case("explored", "explored", "foo.c")]


EXPERIMENT = Experiment(
    name="foo",
    title="Solves needed for three branches on two bytes",
    source="Partial solutions in the cache (FSE 2024), Figure 1",
    reported="6 solves without a cache, 4 with KLEE's cache, 2 with partial solutions.",
    note=(
        "“Both sides asked” are the six path constraints in the paper's order, as a script. “Explored” is the C"
        " program; both sides of each branch are asked, except by “default”, which has a path model. The paper's"
        " partial solution (58, 81) needs a sum that wraps at 8 bits; C promotes to int, and so do both programs here."
        " “Control” is the paper's cache without partial solutions."
    ),
    configurations=CONFIGURATIONS,
    cases=cases,
    effort={"paper": Effort(3, 60), "hour": Effort(3, 60), "quick": Effort(2, 20), "smoke": Effort(1, 20)},
    panels=(Panel("solves", "calls of the SAT solver", "", "solves", tuple(CONFIGURATIONS), kind="bars"),),
)
