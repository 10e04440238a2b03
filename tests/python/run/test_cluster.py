"""`--cluster`: workers as actors of Ray have the result of one process."""

from __future__ import annotations

import os
import signal
import socket
from pathlib import Path
from typing import Any

import pytest

from partita.errors import UsageError
from partita.explore import explore
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
