#!/bin/bash
# debkit lock against a package index on loopback: exact files, hashes as Python and nm see them,
# and what it says when the index, the matrix and the lock disagree.
. "$(dirname "$0")/lib.sh"
unset PIP_CONFIG_FILE PIP_EXTRA_INDEX_URL
export no_proxy='*' DEBKIT_CACHE=$work/cache DEBKIT_TEMPLATES=$work/templates
wheels=$work/wheels templates=$work/templates lock=$work/templates/lock
mkdir "$wheels" "$templates"

echo 'int _ZN3c101aEv(void) { return 1; } int cudaMalloc(void) { return 2; }' |
	gcc -shared -fPIC -x c - -o "$work/lib.so"
wheel() { "$top/tests/data/lock_wheels.py" "$wheels" make "$@"; }
stanza() { "$top/tests/data/lock_wheels.py" "$wheels" stanza "$@"; }
torch() { echo "torch-$1-cp$2-cp$3-manylinux_2_28_x86_64.whl"; } # torch VERSION[-BUILD] PYTHON ABI

# Torch 1.0 for two Pythons with METADATA beside the wheels, 1.1 on another index, 1.2 for CUDA 13.0
# without METADATA alone; a part and the runtime of a toolkit; a source.
for py in 311 312; do
	wheel "$(torch 1.0.0 $py $py)" ==3.0.0
	unzip -p "$wheels/$(torch 1.0.0 $py $py)" '*/METADATA' >"$wheels/$(torch 1.0.0 $py $py).metadata"
done
wheel "$(torch 1.1.0+cu128 311 311)" ==3.1.0
wheel "$(torch 1.2.0 311 311)" "~=3.2.0"
part=demo_part-1.0-py3-none-manylinux2014_x86_64.manylinux_2_17_x86_64.whl
runtime=demo_runtime-12.8.90-py3-none-manylinux2014_x86_64.whl
wheel $part
wheel $runtime
echo source >"$wheels/demo_conv-1.2.3.tar.gz"
# What must not be taken: another ABI, machine, system, version, and what was yanked.
for other in "$(torch 1.0.0 311 311t)" torch-1.0.0-cp311-cp311-manylinux_2_28_aarch64.whl \
	torch-1.0.0-cp311-cp311-win_amd64.whl "$(torch 1.0.1 311 311)" "$(torch 1.0.0-9 312 312)"; do
	echo "none of it" >"$wheels/$other"
done
: >"$wheels/$(torch 1.0.0-9 312 312).yanked"

serve_index "$wheels"
url=$index
export PIP_INDEX_URL=$url/json

cp -r "$top/tests/data/templates/demo-conv" "$top"/templates/{archs,suites,cpython} "$templates/"
cat >"$work/matrix" <<END
Torch: 1.0.0
Cuda: 12.8
Triton: 3.0.0
Cxx: 17
Python: 3.11 3.12

Torch: 1.1.0
Cuda: 12.8
Triton: 3.1.0
Cxx: 17
Python: 3.11
Index: $url/html

Torch: 1.2.0
Cuda: 13.0
Triton: 3.2.0
Cxx: 17
Python: 3.11
END
cat >"$templates/toolkits" <<END
Cuda: 12.8
Route: clang
Runtime: demo-runtime 12.8.90
Parts: demo-part 1.0 include
END
matrix() { # matrix [SED-EXPRESSION]: as above, or changed
	sed -e "${1:-}" "$work/matrix" >"$templates/matrix"
}
expected() {
	stanza demo_conv-1.2.3.tar.gz demo-conv
	stanza "${1:-$(torch 1.0.0 311 311)}" torch
	stanza "$(torch 1.0.0 312 312)" torch
	stanza "$(torch 1.1.0+cu128 311 311)" torch "$url/html"
	stanza "$(torch 1.2.0 311 311)" torch
	stanza $part demo-part
	stanza $runtime demo-runtime
}
is_expected() { diff <(grep -v '^#' "$lock" | sed 1d) <(expected "$@" | sed '$d'); }
quiet() { "$DEBKIT" lock -q "$@"; }
says() { # says PATTERN COMMAND...: it succeeds, and what it says has a line like that
	local pattern=$1
	shift
	"$@" >"$work/said" 2>&1 && grep -qE -e "$pattern" "$work/said" || { cat "$work/said"; return 1; }
}
unchanged() { # unchanged COMMAND...: the lock keeps its bytes, whatever the command says
	cp "$lock" "$work/kept"
	"$@" >/dev/null 2>&1
	cmp "$lock" "$work/kept"
}

matrix
fails "a check without a lock" 1 'differs from the package index in 7 places' "$DEBKIT" lock --check
ok "and no lock is written" test ! -e "$lock"
ok "a lock is made from nothing" says "^added $part\$" quiet
ok "it is what Python and nm see" is_expected
ok "no wheel was read whole" awk '/\/file\/.*whl$/ && $1 > 1000000 { bad = 1 } END { exit bad }' "$work/log"
: >"$work/log"
ok "a second time nothing differs" says '7 files, 0 differences' "$DEBKIT" lock
ok "and no RECORD is read again" sh -c "test -f '$work/log' && ! grep -E '/file/.*(1.0.0|cu128|demo).*whl\$' '$work/log' | grep -v 1.1.0"
ok "the check passes" says '0 differences' "$DEBKIT" lock --check
ok "no byte changes" unchanged quiet

