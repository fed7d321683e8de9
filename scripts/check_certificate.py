#!/usr/bin/env python3
"""Checks a certificate that `dpbi optimum --certificate FILE` wrote, and so proves how good `tight` is.

    python3 scripts/check_certificate.py FILE

It uses nothing but the file: no number and no code of dpbi. Standard library only.

Let a = e^-epsilon, pi_x the prior predictive probability of the data set x, L(x, r) the Hellinger distance between the
posteriors of x and r, and v_x = P(r|x) the column of an output r. Privacy says v_p >= a v_q for neighbours p and q. The
file has a price y_x for every data set. For every output r it has moves from a data set to a neighbour. A move takes
the amount t >= 0 away from its start p, and a t arrives at its end q. Suppose that for every r and every data set p

    pi_p L(p, r) + what arrives at p - what leaves p >= y_p.

Multiply by v_p and add up over p. A move adds a t v_q - t v_p <= 0, hence sum_p pi_p L(p, r) v_p >= sum_p y_p v_p.
The rows of a mechanism sum to one, so the sum over all r says that its mean error is at least the sum of the prices.

The mechanism of the weights is w_r a^d(x,r), d the number of records that differ. Rounded weights have rows that only
nearly sum to one. Every row gets what it lacks, up to a common total, on one and the same output. The total is chosen
so that this addition is private by itself, and all rows are divided by it. What results is exactly epsilon-private.

The numbers of the file are doubles, taken exactly. Everything else is an interval of 60-digit decimals that contains
the true value, rounded outwards in every step. So what the script prints is proved.

Exit status: 0 if the certificate holds, 1 if it does not, 2 if the file cannot be read or is malformed.
"""

import argparse
import json
import math
import sys
from decimal import MAX_EMAX, MIN_EMIN, ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction

DOWN = Context(prec=60, rounding=ROUND_FLOOR, Emin=MIN_EMIN, Emax=MAX_EMAX)
UP = Context(prec=60, rounding=ROUND_CEILING, Emin=MIN_EMIN, Emax=MAX_EMAX)
ZERO = Decimal(0)
TOLERANCE = Decimal("1e-9")  # of the rows' sums and of the claimed error


class Malformed(Exception):
    """The file is no certificate, or none that this script knows."""


class Refuted(Exception):
    """The file is a certificate, but it does not hold."""


# ---------------------------------------------------------------------------------------------------------------------
# Intervals
# ---------------------------------------------------------------------------------------------------------------------


class Interval:
    """Contains a real number that is not negative. The operators of Decimal round to nearest and are not used."""

    __slots__ = ("low", "high")

    def __init__(self, low, high=None):
        self.low, self.high = low, low if high is None else high

    def __add__(self, other):
        return Interval(DOWN.add(self.low, other.low), UP.add(self.high, other.high))

    def __mul__(self, other):
        return Interval(DOWN.multiply(self.low, other.low), UP.multiply(self.high, other.high))

    def __truediv__(self, other):
        return Interval(DOWN.divide(self.low, other.high), UP.divide(self.high, other.low))

    def lacks(self):
        """One minus the number, which is at most one."""
        one = Decimal(1)
        return Interval(max(ZERO, DOWN.subtract(one, self.high)), max(ZERO, UP.subtract(one, self.low)))

    def sqrt(self):
        """Decimal rounds square roots to nearest: the next numbers are bounds."""
        return Interval(max(ZERO, DOWN.next_minus(DOWN.sqrt(self.low))), UP.next_plus(UP.sqrt(self.high)))


ONE = Interval(Decimal(1))


def exactly(number):
    """An integer or a double as an interval."""
    return Interval(Decimal(number))


def exp_minus(number):
    """e^-number. Decimal rounds exponentials to nearest: the next numbers are bounds."""
    value = number.copy_negate()
    return Interval(max(ZERO, DOWN.next_minus(DOWN.exp(value))), UP.next_plus(UP.exp(value)))


def half_step(z):
    """(Gamma(z + 1/2) / Gamma(z))^2.

    It is (x + 1^2 / (2x + 3^2 / (2x + 5^2 / (2x + ...)))) / 4 with x = 4z - 1 > 0: Brouncker's continued fraction, by
    which pi = 3 + 1^2 / (6 + 3^2 / (6 + ...)). All terms are positive, so the part beyond any depth lies between 2x
    and 2x + m^2 / 2x. It converges fast for large z. Therefore 40 steps of Gamma(z + 1) = z Gamma(z) come first.
    """
    half, steps, depth = exactly(0.5), 40, 60
    ratio = ONE
    for step in range(steps):
        below = z + exactly(step)
        ratio = ratio * (below / (below + half))
    x = exactly(4) * z + exactly(4 * steps - 1)
    double = x + x
    tail = Interval(double.low, (double + exactly((2 * depth + 1) ** 2) / double).high)
    for level in range(depth, 1, -1):
        tail = double + exactly((2 * level - 1) ** 2) / tail
    return ratio * ratio * (x + ONE / tail) / exactly(4)


