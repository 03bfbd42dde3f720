/* abi_judge and the data it judges by; gcc makes the objects, nm and the interpreter judge. */
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
#include "../../lib/base/outfile.h"
#include "../../lib/base/path.h"
#include "../../lib/base/proc.h"
#include "../../lib/base/strv.h"
#include "../../lib/base/xalloc.h"
#include "../../debbuild/abi/abi.h"
#include "../../debbuild/abi/exports.h"
#include "../../lib/deb/elf.h"

static char top[] = "/tmp/test_abi.XXXXXX";
static struct arena arena = ARENA_INIT;
static struct abi_data data;

static void shell(const char *line)
{
	struct err err = {0};
	char *argv[] = {(char *)"bash", (char *)"-ec", (char *)line, NULL};
	if (proc_check(&(struct proc_spec){.argv = argv, .dir = top}, &err) < 0)
		fail_msg("%s", err.msg);
}

/*
 * binding.so calls one function of each kind and the kernel library, which calls it back;
 * cudart.so.12 has versions as NVIDIA's.
 */
static int make_objects(void **state)
{
	if (!mkdtemp(top) || abi_data_load(&arena, "templates", &data, NULL) < 0)
		return -1;
	shell("echo 'libcudart.so.12 { global: *; };' >cudart.map;"
	      "echo 'int cudaFree(void) { return 0; } int cudaOld(void) { return 0; }' |"
	      " gcc -shared -fPIC -Wl,-soname,libcudart.so.12 -Wl,--version-script,cudart.map"
	      " -x c - -o libcudart.so.12;"
	      "echo 'int check(void); int kernel(void) { return check(); }' |"
	      " gcc -shared -fPIC -Wl,-soname,libkernel.so.1 -x c - -o libkernel.so.1;"
	      "echo 'int _ZN3c104funcEv(void); int _ZN2at4mainEv(void); int PyList_New(void);"
	      " int kernel(void); int cudaFree(void); void *malloc(unsigned long);"
	      " int weak(void) __attribute__((weak)); int _ZNSt6localeC1Ev(void);"
	      " int check(void) { return 1; }"
	      " void *go(void) { return malloc(_ZN3c104funcEv() + _ZN2at4mainEv() + PyList_New()"
	      "  + kernel() + cudaFree() + (weak ? weak() : 0) + _ZNSt6localeC1Ev()); }' |"
	      " gcc -shared -fPIC -x c - -x none -o binding.so -Wl,--no-as-needed ./libkernel.so.1"
	      "  ./libcudart.so.12 -lstdc++;"
	      "echo 'int odd(void); int go(void) { return odd(); }' >odd.c;"
	      "gcc -shared -fPIC odd.c -o odd.so; : | gcc -shared -fPIC -Wl,-soname,libodd.so.1 "
	      "  -x c - -o libodd.so.1; gcc -shared -fPIC odd.c -o odd2.so -Wl,--no-as-needed "
	      "  ./libodd.so.1;"
	      "echo 'int _ZNSt3newEv(void); int go(void) { return _ZNSt3newEv(); }' |"
	      " gcc -shared -fPIC -x c - -x none -o std.so -Wl,--no-as-needed -lstdc++;"
	      "for n in a z; do echo \"int ${n}_function(void); int _ZNKSt3getEv(void);"
	      " int go(void) { return ${n}_function() + _ZNKSt3getEv(); }\" |"
	      " gcc -shared -fPIC -x c - -x none -o order-$n.so -Wl,--no-as-needed -lstdc++; done");
	return 0;
}

static int remove_objects(void **state)
{
	arena_done(&arena);
	return path_remove_tree(top, NULL);
}

static const struct elf_info *object(const char *name)
{
	struct elf_info *e = arena_alloc(&arena, sizeof *e);
	_free_ char *path = path_join(top, name);
	struct err err = {0};
	if (elf_read(&arena, path, e, &err) < 0)
		fail_msg("%s", err.msg);
	return e;
}

static const char *torch_names[] = {"_ZN2at4mainEv", "_ZN3c104funcEv"};
static const char *cudart_names[] = {"cudaFree", "cudaOld"};
static struct exports_library torch_libraries[] = {
    {"libc10.so", torch_names + 1, 1}, {"libtorch_cpu.so", torch_names, 1}};
