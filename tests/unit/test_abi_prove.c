/* Lists of exports in the cache, and what abi_prove concludes from them; gcc makes the bindings. */
#include "unit.h"

#include "../../lib/base/digest.h"
#include "../../lib/base/outfile.h"
#include "../../debbuild/abi/abi_prove.h"
#include "../../debbuild/abi/exports.h"
#include "../../debbuild/wheel/flate.h"
#include "../../debbuild/wheel/pyindex.h"
#include "../../debbuild/data/lockfile.h"
#include "../../debbuild/data/matrix.h"
#include "../../debbuild/plan/plan.h"

/* Nobody listens there: what is not in the cache cannot be had. */
#define NOWHERE "http://127.0.0.1:9/simple"

/* Puts a list into the cache and returns the entry that pins it. */
static struct lock_entry pin(struct unit *u, const char *file, const char *text)
{
	_cleanup_(buf_done) struct buf packed = BUF_INIT(1 << 20);
	char hex[DIGEST_HEX_MAX];
	const char *whole = arena_printf(&u->a, "wheel %s\n%s", file, text);
	digest_hex(DIGEST_SHA256, whole, strlen(whole), hex);
	assert_int_equal(flate_pack(whole, strlen(whole), &packed, &u->err), 0);
	const char *path =
	    unit_path(u, arena_printf(&u->a, "abi/%.*s.gz", (int)strlen(file) - 4, file));
	assert_int_equal(path_mkdirs_for(path, &u->err), 0);
	assert_int_equal(outfile_put(path, 0644, packed.data, packed.len, &u->err), 0);
	return (struct lock_entry){.file = file,
	    .project = str_starts(file, "torch") ? "torch" : "nvidia-cuda-runtime-cu12",
	    .index = NOWHERE,
	    .exports_sha256 = arena_strdup(&u->a, hex)};
}

#define TORCH(v, py) "torch-" v "-" py "-" py "-manylinux_2_28_x86_64.whl"
#define RUNTIME	     "nvidia_cuda_runtime_cu12-12.8.90-py3-none-manylinux2014_x86_64.whl"

static void test_list(void **state)
{
	struct unit *u = *state;
	struct lock_entry e = pin(u, TORCH("1.0.0", "cp311"),
	    "library libc10.so\n_ZN3c101aEv\n_ZN3c101bEv\nlibrary libtorch_cpu.so\n_ZN2at1cEv\n"
	    "library libtorch.so\n");
	struct index *x;
	struct exports out;
	struct exports_cost cost;
	assert_int_equal(index_open(NOWHERE, &x, &u->err), 0);
	if (exports_load(&u->a, x, &e, u->dir, &out, &cost, &u->err) < 0)
		fail_msg("%s", u->err.msg);
	assert_int_equal(cost.requests, 0);
	assert_string_equal(out.wheel, e.file);
	assert_string_equal(out.sha256, e.exports_sha256);
	assert_int_equal(out.n, 3);
	assert_string_equal(exports_find(&out, "_ZN3c101bEv")->name, "libc10.so");
	assert_string_equal(exports_find(&out, "_ZN2at1cEv")->name, "libtorch_cpu.so");
	assert_null(exports_find(&out, "_ZN3c101b"));
	assert_null(exports_find(&out, ""));
	index_close(x);
}

/* A list that the lock does not pin is not looked at; a damaged one is fetched anew. */
static void test_list_refused(void **state)
{
	struct unit *u = *state;
	struct lock_entry e = pin(u, TORCH("1.0.0", "cp311"), "library libc10.so\na\n");
	struct lock_entry other = e;
	struct index *x;
	struct exports out;
	struct exports_cost cost;
	assert_int_equal(index_open(NOWHERE, &x, &u->err), 0);
	other.exports_sha256 = NULL;
	assert_int_equal(exports_load(&u->a, x, &other, u->dir, &out, &cost, &u->err), -1);
	unit_error(u, ERR_TRUST,
	    "'" TORCH("1.0.0", "cp311") "' has no Exports-Sha256 in the lock, so nothing can be "
					"proved on it");
	other.exports_sha256 = "0000000000000000000000000000000000000000000000000000000000000000";
	assert_int_equal(exports_load(&u->a, x, &other, u->dir, &out, &cost, &u->err), -1);
	assert_int_equal(u->err.code, ERR_NETWORK);
	/* names out of order would be searched in vain */
	e = pin(u, TORCH("1.0.0", "cp311"), "library libc10.so\nb\na\n");
	assert_int_equal(exports_load(&u->a, x, &e, u->dir, &out, &cost, &u->err), -1);
	assert_int_equal(u->err.code, ERR_NETWORK);
	index_close(x);
}

