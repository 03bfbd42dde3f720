#include "unit.h"

#include "../../repo/pages/html.h"

static void is(void (*fn)(struct buf *, const char *), const char *in, const char *want)
{
	_cleanup_(buf_done) struct buf out = BUF_INIT(1 << 16);
	fn(&out, in);
	assert_string_equal(buf_str(&out), want);
}

static void text_is_escaped(void **state)
{
	is(html_text, "a <script>alert('1')</script> & \"b\"",
	    "a &lt;script&gt;alert(&#39;1&#39;)&lt;/script&gt; &amp; &quot;b&quot;");
	is(html_text, "Sch\xc3\xb6n\n\tgut", "Sch\xc3\xb6n\n\tgut");
	is(html_text, "", "");
}

static void what_is_no_text_is_replaced(void **state)
{
	is(html_text, "a\x01\x1b\x7fz", "a\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbdz");
	is(html_text, "a\xc3", "a\xef\xbf\xbd"); /* cut off */
	is(html_text,
	    "\xc0\xbc"
	    "b",
	    "\xef\xbf\xbd\xef\xbf\xbd"
	    "b"); /* '<' in two bytes */
}

static void paths(void **state)
{
	is(html_path, "pool/main/l/lib+x~1/a_1:2.deb", "pool/main/l/lib%2Bx%7E1/a_1%3A2.deb");
	is(html_path, "\"><x", "%22%3E%3Cx");
}

static void sizes(void **state)
{
	static const struct {
		uint64_t bytes;
		const char *want;
	} cases[] = {{0, "0 bytes"}, {999, "999 bytes"}, {1000, "1.0 kB"}, {999949, "999.9 kB"},
	    {999950, "1.0 MB"}, {13800000, "13.8 MB"}, {2500000000000000, "2500.0 TB"}};
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		_cleanup_(buf_done) struct buf out = BUF_INIT(64);
		html_size(&out, cases[i].bytes);
		assert_string_equal(buf_str(&out), cases[i].want);
	}
}

/* openssl and base64 judge. */
static void policy_hash(void **state)
{
	static const char *const texts[] = {"", "alert(1)", "body { color: red }\n"};
	struct unit *u = *state;
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		_cleanup_(buf_done) struct buf out = BUF_INIT(128);
		unit_put(u, "text", texts[i]);
		html_policy_hash(&out, texts[i], strlen(texts[i]));
		assert_string_equal(buf_str(&out),
		    unit_sh(u, "printf 'sha256-%s' \"$(openssl dgst -sha256 -binary text | "
			       "base64)\""));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {CASE(text_is_escaped), CASE(what_is_no_text_is_replaced),
	    CASE(paths), CASE(sizes), CASE(policy_hash)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
