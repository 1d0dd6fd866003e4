#!/bin/sh
# Measures every point of docs/theory.md and draws it (docs/theory/results.csv, the pictures, the table of the page).
set -eu
cd "$(dirname -- "$0")/.."
. ./scripts/toolchain.sh
lines=$(mktemp)
cargo test --release --locked -p nandlab --test page --test ftl_map --test ftl_hybrid --test timing -- \
    --include-ignored --nocapture the_whole_table every_hit_ratio along_the_curve at_every_load device_saturates >"$lines"
{
    echo "figure,series,x,formula,measured,allowed"
    sed -n 's/.*theory,//p' "$lines" | LC_ALL=C sort
} >docs/theory/results.csv
rm "$lines"
cargo run --release --locked -p nandlab-plot --example theory
