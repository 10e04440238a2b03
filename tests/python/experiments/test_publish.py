"""The figures of docs/experiments.md come from the committed results, and results are taken over as they are."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import pytest

from experiments import __main__ as experiments
from experiments import publish
from experiments.catalogue import EXPERIMENTS, PAPERS


def test_the_text_agrees_with_the_data() -> None:
    text = publish.PAGE.read_text()
    assert publish.filled(text) == text, "the page differs from its data: python -m experiments publish --fill"
    assert re.search(r"<!-- \w", text), "no place of the page is filled"


def test_every_result_is_used_and_every_plot_has_its_result() -> None:
    text = publish.PAGE.read_text()
    places = set(re.findall(r"<!-- ([\w-]+) (?:rows|lines|run|table)", text))
    assert {file.stem for file in publish.RESULTS.glob("*.json")} == places
    for name in places - {"control"}:
        data = json.loads((publish.RESULTS / f"{name}.json").read_text())
        assert data["complete"]
        assert set(data["configurations"]) == set(EXPERIMENTS[name].configurations), "the experiment has changed"


def result(folder: Path) -> Path:
    found = {
        "schema": 3,
        "name": "foo",
        "command": ["python", "-m", "experiments", "--out", "/x/found", "foo"], "scale": "quick",
        "date": "1 May 2026",
        "complete": True,
        "elapsed_s": 9,
        "processor_s": 8,
        "machine": {"processor": "a processor", "processors": 2},
        "versions": {"partita": "0.1.0", "content": "abc", "z3-solver": "5"},
        "configurations": {"paper": {}, "z3": {}},
        "effort": {"repeats": 2, "seconds": 20},
        "samples": [
            {
                "outcome": "measured",
                "runs": [
                    {"solves": 2, "time_s": 3.0, "share": 0.5, "curve": [], "stopped": None, "found": [],
                     "solver": {"layers": [{"name": "sat", "asked": 2, "time_s": 1.0, "passed_shift": 1}], "x": 1}}
                ] * 2,
            }
        ],
        "rows": [
            {"series": "s", "x": "a", "configuration": "paper", "outcome": "measured",
             "estimates": {"solves": {"mean": 1234.0, "within": 0.0}, "time_s": {"mean": 3.0, "within": 1.0}}},
            {"series": "s", "x": "a", "configuration": "z3", "outcome": "stopped", "estimates": {}},
            {"series": "s", "x": "b", "configuration": "z3", "outcome": "measured",
             "estimates": {"solves": {"mean": 0.25, "within": 0.5}}},
        ],
    }  # fmt: skip
    (folder / "foo.json").write_text(json.dumps(found))
    (folder / "foo.svg").write_text("<svg/>")
    return folder


def test_a_loaded_machine_has_no_times(tmp_path: Path) -> None:
    into = tmp_path / "into"
    into.mkdir()
    publish.take(result(tmp_path), ["foo"], counts=True, into=into)
    data = json.loads((into / "foo.json").read_text())
    assert data["command"] == ["python", "-m", "experiments", "foo"]
    assert data["samples"][0]["n"] == 2
    (run,) = data["samples"][0]["runs"]
    assert run == {
        "solves": 2, "stopped": None, "found": [],
        "solver": {"layers": [{"name": "sat", "asked": 2, "passed_shift": 1}]},
    }  # fmt: skip
    assert data["rows"][0]["estimates"] == {"solves": {"mean": 1234.0, "within": 0.0}}
    text = "Before.\n<!-- foo rows solves -->\nold\n<!-- end -->\n<!-- foo run -->\n<!-- end -->\nAfter.\n"
    assert publish.filled(text, into) == (
        "Before.\n<!-- foo rows solves -->\n\n| | paper | z3 |\n|---|--:|--:|\n| s, a | 1,234 | stopped |\n"
        "| s, b | - | 0.25 ± 0.5 |\n\n"
        "<!-- end -->\n"
        "<!-- foo run -->\n\n`--scale quick`, 1 May 2026, n = 2 to 2 runs, at most 20 s each; a processor, 2"
        " processors, Partita 0.1.0 (abc), Z3 5. Other work ran beside it: counts only.\n\n<!-- end -->\nAfter.\n"
    )
    assert publish.filled(publish.filled(text, into), into) == publish.filled(text, into)
    publish.take(tmp_path, ["foo"], counts=False, into=into)
    assert json.loads((into / "foo.json").read_text())["samples"][0]["runs"][0]["time_s"] == 3.0
    assert "Share of the processor: 0.50 on average." in publish.filled(text, into)


def test_messages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    for words, message in (
        (["--from", str(tmp_path), "foo"], f"expected the result `foo.json` in `{tmp_path}`, found none"),
        (["--from", str(tmp_path), "bar"], "found `bar`"),
        (["foo"], "expected --from DIR with names of experiments"),
    ):
        monkeypatch.setattr(sys, "argv", ["publish", *words])
        try:
            status = publish.main()
        except SystemExit as stop:
            status = int(stop.code or 0)
        assert status == 2
        assert message in capsys.readouterr().err


def test_each_paper_is_one_command(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert {name for names in PAPERS.values() for name in names} <= set(EXPERIMENTS)
    assert experiments.main(["--list", "--scale", "hour"]) == 0
    lines = capsys.readouterr().out.splitlines()
    for paper in PAPERS:
        (line,) = [line for line in lines if line.startswith(f"--paper {paper} ")]
        assert re.search(r"\d+ samples for a given time, [\d.]+ h in all; \d+ until the end", line)
    assert experiments.main(["foo", "--paper", "parti", "--out", str(tmp_path)]) == 2
    assert "expected names of experiments or --paper, found both" in capsys.readouterr().err


def test_results_name_no_folder_of_the_machine() -> None:
    assert publish.without_places({"a": ["/x/y/8-8.smt2", "a/b", 1, None, {"b": "/x/z"}]}) == {
        "a": ["8-8.smt2", "a/b", 1, None, {"b": "z"}]
    }
    for file in publish.RESULTS.glob("*.json"):
        data = json.loads(file.read_text())
        assert publish.without_places(data) == data, f"{file.name} names a folder of the machine that made it"
        assert "--out" not in (data["command"] if isinstance(data, dict) else [])
