"""Shows a run, or tests: inputs as bytes, numbers and text."""

from __future__ import annotations

import argparse
from pathlib import Path

from partita import ktest
from partita.reports.folder import read_run
from partita.reports.text import value_lines
from partita.results import as_number, as_text, counted, shown


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("what", nargs="+", metavar="DIR|TEST.ktest", help="the folder of a run, or tests")


def run(arguments: argparse.Namespace) -> int:
    for name in arguments.what:
        path = Path(name)
        print(show_folder(path) if path.is_dir() else show_test(ktest.read(path)))
    return 0


def show_test(test: ktest.Test) -> str:
    lines = [f"{test.name}: {test.ending or 'ending not recorded'}", f"  arguments: {' '.join(test.arguments)}"]
    for i, (name, data) in enumerate(test.objects):
        lines.append(f"  object {i}: {name!r}, {counted(len(data), 'byte')}")
        lines.append(f"    hex:  {data.hex()}")
        if number := as_number(data):
            lines.append(f"    int:  {number}")
        lines.append(f"    text: {as_text(data)}")
    return "\n".join(lines)


def show_folder(folder: Path) -> str:
    data = read_run(folder)
    endings = ktest.count_endings(folder)
    lines = [
        f"{folder}: {' '.join(data['program'])}, {counted(data['tests'], 'test')}, "
        + ("explored completely" if data["complete"] else "explored incompletely")
    ]
    for bug in data["bugs"]:
        number = "" if bug["test"] is None else f" (test{bug['test']:06})"
        lines.append(f"{shown(bug['file'])}:{bug['line']}: error: {bug['message']} [{bug['class']}]{number}")
        lines += [f"    {line}" for line in value_lines(bug)]
    lines += [f"  {number:>8,}  {ending}" for ending, number in endings.most_common()]
    return "\n".join(lines)
