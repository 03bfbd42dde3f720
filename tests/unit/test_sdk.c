#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "../../debbuild/wheel/pyindex.h"
#include "../../debbuild/wheel/sdk.h"
#include "liar.h"

static struct liar liar;

/* One fetch from the index of a mode; the folder and its cost are the caller's to look at. */
static int fetch(const char *mode, const char *record, const char *cuda, const char *dir,
    struct sdk_cost *cost, struct err *err)
{
	_free_ char *base = liar_address(&liar, mode);
	_free_ char *page = xasprintf("%s/simple", base);
	struct index *x;
	assert_int_equal(index_open(page, &x, err), 0);
	int rc = sdk_fetch(x, LIAR_WHEEL, NULL, record, cuda, dir, cost, err);
	index_close(x);
	if (rc < 0) {
		_free_ char *neutral = liar_neutral(&liar, base, err->msg);
		err_set(err, err->code, "%s", neutral);
	}
	return rc;
}

static char *tree_of(const char *dir)
{
	_cleanup_(strv_done) struct strv names = STRV_INIT;
	struct err err = {0};
	if (path_walk(dir, &names, &err) < 0)
		fail_msg("%s", err.msg);
	return strv_join(&names, " ");
}

static void test_fetch(void **state)
{
	_free_ char *dir = xasprintf("%s/fetch/sdk", liar.work);
	struct sdk_cost cost;
	struct err err = {0};
	if (fetch("honest", liar.record, "12.8", dir, &cost, &err) < 0)
		fail_msg("%s", err.msg);
	_free_ char *tree = tree_of(dir);
	assert_string_equal(tree,
	    ".debkit-sdk torch-1.0.0.dist-info/METADATA "
	    "torch-1.0.0.dist-info/RECORD torch/include/a.h "
	    "torch/include/sub/b.h torch/include/sub/empty.h torch/version.py");
	/* page, end of the wheel, RECORD, headers, version.py and METADATA, which lie together */
	assert_int_equal(cost.requests, 5);
	assert_in_range(cost.wheel_bytes, 390000, 400000);
	uint64_t wheel = cost.wheel_bytes;
	assert_true(cost.bytes < wheel / 2);
	/* The second time nothing is asked for; the size is still known. */
	assert_int_equal(fetch("page-404", liar.record, "12.8", dir, &cost, &err), 0);
	assert_int_equal(cost.requests, 0);
	assert_int_equal(cost.bytes, 0);
	assert_int_equal(cost.wheel_bytes, wheel);
}

/* PyTorch's own index answers in HTML and without sizes. */
static void test_html(void **state)
{
	_free_ char *dir = xasprintf("%s/html", liar.work);
	struct sdk_cost cost;
	struct err err = {0};
	if (fetch("html", liar.record, "12.8", dir, &cost, &err) < 0)
		fail_msg("%s", err.msg);
	assert_int_equal(cost.requests, 6);
	assert_in_range(cost.wheel_bytes, 390000, 400000);
}

/* A folder without the right stamp is replaced, also what a killed run left beside it. */
static void test_replace(void **state)
{
	_free_ char *top = xasprintf("%s/replace", liar.work);
	_free_ char *dir = path_join(top, "sdk");
	_free_ char *old = path_join(dir, "torch/include/old.h");
	_free_ char *left = path_join(top, "sdk.new.part/torch/old.h");
	_free_ char *stamp = path_join(dir, ".debkit-sdk");
	_cleanup_(strv_done) struct strv names = STRV_INIT;
	struct sdk_cost cost;
	struct err err = {0};
	assert_int_equal(path_mkdirs(old, &err), 0);
	assert_int_equal(path_mkdirs(left, &err), 0);
	assert_int_equal(fetch("honest", liar.record, "12.8", dir, &cost, &err), 0);
	assert_false(path_exists(old));
	/* Cut stamp: as if it were not there. */
	assert_int_equal(truncate(stamp, 30), 0);
	assert_int_equal(fetch("honest", liar.record, "12.8", dir, &cost, &err), 0);
	assert_int_equal(cost.requests, 5);
	assert_int_equal(path_list(top, &names, &err), 0);
	assert_int_equal(names.n, 1);
}

