#!/usr/bin/env python3
"""Compares `dpbi account` with Google's dp-accounting, both ways, in ten cases.

    cargo build && python3 scripts/compare_dp_accounting.py target/debug/dpbi

Makes a virtual environment in a temporary folder and installs dp-accounting from PyPI, unless a Python that has it
is named: DP_ACCOUNTING_PYTHON=/path/to/python. In every case the real binary releases small files into a ledger.

* read: dp-accounting reads the distribution that `dpbi account --pld` writes. Its delta must be dpbi's.
* composed: dp-accounting composes the single releases. Its pessimistic delta rounds losses up to multiples of its
  interval, its optimistic delta rounds them down. dpbi's delta must lie between the optimistic one and the pessimistic
  one a step of dpbi's grid earlier.

The single releases come from first principles where that is easy: randomised response for one that is only known to
be epsilon-private, the weights of `tight` from a linear system over all data sets, the noise of `lattice` from sums.
For other mechanisms they are those that dpbi exports. Prints a table and exits with 1 if something disagrees.
"""

import itertools
import json
import math
import os
import pathlib
import subprocess
import sys
import tempfile
import venv

INTERVAL = 1e-4
RELATIVE = 1e-9
ABSOLUTE = 1e-12


def python_with_dp_accounting(folder):
    """A Python that has dp-accounting."""
    if named := os.environ.get("DP_ACCOUNTING_PYTHON"):
        return named
    venv.create(folder / "venv", with_pip=True)
    python = folder / "venv" / "bin" / "python"
    subprocess.run([python, "-m", "pip", "install", "-q", "dp-accounting==0.6.0", "setuptools<81"], check=True)
    return str(python)


def releases(mechanism, k, n, *epsilons):
    """Several releases of a column with k categories and n records."""
    return [(mechanism, k, n, epsilon) for epsilon in epsilons]


CASES = {
    "tight, k = 3, 1 release": releases("tight", 3, 6, "1"),
    "tight, k = 3, 20 releases": releases("tight", 3, 8, *["0.2"] * 20),
    "lattice, k = 20, 5 releases": releases("lattice", 20, 40, *["0.5"] * 5),
    "lattice, k = 3, 50 releases": releases("lattice", 3, 30, *["0.1"] * 50),
    "geometric, k = 2, 10 releases": releases("geometric", 2, 12, *["0.25"] * 10),
    "geometric, k = 3, 6 releases": releases("geometric", 3, 10, *["0.5"] * 6),
    "hamming, k = 3, 8 releases": releases("hamming", 3, 9, *["0.4"] * 8),
    "ehds, k = 2, 12 releases": releases("ehds", 2, 15, *["0.5"] * 12),
    "geometric, k = 2, mixed epsilon": releases("geometric", 2, 12, *["0.1", "0.33", "0.7", "0.25"] * 3),
    "mixed mechanisms": releases("tight", 3, 6, "0.3", "0.3")
    + releases("lattice", 4, 20, "0.21")
    + releases("geometric", 3, 10, "0.5")
    + releases("hamming", 3, 9, "0.4")
    + releases("ehds", 2, 15, "1"),
}


def run(dpbi, folder, number, case):
    """Releases a case with the real binary; the account and the distribution of the privacy loss."""
    ledger, exported = folder / f"{number}.ledger", folder / f"{number}.json"
    for mechanism, k, n, epsilon in case:
        data = folder / f"{k}-{n}.csv"
        data.write_text("answer\n" + "".join(f"c{i % k}\n" for i in range(n)))
        categories = ",".join(f"c{i}" for i in range(k))
        prior = ",".join(["1"] * k)
        command = [dpbi, "release", "--data", data, "--column", "answer", "--categories", categories, "--prior", prior]
        command += ["--epsilon", epsilon, "--mechanism", mechanism, "--ledger", ledger]
        subprocess.run(command, check=True, capture_output=True)
    command = [dpbi, "account", ledger, "--pld", exported, "--json"]
    account = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
    return account, json.loads(exported.read_text())


def three_losses(likely, epsilon):
    """Losses epsilon, 0 and -epsilon, the first with this probability."""
    other = likely * math.exp(-epsilon)
    return {epsilon: likely, 0.0: 1 - likely - other, -epsilon: other}


def compositions(n, k):
    """All data sets of n records."""
    if k == 1:
        return [(n,)]
    return [(i, *rest) for i in range(n + 1) for rest in compositions(n - i, k - 1)]


def moved(x, y):
    """The number of records by which data sets differ."""
    return sum(abs(a - b) for a, b in zip(x, y)) // 2


