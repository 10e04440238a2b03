"""Workers as processes of this machine, each at the other end of a socket."""

from __future__ import annotations

import contextlib
import selectors
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

from partita.cluster.messages import Alive, Failure, Report, Request, Shipment
from partita.cluster.worker import Channel

SILENT_S = 30.0
"""A worker without a sign of life for this long is lost."""
HEARTBEATS_S = 2.0
"""Most time between two looks that counts as silence."""
SEND_S = 10.0
"""Longest time that a worker takes to read a message."""
CLOSE_S = 5.0
START = "import sys; sys.path[:] = sys.argv[2:]; from partita.cluster.worker import main; main(int(sys.argv[1]))"
"""The program of a worker. Modules come from where ours do: never from the current folder, unless ours do too."""


class Lost:
    """A worker has ended, or does not answer."""


class Ready:
    """A worker can be given tasks."""


Event = Report | Failure | Lost | Ready


class Pool(Protocol):
    """Workers, by numbers."""

    def capacity(self) -> int:
        """Number of workers that there is room for now."""

    def start(self) -> int:
        """Starts a worker. Returns its number; a `Ready` follows."""

    def send(self, worker: int, request: Request) -> None: ...

    def end(self, worker: int) -> None:
        """Ends a worker: what it did since its last commit is not wanted."""

    def wait(self, seconds: float) -> list[tuple[int, Event]]:
        """Events, as soon as there are any."""

    def close(self) -> None:
        """Ends all workers."""


@dataclass
class _Process:
    process: subprocess.Popen[bytes]
    channel: Channel
    is_ready: bool = False
    silent_s: float = 0.0


class Processes:
    """The pool of `--jobs N`."""

    def __init__(self, shipment: Shipment, count: int) -> None:
        self._shipment = shipment
        self._count = count
        self._all: dict[int, _Process] = {}
        self._next = 0
        self._selector = selectors.DefaultSelector()
        self._looked = time.monotonic()

    def capacity(self) -> int:
        return self._count

    def start(self) -> int:
        ours, theirs = socket.socketpair()
        ours.settimeout(SEND_S)
        with theirs:
            process = subprocess.Popen(
                [sys.executable, "-c", START, str(theirs.fileno()), *sys.path],
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
            )
        number, self._next = self._next, self._next + 1
        self._all[number] = _Process(process, Channel(ours))
        self._selector.register(ours, selectors.EVENT_READ, number)
        self._send(number, self._shipment)
        return number

    def processes(self) -> list[int]:
        """The ids of the processes, for tests."""
        return [each.process.pid for each in self._all.values()]

    def send(self, worker: int, request: Request) -> None:
        self._send(worker, request)

    def end(self, worker: int) -> None:
        if worker in self._all:
            self._lose(worker)

    def _send(self, worker: int, message: object) -> None:
        # A worker that is gone is noticed by `wait`.
        with contextlib.suppress(OSError):
            self._all[worker].channel.send(message)

    def wait(self, seconds: float) -> list[tuple[int, Event]]:
        found: list[tuple[int, Event]] = []
        for key, _ in self._selector.select(seconds):
            found += ((key.data, event) for event in self._received(key.data))
        now = time.monotonic()
        # If this process was stopped for a while, its workers may have been too.
        passed, self._looked = min(now - self._looked, HEARTBEATS_S), now
        for number, each in list(self._all.items()):
            each.silent_s += passed
            if each.silent_s > SILENT_S:
                found.append((number, self._lose(number)))
        return found

    def _received(self, number: int) -> Iterator[Event]:
        each = self._all[number]
        each.silent_s = 0.0
        try:
            messages = each.channel.receive()
        except (EOFError, OSError):
            yield self._lose(number)
            return
        for message in messages:
            if not isinstance(message, Alive):
                yield message
            elif not each.is_ready:
                each.is_ready = True
                yield Ready()

    def _lose(self, number: int) -> Lost:
        each = self._all.pop(number)
        self._selector.unregister(each.channel.socket)
        each.channel.socket.close()
        each.process.kill()
        each.process.wait()
        return Lost()

    def close(self) -> None:
        """Closes the sockets, whereupon workers end by themselves; those that do not are killed."""
        for each in self._all.values():
            self._selector.unregister(each.channel.socket)
            each.channel.socket.close()
        end = time.monotonic() + CLOSE_S
        for each in self._all.values():
            try:
                each.process.wait(max(0.0, end - time.monotonic()))
            except subprocess.TimeoutExpired:
                each.process.kill()
                each.process.wait()
        self._all.clear()