static struct exports_library cudart_library = {"libcudart.so.12", cudart_names, 2};
static const struct exports torch = {.libraries = torch_libraries, .n = 2};
static const struct exports old_torch = {.libraries = torch_libraries, .n = 1};
static const struct exports cudart = {.libraries = &cudart_library, .n = 1};

/* "name (library)" of each missing symbol, and what was left out. */
static void expect(const char *file, const struct abi_world *w, const char *want, size_t unjudged)
{
	struct abi_verdict v;
	_cleanup_(buf_done) struct buf text = BUF_INIT(1 << 16);
	abi_judge(&arena, object(file), w, &v);
	for (size_t i = 0; i < v.n_missing; i++)
		buf_printf(
		    &text, "%s%s (%s)", i ? ", " : "", v.missing[i].name, v.missing[i].library);
	assert_string_equal(buf_str(&text), want);
	assert_int_equal(v.n_unjudged, unjudged);
}

static void test_judge(void **state)
{
	const struct elf_info *beside[] = {object("libkernel.so.1")};
	const struct elf_info *user[] = {object("binding.so")};
	struct abi_world w = {.data = &data,
	    .python = abi_data_python(&data, "3.11"),
	    .torch = &torch,
	    .cudart = &cudart,
	    .beside = beside,
	    .n_beside = 1};
	/* _ZNSt6localeC1Ev is bound to a version of libstdc++ at link time */
	expect("binding.so", &w, "", 0);
	w.torch = &old_torch;
	expect("binding.so", &w, "_ZN2at4mainEv (torch)", 0);
	w.n_beside = 0;
	expect("binding.so", &w, "_ZN2at4mainEv (torch)", 1); /* libkernel.so.1 is outside then */
	expect("libkernel.so.1", &w, "check (none of its libraries)", 0);
	w.beside = user;
	w.n_beside = 1;
	expect("libkernel.so.1", &w, "", 0);
}

/* What is missing does not depend on what stands before it, here a name of a const member of std.
 */
static void test_order(void **state)
{
	struct abi_world w = {.data = &data, .torch = &torch};
	expect("order-a.so", &w, "a_function (none of its libraries)", 1);
	expect("order-z.so", &w, "z_function (none of its libraries)", 1);
	struct elf_symbol symbols[] = {{.name = "_ZSt4cout"}, {.name = "my_function"}};
	for (int turn = 0; turn < 2; turn++) {
		struct elf_info e = *object("std.so");
		struct abi_verdict v;
		e.undefined = symbols;
		e.n_undefined = 2;
		abi_judge(&arena, &e, &w, &v);
		assert_int_equal(v.n_missing, 1);
		assert_string_equal(v.missing[0].name, "my_function");
		symbols[0].name = "my_function";
		symbols[1].name = "_ZSt4cout";
	}
}

static void test_cudart(void **state)
{
	const struct elf_info *beside[] = {object("libkernel.so.1")};
	struct exports_library other = {"libcudart.so.12", cudart_names + 1, 1};
	struct exports_library thirteen = {"libcudart.so.13", cudart_names, 2};
	struct exports changed = {.libraries = &other, .n = 1};
	struct abi_world w = {.data = &data,
	    .python = abi_data_python(&data, "3.11"),
	    .torch = &torch,
	    .cudart = &changed,
	    .beside = beside,
	    .n_beside = 1};
	expect("binding.so", &w, "cudaFree (libcudart.so.12)", 0);
	changed.libraries = &thirteen;
	expect("binding.so", &w, "cudaFree (libcudart.so.12)", 0);
}

static void test_parts_not_judged(void **state)
{
	const struct elf_info *beside[] = {object("libkernel.so.1")};
	struct abi_world w = {.data = &data, .beside = beside, .n_beside = 1};
	expect("binding.so", &w, "", 4); /* two of torch, one of CPython, one of libcudart */
	expect("odd.so", &w, "odd (none of its libraries)", 0);
	expect("odd2.so", &w, "", 1);
	expect("std.so", &w, "", 1);
}

