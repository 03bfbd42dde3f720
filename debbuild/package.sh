#!/bin/sh
# package.sh BUILD OUT VERSION: packs debkit and debkit-build from BUILD/package/{debkit,full} into
# OUT, and prints the paths. `make deb` calls it.
#	REPO_URL=...	where the repository is published; `debkit doctor` prints it
#	SOURCE_DATE_EPOCH, SIGN_KEY (a fingerprint) as for debkit build
#	BUILD_DEPS	the packages that it was compiled with, for the .buildinfo beside each
set -eu
build=$(realpath "$1") out=$2 version=$3
top=$(cd "$(dirname "$0")/.." && pwd)
arch=$(dpkg --print-architecture)
date=${SOURCE_DATE_EPOCH:-$(git -C "$top" log -1 --format=%ct 2>/dev/null || stat -c %Y "$top/Makefile")}
export SOURCE_DATE_EPOCH="$date" LC_ALL=C.UTF-8
umask 022
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# The t64 names of newer suites name the same libraries: either will do.
depends() { # PROGRAM
	mkdir -p "$work/deps/debian"
	: >"$work/deps/debian/control"
	(cd "$work/deps" && dpkg-shlibdeps -O "$1" 2>/dev/null) | sed -n 's/^shlibs:Depends=//p' |
		tr ',' '\n' | sed -E 's/^ *//; s/^(lib(archive13|elf1|ssl3|curl4))(t64)?( \(.*\))?$/\1\4 | \1t64\4/' |
		paste -sd, | sed 's/,/, /g'
}

# doctor reads dpkg's files itself: it runs without root, and in roots whose dpkg does not run.
override() { # PACKAGE STAGE
	mkdir -p "$2/usr/share/lintian/overrides"
	echo "uses-dpkg-database-directly *" >"$2/usr/share/lintian/overrides/$1"
}

doc() { # PACKAGE STAGE
	dir=$2/usr/share/doc/$1
	mkdir -p "$dir"
	cp "$top/LICENSE" "$dir/copyright"
	sed "s/@VERSION@/$version/; s/@DATE@/$(date -u -R -d "@$date")/" "$top/templates/debkit/changelog.in" |
		gzip -9n >"$dir/changelog.gz"
}

# dpkg-genbuildinfo wants a source tree: what it reads of one.
buildinfo() { # PACKAGE DEB STAGE
	tree=$work/tree
	mkdir -p "$tree/debian"
	{
		echo "Source: debkit"
		grep '^Maintainer:' "$work/control"
		echo "Build-Depends: $(echo "${BUILD_DEPS:-}" | xargs | tr ' ' ,)"
		echo
		sed '/^Version:/d; /^Source:/d; /^Installed-Size:/d' "$work/control"
	} >"$tree/debian/control"
	gzip -dc "$3/usr/share/doc/$1/changelog.gz" >"$tree/debian/changelog"
	echo "${2##*/} $(sed -n 's/^Section: //p' "$work/control") optional" >"$tree/debian/files"
	folder=$(realpath "${2%/*}")
	(cd "$tree" && dpkg-genbuildinfo --build=binary -u"$folder" -O) >"$work/buildinfo"
	if [ -n "${SIGN_KEY:-}" ]; then
		gpg --batch --yes --quiet --local-user "$SIGN_KEY!" --clear-sign "$work/buildinfo"
		mv "$work/buildinfo.asc" "$work/buildinfo"
	fi
	mv "$work/buildinfo" "${2%.deb}.buildinfo"
}

pack() { # PACKAGE STAGE PROGRAM
	mkdir -p "$2/DEBIAN" "$out"
	needs=$(depends "$3")
	[ -n "$needs" ] || { echo "package.sh: dpkg-shlibdeps says nothing of '$3'" >&2; exit 1; }
	awk -v RS= -v "p=Package: $1\n" 'index($0, p)' "$top/templates/debkit/control.in" | grep -v '^#' |
		sed "s/@VERSION@/$version/g; s/@ARCH@/$arch/g; s~@DEPENDS@~$needs~" >"$work/control"
	size=$(find "$2" -type f ! -path '*/DEBIAN/*' -printf '%s\n' |
		awk '{ n += int(($1 + 1023) / 1024) } END { print n }')
	sed "/^Maintainer:/a Installed-Size: $size" "$work/control" >"$2/DEBIAN/control"
	(cd "$2" && find usr -type f -print0 | sort -z | xargs -0 md5sum >DEBIAN/md5sums)
	find "$2" -exec touch -h -d "@$date" {} +
	deb=$out/$1_${version}_$arch.deb made=$out/work/made/$1_${version}_$arch.sum
	dpkg-deb --root-owner-group -Zxz -b "$2" "$work/fresh.deb" >/dev/null
	echo "$deb"
	# A signature has a time: a package of the same contents keeps the one it has.
	sum="$(sha256sum <"$work/fresh.deb") ${SIGN_KEY:-unsigned}"
	[ ! -f "$deb" ] || [ "$(cat "$made" 2>/dev/null)" != "$sum" ] || return 0
	[ -z "${SIGN_KEY:-}" ] || "$build/package/full" sign --sign-key "$SIGN_KEY" "$work/fresh.deb" >/dev/null
	mkdir -p "$out/work/made"
	cp "$work/fresh.deb" "$deb.tmp"
	rm -f "${deb%.deb}.buildinfo"
	mv "$deb.tmp" "$deb"
	buildinfo "$1" "$deb" "$2"
	echo "$sum" >"$made"
}

small=$work/debkit
mkdir -p "$small/usr/bin" "$small/usr/share/man/man1" "$small/usr/share/debkit/templates/doctor"
install -m 755 "$build/package/debkit" "$small/usr/bin/debkit"
strip --strip-unneeded "$small/usr/bin/debkit"
"$build/package/full" --man | gzip -9n >"$small/usr/share/man/man1/debkit.1.gz"
install -m 644 "$top/templates/archs" "$small/usr/share/debkit/templates/archs"
install -m 644 "$top/templates/doctor/deep.py" "$small/usr/share/debkit/templates/doctor/deep.py"
[ -z "${REPO_URL:-}" ] || printf 'Url: %s\n' "$REPO_URL" >"$small/usr/share/debkit/repository"
doc debkit "$small"
override debkit "$small"
pack debkit "$small" "$build/package/debkit"

full=$work/debkit-build
mkdir -p "$full/usr/lib/debkit/bin" "$full/usr/share/debkit"
install -m 755 "$build/package/full" "$full/usr/lib/debkit/bin/debkit"
strip --strip-unneeded "$full/usr/lib/debkit/bin/debkit"
cp -r "$top/templates" "$full/usr/share/debkit/templates"
find "$full/usr/share/debkit/templates" -name __pycache__ -prune -exec rm -r {} +
rm -r "$full/usr/share/debkit/templates/archs" "$full/usr/share/debkit/templates/doctor" \
	"$full/usr/share/debkit/templates/debkit"
doc debkit-build "$full"
override debkit-build "$full"
pack debkit-build "$full" "$build/package/full"
