#!/bin/sh
# Does memory stay constant when traces get long? Pipes N generated requests through the trace tools and prints the
# highest resident memory of each process (Linux; GNU time). Figures: docs/benchmarks.md.
#   scripts/constant-memory.sh [NANDLAB] [N...]
set -eu
nandlab=${1:-target/release/nandlab}
[ $# -gt 0 ] && shift
[ $# -gt 0 ] || set -- 1000000 100000000
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
measured() { # NAME COMMAND...: the peak of the command goes to a file
    name=$1
    shift
    /usr/bin/time -f '%M' -o "$folder/$name" "$@"
}
for requests; do
    measured make "$nandlab" trace make uniform -n "$requests" |
        measured cut "$nandlab" trace cut - --from 1us |
        measured sample "$nandlab" trace sample - --rate 0.9 |
        measured scale "$nandlab" trace scale - --time 1/3 |
        measured convert "$nandlab" trace convert - -o "$folder/t.parquet"
    measured filter "$nandlab" trace filter "$folder/t.parquet" --op W -o /dev/null
    printf '%11d requests:' "$requests"
    for tool in make cut sample scale convert filter; do
        printf ' %s %d MiB' "$tool" $(($(cat "$folder/$tool") / 1024))
    done
    echo
done
