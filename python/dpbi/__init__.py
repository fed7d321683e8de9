"""Differentially private Bayesian inference on categorical data: exact laws, losses and optima.

Every number is that of the program `dpbi`, to the last bit. What a function takes is what the command of the same
name takes: `dpbi audit --help` explains it. Arrays are NumPy's. What is wrong with the input is a `ValueError` that
says the cause and the remedy. Work that takes more than a few seconds says so on standard error, and Ctrl-C ends it.

Real data are released by the program only: its ledger counts every release, and a notebook that is run twice
would release twice.
"""

from ._answers import Answer, Audit, Choice, Law, Optimum, Posterior, Run, Sample
from ._commands import audit, choose, command, inspect, optimum, posterior, run
from ._dpbi import __version__
from ._own import Own, candidates
from ._setting import Setting

__all__ = [
    "Answer",
    "Audit",
    "Choice",
    "Law",
    "Optimum",
    "Own",
    "Posterior",
    "Run",
    "Sample",
    "Setting",
    "__version__",
    "audit",
    "candidates",
    "choose",
    "command",
    "inspect",
    "optimum",
    "posterior",
    "run",
]
