#!/bin/bash
# The selector module under every Python from 3.9 on that this machine can compile for.
. "$(dirname "$0")/lib.sh"

# Prints the real path of an interpreter that is new enough and has its headers.
usable() {
	"$1" -c 'import os, sys, sysconfig
sys.exit(sys.version_info < (3, 9)
	or not os.path.exists(sysconfig.get_paths()["include"] + "/Python.h")
	or print(os.path.realpath(sys.executable)))' 2>/dev/null
}

pythons=$(for python in python3 /usr/bin/python3 python3.{9..14} \
	"${PYENV_ROOT:-$HOME/.pyenv}"/versions/*/bin/python3; do
	usable "$python"
done | sort -u)
ok "a Python with its headers is here" test -n "$pythons"
for python in $pythons; do
	ok "every case under $("$python" -V)" "$python" "$top/tests/e2e/selector.py"
done
done_testing
