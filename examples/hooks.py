"""A sensor modelled in Python, and the values with which the program divides by zero."""

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
print(*run.bugs, sep="\n")
