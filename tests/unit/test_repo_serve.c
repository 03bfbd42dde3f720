#include "unit.h"

#include "../../repo/serve/push.h"
#include "../../repo/serve/serve.h"

static int config(
    struct unit *u, const char *root, const char *listen, const char *path, struct buf *out)
{
	struct serve_spec spec = {
	    .root = root, .templates = "templates", .listen = listen, .path = path};
	return serve_config(&spec, "/run/debkit", out, &u->err);
}

static const char *make_root(struct unit *u)
{
	unit_put(u, "r/dists/stable/Release", "");
	assert_int_equal(chmod(u->dir, 0755), 0);
	return unit_path(u, "r");
}

static void config_names_what_was_given(void **state)
{
	struct unit *u = *state;
	_cleanup_(buf_done) struct buf out = BUF_INIT(1 << 20);
	const char *root = make_root(u);
	if (config(u, root, "[::1]:8080", "/some/apt", &out) < 0)
		fail_msg("%s", u->err.msg);
	assert_non_null(strstr(buf_str(&out), "listen [::1]:8080;"));
	assert_non_null(strstr(buf_str(&out), arena_printf(&u->a, "root \"%s\";", root)));
	assert_non_null(strstr(buf_str(&out), "rewrite ^/some/apt(/.*)$ $1 last;"));
	assert_non_null(strstr(buf_str(&out), "pid /run/debkit/nginx.pid;"));
}

static void what_would_be_more_than_a_value_is_refused(void **state)
{
	static const char *const listens[] = {"", "80; root /", "80 default_server", "80\n"};
	static const char *const paths[] = {"apt", "/", "/apt/", "//apt", "/a b", "/a{", "/$uri"};
	struct unit *u = *state;
	_cleanup_(buf_done) struct buf out = BUF_INIT(1 << 20);
	const char *root = make_root(u);
	for (size_t i = 0; i < ARRAY_SIZE(listens); i++) {
		assert_int_equal(config(u, root, listens[i], NULL, &out), -1);
		assert_int_equal(u->err.code, ERR_USAGE);
	}
	for (size_t i = 0; i < ARRAY_SIZE(paths); i++) {
		assert_int_equal(config(u, root, "80", paths[i], &out), -1);
		assert_int_equal(u->err.code, ERR_USAGE);
	}
	unit_put(u, "a\"; x/dists/stable/Release", "");
	assert_int_equal(config(u, unit_path(u, "a\"; x"), "80", NULL, &out), -1);
	assert_int_equal(u->err.code, ERR_USAGE);
	assert_int_equal(config(u, unit_path(u, "none"), "80", NULL, &out), -1);
	assert_int_equal(u->err.code, ERR_USAGE);
	assert_int_equal(out.len, 0);
}

static void push_refuses_targets_that_are_none(void **state)
{
	struct unit *u = *state;
	const char *root = make_root(u);
	const char *const targets[] = {"", "-e", root, unit_path(u, "r/copy"), u->dir};
	for (size_t i = 0; i < ARRAY_SIZE(targets); i++) {
		struct push_spec spec = {.root = root, .to = targets[i]};
		assert_int_equal(push_run(&spec, &u->err), -1);
		assert_int_equal(u->err.code, ERR_USAGE);
	}
	assert_false(path_exists(unit_path(u, "r/copy")));
}

int main(void)
{
	const struct CMUnitTest tests[] = {CASE(config_names_what_was_given),
	    CASE(what_would_be_more_than_a_value_is_refused),
	    CASE(push_refuses_targets_that_are_none)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
