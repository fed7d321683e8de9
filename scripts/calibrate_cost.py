#!/usr/bin/env python3
"""How well `dpbi check` predicts what `dpbi run` takes.

    cargo build --release && python3 scripts/calibrate_cost.py

runs settings of every kind and prints predicted and measured seconds and bytes, with their ratio,
and which are off by more than a factor of two. The rates to adjust are in src/engine/analysis/cost/rates.rs; the
column `work` says which of them dominates a setting. With one thread (the default) the measured
seconds are those of the processor, so that other programs do not disturb; with more they are those
of the clock. The shortest of several runs counts.

Needs GNU time in /usr/bin and nothing but Python's standard library.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time

EXPONENTIAL = '"ehd", "ehdl", "ehds", "mh-gamma"'
NOISE = '"lszhang", "lsdim", "lshist"'
ALL = f'{NOISE}, {EXPONENTIAL}, "mh-beta", "geometric", "hamming"'


def accuracy(k, sizes, mechanisms, runs=1000, epsilon=1.0, more=""):
    prior = ", ".join("1" for _ in range(k))
    return f"""
prior = [{prior}]
epsilon = {epsilon}
delta = 1e-8
runs = {runs}
mechanisms = [{mechanisms}]
{more}
data.balanced.sizes = {sizes}
"""


# name, the rate that dominates, the config
SETTINGS = [
    ("start", "start", accuracy(2, [2], '"lshist"', runs=1)),
    ("k=2 n=731, all", "draws, rows", accuracy(2, [731], ALL)),
    ("k=2 n=1e6, all", "tables", accuracy(2, [1_000_000], ALL)),
    ("k=2 n=1e7, all", "tables", accuracy(2, [10_000_000], ALL)),
    ("k=3 n=731, one exp", "candidates", accuracy(3, [731], '"ehds"')),
    ("k=3 n=731, all", "weights", accuracy(3, [731], ALL)),
    ("k=3 n=1e4, exp", "weights", accuracy(3, [10_000], EXPONENTIAL)),
    ("k=4 n=80, all", "weights", accuracy(4, [80], ALL)),
    ("k=4 n=400, exp", "weights", accuracy(4, [400], EXPONENTIAL)),
    ("k=4 n=1000, one exp", "candidates", accuracy(4, [1000], '"ehds"')),
    ("k=3 n=1e4, noise 0.3", "restored, open", accuracy(3, [10_000], NOISE, epsilon=0.3)),
    ("k=4 n=400, noise", "restored", accuracy(4, [400], '"lsdim", "lshist"')),
    ("k=4 n=60, open", "open", accuracy(4, [60], '"lszhang"')),
    ("k=3 n=1e3, hamming", "hamming", accuracy(3, [1000], '"hamming"', epsilon=0.1)),
    ("300 settings k=2", "settings", accuracy(
        2, list(range(50, 350)), '"lshist", "ehds"', runs=100)),
    ("many runs", "draws, rows", accuracy(2, [200], '"lshist", "ehds"', runs=200_000)),
    ("metrics kl, l1", "values", accuracy(3, [300], ALL, more='metrics = ["kl", "l1"]')),
    ("metric tv", "effort of tv", accuracy(3, [80], ALL, more='metrics = ["tv"]')),
    ("score tv", "effort of tv", accuracy(
        2, [300, 1000], '"lshist", "ehds"', more='distance = "tv"')),
    ("score kl", "sensitivities", accuracy(
        2, [300, 1000], '"lshist", "ehds"', more='distance = "kl"')),
    ("theory k=2", "listed", accuracy(2, [200_000], NOISE + ', "ehd", "ehds"',
                                      more='kind = "theory"')),
    ("theory k=3", "listed", accuracy(3, [731], '"lshist", "ehd", "ehds"',
                                      more='kind = "theory"')),
    ("privacy k=2", "comparisons", accuracy(2, [50, 1000, 3000], '"ehd", "ehds"',
                                            more='kind = "privacy"')),
    ("privacy k=3", "comparisons", accuracy(3, [40, 60], '"ehd", "ehds", "hamming"',
                                            more='kind = "privacy"')),
    ("profile", "profile", accuracy(2, [50], '"lshist", "ehds", "hamming"',
                                    more='kind = "profile"')),
    ("optimum k=3", "fill, constraints", accuracy(3, [8, 12], '"lshist", "ehds"',
                                                  more='kind = "optimum"')),
    ("optimum k=2", "fill, constraints", accuracy(2, [20, 45, 100], '"lshist", "ehds"',
                                              more='kind = "optimum"')),
    ("phase k=2", "means", accuracy(
        2, "{ from = 5, to = 1000, count = 43, spacing = \"log\" }", '"lshist", "ehds", "hamming"',
        epsilon='{ from = 0.01, to = 10, count = 43, spacing = "log" }', more='kind = "phase"')),
    ("phase k=3", "means", accuracy(
        3, "{ from = 6, to = 100, count = 20, spacing = \"log\" }", '"lszhang", "lshist", "ehds"',
        epsilon='{ from = 0.1, to = 10, count = 20, spacing = "log" }', more='kind = "phase"')),
    ("scaling", "settings", accuracy(3, [100, 1000, 10_000], '"ehds", "lshist"',
                                     more='kind = "scaling"')),
]


def predict(dpbi, config, threads):
    """Seconds and bytes that are predicted, and how long that takes."""
    begin = time.perf_counter()
    command = [dpbi, "check", config, "--json", "--format", "none", "--force"]
    out = subprocess.run(command + ["--threads", str(threads)], capture_output=True, check=True)
    report = json.loads(out.stdout)[0]
    return report["seconds"], report["bytes"], time.perf_counter() - begin


def run(dpbi, config, folder, threads):
    """Seconds and peak bytes of one run. (The peak that Python itself sees of a child is never less
    than its own.)"""
    usage = os.path.join(folder, "usage")
    command = ["/usr/bin/time", "-f", "%M", "-o", usage, dpbi, "run", config]
    command += ["--out", folder, "--format", "none", "-q", "--force", "--threads", str(threads)]
    begin, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True)
    elapsed, after = time.perf_counter() - begin, resource.getrusage(resource.RUSAGE_CHILDREN)
    processor = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    with open(usage, encoding="utf-8") as file:
        kilobytes = int(file.read())
    return processor if threads == 1 else elapsed, 1024 * kilobytes


def measure(dpbi, config, folder, threads):
    """The best of several runs."""
    seconds, peak = run(dpbi, config, folder, threads)
    for _ in range(4 if seconds < 0.2 else 1 if seconds < 2 else 0):
        again, also = run(dpbi, config, folder, threads)
        seconds, peak = min(seconds, again), min(peak, also)
    return seconds, peak


def mark(ratio):
    return f"{ratio:6.2f}{' ' if 0.5 <= ratio <= 2 else '!'}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--dpbi", default="target/release/dpbi")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--only", default="", help="settings whose name contains this")
    args = parser.parse_args()
    print(f"{'':22}{'seconds':^26}{'MB':^26}{'check':>7}")
    print(f"{'setting':22}{'predicted':>10}{'measured':>9}{'ratio':>7}"
          f"{'predicted':>10}{'measured':>9}{'ratio':>7}{'s':>7}  work")
    off = []
    with tempfile.TemporaryDirectory() as folder:
        for number, (name, work, text) in enumerate(SETTINGS):
            if args.only not in name:
                continue
            config = os.path.join(folder, f"{number}.toml")
            with open(config, "w", encoding="utf-8") as file:
                file.write(f'name = "calibration-{number}"\ntitle = "{name}"\n{text}')
            seconds, size, check = predict(args.dpbi, config, args.threads)
            taken, peak = measure(args.dpbi, config, folder, args.threads)
            ratios = seconds / taken, size / peak
            if not all(0.5 <= ratio <= 2 for ratio in ratios):
                off.append(name)
            print(f"{name:22}{seconds:10.3f}{taken:9.3f}{mark(ratios[0])}"
                  f"{size / 1e6:10.1f}{peak / 1e6:9.1f}{mark(ratios[1])}{check:7.3f}  {work}",
                  flush=True)
    print("all within a factor of two" if not off else f"outside a factor of two: {', '.join(off)}")
    return len(off) > 0


if __name__ == "__main__":
    sys.exit(main())
