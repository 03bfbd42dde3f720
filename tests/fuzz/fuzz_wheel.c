/* A local wheel: its directory, its members and its RECORD. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "../../lib/base/err.h"
#include "../../lib/base/path.h"
#include "../../lib/base/strv.h"
#include "../../lib/base/xalloc.h"
#include "../../debbuild/wheel/wheel.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char top[] = "/dev/shm/debkit-fuzz.XXXXXX";

static bool want(void *arg, const char *member)
{
	return !strstr(member, "unwanted");
}

static void remove_top(void)
{
	(void)!path_remove_tree(top, NULL);
}

/* All of it or nothing lies below top, and nothing beside it. */
static void check(const char *dir, int rc)
{
	_cleanup_(strv_done) struct strv beside = STRV_INIT;
	_cleanup_(strv_done) struct strv files = STRV_INIT;
	if (path_list(top, &beside, NULL) < 0 || beside.n != (rc == 0 ? 1 : 0))
		abort();
	if (rc < 0)
		return;
	if (path_walk(dir, &files, NULL) < 0 || !files.n || path_remove_tree(dir, NULL) < 0)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static int fd = -1;
	char path[64], hex[SHA256_HEX];
	if (fd < 0) {
		fd = memfd_create("wheel", MFD_CLOEXEC);
		if (!mkdtemp(top) || atexit(remove_top))
			abort();
	}
	if (fd < 0 || ftruncate(fd, 0) < 0 || pwrite(fd, data, size, 0) != (ssize_t)size)
		abort();
	snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
	_free_ char *dir = path_join(top, "wheel");
	struct wheel_pin pin = {.name = "a-1-py3-none-any.whl", .path = path};
	struct err err = {0};
	int rc = wheel_extract(NULL, &pin, want, NULL, dir, hex, &err);
	if (rc < 0 && err.code != ERR_FORMAT && err.code != ERR_TRUST && err.code != ERR_SYSTEM)
		abort();
	check(dir, rc);
	return 0;
}
