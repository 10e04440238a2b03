"""A sensor that is modelled in Python, and the values it must measure to make the program divide by zero."""

from pathlib import Path

from partita import Expr, explore
from partita.hooks import State


def read_sensor(state: State, channel: int) -> Expr:
    value = state.symbolic(f"channel{channel}", 32)
    state.assume((value >= 0) & (value < 1024))  # ten bits
    return value


run = explore(Path(__file__).with_name("sensor.c"), hooks={"read_sensor": read_sensor})
for path in run:
    values = {name: int.from_bytes(data, "little") for name, data in path.inputs}
    print(f"{path.ending:<18}{values}")
assert run.complete
assert [bug.class_ for bug in run.bugs] == ["division-by-zero"] * 2 or len(run.bugs) == 1
