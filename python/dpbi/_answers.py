"""What commands answer, with arrays in place of lists."""

from __future__ import annotations

import base64
import json
import math
from pathlib import Path
from typing import Any, Callable, Iterator, Optional

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]


def converted(value: Any) -> Any:
    """Lists of numbers become arrays, and rows of a table a dictionary of its columns."""
    if isinstance(value, dict):
        return Answer(value)
    if not isinstance(value, list):
        return math.inf if value == "inf" else value
    if value and all(isinstance(row, dict) for row in value):
        return {name: column([row.get(name) for row in value]) for name in dict.fromkeys(k for row in value for k in row)}
    kinds = {type(number) for row in value if isinstance(row, list) for number in row}
    same_length = len({len(row) if isinstance(row, list) else None for row in value}) == 1
    return np.array(value) if kinds and kinds <= {int, float} and same_length else column(value)


def column(values: list[Any]) -> npt.NDArray[Any]:
    """Numbers as numbers, with NaN where one is missing; anything else as it is."""
    kinds = {float if value == "inf" else type(value) for value in values}
    if kinds in ({int}, {bool}):
        return np.array(values)
    if kinds <= {int, float, type(None)} and kinds != {type(None)}:
        return np.array([math.nan if value is None else float(value) for value in values])
    objects = np.empty(len(values), dtype=object)
    objects[:] = values
    return objects


class Answer:
    """A JSON document of the program, `document`. Its keys are attributes; `from` is called `from_`."""

    def __init__(self, document: dict[str, Any]) -> None:
        self.document = document

    def __getitem__(self, key: str) -> Any:
        return converted(self.document[key])

    def __getattr__(self, name: str) -> Any:
        # What is being copied or unpickled has no document yet.
        if name.startswith("_") or name == "document":
            raise AttributeError(name)
        key = name[:-1] if name.endswith("_") else name
        if key not in self.document:
            known = ", ".join(one for one in dir(self) if not one.startswith("_"))
            raise AttributeError(f"{type(self).__name__} has no {name}; it has {known}")
        return self[key]

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *(key + "_" if key == "from" else key for key in self.document)]

    def __iter__(self) -> Iterator[str]:
        return iter(self.document)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Answer) and self.document == other.document

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        text = json.dumps(self.document, ensure_ascii=False)
        return f"{type(self).__name__}({text if len(text) < 400 else text[:400] + '…'})"


class Audit(Answer):
    """The exact privacy of a mechanism."""

    mechanism: str
    loss: float
    advantage: float
    pairs: int
    output: Integers
    from_: Integers
    to: Integers


class Choice(Answer):
    """Mechanisms, the best first: `mechanisms` has columns."""

    choice: Optional[str]
    advice: Optional[str]
    mechanisms: dict[str, npt.NDArray[Any]]


class Optimum(Answer):
    """The least possible error, and the mechanisms beside it."""

    mechanisms: dict[str, npt.NDArray[Any]]

    @property
    def value(self) -> Optional[float]:
        """The least mean error, if it is known to three digits; `lower` and `upper` always are."""
        return self.document["bayes"]  # type: ignore[no-any-return]

    @property
    def lower(self) -> float:
        """No private mechanism has a smaller mean error."""
        return float(self.document["bayes_certificate"]["lower"])

    @property
    def upper(self) -> float:
        """A private mechanism has this mean error; infinite if none was computed."""
        upper = self.document["bayes_certificate"]["upper"]
        return math.inf if upper is None else float(upper)


class Posterior(Answer):
    """The noise-aware posterior of released counts."""

    def __init__(self, ask: Callable[[float], dict[str, Any]], level: float) -> None:
        super().__init__(ask(level))
        self._ask = ask

    @property
    def mean(self) -> Floats:
        """The posterior mean of every share."""
        return np.array([share["mean"] for share in self.document["shares"]])

    def interval(self, level: float = 0.95) -> Floats:
        """The equal-tailed credible interval of every share, a row for each."""
        document = self.document if level == self.document["level"] else self._ask(level)
        return np.array([[share["low"], share["high"]] for share in document["shares"]])


class Law(Answer):
    """The exact law of a mechanism at one data set: `outputs`, `probabilities` and `errors`, a row for each output
    that is possible; `mean`, `std`, `median`, `q90` and `p_exact` are those of the error."""

    mean: float

    def __init__(self, document: dict[str, Any], k: int, outputs: bytes, probabilities: bytes, errors: bytes) -> None:
        super().__init__(document)
        self.outputs: Integers = np.frombuffer(outputs, dtype=np.int64).reshape(-1, k)
        self.probabilities: Floats = np.frombuffer(probabilities)
        self.errors: Floats = np.frombuffer(errors)

    def quantile(self, q: float) -> float:
        """The smallest t with P[error <= t] >= q."""
        if not 0 <= q <= 1:
            raise ValueError(f"{q} is no probability\n  help: use for example 0.9")
        order = np.argsort(self.errors, kind="stable")
        reached = np.cumsum(self.probabilities[order]) >= q - 1e-12
        return float(self.errors[order[np.argmax(reached) if reached.any() else -1]])


class Sample:
    """Draws of the sampler of experiments, from a seed: `released` counts and their `errors`, a row for each run. They
    are for experiments. They protect nobody, since the seed tells them."""

    def __init__(self, released: list[list[int]], errors: list[float]) -> None:
        self.released: Integers = np.array(released, dtype=np.int64)
        self.errors: Floats = np.array(errors)

    def __repr__(self) -> str:
        return f"Sample({len(self.errors)} runs, mean error {self.errors.mean():.6g})"


class Run(Answer):
    """An experiment that was run: its tables as columns, such as `summary`, and its figures. A notebook shows them."""

    summary: dict[str, npt.NDArray[Any]]

    @property
    def folder(self) -> Path:
        """Where everything was written."""
        return Path(self.document["folder"])

    @property
    def figures(self) -> list[Path]:
        """The files of the figures."""
        return sorted(path for path in self.folder.iterdir() if path.suffix in (".svg", ".png", ".pdf"))

    def _repr_html_(self) -> str:
        images = (base64.b64encode(path.read_bytes()).decode() for path in self.figures if path.suffix == ".png")
        return "".join(f'<img style="max-width:100%" src="data:image/png;base64,{image}">' for image in images)
