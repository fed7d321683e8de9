"""Arrays, mechanisms of one's own, experiments, errors, threads and Ctrl-C."""

import copy
import os
import pickle
import re
import signal
import subprocess
import sys
import threading
import traceback
from pathlib import Path
from typing import Any

import dpbi
import numpy as np
import pytest
from conftest import PROGRAM, ROOT, program

SETTING = dpbi.Setting(prior=[1, 1, 1], counts=[4, 5, 3], epsilon=1)


def test_a_law_is_that_of_the_program(tmp_path: Path) -> None:
    for mechanism in ["tight", "lsdim", "geometric+remap", "ehds+calibrated", "{-epsilon*H}"]:
        law = SETTING.law(mechanism)
        path = tmp_path / "law.csv"
        given = ["-p", "1,1,1", "-x", "4,5,3", "-e", "1", "-m", mechanism, "--law", str(path)]
        document = program("inspect", *given)["mechanisms"][0]
        assert law.document == document
        rows = [line.split(",") for line in path.read_text().splitlines() if line.startswith("4;5;3,")]
        listed = {tuple(map(int, output.split(";"))): float(p) for _, output, p in rows}
        assert listed == {tuple(output): p for output, p in zip(law.outputs.tolist(), law.probabilities)}
        assert abs(law.probabilities.sum() - 1) < 1e-12
        assert abs(law.probabilities @ law.errors - law.mean) < 1e-12
        for q, value in [(0.5, law.median), (0.9, law.q90)]:
            assert abs(law.quantile(q) - value) <= 1e-10 * value


def test_functions_and_tables_are_mechanisms() -> None:
    def moved(counts: Any, candidates: Any) -> Any:
        return -np.abs(candidates - counts).sum(axis=1) / 2

    expression = "{-l1/2}"
    for tuning in ["", "+calibrated", "+remap", "+calibrated+remap"]:
        own = dpbi.Own(moved, calibrated="calibrated" in tuning, remap="remap" in tuning)
        for ask in [SETTING.law, lambda m: SETTING.choose(m).mechanisms["mean"], SETTING.audit]:
            a, b = ask(own), ask(expression + tuning)
            if isinstance(a, dpbi.Law):
                assert np.abs(a.probabilities - b.probabilities).max() < 1e-12 and abs(a.mean - b.mean) < 1e-12
            elif isinstance(a, dpbi.Audit):
                assert abs(a.loss - b.loss) < 1e-12 and a.mechanism == f"table:moved{tuning}"
            else:
                assert np.abs(a - b).max() < 1e-12
    # Numbers may be those of NumPy and pandas.
    given = dpbi.Setting(np.ones(3), np.array([4.0, 5.0, 3.0]), np.float64(1))
    assert given == SETTING and hash(given) == hash(SETTING)
    assert given.audit("ehds") == dpbi.audit("ehds", prior=np.ones(3), n=12.0, epsilon=1)
    assert {"outputs", "quantile", "mean"} <= set(dir(given.law("ehds"))) and "mean" in given.law("ehds")
    a, b = SETTING.audit(moved, calibrate=True), SETTING.audit(expression, calibrate=True)
    assert abs(a.factor - b.factor) < 1e-10 and abs(a.mean - b.mean) < 1e-10
    # The same as a table of probabilities.
    rows = dpbi.candidates(12, 3)
    weights = np.exp(np.array([moved(counts, rows) for counts in rows]))
    table = weights / weights.sum(axis=1, keepdims=True)
    assert abs(SETTING.audit(table).loss - SETTING.audit(moved).loss) < 1e-12
    assert "table:moved" in SETTING.optimum([moved, "geometric"], all=True).mechanisms["id"]
    # And as a file of one.
    kept = dpbi.Own(moved)
    path = f"table:{kept.table(12, 3)}"
    assert SETTING.audit(path).loss == SETTING.audit(moved).loss
    drawn = [SETTING.sample(one, runs=500, seed=3).errors.mean() for one in (moved, path, expression + "+remap")]
    assert max(drawn) < SETTING.law(moved).mean + 5 * SETTING.law(moved).std / 500**0.5


