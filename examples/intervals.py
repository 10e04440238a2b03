"""A query of the kind that the interval layers are made for: two bytes, three bounds, one question.

The path says 4 <= x <= 7 and y - 3 <= 7; the question is whether x + 2 = y can hold, and whether it must.
"""

from partita import Solver, bv

x, y = bv("x", 8), bv("y", 8)
solver = Solver()
solver.add(x.ule(7), x.uge(4), (y - 3).ule(7))
question = x + 2 == y

print("can hold:", solver.check(question))
model = solver.model()
print("for example x =", model[x], "and y =", model[y])
print("can fail:", solver.check(~question))
print("x + 2 = y with y > 9:", solver.check(question, y.ugt(9)), "because of")
for reason in solver.unsat_core():
    print("   ", reason)
