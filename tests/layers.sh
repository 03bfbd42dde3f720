#!/bin/bash
# layers.sh [TOP]: what ARCHITECTURE.md says of includes and sizes, checked for every .c and .h.
# Prints FILE:LINE: for each violation and exits with 1. A part may include itself and all of a
# lower rank; debbuild, repo and doctor never include each other.
set -u
cd "${1:-$(dirname "$0")/..}" || exit 1
export LC_ALL=C

# Header and the files that may include it, as patterns; a header may have several lines.
# Whoever brings a library into another file says so here.
third_party='
archive*.h lib/deb/tar.c
archive*.h lib/deb/deb*.c
archive*.h lib/deb/ar_write.c
archive*.h lib/deb/decode.c
archive*.h lib/deb/fatbin_unpack.c
zlib.h lib/deb/decode.c
zlib.h debbuild/wheel/flate.c
archive*.h debbuild/wheel/wheel.c
gpgme.h lib/sign/*
curl/*.h debbuild/wheel/pyindex.c
libelf.h lib/deb/elf.c
libelf.h lib/deb/kernels.c
gelf.h lib/deb/elf.c
gelf.h lib/deb/kernels.c
elf.h lib/deb/elf.c
elf.h lib/deb/kernels.c
elf.h lib/deb/dynsym.c
jansson.h debbuild/wheel/pyindex*.c
sqlite3.h repo/state/*
zlib.h repo/state/compress.c
zstd.h repo/state/compress.c
lzma.h repo/state/xz.c
openssl/md5.h repo/state/sums.h
openssl/sha.h repo/state/sums.h
openssl/evp.h lib/base/digest.c
'

# ISO C and what libc offers beside it.
libc=' assert complex ctype errno fenv float inttypes iso646 limits locale math setjmp signal
stdalign stdarg stdatomic stdbool stddef stdint stdio stdlib stdnoreturn string tgmath threads time
uchar wchar wctype dirent dlfcn endian byteswap err fcntl fnmatch ftw getopt glob grp libgen link
malloc netdb poll pthread pwd regex sched search semaphore spawn strings syslog termios unistd utime
'
libc=${libc//$'\n'/ }

# A part's place in the order; parts of one rank never include each other.
declare -A rank=([lib/base]=0 [lib/deb]=1 [lib/sign]=2
	[debbuild/data]=3 [debbuild/wheel]=4 [debbuild/plan]=5 [debbuild/abi]=6 [debbuild/make]=7
	[debbuild/nvidia]=8 [debbuild/cells]=8 [debbuild/lock]=8
	[repo/state]=3 [repo/index]=4 [repo/change]=5 [repo/pages]=6 [repo/bundle]=6 [repo/serve]=6
	[doctor]=3 [cmd]=9)

# The part of a file's name, in $layer.
find_layer() {
	layer=${1%/*}
	[ -n "${rank[$layer]-}" ]
}

# FOLDER/NAME without its ".." parts, in $path.
find_path() {
	local head
	path=$1/$2
	while [[ $path == */../* ]]; do
		head=/${path%%/../*} path=${path#*/../}
		head=${head%/*}
		path=${head:+${head#/}/}$path
	done
}

# Whether one of the three libraries that meet on disk alone includes another.
strangers() {
	[[ $1 != cmd && $2 != lib/* && ${1%%/*} != "${2%%/*}" ]]
}

failed=0
violation() {
	printf '%s:%s: %s\n' "$1" "$2" "$3"
	failed=1
}

check_project() { # FILE LINE LAYER HEADER
	local path
	find_path "${1%/*}" "$4"
	if [ ! -f "$path" ]; then
		violation "$1" "$2" "includes \"$4\", expected a file beside it or a relative name"
	elif ! find_layer "$path"; then
		violation "$1" "$2" "includes $path, expected a file of a layer"
	elif [ "$3" != "$layer" ] && { [ "${rank[$3]}" -le "${rank[$layer]}" ] || strangers "$3" "$layer"; }; then
		violation "$1" "$2" "layer $3 includes $path of layer $layer, expected one below"
	fi
}

is_libc() {
	case $1 in
	sys/*.h | gnu/*.h | linux/*.h | net/*.h | netinet/*.h | arpa/*.h) return 0 ;;
	esac
	[[ $libc == *" ${1%.h} "* ]]
}

check_system() { # FILE LINE HEADER
	local header files
	is_libc "$3" && return
	while read -r header files; do
		# The right sides are patterns.
		# shellcheck disable=SC2053
		[[ $3 == $header && $1 == $files ]] && return
	done <<<"$third_party"
	violation "$1" "$2" "includes <$3>, which tests/layers.sh gives to no such file"
}

check_file() {
	local file=$1 line text own lines
	find_layer "$file" || {
		violation "$file" 1 "lies in no part that tests/layers.sh ranks"
		return
	}
	own=$layer
	lines=$(wc -l <"$file")
	[ "$lines" -le 600 ] || violation "$file" 601 "has $lines lines, expected at most 600"
	while IFS=: read -r line text; do
		if [[ $text =~ ^[[:space:]]*#[[:space:]]*include[[:space:]]*\"([^\"]*)\" ]]; then
			check_project "$file" "$line" "$own" "${BASH_REMATCH[1]}"
		elif [[ $text =~ ^[[:space:]]*#[[:space:]]*include[[:space:]]*\<([^\>]*)\> ]]; then
			check_system "$file" "$line" "${BASH_REMATCH[1]}"
		else
			violation "$file" "$line" "includes no plain name, expected \"...\" or <...>"
		fi
	done < <(grep -nE '^[[:space:]]*#[[:space:]]*(include|import)' "$file")
}

n=0
while IFS= read -r file; do
	check_file "$file"
	n=$((n + 1))
done < <(find lib debbuild repo doctor cmd -type f -name '*.[ch]' 2>/dev/null | sort)
[ "$n" -gt 0 ] || violation debbuild 0 "holds no .c or .h file"
exit $failed