static const struct {
	const char *mode, *cuda, *says;
	enum err_code code;
} lies[] = {
    {"other-cuda", "12.8",
	"cannot fetch the torch SDK: wheel '" LIAR_WHEEL "' is for CUDA 13.0, not 12.8: choose "
	"another torch or another --cuda",
	ERR_FORMAT},
    {"no-cuda", "12.8",
	"cannot fetch the torch SDK: wheel '" LIAR_WHEEL "' is for CUDA none, not 12.8: choose "
	"another torch or another --cuda",
	ERR_FORMAT},
    {"honest", "12.6",
	"cannot fetch the torch SDK: wheel '" LIAR_WHEEL "' is for CUDA 12.8, not 12.6: choose "
	"another torch or another --cuda",
	ERR_FORMAT},
    {"other-version-inside", "12.8",
	"cannot fetch the torch SDK: wheel '" LIAR_WHEEL "' holds torch 9.9.9+cu128, not 1.0.0: it "
	"is not the wheel that was meant, check the package index",
	ERR_FORMAT},
    {"other-version", "12.8",
	"cannot fetch the torch SDK: wheel '" LIAR_WHEEL "': it holds "
	"'torch-0.9.0.dist-info/RECORD' where its name promises 'torch-1.0.0.dist-info/RECORD'; it "
	"is not the wheel that was meant: check the package index",
	ERR_FORMAT},
    {"no-version", "12.8",
	"cannot fetch the torch SDK: wheel '" LIAR_WHEEL "' has no torch/version.py: it is not the "
	"wheel that was meant, check the package index",
	ERR_FORMAT},
    {"no-range", "12.8",
	"cannot fetch the torch SDK: wheel '" LIAR_WHEEL "': 'URL/files/" LIAR_WHEEL
	"': the server answered 200 with the whole file to a request for a range; use an index "
	"whose server supports Range",
	ERR_NETWORK},
    {"page-404", "12.8",
	"cannot fetch the torch SDK: the package index 'URL/simple' has no project 'torch'; check "
	"PIP_INDEX_URL",
	ERR_NETWORK},
};

/* Each lie is one line, and nothing is left; a right answer afterwards works. */
static void test_lies(void **state)
{
	_free_ char *top = xasprintf("%s/lies", liar.work);
	_free_ char *dir = path_join(top, "sdk");
	for (size_t i = 0; i < ARRAY_SIZE(lies); i++) {
		_cleanup_(strv_done) struct strv names = STRV_INIT;
		struct sdk_cost cost;
		struct err err = {0};
		/* A wheel that is honest about other contents has another RECORD. */
		_free_ char *record = xstrdup(liar.record);
		if (str_starts(lies[i].mode, "other-") || str_starts(lies[i].mode, "no-"))
			liar_record(lies[i].mode, record);
		assert_int_equal(fetch(lies[i].mode, record, lies[i].cuda, dir, &cost, &err), -1);
		assert_string_equal(err.msg, lies[i].says);
		assert_int_equal(err.code, lies[i].code);
		if (path_is_dir(top))
			assert_int_equal(path_list(top, &names, &err), 0);
		assert_int_equal(names.n, 0);
	}
}

/* A wheel with other contents is refused before a header is fetched. */
static void test_pin(void **state)
{
	_free_ char *dir = xasprintf("%s/pin", liar.work);
	struct sdk_cost cost;
	struct err err = {0};
	assert_int_equal(fetch("other-cuda", liar.record, "13.0", dir, &cost, &err), -1);
	assert_int_equal(err.code, ERR_TRUST);
	assert_non_null(strstr(err.msg, "its RECORD has SHA-256 "));
	assert_non_null(strstr(err.msg, liar.record));
	assert_int_equal(cost.requests, 3);
	assert_false(path_exists(dir));
}

static void test_bad_name(void **state)
{
	static const char *const names[] = {"torch.whl", "torch-1.0.0.tar.gz", "-1.0.0-x.whl"};
	struct index *x;
	struct sdk_cost cost;
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		struct err err = {0};
		_free_ char *says = xasprintf("cannot fetch the torch SDK: '%s' is no file name of "
					      "a wheel",
		    names[i]);
		assert_int_equal(index_open(liar.top, &x, &err), 0);
		assert_int_equal(
		    sdk_fetch(x, names[i], NULL, "", "12.8", liar.work, &cost, &err), -1);
		assert_string_equal(err.msg, says);
		index_close(x);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_fetch),
	    cmocka_unit_test(test_html),
	    cmocka_unit_test(test_replace),
	    cmocka_unit_test(test_lies),
	    cmocka_unit_test(test_pin),
	    cmocka_unit_test(test_bad_name),
	};
	liar_start(&liar);
	int failed = cmocka_run_group_tests(tests, NULL, NULL);
	liar_stop(&liar);
	return failed;
}
