#!/usr/bin/env python3
"""The experiment of dpbi as one would write it with NumPy: what dpbi's speed is measured against.

    numpy_peer.py [--seconds S] [--runs N] [--blocks] COUNTS…     such as: numpy_peer.py 463,247,21

For every vector of counts (prior 1, ε = 1, γ = 1, Hellinger distance): all candidates, their scores,
their local sensitivities, the global and the smooth sensitivity, then runs of the exponential
mechanisms EHDS, EHD and EHDL, by a search in the sums of all weights, and of LSDim and LSHist. Prints
a JSON document in one line for each: the best time of several, and what was computed, so that two
programs can be seen to compute the same.

Written to be fast: tables instead of log-gammas of candidates, whole arrays at a time, nothing
computed twice. With --blocks also tuned to the machine: no intermediate array is larger than the
cache, which is twice as fast where there are many candidates. It uses one thread, as NumPy does.
"""

import argparse
import json
import time
from functools import reduce

import numpy as np
from scipy.special import gammaln

EPSILON = 1.0
GAMMA = 1.0
# A few arrays of so many candidates fit into the cache.
BLOCK = 1 << 14


def compositions(n, k):
    """Every vector of k counts with sum n: k columns."""
    columns, left = [], np.array([n], dtype=np.int32)
    for _ in range(k - 1):
        sizes = left + 1
        ends = np.cumsum(sizes, dtype=np.int64)
        starts = np.repeat(ends - sizes, sizes)
        column = (np.arange(ends[-1]) - starts).astype(np.int32)
        columns = [np.repeat(earlier, sizes) for earlier in columns] + [column]
        left = np.repeat(left, sizes) - column
    return columns + [left]


class Tables:
    """Functions of one count, for every category."""

    def __init__(self, counts):
        n = sum(counts)
        steps = np.arange(n + 1)
        halves = gammaln(1 + 0.5 * np.arange(2 * n + 1))
        whole = halves[::2]
        # Its part of ln BC between the data and a candidate of the same total.
        self.affinity = [halves[x + steps] - 0.5 * (whole[steps] + whole[x]) for x in counts]
        # Its part of ln BC between neighbours, if it goes from c to c + 1 or back.
        step = halves[2 * steps[:-1] + 1] - 0.5 * (whole[:-1] + whole[1:])
        self.gain = np.append(step, np.inf)
        self.lose = np.insert(step, 0, np.inf)
        self.moved = [np.abs(steps - x) for x in counts]

    def ln_affinity(self, candidates):
        parts = (table.take(c) for table, c in zip(self.affinity, candidates))
        return reduce(np.add, parts)

    def local_sensitivity(self, candidates):
        """The largest distance from a neighbour: one record leaves i for any other category."""
        gain = [self.gain.take(c) for c in candidates]
        least = np.inf
        for i, c in enumerate(candidates):
            others = reduce(np.minimum, gain[:i] + gain[i + 1 :])
            least = np.minimum(least, self.lose.take(c) + others)
        return np.sqrt(-np.expm1(least))

    def moved_records(self, candidates):
        parts = (table.take(c) for table, c in zip(self.moved, candidates))
        return 0.5 * reduce(np.add, parts)


def hellinger(ln_affinity):
    return np.sqrt(-np.expm1(np.minimum(ln_affinity, 0.0)))


def exponential(scores, parts, rate, uniforms):
    """Scores drawn with weights exp(-rate score)."""
    sums, total = np.empty_like(scores), 0.0
    for part in parts:
        weights = np.exp(-rate * scores[part])
        weights[0] += total
        np.cumsum(weights, out=sums[part])
        total = sums[part.stop - 1]
    chosen = np.searchsorted(sums, total * uniforms, side="right")
    return scores[np.minimum(chosen, len(scores) - 1)]


def laplace(tables, counts, scale, runs, rng):
    """Distances of data with noise on all counts but the last, which restores the total."""
    n, k = sum(counts), len(counts)
    noise = np.floor(rng.laplace(0.0, scale, (k - 1, runs))).astype(np.int64)
    released = np.clip(noise + np.array(counts[:-1])[:, None], 0, n)
    last = np.maximum(n - released.sum(axis=0), 0)
    total = released.sum(axis=0) + last
    # Where even a last count of 0 leaves too many records, the totals differ.
    between = gammaln(k + 0.5 * (n + total)) - 0.5 * (gammaln(k + total) + gammaln(k + n))
    return hellinger(tables.ln_affinity([*released, last]) - between)


def experiment(counts, runs, block, seed):
    """Sensitivities, and for every mechanism its errors; `block` candidates at a time."""
    rng = np.random.default_rng(seed)
    n, k = sum(counts), len(counts)
    tables, candidates = Tables(counts), compositions(n, k)
    size = len(candidates[0])
    block = block or size
    parts = [slice(a, min(a + block, size)) for a in range(0, size, block)]
    scores = np.empty(size)
    largest, least_inverse = 0.0, np.inf
    for part in parts:
        own = [column[part] for column in candidates]
        scores[part] = hellinger(tables.ln_affinity(own))
        local = tables.local_sensitivity(own)
        largest = max(largest, local.max())
        inverse = 1.0 / local + GAMMA * tables.moved_records(own)
        least_inverse = min(least_inverse, inverse.min())
    local = tables.local_sensitivity([np.array([x]) for x in counts])[0]
    smooth = 1.0 / least_inverse
    rates = {
        "ehds": EPSILON / (2 * (1 + GAMMA) * smooth),
        "ehd": EPSILON / (2 * largest),
        "ehdl": EPSILON / (2 * local),
    }
    scales = {"lsdim": k / EPSILON, "lshist": (1 if k == 2 else 2) / EPSILON}
    errors = {id: exponential(scores, parts, rate, rng.random(runs)) for id, rate in rates.items()}
    errors |= {id: laplace(tables, counts, b, runs, rng) for id, b in scales.items()}
    return {"local": local, "global": largest, "smooth": smooth}, errors


def peak_kb():
    """The largest resident memory so far, where the system says so."""
    try:
        with open("/proc/self/status") as status:
            return next(int(line.split()[1]) for line in status if line.startswith("VmHWM:"))
    except (OSError, StopIteration):
        return None


def measure(counts, runs, block, seconds):
    """The best time of experiments for `seconds` (at least one), and what the last one found."""
    best, spent, seed = np.inf, 0.0, 0
    while seed == 0 or spent < seconds:
        start = time.perf_counter()
        sensitivities, errors = experiment(counts, runs, block, seed)
        means = {id: error.mean() for id, error in errors.items()}
        took = time.perf_counter() - start
        best, spent, seed = min(best, took), spent + took, seed + 1
    deviations = {id: error.std() / np.sqrt(runs) for id, error in errors.items()}
    return {
        "counts": counts,
        "seconds": best,
        "sensitivities": sensitivities,
        "means": means,
        "standard_errors": deviations,
        "peak_kb": peak_kb(),
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("counts", nargs="+", help="such as 463,247,21")
    parser.add_argument("--runs", type=int, default=1000, help="runs of every mechanism")
    parser.add_argument("--seconds", type=float, default=0.0, help="repeat for so long")
    parser.add_argument("--blocks", action="store_true", help="work on parts that fit the cache")
    arguments = parser.parse_args()
    block = BLOCK if arguments.blocks else None
    for text in arguments.counts:
        counts = [int(count) for count in text.split(",")]
        found = measure(counts, arguments.runs, block, arguments.seconds)
        print(json.dumps(found), flush=True)


if __name__ == "__main__":
    main()
