"""Counts words that the glossary (docs/glossary.md) replaces by the field's own terms.

    python tests/lint/words.py [--list] [PATH ...]

Without a path every text file that git tracks is read. Prints a table of counts, with `--list` every place, and exits
with 1 if a word is left: `make lint` calls it. In names `_` separates words, so `passed_by` counts like "passed by".
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
# Both name the words that are to be replaced.
LEFT_OUT = {Path(__file__).resolve(), REPOSITORY / "docs" / "glossary.md"}
SUFFIXES = {".c", ".css", ".h", ".html", ".js", ".md", ".py", ".pyi", ".rs", ".toml", ".txt", ".yml"}
OTHER_FILES = {"Makefile", "run", "CITATION.cff"}
COMMENT = r"(?:///?|//!|\*|#|\"\"\")\s?"
PER = "|".join(
    "access array block branch byte call check conflict constraint element entry family file fork format function gate "
    "input instruction layer line literal log loop method module name node object operator option page path platform "
    "process program query question read record round row run second solve state step store test thread tool utility "
    "value variable way width word write".split()
)
OBJECT = "(?:it |them |a layer |the layer |layers )?"

# Pattern, what to write instead. A space also matches `_` and `-`.
WORDS = [
    (r"so many|so manieth|so much (?:of|time|memory)", "N, or the number itself"),
    (r"wish(?:es|ed)?", "target; propagate a target"),
    (r"grant(?:s|ed|ing)?", "propagate, satisfy"),
    (r"born", "forked"),
    (r"hangs? (?:on|at|above|below|under|there|here)|hung|hanging", "is attached to"),
    (rf"(?:pass|passes|passed|passing) {OBJECT}by(?! (?:value|reference|pointer|name))", "skip"),
    (r"in vain", "without success"),
    (r"whoever|nobody|somebody|anybody", "the caller, no layer, unknown: name the noun"),
    (r"reckon(?:s|ed|ing)?", "estimate"),
    (r"tired", "conflict limit reached"),
    (r"dear|dearer|dearest|dearly", "expensive, costs more than"),
    (r"under way", "current, in progress"),
    (r"(?:in|at) hand", "current, available"),
    (r"lot|lots", "batch, many"),
    (r"shelf|shelves", "a name that says what is kept"),
    (r"loan(?:s|ed)?", "borrowed"),
    (r"sinks|sunk|sank|sinking|rises|rose|risen", "is pushed down, is moved up"),
    (r"the ends?:", "Errors:"),
    (rf"one [a-z]+ an? (?:{PER})", "one per N"),
    (rf"(?:[0-9]|bytes?|bits?|us|ms|ns|seconds?|microseconds?|nanoseconds?|once|twice) an? (?:{PER})", "per N"),
    (r"questions?", "query"),
    (r"told apart|tells apart|tell apart", "distinguished"),
    (r"held against", "compared with"),
    (r"mended", "fixed"),
]
CASED = [
    (rf"{COMMENT}(?:What|Of|The same|Whoever|Whatever|Those|Such)\b", "a comment that begins with the noun"),
    (r"\b(?:FEW|MANY|MUCH|LONGER|DOUBT|AGAIN|USE|TOGETHER|MAKING|SOON)\b", "a constant that names what it limits"),
]


def compiled() -> list[tuple[re.Pattern[str], str, str]]:
    rows = []
    for pattern, instead in WORDS:
        spaced = pattern.replace(" ", r"[ _-]+")
        rows.append((re.compile(rf"(?<![A-Za-z])(?:{spaced})(?![A-Za-z])", re.IGNORECASE), pattern, instead))
    rows.extend((re.compile(pattern, re.MULTILINE), pattern, instead) for pattern, instead in CASED)
    return rows


def tracked() -> Iterator[Path]:
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    done = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, check=True)
    for name in done.stdout.splitlines():
        path = REPOSITORY / name
        if path.is_file() and (path.suffix in SUFFIXES or path.name in OTHER_FILES):
            yield path


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--list", action="store_true", help="print every place")
    parser.add_argument("paths", nargs="*", type=Path, help="files or folders; without any: all that git tracks")
    arguments = parser.parse_args()
    roots = [path.resolve() for path in arguments.paths]
    counts: Counter[str] = Counter()
    rows = compiled()
    for path in tracked():
        if path in LEFT_OUT or (roots and not any(path.is_relative_to(root) for root in roots)):
            continue
        text = path.read_text(encoding="utf-8")
        for pattern, name, instead in rows:
            for found in pattern.finditer(text):
                counts[name] += 1
                if arguments.list:
                    line = text.count("\n", 0, found.start()) + 1
                    print(f"{path.relative_to(REPOSITORY)}:{line}: `{found.group().strip()}`: {instead}")
    for name, count in counts.most_common():
        print(f"{count:6}  {name if len(name) <= 80 else name[:77] + '...'}")
    print(f"{counts.total():6}  in all")
    return 1 if counts else 0


if __name__ == "__main__":
    sys.exit(main())