/* A plan of three torches for one CUDA, two Pythons, and the kernel library. */
struct made {
	struct torch_release torches[4];
	struct matrix matrix;
	struct lock_entry entries[8];
	struct lockfile lock;
	struct host_python py311, py312;
	struct plan_binding bindings[3];
	struct plan plan;
	struct abi_paths paths;
};

static void make_binaries(struct unit *u, const char *calls)
{
	unit_put(u, "calls", calls);
	assert_string_equal(
	    unit_sh(u,
		"set -e; mkdir cu128; cd cu128;"
		"echo 'libcudart.so.12 { global: *; };' >map;"
		"echo 'int cudaFree(void) { return 0; }' | gcc -shared -fPIC -x c - -o "
		"  libcudart.so.12 -Wl,-soname,libcudart.so.12 -Wl,--version-script,map;"
		"echo 'int check(void); int cudaFree(void);"
		"  int kernel(void) { return check() + cudaFree(); }' |"
		" gcc -shared -fPIC -x c - -x none -o libk_cu128.so.1"
		"  -Wl,-soname,libk_cu128.so.1 ./libcudart.so.12;"
		"{ for f in $(cat ../calls) kernel; do echo \"int $f(void);\"; done;"
		"  echo 'int check(void) { return 0; } int go(void) { return 0';"
		"  for f in $(cat ../calls) kernel; do echo \"+ $f()\"; done; echo '; }'; } >b.c;"
		"for b in torch1.0-cp311 torch1.1-cp311 torch1.1-cp312; do"
		"  gcc -shared -fPIC b.c -o $b.so ./libk_cu128.so.1; done 2>&1"),
	    "");
}

static void make_plan(struct unit *u, struct made *m)
{
	*m = (struct made){.torches = {{.version = "1.0.0", .minor = "1.0", .cuda = "12.8"},
			       {.version = "1.1.0", .minor = "1.1", .cuda = "12.8"},
			       {.version = "1.2.0", .minor = "1.2", .cuda = "12.8"},
			       {.version = "1.3.0", .minor = "1.3", .cuda = "13.0"}},
	    .entries = {pin(u, RUNTIME, "library libcudart.so.12\ncudaFree\n"),
		pin(u, TORCH("1.0.0", "cp311"), "library libc10.so\n_ZN3c101aEv\n"),
		pin(u, TORCH("1.1.0", "cp311"), "library libc10.so\n_ZN3c101aEv\n_ZN3c101bEv\n"),
		pin(u, TORCH("1.1.0", "cp312"), "library libc10.so\n_ZN3c101aEv\n_ZN3c101bEv\n"),
		pin(u, TORCH("1.2.0", "cp311"), "library libc10.so\n_ZN3c101aEv\n"),
		pin(u, TORCH("1.2.0", "cp312"), "library libc10.so\n_ZN3c101bEv\n"),
		pin(u, TORCH("1.3.0", "cp311"), "library libc10.so\n_ZN3c101aEv\n")},
	    .py311 = {.version = "3.11"},
	    .py312 = {.version = "3.12"}};
	m->matrix = (struct matrix){.torches = m->torches, .n_torches = 4};
	m->lock = (struct lockfile){.source = "lock", .v = m->entries, .n = 7};
	m->bindings[0] = (struct plan_binding){
	    &m->torches[0], &m->py311, "torch1.0-cp311.so", "cu128/torch1.0-cp311.so"};
	m->bindings[1] = (struct plan_binding){
	    &m->torches[1], &m->py311, "torch1.1-cp311.so", "cu128/torch1.1-cp311.so"};
	m->bindings[2] = (struct plan_binding){
	    &m->torches[1], &m->py312, "torch1.1-cp312.so", "cu128/torch1.1-cp312.so"};
	m->plan = (struct plan){.cuda = "12.8",
	    .flavour = "cu128",
	    .kernel_library = "libk_cu128.so.1",
	    .runtime = &m->entries[0],
	    .bindings = m->bindings,
	    .n_bindings = 3};
	m->paths = (struct abi_paths){.templates = "templates", .cache = u->dir, .work = u->dir};
}

