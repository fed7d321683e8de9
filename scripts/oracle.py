#!/usr/bin/env python3
"""Independent oracle behind tests/golden.

Recomputes, from the definitions alone and in 60-digit arithmetic, the exact quantities that the crate computes fast.
It shares no code, no table and no recurrence with the crate, and uses no closed form for a sensitivity or a law:

* lnGamma and digamma come from mpmath;
* the law of a mechanism is a table over every output, filled by enumeration;
* floor(x + Laplace) gets its probabilities as differences of the Laplace distribution function, the two-sided
  geometric law is summed term by term and clamped term by term;
* the local sensitivity is the maximum of |score(x, r) - score(x', r)| over every neighbour x' AND every candidate r;
  the global and the smooth ones are maxima over every data set of size n.

So it is slow and only good for small n, which is what it is for.

* total variation is a difference of incomplete beta functions between the points where the two densities cross (k = 2),
  or an integral of such differences (k = 3): nothing like the contour integral of the crate.

    python3 scripts/oracle.py            rewrites print.csv, options.csv, metrics.csv, functions.csv, distances.csv and
                                         scores.csv in tests/golden

Needs mpmath (gmpy2 makes it faster). Decimal inputs (priors, epsilon, ...) mean the nearest double, as the
crate reads them. The settings are fixed lists and nothing is random: the files come out the same every time.
"""

import csv
import itertools
import pathlib
from functools import lru_cache

from mpmath import mp, mpf

mp.dps = 60
GOLDEN = pathlib.Path(__file__).resolve().parent.parent / "tests" / "golden"


def num(text):
    """The double nearest to a decimal, exactly."""
    return mpf(float(text))


def vec(text, of=num):
    return tuple(of(t) for t in text.split(";"))


# ---------------------------------------------------------------------------------------------------------------------
# Model and distances
# ---------------------------------------------------------------------------------------------------------------------


@lru_cache(maxsize=None)
def lgamma_at(alpha, twice):
    """lnGamma(alpha + twice/2). Only the cache is shared between calls."""
    return mp.loggamma(alpha + mpf(twice) / 2)


@lru_cache(maxsize=None)
def digamma_at(alpha, m):
    return mp.digamma(alpha + m)


def compositions(n, k):
    """All vectors of k non-negative integers with sum n."""
    if k == 1:
        yield (n,)
        return
    for first in range(n + 1):
        for rest in compositions(n - first, k - 1):
            yield (first,) + rest


def hamming(x, y):
    return mpf(sum(abs(a - b) for a, b in zip(x, y))) / 2


