#include "limits.h"

#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "buf.h"
#include "path.h"
#include "strv.h"
#include "xalloc.h"

#define TEXT_MAX ((size_t)1 << 20)

/* One way in which a kernel shows control groups. */
struct layout {
	const char *controller; /* in /proc/self/cgroup; "" is version 2 */
	const char *mount;
	const char *limit, *usage, *reclaimable; /* names of files, and a key of memory.stat */
};

static const struct layout memory_layouts[] = {
    {"", "/sys/fs/cgroup", "memory.max", "memory.current", "inactive_file"},
    {"memory", "/sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.usage_in_bytes",
	"total_inactive_file"}};

/* The file DIR/NAME, or "" if it cannot be read. */
static char *read_text(const char *dir, const char *name)
{
	_cleanup_(buf_done) struct buf b = BUF_INIT(TEXT_MAX);
	_free_ char *path = xasprintf("%s/%s", dir, name);
	return path_read(path, &b, NULL) == 0 ? buf_take(&b) : xstrdup("");
}

/* The number behind KEY at the begin of a line. */
static bool find_number(const char *text, const char *key, uint64_t *out)
{
	size_t n = strlen(key);
	unsigned long long v;
	for (const char *p = text; p; p = strchr(p, '\n'), p += p != NULL) {
		if (strncmp(p, key, n) || sscanf(p + n, " %llu", &v) != 1)
			continue;
		*out = v;
		return true;
	}
	return false;
}

static bool has_word(const char *list, size_t len, const char *word)
{
	_free_ char *copy = xstrndup(list, len);
	_cleanup_(strv_done) struct strv words = STRV_INIT;
	strv_split(&words, copy, ",");
	return *word ? strv_has(&words, word) : len == 0;
}

/* The group's path from a line "4:cpu,cpuacct:/path" of /proc/self/cgroup, or NULL. */
static char *group_path(const char *text, const char *controller)
{
	_cleanup_(strv_done) struct strv lines = STRV_INIT;
	strv_split(&lines, text, "\n");
	for (size_t i = 0; i < lines.n; i++) {
		const char *list = strchr(lines.v[i], ':');
		const char *path = list ? strchr(list + 1, ':') : NULL;
		if (path && has_word(list + 1, (size_t)(path - list) - 1, controller))
			return xstrdup(path + 1);
	}
	return NULL;
}

/* Calls fn for the folder of the group and all above it; in a container only the last is there. */
static void each_group(const char *root, const char *controller, const char *mount,
    void (*fn)(const char *dir, void *arg), void *arg)
{
	_free_ char *groups = read_text(root, "proc/self/cgroup");
	_free_ char *path = group_path(groups, controller);
	while (path && path[0] == '/' && path[1]) {
		_free_ char *dir = xasprintf("%s%s%s", root, mount, path);
		fn(dir, arg);
		*strrchr(path, '/') = '\0';
	}
	_free_ char *top = xasprintf("%s%s", root, mount);
	fn(top, arg);
}

struct memory {
	const struct layout *layout;
	uint64_t left;
};

static void lower_memory(const char *dir, void *arg)
{
	struct memory *m = arg;
	uint64_t limit, used, cache = 0;
	_free_ char *max = read_text(dir, m->layout->limit);
	_free_ char *usage = read_text(dir, m->layout->usage);
	_free_ char *stat = read_text(dir, "memory.stat");
	if (!find_number(max, "", &limit) || !find_number(usage, "", &used))
		return;
	(void)!find_number(stat, m->layout->reclaimable, &cache);
	used -= cache < used ? cache : used;
	uint64_t left = used < limit ? limit - used : 0;
	/* 0 would be unknown */
	if (left < m->left)
		m->left = left ? left : 1;
}

uint64_t limits_memory(const char *root)
{
	uint64_t kib = 0;
	_free_ char *info = read_text(root, "proc/meminfo");
	(void)!find_number(info, "MemAvailable:", &kib);
	struct memory m = {.left = kib ? kib << 10 : UINT64_MAX};
	for (size_t i = 0; i < ARRAY_SIZE(memory_layouts); i++) {
		m.layout = &memory_layouts[i];
		each_group(root, m.layout->controller, m.layout->mount, lower_memory, &m);
	}
	return m.left == UINT64_MAX ? 0 : m.left;
}

static void lower_cpus(unsigned *cpus, uint64_t quota, uint64_t period)
{
	uint64_t whole = period ? (quota + period - 1) / period : UINT64_MAX;
	if (whole && whole < *cpus)
		*cpus = (unsigned)whole;
}

/* cpu.max: "200000 100000", or "max 100000". */
static void cpus_of_v2(const char *dir, void *arg)
{
	unsigned long long quota, period;
	_free_ char *max = read_text(dir, "cpu.max");
	if (sscanf(max, "%llu %llu", &quota, &period) == 2)
		lower_cpus(arg, quota, period);
}

static void cpus_of_v1(const char *dir, void *arg)
{
	uint64_t quota, period;
	_free_ char *q = read_text(dir, "cpu.cfs_quota_us"); /* -1: none */
	_free_ char *p = read_text(dir, "cpu.cfs_period_us");
	if (*q != '-' && find_number(q, "", &quota) && find_number(p, "", &period))
		lower_cpus(arg, quota, period);
}

unsigned limits_cpus(const char *root)
{
	cpu_set_t set;
	int n = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
	unsigned cpus = n > 0 ? (unsigned)n : 1;
	each_group(root, "", "/sys/fs/cgroup", cpus_of_v2, &cpus);
	each_group(root, "cpu", "/sys/fs/cgroup/cpu", cpus_of_v1, &cpus);
	return cpus;
}
