#include "host.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../lib/base/arena.h"
#include "../../lib/base/buf.h"
#include "../../lib/base/err.h"
#include "../../lib/base/intr.h"
#include "../../lib/base/limits.h"
#include "../../lib/base/path.h"
#include "../../lib/base/proc.h"
#include "../../lib/base/strv.h"
#include "../../lib/base/xalloc.h"
#include "../data/matrix.h"
#include "pyheaders.h"
#include "../data/recipe.h"

/* What a program says of itself, and how long it may think of it: it may lie on a slow server. */
#define SAID_MAX ((size_t)1 << 20)
#define SAY_IN_S 60

int host_parse_toolchain(const char *word, enum host_toolchain *out, struct err *err)
{
	static const char *const words[] = {[TOOLCHAIN_AUTO] = "auto",
	    [TOOLCHAIN_NVCC] = "nvcc",
	    [TOOLCHAIN_NVRTC] = "nvrtc",
	    [TOOLCHAIN_CLANG] = "clang"};
	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		if (!strcmp(word ? word : "auto", words[i])) {
			*out = (enum host_toolchain)i;
			return 0;
		}
	return err_set(
	    err, ERR_USAGE, "unknown toolchain '%s': expected auto, nvcc, nvrtc or clang", word);
}

/* The program's output without the last newline, in the arena. */
static const char *ask(
    struct arena *a, char *const *argv, char *const *env, const char *package, struct err *err)
{
	_cleanup_(buf_done) struct buf said = BUF_INIT(SAID_MAX);
	_free_ char *program = path_find_program(argv[0], NULL);
	if (!program) {
		err_set(
		    err, ERR_TOOL, "program '%s' not found: apt-get install %s", argv[0], package);
		return NULL;
	}
	if (proc_check(
		&(struct proc_spec){.argv = argv, .env = env, .out = &said, .timeout_s = SAY_IN_S},
		err) < 0 ||
	    buf_check(&said, argv[0], err) < 0)
		return NULL;
	while (said.len && said.data[said.len - 1] == '\n')
		buf_truncate(&said, said.len - 1);
	return arena_strdup(a, buf_str(&said));
}

/* The name of an architecture, which becomes part of names of files. */
static const char *ask_arch(struct arena *a, const char *query, struct err *err)
{
	/* The machine's own, not that of a cross build. */
	static char *env[] = {
	    "DEB_HOST_ARCH", "DEB_HOST_MULTIARCH", "DEB_HOST_GNU_TYPE", "CC", NULL};
	const char *said =
	    ask(a, (char *[]){"dpkg-architecture", (char *)query, NULL}, env, "dpkg-dev", err);
	if (!said || (*said && !said[strspn(said, "abcdefghijklmnopqrstuvwxyz0123456789-_")]))
		return said;
	err_set(err, ERR_TOOL,
	    "dpkg-architecture said '%.80s', which is no name of an architecture: look which "
	    "dpkg-architecture is in PATH",
	    said);
	return NULL;
}

static const char *first_line(struct arena *a, const char *text)
{
	return arena_strndup(a, text, strcspn(text, "\n"));
}

static int ask_dpkg(struct arena *a, struct host *h, struct err *err)
{
	/* Paths of the build folder must not enter flags: the same flags, the same bytes. */
	static char *env[] = {"DEB_BUILD_MAINT_OPTIONS=hardening=+all optimize=-lto "
			      "reproducible=-fixfilepath,-fixdebugpath",
	    "DEB_BUILD_OPTIONS", "CFLAGS", "CXXFLAGS", "CPPFLAGS", "LDFLAGS", NULL};
	h->deb_arch = ask_arch(a, "-qDEB_HOST_ARCH", err);
	h->multiarch = h->deb_arch ? ask_arch(a, "-qDEB_HOST_MULTIARCH", err) : NULL;
	if (!h->multiarch)
		return -1;
	const char *cpp =
	    ask(a, (char *[]){"dpkg-buildflags", "--get", "CPPFLAGS", NULL}, env, "dpkg-dev", err);
	const char *cxx = cpp ? ask(a, (char *[]){"dpkg-buildflags", "--get", "CXXFLAGS", NULL},
				    env, "dpkg-dev", err)
			      : NULL;
	const char *ld = cxx ? ask(a, (char *[]){"dpkg-buildflags", "--get", "LDFLAGS", NULL}, env,
				   "dpkg-dev", err)
			     : NULL;
	if (!ld)
		return -1;
	h->cxx_flags = recipe_words(a, arena_printf(a, "%s %s", cpp, cxx));
	h->ld_flags = recipe_words(a, ld);
	return 0;
}

