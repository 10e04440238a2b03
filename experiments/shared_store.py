"""Benchmark of the store on a server: the time in `sat` that a second client of a warm store saves.

A server is started on a loopback port (redis-server or valkey-server must be installed). The program is explored
without a store, then by a first and by a second client, each a process of its own.
"""

from __future__ import annotations

import argparse
import json
import os
import secrets
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from typing import Any

from experiments.locations import FAMILIES

SAVED = 0.8
EXPLORE = """
import json, sys
from partita import explore
program, flags, store = json.loads(sys.argv[1])
run = explore(program, cflags=flags, store=store, tests="bugs", max_time=300)
run.finish()
layers = {layer["name"]: layer for layer in run.summary()["solver"]["layers"]}
sat, store = layers["sat"], layers.get("store", {})
names = ("hits", "written", "fetched", "late", "lost")
print(json.dumps({"explore_s": run.summary()["explore_s"], "solves": sat["asked"], "sat_s": sat["time_s"],
                  "store_s": store.get("time_s", 0.0), "paths": run.summary()["paths"],
                  **{name: int(store.get(name, 0)) for name in names}}))
"""


def explore(flags: list[str], store: str | None) -> dict[str, Any]:
    request = json.dumps([str(FAMILIES / "factors.c"), flags, store])

    command = [sys.executable, "-c", EXPLORE, request]
    return dict(json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bits", type=int, default=12)
    parser.add_argument("--numbers", type=int, default=60)
    arguments = parser.parse_args()
    program = shutil.which("redis-server") or shutil.which("valkey-server")
    if program is None:
        print("skipped: neither redis-server nor valkey-server is installed")
        return 0
    flags = [f"-DBITS={arguments.bits}", f"-DN={arguments.numbers}"]
    os.environ["PARTITA_STORE_KEY"] = secrets.token_hex(16)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with tempfile.TemporaryDirectory() as folder:
        options = ["--port", str(port), "--bind", "127.0.0.1", "--save", "", "--dir", folder]
        server = subprocess.Popen([program, *options], stdout=subprocess.DEVNULL)
        try:
            while True:
                try:
                    socket.create_connection(("127.0.0.1", port), 1).close()
                    break
                except OSError:
                    if server.poll() is not None:
                        sys.exit(f"expected {program} to start, found that it ended with {server.returncode}")
                    time.sleep(0.05)
            url = f"redis://127.0.0.1:{port}/0"
            rows = {"none": explore(flags, None), "cold": explore(flags, url), "warm": explore(flags, url)}
        finally:
            server.kill()
            server.wait()
    names = ("explore_s", "solves", "sat_s", "store_s", "hits", "written", "fetched", "late", "lost")
    print(f"{'store':6}" + "".join(f"{name:>11}" for name in names))
    for kind, row in rows.items():
        print(f"{kind:6}" + "".join(f"{row[n]:11.3f}" if n.endswith("_s") else f"{row[n]:11,}" for n in names))
    if any(row["paths"] != rows["none"]["paths"] for row in rows.values()):
        sys.exit("expected the same paths with a store")
    none = rows["none"]["sat_s"]
    saved = 1 - (rows["warm"]["sat_s"] + rows["warm"]["store_s"]) / none
    verdict = "met" if saved >= SAVED else "MISSED"
    print(f"a warm store saves {saved:.1%} of {none:.2f} s in sat (target {SAVED:.0%}): {verdict}")
    return 0 if saved >= SAVED else 1


if __name__ == "__main__":
    sys.exit(main())
