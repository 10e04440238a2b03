"""Draws the rows of an experiment: NAME.svg and NAME.png, one pair of axes per panel. `kinds` draws panels.

Plots are readable at 800 pixels, the width of a page of documentation, and in grey: markers, strokes and hatches differ
wherever colours do.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from experiments import kinds
from experiments.experiment import Experiment, Panel
from experiments.rows import Row
from partita.errors import UsageError

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_WIDTH, _HALF, _HEIGHT, _LEGEND_ROW = 9.4, 6.4, 3.5, 0.24
"""In inches: width of a figure with two panels per row, and with one; height of a row of panels, of a legend row."""
_STYLE = {
    "svg.fonttype": "none",
    "font.size": 10,
    "axes.titlesize": 11,
    "axes.grid": True,
    "grid.alpha": 0.3,
    "axes.axisbelow": True,
    "hatch.linewidth": 0.6,
}


def check_installed() -> None:
    """Checks for the packages of requirements/experiments.txt before anything is measured."""
    try:
        import matplotlib  # noqa: F401
        import z3  # noqa: F401
    except ImportError as error:
        raise UsageError(
            f"experiments need the package that has `{error.name}`: pip install -r requirements/experiments.txt"
        ) from None


def draw(experiment: Experiment, rows: list[Row], samples: Sequence[Mapping[str, Any]], folder: Path) -> None:
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    numbers = {name: number for number, name in enumerate(experiment.configurations)}
    parts = [kinds.Data(panel, rows, samples, numbers) for panel in experiment.panels]
    # A panel without measurements (not installed, not in this scale) is left out, unless all are.
    parts = [part for part in parts if any(row.outcome != "not run" for row in part.rows())] or parts[:1]
    mosaic = _mosaic([kinds.is_wide(part) for part in parts])
    width = _WIDTH if len(mosaic[0]) > 1 or kinds.is_wide(parts[0]) else _HALF
    with matplotlib.rc_context({**_STYLE, "svg.hashsalt": experiment.name}):
        figure = pyplot.figure(layout="constrained")
        axes = figure.subplot_mosaic(mosaic, empty_sentinel=-1)
        for number, part in enumerate(parts):
            panel, place = part.panel, axes[number]
            place.set(title=panel.title, xlabel=panel.x_label, ylabel=panel.y_label)
            if part.measured() or part.stopped():
                kinds.KINDS[panel.kind](place, part)
            else:
                place.text(0.5, 0.5, "nothing measured", transform=place.transAxes, ha="center")
                place.set(xticks=[], yticks=[])
        _share_height([part.panel for part in parts], [axes[number] for number in range(len(parts))])
        # Panels without a legend of their own share one.
        shared = [axes[n] for n in range(len(parts)) if axes[n].get_legend() is None]
        labelled = {
            name: mark for place in shared for mark, name in zip(*place.get_legend_handles_labels(), strict=True)
        }
        legend_rows = 0
        if labelled:
            columns = max(1, min(len(labelled), int(width * 9 / (max(map(len, labelled)) + 5))))
            legend_rows = -(-len(labelled) // columns)
            figure.legend(labelled.values(), labelled.keys(), loc="outside lower center", ncols=columns, fontsize=9)
        figure.set_size_inches(width, _HEIGHT * len(mosaic) + _LEGEND_ROW * legend_rows)
        figure.savefig(folder / f"{experiment.name}.svg", metadata={"Date": None})
        figure.savefig(folder / f"{experiment.name}.png", dpi=130)
        pyplot.close(figure)


def _mosaic(wide: Sequence[bool]) -> list[list[int]]:
    """Numbers of panels in rows of two; a wide panel fills a row, and -1 is an empty place."""
    rows: list[list[int]] = []
    for number, alone in enumerate(wide):
        if alone or not rows or len(rows[-1]) == 2:
            rows.append([number, number] if alone else [number])
        else:
            rows[-1].append(number)
    if max(len(set(row)) for row in rows) == 1:
        return [[row[0]] for row in rows]
    return [row if len(row) == 2 else [*row, -1] for row in rows]


def _share_height(panels: Sequence[Panel], axes: list[Axes]) -> None:
    """Gives panels of one measure the same scale, so that they can be compared."""
    drawn = [place for place in axes if place.has_data()]
    if drawn and len({(panel.measure, panel.kind) for panel in panels}) == 1:
        low, high = (pick(a.get_ylim()[i] for a in drawn) for i, pick in ((0, min), (1, max)))
        for place in drawn:
            place.set_ylim(low, high)
