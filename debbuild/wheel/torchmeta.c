#include "torchmeta.h"

#include <string.h>

#include "../../lib/base/arena.h"
#include "../../lib/base/buf.h"
#include "../../lib/base/err.h"
#include "../../lib/base/strv.h"
#include "pyindex.h"
#include "../data/matrix.h"
#include "wheel.h"

#define METADATA_MAX ((size_t)4 << 20)

const char *torchmeta_pin(struct arena *a, const char *text, const char *project)
{
	static const char field[] = "Requires-Dist: ";
	_cleanup_(strv_done) struct strv lines = STRV_INIT;
	size_t n = strlen(project);
	strv_split(&lines, text, "\r\n");
	for (size_t i = 0; i < lines.n; i++) {
		const char *p = lines.v[i] + strlen(field);
		if (!str_starts(lines.v[i], field) || strncmp(p, project, n))
			continue;
		p += n + strspn(p + n, " (");
		if (!str_starts(p, "==") && !str_starts(p, "~="))
			continue;
		const char *version = p + 2 + strspn(p + 2, " ");
		return arena_printf(a, "%.2s%.*s", p, (int)strcspn(version, ",;) "), version);
	}
	return NULL;
}

/* "~=3.8.0" is "at least 3.8.0, and 3.8.*". */
bool torchmeta_allows(const char *pin, const char *version)
{
	const char *wanted = pin + 2, *dot = strrchr(wanted, '.');
	if (str_starts(pin, "=="))
		return !strcmp(wanted, version);
	return dot && matrix_compare(version, wanted) >= 0 &&
	       !strncmp(version, wanted, (size_t)(dot - wanted) + 1);
}

/* "torch-2.14.1-cp311-...": "torch-2.14.1.dist-info/METADATA" */
static const char *metadata_name(struct arena *a, const char *wheel)
{
	size_t n = strcspn(wheel, "-");
	n += wheel[n] ? 1 + strcspn(wheel + n + 1, "-") : 0;
	return arena_printf(a, "%.*s.dist-info/METADATA", (int)n, wheel);
}

int torchmeta_triton(
    struct arena *a, struct index *x, const struct index_file *f, const char **out, struct err *err)
{
	_cleanup_(buf_done) struct buf text = BUF_INIT(METADATA_MAX);
	struct wheel_pin pin = {.name = f->name, .url = f->url, .size = f->size};
	int rc = f->has_metadata
		     ? index_metadata(x, f, &text, err)
		     : wheel_read_member(x, &pin, metadata_name(a, f->name), &text, err);
	if (rc < 0)
		return -1;
	*out = torchmeta_pin(a, buf_str(&text), "triton");
	return *out ? 0
		    : err_set(
			  err, ERR_FORMAT, "METADATA of '%s' pins no version of triton", f->name);
}
