/* A flavour package whose claims are true, and then each claim made false in turn. */
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
#include "../../lib/base/xalloc.h"
#include "../../lib/deb/inspect.h"
#include "fatmake.h"

static char top[] = "/tmp/test_inspect.XXXXXX";

static char *at(const char *name)
{
	return path_join(top, name);
}

static void shell(const char *line)
{
	struct buf out = BUF_INIT(1 << 20);
	char *argv[] = {(char *)"sh", (char *)"-ec", (char *)line, NULL};
	struct proc_spec spec = {.argv = argv, .dir = top, .out = &out, .errout = &out};
	struct proc_result r;
	struct err err = {0};
	if (proc_run(&spec, &r, &err) < 0)
		fail_msg("%s", err.msg);
	if (r.status)
		fail_msg("%s: %s", line, buf_str(&out));
	buf_done(&out);
}

#define DIR "s/usr/lib/x86_64-linux-gnu/debkit/causal-conv1d-cu128"

static void put_fatbin(const char *name, const struct fat *f)
{
	struct buf b = BUF_INIT(1 << 20);
	_free_ char *path = at(name);
	make_fatbin(&b, f);
	assert_int_equal(outfile_put(path, 0644, b.data, b.len, NULL), 0);
	buf_done(&b);
}

/* A kernel library with two fat binaries, two bindings, and a stub of the CUDA runtime. */
static int make_stage(void **state)
{
	if (!mkdtemp(top))
		return -1;
	put_fatbin("one.fatbin", (struct fat[]){{2, 90, 0x11, 40000, 0}, {2, 120, 0x11, 30000, 0},
				     {1, 120, 0x8011, 800, 4000}, {0}});
	put_fatbin("two.fatbin", (struct fat[]){{1, 120, 0x11, 900, 0}, {2, 90, 0x11, 8000, 0},
				     {2, 120, 0x11, 3000, 0}, {2, 80, 0x11, 3000, 0}, {0}});
	shell(
	    "mkdir -p " DIR " s/usr/share/doc/x; echo c >s/usr/share/doc/x/copyright;"
	    "echo 'void cudaRun(void) {}' >rt.c; gcc -shared -fPIC -Wl,-soname,libcudart.so.12 "
	    "  rt.c -o libcudart.so.12;"
	    "echo 'void cudaRun(void); void kernel(void) { cudaRun(); }' >k.c;"
	    "printf '.section .nv_fatbin,\"a\"\\n.balign 8\\n.incbin \"one.fatbin\"\\n.balign 8\\n"
	    ".incbin \"two.fatbin\"\\n.section .note.GNU-stack\\n' >k.s;"
	    "gcc -shared -fPIC -Wl,-soname,libcausal_conv1d_cu128.so.1 k.c k.s ./libcudart.so.12 "
	    "  -o " DIR "/libcausal_conv1d_cu128.so.1;"
	    "echo 'int puts(const char *); void kernel(void); "
	    "void *PyInit_x(void) { puts(\"x\"); kernel(); return 0; }' >b.c;"
	    "for b in torch2.10-cp311 torch2.9-cp311; do gcc -shared -fPIC b.c "
	    "  " DIR "/libcausal_conv1d_cu128.so.1 -o " DIR "/$b.so; done;"
	    "printf 'File: torch2.9-cp311.so\\nTorch: 2.9\\n\\nFile: torch2.10-cp311.so\\n"
	    "Torch: 2.10 2.11\\n' >" DIR "/bindings;"
	    "printf '\\177ELF\\2\\1\\1\\0\\0\\0\\0\\0\\0\\0\\0\\0\\2\\0\\276\\0cubin' >" DIR
	    "/x.cubin;"
	    "printf '\\177ELF' >" DIR "/short");
	return 0;
}

static int remove_stage(void **state)
{
	return path_remove_tree(top, NULL);
}

static const char true_control[] = "Package: python3-causal-conv1d-cu128\n"
				   "Version: 1.7.0-1\n"
				   "Architecture: amd64\n"
				   "Maintainer: Demo <demo@example.org>\n"
				   "Depends: cuda-cudart-12-8, libc6 (>= 2.34)\n"
				   "Debkit-Cuda: 12.8\n"
				   "Debkit-Cuda-Archs: 9.0 12.0 12.0+PTX\n"
				   "Debkit-Torch: 2.9 2.10 2.11\n"
				   "Debkit-Python: 3.11\n"
				   "Debkit-Compiler: gcc\n"
				   "Description: demonstration\n";

