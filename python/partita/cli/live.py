"""Output of a run in a terminal: bugs as they are found, and below them the progress, redrawn while it runs."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Iterator
from typing import Any

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.table import Table
from rich.text import Text

from partita.cli.follow import OutputClosedError
from partita.explore import Run
from partita.reports import text
from partita.results import Bug, shown

REFRESH_PER_S = 4
# Number of samples, one per tenth of a second, over which speeds are averaged.
SPEED_SAMPLES = 20
# Without progress for this long, the run is waiting for one query.
WAITING_AFTER_S = 1.0
# Share of a limit from which on it is highlighted.
NEAR_LIMIT = 0.8


class Terminal:
    """Listener for a terminal. A separate thread draws the progress, so that the time advances during a long query."""

    def __init__(self, run: Run, console: Console | None = None) -> None:
        self._run = run
        self._console = console or Console(highlight=False, soft_wrap=True)
        self._started = self._last_progress = time.monotonic()
        self._data: dict[str, Any] | None = None
        self._bugs = 0
        self._samples: deque[tuple[float, int, int]] = deque(maxlen=SPEED_SAMPLES)
        self._live = Live(
            get_renderable=self.frame, console=self._console, refresh_per_second=REFRESH_PER_S, transient=True
        )

    def started(self) -> None:
        self._live.start()

    def bug(self, bug: Bug) -> None:
        self._bugs += 1
        error, *more = text.bug_lines(bug)
        kind = "accepted" if bug.accepted else "error"
        place, _, message = error.partition(f": {kind}: ")
        line = Text.assemble((place, "bold"), ": ", (kind, "dim" if bug.accepted else "bold red"), f": {message}")
        self._print(line.append("".join(f"\n{each}" for each in more), "dim"))

    def warning(self, line: str) -> None:
        self._print(Text.assemble(("partita: warning: ", "yellow"), line))

    def progress(self, data: dict[str, Any]) -> None:
        self._last_progress = time.monotonic()
        self._samples.append((self._last_progress, data["instructions"], sum(data["paths"].values())))
        self._data = data

    def close(self) -> None:
        self._live.stop()

    def ended(self, data: dict[str, Any]) -> None:
        styles = {
            "explored": "green" if data["complete"] else "yellow",
            "bugs": "bold red" if data["bugs"] else "green",
        }
        for label, line in text.end_rows(data, shown(str(self._run.out)), self._console.width):
            self._print(Text.assemble((label, "dim"), (line, styles.get(label.strip(), ""))))

    def _print(self, line: Text) -> None:
        try:
            self._console.print(line)
        except BrokenPipeError:
            raise OutputClosedError from None

    def frame(self) -> RenderableType:
        """The current progress."""
        now = time.monotonic()
        table = Table.grid(padding=(0, 2))
        table.add_column(no_wrap=True, style="dim", min_width=8)
        table.add_column(no_wrap=True, overflow="ellipsis")
        if self._data is not None:
            for label, value in self._rows(self._data, now):
                table.add_row(label, value)
        head = Text(f"exploring {' '.join(self._run.program)}", "bold", no_wrap=True, overflow="ellipsis")
        return Group(Text(""), head, table)

    def _rows(self, data: dict[str, Any], now: float) -> Iterator[tuple[str, RenderableType]]:
        yield "time", f"{clock(now - self._started)}"
        waiting_s = now - self._last_progress
        if waiting_s > WAITING_AFTER_S:
            what = "tests to be written" if self._run.is_writing else "one answer"
            yield "waiting", Text(f"for {what}, {clock(waiting_s)}", "yellow")
        yield "paths", f"{sum(data['paths'].values()):,} ended, {data['open']:,} open"
        yield "explored", f"about {100 * self._run.explored_share():.1f} % of the tree"
        yield "bugs", Text(f"{self._bugs}", "bold red" if self._bugs else "")
        yield "covered", text.covered_line(data["coverage"])
        yield "speed", self._speed()
        yield "spent in", text.shares_line(data)
        limits = [
            (name, share) for name, share in limit_shares(data, self._run.limits) if share >= 0.5 or name == "time"
        ]
        if limits:
            parts = [
                Text(f"{name} {100 * share:.0f} %", "bold yellow" if share >= NEAR_LIMIT else "")
                for name, share in limits
            ]
            yield "limits", Text(", ").join(parts)

    def _speed(self) -> str:
        if len(self._samples) < 2:
            return "-"
        (start, *before), (end, *now) = self._samples[0], self._samples[-1]
        instructions, paths = ((b - a) / max(end - start, 1e-9) for a, b in zip(before, now, strict=True))
        return f"{short(instructions)} instructions/s, {short(paths)} paths/s"


def limit_shares(data: dict[str, Any], limits: dict[str, float | None]) -> list[tuple[str, float]]:
    """Used share of each limit that is set, the largest first."""
    used = {
        "max_time": ("time", data.get("used_s", data["explore_s"])),
        "max_memory": ("memory", data["memory"]),
        "max_instructions": ("instructions", data["instructions"]),
        "max_tests": ("tests", data["tests"]),
    }
    shares = [(label, value / (limits[name] or 1)) for name, (label, value) in used.items() if limits.get(name)]
    return sorted(shares, key=lambda row: -row[1])


def clock(seconds: float) -> str:
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours} h {minutes:02} min"
    return f"{minutes} min {rest:02} s" if minutes else f"{seconds:.1f} s" if seconds < 10 else f"{rest} s"


def short(number: float) -> str:
    """A number with three significant digits and a unit prefix."""
    for unit, size in (("G", 1e9), ("M", 1e6), ("k", 1e3)):
        if number >= size:
            return f"{number / size:.3g} {unit}"
    return f"{number:.0f}"