def gammas(alpha, n):
    """Gamma(alpha + m/2) / Gamma(alpha) for m = 0 ... 2n."""
    values = [ONE, half_step(alpha).sqrt()]
    for m in range(2 * n - 1):
        values.append(values[m] * (alpha + exactly(m / 2)))
    return values


# ---------------------------------------------------------------------------------------------------------------------
# The problem
# ---------------------------------------------------------------------------------------------------------------------


def differ(x, r):
    """The number of records that differ: half the L1 distance."""
    return sum(abs(a - b) for a, b in zip(x, r)) // 2


class Problem:
    """Data sets with their probabilities, the loss, and the powers of a."""

    def __init__(self, prior, n, epsilon, data_sets):
        self.data_sets = data_sets
        alphas = [Interval(alpha) for alpha in prior]
        tables = [gammas(alpha, n) for alpha in alphas]
        total = sum(alphas[1:], alphas[0])
        constant = exactly(math.factorial(n))
        for m in range(n):
            constant = constant / (total + exactly(m))
        self.probabilities = []
        for x in data_sets:
            probability = constant
            for table, count in zip(tables, x):
                probability = probability * table[2 * count] / exactly(math.factorial(count))
            self.probabilities.append(probability)
        self.factors = []
        for table in tables:
            roots = [table[2 * s].sqrt() for s in range(n + 1)]
            self.factors.append(
                [[table[s + t] / (roots[s] * roots[t]) for t in range(n + 1)] for s in range(n + 1)]
            )
        self.powers = [ONE, exp_minus(epsilon)]
        for _ in range(n - 1):
            self.powers.append(self.powers[-1] * self.powers[1])

    def loss(self, x, r):
        """The Hellinger distance of the posteriors. With equal totals, the Bhattacharyya coefficient is the product of
        Gamma(alpha + (s + t)/2) / sqrt(Gamma(alpha + s) Gamma(alpha + t)) over the categories, with counts s and t."""
        if x == r:
            return Interval(ZERO)
        coefficient = ONE
        for factor, s, t in zip(self.factors, x, r):
            coefficient = coefficient * factor[s][t]
        return coefficient.lacks().sqrt()

    def costs(self, r):
        """pi_x L(x, r) for every data set x."""
        return [probability * self.loss(x, r) for probability, x in zip(self.probabilities, self.data_sets)]


# ---------------------------------------------------------------------------------------------------------------------
# The file
# ---------------------------------------------------------------------------------------------------------------------


def is_integer(value):
    return isinstance(value, int) and not isinstance(value, bool)


def number(value, what):
    """A finite number, exactly."""
    if not (is_integer(value) or isinstance(value, float) and math.isfinite(value)):
        raise Malformed(f"{what} is not a finite number")
    return Decimal(value)


def numbers(value, length, what):
    if not isinstance(value, list) or length is not None and len(value) != length:
        raise Malformed(f"{what} is not a list" + (f" of {length} numbers" if length else ""))
    return [number(one, f"number {place} of {what}") for place, one in enumerate(value)]


def shown(x):
    return "(" + ", ".join(map(str, x)) + ")"