wheel "$(torch 1.0.0-1 311 311)" ==3.0.0
wheel "$(torch 1.0.0-2 311 311)" ==3.0.0
wheel "$(torch 1.0.0-10 311 311)" ==3.0.0
fails "a newer build tag is a difference" 1 'differs .* in 2 places: run debkit lock' "$DEBKIT" lock --check
ok "which is named" grep -qx "added $(torch 1.0.0-10 311 311)" "$work/.out"
ok "with what it replaces" grep -qx "removed $(torch 1.0.0 311 311)" "$work/.out"
ok "a check writes nothing" unchanged quiet --check
ok "another CUDA's files stay when one is named" unchanged quiet --cuda 13.0
ok "the newest build tag is taken, by number" quiet --cuda 12.8
ok "and hashed" is_expected "$(torch 1.0.0-10 311 311)"
rm "$wheels"/torch-1.0.0-{1,2,10}-*
ok "back to the first" quiet

wheel demo_part-1.0-py3-none-manylinux2014_x86_64.zz_x86_64.whl
ok "of two files of one build the pinned one stays" unchanged quiet
rm "$wheels"/demo_part*zz*
sed -i "/^File: $part/,/^\$/{s/^Sha256: ..../Sha256: 0000/;s/^Record-Sha256: ..../Record-Sha256: 0000/}" "$lock"
ok "a changed file is told with both hashes" says "^changed $part: Sha256 0000.*, now [0-9a-f]{64}" quiet
ok "and read anew" is_expected

printf '\nFile: other-1.whl\nProject: other\nSize: 1\nSha256: %064d\n' 0 >>"$lock"
printf '\nFile: torch-0.9.0-cp311-cp311-manylinux_2_28_x86_64.whl\nProject: torch\nSize: 1\nSha256: %064d\n' 0 >>"$lock"
ok "a torch that the matrix does not name goes" says '^removed torch-0.9.0' quiet
ok "a project that the templates do not name stays" grep -q '^File: other-1.whl' "$lock"
sed -i '/^File: other-1.whl/,$d' "$lock" && sed -i '${/^$/d}' "$lock"

matrix 's,^Index: .*,Index: http://127.0.0.1:1/whl,'
ok "an index of the matrix that cannot be reached is a warning" says 'warning: cannot read http://127.0.0.1:1/whl' quiet
ok "in one line" test "$(grep -c warning "$work/said")" = 1
ok "and its stanzas stay" is_expected
matrix
fails "the machine's own index must answer" 1 '127.0.0.1:1' env PIP_INDEX_URL=http://127.0.0.1:1/ "$DEBKIT" lock
fails "an index without hashes" 3 "no SHA-256 of 'demo_conv" env PIP_INDEX_URL="$url/simple" "$DEBKIT" lock
ok "neither changes a byte" is_expected
ok "an index in HTML will do" unchanged env PIP_INDEX_URL="$url/html" "$DEBKIT" lock

matrix 's/^Triton: 3.0.0/Triton: 3.0.1/;s/^Triton: 3.2.0/Triton: 3.1.9/'
fails "another Triton than METADATA says" 1 '2 lines of the templates .*left as it is' "$DEBKIT" lock
ok "is told with line and file" grep -qE "matrix:1: torch 1.0.0 has Triton 3.0.1, METADATA of 'torch-1.0.0.*' says ==3.0.0" "$work/.err"
ok "also where METADATA is in the wheel alone" grep -qE "matrix:14: .* 3.1.9, .*'torch-1.2.0.*' says ~=3.2.0" "$work/.err"
ok "and nothing is written" is_expected
matrix 's/^Triton: 3.2.0/Triton: 3.2.7/'
ok "a later patch of a Triton that may vary is right" quiet
matrix 's/^Python: 3.11 3.12/& 3.13/'
fails "a Python without a wheel" 1 '1 lines of the templates' "$DEBKIT" lock
ok "is told with its line" grep -q 'matrix:1: torch 1.0.0 for CUDA 12.8 has Python 3.13' "$work/.err"
matrix
wheel "$(torch 1.2.0 315 315)" "~=3.2.0"
ok "a Python that the matrix lacks is told" says 'matrix:14: the index has torch 1.2.0 for Python 3.15 too' quiet
echo 'Torc: 1' >"$templates/matrix"
fails "a matrix with a typo" 1 "matrix:1: found unknown field 'Torc'" "$DEBKIT" lock
matrix
fails "an unknown CUDA" 2 "known are: 12.8 13.0" "$DEBKIT" lock --cuda 11.1

# What is fetched must be announced as it is pinned.
echo 'int _ZN3c101aEv(void); int go(void) { return _ZN3c101aEv(); }' | gcc -shared -fPIC -x c - -o "$work/ext.so"
printf 'a%.0s' $(seq 64) >"$wheels/$(torch 1.0.0 311 311).sha256"
fails "a wheel that the index announces with another hash" 3 \
	"announces 'torch-1.0.0.*' with SHA-256 a{64}, the lock pins [0-9a-f]{64}" \
	"$DEBKIT" abi -q --torch 1.0 --python 3.11 "$work/ext.so"
done_testing
