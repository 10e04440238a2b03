"""The kinds of panels: each function draws the panel's rows into a pair of axes."""

from __future__ import annotations

import math
import statistics
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from experiments.experiment import Panel
from experiments.rows import Estimate, Row

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Neighbours differ in lightness, so that they can be distinguished in grey.
_COLOURS = ("#00429d", "#e66101", "#5fb8de", "#7b2d8b", "#2c9a5f", "#f2b134", "#99000d", "#8c8c8c", "#c9b8e8")
_MARKERS = "osD^vPX*<"
_STROKES = ("-", "--", ":", "-.")
# Hatches of strokes: one of dots takes a hundred kilobytes.
_HATCHES = ("", "///", "\\\\\\", "xx", "--", "||", "++", "///--", "xx||")
_GREY = "0.4"
_MANY_BARS = 16
_MIN_FITTED = 10
"""Points from which a regression line is drawn."""
_OUTSIDE = 8
"""On a logarithmic axis whiskers are shown up to this factor beyond the means."""
_SHARES = ("hit_rate", "success", "inequalities")
_PER_CENT = ("percent_lines", "solver_percent")
_CHANGES = ("difference", "solver_difference", "increase")


@dataclass(frozen=True)
class Data:
    """The data of a panel."""

    panel: Panel
    all_rows: Sequence[Row]
    samples: Sequence[Mapping[str, Any]]
    numbers: Mapping[str, int]
    """Number of each configuration, which selects colour, marker and stroke."""

    def rows(self) -> list[Row]:
        """Rows of the panel's configurations and series, measured or not."""
        mine = (row for row in self.all_rows if row.configuration in self.panel.configurations)
        return [row for row in mine if self.has(row.series)]

    def has(self, series: str) -> bool:
        """Whether the panel shows a series. Names of series with shorter times have a suffix after a comma."""
        if self.panel.kind in ("timeouts", "scatter"):
            series = series.partition(",")[0]
        return not self.panel.series or series in self.panel.series

    def measured(self) -> list[tuple[Row, Estimate]]:
        measure = self.panel.measure
        return [(row, row.estimates[measure]) for row in self.rows() if measure in row.estimates]

    def stopped(self) -> list[Row]:
        """Rows that were stopped, if the panel shows time."""
        return [row for row in self.rows() if row.outcome == "stopped"] if self.panel.measure == "time_s" else []


def is_wide(data: Data) -> bool:
    """Whether the panel needs the whole width."""
    return data.panel.kind == "grid" or (data.panel.kind == "bars" and len(data.measured()) > _MANY_BARS)


def lines(axes: Axes, data: Data) -> None:
    """Over the size, one line for each configuration, or for each series if there is one configuration."""
    found: dict[tuple[str, str], list[tuple[Any, Estimate]]] = {}
    for row, value in data.measured():
        found.setdefault((row.series, row.configuration), []).append((row.x, value))
    series = list(dict.fromkeys(row.series for row in data.rows()))
    several = len(data.panel.configurations) > 1
    for (name, configuration), points in found.items():
        which = data.numbers[configuration] if several else series.index(name)
        words = [name.partition(",")[0]] if len(series) > 1 else []
        words += [configuration] if several or len(series) == 1 else []
        xs = [x for x, _ in points]
        _with_whiskers(axes, data.panel, xs, [value for _, value in points], label=", ".join(words), linewidth=1.4,
                       markersize=5, capsize=2, color=_COLOURS[which % 9], marker=_MARKERS[which % 9],
                       linestyle=_STROKES[(series.index(name) if several else which) % 4])  # fmt: skip
    _mark_stopped(axes, [(row.x, row) for row in data.stopped()])
    _scales(axes, data.panel)
    ticks = sorted({x for points in found.values() for x, _ in points} | {row.x for row in data.stopped()})
    if ticks:
        every = 1 + len(ticks) // 12
        axes.set_xticks(ticks, [str(x) if number % every == 0 else "" for number, x in enumerate(ticks)], minor=False)
        if data.panel.log_x:
            axes.minorticks_off()


