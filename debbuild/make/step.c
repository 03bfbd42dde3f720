#include "step.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "../../lib/base/arena.h"
#include "../../lib/base/buf.h"
#include "../../lib/base/clock.h"
#include "../../lib/base/digest.h"
#include "../../lib/base/err.h"
#include "../../lib/base/intr.h"
#include "../../lib/base/outfile.h"
#include "../../lib/base/path.h"
#include "../../lib/base/proc.h"
#include "../../lib/base/strv.h"
#include "../../lib/base/xalloc.h"
#include "../../lib/deb/stanza.h"
#include "../plan/step_cost.h"

/* What a compiler may say. */
#define TEXT_MAX      ((size_t)8 << 20)
#define STATUS_KILLED (128 + SIGKILL)

struct entry {
	char *file, *meta; /* CACHE/ab/KEY and CACHE/ab/KEY.cost */
};

static void entry_done(struct entry *e)
{
	free(e->file);
	free(e->meta);
}

static struct entry entry_of(const char *cache, const char *key)
{
	return (struct entry){.file = xasprintf("%s/%.2s/%s", cache, key, key),
	    .meta = xasprintf("%s/%.2s/%s.cost", cache, key, key)};
}

/* True if the cache holds the output, whole; fills its hash and the cost of its first run. */
static bool look_up(const struct entry *e, char hex[DIGEST_HEX_MAX], struct step_cost *cost)
{
	_cleanup_(arena_done) struct arena a = ARENA_INIT;
	struct step_record r;
	if (!step_record_read(&a, e->meta, &r) ||
	    digest_file_hex(DIGEST_SHA256, e->file, hex, NULL, NULL) < 0 || strcmp(hex, r.sha256))
		return false;
	*cost = (struct step_cost){
	    .cpu_s = r.cpu_s, .wall_s = r.wall_s, .max_rss = r.max_rss, .cached = true};
	return true;
}

/* A folder that lies where a file should be would be in the way for ever. */
static void clear_way(const char *path)
{
	if (path_is_dir(path))
		(void)!path_remove_tree(path, NULL);
}

/* A full disk must not fail a step that has its output: the cache is only a help. */
static void store(const struct entry *e, const char *name, const char *out, const char *hex,
    const struct step_cost *cost)
{
	clear_way(e->file);
	clear_way(e->meta);
	if (path_mkdirs_for(e->file, NULL) < 0 || path_copy(out, e->file, 0644, NULL) < 0)
		return;
	_cleanup_(buf_done) struct buf b = BUF_INIT(4096);
	struct stat st;
	step_record_write(&(struct step_record){.name = name,
			      .sha256 = hex,
			      .cpu_s = cost->cpu_s,
			      .wall_s = cost->wall_s,
			      .max_rss = cost->max_rss,
			      .bytes = stat(out, &st) == 0 ? (uint64_t)st.st_size : 0},
	    &b);
	_cleanup_(outfile_done) struct outfile o = OUTFILE_INIT;
	if (outfile_open(&o, e->meta, 0644, NULL) == 0 &&
	    outfile_write(&o, b.data, b.len, NULL) == 0 && outfile_commit_cache(&o, NULL) < 0)
		unlink(e->meta);
}

static char *made_path(const char *work, const char *out)
{
	return xasprintf("%s/" STEP_MADE_DIR "/%s", work, out);
}

static int note_made(const char *out, const char *key, const char *hex, struct err *err)
{
	_free_ char *path = made_path(".", out);
	_free_ char *text = xasprintf("Key: %s\nSha256: %s\n", key, hex);
	_cleanup_(outfile_done) struct outfile o = OUTFILE_INIT;
	clear_way(path);
	if (path_mkdirs_for(path, err) < 0 || outfile_open(&o, path, 0644, err) < 0 ||
	    outfile_write(&o, text, strlen(text), err) < 0)
		return -1;
	return outfile_commit_cache(&o, err);
}

void step_forget(const char *work, const char *out)
{
	_free_ char *record = made_path(work, out);
	unlink(record);
}

bool step_is_noted(const char *work, const char *out, const char *key)
{
	_cleanup_(arena_done) struct arena a = ARENA_INIT;
	_free_ char *record = made_path(work, out);
	struct stanza_list list = {0};
	return path_exists(record) && stanza_parse_file(&a, record, STANZA_ONE, &list, NULL) == 0 &&
	       str_eq(stanza_get(&list.v[0], "Key"), key);
}

bool step_is_made(const char *work, const char *out, const char *key)
{
	_cleanup_(arena_done) struct arena a = ARENA_INIT;
	_free_ char *record = made_path(work, out);
	_free_ char *file = path_join(work, out);
	struct stanza_list list = {0};
	char hex[DIGEST_HEX_MAX];
	return path_exists(record) && stanza_parse_file(&a, record, STANZA_ONE, &list, NULL) == 0 &&
	       str_eq(stanza_get(&list.v[0], "Key"), key) &&
	       digest_file_hex(DIGEST_SHA256, file, hex, NULL, NULL) == 0 &&
	       str_eq(stanza_get(&list.v[0], "Sha256"), hex);
}

