"""A worker: an engine that explores the open paths it is leased, and reports at the end of each period."""

from __future__ import annotations

import os
import pickle
import queue
import select
import signal
import socket
import struct
import threading
import time
import traceback
from typing import Any

from partita import _core, backends
from partita.cluster.messages import Alive, Cut, Failure, Reply, Report, Shipment, Stop, Task
from partita.errors import InternalError
from partita.store import choose

POLL_S = 0.02
"""Time between two looks at whether the period was cut."""
GRACE_S = 0.1
"""Time after `Stop` at which a query that still runs is cancelled."""
HEARTBEAT_S = 1.0
FRAME = struct.Struct(">Q")


class Worker:
    """An engine and its current period. `cut` may be called from another thread."""

    def __init__(self, shipment: Shipment) -> None:
        options = _core.RunOptions(dict(shipment.given), shipment.words, shipment.memory, shipment.user)
        store = choose(shipment.store, shipment.layers)
        self._engine = _core.Engine(
            shipment.parts, shipment.layers, shipment.default_layers, backends.make, options, store, [], shipment.absent
        )
        self._engine.become_worker()
        if shipment.bug_conditions:
            self._engine.keep_bug_conditions(shipment.bug_conditions)
        if shipment.keeps_paths:
            self._engine.keep_paths()
        if shipment.keeps_conditions:
            self._engine.keep_conditions()
        self._parts = 0
        self._limit: str | None = None
        self._reported: float | None = None
        self._is_cut = threading.Event()

    def cut(self, request: Cut | Stop) -> None:
        """Ends the current period, or the next one at once."""
        if isinstance(request, Stop):
            self._limit = request.limit
            cancel = threading.Timer(GRACE_S, self._engine.cancel)
            cancel.daemon = True
            cancel.start()
        else:
            self._parts = request.parts
        self._is_cut.set()

    def explore(self, task: Task) -> Report:
        """Explores a period."""
        engine = self._engine
        waited_s = 0.0 if self._reported is None or task.parts else time.monotonic() - self._reported
        engine.add_host_reads(task.host)
        for part in task.parts:
            engine.add_open_paths(part)
        before = engine.pulse()
        if task.memory is not None:
            engine.set_max_memory(task.memory)
        engine.allow(task.instructions, task.tests, task.time_s)
        end = time.monotonic() + task.period_s
        more = True
        while more and not self._is_cut.is_set() and (left := end - time.monotonic()) > 0:
            more = engine.advance(min(POLL_S, left))
        report = self._report(before, waited_s)
        self._reported = time.monotonic()
        return report

    def _report(self, before: tuple[int, float, int, int, str | None], waited_s: float) -> Report:
        engine = self._engine
        started = time.monotonic()
        parts, self._parts = self._parts, 0
        if self._limit is None:
            self._is_cut.clear()
        given = []
        for left in range(parts, 0, -1):
            open_ = engine.pulse()[0]
            if open_ < 2:
                break
            given.append(engine.give(max(1, open_ // (left + 1))))
        commit = engine.commit()
        open_, explored, instructions, tests, paused = engine.pulse()
        commit_s = time.monotonic() - started
        ended: list[bytes] | None = None
        if self._limit is not None:
            engine.stop(self._limit)
            ended = engine.take_results()
        summary: dict[str, Any] = engine.summary()
        return Report(
            commit=commit,
            given=given,
            open=open_,
            share=1 - explored,
            instructions=instructions - before[2],
            tests=tests - before[3],
            paused=paused,
            commit_s=commit_s,
            waited_s=waited_s,
            summary={name: summary[name] for name in ("solver", "memory", "peak_memory")},
            paths=engine.paths(),
            notices=engine.notices(),
            ended=ended,
            slowest=engine.slowest() if ended is not None or not open_ else [],
        )

    def close(self) -> None:
        """Ends what runs, and writes what the layers keep."""
        self._engine.cancel()
        self._engine.finish_writing()


class Channel:
    """Messages on a socket: a length, and the message pickled. Both ends are processes of one run."""

    def __init__(self, end: socket.socket) -> None:
        self.socket = end
        self._lock = threading.Lock()
        self._buffer = bytearray()

    def send(self, message: Any) -> None:
        data = pickle.dumps(message, pickle.HIGHEST_PROTOCOL)
        with self._lock:
            self.socket.sendall(FRAME.pack(len(data)) + data)

    def receive(self) -> list[Any]:
        """The messages that are complete, after reading once. Raises EOFError if the other end has closed."""
        data = self.socket.recv(1 << 20)
        if not data:
            raise EOFError
        self._buffer += data
        found = []
        while len(self._buffer) >= FRAME.size:
            (length,) = FRAME.unpack_from(self._buffer)
            if len(self._buffer) < FRAME.size + length:
                break
            found.append(pickle.loads(self._buffer[FRAME.size : FRAME.size + length]))
            del self._buffer[: FRAME.size + length]
        return found


def _answer(channel: Channel, tasks: queue.SimpleQueue[Task], worker: Worker) -> None:
    while True:
        reply: Reply
        try:
            reply = worker.explore(tasks.get())
        except ValueError as error:
            reply = Failure(str(error), is_usage=True)
        except InternalError as error:
            reply = Failure(str(error), is_usage=False)
        except Exception:
            reply = Failure(traceback.format_exc().strip(), is_usage=False)
        channel.send(reply)


def main(number: int) -> None:
    """Serves the coordinator at the other end of this socket until it closes it."""
    # Ctrl-C is for the coordinator, which stops its workers.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    channel = Channel(socket.socket(fileno=number))
    tasks: queue.SimpleQueue[Task] = queue.SimpleQueue()
    worker: Worker | None = None
    try:
        while True:
            readable, _, _ = select.select([channel.socket], [], [], HEARTBEAT_S)
            if not readable:
                channel.send(Alive())
                continue
            for message in channel.receive():
                if isinstance(message, Task):
                    tasks.put(message)
                elif isinstance(message, (Cut, Stop)):
                    assert worker is not None
                    worker.cut(message)
                else:
                    worker = _started(channel, message)
                    threading.Thread(target=_answer, args=(channel, tasks, worker), daemon=True).start()
    except (EOFError, OSError):
        # The coordinator has closed its end, or is gone: what was not reported is not wanted.
        if worker is not None:
            worker.close()
    os._exit(0)


def _started(channel: Channel, shipment: Shipment) -> Worker:
    try:
        worker = Worker(shipment)
    except ValueError as error:
        channel.send(Failure(str(error), is_usage=True))
        raise EOFError from None
    channel.send(Alive())
    return worker
