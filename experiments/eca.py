"""Figure 3 of the second paper: event-condition-action systems, as in the ECA set of SV-COMP.

The systems are generated: a few state variables, and rules that fire for one input in one state and change it. Like
those of the set they consist of assignments and conjunctions of equalities, with a few inequalities. The same seed
makes the same system. `python -m experiments eca --programs DIR` uses a folder of real ones instead.
"""

from __future__ import annotations

import random
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from experiments.experiment import BASELINE, Case, Effort, Experiment, Panel, Scale, against_z3
from experiments.published import paired_t
from partita.errors import UsageError
from partita.explore import write_atomically
from partita.frontends.cache import cache_dir

INPUTS, VARIABLES, VALUES = 6, 6, 8
_COUNT: dict[Scale, int] = {"paper": 247, "hour": 40, "quick": 6, "smoke": 1}
_RULES: dict[Scale, tuple[int, int]] = {
    "paper": (500, 2000),
    "hour": (500, 2000),
    "quick": (40, 100),
    "smoke": (40, 100),
}
"""Number of rules: those of the set have several thousand lines, and each rule has three."""


def system(seed: int, rounds: int, rules_between: tuple[int, int] = (40, 100)) -> str:
    """A C program that reads `rounds` inputs."""
    chance = random.Random(f"eca {seed}")
    names = [f"a{number}" for number in chance.sample(range(1, 100), VARIABLES)]
    rules = [_rule(chance, names) for _ in range(chance.randint(*rules_between))]
    steps = "\n".join(f"  {'else ' if number else ''}{rule}" for number, rule in enumerate(rules))
    start = "\n".join(f"static int {name} = {chance.randrange(VALUES)};" for name in names)
    return f"""// A system of events, conditions and actions; generated from seed {seed}.
extern int __VERIFIER_nondet_int(void);

{start}

static int react(int input) {{
{steps}
  return -1;
}}

int main(void) {{
  for (int round = 0; round < {rounds}; round++) {{
    int input = __VERIFIER_nondet_int();
    if (input < 1 || input > {INPUTS}) return 1;
    if (react(input) < 0) return 2;
  }}
  return 0;
}}
"""


def _rule(chance: random.Random, names: list[str]) -> str:
    """A rule that fires for some inputs in some states."""
    tested = chance.sample(names, chance.randint(1, 2))
    state = [f"{name} == {chance.randrange(VALUES)}" for name in tested]
    low = chance.randint(1, INPUTS)
    event = f"input == {low}" if chance.random() < 0.85 else f"input >= {low} && input <= {chance.randint(low, INPUTS)}"
    if chance.random() < 0.2:
        state[0] = f"{tested[0]} + input != {chance.randrange(2 * VALUES)}"
    changes = [f"{name} = {chance.randrange(VALUES)};" for name in chance.sample(names, chance.randint(1, 3))]
    if chance.random() < 0.1:
        changes[0] = f"{chance.choice(names)} = input - {chance.randrange(4)};"
    body = f"    {' '.join(changes)}\n    return {chance.randint(20, 30)};"
    return f"if ({' && '.join([event, *state])}) {{\n{body}\n  }}"


def cases(scale: Scale) -> list[Case]:
    found = []
    rounds = {"paper": 3, "hour": 3, "quick": 2, "smoke": 1}[scale]
    for seed in range(_COUNT[scale]):
        file = cache_dir() / "eca" / f"{seed}-{rounds}-{_RULES[scale][1]}.c"
        file.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(file, system(seed, rounds, _RULES[scale]))
        found.append(Case(f"system {seed}", f"system {seed}", str(file)))
    return found


def tested(samples: Sequence[Mapping[str, Any]]) -> list[str]:
    """The mean difference over the systems and the paired test, as the paper has them."""
    times: dict[str, dict[str, float]] = {}
    for sample in samples:
        if sample["outcome"] == "measured":
            mean = statistics.fmean(run["time_s"] for run in sample["runs"])
            times.setdefault(sample["configuration"], {})[sample["case"]["x"]] = mean
    lines = []
    base = times.get(BASELINE, {})
    for name, mine in times.items():
        both = [x for x in mine if x in base]
        if name != BASELINE and both:
            differences = [100 * (mine[x] / base[x] - 1) for x in both]
            t, probability = paired_t(differences)
            lines.append(
                f"{name}: {statistics.fmean(differences):+.2f} % of the time of {BASELINE}, n = {len(both)}, paired t ="
                f" {t:.2f}, p = {probability:.3f}"
            )
    return lines


def of_folder(folder: Path) -> Experiment:
    """The experiment with the C programs of a folder."""
    files = sorted(folder.resolve().glob("*.c"))
    if not files:
        raise UsageError(f"expected C programs (*.c) in `{folder}` for --programs, found none")
    return replace(EXPERIMENT, cases=lambda scale: [Case(file.name, file.name, str(file)) for file in files])


EXPERIMENT = Experiment(
    name="eca",
    title="Systems of events, conditions and actions",
    source="Integers instead of bit-vectors (2019), Figure 3",
    reported="0.37 % less time with integers on average over 247 programs: tiny, but significant.",
    note=(
        "Each point is a system, the fastest first; below zero is faster than Z3's bit-vectors alone. The systems are"
        " generated and end after a few inputs; below the scale `hour` they are smaller than those of the set. Real"
        " ones: --programs DIR."
    ),
    configurations=against_z3("integers:paper"),
    cases=cases,
    effort={"paper": Effort(14, 300), "hour": Effort(3, 30), "quick": Effort(3, 15), "smoke": Effort(1, 20)},
    panels=(
        Panel("difference", "time compared with Z3's bit-vectors", "systems, ranked", "more time, %",
              ("paper", "default"), kind="ranked"),
    ),
    table=tested,
)  # fmt: skip
