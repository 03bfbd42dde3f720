/* Which files the lock wants, which of an index answer, and what METADATA says of Triton. */
#include "unit.h"

#include "../../debbuild/wheel/pyindex.h"
#include "../../debbuild/lock/lockwant.h"
#include "../../debbuild/data/matrix.h"
#include "../../debbuild/data/recipe.h"
#include "../../debbuild/wheel/torchmeta.h"
#include "../../debbuild/data/wheelname.h"

#define TEMPLATES "tests/data/templates"
#define LINUX	  "-manylinux_2_28_x86_64.whl"

static void wheel_names(void **state)
{
	struct unit *u = *state;
	struct wheel_name n;
	assert_true(wheel_name_parse(&u->a, "torch-2.11.0+cu128-cp313-cp313t" LINUX, &n));
	assert_string_equal(n.version, "2.11.0+cu128");
	assert_int_equal(n.build, 0);
	assert_int_equal(wheel_name_fit(&n, "cp313t"), WHEEL_FIT_EXACT);
	assert_int_equal(wheel_name_fit(&n, "cp313"), WHEEL_FIT_NONE);
	assert_true(wheel_name_is_manylinux(&n));
	assert_true(wheel_name_parse(&u->a, "a-1-12b-py3-none-manylinux1_i686.win32.whl", &n));
	assert_int_equal(n.build, 12);
	assert_false(wheel_name_is_manylinux(&n));
	assert_false(wheel_name_is_pure(&n));
	assert_true(wheel_name_parse(&u->a, "a-1-py2.py3-none-any.whl", &n));
	assert_true(wheel_name_is_pure(&n));
	assert_false(wheel_name_is_manylinux(&n));
	assert_true(wheel_name_parse(&u->a, "triton-3.9.0-cp312-abi3" LINUX, &n));
	assert_int_equal(wheel_name_fit(&n, "cp311"), WHEEL_FIT_NONE);
	assert_int_equal(wheel_name_fit(&n, "cp312"), WHEEL_FIT_STABLE);
	assert_int_equal(wheel_name_fit(&n, "cp314"), WHEEL_FIT_STABLE);
	assert_int_equal(wheel_name_fit(&n, "cp314t"), WHEEL_FIT_NONE);
	assert_int_equal(wheel_name_fit(&n, "cp27"), WHEEL_FIT_NONE);
	assert_true(wheel_name_parse(&u->a, "a-1-cp39-abi3" LINUX, &n));
	assert_int_equal(wheel_name_fit(&n, "cp310"), WHEEL_FIT_STABLE);
	assert_string_equal(wheel_abi(&u->a, "3.11"), "cp311");
	static const char *const bad[] = {
	    "a-1.tar.gz", "a-1-py3-none.whl", "a-1-2-3-py3-none-any-x.whl", ".whl", ""};
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		assert_false(wheel_name_parse(&u->a, bad[i], &n));
}

static void wants_of_templates(void **state)
{
	struct unit *u = *state;
	struct recipe r;
	struct matrix m;
	struct lock_wants w;
	_cleanup_(buf_done) struct buf out = BUF_INIT(UNIT_FILE_MAX);
	if (recipe_load(&u->a, TEMPLATES, "demo-conv", &r, &u->err) < 0 ||
	    matrix_load(&u->a, TEMPLATES, &m, &u->err) < 0)
		fail_msg("%s", u->err.msg);
	lockwant_make(&u->a, &r, 1, &m, &w);
	for (size_t i = 0; i < w.n; i++)
		buf_printf(&out, "%s %s %s CUDA %s%s%s\n", w.v[i].project,
		    w.v[i].file ? w.v[i].file : w.v[i].version, w.v[i].abi ? w.v[i].abi : "-",
		    w.v[i].cuda ? w.v[i].cuda : "any", w.v[i].index ? " index" : "",
		    w.v[i].exports ? " exports" : "");
	unit_golden(u, "lockwant.txt", &out);
}

