#!/bin/bash
# run.sh JOBS PROGRAM...: runs unit tests, so many at once, and prints what each said, whole. Exits with
# 1 if one failed, which are named at the end. Each program may also be run alone.
set -u
jobs=$1
shift
logs=$(mktemp -d "${TMPDIR:-/tmp}/debkit-units.XXXXXX")
trap 'rm -rf "$logs"' EXIT
export logs
printf '%s\0' "$@" | xargs -0 -P "$jobs" -n 1 bash -c '
	name=${1##*/}
	"$1" >"$logs/$name" 2>&1 || echo "$name ($?)" >"$logs/$name.failed"' run
failed=0
for program; do
	name=${program##*/}
	cat "$logs/$name"
done
for log in "$logs"/*.failed; do
	[ -e "$log" ] || continue
	[ $failed = 1 ] || echo "unit tests that failed:"
	sed 's/^/  /' "$log"
	failed=1
done
exit $failed
