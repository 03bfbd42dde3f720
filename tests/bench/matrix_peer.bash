# Part of matrix.sh: one cell of causal-conv1d as upstream builds it.

# peer_torch_install VENV PYTHON-PROGRAM: that torch in a venv in build/bench/peer, made once; the
# bytes of the wheels that pip downloads for it in the file `bytes`: torch, NVIDIA's, others.
peer_torch_install() {
	local venv=$1 wheels=$1.wheels
	[ ! -f "$venv/bytes" ] || return 0
	rm -rf "$venv" "$wheels"
	echo "upstream: installing torch $torch for Python $p1, once, in '$venv'"
	measure venv "$2" -m venv "$venv"
	measure pip "$venv/bin/python" -m pip install --upgrade pip setuptools wheel packaging ninja
	measure download "$venv/bin/python" -m pip download --no-cache-dir -d "$wheels" "torch==$torch"
	measure install "$venv/bin/python" -m pip install --no-index --no-cache-dir \
		--find-links "$wheels" "torch==$torch"
	find "$wheels" -type f -printf '%f %s\n' | awk '{ k = $1 ~ /^torch-/ ? 1 : $1 ~ /^(nvidia|cuda)/ ? 2 : 3
		n[k] += $2 } END { printf "%d %d %d\n", n[1], n[2], n[3] }' >"$dir/bytes"
	rm -rf "$wheels"
	mv "$dir/bytes" "$venv/bytes"
}

# peer_source DIR: the same sdist, unpacked; setup.py holds a list of archs that no setting changes,
# so that list is replaced in this copy.
peer_source() {
	local words
	check_pin
	mkdir "$1" && tar -xf "$sdist" -C "$1" --strip-components=1 --no-same-owner ||
		die "cannot unpack '$sdist'"
	words=$(printf '"%s", ' $gencode)
	sed -i -e '/cc_flag.append("-gencode")/d' -e '/cc_flag.append("arch=compute/d' \
		-e '/if bare_metal_version >= Version/d' \
		-e "s/^        # Check, if CUDA11 is.*/        cc_flag += [${words%, }]/" "$1/setup.py"
	[ "$(grep -c gencode "$1/setup.py")" = 1 ] && ! grep -q 'compute_103' "$1/setup.py" ||
		die "'$1/setup.py' is not the setup.py that this bench knows how to reduce"
}

# The cell. Sets peer_cpu, peer_wall and the bytes peer_torch, peer_nvidia, peer_other.
peer_cell() {
	local python=python$p1 home="" each venv=$top/build/bench/peer/torch-$torch-python$p1
	"$python" -c '' 2>/dev/null || { [ "$p1" = "$own" ] && python=python3; } ||
		die "upstream's cell is left out: no program 'python$p1'; name another Python with PYTHON="
	for each in "${CUDA_HOME:-}" "/usr/local/cuda-$cuda" /usr/local/cuda; do
		[ -n "$each" ] && "$each/bin/nvcc" --version 2>/dev/null | grep -q "release $cuda," &&
			home=$each && break
	done
	[ -n "$home" ] && [ -n "$gencode" ] ||
		die "upstream's cell is left out: no nvcc of CUDA $cuda is installed that both could use"
	mkdir -p "$top/build/bench/peer"
	peer_torch_install "$venv" "$(command -v "$python")"
	[ "$("$venv/bin/python" -W ignore -c 'import torch; print(torch.version.cuda)')" = "$cuda" ] ||
		die "torch $torch of this index is not made for CUDA $cuda"
	peer_source "$dir/peer"
	measure peer env CUDA_HOME="$home" PATH="$venv/bin:$home/bin:$PATH" MAX_JOBS="$(nproc)" \
		CAUSAL_CONV1D_FORCE_BUILD=TRUE "$venv/bin/python" -m pip wheel -v --no-build-isolation \
		--no-deps --no-cache-dir -w "$dir/wheel" "$dir/peer"
	peer_cpu=$cpu peer_wall=$wall
	measure wheel "$venv/bin/python" -m zipfile -l "$dir"/wheel/*.whl
	grep -q 'causal_conv1d_cuda.*\.so' "$dir/wheel.log" || die "upstream's wheel holds no .so"
	read -r peer_torch peer_nvidia peer_other <"$venv/bytes"
}
