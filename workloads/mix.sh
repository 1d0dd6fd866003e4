#!/bin/sh
# Mixes recordings of programs as URM's paper does (its table 1): programs that run at once on one device, fio's random requests
# among them.
#
#   workloads/mix.sh RECORDINGS FOLDER
#
# Multi1: cscope and fio, more than 60 % of it fio. Multi2: glimpse and fio, less than 30 % of it fio. Multi3: cscope, glimpse, gcc
# and fio, a balance. Multi4: RocksDB and fio, mostly sequential writes. Ours, not the paper's, is databases: SQLite, PostgreSQL and
# fio. The programs begin together and end together: the times of each are scaled. Hints are those of a host that sees all of them at
# once.
set -eu
here=$(cd "$(dirname -- "$0")" && pwd)
from=${1:?"usage: workloads/mix.sh RECORDINGS FOLDER"} folder=${2:?"usage: workloads/mix.sh RECORDINGS FOLDER"}
nandlab=$(realpath "${NANDLAB:-$here/../nandlab}")
from=$(cd "$from" && pwd) folder=$(cd "$folder" && pwd)
# Seconds that a mix lasts.
seconds=10
parts=$(mktemp -d)
trap 'rm -rf "$parts"' EXIT
# Traces say what they were made of: by names that are the same everywhere.
cd "$parts"

# requests FILE: how many there are.
requests() { "$nandlab" trace convert "$1" | grep -c '^[0-9]'; }

# mix NAME SHARE PROGRAM... : the programs, and so much of fio's requests that they are SHARE per cent of all.
mix() {
    name=$1 share=$2 fio=$3
    shift 3
    total=0 files=
    for program; do
        n=$(requests "$from/$program.parquet")
        ln -sf "$from/$program.parquet" .
        "$nandlab" trace scale "$program.parquet" --rate $((n / seconds)) -o "scaled-$program.parquet"
        total=$((total + n)) files="$files scaled-$program.parquet"
    done
    n=$((total * share / (100 - share)))
    ln -sf "$from/$fio.parquet" .
    "$nandlab" trace cut "$fio.parquet" -n $n -o cut.parquet
    n=$(requests cut.parquet)
    "$nandlab" trace scale cut.parquet --rate $((n / seconds)) -o scaled-fio.parquet
    # shellcheck disable=SC2086 # a list of files
    "$nandlab" trace merge $files scaled-fio.parquet --from-zero -o all.parquet
    "$nandlab" trace remap all.parquet --stack -o one.parquet
    "$nandlab" trace hint one.parquet -o "$name.parquet"
    mv "$name.parquet" "$folder"
    echo "$folder/$name.parquet: $((total + n)) requests, $((100 * n / (total + n))) % of them fio's"
}

mix multi1 65 fio-80 cscope
mix multi2 25 fio-20 glimpse
mix multi3 25 fio-20 cscope glimpse gcc
mix multi4 25 fio-20 rocksdb
mix databases 25 fio-20 sqlite postgresql
