/*
 * The headers of one torch from its wheel on the index: torch/include, torch/version.py and
 * RECORD. They are one contiguous run of about 10 MB in a wheel of 900.
 */
#pragma once
#include "../../lib/base/compat.h"
#include <stdint.h>

struct err;
struct index;

struct sdk_cost {
	unsigned requests;
	uint64_t bytes, wheel_bytes; /* received; size of the wheel */
};

/*
 * Puts the SDK of the wheel FILENAME into dir (dir/torch/include ...), unless it is there
 * already (a stamp written last says so). sha256 (or NULL) is the whole wheel's: an index that
 * announces another is refused. record_sha256 pins RECORD. cuda is the
 * "12.8" that torch/version.py must name: a wheel of another CUDA is ERR_FORMAT. What dir held
 * without the right stamp is replaced. The caller holds a lock on what dir lies in.
 */
int sdk_fetch(struct index *x, const char *filename, const char *sha256, const char *record_sha256,
    const char *cuda, const char *dir, struct sdk_cost *cost, struct err *err) _must_check_;
