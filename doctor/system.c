#include "system.h"

#include <errno.h>
#include <gnu/libc-version.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "../lib/base/limits.h"
#include "../lib/base/path.h"
#include "probe.h"

#define TEXT_MAX ((size_t)4 << 20)

/* mountinfo writes space, tab, newline and backslash as three octal digits. */
static void unescape(char *s)
{
	char *to = s;
	for (; *s; s++, to++) {
		*to = *s;
		if (*s == '\\' && strspn(s + 1, "01234567") >= 3) {
			*to = (char)((s[1] - '0') << 6 | (s[2] - '0') << 3 | (s[3] - '0'));
			s += 3;
		}
	}
	*to = '\0';
}

static bool holds(const char *mount, const char *path)
{
	size_t n = strlen(mount);
	return !strcmp(mount, "/") || (!strncmp(path, mount, n) && (!path[n] || path[n] == '/'));
}

bool system_parse_noexec(struct arena *a, const char *mountinfo, const char *path)
{
	char *copy = arena_strdup(a, mountinfo);
	bool noexec = false;
	size_t longest = 0;
	for (char *line; (line = probe_line(&copy));) {
		_cleanup_(strv_done) struct strv w = STRV_INIT, options = STRV_INIT;
		strv_split(&w, line, " ");
		if (w.n < 6)
			continue;
		unescape(w.v[4]);
		size_t n = strlen(w.v[4]);
		if (!holds(w.v[4], path) || n < longest)
			continue;
		longest = n;
		strv_split(&options, w.v[5], ",");
		noexec = strv_has(&options, "noexec");
	}
	return noexec;
}

static const char *existing(struct probe *p, const char *path)
{
	struct stat st;
	const char *dir = path;
	while (strcmp(dir, "/") != 0 && !probe_stat(p, dir, &st)) {
		_free_ char *up = path_dir(dir);
		dir = arena_strdup(p->a, *up == '/' ? up : "/");
	}
	return dir;
}

bool system_free_bytes(struct probe *p, const char *path, uint64_t *out)
{
	struct statvfs v;
	if (statvfs(probe_path(p, existing(p, path)), &v) < 0)
		return false;
	*out = (uint64_t)v.f_bavail * v.f_frsize;
	return true;
}

static bool writable(struct probe *p, const char *path)
{
	return access(probe_path(p, existing(p, path)), W_OK | X_OK) == 0;
}

static void read_release(struct probe *p, struct os *out)
{
	const char *text = probe_text(p, "/etc/os-release", TEXT_MAX);
	const char *v;
	out->pretty = text && (v = probe_setting(p, text, "PRETTY_NAME")) ? v
									  : "a system without "
									    "/etc/os-release";
	out->id = text && (v = probe_setting(p, text, "ID")) ? v : "";
	out->version = text && (v = probe_setting(p, text, "VERSION_ID")) ? v : "";
}

/* systemd's own file first; then what each runtime leaves. */
static const char *find_container(struct probe *p)
{
	static const struct {
		const char *word, *name;
	} v[] = {{"lxc", "LXC"}, {"docker", "Docker"}, {"podman", "Podman"},
	    {"systemd-nspawn", "systemd-nspawn"}, {"wsl", "WSL"}};
	struct stat st;
	const char *text = probe_text(p, "/run/systemd/container", TEXT_MAX);
	for (size_t i = 0; text && i < ARRAY_SIZE(v); i++)
		if (str_starts(text, v[i].word))
			return v[i].name;
	if (probe_stat(p, "/.dockerenv", &st))
		return "Docker";
	if (probe_stat(p, "/run/.containerenv", &st))
		return "Podman";
	text = probe_text(p, "/proc/self/mountinfo", TEXT_MAX);
	if (text && (strstr(text, " lxcfs ") || strstr(text, "fuse.lxcfs")))
		return "LXC";
	return NULL;
}

/* A filter that answers EPERM to clone3 instead of ENOSYS keeps glibc from making threads. */
static bool can_thread(void)
{
#ifdef SYS_clone3
	return syscall(SYS_clone3, NULL, (size_t)0) >= 0 || errno != EPERM;
#else
	return true;
#endif
}

static const char *triton_cache(struct probe *p)
{
	const char *dir = getenv("TRITON_CACHE_DIR"), *home = getenv("TRITON_HOME");
	if (dir && *dir == '/')
		return dir;
	return arena_printf(p->a, "%s/.triton/cache", home && *home == '/' ? home : p->home);
}

void system_read(struct probe *p, struct os *out)
{
	const char *tmp = getenv("TMPDIR");
	const char *mounts = probe_text(p, "/proc/self/mountinfo", TEXT_MAX);
	*out = (struct os){.glibc = gnu_get_libc_version(),
	    .container = find_container(p),
	    .memory = limits_memory(p->root),
	    .can_thread = can_thread(),
	    .tmp = tmp && *tmp == '/' ? tmp : "/tmp"};
	probe_note(p, "/proc/meminfo");
	read_release(p, out);
	out->triton_cache = triton_cache(p);
	out->tmp_writable = writable(p, out->tmp);
	out->triton_writable = writable(p, out->triton_cache);
	if (!mounts)
		return;
	out->tmp_noexec = system_parse_noexec(p->a, mounts, out->tmp);
	out->triton_noexec = system_parse_noexec(p->a, mounts, out->triton_cache);
}