class Model:
    """Prior, size and a distance; everything about data sets of that size."""

    def __init__(self, prior, n, distance="hellinger"):
        self.prior, self.n, self.k, self.distance = prior, n, len(prior), distance
        self.total = mp.fsum(prior)
        self.candidates = list(compositions(n, self.k))
        self._potential, self._score, self._local = {}, {}, {}

    def potential(self, twice):
        """ln B(v) for v = prior + twice/2 (hellinger), or sum lnGamma(v_i) / ln(sum v_i) (print)."""
        if twice not in self._potential:
            gammas = mp.fsum(lgamma_at(a, t) for a, t in zip(self.prior, twice))
            if self.distance == "hellinger":
                value = gammas - lgamma_at(self.total, sum(twice))
            else:
                value = gammas / mp.log(self.total + mpf(sum(twice)) / 2)
            self._potential[twice] = value
        return self._potential[twice]

    def score(self, x, c):
        """Distance between Dir(prior + x) and Dir(prior + c), of any totals."""
        if (x, c) not in self._score and self.distance not in ("hellinger", "print"):
            self._score[x, c] = distance_between(self.distance, self.prior, x, c)
        if (x, c) not in self._score:
            mid = tuple(a + b for a, b in zip(x, c))
            xx, cc = tuple(2 * a for a in x), tuple(2 * b for b in c)
            z = self.potential(mid) - (self.potential(xx) + self.potential(cc)) / 2
            self._score[x, c] = mp.sqrt(-mp.expm1(min(z, mpf(0))))
        return self._score[x, c]

    def neighbours(self, x):
        for i, j in itertools.permutations(range(self.k), 2):
            if x[i] >= 1:
                y = list(x)
                y[i] -= 1
                y[j] += 1
                yield tuple(y)

    def local(self, x):
        if x not in self._local:
            self._local[x] = max(
                (abs(self.score(x, r) - self.score(y, r)) for y in self.neighbours(x) for r in self.candidates),
                default=mpf(0),  # n = 0: no neighbour
            )
        return self._local[x]

    def global_(self):
        return max(self.local(y) for y in self.candidates)

    def gamma_smooth(self, x, gamma):
        if self.n == 0:
            return mpf(0)
        gamma = gamma / self.diameter()
        return max(1 / (1 / self.local(y) + gamma * hamming(x, y)) for y in self.candidates)

    def diameter(self):
        """1 for a bounded distance; for a divergence n times the most that two categories, one that gains its records
        from nothing and one that loses them all, can contribute for each record."""
        if self.distance in ("hellinger", "print", "tv"):
            return mpf(1)

        def term(i, x, c):  # a category's part: that of a total, left out, with the sign turned
            return category_term(self.distance, self.prior[i], x, c)

        def worth(i, up):
            return max(term(i, *((0, v) if up else (v, 0))) / v for v in range(1, self.n + 1))

        return self.n * max(worth(i, True) + worth(j, False) for i, j in itertools.permutations(range(self.k), 2))

    def beta_smooth(self, x, beta):
        return max(self.local(y) * mp.exp(-beta * hamming(x, y)) for y in self.candidates)

    def beta(self, eps, delta, candidates_in_beta="n+1"):
        m = self.n + 1 if candidates_in_beta == "n+1" else self.n
        return mp.log(1 - eps / (2 * mp.log(delta / (2 * m))))


# ---------------------------------------------------------------------------------------------------------------------
# Other distances
# ---------------------------------------------------------------------------------------------------------------------


def category_term(name, alpha, x, c):
    """What one category adds to a divergence, truth alpha + x and release alpha + c; infinite where it diverges."""
    if name.endswith("_reverse"):
        return category_term(name.removesuffix("_reverse"), alpha, c, x)
    a, b = alpha + x, alpha + c
    if name == "kl":
        return mp.loggamma(b) - mp.loggamma(a) - (b - a) * mp.digamma(a)
    q = num(name.removeprefix("renyi:"))
    m = q * a + (1 - q) * b
    if m <= 0:
        return mp.inf
    return (mp.loggamma(m) - q * mp.loggamma(a) - (1 - q) * mp.loggamma(b)) / (q - 1)


def distance_between(name, prior, x, c):
    if name == "tv":
        return total_variation([p + v for p, v in zip(prior, x)], [p + v for p, v in zip(prior, c)])
    if name.startswith("chi2"):
        return mp.expm1(distance_between(name.replace("chi2", "renyi:2"), prior, x, c))
    sums = [category_term(name, p, v, w) for p, v, w in zip(prior, x, c)]
    if mp.inf in sums:
        return mp.inf
    return mp.fsum(sums) - category_term(name, mp.fsum(prior), sum(x), sum(c))


def ln_beta(a):
    return mp.fsum(mp.loggamma(v) for v in a) - mp.loggamma(mp.fsum(a))


def below(a, b, u):
    """P[Beta(a, b) <= u], by the continued fraction of the incomplete beta function."""
    if u <= 0 or u >= 1:
        return mpf(u >= 1)
    if u > (a + 1) / (a + b + 2):
        return 1 - below(b, a, 1 - u)
    front = mp.exp(a * mp.log(u) + b * mp.log(1 - u) - ln_beta([a, b])) / a
    c, d, m = mpf(1), 1 / (1 - (a + b) * u / (a + 1)), 0
    value = d
    while True:
        m += 1
        even = m * (b - m) * u / ((a + 2 * m - 1) * (a + 2 * m))
        odd = -(a + m) * (a + b + m) * u / ((a + 2 * m) * (a + 2 * m + 1))
        for e in (even, odd):
            d = 1 / (1 + e * d)
            c = 1 + e / c
            value *= c * d
        if abs(c * d - 1) < mp.eps:
            return front * value


