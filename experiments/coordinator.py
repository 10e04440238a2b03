"""Simulates the coordinator of many workers: `python -m experiments.coordinator [WORKERS...]`.

The decisions are those of `partita.cluster.leases`; workers, their work and the network are simulated. A worker holds
subtrees, each with a random amount of work; a subtree with much of it splits in two when it is explored. Prints, for
each number of workers, the share of their time that they worked, messages and bytes per second at the coordinator, and
the processor time that deciding took.
"""

from __future__ import annotations

import heapq
import random
import sys
import time
from dataclasses import dataclass, field

from partita.cluster.leases import Leases, Part
from partita.cluster.messages import Report, Task

LATENCY_S = 0.002
"""Time of a message on the network, with Ray's part of it."""
LEAF_S = 0.05
"""Work of a subtree that does not split."""
PATH_BYTES = 26
"""Bytes of an open path, as measured (docs/scale.md)."""
RESULT_BYTES = 2_000
"""Bytes of a commit beside its open paths."""
WORK_PER_WORKER_S = 60.0
OPEN_LEAVES = 200
"""Open paths of a subtree that was not split up, at most."""


@dataclass
class Simulated:
    """A worker: the work of its subtrees, the least last."""

    work: list[float] = field(default_factory=list)
    worked_s: float = 0.0
    asked: int = 0
    started_s: float = 0.0
    end_s: float = 0.0
    number: int = 0


def explore(worker: Simulated, seconds: float, chance: random.Random) -> float:
    """Works for this time, or until there is none. Returns the time worked."""
    done = 0.0
    while worker.work and done < seconds:
        work = worker.work.pop()
        if work > LEAF_S:
            part = work * chance.uniform(0.05, 0.95)
            worker.work += sorted((part, work - part), reverse=True)
            continue
        step = min(work, seconds - done)
        done += step
        if work > step + 1e-6:
            worker.work.append(work - step)
    worker.worked_s += done
    return done


def give(worker: Simulated, parts: int) -> list[list[float]]:
    """Gives the largest subtrees away, in parts."""
    worker.work.sort(reverse=True)
    given = []
    for left in range(parts, 0, -1):
        if len(worker.work) < 2:
            break
        count = max(1, len(worker.work) // (left + 1))
        given.append(worker.work[:count])
        worker.work = worker.work[count:]
    return given


def simulate(count: int, seed: int) -> dict[str, float]:
    """Explores work for a minute of all workers together."""
    chance = random.Random(seed)
    total = WORK_PER_WORKER_S * count
    contents: dict[bytes, list[float]] = {b"0": [total]}
    leases = Leases([Part(b"0", 1, 1.0)], None, None)
    workers = [Simulated() for _ in range(count)]
    for number in range(count):
        leases.add(number)
    events: list[tuple[float, int, int]] = []
    now, messages, bytes_, deciding_s, names = 0.0, 0, 0, 0.0, 1

    def begin(number: int, task: Task) -> None:
        worker = workers[number]
        for part in task.parts:
            worker.work += contents.pop(part)
        worker.started_s, worker.asked, worker.number = now + LATENCY_S, 0, worker.number + 1
        worker.end_s = worker.started_s + min(task.period_s, sum(worker.work))
        heapq.heappush(events, (worker.end_s + LATENCY_S, number, worker.number))

    while True:
        started = time.perf_counter()
        tasks = list(leases.tasks(None))
        cuts = list(leases.cuts())
        is_done = leases.is_done()
        deciding_s += time.perf_counter() - started
        messages += len(tasks) + len(cuts)
        bytes_ += sum(len(contents.get(part, ())) * PATH_BYTES for _, task in tasks for part in task.parts)
        for number, task in tasks:
            begin(number, task)
        for number, parts in cuts:
            worker = workers[number]
            worker.asked, worker.number = parts, worker.number + 1
            worker.end_s = min(worker.end_s, max(now + LATENCY_S, worker.started_s))
            heapq.heappush(events, (worker.end_s + LATENCY_S, number, worker.number))
        if is_done:
            break
        now, number, current = heapq.heappop(events)
        worker = workers[number]
        if current != worker.number:
            continue
        explore(worker, worker.end_s - worker.started_s, chance)
        given = []
        for work in give(worker, worker.asked):
            name = str(names).encode()
            names += 1
            contents[name] = work
            given.append(Part(name, len(work), sum(work) / total))
        # If the worker is lost, these are what others explore; here none is.
        open_ = min(OPEN_LEAVES, len(worker.work))
        report = Report((b"", b"", [b"-"]), [], open_, sum(worker.work) / total, 0, 0, None, 0.0, {})
        messages += 1
        bytes_ += RESULT_BYTES + PATH_BYTES * (open_ + sum(part.count for part in given))
        started = time.perf_counter()
        leases.report(number, report, given)
        deciding_s += time.perf_counter() - started
    worked = sum(worker.worked_s for worker in workers)
    return {
        "efficiency": worked / (now * count),
        "messages/s": messages / now,
        "KB/s": bytes_ / now / 1e3,
        "deciding": deciding_s / now,
    }


def main() -> None:
    for count in [int(word) for word in sys.argv[1:]] or [2, 10, 100, 1000]:
        row = simulate(count, 1)
        cells = ", ".join(f"{name} {value:.3g}" for name, value in row.items())
        print(f"{count:5} workers: {cells}")


if __name__ == "__main__":
    main()