static void mark_running(const char *name, bool on)
{
	_free_ char *file = xasprintf(STEP_RUNNING_DIR "/%s", name);
	for (char *c = file + strlen(STEP_RUNNING_DIR) + 1; *c; c++)
		if (*c == '/')
			*c = ',';
	FILE *f = on ? fopen(file, "we") : NULL;
	if (f)
		fclose(f);
	if (!on)
		unlink(file);
}

/* The first line of a compiler's text that looks like the reason. */
static char *reason(const char *text)
{
	_cleanup_(strv_done) struct strv lines = STRV_INIT;
	strv_split(&lines, text, "\n");
	for (size_t i = 0; i < lines.n; i++)
		if (strstr(lines.v[i], "error") || strstr(lines.v[i], "fatal"))
			return xstrndup(lines.v[i], 400);
	return lines.n ? xstrndup(lines.v[lines.n - 1], 400) : xstrdup("it said nothing");
}

static int run_command(
    const char *name, const char *out, char *const *argv, struct step_cost *cost, struct err *err)
{
	_cleanup_(buf_done) struct buf text = BUF_INIT(TEXT_MAX);
	struct proc_result res;
	double began = clock_monotonic();
	/* What compilers and linkers read beside their words would be in the bytes, not in the key.
	 */
	static char *env[] = {"LC_ALL=C", "TZ=UTC0", "SOURCE_DATE_EPOCH", "CPATH", "C_INCLUDE_PATH",
	    "CPLUS_INCLUDE_PATH", "LIBRARY_PATH", "LD_RUN_PATH", "COMPILER_PATH", "GCC_EXEC_PREFIX",
	    "GCC_COMPARE_DEBUG", "DEPENDENCIES_OUTPUT", "SUNPRO_DEPENDENCIES", "LDEMULATION",
	    "GNUTARGET", "CCC_OVERRIDE_OPTIONS", "NVCC_PREPEND_FLAGS", "NVCC_APPEND_FLAGS", NULL};
	_cleanup_(strv_done) struct strv words = STRV_INIT;
	for (size_t i = 0; argv[i]; i++)
		strv_add(&words, i || strcmp(argv[i], STEP_SELF) ? argv[i] : "/proc/self/exe");
	if (proc_run(
		&(struct proc_spec){
		    .argv = words.v, .env = env, .out = &text, .errout = &text, .group = true},
		&res, err) < 0)
		return -1;
	if (intr_check(err) < 0)
		return -1;
	fputs(buf_str(&text), stdout);
	fflush(stdout); /* before the error line, which goes to standard error */
	if (res.status != 0) {
		_free_ char *why = reason(buf_str(&text));
		err_set(err, ERR_TOOL, "step '%s' failed: '%s' ended with status %d: %s", name,
		    argv[0], res.status, why);
		return res.status != STATUS_KILLED
			   ? -1
			   : err_hint(err, " (killed, as when memory runs out: try fewer --jobs)");
	}
	struct stat st;
	if (stat(out, &st) < 0 || st.st_size == 0)
		return err_set(err, ERR_TOOL, "step '%s': '%s' ended well but made no '%s'", name,
		    argv[0], out);
	*cost = (struct step_cost){
	    .cpu_s = res.cpu_s, .wall_s = clock_monotonic() - began, .max_rss = res.max_rss};
	return 0;
}

/* Makes out, from the cache or by the command. */
static int make(const struct entry *e, const char *name, const char *out, char *const *argv,
    char hex[DIGEST_HEX_MAX], struct step_cost *cost, struct err *err)
{
	if (look_up(e, hex, cost))
		return path_copy(e->file, out, 0644, err);
	mark_running(name, true);
	int rc = run_command(name, out, argv, cost, err);
	mark_running(name, false);
	if (rc < 0 || digest_file_hex(DIGEST_SHA256, out, hex, NULL, err) < 0) {
		unlink(out);
		return -1;
	}
	store(e, name, out, hex, cost);
	return 0;
}

int step_run(const char *cache, const char *key, const char *name, const char *out,
    char *const *argv, struct step_cost *cost, struct err *err)
{
	if (strlen(key) != SHA256_HEX - 1 || strspn(key, "0123456789abcdef") != strlen(key))
		return err_set(err, ERR_USAGE,
		    "step '%s': key '%.80s' is not of 64 hexadecimal digits", name, key);
	_cleanup_(entry_done) struct entry e = entry_of(cache, key);
	char hex[DIGEST_HEX_MAX];
	if (path_mkdirs_for(out, err) < 0)
		return -1;
	if (unlink(out) < 0 && path_exists(out))
		return err_sys(err, "cannot replace '%s'", out);
	return make(&e, name, out, argv, hex, cost, err) < 0 ? -1 : note_made(out, key, hex, err);
}

bool step_take(const char *cache, const char *key, const char *out)
{
	_cleanup_(entry_done) struct entry e = entry_of(cache, key);
	char hex[DIGEST_HEX_MAX];
	struct step_cost cost;
	return look_up(&e, hex, &cost) && path_mkdirs_for(out, NULL) == 0 &&
	       path_copy(e.file, out, 0644, NULL) == 0 && note_made(out, key, hex, NULL) == 0;
}
