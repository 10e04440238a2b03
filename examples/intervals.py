"""A query that the interval layers answer: two bytes and three bounds.

The constraints are 4 <= x <= 7 and y - 3 <= 7. Can x + 2 = y hold, and must it?
"""

from partita import Solver, bv

x, y = bv("x", 8), bv("y", 8)
solver = Solver()
solver.add(x.ule(7), x.uge(4), (y - 3).ule(7))
condition = x + 2 == y

print("can hold:", solver.check(condition))
model = solver.model()
print("for example x =", model[x], "and y =", model[y])
print("can fail:", solver.check(~condition))
print("x + 2 = y with y > 9:", solver.check(condition, y.ugt(9)), "because of")
for reason in solver.unsat_core():
    print("   ", reason)
