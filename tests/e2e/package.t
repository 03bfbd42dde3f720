#!/bin/bash
# debkit's own packages: the same bytes from another folder, and a .buildinfo for each.
. "$(dirname "$0")/lib.sh"
test_key
export SOURCE_DATE_EPOCH=1780000000
unset MAKEFLAGS MAKELEVEL
jobs=-j$(nproc)

ok "make deb" make -C "$top" $jobs deb OUT="$work/a"
mkdir -p "$work/another/folder"
ok "the sources alone" bash -c "cd '$top' && git ls-files -z --cached --others --exclude-standard |
	tar --null -T - -cf - | tar -xf - -C '$work/another/folder'"
ok "make deb in another folder" make -C "$work/another/folder" $jobs deb OUT="$work/b"
for name in debkit debkit-build; do
	ok "$name: the same bytes" sh -c "cmp '$work'/a/${name}_*.deb '$work'/b/${name}_*.deb"
done

# A relative folder, as make quickstart gives.
ok "signed" make -C "$top" deb OUT="$(realpath --relative-to="$top" "$work")/s" SIGN_KEY="$fpr"
gpg --export "$fpr" >"$work/ring.gpg" 2>/dev/null
reads() { # PACKAGE: dpkg's parser finds the digest of the package in the text that was signed
	gpgv --keyring "$work/ring.gpg" --output "$work/plain" "$work"/s/"$1"_*.buildinfo || return
	perl -MDpkg::Control -MDpkg::Checksums -e '
		my $c = Dpkg::Control->new(type => CTRL_FILE_BUILDINFO); $c->load($ARGV[0]) or die;
		die "not built with g++" if $c->{"Installed-Build-Depends"} !~ /^\s*g\+\+ \(= /m;
		my $s = Dpkg::Checksums->new(); $s->add_from_control($c);
		print $s->get_checksum($_, "sha256"), "  $_\n" for $s->get_files()' "$work/plain" >"$work/sums" &&
		[ "$(wc -l <"$work/sums")" = 1 ] && grep -q "  $1_" "$work/sums" && (cd "$work/s" && sha256sum -c "$work/sums")
}
for name in debkit debkit-build; do
	ok "$name: the signed .buildinfo names it, and what it was built with" reads $name
done
before=$(sha256sum "$work"/s/*.buildinfo)
make -C "$top" deb OUT="$work/s" SIGN_KEY="$fpr" >"$work/again" 2>&1
ok "again: nothing new is written" test "$before" = "$(sha256sum "$work"/s/*.buildinfo)"
ok "publish takes the .buildinfo along" "$DEBKIT" publish --repo "$work/repo" --suite stable --sign-key "$fpr" \
	"$work"/s/*.deb
ok "into the pool" sh -c "find '$work/repo/pool' -name '*.buildinfo' | grep -c . | grep -x 2"
fails "debkit rebuild says that it is none of its own" 1 'was it written by debkit build' \
	"$DEBKIT" rebuild --keyring "$work/ring.gpg" "$work"/s/debkit_*.buildinfo
done_testing
