"""Runs tasks of SV-COMP's Java category, or of the same form, and compares the verdicts.

python tests/soak/java_tasks.py FOLDER [--seconds 20] [--string-length N] [--only TEXT] [--out FILE.json]

FOLDER has task definitions (`*.yml`: `input_files`, and `expected_verdict` of the property on assertions; a verdict of
neither `true` nor `false` is unknown). A task is `false` if an assertion can fail and `true` if everything was
explored and none can; other exceptions that nothing catches are listed and decide nothing. Classes are compiled into
`FOLDER/.classes`, once.
"""

from __future__ import annotations

import argparse
import collections
import json
import multiprocessing
import re
import resource
import subprocess
import sys
import time
from dataclasses import asdict, dataclass, field
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from partita import explore
from partita.errors import InternalError, UsageError
from partita.jvm import frontend  # noqa: F401  (imported before the processes start)

STUBS = Path(__file__).resolve().parents[2] / "python" / "partita" / "jvm" / "stubs"


@dataclass
class Result:
    name: str
    expected: str
    verdict: str = "unknown"
    seconds: float = 0.0
    """Processor time, without that of `javac`."""
    why: list[str] = field(default_factory=list)
    """Reasons why something was not explored, or the message of an error."""
    exceptions: list[str] = field(default_factory=list)

    @property
    def is_wrong(self) -> bool:
        return {self.expected, self.verdict} == {"true", "false"}


def definition(path: Path) -> tuple[list[Path], str, str | None]:
    """Input folders, expected verdict and main class of a task."""
    inputs: list[Path] = []
    verdict, main, part, is_assert = "unknown", None, "", True
    for line in path.read_text().splitlines():
        if found := re.match(r"(\w+):\s*(.*)", line):
            part = found[1]
            main = found[2] if part == "main" else main
        elif part == "input_files" and (found := re.match(r"\s*-\s*[\"']?([^\"']+)", line)):
            inputs.append(path.parent / found[1].strip())
        elif found := re.match(r"\s*-?\s*property_file:\s*(\S+)", line):
            is_assert = "assert" in found[1]
        elif is_assert and (found := re.match(r"\s*-?\s*expected_verdict:\s*(\w+)", line)):
            verdict = found[1]
    return [each for each in inputs if each.exists()], verdict, main


def compile_task(inputs: list[Path], target: Path) -> str | None:
    """Compiles a task unless its classes are there; the first error."""
    if target.is_dir():
        return None
    sources = [str(each) for folder in inputs for each in sorted(folder.rglob("*.java"))]
    target.mkdir(parents=True)
    path = ":".join([*(str(each) for each in inputs), str(STUBS)])
    command = ["javac", "-nowarn", "-g", "-d", str(target), "-sourcepath", path, *sources]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        subprocess.run(["rm", "-r", str(target)], check=True)
        return next((line for line in done.stderr.splitlines() if "error:" in line), "javac failed")
    return None


def explore_task(target: Path, main: str | None, seconds: int, string_length: int | None) -> dict[str, Any]:
    """Bugs and what was not explored, in a process of its own with a limit on its processor time."""
    receiver, sender = multiprocessing.Pipe(duplex=False)
    child = multiprocessing.get_context("fork").Process(
        target=_explore, args=(sender, target, main, seconds, string_length)
    )
    child.start()
    sender.close()
    try:
        found: dict[str, Any] = receiver.recv()
    except EOFError:
        found = {"error": "the process ended without an answer"}
    child.join()
    return found


def _explore(sender: Connection, target: Path, main: str | None, seconds: int, string_length: int | None) -> None:
    resource.setrlimit(resource.RLIMIT_CPU, (2 * seconds, 2 * seconds))
    entry = None if main is None else f"{main}.main"
    try:
        # Other work on the machine does not count: the limit on time is that of the processor, below.
        run = explore(target, entry=entry, string_length=string_length, max_memory="3GB")
        while run.step(0.05) and time.process_time() < seconds:
            pass
        run.stop()
        summary = run.summary()
    except (UsageError, InternalError) as error:
        sender.send({"error": str(error)})
        return
    found = {name: summary[name] for name in ("bugs", "incomplete", "stopped")}
    sender.send({**found, "seconds": time.process_time()})


def run_task(path: Path, classes: Path, seconds: int, string_length: int | None) -> Result:
    inputs, expected, main = definition(path)
    result = Result(path.stem, expected)
    target = classes / path.stem
    error = compile_task(inputs, target)
    if error is not None:
        result.verdict, result.why = "not compiled", [error]
        return result
    run = explore_task(target, main, seconds, string_length)
    if "error" in run:
        result.why = [run["error"][-300:]]
        return result
    result.seconds = round(run["seconds"], 2)
    bugs = {bug["class"] for bug in run["bugs"]}
    result.exceptions = sorted(bugs - {"assert"})
    result.why = [each["why"] for each in run["incomplete"]] + ([run["stopped"]] if run["stopped"] else [])
    if "assert" in bugs:
        result.verdict = "false"
    elif not result.why:
        result.verdict = "true"
    return result


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--seconds", type=int, default=20)
    parser.add_argument("--string-length", type=int)
    parser.add_argument("--only", default="")
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    results = []
    for path in sorted(options.folder.rglob("*.yml")):
        if not re.search(options.only, path.stem):
            continue
        result = run_task(path, options.folder / ".classes", options.seconds, options.string_length)
        results.append(result)
        sign = "WRONG" if result.is_wrong else "ok" if result.verdict in ("true", "false") else "--"
        why = "; ".join(result.why)[:200]
        print(
            f"{sign:5} {result.name}: {result.verdict} (expected {result.expected}) {result.seconds:.1f} s"
            f" {','.join(result.exceptions)} {why}",
            flush=True,
        )
        if options.out:
            options.out.write_text(json.dumps([asdict(each) for each in results], indent=1))
    compiled = [each for each in results if each.verdict != "not compiled"]
    decided = [each for each in compiled if each.verdict in ("true", "false")]
    wrong = [each.name for each in results if each.is_wrong]
    reasons = collections.Counter(each.why[0] for each in compiled if each not in decided and each.why)
    for reason, number in reasons.most_common(30):
        print(f"{number:4} {reason}")
    print(f"{len(compiled)} tasks, {len(decided)} decided, {len(wrong)} wrong: {' '.join(wrong)}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
