"""Functions of C libraries that parse text, reached with eight symbolic bytes.

    python -m experiments text --sources DIR [--seconds N] [--only NAME,...] [--options WORDS]

DIR has a folder with the sources of each library, as its project publishes them; drivers of ours
(`benchmarks/families/text`) pass eight symbolic bytes to the parser and what it made to the other functions. Each is
explored for N seconds of processor time, defaults otherwise. A function counts if a path entered it. `text.json` in the
output folder has the figures and the functions that no path entered. Target: 85 % of the functions of ten libraries.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from pathlib import Path
from typing import Any

from experiments.explorer import run_for
from experiments.locations import FAMILIES

SECONDS, TARGET = 60.0, 85.0
# The file of each library, by the name of its driver.
LIBRARIES = {
    "argparse": "argparse/argparse.c",
    "cjson": "cJSON/cJSON.c",
    "inih": "inih/ini.c",
    "jsmn": "jsmn/jsmn.h",
    "jsonparser": "json-parser/json.c",
    "parson": "parson/parson.c",
    "picohttpparser": "picohttpparser/picohttpparser.c",
    "tinyexpr": "tinyexpr/tinyexpr.c",
    "tinyregex": "tiny-regex-c/re.c",
    "tomlc99": "tomlc99/toml.c",
}


def functions(lcov: str, file: str) -> dict[str, bool]:
    """Functions of a file in an lcov report, and whether each was entered."""
    found: dict[str, bool] = {}
    is_here = False
    for line in lcov.splitlines():
        if line.startswith("SF:"):
            is_here = Path(line[3:]).name == Path(file).name
        elif is_here and line.startswith("FNDA:"):
            count, name = line[5:].split(",", 1)
            found[name] = found.get(name, False) or int(count) > 0
    return found


def measure(name: str, source: Path, seconds: float, options: list[str]) -> dict[str, Any]:
    driver = FAMILIES / "text" / f"{name}.c"
    files = [str(driver)] + ([str(source)] if source.suffix == ".c" else [])
    with tempfile.TemporaryDirectory() as made:
        out = Path(made) / "run"
        words = [*files, f"--cflags=-I{source.parent}", *options]
        run_for(seconds, words, out)
        run = json.loads((out / "run.json").read_text())
        entered = functions((out / "coverage.lcov").read_text(), source.name)
    return {
        "functions": len(entered),
        "entered": sum(entered.values()),
        "unreached": sorted(name for name, is_entered in entered.items() if not is_entered),
        "paths": run["paths"]["completed"],
        "complete": run["complete"],
        "bugs": [f"{bug['class']} {Path(bug['file']).name}:{bug['line']}" for bug in run["bugs"]],
    }


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m experiments text", description=__doc__.split("\n")[0])
    parser.add_argument("--sources", metavar="DIR", required=True, help="folder with a folder of each library")
    parser.add_argument("--seconds", type=float, default=SECONDS, help=f"for each library (default {SECONDS:.0f})")
    parser.add_argument("--only", default="", help="names of libraries, separated by commas")
    parser.add_argument("--out", metavar="DIR", default="partita-text", help="folder for the results")
    parser.add_argument("--options", default="", help="more options of `partita run`")
    arguments = parser.parse_args()
    names = [name for name in arguments.only.split(",") if name] or list(LIBRARIES)
    out = Path(arguments.out)
    out.mkdir(parents=True, exist_ok=True)
    found: dict[str, Any] = {}
    print(f"{'library':<16}{'functions':>10}{'entered':>9}{'%':>7}{'paths':>9}  bugs")
    for name in names:
        source = Path(arguments.sources).resolve() / LIBRARIES[name]
        row = found[name] = measure(name, source, arguments.seconds, arguments.options.split())
        percent = 100 * row["entered"] / max(1, row["functions"])
        figures = f"{row['functions']:>10}{row['entered']:>9}{percent:>7.1f}{row['paths']:>9}"
        print(f"{name:<16}{figures}  {', '.join(row['bugs'])}", flush=True)
        data = {"schema": 1, "seconds": arguments.seconds, "libraries": found}
        (out / "text.json").write_text(json.dumps(data, indent=1))
    entered, functions_ = (sum(row[key] for row in found.values()) for key in ("entered", "functions"))
    print(f"{100 * entered / max(1, functions_):.1f} % of {functions_} functions")
    return 0 if 100 * entered >= TARGET * functions_ else 1