/* Packs the stage with the control text, inspects, and checks. what NULL: all is true. */
static void expect(const char *text, const char *what)
{
	_cleanup_(arena_done) struct arena a = ARENA_INIT;
	_free_ char *stage = at("s"), *deb = at("x.deb");
	struct stanza_list list = {0};
	struct err err = {0};
	if (stanza_parse(&a, text, strlen(text), "control", STANZA_ONE, &list, &err) < 0)
		fail_msg("%s", err.msg);
	struct deb_spec spec = {.control = &list.v[0], .stage = stage, .mtime = 1700000000};
	struct inspect_claims c;
	if (deb_write(&spec, deb, &err) < 0 || inspect_deb(&a, deb, &c, &err) < 0)
		fail_msg("%s", err.msg);
	int r = inspect_check(&c, &err);
	if (!what && r < 0)
		fail_msg("%s", err.msg);
	if (!what)
		return;
	assert_int_equal(r, -1);
	assert_int_equal(err.code, ERR_TRUST);
	if (!strstr(err.msg, what))
		fail_msg("wanted '%s', got '%s'", what, err.msg);
}

/* The text with one line (found by its start) replaced. */
static char *with(const char *text, const char *start, const char *line)
{
	const char *at_line = strstr(text, start);
	assert_non_null(at_line);
	return xasprintf("%.*s%s%s", (int)(at_line - text), text, line, strchr(at_line, '\n') + 1);
}

static void expect_with(const char *start, const char *line, const char *what)
{
	_free_ char *text = with(true_control, start, line);
	expect(text, what);
}

static void test_claims(void **state)
{
	_cleanup_(arena_done) struct arena a = ARENA_INIT;
	_free_ char *deb = at("x.deb");
	expect(true_control, NULL);
	struct inspect_claims c;
	assert_int_equal(inspect_deb(&a, deb, &c, NULL), 0);
	assert_string_equal(c.cuda, "12");
	assert_string_equal(c.archs, "9.0 12.0 12.0+PTX");
	assert_string_equal(c.torch, "2.9 2.10 2.11");
	assert_string_equal(c.python, "3.11");
	assert_null(c.glibcxx);
	assert_non_null(c.glibc);
	assert_int_equal(c.n_libraries, 3);
	assert_int_equal(c.n_bindings, 2);
	assert_string_equal(path_base(c.bindings[0].path), "torch2.10-cp311.so");
	assert_string_equal(c.bindings[0].torch, "2.10");
	assert_string_equal(c.bindings[0].python, "3.11");
	assert_true(c.bindings[0].init);
}

static void test_false_claims(void **state)
{
	expect_with("Debkit-Cuda:", "Debkit-Cuda: 13.0\n",
	    "Debkit-Cuda claims '13.0', but the files hold 'libcudart.so.12'");
	expect_with("Debkit-Cuda:", "Debkit-Cuda: 1\n", "Debkit-Cuda claims '1'");
	expect_with("Debkit-Cuda:", "", "the field Debkit-Cuda is missing");
	expect_with("Debkit-Cuda-Archs:", "Debkit-Cuda-Archs: 8.0 9.0 12.0 12.0+PTX\n",
	    "Debkit-Cuda-Archs claims '8.0 9.0 12.0 12.0+PTX', but the files hold '9.0 12.0 "
	    "12.0+PTX'");
	expect_with("Debkit-Cuda-Archs:", "", "the field Debkit-Cuda-Archs is missing");
	expect_with("Debkit-Torch:", "Debkit-Torch: 2.10\n",
	    "Debkit-Torch claims '2.10', but the files hold '2.9 2.10 2.11'");
	expect_with("Debkit-Torch:", "Debkit-Torch: 2.11, 2.10, 2.9\n", NULL);
	expect_with("Debkit-Python:", "Debkit-Python: 3.11 3.12\n", "Debkit-Python claims");
	expect_with("Debkit-Compiler:", "Debkit-Source-Sha256: abc\n", "is no SHA-256 digest");
	expect_with(
	    "Depends:", "Depends: libc6 (>= 2.2)\n", "Depends asks for libc6 (>= 2.2), but");
	expect_with("Depends:", "Depends: cuda-cudart-12-8, libc6\n", "no version of libc6");
	expect_with("Depends:", "Pre-Depends: libc6 (>= 2.34)\n", NULL);
}

