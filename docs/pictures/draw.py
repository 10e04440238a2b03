"""Draws architecture.svg: `python docs/pictures/draw.py`. Boxes in columns, one colour per language."""

from __future__ import annotations

from html import escape
from pathlib import Path

from partita.solver import DEFAULT_LAYERS

COLOURS = {"Python": "#3b6ea5", "Rust": "#b1552b", "C": "#4f7f3f"}
WIDTH, HEIGHT, STEP, TOP = 138, 46, 166, 66

# Column, row, title, what it is, language.
BOXES = [
    (0, 0, "prog.c, ./prog", "what you have", ""),
    (1, 0, "frontends", "zig cc, llvmlite", "Python"),
    (1, 1, "musl, kernel", "runtime in C", "C"),
    (2, 0, "llvm", "lowering", "Python"),
    (3, 0, "program", "what is executed", "Rust"),
    (4, 0, "exec", "states, memory, search", "Rust"),
    (5, 0, "tests, run.json", ".ktest, .lcov", ""),
    (6, 0, "report, replay", "export, bench", "Python"),
]
LAYERS = DEFAULT_LAYERS.split()


def text(x: float, y: float, words: str, size: int = 13, weight: str = "normal", fill: str = "#222") -> str:
    style = f'font-size="{size}" font-weight="{weight}" fill="{fill}" text-anchor="middle"'
    return f'<text x="{x:.0f}" y="{y:.0f}" {style}>{escape(words)}</text>'


def rectangle(x: float, y: float, width: float, height: float, stroke: str, fill: str = "#fff") -> str:
    place = f'x="{x:.0f}" y="{y:.0f}" width="{width:.0f}" height="{height:.0f}"'
    return f'<rect {place} rx="6" fill="{fill}" stroke="{stroke}" stroke-width="2"/>'


def box(x: float, y: float, title: str, about: str, language: str) -> str:
    middle = x + WIDTH / 2
    words = text(middle, y + 20, title, weight="bold") + text(middle, y + 37, about, 11, fill="#555")
    return rectangle(x, y, WIDTH, HEIGHT, COLOURS.get(language, "#777")) + words


def arrow(x1: float, y1: float, x2: float, y2: float) -> str:
    place = f'x1="{x1:.0f}" y1="{y1:.0f}" x2="{x2:.0f}" y2="{y2:.0f}"'
    return f'<line {place} stroke="#555" stroke-width="1.6" marker-end="url(#tip)"/>'


def picture() -> str:
    left, gap = 14, STEP - WIDTH
    parts = []
    for column, row, title, about, language in BOXES:
        x, y = left + column * STEP, TOP + row * (HEIGHT + 22)
        parts.append(box(x, y, title, about, language))
        if column and row == 0:
            parts.append(arrow(x - gap, y + HEIGHT / 2, x - 3, y + HEIGHT / 2))
    parts.append(arrow(left + STEP + WIDTH, TOP + HEIGHT + 45, left + 2 * STEP + 10, TOP + HEIGHT + 4))
    # The chain below the explorer: a query goes down on its left, an answer comes up on its right.
    y = TOP + 2 * HEIGHT + 62
    middle = left + 4 * STEP + WIDTH / 2
    parts.append(arrow(middle - 18, TOP + HEIGHT, middle - 18, y - 26))
    parts.append(arrow(middle + 18, y - 26, middle + 18, TOP + HEIGHT + 3))
    parts.append(text(middle - 66, TOP + HEIGHT + 32, "query", 11, fill="#555"))
    parts.append(text(middle + 62, TOP + HEIGHT + 32, "answer", 11, fill="#555"))
    wide = 7 * STEP - gap
    parts.append(rectangle(left, y - 24, wide, 92, COLOURS["Rust"], "#f6efe9"))
    parts.append(text(left + 245, y - 6, "solve: one layer after another, each answers or passes on", 12, fill="#555"))
    each = (wide - 20) / len(LAYERS)
    for number, layer in enumerate(LAYERS):
        x = left + 10 + number * each
        parts.append(rectangle(x + 3, y + 8, each - 6, 34, COLOURS["Rust"]))
        parts.append(text(x + each / 2, y + 30, layer, 12, "bold"))
    parts.append(
        text(
            left + wide / 2,
            y + 59,
            "domains: interval, difference, blast; expressions and the path tree below all of it",
            11,
            fill="#555",
        )
    )
    for number, (language, colour) in enumerate(COLOURS.items()):
        x = left + 8 + number * 90
        parts.append(rectangle(x, 22, 14, 14, colour))
        parts.append(text(x + 40, 34, language, 12))
    size = (left * 2 + wide, y + 84)
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {size[0]:.0f} {size[1]:.0f}" font-family="sans-serif">'
        '<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">'
        '<path d="M0,0 L8,4 L0,8 z" fill="#555"/></marker></defs>'
        f'<rect width="100%" height="100%" fill="#fdfdfb"/>'
    )
    return head + "\n".join(parts) + "</svg>\n"


if __name__ == "__main__":
    Path(__file__).with_name("architecture.svg").write_text(picture())
