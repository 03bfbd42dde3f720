#include "pyheaders_apt.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "../../lib/base/arena.h"
#include "../../lib/base/buf.h"
#include "../../lib/base/outfile.h"
#include "../../lib/base/path.h"
#include "../../lib/base/proc.h"
#include "../../lib/base/strv.h"
#include "../../lib/deb/stanza.h"
#include "pyheaders.h"

#define SAID_MAX    ((size_t)4 << 20)
#define APT_SECONDS 60 /* more than apt takes on a slow machine without its own cache */

/* Changes when apt-get update or an edit of apt's settings may change the answer. */
static const char *apt_state(struct arena *a, const char *arch)
{
	const char *config = getenv("APT_CONFIG");
	const char *paths[] = {"/var/lib/apt/lists", "/etc/apt", "/etc/apt/sources.list",
	    "/etc/apt/sources.list.d", "/etc/apt/preferences.d", config && *config ? config : "-"};
	_cleanup_(buf_done) struct buf b = BUF_INIT(4096);
	buf_printf(&b, "%s %s", arch, paths[ARRAY_SIZE(paths) - 1]);
	for (size_t i = 0; i < ARRAY_SIZE(paths); i++) {
		struct stat st;
		if (stat(paths[i], &st) == 0)
			buf_printf(
			    &b, " %lld.%09ld", (long long)st.st_mtim.tv_sec, st.st_mtim.tv_nsec);
		else
			buf_puts(&b, " -");
	}
	return arena_strdup(a, buf_str(&b));
}

/* Keeps the stanzas, of apt-cache show or of the record, that tell where a package is. */
static void take_offers(
    struct arena *a, const struct stanza_list *list, size_t first, struct apt_offers *out)
{
	*out = (struct apt_offers){.v = arena_alloc(a, (list->n + 1) * sizeof *out->v)};
	for (size_t i = first; i < list->n; i++) {
		const struct stanza *s = &list->v[i];
		const char *size = stanza_get(s, "Size");
		unsigned long long bytes = 0;
		struct apt_offer o = {.package = stanza_get(s, "Package"),
		    .version = stanza_get(s, "Version"),
		    .sha256 = stanza_get(s, "SHA256")};
		if (!o.package || !o.version || !o.sha256 || !size ||
		    strlen(o.sha256) != SHA256_HEX - 1 ||
		    str_parse_u64(size, 1ULL << 40, &bytes) < 0)
			continue;
		o.size = bytes;
		out->v[out->n++] = o;
	}
}

/* True if the record was written in the same state of apt. */
static bool recall(struct arena *a, const char *record, const char *state, struct apt_offers *out)
{
	struct stanza_list list = {0};
	if (!path_exists(record) || stanza_parse_file(a, record, 0, &list, NULL) < 0 || !list.n ||
	    !str_eq(stanza_get(&list.v[0], "Apt"), state))
		return false;
	take_offers(a, &list, 1, out);
	return true;
}

static void remember(const char *record, const char *state, const struct apt_offers *offers)
{
	_cleanup_(buf_done) struct buf b = BUF_INIT(SAID_MAX);
	buf_printf(&b, "Apt: %s\n", state);
	for (size_t i = 0; i < offers->n; i++)
		buf_printf(&b, "\nPackage: %s\nVersion: %s\nSize: %llu\nSHA256: %s\n",
		    offers->v[i].package, offers->v[i].version,
		    (unsigned long long)offers->v[i].size, offers->v[i].sha256);
	_cleanup_(outfile_done) struct outfile o = OUTFILE_INIT;
	if (path_mkdirs_for(record, NULL) == 0 && outfile_open(&o, record, 0644, NULL) == 0 &&
	    outfile_write(&o, b.data, b.len, NULL) == 0 && outfile_commit_cache(&o, NULL) < 0)
		unlink(record);
}

/* Asks for all at once: apt takes a second whatever the number. False if it did not answer; one
 * that knows none of the packages ends with 100. */
static bool ask(struct arena *a, const char *arch, struct apt_offers *out)
{
	_cleanup_(buf_done) struct buf said = BUF_INIT(SAID_MAX), why = BUF_INIT(SAID_MAX);
	_cleanup_(strv_done) struct strv argv = STRV_INIT;
	static char *env[] = {"LC_ALL=C", NULL};
	strv_add(&argv, "apt-cache");
	strv_add(&argv, "show");
	strv_add(&argv, "--no-all-versions");
	for (unsigned minor = PYHEADERS_FIRST; minor < PYHEADERS_END; minor++)
		strv_addf(&argv, "libpython3.%u-dev:%s", minor, arch);
	const struct proc_spec spec = {
	    .argv = argv.v, .env = env, .out = &said, .errout = &why, .timeout_s = APT_SECONDS};
	struct proc_result r;
	struct stanza_list list = {0};
	if (proc_run(&spec, &r, NULL) < 0 ||
	    (r.status && !strstr(buf_str(&why), "No packages found")) ||
	    stanza_parse(a, buf_str(&said), said.len, "apt-cache", 0, &list, NULL) < 0)
		return false;
	take_offers(a, &list, 0, out);
	return true;
}

void apt_offers_get(struct arena *a, const char *arch, const char *record, struct apt_offers *out)
{
	const char *state = apt_state(a, arch);
	*out = (struct apt_offers){0};
	if (!recall(a, record, state, out) && ask(a, arch, out))
		remember(record, state, out);
}

const struct apt_offer *apt_offers_find(const struct apt_offers *o, const char *package)
{
	for (size_t i = 0; i < o->n; i++)
		if (!strcmp(o->v[i].package, package))
			return &o->v[i];
	return NULL;
}
