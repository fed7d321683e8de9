"""The commands of the program as functions. Options are the flags of the command of the same name."""

from __future__ import annotations

import json
from functools import partial
from numbers import Real
from typing import Any, Mapping, Optional, Sequence, TypeVar, Union

import numpy as np
import numpy.typing as npt

from . import _dpbi
from ._answers import Answer, Audit, Choice, Optimum, Posterior, Run, converted
from ._numbers import numbers
from ._own import Mechanism, Mechanisms, Named

Numbers = Union[Sequence[float], npt.NDArray[Any]]
A = TypeVar("A", bound=Answer)


# Flags that are given once for each of several values: names of columns may have commas.
REPEATED = {"by"}

# Flags of whole numbers: 50.0 records are 50.
WHOLE = {"n", "counts", "candidate", "runs", "seed", "threads"}


def plain(value: Any) -> Any:
    """What NumPy and pandas have, as Python has it."""
    return value.tolist() if hasattr(value, "tolist") else value


def text(value: Any, whole: bool = False) -> str:
    """A value of a flag as it is typed."""
    value = plain(value)
    if isinstance(value, (list, tuple)):
        items = [plain(one) for one in value]
        if any(isinstance(one, (list, tuple)) for one in items):
            raise ValueError(f"there are lists in the list {value!r}\n  help: give its values in one row")
        return ",".join(text(one, whole) for one in items)
    if isinstance(value, Real) and not isinstance(value, int):
        number = float(value)
        return str(int(number)) if whole and number.is_integer() else repr(number)
    return str(value)


def flags(options: Mapping[str, Any]) -> list[str]:
    """Options as they are typed. What is None or False is left out."""
    given = []
    for key, value in options.items():
        value = plain(value)
        is_list = key in REPEATED and isinstance(value, (list, tuple))
        given += [(key, one) for one in (value if is_list else [value])]
    given = [(key, value) for key, value in given if value is not None and value is not False]
    typed = [(key.replace("_", "-"), value is True, text(value, key in WHOLE)) for key, value in given]
    return [f"--{key}" if alone else f"--{key}={value}" for key, alone, value in typed]


def toml(value: Any) -> str:
    """A value as it is written in a config."""
    value = plain(value)
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{key} = {toml(one)}" for key, one in value.items()) + " }"
    if isinstance(value, (list, tuple, range)):
        return "[" + ", ".join(toml(one) for one in value) + "]"
    if isinstance(value, (str, bool)):
        return json.dumps(value, ensure_ascii=False)
    if not isinstance(value, Real):
        raise ValueError(f"{value!r} is no value of a config\n  help: use numbers, texts, booleans, lists or dictionaries")
    return text(value)


def ask(name: str, arguments: Sequence[str], named: Named = Named(None, 0, 0)) -> Any:
    """The document of a command about the mechanisms that are named."""
    return json.loads(named.shown(named.ask(_dpbi.answer, [name, "--json", *arguments])))


def command(name: str, *arguments: Any, **options: Any) -> Any:
    """The JSON document of any command that has one, such as command("claims", 4, distance="hellinger")."""
    return converted(ask(name, [*(text(one) for one in arguments), *flags(options)]))


def about(kind: type[A], name: str, mechanisms: Mechanisms, prior: Numbers, options: dict[str, Any]) -> A:
    """The answer of a command about mechanisms of one setting."""
    n = options.get("n")
    n = np.sum(options.get("counts", 0)) if n is None else n
    return kind(ask(name, flags(dict(prior=prior, **options)), Named(mechanisms, n, len(prior))))


def inspect(mechanisms: Mechanisms = None, *, prior: Numbers, counts: Numbers, epsilon: float, **options: Any) -> Answer:
    """Everything exact about one setting. `mechanisms` has columns."""
    return about(Answer, "inspect", mechanisms, prior, dict(counts=counts, epsilon=epsilon, **options))


def audit(mechanism: Mechanism, *, prior: Numbers, epsilon: float, **options: Any) -> Audit:
    """The exact privacy loss over all data sets of n=… records, or at one data set, counts=…. With calibrate=True the
    mechanism is calibrated first."""
    return about(Audit, "audit", mechanism, prior, dict(epsilon=epsilon, **options))


def choose(mechanisms: Mechanisms = None, *, prior: Numbers, **options: Any) -> Choice:
    """Mechanisms ranked by their exact error with n=… and epsilon=…; or, with error=…, the least ε of each that keeps
    to it."""
    return about(Choice, "choose", mechanisms, prior, options)


def optimum(mechanisms: Mechanisms = None, *, prior: Numbers, n: int, epsilon: float, **options: Any) -> Optimum:
    """The least error that any ε-private release of counts with the same total can have, and mechanisms beside it."""
    return about(Optimum, "optimum", mechanisms, prior, dict(n=n, epsilon=epsilon, **options))


RELEASED = (
    "give a row with one number for each cell, or, for several releases of the same counts, such a row for each; a "
    "table of groups is one row, as numpy.ravel(released) gives it, or a CSV file, data='cells.csv'"
)
NOISE = (
    "give a text, such as 'discrete-laplace(epsilon=0.5)', or an expression in t for the logarithm of its weight, "
    "such as '-abs(t)/2'; or a list with one for each release"
)


def posterior(
    released: Optional[npt.ArrayLike] = None,
    *,
    noise: Union[str, Sequence[str]],
    prior: Union[float, Numbers],
    level: float = 0.95,
    **options: Any,
) -> Posterior:
    """The posterior of counts that somebody else released with noise: `released` is a row of numbers, or a row for
    each of several releases of the same counts; or data=… is a CSV file of cells. `noise` is one text, or one for
    each release."""
    rows = [] if released is None else np.atleast_2d(numbers(released, [1, 2], "released", RELEASED)).tolist()
    noises = [noise] if isinstance(noise, str) else plain(noise)
    if not isinstance(noises, (list, tuple)) or not all(isinstance(one, str) for one in noises):
        raise ValueError(f"noise is {noise!r}\n  help: {NOISE}")
    fixed = [f"--released={text(row)}" for row in rows] + [f"--noise={one}" for one in noises]
    given = flags(dict(prior=prior, **options))
    return Posterior(partial(posterior_at, [*fixed, *given]), level)


def posterior_at(arguments: list[str], level: float) -> Any:
    """The document with intervals of this level."""
    return ask("posterior", [*arguments, f"--level={level}"])


def run(config: str, *, set: Optional[Mapping[str, Any]] = None, **options: Any) -> Run:
    """Runs an experiment: the path of a config, or the name of a bundled one. `set` replaces values of the config,
    such as set={"epsilon": [0.5, 1], "data.balanced.sizes": [50]}."""
    changes = [f"--set={key}={toml(value)}" for key, value in (set or {}).items()]
    return Run(ask("run", [str(config), *changes, *flags(options)])[0])
