#include "step_cost.h"

#include <stdlib.h>

#include "../../lib/base/arena.h"
#include "../../lib/base/buf.h"
#include "../../lib/base/path.h"
#include "../../lib/base/strv.h"
#include "../../lib/deb/stanza.h"

bool step_record_read(struct arena *a, const char *file, struct step_record *out)
{
	struct stanza_list list = {0};
	if (!path_exists(file) || stanza_parse_file(a, file, STANZA_ONE, &list, NULL) < 0)
		return false;
	const struct stanza *s = &list.v[0];
	const char *cpu = stanza_get(s, "Cpu-Seconds"), *rss = stanza_get(s, "Max-Rss");
	const char *size = stanza_get(s, "Bytes");
	const char *wall = stanza_get(s, "Wall-Seconds");
	unsigned long long n_rss, n_bytes = 0;
	*out =
	    (struct step_record){.name = stanza_get(s, "Step"), .sha256 = stanza_get(s, "Sha256")};
	if (!out->name || !out->sha256 || !cpu || !rss ||
	    str_parse_u64(rss, UINT64_MAX, &n_rss) < 0 ||
	    (size && str_parse_u64(size, UINT64_MAX, &n_bytes) < 0))
		return false;
	out->cpu_s = atof(cpu);
	out->wall_s = wall ? atof(wall) : 0;
	out->max_rss = n_rss;
	out->bytes = n_bytes;
	return true;
}

void step_record_write(const struct step_record *r, struct buf *out)
{
	buf_printf(out,
	    "Step: %s\nSha256: %s\nCpu-Seconds: %.2f\nWall-Seconds: %.2f\nMax-Rss: %llu\n"
	    "Bytes: %llu\n",
	    r->name, r->sha256, r->cpu_s, r->wall_s, (unsigned long long)r->max_rss,
	    (unsigned long long)r->bytes);
}
