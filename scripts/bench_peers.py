#!/usr/bin/env python3
"""Measures dpbi beside scripts/numpy_peer.py; started by scripts/bench_peers.sh.

Both programs do the same work, in turn, so that whatever else the machine does hits both; the best
time of each counts. That they compute the same is checked: sensitivities to ten digits, sampled means
within five standard errors.
"""

import argparse
import json
import math
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
PEER = [sys.executable, str(ROOT / "scripts" / "numpy_peer.py")]
THREADS = "2"
MECHANISMS = ["ehds", "ehd", "ehdl", "lsdim", "lshist"]

IN_PROCESS = [
    "366,365",
    "30,30,30",
    "463,247,21",
    "20,20,20,20",
    "100,100,100,100",
    "200,120,60,20",
]
WHOLE_PROCESS = ["366,365", "463,247,21"]


def build():
    """The benchmark program and dpbi itself, optimised."""
    command = ["cargo", "bench", "--no-run", "--bench", "peers", "--message-format=json"]
    built = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)
    if built.returncode != 0:
        sys.exit("error: dpbi could not be built; see above")
    messages = [json.loads(line) for line in built.stdout.splitlines() if line.startswith("{")]
    programs = {m["target"]["name"]: m["executable"] for m in messages if m.get("executable")}
    return programs["peers"], programs["dpbi"]


def output(command):
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True)
    if done.returncode != 0:
        sys.exit(f"error: {' '.join(command)} failed")
    return json.loads(done.stdout)


def check(counts, ours, theirs):
    """Stops unless both programs found the same."""
    for name, value in theirs["sensitivities"].items():
        if not math.isclose(value, ours["sensitivities"][name], rel_tol=1e-10):
            sys.exit(f"error: {counts}: {name} sensitivities differ")
    for id, mean in theirs["means"].items():
        sigma = math.hypot(theirs["standard_errors"][id], ours["standard_errors"][id])
        for other in [ours["draws"]["means"][id], *ours["everything"]["means"][id]]:
            if abs(mean - other) > 5 * sigma:
                sys.exit(f"error: {counts}: mean errors of {id} differ: {mean} and {other}")


def in_process(bench, counts, rounds, seconds):
    """Best times and peak memory: dpbi (the same work; everything), NumPy (whole; in blocks)."""
    times, peaks = {}, {}

    def note(name, took, peak):
        times[name] = min(times.get(name, math.inf), took)
        peaks[name] = max(peaks.get(name, 0), peak or 0)

    for _ in range(rounds):
        ours = output([bench, "--threads", THREADS, "--seconds", str(seconds), counts])
        note("same", ours["draws"]["seconds"], ours["peak_kb"])
        note("all", ours["everything"]["seconds"], ours["peak_kb"])
        for name, option in (("numpy", []), ("blocks", ["--blocks"])):
            theirs = output(PEER + option + ["--seconds", str(seconds), counts])
            note(name, theirs["seconds"], theirs["peak_kb"])
            check(counts, ours, theirs)
    return times, peaks


def peak_kb(command):
    """The largest resident memory of a process, as last seen before it ended."""
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    peak = 0
    while process.poll() is None:
        try:
            status = pathlib.Path(f"/proc/{process.pid}/status").read_text()
        except OSError:
            break
        seen = [line for line in status.splitlines() if line.startswith("VmHWM:")]
        peak = int(seen[0].split()[1]) if seen else peak
    process.wait()
    return peak


def whole_process(dpbi, counts, rounds, folder):
    """Times of both as processes, from start to end."""
    config = pathlib.Path(folder) / f"{counts.replace(',', '-')}.toml"
    prior = [1] * len(counts.split(","))
    config.write_text(
        f'name = "peers"\ntitle = "peers"\nseed = 1\nruns = 1000\nprior = {prior}\nepsilon = 1.0\n'
        f"mechanisms = {json.dumps(MECHANISMS)}\n[data.counts]\ncounts = [{counts}]\n"
    )

    def run(out):
        options = ["--format", "none", "--threads", THREADS, "--out", f"{folder}/{out}"]
        return [dpbi, "run", str(config), *options]

    commands = {"dpbi": run, "numpy": lambda _: [*PEER, counts]}
    times = {name: [] for name in commands}
    for round in range(rounds):
        for name, command in commands.items():
            words = command(f"{counts}-{round}")
            start = time.perf_counter()
            subprocess.run(words, stdout=subprocess.DEVNULL, check=True)
            times[name].append(time.perf_counter() - start)
    peaks = {name: peak_kb(command("peak")) for name, command in commands.items()}
    return times, peaks


def duration(seconds):
    for unit, size in (("s", 1.0), ("ms", 1e-3)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds / 1e-6:.0f} µs"


def memory(*kilobytes):
    return " / ".join(f"{each / 1024:.0f}" if each else "–" for each in kilobytes)


def beside(slow, fast):
    """A time, and how many times as long as the other it is."""
    ratio = slow / fast
    return f"{duration(slow)} {f'{ratio:.0f}×' if ratio >= 10 else f'{ratio:.1f}×':>5}"


def table(rows):
    """Columns as wide as they need to be; the first to the left."""
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    for first, *others in rows:
        cells = (cell.rjust(width) for cell, width in zip(others, widths[1:]))
        print("  ".join([first.ljust(widths[0]), *cells]), flush=True)


def setting(counts):
    parts = [int(count) for count in counts.split(",")]
    return f"k = {len(parts)}, n = {sum(parts)}: {counts}"


def measure_in_process(bench, rounds, seconds):
    rows = [["in process", "dpbi", "NumPy", "in blocks", "dpbi, all exact", "MB"]]
    for counts in IN_PROCESS:
        times, peaks = in_process(bench, counts, rounds, seconds)
        same = times["same"]
        rows.append([
            setting(counts),
            duration(same),
            beside(times["numpy"], same),
            beside(times["blocks"], same),
            duration(times["all"]),
            memory(peaks["same"], peaks["numpy"], peaks["blocks"]),
        ])
    table(rows)


def measure_whole_process(dpbi, rounds):
    rows = [["whole process", "dpbi run", "NumPy", "medians: dpbi run", "NumPy", "MB"]]
    with tempfile.TemporaryDirectory() as folder:
        for counts in WHOLE_PROCESS:
            times, peaks = whole_process(dpbi, counts, rounds, folder)
            row = [setting(counts)]
            for choose in (min, statistics.median):
                ours, theirs = choose(times["dpbi"]), choose(times["numpy"])
                row += [duration(ours), beside(theirs, ours)]
            rows.append([*row, memory(peaks["dpbi"], peaks["numpy"])])
    table(rows)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="fewer repetitions")
    rounds, seconds, processes = (1, 0.5, 5) if parser.parse_args().quick else (5, 1.0, 15)
    bench, dpbi = build()
    print(f"1000 runs of {', '.join(MECHANISMS)}: best times, and how many times dpbi's they are\n")
    measure_in_process(bench, rounds, seconds)
    print()
    measure_whole_process(dpbi, processes)


if __name__ == "__main__":
    main()
