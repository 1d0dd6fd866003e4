#!/bin/sh
# What must hold before a release, besides ./test: the oldest Rust that is promised builds it, every package builds by
# itself, an installed command needs nothing next to it, and the guide leads to a project that passes its tests.
set -eu
cd "$(dirname -- "$0")/.."
. ./scripts/toolchain.sh

oldest=$(sed -n 's/^rust-version = "\(.*\)"/\1/p' Cargo.toml)
echo "== Rust $oldest"
rustup toolchain install "$oldest" --profile minimal --no-self-update
CARGO_TARGET_DIR=target/oldest cargo "+$oldest" check --quiet --locked --workspace

echo "== packages"
cargo package --quiet --locked --workspace

echo "== installed command"
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
cargo install --quiet --locked --path crates/cli --root "$place/installed"
(cd "$place" && env -i "$place/installed/bin/nandlab" run --limit 20000 --json result.json -q && test -s result.json)
env -i "$place/installed/bin/nandlab" describe hitstat >/dev/null

echo "== the guide, to its end"
cargo test --quiet --locked -p nandlab-cli --test contributing -- --ignored
echo "ready for a release"
