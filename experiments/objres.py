"""Figure 3 of the first paper: an unconstrained index into arrays of growing length, by element type.

KLEE resolves an address by asking about each object in memory in turn; our executor finds the objects by the set of the
address. So there are two kinds of cases: KLEE's queries as a script, and the program explored.
"""

from __future__ import annotations

from experiments.experiment import Case, Effort, Experiment, Panel, Scale, against_z3
from partita.explore import write_atomically
from partita.frontends.cache import cache_dir

OBJECTS = 50
_POWERS: dict[Scale, tuple[int, ...]] = {
    "paper": (3, 4, 5, 6, 7, 8, 9),
    "hour": (3, 5, 7, 9),
    "quick": (3, 9),
    "smoke": (3,),
}
_BITS: dict[Scale, tuple[int, ...]] = {
    "paper": (8, 16, 32, 64),
    "hour": (8, 16, 32, 64),
    "quick": (8, 32),
    "smoke": (32,),
}
_ASKED = "as KLEE asks"
_NAMES = tuple(f"{bits} bit" for bits in _BITS["paper"])
_LABELS = ("elements of the array", "times as fast as Z3 alone")


def script(bits: int, length: int) -> str:
    """KLEE's queries for `array[index]` among other objects: can it be inside each, and below its start?"""
    size = length * bits // 8
    bases = [0x5555_0000_0000 + number * (size + 0x40) for number in range(OBJECTS)]
    lines = [
        "(set-logic QF_BV)",
        "(declare-const index (_ BitVec 64))",
        f"(define-fun address () (_ BitVec 64) (bvadd {_word(bases[OBJECTS // 2])} (bvmul index {_word(bits // 8)})))",
    ]
    for base in bases:
        inside = f"(bvult (bvsub address {_word(base)}) {_word(size - bits // 8 + 1)})"
        for condition in (inside, f"(bvult address {_word(base)})"):
            lines += ["(push 1)", f"(assert {condition})", "(check-sat)", "(pop 1)"]
    return "\n".join(lines) + "\n"


def _word(value: int) -> str:
    return f"(_ bv{value} 64)"


def cases(scale: Scale) -> list[Case]:
    sizes = [(bits, 2**power) for bits in _BITS[scale] for power in _POWERS[scale]]
    asked = []
    for bits, length in sizes:
        file = cache_dir() / "objres" / f"{bits}-{length}.smt2"
        file.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(file, script(bits, length))
        asked.append(Case(f"{bits} bit, {_ASKED}", length, str(file)))
    return asked + [
        Case(f"{bits} bit", length, "objres.c", {"LENGTH": length, "TYPE": f"uint{bits}_t"}) for bits, length in sizes
    ]


EXPERIMENT = Experiment(
    name="objres",
    title="Which objects can a symbolic address be in?",
    source="PARTI (ASE 2018), Figure 3",
    reported="Well above 200 times as fast as Z3 alone for all four element types and all lengths.",
    note=(
        f"KLEE asks about each object in memory in turn: “{_ASKED}” are these queries for {OBJECTS} objects, as a"
        " script, and the time is that of the solver. “Explored” is the program; there the objects are found by the set"
        " of the address in all configurations, few queries are left, and the time includes the program's start."
    ),
    configurations=against_z3("intervals:paper"),
    cases=cases,
    effort={"paper": Effort(200, 60), "hour": Effort(30, 60), "quick": Effort(5, 20), "smoke": Effort(1, 20)},
    panels=tuple(
        Panel("speedup", f"{configuration}, {words}", *_LABELS, (configuration,), log_x=True, log_y=True, series=series)
        for words, series in {_ASKED: tuple(f"{name}, {_ASKED}" for name in _NAMES), "explored": _NAMES}.items()
        for configuration in ("paper", "default")
    ),
)
