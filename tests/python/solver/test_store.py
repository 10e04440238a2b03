"""The store: hits and required misses, failing files and disks, and the `partita store` command."""

from __future__ import annotations

import json
import os
import random
import resource
import subprocess
import sys
import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import partita
from partita import Solver, UsageError, bv
from partita.store import choose, default_path
from support import PARTITA, PATIENCE_S, Run

HARD = """
#include "klee/klee.h"
int main(void) {
    unsigned x, y;
    klee_make_symbolic(&x, sizeof x, "x");
    klee_make_symbolic(&y, sizeof y, "y");
    if (x < 2 || y < 2 || x > 4000 || y > 4000) return 0;
    return x * y == 3937 * 31 ? 1 : 2;
}
"""


def layer(statistics: dict[str, Any], name: str) -> dict[str, Any]:
    (found,) = (row for row in statistics["layers"] if row["name"] == name)
    return dict(found)


def ask(file: Path, x: str, y: str, product: int) -> tuple[str, dict[str, Any]]:
    a, b = bv(x, 24), bv(y, 24)
    solver = Solver(layers="store(eager=on) sat", store=file)
    solver.add(a * b == product, a.ugt(1), b.ugt(1), a.ult(4096), b.ult(4096))
    verdict = solver.check()
    if verdict == "sat":
        model = solver.model()
        assert model[a] * model[b] % 2**24 == product
    else:
        assert len(solver.unsat_core()) >= 1
    solver.flush()
    return verdict, layer(solver.statistics, "store")


def test_renamed_queries_are_found_by_another_solver(tmp_path: Path) -> None:
    file = tmp_path / "folder" / "answers"
    for product, expected in ((4087, "sat"), (4093, "unsat")):
        verdict, counts = ask(file, "x", "y", product)
        assert (verdict, counts["hits"]) == (expected, 0)
        assert counts["written"] >= 1
        verdict, counts = ask(file, "other", "names", product)
        assert (verdict, counts["written"]) == (expected, 0)
        assert counts["hits"] >= 1


def test_a_second_run_needs_no_sat_solver(tmp_path: Path, partita: Run) -> None:
    program, file = tmp_path / "hard.c", tmp_path / "answers"
    program.write_text(HARD)
    reports = []
    for number in range(2):
        out = tmp_path / f"out{number}"
        layers = "simplify split store(eager=on) sat"
        options = ("--store", str(file), "--layers", layers, "--out", str(out), "--quiet")
        done = partita("run", str(program), *options)
        assert (done.returncode, done.stderr) == (0, "")
        reports.append(json.loads((out / "run.json").read_text()))
    first, second = reports
    assert first["paths"] == second["paths"]
    assert first["tests"] == second["tests"]
    assert layer(first["solver"], "sat")["asked"] > 0
    assert layer(first["solver"], "store")["hits"] == 0
    assert layer(second["solver"], "sat")["asked"] == layer(second["solver"], "store")["resolved"]
    assert layer(second["solver"], "store")["hits"] == layer(second["solver"], "store")["asked"]


def layers_of(run: Path) -> list[str]:
    return [row["name"] for row in json.loads((run / "run.json").read_text())["solver"]["layers"]]


def test_which_file_is_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, partita: Run) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert default_path() == tmp_path / "partita" / "answers.sqlite"
    assert choose("default", "simplify store sat") == default_path()
    assert choose("default", "-reuse") == default_path()
    assert choose("default", "simplify sat") is None
    assert choose("default", "-store") is None
    assert choose("none", "store sat") is None
    assert choose(None, "store sat") is None
    assert choose("./off", "store sat") == Path("off")
    with pytest.raises(
        UsageError, match=r"^expected a file, `default` or `none` as the store, found `off`; a file is `./off`$"
    ):
        choose("off", "store sat")
    program = tmp_path / "hard.c"
    program.write_text(HARD)
    done = partita("run", str(program), "--store", "none", "--out", str(tmp_path / "out"))
    assert done.returncode == 0
    assert "store" not in layers_of(tmp_path / "out")
    assert not default_path().exists()
    done = partita("run", str(program), "--out", str(tmp_path / "out-1"))
    assert done.returncode == 0
    assert "store" in layers_of(tmp_path / "out-1")
    assert default_path().exists()
    with pytest.raises(UsageError, match="expected the layer `store` in a chain with a store, found `simplify sat`"):
        Solver(layers="simplify sat", store=tmp_path / "answers")
    Solver().check()
    assert [row["name"] for row in Solver().statistics["layers"]].count("store") == 0


