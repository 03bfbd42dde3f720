#!/bin/sh
# run.sh SECONDS FUZZER...: runs each fuzzer for so long, from tests/fuzz/corpus/NAME with
# tests/fuzz/NAME.dict if there is one; with FUZZ_SEED=N in the same order each time. What it finds
# is kept beside it, in NAME.corpus and, for an input that fails, NAME.fail-*.
set -u
seconds=$1
shift
top=$(dirname "$0")
failed=0
for fuzzer; do
	name=${fuzzer##*/fuzz_}
	found=${fuzzer%/*}/$name
	seeds=$top/corpus/$name
	log=$found.log
	mkdir -p "$found.corpus"
	if [ -z "$(ls -A "$seeds" 2>/dev/null)" ]; then
		echo "fuzz $name: no seeds in $seeds"
		failed=1
		continue
	fi
	dict=
	[ ! -f "$top/$name.dict" ] || dict=-dict=$top/$name.dict
	if "$fuzzer" -max_total_time="$seconds" ${FUZZ_SEED:+-seed="$FUZZ_SEED"} \
		-rss_limit_mb=2048 -malloc_limit_mb=1024 -timeout=10 -artifact_prefix="$found.fail-" ${dict:+"$dict"} \
		"$found.corpus" "$seeds" >"$log" 2>&1; then
		echo "fuzz $name: $(sed -n 's/^Done \([0-9]* runs in [0-9]* second(s)\)/\1/p' "$log")"
	else
		echo "fuzz $name: FAILED, see $log"
		tail -n 40 "$log"
		failed=1
	fi
done
exit $failed
