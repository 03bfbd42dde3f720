#include "unit.h"

#include "../../repo/pages/facts.h"
#include "../../repo/pages/pages.h"
#include "../../repo/pages/pages_int.h"
#include "../../repo/change/publish.h"

/* A repository with a package of each name, in these versions, unsigned. */
static const char *make_repo(struct unit *u, const char *const *versions)
{
	_cleanup_(strv_done) struct strv files = STRV_INIT;
	const struct strv none = STRV_INIT;
	struct publish_result res;
	for (; *versions; versions++) {
		const char *dir = arena_printf(&u->a, "d/%s", *versions);
		unit_put(u, arena_printf(&u->a, "%s/DEBIAN/control", dir),
		    arena_printf(&u->a,
			"Package: tool\nVersion: %s\nArchitecture: all\n"
			"Maintainer: T <t@debkit.invalid>\nDescription: a <b> & c\n long\n",
			*versions));
		unit_put(u, arena_printf(&u->a, "%s/usr/share/doc/tool/changelog", dir),
		    "tool (1) x; urgency=low\n\n  * One.\n\n  * Two.\n\n");
		unit_sh(u, arena_printf(&u->a,
			       "gzip -9n %s/usr/share/doc/tool/changelog && dpkg-deb -Zgzip "
			       "--root-owner-group -b %s %s.deb",
			       dir, dir, dir));
		strv_addf(&files, "%s/%s.deb", u->dir, dir);
	}
	const char *root = unit_path(u, "repo");
	struct publish_spec spec = {.repo = {.root = root, .create = true},
	    .suite = "stable",
	    .component = "main",
	    .files = &files,
	    .sign_keys = &none,
	    .archs = &none,
	    .no_sign = true,
	    .unsigned_ok = true,
	    .valid_days = -1,
	    .compat = -1,
	    .no_gz = -1};
	if (publish_run(&spec, &res, &u->err) < 0)
		fail_msg("%s", u->err.msg);
	return root;
}

static void write_pages(struct unit *u, const char *root, struct pages_result *res)
{
	struct pages_spec spec = {.repo = {.root = root}, .templates = "templates"};
	if (pages_write(&spec, res, &u->err) < 0)
		fail_msg("%s", u->err.msg);
}

static void the_same_repository_gives_the_same_pages(void **state)
{
	static const char *const versions[] = {"1.0", "1.10", "1.9", NULL};
	struct unit *u = *state;
	const char *root = make_repo(u, versions);
	struct pages_result res;
	write_pages(u, root, &res);
	assert_int_equal(res.written, 5);
	write_pages(u, root, &res);
	assert_int_equal(res.written, 0);
	assert_int_equal(res.same, 5);
	assert_int_equal(unlink(unit_path(u, "repo/.debkit/facts")), 0); /* may go at any time */
	write_pages(u, root, &res);
	assert_int_equal(res.written, 0);
	unit_put(u, "repo/.debkit/facts", "no: facts\n\nat all\n");
	write_pages(u, root, &res);
	assert_int_equal(res.written, 0);
}

static void the_newest_version_stands_first(void **state)
{
	static const char *const versions[] = {"1.0", "1.10", "1.9", NULL};
	struct unit *u = *state;
	struct pages_result res;
	write_pages(u, make_repo(u, versions), &res);
	const char *page = unit_read(u, unit_path(u, "repo/packages/tool/index.html"));
	const char *first = strstr(page, ">1.10<"), *second = strstr(page, ">1.9<");
	assert_true(first && second && first < second && second < strstr(page, ">1.0<"));
	assert_non_null(strstr(page, "a &lt;b&gt; &amp; c"));
	assert_non_null(strstr(page, "  * One.\n\n  * Two.</pre>"));
}