class Certificate:
    """A well-formed file."""

    def __init__(self, document):
        if not isinstance(document, dict) or document.get("format") != "dpbi-certificate":
            raise Malformed("`format` is not \"dpbi-certificate\"")
        if document.get("version") != 1:
            raise Malformed("this script knows `version` 1 only")
        if document.get("distance") != "hellinger":
            raise Malformed(f"this script knows the distance \"hellinger\" only, not {document.get('distance')!r}")
        for key in ["prior", "n", "epsilon", "error", "lower", "data_sets", "weights", "prices", "flows"]:
            if key not in document:
                raise Malformed(f"`{key}` is missing")
        self.prior = numbers(document["prior"], None, "`prior`")
        if len(self.prior) < 2 or min(self.prior) <= 0:
            raise Malformed("`prior` needs two or more positive numbers")
        self.n = document["n"]
        if not is_integer(self.n) or self.n < 1:
            raise Malformed("`n` is not a positive integer")
        self.epsilon = number(document["epsilon"], "`epsilon`")
        if not Decimal("1e-9") <= self.epsilon <= 1000:
            raise Malformed("`epsilon` is not between 1e-9 and 1000")
        self.error = number(document["error"], "`error`")
        self.lower = number(document["lower"], "`lower`")
        self.data_sets = self.read_data_sets(document["data_sets"])
        self.weights = numbers(document["weights"], len(self.data_sets), "`weights`")
        self.prices = numbers(document["prices"], len(self.data_sets), "`prices`")
        self.flows = self.read_flows(document["flows"])

    def read_data_sets(self, value):
        """All data sets: different ones, and as many as there are."""
        if not isinstance(value, list):
            raise Malformed("`data_sets` is not a list")
        k, seen = len(self.prior), set()
        for place, x in enumerate(value):
            if not (isinstance(x, list) and len(x) == k and all(is_integer(count) and count >= 0 for count in x)):
                raise Malformed(f"data set {place} is not a list of {k} counts")
            if sum(x) != self.n:
                raise Malformed(f"data set {place}, {shown(x)}, does not have `n` records")
            if tuple(x) in seen:
                raise Malformed(f"data set {place}, {shown(x)}, occurs twice")
            seen.add(tuple(x))
        if len(seen) != math.comb(self.n + k - 1, k - 1):
            raise Malformed(f"`data_sets` has only {len(seen)} of all data sets")
        return [tuple(x) for x in value]

    def read_flows(self, value):
        """The moves of every output that has some."""
        if not isinstance(value, list):
            raise Malformed("`flows` is not a list")
        places, flows = range(len(self.data_sets)), {}
        for entry in value:
            if not isinstance(entry, dict) or not isinstance(entry.get("sent"), list):
                raise Malformed("an entry of `flows` has no list `sent`")
            output = entry.get("output")
            if not is_integer(output) or output not in places:
                raise Malformed("an entry of `flows` has an `output` that is no data set")
            if output in flows:
                raise Malformed(f"`flows` has output {shown(self.data_sets[output])} twice")
            moves = flows[output] = []
            for move in entry["sent"]:
                what = f"a move of output {shown(self.data_sets[output])}"
                if not isinstance(move, list) or len(move) != 3:
                    raise Malformed(f"{what} is not [from, to, amount]")
                start, end, amount = move
                if not (is_integer(start) and start in places and is_integer(end) and end in places):
                    raise Malformed(f"{what} is not between data sets")
                moves.append((start, end, number(amount, f"the amount of {what}")))
        return flows


def read(path):
    def no_constant(name):
        raise ValueError(f"{name} is not a number")

    try:
        with open(path, encoding="utf-8") as file:
            return Certificate(json.load(file, parse_constant=no_constant))
    except (OSError, ValueError, RecursionError) as problem:
        raise Malformed(problem) from problem


# ---------------------------------------------------------------------------------------------------------------------
# The proof
# ---------------------------------------------------------------------------------------------------------------------


def rounded(value, digits, rounding):
    """Few digits, rounded in the safe direction."""
    if value == 0:
        return "0"
    return f"{Context(prec=digits, rounding=rounding, Emin=MIN_EMIN, Emax=MAX_EMAX).plus(value):g}"


def plain(value):
    """The double that the file has."""
    return repr(float(value)).removesuffix(".0")


def balance(certificate, output, problem):
    """A lower bound of the slack of the inequality at every data set, for one output."""
    data_sets, name = certificate.data_sets, shown(certificate.data_sets[output])
    if output not in certificate.flows:
        raise Refuted(f"`flows` has no entry for output {name}")
    arrives, leaves = [ZERO] * len(data_sets), [ZERO] * len(data_sets)
    for start, end, amount in certificate.flows[output]:
        move = f"output {name}: the move from {shown(data_sets[start])} to {shown(data_sets[end])}"
        if differ(data_sets[start], data_sets[end]) != 1:
            raise Refuted(f"{move} is not between neighbours")
        if amount < 0:
            raise Refuted(f"{move} has the negative amount {plain(amount)}")
        leaves[start] = UP.add(leaves[start], amount)
        arrives[end] = DOWN.add(arrives[end], amount)
    slacks = []
    for place, cost in enumerate(problem.costs(data_sets[output])):
        has = DOWN.add(cost.low, DOWN.multiply(problem.powers[1].low, arrives[place]))
        slacks.append(DOWN.subtract(DOWN.subtract(has, leaves[place]), certificate.prices[place]))
    return slacks