def level_set(d, level):
    """Where d0 ln u + d1 ln(1-u) < level, as intervals of (0, 1); d is not (0, 0)."""

    def excess(z):  # at the logit z of u
        s = mp.log1p(mp.exp(-z)) if z > 0 else mp.log1p(mp.exp(z)) - z
        return -d[0] * s - d[1] * (z + s) - level

    def crossing(low, high):
        at_low = excess(low) > 0
        if at_low == (excess(high) > 0):
            return None
        for _ in range(60):
            middle = (low + high) / 2
            low, high = (middle, high) if (excess(middle) > 0) == at_low else (low, middle)
        z = (low + high) / 2
        for _ in range(6):  # Newton
            u = 1 / (1 + mp.exp(-z))
            z -= excess(z) / (d[0] * (1 - u) - d[1] * u)
        return 1 / (1 + mp.exp(-z))

    far = mpf(4000)
    if d[0] * d[1] > 0:
        top = mp.log(mpf(d[0]) / d[1])
        if d[0] > 0:
            return [(mpf(0), mpf(1))] if excess(top) <= 0 else [(mpf(0), crossing(-far, top)), (crossing(top, far), mpf(1))]
        return [] if excess(top) >= 0 else [(crossing(-far, top), crossing(top, far))]
    u = crossing(-far, far)
    if u is None:
        return [(mpf(0), mpf(1))] if excess(mpf(0)) < 0 else []
    return [(mpf(0), u)] if d[0] > 0 or d[1] < 0 else [(u, mpf(1))]


def total_variation(a, b):
    """The integral of p - p' over where p' < p, two or three categories (the first one of three with a parameter that is
    not small: the outer integral is numerical)."""
    if a == b:
        return mpf(0)
    d = [v - u for u, v in zip(a, b)]
    level = ln_beta(b) - ln_beta(a)

    def inside(p, intervals):
        return mp.fsum(below(*p, high) - below(*p, low) for low, high in intervals)

    if len(a) == 2:
        where = level_set(d, level)
        return inside(a, where) - inside(b, where)

    def density(p, t):
        return mp.exp((p[0] - 1) * mp.log(t) + (p[1] + p[2] - 1) * mp.log(1 - t) - ln_beta([p[0], p[1] + p[2]]))

    def slice_(t):
        where = level_set(d[1:], level - d[0] * mp.log(t) - (d[1] + d[2]) * mp.log(1 - t))
        return density(a, t) * inside(a[1:], where) - density(b, t) * inside(b[1:], where)

    ends = {mpf(0), mpf(1)}
    if d[1] * d[2] > 0:  # the slices' level sets change their shape where the extreme is at the level
        top = mpf(d[1]) / (d[1] + d[2])
        for pair in level_set([d[0], d[1] + d[2]], level - d[1] * mp.log(top) - d[2] * mp.log(1 - top)):
            ends |= set(pair)
    for p in (a, b):
        mean = p[0] / sum(p)
        deviation = mp.sqrt(mean * (1 - mean) / (sum(p) + 1))
        ends |= {v for v in (mean + c * deviation for c in (-12, -6, -3, 0, 3, 6, 12)) if 0 < v < 1}
    return mp.quad(slice_, sorted(ends))


# ---------------------------------------------------------------------------------------------------------------------
# Mechanisms: exact law as {output: probability}
# ---------------------------------------------------------------------------------------------------------------------


def laplace_marginal(x, n, b):
    """Law of floor(x + Laplace(b)) clamped to [0, n], by differences of the distribution function."""
    if n == 0:
        return [mpf(1)]

    def cdf(y):
        return mp.exp(y / b) / 2 if y < 0 else 1 - mp.exp(-y / b) / 2

    inner = [cdf(mpf(v + 1 - x)) - cdf(mpf(v - x)) for v in range(1, n)]
    return [cdf(mpf(1 - x))] + inner + [1 - cdf(mpf(n - x))]


def geometric_marginal(x, n, b):
    """Law of x + t clamped to [0, n], P[t] proportional to exp(-|t|/b): the sum is cut where terms are below 1e-75."""
    reach = int(mp.ceil(b * 173)) + 2 * n
    mass = [mpf(0)] * (n + 1)
    for t in range(-reach, reach + 1):
        mass[min(max(x + t, 0), n)] += mp.exp(-abs(t) / b)
    whole = mp.fsum(mass)
    return [m / whole for m in mass]


