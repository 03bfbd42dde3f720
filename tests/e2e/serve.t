#!/bin/bash
# nginx over a repository: headers that fit apt, and load while publishing goes on.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/repo.sh"
. "$(dirname "$0")/root.sh"
cd "$work" || exit 1
chmod 755 "$work"
test_key
url_port
repo=$work/repo
publish() { "$DEBKIT" publish --repo "$repo" --suite stable --unsigned-ok "$@"; }
# head_of PATH [CURL-OPTION...]: status line and headers, as one text.
head_of() { curl -sS -o body -D - "$url$1" "${@:2}" | tr -d '\r'; }
has() { # PATTERN PATH [CURL-OPTION...]
	head_of "${@:2}" >headers
	cat headers
	grep -qiE -e "$1" headers
}
lacks() { ! has "$@"; }

make_deb one.deb tool 1.0
ok "publish" publish --sign-key "$fpr" --url "$url/apt" one.deb
ok "site" "$DEBKIT" site --repo "$repo"
ok "--print-config is a configuration that nginx takes" sh -c "
	'$DEBKIT' serve --repo '$repo' --path /apt --print-config >conf && nginx -t -e stderr -p '$work' -c '$work/conf'"
fails "no repository" 2 'holds no repository' "$DEBKIT" serve --repo "$work/none"
fails "a path that is none" 2 'is no path' "$DEBKIT" serve --repo "$repo" --path 'x;y'
fails "an address that is none" 2 'is no PORT' "$DEBKIT" serve --repo "$repo" --listen '80; evil'
chmod 700 "$work"
fails "a folder that nginx's workers may not enter" 2 "may not enter '$work'" "$DEBKIT" serve --repo "$repo" --listen "127.0.0.1:$port"
chmod 755 "$work"

env --default-signal=INT "$DEBKIT" serve --repo "$repo" --listen "127.0.0.1:$port" --path /apt >server.log 2>&1 &
server=$!
trap 'kill $server 2>/dev/null; cleanup' EXIT
for _ in $(seq 100); do (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null && break; sleep 0.1; done
fails "a port that is taken: one line" 1 'nginx ended with status' \
	"$DEBKIT" serve --repo "$repo" --listen "127.0.0.1:$port"

hash=$(cd "$repo/dists/stable/main/binary-amd64/by-hash/SHA256" && ls | head -1)
by_hash=/apt/dists/stable/main/binary-amd64/by-hash/SHA256/$hash
deb=/apt/$(cd "$repo" && find pool -name '*.deb')
ok "InRelease is asked for again each time" has '^Cache-Control: no-cache$' /apt/dists/stable/InRelease
ok "so is an index under its plain name" has '^Cache-Control: no-cache$' /apt/dists/stable/main/binary-amd64/Packages.gz
ok "by-hash is for ever" has '^Cache-Control: .*immutable' "$by_hash"
ok "the pool is for ever" has '^Cache-Control: .*immutable' "$deb"
ok "a name that is not there is not" lacks 'immutable' "/apt/pool/main/t/tool/tool_9_amd64.deb"
ok "a range of a package" has '^HTTP/1.1 206' "$deb" -r 100-199
ok "has its bytes" sh -c "tail -c +101 '$repo/${deb#/apt/}' | head -c 100 | cmp - body"
ok "not modified" has '^HTTP/1.1 304' /apt/dists/stable/InRelease -z "$repo/dists/stable/InRelease"
ok "a plain index keeps its length though gzip were welcome" \
	has "^Content-Length: $(stat -c %s "$repo/dists/stable/main/binary-amd64/Packages")" \
	/apt/dists/stable/main/binary-amd64/Packages -H 'Accept-Encoding: gzip'
ok "a page is packed" has '^Content-Encoding: gzip' /apt/index.html -H 'Accept-Encoding: gzip'
ok "a folder has its page" has '^Content-Type: text/html; charset=utf-8' /apt/packages/tool/
ok "the publisher's own is not served" has '^HTTP/1.1 404' /apt/.debkit/state.db
ok "nothing outside is" has '^HTTP/1.1 40[04]' '/apt/../../etc/passwd' --path-as-is
ok "the source file is text" has '^Content-Type: text/plain' /apt/debkit.sources
echo "# front page: $(curl -s -o body -w '%{size_download} bytes in %{time_total} s' "$url/apt/")"

# Load, publishes and clients at the same time.
publish_on() {
	local v=1
	while [ ! -e stop ]; do
		v=$((v + 1))
		make_deb next.deb tool "1.$v" && publish --keep 3 next.deb || return
		curl -s "$url/apt/dists/stable/InRelease" | cmp - "$repo/dists/stable/InRelease" || return
		echo $v >published
	done
}
update_on() {
	apt_root client "[signed-by=$repo/debkit-archive-keyring.gpg] $url/apt stable main"
	while [ ! -e stop ]; do
		apt_in client update >said 2>&1 || { sed 's/^/# /' said; return 1; }
		echo x >>updated
	done
}
cat >wrk.lua <<X
local paths, i = {"/apt/dists/stable/InRelease", "/apt/", "$deb", "$by_hash", "/apt/dists/stable/main/binary-amd64/Packages.zst"}, 0
request = function() i = i + 1; return wrk.format("GET", paths[i % #paths + 1]) end
X
publish_on >publisher 2>&1 & publisher=$!
update_on >updater 2>&1 & updater=$!
ok "wrk with 64 connections for 10 seconds" wrk -t2 -c64 -d10s -s wrk.lua "$url"
cp .said wrk.said
touch stop
ok "the publisher never failed, and what it published was served at once" wait $publisher
ok "each update of apt succeeded" wait $updater
ok "no answer was an error" sh -c "cat wrk.said; ! grep -E 'Non-2xx|Socket errors' wrk.said"
echo "# $(grep -o 'Requests/sec:.*' wrk.said), $(cat published) publishes, $(wc -l <updated) updates"
ok "publishes and updates went on meanwhile" test "$(cat published)" -gt 3 -a "$(wc -l <updated)" -gt 3
kill -INT $server
ok "Ctrl-C ends it" wait $server
ok "nginx said nothing" sh -c "cat server.log; ! grep -v 'nginx serves' server.log"
done_testing