def timeouts(axes: Axes, data: Data) -> None:
    """Over the time of the first configuration, one line for each program; the fastest and slowest are labelled."""
    panel = data.panel
    found: dict[Any, list[tuple[float, Estimate]]] = {}
    for row, value in data.measured():
        found.setdefault(row.x, []).append((row.seconds, value))
    ranked = sorted(found, key=lambda name: -max(value.mean for _, value in found[name]))
    named = {*ranked[:4], *ranked[-3:]}
    for number, name in enumerate(ranked):
        points = sorted(found[name], key=lambda point: point[0])
        number = [*ranked[:4], *ranked[-3:]].index(name) if name in named else len(_COLOURS) - 2
        look = {"color": _COLOURS[number], "marker": _MARKERS[number], "linestyle": _STROKES[number % 4]}
        _with_whiskers(axes, panel, [x for x, _ in points], [value for _, value in points], markersize=4, capsize=2,
                       linewidth=1.2, label=str(name) if name in named else None, **look)  # fmt: skip
    if found:
        axes.legend(fontsize=8, ncols=2)
        seconds = sorted({x for points in found.values() for x, _ in points})
        axes.set_xscale("log")
        axes.set_xticks(seconds, [f"{x:g}" for x in seconds])
        axes.minorticks_off()
        axes.margins(x=0.15, y=0.25)
    _scales(axes, panel)


def bars(axes: Axes, data: Data) -> None:
    """One group for each case, with a bar for each configuration, or for each series if these have the same cases."""
    found = data.measured()
    places = [row.x for row, _ in found]
    by_series = len({row.configuration for row, _ in found}) == 1 and len(places) > len(set(places))

    def label(row: Row) -> str:
        return row.series if by_series else row.configuration

    labels = list(dict.fromkeys(label(row) for row in data.rows() if row.outcome in ("measured", "stopped")))
    groups = list(dict.fromkeys(row.x for row in data.rows()))
    width = 0.8 / max(1, len(labels))

    def at(row: Row) -> float:
        return groups.index(row.x) + (labels.index(label(row)) - (len(labels) - 1) / 2) * width

    for number, name in enumerate(labels):
        number = number if by_series else data.numbers[name]
        values = [(at(row), value) for row, value in found if label(row) == name]
        # Slower is down, faster is up.
        base = 1.0 if data.panel.measure == "speedup" else 0.0
        heights = [value.mean - base for _, value in values]
        drawn = axes.bar([x for x, _ in values], heights, 0.92 * width, base, label=name, edgecolor="white",
                         color=_COLOURS[number % 9], hatch=_HATCHES[number % 9], linewidth=0)  # fmt: skip
        if data.panel.measure == "solves":
            axes.bar_label(drawn, fmt="%g", fontsize=8)
        elif values:
            _with_whiskers(axes, data.panel, [x for x, _ in values], [v for _, v in values], fmt="none", ecolor="0.2")
    _mark_stopped(axes, [(at(row), row) for row in data.stopped()])
    _scales(axes, data.panel)
    _names(axes, groups)
    if not data.panel.log_y:
        axes.margins(y=0.15)


def tools(axes: Axes, data: Data) -> None:
    """One bar for each case of one configuration, the lowest first."""
    found = sorted(data.measured(), key=lambda one: one[1].mean)
    _bar_each(axes, data.panel, [(str(row.x), value) for row, value in found])


def deviation(axes: Axes, data: Data) -> None:
    """One bar for each case: the standard deviation over the configurations."""
    found: dict[Any, list[float]] = {}
    for row, value in data.measured():
        found.setdefault(row.x, []).append(value.mean)
    spread = [(str(x), Estimate(statistics.stdev(values), None)) for x, values in found.items() if len(values) > 1]
    _bar_each(axes, data.panel, spread)


def _bar_each(axes: Axes, panel: Panel, values: Sequence[tuple[str, Estimate]]) -> None:
    if values:
        axes.bar(range(len(values)), [value.mean for _, value in values], 0.7, color=_COLOURS[0])
        _with_whiskers(axes, panel, range(len(values)), [value for _, value in values], fmt="none", ecolor=_COLOURS[1])
        _names(axes, [name for name, _ in values])
        _scales(axes, panel)


