#!/bin/bash
# The golden cases of stanzas, versions and relations, put to dpkg and apt: each must say what
# the case's first column or folder says. The unit tests hold debkit to the same cases.
. "$(dirname "$0")/lib.sh"
data=$top/tests/data

# cases FILE FUNCTION: calls FUNCTION with the fields of each line; fails if one call does, or
# if there are too few lines for a real run.
cases() {
	local line fields bad=0 seen=0
	while IFS= read -r line; do
		[[ $line != '#'* ]] || continue
		mapfile -t fields < <(printf '%s' "$line" | tr '\t' '\n')
		seen=$((seen + 1))
		"$2" "${fields[@]}" || {
			echo "disagrees: $line"
			bad=1
		}
	done <"$data/$1"
	[ "$bad" = 0 ] && [ "$seen" -ge 10 ]
}

order() { # "A OP B"
	local a op b
	read -r a op b <<<"$1"
	case $op in
	'<') op=lt ;;
	'=') op=eq ;;
	'>') op=gt ;;
	*) return 1 ;;
	esac
	[ -z "$(dpkg --compare-versions "$a" "$op" "$b" 2>&1 || echo no)" ]
}

syntax() { # VERDICT VERSION
	local got=0
	dpkg --validate-version "$2" 2>/dev/null || got=1
	case $1 in
	ok | own) [ "$got" = 0 ] ;;
	dpkg) [ "$got" = 1 ] ;;
	*) return 1 ;;
	esac
}

# build CONTROL-FILE: ok, warned or refused, as dpkg-deb takes it for a package; in $verdict.
build() {
	rm -rf "$work/tree"
	mkdir -p "$work/tree/DEBIAN"
	cp "$1" "$work/tree/DEBIAN/control"
	if ! dpkg-deb -b "$work/tree" "$work/built.deb" >/dev/null 2>"$work/dpkg.err"; then
		verdict=refused
	elif [ -s "$work/dpkg.err" ]; then
		verdict=warned
	else
		verdict=ok
	fi
}

# write_control FIELD VALUE NAME: a whole control file, "\n" in VALUE being a newline.
write_control() {
	printf 'Package: %s\nVersion: 1\nArchitecture: all\nMaintainer: A <a@example.org>\n' "$3"
	printf '%s: %b\nDescription: short\n' "$1" "$2"
}

# apt's own reader on a status file with those stanzas.
apt_reads() {
	mkdir -p "$work/lists/partial"
	apt-cache -o Dir::State::status="$1" -o Dir::State::lists="$work/lists" \
		-o Dir::Cache::pkgcache= -o Dir::Cache::srcpkgcache= \
		-o Dir::Etc::sourcelist=/dev/null -o Dir::Etc::sourceparts=/dev/null \
		dump 2>&1 >/dev/null | grep -E '^[EW]:' && return 1
	return 0
}

relation_for_dpkg() { # VERDICT VALUE
	write_control Depends "$2" tt >"$work/control"
	build "$work/control"
	case $1 in
	ok | apt) [ "$verdict" = ok ] ;;
	own) [ "$verdict" = ok ] || [ "$verdict" = warned ] ;;
	dpkg) [ "$verdict" = refused ] ;;
	*) return 1 ;;
	esac
}

# The good ones go into one file, each bad one into a file of its own.
relation_for_apt() { # VERDICT VALUE
	case $1 in
	ok)
		good=$((good + 1))
		write_control Depends "$2" "tt$good" >>"$work/status"
		echo 'Status: install ok installed' >>"$work/status"
		echo >>"$work/status"
		;;
	apt)
		write_control Depends "$2" tt >"$work/status.bad"
		! apt_reads "$work/status.bad"
		;;
	esac
}

field_for_dpkg() { # VERDICT FIELD VALUE
	write_control "$2" "$3" tt >"$work/control"
	build "$work/control"
	case $1 in
	ok) [ "$verdict" = ok ] ;;
	warn) [ "$verdict" = warned ] ;;
	dpkg) [ "$verdict" = refused ] ;;
	*) return 1 ;;
	esac
}

# folder NAME WANTED: dpkg-deb's verdict on each control file of that folder.
folder() {
	local file bad=0 seen=0
	for file in "$data/stanza/$1"/*.in; do
		build "$file"
		seen=$((seen + 1))
		if [[ $2 != *" $verdict "* ]]; then
			echo "$file: $verdict"
			bad=1
		fi
	done
	[ "$bad" = 0 ] && [ "$seen" -ge 10 ]
}

fields_of() {
	build "$1"
	[ "$verdict" != refused ] || return 1
	dpkg-deb -f "$work/built.deb" Package Version Architecture Maintainer Description Depends \
		Section Homepage Xa 'X@!_~9' | sed 's/^\t/ /'
}

# What debkit writes means to dpkg what it read, and apt reads it.
written_is_the_same() {
	local file bad=0
	for file in "$data"/stanza/ok/*.in; do
		if [ "$(fields_of "$file")" != "$(fields_of "${file%.in}.out")" ] ||
			! apt_reads "${file%.in}.out"; then
			echo "$file: differs"
			bad=1
		fi
	done
	[ "$bad" = 0 ]
}

ok "dpkg orders versions so" cases version.order order
ok "dpkg takes and refuses these versions" cases version.syntax syntax
ok "dpkg takes and refuses these relations" cases relation.cases relation_for_dpkg
good=0
ok "apt refuses these relations" cases relation.cases relation_for_apt
ok "apt takes the good ones" apt_reads "$work/status"
ok "all of them were asked" test "$(grep -c '^Package: ' "$work/status")" = \
	"$(grep -c '^ok' "$data/relation.cases")"
ok "dpkg takes and refuses these fields" cases relation.fields field_for_dpkg
ok "dpkg takes the good control files" folder ok " ok warned "
ok "dpkg refuses the bad control files" folder dpkg " refused "
ok "only debkit refuses these control files" folder own " ok warned "
ok "written control files mean the same" written_is_the_same
done_testing
