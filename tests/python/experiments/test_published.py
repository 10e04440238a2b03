"""Comparisons as the papers make them: the paired test, speed-ups to the same number of paths, hit rates, whiskers."""

from __future__ import annotations

import math
from typing import Any

import pytest

pytest.importorskip("matplotlib", reason="plots need matplotlib: pip install -r requirements/experiments.txt")
pytest.importorskip("z3", reason="Z3 is what experiments compare with: pip install -r requirements/experiments.txt")

from experiments import control, kinds, sample
from experiments.catalogue import EXPERIMENTS
from experiments.experiment import Panel
from experiments.published import TABLE_2, controls, paired_t, student_tail, summaries, time_to_reach


def run(
    states: int, curve: list[tuple[float, int, int]], megabytes: float = 100.0, rate: float = 0.5
) -> dict[str, Any]:
    return {"states": states, "paths": states, "curve": curve, "cpu_s": 2.0, "peak_mb": megabytes, "found": None,
            "hit_rate": rate}  # fmt: skip


def taken(configuration: str, x: str, *runs: dict[str, Any]) -> dict[str, Any]:
    case = {"series": "dfs", "x": x}
    return {"configuration": configuration, "case": case, "outcome": "measured", "runs": list(runs)}


def test_the_paired_test_agrees_with_tables() -> None:
    # Two-sided points of Student's distribution at 5 % and 1 %.
    for t, degrees, probability in ((12.706, 1, 0.05), (2.228, 10, 0.05), (2.042, 30, 0.05), (3.169, 10, 0.01)):
        assert student_tail(t, degrees) == pytest.approx(probability, abs=1e-4)
    assert paired_t([1.0]) == (0.0, 1.0)
    assert paired_t([0.0, 0.0]) == (0.0, 1.0)
    assert paired_t([2.0, 2.0])[1] == 0.0
    assert paired_t([-1.0, 1.0]) == (0.0, pytest.approx(1.0))


def test_speed_ups_are_to_the_same_number() -> None:
    fast = run(40, [(0.5, 10, 10), (1.0, 20, 20)], megabytes=110)
    slow = run(20, [(1.0, 10, 10)])
    assert time_to_reach(fast, 15, 1) == pytest.approx(0.75)
    assert time_to_reach(slow, 21, 1) is None
    samples = [taken("base", "a", slow), taken("new", "a", fast), taken("base", "b", slow), taken("new", "b", slow)]
    (line,) = summaries(samples, "base", "states")
    assert line.startswith("dfs, new compared with base: n = 2, states +50 % (paired t = 1.00, p = 0.500)")
    # Twice as fast on one, equally fast on the other.
    assert "as many states reached by 2 of 2, 1.41 times as fast, memory +5.0 %, at most +10.0 %" in line


def test_controls_show_each_configuration_beside_the_papers_row() -> None:
    samples = [taken("Grulia", "TreeMap", run(10, [], rate=0.01)), taken("paper", "TreeMap", run(12, [], rate=0.4))]
    head, row = controls(samples, {"TreeMap": (1, 2, 3, 4, 0.942, 0.888)})
    assert head.split() == ["dfs:", "hit", "rate", "/", "states", "Grulia", "paper"]
    assert row.split()[:7] == ["TreeMap", "0.010", "/", "10", "0.400", "/", "12"]
    assert row.endswith("reported: 0.942 with partial solutions, 0.888 with Grulia")


def test_every_program_of_the_papers_table_is_there() -> None:
    assert len(TABLE_2) == 15
    # The averages that the paper states, from its own rows.
    more = [100 * (with_ / without - 1) for (with_, without), *_ in TABLE_2.values()]
    assert sum(more) / 15 == pytest.approx(7.0, abs=0.1)


def test_hit_rates_count_only_caches() -> None:
    layers = [
        {"name": "solutions", "asked": 100, "sat": 30, "unsat": 0, "time_s": 0.0},
        {"name": "reuse", "asked": 70, "sat": 0, "unsat": 10, "time_s": 0.0},
        {"name": "intervals", "asked": 60, "sat": 30, "unsat": 20, "time_s": 0.0},
        {"name": "sat", "asked": 10, "sat": 5, "unsat": 5, "time_s": 0.0},
    ]
    found = sample._solver(
        {"wall_s": 1.0, "cpu_s": 1.0, "share": 1.0}, {"time_s": 0.5, "queries": 100, "layers": layers}
    )
    assert (found["hit_rate"], found["solves"]) == (0.4, 10)


def test_whiskers_on_a_logarithmic_axis_are_whole() -> None:
    panel = Panel("speedup", "", "", "", ("paper",), log_y=True)
    below, above = kinds._whiskers(panel, 10.0, 25.0)
    # An interval of the logarithm: the same factor in both directions, and never zero or less.
    assert 10.0 - below > 0
    assert (10.0 + above) / 10.0 == pytest.approx(10.0 / (10.0 - below))
    assert math.log((10.0 + above) / 10.0) == pytest.approx(2.5)


def test_every_claim_has_a_control() -> None:
    for name in ("foo", "structures", "libs", "gsl"):
        assert "control" in EXPERIMENTS[name].configurations, name
    for experiment in (one for one in EXPERIMENTS.values() if one.name not in ("layers", "peers")):
        chains = [setup.layers for setup in experiment.configurations.values() if setup.tool == "partita"]
        for chain in chains:
            assert "split" in chain.split(), f"{experiment.name}: {chain}"


def test_the_control_answers_the_same_queries() -> None:
    rows = [control.counts("SortedListInt", name, 3, 60) for name in control.SHOWN]
    assert {row["complete"] for row in rows} == {True}
    assert len({(row["states"], row["queries"]) for row in rows}) == 1
    by_name = {row["configuration"]: row for row in rows}
    assert (by_name["control"]["partial"], by_name["control"]["by_partial"]) == (0, 0)
    assert by_name["Algorithm 2"]["solves"] <= by_name["control"]["solves"]
    assert len(control.table(rows)) == 3