def every_coordinate(marginals):
    """Independent coordinates, total not restored."""
    law = {}
    for out in itertools.product(*(range(len(m)) for m in marginals)):
        law[out] = mp.fprod(m[v] for m, v in zip(marginals, out))
    return law


def all_but_last(marginals, n):
    """Independent first k-1 coordinates; the last is n minus their sum, clamped to [0, n]."""
    law = {}
    for head, p in every_coordinate(marginals).items():
        out = head + (min(max(n - sum(head), 0), n),)
        law[out] = law.get(out, mpf(0)) + p
    return law


def exponential(model, exponent):
    """Weight exp(-exponent(r)) on every candidate r."""
    weights = {r: mp.exp(-exponent(r)) for r in model.candidates}
    whole = mp.fsum(weights.values())
    return {r: w / whole for r, w in weights.items()}


def law_of(model, x, eps, delta, mechanism, opt=None):
    """Exact output law. opt: gamma, divisor, global, scale_factor, candidates_in_beta; absent or None = default."""
    opt = {key: value for key, value in (opt or {}).items() if value is not None}
    n, k = model.n, model.k
    gamma = opt.get("gamma", mpf(1))
    hist = 1 if k == 2 else 2

    def scale(default):
        return opt.get("scale_factor", mpf(default)) / eps

    def by_distance(divisor, sensitivity):
        if n == 0:  # one candidate; the sensitivity is 0
            return {x: mpf(1)}
        divisor = opt.get("divisor", mpf(divisor))
        return exponential(model, lambda r: eps * model.score(x, r) / (divisor * sensitivity))

    if mechanism == "lszhang":
        law = every_coordinate([laplace_marginal(v, n, scale(2)) for v in x])
    elif mechanism == "lsdim":
        law = all_but_last([laplace_marginal(v, n, scale(k)) for v in x[:-1]], n)
    elif mechanism == "lshist":
        law = all_but_last([laplace_marginal(v, n, scale(hist)) for v in x[:-1]], n)
    elif mechanism == "geometric":
        law = all_but_last([geometric_marginal(v, n, scale(hist)) for v in x[:-1]], n)
    elif mechanism == "geometric-all":
        assert k >= 3
        law = every_coordinate([geometric_marginal(v, n, scale(2)) for v in x])
    elif mechanism == "ehd":
        bound = opt.get("global", "exact") == "bound"
        assert not bound or min(model.prior) >= 1
        s = mp.sqrt(1 - mp.pi / 4) if bound else model.global_()
        law = by_distance(2, s)
    elif mechanism == "ehdl":
        s = model.local(x)
        law = by_distance(2, s)
    elif mechanism == "ehds":
        s = model.gamma_smooth(x, gamma)
        law = by_distance(2 * (1 + gamma), s)
    elif mechanism == "mh-gamma":
        s = model.gamma_smooth(x, gamma)
        law = by_distance(2, s)
    elif mechanism == "mh-beta":
        s = model.beta_smooth(x, model.beta(eps, delta, opt.get("candidates_in_beta", "n+1")))
        law = by_distance(2, s)
    elif mechanism == "hamming":
        law = exponential(model, lambda r: eps / 2 * hamming(x, r))
    else:
        raise ValueError(mechanism)
    assert abs(mp.fsum(law.values()) - 1) < mpf(10) ** -50
    return law


# These draw from the candidates, so every output has the total of the data: under the print distance they are defined for
# any prior, the others only where sum(prior) > 1 (else ln of a total can be 0).
RESTORE_TOTAL = ["ehd", "ehdl", "ehds", "mh-gamma", "mh-beta", "hamming"]
MECHANISMS = ["lszhang", "lsdim", "lshist", "geometric", "geometric-all"] + RESTORE_TOTAL


# ---------------------------------------------------------------------------------------------------------------------
# Summaries of a law
# ---------------------------------------------------------------------------------------------------------------------


