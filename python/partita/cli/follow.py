"""What is said about a run while it goes on and at its end: to people in a terminal, in plain lines, to programs."""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable
from typing import Any, Protocol

from partita.cli import silence
from partita.explore import Run
from partita.reports import text
from partita.results import Bug, shown

PROGRESS_EVERY_S = 1.0


class Listener(Protocol):
    def started(self) -> None: ...
    def bug(self, bug: Bug) -> None: ...
    def warning(self, line: str) -> None: ...
    def progress(self, data: dict[str, Any]) -> None:
        """A tenth of a second has passed, or little more."""

    def close(self) -> None:
        """The exploration is over, or has failed."""

    def ended(self, data: dict[str, Any]) -> None: ...


class ReaderGoneError(Exception):
    """Whoever read our output has gone."""


def say(line: str) -> None:
    try:
        print(line, flush=True)
    except BrokenPipeError:
        raise ReaderGoneError from None


def warn(line: str) -> None:
    print(f"partita: warning: {line}", file=sys.stderr, flush=True)


class Plain:
    """For files and pipes: bugs as they are found, then the summary. `quiet`: bugs only."""

    def __init__(self, run: Run, quiet: bool) -> None:
        self._run, self._quiet = run, quiet

    def started(self) -> None:
        pass

    def bug(self, bug: Bug) -> None:
        for line in text.bug_lines(bug)[: 1 if self._quiet else None]:
            say(line)

    def warning(self, line: str) -> None:
        warn(line)

    def progress(self, data: dict[str, Any]) -> None:
        pass

    def close(self) -> None:
        pass

    def ended(self, data: dict[str, Any]) -> None:
        if not self._quiet:
            for label, line in text.end_rows(data, shown(str(self._run.out))):
                say(label + line)


class Events:
    """For programs: JSON lines, one an event; the last one is `run.json`."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self._last = time.monotonic()

    def _emit(self, event: str, **fields: Any) -> None:
        say(json.dumps({"event": event, **fields}))

    def started(self) -> None:
        self._emit("start", program=self._run.program, out=str(self._run.out))

    def bug(self, bug: Bug) -> None:
        row = {"class": bug.class_, "file": bug.file, "line": bug.line, "message": bug.message, "test": bug.test}
        self._emit("bug", **row, inputs=[[name, data.hex()] for name, data in bug.inputs])

    def warning(self, line: str) -> None:
        self._emit("warning", message=line)

    def progress(self, data: dict[str, Any]) -> None:
        if time.monotonic() - self._last >= PROGRESS_EVERY_S:
            self._last = time.monotonic()
            names = ("explore_s", "instructions", "forks", "open", "paths", "tests", "coverage")
            layers = {name: round(share, 4) for name, share in text.layer_shares(data)}
            queries = data["solver"]["queries"]
            self._emit("progress", **{name: data[name] for name in names}, queries=queries, shares=layers)

    def close(self) -> None:
        pass

    def ended(self, data: dict[str, Any]) -> None:
        say(json.dumps(data))


def listener(run: Run, as_json: bool, quiet: bool) -> Listener:
    if as_json:
        return Events(run)
    if not quiet and sys.stdout.isatty() and os.environ.get("TERM", "dumb") not in ("dumb", "unknown"):
        # Not for every run: it takes as long to load as a small program to be explored.
        from partita.cli.live import Terminal

        return Terminal(run)
    return Plain(run, quiet)


def follow(run: Run, told: Listener) -> None:
    """Explores to the end, and tells what happens. Once nobody listens any more the run ends as if interrupted, and its
    files are written."""
    known = 0
    listens = True

    def tell(what: Callable[..., None], *arguments: Any) -> None:
        nonlocal listens
        if listens:
            try:
                what(*arguments)
            except ReaderGoneError:
                listens = False
                silence()
                run.interrupt()

    run.warn = lambda line: tell(told.warning, line)
    tell(told.started)
    more = True
    try:
        while more:
            more = run.step()
            data = run.counts()
            for bug in data["bugs"][known:]:
                tell(told.bug, Bug.of(bug))
                known += 1
            if more:
                tell(told.progress, data)
    finally:
        told.close()
    tell(told.ended, run.summary())
