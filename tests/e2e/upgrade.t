#!/bin/bash
# Packages that come, change and go, in Debian 12 and 13: pip exchanges torch under them, apt upgrades
# them under a running process, remove and purge leave nothing; and the README's Dockerfile.
. "$(dirname "$0")/lib.sh"
. "$top/tests/e2e/root.sh"
. "$top/tests/e2e/gpu_root.sh"
lib=usr/lib/x86_64-linux-gnu/debkit

# binding OUT VALUE: an extension for the running Python's ABI tag that answers with VALUE.
binding() {
	gcc -shared -fPIC -DVALUE="$2" $(python3-config --includes) -o "$1" -x c - <<'C'
#include <Python.h>
static PyObject *answer(PyObject *self, PyObject *args) { return PyLong_FromLong(VALUE); }
static PyMethodDef methods[] = {{"answer", answer, METH_NOARGS, NULL}, {NULL}};
static PyModuleDef def = {PyModuleDef_HEAD_INIT, "causal_conv1d_cuda", NULL, -1, methods};
PyMODINIT_FUNC PyInit_causal_conv1d_cuda(void) { return PyModule_Create(&def); }
C
}
# real_debs OUT REVISION: the selector itself, its scripts, and bindings for 2.10 and 2.13.
real_debs() {
	local out=$1 revision=$2 v=1.7.0-$2 stage=$work/stage file
	gpu_debs "$out" "$revision"
	for file in python3-causal-conv1d_${v}_all python3-causal-conv1d-cu128_${v}_amd64; do
		rm -rf "$stage"
		dpkg-deb -R "$out/$file.deb" "$stage"
		case $file in
		*_all)
			cp "$top/templates/causal-conv1d/causal_conv1d_cuda.py" "$stage/usr/lib/debkit/python/"
			for s in postinst prerm; do
				install -m 755 "$top/templates/causal-conv1d/$s.python.in" "$stage/DEBIAN/$s"
			done ;;
		*)
			rm -r "$stage/$lib/causal-conv1d-cu128"/*
			for torch in 2.10 2.13; do
				cp "$work/binding-$torch-$revision.so" "$stage/$lib/causal-conv1d-cu128/torch$torch-$tag.so"
				printf 'File: torch%s-%s.so\nPython: %s\nTorch: %s\nCuda: 12.8\n\n' $torch "$tag" "$tag" $torch
			done >"$stage/$lib/causal-conv1d-cu128/bindings" ;;
		esac
		dpkg-deb --root-owner-group -Znone -b "$stage" "$out/$file.deb" >/dev/null
		"$DEBKIT" sign --sign-key "$fpr" "$out/$file.deb" >/dev/null
	done
}
publish() {
	"$DEBKIT" publish --repo "$work/repo" --suite stable --url "$url" --sign-key "$fpr" "$@" >/dev/null
}
answers() { # ROOT VALUE
	local said
	said=$(in_root "$1" /venv/bin/python -c 'import causal_conv1d_cuda as c; print(c.answer())') || return
	echo "$said"
	[ "$said" = "$2" ]
}
# Every file of the root, with its size, but for what apt and dpkg keep for themselves.
files() {
	(cd "$1" && find . -xdev \( -path ./proc -o -path ./dev -o -path ./tmp -o -path ./var/cache -o -path ./var/lib/apt \
		-o -path ./var/lib/dpkg -o -path ./var/log -o -path ./venv -o -path ./etc/ld.so.cache \) -prune -o \
		! -type d -printf '%p %s %l\n' -o -type d -printf '%p\n' | sort)
}

# The unit that podman makes of the README's file hands the GPU over and asks the doctor first.
quadlet() {
	mkdir -p "$root/etc/containers/systemd" "$root/podman"
	sed -n '/^```ini$/,/^```$/p' "$top/README.md" | grep -v '^```' >"$root/etc/containers/systemd/qwen.container"
	in_root "$root" sh -ec 'cd /podman && apt-get -o APT::Sandbox::User=root download podman && dpkg-deb -x podman_*.deb . &&
		usr/libexec/podman/quadlet -dryrun' | tee "$work/unit"
	rm -r "$root/podman" "$root/etc/containers"
	grep -qE '^ExecStart=.*podman run .*nvidia.com/gpu=all.* localhost/qwen:latest ' "$work/unit" &&
		grep -qE '^ExecStartPre=.*debkit doctor --venv /opt/venv' "$work/unit"
}

test_key
url_port
ok "debkit itself" env REPO_URL="$url" SIGN_KEY="$fpr" make -s -C "$top" deb OUT="$work/debs"
mkdir -p "$work/repo"
serve "$work/repo"
python=/usr/bin/python3
export PATH=/usr/bin:$PATH
tag=cp$("$python" -c 'import sys; print("%d%d" % sys.version_info[:2])')
for torch in 2.10 2.13; do
	for revision in 1 2; do
		ok "binding of $torch, revision $revision" binding "$work/binding-$torch-$revision.so" "${torch#2.}$revision"
	done
done
real_debs "$work/debs" 1
ok "published" publish "$work"/debs/*.deb

root=$work/bookworm
site=$root/venv/lib/python3.11/site-packages
ok "a clean Debian 12 root" make_root bookworm "$root"
in_root "$root" apt-get -qq -o Acquire::Languages=none update >/dev/null
ok "the libraries that debkit needs, so that they do not count below" in_root "$root" apt-get install -y -qq \
	--no-install-recommends libarchive13 libelf1 libssl3 python3-venv
in_root "$root" python3 -m venv --without-pip /venv
cp "$work/repo/debkit.sources" "$root/etc/apt/sources.list.d/"
ok "apt-get update" in_root "$root" apt-get -qq update
files "$root" >"$work/before"
ok "install" in_root "$root" apt-get install -y -qq debkit python3-causal-conv1d-cu128
ok "enable" in_root "$root" debkit enable --venv /venv

fake_torch "$site" 2.10.0+cu128 12.8
ok "torch 2.10: its binding" answers "$root" 101
fake_torch "$site" 2.13.0+cu128 12.8
ok "pip upgrades torch to 2.13: the other binding" answers "$root" 131
fake_torch "$site" 2.15.0+cu128 12.8
in_root "$root" /venv/bin/python -c 'import causal_conv1d_cuda' >"$work/import" 2>&1
ok "to 2.15: one sentence" sh -c "tail -n 1 '$work/import' | grep -qE \
	'^ImportError: causal_conv1d_cuda: torch 2.15.0.cu128 .* support torch 2.10 or 2.13 .*; type: pip install'"
in_root "$root" env LD_LIBRARY_PATH= debkit doctor --venv /venv >"$work/text" 2>/dev/null
ok "and debkit doctor says the same" grep -qE \
	'bad +packages .*torch 2.15.0.cu128 .*no binding: .* support torch 2.10 or 2.13 with CUDA 12.8' "$work/text"
fake_torch "$site" 2.10.0+cu128 12.8

mkfifo "$root/go"
in_root "$root" /venv/bin/python -c 'import causal_conv1d_cuda as c
print(c.answer(), flush=True)
for line in open("/go"): print(c.answer(), flush=True)' >"$work/running" 2>&1 &
process=$!
for _ in $(seq 100); do
	[ -s "$work/running" ] && break
	sleep 0.1
done
real_debs "$work/debs2" 2
ok "a new revision is published" publish "$work"/debs2/python3-causal*.deb
ok "apt-get upgrade takes it" sh -c "chroot '$root' apt-get -qq update &&
	chroot '$root' apt-get -y -qq --with-new-pkgs upgrade &&
	chroot '$root' dpkg-query -W python3-causal-conv1d-cu128 | grep -q 1.7.0-2"
echo again >"$root/go"
ok "the process that ran meanwhile goes on" wait "$process"
ok "with the code that it had" test "$(cat "$work/running")" = "101
101"
ok "a new process has the new one" answers "$root" 102
rm "$root/go"
ok "dpkg finds every file as packed" in_root "$root" dpkg --verify
ok "disable" in_root "$root" debkit disable --all
ok "nothing of it is left in the venv" sh -c "! find '$root/venv' -name 'debkit*' | grep ."
ok "remove" in_root "$root" apt-get remove -y -qq 'python3-causal-conv1d*' 'debkit*'
files "$root" >"$work/after"
ok "remove leaves nothing behind" diff "$work/before" "$work/after"
ok "purge" in_root "$root" apt-get purge -y -qq 'python3-causal-conv1d*' 'debkit*'
ok "nor purge, in dpkg's status" sh -c "! grep -A3 -E '^Package: (debkit|python3-causal)' '$root/var/lib/dpkg/status' |
	grep -v not-installed | grep '^Status'"
umount_root

# Debian 13, by the README's Dockerfile; torch itself is 900 MB and played by its files.
root=$work/trixie
sed -n '/^```Dockerfile$/,/^```$/s/^RUN //p' "$top/README.md" | sed "s|URL|$url|" >"$work/steps"
ok "the Dockerfile has its six steps" test "$(wc -l <"$work/steps")" = 6
ok "a clean Debian 13 root" make_root trixie "$root"
while IFS= read -r step; do
	case $step in
	*"pip install"*) fake_torch "$root/opt/venv/lib/python3.13/site-packages" 2.10.0+cu128 12.8 ;;
	*) ok "RUN $step" in_root "$root" sh -ec "$step" ;;
	esac
done <"$work/steps"
ok "podman's generator takes the README's quadlet" quadlet
ok "debkit status shows it enabled" sh -c "chroot '$root' debkit status | grep -Eq '^/opt/venv +venv +3.13 +2.10.0.cu128 .* yes '"
ok "debkit needs nothing that is missing" sh -c "! chroot '$root' ldd /usr/bin/debkit | grep 'not found'"
ok "debkit verify, with gpg" sh -c "
	chroot '$root' apt-get install -y -qq --no-install-recommends gnupg >/dev/null &&
	cp '$work'/debs/debkit_*.deb '$root/a.deb' &&
	'$DEBKIT' keys export --out '$root/key.gpg' '$fpr' 2>/dev/null
	[ -f '$root/key.gpg' ] || gpg --export '$fpr' >'$root/key.gpg'
	chroot '$root' debkit verify --keyring /key.gpg /a.deb | grep -q 'good, signed by $fpr'"
ok "remove there" in_root "$root" apt-get purge -y -qq 'python3-causal-conv1d*' 'debkit*'
ok "leaves nothing there either" sh -c "cd '$root' && ! find usr etc -path '*debkit*' ! -name debkit.sources | grep ."
done_testing
