"""The command line: `python -m nandlab`, and the program `nandlab` that comes with the package."""

import signal
import sys

from ._native import command


def main() -> int:
    """Runs the command that the arguments of the process are."""
    # The command ends cleanly on Ctrl-C itself; Python's own handler would add a traceback.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    return command(["nandlab", *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())
