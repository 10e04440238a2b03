"""Explores all paths from `main` of an executable depth first. Run by a Python that has angr.

python angr_script.py PROGRAM SECONDS
"""

from __future__ import annotations

import json
import logging
import sys
import time
from typing import Any


def explore(program: str, seconds: float) -> dict[str, Any]:
    import angr  # type: ignore[import-not-found,unused-ignore]

    logging.disable(logging.WARNING)
    end = time.monotonic() + seconds

    class MakeSymbolic(angr.SimProcedure):  # type: ignore[misc]
        def run(self, address: Any, size: Any, name: Any) -> None:
            count = self.state.solver.eval(size)
            self.state.memory.store(address, self.state.solver.BVS("input", 8 * count))

    class Assume(angr.SimProcedure):  # type: ignore[misc]
        def run(self, condition: Any) -> None:
            self.state.add_constraints(condition != 0)

    project = angr.Project(program, auto_load_libs=False)
    project.hook_symbol("klee_make_symbolic", MakeSymbolic())
    project.hook_symbol("klee_assume", Assume())
    start = project.factory.call_state(project.loader.find_symbol("main").rebased_addr)
    manager = project.factory.simulation_manager(start)
    manager.use_technique(angr.exploration_techniques.DFS())
    while manager.active and time.monotonic() < end:
        manager.step()
    left = bool(manager.active or manager.stashes.get("deferred"))
    if manager.errored:
        raise SystemExit(f"angr: {manager.errored[0].error}")
    return {"stopped": "max-time" if left else None, "paths": len(manager.deadended)}


if __name__ == "__main__":
    print(json.dumps(explore(sys.argv[1], float(sys.argv[2]))))