def test_a_sample_is_that_of_an_experiment(tmp_path: Path) -> None:
    config = tmp_path / "same.toml"
    config.write_text(
        'name = "same"\nseed = 7\nruns = 300\nprior = [1, 1, 1]\nepsilon = 1.0\nmechanisms = ["lshist", '
        '{ id = "ehds", calibrated = true, remap = true, label = "ehds+calibrated+remap" }]\n'
        "[data.counts]\ncounts = [4, 5, 3]\n"
    )
    run = program("run", str(config), "--out", str(tmp_path), "--errors", "--format", "none")[0]
    for mechanism in ["lshist", "ehds+calibrated+remap"]:
        sample = SETTING.sample(mechanism, runs=300, seed=7)
        rows = [row for row in run["errors"] if row["mechanism"] == mechanism]
        assert [row["released"] for row in rows] == sample.released.tolist()
        assert [row["hellinger"] for row in rows] == sample.errors.tolist()


def test_posterior_and_run() -> None:
    found = dpbi.posterior([[41, 17, 9], [40, 18, 9]], noise="discrete-laplace(epsilon=0.5)", prior=1, n=67)
    typed = ["--released", "41,17,9", "--released", "40,18,9", "--prior", "1", "--n", "67"]
    document = program("posterior", *typed, "--noise", "discrete-laplace(epsilon=0.5)")
    assert found.document == document and found.interval().shape == (3, 2)
    assert (found.interval(0.5)[:, 0] > found.interval()[:, 0]).all()


def test_answers_can_be_copied_and_sent() -> None:
    answers = [SETTING.audit("ehds"), dpbi.posterior([3, 4], noise="laplace(scale=1)", prior=1), SETTING.law("tight")]
    for answer in answers:
        again = pickle.loads(pickle.dumps(answer))
        assert copy.copy(answer) == answer == again and repr(again) == repr(answer)
    assert (pickle.loads(pickle.dumps(answers[1])).interval(0.5) == answers[1].interval(0.5)).all()


def test_run_writes_what_the_program_writes(tmp_path: Path) -> None:
    run = dpbi.run("beta_balanced", set={"runs": 20}, out=tmp_path / "a", name="same", quiet=True)
    flags = ["--set", "runs=20", "--out", str(tmp_path / "b"), "--name", "same", "-q"]
    document = program("run", "beta_balanced", *flags)[0]
    assert run.document["summary"] == document["summary"]
    assert set(run.summary) >= {"n", "epsilon", "mechanism", "exact_mean"}
    assert run.summary["exact_mean"].shape == (30,) and run.summary["counts"].shape == (30,)
    names = {path.name for path in run.folder.iterdir()} - {"manifest.json"}
    assert len(run.figures) == 4 and all(
        (run.folder / name).read_bytes() == (tmp_path / "b/same" / name).read_bytes() for name in names
    )
    assert run._repr_html_().count("data:image/png") == 2


