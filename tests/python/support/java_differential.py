"""Runs generated Java programs in the virtual machine and in Partita, and compares what they print."""

from __future__ import annotations

import subprocess
from pathlib import Path

from partita import explore
from partita.jvm.jdk import java
from support import javagen
from support.java import compile_all

_MARK = "== "


def differences(seeds: range, folder: Path) -> list[str]:
    """A description of each program whose outputs differ."""
    names = [f"P{seed}" for seed in seeds]
    sources = folder / "sources"
    sources.mkdir(parents=True)
    for seed, name in zip(seeds, names, strict=True):
        (sources / f"{name}.java").write_text(javagen.program(seed, name))
    calls = "".join(f'System.out.println("{_MARK}{name}"); {name}.main(null);' for name in names)
    (sources / "All.java").write_text(f"class All {{ public static void main(String[] a) {{ {calls} }} }}")
    classes = compile_all(sorted(sources.glob("*.java")), folder / "classes")
    done = subprocess.run([java() or "java", "-cp", str(classes), "All"], capture_output=True, text=True, check=True)
    expected = {part.partition("\n")[0]: part.partition("\n")[2] for part in done.stdout.split(_MARK) if part.strip()}
    found = []
    for name in names:
        run = explore(classes / f"{name}.class")
        outputs = [path.output.decode() for path in run]
        if outputs != [expected[name]] or not run.complete:
            found.append(f"{name}: expected {expected[name]!r}, found {outputs}, {run.summary()['incomplete']}")
    return found
