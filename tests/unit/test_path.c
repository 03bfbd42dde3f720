#include "unit.h"

#include <sys/statvfs.h>

static void join_puts_one_slash(void **state)
{
	static const char *const cases[][3] = {{"a", "b", "a/b"}, {"a/", "b", "a/b"},
	    {"", "b", "b"}, {"a", "/b", "/b"}, {"/", "b", "/b"}, {"a", "b/c", "a/b/c"}};
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		_free_ char *got = path_join(cases[i][0], cases[i][1]);
		assert_string_equal(got, cases[i][2]);
	}
}

static void parts_of_a_name(void **state)
{
	static const char *const cases[][3] = {{"a", ".", "a"}, {"a/b", "a", "b"}, {"/a", "/", "a"},
	    {"/a/b.c", "/a", "b.c"}, {"a/", "a", ""}, {"/", "/", ""}};
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		_free_ char *dir = path_dir(cases[i][0]);
		assert_string_equal(dir, cases[i][1]);
		assert_string_equal(path_base(cases[i][0]), cases[i][2]);
	}
}

static void absolute_drops_dots(void **state)
{
	static const char *const cases[][2] = {{"/a/./b/../c", "/a/c"}, {"/", "/"}, {"//a//", "/a"},
	    {"/../../a", "/a"}, {"/a/b/../../..", "/"}, {"/a/...", "/a/..."},
	    {"/a/b/c/d/../../../../e/f/g/h/i", "/e/f/g/h/i"}};
	struct unit *u = *state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		_free_ char *got = path_absolute(cases[i][0], &u->err);
		assert_string_equal(got, cases[i][1]);
	}
	_free_ char *cwd = getcwd(NULL, 0), *here = path_absolute("x/../y", &u->err);
	assert_string_equal(here, arena_printf(&u->a, "%s/y", cwd));
}

static void members_that_leave_are_unsafe(void **state)
{
	static const char *const good[] = {"a", "a/b", ".a", "a..b", "...", "a b", "..a/b"};
	static const char *const bad[] = {"", "/", "/a", ".", "..", "a/", "a//b", "a/.", "./a",
	    "../a", "a/..", "a/../b", "a\nb", "a\rb"};
	for (size_t i = 0; i < ARRAY_SIZE(good); i++)
		assert_true(path_is_safe_member(good[i]));
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		assert_false(path_is_safe_member(bad[i]));
}

static mode_t mode_of(const char *path)
{
	struct stat st;
	assert_int_equal(lstat(path, &st), 0);
	return st.st_mode & 07777;
}

static void mkdirs_ignores_the_umask(void **state)
{
	struct unit *u = *state;
	mode_t old = umask(0777);
	int rc = path_mkdirs(unit_path(u, "a//b/c/"), &u->err);
	umask(old);
	assert_int_equal(rc, 0);
	assert_int_equal(mode_of(unit_path(u, "a")), 0755);
	assert_int_equal(mode_of(unit_path(u, "a/b/c")), 0755);
	chmod(unit_path(u, "a"), 0711);
	assert_int_equal(path_mkdirs(unit_path(u, "a/d"), &u->err), 0);
	assert_int_equal(mode_of(unit_path(u, "a")), 0711);
	assert_int_equal(path_mkdirs_for(unit_path(u, "e/f"), &u->err), 0);
	assert_true(path_is_dir(unit_path(u, "e")));
	assert_false(path_exists(unit_path(u, "e/f")));
}

static void mkdirs_says_what_is_in_the_way(void **state)
{
	struct unit *u = *state;
	const char *file = unit_put(u, "file", "");
	assert_int_equal(path_mkdirs(unit_path(u, "file/b"), &u->err), -1);
	unit_error(u, ERR_SYSTEM,
	    arena_printf(
		&u->a, "'%s' is there and is no folder: move it away, or name another", file));
	assert_int_equal(symlink("nowhere", unit_path(u, "link")), 0);
	assert_int_equal(path_mkdirs(unit_path(u, "link"), &u->err), -1);
	err_clear(&u->err);
	assert_int_equal(path_mkdirs("", &u->err), -1);
	unit_error(u, ERR_SYSTEM, "cannot make the folder '': No such file or directory");
}

static void questions_about_a_name(void **state)
{
	struct unit *u = *state;
	const char *file = unit_put(u, "file", "x"), *link = unit_path(u, "link");
	assert_int_equal(symlink("nowhere", link), 0);
	assert_true(path_exists(link) && path_exists(file) && path_exists(u->dir));
	assert_false(path_exists(unit_path(u, "none")) || path_is_dir(link) || path_is_dir(file));
	assert_false(path_is_exec(file) || path_is_exec(u->dir) || path_is_exec(link));
	assert_int_equal(chmod(file, 0755), 0);
	assert_true(path_is_exec(file));
}

