"""Edge coverage of AFL++, of Partita, and of both together, at equal processor time.

    python tests/soak/beside_afl.py --seconds 30 --seeds FOLDER target.c [FLAGS...]

`target.c` defines LLVMFuzzerTestOneInput. Needs afl-fuzz, afl-clang-fast and afl-showmap. Each run has the same
processor time, its own folder, and the same seeds; together each of the two has half of it. Edges are counted by
afl-showmap over all inputs that a run kept.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

_TICKS = os.sysconf("SC_CLK_TCK")
_QUIET = {
    "AFL_NO_UI": "1",
    "AFL_SKIP_CPUFREQ": "1",
    "AFL_I_DONT_CARE_ABOUT_MISSING_CRASHES": "1",
    "AFL_NO_AFFINITY": "1",
    "AFL_QUIET": "1",
    "AFL_SYNC_TIME": "1",
}


def processor_time(pid: int) -> float:
    """Processor time of a process, its children, and those of its children that it has waited for."""
    total = 0.0
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        total = sum(map(int, fields[11:15])) / _TICKS
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    except OSError:
        return total
    return total + sum(processor_time(int(child)) for child in children)


def run_for(commands: list[tuple[list[str], float]], folder: Path) -> None:
    """Runs commands side by side, each until it has used its processor time."""
    running = []
    for number, (command, seconds) in enumerate(commands):
        with open(folder / f"log{number}", "wb") as log:
            process = subprocess.Popen(command, stdout=log, stderr=log, env={**os.environ, **_QUIET}, cwd=folder)
        running.append((process, seconds))
        time.sleep(1)
    while running:
        time.sleep(0.2)
        for process, seconds in list(running):
            if process.poll() is None and processor_time(process.pid) >= seconds:
                process.terminate()
                process.wait()
            if process.poll() is not None:
                running.remove((process, seconds))


def edges(binary: Path, queues: list[Path], folder: Path) -> int:
    inputs = folder / "all"
    inputs.mkdir()
    for i, queue in enumerate(queues):
        for j, file in enumerate(sorted(queue.glob("*"))):
            if file.is_file():
                (inputs / f"{i}-{j}").write_bytes(file.read_bytes())
    counted = folder / "edges"
    command = ["afl-showmap", "-q", "-C", "-t", "2000", "-i", str(inputs), "-o", str(counted), "--", str(binary)]
    subprocess.run(command, env={**os.environ, **_QUIET}, capture_output=True, check=False)
    return len(counted.read_text().splitlines())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=30)
    parser.add_argument("--seeds", type=Path, required=True)
    parser.add_argument("target", type=Path)
    parser.add_argument("flags", nargs="*")
    given = parser.parse_args()
    seeds, target = given.seeds.resolve(), given.target.resolve()
    with tempfile.TemporaryDirectory(prefix="beside-afl-") as name:
        top = Path(name)
        binary = top / "target"
        build = ["afl-clang-fast", "-w", "-O1", "-fsanitize=fuzzer", *given.flags, str(target), "-o", str(binary)]
        subprocess.run(build, check=True, env={**os.environ, **_QUIET}, capture_output=True)
        partita = [sys.executable, "-m", "partita", "run", str(target), "--cflags", " ".join(given.flags)]
        results = {}
        for kind in ("afl", "partita", "both"):
            folder = top / kind
            (folder / "sync").mkdir(parents=True)
            afl = ["afl-fuzz", "-M", "main", "-i", str(seeds), "-o", "sync", "--", str(binary)]
            ours = [*partita, "--seeds", str(seeds), "--sync", "sync", "--out", "out"]
            share = given.seconds / (2 if kind == "both" else 1)
            commands = [(afl, share)] * (kind != "partita") + [(ours, share)] * (kind != "afl")
            run_for(commands, folder)
            queues = sorted((folder / "sync").glob("*/queue"))
            results[kind] = edges(binary, queues, folder)
        print(
            f"{target.name}: {given.seconds:g} s:", *(f"{kind} {count}" for kind, count in results.items()), flush=True
        )


if __name__ == "__main__":
    main()