static void test_versions_beyond(void **state)
{
	struct elf_need need[] = {{"libc.so.6", "GLIBC_9.1"}};
	struct elf_symbol symbols[] = {{"later", "GLIBC_9.1", false}, {"now", "GLIBC_2.34", false},
	    {"inner", "GLIBC_PRIVATE", false}, {"weak", "GLIBC_9.1", true}};
	struct elf_info e = {.undefined = symbols, .n_undefined = 4, .needs = need, .n_needs = 1};
	struct abi_world w = {.data = &data};
	struct abi_verdict v;
	abi_judge(&arena, &e, &w, &v);
	assert_int_equal(v.n_undefined, 3);
	assert_int_equal(v.n_missing, 2);
	assert_string_equal(v.missing[0].name, "inner");
	assert_string_equal(v.missing[1].name, "later");
	assert_string_equal(v.missing[1].library, "libc.so.6 (GLIBC_9.1)");
}

static void test_torch_names(void **state)
{
	static const char *const yes[] = {"_ZN3c1011StorageImplD1Ev", "_ZNK2at6Tensor4dataEv",
	    "_ZN5torch8autograd4NodeD1Ev", "_ZTIN3c105ErrorE", "_Z3fooRKN2at6TensorE",
	    "aoti_torch_delete", "_ZN6caffe28TypeMetaE"};
	static const char *const no[] = {"c10", "_ZN13c10namespaceE", "_ZNSt6localeC1Ev",
	    "cudaFree", "PyList_New", "_ZN12at_the_end_xE"};
	for (size_t i = 0; i < ARRAY_SIZE(yes); i++)
		if (!abi_is_torch_name(yes[i]))
			fail_msg("%s", yes[i]);
	for (size_t i = 0; i < ARRAY_SIZE(no); i++)
		if (abi_is_torch_name(no[i]))
			fail_msg("%s", no[i]);
}

static void suites_of(const char *version, const char *want)
{
	struct elf_need need[] = {
	    {"libc.so.6", "GLIBC_2.2.5"}, {"x", "CXXABI_1.3"}, {"x", version}};
	struct elf_info e = {.needs = need, .n_needs = 3};
	const struct abi_suite *fits[16];
	_cleanup_(strv_done) struct strv names = STRV_INIT;
	size_t n = abi_suites(&data, &e, fits);
	for (size_t i = 0; i < n; i++)
		strv_add(&names, fits[i]->codename);
	_free_ char *got = strv_join(&names, " ");
	assert_string_equal(got, want);
}

static void test_suites(void **state)
{
	assert_true(data.n_suites < 16);
	suites_of("GLIBC_2.35", "jammy noble resolute bookworm trixie");
	suites_of("GLIBC_2.36", "noble resolute bookworm trixie");
	suites_of("GLIBC_2.40", "resolute trixie");
	suites_of("GLIBC_2.43", "resolute");
	suites_of("GLIBC_2.44", "");
	suites_of("GLIBCXX_3.4.30", "jammy noble resolute bookworm trixie");
	suites_of("GLIBCXX_3.4.31", "noble resolute trixie");
	suites_of("CXXABI_1.3.14", "noble resolute trixie");
	suites_of("CXXABI_TM_1", "jammy noble resolute bookworm trixie");
	suites_of("GCC_14.0.0", "noble resolute trixie");
	suites_of("GLIBC_ABI_DT_RELR", "noble resolute bookworm trixie");
	suites_of("GLIBC_PRIVATE", "");
	suites_of("libcudart.so.12", "jammy noble resolute bookworm trixie");
}

/* This machine is one of the suites, or the table is not tested: its libraries must agree. */
static void test_own_suite(void **state)
{
	for (size_t i = 0; i < data.n_suites; i++) {
		const struct abi_suite *s = &data.suites[i];
		_free_ char *line =
		    xasprintf(". /etc/os-release; [ \"$VERSION_CODENAME\" = %s ] || exit 0;"
			      "highest() { readelf -W -V \"$(gcc -print-file-name=$1)\" |"
			      "  grep -oE \"\\<$2_[0-9.]+\" | sort -uV | tail -n1; };"
			      "[ \"$(highest libc.so.6 GLIBC)\" = GLIBC_%s ];"
			      "[ \"$(highest libstdc++.so.6 GLIBCXX)\" = GLIBCXX_%s ];"
			      "[ \"$(highest libstdc++.so.6 CXXABI)\" = CXXABI_%s ];"
			      "[ \"$(highest libgcc_s.so.1 GCC)\" = GCC_%s ]",
			s->codename, s->glibc, s->glibcxx, s->cxxabi, s->gcc);
		shell(line);
	}
}

