"""Figure 3 of the second paper: event-condition-action systems, as in the ECA set of SV-COMP.

The systems are generated: a few state variables, and rules that fire for one input in one state and change it. Like
those of the set they consist of assignments and conjunctions of equalities, with a few inequalities. The same seed
makes the same system. `python -m experiments eca --programs DIR` uses a folder of real ones instead.
"""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path

from experiments.experiment import Case, Effort, Experiment, Panel, Scale, against_z3
from partita.errors import UsageError
from partita.explore import write_atomically
from partita.frontends.cache import cache_dir

INPUTS, VARIABLES, VALUES = 6, 6, 8
_COUNT: dict[Scale, int] = {"full": 100, "quick": 6, "smoke": 1}


def system(seed: int, rounds: int) -> str:
    """A C program that reads `rounds` inputs."""
    chance = random.Random(f"eca {seed}")
    names = [f"a{number}" for number in chance.sample(range(1, 100), VARIABLES)]
    rules = [_rule(chance, names) for _ in range(chance.randint(40, 100))]
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
    return f"if ({' && '.join([event, *state])}) {{ {' '.join(changes)} return {chance.randint(20, 30)}; }}"


def cases(scale: Scale) -> list[Case]:
    found = []
    rounds = {"full": 3, "quick": 2, "smoke": 1}[scale]
    for seed in range(_COUNT[scale]):
        file = cache_dir() / "eca" / f"{seed}-{rounds}.c"
        file.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(file, system(seed, rounds))
        found.append(Case(f"system {seed}", f"system {seed}", str(file)))
    return found


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
        " generated, smaller than those of the set, and end after a few inputs. Real ones: --programs DIR."
    ),
    configurations=against_z3("integers:paper"),
    cases=cases,
    effort={"full": Effort(14, 300), "quick": Effort(3, 15), "smoke": Effort(1, 20)},
    panels=(
        Panel("difference", "time compared with Z3's bit-vectors", "systems, ranked", "more time, %",
              ("paper", "default"), kind="ranked"),
    ),
)  # fmt: skip
