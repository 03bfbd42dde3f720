# Common part of the end-to-end tests: TAP on standard output, a private folder, the program.
# A test does:  . "$(dirname "$0")/lib.sh";  ok "what must hold" command args...;  done_testing
top=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
DEBKIT=${DEBKIT:-$top/build/release/debkit}
export LC_ALL=C.UTF-8
umask 022
work=$(mktemp -d "${TMPDIR:-/tmp}/debkit-test.XXXXXX")
n=0 failed=0

cleanup() {
	[ -d "$work/gnupg" ] && GNUPGHOME=$work/gnupg gpgconf --kill all 2>/dev/null
	rm -rf --one-file-system "$work"
}
trap cleanup EXIT

# ok DESCRIPTION COMMAND [ARG...]: passes if the command exits with 0; else shows what it said.
ok() {
	local what=$1
	shift
	n=$((n + 1))
	if "$@" >"$work/.said" 2>&1; then
		echo "ok $n - $what"
	else
		echo "not ok $n - $what"
		echo "#   command: $*"
		sed 's/^/#   /' "$work/.said" | tail -n 25
		failed=$((failed + 1))
	fi
}

# fails DESCRIPTION STATUS PATTERN COMMAND [ARG...]: the command must exit with STATUS and print
# exactly one error line on standard error, which matches the extended regular expression.
fails() {
	local what=$1 want=$2 pattern=$3 got=0
	shift 3
	n=$((n + 1))
	"$@" >"$work/.out" 2>"$work/.err" || got=$?
	if [ "$got" = "$want" ] && grep -qE -e "$pattern" "$work/.err" &&
		[ "$(grep -c '^debkit: error: ' "$work/.err")" = 1 ]; then
		echo "ok $n - $what"
	else
		echo "not ok $n - $what"
		echo "#   command: $*"
		echo "#   status $got, wanted $want; wanted a line like: $pattern"
		sed 's/^/#   /' "$work/.err" | tail -n 25
		failed=$((failed + 1))
	fi
}

done_testing() {
	echo "1..$n"
	[ "$failed" = 0 ]
}

# A private GNUPGHOME with one debkit key; its fingerprint in $fpr.
test_key() {
	export GNUPGHOME=$work/gnupg
	mkdir -m 700 -p "$GNUPGHOME"
	fpr=$("$DEBKIT" keys new --uid "debkit test <test@debkit.invalid>")
}
