"""Draws run.svg, a run as a terminal shows it: `python docs/pictures/run.py`. First how it goes, then how it ends."""

from __future__ import annotations

import os
import re
import tempfile
from io import StringIO
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.terminal_theme import MONOKAI

from partita import Run, explore
from partita.cli.follow import follow
from partita.cli.live import Terminal

HERE = Path(__file__).resolve().parent
# Tenths of a second after which it is looked at.
SLICES = 20
COLUMNS = 112


class Photographed(Terminal):
    """Prints what it would show for a moment."""

    def __init__(self, run: Run, console: Console) -> None:
        super().__init__(run, console)
        self._console, self._left = console, SLICES

    def progress(self, data: dict[str, Any]) -> None:
        super().progress(data)
        self._left -= 1
        if self._left == 0:
            self._console.print(self.frame())
            self._console.print("[dim]...[/dim]")


def draw() -> str:
    console = Console(record=True, width=COLUMNS, highlight=False, soft_wrap=True, file=StringIO())
    console.print("[bold]$ partita run rle.c --max-time 3s[/bold]")
    run = explore("rle.c", out="partita-out-0", max_time=3)
    follow(run, Photographed(run, console))
    # Fonts would be fetched from elsewhere.
    svg = console.export_svg(title="partita", theme=MONOKAI)
    return re.sub(r"@font-face \{.*?\}", "", svg, flags=re.DOTALL)


if __name__ == "__main__":
    # The example, with longer inputs so that there is something to see.
    text = (HERE.parent.parent / "examples" / "rle.c").read_text()
    for small, large in (("in[4]", "in[24]"), ("(in, 2, out)", "(in, 12, out)"), ("ROOM 6", "ROOM 40")):
        assert small in text
        text = text.replace(small, large)
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        Path("rle.c").write_text(text)
        (HERE / "run.svg").write_text(draw())
