#!/usr/bin/env python3
"""Does every command answer in seconds, or show how far it is? Draws commands and sizes at random.

    scripts/patience.py BINARY [--seed N] [--cases N] [--limit SECONDS] [--only COMMAND] [--slowest N]

A case is fine if it ends within --limit seconds (15) with status 0, or, of a run, after naming what failed; or is refused with status 2 within
3 s; or shows within 3 s which share is done and how much time is left, and what it says after 10 s of the time
left is right within a factor of three, as far as the limit shows it. A busy machine is allowed a second more.
`release` (also with --dry-run) and the `posterior` of a release have no excuse: they must answer. A case that
takes longer is interrupted at the limit, and must end within half a second with status 130. Address space is
limited to 8 GB. The same seed draws the same cases. Standard library only."""
import argparse
import json
import os
import random
import re
import resource
import signal
import subprocess
import sys
import tempfile
import time

KS = [1, 2, 2, 2, 3, 3, 4, 5, 6, 8, 12, 20]
NS = [1, 3, 10, 30, 50, 100, 240, 270, 300, 500, 731, 1000, 2000, 4000, 10**4, 10**5, 10**6]
EPSILONS = [1e-4, 0.01, 0.05, 0.3, 1, 1, 3, 10]
EXPRESSIONS = ["-epsilon * d", "-epsilon * H / (2 * LS)", "-epsilon * d^0.7", "-epsilon * abs(t)", "-abs(t)^0.5 / 5",
               "-epsilon * H * (1 + r1 / (n + 1))", "-epsilon * t^2 / (1 + abs(t))"]
RELEASED = ["geometric", "geometric-all", "tight", "lattice"]
COMMANDS = ["release", "release", "release-with", "dry-run", "table", "released", "choose", "choose-error", "inspect",
            "inspect-with", "inspect-own", "audit", "audit-own", "optimum", "check", "run", "posterior",
            "private-n"]
# Commands that must answer, whatever the size.
NO_EXCUSE = {"release", "dry-run", "table", "released", "private-n"}
SECONDS = {"s": 1, "min": 60, "h": 3600, "days": 86400}
# Seconds within which progress is shown, and after which it is right; what a busy machine is allowed beyond.
SOON, SETTLED, BUSY = 3, 10, 1


