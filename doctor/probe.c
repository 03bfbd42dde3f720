#include "probe.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "../lib/base/path.h"

void probe_init(struct probe *p, struct arena *a, const char *root)
{
	const char *home = getenv("HOME");
	*p = (struct probe){.a = a, .root = root, .home = home && *home == '/' ? home : ""};
}

void probe_done(struct probe *p)
{
	strv_done(&p->seen);
}

const char *probe_path(struct probe *p, const char *name)
{
	return *p->root ? arena_printf(p->a, "%s%s", p->root, name) : name;
}

void probe_note(struct probe *p, const char *name)
{
	strv_add(&p->seen, name);
}

static int read_all(int fd, struct buf *out)
{
	char block[16384];
	ssize_t n;
	while ((n = read(fd, block, sizeof block)) > 0) {
		buf_append(out, block, (size_t)n);
		if (out->failed) {
			errno = EFBIG;
			return -1;
		}
	}
	return (int)n;
}

int probe_read(struct probe *p, const char *name, struct buf *out)
{
	const char *path = probe_path(p, name);
	struct stat st;
	if (stat(path, &st) < 0)
		return -1;
	if (!S_ISREG(st.st_mode)) {
		errno = EINVAL;
		return -1;
	}
	_close_ int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return -1;
	probe_note(p, name);
	int rc = read_all(fd, out);
	p->skipped += rc < 0 && errno == EFBIG;
	return rc;
}

const char *probe_text(struct probe *p, const char *name, size_t max)
{
	_cleanup_(buf_done) struct buf text = BUF_INIT(max);
	if (probe_read(p, name, &text) < 0)
		return NULL;
	return arena_strdup(p->a, buf_str(&text));
}

int probe_list(struct probe *p, const char *dir, struct strv *names)
{
	DIR *d = opendir(probe_path(p, dir));
	if (!d)
		return -1;
	probe_note(p, dir);
	size_t first = names->n;
	for (struct dirent *e; (e = readdir(d));)
		if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
			strv_add(names, e->d_name);
	closedir(d);
	if (!first)
		strv_sort(names);
	return 0;
}

bool probe_stat(struct probe *p, const char *name, struct stat *st)
{
	return stat(probe_path(p, name), st) == 0;
}

bool probe_is_dir(struct probe *p, const char *name)
{
	return path_is_dir(probe_path(p, name));
}

bool probe_is_file(struct probe *p, const char *name)
{
	struct stat st;
	return probe_stat(p, name, &st) && S_ISREG(st.st_mode);
}

const char *probe_real(struct probe *p, const char *name)
{
	char path[PATH_MAX];
	if (!realpath(probe_path(p, name), path))
		return NULL;
	size_t n = strlen(p->root);
	return arena_strdup(p->a, strncmp(path, p->root, n) ? path : path + n);
}

char *probe_line(char **text)
{
	char *line = *text;
	if (!line || !*line)
		return NULL;
	size_t n = strcspn(line, "\n");
	*text = line[n] ? line + n + 1 : NULL;
	line[n] = '\0';
	if (n && line[n - 1] == '\r')
		line[n - 1] = '\0';
	return line;
}

const char *probe_setting(struct probe *p, const char *text, const char *key)
{
	char *copy = arena_strdup(p->a, text);
	for (char *line; (line = probe_line(&copy));) {
		char *eq = strchr(line, '=');
		if (!eq)
			continue;
		*eq = '\0';
		if (strcmp(str_trim(line), key) != 0)
			continue;
		char *value = str_trim(eq + 1);
		size_t n = strlen(value);
		if (n >= 2 && (*value == '"' || *value == '\'') && value[n - 1] == *value) {
			value[n - 1] = '\0';
			value++;
		}
		return value;
	}
	return NULL;
}

const char *probe_minor(struct arena *a, const char *version)
{
	size_t n = strcspn(version, "+");
	const char *dot = memchr(version, '.', n);
	if (dot)
		n = (size_t)(dot - version) + 1 + strcspn(dot + 1, ".+");
	return arena_strndup(a, version, n);
}

static unsigned long take_number(const char **s)
{
	char *end;
	if (**s < '0' || **s > '9') {
		*s += strcspn(*s, ".");
		return 0;
	}
	unsigned long v = strtoul(*s, &end, 10);
	*s = end + strcspn(end, ".");
	return v;
}

int probe_compare(const char *a, const char *b)
{
	while (*a || *b) {
		unsigned long x = take_number(&a), y = take_number(&b);
		if (x != y)
			return x < y ? -1 : 1;
		a += *a == '.';
		b += *b == '.';
	}
	return 0;
}
