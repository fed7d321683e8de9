"""One setting: a prior, data and ε."""

from __future__ import annotations

import csv
import json
import re
import tempfile
from dataclasses import dataclass
from operator import index
from pathlib import Path
from typing import Any, Optional, Union

import numpy as np

from . import _commands, _dpbi
from ._answers import Answer, Audit, Choice, Law, Optimum, Sample
from ._commands import Numbers, flags, toml
from ._numbers import numbers
from ._own import Mechanism, Mechanisms, Named, Own, own


@dataclass(frozen=True)
class Setting:
    """A prior, counts, ε, and what else a setting of the program has."""

    prior: Numbers
    counts: Numbers
    epsilon: float
    delta: Optional[float] = None
    gamma: float = 1.0
    distance: str = "hellinger"

    def __post_init__(self) -> None:
        prior = numbers(self.prior, [1], "prior", "give one number for each category, such as [1, 1, 1]")
        counts = numbers(self.counts, [1], "counts", "give one whole number for each category, such as [4, 4, 4]")
        # Later changes of a list change nothing here.
        object.__setattr__(self, "prior", tuple(prior.tolist()))
        object.__setattr__(self, "counts", tuple(counts.tolist()))
        _dpbi.check_setting(self._inspected())
        object.__setattr__(self, "counts", tuple(map(int, self.counts)))

    @property
    def n(self) -> int:
        """The number of records."""
        return int(np.sum(self.counts))

    def _model(self) -> dict[str, Any]:
        return dict(
            prior=self.prior, epsilon=self.epsilon, delta=self.delta, gamma=self.gamma, distance=self.distance
        )

    def _inspected(self) -> list[str]:
        """The command line about these counts."""
        return ["inspect", *flags(dict(counts=self.counts, **self._model()))]

    def inspect(self, mechanisms: Mechanisms = None, **options: Any) -> Answer:
        """Sensitivities, and the exact errors of mechanisms at these counts."""
        return _commands.inspect(mechanisms, counts=self.counts, **self._model(), **options)

    def law(self, mechanism: Mechanism) -> Law:
        """The exact law of a mechanism at these counts, output by output."""
        named = Named(mechanism, self.n, len(self.prior))
        text, *arrays = named.ask(_dpbi.law, self._inspected())
        return Law(json.loads(named.shown(text))["mechanisms"][0], len(self.prior), *arrays)

    def audit(self, mechanism: Mechanism, **options: Any) -> Audit:
        """The exact privacy loss over all data sets of as many records."""
        return _commands.audit(mechanism, n=self.n, **self._model(), **options)

    def choose(self, mechanisms: Mechanisms = None, **options: Any) -> Choice:
        """Mechanisms ranked by their exact error over all data sets of as many records: the choice does not look at
        the counts."""
        return _commands.choose(mechanisms, n=self.n, **self._model(), **options)

    def optimum(self, mechanisms: Mechanisms = None, **options: Any) -> Optimum:
        """The least possible error for as many records, and mechanisms beside it."""
        return _commands.optimum(mechanisms, n=self.n, **self._model(), **options)

    def sample(self, mechanism: Mechanism, runs: int = 1000, seed: int = 0) -> Sample:
        """Draws of the sampler of experiments: those of `dpbi run` for this setting and seed."""
        named = own(mechanism)
        given = dict(name="sample", seed=index(seed), runs=index(runs), mechanisms=[self._in_config(named)], **self._model())
        with tempfile.TemporaryDirectory(prefix="dpbi-") as folder:
            config = Path(folder, "sample.toml")
            lines = [f"{key} = {toml(value)}" for key, value in given.items() if value is not None]
            config.write_text("\n".join([*lines, "[data.counts]", f"counts = {toml(self.counts)}", ""]), encoding="utf-8")
            try:
                result = _commands.run(str(config), out=folder, format="none", quiet=True)
            except ValueError as error:
                raise ValueError(str(error).replace(f"{folder}/", "")) from None
            with open(result.folder / "errors.csv", encoding="utf-8", newline="") as file:
                header, *rows = list(csv.reader(file))
        place = header.index("released")
        released = [[int(count) for count in row[place].split(";")] for row in rows]
        return Sample(released, [float(row[place + 1]) for row in rows])

    def _in_config(self, named: Union[str, Own]) -> dict[str, Any]:
        name = named if isinstance(named, str) else named.tuning
        bare = name.replace("+calibrated", "").replace("+remap", "").strip()
        table: dict[str, Any] = dict(label=name, calibrated="+calibrated" in name, remap="+remap" in name)
        if not isinstance(named, str):
            table.update(id="table", label=named.name + name, path=str(named.table(self.n, len(self.prior))))
        elif bare.startswith("{"):
            table.update(id="noise" if re.search(r"\bt\b", bare) else "weights", log_weight=bare.strip("{}"))
        elif bare.startswith("table:"):
            table.update(id="table", path=str(Path(bare[6:]).absolute()))
        else:
            table.update(id=bare)
        return {key: value for key, value in table.items() if value is not False}