def quantiles(points, levels):
    """Smallest t with P[H <= t] >= q - 1e-12; distances equal to 1e-11 relative are one distance.

    points: pairs (distance, probability). The assertions make sure that the settings are not borderline cases, in which
    rounding in double precision could turn the answer to the next atom.
    """
    atoms = []
    for d, p in sorted(points):
        if atoms and d - atoms[-1][0] <= mpf("1e-11") * d:
            assert d - atoms[-1][0] <= mpf("1e-30") * d
            atoms[-1][1] += p
        else:
            assert not atoms or d - atoms[-1][0] > mpf("1e-9") * d
            atoms.append([d, p])
    answers = []
    for q in levels:
        below = mpf(0)
        for d, p in atoms:
            below += p
            assert abs(below - q) > mpf("1e-9") or abs(below - q) < mpf("1e-30")
            if below >= q - mpf("1e-12"):
                answers.append(d)
                break
    return answers


def summary(model, x, law):
    """mean, P[output = x], median and 0.9 quantile of the distance."""
    points = [(model.score(x, out), p) for out, p in law.items()]
    mean = mp.fsum(d * p for d, p in points)
    return [mean, law[x]] + quantiles(points, [mpf(1) / 2, mpf(9) / 10])


def kl(model, x, y):
    """KL(Dir(prior + x) || Dir(prior + y)), totals free."""
    a, b = [[p + m for p, m in zip(model.prior, z)] for z in (x, y)]
    value = lgamma_at(model.total, 2 * sum(x)) - lgamma_at(model.total, 2 * sum(y))
    value += mp.fsum(lgamma_at(p, 2 * m) for p, m in zip(model.prior, y))
    value -= mp.fsum(lgamma_at(p, 2 * m) for p, m in zip(model.prior, x))
    psi = digamma_at(model.total, sum(x))
    value += mp.fsum((ai - bi) * (digamma_at(p, m) - psi) for ai, bi, p, m in zip(a, b, model.prior, x))
    assert value > mpf("-1e-50")
    return value


METRICS = {
    "l1": lambda model, x, y: mpf(sum(abs(a - b) for a, b in zip(x, y))),
    "l2": lambda model, x, y: mp.sqrt(sum((a - b) ** 2 for a, b in zip(x, y))),
    "steps": lambda model, x, y: hamming(x, y),
    "tv_lower": lambda model, x, y: model.score(x, y) ** 2,
    "tv_upper": lambda model, x, y: model.score(x, y) * mp.sqrt(2 - model.score(x, y) ** 2),
    "kl": lambda model, x, y: kl(model, x, y),
    "kl_reverse": lambda model, x, y: kl(model, y, x),
}


# ---------------------------------------------------------------------------------------------------------------------
# Files
# ---------------------------------------------------------------------------------------------------------------------


def show(value):
    return "%.17g" % float(value)


def write(name, header, rows):
    with open(GOLDEN / name, "w", newline="") as file:
        out = csv.writer(file, lineterminator="\n")
        out.writerow(header.split(","))
        out.writerows(rows)
    print(f"{name}: {len(rows)} rows")


# prior, counts, epsilon, delta
PRINT_SETTINGS = [
    ("1;1", "5;5", "1", "1e-8"),
    ("2.5;0.8", "0;12", "0.1", "0.0005"),  # an empty category
    ("7;4", "21;9", "5", "1e-8"),
    ("1.3;1", "30;0", "0.5", "0.01"),
    ("0.7;0.6", "1;0", "1", "1e-6"),  # n + sum(prior) < e
    ("0.56;0.5", "0;1", "3", "0.01"),  # sum(prior) close to 1: ln of a total close to 0
    ("1.5;0.75", "0;0", "1", "0.01"),  # no data
    ("0.3;0.25", "1;1", "2", "0.001"),  # sum(prior) < 1 and n + sum(prior) < e: only mechanisms with a fixed total
    ("1;1;1", "4;4;4", "1", "1e-8"),
    ("0.4;2.2;1", "0;5;2", "2", "0.0005"),
    ("3;1.69;0.9", "9;2;1", "0.1", "0.8"),
    ("0.5;0.3;0.25", "1;0;0", "1", "1e-6"),  # n + sum(prior) < e
    ("2;5;1", "0;0;3", "5", "0.8"),
    ("0.2;0.15;0.1", "0;0;2", "1", "0.01"),  # as above, sum(prior) < 1; two empty categories
    ("1;1;1;1", "2;1;0;3", "1", "1e-8"),
    ("0.6;2.5;1.2;0.35", "0;3;0;1", "3", "0.0005"),
    ("5;1;0.95;2", "1;1;1;1", "0.3", "0.01"),
    # Smoothing at work: the gamma-smooth sensitivity (the first two) or the beta-smooth one exceeds the local one, in the
    # last two because a third category can give a record to one of two empty ones.
    ("0.2;1.5", "2;28", "1", "0.01"),
    ("0.1;4;1.2", "2;1;9", "1", "0.01"),
    ("0.15;0.12;3", "0;0;12", "1", "0.01"),
    ("0.05;0.08;3;6", "0;0;3;3", "2", "0.0005"),
]