static void expect(const struct abi_proof *p, const char *minors)
{
	_cleanup_(strv_done) struct strv v = STRV_INIT;
	for (size_t i = 0; i < p->n; i++)
		strv_add(&v, p->minors[i]);
	_free_ char *got = strv_join(&v, " ");
	assert_string_equal(got, minors);
}

/* All torches of the CUDA that have every symbol, no other CUDA's, none without a wheel. */
static void test_proofs(void **state)
{
	struct unit *u = *state;
	struct made m;
	struct abi_proof *proofs;
	make_binaries(u, "_ZN3c101aEv PyList_New");
	make_plan(u, &m);
	if (abi_prove(&u->a, &m.plan, &m.matrix, &m.lock, &m.paths, &proofs, &u->err) < 0)
		fail_msg("%s", u->err.msg);
	expect(&proofs[0], "1.0 1.1 1.2");
	expect(&proofs[1], "1.0 1.1 1.2");
	expect(&proofs[2], "1.1");
}

static void refuse(struct unit *u, struct made *m, enum err_code code, const char *msg)
{
	struct abi_proof *proofs;
	assert_int_equal(
	    abi_prove(&u->a, &m->plan, &m->matrix, &m->lock, &m->paths, &proofs, &u->err), -1);
	unit_error(u, code, msg);
}

/* Incomplete on its own torch: symbol, library, and the torches that lack it. */
static void test_own_torch_lacks(void **state)
{
	struct unit *u = *state;
	struct made m;
	make_binaries(u, "_ZN3c101aEv _ZN3c101bEv");
	make_plan(u, &m);
	refuse(u, &m, ERR_FORMAT,
	    "'torch1.0-cp311.so' is not complete on torch 1.0.0 for CUDA 12.8, which it was built "
	    "for: it lacks c10::b() of libc10.so (1 in all), which is missing from torch 1.0 1.2");
}

static void test_python_lacks(void **state)
{
	struct unit *u = *state;
	struct made m;
	make_binaries(u, "_ZN3c101aEv PyList_Newer");
	make_plan(u, &m);
	refuse(u, &m, ERR_FORMAT,
	    "'torch1.0-cp311.so' is not complete on torch 1.0.0 for CUDA 12.8, which it was built "
	    "for: it lacks PyList_Newer of CPython 3.11 (1 in all), which is missing from torch "
	    "1.0 "
	    "1.1 1.2");
}

static void test_kernel_library_lacks(void **state)
{
	struct unit *u = *state;
	struct made m;
	make_binaries(u, "_ZN3c101aEv");
	make_plan(u, &m);
	m.entries[0] = pin(u, RUNTIME, "library libcudart.so.12\ncudaOther\n");
	refuse(u, &m, ERR_FORMAT,
	    "'libk_cu128.so.1' is not complete on torch 1.0.0 for CUDA 12.8, which it was built "
	    "for: it lacks cudaFree of libcudart.so.12 (1 in all), which is missing from torch 1.0 "
	    "1.1 1.2");
}

static void test_own_torch_not_pinned(void **state)
{
	struct unit *u = *state;
	struct made m;
	make_binaries(u, "_ZN3c101aEv");
	make_plan(u, &m);
	m.entries[1].exports_sha256 = NULL;
	refuse(u, &m, ERR_TRUST,
	    "'torch1.0-cp311.so' cannot be proved: the lock 'lock' has no exports of torch 1.0.0 "
	    "for Python 3.11");
}

int main(void)
{
	const struct CMUnitTest tests[] = {CASE(test_list), CASE(test_list_refused),
	    CASE(test_proofs), CASE(test_own_torch_lacks), CASE(test_python_lacks),
	    CASE(test_kernel_library_lacks), CASE(test_own_torch_not_pinned)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
