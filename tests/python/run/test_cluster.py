"""`--cluster`: workers as actors of Ray have the result of one process."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import time
from pathlib import Path
from typing import Any

import pytest

from partita.errors import UsageError
from partita.explore import explore
from support import PATIENCE_S
from support.three_ways import program


def test_a_cluster_has_the_result_of_one_process(tmp_path: Path) -> None:
    ray = pytest.importorskip("ray")
    source = program(tmp_path, 12)
    single = explore(source, out=tmp_path / "1").finish()
    shared = explore(source, cluster="local", jobs=2, out=tmp_path / "2")
    warned: list[str] = []
    shared.warn = warned.append
    assert shared._coordinator is not None
    pool: Any = shared._coordinator._pool
    while not shared.counts()["instructions"]:
        assert shared.step(0.05)
    # One of the two is killed after its first commit, when most of the paths are open, and replaced.
    actor = next(iter(pool._actors.values()))
    os.kill(ray.get(actor.process.remote()), signal.SIGKILL)
    shared.finish()
    names = ("digest", "paths", "forks", "instructions", "tests", "coverage", "incomplete", "stopped", "open")
    assert {name: shared.counts()[name] for name in names} == {name: single.counts()[name] for name in names}
    assert shared.complete
    assert warned
    assert not ray.is_initialized()


@pytest.mark.parametrize("address", ["somewhere", "ray://", "ray://host", "ray://host:port", "http://host:1"])
def test_an_address_that_is_none(address: str, tmp_path: Path) -> None:
    source = program(tmp_path, 2)
    with pytest.raises(UsageError, match="expected `local` or `ray://HOST:PORT` as the cluster"):
        explore(source, cluster=address)


def test_a_cluster_that_is_not_there(tmp_path: Path) -> None:
    source = program(tmp_path, 2)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
        with pytest.raises(UsageError, match="cannot reach the cluster"):
            explore(source, cluster=f"ray://127.0.0.1:{port}", out=tmp_path / "out")
    assert not (tmp_path / "out").exists()


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
