#include "unit.h"

#include "../../lib/base/base64.h"
#include "../../lib/base/json.h"

static void document_has_the_form_of_rfc_8259(void **state)
{
	struct unit *u = *state;
	_cleanup_(buf_done) struct buf b = BUF_INIT(4096);
	struct json_writer w = {.out = &b};
	json_open(&w, NULL, '{');
	json_put(&w, "name", "a \"quoted\" \\ line\nand \x01");
	json_open(&w, "list", '[');
	json_put(&w, NULL, "one");
	json_put(&w, NULL, "two");
	json_open(&w, NULL, '{');
	json_close(&w, '}');
	json_close(&w, ']');
	json_put_bool(&w, "yes", true);
	json_open(&w, "empty", '[');
	json_close(&w, ']');
	json_close(&w, '}');
	unit_put(u, "doc", buf_str(&b));
	assert_string_equal(unit_sh(u, "python3 -c 'import json; print(json.load(open(\"doc\")))'"),
	    "{'name': 'a \"quoted\" \\\\ line\\nand \\x01', 'list': ['one', 'two', {}], "
	    "'yes': True, 'empty': []}");
}

static void base64_is_that_of_coreutils(void **state)
{
	struct unit *u = *state;
	static const char text[] = "any \x01 carnal \xff pleas";
	for (size_t n = 0; n < sizeof text; n++) {
		_cleanup_(buf_done) struct buf b = BUF_INIT(4096);
		char *cut = arena_strndup(&u->a, text, n);
		unit_put(u, "in", cut);
		base64_encode(cut, n, &b);
		assert_string_equal(buf_str(&b), unit_sh(u, "base64 -w0 in"));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    CASE(document_has_the_form_of_rfc_8259), CASE(base64_is_that_of_coreutils)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