def ranked(axes: Axes, data: Data) -> None:
    """Cases sorted by their value, for each configuration separately."""
    for configuration in data.panel.configurations:
        number = data.numbers[configuration]
        mine = (value for row, value in data.measured() if row.configuration == configuration)
        values = sorted(mine, key=lambda value: value.mean)
        if values:
            _with_whiskers(axes, data.panel, range(1, len(values) + 1), values, fmt=_MARKERS[number], capsize=2,
                           color=_COLOURS[number], label=configuration, markersize=4)  # fmt: skip
    _scales(axes, data.panel)
    axes.set_xlim(0, None)


def spread(axes: Axes, data: Data) -> None:
    """One column for each configuration: a point for each case, a diamond for their mean."""
    means: list[tuple[int, float]] = []
    for place, configuration in enumerate(data.panel.configurations):
        values = [value.mean for row, value in data.measured() if row.configuration == configuration]
        if values:
            axes.plot([place] * len(values), values, "o", color=_COLOURS[2], markersize=4,
                      label="a program" if not means else None)  # fmt: skip
            means.append((place, statistics.fmean(values)))
    if means:
        axes.plot(*zip(*means, strict=True), "D-", color=_COLOURS[0], markersize=6, linewidth=1.2, label="mean")
        _scales(axes, data.panel)
        _names(axes, data.panel.configurations)


def scatter(axes: Axes, data: Data) -> None:
    """One point for each case over its number of queries; with enough points a regression line for each group."""
    groups: dict[str, list[tuple[float, float, str]]] = {}
    for row, value in data.measured():
        asked = row.estimates["queries"].mean
        if asked:
            groups.setdefault(f"{row.configuration}, {row.seconds:g} s", []).append((asked, value.mean, str(row.x)))
    for number, (name, points) in enumerate(groups.items()):
        logs, shares = [math.log10(x) for x, _, _ in points], [y for _, y, _ in points]
        colour, marker = _COLOURS[number % 9], _MARKERS[number % 9]
        fitted = len(points) >= _MIN_FITTED and len(set(logs)) > 1 and len(set(shares)) > 1
        label = f"{name} ($\\rho$ = {statistics.correlation(logs, shares):.2f})" if fitted else name
        axes.plot([x for x, _, _ in points], shares, marker, color=colour, label=label, markersize=6)
        if fitted:
            slope, offset = statistics.linear_regression(logs, shares)
            ends = (min(logs), max(logs))
            axes.plot([10**end for end in ends], [offset + slope * end for end in ends], color=colour,
                      linestyle=_STROKES[number % 4], linewidth=1)  # fmt: skip
    # Names of all would overlap.
    last = list(groups.values())[-1] if groups else []
    for number, (x, y, name) in enumerate(sorted(last)) if len(last) < 9 else ():
        axes.annotate(name, (x, y), textcoords="offset points", xytext=(6, -11 if number % 2 else 5), fontsize=8)
    if groups:
        axes.legend(fontsize=8, loc="best")
        axes.set_xscale("log")
        axes.set_ylim(-0.05, 1.15)
        axes.margins(x=0.25)


def curve(axes: Axes, data: Data) -> None:
    """The mean over all cases of states or paths, over the time of the run."""
    column = 2 if data.panel.measure == "paths" else 1
    for configuration in data.panel.configurations:
        runs = [s["runs"][0] for s in data.samples if s["configuration"] == configuration and s["outcome"] == "measured"
                and data.has(s["case"]["series"])]  # fmt: skip
        if not runs:
            continue
        number = data.numbers[configuration]
        end = max(run["cpu_s"] for run in runs)
        times = [end * i / 40 for i in range(41)]
        heights = [sum(_reached(run, at, column) for run in runs) / len(runs) for at in times]
        axes.plot(times, heights, color=_COLOURS[number % 9], linestyle=_STROKES[number % 4], linewidth=1.8,
                  label=configuration)  # fmt: skip


