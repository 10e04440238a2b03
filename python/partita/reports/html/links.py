"""Links to lines of the source on the page."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape
from pathlib import Path

from partita.findings import is_system_header, relative


class Links:
    """Anchors of the lines of some source files."""

    def __init__(self, files: Iterable[str], root: Path) -> None:
        self._numbers = {name: number for number, name in enumerate(files)}
        self._root = root

    def name(self, file: str) -> str:
        """The file relative to the project; of the headers of the system, how a source includes them."""
        if is_system_header(file):
            return f"<{Path(file).name}>"
        return relative(file, self._root) if file else ""

    def anchor(self, file: str, line: int) -> str:
        return f"f{self._numbers[file]}-{line}"

    def link(self, file: str, line: int) -> str:
        """A place; a link if its line is on the page."""
        if not line:
            return "unknown place"
        text = f"<code>{escape(self.name(file))}:{line}</code>"
        return f'<a href="#{self.anchor(file, line)}">{text}</a>' if file in self._numbers else text
