"""Makes the query logs of benchmarks/queries again.

    python -m experiments.record_queries [NAME...]

Explores each program of benchmarks/programs depth first, with the layer `record` before the default chain, until the
log is longer than `MAX_BYTES`. Keeps the complete queries up to that size and before the first one that takes Bitwuzla
longer than `MAX_QUERY_S`. Bitwuzla and the default chain must agree on them; the verdicts go into NAME.json. KQuery has
no constant arrays: programs that need them have no KQuery log.
"""

from __future__ import annotations

import argparse
import gzip
import json
import re
import sys
import tempfile
from pathlib import Path

from experiments.locations import PROGRAMS, QUERIES
from partita import _core, backends, explore
from partita.solver import DEFAULT_LAYERS

MAX_BYTES = 1_000_000
"""Limit on the text of one log."""
MAX_S = 60.0
"""Limit on exploring one program."""
MAX_QUERY_S = 5.0
STEP_S = 0.05
LANGUAGES = {"smt2": "smtlib", "kquery": "kquery"}
_CHAIN = " ".join(name for name in DEFAULT_LAYERS.split() if name != "store")
_VERDICTS = {"sat", "unsat", "unknown", "VALID", "INVALID", "UNKNOWN"}


def recorded(program: Path, suffix: str) -> list[str]:
    """The first queries of a program, each with its declarations; none if one cannot be printed in this language."""
    with tempfile.TemporaryDirectory() as folder:
        layers = f"record(dir={folder},format={suffix}) {_CHAIN}"
        run = explore(program, layers=layers, search="dfs", tests="bugs", max_time=MAX_S)
        log = Path(folder) / f"queries.{suffix}"
        while run.step(STEP_S) and log.stat().st_size <= MAX_BYTES:
            pass
        if any("record: " in row["why"] for row in run.summary()["incomplete"]):
            return []
        text = log.read_text()
    if suffix == "smt2":
        queries = [f"{query}(reset)\n" for query in text.split("(reset)\n")[:-1]]
    else:
        # A query ends where the declarations of the next one begin.
        queries = re.findall(r"(?:^array .*\n)*^\(query(?:.*\n)+?(?=\n*array |\n*\(query|\n*\Z)", text, re.M)
    kept: list[str] = []
    size = 0
    for query in queries:
        size += len(query)
        if kept and size > MAX_BYTES:
            break
        kept.append(query)
    return kept


def verdicts(text: str, suffix: str, chain: str) -> list[str]:
    session = _core.Script(LANGUAGES[suffix], chain, chain, backends.make, MAX_QUERY_S, None)
    lines: list[str] = []
    session.run(text.encode(), True, lines.append)
    words = (line.partition(" ")[0] for line in "".join(lines).splitlines())
    return [word for word in words if word in _VERDICTS]


def record(program: Path) -> str:
    """Writes the logs of one program and returns a line about them."""
    index: dict[str, list[str] | list[tuple[str, str]]] = {}
    sizes = []
    for suffix in LANGUAGES:
        queries = recorded(program, suffix)
        if not queries:
            continue
        theirs = verdicts("".join(queries), suffix, "simplify split bitwuzla")
        unanswered = (at for at, verdict in enumerate(theirs) if verdict in ("unknown", "UNKNOWN"))
        end = next(unanswered, len(queries))
        queries, theirs = queries[:end], theirs[:end]
        text = "".join(queries)
        ours = verdicts(text, suffix, _CHAIN)
        if ours != theirs or len(ours) != len(queries):
            sys.exit(f"{program.stem}.{suffix}: verdicts of the default chain and Bitwuzla differ")
        if suffix == "smt2":
            index[suffix] = ours
        else:
            index[suffix] = [("Truth", "true" if verdict == "VALID" else "not-always-true") for verdict in ours]
        # Without a time, so that the same queries make the same file.
        data = gzip.compress(text.encode(), 9, mtime=0)
        (QUERIES / f"{program.stem}.{suffix}.gz").write_bytes(data)
        sizes.append(f"{len(queries)} queries in {suffix} ({len(data):,} bytes)")
    if index:
        (QUERIES / f"{program.stem}.json").write_text(json.dumps(index) + "\n")
    return f"{program.stem}: {', '.join(sizes) or 'no queries'}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("name", nargs="*", help="programs (default: all)")
    names = parser.parse_args().name
    QUERIES.mkdir(exist_ok=True)
    for program in sorted(PROGRAMS.glob("*.c")):
        if not names or program.stem in names:
            print(record(program), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