static void test_no_init(void **state)
{
	shell("echo 'int f(void) { return 1; }' >n.c; "
	      "gcc -shared -fPIC n.c -o " DIR "/torch2.11-cp312.so");
	_free_ char *torch = with(true_control, "Debkit-Torch:", "Debkit-Torch: 2.9 2.10 2.11\n");
	_free_ char *text = with(torch, "Debkit-Python:", "Debkit-Python: 3.11 3.12\n");
	expect(torch, "Debkit-Python claims '3.11', but the files hold '3.11 3.12'");
	expect(text, "torch2.11-cp312.so' is named as a binding but defines no PyInit_ function");
	shell("rm " DIR "/torch2.11-cp312.so");
}

static void test_not_listed(void **state)
{
	shell("cp " DIR "/torch2.10-cp311.so " DIR "/torch2.8-cp311.so");
	expect_with("Debkit-Torch:", "Debkit-Torch: 2.8 2.9 2.10 2.11\n",
	    "/torch2.8-cp311.so' with torch 2.8");
	shell("rm " DIR "/torch2.8-cp311.so");
}

static void expect_deb(const char *name, const char *what)
{
	_cleanup_(arena_done) struct arena a = ARENA_INIT;
	_free_ char *deb = at(name);
	struct inspect_claims c;
	struct err err = {0};
	if (inspect_deb(&a, deb, &c, &err) < 0)
		fail_msg("%s", err.msg);
	assert_int_equal(inspect_check(&c, &err), -1);
	assert_int_equal(err.code, ERR_TRUST);
	if (!strstr(err.msg, what))
		fail_msg("wanted '%s', got '%s'", what, err.msg);
}

/* md5sums of a package that dpkg-deb packs as it is told. */
static void test_md5sums(void **state)
{
	shell("mkdir -p m/DEBIAN m/usr m/etc; echo a >m/usr/a; echo b >m/usr/b; echo c >m/etc/c;"
	      "printf 'Package: demo\\nVersion: 1\\nArchitecture: all\\nMaintainer: D <d@e.org>\\n"
	      "Description: demo\\n' >m/DEBIAN/control;"
	      "pack() { dpkg-deb --root-owner-group -b m $1.deb; }; cd m;"
	      "md5sum usr/a usr/b >DEBIAN/md5sums; cd ..; pack good; cd m;"
	      "md5sum usr/a >DEBIAN/md5sums; cd ..; pack less;"
	      "cd m; md5sum usr/b >>DEBIAN/md5sums; sed -i '1s/^./x/' DEBIAN/md5sums; cd ..; pack "
	      "wrong;"
	      "cd m; md5sum usr/a usr/b | sed 's,usr/a,usr/z,' >DEBIAN/md5sums; cd ..; pack more;"
	      "rm m/DEBIAN/md5sums; pack none; echo short >m/DEBIAN/md5sums; pack short");
	expect_deb("less.deb", "md5sums does not list 'usr/b'");
	expect_deb("wrong.deb", "for 'usr/a', but it has");
	expect_deb("more.deb", "md5sums lists 'usr/z', which is not there");
	expect_deb("none.deb", "md5sums does not list 'usr/a'");
	expect_deb("short.deb", "'short' is no digest and name");
	_cleanup_(arena_done) struct arena a = ARENA_INIT;
	_free_ char *good = at("good.deb");
	struct inspect_claims c;
	struct err err = {0};
	assert_int_equal(inspect_deb(&a, good, &c, &err), 0);
	if (inspect_check(&c, &err) < 0)
		fail_msg("%s", err.msg);
	assert_string_equal(c.archs, "");
}

static void test_leaves_nothing(void **state)
{
	_free_ char *tmp = at("tmp");
	assert_int_equal(path_mkdirs(tmp, NULL), 0);
	setenv("TMPDIR", tmp, 1);
	expect(true_control, NULL);
	unsetenv("TMPDIR");
	shell("test -z \"$(ls -A tmp)\"");
	setenv("TMPDIR", "/nonexistent", 1);
	_cleanup_(arena_done) struct arena a = ARENA_INIT;
	_free_ char *deb = at("x.deb");
	struct inspect_claims c;
	struct err err = {0};
	assert_int_equal(inspect_deb(&a, deb, &c, &err), -1);
	assert_int_equal(err.code, ERR_SYSTEM);
	unsetenv("TMPDIR");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_claims),
	    cmocka_unit_test(test_false_claims),
	    cmocka_unit_test(test_no_init),
	    cmocka_unit_test(test_not_listed),
	    cmocka_unit_test(test_md5sums),
	    cmocka_unit_test(test_leaves_nothing),
	};
	return cmocka_run_group_tests(tests, make_stage, remove_stage);
}
