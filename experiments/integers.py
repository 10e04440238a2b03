"""Benchmark of words as integers. Every table is one run, so that ratios are meaningful on a busy machine.

1. Queries of sorting programs: the share that `differences` answers of those that `intervals` passes on, and its time
   compared with Z3's on bit-vectors and on integers (own time of the layer; solver time of Z3 without translation).
2. Random comparisons at every wrap boundary: number of wrong answers of the paper's reading and of ours.
3. Query logs (../shared/corpus or $PARTITA_SHARED/corpus if it exists, else benchmarks/queries): the share that each
   reading answers, the reasons why it passes on the rest, and its wrong answers, found by `verify`.
Fails if a verdict differs from Z3's, if our reading has a wrong answer, or if a bound below is not met. `--quick` asks
fewer queries. core/benches/differences.rs measures the cost of one constraint at depth 1,000.
"""

from __future__ import annotations

import argparse
import gzip
import statistics
import sys
import time
from collections import Counter
from typing import Any

from experiments.locations import REPOSITORY, corpus

sys.path.insert(0, str(REPOSITORY / "tests" / "python"))

from partita import _core, backends
from support import sortgen
from support.crosscheck import script_of_seed, text
from support.querygen import ORDERS

LOGS = (
    "bst_5", "sortcheck_4", "sortcheck_5", "sort2_insertion_40", "sort2_quick_40", "cu_cut", "cu_echo", "cu_factor",
    "cu_head", "cu_tr", "json_6", "strtol_6", "triangle", "worst_8", "objres_u32_64", "maze",
)  # fmt: skip
ABOVE = "simplify split intervals"
ROUNDS = 3
"""The fastest of these rounds counts: short measurements are easily disturbed."""
MIN_ANSWERED, MIN_RATIO_BITS, MIN_RATIO_INTEGERS = 0.95, 100, 50
"""Bounds: share answered, and times as fast as Z3 on bit-vectors and on integers."""
Layers = dict[str, dict[str, Any]]


def answers(text: bytes, language: str, chain: str) -> tuple[list[str], Layers]:
    session = _core.Script(language, chain, chain, backends.make, None, None)
    lines: list[str] = []
    session.run(text, True, lines.append)
    return "".join(lines).split(), {layer["name"]: layer for layer in session.statistics()["layers"]}


def passed(layer: dict[str, Any]) -> str:
    """Reasons why queries were passed on, the most frequent first."""
    reasons = {name[7:]: int(count) for name, count in layer.items() if name.startswith("passed_") and count}
    return ", ".join(f"{name} {count}" for name, count in sorted(reasons.items(), key=lambda pair: -pair[1]))


def timed(text: bytes, chain: str, name: str, key: str) -> tuple[list[str], dict[str, Any], float]:
    """Verdicts, counters of a layer, and microseconds per query, for the fastest round."""
    rounds = [answers(text, "smtlib", chain) for _ in range(ROUNDS)]
    verdicts, layers = min(rounds, key=lambda done: float(done[1][name][key]))
    return verdicts, layers[name], float(layers[name][key]) * 1e6 / max(1, layers[name]["asked"])


def sorting(most: int, size: int) -> tuple[list[str], list[tuple[float, float]]]:
    """Failures, and the ratios of each sequence that asks `differences` often enough to be timed."""
    sequences = {f"insertion = bubble, {n}": sortgen.crosscheck(n, most, 1) for n in range(4, 9)}
    sequences |= {f"{name}, 2 symbolic": sortgen.two_symbolic(name, size, most, 1) for name in sortgen.SORTS}
    print(f"{'sorting':24} {'queries':>8} {'passed on':>9} {'answered':>8} {'us':>8} {'Z3 bits':>9} {'Z3 int.':>9}"
          f" {'ratios':>12}")  # fmt: skip
    failures, ratios, asked, answered = [], [], 0, 0
    for name, sequence in sequences.items():
        asked_text = sequence.script.encode()
        ours, layer, mine = timed(asked_text, f"{ABOVE} differences sat", "differences", "time_s")
        bits, of_bits, bits_us = timed(asked_text, f"{ABOVE} z3", "z3", "solve_s")
        integers, of_integers, integers_us = timed(asked_text, f"{ABOVE} integers z3", "integers", "solve_s")
        paper, _ = answers(asked_text, "smtlib", f"{ABOVE} integers:paper z3")
        if not ours == bits == integers == paper or len(ours) != sequence.queries:
            failures.append(f"{name}: verdicts differ")
        asked, answered = asked + layer["asked"], answered + layer["asked"] - layer["passed"]
        shown = ""
        if min(layer["asked"], of_bits["asked"], of_integers["asked"]) >= 10:
            ratios.append((bits_us / mine, integers_us / mine))
            shown = f"{ratios[-1][0]:5.0f} {ratios[-1][1]:6.0f}"
        print(
            f"{name:24} {sequence.queries:8} {layer['asked']:9} {layer['asked'] - layer['passed']:8} {mine:8.2f}"
            f" {bits_us:9.1f} {integers_us:9.1f} {shown:>12}",
            flush=True,
        )
    share = answered / max(1, asked)
    print(f"answered by differences: {answered} of the {asked} that intervals passed on, {share:.1%}")
    if share < MIN_ANSWERED:
        failures.append(f"expected at least {MIN_ANSWERED:.0%} answered, found {share:.1%}")
    return failures, ratios


