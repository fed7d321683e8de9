#!/usr/bin/env python3
"""Measures dpbi from Python beside NumPy, diffprivlib and OpenDP where they do the same; prints a table.

    pip install ./python diffprivlib opendp scipy && scripts/bench_python.py

Each measurement is the best of several, one after the other in turn, so that whatever else the machine does hits
all. What they compute is compared: exact means to 1e-9, sampled ones within five standard errors.
"""

import math
import time

import diffprivlib.mechanisms
import dpbi
import numpy as np
import numpy_peer
import opendp.prelude as opendp

ROUNDS = 5
DRAWS = 100_000
SETTINGS = [[366, 365], [463, 247, 21], [30, 30, 30, 30]]


def best(*works):
    """The best time of each in milliseconds, and what it found at last."""
    times, found = [math.inf] * len(works), [None] * len(works)
    for _ in range(ROUNDS):
        for place, work in enumerate(works):
            start = time.perf_counter()
            found[place] = work()
            times[place] = min(times[place], 1e3 * (time.perf_counter() - start))
    return times, found


def enumerated(counts):
    """The exact mean error of `ehd` under the uniform prior, ε = 1, by listing all candidates."""
    tables = numpy_peer.Tables(counts)
    candidates = numpy_peer.compositions(sum(counts), len(counts))
    errors = np.sqrt(np.maximum(0, -np.expm1(tables.ln_affinity(candidates))))
    sensitivity = tables.local_sensitivity(candidates).max()
    weights = np.exp(-errors / (2 * sensitivity))
    return float(errors @ weights / weights.sum())


def diffprivlib_draws(counts):
    """Geometric noise on every count, in one call for each number."""
    noise = diffprivlib.mechanisms.GeometricTruncated(epsilon=1, sensitivity=1, lower=0, upper=sum(counts))
    return np.array([[noise.randomise(count) for count in counts] for _ in range(DRAWS // 100)])


def opendp_draws(counts):
    """The same, in one call for all numbers."""
    space = opendp.vector_domain(opendp.atom_domain(T=int)), opendp.l1_distance(T=int)
    noise = opendp.m.make_geometric(*space, scale=1.0)
    drawn = np.array(noise(counts * DRAWS)).reshape(DRAWS, len(counts))
    return np.clip(drawn, 0, sum(counts))


def main():
    opendp.enable_features("contrib")
    print(f"{'':34}{'dpbi':>10}{'other':>10}{'ratio':>8}")

    def row(name, ours, theirs):
        print(f"{name:34}{ours:>8.2f}ms{theirs:>8.1f}ms{theirs / ours:>8.1f}")

    for counts in SETTINGS:
        setting = dpbi.Setting(prior=[1] * len(counts), counts=counts, epsilon=1)
        (ours, theirs), (law, mean) = best(lambda: setting.inspect("ehd"), lambda: enumerated(counts))
        assert math.isclose(law.mechanisms["mean"][0], mean, rel_tol=1e-9), (law, mean)
        row(f"law of ehd at {counts}, NumPy", ours, theirs)
    counts = [30, 20, 10]
    # Half of ε is the rate of its noise.
    setting = dpbi.Setting(prior=[1, 1, 1], counts=counts, epsilon=2)
    others = [("diffprivlib", diffprivlib_draws), ("OpenDP", opendp_draws)]
    for name, draw in others:
        (ours, theirs), (sample, drawn) = best(
            lambda: setting.sample("geometric-all", runs=DRAWS), lambda draw=draw: draw(counts)
        )
        theirs *= DRAWS / len(drawn)
        error = np.hypot(sample.released.std(0) / math.sqrt(DRAWS), drawn.std(0) / math.sqrt(len(drawn)))
        assert (abs(sample.released.mean(0) - drawn.mean(0)) < 5 * error).all(), (sample.released.mean(0), drawn.mean(0))
        row(f"{DRAWS} noisy histograms, {name}", ours, theirs)


if __name__ == "__main__":
    main()
