#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "../../lib/base/arena.h"
#include "../../lib/base/err.h"
#include "../../lib/base/outfile.h"
#include "../../lib/base/path.h"
#include "../../doctor/python.h"

/* A folder for one environment, and what python_find made of it. */
struct fixture {
	char dir[32];
	struct arena arena;
	struct python_env env;
	struct err err;
};

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof *f);
	strcpy(f->dir, "/tmp/debkit-python.XXXXXX");
	*state = f;
	return f && mkdtemp(f->dir) ? 0 : -1;
}

static int teardown(void **state)
{
	struct fixture *f = *state;
	int rc = path_remove_tree(f->dir, &f->err);
	arena_done(&f->arena);
	free(f);
	return rc;
}

static void make_dir(struct fixture *f, const char *name)
{
	_free_ char *path = path_join(f->dir, name);
	assert_int_equal(path_mkdirs(path, &f->err), 0);
}

static void make_file(struct fixture *f, const char *name, mode_t mode)
{
	_free_ char *path = path_join(f->dir, name);
	assert_int_equal(path_mkdirs_for(path, &f->err), 0);
	assert_int_equal(outfile_put(path, mode, "", 0, &f->err), 0);
}

static int find(struct fixture *f)
{
	return python_find(&f->arena, f->dir, &f->env, &f->err);
}

static void sites_stand_in_the_order_of_their_numbers(void **state)
{
	static const char *const want[] = {"3.9", "3.10", "3.13", "3.13t"};
	struct fixture *f = *state;
	make_file(f, "pyvenv.cfg", 0644);
	make_dir(f, "lib/python3.13t/site-packages");
	make_dir(f, "lib/python3.10/site-packages");
	make_dir(f, "lib/python3.9/site-packages");
	make_dir(f, "lib/python3.13/site-packages");
	assert_int_equal(find(f), 0);
	assert_int_equal(f->env.kind, PYTHON_VENV);
	assert_int_equal(f->env.n_sites, ARRAY_SIZE(want));
	for (size_t i = 0; i < ARRAY_SIZE(want); i++)
		assert_string_equal(f->env.sites[i].version, want[i]);
	const char *pth = python_pth(&f->arena, &f->env.sites[1]);
	assert_string_equal(pth + strlen(f->dir), "/lib/python3.10/site-packages/debkit.pth");
}

static void other_names_are_no_python(void **state)
{
	static const char *const names[] = {"lib/python3/site-packages",
	    "lib/python2.7/site-packages", "lib/python3.x/site-packages",
	    "lib/python3.11d/site-packages", "lib/python3.11tt/site-packages",
	    "lib/python3.11111/site-packages", "lib/pypy3.9/site-packages", "lib/python3.12"};
	struct fixture *f = *state;
	make_dir(f, "conda-meta");
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		make_dir(f, names[i]);
	assert_int_equal(find(f), -1);
	assert_int_equal(f->err.code, ERR_FORMAT);
	make_dir(f, "lib/python3.12/site-packages");
	assert_int_equal(find(f), 0);
	assert_int_equal(f->env.kind, PYTHON_CONDA);
	assert_int_equal(f->env.n_sites, 1);
}

static void second_name_of_a_folder_counts_once(void **state)
{
	static const char *const links[] = {"lib/python3.1", "lib/python3.14"};
	struct fixture *f = *state;
	make_file(f, "pyvenv.cfg", 0644);
	make_dir(f, "lib/python3.11/site-packages");
	for (size_t i = 0; i < ARRAY_SIZE(links); i++) {
		_free_ char *path = path_join(f->dir, links[i]);
		assert_int_equal(symlink("python3.11", path), 0);
	}
	assert_int_equal(find(f), 0);
	assert_int_equal(f->env.n_sites, 1);
	assert_string_equal(f->env.sites[0].version, "3.11");
}

static void prefix_needs_a_program_that_runs(void **state)
{
	struct fixture *f = *state;
	make_dir(f, "lib/python3.11/site-packages");
	make_file(f, "bin/python3", 0644);
	assert_int_equal(find(f), -1);
	assert_int_equal(f->err.code, ERR_USAGE);
	make_file(f, "bin/python3", 0755);
	assert_int_equal(find(f), 0);
	assert_int_equal(f->env.kind, PYTHON_PREFIX);
}

#define CASE(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
	    CASE(sites_stand_in_the_order_of_their_numbers),
	    CASE(other_names_are_no_python),
	    CASE(second_name_of_a_folder_counts_once),
	    CASE(prefix_needs_a_program_that_runs),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
