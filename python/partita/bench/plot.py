"""Draws the rows of an experiment: NAME.svg and NAME.png, one pair of axes a panel."""

from __future__ import annotations

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


def draw(experiment: Experiment, rows: list[Row], folder: Path) -> None:
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    count = len(experiment.panels)
    with matplotlib.rc_context({"svg.hashsalt": experiment.name, "svg.fonttype": "none", "font.size": 10,
                                "axes.grid": True, "grid.alpha": 0.3, "axes.axisbelow": True}):  # fmt: skip
        crowded = len(experiment.configurations) > 6 or len({row.x for row in rows}) > 12
        width = 2.6 + 4.2 * count + (4.2 if crowded else 0)
        figure, axes = pyplot.subplots(1, count, figsize=(width, 4), squeeze=False, layout="constrained")
        for panel, place in zip(experiment.panels, axes[0], strict=True):
            _bars(place, panel, rows) if panel.bars else _lines(place, panel, rows)
            place.set(title=panel.title, xlabel=panel.x_label, ylabel=panel.y_label)
        _share_height(experiment, list(axes[0]))
        # The panels of an experiment have the same lines.
        figure.legend(*axes[0][0].get_legend_handles_labels(), loc="outside right upper", fontsize=9)
        figure.savefig(folder / f"{experiment.name}.svg", metadata={"Date": None})
        figure.savefig(folder / f"{experiment.name}.png", dpi=130)
        pyplot.close(figure)


def _share_height(experiment: Experiment, axes: list[Axes]) -> None:
    """Panels of one measure have one scale, so that they can be compared."""
    if len({panel.measure for panel in experiment.panels}) == 1:
        low, high = (pick(a.get_ylim()[i] for a in axes) for i, pick in ((0, min), (1, max)))
        for place in axes:
            place.set_ylim(low, high)


def _points(panel: Panel, rows: list[Row]) -> dict[tuple[str, str], Points]:
    """By series and configuration."""
    found: dict[tuple[str, str], Points] = {}
    for row in rows:
        value = row.estimates.get(panel.measure)
        if row.configuration in panel.configurations and value is not None:
            found.setdefault((row.series, row.configuration), []).append((row.x, value.mean, value.within or 0.0))
    return found


def _lines(axes: Axes, panel: Panel, rows: list[Row]) -> None:
    points = _points(panel, rows)
    series = list(dict.fromkeys(name for name, _ in points))
    if not points:
        axes.text(0.5, 0.5, "nothing measured", transform=axes.transAxes, ha="center")
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
    groups = list(dict.fromkeys(row.x for row in rows))
    bars_of = _by_label(points)
    width = 0.8 / max(1, len(bars_of))
    for place, (label, values) in enumerate(bars_of.items()):
        at = [groups.index(x) + (place - (len(bars_of) - 1) / 2) * width for x, _, _ in values]
        means, within = [mean for _, mean, _ in values], [(min(w, 0.9 * mean), w) for _, mean, w in values]
        bars = axes.bar(at, means, 0.9 * width, label=label)
        if panel.measure == "solves":
            axes.bar_label(bars, fmt="%g", fontsize=8)
        elif values:
            axes.errorbar(at, means, yerr=list(zip(*within, strict=True)), fmt="none", ecolor="0.2", elinewidth=0.7)
    if panel.log_y:
        axes.set_yscale("log")
    axes.set_xticks(range(len(groups)), [str(x) for x in groups], rotation=60 if len(groups) > 8 else 0)
    axes.margins(y=0.15)


def _by_label(points: dict[tuple[str, str], Points]) -> dict[str, Points]:
    """A colour of bars for each configuration; or for each series, where these have the same groups."""
    places = [x for line in points.values() for x, _, _ in line]
    by_series = len({name for _, name in points}) == 1 and len(places) > len(set(places))
    found: dict[str, Points] = {}
    for (series, configuration), line in points.items():
        found.setdefault(series if by_series else configuration, []).extend(line)
    return found
