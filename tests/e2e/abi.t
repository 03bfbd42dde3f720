#!/bin/bash
# debkit abi: first against made-up torches that this test serves on 127.0.0.1, judged by nm; then
# against the real torches of the package index, judged by what was measured on them.
. "$(dirname "$0")/lib.sh"
golden=$top/tests/golden
export DEBKIT_CACHE=$work/cache
real=$work/golden-cp311.so

# Made-up torches

wheels=$work/wheels
made() {
	DEBKIT_TEMPLATES=$work/templates PIP_INDEX_URL=$url no_proxy='*' "$DEBKIT" abi "$@"
}

# library NAME FUNCTION...: a shared object that exports these; libtorch_cpu.so has 12 MB of noise
# between its names and its section headers.
library() {
	local name=$1
	shift
	printf 'int %s(void) { return 1; }\n' "$@" >lib.c
	[ "$name" = libtorch_cpu.so ] &&
		echo '__asm__(".section .noise,\"a\"; .incbin \"noise\"; .previous");' >>lib.c
	gcc -shared -fPIC -Wl,-soname,"$name" lib.c -o "torch/lib/$name"
}

# torch VERSION FUNCTION...: its wheel; the functions are of libtorch_cpu.so.
torch() (
	version=$1
	shift
	rm -rf "$work/torch" && mkdir -p "$work/torch/torch/lib" && cd "$work/torch" || exit
	head -c 12000000 /dev/urandom >noise
	library libc10.so _ZN3c101aEv _ZN3c101bEv
	library libtorch.so nothing
	library libtorch_cpu.so "$@"
	library libtorch_python.so THPVariable_Wrap
	library libother.so other
	echo x >torch/x.py
	python3 -m zipfile -c "$wheels/torch-$version-cp311-cp311-manylinux_2_28_x86_64.whl" torch/
	for l in libc10.so libtorch.so libtorch_cpu.so libtorch_python.so; do
		echo "library $l"
		nm -D --defined-only "torch/lib/$l" | awk '{print $3}' | LC_ALL=C sort
	done >"$work/names-$version"
)

# The hash that the lock must hold, as nm and sha256sum see it.
pin() {
	{
		echo "wheel torch-$1-cp311-cp311-manylinux_2_28_x86_64.whl"
		cat "$work/names-$1"
	} | sha256sum | cut -d' ' -f1
}

lock_entry() {
	local file=torch-$1-cp311-cp311-manylinux_2_28_x86_64.whl
	printf 'File: %s\nProject: torch\nSize: %s\nSha256: %064d\nExports-Sha256: %s\n\n' \
		"$file" "$(stat -c %s "$wheels/$file")" 0 "$2"
}

matrix_entry() {
	printf 'Torch: %s\nCuda: 12.8\nTriton: 1.0.0\nCxx: 17\nPython: 3.11\n\n' "$1"
}

make_made() {
	mkdir -p "$wheels" "$work/templates" && cp "$top"/templates/{archs,toolkits,suites,cpython} \
		"$work/templates" || return
	torch 1.0.0 _ZN2at3oldEv _ZN2at4bothEv && torch 1.1.0 _ZN2at4bothEv _ZN2at3newEv || return
	{ matrix_entry 1.0.0 && matrix_entry 1.1.0; } >"$work/templates/matrix"
	{ lock_entry 1.0.0 "$(pin 1.0.0)" && lock_entry 1.1.0 "$(pin 1.1.0)"; } \
		>"$work/templates/lock"
	cat >"$work/ext.c" <<-'EOF'
		int _ZN3c101aEv(void); int _ZN2at3oldEv(void); int _ZN2at4bothEv(void);
		int PyList_New(void); int kernel(void); int puts(const char *);
		int check(void) { return 1; }
		int go(void) { return _ZN3c101aEv() + _ZN2at3oldEv() + _ZN2at4bothEv() + PyList_New() +
			kernel() + puts("x"); }
	EOF
	echo 'int check(void); int kernel(void) { return check(); }' >"$work/kernel.c"
	gcc -shared -fPIC -Wl,-soname,libkernel.so.1 "$work/kernel.c" -o "$work/libkernel.so.1" &&
		gcc -shared -fPIC "$work/ext.c" -o "$work/torch1.0-cp311.so" "$work/libkernel.so.1"
}

