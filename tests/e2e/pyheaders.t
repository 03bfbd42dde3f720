#!/bin/bash
# Headers of a Python that is not installed: from libpython3.X-dev of whatever apt knows. The
# package here is made of this machine's own headers, for a Python 3.29 that nobody has.
. "$(dirname "$0")/lib.sh"
have=$(python3 -c 'import glob; print(sorted(glob.glob("/usr/include/python3.*/Python.h"))[-1].split("/")[3])')
triplet=$(dpkg-architecture -qDEB_HOST_MULTIARCH)
arch=$(dpkg --print-architecture)

# An apt of its own: one trusted folder, nothing of this machine's.
mkdir -p "$work"/apt/{lists/partial,cache/archives/partial,etc/apt.conf.d,etc/preferences.d} "$work/pool"
echo "deb [trusted=yes] file:$work/pool ./" >"$work/apt/etc/sources.list"
cat >"$work/apt/apt.conf" <<END
Dir::State::lists "$work/apt/lists";
Dir::State::status "$work/apt/status";
Dir::Cache "$work/apt/cache";
Dir::Etc "$work/apt/etc";
APT::Sandbox::User "root";
END
: >"$work/apt/status"
export APT_CONFIG=$work/apt/apt.conf

# make_deb MINOR REVISION: libpython3.MINOR-dev as Debian lays it out.
make_deb() {
	local dir=$work/deb v=3.$1
	rm -rf "$dir"
	mkdir -p "$dir/DEBIAN" "$dir/usr/include/$triplet"
	cp -r "/usr/include/$have" "$dir/usr/include/python$v"
	cp -r "/usr/include/$triplet/$have" "$dir/usr/include/$triplet/python$v"
	sed -i "s/^#define PY_MINOR_VERSION.*/#define PY_MINOR_VERSION $1/" \
		"$dir/usr/include/python$v/patchlevel.h"
	sed -i "s,$have,python$v,g" "$dir/usr/include/python$v/pyconfig.h"
	printf 'Package: libpython%s-dev\nVersion: %s.0-%s\nArchitecture: %s\nMaintainer: t <t@t.invalid>\nDescription: t\n' \
		"$v" "$v" "$2" "$arch" >"$dir/DEBIAN/control"
	dpkg-deb -b --root-owner-group -Znone "$dir" "$work/pool/libpython${v}-dev.deb"
}
update() { (cd "$work/pool" && apt-ftparchive packages . >Packages) && apt-get -qq update; }

rm -rf "$work/templates"
cp -r "$top/templates" "$work/templates"
sed -i '/^Torch: 2.10/,/^$/s/^Python: .*/& 3.28 3.29/' "$work/templates/matrix"
export DEBKIT_TEMPLATES=$work/templates DEBKIT_CACHE=$work/cache PIP_INDEX_URL=http://127.0.0.1:1/simple
one="--cuda 12.8 --torch 2.10 --arch 9.0"
build="$DEBKIT build $one --unsigned --out $work/out"
# What cannot be fetched ends the build behind the headers.
fetch() { $build "$@" 2>"$work/said"; grep -q '127.0.0.1' "$work/said"; }

ok "the packages are made" make_deb 29 1
ok "apt reads them" update
ok "plan fetches the offered headers from apt" sh -c \
	"$DEBKIT plan $one --python 3.29 | grep -q 'fetch *libpython3.29-dev:$arch=3.29.0-1'"
ok "plan --json names them with their hash" sh -c "$DEBKIT plan $one --python 3.29 --json |
	python3 -c 'import json, sys; f = [x for x in json.load(sys.stdin)[\"fetch\"] if \"apt\" in x]; \
	assert len(f) == 1 and len(f[0][\"sha256\"]) == 64'"
ok "plan names a Python that cannot be had" sh -c "$DEBKIT plan $one | grep -q 'left out *Python 3.28'"
fails "a named Python that cannot be had" 1 'no libpython3.28-dev' "$DEBKIT" plan $one --python 3.28
ok "plan fetched nothing" sh -c "! find '$work/cache' -name Python.h | grep ."

mkdir "$work/bin"
printf '#!/bin/sh\necho "$0 $*" >>%s\nexit 1\n' "$work/asked" >"$work/bin/apt-cache"
chmod +x "$work/bin/apt-cache"
ok "apt is not asked a second time" sh -c \
	"PATH='$work/bin':\$PATH $DEBKIT plan $one --python 3.29 | grep -q libpython3.29-dev && [ ! -e '$work/asked' ]"

mv "$work/pool/libpython3.29-dev.deb" "$work/kept.deb"
fails "a package that is gone" 1 'Python 3.29.*apt-get.*run apt-get update' $build --python 3.29
cp "$work/kept.deb" "$work/pool/libpython3.29-dev.deb"
printf 'X' | dd of="$work/pool/libpython3.29-dev.deb" bs=1 seek=5000 conv=notrunc status=none
fails "a package of other bytes" 1 'Python 3.29.*apt-get' $build --python 3.29
ok "nothing of it is kept" sh -c "! find '$work/cache/python' -mindepth 2 -print | grep ."
cp "$work/kept.deb" "$work/pool/libpython3.29-dev.deb"
ok "build unpacks them before all else" fetch --python 3.29
ok "and says so" grep -q 'fetched the headers of Python 3.29' "$work/said"
include=$(echo "$work"/cache/python/3.29-*/*/python3.29)
printf '#include <Python.h>\n#if PY_MINOR_VERSION != 29 || !defined SIZEOF_LONG\n#error\n#endif\n' >"$work/t.c"
ok "they compile by one include path" gcc -isystem "$include" -fsyntax-only "$work/t.c"
ok "apt is not asked for what the cache holds" sh -c \
	"PATH='$work/bin':\$PATH APT_CONFIG=/dev/null $DEBKIT plan $one --python 3.29 >/dev/null && [ ! -e '$work/asked' ]"
ok "a build by default names what it leaves out" fetch
ok "as a warning" grep -q 'warning: left out: Python .*3.28' "$work/said"

make_deb 29 2 >/dev/null && update
ok "the cache's headers stay in use" sh -c "! $DEBKIT plan $one --python 3.29 | grep 'from apt'"
done_testing
