#!/bin/bash
# What stands beside a package: .buildinfo, SBOM and attestation. Judges: dpkg's and python-debian's
# parsers, gpgv, the validators of SPDX and in-toto. Then packages are made again from their papers.
. "$(dirname "$0")/lib.sh"
cd "$work" || exit 1
unset SOURCE_DATE_EPOCH
venv=$top/build/papers-venv
[ -d "$venv" ] || { python3 -m venv "$venv.tmp" && mv "$venv.tmp" "$venv"; }
ok "validators from the package index" "$venv/bin/python" -m pip install -q spdx-tools in-toto-attestation \
	python-debian
py() { "$venv/bin/python" "$@"; }
test_key
"$DEBKIT" keys export --out ring.gpg "$fpr"
one="--cuda 12.8 --torch 2.10 --python 3.11 --arch 9.0"
ok "build" "$DEBKIT" build $one --sign-key "$fpr" --repo-url http://127.0.0.1:1 --out out
ok "four packages" test "$(ls out/*.deb | wc -l)" = 4

plain() { gpgv --keyring ./ring.gpg --output - "$1" 2>/dev/null; }
dpkg_reads() { # FILE.buildinfo DEB: dpkg's parser finds the package's digest in the signed text
	plain "$1" >plain && perl -MDpkg::Control -MDpkg::Checksums -e '
		my $c = Dpkg::Control->new(type => CTRL_FILE_BUILDINFO); $c->load("plain") or die;
		my $s = Dpkg::Checksums->new(); $s->add_from_control($c);
		my ($f) = $s->get_files(); print $s->get_checksum($f, "sha256"), "  $f\n";
		die "fields" if grep { !$c->{$_} } qw(Format Source Binary Architecture Version Build-Origin
			Build-Architecture Build-Date Installed-Build-Depends Environment);' >sums &&
		(cd out && sha256sum -c ../sums)
}
debian_reads() { # FILE.buildinfo
	py - "$1" <<-'Y'
	import sys
	from debian.deb822 import BuildInfo
	b = BuildInfo(open(sys.argv[1], "rb"))
	assert b["Format"] == "1.0" and b["Checksums-Sha256"][0]["name"].endswith(".deb")
	# of the closure that dpkg computed, g++ and the Python headers among it
	names = {r["name"] for g in b.relations["installed-build-depends"] for r in g}
	assert {"g++", "dpkg-dev", "ninja-build", "libc6"} <= names, names
	assert b.get_build_date().year >= 2026 and "LC_ALL" in b.get_environment()
	Y
}
cat >seal.py <<'Y'
import base64, hashlib, json, sys
from google.protobuf.json_format import Parse
from in_toto_attestation.v1 import statement_pb2, statement
e = json.load(open(sys.argv[1]))
body = base64.b64decode(e["payload"], validate=True)
kind = e["payloadType"].encode()
open("dsse.text", "wb").write(b"DSSEv1 %d %s %d %s" % (len(kind), kind, len(body), body))
open("dsse.sig", "wb").write(base64.b64decode(e["signatures"][0]["sig"], validate=True))
pb = Parse(body, statement_pb2.Statement())
statement.Statement(list(pb.subject), pb.predicate_type, json.loads(body)["predicate"]).validate()
assert len(pb.subject) == 3 and pb.predicate_type == "https://slsa.dev/provenance/v1"
for s in pb.subject:
    with open("out/" + s.name, "rb") as f:
        assert hashlib.sha256(f.read()).hexdigest() == s.digest["sha256"], s
