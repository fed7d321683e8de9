"""Every golden table that a command can make: Python's documents are those of the program, to the last bit, and their
numbers are the golden ones."""

import random
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Callable

import dpbi
import pytest
from dpbi._commands import toml
from conftest import close, counts, golden, numbers, program

Words = list[str]
# A row of a golden table: what Python answers, the same command line, and golden numbers to compare.
Case = tuple[dpbi.Answer, Words, list[tuple[float, str]]]


def words(**options: Any) -> Words:
    """Options as somebody types them."""
    shown = lambda value: ",".join(map(str, value)) if isinstance(value, list) else str(value)  # noqa: E731
    return [word for key, value in options.items() for word in (f"--{key}", shown(value))]


def setting(row: dict[str, str], **more: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    options: dict[str, Any] = dict(prior=numbers(row["prior"]), epsilon=float(row.get("epsilon") or 1), **more)
    if row.get("delta"):
        options["delta"] = float(row["delta"])
    for key in ("counts", "candidate"):
        if key in row:
            options[key] = counts(row[key])
    if "n" in row:
        options["n"] = int(row["n"])
    return options, options


def law(row: dict[str, str], mechanism: str, names: dict[str, str], **more: Any) -> Case:
    options, typed = setting(row, **more)
    answer = dpbi.inspect(mechanism, **options)
    found = answer.document["mechanisms"][0]
    values = [(found[key], row[column]) for key, column in names.items() if found[key] is not None]
    return answer, ["inspect", *words(mechanism=mechanism, **typed)], values


def error(row: dict[str, str]) -> Case:
    names = dict(mean="mean_hellinger", p_exact="p_exact", median="median_hellinger", q90="q90_hellinger")
    return law(row, row["mechanism"], names)


def print_(row: dict[str, str]) -> Case:
    return law(row, row["mechanism"], dict(mean="mean_print", p_exact="p_exact"), distance="print")


def scores(row: dict[str, str]) -> Case:
    return law(row, row["mechanism"], dict(mean="mean", p_exact="p_exact"), distance=row["distance"])


def tight(row: dict[str, str]) -> Case:
    return law(row, "tight", dict(mean="mean", p_exact="p_exact"))


def is_possible(row: dict[str, str]) -> bool:
    """Commands take candidates without a count above n only."""
    return "candidate" not in row or max(counts(row["candidate"])) <= sum(counts(row["counts"]))


def hellinger(row: dict[str, str]) -> Case:
    return distance(row, "hellinger", row["hellinger"])


def distances(row: dict[str, str]) -> Case:
    return distance(row, row["distance"], row["value"])


def distance(row: dict[str, str], name: str, value: str) -> Case:
    options, typed = setting(row, distance=name)
    answer = dpbi.inspect("geometric", **options)
    return answer, ["inspect", *words(mechanism="geometric", **typed)], [(answer["distance"], value)]


def sensitivity(row: dict[str, str]) -> Case:
    options, typed = setting(row, gamma=0.5, beta=0.1)
    answer = dpbi.inspect("geometric", **options)
    names = dict(local="local", gamma_smooth="gamma_0.5", beta_smooth="beta_0.1")
    values = [(answer.document[key], row[column]) for key, column in names.items()]
    return answer, ["inspect", *words(mechanism="geometric", **typed)], values + [(answer["global"], row["global"])]


def privacy(row: dict[str, str]) -> Case:
    options, typed = setting(row)
    at = float(row["at_epsilon"])
    answer = dpbi.audit(row["mechanism"], at_epsilon=at, **options)
    typed = ["audit", *words(mechanism=row["mechanism"], **{"at-epsilon": at}, **typed)]
    return answer, typed, [(answer.loss, row["loss"]), (answer.delta_at, row["delta_at"])]


def calibration(row: dict[str, str]) -> Case:
    options, typed = setting(row)
    answer = dpbi.audit(row["mechanism"], calibrate=True, **options)
    values = [(answer.inner_epsilon, row["inner_epsilon"]), (answer.mean, row["mean_hellinger_predictive"])]
    return answer, ["audit", "--calibrate", *words(mechanism=row["mechanism"], **typed)], values


def optimum(row: dict[str, str]) -> Case:
    options, typed = setting(row)
    answer = dpbi.optimum(minimax=True, **options)
    values = [(answer["bayes"], row["bayes"]), (answer.minimax, row["minimax"])]
    return answer, ["optimum", "--minimax", *words(**typed)], values


def optimality(row: dict[str, str]) -> Case:
    """Above the threshold `tight` is optimal."""
    options, typed = setting({**row, "epsilon": str(float(row["optimal_at"]) + 1e-9)})
    answer = dpbi.optimum("tight", **options)
    return answer, ["optimum", *words(mechanism="tight", **typed)], [(answer.mechanisms["ratio"][0], "1")]


TABLES: list[tuple[Callable[[dict[str, str]], Case], float]] = [
    (error, 1e-9),
    (print_, 1e-9),
    (scores, 1e-9),
    (tight, 1e-9),
    (hellinger, 1e-11),
    (distances, 1e-9),
    (sensitivity, 1e-11),
    (privacy, 1e-9),
    (calibration, 1e-9),
    (optimum, 1e-6),
    (optimality, 1e-6),
]


@pytest.mark.parametrize("table, tolerance", TABLES)
def test_golden_table(table: Callable[[dict[str, str]], Case], tolerance: float) -> None:
    cases = [table(row) for row in golden(table.__name__.rstrip("_")) if is_possible(row)]
    with ThreadPoolExecutor(2) as pool:
        printed = pool.map(lambda case: program(*case[1]), cases)
    for (answer, typed, values), document in zip(cases, printed):
        assert answer.document == document, typed
        for found, expected in values:
            assert close(found, expected, tolerance), (typed, found, expected)
    assert len(cases) > 10 and all(values for _, _, values in cases)


@pytest.mark.parametrize("name", ["metrics", "options"])
def test_golden_experiments(name: str, tmp_path: Path) -> None:
    """Metrics and options are those of experiments: a panel for every setting."""
    panels: dict[tuple[str, ...], dict[str, Any]] = {}
    expected = {}
    for row in golden(name):
        keys = ("prior", "counts", "epsilon", "delta")
        number, metric = str(len(panels)), row.get("metric", "hellinger")
        given = dict(id=f"p{number}", prior=numbers(row["prior"]), epsilon=float(row["epsilon"]), mechanisms={})
        panel = panels.setdefault(tuple(row[key] for key in keys), given)
        panel.update({"delta": float(row["delta"])} if row["delta"] else {}, data={"counts": {"counts": counts(row["counts"])}})
        options = {key: value for key, value in row.items() if key in OPTIONS and value}
        label = " ".join([row["mechanism"], *(f"{key}={value}" for key, value in options.items())])
        typed = {key: value if key in ("global", "candidates_in_beta") else float(value) for key, value in options.items()}
        panel["mechanisms"][label] = dict(id=row["mechanism"], label=label, **typed)
        expected[panel["id"], label, metric] = row["mean" if name == "metrics" else "mean_hellinger"]
    lines = [f'name = "{name}"', "runs = 1"]
    lines += [f"metrics = {toml(sorted({metric for *_, metric in expected}))}"] if name == "metrics" else []
    for panel in panels.values():
        panel["mechanisms"] = list(panel["mechanisms"].values())
        lines += ["[[panel]]", *(f"{key} = {toml(value)}" for key, value in panel.items())]
    config = tmp_path / "golden.toml"
    config.write_text("\n".join(lines), encoding="utf-8")
    run = dpbi.run(str(config), out=tmp_path / "python", format="none", quiet=True)
    document = program("run", str(config), "--out", str(tmp_path / "program"), "--format", "none", "-q")[0]
    assert run.document["summary"] == document["summary"]
    ids = {row["panel"]: range(row["first"], row["last"] + 1) for row in document["panels"]}
    found = {(row["setting"], row["mechanism"], row["metric"]): row["exact_mean"] for row in document["summary"]}
    for (panel_id, label, metric), value in expected.items():
        (setting,) = ids[panel_id]
        mean = found[setting, label, metric]
        assert close(float(mean), value, 1e-9), (panel_id, label, metric, mean, value)
    assert len(expected) > 100


OPTIONS = ["gamma", "divisor", "global", "scale_factor", "candidates_in_beta"]


def test_random_settings() -> None:
    dice = random.Random(20261118)
    cases = []
    for _ in range(200):
        k = dice.choice([2, 2, 3, 4])
        typed: dict[str, Any] = dict(
            prior=[dice.choice([0.5, 1, 2.25, 7]) for _ in range(k)],
            counts=[dice.randrange(200 // k**3) for _ in range(k)],
            epsilon=dice.choice([0.01, 0.1, 0.7, 1, 3.5]),
            distance=dice.choice(["hellinger", "tv", "kl"]),
        )
        names = dice.sample(["geometric", "lshist", "lattice", "hamming", "geometric+remap", "{-epsilon*d}"], 2)
        cases.append((dpbi.inspect(names, **typed), ["inspect", *words(mechanism=names, **typed)]))
    with ThreadPoolExecutor(2) as pool:
        for (answer, typed), document in zip(cases, pool.map(lambda case: program(*case[1]), cases)):
            assert answer.document == document, typed