static void read_fails_past_the_maximum(void **state)
{
	struct unit *u = *state;
	_cleanup_(buf_done) struct buf b = BUF_INIT(4);
	const char *path = unit_put(u, "f", "abcd");
	assert_int_equal(path_read(path, &b, &u->err), 0);
	assert_string_equal(buf_str(&b), "abcd");
	unit_put(u, "f", "e");
	assert_int_equal(path_read(path, &b, &u->err), -1);
	unit_error(u, ERR_FORMAT, arena_printf(&u->a, "'%s' is larger than 4 bytes", path));
	_cleanup_(buf_done) struct buf c = BUF_INIT(4);
	assert_int_equal(path_read(u->dir, &c, &u->err), -1);
	unit_error(u, ERR_SYSTEM, arena_printf(&u->a, "cannot read '%s': Is a directory", u->dir));
	assert_int_equal(path_read(unit_path(u, "none"), &c, NULL), -1);
}

/* A folder with all that a folder can hold. */
static void make_tree(struct unit *u)
{
	unit_put(u, "t/b", "");
	unit_put(u, "t/a/x", "");
	unit_put(u, "t/a-/y", "");
	unit_put(u, "t/a/é \n$'\"", "");
	unit_put(u, "outside/kept", "");
	assert_int_equal(path_mkdirs(unit_path(u, "t/empty"), &u->err), 0);
	assert_int_equal(symlink("../outside", unit_path(u, "t/link")), 0);
	assert_int_equal(mkfifo(unit_path(u, "t/fifo"), 0600), 0);
}

static void listings_are_sorted_by_bytes(void **state)
{
	struct unit *u = *state;
	_cleanup_(strv_done) struct strv list = STRV_INIT, files = STRV_INIT;
	make_tree(u);
	strv_add(&list, "z");
	assert_int_equal(path_list(unit_path(u, "t"), &list, &u->err), 0);
	_free_ char *names = strv_join(&list, " ");
	assert_string_equal(names, "z a a- b empty fifo link");
	assert_int_equal(path_walk(unit_path(u, "t"), &files, &u->err), 0);
	_free_ char *all = strv_join(&files, "|");
	assert_string_equal(all, "a-/y|a/x|a/é \n$'\"|b|link");
}

static void failed_listing_adds_nothing(void **state)
{
	struct unit *u = *state;
	_cleanup_(strv_done) struct strv v = STRV_INIT;
	const char *none = unit_path(u, "none"), *file = unit_put(u, "file", "");
	assert_int_equal(path_list(none, &v, &u->err), -1);
	unit_error(u, ERR_SYSTEM,
	    arena_printf(&u->a, "cannot list '%s': No such file or directory", none));
	assert_int_equal(path_walk(file, &v, &u->err), -1);
	unit_error(u, ERR_SYSTEM, arena_printf(&u->a, "cannot list '%s': Not a directory", file));
	assert_int_equal(v.n, 0);
}

static void remove_tree_stays_inside(void **state)
{
	struct unit *u = *state;
	make_tree(u);
	assert_int_equal(path_remove_tree(unit_path(u, "t"), &u->err), 0);
	assert_false(path_exists(unit_path(u, "t")));
	assert_true(path_exists(unit_path(u, "outside/kept")));
	assert_int_equal(symlink("outside", unit_path(u, "l")), 0);
	assert_int_equal(path_remove_tree(unit_path(u, "l"), &u->err), 0);
	assert_false(path_exists(unit_path(u, "l")));
	assert_true(path_exists(unit_path(u, "outside/kept")));
	assert_int_equal(path_remove_tree(unit_path(u, "t"), &u->err), 0);
	assert_int_equal(path_remove_tree(unit_path(u, "outside/"), &u->err), 0);
	assert_false(path_exists(unit_path(u, "outside")));
}

static void first_program_in_path_is_found(void **state)
{
	struct unit *u = *state;
	const char *second = unit_put(u, "two/tool", "");
	unit_put(u, "one/tool", "");
	assert_int_equal(path_mkdirs(unit_path(u, "zero/tool"), &u->err), 0);
	chmod(second, 0755);
	const char *search = arena_printf(&u->a, "%s/zero::%s/one:%s/two", u->dir, u->dir, u->dir);
	_free_ char *found = path_find_program("tool", search);
	assert_string_equal(found, second);
	assert_null(path_find_program("none", search));
	assert_null(path_find_program("one/tool", search));
	_free_ char *direct = path_find_program(second, search);
	assert_string_equal(direct, second);
	_free_ char *sh = path_find_program("sh", NULL);
	assert_string_equal(sh, unit_sh(u, "command -v sh"));
}

