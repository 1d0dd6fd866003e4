#!/bin/sh
# Builds the documentation site: target/site/html/index.html, which is read from a disk. A link to nowhere is an error.
# The notebooks are executed for it, with the build that scripts/python.sh tests.
set -eu
cd "$(dirname -- "$0")/.."
run=target/python/environment/bin/python
if [ ! -x "$run" ] || [ ! -d target/python/package ]; then
    echo "first scripts/python.sh, which makes the environment" >&2
    exit 1
fi
tools=target/site/environment
if [ ! -x "$tools/bin/mkdocs" ]; then
    "$run" -m venv "$tools"
    "$tools/bin/python" -m pip install --quiet --disable-pip-version-check mkdocs-material==9.8.1
fi
rm -rf target/site/pages
mkdir -p target/site/pages
PYTHONPATH=$PWD/target/python/package
export PYTHONPATH
"$run" scripts/notebooks.py target/site/pages/notebooks
"$run" scripts/site.py target/site/pages
log=target/site/mkdocs.log
if ! NO_MKDOCS_2_WARNING=1 PYTHONPATH='' "$tools/bin/mkdocs" build --strict --config-file scripts/site.yml >"$log" 2>&1; then
    cat "$log" >&2
    exit 1
fi
echo "target/site/html/index.html"
