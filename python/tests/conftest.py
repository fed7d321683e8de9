"""What the tests share: the program, golden tables, and numbers as Python has them."""

import csv
import json
import os
import subprocess
from pathlib import Path
from typing import Any, Iterator

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = os.environ.get("DPBI", str(ROOT / "target/debug/dpbi"))


def program(*words: str) -> Any:
    """The JSON document that the program prints."""
    done = subprocess.run([PROGRAM, *words, "--json"], capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def golden(name: str) -> Iterator[dict[str, str]]:
    with open(ROOT / f"tests/golden/{name}.csv", newline="") as file:
        yield from csv.DictReader(file)


def numbers(text: str) -> list[float]:
    return [float(number) for number in text.split(";")]


def counts(text: str) -> list[int]:
    return [int(number) for number in text.split(";")]


def close(found: float, expected: str, tolerance: float) -> bool:
    return found == float(expected) or abs(found - float(expected)) <= tolerance * max(1.0, abs(float(expected)))