def _reached(run: Mapping[str, Any], at: float, column: int) -> float:
    """States or paths at a time, interpolated between the recorded points; constant after the end of the run."""
    end = run["paths"] if column == 2 else run["states"]
    before = (0.0, 2.0 - column)
    for time_s, count in (*((row[0], row[column]) for row in run["curve"]), (run["cpu_s"], end)):
        if time_s >= at:
            share = (at - before[0]) / max(time_s - before[0], 1e-9)
            return float(before[1] + share * (count - before[1]))
        before = (time_s, count)
    return float(end)


def grid(axes: Axes, data: Data) -> None:
    """One row for each configuration, one column for each case; insignificant differences are in brackets."""
    columns = list(dict.fromkeys(row.x for row in data.rows()))
    names = list(data.panel.configurations)
    cells = [[math.nan] * len(columns) for _ in names]
    for row, value in data.measured():
        at = names.index(row.configuration), columns.index(row.x)
        shade = math.log2(max(0.05, 1 + value.mean / 100))
        cells[at[0]][at[1]] = max(-2.0, min(2.0, shade))
        significant = value.within is not None and abs(value.mean) > value.within
        text = f"{value.mean:+.0f}" if abs(value.mean) < 995 else f"{1 + value.mean / 100:.0f}x"
        axes.text(at[1], at[0], text if significant else f"({text})", ha="center", va="center", fontsize=8,
                  color="white" if shade > 1.2 or shade < -1.2 else "black")  # fmt: skip
    if data.measured():
        axes.imshow(cells, cmap="PuOr_r", vmin=-2, vmax=2, aspect="auto")
        axes.set_yticks(range(len(names)), names)
        _names(axes, columns)
        axes.grid(False)


def reasons(axes: Axes, data: Data) -> None:
    """One bar for each series: the first construct of each query that the technique passed on, by its counters."""
    found: dict[str, Counter[str]] = {}
    for sample in data.samples:
        mine = sample["configuration"] in data.panel.configurations and data.has(sample["case"]["series"])
        if sample["outcome"] == "measured" and mine:
            for layer in sample["runs"][0]["solver"]["layers"]:
                if layer["name"].endswith(":paper"):
                    counts = found.setdefault(sample["case"]["series"], Counter())
                    counts.update({key[7:]: int(n) for key, n in layer.items() if key.startswith("passed_") and n})
    found = {series: counts for series, counts in found.items() if counts}
    names = sorted({name for counts in found.values() for name in counts})
    left = [0.0] * len(found)
    for number, name in enumerate(names):
        widths = [100 * counts[name] / counts.total() for counts in found.values()]
        drawn = axes.barh(range(len(found)), widths, 0.55, left=left, label=name, color=_COLOURS[number % 9],
                          hatch=_HATCHES[number % 9], edgecolor="white", linewidth=0)  # fmt: skip
        texts = [f"{width:.0f} %" if width > 8 else "" for width in widths]
        back = {"facecolor": "white", "edgecolor": "none", "pad": 1, "alpha": 0.85}
        axes.bar_label(drawn, texts, label_type="center", fontsize=8, bbox=back)
        left = [a + b for a, b in zip(left, widths, strict=True)]
    if found:
        axes.set_yticks(range(len(found)), [series.replace(", ", ",\n") for series in found])
        axes.set_ylim(-0.6, len(found) - 0.4 + 0.6)
        axes.legend(fontsize=8, ncols=4, loc="upper center")


def wrong(axes: Axes, data: Data) -> None:
    """Two bars for each case with wrong answers: the number of queries answered, and of these the wrong ones."""
    checked = [row for row in data.rows() if "mismatches" in row.estimates]
    shown = [row for row in checked if row.estimates["mismatches"].mean > 0]
    if checked and not shown:
        axes.text(0.5, 0.5, f"no wrong answer, {len(checked)} cases", transform=axes.transAxes, ha="center")
        axes.set(xticks=[], yticks=[])
        axes.plot([], [])
    several = len({row.series for row in shown}) > 1
    shown.sort(key=lambda row: row.estimates["mismatches"].mean)
    for place, measure in enumerate(("handled", "mismatches")):
        at = [number + (place - 0.5) * 0.38 for number in range(len(shown))]
        if shown:
            axes.bar(at, [row.estimates[measure].mean for row in shown], 0.35, color=_COLOURS[place],
                     hatch=_HATCHES[place], edgecolor="white", linewidth=0,
                     label=("answered by integers", "of these, wrong")[place])  # fmt: skip
    if shown:
        _names(axes, [f"{row.x} ({row.series})" if several else str(row.x) for row in shown])
        axes.set_yscale("log")
        axes.legend(fontsize=8)
        axes.margins(y=0.3)


