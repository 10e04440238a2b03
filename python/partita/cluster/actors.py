"""Workers as actors of Ray, on this machine or on a cluster."""

from __future__ import annotations

import contextlib
import importlib.util
import os
import socket
import time
import urllib.parse
from dataclasses import replace
from typing import Any

from partita.cluster.messages import Alive, Cut, Failure, Report, Request, Shipment, Stop, Task
from partita.cluster.processes import Event, Lost, Ready
from partita.cluster.worker import Worker
from partita.errors import InternalError, UsageError
from partita.journal import BUILD
from partita.options import machine_memory

LOCAL = "local"
CONNECT_S = 5.0
CLOSE_S = 5.0


def check_reachable(address: str) -> None:
    """Raises UsageError unless it is `ray://HOST:PORT` and something listens there: Ray itself tries for long."""
    parts = urllib.parse.urlsplit(address)
    try:
        host, port = parts.hostname, parts.port
    except ValueError:
        host = port = None
    if parts.scheme != "ray" or not host or not port:
        raise UsageError(f"expected `local` or `ray://HOST:PORT` as the cluster, found `{address}`")
    try:
        socket.create_connection((host, port), CONNECT_S).close()
    except OSError as error:
        raise UsageError(f"cannot reach the cluster `{address}`: {error.strerror or error}") from None


class Actor:
    """A worker as Ray runs it: `explore` in one thread, `cut` in another."""

    def __init__(self, shipment: Shipment, version: str) -> None:
        self._failure: Failure | None = None
        if version != BUILD:
            found = f"a node of the cluster has Partita {BUILD}, and not {version}"
            self._failure = Failure(f"{found}: install the same one", is_usage=True)
            return
        memory = machine_memory() // (os.cpu_count() or 1)
        try:
            self._worker = Worker(replace(shipment, memory=memory))
        except ValueError as error:
            self._failure = Failure(str(error), is_usage=True)

    def ready(self) -> Alive | Failure:
        return self._failure or Alive()

    def process(self) -> int:
        """The id of the process, for tests."""
        return os.getpid()

    def explore(self, task: Task) -> Report | Failure:
        try:
            return self._worker.explore(task)
        except ValueError as error:
            return Failure(str(error), is_usage=True)
        except (InternalError, RuntimeError) as error:
            return Failure(str(error), is_usage=False)

    def cut(self, request: Cut | Stop) -> None:
        self._worker.cut(request)

    def close(self) -> None:
        self._worker.close()


class Actors:
    """The pool of `--cluster ADDRESS`: one worker per processor of the cluster, or `most`."""

    def __init__(self, shipment: Shipment, address: str, most: int | None) -> None:
        if address != LOCAL:
            check_reachable(address)
        if importlib.util.find_spec("ray") is None:
            raise UsageError("--cluster needs the package ray: pip install 'partita[ray]'")
        import ray  # an extra, and slow to import

        self._ray: Any = ray
        settings: dict[str, Any] = {"log_to_driver": False, "logging_level": "error"}
        try:
            if address == LOCAL:
                os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
                ray.init(include_dashboard=False, **settings)
            else:
                ray.init(address, **settings)
        except (ConnectionError, OSError, ValueError, RuntimeError) as error:
            reason = str(error).strip().splitlines()
            raise UsageError(f"cannot reach the cluster `{address}`: {reason[0] if reason else error!r}") from None
        self._most = most
        self._shipment = ray.put(shipment)
        self._remote = ray.remote(num_cpus=1, max_concurrency=2, max_restarts=0)(Actor)
        self._actors: dict[int, Any] = {}
        self._pending: dict[Any, int] = {}
        self._next = 0

    def capacity(self) -> int:
        """Number of workers that the cluster has room for now."""
        processors = int(self._ray.cluster_resources().get("CPU", 1))
        return max(1, processors if self._most is None else min(processors, self._most))

    def start(self) -> int:
        number, self._next = self._next, self._next + 1
        actor = self._remote.remote(self._shipment, BUILD)
        self._actors[number] = actor
        self._pending[actor.ready.remote()] = number
        return number

    def send(self, worker: int, request: Request) -> None:
        actor = self._actors.get(worker)
        if actor is None:
            return
        if isinstance(request, Task):
            self._pending[actor.explore.remote(request)] = worker
        else:
            actor.cut.remote(request)

    def end(self, worker: int) -> None:
        actor = self._actors.pop(worker, None)
        self._pending = {reference: other for reference, other in self._pending.items() if other != worker}
        if actor is not None:
            with contextlib.suppress(self._ray.exceptions.RayError):
                self._ray.kill(actor)

    def wait(self, seconds: float) -> list[tuple[int, Event]]:
        if not self._pending:
            time.sleep(seconds)
            return []
        ended, _ = self._ray.wait(list(self._pending), timeout=seconds)
        if ended:
            ended, _ = self._ray.wait(list(self._pending), num_returns=len(self._pending), timeout=0)
        found: list[tuple[int, Event]] = []
        for reference in ended:
            worker = self._pending.pop(reference)
            try:
                value = self._ray.get(reference)
            except self._ray.exceptions.RayError:
                self._actors.pop(worker, None)
                found.append((worker, Lost()))
                continue
            found.append((worker, Ready() if isinstance(value, Alive) else value))
        return found

    def close(self) -> None:
        """Lets workers write what they keep, and ends them."""
        closing = [actor.close.remote() for actor in self._actors.values()]
        if closing:
            self._ray.wait(closing, num_returns=len(closing), timeout=CLOSE_S)
        for actor in self._actors.values():
            with contextlib.suppress(self._ray.exceptions.RayError):
                self._ray.kill(actor)
        self._actors.clear()
        self._pending.clear()
        self._ray.shutdown()
