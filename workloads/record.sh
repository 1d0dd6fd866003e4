#!/bin/sh
# Records real programs with `nandlab record` (docs/hosts.md): cscope, glimpse, gcc, SQLite, PostgreSQL, RocksDB and fio, and mixes
# them as URM's paper does. The programs come from the distribution (Debian 12).
#
#   workloads/record.sh FOLDER [small|full]
#
# FOLDER/work is where the programs work and what file names in the traces are relative to; FOLDER/*.parquet are the traces.
# `small` is what workloads/fixtures has; `full` is larger: its mixes have
# 36,000 to nearly 500,000 requests, those of URM's paper 280,000 to 600,000.
set -eu
here=$(cd "$(dirname -- "$0")" && pwd)
folder=${1:?"usage: workloads/record.sh FOLDER [small|full]"} size=${2:-small}
# Built while HOME still says where the toolchain is; the programs below get another.
[ -n "${NANDLAB-}" ] || "$here/../nandlab" --version >/dev/null
nandlab=$(realpath "${NANDLAB:-$here/../target/release/nandlab}")

case $size in
small) sources='kernel/sched mm fs/ext4' memory=4MiB objects='mm/mmap.o mm/memory.o mm/filemap.o kernel/fork.o kernel/sched/core.o fs/namei.o' rows=60000 scale=2 transactions=400
    keys=100000 fio=128 ;;
full) sources='kernel mm lib include/linux fs/ext4' memory=32MiB objects='mm/ kernel/' rows=400000 scale=20 transactions=10000
    keys=1000000 fio=1024 ;;
*) echo "record.sh: size is small or full, not $size" >&2; exit 2 ;;
esac

for pair in cscope:cscope glimpse:glimpse gcc:gcc make:make flex:flex bison:bison bc:bc sqlite3:sqlite3 fio:fio db_bench:rocksdb-tools; do
    command -v "${pair%%:*}" >/dev/null || missing="${missing-} ${pair#*:}"
done
[ -x /usr/lib/postgresql/15/bin/initdb ] || missing="${missing-} postgresql-15"
[ -e /usr/src/linux-source-6.1.tar.xz ] || missing="${missing-} linux-source-6.1"
if [ -n "${missing-}" ]; then
    # shellcheck disable=SC2086 # a list of packages
    apt-get install -y --no-install-recommends $missing
fi

mkdir -p "$folder/work"
folder=$(cd "$folder" && pwd)
cd "$folder/work"
# Programs see the same surroundings everywhere, and keep what they put aside in the folder.
export LC_ALL=C TZ=UTC HOME="$folder/work" TMPDIR="$folder/work"
if [ ! -e linux/include/generated/autoconf.h ]; then
    tar -xJf /usr/src/linux-source-6.1.tar.xz --exclude='*/drivers/*.[ch]' --exclude='*/sound/*.[ch]'
    rm -rf linux && mv linux-source-6.1 linux
    make -s -C linux tinyconfig prepare
fi

# record NAME COMMAND...: the trace NAME.parquet.
record() {
    trace=$folder/$1.parquet
    shift
    "$nandlab" record -o "$trace" --memory-limit "$memory" -- "$@" >"$folder/work/log" 2>"$folder/work/messages" ||
        { cat "$folder/work/log" "$folder/work/messages" >&2; exit 1; }
    sed -n "s|^.*\($trace: \)|\1|p" "$folder/work/messages"
}

# shellcheck disable=SC2086 # a list of folders
(cd linux && find $sources -name '*.[ch]' | sort >cscope.files)
rm -f linux/cscope.*out
record cscope sh -c 'cd linux
    cscope -b -q -k
    for word in schedule page lock; do cscope -d -L -4 $word; cscope -d -L -3 $word; cscope -d -L -0 $word; done
    for name in do_exit kmalloc mutex_lock; do cscope -d -L -1 $name; cscope -d -L -3 $name; done'

rm -rf index && mkdir index
# shellcheck disable=SC2086 # a list of folders
record glimpse sh -c 'cd linux
    glimpseindex -o -B -H ../index "$@"
    for word in schedule page lock struct return page lock struct return; do glimpse -H ../index -y $word; done' - $sources

for object in $objects; do
    case $object in */) find "linux/$object" -name '*.o' -delete ;; *) rm -f "linux/$object" ;; esac
done
# shellcheck disable=SC2086 # a list of targets
record gcc make -s -C linux $objects

rm -f rows.db*
record sqlite sqlite3 rows.db "
    create table t(a integer primary key, b text, c integer);
    with recursive n(i) as (select 1 union all select i + 1 from n where i < $rows)
        insert into t select i, hex(i * 7919 % 104729) || hex(zeroblob(40)), i * 7919 % 104729 from n;
    create index tc on t(c);
    select count(*) from t where b like '%31%';
    select sum(length(b)) from t;
    with recursive n(i) as (select 1 union all select i + 1 from n where i < $rows / 20)
        select count((select b from t where c = i * 613 % 104729)) from n;
    update t set b = upper(b) where c % 50 = 7;"

# A server with its processes, and its clients. It does not run as root: here it believes to be somebody else.
postgres=/usr/lib/postgresql/15/bin other=
[ "$(id -u)" != 0 ] || other='unshare --user --map-user=65534 --map-group=65534'
rm -rf postgres && sockets=$(mktemp -d)
trap 'rm -rf "$sockets"' EXIT
$other $postgres/initdb -D postgres -N -A trust --wal-segsize=1 >log
# shellcheck disable=SC2086 # a list of words
record postgresql $other env PATH="$postgres:$PATH" PGHOST="$sockets" PGDATABASE=postgres sh -ec "
    pg_ctl start -D postgres -w -s -l postgres.log -o '-c listen_addresses= -c unix_socket_directories=$sockets \
        -c shared_buffers=1MB -c max_wal_size=4MB -c checkpoint_timeout=30s -c jit=off -c max_parallel_workers=0'
    pgbench -q -i -s $scale
    pgbench -n -S -t $((5 * transactions)) --random-seed=1
    pgbench -n -t $transactions --random-seed=1
    psql -q -c 'select sum(abalance) from pgbench_accounts' -c 'select count(*) from pgbench_accounts where filler > bid::text'
    pg_ctl stop -D postgres -w -s -m fast"

rm -rf rocks
record rocksdb db_bench --db=rocks --benchmarks=fillrandom,overwrite,readrandom,readseq --num="$keys" --reads=$((keys / 40)) \
    --value_size=400 --write_buffer_size=2097152 --target_file_size_base=2097152 --max_bytes_for_level_base=4194304 \
    --cache_size=65536 --compression_type=none --max_background_jobs=1 --use_direct_reads \
    --use_direct_io_for_flush_and_compaction --writable_file_max_buffer_size=32768 --seed=1

# Random reads and writes past the page cache, as in the paper: sync engine, direct, 4 KiB.
random="fio --name=random --filename=fio.dat --size=${fio}M --io_size=$((fio / 2))M --ioengine=sync --direct=1 --bs=4k --rw=randrw
    --randseed=1 --norandommap --thread"
$random --create_only=1 >log
for reads in 20 80; do
    # shellcheck disable=SC2086 # a list of words
    record fio-$reads $random --rwmixread=$reads
done
NANDLAB=$nandlab "$here/mix.sh" "$folder" "$folder"
