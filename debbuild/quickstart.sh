#!/bin/sh
# What `make quickstart` does once debkit is built: a key if there is none, one torch and one GPU
# arch, a repository in out/repo, and the lines to paste into a container.
#	URL=...      where out/repo will be served (default: this machine, port 8080)
#	TORCH=2.10 ARCH=9.0 OUT=out PYTHON=... (default: that of this machine)
set -eu
debkit=$1
out=${OUT:-out}
port=8080
url=${URL:-http://$(hostname -I | cut -d' ' -f1):$port}
python=${PYTHON:-$(python3 -c 'import sys; print("%d.%d" % sys.version_info[:2])')}
what="--cuda 12.8 --torch ${TORCH:-2.10} --python $python --arch ${ARCH:-9.0}"
uid="debkit repository <debkit@$(hostname -f 2>/dev/null || hostname)>"

# What cannot be built is said before a key is made.
# shellcheck disable=SC2086
"$debkit" plan $what >/dev/null

fpr=$(gpg --batch --with-colons --list-secret-keys "=$uid" 2>/dev/null |
	awk -F: '$1 == "fpr" { print $10; exit }')
if [ -z "$fpr" ]; then
	fpr=$("$debkit" keys new --uid "$uid")
	echo "quickstart: made the signing key $fpr"
fi

# shellcheck disable=SC2086
debs=$("$debkit" build $what --sign-key "$fpr" --repo-url "$url" --out "$out")
own=$(REPO_URL=$url SIGN_KEY=$fpr "$(dirname "$0")/package.sh" "$(dirname "$debkit")" "$out" \
	"$("$debkit" --version | cut -d' ' -f2)")
# shellcheck disable=SC2086
"$debkit" publish --repo "$out/repo" --suite stable --url "$url" --sign-key "$fpr" $debs $own

cat <<EOF

It holds causal-conv1d for CUDA 12.8: torch ${TORCH:-2.10}, Python $python, GPUs of compute capability
${ARCH:-9.0} and newer ones by PTX. An older GPU has no use of it: for an A100 or RTX 4090, and an RTX 50,

  make quickstart ARCH=8.0,12.0 OUT=out2

The repository is in '$out/repo'. Serve it with any web server, for a trial:

  python3 -m http.server -d $out/repo $port

and paste these lines into a container, as root (the key is $fpr):

  /usr/lib/apt/apt-helper download-file $url/debkit.sources /etc/apt/sources.list.d/debkit.sources
  apt-get update
  apt-get install -y --no-install-recommends debkit python3-causal-conv1d-cu128
  debkit enable --all

The system's Python sees the package at once, virtual environments by the last line.
EOF
