"""Numbers as they are given."""

from __future__ import annotations

from typing import Any, Sequence

import numpy as np
import numpy.typing as npt


def numbers(value: Any, dimensions: Sequence[int], what: str, remedy: str) -> npt.NDArray[Any]:
    """An array with one of these numbers of dimensions. NumPy would drop masks and imaginary parts: they are
    refused."""
    fault = None
    # The mask of a row is lost, too, when rows are put together.
    if any(map(np.ma.is_masked, value if isinstance(value, (list, tuple)) else [value])):
        fault = "has masked numbers"
    else:
        try:
            found = np.asarray(value)
        except ValueError:
            fault = "has rows of different lengths"
    if fault is None and found.dtype.kind == "c":
        fault = "has imaginary parts"
    if fault is None and found.dtype.kind not in "biufO":
        fault = "has something else than numbers"
    if fault is None and found.ndim not in dimensions:
        fault = f"has the shape {found.shape}"
    if fault is None and found.size == 0:
        fault = "is empty"
    if fault is not None:
        raise ValueError(f"{what} {fault}\n  help: {remedy}")
    return found