OPTION_SETTINGS = [
    ("1;1", "6;4", "1", "1e-8"),
    ("2.5;0.8", "0;9", "0.5", "0.0005"),
    ("1;2;1.69", "5;1;2", "1", "1e-6"),
    ("0.4;1;3.2", "2;0;4", "3", "0.01"),
    ("0.1;5", "3;12", "1", "1e-6"),  # here and below the smooth sensitivities exceed the local one
    ("0.1;4;1.2", "2;1;6", "1", "0.01"),
]

# The constant bound on the global sensitivity is valid only where every prior parameter is at least 1.
BOUND_SETTINGS = [
    ("1;1", "6;4", "1", "1e-8"),
    ("7;4.5", "12;8", "0.1", "1e-8"),
    ("1;2;1.69", "5;1;2", "1", "1e-6"),
    ("1;1;1", "3;3;0", "5", "0.01"),
]

# mechanism, options
OPTIONS = [
    ("ehds", {"gamma": "0.3"}),
    ("ehds", {"gamma": "4"}),
    ("ehds", {"divisor": "1"}),
    ("ehds", {"gamma": "0.3", "divisor": "1"}),
    ("ehd", {"divisor": "1"}),
    ("ehd", {"global": "exact"}),
    ("ehd", {"global": "bound"}),
    ("ehd", {"global": "bound", "divisor": "1"}),
    ("ehdl", {"divisor": "4"}),
    ("ehdl", {"divisor": "1"}),
    ("mh-gamma", {}),
    ("mh-gamma", {"gamma": "0.3"}),
    ("mh-gamma", {"gamma": "4"}),
    ("mh-gamma", {"divisor": "4"}),
    ("mh-beta", {"candidates_in_beta": "n"}),
    ("mh-beta", {"candidates_in_beta": "n+1"}),
    ("mh-beta", {"candidates_in_beta": "n", "divisor": "1"}),
    ("lszhang", {"scale_factor": "3"}),
    ("lsdim", {"scale_factor": "3"}),
    ("lshist", {"scale_factor": "3"}),
    ("geometric", {"scale_factor": "3"}),
    ("geometric-all", {"scale_factor": "3"}),
]

METRIC_SETTINGS = [
    ("1;1", "6;4", "1", "1e-8"),
    ("0.3;2.5", "0;8", "0.5", "0.0005"),
    ("7;4.55", "12;8", "0.1", "1e-8"),
    ("0.45;0.3", "1;0", "2", "0.01"),
    ("0.6;2;1.69", "3;0;2", "1", "1e-6"),
    ("1;1;1", "2;3;2", "5", "0.01"),
]


def write_print():
    rows = []
    for prior, counts, eps, delta in PRINT_SETTINGS:
        x = vec(counts, int)
        model = Model(vec(prior), sum(x), "print")
        e, d = num(eps), num(delta)
        sensitivities = [
            model.local(x),
            model.global_(),
            model.gamma_smooth(x, mpf(1)),
            model.beta_smooth(x, model.beta(e, d)),
        ]
        for mechanism in MECHANISMS if model.total > 1 else RESTORE_TOTAL:
            if mechanism == "geometric-all" and model.k == 2:
                continue
            values = summary(model, x, law_of(model, x, e, d, mechanism))
            rows.append([prior, counts, eps, delta, mechanism] + [show(v) for v in values + sensitivities])
    header = "prior,counts,epsilon,delta,mechanism,mean_print,p_exact,median_print,q90_print"
    write("print.csv", header + ",local,global,gamma_smooth,beta_smooth", rows)