static void wants_of_kernels(void **state)
{
	struct unit *u = *state;
	struct recipe r;
	struct matrix m;
	struct lock_wants w;
	_cleanup_(buf_done) struct buf out = BUF_INIT(UNIT_FILE_MAX);
	if (recipe_load(&u->a, TEMPLATES, "demo-fla", &r, &u->err) < 0 ||
	    matrix_load(&u->a, TEMPLATES, &m, &u->err) < 0)
		fail_msg("%s", u->err.msg);
	lockwant_make(&u->a, &r, 1, &m, &w);
	for (size_t i = 0; i < w.n; i++)
		if (w.v[i].recipe)
			buf_printf(&out, "%s %s %s%s\n", w.v[i].project, w.v[i].version,
			    w.v[i].abi ? w.v[i].abi : "-", w.v[i].pure ? " pure" : "");
	assert_string_equal(buf_str(&out),
	    "demo-fla 0.6.0 - pure\ndemo-layers 0.6.0 - pure\ndemo-helper 1.0 - pure\n"
	    "triton 3.4.0 cp310\ntriton 3.4.0 cp311\ntriton 3.4.0 cp312\n"
	    "triton 3.6.0 cp311\ntriton 3.6.0 cp312\ntriton 3.6.0 cp313\n");
}

static const char *pick(
    struct lock_want *want, const char *const *names, const bool *yanked, const char *pinned)
{
	struct index_file v[8] = {0};
	struct index_files files = {v, 0};
	for (; *names; names++, files.n++) {
		v[files.n].name = *names;
		v[files.n].yanked = yanked && yanked[files.n];
	}
	const struct index_file *f = lockwant_pick(want, &files, pinned);
	return f ? f->name : NULL;
}

static void pure_wheels_are_picked(void **state)
{
	struct lock_want want = {.project = "x", .version = "1", .pure = true};
	const char *const names[] = {
	    "x-1-py3-none-any.whl", "x-2-py3-none-any.whl", "x-1-py3-none-win32.whl", NULL};
	assert_string_equal(pick(&want, names, NULL, NULL), names[0]);
	want.pure = false;
	assert_null(pick(&want, names, NULL, NULL));
}

static void newest_build_is_picked(void **state)
{
	struct lock_want want = {.project = "torch", .version = "1.0", .abi = "cp311"};
	const char *const names[] = {"torch-1.0-cp311-cp311" LINUX, "torch-1.0-9-cp311-cp311" LINUX,
	    "torch-1.0-10-cp311-cp311" LINUX, "torch-1.0-11-cp312-cp312" LINUX,
	    "torch-1.0-11-cp311-cp311t" LINUX, "torch-1.0-11-cp311-cp311-win_amd64.whl",
	    "torch-1.1-cp311-cp311" LINUX, NULL};
	static const bool yanked[8] = {false, false, true};
	assert_string_equal(pick(&want, names, NULL, NULL), names[2]);
	assert_string_equal(pick(&want, names, NULL, names[1]), names[2]);
	assert_string_equal(pick(&want, names, yanked, NULL), names[1]);
	want.version = "1.2";
	assert_null(pick(&want, names, NULL, NULL));
}

static void own_abi_goes_before_the_stable_one(void **state)
{
	struct lock_want want = {.project = "x", .version = "1", .abi = "cp313"};
	const char *const names[] = {
	    "x-1-cp313-cp313" LINUX, "x-1-7-cp312-abi3" LINUX, "x-1-cp314-abi3" LINUX, NULL};
	assert_string_equal(pick(&want, names, NULL, names[1]), names[0]);
	assert_string_equal(pick(&want, names + 1, NULL, NULL), names[1]);
}

