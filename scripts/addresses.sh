#!/bin/sh
# Do block-wise compacted addresses give what true addresses give? Compares hits, write amplification and erases of every
# buffer over FTLs that know blocks, on a device that is large enough for both. Prints the rows that differ: none is right,
# except for policies that look at page numbers themselves (docs/traces.md).
# A superblock has 8 erase blocks of 512 KiB, so that is the unit to keep whole there.
#   scripts/addresses.sh NANDLAB CAPACITY TRACE...      more options for both runs: OPTIONS="--volumes stack"
set -eu
nandlab=$1
capacity=$2
shift 2
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
columns() { # ADDRESS FTLS TRACE: the columns that are to be equal
    # shellcheck disable=SC2086
    "$nandlab" compare "$3" --address "$1" --buffers all --ftls "$2" --capacity "$capacity" \
        --precondition none --settle none --csv -q ${OPTIONS:-} | cut -d, -f1,2,6,7,10,11,12
}
for trace; do
    for case in compact/page,block,bast,fast,last compact:4MiB/superblock; do
        columns reject "${case#*/}" "$trace" > "$folder/true"
        columns "${case%%/*}" "${case#*/}" "$trace" > "$folder/compact"
        echo "$trace, ${case#*/}: $(($(wc -l < "$folder/true") - 1)) rows, $(diff "$folder/true" "$folder/compact" | grep -c '^<' || true) differ"
        diff "$folder/true" "$folder/compact" || true
    done
done
