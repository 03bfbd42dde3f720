/*
 * What a step cost when it ran: a stanza beside its output in the object cache, CACHE/ab/KEY.cost,
 * with Step (its name), Sha256 of the output, Cpu-Seconds,
 * Wall-Seconds, Max-Rss and Bytes.
 */
#pragma once
#include "../../lib/base/compat.h"
#include <stdbool.h>
#include <stdint.h>

struct arena;
struct buf;

struct step_record {
	const char *name, *sha256;
	double cpu_s;
	double wall_s;	  /* 0: not recorded */
	uint64_t max_rss; /* bytes, of the largest process */
	uint64_t bytes;	  /* of the output; 0: not recorded */
};

/* False if the file is absent or not such a stanza. The texts live in the arena. */
bool step_record_read(struct arena *a, const char *file, struct step_record *out);
void step_record_write(const struct step_record *r, struct buf *out);
