"""Shows a run's folder, or one test: its inputs as bytes, numbers and text."""

from __future__ import annotations

import argparse
import json
from collections import Counter
from pathlib import Path

from partita import ktest
from partita.errors import UsageError
from partita.results import shown

NUMBER_SIZES = (1, 2, 4, 8)


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
        lines.append(f"  object {i}: {name!r}, {len(data)} bytes")
        lines.append(f"    hex:  {data.hex()}")
        if len(data) in NUMBER_SIZES:
            signed, unsigned = (int.from_bytes(data, "little", signed=s) for s in (True, False))
            lines.append(f"    int:  {signed}" + (f" (unsigned {unsigned})" if unsigned != signed else ""))
        text = "".join(chr(byte) if 32 <= byte < 127 else "." for byte in data)
        lines.append(f"    text: {text}")
    return "\n".join(lines)


def show_folder(folder: Path) -> str:
    try:
        data = json.loads((folder / "run.json").read_text())
    except FileNotFoundError:
        raise UsageError(f"expected the folder of a finished run, found `{folder}` without a run.json") from None
    except (OSError, ValueError) as error:
        raise UsageError(f"cannot read `{folder / 'run.json'}`: {error}") from None
    endings = Counter(test.ending or "ending not recorded" for test in ktest.read_folder(folder))
    lines = [
        f"{folder}: {' '.join(data['program'])}, {data['tests']:,} tests, "
        + ("explored completely" if data["complete"] else "explored incompletely")
    ]
    for bug in data["bugs"]:
        number = "" if bug["test"] is None else f" (test{bug['test']:06})"
        lines.append(f"{shown(bug['file'])}:{bug['line']}: error: {bug['message']} [{bug['class']}]{number}")
    lines += [f"  {number:>8,}  {ending}" for ending, number in endings.most_common()]
    return "\n".join(lines)
