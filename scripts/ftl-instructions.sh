#!/bin/sh
# Instructions per flash operation of every FTL on the four workloads of `paths` (docs/benchmarks.md), by callgrind: two runs
# of different length, their difference divided by that of their flash operations. Names as arguments: only these FTLs.
set -eu
cd "$(dirname -- "$0")/.."
. ./scripts/toolchain.sh
binary=$(cargo bench --locked -p nandlab --bench paths --no-run 2>&1 | sed -n 's/.*(\(.*paths-[0-9a-f]*\)).*/\1/p')
counts=$(mktemp)
# Prints instructions and flash operations of one run.
count() {
    row=$(valgrind --tool=callgrind --callgrind-out-file=/dev/null "$binary" --bench --once "$1" "$2" "$3" 2>"$counts" | tail -n 1)
    refs=$(sed -n 's/.*Collected : //p' "$counts")
    echo "$refs $(echo "$row" | awk -F '|' '{ print $(NF - 1) }')"
}
[ $# -gt 0 ] || set -- page block bast fast superblock last dftl rftl tpftl learnedftl sftl cdftl urm-map
echo "| FTL | uniform writes | Zipf writes | sequential writes | random reads |"
echo "|-|-|-|-|-|"
for ftl in "$@"; do
    line="| $ftl"
    for work in uniform zipf sequential reads; do
        short=$(count "ftls-$work" "$ftl" 1000)
        long=$(count "ftls-$work" "$ftl" 5000)
        line="$line | $(echo "$short $long" | awk '{ printf "%.0f", ($3 - $1) / ($4 - $2) }')"
    done
    echo "$line |"
done
rm "$counts"
