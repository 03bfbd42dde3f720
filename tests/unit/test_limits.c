#include "unit.h"

#include "../../lib/base/limits.h"

#define MIB	((uint64_t)1 << 20)
#define MEMINFO "MemTotal:       65536000 kB\nMemFree:        1 kB\nMemAvailable:   4194304 kB\n"

/* A made-up machine with 4 GiB at hand. */
static void machine(struct unit *u, const char *groups)
{
	unit_put(u, "proc/meminfo", MEMINFO);
	unit_put(u, "proc/self/cgroup", groups);
}

static void without_groups(void **state)
{
	struct unit *u = *state;
	assert_int_equal(limits_memory(u->dir), 0);
	unit_put(u, "proc/meminfo", MEMINFO);
	assert_int_equal(limits_memory(u->dir), 4096 * MIB);
	assert_true(limits_cpus(u->dir) >= 1);
	assert_true(limits_memory("") > 0);
	assert_true(limits_cpus("") >= 1);
}

static void version_2_counts_each_level(void **state)
{
	struct unit *u = *state;
	machine(u, "0::/a.slice/b\n");
	unit_put(u, "sys/fs/cgroup/a.slice/b/memory.max", "max\n");
	unit_put(u, "sys/fs/cgroup/a.slice/b/memory.current", "5000\n");
	assert_int_equal(limits_memory(u->dir), 4096 * MIB);
	unit_put(u, "sys/fs/cgroup/a.slice/memory.max", "2147483648\n");
	unit_put(u, "sys/fs/cgroup/a.slice/memory.current", "1073741824\n");
	assert_int_equal(limits_memory(u->dir), 1024 * MIB);
	unit_put(u, "sys/fs/cgroup/a.slice/memory.stat", "anon 1\ninactive_file 536870912\nx 2\n");
	assert_int_equal(limits_memory(u->dir), 1536 * MIB);
	unit_put(u, "sys/fs/cgroup/a.slice/b/memory.max", "1000\n");
	assert_int_equal(limits_memory(u->dir), 1);
	unit_put(u, "sys/fs/cgroup/a.slice/b/cpu.max", "max 100000\n");
	unsigned all = limits_cpus(u->dir);
	unit_put(u, "sys/fs/cgroup/a.slice/cpu.max", "50000 100000\n");
	assert_int_equal(limits_cpus(u->dir), 1);
	unit_put(u, "sys/fs/cgroup/a.slice/cpu.max", "100000000 100000\n");
	assert_int_equal(limits_cpus(u->dir), all);
}

/* The path is the host's; the container sees its own group as the top. */
static void container_sees_the_top(void **state)
{
	struct unit *u = *state;
	machine(u, "5:devices:/docker/1\n4:memory:/docker/1\n3:cpu,cpuacct:/docker/1\n");
	unit_put(u, "sys/fs/cgroup/memory/memory.limit_in_bytes", "3221225472\n");
	unit_put(u, "sys/fs/cgroup/memory/memory.usage_in_bytes", "2147483648\n");
	unit_put(u, "sys/fs/cgroup/memory/memory.stat",
	    "inactive_file 9\ntotal_inactive_file 1073741824\n");
	assert_int_equal(limits_memory(u->dir), 2048 * MIB);
	unit_put(u, "sys/fs/cgroup/cpu/cpu.cfs_quota_us", "-1\n");
	unit_put(u, "sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n");
	assert_true(limits_cpus(u->dir) >= 1);
	unit_put(u, "sys/fs/cgroup/cpu/cpu.cfs_quota_us", "100000\n");
	assert_int_equal(limits_cpus(u->dir), 1);
}

static void nonsense_is_no_limit(void **state)
{
	static const char *const groups[] = {
	    "", "\n", ":", "::", "0::", "0::a", "x", "0::/../..\n"};
	struct unit *u = *state;
	unit_put(u, "sys/fs/cgroup/memory.max", "garbage\n");
	unit_put(u, "sys/fs/cgroup/memory.current", "\n");
	unit_put(u, "sys/fs/cgroup/cpu.max", "0 0\n");
	for (size_t i = 0; i < ARRAY_SIZE(groups); i++) {
		machine(u, groups[i]);
		assert_int_equal(limits_memory(u->dir), 4096 * MIB);
		assert_true(limits_cpus(u->dir) >= 1);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    CASE(without_groups),
	    CASE(version_2_counts_each_level),
	    CASE(container_sees_the_top),
	    CASE(nonsense_is_no_limit),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
