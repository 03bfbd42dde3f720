# For tests of the repository: small packages, an apt of its own, and questions to it.

# make_deb FILE NAME VERSION [ARCH [CONTROL-LINES]]: a package with one file, by dpkg-deb.
make_deb() {
	local file=$1 name=$2 version=$3 arch=${4:-amd64} dir=$work/.deb/$BASHPID
	rm -rf "$dir" && mkdir -p "$dir/DEBIAN" "$dir/usr/share/doc/$name" "$(dirname "$file")"
	echo "${payload:-$name $version}" >"$dir/usr/share/doc/$name/README"
	cat >"$dir/DEBIAN/control" <<-X
		Package: $name
		Version: $version
		Architecture: $arch
		Maintainer: Test <test@debkit.invalid>
		${5:-Section: misc}
		Description: test package $name
		 It holds one file.
		 .
		 And this is the second paragraph.
	X
	dpkg-deb -Zgzip -z1 --root-owner-group -b "$dir" "$file" >/dev/null
}

# apt_root DIR LINE: a root for apt alone, with one source (what follows "deb").
apt_root() {
	mkdir -p "$1"/etc/apt/{preferences.d,apt.conf.d,trusted.gpg.d,sources.list.d} \
		"$1"/var/lib/apt/lists/partial "$1"/var/cache/apt/archives/partial "$1"/var/lib/dpkg
	: >"$1/var/lib/dpkg/status"
	echo "deb $2" >"$1/etc/apt/sources.list"
}

# apt_in DIR COMMAND...: this machine's apt, in such a root, strict about dates and about errors.
apt_in() {
	local dir=$1
	shift
	apt-get -q -o Dir="$dir" -o Dir::State::status="$dir/var/lib/dpkg/status" -o APT::Sandbox::User=root \
		-o APT::Architecture=amd64 -o APT::Architectures="${archs:-amd64}" \
		-o Acquire::Languages=none -o APT::Update::Error-Mode=any -o Acquire::Retries=0 \
		-o Acquire::Check-Valid-Until=true -o Acquire::Check-Date=true "$@"
}

# apt_sees DIR: "NAME VERSION" of all that apt then knows, sorted.
apt_sees() {
	apt-cache -o Dir="$1" -o Dir::State::status="$1/var/lib/dpkg/status" -o APT::Architecture=amd64 \
		-o APT::Architectures="${archs:-amd64}" dump |
		awk '/^Package: / {sub(":.*", "", $2); p = $2} /^ Version: / && $2 != "(null)" {print p, $2}' | sort -u
}

# updates DIR NAME VERSION...: an update succeeds, and apt then sees exactly these.
updates() {
	local dir=$1
	shift
	apt_in "$dir" update || return
	printf '%s %s\n' "$@" | sort >"$dir/want"
	[ $# -gt 0 ] || : >"$dir/want"
	apt_sees "$dir" | diff "$dir/want" -
}
