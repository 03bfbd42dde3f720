#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "../../lib/base/arena.h"
#include "../../lib/base/buf.h"
#include "../../lib/base/err.h"
#include "../../lib/base/path.h"
#include "../../lib/base/strv.h"
#include "../../debbuild/nvidia/aptclosure.h"
#include "../../debbuild/nvidia/aptpackages.h"

#define CASES "tests/data/apt.cases"

/* "P NAME VERSION DEPENDS" as a stanza of its own. */
static void add_line(struct buf *out, const char *line)
{
	char name[100], version[100];
	int at = 0;
	if (!str_starts(line, "P ") || sscanf(line, "P %99s %99s%n", name, version, &at) < 2) {
		buf_printf(out, "%s\n", line);
		return;
	}
	buf_printf(out,
	    "\nPackage: %s\nVersion: %s\nArchitecture: amd64\nFilename: ./%s.deb\nSize: 5\n"
	    "SHA256: %064d\n",
	    name, version, name, 1);
	if (line[at])
		buf_printf(out, "Depends:%s\n", line + at);
	buf_putc(out, '\n');
}

static void show(const struct apt_closure *c, struct buf *out)
{
	for (size_t i = 0; i < c->n; i++)
		buf_printf(out, "%s%s_%s", i ? " " : "", c->v[i]->name, c->v[i]->version);
	for (size_t i = 0; i < c->n_system; i++)
		buf_printf(out, "%s%s", i ? "; " : " system: ", c->system[i]);
}

static void run_case(const char *name, const struct buf *text, const char *want)
{
	static const char *const roots[] = {"r-1", NULL};
	_cleanup_(arena_done) struct arena a = ARENA_INIT;
	_cleanup_(buf_done) struct buf got = BUF_INIT(4096);
	struct apt_packages all;
	struct apt_closure c;
	struct err err = {0};
	aptpackages_parse(&a, buf_str(text), text->len, "amd64", &all);
	if (aptclosure_make(&a, &all, roots, "-1", &c, &err) < 0)
		buf_printf(&got, "error %s", err.msg);
	else
		show(&c, &got);
	size_t n = strlen(want);
	bool same = str_ends(want, "...") ? !strncmp(buf_str(&got), want, n - 3)
					  : !strcmp(buf_str(&got), want);
	if (!same)
		fail_msg("[%s]\ngot  %s\nwant %s", name, buf_str(&got), want);
}

static void cases(void **state)
{
	_cleanup_(buf_done) struct buf file = BUF_INIT(1 << 20), text = BUF_INIT(1 << 20);
	struct err err = {0};
	char name[100] = "";
	unsigned n = 0;
	assert_int_equal(path_read(CASES, &file, &err), 0);
	for (char *line = file.data, *end; *line; line = end) {
		end = line + strcspn(line, "\n");
		if (*end)
			*end++ = '\0';
		if (sscanf(line, "[%99[^]]", name) == 1) {
			buf_truncate(&text, 0);
		} else if (str_starts(line, "=> ")) {
			run_case(name, &text, line + 3);
			n++;
		} else if (*name) {
			add_line(&text, line);
		}
	}
	assert_true(n > 15);
}

static void sums_are_of_all(void **state)
{
	static const char text[] =
	    "Package: aa\nVersion: 1\nArchitecture: all\nFilename: a.deb\nSize: 5\n"
	    "Installed-Size: 7\nSHA256: "
	    "0123456789abcdef0123456789ABCDEF0123456789abcdef0123456789abcdef\n"
	    "Depends: bb\n\nPackage: bb\nVersion: 1\nArchitecture: amd64\nFilename: ./b/bb.deb\n"
	    "Size: 6\nSHA256: "
	    "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef\n";
	static const char *const roots[] = {"aa", "bb", NULL};
	_cleanup_(arena_done) struct arena a = ARENA_INIT;
	struct apt_packages all;
	struct apt_closure c;
	struct err err = {0};
	aptpackages_parse(&a, text, strlen(text), "amd64", &all);
	assert_int_equal(all.n, 2);
	assert_string_equal(all.v[1].file, "b/bb.deb");
	assert_int_equal(aptclosure_make(&a, &all, roots, "-1", &c, &err), 0);
	assert_int_equal(c.n, 2);
	assert_int_equal(c.size, 11);
	assert_int_equal(c.installed, 7 << 10);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(cases), cmocka_unit_test(sums_are_of_all)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
