#include "release.h"

#include <stdio.h>
#include <string.h>

#include "../../lib/base/arena.h"
#include "../../lib/base/buf.h"
#include "../../lib/base/clock.h"
#include "../../lib/base/err.h"
#include "../../lib/base/path.h"
#include "../../lib/base/xalloc.h"
#include "../../lib/deb/stanza.h"
#include "../../lib/sign/cleartext.h"
#include "suite.h"

void release_list_add(struct release_list *l, const struct release_file *f)
{
	if (l->n == l->cap) {
		l->cap = l->cap ? 2 * l->cap : 16;
		l->v = xreallocarray(l->v, l->cap, sizeof *l->v);
	}
	l->v[l->n++] = *f;
}

const struct release_file *release_list_find(const struct release_list *l, const char *name)
{
	for (size_t i = 0; i < l->n; i++)
		if (!strcmp(l->v[i].name, name))
			return &l->v[i];
	return NULL;
}

void release_list_done(struct release_list *l)
{
	free(l->v);
	*l = (struct release_list){0};
}

int release_read(struct arena *a, const char *root, const char *suite, struct buf *out,
    const char **path, struct err *err)
{
	_cleanup_(buf_done) struct buf clear = BUF_INIT(out->max);
	*path = arena_printf(a, "%s/dists/%s/InRelease", root, suite);
	if (path_exists(*path)) {
		if (path_read(*path, &clear, err) < 0 ||
		    cleartext_unwrap(&clear, *path, out, err) < 0)
			return -1;
		return 1;
	}
	*path = arena_printf(a, "%s/dists/%s/Release", root, suite);
	if (!path_exists(*path))
		return 0;
	return path_read(*path, out, err) < 0 ? -1 : 1;
}

static int add_line(struct arena *a, const char *line, int alg, const char *path,
    struct release_list *out, struct err *err)
{
	char hex[DIGEST_HEX_MAX] = "", name[4096];
	unsigned long long size;
	int end = 0;
	if (sscanf(line, "%128[0-9a-f] %llu %4095s%n", hex, &size, name, &end) != 3 || line[end])
		return err_set(err, ERR_FORMAT, "'%s': not a line about a file: '%s'", path, line);
	struct release_file *f = (struct release_file *)release_list_find(out, name);
	if (!f) {
		release_list_add(out, &(struct release_file){.name = arena_strdup(a, name)});
		f = &out->v[out->n - 1];
	}
	f->sums.size = size;
	memcpy(f->sums.hex[alg], hex, sizeof hex);
	return 0;
}

int release_parse_files(struct arena *a, const struct stanza *s, const char *path,
    struct release_list *out, struct err *err)
{
	for (int alg = 0; alg < SUM_ALGS; alg++) {
		const char *value = stanza_get(s, sum_names[alg]);
		_cleanup_(strv_done) struct strv lines = STRV_INIT;
		strv_split(&lines, value ? value : "", "\n");
		for (size_t i = 0; i < lines.n; i++)
			if (add_line(a, str_trim(lines.v[i]), alg, path, out, err) < 0)
				return -1;
	}
	return 0;
}

static void put_list(struct buf *out, const char *field, const struct strv *v, const char *sep)
{
	if (!v->n)
		return;
	_free_ char *joined = strv_join(v, sep);
	buf_printf(out, "%s: %s\n", field, joined);
}

static void put_date(struct buf *out, const char *field, time_t t)
{
	char text[CLOCK_RFC_MAX];
	clock_format_release(t, text);
	buf_printf(out, "%s: %s\n", field, text);
}

/* A field of several lines. */
static void put_lines(struct buf *out, const char *field, const char *text)
{
	buf_printf(out, "%s:\n", field);
	for (size_t n; *text; text += n + (text[n] == '\n')) {
		n = strcspn(text, "\n");
		buf_putc(out, ' ');
		buf_append(out, text, n);
		buf_putc(out, '\n');
	}
}

static void put_files(struct buf *out, const struct release_list *files, int alg)
{
	bool any = false;
	for (size_t i = 0; i < files->n; i++) {
		const struct release_file *f = &files->v[i];
		if (!*f->sums.hex[alg])
			continue;
		if (!any)
			buf_printf(out, "%s:\n", sum_names[alg]);
		any = true;
		buf_printf(out, " %s %llu %s\n", f->sums.hex[alg], (unsigned long long)f->sums.size,
		    f->name);
	}
}

void release_write(const struct suite *s, const struct release_list *files, struct buf *out)
{
	buf_printf(out, "Origin: %s\nLabel: %s\nSuite: %s\nCodename: %s\n", s->origin, s->label,
	    s->name, s->codename);
	put_date(out, "Date", s->date);
	if (s->valid_days)
		put_date(out, "Valid-Until", s->date + (time_t)s->valid_days * 86400);
	buf_puts(out, "Acquire-By-Hash: yes\nChangelogs: no\n");
	put_list(out, "Architectures", &s->archs, " ");
	put_list(out, "Components", &s->components, " ");
	if (s->description)
		buf_printf(out, "Description: %s\n", s->description);
	put_list(out, "Signed-By", &s->keys, ", ");
	if (s->snapshots && !s->snapshot_of)
		buf_printf(out, "Snapshots: %s\n", s->snapshots);
	if (s->snapshot_of)
		buf_printf(out, SUITE_SNAPSHOT_FIELD ": %s\n", s->snapshot_of);
	if (s->withdrawn)
		put_lines(out, SUITE_WITHDRAWN_FIELD, s->withdrawn);
	static const int order[SUM_ALGS] = {SUM_MD5, SUM_SHA1, SUM_SHA256, SUM_SHA512};
	for (size_t i = 0; i < SUM_ALGS; i++)
		put_files(out, files, order[i]);
}