def test_errors_say_cause_and_remedy() -> None:
    cases = [
        (lambda: dpbi.audit("ehdx", prior=[1, 1], n=5, epsilon=1), "unknown mechanism `ehdx`\n  help: did you mean"),
        (lambda: dpbi.audit("ehds", prior=[1, 1], n=5, epsilon=-1), "epsilon is -1"),
        (lambda: dpbi.audit("ehds", prior=[1, 1], n=5.5, epsilon=1), "a whole number"),
        (lambda: dpbi.audit("ehds", prior=[1, 0], n=5, epsilon=1), "--prior"),
        (lambda: dpbi.inspect(prior=[1, 1], counts=[1, 2, 3], epsilon=1), "--counts has 3 numbers"),
        (lambda: dpbi.command("audti"), "no command `audti`\n  help: did you mean `audit`"),
        (lambda: dpbi.command("release", data="x.csv"), "run `dpbi release` in a terminal"),
        (lambda: dpbi.run("no_such_config"), "no_such_config"),
        (lambda: dpbi.posterior([1, 2], noise="poisson(1)", prior=1), "--noise"),
        (lambda: SETTING.audit(lambda c, r: r), "help: return one log weight for each of the 91 candidates"),
        (lambda: SETTING.audit(dpbi.Own(lambda c, r: r[:, 0] * np.nan, "nan")), "a log weight is not a number"),
        (lambda: SETTING.audit(dpbi.Own(lambda c, r: r[:, 0] - np.inf, "none")), "no candidate has a weight"),
        (lambda: SETTING.audit(np.eye(3)), "no table of probabilities for 91 data sets"),
        (lambda: SETTING.audit(np.full((91, 91), 0.5)), "a row sums to 45.5"),
        (lambda: dpbi.Own("tight"), "'tight' has something else than numbers\n  help: give a function"),
        (lambda: SETTING.choose([lambda c, r: r[:, 0], lambda c, r: r[:, 1]]), "mechanisms have the same name"),
        (lambda: SETTING.choose([]), "no mechanism is given"),
        (lambda: dpbi.Setting([1, 1], [4.5, 4], 1), "a count is a whole number, 0 or more"),
        (lambda: dpbi.Setting([1, 1], [4, 4, 4], 1), "--counts has 3 numbers, but the prior has 2"),
        (lambda: dpbi.Setting("1,1", "4,4", 1), "prior has something else than numbers\n  help: give one number"),
        (lambda: dpbi.inspect(prior=[[1, 1], [1, 1]], counts=[1] * 4, epsilon=1), "help: give its values in one row"),
        (lambda: SETTING.sample("lshist", runs=-1), "sample.toml:3"),
        (lambda: SETTING.law("tight").quantile(2), "2 is no probability"),
        (lambda: dpbi.run("beta_balanced", set={"runs": None}), "None is no value of a config"),
        (lambda: dpbi.command("inspect"), "required arguments were not provided: --prior"),
        (lambda: dpbi.candidates(-1, 3), "no counts of -1 records"),
        (lambda: dpbi.candidates(1000, 5), "help: use fewer records or categories"),
        (lambda: dpbi.Setting([1] * 5, [200] * 5, 1).law("lsdim"), "outputs (5e6 at most)"),
    ]
    for ask, words in cases:
        with pytest.raises(ValueError, match=re.escape(words)):
            ask()
    # What was refused once is refused again.
    wrong = dpbi.Own(lambda c, r: np.where(c[0] == 5, np.nan, -r[:, 0]), "wrong")
    for _ in range(2):
        with pytest.raises(ValueError, match="at the data set .5, 0, 7. a log weight is not a number"):
            SETTING.audit(wrong)
    # A table whose loss is infinite, however small the factor.
    with pytest.raises(ValueError, match="help: let the weights be positive"):
        SETTING.audit(dpbi.Own(np.eye(91), "truth"), calibrate=True)


def test_a_setting_is_refused_where_it_is_made() -> None:
    wrong: list[dict[str, Any]] = [
        dict(prior=[1, np.nan]),
        dict(prior=[1, 0]),
        dict(prior=[1], counts=[4]),
        dict(counts=[4, 4, 4]),
        dict(counts=[4, -4]),
        dict(counts=[4, 4.5]),
        dict(counts=[4, np.nan]),
        dict(counts=[4, 1e300]),
        dict(epsilon=-1),
        dict(epsilon=np.inf),
        dict(epsilon=None),
        dict(delta=1),
        dict(gamma=-1),
        dict(distance="helinger"),
    ]
    for change in wrong:
        given = {**dict(prior=[1, 1], counts=[4, 4], epsilon=1), **change}
        with pytest.raises(ValueError) as asked:
            dpbi.inspect("geometric", **given)
        with pytest.raises(ValueError) as made:
            dpbi.Setting(**given)
        assert str(made.value) == str(asked.value)
    with pytest.raises(ValueError, match="prior is empty\n  help: give one number for each category"):
        dpbi.Setting([], [], 1)


