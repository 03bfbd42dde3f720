#!/bin/bash
# The headers of torch 2.10.0 from this machine's own package index: what they cost, and whether
# Python agrees with every byte.
. "$(dirname "$0")/lib.sh"

most=15000000 # bytes for one torch
file=$(sed -n 's/^File: \(torch-2\.10\.0-.*-cp311-cp311-.*\)/\1/p' "$top/templates/lock")
field() {
	sed -n "/^File: $file\$/,/^\$/s/^$1: //p" "$top/templates/lock"
}
record=$(field Record-Sha256)

build_program() {
	local libs
	libs=$(pkg-config --libs libarchive libcurl jansson libcrypto) &&
		# shellcheck disable=SC2086
		${CC:-cc} -std=gnu11 -D_GNU_SOURCE "$top/tests/e2e/sdk_fetch.c" \
			"${DEBKIT%/*}/libdebkit.a" $libs -o "$work/sdk_fetch"
}

fetch() {
	"$work/sdk_fetch" "$file" "$record" 12.8 "$work/sdk" >"$work/cost"
}

cheap() {
	read -r requests bytes wheel <"$work/cost" &&
		[ "$bytes" -gt 0 ] && [ "$bytes" -le $most ] && [ "$requests" -le 12 ] &&
		[ "$wheel" = "$(field Size)" ]
}

free() {
	fetch && read -r requests bytes wheel <"$work/cost" &&
		[ "$requests" = 0 ] && [ "$bytes" = 0 ] && [ "$wheel" = "$(field Size)" ]
}

# RECORD has the pinned hash; the files are exactly the headers that it names, with its hashes.
python_agrees() {
	python3 - "$work/sdk" "$record" <<'EOF'
import base64, csv, hashlib, os, sys
top, pin = sys.argv[1:]
info = "torch-2.10.0.dist-info"
text = open(f"{top}/{info}/RECORD", "rb").read()
assert hashlib.sha256(text).hexdigest() == pin, "RECORD is not the pinned one"
named = {path: (digest, size) for path, digest, size in csv.reader(text.decode().splitlines())}
wanted = {p for p in named if p.startswith("torch/include/")}
wanted |= {"torch/version.py", f"{info}/METADATA", f"{info}/RECORD"}
found = set()
for folder, _, names in os.walk(top):
    found |= {os.path.relpath(os.path.join(folder, n), top) for n in names}
found.remove(".debkit-sdk")
assert found == wanted, sorted(found ^ wanted)[:5]
for path in wanted - {f"{info}/RECORD"}:
    data = open(f"{top}/{path}", "rb").read()
    digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
    assert named[path] == ("sha256=" + digest, str(len(data))), path
print(len(wanted), "files")
EOF
}

compiles() {
	printf '#include <ATen/core/TensorBase.h>\n#include <c10/core/Device.h>\n' >"$work/t.cpp"
	g++ -std=c++17 -fsyntax-only -I"$work/sdk/torch/include" \
		-I"$work/sdk/torch/include/torch/csrc/api/include" "$work/t.cpp"
}

ok "the lock pins torch 2.10.0 for CPython 3.11" test -n "$record"
ok "the program of this test builds" build_program
ok "the headers of torch 2.10.0 are fetched" fetch
ok "they cost at most $most bytes and 12 requests" cheap
echo "# torch 2.10.0: $(cut -d' ' -f1 "$work/cost") requests, $(cut -d' ' -f2 "$work/cost") bytes" \
	"of a wheel of $(cut -d' ' -f3 "$work/cost")"
ok "Python agrees with every file" python_agrees
ok "a compiler reads them" compiles
ok "a second run asks for nothing" free
fails "another pin is refused" 3 'its RECORD has SHA-256 .*, expected 0{64}' \
	"$work/sdk_fetch" "$file" "$(printf %064d 0)" 12.8 "$work/other"
ok "and nothing is left of it" test ! -e "$work/other" -a ! -e "$work/other.new"

# The same program against a small torch on this machine, with each of its writes failing in turn.
coproc liar { exec python3 -B "$top/tests/data/liar.py"; }
read -r port honest <&"${liar[0]}"
small=torch-1.0.0-cp311-cp311-manylinux_2_28_x86_64.whl
near() {
	no_proxy='*' PIP_INDEX_URL=http://127.0.0.1:$port/honest.1/simple \
		"$work/sdk_fetch" "$small" "$honest" 12.8 "$work/near/sdk"
}

full_disk() {
	local i
	for ((i = 1; i < 100; i++)); do
		rm -rf "$work/near" && mkdir "$work/near" || return
		DEBKIT_FAULT=$i:ENOSPC near 2>"$work/why" && break
		[ "$(wc -l <"$work/why")" = 1 ] && grep -q ': No space left on device$' "$work/why" ||
			return
		[ -z "$(ls -A "$work/near")" ] || { ls -AR "$work/near" && return 1; }
	done
	echo "$i writes failed in turn"
	[ "$i" -gt 15 ] && [ "$i" -lt 100 ]
}

killed() {
	local i
	for ((i = 1; i < 100; i++)); do
		rm -rf "$work/near" && mkdir "$work/near" || return
		DEBKIT_FAULT=$i:kill near 2>/dev/null && break
		[ ! -e "$work/near/sdk" ] || [ -e "$work/near/sdk/.debkit-sdk" ] || return
		near && [ "$(ls -A "$work/near")" = sdk ] || return
	done
	echo "killed $i times"
	[ "$i" -gt 15 ] && [ "$i" -lt 100 ]
}

ok "a full disk is one line, and nothing is left" full_disk
ok "what a kill leaves is complete or goes away with the next run" killed
done_testing
