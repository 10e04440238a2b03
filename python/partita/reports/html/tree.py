"""The section on the exploration: the tree of forks, drawn by `tree.js` from the columns of `tree.json`."""

from __future__ import annotations

import json

from partita.reports.html.data import RunData
from partita.results import counted

_KEYS = (
    "<kbd>+</kbd> <kbd>-</kbd> zoom, <kbd>0</kbd> shows everything, arrows move to the fork above and to the paths "
    "below and beside, <kbd>Enter</kbd> zooms into the selection"
)


def render(data: RunData) -> str:
    tree = data.tree
    if tree is None:
        return "<p>This run did not record the tree of forks.</p>"
    nodes = tree["nodes"]
    count = len(nodes["parent"])
    if count == 1 and (forks := data.run.get("forks")):
        recorded = "only runs of one process do, in their last part"
        return f"<p>None of the {counted(forks, 'fork')} was recorded: {recorded}.</p>"
    if count == 1:
        return "<p>There was one path, without forks.</p>"
    left_out = sum(nodes["left_out"])
    note = (
        f" {counted(left_out, 'path')} beyond the recorded forks: counted at the last fork, not drawn."
        if left_out
        else ""
    )
    columns = {
        **nodes,
        "places": [
            [data.links.name(row["file"]) if row["line"] else "", row["line"], row["inside"]] for row in tree["places"]
        ],
        "sides": tree["sides"],
        "endings": tree["endings"],
    }
    # Without `<` the data cannot end its script element.
    text = json.dumps(columns, separators=(",", ":")).replace("<", "\\u003c")
    return (
        f'<p class="soft">The tree of forks, from top to bottom. The width of a fork is the number of paths '
        f"below it.{note}</p>\n"
        '<p class="key"><span><i class="good-mark"></i>exit</span><span><i class="bad-mark"></i>bug, or a bug below'
        '</span><span><i class="part-mark"></i>limit or unsupported</span><span><i class="fork-mark"></i>'
        "fork</span></p>\n"
        '<div id="tree" hidden><p class="tools"><button type="button" data-do="in" aria-label="Zoom in">+</button>'
        '<button type="button" data-do="out" aria-label="Zoom out">&minus;</button>'
        '<button type="button" data-do="all">All</button>'
        '<button type="button" data-do="bug">Next bug</button></p>\n'
        '<canvas tabindex="0" role="application" aria-label="Tree of forks" aria-describedby="tree-node"></canvas>\n'
        f'<p id="tree-node" role="status"></p>\n<p class="soft keys">{_KEYS}</p></div>\n'
        "<noscript><p>Drawing it needs JavaScript.</p></noscript>\n"
        f'<script type="application/json" id="tree-data">{text}</script>'
    )
