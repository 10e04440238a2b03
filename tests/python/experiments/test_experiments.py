"""Experiments: a smoke run of each, estimates, and runs that are interrupted, stopped or not comparable."""

from __future__ import annotations

import gzip
import importlib
import json
import math
import os
import random
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("matplotlib", reason="plots need matplotlib: pip install -r requirements/experiments.txt")
pytest.importorskip("z3", reason="Z3 is what experiments compare with: pip install -r requirements/experiments.txt")

from experiments import census, coreutils, eca, kinds, page, plot, runner, sortcheck, sources, suite
from experiments.__main__ import BENCHMARKS, main
from experiments.catalogue import EXPERIMENTS, NOT_YET
from experiments.experiment import Effort, Experiment, Setup
from experiments.locations import QUERIES
from experiments.rows import MEASURES, estimate, ratio, rows, student
from partita import bv
from partita.errors import UsageError
from partita.solver import Solver
from support import PARTITA, PATIENCE_S
from support.browser import browser, dump

Samples = list[dict[str, Any]]
UTILITY = """#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>
int main(int argc, char **argv) {
  int odd = 0;
  char first = 0;
  for (int i = 1; i < argc; i++)
    for (char *p = argv[i]; *p; p++)
      if (*p > 'm') odd ^= 1;
  int file = argc > 1 ? open(argv[argc - 1], O_RDONLY) : 0;
  if (read(file, &first, 1) == 1 && first == 'x') odd ^= 1;
  if (argc > 9)
    puts("never");
  return odd;
}
"""