@pytest.mark.parametrize("where", ["directory", "text", "missing"])
def test_a_file_that_cannot_be_used_is_one_line(tmp_path: Path, partita: Run, where: str) -> None:
    program = tmp_path / "hard.c"
    program.write_text(HARD)
    path, words = {
        "directory": (tmp_path, "expected a file, found a directory"),
        "text": (program, "file is not a database: it is no store, or damaged"),
        "missing": (Path("/dev/null/folder/answers"), "Not a directory (os error 20)"),
    }[where]
    program.write_text(HARD + "\n" * 1000)
    done = partita("run", str(program), "--store", str(path), "--out", str(tmp_path / "out"), "--quiet")
    expected = f"partita: warning: cannot use the store {path}: {words}; going on without it\n"
    assert (done.returncode, done.stderr) == (0, expected)
    script = "(declare-const x (_ BitVec 8))(assert (= (bvmul x x) #x09))(check-sat)"
    done = partita("smt", "--store", str(path), text=script)
    assert (done.stdout, done.stderr) == ("sat\n", expected)
    with pytest.warns(RuntimeWarning, match="going on without it"):
        solver = Solver(store=path)
    assert solver.check() == "sat"
    assert program.read_text().startswith(HARD)


def test_a_full_disk_is_one_line(tmp_path: Path) -> None:
    """A limit on file sizes simulates a full disk: the first answers fit, later ones do not."""
    text = "(declare-const x (_ BitVec 32))\n"
    text += "".join(f"(push 1)(assert (= (bvmul x x) (_ bv{n} 32)))(check-sat)(pop 1)\n" for n in range(2000))
    limit = 80_000
    done = subprocess.run(
        [PARTITA, "smt", "--layers", "store(eager=on) sat", "--store", tmp_path / "answers"],
        input=text,
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)),
    )
    assert done.returncode == 0
    assert len(done.stdout.split()) == 2000
    (line,) = done.stderr.splitlines()
    assert line.startswith(f"partita: warning: cannot write the store {tmp_path / 'answers'}: ")
    assert line.endswith("; going on without writing it")


def test_a_forked_process_leaves_the_store_alone(tmp_path: Path) -> None:
    program = f"""
import os, sys
from partita import Solver, bv
solver = Solver(layers="store(eager=on) sat", store={str(tmp_path / "answers")!r})
x = bv("x", 16)
assert solver.check(x * x == 9) == "sat"
solver.flush()
child = os.fork()
if child == 0:
    assert solver.check(x * x == 25) == "sat"
    assert solver.check(x * x == 3) == "unsat"
    del solver
    os._exit(0)
_, status = os.waitpid(child, 0)
assert status == 0, status
assert solver.check(x * x == 49) == "sat"
"""
    with warnings.catch_warnings():
        subprocess.run([sys.executable, "-c", program], check=True, timeout=PATIENCE_S)
    assert partita._core.store_contents(tmp_path / "answers")["sat"] == 2


def test_the_command(tmp_path: Path, partita: Run) -> None:
    file = tmp_path / "answers"
    done = partita("store", "stats", "--store", str(file))
    assert done.returncode == 2
    assert done.stderr.startswith(f"partita: error: there is no store at `{file}`")
    ask(file, "x", "y", 4087)
    ask(file, "x", "y", 4093)
    contents = json.loads(partita("store", "stats", "--store", str(file), "--json").stdout)
    assert contents["schema"] == 1
    assert contents["sat"] >= 1
    assert contents["unsat"] >= 1
    total = contents["sat"] + contents["unsat"]
    assert (
        f"answers  {total}: {contents['sat']} sat, {contents['unsat']} unsat\n"
        in partita("store", "stats", "--store", str(file)).stdout
    )
    rows = [json.loads(line) for line in partita("store", "export", "--store", str(file)).stdout.splitlines()]
    assert len(rows) == total
    for row in rows:
        assert row["schema"] == 1
        assert partita("smt", "-", text=row["query"] + "(check-sat)").stdout.split()[-1] == row["verdict"]
    assert partita("store", "clear", "--store", str(file)).stdout == f"{total} answers removed from {file}\n"
    assert partita("store", "export", "--store", str(file)).stdout == ""
    done = partita("store", "stats", "--store", str(tmp_path))
    assert (done.returncode, done.stderr) == (
        2,
        f"partita: error: cannot use the store {tmp_path}: expected a file, found a directory\n",
    )


