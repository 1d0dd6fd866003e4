#!/bin/sh
# The tests of the Python package that take minutes: more than 10,000 cases of bad input, 91 cells on workers that die,
# and all notebooks.
set -eu
cd "$(dirname -- "$0")/.."
NANDLAB_LONG=10
export NANDLAB_LONG
exec ./scripts/python.sh -k "random or ninety_one or notebook" "$@"
