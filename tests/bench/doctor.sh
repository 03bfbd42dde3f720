#!/bin/bash
# How long debkit doctor takes on a machine with N venvs (default 10), each with a torch, and with
# this machine's own apt lists and packages: the fastest, median and slowest of 21 runs, in ms.
set -eu
top=$(cd "$(dirname "$0")/../.." && pwd)
debkit=${DEBKIT:-$top/build/release/debkit}
n=${1:-10}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
for i in $(seq "$n"); do
	site=$work/v$i/lib/python3.11/site-packages
	mkdir -p "$site/torch" "$site/torch-2.10.0.dist-info" "$work/v$i/bin"
	echo 'home = /usr/bin' >"$work/v$i/pyvenv.cfg"
	ln -s /usr/bin/python3 "$work/v$i/bin/python"
	: >"$site/torch/__init__.py"
	printf "__version__ = '2.10.0+cu128'\ncuda = '12.8'\n" >"$site/torch/version.py"
	echo 'Name: torch' >"$site/torch-2.10.0.dist-info/METADATA"
	for k in $(seq 150); do mkdir "$site/package$k" "$site/package$k-1.dist-info"; done
done
export HOME=$work
[ "$("$debkit" status | grep -c "^$work/v")" = "$n" ]
for _ in $(seq 21); do
	start=$(date +%s%N)
	"$debkit" doctor >/dev/null 2>&1 || true
	echo $((($(date +%s%N) - start) / 10000))
done | sort -n | awk -v n="$n" '{ v[NR] = $1 / 100 }
	END { printf "debkit doctor, %d venvs: %.1f ms fastest, %.1f median, %.1f slowest\n", n, v[1], v[11], v[21] }'
