#!/bin/bash
# Clients that update over a slow server while one publish follows the other: each of 200 updates
# succeeds, and sees the list of one publish, never a mixture.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/repo.sh"
cd "$work" || exit 1
test_key
repo=$work/repo
updates_wanted=200 clients=5

for v in 1 2 3; do
	make_deb "first/$v.deb" tool "1.$v"
	make_deb "first/m$v.deb" "more-$v" 1
done
ok "first publish" "$DEBKIT" publish --repo "$repo" --suite stable --sign-key "$fpr" --unsigned-ok first

# One version more each time, the newest three stay listed, without a pause.
publish_on() {
	local v=3
	while [ ! -e stop ]; do
		v=$((v + 1))
		make_deb next.deb tool "1.$v" &&
			"$DEBKIT" publish --repo "$repo" --suite stable --unsigned-ok --keep 3 next.deb || return
		echo $v >published
	done
}
# Updates until there are enough; what apt sees must be one of the lists.
update_on() { # CLIENT
	local i
	apt_root "c$1" "[signed-by=$repo/debkit-archive-keyring.gpg] http://127.0.0.1:$port stable main"
	for ((i = 0; i < updates_wanted / clients; i++)); do
		apt_in "c$1" update >"said.$1" 2>&1 || { sed 's/^/# /' "said.$1"; echo "update fails"; continue; }
		apt_sees "c$1" >"seen.$1"
		awk '/^more-/ {more++} /^tool / {sub(/^1[.]/, "", $2); v[++n] = $2 + 0; sum += $2}
			END {lo = hi = v[1]; for (i in v) {if (v[i] < lo) lo = v[i]; if (v[i] > hi) hi = v[i]}
				print hi; exit !(more == 3 && n == 3 && hi - lo == 2 && sum == 3 * (lo + 1))}' \
			"seen.$1" || { sed 's/^/# /' "seen.$1"; echo "mixture"; }
	done
}

coproc server { exec "$top/tests/e2e/slow_server.py" "$repo" 2>requests; }
pid=$server_PID
trap 'touch stop; kill $pid 2>/dev/null; cleanup' EXIT
read -r port <&"${server[0]}"
publish_on >publisher 2>&1 &
publisher=$!
for c in $(seq $clients); do update_on "$c" >"client.$c" & all+=($!); done
wait "${all[@]}"
touch stop
ok "the publisher never failed" wait $publisher
ok "no update fails, and none sees a mixture" bash -c "
	cat client.* && ! grep -E 'fails|mixture' client.* && [ \$(cat client.* | wc -l) = $updates_wanted ]"
seen=$(sort -u client.* | wc -l)
echo "# $(cat published) publishes during $updates_wanted updates, which saw $seen different lists"
ok "publishes went on meanwhile" test "$(cat published)" -gt 30
ok "clients saw many different lists" test "$seen" -gt 20
ok "clients asked by hash" grep -q by-hash requests
done_testing