def write_options():
    names = ["gamma", "divisor", "global", "scale_factor", "candidates_in_beta"]
    rows, models = [], {}
    for mechanism, opt in OPTIONS:
        values = {key: v if key in ("global", "candidates_in_beta") else num(v) for key, v in opt.items()}
        for prior, counts, eps, delta in BOUND_SETTINGS if opt.get("global") == "bound" else OPTION_SETTINGS:
            x = vec(counts, int)
            if mechanism == "geometric-all" and len(x) == 2:
                continue
            model = models.setdefault((prior, sum(x)), Model(vec(prior), sum(x)))
            answer = summary(model, x, law_of(model, x, num(eps), num(delta), mechanism, values))
            cells = [opt.get(name, "") for name in names]
            rows.append([prior, counts, eps, delta, mechanism] + cells + [show(v) for v in answer])
    header = "prior,counts,epsilon,delta,mechanism," + ",".join(names)
    write("options.csv", header + ",mean_hellinger,p_exact,median_hellinger,q90_hellinger", rows)


def write_metrics():
    rows = []
    for prior, counts, eps, delta in METRIC_SETTINGS:
        x = vec(counts, int)
        model = Model(vec(prior), sum(x))
        for mechanism in ["lszhang", "lsdim", "geometric", "hamming", "ehds"]:
            law = law_of(model, x, num(eps), num(delta), mechanism)
            for name, metric in METRICS.items():
                mean = mp.fsum(p * metric(model, x, out) for out, p in law.items())
                rows.append([prior, counts, eps, delta, mechanism, name, show(mean)])
    write("metrics.csv", "prior,counts,epsilon,delta,mechanism,metric,mean", rows)


DISTANCE_PAIRS = [
    ("1;1", "5;5", "6;4"),
    ("1;1", "5;5", "0;10"),
    ("1;1", "5;5", "7;9"),
    ("1;1", "3;4", "3;9"),
    ("1;1", "3;4", "0;0"),
    ("0.3;2.5", "0;7", "3;4"),
    ("7;4", "12;18", "20;3"),
    ("0.001;2", "1;1", "0;2"),
    ("1e-12;2", "0;3", "1;2"),
    ("1e-12;2", "0;3", "1;4"),
    ("0.05;0.07", "0;1", "1;0"),
    ("0.05;0.07", "0;1", "1;1"),
    ("0.5;0.5", "1;0", "40;37"),
    ("1;1", "300;20", "320;25"),
    ("1;1", "500;500", "505;505"),
    ("1;1", "500;500", "505;506"),
    ("1;1", "100;0", "100;1"),
    ("1;1", "2;99998", "10;99990"),
    ("1;1", "50000;50000", "50001;49999"),
    ("1;1", "50000;50000", "50000;50001"),
    ("1;1", "50000;50000", "50300;49700"),
    ("1;1", "50000;50000", "50200;50100"),
    ("1;1", "50000;50000", "51000;51000"),
    ("1;1;1", "5;5;5", "6;4;5"),
    ("1;1;1", "5;5;5", "7;3;8"),
    ("1;1;1", "5;6;7", "9;4;5"),
    ("0.4;2;5.5", "3;0;17", "4;3;13"),
    ("2;0.1;0.2", "4;0;0", "2;1;1"),
    ("1;1;1", "50;60;70", "53;61;74"),
    ("1;1;1", "10;10;10", "11;11;11"),
    ("1;1;1", "1000;2000;3000", "1010;2020;2970"),
]
DISTANCES = ["tv", "kl", "kl_reverse", "renyi:0.1", "renyi:0.5", "renyi:0.999", "renyi:2", "renyi:3.7", "chi2", "chi2_reverse"]


