/* RECORD of a wheel. What parses is sorted, and each of its paths is found again. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "../../lib/base/err.h"
#include "../../debbuild/wheel/wheel_record.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_(wheel_record_done) struct wheel_record r = WHEEL_RECORD_INIT;
	struct err err = {0};
	if (wheel_record_parse(&r, (const char *)data, size, &err) < 0) {
		if (err.code != ERR_FORMAT || !err.msg[0])
			abort();
		return 0;
	}
	for (size_t i = 0; i < r.n; i++) {
		size_t n = strlen(r.v[i].sha256);
		if (wheel_record_find(&r, r.v[i].path) != &r.v[i] || (n && n != SHA256_HEX - 1))
			abort();
	}
	return 0;
}
