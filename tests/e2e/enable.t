#!/bin/bash
# debkit enable and disable on real venvs, and on the layouts of other tools.
. "$(dirname "$0")/lib.sh"
root=/usr/lib/debkit/python
cd "$work" || exit 1

says() { # PATTERN COMMAND...: exits with 0 and prints one line, on standard error, that matches
	local pattern=$1
	shift
	"$@" >.stdout 2>.stderr || { cat .stderr; return 1; }
	cat .stderr
	[ ! -s .stdout ] && [ "$(wc -l <.stderr)" = 1 ] && grep -qE -e "$pattern" .stderr
}
one_line() { # FILE...: each holds the import root's line alone, readable by all
	local f
	for f; do
		printf '%s\n' "$root" | cmp "$f" - && [ "$(stat -c %a "$f")" = 644 ] || return 1
	done
}
layout() { # DIR MARK SITE...: an environment imitated
	local dir=$1 mark=$2 site
	shift 2
	for site; do mkdir -p "$dir/$site/site-packages"; done
	case $mark in
	*/) mkdir -p "$dir/$mark" ;;
	*) mkdir -p "$dir/$(dirname "$mark")" && : >"$dir/$mark" ;;
	esac
}
untouched() { # DIR: no file of ours, whole or half-written
	[ -z "$(find "$1" -name 'debkit*')" ]
}

# What the environment's own Python makes of the line, as if the import root were there.
path_of() {
	"$1/bin/python" -c 'import os, site, sys
here = next(p for p in sys.path if p.endswith("site-packages"))
os.path.exists = lambda path: True
site.addpackage(here, "debkit.pth", set())
print(sys.path[-1])'
}
sees() { [ "$(path_of "$1")" = "$root" ]; }

pythons=$(for python in python3 /usr/bin/python3 \
	"${PYENV_ROOT:-$HOME/.pyenv}"/versions/*/bin/python3; do
	"$python" -c 'import os, sys, venv
sys.exit(sys.version_info < (3, 9) or print(os.path.realpath(sys.executable)))' 2>/dev/null
done | sort -u)
ok "a Python with venv is here" test -n "$pythons"
for python in $pythons; do
	rm -rf venv
	"$python" -m venv --without-pip venv
	name=$("$python" -c 'import sys; print("%d.%d" % sys.version_info[:2])')
	pth=venv/lib/python$name/site-packages/debkit.pth
	ok "venv of $name: enabled" says "Python $name now sees $root through '$work/$pth'" \
		"$DEBKIT" enable --venv venv
	ok "venv of $name: one line" one_line "$pth"
	ok "venv of $name: its Python takes it" sees venv
	before=$(stat -c '%i %y' "$pth")
	ok "venv of $name: a second time" says "Python $name already sees" "$DEBKIT" enable --venv venv
	ok "venv of $name: the file was left alone" test "$before" = "$(stat -c '%i %y' "$pth")"
	ok "venv of $name: disabled" says "Python $name no longer sees" "$DEBKIT" disable --venv venv
	ok "venv of $name: nothing is left" untouched venv
	ok "venv of $name: disabled twice" says "Python $name was not enabled" \
		"$DEBKIT" disable --venv venv
done

layout virtualenv pyvenv.cfg lib/python3.12
ok "virtualenv" "$DEBKIT" enable --venv virtualenv/
ok "virtualenv: one line" one_line virtualenv/lib/python3.12/site-packages/debkit.pth

layout uv pyvenv.cfg lib/python3.13t
ln -s lib uv/lib64
ok "uv, free-threaded, lib64 a link" says "Python 3.13t now sees" "$DEBKIT" enable --venv uv

layout conda conda-meta/ lib/python3.11
ln -s python3.11 conda/lib/python3.1
ok "conda, with its second name" says "Python 3.11 now sees" "$DEBKIT" enable --venv conda

layout prefix bin/python3 lib/python3.14
chmod +x prefix/bin/python3
ok "a plain prefix" says "Python 3.14 now sees" "$DEBKIT" enable --venv prefix

layout lib64 pyvenv.cfg lib64/python3.9
mkdir lib64/lib
ok "lib64 alone" says "Python 3.9 now sees" "$DEBKIT" enable --venv lib64

layout two pyvenv.cfg lib/python3.9 lib/python3.10
mkdir -p two/lib/python3 two/lib/python3.x/site-packages two/lib/python3.11 two/lib/pypy3.9
ok "two Pythons" "$DEBKIT" enable --venv two
ok "two Pythons: both" one_line two/lib/python3.{9,10}/site-packages/debkit.pth
ok "two Pythons: no other" test "$(find two -name debkit.pth | wc -l)" = 2

layout other/opt/app pyvenv.cfg lib/python3.11
ok "in another root" says "through '$work/other/opt/app/lib/" \
	"$DEBKIT" enable --venv "$work/other/opt/../opt/app"

layout old pyvenv.cfg lib/python3.11
echo /somewhere/else >old/lib/python3.11/site-packages/debkit.pth
ok "another line is replaced" says "now sees" "$DEBKIT" enable --venv old
ok "another line is replaced by ours" one_line old/lib/python3.11/site-packages/debkit.pth

layout masked pyvenv.cfg lib/python3.11
(umask 077 && "$DEBKIT" enable --venv masked 2>/dev/null)
ok "whatever the umask" one_line masked/lib/python3.11/site-packages/debkit.pth

layout link pyvenv.cfg lib/python3.11
echo precious >precious
ln -s "$work/precious" link/lib/python3.11/site-packages/debkit.pth
ok "a link of that name" "$DEBKIT" enable --venv link
ok "a link of that name: its target is left alone" grep -qx precious precious

mkdir plain
fails "no environment" 2 "'$work/plain' is no Python environment: it has neither pyvenv.cfg" \
	"$DEBKIT" enable --venv plain
fails "no folder" 2 "there is no folder '$work/absent'" "$DEBKIT" enable --venv absent
fails "no --venv" 2 "debkit enable --venv DIR" "$DEBKIT" enable
fails "no --venv to disable" 2 "debkit disable --venv DIR" "$DEBKIT" disable
fails "an operand" 2 "takes no 'plain'" "$DEBKIT" enable plain
mkdir broken && : >broken/pyvenv.cfg
fails "no site-packages" 1 "'$work/broken' .* no lib/python3.\*/site-packages" \
	"$DEBKIT" enable --venv broken
layout system bin/python3 lib/python3.11
chmod +x system/bin/python3
rmdir system/lib/python3.11/site-packages
mkdir -p system/lib/python3/dist-packages
fails "the system's Python" 2 "is the system's own Python" "$DEBKIT" enable --venv system
mkdir -p taken/lib/python3.11/site-packages/debkit.pth/x && : >taken/pyvenv.cfg
fails "a folder of that name" 1 "debkit.pth'" "$DEBKIT" enable --venv taken
fails "a folder of that name to disable" 1 "cannot remove" "$DEBKIT" disable --venv taken
ok "nothing half-written" test "$(ls taken/lib/python3.11/site-packages)" = debkit.pth
done_testing