/* Every name that the data gives to this machine's Python is one that its interpreter exports. */
static void test_own_python(void **state)
{
	_cleanup_(buf_done) struct buf version = BUF_INIT(64), text = BUF_INIT(1 << 20);
	char *argv[] = {(char *)"python3", (char *)"-c",
	    (char *)"import sys; print('%d.%d' % sys.version_info[:2], end='')", NULL};
	assert_int_equal(proc_capture(argv, &version, NULL), 0);
	const struct abi_python *p = abi_data_python(&data, buf_str(&version));
	assert_non_null(p);
	assert_true(p->n > 1500);
	for (size_t i = 0; i < p->n; i++)
		buf_printf(&text, "%s\n", p->names[i]);
	_free_ char *path = path_join(top, "names");
	assert_int_equal(outfile_put(path, 0644, text.data, text.len, NULL), 0);
	shell("exe=$(python3 -c 'import os, sys; print(os.path.realpath(sys.executable))');"
	      "{ nm -D --defined-only \"$exe\"; lib=$(ldd \"$exe\" | awk '/libpython/ {print $3}');"
	      "  [ -z \"$lib\" ] || nm -D --defined-only \"$lib\"; } | awk '{print $NF}' |"
	      "  LC_ALL=C sort -u >exported; LC_ALL=C comm -23 names exported | head -n 5 | grep . "
	      "&& exit 1;"
	      "[ \"$(grep -cE '^_?Py' exported)\" -lt $(($(wc -l <names) + 120)) ]");
	assert_true(abi_python_has(p, "PyObject_Call"));
	assert_false(abi_python_has(p, "PyObject_Callx"));
	assert_null(abi_data_python(&data, "2.7"));
}

static void refuse(const char *suites, const char *cpython, const char *pattern)
{
	struct abi_data d;
	struct err err = {0};
	_cleanup_(arena_done) struct arena a = ARENA_INIT;
	_free_ char *s = path_join(top, "suites");
	_free_ char *p = path_join(top, "cpython");
	assert_int_equal(outfile_put(s, 0644, suites, strlen(suites), NULL), 0);
	assert_int_equal(outfile_put(p, 0644, cpython, strlen(cpython), NULL), 0);
	assert_int_equal(abi_data_load(&a, top, &d, &err), -1);
	assert_int_equal(err.code, ERR_FORMAT);
	if (!strstr(err.msg, pattern))
		fail_msg("'%s' does not say '%s'", err.msg, pattern);
}

static void test_bad_data(void **state)
{
	static const char suite[] = "Suite: S\nCodename: s\nPython: 3.1\nGlibc: 2.1\nGlibcxx: 3.4\n"
				    "Cxxabi: 1.3\nGcc: 3.0\n";
	_free_ char *twice = xasprintf("%s\n%s", suite, suite);
	_free_ char *typo = xasprintf("%sGlibx: 1\n", suite);
	refuse(twice, "", "suites:9: suite 'S' stands here a second time");
	refuse(typo, "", "suites:8:");
	refuse("Suite: S\nCodename: s\n", "", "suites:1: field 'Python' is missing");
	refuse("Suite: S\nCodename: s\nPython: three\n", "",
	    "suites:3: Python is 'three', expected a version such as 2.39");
	refuse(suite, "Python: 3.11\n", "cpython:1: expected Python and Names");
	refuse(suite, "Python: 3.x\nNames: a\n", "cpython:1: Python has '3.x'");
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_judge),
	    cmocka_unit_test(test_order), cmocka_unit_test(test_cudart),
	    cmocka_unit_test(test_parts_not_judged), cmocka_unit_test(test_versions_beyond),
	    cmocka_unit_test(test_torch_names), cmocka_unit_test(test_suites),
	    cmocka_unit_test(test_own_suite), cmocka_unit_test(test_own_python),
	    cmocka_unit_test(test_bad_data)};
	return cmocka_run_group_tests(tests, make_objects, remove_objects);
}
