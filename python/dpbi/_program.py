"""The program `dpbi`, as a script of the package."""

import signal
import sys

from . import _dpbi


def main() -> int:
    """Carries out the command line of this process."""
    # The program has handlers of its own.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    return _dpbi.program(sys.argv[1:])
