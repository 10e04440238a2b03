"""Links to lines of the source on the page."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape

from partita.results import shown


class Links:
    """Anchors of the lines of some source files."""

    def __init__(self, files: Iterable[str]) -> None:
        self._numbers = {name: number for number, name in enumerate(files)}

    def anchor(self, file: str, line: int) -> str:
        return f"f{self._numbers[file]}-{line}"

    def link(self, file: str, line: int) -> str:
        """A place; a link if its line is on the page."""
        if not line:
            return "unknown place"
        text = f"<code>{escape(shown(file))}:{line}</code>"
        return f'<a href="#{self.anchor(file, line)}">{text}</a>' if file in self._numbers else text
