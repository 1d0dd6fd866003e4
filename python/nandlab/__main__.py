"""The command line: `python -m nandlab`, and the program `nandlab` that comes with the package."""

import sys

from ._native import command


def main() -> int:
    """Runs the command that the arguments of the process are."""
    return command(["nandlab", *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())
