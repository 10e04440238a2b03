"""Nodes of a Ray cluster that come and go while a run goes on.

Ray gives a node 30 s to start, which a busy machine exceeds: so this is no part of `make test`. Usage: python -m pytest
tests/soak/cluster_nodes.py.
"""

from __future__ import annotations

import contextlib
import socket
import sys
import time
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "python"))

from partita.explore import explore
from support import PATIENCE_S
from support.three_ways import program


def wait_for(port: int) -> None:
    """Waits until the server for Ray's clients listens: it starts after the head."""
    deadline = time.monotonic() + PATIENCE_S
    while True:
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
            return
        assert time.monotonic() < deadline, "Ray's server does not listen"
        time.sleep(0.1)


def test_nodes_that_come_and_go(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ray = pytest.importorskip("ray")
    utilities = pytest.importorskip("ray.cluster_utils")
    monkeypatch.setenv("RAY_USAGE_STATS_ENABLED", "0")
    source = program(tmp_path, 13)
    single = explore(source, tests="bugs").finish()
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    size = {"num_cpus": 1, "object_store_memory": 100_000_000}
    head = {**size, "include_dashboard": False, "ray_client_server_port": port}
    cluster = utilities.Cluster(initialize_head=True, head_node_args=head)
    try:
        wait_for(port)
        shared = explore(source, cluster=f"ray://127.0.0.1:{port}", tests="bugs")
        warned: list[str] = []
        shared.warn = warned.append
        assert shared._coordinator is not None
        assert shared.summary()["jobs"] == 1
        while not shared.counts()["instructions"]:
            assert shared.step(0.05)
        node = cluster.add_node(**size)
        while len(shared._coordinator._summaries) < 2:
            assert shared.step(0.05), "it ended before the second node had committed"
        cluster.remove_node(node, allow_graceful=False)
        shared.finish()
    finally:
        ray.shutdown()
        cluster.shutdown()
    names = ("digest", "paths", "forks", "instructions", "tests", "coverage", "incomplete", "stopped", "open")
    assert {name: shared.counts()[name] for name in names} == {name: single.counts()[name] for name in names}
    assert shared.complete
    assert warned == ["a worker was lost: others explore its paths"]