Y
# FILE.intoto.json: DSSE's encoding by gpgv, the Statement by in-toto's own library
seal_holds() { py seal.py "$1" && gpgv --keyring ./ring.gpg dsse.sig dsse.text; }
for deb in out/*.deb; do
	f=${deb%.deb} name=$(basename "$deb" | cut -d_ -f1)
	ok "$name: dpkg reads the .buildinfo, and its digest is the package's" dpkg_reads "$f.buildinfo"
	ok "$name: so does python-debian" debian_reads "$f.buildinfo"
	ok "$name: SPDX's validator accepts the SBOM" "$venv/bin/pyspdxtools" -i "$f.spdx.json"
	ok "$name: which is signed" gpgv --keyring ./ring.gpg "$f.spdx.json.asc" "$f.spdx.json"
	ok "$name: the attestation is in-toto's, signed, and of these files" seal_holds "$f.intoto.json"
done
flavour=$(ls out/python3-causal-conv1d-cu128_*.buildinfo)
python=$(ls out/python3-causal-conv1d_*.buildinfo)
ok "inputs stand there by hash" sh -c "grep -A99 ^Debkit-Inputs '$flavour' | grep -q ' torch-2.10.0'"
changes_nothing() { stat -c '%n %Y' out/*.* >before && "$DEBKIT" build $one --sign-key "$fpr" \
	--repo-url http://127.0.0.1:1 --out out 2>said && grep -q 'nothing to do' said &&
	stat -c '%n %Y' out/*.* | cmp before -; }
ok "the same build again leaves them alone" changes_nothing
cp "$python" kept.buildinfo
rm "$python"
ok "a paper that is gone is written again" sh -c "'$DEBKIT' build $one --sign-key '$fpr' \
	--repo-url http://127.0.0.1:1 --out out && [ -s '$python' ]"

# Made again by somebody who has the public key alone.
export GNUPGHOME=$work/other
mkdir -m 700 other
gpg -q --import ring.gpg
ok "rebuild: every package is the same, byte for byte" sh -c "'$DEBKIT' rebuild --cached --work again \
	out/*.buildinfo >said && [ \$(grep -c 'the same, byte for byte' said) = 4 ]"
ok "the package need not be at hand" sh -c "cp '$python' alone.buildinfo && '$DEBKIT' rebuild --cached \
	--work again --keyring ring.gpg alone.buildinfo"
sed 's/^Debkit-Cuda: .*/Debkit-Cuda: 13.0/' "$python" >bad.buildinfo
fails "a changed .buildinfo is refused" 3 'no good signature' "$DEBKIT" rebuild --cached --keyring ring.gpg \
	bad.buildinfo
plain "$python" >unsigned.buildinfo
fails "so is one without a signature" 3 'is not signed' "$DEBKIT" rebuild --cached unsigned.buildinfo
fails "one of another kind" 1 'no field Debkit-Unsigned' sh -c "sed '/^Debkit-U/d' unsigned.buildinfo >strange &&
	'$DEBKIT' rebuild --cached --unsigned-ok strange"
cp "$python" mixed.buildinfo
fails "another package beside it" 3 'is not the package of' "$DEBKIT" rebuild --cached --deb \
	"$(ls out/debkit-cudart*.deb)" mixed.buildinfo
cp -r "$top/templates" templates
sed -i 's/causal depthwise convolution/something else/' templates/causal-conv1d/control.in
fails "other templates: the first difference" 1 'is not the same when it is made again: field Description' \
	env DEBKIT_TEMPLATES="$work/templates" "$DEBKIT" rebuild --cached --work again2 "$python"
fails "--record wants a whole rebuild" 2 'whole rebuild' "$DEBKIT" rebuild --cached --record "$python"

# In the repository.
export GNUPGHOME=$work/gnupg
ok "publish" "$DEBKIT" publish --repo repo --suite stable --sign-key "$fpr" out/*.deb
pool=repo/pool/main/c/causal-conv1d
ok "the papers lie beside the package" sh -c "for e in buildinfo spdx.json spdx.json.asc intoto.json; do
	cmp '${python%.buildinfo}'.\$e $pool/$(basename "${python%.buildinfo}").\$e || exit 1; done"
ok "gc leaves them" sh -c "! '$DEBKIT' gc --repo repo --grace 0 | grep causal"
ok "remove and gc take them away" sh -c "'$DEBKIT' remove --repo repo --suite stable python3-causal-conv1d &&
	'$DEBKIT' gc --repo repo --grace 0 --yes && ! ls $pool | grep '^python3-causal-conv1d_'"
ok "those of others stay" sh -c "ls $pool | grep -q 'cu128.*intoto'"
mkdir other-out
cp "${python%.buildinfo}.deb" other-out
sed "s/$(sha256sum "${python%.buildinfo}.deb" | cut -c1-64)/$(printf %064d 1)/" "$python" \
	>"other-out/$(basename "$python")"
fails "papers of another build are refused" 1 'describes another build' "$DEBKIT" publish --repo repo \
	--suite stable other-out
done_testing
