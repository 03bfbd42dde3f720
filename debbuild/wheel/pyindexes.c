#include "pyindexes.h"

#include "../../lib/base/err.h"
#include "../../lib/base/strv.h"
#include "../../lib/base/xalloc.h"
#include "pyindex.h"

int indexes_get(struct indexes *s, const char *url, struct index **out, struct err *err)
{
	for (size_t i = 0; i < s->n; i++)
		if (str_eq(s->v[i].url, url)) {
			*out = s->v[i].x;
			return 0;
		}
	if (s->n == INDEXES_MAX)
		return err_set(err, ERR_FORMAT,
		    "more than %d package indexes are named; the last: '%s'", INDEXES_MAX,
		    url ? url : "the machine's own");
	if (index_open(url, out, err) < 0)
		return -1;
	s->v[s->n].url = url ? xstrdup(url) : NULL;
	s->v[s->n++].x = *out;
	return 0;
}

void indexes_done(struct indexes *s)
{
	for (size_t i = 0; i < s->n; i++) {
		free(s->v[i].url);
		index_close(s->v[i].x);
	}
	s->n = 0;
}