static int find_cxx(struct arena *a, struct host *h, struct err *err)
{
	h->cxx = "g++";
	const char *said = ask(a, (char *[]){"g++", "--version", NULL}, NULL, "g++", err);
	if (!said)
		return -1;
	h->cxx_id = first_line(a, said);
	return 0;
}

/* "release 12.8, V12.8.93" of nvcc --version; NULL if the program is no nvcc. */
static const char *nvcc_version(struct arena *a, const char *nvcc)
{
	const char *said = ask(a, (char *[]){(char *)nvcc, "--version", NULL}, NULL, "", NULL);
	const char *v = said ? strstr(said, ", V") : NULL;
	return v ? arena_strndup(a, v + 3, strspn(v + 3, "0123456789.")) : NULL;
}

const char *host_toolkit_version(struct arena *a, const char *root, const char *cuda)
{
	_free_ char *nvcc = path_join(root, "bin/nvcc");
	if (!path_is_exec(nvcc))
		return NULL;
	const char *v = nvcc_version(a, nvcc);
	size_t n = strlen(cuda);
	return v && !strncmp(v, cuda, n) && v[n] == '.' ? v : NULL;
}

static const char *toolkit_if(
    struct arena *a, const char *root, const char *cuda, const char **version)
{
	*version = host_toolkit_version(a, root, cuda);
	return *version ? arena_strdup(a, root) : NULL;
}

const char *host_find_nvcc(struct arena *a, const char *cuda, const char **version)
{
	const char *home = getenv("CUDA_HOME"), *found = NULL;
	if (home && *home)
		found = toolkit_if(a, home, cuda, version);
	_free_ char *usual = xasprintf("/usr/local/cuda-%s", cuda);
	if (!found)
		found = toolkit_if(a, usual, cuda, version);
	_free_ char *in_path = found ? NULL : path_find_program("nvcc", NULL);
	if (in_path) {
		char *real = realpath(in_path, NULL);
		_free_ char *bin = real ? path_dir(real) : NULL;
		_free_ char *root = bin ? path_dir(bin) : NULL;
		free(real);
		if (root)
			found = toolkit_if(a, root, cuda, version);
	}
	_free_ char *cache = found ? NULL : path_cache_dir(NULL);
	_free_ char *fetched =
	    cache ? xasprintf("%s/toolchain/cuda-%s/usr/local/cuda-%s", cache, cuda, cuda) : NULL;
	return fetched ? toolkit_if(a, fetched, cuda, version) : found;
}

/* The first clang of at least 22, which knows CUDA 12.8. why: of one that does not run. */
static const char *find_clang(struct arena *a, const char **version, struct err *why)
{
	static const char *const names[] = {"clang++-22", "clang++-23", "clang++-24", "clang++"};
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		_free_ char *program = path_find_program(names[i], NULL);
		if (!program)
			continue;
		const char *said = ask(a, (char *[]){program, "--version", NULL}, NULL, "", why);
		const char *v = said ? strstr(said, "clang version ") : NULL;
		if (!v || atoi(v + strlen("clang version ")) < 22)
			continue;
		v += strlen("clang version ");
		*version = arena_strndup(a, v, strspn(v, "0123456789."));
		return names[i];
	}
	return NULL;
}

/* A toolkit that the user names must run; another version is no fault. */
static int check_home(struct arena *a, struct err *err)
{
	const char *home = getenv("CUDA_HOME");
	if (!home || !*home)
		return 0;
	char *nvcc = arena_printf(a, "%s/bin/nvcc", home);
	if (!path_is_exec(nvcc) || ask(a, (char *[]){nvcc, "--version", NULL}, NULL, "", err))
		return 0;
	return err_hint(
	    err, "; mend the toolkit in CUDA_HOME, unset that, or use --toolchain clang");
}

