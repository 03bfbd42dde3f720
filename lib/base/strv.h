/*
 * A growing list of owned strings, NULL-terminated so that v.v is an argv.
 *
 *	_cleanup_(strv_done) struct strv v = STRV_INIT;
 *	strv_add(&v, "ninja");
 *	strv_addf(&v, "-j%u", jobs);
 */
#pragma once
#include "compat.h"
#include <stdbool.h>
#include <stddef.h>

struct strv {
	char **v; /* NULL when empty and never added to */
	size_t n;
};
#define STRV_INIT                                                                                  \
	{                                                                                          \
		NULL, 0                                                                            \
	}

void strv_add(struct strv *s, const char *str);
void strv_addf(struct strv *s, const char *fmt, ...) _printf_(2, 3);
void strv_add_all(struct strv *s, const struct strv *more);
/* Takes ownership of str. */
void strv_take(struct strv *s, char *str);
bool strv_has(const struct strv *s, const char *str) _must_check_;
/* Sorts by bytes, and removes what stands twice. */
void strv_sort(struct strv *s);
void strv_uniq(struct strv *s);
/* Splits at any of the characters in seps; empty pieces are dropped. Appends to s. */
void strv_split(struct strv *s, const char *text, const char *seps);
/* The strings with sep between; owned by the caller. */
char *strv_join(const struct strv *s, const char *sep) _malloc_;
void strv_done(struct strv *s);

/* Small string tests. */
bool str_starts(const char *s, const char *prefix) _must_check_;
bool str_ends(const char *s, const char *suffix) _must_check_;
bool str_eq(const char *a, const char *b) _must_check_; /* NULL equals only NULL */
/* Cuts white space from both ends, in place; returns the first character kept. */
char *str_trim(char *s);
/* A whole decimal number from 0 to max; -1 without touching *out if it is anything else. */
int str_parse_u64(const char *s, unsigned long long max, unsigned long long *out) _must_check_;
