#!/bin/sh
# Tests the Python package in an environment of its own under target/: the build of the workspace and the sources of the
# package, next to each other. `scripts/python.sh stubs` rewrites the stubs of the plug-ins.
set -eu
cd "$(dirname -- "$0")/.."
. ./scripts/toolchain.sh

python=
for candidate in python3 python3.14 python3.13 python3.12 python3.11 python3.10; do
    if "$candidate" -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 10))' >/dev/null 2>&1; then
        python=$candidate
        break
    fi
done
if [ -z "$python" ]; then
    echo "skipped: python/tests (there is no Python 3.10 or later with venv)" >&2
    exit 0
fi

place=target/python
if ! cmp -s python/requirements-test.txt "$place/installed.txt" || ! "$place/environment/bin/python" -c '' 2>/dev/null; then
    rm -rf "$place/environment" "$place/installed.txt"
    mkdir -p "$place"
    "$python" -m venv "$place/environment"
    if ! "$place/environment/bin/python" -m pip install --quiet --no-compile --disable-pip-version-check -r python/requirements-test.txt; then
        echo "skipped: python/tests (what they need cannot be installed, see above)" >&2
        exit 0
    fi
    cp python/requirements-test.txt "$place/installed.txt"
fi

# The whole workspace, and its examples, so that features are those of the other tests and nothing is built twice.
cargo build --quiet --locked --workspace --lib --bins --examples
rm -rf "$place/package"
mkdir -p "$place/package"
cp -R python/nandlab "$place/package/nandlab"
library=${CARGO_TARGET_DIR:-target}/debug/libnandlab_native
if [ -f "$library.so" ]; then library=$library.so; else library=$library.dylib; fi
cp "$library" "$place/package/nandlab/_native.abi3.so"

PYTHONPATH=$PWD/$place/package
export PYTHONPATH
run="$place/environment/bin/python"
if [ "${1:-}" = stubs ]; then
    exec "$run" scripts/stubs.py
fi
"$run" scripts/stubs.py --check
"$run" -m mypy --strict --cache-dir "$place/mypy" python/nandlab python/examples docs/notebooks \
    scripts/notebooks.py scripts/python_measure.py scripts/site.py scripts/stubs.py &
types=$!
trap 'kill "$types" 2>/dev/null || :' EXIT
"$run" -m mypy.stubtest --concise --mypy-config-file pyproject.toml --allowlist python/tests/stubtest.txt \
    --ignore-unused-allowlist nandlab
wait "$types"
trap - EXIT
# Pyright is a program of Node: what it finds is checked where it is installed (pip install pyright).
if command -v pyright >/dev/null 2>&1; then
    pyright --pythonpath "$run" --project .
fi
# With `-n 0` in the same process, as `--pdb` wants it.
exec "$run" -m pytest --quiet --numprocesses logical -p no:cacheprovider python/tests "$@"