def test_a_shape_says_what_is_meant() -> None:
    def read(released: Any, noise: Any = "laplace(scale=1)") -> dpbi.Posterior:
        return dpbi.posterior(released, noise=noise, prior=1)

    assert read(np.array([3, 4])) == read([3, 4]) == read([[3, 4]])
    assert read([np.array([3, 4]), np.array([4, 4])]) == read([[3, 4], [4, 4]], ["laplace(scale=1)"] * 2)
    wrong: list[tuple[Any, str]] = [
        (np.zeros((2, 2, 2)), "has the shape (2, 2, 2)"),
        (5, "has the shape ()"),
        ([[1, 2], [3]], "has"),
        ([], "is empty"),
        (np.zeros((0, 3)), "is empty"),
        ("41,17", "has something else than numbers"),
    ]
    for released, fault in wrong:
        with pytest.raises(ValueError, match=re.escape(f"released {fault}")) as error:
            read(released)
        assert "help: give a row with one number for each cell, or, for several releases" in str(error.value)
    for noise in [lambda t: -abs(t), 0.5, None, [lambda t: -abs(t)]]:
        with pytest.raises(ValueError, match="help: give a text, such as 'discrete-laplace"):
            read([3, 4], noise)


def test_groups_of_several_columns(tmp_path: Path) -> None:
    rows = [f"{arm},{site},{answer},5" for arm in "ab" for site in "xy" for answer in "no yes".split()]
    (tmp_path / "cells.csv").write_text("\n".join(["arm,site,answer,noisy", *rows]))
    asked: dict[str, Any] = dict(column="answer", count="noisy", noise="laplace(scale=1)", prior=1)
    found = dpbi.posterior(data=str(tmp_path / "cells.csv"), by=["arm", "site"], **asked)
    assert list(found.groups["title"]) == ["a, x", "a, y", "b, x", "b, y"]


def test_masks_and_imaginary_parts_are_not_dropped() -> None:
    rows = dpbi.candidates(12, 3)
    table = np.full((91, 91), 1 / 91)
    uses: list[tuple[Any, Any]] = [
        (np.array([4.0, 5.0, 3.0]), lambda given: dpbi.posterior(given, noise="laplace(scale=1)", prior=1)),
        (np.ones((2, 3)), lambda given: dpbi.posterior(list(given), noise="laplace(scale=1)", prior=1)),
        (np.ones(3), lambda given: dpbi.Setting(given, [4, 5, 3], 1)),
        (np.array([4, 5, 3]), lambda given: dpbi.Setting([1, 1, 1], given, 1)),
        (table, dpbi.Own),
        (-1.0 * rows[:, 0], lambda given: SETTING.audit(dpbi.Own(lambda c, r: given, "mine"))),
    ]
    for given, use in uses:
        use(given)
        masked = np.ma.masked_array(given, mask=False)
        use(masked)
        masked[..., 1] = np.ma.masked
        for wrong, fault in [(masked, "has masked numbers"), (given + 0j, "has imaginary parts")]:
            with pytest.raises(ValueError, match=f"{fault}\n  help: "):
                use(wrong)


def test_an_error_of_ones_own_function_names_the_data_set() -> None:
    class Mine(Exception):
        pass

    def weigh(counts: Any, candidates: Any) -> Any:
        if counts[0] == 5:
            raise Mine("cause")
        return -candidates[:, 0]

    for ask in (SETTING.audit, SETTING.law, SETTING.sample, SETTING.choose):
        with pytest.raises(Mine) as error:
            ask(weigh)
        assert str(error.value) == "cause"
        shown = "".join(traceback.format_exception(None, error.value, error.tb))
        assert 'raise Mine("cause")' in shown and "weigh was called for the data set (5, 0, 7)" in shown
    with pytest.raises(ValueError, match="what nothing returns has the shape") as failed:
        SETTING.audit(dpbi.Own(lambda c, r: None, "nothing"))
    shown = "".join(traceback.format_exception(None, failed.value, failed.tb))
    assert "nothing was called for the data set (0, 0, 12)" in shown


