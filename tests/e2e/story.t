#!/bin/bash
# The story: a container with a real torch 2.10.0 and transformers, no nvcc, no repository, a GPU of
# capability 12.0, and a model that is slow. The README's Proxmox lines are executed (pct is played by
# chroot), then every line that debkit doctor prints, as it stands, until it prints none.
. "$(dirname "$0")/lib.sh"
. "$top/tests/e2e/root.sh"
. "$top/tests/e2e/gpu_root.sh"
root=$work/root
site=$root/opt/venv/lib/python3.11/site-packages
umount_all() { umount "$root/proc/driver" "$root/proc/devices" 2>/dev/null; umount_root; }

pct() { # push 101 FROM TO | exec 101 -- COMMAND...
	case $1 in
	push) cp "$3" "$root$4" ;;
	exec) shift 3; with_gpu "$root" "$@" ;;
	esac
}
doctor() { # OPTION...: the text in $work/text
	pct exec 101 -- debkit doctor "$@" >"$work/text" 2>"$work/err"
}
says() { grep -E -e "$1" "$work/text" || { cat "$work/text"; return 1; }; }
type_lines() { # each line for the container, as it was printed
	sed -n 's/^ *type: //p' "$work/text" >"$work/lines"
	[ -s "$work/lines" ] || return 1
	while IFS= read -r line; do
		echo "# typed: $line" >&3
		pct exec 101 -- sh -ec "$line" </dev/null || return 1
	done <"$work/lines"
}

test_key
url_port
ok "debkit builds its packages" "$DEBKIT" build --cuda 12.8 --torch 2.10 --python 3.11 --arch 9.0 \
	--sign-key "$fpr" --repo-url "$url" --out "$work/out"
ok "and its own" env REPO_URL="$url" SIGN_KEY="$fpr" make -s -C "$top" deb OUT="$work/out"
fla_debs "$work/out"
ok "and publishes them" sh -c "'$DEBKIT' publish --repo '$work/repo' --suite stable --url '$url' \
	--sign-key '$fpr' '$work'/out/*.deb"
serve "$work/repo"
trap 'kill "$server" 2>/dev/null; umount_all; cleanup' EXIT

ok "a clean Debian 12 root" make_root bookworm "$root"
mkdir -p "$root/run/systemd"
echo lxc >"$root/run/systemd/container"
ok "a venv" in_root "$root" python3 -m venv --without-pip /opt/venv
ok "torch 2.10.0+cu128 in it" install_torch 2.10.0 "$site"
ok "transformers 5.2.0 in it" install_transformers 5.2.0 "$site"
ok "a GPU that is a stub" "$top/tests/gpu/make.sh" "$work/stub" "$site/torch"
gpu_on "$root"
mkdir "$root/stub"
cp "$work"/stub/libcudart.so.* "$root/stub/"
gpu="LD_PRELOAD=/stub/libcudart.so.12 LD_LIBRARY_PATH=/stub"

# The README's page, with this container and this package.
cp "$work"/out/debkit_*.deb "$work/debkit.deb"
sed -n '/^### In a Proxmox container/,/^### /s/^    \(pct .*\)/\1/p' "$top/README.md" >"$work/page"
page() { (cd "$work" && eval "$(sed -n "$1p" page)" >text 2>err); }
ok "the page has its five lines" test "$(wc -l <"$work/page")" = 5
for i in 1 2 3; do ok "$(sed -n "${i}p" "$work/page")" page $i; done
page_fails() { ! page "$1" && grep -q '^debkit: error: 3 findings are bad' "$work/err"; }
ok "$(sed -n 4p "$work/page")" page_fails 4
ok "it says: no repository" says "bad +apt .*no source of apt names the repository $url"
ok "it says: the package is missing, so the model is slow" says "bad +packages .*cu128 is not installed.*slow path"
ok "it says: the venv does not see it" says "bad +python .*does not see"
ok "it says: FLA is missing" says "fla +/opt/venv: flash-linear-attention is not here"
ok "it says: the GPU is of 12.0" says "good +gpu .*RTX 5090, compute capability 12.0"
ok "it says: torch and its CUDA" says "good +torch +/opt/venv: torch 2.10.0.cu128 for CUDA 12.8, Triton 3.6.0"
ok "it says: no nvcc, not needed" says "good +compiler +no nvcc.*not needed"
ok "it says: LXC" says "good +system +Debian GNU/Linux 12.*LXC"

exec 3>&1
for round in 1 2 3 4; do
	doctor && break
	ok "round $round: its lines, as they stand" type_lines
done
ok "then all is good" doctor
ok "nothing bad, nothing doubtful" says "^0 bad, 0 to be looked at"
ok "it took at most three rounds" test "$round" -le 4
ok "$(sed -n 5p "$work/page")" page 5
for model in Qwen3.5 Qwen3-Next; do
	for function in causal_conv1d_fn causal_conv1d_update chunk_gated_delta_rule fused_recurrent_gated_delta_rule; do
		ok "$model: $function is fast" says "good +deep +/opt/venv: $model, transformers 5.2.0: $function is fast, /usr/lib/debkit/python/"
	done
done
ok "the extension is the package's" says "causal_conv1d_cuda is '/usr/lib/x86_64-linux-gnu/debkit/causal-conv1d-cu128/torch2.10-cp311.so'"
ok "nothing was compiled: there is no compiler" no_compiler "$root"

# The newest transformers asks no gate and swallows what goes wrong at import.
mkdir "$root/newest"
ok "transformers 5.24.0" install_transformers 5.24.0 "$root/newest"
gpu="$gpu PYTHONPATH=/newest" doctor --deep
for function in causal_conv1d_fn causal_conv1d_update chunk_gated_delta_rule fused_recurrent_gated_delta_rule; do
	ok "Qwen3.5 of transformers 5.24.0: $function is fast" says \
		"good +deep +/opt/venv: Qwen3.5, transformers 5.24.0: $function is fast, /usr/lib/debkit/python/"
done

# And backwards: what is taken away is missed.
in_root "$root" debkit disable --venv /opt/venv 2>/dev/null
doctor --deep
ok "without the line in the venv: the slow fallback, and why" says \
	"bad +deep .*Qwen3-Next.*chunk_gated_delta_rule is the slow fallback: ModuleNotFoundError"
done_testing