static int no_clang(
    enum host_toolchain want, const char *cuda, const struct err *why, struct err *err)
{
	_free_ char *no_nvcc = want == TOOLCHAIN_CLANG || want == TOOLCHAIN_NVRTC
				   ? xstrdup("")
				   : xasprintf("no nvcc of CUDA %s found, and ", cuda);
	return err_set(err, ERR_TOOL, "%s%s", no_nvcc,
	    why->code ? why->msg : "no clang 22 found: apt-get install clang-22");
}

/* nvcc of exactly that CUDA: installed, or put together from wheels. False if neither is there. */
static bool choose_nvcc(
    struct arena *a, const struct toolkit_recipe *t, const char *cuda, struct host *h)
{
	const char *version = NULL;
	h->toolkit_root = host_find_nvcc(a, cuda, &version);
	if (!h->toolkit_root && t && !strcmp(t->route, "nvcc"))
		version = t->parts[0].version;
	if (!version)
		return false;
	h->route = ROUTE_NVCC;
	h->compiler = arena_printf(a, "nvcc %s", version);
	return true;
}

static int choose_clang(struct arena *a, const struct toolkit_recipe *t, const char *cuda,
    enum host_toolchain want, struct host *h, struct err *err)
{
	const char *version = NULL, *ptxas = t ? toolkit_part_version(t, "bin/ptxas") : NULL;
	struct err why = {0};
	bool nvrtc = t && !strcmp(t->route, "nvrtc") && want != TOOLCHAIN_CLANG;
	h->clang = find_clang(a, &version, &why);
	if (!h->clang)
		return no_clang(want, cuda, &why, err);
	h->route = nvrtc ? ROUTE_NVRTC : ROUTE_CLANG;
	h->compiler = nvrtc ? arena_printf(a, "nvrtc %s, ptxas %s, clang %s", t->parts[0].version,
				  ptxas ? ptxas : cuda, version)
			    : arena_printf(a, "clang %s, ptxas %s", version, ptxas ? ptxas : cuda);
	return 0;
}

static int choose_route(struct arena *a, const struct matrix *m, const char *cuda,
    enum host_toolchain want, struct host *h, struct err *err)
{
	const struct toolkit_recipe *t = matrix_toolkit(m, cuda);
	bool may_be_nvcc = want == TOOLCHAIN_AUTO || want == TOOLCHAIN_NVCC;
	if (may_be_nvcc && check_home(a, err) < 0)
		return -1;
	if (may_be_nvcc && choose_nvcc(a, t, cuda, h))
		return 0;
	if (want == TOOLCHAIN_NVCC)
		return err_set(err, ERR_TOOL,
		    "no nvcc of CUDA %s found in CUDA_HOME, /usr/local/cuda-%s or PATH: run debkit "
		    "toolchain --cuda %s, or leave out --toolchain nvcc",
		    cuda, cuda, cuda);
	const char *word = want == TOOLCHAIN_NVRTC ? "nvrtc" : "clang";
	if (t && !strcmp(t->route, "nvcc"))
		return err_set(err, ERR_USAGE,
		    "CUDA %s is built with nvcc alone, which debkit puts together from wheels "
		    "where none is installed: leave out --toolchain %s",
		    cuda, word);
	if (want == TOOLCHAIN_NVRTC && (!t || strcmp(t->route, "nvrtc")))
		return err_set(err, ERR_USAGE,
		    "templates/toolkits has no NVRTC for CUDA %s: leave out --toolchain nvrtc",
		    cuda);
	return choose_clang(a, t, cuda, want, h, err);
}

/* The Pythons that a selected torch has a wheel for, or those of them that are named. */
static void wanted_pythons(const struct matrix *m, const struct selection *sel, struct strv *out)
{
	for (size_t i = 0; i < m->n_torches; i++)
		for (char **py = m->torches[i].pythons;
		     *py && !strcmp(m->torches[i].cuda, sel->cuda); py++)
			if (!sel->pythons || !sel->pythons->n || strv_has(sel->pythons, *py))
				strv_add(out, *py);
	strv_uniq(out);
}

static int find_pythons(struct arena *a, const struct matrix *m, const struct selection *sel,
    struct host *h, struct err *err)
{
	_cleanup_(strv_done) struct strv wanted = STRV_INIT;
	_free_ char *cache = path_cache_dir(err);
	if (!cache)
		return -1;
	wanted_pythons(m, sel, &wanted);
	pyheaders_find(a, &wanted, cache, h);
	return 0;
}