serve() {
	serve_index "$wheels"
	url=$index/simple
}

tells() {
	made -q "$work/torch1.0-cp311.so" >"$work/report" &&
		grep -qx '  torch 1.0.0    CUDA 12.8  Python 3.11  complete' "$work/report" &&
		grep -qx '  torch 1.1.0    CUDA 12.8  Python 3.11  1 missing' "$work/report" &&
		grep -qx '  missing: at::old()' "$work/report" &&
		grep -qx '    of libtorch_cpu.so; on torch 1.1.0' "$work/report" &&
		grep -q '^  needs: GLIBC 2' "$work/report" && grep -q 'Debian 12' "$work/report"
}

# Of two wheels with 12 MB that do not compress, each side of that was asked for and no more.
cheap() {
	awk '/file/ {n += $1} END {print n; exit !(n > 0 && n < 4000000)}' "$work/log"
}

free_again() {
	: >"$work/log"
	made -q "$work/torch1.0-cp311.so" >/dev/null && [ ! -s "$work/log" ]
}

# What is in the cache and differs from the lock does not count.
heals() {
	local list=$DEBKIT_CACHE/abi/torch-1.0.0-cp311-cp311-manylinux_2_28_x86_64.gz
	gzip -dc "$list" | sed 's/_ZN2at3oldEv/_ZN2at3odd/' | gzip -n >"$work/list" &&
		cp "$work/list" "$list" && tells && ! cmp -s "$work/list" "$list"
}

# package TORCHES: a .deb of the binding that claims these.
package() {
	local dir=usr/lib/x86_64-linux-gnu/debkit/x-cu128
	rm -rf "$work/pkg" && mkdir -p "$work/pkg/DEBIAN" "$work/pkg/$dir" &&
		cp "$work"/{torch1.0-cp311.so,libkernel.so.1} "$work/pkg/$dir" &&
		printf 'File: torch1.0-cp311.so\nPython: cp311\nTorch: %s\nCuda: 12.8\n' "$1" \
			>"$work/pkg/$dir/bindings" &&
		printf '%s\n' 'Package: x-cu128' 'Version: 1' 'Architecture: amd64' 'Maintainer: t <t@x.invalid>' \
			'Description: x' >"$work/pkg/DEBIAN/control" &&
		dpkg-deb --root-owner-group -b "$work/pkg" "$work/x.deb" >/dev/null
}

honest() {
	package 1.0 && made -q "$work/x.deb" >"$work/report" &&
		[ "$(grep -c complete "$work/report")" = 2 ] && ! grep -q 1.1.0 "$work/report"
}

ok "torches are made up" make_made
serve
ok "complete on one, missing from the other, with the library" tells
ok "a binary of 12 MB costs its two ends" cheap
ok "the second time nothing is fetched" free_again
ok "a damaged list is fetched anew" heals
fails "a torch that is named must have it" 1 "lacks at::old\\(\\) \\(of libtorch_cpu.so\\)" \
	made -q "$work/torch1.0-cp311.so" --torch 1.1
ok "one that has it passes" made -q "$work/torch1.0-cp311.so" --torch 1.0
ok "a package that claims what is so" honest
package "1.0 1.1"
fails "a package that claims too much" 1 "x-cu128/torch1.0-cp311.so' lacks at::old" \
	made -q "$work/x.deb"
sed -i "s/$(pin 1.1.0)/$(pin 1.0.0)/" "$work/templates/lock"
rm -r "$DEBKIT_CACHE"
fails "a list that differs from the lock: both hashes" 3 \
	"torch-1.1.0-.* have SHA-256 $(pin 1.1.0), the lock says $(pin 1.0.0)" \
	made -q "$work/torch1.0-cp311.so" --torch 1.1
sed -i '/^Exports/d' "$work/templates/lock"
fails "a torch without exports in the lock" 3 "pins no exports of torch 1.0" \
	made -q "$work/torch1.0-cp311.so" --torch 1.0
kill "$server"
fails "an unknown torch" 2 "no torch '2.99' stands in templates/matrix" "$DEBKIT" abi \
	"$work/torch1.0-cp311.so" --torch 2.99
fails "an unknown Python" 2 "what Python '2.7' exports" "$DEBKIT" abi "$work/x.deb" --python 2.7
fails "a CUDA that no torch is for" 2 "no torch is known for CUDA '1.0'" "$DEBKIT" abi \
	"$work/x.deb" --cuda 1.0
