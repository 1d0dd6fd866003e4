#!/bin/sh
# URM on recordings of real programs: makes the traces whose hints are controls, and runs workloads/urm-recorded.toml (what each part
# of URM earns) and workloads/urm-lengths.toml (how long mapping prefetches should be), or workloads/urm-full.toml (long recordings).
#
#   workloads/urm.sh FOLDER [RECORDINGS [SWEEPS]]
#
# RECORDINGS has multi1.parquet to multi4.parquet and databases.parquet (workloads/fixtures unless told otherwise). FOLDER gets the
# traces, the sweeps (`recorded lengths`; `full` for what `record.sh RECORDINGS full` recorded), and their reports.
set -eu
here=$(cd "$(dirname -- "$0")" && pwd)
folder=${1:?"usage: workloads/urm.sh FOLDER [RECORDINGS [SWEEPS]]"} from=${2:-$here/fixtures} sweeps=${3:-recorded lengths}
nandlab=$(realpath "${NANDLAB:-$here/../nandlab}")
from=$(cd "$from" && pwd)
for sweep in $sweeps; do
    [ -e "$here/urm-$sweep.toml" ] || { echo "urm.sh: SWEEPS are recorded, lengths and full, not $sweep" >&2; exit 2; }
done
mkdir -p "$folder"
cd "$folder"

for mix in multi1 multi2 multi3 multi4 databases; do
    [ "$from" = "$PWD" ] || cp "$from/$mix.parquet" .
    "$nandlab" trace hint $mix.parquet --tell patterns -o $mix-zones.parquet
    "$nandlab" trace hint $mix.parquet --tell lengths -o $mix-ahead.parquet
    "$nandlab" trace hint $mix.parquet --tell actual -o $mix-actual.parquet
    "$nandlab" trace hint $mix.parquet --shuffle 1 -o $mix-shuffled.parquet
    case " $sweeps " in *" lengths "*) ;; *) continue ;; esac
    # The first half teaches; all of it is replayed.
    echo "$mix:"
    "$nandlab" trace lengths $mix.parquet -o $mix-lengths.toml
    "$nandlab" trace hint $mix.parquet --lengths mean -o $mix-mean.parquet
    "$nandlab" trace hint $mix.parquet --lengths last -o $mix-last.parquet
    "$nandlab" trace hint $mix.parquet --lengths $mix-lengths.toml -o $mix-regressions.parquet
    "$nandlab" trace hint $mix.parquet --lengths actual -o $mix-known.parquet
done
for sweep in $sweeps; do
    "$nandlab" sweep "$here/urm-$sweep.toml" -o $sweep
    "$nandlab" report $sweep -o $sweep.html --markdown $sweep.md
done