/* Twice: as read from the .deb, and as kept. */
static void facts_are_kept(void **state)
{
	static const char *const versions[] = {"1.0", NULL};
	struct unit *u = *state;
	const char *root = make_repo(u, versions);
	for (int i = 0; i < 2; i++) {
		struct repo r = REPO_INIT;
		struct catalog c;
		if (repo_open(&r, &(struct repo_spec){.root = root}, &u->err) < 0 ||
		    catalog_read(&c, &r, &u->a, &u->err) < 0 ||
		    facts_fill(&c, &r, NULL, &u->err) < 0)
			fail_msg("%s", u->err.msg);
		assert_int_equal(c.n, 1);
		assert_string_equal(c.v[0].suites.v[0], "stable");
		assert_string_equal(c.v[0].signer, "");
		assert_string_equal(c.v[0].signed_why, "none");
		assert_string_equal(
		    c.v[0].changelog, "tool (1) x; urgency=low\n\n  * One.\n\n  * Two.");
		catalog_done(&c);
		repo_close(&r);
		if (!i) /* then only what is kept can tell */
			unit_sh(u, "find repo/pool -name '*.deb' -exec truncate -s 9 {} +");
	}
}

static void a_file_of_somebody_else_s_stays(void **state)
{
	static const char *const versions[] = {"1.0", NULL};
	struct unit *u = *state;
	struct pages_result res;
	const char *root = make_repo(u, versions);
	unit_put(u, "repo/index.html", "<h1>mine</h1>\n");
	struct pages_spec spec = {.repo = {.root = root}, .templates = "templates"};
	assert_int_equal(pages_write(&spec, &res, &u->err), -1);
	unit_error(u, ERR_CONFLICT,
	    arena_printf(&u->a,
		"'%s/index.html' was not made by debkit: move it away, then run the same command",
		root));
	assert_false(path_exists(unit_path(u, "repo/packages.html")));
}

static void what_was_withdrawn_has_its_reason(void **state)
{
	static const char *const versions[] = {"1.0", "1.1", NULL};
	struct unit *u = *state;
	struct pages_result res;
	const char *root = make_repo(u, versions);
	unit_put(u, "repo/withdrawn",
	    "Package: old\nVersion: 9\nDate: Sun, 29 Nov 2026 07:00:00 UTC\nReason: gone\n\n"
	    "Package: tool\nVersion: 1.0\nDate: Mon, 30 Nov 2026 07:00:00 UTC\n"
	    "Reason: <b>wrong</b> numbers\n");
	write_pages(u, root, &res);
	const char *front = unit_read(u, unit_path(u, "repo/index.html"));
	assert_non_null(
	    strstr(front, "<dt>tool 1.0, 2026-11-30</dt><dd>&lt;b&gt;wrong&lt;/b&gt; numbers</dd>\n"
			  "<dt>old 9, 2026-11-29</dt>"));
	const char *page = unit_read(u, unit_path(u, "repo/packages/tool/index.html"));
	const char *mark = strstr(page, "Withdrawn: &lt;b&gt;wrong");
	assert_true(mark && mark > strstr(page, ">1.0<") && !strstr(mark + 1, "Withdrawn: "));
	assert_non_null(strstr(unit_read(u, unit_path(u, "repo/feed.atom")),
	    "<title>Withdrawn: tool 1.0</title>\n<updated>2026-11-30T07:00:00Z</updated>"));
	unit_put(u, "repo/withdrawn", "Package: tool\n");
	struct pages_spec spec = {.repo = {.root = root}, .templates = "templates"};
	assert_int_equal(pages_write(&spec, &res, &u->err), -1);
	unit_error(u, ERR_FORMAT,
	    arena_printf(
		&u->a, "%s/withdrawn:1: expected Package, Version, Date and Reason", root));
}

int main(void)
{
	const struct CMUnitTest tests[] = {CASE(the_same_repository_gives_the_same_pages),
	    CASE(the_newest_version_stands_first), CASE(facts_are_kept),
	    CASE(a_file_of_somebody_else_s_stays), CASE(what_was_withdrawn_has_its_reason)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