/* Files of the recipe's folder that are read by its steps. */
static bool is_support(const struct recipe *r, const char *name)
{
	if (r->kind == RECIPE_TRITON)
		return str_starts(name, "kernels/") && str_ends(name, ".py");
	return str_ends(name, ".h") || str_ends(name, ".cpp");
}

/* What makes stores out of compiled kernels, or bindings, has no part in these. */
static bool is_compiling(const struct recipe *r, const char *name)
{
	return is_support(r, name) && strcmp(name, "kernels/merge.py") != 0 &&
	       !str_starts(name, "binding/");
}

static int hash_files(struct arena *a, const char *dir, const struct recipe *r,
    bool (*counts)(const struct recipe *r, const char *name), const char **out, struct err *err)
{
	_cleanup_(strv_done) struct strv names = STRV_INIT;
	if (path_walk(dir, &names, err) < 0)
		return -1;
	struct digest *d = digest_new(DIGEST_SHA256);
	for (size_t i = 0; i < names.n; i++) {
		if (!counts(r, names.v[i]))
			continue;
		_free_ char *full = path_join(dir, names.v[i]);
		char hex[DIGEST_HEX_MAX];
		if (digest_file_hex(DIGEST_SHA256, full, hex, NULL, err) < 0) {
			digest_free(d);
			return -1;
		}
		digest_update(d, names.v[i], strlen(names.v[i]) + 1);
		digest_update(d, hex, strlen(hex));
	}
	char hex[DIGEST_HEX_MAX];
	digest_finish_hex(d, hex);
	*out = arena_strdup(a, hex);
	return 0;
}

static bool is_any(const struct recipe *r, const char *name)
{
	return true;
}

/* The hashes of the files that steps read beside upstream's. */
static int hash_support(struct arena *a, const struct recipe *r, struct host *h, struct err *err)
{
	_free_ char *nvrtc = recipe_nvrtc_dir(r);
	if (hash_files(a, r->dir, r, is_support, &h->support_id, err) < 0 ||
	    hash_files(a, r->dir, r, is_compiling, &h->kernels_id, err) < 0)
		return -1;
	return h->route == ROUTE_NVRTC ? hash_files(a, nvrtc, r, is_any, &h->nvrtc_id, err) : 0;
}

/* The version of the python3 that runs the build programs of a triton recipe. */
static int find_python3(struct arena *a, struct host *h, struct err *err)
{
	static const char prefix[] = "Python ";
	const char *said = ask(a, (char *[]){"python3", "--version", NULL}, NULL, "python3", err);
	if (!said)
		return -1;
	const char *v = said + strlen(prefix), *dot = strchr(said, '.');
	if (!str_starts(said, prefix) || !dot || !isdigit((unsigned char)dot[1]))
		return err_set(err, ERR_TOOL,
		    "python3 said '%.80s', expected its version: look which python3 is in PATH",
		    said);
	h->python = arena_strndup(a, v, (size_t)(dot - v) + 1 + strspn(dot + 1, "0123456789"));
	h->compiler = "Triton";
	return 0;
}

int host_gather(struct arena *a, const struct recipe *r, const struct matrix *m,
    const struct selection *sel, enum host_toolchain toolchain, struct host *out, struct err *err)
{
	struct host h = {.memory = limits_memory(""), .cpus = limits_cpus("")};
	_free_ char *ninja = path_find_program("ninja", NULL);
	if (!ninja)
		return err_set(
		    err, ERR_TOOL, "program 'ninja' not found: apt-get install ninja-build");
	if (matrix_check_cuda(m, sel->cuda, err) < 0 || ask_dpkg(a, &h, err) < 0 ||
	    find_cxx(a, &h, err) < 0 ||
	    (r->kind == RECIPE_TRITON ? find_python3(a, &h, err)
				      : choose_route(a, m, sel->cuda, toolchain, &h, err)) < 0 ||
	    hash_support(a, r, &h, err) < 0 || find_pythons(a, m, sel, &h, err) < 0 ||
	    intr_check(err) < 0)
		return -1;
	*out = h;
	return 0;
}