def tight(k, n, epsilon):
    """`tight` from its definition: weights such that all probabilities add up to 1 at every data set."""
    import numpy

    a, sets = math.exp(-epsilon), compositions(n, k)
    kernel = numpy.array([[a ** moved(x, r) for r in sets] for x in sets])
    weights = numpy.linalg.solve(kernel, numpy.ones(len(sets)))
    assert weights.min() > 0
    law = dict(zip(sets, kernel * weights))
    pairs = [(x, y) for x, y in itertools.permutations(sets, 2) if moved(x, y) == 1]
    return three_losses(max(law[x][law[x] > law[y] * math.exp(epsilon / 2)].sum() for x, y in pairs), epsilon)


def lattice(k, epsilon):
    """`lattice`: z sums to 0 with weight exp(-epsilon |z| / 2); the loss is epsilon where z_1 >= 0 and z_2 <= 0."""
    import numpy

    reach = math.ceil(80 / epsilon)
    one = numpy.exp(-epsilon / 2 * abs(numpy.arange(-reach, reach + 1)))
    up, down = one.copy(), one.copy()
    up[:reach] = 0
    down[reach + 1 :] = 0

    def at_zero(*factors):
        total = numpy.ones(1)
        for factor in factors:
            total = numpy.convolve(total, factor)
        return total[len(total) // 2]

    others = [one] * (k - 2)
    return three_losses(at_zero(up, down, *others) / at_zero(one, one, *others), epsilon)


def single(release, exported):
    """The losses of one release with their probabilities, and whether they come from first principles."""
    mechanism, k, n, text = release
    epsilon = float(text)
    if mechanism == "tight":
        return tight(k, n, epsilon), True
    if mechanism == "lattice":
        return lattice(k, epsilon), True
    if mechanism == "geometric" and k == 2:
        return three_losses(1 / (1 + math.exp(-epsilon)), epsilon), True
    return dict(zip(exported["losses"], exported["probabilities"])), False


def compare(document):
    """The part that needs dp-accounting. Prints the table; whether all agrees."""
    import numpy
    from dp_accounting.pld import pld_pmf, privacy_loss_distribution as pld

    def composed(distributions, pessimistic):
        total = None
        for losses in distributions:
            upper = {loss: math.log(mass) for loss, mass in losses.items() if mass > 0}
            lower = {loss: ln - loss for loss, ln in upper.items()}
            one = pld.from_two_probability_mass_functions(lower, upper, pessimistic, INTERVAL)
            total = one if total is None else total.compose(one)
        return total

    known, agrees = {}, True
    print(f"{'case':34}{'epsilon':>9}{'dpbi':>14}{'read':>14}{'optimistic':>14}{'pessimistic':>14}")
    for name, (case, account, exported) in document.items():
        probabilities = numpy.array(exported["probabilities"])
        pmf = pld_pmf.DensePLDPmf(
            exported["step"], exported["first"], probabilities, exported["infinite"], True
        )
        read = pld.PrivacyLossDistribution(pmf)
        distributions = []
        for release, one in zip(case, exported["releases"]):
            key = json.dumps([release, one["losses"], one["probabilities"]])
            if key not in known:
                known[key] = single(release, one)
            distributions.append(known[key][0])
        below, above = composed(distributions, False), composed(distributions, True)
        worst = True
        for epsilon, delta in account["curve"][:-1]:
            margin = RELATIVE * delta + ABSOLUTE
            reads = abs(read.get_delta_for_epsilon(epsilon) - delta) <= margin
            low = below.get_delta_for_epsilon(epsilon)
            high = above.get_delta_for_epsilon(epsilon - exported["step"])
            worst = worst and reads and low - margin <= delta <= high + margin
        agrees = agrees and worst
        epsilon, delta = next(point for point in account["curve"] if point[1] <= 1e-2)
        row = [delta] + [one.get_delta_for_epsilon(epsilon) for one in (read, below, above)]
        mark = "" if worst else "  DISAGREES"
        print(f"{name:34}{epsilon:9.4f}" + "".join(f"{value:14.6e}" for value in row) + mark)
    print("all agree" if agrees else "something disagrees")
    return agrees


def main():
    if sys.argv[1:2] == ["--compare"]:
        document = json.loads(pathlib.Path(sys.argv[2]).read_text())
        sys.exit(0 if compare(document) else 1)
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    dpbi = pathlib.Path(sys.argv[1]).resolve()
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        python = python_with_dp_accounting(folder)
        document = {
            name: (case, *run(dpbi, folder, number, case)) for number, (name, case) in enumerate(CASES.items())
        }
        (folder / "cases.json").write_text(json.dumps(document))
        compared = subprocess.run([python, __file__, "--compare", folder / "cases.json"])
        sys.exit(compared.returncode)


if __name__ == "__main__":
    main()