SCRIPTS = int(os.environ.get("PARTITA_STORE_SCRIPTS", "10"))
"""Number of scripts; `make fuzz` runs more."""


def test_random_queries_against_z3(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Runs each script unchanged, with other names, and with one change, all with one file. Every answer must be right,
    and Z3 must agree with every answer in the file."""
    z3 = pytest.importorskip("z3", reason="the comparison needs Z3: pip install 'partita[z3]'")
    from support import crosscheck as checker
    from support.querygen import Script, Step, Term

    def renamed(term: Term, names: dict[str, str]) -> Term:
        return Term(names.get(term.head, term.head), tuple(renamed(kid, names) for kid in term.kids), term.sort)

    def changed(term: Term, rng: random.Random) -> Term:
        """Changes the signedness of one comparison or one constant."""
        near = {"bvult": "bvslt", "bvslt": "bvult", "bvule": "bvsle", "bvsle": "bvule", "bvadd": "bvsub"}
        if not term.kids and term.head.startswith("(_ bv") and isinstance(term.sort, int):
            value = int(term.head[5:].split()[0])
            return Term(f"(_ bv{(value + 1) % 2**term.sort} {term.sort})", (), term.sort)
        if term.head in near and rng.random() < 0.5:
            return replace(term, head=near[term.head])
        if not term.kids:
            return term
        n = rng.randrange(len(term.kids))
        return checker.replace_kid(term, n, changed(term.kids[n], rng))

    hits: list[float] = []

    class Counting(checker.Session):
        def mismatches(self) -> int:
            hits.append(layer(self._script.statistics(), "store")["hits"])
            return super().mismatches()

    monkeypatch.setattr(checker, "Session", Counting)
    file = tmp_path / "answers"
    chain = f"simplify split store(path={file},eager=on,sample=1000000) sat"
    tally = checker.Tally()
    for number in range(SCRIPTS):
        rng = random.Random(number)
        script, _ = checker.script_of_seed(f"store/{number}")
        names = {v.text: f"renamed{i}" for i, v in enumerate(reversed(script.variables))}
        variables = tuple(renamed(v, names) for v in script.variables)
        terms = [(step, step.term and renamed(step.term, names)) for step in script.steps]
        others = Script(variables, tuple(replace(step, term=term) for step, term in terms))
        mutated = tuple(Step(s.kind, s.term and changed(s.term, rng)) for s in script.steps)
        for variant in (script, others, replace(script, steps=mutated)):
            reference = checker.Reference(variant.variables)
            difference = checker.guarded(variant, chain, reference, tally)
            assert difference is None, f"{difference}\n{checker.text(variant)}"
    rows: list[dict[str, Any]] = []
    partita._core.store_export(file, rows.append)
    assert len(rows) > 10 * SCRIPTS
    assert tally.verdicts[chain] > 20 * SCRIPTS
    # The second of the three variants is the first one renamed.
    assert sum(hits[1::3]) > 5 * SCRIPTS
    for row in rows:
        solver = z3.Solver()
        solver.set("timeout", 2000)
        solver.from_string(row["query"])
        assert str(solver.check()) in (row["verdict"], "unknown"), row["query"]


def test_warnings_of_an_exploration(tmp_path: Path) -> None:
    program = tmp_path / "hard.c"
    program.write_text(HARD)
    run = partita.explore(program, store=tmp_path)
    with pytest.warns(RuntimeWarning, match="expected a file, found a directory; going on without it"):
        run.finish()
    assert run.complete
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        run = partita.explore(program, store=os.fspath(tmp_path / "answers"))
        run.warn = print
        assert run.finish().complete