def test_answers_do_not_depend_on_threads() -> None:
    def ask(place: int) -> dict[str, Any]:
        return dpbi.audit("ehds", prior=[1, 1 + place], n=40, epsilon=1, calibrate=True).document

    alone = [ask(place) for place in range(6)]
    together: list[Any] = [None] * 6
    threads = [threading.Thread(target=lambda p=p: together.__setitem__(p, ask(p))) for p in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert together == alone
    code = "import dpbi; print(dpbi.audit('ehds', prior=[1, 3], n=40, epsilon=1, calibrate=True).document)"
    for count in ["1", "3"]:
        printed = python(code, RAYON_NUM_THREADS=count).communicate()[0]
        assert printed == f"{alone[2]}\n"


def test_other_threads_go_on() -> None:
    counted, done = 0, threading.Event()

    def work() -> None:
        dpbi.audit("ehds", prior=[1, 1, 1], n=60, epsilon=1, calibrate=True)
        done.set()

    thread = threading.Thread(target=work)
    thread.start()
    while not done.is_set():
        counted += 1
    thread.join()
    # With Python's lock held, this thread would hardly have counted.
    assert counted > 10_000


LONG = "dpbi.optimum(prior=[1, 1, 1], n=45, epsilon=1, release_set='below', force=True)"


def test_ctrl_c_ends_a_long_call() -> None:
    code = f"""
import dpbi
print("started", flush=True)
try:
    {LONG}
except KeyboardInterrupt:
    print("stopped", flush=True)
print(dpbi.audit("ehds", prior=[1, 1], n=5, epsilon=1).pairs)
"""
    process = python(code)
    assert process.stdout is not None and process.stdout.readline() == "started\n"
    # The call is under way, or about to be: either way it is stopped.
    interrupt(process, after=1.0)
    assert process.communicate()[0] == "stopped\n5\n" and process.returncode == 0


def test_ctrl_c_keeps_the_cells_of_a_run(tmp_path: Path) -> None:
    code = f"""
import dpbi
print("started", flush=True)
try:
    dpbi.run("beta_balanced", set={{"runs": 1_000_000}}, out={str(tmp_path)!r}, format="none")
except KeyboardInterrupt as stopped:
    print("cells are kept" in str(stopped) or str(stopped))
"""
    process = python(code)
    assert process.stdout is not None and process.stdout.readline() == "started\n"
    interrupt(process, after=1.0)
    assert process.communicate()[0] == "True\n"


def test_a_forked_process_is_told() -> None:
    code = """
import dpbi, os
dpbi.audit("ehds", prior=[1, 1], n=5, epsilon=1)
if os.fork() == 0:
    try:
        dpbi.audit("ehds", prior=[1, 1], n=5, epsilon=1)
    except RuntimeError as error:
        print("forked" in str(error), flush=True)
    os._exit(0)
os.wait()
"""
    assert python(code).communicate()[0] == "True\n"


def test_the_program_is_in_the_package() -> None:
    words = ["inspect", "--prior", "1,1", "--counts", "3,4", "--epsilon", "1"]
    code = f"import sys, dpbi._program; sys.argv = ['dpbi', *{words}]; sys.exit(dpbi._program.main())"
    expected = subprocess.run([PROGRAM, *words], capture_output=True, text=True).stdout
    assert python(code).communicate()[0] == expected
    failed = python(code.replace("'inspect'", "'inspcet'"), stderr=subprocess.PIPE)
    assert "did you mean `inspect`" in failed.communicate()[1] and failed.returncode == 2


def test_the_version_is_that_of_the_program() -> None:
    assert dpbi.__version__ in subprocess.run([PROGRAM, "--version"], capture_output=True, text=True).stdout


@pytest.mark.parametrize("module", [["mypy.stubtest", "dpbi._dpbi"], ["mypy", "--strict", "-p", "dpbi"]])
def test_types(module: list[str]) -> None:
    done = subprocess.run([sys.executable, "-m", *module], capture_output=True, text=True, cwd=ROOT / "python/tests")
    assert done.returncode == 0, done.stdout + done.stderr


def python(code: str, stderr: Any = None, **variables: str) -> subprocess.Popen[str]:
    environment = {**os.environ, **variables}
    return subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=stderr, text=True, env=environment
    )


def interrupt(process: subprocess.Popen[str], after: float) -> None:
    try:
        process.wait(after)
    except subprocess.TimeoutExpired:
        process.send_signal(signal.SIGINT)
