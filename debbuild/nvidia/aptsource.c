#include "aptsource.h"

#include <string.h>
#include <time.h>

#include "../../lib/base/arena.h"
#include "../../lib/base/buf.h"
#include "../../lib/base/clock.h"
#include "../../lib/base/err.h"
#include "../../lib/base/intr.h"
#include "../../lib/base/outfile.h"
#include "../../lib/base/path.h"
#include "../../lib/base/proc.h"
#include "../../lib/base/strv.h"
#include "../../lib/base/xalloc.h"
#include "../../lib/deb/stanza.h"
#include "../../lib/sign/keyring.h"
#include "../../lib/sign/signer.h"
#include "../wheel/pyindex.h"

#define KEY_MAX	     ((size_t)1 << 20)
#define RELEASE_MAX  ((size_t)1 << 20)
#define PACKED_MAX   ((size_t)64 << 20)
#define PACKAGES_MAX ((size_t)512 << 20)
#define TRIES	     4

char *aptsource_url(const struct apt_source *s, const char *file)
{
	return xasprintf("%s%s", s->url, file);
}

static int get(struct index *x, const struct apt_source *s, const char *file, struct buf *out,
    bool *missing, struct err *err)
{
	_free_ char *url = aptsource_url(s, file);
	return index_get(x, url, out, missing, err);
}

/* The key's file under one of the names that repositories use. */
static int fetch_key(
    struct index *x, const struct apt_source *s, const char *to, char **from, struct err *err)
{
	char lower[9], upper[9];
	for (size_t i = 0; i < 8; i++) {
		char c = s->fpr[32 + i];
		lower[i] = (char)(c >= 'A' && c <= 'F' ? c - 'A' + 'a' : c);
		upper[i] = (char)(c >= 'a' && c <= 'f' ? c - 'a' + 'A' : c);
	}
	lower[8] = upper[8] = '\0';
	_cleanup_(strv_done) struct strv names = STRV_INIT;
	if (s->key_file)
		strv_add(&names, s->key_file);
	strv_addf(&names, "%s.pub", lower);
	strv_addf(&names, "%s.pub", upper);
	strv_add(&names, "cuda-archive-keyring.gpg");
	for (size_t i = 0; i < names.n; i++) {
		_cleanup_(buf_done) struct buf key = BUF_INIT(KEY_MAX);
		bool missing;
		if (get(x, s, names.v[i], &key, &missing, err) < 0)
			return -1;
		if (missing)
			continue;
		*from = aptsource_url(s, names.v[i]);
		return outfile_put(to, 0644, key.data, key.len, err);
	}
	_free_ char *list = strv_join(&names, ", ");
	return err_set(err, ERR_NETWORK,
	    "'%s' serves no key under any of the names %s: give its file with --keyring", s->url,
	    list);
}

int aptsource_key(struct arena *a, struct index *x, const struct apt_source *s, const char *to,
    const char **out, struct err *err)
{
	_free_ char *from = NULL;
	struct key_verdict *keys;
	size_t n;
	*out = s->keyring_file ? s->keyring_file : arena_strdup(a, to);
	if (!s->keyring_file && fetch_key(x, s, to, &from, err) < 0)
		return -1;
	const char *shown = from ? from : *out;
	if (keyring_check_file(*out, a, &keys, &n, err) < 0)
		return err_wrap(err, "the key of the repository, '%s'", shown);
	for (size_t i = 0; i < n; i++) {
		if (strcasecmp(keys[i].key.fpr, s->fpr) != 0)
			continue;
		if (!keys[i].reason || s->weak_binding)
			return 0;
		return err_set(err, ERR_TRUST, "'%s': %s", shown, keys[i].reason);
	}
	return err_set(err, ERR_TRUST, "'%s' holds the key %s, expected %s", shown,
	    n ? keys[0].key.fpr : "of nobody", s->fpr);
}

/* The signed text of InRelease, or of Release with Release.gpg where there is none. */
static int get_release(struct index *x, const struct apt_source *s, const char *keyring_file,
    struct buf *out, struct err *err)
{
	const struct signer_pin pin = {
	    .keyring_file = keyring_file, .fpr = s->fpr, .weak_binding = s->weak_binding};
	_cleanup_(buf_done) struct buf text = BUF_INIT(RELEASE_MAX), sig = BUF_INIT(RELEASE_MAX);
	bool missing, no_sig = false;
	const char *name = "InRelease";
	if (get(x, s, name, &text, &missing, err) < 0)
		return -1;
	bool clear = !missing;
	if (!clear) {
		name = "Release";
		if (get(x, s, name, &text, &missing, err) < 0 ||
		    get(x, s, "Release.gpg", &sig, &no_sig, err) < 0)
			return -1;
		if (missing || no_sig)
			return err_set(err, missing ? ERR_NETWORK : ERR_TRUST, "'%s' %s", s->url,
			    missing ? "is no flat apt repository: it has neither InRelease nor "
				      "Release"
				    : "is not signed: it has neither InRelease nor Release.gpg");
	}
	if (signer_verify_pinned(buf_str(&text), text.len, clear ? NULL : buf_str(&sig), sig.len,
		&pin, out, err) < 0)
		return err_wrap(err, "'%s%s' cannot be trusted", s->url, name);
	return 0;
}

/* What Release says of one file. */
struct listed {
	const char *name;
	char sha256[SHA256_HEX];
	uint64_t size;
};