def prove_lower_bound(certificate, problem):
    """The sum of the prices, rounded down, and the least slack."""
    failed, worst = 0, None
    for output in range(len(certificate.data_sets)):
        for place, slack in enumerate(balance(certificate, output, problem)):
            failed += slack < 0
            if worst is None or slack < worst[0]:
                worst = slack, output, place
    slack, output, place = worst
    if failed:
        raise Refuted(
            f"output {shown(certificate.data_sets[output])}: what data set {shown(certificate.data_sets[place])} has "
            f"is {rounded(slack.copy_negate(), 3, ROUND_CEILING)} less than its price "
            f"(inequalities that fail: {failed}; this is the worst)"
        )
    total = sum(map(Fraction, certificate.prices))
    lower = DOWN.divide(Decimal(total.numerator), Decimal(total.denominator))
    if Fraction(certificate.lower) > total:
        excess = rounded(UP.subtract(certificate.lower, lower), 3, ROUND_CEILING)
        raise Refuted(f"`lower` is {plain(certificate.lower)}, {excess} more than the sum of the prices")
    return lower, slack


def prove_upper_bound(certificate, problem):
    """What the error of the mechanism of the weights is at most, and how far its rows are from one."""
    data_sets = certificate.data_sets
    if (least := min(certificate.weights)) < 0:
        place = certificate.weights.index(least)
        raise Refuted(f"the weight of output {shown(data_sets[place])} is {plain(least)}, which is negative")
    rows, error = [Interval(ZERO)] * len(data_sets), Interval(ZERO)
    for r, weight in zip(data_sets, certificate.weights):
        for place, (x, cost) in enumerate(zip(data_sets, problem.costs(r))):
            mass = Interval(weight) * problem.powers[differ(x, r)]
            rows[place] = rows[place] + mass
            error = error + mass * cost
    low, high = min(row.low for row in rows), max(row.high for row in rows)
    off = max(UP.subtract(high, Decimal(1)), UP.subtract(Decimal(1), low))
    if off > TOLERANCE:
        raise Refuted(f"the rows of the weights miss one by up to {rounded(off, 2, ROUND_CEILING)}")
    if abs(UP.subtract(error.high, certificate.error)) > TOLERANCE:
        raise Refuted(f"`error` is {plain(certificate.error)}, but the weights give {plain(error.high)}")
    # A row x gets high + extra - row_x, between extra and extra + spread, on one output. A column with values in that
    # range is private if extra >= a (extra + spread). No loss is above one.
    a, spread = problem.powers[1].high, UP.subtract(high, low)
    extra = UP.divide(UP.multiply(a, spread), DOWN.subtract(Decimal(1), a))
    return UP.divide(UP.add(error.high, UP.add(extra, spread)), DOWN.add(high, extra)), off


def check(certificate):
    """The report on a certificate that holds."""
    problem = Problem(certificate.prior, certificate.n, certificate.epsilon, certificate.data_sets)
    lower, slack = prove_lower_bound(certificate, problem)
    upper, off = prove_upper_bound(certificate, problem)
    size = len(certificate.data_sets)
    moves = sum(map(len, certificate.flows.values()))
    above, kind = UP.subtract(upper, lower), "absolute"
    if lower > 0:
        above, kind = UP.divide(above, lower), "relative"
    prior = ", ".join(map(plain, certificate.prior))
    return f"""\
The certificate holds.
setting   {certificate.n} records, prior {prior}, epsilon {plain(certificate.epsilon)}, Hellinger distance
verified  all {size} data sets are there; {moves} moves are between neighbours, with amounts >= 0;
          {size} x {size} inequalities hold, the closest with {rounded(slack, 2, ROUND_FLOOR)} to spare;
          the weights are >= 0, and their rows sum to one within {rounded(off, 2, ROUND_CEILING)}
proved    no epsilon-private mechanism whose outputs are the data sets has a mean error below
            {rounded(lower, 17, ROUND_FLOOR)}
          `tight`, with the weights of the file and its rows completed to one, is epsilon-private and has at most
            {rounded(upper, 17, ROUND_CEILING)}
          that is at most {rounded(above, 2, ROUND_CEILING)} above the least possible ({kind})"""


def main():
    parser = argparse.ArgumentParser(description="Checks a certificate that `dpbi optimum --certificate FILE` wrote.")
    parser.add_argument("file")
    path = parser.parse_args().file
    try:
        print(check(read(path)))
    except Malformed as problem:
        print(f"{path} cannot be checked: {problem}", file=sys.stderr)
        sys.exit(2)
    except Refuted as problem:
        print(f"The certificate does not hold: {problem}", file=sys.stderr)
        sys.exit(1)


if __name__ == "__main__":
    main()
