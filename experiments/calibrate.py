"""How fast is this machine beside the one on which ANCHORS.md was measured? Prints a factor: 2.0 means twice as fast.

Multiply an anchor's seconds by 1/factor before comparing across machines; ratios within one run need no factor.
"""

import time

REFERENCE_S = 0.637  # best of five, CPython 3.11.7, on the reference machine


def work() -> int:
    x, acc = 88172645463325252, 0
    for _ in range(2_000_000):
        x ^= (x << 13) & 0xFFFFFFFFFFFFFFFF
        x ^= x >> 7
        x ^= (x << 17) & 0xFFFFFFFFFFFFFFFF
        acc += x & 1
    return acc


def best(n: int = 5) -> float:
    times = []
    for _ in range(n):
        t = time.perf_counter()
        work()
        times.append(time.perf_counter() - t)
    return min(times)


if __name__ == "__main__":
    mine = best()
    print(f"{REFERENCE_S / mine:.2f}  (best of five {mine:.3f} s, reference {REFERENCE_S:.3f} s)")
