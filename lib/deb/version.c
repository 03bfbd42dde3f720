#include "version.h"

#include <limits.h>
#include <stddef.h>
#include <string.h>

#include "../base/err.h"

/* ASCII alone, whatever the locale. */
static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool is_lower(char c)
{
	return c >= 'a' && c <= 'z';
}

static bool is_alpha(char c)
{
	return is_lower(c) || (c >= 'A' && c <= 'Z');
}

/* Parts of a version as spans of the whole. */
struct parts {
	const char *epoch, *upstream, *revision;
	size_t n_epoch, n_upstream, n_revision;
	bool has_epoch, has_revision;
};

static struct parts split(const char *v)
{
	struct parts p = {.epoch = v, .upstream = v};
	const char *end = v + strlen(v);
	const char *colon = strchr(v, ':');
	if (colon) {
		p.has_epoch = true;
		p.n_epoch = (size_t)(colon - v);
		p.upstream = colon + 1;
	}
	const char *hyphen = strrchr(p.upstream, '-');
	if (hyphen)
		p.has_revision = true;
	else
		hyphen = end;
	p.n_upstream = (size_t)(hyphen - p.upstream);
	p.revision = p.has_revision ? hyphen + 1 : end;
	p.n_revision = (size_t)(end - p.revision);
	return p;
}

/* Rank of a character that is no digit: "~" < end < letters < the rest. */
static int rank(const char *s, const char *end)
{
	if (s == end || is_digit(*s))
		return 0;
	if (*s == '~')
		return -1;
	return is_alpha(*s) ? *s : (unsigned char)*s + 256;
}

static int compare_digits(const char **a, const char *a_end, const char **b, const char *b_end)
{
	int first = 0;
	while (*a < a_end && **a == '0')
		++*a;
	while (*b < b_end && **b == '0')
		++*b;
	while (*a < a_end && is_digit(**a) && *b < b_end && is_digit(**b)) {
		if (!first)
			first = **a - **b;
		++*a;
		++*b;
	}
	if (*a < a_end && is_digit(**a))
		return 1;
	if (*b < b_end && is_digit(**b))
		return -1;
	return first;
}

/* The algorithm of deb-version(7): non-digits by rank, digits by number, in turn. */
static int compare_part(const char *a, size_t n_a, const char *b, size_t n_b)
{
	const char *a_end = a + n_a, *b_end = b + n_b;
	while (a < a_end || b < b_end) {
		while ((a < a_end && !is_digit(*a)) || (b < b_end && !is_digit(*b))) {
			int d = rank(a, a_end) - rank(b, b_end);
			if (d)
				return d;
			a++;
			b++;
		}
		int d = compare_digits(&a, a_end, &b, b_end);
		if (d)
			return d;
	}
	return 0;
}

int version_compare(const char *a, const char *b)
{
	struct parts pa = split(a), pb = split(b);
	int d = compare_part(pa.epoch, pa.n_epoch, pb.epoch, pb.n_epoch);
	if (!d)
		d = compare_part(pa.upstream, pa.n_upstream, pb.upstream, pb.n_upstream);
	if (!d)
		d = compare_part(pa.revision, pa.n_revision, pb.revision, pb.n_revision);
	return d;
}

static int check_epoch(const char *v, const struct parts *p, struct err *err)
{
	long long epoch = 0;
	if (!p->n_epoch)
		return err_set(err, ERR_FORMAT,
		    "version '%.80s' has an empty epoch, expected a number before ':'", v);
	for (size_t i = 0; i < p->n_epoch; i++) {
		if (!is_digit(p->epoch[i]))
			return err_set(err, ERR_FORMAT,
			    "version '%.80s' has an epoch that is no number, expected digits "
			    "before ':'",
			    v);
		epoch = epoch * 10 + (p->epoch[i] - '0');
		if (epoch > INT_MAX)
			return err_set(err, ERR_FORMAT,
			    "version '%.80s' has too large an epoch, expected at most %d", v,
			    INT_MAX);
	}
	return 0;
}

static int check_chars(const char *v, const char *s, size_t n, const char *punctuation,
    const char *part, struct err *err)
{
	for (size_t i = 0; i < n; i++) {
		if (is_digit(s[i]) || is_alpha(s[i]) || strchr(punctuation, s[i]))
			continue;
		return err_set(err, ERR_FORMAT,
		    "version '%.80s' has byte 0x%02x in its %s, expected letters, digits and %s", v,
		    (unsigned char)s[i], part, punctuation);
	}
	return 0;
}

int version_check(const char *v, struct err *err)
{
	struct parts p = split(v);
	if (!*v)
		return err_set(
		    err, ERR_FORMAT, "version is empty, expected [epoch:]upstream[-revision]");
	if (p.has_epoch && check_epoch(v, &p, err) < 0)
		return -1;
	if (!p.n_upstream || !is_digit(*p.upstream))
		return err_set(err, ERR_FORMAT, "version '%.80s' does not start with a digit%s", v,
		    p.has_epoch ? " after its epoch" : "");
	if (p.has_revision && !p.n_revision)
		return err_set(err, ERR_FORMAT,
		    "version '%.80s' has an empty revision, expected one after '-'", v);
	if (check_chars(v, p.upstream, p.n_upstream, ".-+~:", "upstream part", err) < 0)
		return -1;
	return check_chars(v, p.revision, p.n_revision, ".+~", "revision", err);
}

/* Lower case letters and digits, and after the first character punctuation. */
static bool is_name(const char *s, const char *punctuation)
{
	for (size_t i = 0; s[i]; i++)
		if (!is_lower(s[i]) && !is_digit(s[i]) && (!i || !strchr(punctuation, s[i])))
			return false;
	return true;
}

int version_check_package(const char *name, struct err *err)
{
	if (strlen(name) >= 2 && is_name(name, "+-."))
		return 0;
	return err_set(err, ERR_FORMAT,
	    "'%.80s' is no package name, expected at least two of a-z, 0-9 and + - ., a letter or "
	    "digit first",
	    name);
}

int version_check_arch(const char *arch, struct err *err)
{
	if (*arch && is_name(arch, "-"))
		return 0;
	return err_set(err, ERR_FORMAT,
	    "'%.80s' is no architecture name, expected a-z, 0-9 and -, a letter or digit first",
	    arch);
}