class Cases:
    """Random commands."""

    def __init__(self, binary, seed, only, folder):
        self.binary, self.only, self.folder = binary, only, folder
        self.rng = random.Random(seed)
        listed = subprocess.run([binary, "mechanisms", "--json"], capture_output=True, check=True).stdout
        # Neither those that only printed figures used nor the user's own, which need an expression.
        known = [one for one in json.loads(listed) if one["guarantee"] not in ["none, historical", "none stated"]]
        self.calibrated = {one["id"]: "calibrated" in one["options"] for one in known}

    def data(self, k, n):
        path = f"{self.folder}/{k}-{n}.csv"
        if not os.path.exists(path):
            rng = random.Random(f"{k} {n}")
            with open(path, "w") as file:
                file.write("g,v\n")
                file.writelines(f"{'ab'[rng.random() < .5]},c{min(k - 1, int(rng.random() ** 1.5 * k))}\n" for _ in range(n))
        return path

    def variant(self):
        name = self.rng.choice(list(self.calibrated))
        calibrated = "+calibrated" if self.calibrated[name] and self.rng.random() < 0.4 else ""
        return name + calibrated + ("+remap" if self.rng.random() < 0.4 else "")

    def config(self, k, n, epsilon):
        """A config of one setting and two mechanisms."""
        def mechanism():
            parts = self.variant().split("+")
            options = "".join(f", {key} = true" for key in parts[1:])
            return f'{{ id = "{parts[0]}", label = "{"-".join(parts)}-{self.rng.randrange(10**6)}"{options} }}'
        counts = [n // k + (i < n % k) for i in range(k)]
        path = f"{self.folder}/config.toml"
        with open(path, "w") as file:
            file.write(f'name = "patience"\nkind = "accuracy"\nseed = 1\nruns = 10\nprior = {[1] * k}\n'
                       f"data.counts.counts = [{counts}]\nepsilon = {epsilon}\ndelta = 1e-6\n"
                       f"mechanisms = [{mechanism()}, {mechanism()}]\n")
        return path

    def draw(self):
        rng = self.rng
        command = self.only or rng.choice(COMMANDS)
        k, n, epsilon = rng.choice(KS), rng.choice(NS), rng.choice(EPSILONS)
        names = ",".join(f"c{i}" for i in range(k))
        prior = rng.choice(["1", "1", "1", "0.5", "7"])
        ones = ",".join([prior] * k)
        if rng.random() < 0.2:
            ones = ",".join(str(rng.choice([0.3, 1, 2, 5, 30])) for _ in range(k))
        counts = ",".join(str(n // k + (i < n % k)) for i in range(k))
        if rng.random() < 0.3:
            counts = ",".join([str(n)] + ["0"] * (k - 1))
        delta = ["--delta", "1e-6"] if rng.random() < 0.5 else []
        column = ["--column", "v", "--categories", names, "--prior", ones, "--epsilon", epsilon]
        if command == "release":
            return command, ["release", "--data", self.data(k, n), *column]
        if command == "release-with":
            return command, ["release", "--data", self.data(k, n), *column, "--mechanism", rng.choice(RELEASED)]
        if command == "dry-run":
            return command, ["release", "--n", n, *column, "--dry-run"]
        if command == "private-n":
            return command, ["release", "--data", self.data(k, n), *column, "--private-n"]
        if command == "table":
            k = max(2, min(k, 10))
            names = ",".join(f"c{i}" for i in range(k))
            return command, ["release", "--data", self.data(k, n), "--by", "g", "--column", "v", "--categories", "g=a,b",
                             "--categories", f"v={names}", "--prior", ",".join([prior] * (2 * k)), "--epsilon", epsilon]
        if command == "released":
            path = f"{self.folder}/release.json"
            if os.path.exists(path):
                os.remove(path)
            made = ["release", "--data", self.data(k, n), *column, "--mechanism", rng.choice(RELEASED), "--out", path]
            subprocess.run([self.binary, *map(str, made)], capture_output=True, cwd=self.folder, timeout=120)
            # What is refused has no posterior.
            return (command, ["posterior", path]) if os.path.exists(path) else ("release-with", made)
        model = ["--prior", ones]
        if command == "posterior":
            law = rng.choice(["discrete-laplace(epsilon=%s)", "laplace(epsilon=%s)", "discrete-gaussian(rho=%s)",
                              "gaussian(rho=%s)"])
            known = ["--n", n] if rng.random() < 0.5 else []
            return command, ["posterior", "--released", counts, "--noise", law % epsilon, *model, *known]
        if command == "choose":
            data = ["--counts", counts] if rng.random() < 0.3 else ["--n", n]
            return command, ["choose", *model, *data, "--epsilon", epsilon, *delta]
        if command == "choose-error":
            data = ["--counts", counts] if rng.random() < 0.3 else ["--n", n]
            return command, ["choose", *model, *data, "--error", rng.choice([0.05, 0.2])]
        if command == "inspect":
            return command, ["inspect", *model, "--counts", counts, "--epsilon", epsilon, *delta]
        if command == "inspect-with":
            return command, ["inspect", *model, "--counts", counts, "--epsilon", epsilon, "--delta", "1e-6", "--mechanism",
                             self.variant()]
        if command == "inspect-own":
            return command, ["inspect", *model, "--counts", counts, "--epsilon", epsilon,
                             "--mechanism", f"{{{rng.choice(EXPRESSIONS)}}}"]
        if command == "audit":
            return command, ["audit", *model, "--n", n, "--epsilon", epsilon, "--delta", "1e-6", "--mechanism", self.variant(),
                             *(["--profile"] if rng.random() < 0.2 else [])]
        if command == "audit-own":
            calibrate = ["--calibrate"] if rng.random() < 0.3 else []
            return command, ["audit", *model, "--n", n, "--epsilon", epsilon, "--mechanism",
                             f"{{{rng.choice(EXPRESSIONS)}}}", *calibrate]
        if command == "optimum":
            return command, ["optimum", *model, "--n", n, "--epsilon", epsilon, "--mechanism", self.variant(), *delta]
        if command == "check":
            return command, ["check", self.config(k, n, epsilon)]
        return command, ["run", self.config(k, n, epsilon), "--out", f"{self.folder}/results", "--format", "svg"]


def left(line):
    """The seconds that a line says are left, if it does."""
    found = re.search(r"\d %.* about (\d+) (s|min|h|days) left", line)
    return float(found[1]) * SECONDS[found[2]] if found else None


def judge(command, limit, status, took, shown, text, stop):
    """What is wrong with a case, if something is. The status is None if it was interrupted at the limit. `shown`:
    when it said what, line by line."""
    if "panicked" in text or "allocation" in text:
        return "panic"
    # A run in which a mechanism cannot be computed goes on with the others, and says so.
    if status is not None and status not in (0, 2) and not (command == "run" and "failures.csv" in text):
        return f"status {status}"
    if status == 2:
        if command in NO_EXCUSE and not re.search("categor|cells", text):
            return "refused"
        return "refused late" if took > SOON else None
    told = [(when, left(line)) for when, line in shown if left(line) is not None]
    if took > SOON + BUSY and not any(when <= SOON + BUSY for when, _ in told):
        first = min((when for when, _ in told), default=None)
        late = f"first progress after {first:.1f} s" if first else "no progress"
        if status is None or took > limit / 2:
            return late
    if status is None:
        if command in NO_EXCUSE:
            return "no answer"
        if stop is None or stop[1] > 0.5 + BUSY or stop[0] != 130:
            return f"interrupted: {stop}"
    for when, seconds in told:
        if when < SETTLED:
            continue
        # At the limit at least so much was left.
        least = took - when
        if 3 * seconds + BUSY < least or (status is not None and seconds > 3 * least + 3 * BUSY):
            return f"said {seconds:.0f} s left after {when:.0f} s"
    return None


def run(binary, args, limit, folder):
    """Runs a command: its status, seconds, the lines that it said with their times, all that it said, its peak memory,
    and how and how soon it ended when it was interrupted."""
    def confine():
        resource.setrlimit(resource.RLIMIT_AS, (8 << 30, 8 << 30))
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    start = time.time()
    shown, known = [], 0
    with open(f"{folder}/err", "w+b") as err, open(f"{folder}/out", "wb") as out:
        process = subprocess.Popen([binary, *args], stdout=out, stderr=err, stdin=subprocess.DEVNULL, cwd=folder,
                                   preexec_fn=confine)
        status, usage, stop = None, None, None
        while status is None and time.time() - start < limit:
            time.sleep(0.02)
            with open(f"{folder}/err", "rb") as file:
                lines = file.read().decode(errors="replace").split("\n")[:-1]
            shown += [(time.time() - start, line) for line in lines[known:]]
            known = len(lines)
            ended, code, usage = os.wait4(process.pid, os.WNOHANG)
            status = os.waitstatus_to_exitcode(code) if ended else None
        took = time.time() - start
        if status is None:
            process.send_signal(signal.SIGINT)
            asked = time.time()
            ended = 0
            while not ended and time.time() - asked < 10:
                time.sleep(0.01)
                ended, code, usage = os.wait4(process.pid, os.WNOHANG)
            if ended:
                stop = (os.waitstatus_to_exitcode(code), time.time() - asked)
            else:
                process.kill()
                _, _, usage = os.wait4(process.pid, 0)
        process.returncode = status if status is not None else -9
    with open(f"{folder}/err", "rb") as file:
        text = file.read()
    return status, took, shown, text.decode(errors="replace"), usage.ru_maxrss / 1000, stop


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("binary")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--cases", type=int, default=40)
    parser.add_argument("--limit", type=float, default=15)
    parser.add_argument("--only", choices=sorted(set(COMMANDS)))
    parser.add_argument("--slowest", type=int, default=0)
    asked = parser.parse_args()
    binary = os.path.abspath(asked.binary)
    bad, times = 0, []
    with tempfile.TemporaryDirectory() as folder:
        cases = Cases(binary, asked.seed, asked.only, folder)
        for _ in range(asked.cases):
            command, args = cases.draw()
            args = [str(arg).replace(folder + "/", "") for arg in args]
            status, took, shown, text, memory, stop = run(binary, args, asked.limit, folder)
            line = " ".join(arg if re.fullmatch(r"[\w.,=/+-]*", arg) else f"'{arg}'" for arg in args)
            times.append((took, memory, status, line))
            fault = judge(command, asked.limit, status, took, shown, text, stop)
            if fault:
                bad += 1
                print(f"{fault}: status {status} after {took:.1f} s, {memory:.0f} MB: dpbi {line}\n    {text.strip()[-160:]!r}",
                      flush=True)
    for took, memory, status, line in sorted(times, reverse=True)[:asked.slowest]:
        print(f"{took:5.1f} s {memory:5.0f} MB, status {status}: dpbi {line}")
    print(f"{asked.cases - bad} passed, {bad} failed")
    sys.exit(bad > 0)


if __name__ == "__main__":
    main()
