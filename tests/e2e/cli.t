#!/bin/bash
# What someone types first, and types wrong: each answer is one line that says what to type next.
. "$(dirname "$0")/lib.sh"

ok "debkit help is debkit --help" bash -c "diff <('$DEBKIT' help) <('$DEBKIT' --help)"
ok "debkit help plan is debkit plan --help" bash -c "diff <('$DEBKIT' help plan) <('$DEBKIT' plan --help)"
fails "help for a command that is meant" 2 "no command 'plna'; did you mean debkit plan\?" "$DEBKIT" help plna
fails "a letter is missing" 2 "no command 'pln'; did you mean debkit plan\?" "$DEBKIT" pln
fails "two letters are swapped" 2 "no command 'dcotor'; did you mean debkit doctor\?" "$DEBKIT" dcotor
fails "nothing like it" 2 "no command 'frobnicate'; see debkit --help" "$DEBKIT" frobnicate
fails "a long word" 2 "no command 'x{200}'; see debkit --help" "$DEBKIT" "$(printf 'x%.0s' $(seq 200))"
fails "no command" 2 'no command given; see debkit --help' "$DEBKIT"
ok "an arch as compilers name it" sh -c "'$DEBKIT' plan --cuda 12.8 --torch 2.10 --python 3.11 --arch sm_90 |
	grep '^GPU archs  9.0 '"
fails "one that no toolkit knows" 2 "unknown GPU arch 'sm_91'; known are: " \
	"$DEBKIT" plan --cuda 12.8 --torch 2.10 --arch sm_91

fails "a torch that no CUDA has" 2 "no torch '2.12' for CUDA 12.8: .*2.11 is the last .*; known are: 2.8" \
	"$DEBKIT" plan --cuda 12.8 --torch 2.12
fails "a torch that is no version" 2 "no torch 'abc' for CUDA 12.8; known are: 2.8" \
	"$DEBKIT" plan --cuda 12.8 --torch abc
fails "serve of what is no repository" 2 "holds no repository; debkit publish makes one" \
	"$DEBKIT" serve --repo "$work"
ok "does not say first that it serves" sh -c "! grep 'nginx serves' '$work/.err' && test -s '$work/.err'"

# make, where the libraries are not installed.
mkdir "$work/bin"
printf '#!/bin/sh\nexit 1\n' >"$work/bin/pkg-config"
chmod +x "$work/bin/pkg-config"
# As typed, not as a part of the make that runs the tests.
bare() { (cd "$top" && env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL PATH="$work/bin:$PATH" make CONFIG=none B="$work/b" "$@"); }
bare >"$work/said" 2>&1
status=$?
ok "make without the libraries fails" [ $status = 2 ]
ok "in one line that names make build-deps" sh -c "grep -c . '$work/said' | grep -x 1 &&
	grep \"type 'make build-deps' as root\" '$work/said'"
ok "make build-deps itself can be typed then" bare -n build-deps
done_testing
