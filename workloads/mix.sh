#!/bin/sh
# Mixes recordings of programs as URM's paper does (its table 1): programs that run at once on one device, fio's random requests
# among them.
#
#   workloads/mix.sh RECORDINGS FOLDER
#
# Multi1: cscope and fio, more than 60 % of it fio. Multi2: glimpse and fio, less than 30 % of it fio. Multi3: cscope, glimpse, gcc
# and fio, a balance. Multi4: RocksDB and fio, mostly sequential writes. The programs begin together and end together: the times of
# each are scaled. Hints are those of a host that sees all of them at once.
set -eu
here=$(cd "$(dirname -- "$0")" && pwd)
from=${1:?"usage: workloads/mix.sh RECORDINGS FOLDER"} folder=${2:?"usage: workloads/mix.sh RECORDINGS FOLDER"}
nandlab=${NANDLAB:-$here/../nandlab}
# Seconds that a mix lasts.
seconds=10
parts=$(mktemp -d)
trap 'rm -rf "$parts"' EXIT

# requests FILE: how many there are.
requests() { "$nandlab" trace convert "$1" | grep -c '^[0-9]'; }

# mix NAME SHARE PROGRAM... : the programs, and so much of fio's requests that they are SHARE per cent of all.
mix() {
    name=$1 share=$2 fio=$3
    shift 3
    total=0 files=
    for program; do
        n=$(requests "$from/$program.parquet")
        "$nandlab" trace scale "$from/$program.parquet" --rate $((n / seconds)) -o "$parts/$program.parquet"
        total=$((total + n)) files="$files $parts/$program.parquet"
    done
    n=$((total * share / (100 - share)))
    "$nandlab" trace cut "$from/$fio.parquet" -n $n -o "$parts/cut.parquet"
    n=$(requests "$parts/cut.parquet")
    "$nandlab" trace scale "$parts/cut.parquet" --rate $((n / seconds)) -o "$parts/fio.parquet"
    # shellcheck disable=SC2086 # a list of files
    "$nandlab" trace merge $files "$parts/fio.parquet" --from-zero -o "$parts/all.parquet"
    "$nandlab" trace remap "$parts/all.parquet" --stack -o "$parts/one.parquet"
    "$nandlab" trace hint "$parts/one.parquet" -o "$folder/$name.parquet"
    echo "$folder/$name.parquet: $((total + n)) requests, $((100 * n / (total + n))) % of them fio's"
}

mix multi1 65 fio-80 cscope
mix multi2 25 fio-20 glimpse
mix multi3 25 fio-20 cscope glimpse gcc
mix multi4 25 fio-80 rocksdb