def write_distances():
    rows = []
    for prior, counts, candidate in DISTANCE_PAIRS:
        x, c = vec(counts, int), vec(candidate, int)
        for name in DISTANCES:
            # Incomplete beta functions of large parameters take long, and 30 digits are enough for them.
            with mp.workdps(30 if name == "tv" and sum(x) > 100 else 60):
                rows.append([prior, counts, candidate, name, show(distance_between(name, vec(prior), x, c))])
    write("distances.csv", "prior,counts,candidate,distance,value", rows)


SCORE_SETTINGS = [
    ("1;1", "5;5", "1", "1e-8"),
    ("2.5;0.8", "0;9", "0.5", "0.0005"),
    ("0.3;0.45", "3;1", "2", "0.01"),
    ("7;4", "6;2", "1", "1e-6"),
    ("1;1;1", "2;3;1", "1", "1e-8"),
    ("0.6;2;1.69", "3;0;1", "2", "1e-6"),
    ("9;12;8.5", "1;0;2", "1", "0.01"),
]


def write_scores():
    rows = []
    for name in ["tv", "kl", "kl_reverse", "renyi:0.5", "renyi:0.2", "renyi:2"]:
        for prior, counts, eps, delta in SCORE_SETTINGS:
            x = vec(counts, int)
            if name == "renyi:2" and min(vec(prior)) <= sum(x) or name == "tv" and len(x) > 2:
                continue  # infinite between some posteriors; or two integrals for each pair
            model, e, d = Model(vec(prior), sum(x), name), num(eps), num(delta)
            smooth = [model.gamma_smooth(x, mpf(1)), model.beta_smooth(x, model.beta(e, d))]
            sensitivities = [model.local(x), model.global_()] + smooth
            for mechanism in ["lshist", "ehd", "ehdl", "ehds", "mh-beta"]:
                values = summary(model, x, law_of(model, x, e, d, mechanism))
                rows.append([name, prior, counts, eps, delta, mechanism] + [show(v) for v in values + sensitivities])
    header = "distance,prior,counts,epsilon,delta,mechanism,mean,p_exact,median,q90"
    write("scores.csv", header + ",local,global,gamma_smooth,beta_smooth", rows)


def write_functions():
    """Special functions at 25 digits. The argument is the double that the printed decimal names."""
    one = ["1e-9", "3.7e-7", "1e-5", "0.001", "0.02", "0.25", "0.3", "0.5", "0.95", "1", "1.5", "2", "3.14", "5"]
    one += ["7.25", "10", "19.5", "29.5", "29.999", "30", "30.25", "47", "100", "500.5", "1234.5678", "1e4", "123456.75"]
    one += ["1e6", "1000000.5", "5e6", "1e7"]
    two = ["0.3", "1", "7.25", "500.5", "1000000.5", "5000000"]
    steps = [1, 2, 3, 10, 1001, 100000]
    steps = [-d for d in reversed(steps)] + steps
    lg, psi = mp.loggamma, mp.digamma
    rows = []

    def emit(name, a, d, value):
        assert abs(value) > mpf("1e-30")  # 60 digits minus the cancellation still leave more than 25
        rows.append([name, a, d, mp.nstr(value, 25)])

    for text in one:
        a = num(text)
        emit("ln_phi", text, "", lg(a + mpf("0.5")) - lg(a) / 2 - lg(a + 1) / 2)
    for text in one:
        a = num(text)
        emit("digamma_gap", text, "", mp.log(a) - psi(a))
    # Also the steps that lead just above 0 and to about half of a.
    pairs = []
    for text in two:
        a = num(text)
        lowest = int(mp.ceil(a)) - 1
        for d in sorted((set(steps) | {-lowest, -int(a / 2)}) - {0}):
            if a + d > 0:
                pairs.append((text, a, d))
    for text, a, d in pairs:
        emit("half_gap", text, d, lg(a + mpf(d) / 2) - lg(a) / 2 - lg(a + d) / 2)
    for text, a, d in pairs:
        emit("bregman", text, d, lg(a + d) - lg(a) - d * psi(a))
    write("functions.csv", "function,a,d,value", rows)


if __name__ == "__main__":
    GOLDEN.mkdir(parents=True, exist_ok=True)
    write_functions()
    write_print()
    write_options()
    write_metrics()
    write_distances()
    write_scores()
