/* Kernels of cubins and of host objects; a cubin is made by hand, an object by gcc. */
#include "unit.h"

#include "../../lib/deb/kernels.h"
#include "cubinmake.h"

static void cubin_tells_of_its_kernels(void **state)
{
	struct unit *u = *state;
	struct cubin c;
	unit_sh(u, make_cubins);
	assert_int_equal(cubin_read(&u->a, unit_path(u, "both"), &c, &u->err), 0);
	assert_int_equal(c.arch, 90);
	assert_int_equal(c.abi, 7);
	assert_int_equal(c.n, 2);
	assert_string_equal(c.v[0].name, "_Z3onev");
	assert_int_equal(c.v[0].registers, 32);
	assert_int_equal(c.v[0].stack, 0);
	assert_int_equal(c.v[0].parameters, 8);
	assert_string_equal(c.v[1].name, "_Z3twoi");
	assert_int_equal(c.v[1].registers, 255);
	assert_int_equal(c.v[1].code, 640);
	assert_int_equal(c.v[1].stack, 48);
	assert_int_equal(c.v[1].parameters, 16);
	assert_int_equal(c.v[1].shared, 1024);
	assert_int_equal(c.v[0].local, 0);
	assert_int_equal(c.v[1].local, 2);
	assert_int_equal(cubin_read(&u->a, unit_path(u, "eight"), &c, &u->err), 0);
	assert_int_equal(c.arch, 120);
	assert_int_equal(c.abi, 8);
}

/* No cut and no changed byte crashes the reader, which asan watches. */
static void damaged_cubins_are_refused(void **state)
{
	struct unit *u = *state;
	struct cubin c;
	unit_sh(u, make_cubins);
	assert_int_equal(cubin_read(&u->a, unit_path(u, "host"), &c, &u->err), -1);
	assert_int_equal(u->err.code, ERR_FORMAT);
	assert_non_null(strstr(u->err.msg, "not a cubin: it is for another machine"));
	assert_int_equal(cubin_read_mem(&u->a, "", 0, "empty", &c, NULL), -1);
	_cleanup_(buf_done) struct buf b = BUF_INIT(1 << 20);
	assert_int_equal(path_read(unit_path(u, "both"), &b, NULL), 0);
	for (size_t n = 0; n < b.len; n++) {
		_cleanup_(arena_done) struct arena a = ARENA_INIT;
		_free_ char *cut = xmalloc(n + 1);
		memcpy(cut, b.data, n);
		assert_int_equal(cubin_read_mem(&a, cut, n, "cut", &c, NULL), -1);
	}
	for (size_t i = 0; i < b.len; i++) {
		_cleanup_(arena_done) struct arena a = ARENA_INIT;
		char was = b.data[i];
		b.data[i] = (char)~was;
		int rc = cubin_read_mem(&a, b.data, b.len, "changed", &c, NULL);
		(void)rc;
		b.data[i] = was;
	}
}

static void stubs_name_kernels(void **state)
{
	static const struct {
		const char *symbol, *kernel;
	} cases[] = {{"_Z19__device_stub__kernv", "_Z4kernv"},
	    {"_ZN5space19__device_stub__kernEi", "_ZN5space4kernEi"},
	    {"_Z19__device_stub__kernILi4EEvi", "_Z4kernILi4EEvi"}, {"_Z4kernv", NULL},
	    {"__device_stub__kern", NULL}, {"_Z15__device_stub__v", NULL},
	    {"_Z9999999999__device_stub__kernv", NULL}, {"", NULL}};
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		_free_ char *kernel = stub_kernel(cases[i].symbol);
		if (!str_eq(kernel, cases[i].kernel))
			fail_msg("%s: %s", cases[i].symbol, kernel ? kernel : "none");
	}
}

static void objects_tell_what_they_launch(void **state)
{
	struct unit *u = *state;
	_cleanup_(strv_done) struct strv v = STRV_INIT;
	unit_sh(u,
	    "echo 'void _Z18__device_stub__twoi(int i) {} void _Z18__device_stub__onev(void) {}"
	    " void _Z5otherv(void); void _Z18__device_stub__xyzv(void);"
	    " void f(void) { _Z18__device_stub__xyzv(); }' | gcc -x c -c - -o o.o;"
	    "gcc -shared -nostdlib o.o -o o.so");
	assert_int_equal(stubs_read(unit_path(u, "o.o"), &v, &u->err), 0);
	assert_int_equal(v.n, 2);
	assert_string_equal(v.v[0], "_Z3onev");
	assert_string_equal(v.v[1], "_Z3twoi");
	assert_int_equal(stubs_read(unit_path(u, "o.so"), &v, &u->err), -1);
	assert_int_equal(u->err.code, ERR_FORMAT);
	assert_non_null(strstr(u->err.msg, "not an object file"));
	assert_int_equal(stubs_read("/dev/null", &v, &u->err), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    CASE(cubin_tells_of_its_kernels),
	    CASE(damaged_cubins_are_refused),
	    CASE(stubs_name_kernels),
	    CASE(objects_tell_what_they_launch),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