def overflowing(scripts: int) -> list[str]:
    """Wrong answers of each reading on random comparisons and sums with constants that wrap."""
    counted = {}
    for reading in ("integers", "integers:paper"):
        counted[reading] = Counter[str]()
        for number in range(scripts):
            script, _ = script_of_seed(f"bench/{number}", ORDERS)
            _, layers = answers(text(script).encode(), "smtlib", f"verify(z3) {reading} z3")
            layer, verify = layers[reading], layers["verify"]
            counted[reading]["asked"] += layer["asked"]
            counted[reading]["handled"] += layer["asked"] - layer["passed"]
            counted[reading]["models"] += int(verify["wrong_models"])
            counted[reading]["verdicts"] += int(verify["mismatches"] - verify["wrong_models"])
    print(f"\n{'comparisons that wrap':24} {'asked':>6} {'handled':>8} {'wrong':>6} {'models':>7}")
    for reading, count in counted.items():
        row = f"{count['handled']:8} {count['verdicts']:6} {count['models']:7}"
        print(f"{'ours' if reading == 'integers' else 'paper':24} {count['asked']:6} {row}", flush=True)
    failures = []
    if counted["integers"]["verdicts"] + counted["integers"]["models"]:
        failures.append("our reading has wrong answers where words wrap")
    if not counted["integers:paper"]["verdicts"]:
        failures.append("expected wrong answers of the paper's reading where words wrap, found none")
    return failures


def logs(names: tuple[str, ...]) -> list[str]:
    failures = []
    folder = corpus()
    print(
        f"\n{'log':20} {'reading':8} {'asked':>6} {'handled':>8} {'wrong':>6} {'models':>7} {'seconds':>8}  passed on"
    )
    for name in (name for name in names if (folder / f"{name}.kquery.gz").exists()):
        log = gzip.decompress((folder / f"{name}.kquery.gz").read_bytes())
        for reading in ("integers", "integers:paper"):
            start = time.monotonic()
            _, layers = answers(log, "kquery", f"verify(z3) simplify split {reading} z3")
            layer, verify = layers[reading], layers["verify"]
            models = int(verify["wrong_models"])
            wrong = int(verify["mismatches"]) - models
            handled = layer["asked"] - layer["passed"]
            print(f"{name:20} {'ours' if reading == 'integers' else 'paper':8} {layer['asked']:6}"
                  f" {handled / max(1, layer['asked']):8.1%} {wrong:6} {models:7} {time.monotonic() - start:8.1f}"
                  f"  {passed(layer)}", flush=True)  # fmt: skip
            if reading == "integers" and wrong + models:
                failures.append(f"{name}: ours is wrong {wrong + models} times")
        _, layers = answers(log, "kquery", f"{ABOVE} differences sat")
        layer = layers["differences"]
        print(f"{name:20} {'orders':8} {layer['asked']:6}"
              f" {1 - layer['passed'] / max(1, layer['asked']):8.1%} {'':23}  {passed(layer)}", flush=True)  # fmt: skip
    return failures


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="200 queries per sequence, three logs")
    quick = parser.parse_args().quick
    failures, ratios = sorting(200 if quick else 2000, 20 if quick else 40)
    for kind, least, column in (("bit-vectors", MIN_RATIO_BITS, 0), ("integers", MIN_RATIO_INTEGERS, 1)):
        times = statistics.geometric_mean(ratio[column] for ratio in ratios)
        print(f"differences compared with Z3 on {kind}: {times:.0f} times as fast (geometric mean)")
        if times < least and not quick:
            failures.append(f"expected at least {least} times as fast as Z3 on {kind}, found {times:.0f}")
    failures += overflowing(10 if quick else 100)
    failures += logs(LOGS[1:4] if quick else LOGS)
    for failure in failures:
        print(f"FAILED: {failure}")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
