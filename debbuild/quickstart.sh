#!/bin/sh
# What `make quickstart` does once debkit is built: a key if there is none, one torch and one GPU
# arch, a repository in out/repo, and the lines to paste into a container.
#	URL=...      where out/repo will be served (default: this machine, port 8080)
#	TORCH=2.10 PYTHON=3.11 ARCH=9.0 OUT=out
set -eu
debkit=$1
out=${OUT:-out}
port=8080
url=${URL:-http://$(hostname -I | cut -d' ' -f1):$port}
uid="debkit repository <debkit@$(hostname -f 2>/dev/null || hostname)>"

fpr=$(gpg --batch --with-colons --list-secret-keys "=$uid" 2>/dev/null |
	awk -F: '$1 == "fpr" { print $10; exit }')
if [ -z "$fpr" ]; then
	fpr=$("$debkit" keys new --uid "$uid")
	echo "quickstart: made the signing key $fpr"
fi

debs=$("$debkit" build --cuda 12.8 --torch "${TORCH:-2.10}" --python "${PYTHON:-3.11}" \
	--arch "${ARCH:-9.0}" --sign-key "$fpr" --repo-url "$url" --out "$out")
own=$(REPO_URL=$url SIGN_KEY=$fpr "$(dirname "$0")/package.sh" "$(dirname "$debkit")" "$out" \
	"$("$debkit" --version | cut -d' ' -f2)")
# shellcheck disable=SC2086
"$debkit" publish --repo "$out/repo" --suite stable --url "$url" --sign-key "$fpr" $debs $own

cat <<EOF

The repository is in '$out/repo'. Serve it with any web server, for a trial:

  python3 -m http.server -d $out/repo $port

and paste these lines into a container, as root (the key is $fpr):

  /usr/lib/apt/apt-helper download-file $url/debkit.sources /etc/apt/sources.list.d/debkit.sources
  apt-get update
  apt-get install -y python3-causal-conv1d-cu128
EOF