static void copy_is_whole_and_has_its_mode(void **state)
{
	struct unit *u = *state;
	char *text = xmalloc(700001);
	memset(text, 'x', 700000);
	text[700000] = '\0';
	const char *from = unit_put(u, "from", text), *to = unit_path(u, "to");
	free(text);
	mode_t old = umask(0077);
	int rc = path_copy(from, to, 0755, &u->err);
	umask(old);
	assert_int_equal(rc, 0);
	assert_int_equal(mode_of(to), 0755);
	assert_string_equal(unit_read(u, to), unit_read(u, from));
	assert_int_equal(path_copy(to, to, 0644, &u->err), 0);
	assert_string_equal(unit_read(u, to), unit_read(u, from));
	assert_int_equal(path_copy(unit_path(u, "none"), to, 0644, &u->err), -1);
	assert_string_equal(unit_read(u, to), unit_read(u, from));
	assert_string_equal(unit_sh(u, "ls"), "from\nto");
}

static void free_space_of_a_name_to_be(void **state)
{
	struct unit *u = *state;
	uint64_t bytes = 0;
	struct statvfs vfs;
	assert_int_equal(path_free_bytes(unit_path(u, "not/yet/here"), &bytes, &u->err), 0);
	assert_int_equal(statvfs(u->dir, &vfs), 0);
	assert_true(bytes > 0 && bytes <= (uint64_t)vfs.f_blocks * vfs.f_frsize);
	assert_int_equal(path_free_bytes("no-such-name", &bytes, &u->err), 0);
	assert_int_equal(path_free_bytes(unit_put(u, "f", ""), &bytes, &u->err), 0);
	assert_int_equal(path_free_bytes(unit_path(u, "f/x"), &bytes, &u->err), -1);
	assert_int_equal(u->err.code, ERR_SYSTEM);
}

static void cache_folder_by_environment(void **state)
{
	static const char *const cases[][4] = {{"/own/./a", "/xdg", "/home", "/own/a"},
	    {"", "/xdg", "/home", "/xdg/debkit"},
	    {NULL, "relative", "/home", "/home/.cache/debkit"},
	    {NULL, NULL, "/home", "/home/.cache/debkit"}};
	static const char *const names[] = {"DEBKIT_CACHE", "XDG_CACHE_HOME", "HOME"};
	struct unit *u = *state;
	_free_ char *home = xstrdup(getenv("HOME") ? getenv("HOME") : "/");
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		for (size_t k = 0; k < ARRAY_SIZE(names); k++)
			cases[i][k] ? setenv(names[k], cases[i][k], 1) : unsetenv(names[k]);
		_free_ char *got = path_cache_dir(&u->err);
		assert_string_equal(got, cases[i][3]);
	}
	unsetenv("HOME");
	assert_null(path_cache_dir(&u->err));
	unit_error(u, ERR_USAGE, "no place for the cache: set DEBKIT_CACHE or HOME");
	setenv("HOME", home, 1);
}

/* Said by a copy of this program, which looks for its templates as debkit does. */
static int say_templates(void)
{
	struct err err = {0};
	_free_ char *dir = path_templates_dir(&err);
	puts(dir ? dir : err.msg);
	return 0;
}

static void templates_of_the_source_tree(void **state)
{
	struct unit *u = *state;
	const char *program = unit_path(u, "top/build/release/debkit");
	unit_put(u, "top/templates/matrix", "");
	assert_int_equal(path_mkdirs_for(program, &u->err), 0);
	assert_int_equal(path_copy("/proc/self/exe", program, 0755, &u->err), 0);
	unsetenv("DEBKIT_TEMPLATES");
	assert_string_equal(
	    unit_sh(u, "top/build/release/debkit templates"), unit_path(u, "top/templates"));
	assert_string_equal(
	    unit_sh(u, "DEBKIT_TEMPLATES=other/. top/build/release/debkit templates"),
	    unit_path(u, "other"));
}

int main(int argc, char **argv)
{
	if (argc == 2 && !strcmp(argv[1], "templates"))
		return say_templates();
	const struct CMUnitTest tests[] = {
	    CASE(join_puts_one_slash),
	    CASE(parts_of_a_name),
	    CASE(absolute_drops_dots),
	    CASE(members_that_leave_are_unsafe),
	    CASE(mkdirs_ignores_the_umask),
	    CASE(mkdirs_says_what_is_in_the_way),
	    CASE(questions_about_a_name),
	    CASE(read_fails_past_the_maximum),
	    CASE(listings_are_sorted_by_bytes),
	    CASE(failed_listing_adds_nothing),
	    CASE(remove_tree_stays_inside),
	    CASE(first_program_in_path_is_found),
	    CASE(copy_is_whole_and_has_its_mode),
	    CASE(free_space_of_a_name_to_be),
	    CASE(cache_folder_by_environment),
	    CASE(templates_of_the_source_tree),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
