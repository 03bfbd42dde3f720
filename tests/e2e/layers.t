#!/bin/bash
# tests/layers.sh passes on the sources, and finds what is planted in a copy of them.
. "$(dirname "$0")/lib.sh"

copy=$work/copy
mkdir "$copy"
(cd "$top" && cp -r lib debbuild repo doctor cmd "$copy/")
printf '#pragma once\n' >"$copy/repo/change/planted.h"
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

allow "cmd includes repo" cmd '#include "../repo/change/planted.h"'
allow "repo includes sign" repo/change '#include "../../lib/sign/signer.h"'
allow "doctor includes base" doctor '#include "../lib/base/err.h"'
allow "libc everywhere" lib/base '#include <sys/stat.h>'
allow "sqlite3 in the state" repo/state '#include <sqlite3.h>'

plant "base includes deb" lib/base '#include "../deb/stanza.h"' \
	"layer lib/base includes lib/deb/stanza.h of layer lib/deb$below"
plant "deb includes sign" lib/deb '#include "../sign/signer.h"' \
	"layer lib/deb includes lib/sign/signer.h of layer lib/sign$below"
plant "sign includes debbuild" lib/sign '#include "../../debbuild/wheel/pyindex.h"' \
	"layer lib/sign includes debbuild/wheel/pyindex.h of layer debbuild/wheel$below"
plant "data includes plan" debbuild/data '#include "../plan/plan.h"' \
	"layer debbuild/data includes debbuild/plan/plan.h of layer debbuild/plan$below"
plant "state includes index" repo/state '#include "../index/piece.h"' \
	"layer repo/state includes repo/index/piece.h of layer repo/index$below"
plant "debbuild includes repo" debbuild/make '#include "../../repo/change/planted.h"' \
	"layer debbuild/make includes repo/change/planted.h of layer repo/change$below"
plant "repo includes debbuild" repo/change '#include "../../debbuild/data/field.h"' \
	"layer repo/change includes debbuild/data/field.h of layer debbuild/data$below"
plant "doctor includes debbuild" doctor '#include "../debbuild/data/field.h"' \
	"layer doctor includes debbuild/data/field.h of layer debbuild/data$below"
plant "make includes cmd" debbuild/make '#include "../../cmd/cmd.h"' \
	"layer debbuild/make includes cmd/cmd.h of layer cmd$below"
plant "a detour is seen through" lib/base '#include "../base/../deb/../deb/deb.h"' \
	"layer lib/base includes lib/deb/deb.h of layer lib/deb$below"
plant "blanks are seen through" lib/base $'\t# \tinclude\t"../deb/deb.h"' \
	"layer lib/base includes lib/deb/deb.h of layer lib/deb$below"
plant "a file that is not there" lib/base '#include "nowhere.h"' \
	'includes "nowhere.h", expected a file beside it or a relative name'
plant "an include by macro" lib/base '#include NAME' \
	'includes no plain name, expected "..." or <...>'

plant "curl in cmd" cmd '#include <curl/curl.h>' "includes <curl/curl.h>, $by"
plant "archive.h in make" debbuild/make '#include <archive.h>' \
	"includes <archive.h>, $by"
plant "sqlite3 outside the state" debbuild/make '#include <sqlite3.h>' \
	"includes <sqlite3.h>, $by"
plant "gpgme outside sign" repo/change '#include <gpgme.h>' "includes <gpgme.h>, $by"
plant "a library of no rule" repo/change '#include <unknown/thing.h>' \
	"includes <unknown/thing.h>, $by"

seq 600 | sed 's!.*!/* & */!' >"$copy/lib/base/long600.c"
seq 601 | sed 's!.*!/* & */!' >"$copy/lib/base/long601.c"
descriptions+=("601 lines")
wanted+=("lib/base/long601.c:601: has 601 lines, expected at most 600")
mkdir "$copy/debbuild/extra"
echo >"$copy/debbuild/extra/planted.c"
descriptions+=("a folder that is no layer")
wanted+=("debbuild/extra/planted.c:1: lies in no part that tests/layers.sh ranks")

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
