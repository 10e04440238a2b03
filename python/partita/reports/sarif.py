"""Bugs of a run in the format SARIF 2.1.0, for code scanning of build servers and for editors.

A bug is a result, its path a code flow (the decisions that depend on the input, then the bug itself), its call
stack a stack. The fingerprint is that of `findings.py`, so that a server recognises a bug in the next run. Files are
relative to the project (`SRCROOT`). Accepted bugs are suppressed results.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

from partita import _core
from partita.errors import UsageError
from partita.findings import FINGERPRINT, is_system_header, project_root, relative, source_lines
from partita.reports.folder import new_place, read_run, read_stacks, read_tree
from partita.reports.text import value_lines
from partita.results import Frame

VERSION = "2.1.0"
ROOT = "SRCROOT"
MAX_STEPS = 1000
"""Steps of one code flow: viewers list all of them."""
_HOME = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/os/schemas/sarif-schema-2.1.0.json"
# Classes that attackers use: code scanning sorts by this number, from 0 to 10.
_SEVERITY = {
    "out-of-bounds-write": "9.0",
    "use-after-free": "9.0",
    "double-free": "8.5",
    "invalid-free": "8.0",
    "mismatched-free": "7.0",
    "out-of-bounds-read": "7.5",
    "uninitialized-read": "6.5",
    "overflow": "6.0",
    "stack-overflow": "5.5",
    "null": "5.5",
    "division-by-zero": "5.0",
}


def document(folder: Path) -> dict[str, Any]:
    """The log of a finished run."""
    run = read_run(folder)
    root = project_root(Path.cwd())
    tree, stacks = read_tree(folder), read_stacks(folder)
    trails = {(row["class"], row["file"], row["line"]): row for row in tree["bugs"]} if tree else {}
    places = tree["places"] if tree else []
    classes = sorted({bug["class"] for bug in run["bugs"]})
    descriptions = dict(_core.BUG_CLASSES)
    results = []
    for bug in run["bugs"]:
        trail = trails.get((bug["class"], bug["file"], bug["line"]), {"decisions": []})
        results.append(_result(bug, trail["decisions"], places, stacks.get(bug["test"], ()), classes, root))
    return {
        "$schema": _HOME,
        "version": VERSION,
        "runs": [
            {
                "tool": {
                    "driver": {
                        "name": "Partita",
                        "version": run["version"],
                        "semanticVersion": run["version"],
                        "rules": [_rule(name, descriptions.get(name, "another class of bug")) for name in classes],
                    }
                },
                "columnKind": "utf16CodeUnits",
                "originalUriBaseIds": {ROOT: {"uri": root.as_uri().rstrip("/") + "/"}},
                "invocations": [_invocation(run)],
                "results": results,
                "properties": {"complete": run["complete"], "paths": run["paths"]},
            }
        ],
    }


def _rule(name: str, about: str) -> dict[str, Any]:
    words = f"{about[:1].upper()}{about[1:]}"
    rule: dict[str, Any] = {
        "id": name,
        "name": "".join(part.capitalize() for part in name.split("-")),
        "shortDescription": {"text": words},
        "fullDescription": {"text": f"{words}. Partita found an input that leads there."},
        "defaultConfiguration": {"level": "error"},
        "properties": {"tags": ["correctness"], "precision": "very-high"},
    }
    if name in _SEVERITY:
        rule["properties"] = {
            "tags": ["correctness", "security"],
            "precision": "very-high",
            "security-severity": _SEVERITY[name],
        }
    return rule


def _invocation(run: Mapping[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = {"executionSuccessful": True}
    if run["command"]:
        found["arguments"] = run["command"][1:]
    if run["incomplete"] or run["stopped"]:
        stopped = [f"the run was stopped by {run['stopped']}"] if run["stopped"] else []
        reasons = [f"{row['where']}: {row['why']} ({row['count']:,} times)" for row in run["incomplete"]]
        found["toolExecutionNotifications"] = [
            {"level": "note", "message": {"text": f"incomplete: {text}"}} for text in stopped + reasons
        ]
    return found


def _result(
    bug: Mapping[str, Any],
    decisions: Sequence[Mapping[str, Any]],
    places: Sequence[Mapping[str, Any]],
    stack: Sequence[Frame],
    classes: Sequence[str],
    root: Path,
) -> dict[str, Any]:
    message = bug["message"]
    described = "".join(f"\n    {line}" for line in [*(bug.get("input") or ()), *_sentences(bug)])
    result: dict[str, Any] = {
        "ruleId": bug["class"],
        "ruleIndex": classes.index(bug["class"]),
        "level": "error",
        "kind": "fail",
        "message": {"text": f"{message}{described}"},
        "locations": [_location(bug["file"], bug["line"], root)],
    }
    if bug.get("fingerprint"):
        result["partialFingerprints"] = {FINGERPRINT: bug["fingerprint"]}
    if bug.get("accepted"):
        result["suppressions"] = [{"kind": "external", "justification": "in the baseline"}]
    if bug["test"] is not None:
        result["properties"] = {"test": f"test{bug['test']:06}.ktest"}
    result["codeFlows"] = [{"threadFlows": [{"locations": _flow(bug, decisions, places, root)}]}]
    if stack:
        frames = [{"location": _location(frame.file, frame.line, root, f"in {frame.function}")} for frame in stack]
        result["stacks"] = [{"message": {"text": "call stack, innermost first"}, "frames": frames}]
    return result


def _sentences(bug: Mapping[str, Any]) -> list[str]:
    """Inputs that have no types of parameters, what callers must pass, and variables at the bug."""
    written = [] if bug.get("input") or not bug.get("inputs") else [bug["inputs"]]
    callers = [f"callers: {bug['caller']}"] if bug.get("caller") else []
    return [*written, *callers, *value_lines(bug)]


def _flow(
    bug: Mapping[str, Any], decisions: Sequence[Mapping[str, Any]], places: Sequence[Mapping[str, Any]], root: Path
) -> list[dict[str, Any]]:
    """The decisions of the path in their order, and the bug."""
    steps = []
    for step in decisions[-MAX_STEPS + 1 :]:
        at = places[step["place"]]
        if not at["line"] or is_system_header(at["file"]):
            continue
        inside = f" in {at['inside']}" if at["inside"] else ""
        words = f"{_condition(at['file'], at['line'])}{inside}" + (
            f": continues at {step['side']}" if step["side"] else ""
        )
        steps.append({"location": _location(at["file"], at["line"], root, words), "importance": "important"})
    end = _location(bug["file"], bug["line"], root, bug["message"])
    last: dict[str, Any] = {"location": end, "importance": "essential"}
    values = [frame for frame in bug.get("values") or () if frame["function"]]
    if values:
        last["state"] = {name: {"text": value} for name, value in values[0]["variables"].items()}
    return [*steps, last]


def _condition(file: str, line: int) -> str:
    """The source of a decision, for viewers that show messages only."""
    lines = source_lines(file)
    return f"`{lines[line - 1].strip()}`" if 0 < line <= len(lines) else "a decision"


def _location(file: str, line: int, root: Path, words: str | None = None) -> dict[str, Any]:
    found: dict[str, Any] = {}
    if line and file:
        path = relative(file, root)
        artifact = {"uri": Path(path).as_uri()} if path.startswith("/") else {"uri": quote(path), "uriBaseId": ROOT}
        found["physicalLocation"] = {"artifactLocation": artifact, "region": {"startLine": line}}
    if words is not None:
        found["message"] = {"text": words}
    return found


def write(folder: Path, out: Path) -> int:
    """Writes the log of a run, over an older one. Returns the number of bugs."""
    found = document(folder)
    _write(found, out)
    return len(found["runs"][0]["results"])


def _write(found: Mapping[str, Any], out: Path) -> None:
    try:
        out.write_text(json.dumps(found, indent=1) + "\n")
    except OSError as error:
        raise UsageError(f"cannot write `{out}`: {error.strerror}") from None


def write_several(folders: Sequence[Path], out: Path) -> int:
    """Writes one log of several runs: a bug that several have is one result. Returns the number of bugs."""
    logs = [document(folder)["runs"][0] for folder in folders]
    rules = {rule["id"]: rule for log in logs for rule in log["tool"]["driver"]["rules"]}
    results: dict[str, dict[str, Any]] = {}
    for result in (result for log in logs for result in log["results"]):
        mark = result["partialFingerprints"][FINGERPRINT]
        results.setdefault(mark, {**result, "ruleIndex": list(rules).index(result["ruleId"])})
    whole = {**logs[0], "results": list(results.values()), "invocations": [log["invocations"][0] for log in logs]}
    whole["tool"]["driver"]["rules"] = list(rules.values())
    del whole["properties"]
    _write({"$schema": _HOME, "version": VERSION, "runs": [whole]}, out)
    return len(results)


def export(folder: Path, out: Path) -> int:
    """Writes the log of a run into a new file. Returns the number of bugs."""
    new_place(out)
    return write(folder, out)
