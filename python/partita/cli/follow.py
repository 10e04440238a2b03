"""Output of a run while it explores and at its end: for a terminal, as plain lines, or as JSON events."""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import sys
import time
from collections.abc import Callable
from typing import Any, Protocol

from partita.cli import silence
from partita.explore import Run
from partita.reports import github, text
from partita.results import Bug, shown

PROGRESS_EVERY_S = 1.0


class Listener(Protocol):
    """Receives the events of a run."""

    def started(self) -> None: ...
    def bug(self, bug: Bug) -> None: ...
    def warning(self, line: str) -> None: ...
    def progress(self, data: dict[str, Any]) -> None:
        """Called about ten times per second."""

    def close(self) -> None:
        """Called when the exploration has ended or failed."""

    def ended(self, data: dict[str, Any]) -> None: ...


class OutputClosedError(Exception):
    """The reader of standard output has closed it, or it cannot be written."""


def write_line(line: str) -> None:
    try:
        print(line, flush=True)
    except BrokenPipeError:
        raise OutputClosedError from None
    except OSError as error:
        print(f"partita: error: cannot write the output: {error.strerror}", file=sys.stderr)
        raise OutputClosedError from None


def warn(line: str) -> None:
    print(f"partita: warning: {line}", file=sys.stderr, flush=True)


class Plain:
    """Plain lines for files and pipes: bugs as they are found, then the summary. `quiet`: bugs only."""

    def __init__(self, run: Run, quiet: bool, annotated: bool = False) -> None:
        self._run, self._quiet, self._annotated = run, quiet, annotated

    def started(self) -> None:
        pass

    def bug(self, bug: Bug) -> None:
        if self._quiet and bug.accepted:
            return
        lines = text.bug_lines(bug)
        for line in lines[: 1 if self._quiet else None]:
            write_line(line)
        if self._annotated and not bug.accepted:
            write_line(github.line(bug, lines[1:]))

    def warning(self, line: str) -> None:
        warn(line)

    def progress(self, data: dict[str, Any]) -> None:
        pass

    def close(self) -> None:
        pass

    def ended(self, data: dict[str, Any]) -> None:
        if not self._quiet:
            for label, line in text.end_rows(data, shown(str(self._run.out))):
                write_line(label + line)


class Events:
    """JSON lines for programs, one per event; the last line is `run.json`."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self._last = time.monotonic()

    def _emit(self, event: str, **fields: Any) -> None:
        write_line(json.dumps({"event": event, **fields}))

    def started(self) -> None:
        self._emit("start", program=self._run.program, out=str(self._run.out))

    def bug(self, bug: Bug) -> None:
        self._emit("bug", **bug.as_row(), inputs=[[name, data.hex()] for name, data in bug.inputs])

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
        write_line(json.dumps(data))


def make_listener(run: Run, arguments: argparse.Namespace) -> Listener:
    """The listener that the options of the command ask for."""
    quiet, annotated = arguments.quiet, github.wanted(arguments.annotations)
    if arguments.json:
        return Events(run)
    is_terminal = sys.stdout.isatty() and os.environ.get("TERM", "dumb") not in ("dumb", "unknown")
    if not quiet and is_terminal and not annotated and importlib.util.find_spec("rich") is not None:
        # Imported only here: loading it takes as long as exploring a small program.
        from partita.cli.live import Terminal

        return Terminal(run)
    return Plain(run, quiet, annotated)


def follow(run: Run, listener: Listener) -> None:
    """Explores to the end and reports events to the listener. If the output is closed, the run ends as if interrupted,
    and its files are written."""
    reported: set[tuple[str, str, int]] = set()
    is_open = True

    def report(event: Callable[..., None], *arguments: Any) -> None:
        nonlocal is_open
        if is_open:
            try:
                event(*arguments)
            except OutputClosedError:
                is_open = False
                silence()
                run.interrupt()

    run.warn = lambda line: report(listener.warning, line)
    report(listener.started)
    more = True
    try:
        while more:
            more = run.step()
            data = run.counts()
            new = [row for row in data["bugs"] if (row["class"], row["file"], row["line"]) not in reported]
            reported.update((row["class"], row["file"], row["line"]) for row in new)
            for bug in run.described(new):
                report(listener.bug, bug)
            if more:
                report(listener.progress, data)
    finally:
        listener.close()
    report(listener.ended, run.summary())
