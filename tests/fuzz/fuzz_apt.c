/* What is chosen out of any index can be fetched: whole, inside the repository, of known hash. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "../../lib/base/arena.h"
#include "../../lib/base/err.h"
#include "../../lib/base/path.h"
#include "../../debbuild/nvidia/aptclosure.h"
#include "../../debbuild/nvidia/aptpackages.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const roots[] = {"r-1", "cuda-x", NULL};
	_cleanup_(arena_done) struct arena a = ARENA_INIT;
	struct apt_packages all;
	struct apt_closure c;
	struct err err = {0};
	char *text = arena_strndup(&a, (const char *)data, size);
	aptpackages_parse(&a, text, strlen(text), "amd64", &all);
	if (aptclosure_make(&a, &all, roots, "-1", &c, &err) < 0) {
		if (err.code != ERR_FORMAT || !*err.msg)
			abort();
		return 0;
	}
	for (size_t i = 0; i < c.n; i++)
		if (c.v[i]->fault || !c.v[i]->size || strlen(c.v[i]->sha256) != 64 ||
		    !path_is_safe_member(c.v[i]->file))
			abort();
	return 0;
}
