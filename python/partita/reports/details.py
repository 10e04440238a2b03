"""Details of a run for reports: `tree.json` (forks, decisions that lead into bugs) and `slowest.json`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from partita import _core

if TYPE_CHECKING:
    from partita.cluster.coordinator import Coordinator

SCHEMA = 1
_COLUMNS = ("parent", "place", "side", "ending", "test", "left_out")


def tree(engine: _core.Engine | Coordinator) -> dict[str, Any]:
    """The contents of `tree.json` (docs/formats.md)."""
    raw = engine.tree()
    # Instructions of one line share a number.
    places: dict[tuple[str, int, str, str | None], int] = {}
    numbers = [places.setdefault(row, len(places)) for row in raw["places"]]
    raw["place"] = [None if at is None else numbers[at] for at in raw["place"]]

    def decision(place: tuple[str, int, str, str | None], side: str | None) -> dict[str, Any]:
        return {"place": places.setdefault(place, len(places)), "side": side}

    bugs = [
        {
            **{key: bug[key] for key in ("class", "file", "line")},
            "decisions": [decision(*row) for row in rows],
            "left_out": left_out,
        }
        for bug, (rows, left_out) in zip(engine.summary()["bugs"], engine.trails(), strict=True)
    ]
    return {
        "schema": SCHEMA,
        "places": [dict(zip(("file", "line", "function", "inside"), row, strict=True)) for row in places],
        "sides": raw["sides"],
        "endings": raw["endings"],
        "nodes": {name: raw[name] for name in _COLUMNS},
        "bugs": bugs,
    }


def slowest(engine: _core.Engine | Coordinator) -> dict[str, Any]:
    """The contents of `slowest.json`."""
    return {"schema": SCHEMA, "queries": engine.slowest()}
