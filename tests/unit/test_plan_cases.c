/*
 * Runs the cases of tests/golden/plan.cases, each a stanza:
 *
 *	Case: what is tried
 *	Change: shell commands, run in a copy of tests/data/templates (optional)
 *	Recipe: demo-conv if it is absent, or demo-fla
 *	Cuda, Torch, Python, Arch, Profile, Jobs, Keyring: the selection (lists at spaces)
 *	Host: what differs from a clang host: nvcc, nvrtc, installed, small, apt, no-python, or
 *python3.12, the python3 that runs build programs (optional) Golden: file of tests/golden that the
 *plan must equal: .txt, .json or .ninja; or Code, Error: the code and the text of the error
 *
 * UPDATE_GOLDEN=1 writes Code, Error and the golden files anew.
 */
#include "unit.h"

#include "../../debbuild/data/lockfile.h"
#include "../../debbuild/data/matrix.h"
#include "../../debbuild/make/ninja.h"
#include "../../debbuild/plan/plan.h"
#include "../../debbuild/data/recipe.h"
#include "../../lib/deb/stanza.h"
#include "planhost.h"

#define CASES "tests/golden/plan.cases"

static struct arena arena;
static struct stanza_list cases;

struct run {
	struct unit u;
	struct stanza *s;
};

static int setup(void **state)
{
	struct run *r = xcalloc(1, sizeof *r);
	struct unit *u = NULL;
	r->s = *state;
	int rc = unit_setup((void **)&u);
	memcpy(&r->u, u, sizeof r->u);
	free(u);
	*state = r;
	return rc;
}

static int teardown(void **state)
{
	struct run *r = *state;
	struct err err = {0};
	int rc = path_remove_tree(r->u.dir, &err);
	arena_done(&r->u.a);
	free(r);
	return rc;
}

static const char *get(const struct run *r, const char *name)
{
	const char *v = stanza_get(r->s, name);
	return v ? v : "";
}

/* A copy of the fixture at "t" below the test's folder, changed as the case says. */
static void make_templates(struct run *r)
{
	_free_ char *cwd = getcwd(NULL, 0);
	const char *said = unit_sh(
	    &r->u, arena_printf(&r->u.a,
		       "exec 2>&1; cp -r '%s/tests/data/templates' t && cd t && %s { :; %s\n}", cwd,
		       *get(r, "Recipe") ? "cat demo-fla/lock >>lock;" : "", get(r, "Change")));
	assert_string_equal(said, "");
}

static void change_host(const struct run *r, struct host *h)
{
	const char *how = get(r, "Host");
	if (strstr(how, "nvcc"))
		planhost_nvcc(h);
	if (strstr(how, "nvrtc"))
		planhost_nvrtc(h);
	if (strstr(how, "installed"))
		h->toolkit_root = "/usr/local/cuda";
	if (strstr(how, "small"))
		h->memory = (uint64_t)1 << 30;
	if (strstr(how, "apt"))
		h->n_pythons = 3;
	if (strstr(how, "no-python"))
		h->n_pythons = 0;
	if (strstr(how, "python3.12"))
		h->python = "3.12";
}

static int make(struct run *r, struct host *h, struct plan *p)
{
	struct unit *u = &r->u;
	struct recipe *recipe = arena_alloc(&u->a, sizeof *recipe);
	struct matrix *m = arena_alloc(&u->a, sizeof *m);
	struct lockfile *lock = arena_alloc(&u->a, sizeof *lock);
	_cleanup_(strv_done) struct strv torches = STRV_INIT, pythons = STRV_INIT,
					 archs = STRV_INIT, profiles = STRV_INIT,
					 packages = STRV_INIT;
	strv_split(&profiles, get(r, "Profile"), " ");
	strv_split(&packages, get(r, "Package"), " ");
	strv_split(&torches, get(r, "Torch"), " ");
	strv_split(&pythons, get(r, "Python"), " ");
	strv_split(&archs, get(r, "Arch"), " ");
	struct selection sel = {.cuda = *get(r, "Cuda") ? get(r, "Cuda") : "12.8",
	    .torches = &torches,
	    .pythons = &pythons,
	    .archs = &archs,
	    .profiles = &profiles,
	    .packages = &packages,
	    .jobs = (unsigned)atoi(get(r, "Jobs")),
	    .keyring_version = stanza_get(r->s, "Keyring")};
	change_host(r, h);
	const char *name = *get(r, "Recipe") ? get(r, "Recipe") : "demo-conv";
	return recipe_load(&u->a, "t", name, recipe, &u->err) < 0 ||
		       matrix_load(&u->a, "t", m, &u->err) < 0 ||
		       lockfile_load(&u->a, "t/lock", lock, &u->err) < 0
		   ? -1
		   : plan_make(&u->a, recipe, m, lock, h, &sel, p, &u->err);
}

