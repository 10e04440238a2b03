"""Draws the rows of an experiment: NAME.svg and NAME.png, one pair of axes a panel."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from partita.bench.experiment import Experiment, Panel
from partita.bench.rows import Row
from partita.errors import UsageError

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MARKERS = "osD^vPX*"
_STYLES = ("-", "--", ":", "-.")
Points = list[tuple[Any, float, float]]
"""Where, how much, within what."""


def check_installed() -> None:
    """What the extra `bench` brings, before anything is measured."""
    try:
        import matplotlib  # noqa: F401
        import z3  # noqa: F401
    except ImportError as error:
        raise UsageError(
            f"partita bench needs the package that has `{error.name}`: pip install 'partita[bench]'"
        ) from None


def draw(experiment: Experiment, rows: list[Row], samples: Sequence[Mapping[str, Any]], folder: Path) -> None:
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    # What is not installed has no panel, unless nothing has.
    ran = {row.configuration for row in rows if row.outcome != "not run"}
    panels = [one for one in experiment.panels if ran.intersection(one.configurations)] or experiment.panels[:1]
    count = len(panels)
    with matplotlib.rc_context({"svg.hashsalt": experiment.name, "svg.fonttype": "none", "font.size": 10,
                                "axes.grid": True, "grid.alpha": 0.3, "axes.axisbelow": True}):  # fmt: skip
        widths = [_width(panel, rows) for panel in panels]
        columns = 2 if count == 4 else count
        ratios = [max(widths[column::columns]) for column in range(columns)]
        size = (2.6 + sum(ratios), 4 * (count // columns))
        figure, grid = pyplot.subplots(count // columns, columns, figsize=size, squeeze=False, layout="constrained",
                                       width_ratios=ratios)  # fmt: skip
        axes = list(grid.flat)
        for panel, place in zip(panels, axes, strict=True):
            place.set(title=panel.title, xlabel=panel.x_label, ylabel=panel.y_label)
            if panel.kind == "curve":
                _curve(place, panel, samples)
            elif _points(panel, rows):
                _KINDS[panel.kind](place, panel, rows)
            if not place.has_data():
                place.text(0.5, 0.5, "nothing measured", transform=place.transAxes, ha="center")
                place.set(xticks=[], yticks=[])
        _share_height(panels, axes)
        # The panels of an experiment have the same lines.
        told = {name: mark for place in axes for mark, name in zip(*place.get_legend_handles_labels(), strict=True)}
        if told:
            figure.legend(told.values(), told.keys(), loc="outside right upper", fontsize=9)
        figure.savefig(folder / f"{experiment.name}.svg", metadata={"Date": None})
        figure.savefig(folder / f"{experiment.name}.png", dpi=130)
        pyplot.close(figure)


def _width(panel: Panel, rows: list[Row]) -> float:
    """In inches: bars want room for each."""
    if panel.kind != "bars":
        return 4.2
    bars = sum(map(len, _points(panel, rows).values()))
    return min(14.0, max(4.2, 0.18 * bars))


def _share_height(panels: Sequence[Panel], axes: list[Axes]) -> None:
    """Panels of one measure have one scale, so that they can be compared."""
    drawn = [place for place in axes if place.has_data()]
    if drawn and len({(panel.measure, panel.kind) for panel in panels}) == 1:
        low, high = (pick(a.get_ylim()[i] for a in drawn) for i, pick in ((0, min), (1, max)))
        for place in drawn:
            place.set_ylim(low, high)


def _points(panel: Panel, rows: list[Row]) -> dict[tuple[str, str], Points]:
    """By series and configuration."""
    found: dict[tuple[str, str], Points] = {}
    for row in rows:
        value = row.estimates.get(panel.measure)
        if row.configuration in panel.configurations and panel.series in ("", row.series) and value is not None:
            found.setdefault((row.series, row.configuration), []).append((row.x, value.mean, value.within or 0.0))
    return found


def _lines(axes: Axes, panel: Panel, rows: list[Row]) -> None:
    points = _points(panel, rows)
    series = list(dict.fromkeys(name for name, _ in points))
    for (name, configuration), line in points.items():
        xs, means, within = zip(*line, strict=True)
        several = len(panel.configurations) > 1
        which = panel.configurations.index(configuration) if several else series.index(name)
        words = ([name] if len(series) > 1 else []) + ([configuration] if several or len(series) == 1 else [])
        # On a logarithmic axis a bar that reaches below zero would be drawn without end.
        below = [min(w, 0.9 * m) for m, w in zip(means, within, strict=True)]
        axes.errorbar(xs, means, yerr=(below, within), label=", ".join(words), capsize=2, elinewidth=0.7,
                      markersize=5, linewidth=1.4, color=f"C{which}", marker=_MARKERS[which % len(_MARKERS)],
                      linestyle=_STYLES[series.index(name) % len(_STYLES)] if several else "-")  # fmt: skip
    if panel.log_y:
        axes.set_yscale("log")
    if panel.log_x:
        axes.set_xscale("log", base=2)
    if points:
        ticks = sorted({x for line in points.values() for x, _, _ in line})
        axes.set_xticks(ticks, [str(x) for x in ticks], minor=False)
        axes.minorticks_off() if panel.log_x else None
    if panel.measure == "speedup":
        axes.axhline(1, color="0.4", linewidth=0.8)


def _bars(axes: Axes, panel: Panel, rows: list[Row]) -> None:
    points = _points(panel, rows)
    groups = list(dict.fromkeys(x for line in points.values() for x, _, _ in line))
    bars_of = _by_label(points)
    width = 0.8 / max(1, len(bars_of))
    for place, (label, values) in enumerate(bars_of.items()):
        at = [groups.index(x) + (place - (len(bars_of) - 1) / 2) * width for x, _, _ in values]
        means = [mean for _, mean, _ in values]
        within = [_whiskers(panel, mean, w) for _, mean, w in values]
        bars = axes.bar(at, means, 0.9 * width, label=label)
        if panel.measure == "solves":
            axes.bar_label(bars, fmt="%g", fontsize=8)
        elif values:
            axes.errorbar(at, means, yerr=list(zip(*within, strict=True)), fmt="none", ecolor="0.2", elinewidth=0.7)
    if panel.log_y:
        axes.set_yscale("log")
    if panel.measure == "speedup":
        axes.axhline(1, color="0.4", linewidth=0.8)
    names = [str(x) for x in groups]
    leaning = sum(map(len, names)) > 40
    axes.set_xticks(range(len(groups)), names, rotation=40 if leaning else 0, ha="right" if leaning else "center")
    axes.margins(y=0.15)


def _whiskers(panel: Panel, mean: float, within: float) -> tuple[float, float]:
    """Down and up; not where no value can be, nor without end on a logarithmic axis."""
    if panel.measure in ("hit_rate", "success"):
        return min(within, mean), min(within, 1 - mean)
    if panel.measure in ("difference", "increase"):
        return min(within, mean + 100), within
    return min(within, 0.9 * mean) if panel.log_y else within, within


def _by_label(points: dict[tuple[str, str], Points]) -> dict[str, Points]:
    """A colour of bars for each configuration; or for each series, where these have the same groups."""
    places = [x for line in points.values() for x, _, _ in line]
    by_series = len({name for _, name in points}) == 1 and len(places) > len(set(places))
    found: dict[str, Points] = {}
    for (series, configuration), line in points.items():
        found.setdefault(series if by_series else configuration, []).extend(line)
    return found


def _ranked(axes: Axes, panel: Panel, rows: list[Row]) -> None:
    """Cases by what was measured, the least first, for each configuration on its own."""
    for number, configuration in enumerate(panel.configurations):
        lines = (line for (_, name), line in _points(panel, rows).items() if name == configuration)
        values = sorted((mean, within) for line in lines for _, mean, within in line)
        if values:
            means = [mean for mean, _ in values]
            within = list(zip(*(_whiskers(panel, *value) for value in values), strict=True))
            axes.errorbar(range(1, len(means) + 1), means, yerr=within, fmt=_MARKERS[number], color=f"C{number}",
                          label=configuration, markersize=4, capsize=2, elinewidth=0.7)  # fmt: skip
    axes.axhline(0, color="0.4", linewidth=0.8)
    axes.set_xlim(0, None)


def _spread(axes: Axes, panel: Panel, rows: list[Row]) -> None:
    """One column a configuration: a point for each case, a diamond for their mean, the means joined."""
    points = _points(panel, rows)
    means: list[tuple[int, float]] = []
    for place, configuration in enumerate(panel.configurations):
        values = [mean for (_, name), line in points.items() if name == configuration for _, mean, _ in line]
        if values:
            axes.plot([place] * len(values), values, "o", color="C0", alpha=0.5, markersize=4,
                      label="a program" if not means else None)  # fmt: skip
            means.append((place, sum(values) / len(values)))
    axes.plot(*zip(*means, strict=True), "D-", color="C3", markersize=6, linewidth=1.2, label="mean")
    axes.axhline(0, color="0.4", linewidth=0.8)
    axes.set_xticks(range(len(panel.configurations)), panel.configurations, rotation=40, ha="right")


def _scatter(axes: Axes, panel: Panel, rows: list[Row]) -> None:
    """A point a case: what was measured over how many questions were asked."""
    for number, configuration in enumerate(panel.configurations):
        drawn = [row for row in rows if row.configuration == configuration and panel.measure in row.estimates]
        xs, ys = ([row.estimates[name].mean for row in drawn] for name in ("queries", panel.measure))
        axes.plot(xs, ys, _MARKERS[number], color=f"C{number}", label=configuration, markersize=6)
        for row, x, y in zip(drawn, xs, ys, strict=True):
            axes.annotate(str(row.x), (x, y), textcoords="offset points", xytext=(6, 4), fontsize=8)
    axes.set_xscale("log")
    axes.set_ylim(-0.05, 1.1)
    axes.margins(x=0.25)


def _curve(axes: Axes, panel: Panel, samples: Sequence[Mapping[str, Any]]) -> None:
    """The mean over all cases of how far they were, over the time of the run."""
    for number, configuration in enumerate(panel.configurations):
        runs = [s["runs"][0] for s in samples if s["configuration"] == configuration and s["outcome"] == "measured"
                and panel.series in ("", s["case"]["series"])]  # fmt: skip
        if not runs:
            continue
        end = max(run["wall_s"] for run in runs)
        times = [end * i / 40 for i in range(41)]
        heights = [sum(_reached(run, at) for run in runs) / len(runs) for at in times]
        axes.plot(times, heights, color=f"C{number % 10}", linestyle=_STYLES[number % len(_STYLES)], linewidth=1.6,
                  label=configuration)  # fmt: skip


def _reached(run: Mapping[str, Any], at: float) -> float:
    """Between what was noted, on a straight line; a run that is over stays where it is."""
    before = (0.0, 1.0)
    for time_s, count in (*run["curve"], (run["wall_s"], run["states"])):
        if time_s >= at:
            share = (at - before[0]) / max(time_s - before[0], 1e-9)
            return float(before[1] + share * (count - before[1]))
        before = (time_s, count)
    return float(run["states"])


_KINDS = {"lines": _lines, "bars": _bars, "ranked": _ranked, "spread": _spread, "scatter": _scatter}
