/* Three lines are three versions, whose order must be one. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "../../lib/base/compat.h"
#include "../../lib/base/err.h"
#include "../../lib/deb/version.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int sign(int n)
{
	return (n > 0) - (n < 0);
}

static void check_order(char *const v[3])
{
	int ab = sign(version_compare(v[0], v[1])), bc = sign(version_compare(v[1], v[2]));
	int ac = sign(version_compare(v[0], v[2]));
	for (int i = 0; i < 3; i++)
		if (version_compare(v[i], v[i]) != 0)
			abort();
	if (ab != -sign(version_compare(v[1], v[0])))
		abort();
	if (ab == bc && ac != ab)
		abort();
	if ((ab == 0 && ac != bc) || (bc == 0 && ac != ab))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_free_ char *text = strndup((const char *)data, size);
	char *rest = text, *v[3];
	struct err err = {0};
	int valid = 0;
	for (int i = 0; i < 3; i++) {
		char *line = strsep(&rest, "\n");
		v[i] = line ? line : text + strlen(text);
		valid += version_check(v[i], &err) == 0;
		if (version_check_package(v[i], &err) == 0 && strpbrk(v[i], "/\n _"))
			abort();
		if (version_check_arch(v[i], &err) == 0 && strpbrk(v[i], "/.\n _"))
			abort();
	}
	if (valid == 3)
		check_order(v);
	else
		(void)!version_compare(v[0], v[1]);
	return 0;
}
