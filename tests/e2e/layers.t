#!/bin/bash
# tests/layers.sh passes on the sources, and finds what is planted in a copy of them.
. "$(dirname "$0")/lib.sh"

copy=$work/copy
mkdir -p "$copy/repo"
cp -r "$top/debbuild" "$copy/"
[ ! -d "$top/repo" ] || cp -r "$top/repo" "$copy/"
printf '#pragma once\n' >"$copy/repo/planted.h"
"$top/tests/layers.sh" "$copy" >"$work/before"
descriptions=() wanted=()

# plant WHAT FOLDER SOURCE-LINE TEXT: a new file with that line, which the check must name.
plant() {
	local file=$2/planted${#wanted[@]}.c
	printf '/* planted */\n%s\n' "$3" >"$copy/$file"
	descriptions+=("$1")
	wanted+=("$file:2: $4")
}

names_none() {
	! "$top/tests/layers.sh" "$copy" | grep -F planted
}

# allow WHAT FOLDER SOURCE-LINE: a file with that line alone is not named.
allow() {
	printf '/* planted */\n%s\n' "$3" >"$copy/$2/planted.c"
	ok "$1" names_none
	rm "$copy/$2/planted.c"
}

below=", expected one below"
by="which tests/layers.sh gives to no such file"

ok "the sources keep to their layers" "$top/tests/layers.sh"

allow "cmd includes repo" debbuild/cmd '#include "../../repo/planted.h"'
allow "repo includes sign" repo '#include "../debbuild/sign/signer.h"'
allow "probe includes base" debbuild/probe '#include "../base/err.h"'
allow "libc everywhere" debbuild/base '#include <sys/stat.h>'
allow "sqlite3 in repo" repo '#include <sqlite3.h>'

plant "base includes deb" debbuild/base '#include "../deb/stanza.h"' \
	"layer base includes debbuild/deb/stanza.h of layer deb$below"
plant "deb includes sign" debbuild/deb '#include "../sign/signer.h"' \
	"layer deb includes debbuild/sign/signer.h of layer sign$below"
plant "sign includes build" debbuild/sign '#include "../build/index.h"' \
	"layer sign includes debbuild/build/index.h of layer build$below"
plant "build includes repo" debbuild/build '#include "../../repo/planted.h"' \
	"layer build includes repo/planted.h of layer repo$below"
plant "repo includes build" repo '#include "../debbuild/build/index.h"' \
	"layer repo includes debbuild/build/index.h of layer build$below"
plant "probe includes build" debbuild/probe '#include "../build/index.h"' \
	"layer probe includes debbuild/build/index.h of layer build$below"
plant "build includes cmd" debbuild/build '#include "../cmd/cmd.h"' \
	"layer build includes debbuild/cmd/cmd.h of layer cmd$below"
plant "a detour is seen through" debbuild/base '#include "../base/../deb/../deb/deb.h"' \
	"layer base includes debbuild/deb/deb.h of layer deb$below"
plant "blanks are seen through" debbuild/base $'\t# \tinclude\t"../deb/deb.h"' \
	"layer base includes debbuild/deb/deb.h of layer deb$below"
plant "a file that is not there" debbuild/base '#include "nowhere.h"' \
	'includes "nowhere.h", expected a file beside it or a relative name'
plant "an include by macro" debbuild/base '#include NAME' \
	'includes no plain name, expected "..." or <...>'

plant "curl in cmd" debbuild/cmd '#include <curl/curl.h>' "includes <curl/curl.h>, $by"
plant "archive.h in build" debbuild/build '#include <archive.h>' \
	"includes <archive.h>, $by"
plant "sqlite3 outside repo" debbuild/build '#include <sqlite3.h>' \
	"includes <sqlite3.h>, $by"
plant "gpgme outside sign" repo '#include <gpgme.h>' "includes <gpgme.h>, $by"
plant "a library of no rule" repo '#include <unknown/thing.h>' \
	"includes <unknown/thing.h>, $by"

seq 600 | sed 's!.*!/* & */!' >"$copy/debbuild/base/long600.c"
seq 601 | sed 's!.*!/* & */!' >"$copy/debbuild/base/long601.c"
descriptions+=("601 lines")
wanted+=("debbuild/base/long601.c:601: has 601 lines, expected at most 600")
mkdir "$copy/debbuild/extra"
echo >"$copy/debbuild/extra/planted.c"
descriptions+=("a folder that is no layer")
wanted+=("debbuild/extra/planted.c:1: lies in no layer, expected debbuild/LAYER/ or repo/")

"$top/tests/layers.sh" "$copy" >"$work/said"
status=$?
ok "what is planted makes the check fail" test "$status" = 1
for i in "${!wanted[@]}"; do
	ok "${descriptions[i]}" grep -Fxe "${wanted[i]}" "$work/said"
done
{ cat "$work/before" && printf '%s\n' "${wanted[@]}"; } | sort >"$work/wanted"
ok "nothing else is found" diff "$work/wanted" <(sort "$work/said")

mkdir "$work/empty"
"$top/tests/layers.sh" "$work/empty" >"$work/said"
status=$?
ok "no sources at all is no success" test "$status" = 1
done_testing