/* Lines "HASH SIZE NAME" of the field SHA256. */
static int find_listed(struct arena *a, const struct stanza *release, const char *name,
    struct listed *out, struct err *err)
{
	const char *text = stanza_get(release, "SHA256");
	if (!text)
		return err_set(err, ERR_TRUST, "it has no SHA256, and weaker hashes do not count");
	_cleanup_(strv_done) struct strv lines = STRV_INIT;
	strv_split(&lines, text, "\n");
	for (size_t i = 0; i < lines.n; i++) {
		_cleanup_(strv_done) struct strv words = STRV_INIT;
		unsigned long long size;
		strv_split(&words, lines.v[i], " \t");
		if (words.n != 3)
			continue;
		const char *file = str_starts(words.v[2], "./") ? words.v[2] + 2 : words.v[2];
		if (strcmp(file, name) != 0)
			continue;
		if (strlen(words.v[0]) != SHA256_HEX - 1 ||
		    str_parse_u64(words.v[1], PACKED_MAX, &size) < 0)
			return err_set(err, ERR_FORMAT, "its line of %s is wrong", name);
		out->name = arena_strdup(a, file);
		out->size = size;
		memcpy(out->sha256, words.v[0], SHA256_HEX);
		return 0;
	}
	return err_set(err, ERR_FORMAT, "it lists no %s", name);
}

static int check_date(const struct stanza *release, struct err *err)
{
	const char *until = stanza_get(release, "Valid-Until");
	time_t t;
	if (!until)
		return 0;
	if (clock_parse_release(until, &t) < 0)
		return err_set(err, ERR_FORMAT, "its Valid-Until is '%s'", until);
	if (t < clock_now())
		return err_set(err, ERR_TRUST,
		    "it has expired (Valid-Until: %s); try again later, or another mirror", until);
	return 0;
}

static int unpack(const struct buf *packed, struct buf *out, struct err *err)
{
	char *argv[] = {"gzip", "-dc", NULL};
	_cleanup_(buf_done) struct buf said = BUF_INIT(1 << 16);
	return proc_check(&(struct proc_spec){.argv = argv,
			      .in = packed->data,
			      .in_len = packed->len,
			      .out = out,
			      .errout = &said},
	    err);
}

/* -1 with *again set where the repository seems to be in mid-update. */
static int get_packages(struct index *x, const struct apt_source *s, const struct listed *l,
    const char *date, struct buf *out, bool *again, struct err *err)
{
	_cleanup_(buf_done) struct buf packed = BUF_INIT(PACKED_MAX);
	char hex[DIGEST_HEX_MAX];
	bool missing;
	if (get(x, s, l->name, &packed, &missing, err) < 0)
		return -1;
	*again = true;
	if (missing)
		return err_set(err, ERR_NETWORK,
		    "'%s%s' is not there (404), though Release of %s lists it", s->url, l->name,
		    date);
	digest_hex(DIGEST_SHA256, buf_str(&packed), packed.len, hex);
	if (packed.len != l->size)
		return err_set(err, ERR_TRUST,
		    "'%s%s' has %zu bytes, expected %llu as Release of %s says: the repository "
		    "seems to be in mid-update; try again in some minutes",
		    s->url, l->name, packed.len, (unsigned long long)l->size, date);
	if (strcmp(hex, l->sha256) != 0)
		return err_set(err, ERR_TRUST,
		    "'%s%s' has SHA-256 %s, expected %s as Release of %s says: the repository "
		    "seems to be in mid-update; try again in some minutes",
		    s->url, l->name, hex, l->sha256, date);
	*again = false;
	return unpack(&packed, out, err);
}

static int read_once(struct arena *a, struct index *x, const struct apt_source *s,
    const char *keyring_file, const char *arch, struct apt_release *out, bool *again,
    struct err *err)
{
	_cleanup_(buf_done) struct buf text = BUF_INIT(RELEASE_MAX);
	_cleanup_(buf_done) struct buf packages = BUF_INIT(PACKAGES_MAX);
	struct stanza_list list = {0};
	struct listed l;
	*again = false;
	if (get_release(x, s, keyring_file, &text, err) < 0)
		return -1;
	if (stanza_parse(a, buf_str(&text), text.len, "Release", STANZA_ONE, &list, err) < 0 ||
	    check_date(&list.v[0], err) < 0 ||
	    find_listed(a, &list.v[0], "Packages.gz", &l, err) < 0)
		return err_wrap(err, "Release of '%s'", s->url);
	const char *date = stanza_get(&list.v[0], "Date");
	out->date = date ? date : "unknown date";
	if (get_packages(x, s, &l, out->date, &packages, again, err) < 0)
		return -1;
	aptpackages_parse(a, buf_str(&packages), packages.len, arch, &out->packages);
	return 0;
}

static int pause_before(unsigned attempt, struct err *err)
{
	struct timespec step = {.tv_nsec = 50 * 1000 * 1000};
	for (unsigned i = 0; i < 20u * attempt; i++) {
		if (intr_check(err) < 0)
			return -1;
		nanosleep(&step, NULL);
	}
	return 0;
}

int aptsource_read(struct arena *a, struct index *x, const struct apt_source *s,
    const char *keyring_file, const char *arch, void (*retry)(void *arg, const char *why),
    void *arg, struct apt_release *out, struct err *err)
{
	for (unsigned attempt = 1;; attempt++) {
		bool again;
		if (read_once(a, x, s, keyring_file, arch, out, &again, err) == 0)
			return 0;
		if (!again || attempt == TRIES)
			return -1;
		if (retry)
			retry(arg, err->msg);
		err_clear(err);
		if (pause_before(attempt, err) < 0)
			return -1;
	}
}
