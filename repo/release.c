#include "release.h"

#include "../debbuild/base/buf.h"
#include "../debbuild/base/clock.h"
#include "suite.h"

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

void release_write(
    const struct suite *s, const struct release_file *files, size_t n, time_t now, struct buf *out)
{
	time_t date = now < s->date ? s->date : now;
	buf_printf(out, "Origin: %s\nLabel: %s\nSuite: %s\nCodename: %s\n", s->origin, s->label,
	    s->name, s->codename);
	put_date(out, "Date", date);
	if (s->valid_days)
		put_date(out, "Valid-Until", date + (time_t)s->valid_days * 86400);
	buf_puts(out, "Acquire-By-Hash: yes\nChangelogs: no\n");
	put_list(out, "Architectures", &s->archs, " ");
	put_list(out, "Components", &s->components, " ");
	if (s->description)
		buf_printf(out, "Description: %s\n", s->description);
	put_list(out, "Signed-By", &s->keys, ", ");
	buf_puts(out, "SHA256:\n");
	for (size_t i = 0; i < n; i++)
		buf_printf(out, " %s %llu %s\n", files[i].sha256, (unsigned long long)files[i].size,
		    files[i].name);
}
