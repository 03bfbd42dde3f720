#!/bin/bash
# debkit doctor in a clean Debian 12 root, in states made for real: each test names every finding that
# is not good, so that a false alarm fails as a missed one does.
. "$(dirname "$0")/lib.sh"
. "$top/tests/e2e/root.sh"
. "$top/tests/e2e/gpu_root.sh"
root=$work/root
site=$root/venv/lib/python3.11/site-packages
lib=$root/usr/lib/x86_64-linux-gnu
umount_all() { umount "$root/proc/driver" "$root/proc/devices" "$root/tmp" 2>/dev/null; umount_root; }

# doctor [OPTION...]: the report as JSON in $work/report; its exit status must fit its grade.
doctor() {
	local status=0 grade
	with_gpu "$root" debkit doctor --json "$@" >"$work/report" 2>"$work/err" || status=$?
	grade=$(sed -n 's/^  "grade": "\(.*\)",$/\1/p' "$work/report")
	[ "$status" = "$([ "$grade" = bad ] && echo 1 || echo 0)" ] || { cat "$work/err"; return 1; }
}
judged() { # OPTION... -- WANTED REGEX [LINE]
	local options=()
	while [ "$1" != -- ]; do options+=("$1"); shift; done
	shift
	doctor "${options[@]}" && python3 "$top/tests/e2e/findings.py" "$work/report" "$@"
}
state() { # DESCRIPTION WANTED REGEX [LINE]
	local what=$1
	shift
	ok "$what" judged --venv /venv -- "$@"
}
# The line that the last report names with this id is typed as it stands.
typed() { # DESCRIPTION ID
	local line
	line=$(python3 -c 'import json, sys
print(next(f["type"] for f in json.load(open(sys.argv[1]))["findings"] if f["id"] == sys.argv[2] and f["type"]))' \
		"$work/report" "$2")
	ok "$1: $line" in_root "$root" sh -ec "$line"
}

test_key
url_port
ok "the package of debkit itself" env REPO_URL="$url" SIGN_KEY="$fpr" make -s -C "$top" deb OUT="$work/debs"
gpu_debs "$work/debs"
fla_debs "$work/debs"
ok "published with the others" sh -c "'$DEBKIT' publish --repo '$work/repo' --suite stable \
	--url '$url' --sign-key '$fpr' '$work'/debs/*.deb"
ok "the stub GPU" "$top/tests/gpu/make.sh" "$work/stub"
serve "$work/repo"
trap 'kill "$server" 2>/dev/null; umount_all; cleanup' EXIT
ok "a clean Debian 12 root" make_root bookworm "$root"
ok "its apt is up to date" in_root "$root" apt-get -o Acquire::Languages=none update
cp "$work"/debs/debkit_*.deb "$root/debkit.deb"
ok "debkit installs there" in_root "$root" apt-get install -y --no-install-recommends /debkit.deb
ok "without a compiler" no_compiler "$root"
ok "a build command names its package" sh -c "
	chroot '$root' debkit build 2>&1 | grep -q 'apt-get install debkit-build'"

# From nothing to good, by the lines that are printed.
ok "nothing: Python without torch" judged -- "bad:torch.absent bad:driver.module" "has no torch" \
	"python3.11 -m venv /opt/venv && /opt/venv/bin/pip install .* && debkit enable --venv /opt/venv"
ok "a venv" in_root "$root" python3 -m venv --without-pip /venv
fake_torch "$site" 2.10.0+cu128 12.8
gpu_on "$root"
state "no repository" \
	"bad:apt.source bad:packages.missing bad:python.enabled warning:fla.missing" \
	"names the repository $url" "/usr/lib/apt/apt-helper download-file $url/debkit.sources .* && apt-get update"
typed "its line" apt.source
state "not installed" "bad:packages.missing bad:python.enabled" "cu128 is not installed, version 1.7.0-1" \
	"apt-get install -y python3-gated-deltanet-cu128"
typed "its line" packages.missing
state "the venv does not see it" bad:python.enabled "does not see" "debkit enable --venv /venv"
typed "its line" python.enabled
state "all good" good "torch2.10-cp311.so of causal-conv1d-cu128 would be loaded"
state "the GPU is named" good "RTX 5090, compute capability 12.0"
state "what pip would have met: no nvcc" good "bare_metal_version; not needed with the debs"
state "what Triton would have met: no gcc, no Python.h" good "no gcc and no Python.h: .*not needed"
ok "as a user without rights" in_root "$root" setpriv --reuid 65534 --regid 65534 --clear-groups \
	env HOME=/tmp STUB_GPU_CC=12.0 debkit doctor --venv /venv
ok "plain text in a pipe" sh -c "chroot '$root' env STUB_GPU_CC=12.0 debkit doctor | grep -q '^good ' &&
	! chroot '$root' debkit doctor | grep -q \$(printf '\\033')"
ok "the Python alone: the same" judged --python /venv/bin/python -- good "would be loaded"
ok "no choice given: the one with torch counts" judged -- good "would be loaded"
reads_what_it_says() { # libraries, and what they read when they are loaded, stand outside
	strace -f -e trace=execve,openat -o "$work/trace" chroot "$root" /usr/bin/env -i HOME=/root \
		/usr/bin/debkit doctor --explain >"$work/text"
	sed -n '/^read:/,$s/^  //p' "$work/text" | sort >"$work/listed"
	awk -v m="$(head -1 "$work/trace" | cut -d' ' -f1)" '/execve\("\/usr\/bin\/debkit"/ { on = 1 } on && $1 == m' "$work/trace" |
		grep -v ' = -1 ' | sed -n 's/.*openat(AT_FDCWD, "\([^"]*\)".*/\1/p' | sort -u |
		comm -23 - "$work/listed" | grep -vE '\.so|^/(proc/self/cgroup|sys/fs/cgroup/.*|dev/null|usr/lib/ssl/.*|usr/lib/locale/.*)$' \
		>"$work/unsaid"
	cat "$work/unsaid"
	[ "$(wc -l <"$work/listed")" -gt 10 ] && [ ! -s "$work/unsaid" ]
}
ok "it reads what it says, and nothing else" reads_what_it_says

# Python and torch.
fake_torch "$site" 2.13.0+cu128 12.8
state "a torch that no binding fits" bad:packages.pair "torch 2.13.0.cu128 .* 2.10, 2.11 or 2.12 with CUDA 12.8" \
	'/venv/bin/python -m pip install "torch==2.10.\*" --index-url https://download.pytorch.org/whl/cu128'
fake_torch "$site" 2.11.0 13.0
state "another CUDA" "bad:packages.missing bad:driver.floor" "too old for CUDA 13.0 .* 580.65.06 or newer" \
	'/venv/bin/python -m pip install --force-reinstall "torch==2.11.\*" --index-url .*/cu128'
fake_torch "$site" 2.7.1+cu126 12.6
state "a torch without the GPU's arch" "bad:gpu.torch bad:packages.missing" \
	"no code for compute capability 12.0" '.*pip install "?.*torch==2.7.*/cu128'
fake_torch "$site" 2.10.0+cpu ''
state "a torch without CUDA" bad:torch.cuda "built without CUDA" ".*--force-reinstall .torch==2.10.*"
fake_torch "$site" 2.10.0+cu128 12.8 3.5.1
state "another Triton" "warning:fla.triton warning:triton.version" "Triton 3.5.1 is installed, torch .* pins 3.6.0" ".* install triton==3.6.0"
fake_torch "$site" 2.10.0+cu128 12.8
rm "$site/torch-2.10.0.dist-info/METADATA"
state "a broken dist-info" warning:python.record "has no METADATA"
mkdir "$site/torch-2.9.1.dist-info"
echo 'Name: torch' >"$site/torch-2.9.1.dist-info/METADATA"
echo 'Name: torch' >"$site/torch-2.10.0.dist-info/METADATA"
state "two torches on record" warning:torch.twice "two versions" ".*torch==2.10.*"
fake_torch "$site" 2.10.0+cu128 12.8
rm -r "$site/torch"
state "torch's folder is gone" bad:torch.folder "its folder is missing" ".*torch==2.10.*"
fake_torch "$site" 2.10.0+cu128 12.8
chmod 000 "$site/torch/version.py"
ok "an unreadable version.py, as a user" sh -c "chroot '$root' setpriv --reuid 65534 --regid 65534 --clear-groups \
	env HOME=/tmp debkit doctor --venv /venv | grep -q 'version.py.: Permission denied'"
chmod 644 "$site/torch/version.py"
mkdir -p "$site/causal_conv1d-1.5.0.dist-info"
echo 'Name: causal_conv1d' >"$site/causal_conv1d-1.5.0.dist-info/METADATA"
state "an extension from pip, for another torch" warning:packages.shadow "undefined symbol" \
	"/venv/bin/python -m pip uninstall -y causal-conv1d"
rm -r "$site/causal_conv1d-1.5.0.dist-info"
mv "$root/usr/bin/python3.11" "$root/usr/bin/python3.11.away"
state "an interpreter that is gone" "bad:python.broken" "leads nowhere" "python3.11 -m venv --upgrade /venv"
mv "$root/usr/bin/python3.11.away" "$root/usr/bin/python3.11"
in_root "$root" debkit disable --venv /venv 2>/dev/null
state "not enabled" bad:python.enabled "does not see the packages" "debkit enable --venv /venv"
mkdir -p "$root/opt/second/lib/python3.9/site-packages" "$root/opt/second/bin"
echo 'home = /usr/bin' >"$root/opt/second/pyvenv.cfg"
ln -s /usr/bin/python3 "$root/opt/second/bin/python"
in_root "$root" debkit enable --venv /venv 2>/dev/null
ok "a Python without a binding is told so when enabled" sh -c "
	chroot '$root' debkit enable --venv /opt/second 2>&1 | grep -q 'no binding for Python 3.9' &&
	chroot '$root' debkit disable --venv /opt/second"
fake_torch "$root/opt/second/lib/python3.9/site-packages" 2.10.0+cu128 12.8
ok "two torches: the second is a warning, and a table shows both" judged -- \
	"warning:packages.pair warning:python.enabled" "Python 3.9 has no binding" "python3.11 -m venv .*"
ok "the table" sh -c "chroot '$root' debkit status | grep -Eq '^/opt/second +venv +3.9 +2.10.0.cu128 +12.8 +3.6.0 +no +-' &&
	chroot '$root' debkit status | grep -Eq '^/venv +venv +3.11 .* yes +causal-conv1d-cu128/torch2.10-cp311.so'"
rm -r "$root/opt/second"

# The runtime and the loader.
mv "$site/nvidia" "$work/nvidia"
mv "$lib/debkit/libcudart.so.12" "$work/libcudart.so.12"
touch "$lib/libcudart.so.13"
in_root "$root" ldconfig
state "no runtime, and one of another major" bad:cudart.missing "no libcudart.so.12 .* only .*libcudart.so.13" \
	"apt-get install -y --reinstall debkit-cudart-12-8"
rm "$lib/libcudart.so.13"
: >"$lib/debkit/libcudart.so.12"
state "an empty runtime" bad:cudart.empty "has no bytes"
cp "$work/libcudart.so.12" "$lib/debkit/"
mv "$work/nvidia" "$site/"
mkdir -p "$root/poison"
echo old >"$root/poison/libcudart.so.12.1.105"
ln -s libcudart.so.12.1.105 "$root/poison/libcudart.so.12"
gpu=LD_LIBRARY_PATH=/poison state "an older runtime in LD_LIBRARY_PATH" warning:cudart.path \
	"LD_LIBRARY_PATH puts .*libcudart.so.12' of CUDA 12.1.105" "unset LD_LIBRARY_PATH"
cp "$work/stub/libcuda.so.1" "$root/poison/libcuda.so.550.54.14"
ln -s libcuda.so.550.54.14 "$root/poison/libcuda.so.1"
gpu=LD_LIBRARY_PATH=/poison state "another libcuda in LD_LIBRARY_PATH" "bad:driver.libcuda warning:cudart.path" \
	"is of driver 550.54.14, the kernel module of 570.124.06" "unset LD_LIBRARY_PATH"

# The driver.
for answer in "999 nvidia-uvm is missing" "100 no GPU is handed" "803 different drivers"; do
	gpu="STUB_GPU_INIT=${answer%% *}" state "cuInit answers ${answer%% *}" bad:driver.answer \
		"cuInit fails: .*${answer#* }"
done
gpu=STUB_GPU_CC=10.0 state "a GPU that only FLA's package has no kernels for" \
	"bad:gpu.package warning:gpu.fla" "no kernels for compute capability 10.0, only for 8.0 9.0 12.0"
gpu=STUB_GPU_COUNT=0 state "no device" bad:driver.answer "there is no GPU"
gpu=STUB_GPU_CC=8.9 state "a GPU that the package has no code for" bad:gpu.package \
	"no code for compute capability 8.9, only for 9.0 12.0" "debkit build --cuda 12.8 --arch 8.9"
gpu=STUB_GPU_CC=120.7 state "a lying libcuda" bad:gpu.capability "no such GPU exists"
bad_library() { # DESCRIPTION REGEX C-TEXT
	echo "$3" | gcc -shared -fPIC -x c - -o "$lib/libcuda.so.570.124.06"
	state "$1" bad:driver.answer "$2"
}
bad_library "a libcuda that crashes" "died: Segmentation fault" \
	'__attribute__((constructor)) static void f(void) { *(volatile int *)0 = 0; }'
bad_library "a libcuda without functions" "no libcuda" 'int nothing;'
bad_library "a libcuda that ends the process" "died" \
	'#include <unistd.h>
	__attribute__((constructor)) static void f(void) { _exit(0); }'
echo garbage >"$lib/libcuda.so.570.124.06"
state "a damaged libcuda" bad:driver.answer "cannot be loaded: .*(file too short|invalid ELF header)"
: >"$lib/libcuda.so.570.124.06"
state "an empty bind mount" bad:driver.libcuda "has no bytes: a bind mount"
rm "$lib"/libcuda.so*
in_root "$root" ldconfig
state "no libcuda" bad:driver.libcuda "finds no libcuda.so.1: .*570.124.06" \
	"/usr/lib/apt/apt-helper download-file https://download.nvidia.com/.*/570.124.06/.*--no-kernel-module"
gpu_on "$root" 470.57.02
state "a driver that is too old" bad:driver.floor "driver 470.57.02 is too old for CUDA 12.8" \
	"apt-get install -y nvidia-open && reboot"
gpu_on "$root"
mkdir -p "$root/run/systemd"
echo lxc >"$root/run/systemd/container"
rm "$root/dev/nvidia-uvm"
state "LXC: a missing node" bad:driver.node "/dev/nvidia-uvm is missing" \
	"nvidia-modprobe -u -c=0; CT=.*pct list.*pct set .CT -dev0 /dev/nvidia0 .*"
: >"$root/dev/nvidia-uvm"
state "LXC: a bind mount made before the driver" bad:driver.node "is a plain file and no device" "nvidia-modprobe.*"
rm "$root/dev/nvidia-uvm"
mknod -m 666 "$root/dev/nvidia-uvm" c 511 0
state "LXC: a number from before the host's restart" bad:driver.node "has the number 511:0, .* has another now" "nvidia-modprobe.*"
rm "$root/dev/nvidia-uvm"
mknod -m 000 "$root/dev/nvidia-uvm" c 1 3
ok "LXC: a node that may not be opened" sh -c "chroot '$root' setpriv --reuid 65534 --regid 65534 --clear-groups \
	env HOME=/tmp debkit doctor --venv /venv | grep -q 'nvidia-uvm (1:3) may not be opened: Permission denied'"
rm "$root"/dev/nvidia*
state "LXC: no node at all" bad:driver.node "no GPU is handed to this container" "nvidia-modprobe.*"
gpu_off "$root"
state "no driver at all" bad:driver.module "there is no '/proc/driver/nvidia/version'" "modprobe nvidia && nvidia-smi -L"
rm "$root/run/systemd/container"
gpu_on "$root"
echo nonsense >"$root/proc/driver/nvidia/version"
state "a version that cannot be read" warning:driver.module "names no version"
gpu_on "$root"

# apt and dpkg.
own=$root/etc/apt/sources.list.d/debkit.sources
nv=$root/etc/apt/sources.list.d/cuda.list
key=$root/usr/share/keyrings/nv.gpg
repo_of() { echo "deb [signed-by=$2] https://developer.download.nvidia.com/compute/cuda/repos/$1/x86_64/ /"; }
"$DEBKIT" keys export --out "$key" "$fpr" >/dev/null 2>&1 || gpg --export "$fpr" >"$key"
repo_of debian12 /usr/share/keyrings/nv.gpg >"$nv"
state "NVIDIA's own source is no matter" good "would be loaded"
repo_of ubuntu2404 /usr/share/keyrings/nv.gpg >"$nv"
state "NVIDIA's source for another distribution" warning:apt.suite "is for ubuntu2404, and this is Debian" \
	"sed -i '1s/./# /' /etc/apt/sources.list.d/cuda.list && apt-get update"
repo_of debian12 /usr/share/keyrings/absent.gpg >"$nv"
state "NVIDIA's key is missing" bad:apt.key "absent.gpg' cannot be read"
{ repo_of debian12 /usr/share/keyrings/nv.gpg; repo_of debian12 /usr/share/keyrings/other.gpg; } >"$nv"
cp "$key" "$root/usr/share/keyrings/other.gpg"
state "two sources with different Signed-By" bad:apt.conflict "different Signed-By: apt refuses to run" "sed -i '2s.*"
typed "its line" apt.conflict
state "then all is good again" good "would be loaded"
rm "$nv"
sha1=$work/sha1
mkdir -m 700 "$sha1"
gpg --homedir "$sha1" --batch -q --passphrase '' --cert-digest-algo SHA1 --quick-gen-key old@t.invalid rsa3072 sign never 2>/dev/null
gpg --homedir "$sha1" --export >"$key"
repo_of debian12 /usr/share/keyrings/nv.gpg >"$nv"
state "a SHA-1 key is fine for apt 2" good "would be loaded"
: >"$root/usr/bin/sqv"
state "sqv alone is no apt 3" good "would be loaded"
cp "$root/var/lib/dpkg/status" "$work/status"
sed -i '/^Package: apt$/,/^$/s/^Version: .*/Version: 3.0.3/' "$root/var/lib/dpkg/status"
state "and refused by apt 3" bad:apt.key "bound to it by SHA-1"
cp "$work/status" "$root/var/lib/dpkg/status"
rm "$root/usr/bin/sqv"
gpg --homedir "$sha1" --batch -q --passphrase '' --faked-system-time 20200101T000000 --quick-gen-key late@t.invalid rsa2048 sign 1y 2>/dev/null
gpg --homedir "$sha1" --export late@t.invalid >"$key"
state "an expired key" bad:apt.key "expired on 202[01]-"
gpgconf --homedir "$sha1" --kill all
echo nothing >"$key"
state "a key file without a key" bad:apt.key "holds no key"
rm "$nv" "$key"
echo 'deb nonsense' >"$nv"
state "a source that does not parse" bad:apt.damaged "cuda.list:1: expected"
rm "$nv"
in_root "$root" apt-get purge -y -qq python3-causal-conv1d python3-flash-linear-attention >/dev/null 2>&1
printf 'Package: python3-causal-conv1d-*\nPin: origin "127.0.0.1"\nPin-Priority: -1\n' >"$root/etc/apt/preferences.d/no"
state "a pin that forbids the package" "bad:apt.pin bad:packages.missing" "forbids it" \
	"mv /etc/apt/preferences.d/no /etc/apt/preferences.d/no.off"
typed "its line" apt.pin
mv "$own" "$work/own"
rm "$root"/var/lib/apt/lists/127*
cp "$work/own" "$own"
state "a source that apt has not read" "bad:apt.update bad:packages.missing warning:fla.missing" "has not yet read $url" \
	"apt-get update"
typed "its line" apt.update
relist() { # the packages anew, with what is set in the environment
	rm -rf "$work/debs2"
	gpu_debs "$work/debs2" "$1"
	"$DEBKIT" publish --repo "$work/repo" --suite stable --url "$url" --sign-key "$fpr" "$work"/debs2/python3*.deb \
		>/dev/null 2>&1 && in_root "$root" apt-get -qq update
}
ok "a newer package that needs a newer glibc" env true
GLIBC=2.99 relist 2
state "glibc is too old for the packages" "bad:packages.missing bad:system.glibc" "glibc 2.36, and .* needs 2.99"
BALLAST=4294967295 relist 3
state "the disk is too small for the packages" "bad:packages.missing bad:system.disk" "MB are free, the packages need" \
	"apt-get clean"
ARCHS=8.0 relist 4
state "on offer, but not for this GPU" "bad:packages.missing bad:gpu.package" "only for 8.0"
relist 5
in_root "$root" apt-get install -y -qq python3-gated-deltanet-cu128 >/dev/null 2>&1
state "installed again" good "would be loaded"
withdraw() { "$DEBKIT" withdraw --repo "$work/repo" "$@" && in_root "$root" apt-get -qq update; }
ok "two versions are withdrawn" eval 'withdraw python3-causal-conv1d-cu128 1.7.0-5 --reason "wrong numbers on 12.0: take 6" &&
	withdraw python3-causal-conv1d-cu128 1.7.0-4 --reason "as 5"'
state "what is installed was withdrawn: why, and what was before" bad:packages.withdrawn \
	"conv1d-cu128 1.7.0-5 is installed, and its repository withdrew it: wrong numbers on 12.0: take 6" \
	"apt-get install -y --allow-downgrades .*python3-causal-conv1d-cu128=1.7.0-3.*"
relist 6
state "and what comes after" bad:packages.withdrawn "withdrew it" "apt-get install -y --only-upgrade python3-causal-conv1d-cu128"
typed "its line" packages.withdrawn
state "then all is good" good "would be loaded"
ok "the one after it, too" withdraw python3-causal-conv1d-cu128 1.7.0-6 --reason "x"
state "back to what was before" bad:packages.withdrawn "withdrew it" ".*python3-causal-conv1d=1.7.0-3.*"
GLIBC=2.30 relist 7 && in_root "$root" apt-get install -y -qq python3-causal-conv1d-cu128 >/dev/null 2>&1
state "good again" good "would be loaded"
end=$(gpg --with-colons -k "$fpr" | awk -F: '/^(pub|sub)/ && $7 && (!m || $7 < m) { m = $7 } END { print m }')
gpu="DEBKIT_NOW=$((end - 40 * 86400))" state "the key ends in 40 days, and none follows" \
	"warning:apt.key-end warning:apt.old" "ends on [-0-9]*, in 40 days" \
	"/usr/lib/apt/apt-helper download-file .*/debkit.sources .*"
gpu="DEBKIT_NOW=$((end - 70 * 86400))" state "in 70 days is early" warning:apt.old "was valid until"
gpg --batch -q --passphrase '' --quick-gen-key next@t.invalid ed25519 sign never 2>/dev/null
gpg --export "$fpr" next@t.invalid >"$root/usr/share/keyrings/two.gpg"
cp "$own" "$work/own"
sed -i '/^Signed-By/,$d' "$own"
echo 'Signed-By: /usr/share/keyrings/two.gpg' >>"$own"
gpu="DEBKIT_NOW=$((end - 40 * 86400))" state "the next key is here already" warning:apt.old "was valid until"
cp "$work/own" "$own"
sed -i '/^Package: python3-causal-conv1d-cu128$/,/^$/s/^Status: .*/Status: install ok half-configured/' "$root/var/lib/dpkg/status"
state "half-configured" bad:packages.broken "not wholly installed" "dpkg --configure -a && apt-get install -y -f"
sed -i 's/^Status: install ok half-configured/Status: install ok installed/' "$root/var/lib/dpkg/status"
echo damaged >"$lib/debkit/causal-conv1d-cu128/bindings"
state "a damaged table" bad:packages.files "missing or damaged" "apt-get install -y --reinstall python3-causal-conv1d-cu128"
typed "its line" packages.files

# The system, and what a compilation would have met.
mkdir -p "$root/usr/local/cuda-12.4/bin"
: >"$root/usr/local/cuda-12.4/bin/nvcc"
ln -s x86_64-linux-gnu-gcc-15 "$root/usr/bin/gcc"
: >"$root/usr/bin/x86_64-linux-gnu-gcc-15"
gpu=CUDA_HOME=/usr/local/cuda-12.4 state "an nvcc of another CUDA" good "is of CUDA 12.4 and torch of 12.8.*not needed"
gpu=CUDA_HOME=/usr/local/cuda-12.4 state "a gcc that nvcc does not take" good "gcc 15 is newer than nvcc 12.4 takes"
rm -r "$root/usr/local/cuda-12.4" "$root"/usr/bin/*gcc*
mount -t tmpfs -o noexec none "$root/tmp"
state "noexec /tmp, with prebuilt kernels" good "would be loaded"
gpu=TRITON_CACHE_DIR=/tmp/triton state "Triton's cache on it" warning:system.cache "mounted noexec" "export TRITON_CACHE_DIR=.*"
umount "$root/tmp"
mount -t tmpfs -o ro none "$root/tmp"
gpu=TRITON_CACHE_DIR=/tmp/triton state "a read-only place" "warning:system.cache warning:system.tmp" "cannot be written" "export .*"
umount "$root/tmp"
gcc -o "$work/clone3" -x c - <<'C'
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>
int main(int argc, char **argv)
{
	struct sock_filter f[] = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
	    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone3, 0, 1),
	    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
	struct sock_fprog p = {4, f};
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &p))
		return 1;
	execv(argv[1], argv + 1);
	return 1;
}
C
cp "$work/clone3" "$root/clone3"
ok "a seccomp filter that forbids clone3" sh -c "chroot '$root' /clone3 /usr/bin/debkit doctor --venv /venv |
	grep -q 'answers clone3 with EPERM'"
state "and at the end all is good" good "would be loaded"
fails "no Python" 2 "is no Python environment" in_root "$root" debkit doctor --venv /etc
fails "no program" 2 "is no program" in_root "$root" debkit doctor --python /etc/passwd
done_testing