def _with_whiskers(axes: Axes, panel: Panel, xs: Iterable[Any], values: Sequence[Estimate], **look: Any) -> None:
    reach = list(zip(*(_whiskers(panel, value.mean, value.within or 0.0) for value in values), strict=True))
    axes.errorbar(list(xs), [value.mean for value in values], yerr=reach, elinewidth=0.8, **look)


def _whiskers(panel: Panel, mean: float, within: float) -> tuple[float, float]:
    """Lengths below and above the mean, cut to possible values; on a logarithmic axis those of the logarithm."""
    if panel.measure in _SHARES:
        return min(within, mean), min(within, 1 - mean)
    if panel.measure in _PER_CENT:
        return min(within, mean), min(within, 100 - mean)
    if panel.measure in _CHANGES:
        return min(within, mean + 100), within
    if panel.log_y and mean > 0:  # zero is not on the axis
        # An interval of the logarithm (delta method), so that both ends are positive and none is cut.
        relative = within / mean
        return mean * -math.expm1(-relative), mean * math.expm1(relative)
    return min(within, mean), within


def _mark_stopped(axes: Axes, places: Sequence[tuple[Any, Row]]) -> None:
    if places:
        axes.plot([x for x, _ in places], [row.seconds for _, row in places], "^", color="black", markersize=6,
                  fillstyle="none", label="stopped at this time")  # fmt: skip


def _scales(axes: Axes, panel: Panel) -> None:
    from matplotlib.patches import Rectangle
    from matplotlib.ticker import FuncFormatter, LogLocator
    from numpy import asarray

    if panel.log_y:
        axes.set_yscale("log")
        low, high = axes.get_ylim()
        # The whisker of two runs that differ may span ten orders of magnitude: it leaves the axes, means do not.
        lines = [line for line in axes.get_lines() if line.get_marker() != "_"]
        drawn = [float(y) for line in lines for y in asarray(line.get_ydata(), dtype=float) if y > 0]
        drawn += [bar.get_y() + bar.get_height() for bar in axes.patches if isinstance(bar, Rectangle)]
        if drawn:
            low, high = max(low, min(drawn) / _OUTSIDE), min(high, max(drawn) * _OUTSIDE)
            axes.set_ylim(low, high)
        subs = (1.0, 2.0, 5.0) if high < 60 * low else (1.0,)
        axes.yaxis.set_major_locator(LogLocator(subs=subs, numticks=12))
        axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,g}"))
        axes.yaxis.set_minor_formatter("")
    if panel.log_x:
        axes.set_xscale("log", base=2)
    if panel.measure == "speedup":
        axes.axhline(1, color=_GREY, linewidth=0.8)
    if panel.measure in _CHANGES:
        axes.axhline(0, color=_GREY, linewidth=0.8)


def _names(axes: Axes, names: Sequence[Any]) -> None:
    texts = [str(name) for name in names]
    leaning = sum(map(len, texts)) > 34
    axes.set_xticks(range(len(texts)), texts, rotation=40 if leaning else 0, ha="right" if leaning else "center",
                    rotation_mode="anchor" if leaning else "default", fontsize=8 if len(texts) > 9 else 9)  # fmt: skip


KINDS: dict[str, Callable[[Axes, Data], None]] = {
    "lines": lines,
    "timeouts": timeouts,
    "bars": bars,
    "tools": tools,
    "deviation": deviation,
    "ranked": ranked,
    "spread": spread,
    "scatter": scatter,
    "curve": curve,
    "grid": grid,
    "reasons": reasons,
    "wrong": wrong,
}
