/* Which pieces of an index stay, which are made anew, and where new stanzas go. */
#pragma once
#include "index.h"

/*
 * New stanzas go behind the last piece or into new ones, so that what stands before keeps its
 * bytes and digests. Pieces that removals have left small join a neighbour. Never empty: an index
 * without packages has one empty piece. The caller frees the array.
 */
struct piece_job *index_plan(
    const struct index_row *old, const struct index_change *c, size_t *n) _must_check_;
/* Bytes of plain text that the jobs make, at most. */
uint64_t index_plan_size(const struct piece_job *jobs, size_t n) _must_check_;
