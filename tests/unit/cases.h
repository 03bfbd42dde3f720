/* Golden data with one case a line, fields between tabs, '#' lines skipped. */
#pragma once
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CASE_FIELDS 4

struct case_file {
	FILE *f;
	char *line;
	size_t cap;
	char *v[CASE_FIELDS]; /* missing ones are "" */
	unsigned n;	      /* cases read so far */
};

static inline void case_open(struct case_file *c, const char *path)
{
	*c = (struct case_file){.f = fopen(path, "r")};
	if (!c->f) {
		perror(path);
		abort();
	}
}

static inline int case_next(struct case_file *c)
{
	ssize_t len;
	do {
		len = getline(&c->line, &c->cap, c->f);
	} while (len >= 0 && c->line[0] == '#');
	if (len < 0)
		return 0;
	c->line[strcspn(c->line, "\n")] = '\0';
	char *rest = c->line, *end = rest + strlen(rest);
	for (size_t i = 0; i < CASE_FIELDS; i++) {
		char *field = strsep(&rest, "\t");
		c->v[i] = field ? field : end;
	}
	c->n++;
	return 1;
}

static inline void case_close(struct case_file *c)
{
	free(c->line);
	fclose(c->f);
}
