"""Mechanisms of one's own: functions and tables."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import Callable, Optional, Sequence, TypeVar, Union

import numpy as np
import numpy.typing as npt

from . import _dpbi
from ._answers import Floats, Integers
from ._numbers import numbers

T = TypeVar("T")
Weigher = Callable[[Integers, Integers], npt.ArrayLike]


def candidates(n: int, k: int) -> Integers:
    """All counts of n records in k categories, a row for each, in the order of tables."""
    if n < 0 or k < 2:
        raise ValueError(f"there are no counts of {n} records in {k} categories\n  help: use 2 categories or more")
    return np.frombuffer(_dpbi.candidates(n, k), dtype=np.int64).reshape(-1, k)


class Own:
    """A mechanism of one's own, which releases one of the candidates: all counts with the data's total.

    `weights` is a function of (counts, candidates) that returns the logarithm of a weight for every row of
    `candidates`; or an array of probabilities with a row for every data set, in the order of `candidates(n, k)`. A
    calibrated mechanism has all its log weights multiplied by the factor with which its exact loss is ε.
    """

    def __init__(
        self,
        weights: Union[Weigher, npt.ArrayLike],
        name: Optional[str] = None,
        *,
        calibrated: bool = False,
        remap: bool = False,
    ) -> None:
        self.name = name or str(getattr(weights, "__name__", type(weights).__name__))
        remedy = "give a function, or an array of probabilities with a row for every data set"
        self.weights = weights if callable(weights) else numbers(weights, [2], f"the mechanism {weights!r}", remedy)
        self.tuning = "+calibrated" * calibrated + "+remap" * remap
        self._folder: Optional[tempfile.TemporaryDirectory[str]] = None

    def __repr__(self) -> str:
        return f"Own({self.name}{self.tuning})"

    def table(self, n: int, k: int) -> Path:
        """The file of its probabilities at all data sets of n records in k categories."""
        if self._folder is None:
            self._folder = tempfile.TemporaryDirectory(prefix="dpbi-")
        path = Path(self._folder.name, f"{n}-{k}", "".join(c if c.isalnum() else "_" for c in self.name))
        if not path.exists():
            weights = self._log_weights(candidates(n, k))
            path.parent.mkdir(exist_ok=True)
            _dpbi.write_table(str(path), n, k, weights.tobytes())
        return path

    def _log_weights(self, rows: Integers) -> Floats:
        if callable(self.weights):
            return np.array([self._weighed(self.weights, counts, rows) for counts in rows])
        table = np.asarray(self.weights, dtype=np.float64)
        fault = None if table.shape == (len(rows), len(rows)) else f"its shape is {table.shape}"
        if fault is None and not np.all(table >= 0):
            fault = "a number is negative or missing"
        if fault is None and np.any(abs(table.sum(axis=1) - 1) > 1e-9):
            fault = f"a row sums to {table.sum(axis=1)[np.argmax(abs(table.sum(axis=1) - 1))]}"
        if fault is not None:
            raise ValueError(
                f"{self.name} is no table of probabilities for {len(rows)} data sets: {fault}\n  help: give an array "
                f"of shape ({len(rows)}, {len(rows)}) whose rows sum to 1, in the order of dpbi.candidates(n, k)"
            )
        with np.errstate(divide="ignore"):
            return np.log(table)

    def _weighed(self, weigh: Weigher, counts: Integers, rows: Integers) -> Floats:
        """What the function returns for one data set. An error of its own names the data set."""
        what = f"what {self.name} returns"
        remedy = f"return one log weight for each of the {len(rows)} candidates, an array of shape ({len(rows)},)"
        try:
            found = np.asarray(numbers(weigh(counts, rows), [1], what, remedy), dtype=np.float64)
            if found.shape != (len(rows),):
                raise ValueError(f"{what} has the shape {found.shape}\n  help: {remedy}")
            return found
        except Exception as error:
            called = f"{self.name} was called for the data set {tuple(counts.tolist())}"
            if sys.version_info >= (3, 11):
                error.add_note(called)
                raise
            # Older versions show the cause of an error only.
            raise error from RuntimeError(called)


Mechanism = Union[str, Own, Weigher, npt.NDArray[np.float64]]
Mechanisms = Union[Mechanism, Sequence[Mechanism], None]


def own(mechanism: Mechanism) -> Union[str, Own]:
    """A name, or a mechanism of one's own."""
    return mechanism if isinstance(mechanism, (str, Own)) else Own(mechanism)


class Named:
    """Mechanisms as the command line names them, and texts in which one's own are called by their names."""

    def __init__(self, given: Mechanisms, n: int, k: int) -> None:
        several = () if given is None else given if isinstance(given, (list, tuple)) else (given,)
        if given is not None and len(several) == 0:
            raise ValueError("no mechanism is given\n  help: name some, or leave the argument out")
        # They are kept: with them their tables would go.
        self._all = [own(one) for one in several]
        names = [f"{one.name}{one.tuning}" for one in self._all if isinstance(one, Own)]
        if len(set(names)) < len(names):
            raise ValueError(f"mechanisms have the same name: {names}\n  help: name them, as in dpbi.Own(f, name='half')")
        tables = [None if isinstance(one, str) else one.table(n, k) for one in self._all]
        self._folders = [f"{table.parent}/" for table in tables if table]
        self.flags = [
            f"--mechanism={one if isinstance(one, str) else f'table:{table}{one.tuning}'}"
            for one, table in zip(self._all, tables)
        ]

    def shown(self, text: str) -> str:
        for folder in self._folders:
            text = text.replace(folder, "")
        return text

    def ask(self, function: Callable[[list[str]], T], arguments: list[str]) -> T:
        """What a function of the program answers, with errors about the names that the user knows."""
        try:
            return function([*arguments, *self.flags])
        except (ValueError, RuntimeError) as error:
            raise type(error)(self.shown(str(error))) from None