fails "no shared object" 1 "'$work/ext.c': not an ELF file" "$DEBKIT" abi "$work/ext.c"
fails "no file" 1 "cannot read '/nowhere': No such file" "$DEBKIT" abi /nowhere
ok "a library that needs nothing of torch" eval \
	'"$DEBKIT" abi "$(gcc -print-file-name=libz.so)" | grep -q "needs nothing of torch: complete"'

# The real torches. The object calls what a real binding calls, and nothing else.

make_real() {
	{
		grep -v '^#' "$golden/abi.undefined" | sed 's/.*/.quad &/'
		echo '.section .note.GNU-stack,"",@progbits'
	} >"$work/real.s" && sed -i '1i .data' "$work/real.s" &&
		gcc -shared "$work/real.s" -o "$real" -nostdlib &&
		nm -D --undefined-only "$real" | awk '{print $2}' | LC_ALL=C sort |
		diff - <(grep -v '^#' "$golden/abi.undefined" | LC_ALL=C sort)
}

facts() {
	"$DEBKIT" abi "$real" --json >"$work/real.json" 2>"$work/cost" && python3 - "$work/real.json" \
		"$golden/abi.torches" <<-'EOF'
		import json, sys
		report = json.load(open(sys.argv[1]))[0]
		want, torch = {}, None
		for line in open(sys.argv[2]):
		    if line.startswith(" "):
		        want[torch].append(line.strip())
		    elif not line.startswith("#"):
		        torch = tuple(line.split(" CUDA "))
		        torch = torch[0], torch[1].strip()
		        want[torch] = []
		got = {(t["torch"], t["cuda"]): sorted(m["name"] for m in report["missing"]
		       if t["torch"] in m["torches"]) for t in report["torches"]}
		assert got == want, (got, want)
		for t in report["torches"]:
		    assert t["complete"] == (not want[t["torch"], t["cuda"]]), t
		    assert t["python"] == "3.11" and t["unjudged"] == 0, t
		homes = {m["name"].split("(")[0]: m["library"] for m in report["missing"]}
		assert homes["c10::cuda::c10_cuda_check_implementation"] == "libc10_cuda.so", homes
		assert homes["c10::impl::cow::materialize_cow_storage"] == "libc10.so", homes
	EOF
}

# One torch: names, as nm counts them in the unpacked libraries.
counts() {
	local list=$DEBKIT_CACHE/abi/torch-2.10.0-3-cp311-cp311-manylinux_2_28_x86_64.gz
	gzip -dc "$list" | awk '/^library/ {l = $2} !/^(library|wheel) / {n[l]++}
		END {for (l in n) print l, n[l]}' | LC_ALL=C sort >"$work/counts" &&
		printf '%s\n' 'libc10.so 1136' 'libc10_cuda.so 98' 'libtorch.so 182' \
			'libtorch_cpu.so 77791' 'libtorch_cuda.so 31805' 'libtorch_python.so 2547' |
		diff "$work/counts" - &&
		[ "$(gzip -dc "$list" | sha256sum | cut -d' ' -f1)" = "$(sed -n \
			'/^File: torch-2.10.0-3-cp311/,/^$/s/^Exports-Sha256: //p' "$top/templates/lock")" ]
}

cheap_real() {
	sed -n 's/.*torch-2\.10\.0-.*whl: \([0-9]*\) bytes in .*/\1/p' "$work/cost" |
		awk '{print} END {exit !(NR == 1 && $1 > 0 && $1 < 15000000)}'
}

without_index() {
	PIP_INDEX_URL=http://127.0.0.1:9/simple "$DEBKIT" abi "$real" --torch 2.10,2.11,2.12 >"$work/o" &&
		[ "$(grep -c complete "$work/o")" = 3 ]
}

ok "an object that calls what a binding of torch 2.10 calls" make_real
ok "complete on torch 2.10 to 2.12, and what it lacks on the six others" facts
ok "the exports of torch 2.10 are those that nm counts, under the pinned hash" counts
ok "they cost less than 15 MB" cheap_real
ok "from the cache, without an index" without_index
fails "on torch 2.13 it lacks one" 1 "lacks c10::impl::cow::materialize_cow_storage" \
	"$DEBKIT" abi "$real" --torch 2.13
done_testing
