#include "licences.h"

#include <stdbool.h>
#include <string.h>

#include "../../lib/base/arena.h"
#include "../../lib/base/path.h"
#include "../../lib/base/strv.h"
#include "../../lib/deb/stanza.h"
#include "field.h"

int licences_load(struct arena *a, const char *templates_dir, struct licences *out, struct err *err)
{
	static const char *const fields[] = {"Name", "License", NULL};
	_free_ char *path = path_join(templates_dir, "licences");
	struct stanza_list list = {0};
	struct field_source f = {path, err};
	*out = (struct licences){0};
	if (stanza_parse_file(a, path, STANZA_COMMENTS, &list, err) < 0)
		return -1;
	out->v = arena_alloc(a, (list.n + 1) * sizeof *out->v);
	for (size_t i = 0; i < list.n; i++) {
		struct licence *l = &out->v[out->n++];
		if (stanza_check_fields(&list.v[i], fields, path, err) < 0 ||
		    !(l->name = field_need(&f, &list.v[i], "Name")) ||
		    !(l->spdx = field_need(&f, &list.v[i], "License")))
			return -1;
	}
	return 0;
}

/* "nvidia-" begins "nvidia-cublas", "nvidia-cuda-cccl" begins "nvidia-cuda-cccl-cu12". */
static bool fits(const char *known, const char *name)
{
	size_t n = strlen(known);
	if (!str_starts(name, known))
		return false;
	return !name[n] || known[n - 1] == '-' || name[n] == '-' ||
	       strspn(name + n, "0123456789.") > 0;
}

const char *licences_find(const struct licences *l, const char *name)
{
	const struct licence *best = NULL;
	for (size_t i = 0; i < l->n; i++)
		if (fits(l->v[i].name, name) &&
		    (!best || strlen(l->v[i].name) > strlen(best->name)))
			best = &l->v[i];
	return best ? best->spdx : NULL;
}
