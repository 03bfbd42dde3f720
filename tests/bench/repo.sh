#!/bin/bash
# repo.sh [N...]: publishes N small packages (1000, 10000 and 50000) with debkit and with the
# programs that others use, in one run on this machine, and prints one table: first publish, one
# package more, the same again, one removed. Each figure is the median of RUNS (3).
# PEERS="reprepro aptly apt-ftparchive" can be shortened. BENCH_DIR holds debs between runs.
set -eu
top=$(cd "$(dirname "$0")/../.." && pwd)
missing=
for program in gpg reprepro aptly apt-ftparchive; do
	command -v $program >/dev/null || [[ " ${PEERS-$program} " != *" $program "* ]] || missing+=" $program"
done
if [ -n "$missing" ]; then
	echo "repo.sh:$missing not found: apt-get install reprepro aptly apt-utils gnupg" >&2
	exit 1
fi
exec python3 "$top/tests/bench/repo_bench.py" "${DEBKIT:-$top/build/release/debkit}" "$@"