@pytest.fixture(scope="module")
def utility(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A program that replaces those of source packages, which tests do not download."""
    folder = tmp_path_factory.mktemp("package")
    (folder / "utility.c").write_text(UTILITY)
    subprocess.run([str(PARTITA), "cc", str(folder / "utility.c"), "-o", str(folder / "utility")], check=True)
    # The first run on a machine compiles the C library, which takes longer than a sample's time limit.
    subprocess.run([str(PARTITA), "run", str(folder / "utility"), "--out", str(folder / "out")], timeout=PATIENCE_S)
    return folder / "utility"


@pytest.fixture(autouse=True)
def packages(utility: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sources, "program", lambda package, name: utility)


def measured(experiment: Experiment, folder: Path, **options: Any) -> tuple[Samples, list[bool]]:
    """Returns the samples of a smoke run, and for each whether it was reused."""
    taken: list[bool] = []
    data = runner.run(
        experiment, "smoke", folder, command=["test"], done=lambda job, sample, over: taken.append(over), **options
    )
    return data["samples"], taken


# Coreutils and GSL take minutes to build.
@pytest.mark.parametrize("name", [name for name in EXPERIMENTS if not name.startswith(("coreutils", "gsl"))])
def test_smoke(name: str, tmp_path: Path) -> None:
    if name == "structures-java" and shutil.which("javac") is None:
        pytest.skip("no JDK: `javac` is not on PATH")
    wrong = suite.measure([EXPERIMENTS[name]], "smoke", tmp_path, command=["python", "-m", "experiments", name])
    data = json.loads((tmp_path / f"{name}.json").read_text())
    assert wrong == []
    assert (data["schema"], data["complete"], data["command"]) == (3, True, ["python", "-m", "experiments", name])
    assert len(data["rows"]) == len(runner.jobs(EXPERIMENTS[name], "smoke"))
    ran = [row for row in data["rows"] if not row["remark"].endswith("is not installed")]
    assert len(ran) >= 2
    for row in ran:
        assert (row["outcome"], row["remark"]) == ("measured", "")
        assert row["estimates"]["time_s"]["mean"] > 0
    assert (tmp_path / f"{name}.svg").read_text().startswith("<?xml")
    assert (tmp_path / f"{name}.png").read_bytes().startswith(b"\x89PNG")
    if name == "foo":
        solves = [r["estimates"]["solves"]["mean"] for r in data["rows"] if r["series"] == "both sides asked"]
        assert solves[:3] == [6, 4, 4]
        assert solves[3] <= 3
        assert solves[4] == 0
    if "z3" in EXPERIMENTS[name].configurations:
        speedups = [row["estimates"]["speedup"]["mean"] for row in data["rows"] if row["configuration"] == "z3"]
        assert speedups
        assert set(speedups) == {1.0}
        asked = [run["solver"]["queries"] for s in data["samples"] for run in s["runs"] if "solver" in run]
        assert min(asked) > 0


@pytest.mark.parametrize(("scale", "at_least"), [("paper", 3), ("hour", 1), ("quick", 2)])
def test_enough_runs_for_an_interval(scale: Any, at_least: int) -> None:
    for experiment in EXPERIMENTS.values():
        if experiment is not coreutils.EXPERIMENT:  # no ratios: coverage within a fixed time, measured once
            assert experiment.effort[scale].repeats >= at_least
        cases = experiment.cases(scale)
        assert len({(case.series, case.x) for case in cases}) == len(cases)


def test_student_by_integration() -> None:
    for degrees in (1, 2, 5, 10, 30):
        scale = math.gamma((degrees + 1) / 2) / (math.sqrt(degrees * math.pi) * math.gamma(degrees / 2))
        steps, end = 20_000, student(degrees)
        middles = ((i + 0.5) * end / steps for i in range(steps))
        inside = 2 * sum(scale * (1 + x * x / degrees) ** (-(degrees + 1) / 2) for x in middles) * end / steps
        assert inside == pytest.approx(0.99, abs=2e-4)


def test_estimates() -> None:
    assert estimate([3.0]).within is None
    of_three = estimate([1.0, 2.0, 3.0])
    assert (of_three.mean, of_three.within) == (2.0, pytest.approx(9.925 / math.sqrt(3)))
    assert ratio([4.0], [2.0]).within is None
    assert ratio([4.0, 4.0], [2.0, 2.0]) == estimate([2.0, 2.0])
    assert ratio([3.0, 5.0], [2.0, 2.0]).within == pytest.approx(2 * 63.657 * math.sqrt(2 / 2 / 16))
    # Nine runs against two: the interval depends only on the side that varies.
    below = [1.0, 2.0, 3.0] * 3
    within = 2 * 3.355 * math.sqrt(0.75 / 9 / 4)
    assert ratio([4.0, 4.0], below).within == pytest.approx(within)


SETUPS = EXPERIMENTS["sort1"].configurations


def sample(configuration: str, outcome: str = "measured", found: int = 1, time_s: float = 1.0) -> dict[str, Any]:
    runs = [{"time_s": time_s, "peak_mb": 1.0, "solves": 1, "found": found}] if outcome == "measured" else []
    reason = "" if runs else "why"
    case = {"series": "s", "x": 1}
    return {"case": case, "configuration": configuration, "outcome": outcome, "reason": reason, "runs": runs,
            "seconds": 20.0}  # fmt: skip


def test_runs_with_other_paths_are_not_compared() -> None:
    paper, default, z3 = rows([sample("paper", found=2), sample("default", time_s=0.25), sample("z3")], SETUPS)
    assert (paper.remark, "speedup" in paper.estimates) == ("explored other paths: not comparable", False)
    assert default.estimates["speedup"].mean == 4.0
    assert z3.estimates["speedup"].mean == 1.0


def test_failed_samples_have_no_estimates(tmp_path: Path) -> None:
    paper, z3 = rows([sample("paper"), sample("z3", "failed")], SETUPS)
    assert (z3.outcome, z3.remark, z3.estimates) == ("failed", "why", {})
    assert "speedup" not in paper.estimates
    plot.draw(EXPERIMENTS["sort1"], [z3], [], tmp_path)
    assert "nothing measured" in (tmp_path / "sort1.svg").read_text()


def test_an_interrupted_run_is_resumed(tmp_path: Path) -> None:
    experiment = EXPERIMENTS["foo"]
    finished: list[str] = []

    def interrupt(job: runner.Job, sample: runner.Sample, reused: bool) -> None:
        finished.append(job.configuration)
        if len(finished) == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        runner.run(experiment, "smoke", tmp_path, command=[], done=interrupt)
    file = tmp_path / "foo.json"
    before = json.loads(file.read_text())
    assert (before["complete"], len(before["samples"])) == (False, 2)
    assert "Interrupted" in page.render(EXPERIMENTS, NOT_YET, tmp_path)
    samples, taken = measured(experiment, tmp_path)
    assert taken == [True] * 2 + [False] * (len(samples) - 2)
    assert samples[:2] == before["samples"]
    assert measured(experiment, tmp_path)[1] == [True] * len(samples)
    changed = replace(experiment, effort={"smoke": Effort(1, 19)})
    assert measured(changed, tmp_path)[1] == [False] * len(samples)
    file.write_text("{")
    assert measured(experiment, tmp_path)[1] == [False] * len(samples)


def test_samples_that_exceed_the_time_limit(tmp_path: Path) -> None:
    cases = [replace(sortcheck.cases("paper")[0], x=n, defines={"LENGTH": n}) for n in (6, 7)]
    slow = replace(
        EXPERIMENTS["sortcheck"],
        configurations={"z3": SETUPS["z3"]},
        cases=lambda scale: cases,
        effort={"smoke": Effort(3, 0.2)},
    )
    first, second = rows(measured(slow, tmp_path)[0], slow.configurations)
    assert (first.outcome, first.estimates) == ("stopped", {})
    assert first.remark.startswith("not over in 0.2 s")
    assert (second.outcome, second.remark) == ("not run", "not run: 6 was not over in 0.2 s")


def test_failures_are_reported(tmp_path: Path) -> None:
    broken = replace(EXPERIMENTS["sortcheck"], configurations={"z3": Setup("nonsense")})
    (row,) = rows(measured(broken, tmp_path)[0], broken.configurations)
    assert row.outcome == "failed"
    assert "nonsense" in row.remark


def test_whole_programs(tmp_path: Path) -> None:
    """All configurations run the same instructions; coverage is of the program's lines; KLEE's figures are shown."""
    assert suite.measure([coreutils.EXPERIMENT, coreutils.SOLVERS], "smoke", tmp_path, command=[]) == []
    timed = json.loads((tmp_path / "coreutils.json").read_text())
    run = timed["samples"][0]["runs"][0]
    assert (run["lines"], round(run["percent_lines"])) == (8, 89), "all but the unreachable line"
    text = coreutils.compared_with_klee(timed["samples"])
    assert text[1].startswith("echo      default search")
    assert text[1].split()[-5:-1] == [f"{run['reached']:,}", "97.0", "2,501", "65,506"]
    equal = json.loads((tmp_path / "coreutils-solvers.json").read_text())
    assert [sample["outcome"] for sample in equal["samples"]] == ["measured"] * 5
    assert len({sample["runs"][0]["instructions"] for sample in equal["samples"]}) == 1
    assert all("speedup" in row["estimates"] for row in equal["rows"])
    for name in ("coreutils", "coreutils-solvers"):
        assert (tmp_path / f"{name}.png").read_bytes().startswith(b"\x89PNG")
    text = coreutils.delegation(equal["samples"])
    assert text[-1] == "integers:paper contradicts Z3's bit-vectors on 0 of 1 utilities"
    assert any(line.startswith("depth first, integers: integers:paper answers") for line in text)


def test_generated_systems() -> None:
    """A seed determines the system; different seeds give different systems."""
    assert eca.system(1, 3) == eca.system(1, 3)
    assert len({eca.system(seed, 3) for seed in range(5)}) == 5


def test_systems_of_a_folder(tmp_path: Path) -> None:
    (tmp_path / "given.c").write_text(eca.system(7, 1))
    (case,) = eca.of_folder(tmp_path).cases("quick")
    assert (case.x, case.path()) == ("given.c", tmp_path / "given.c")


FAKE_KLEE = """#!/bin/sh
for word in "$@"; do case $word in --output-dir=*) out=${word#*=};; esac; done
mkdir -p "$out"
echo 'KLEE: done: total instructions = 61' > "$out/info"
echo 'KLEE: done: completed paths = PATHS' >> "$out/info"
echo > "$out/messages.txt"
"""


@pytest.mark.parametrize(("paths", "remark"), [(4, ""), (5, "5 paths, not 4")])
def test_another_executor(paths: int, remark: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Reads KLEE's output from a script that imitates it; another number of paths is reported."""
    for name, text in {"klee": FAKE_KLEE.replace("PATHS", str(paths)), "clang": "#!/bin/sh\n"}.items():
        (tmp_path / name).write_text(text)
        (tmp_path / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    runner._is_installed.cache_clear()
    chosen = {name: EXPERIMENTS["peers"].configurations[name] for name in ("z3", "KLEE")}
    samples, _ = measured(replace(EXPERIMENTS["peers"], configurations=chosen), tmp_path)
    runner._is_installed.cache_clear()
    _, klee = rows(samples, chosen)
    assert (klee.outcome, klee.remark) == ("measured", remark)
    assert (klee.estimates["paths"].mean, klee.estimates["instructions"].mean) == (paths, 61)


def test_versions_of_other_tools(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The version is the first non-empty line of the tool's output."""
    (tmp_path / "yices-smt2").write_text("#!/bin/sh\necho; echo ' Yices 2.6.4'; echo more\n")
    (tmp_path / "yices-smt2").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("PARTITA_ANGR", str(tmp_path / "nowhere"))
    found = runner._other_versions()
    assert found.pop("yices-smt2") == "Yices 2.6.4"
    assert set(found) <= {"bitwuzla", "angr"}


def test_reasons_and_mismatches_are_summed() -> None:
    def sample(name: str, mismatches: int, **passed: int) -> dict[str, Any]:
        layer = {"name": "integers:paper", "asked": 10, "sat": 1, "unsat": 1, "passed_deadline": 0, **passed}
        run = {"solver": {"layers": [layer]}, "mismatches": mismatches}
        case = {"series": "depth first", "x": name}
        return {"case": case, "configuration": coreutils.CHECKED, "outcome": "measured", "runs": [run]}

    assert coreutils.delegation([sample("a", 2, passed_extract=6), sample("b", 0, passed_bitwise=2)]) == [
        "depth first, integers, checked: integers:paper answers 20.0 % of 20",
        "depth first, integers:paper passes on: extract 75 %, bitwise 25 %",
        "integers:paper contradicts Z3's bit-vectors on 1 of 2 utilities: a",
    ]


def test_unavailable_packages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(package: str, name: str) -> Path:
        raise UsageError(f"{package}: no `apt-get` here")

    monkeypatch.setattr(sources, "program", missing)
    assert suite.measure([coreutils.EXPERIMENT], "smoke", tmp_path, command=[]) == []
    for row in json.loads((tmp_path / "coreutils.json").read_text())["rows"]:
        assert (row["outcome"], row["remark"]) == ("not run", "not run: coreutils: no `apt-get` here")


def test_quick_runs_skip_slow_builds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PARTITA_SOURCES", str(tmp_path))
    quick = replace(EXPERIMENTS["binutils"], cases=lambda scale: EXPERIMENTS["binutils"].cases("quick")[-1:])
    samples, _ = measured(quick, tmp_path)
    build = "python -m experiments.sources binutils"
    reason = f"not run: binutils is not built, which takes long: `{build}`, then this command again"
    assert [(s["outcome"], s["reason"]) for s in samples] == [("not run", reason)] * 3
    (tmp_path / "binutils").mkdir()
    (tmp_path / "binutils" / ".make-done").touch()
    assert EXPERIMENTS["binutils"].cases("quick")[0].path().name == "utility"


def test_unknown_names(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert main(["nonsense", "--out", str(tmp_path)]) == 2
    assert "expected an experiment (foo, objres, " in capsys.readouterr().err
    assert main(["eca", "--programs", str(tmp_path), "--out", str(tmp_path)]) == 2
    assert "expected C programs (*.c) in" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_without_matplotlib(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    assert main(["foo"]) == 2
    wanted = "experiments need the package that has `matplotlib`: pip install -r requirements/experiments.txt"
    assert wanted in capsys.readouterr().err


def fake_sample(job: runner.Job, key: str, before: Samples) -> runner.Sample:
    """Makes a fake sample of three runs, for pages and plots."""
    chance = random.Random(f"{job.case.series} {job.case.x} {job.configuration}")
    counts = {"asked": 9, "sat": 4, "unsat": 1, "passed": 4, "passed_extract": 3, "passed_bitwise": 1}
    layers = [{"name": name, **counts} for name in job.setup.layers.split()]
    scale = chance.uniform(0.5, 2)
    runs = [
        {"found": 1, "cpu_s": 1.0, "curve": [(0.5, 4, 2)], "solver": {"layers": layers}, "stopped": None,
         **{name: scale * chance.uniform(0.1, 0.3) for name in MEASURES}, "paths": 9, "states": 10}
        for _ in range(3)
    ]  # fmt: skip
    return runner._sample(job, key, "measured", "", runs)


@pytest.fixture
def results_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the page and the plots of all experiments."""
    monkeypatch.setattr(runner, "_measured", fake_sample)
    monkeypatch.setattr(sources, "is_built", lambda package: True)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    assert suite.measure(list(EXPERIMENTS.values()), "smoke", tmp_path, command=["python", "-m", "experiments"]) == []
    return tmp_path


SHOWN = """<script>addEventListener("load", () => {
  const plots = [...document.images];
  const small = plots.filter(one => one.naturalWidth < 400 || one.clientWidth < 400 || one.clientHeight < 200);
  document.title = `${plots.length} plots, not shown: ${small.map(one => one.src).join(" ") || "none"}`;
});</script>"""


def test_page_in_a_browser(request: pytest.FixtureRequest) -> None:
    browser()
    folder: Path = request.getfixturevalue("results_folder")
    # A copy whose title lists the plots that the browser did not draw.
    copy = folder / "probed.html"
    copy.write_text((folder / "index.html").read_text().replace("</body>", f"{SHOWN}</body>"))
    dump(folder / "index.html")
    text = dump(copy)
    assert [name for name in EXPERIMENTS if f'src="{name}.svg"' not in text] == []
    assert f"<title>{len(EXPERIMENTS)} plots, not shown: none</title>" in text


def test_no_panel_is_empty(tmp_path: Path) -> None:
    """A panel whose measure no row has would be empty in every run."""
    for experiment in EXPERIMENTS.values():
        samples = [fake_sample(job, "", []) for job in runner.jobs(experiment, "paper")]
        found = rows(samples, experiment.configurations)
        numbers = {name: number for number, name in enumerate(experiment.configurations)}
        for panel in experiment.panels:
            data = kinds.Data(panel, found, samples, numbers)
            assert data.measured(), f"{experiment.name}: {panel.title}"


def test_redraw(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    suite.measure([EXPERIMENTS["foo"]], "smoke", tmp_path, command=[])
    before = {name: (tmp_path / name).read_text() for name in ("foo.json", "foo.svg", "index.html")}
    for name in ("foo.svg", "index.html"):
        (tmp_path / name).unlink()
    assert main(["--redraw", "--out", str(tmp_path)]) == 0
    assert {name: (tmp_path / name).read_text() for name in before} == before
    assert main(["--redraw", "--out", str(tmp_path / "empty")]) == 2
    assert "expected results (NAME.json) in" in capsys.readouterr().err


def test_effort_options(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["foo", "--repeats", "1", "--max-time", "5s", "--out", str(tmp_path)]) == 0
    data = json.loads((tmp_path / "foo.json").read_text())
    assert data["effort"] == {"repeats": 1, "seconds": 5.0}
    assert {len(sample["runs"]) for sample in data["samples"]} == {1}
    assert main(["foo", "--repeats", "0", "--out", str(tmp_path)]) == 2
    assert "expected --repeats and --max-time above 0, found 0" in capsys.readouterr().err


def test_missing_rows_are_listed_above_the_plot() -> None:
    row = {"series": "s", "x": 1, "configuration": "STP", "remark": "not run: `stp` is not installed"}
    text = "".join(page._not_measured([{**row, "x": x} for x in range(5)] + [{**row, "remark": ""}]))
    wanted = "not run: <code>stp</code> is not installed (5 of 6 rows; s 0: STP; s 1: STP; s 2: STP; s 3: STP; ...)"
    assert wanted in text


def test_stopped_runs_are_marked_in_the_plot(tmp_path: Path) -> None:
    found = rows([sample("paper"), sample("z3", "stopped")], SETUPS)
    plot.draw(EXPERIMENTS["sortcheck"], found, [], tmp_path)
    assert "stopped at this time" in (tmp_path / "sortcheck.svg").read_text()


def test_census_counts_answered_queries() -> None:
    """Counts a comparison, an equality and the condition `true`; bitwise operators are passed on, not counted."""
    counting = census.Census()
    solver = Solver(layers=[counting, "z3"])
    x, y = bv("x", 32), bv("y", 32)
    solver.add(x < y, x == 7)
    assert solver.check() == "sat"
    asked = dict(counting.counters)
    assert (asked["inequalities"], asked["constructs"]) == (1, 3 + 3 + 1)
    solver.add((x & y) == 1)
    assert solver.check() == "sat"
    assert counting.counters["passed_bitwise"] == 1
    assert counting.counters["constructs"] == asked["constructs"]


def test_page_lists_all_experiments(tmp_path: Path) -> None:
    suite.write_page(tmp_path)
    text = (tmp_path / "index.html").read_text()
    for name in EXPERIMENTS:
        assert f"Not run here: <code>python -m experiments {name}</code>" in text
    for name in NOT_YET:
        assert f"<b>{name}</b>" in text
    assert "<script" not in text


def test_list_of_names(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--list"]) == 0
    names = {line.split()[0] for line in capsys.readouterr().out.splitlines()}
    assert {*EXPERIMENTS, *BENCHMARKS} <= names


def test_benchmarks_run_alone(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert main(["foo", "engine", "--out", str(tmp_path)]) == 2
    assert "`engine` is a benchmark: run it alone, `python -m experiments engine`" in capsys.readouterr().err
    for name in BENCHMARKS:
        assert callable(importlib.import_module(f"experiments.{name}").main)


def test_own_query_logs_have_verdicts() -> None:
    indices = sorted(QUERIES.glob("*.json"))
    assert len(indices) == 40
    for path in indices:
        index = json.loads(path.read_text())
        text = gzip.decompress((QUERIES / f"{path.stem}.smt2.gz").read_bytes())
        assert text.count(b"(check-sat)") == len(index["smt2"])
        assert set(index["smt2"]) <= {"sat", "unsat"}