static void print(const struct plan *p, const char *golden, struct buf *out)
{
	if (str_ends(golden, ".json"))
		plan_print_json(p, out);
	else if (str_ends(golden, ".ninja"))
		ninja_write(p, "/opt/debkit/bin/debkit", "/var/cache/deb kit",
		    &(struct ninja_launch){.words = "srun -n1 $X"}, out);
	else
		plan_print(p, out);
}

static void check_json(struct run *r, const char *golden)
{
	const char *said =
	    unit_sh(&r->u, arena_printf(&r->u.a, "python3 -m json.tool <%s 2>&1 >/dev/null",
			       unit_put(&r->u, "json", unit_read(&r->u, golden))));
	assert_string_equal(said, "");
}

static void check_plan(struct run *r, const struct plan *p)
{
	const char *golden = get(r, "Golden");
	_cleanup_(buf_done) struct buf out = BUF_INIT(1 << 20);
	if (!*golden)
		fail_msg("a plan was made; expected %s '%s'", get(r, "Code"), get(r, "Error"));
	print(p, golden, &out);
	unit_golden(&r->u, golden, &out);
	if (str_ends(golden, ".json"))
		check_json(r, arena_printf(&r->u.a, "tests/golden/%s", golden));
}

static const char *code_name(enum err_code code)
{
	static const char *const names[] = {[ERR_SYSTEM] = "system",
	    [ERR_USAGE] = "usage",
	    [ERR_FORMAT] = "format",
	    [ERR_TRUST] = "trust",
	    [ERR_TOOL] = "tool"};
	return (size_t)code < ARRAY_SIZE(names) && names[code] ? names[code] : "other";
}

static void run_case(void **state)
{
	struct run *r = *state;
	struct host h;
	struct plan p = {.jobs = 77}, untouched = p;
	planhost_clang(&h);
	make_templates(r);
	_free_ char *cwd = getcwd(NULL, 0);
	assert_int_equal(chdir(r->u.dir), 0);
	int rc = make(r, &h, &p);
	assert_int_equal(chdir(cwd), 0);
	if (rc == 0) {
		check_plan(r, &p);
		return;
	}
	assert_memory_equal(&p, &untouched, sizeof p);
	if (getenv("UPDATE_GOLDEN")) {
		stanza_set(&arena, r->s, "Code", code_name(r->u.err.code));
		stanza_set(&arena, r->s, "Error", r->u.err.msg);
	}
	assert_string_equal(r->u.err.msg, get(r, "Error"));
	assert_string_equal(code_name(r->u.err.code), get(r, "Code"));
}

/* The cases as they are now, below the comment that the file begins with. */
static int write_cases(void)
{
	_cleanup_(buf_done) struct buf old = BUF_INIT(UNIT_FILE_MAX), b = BUF_INIT(UNIT_FILE_MAX);
	if (path_read(CASES, &old, NULL) < 0)
		return 1;
	const char *end = strstr(buf_str(&old), "\n\n");
	buf_append(&b, buf_str(&old), end ? (size_t)(end - buf_str(&old)) + 1 : 0);
	for (size_t i = 0; i < cases.n; i++) {
		buf_putc(&b, '\n');
		stanza_write(&cases.v[i], &b);
	}
	FILE *f = fopen(CASES, "we");
	return !f || fwrite(b.data, 1, b.len, f) != b.len || fclose(f) != 0;
}

int main(void)
{
	struct err err = {0};
	if (stanza_parse_file(&arena, CASES, STANZA_COMMENTS, &cases, &err) < 0) {
		fprintf(stderr, "%s\n", err.msg);
		return 1;
	}
	struct CMUnitTest *tests = arena_alloc(&arena, cases.n * sizeof *tests);
	for (size_t i = 0; i < cases.n; i++)
		tests[i] = (struct CMUnitTest){.name = stanza_get(&cases.v[i], "Case"),
		    .test_func = run_case,
		    .setup_func = setup,
		    .teardown_func = teardown,
		    .initial_state = &cases.v[i]};
	int failed = _cmocka_run_group_tests(CASES, tests, cases.n, NULL, NULL);
	if (getenv("UPDATE_GOLDEN"))
		failed |= write_cases();
	arena_done(&arena);
	return failed;
}