static void pinned_one_of_equals_stays(void **state)
{
	struct lock_want want = {.project = "x", .version = "1"};
	const char *const names[] = {"x-1-py3-none-manylinux_2_17_x86_64.whl",
	    "x-1-py3-none-manylinux_2_28_x86_64.whl", NULL};
	static const bool all[8] = {true, true};
	assert_string_equal(pick(&want, names, NULL, names[0]), names[0]);
	assert_string_equal(pick(&want, names, NULL, names[1]), names[1]);
	assert_string_equal(pick(&want, names, NULL, NULL), names[1]);
	assert_string_equal(pick(&want, names, all, NULL), names[1]);
}

static void source_is_picked_by_name(void **state)
{
	struct lock_want want = {.project = "x", .file = "x-1.tar.gz"};
	const char *const names[] = {"x-1.zip", "x-1.tar.gz", NULL};
	assert_string_equal(pick(&want, names, NULL, NULL), "x-1.tar.gz");
	assert_true(lockwant_fits(&want, "x", "x-1.tar.gz"));
	assert_false(lockwant_fits(&want, "y", "x-1.tar.gz"));
	assert_false(lockwant_fits(&want, "x", "x-2.tar.gz"));
}

static void pythons_of_an_index(void **state)
{
	struct lock_want want = {.project = "torch", .version = "1.0", .abi = "cp311"};
	struct index_file v[] = {{.name = "torch-1.0-cp315-cp315" LINUX},
	    {.name = "torch-1.0-cp39-cp39" LINUX}, {.name = "torch-1.0-cp310-cp310" LINUX},
	    {.name = "torch-1.0-cp316-cp316t" LINUX}, {.name = "torch-1.1-cp317-cp317" LINUX},
	    {.name = "torch-1.0-py3-none-any.whl"}};
	_cleanup_(strv_done) struct strv out = STRV_INIT;
	lockwant_pythons(&want, &(struct index_files){v, ARRAY_SIZE(v)}, &out);
	_free_ char *list = strv_join(&out, " ");
	assert_string_equal(list, "3.9 3.10 3.15");
}

static void metadata_pins_a_version(void **state)
{
	static const struct {
		const char *text, *pin;
	} cases[] = {{"Requires-Dist: triton==3.6.0; platform_system == \"Linux\"\n", "==3.6.0"},
	    {"Requires-Dist: triton (==3.3.1) ; x\n", "==3.3.1"},
	    {"Requires-Dist: triton-x==1\r\nRequires-Dist: triton~=3.8.0; y\r\n", "~=3.8.0"},
	    {"Requires-Dist: triton>=3\n", NULL}, {"Requires-Dist: tritonx==3\n", NULL},
	    {"Summary: triton==1\n", NULL}, {"", NULL}};
	struct unit *u = *state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		assert_true(str_eq(torchmeta_pin(&u->a, cases[i].text, "triton"), cases[i].pin));
}

static void versions_that_a_pin_allows(void **state)
{
	assert_true(torchmeta_allows("==3.6.0", "3.6.0"));
	assert_false(torchmeta_allows("==3.6.0", "3.6.1"));
	assert_true(torchmeta_allows("~=3.8.0", "3.8.0"));
	assert_true(torchmeta_allows("~=3.8.0", "3.8.12"));
	assert_false(torchmeta_allows("~=3.8.1", "3.8.0"));
	assert_false(torchmeta_allows("~=3.8.0", "3.80.0"));
	assert_false(torchmeta_allows("~=3.8.0", "3.9.0"));
	assert_false(torchmeta_allows("~=3", "3"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    CASE(wheel_names),
	    CASE(wants_of_templates),
	    CASE(wants_of_kernels),
	    CASE(pure_wheels_are_picked),
	    CASE(newest_build_is_picked),
	    CASE(own_abi_goes_before_the_stable_one),
	    CASE(pinned_one_of_equals_stays),
	    CASE(source_is_picked_by_name),
	    CASE(pythons_of_an_index),
	    CASE(metadata_pins_a_version),
	    CASE(versions_that_a_pin_allows),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
