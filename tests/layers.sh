#!/bin/bash
# layers.sh [TOP]: what ARCHITECTURE.md says of includes and sizes, checked for every .c and .h
# below debbuild and repo. Prints FILE:LINE: for each violation and exits with 1.
#   cmd -> build | repo | probe -> sign -> deb -> base; each may include itself and all below.
set -u
cd "${1:-$(dirname "$0")/..}" || exit 1
export LC_ALL=C

# Header and the files that may include it, as patterns; a header may have several lines.
# Whoever brings a library into another file says so here.
third_party='
archive*.h debbuild/deb/tar.c
archive*.h debbuild/deb/deb*.c
archive*.h debbuild/deb/ar_write.c
archive*.h debbuild/deb/decode.c
zlib.h debbuild/deb/decode.c
zlib.h debbuild/build/flate.c
archive*.h debbuild/build/wheel.c
gpgme.h debbuild/sign/*
curl/*.h debbuild/build/index.c
libelf.h debbuild/deb/elf.c
gelf.h debbuild/deb/elf.c
elf.h debbuild/deb/elf.c
elf.h debbuild/deb/dynsym.c
jansson.h debbuild/build/index*.c
sqlite3.h repo/*
zlib.h repo/compress.c
zstd.h repo/compress.c
lzma.h repo/xz.c
openssl/md5.h repo/sums.h
openssl/sha.h repo/sums.h
openssl/evp.h debbuild/base/digest.c
'

# ISO C and what libc offers beside it.
libc=' assert complex ctype errno fenv float inttypes iso646 limits locale math setjmp signal
stdalign stdarg stdatomic stdbool stddef stdint stdio stdlib stdnoreturn string tgmath threads time
uchar wchar wctype dirent dlfcn endian byteswap err fcntl fnmatch ftw getopt glob grp libgen link
malloc netdb poll pthread pwd regex sched search semaphore spawn strings syslog termios unistd utime
'
libc=${libc//$'\n'/ }

declare -A rank=([cmd]=4 [build]=3 [repo]=3 [probe]=3 [sign]=2 [deb]=1 [base]=0)

# The layer of a file's name, in $layer.
find_layer() {
	case $1 in
	repo/*) layer=repo ;;
	debbuild/*/*) layer=${1#debbuild/} layer=${layer%%/*} ;;
	*) layer=none ;;
	esac
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
	elif [ "$3" != "$layer" ] && [ "${rank[$3]}" -le "${rank[$layer]}" ]; then
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
		violation "$file" 1 "lies in no layer, expected debbuild/LAYER/ or repo/"
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
done < <(find debbuild repo -type f -name '*.[ch]' 2>/dev/null | sort)
[ "$n" -gt 0 ] || violation debbuild 0 "holds no .c or .h file"
exit $failed
