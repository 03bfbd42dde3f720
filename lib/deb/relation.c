#include "relation.h"

#include <stdbool.h>
#include <string.h>
#include <strings.h>

#include "../base/arena.h"
#include "../base/err.h"
#include "version.h"

#define SPACE	  " \t\n"
#define QUOTE_MAX 80 /* bytes of input quoted in a message */

const char *const relation_fields[] = {"Depends", "Pre-Depends", "Recommends", "Suggests",
    "Enhances", "Conflicts", "Breaks", "Replaces", "Provides", NULL};

static const char *const operators[] = {"<<", "<=", "=", ">=", ">>", NULL};

struct parser {
	struct arena *arena;
	const char *text, *p; /* all of it, and what is left */
	const char *piece;    /* where the relation at hand begins */
	struct err *err;
};

/* Sets "in 'PIECE': WHAT"; the piece ends where the next relation begins. */
#define FAIL(ps, ...) (err_set((ps)->err, ERR_FORMAT, __VA_ARGS__), wrap_piece(ps))

static int wrap_piece(const struct parser *ps)
{
	const char *piece = ps->piece + strspn(ps->piece, SPACE);
	size_t n = strcspn(piece, ",|");
	while (n && strchr(SPACE, piece[n - 1]))
		n--;
	if (n)
		return err_wrap(ps->err, "in '%.*s'", (int)(n > QUOTE_MAX ? QUOTE_MAX : n), piece);
	n = (size_t)(ps->piece - ps->text);
	if (n > QUOTE_MAX)
		n = QUOTE_MAX;
	return n ? err_wrap(ps->err, "after '%.*s'", (int)n, ps->piece - n) : -1;
}

static void skip_space(struct parser *ps)
{
	ps->p += strspn(ps->p, SPACE);
}

static char *take_span(struct parser *ps, size_t n)
{
	char *s = arena_strndup(ps->arena, ps->p, n);
	ps->p += n;
	return s;
}

/* dpkg's rule for a name that is referred to is wider than Debian policy's for a package. */
static bool is_package(const char *s)
{
	static const char alnum[] =
	    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
	size_t n = strspn(s, alnum);
	if (!n)
		return false;
	while (s[n] && strchr("+-._", s[n]))
		n += 1 + strspn(s + n + 1, alnum);
	return !s[n];
}

static int parse_name(struct parser *ps, struct relation *r)
{
	size_t n = strcspn(ps->p, SPACE ":(,|");
	if (!n && !*ps->p)
		return FAIL(ps, "found the end of the field, expected a package name");
	if (!n && *ps->p == '\n')
		return FAIL(ps, "found an empty first line, expected a package name there");
	if (!n)
		return FAIL(ps, "found '%c', expected a package name", *ps->p);
	r->package = take_span(ps, n);
	if (!is_package(r->package))
		return FAIL(ps,
		    "found '%.*s', expected a package name of letters, digits and + - . _",
		    QUOTE_MAX, r->package);
	if (*ps->p != ':')
		return 0;
	ps->p++;
	r->arch_qualifier = take_span(ps, strcspn(ps->p, SPACE "(,|"));
	if (version_check_arch(r->arch_qualifier, ps->err) < 0)
		return wrap_piece(ps);
	return 0;
}

static int parse_operator(struct parser *ps, struct relation *r)
{
	size_t n = strspn(ps->p, "<>=");
	if (!n)
		return FAIL(ps, "found a version without an operator, expected << <= = >= or >>");
	const char *op = take_span(ps, n);
	for (size_t i = 0; operators[i]; i++)
		if (!strcmp(op, operators[i]))
			r->op = operators[i];
	if (r->op)
		return 0;
	if (n == 1)
		return FAIL(ps, "found the obsolete operator '%s', expected '%s%s' or '%s='", op,
		    op, op, op);
	return FAIL(ps, "found operator '%.*s', expected << <= = >= or >>", QUOTE_MAX, op);
}

static int parse_version(struct parser *ps, struct relation *r)
{
	ps->p++;
	skip_space(ps);
	const char *start = ps->p;
	if (parse_operator(ps, r) < 0)
		return -1;
	skip_space(ps);
	r->version = take_span(ps, strcspn(ps->p, SPACE "()"));
	skip_space(ps);
	if (!*ps->p)
		return FAIL(ps, "found the end of the field, expected ')'");
	if (*ps->p != ')')
		return FAIL(ps, "found '%c' after the version, expected ')'", *ps->p);
	ps->p++;
	if (version_check(r->version, ps->err) < 0)
		return wrap_piece(ps);
	size_t n = (size_t)(ps->p - start);
	skip_space(ps);
	if (n < 4 && !*ps->p)
		return FAIL(ps,
		    "found '(%.*s' as the last thing, which apt cannot read, "
		    "expected a space after '='",
		    (int)n, start);
	return 0;
}

static int parse_end(struct parser *ps)
{
	skip_space(ps);
	size_t n = strcspn(ps->p, SPACE ",|");
	if (!n)
		return 0;
	if (*ps->p == '[')
		return FAIL(ps, "found '[', expected no architecture list in a binary package");
	if (*ps->p == '<')
		return FAIL(ps, "found '<', expected no build profile in a binary package");
	return FAIL(ps, "found '%.*s', expected ',' or '|' before it",
	    (int)(n > QUOTE_MAX ? QUOTE_MAX : n), ps->p);
}

static int parse_relation(struct parser *ps, struct relation *r)
{
	ps->piece = ps->p;
	if (parse_name(ps, r) < 0)
		return -1;
	skip_space(ps);
	if (*ps->p == '(' && parse_version(ps, r) < 0)
		return -1;
	return parse_end(ps);
}

static size_t count_relations(const char *text)
{
	size_t n = 1;
	for (; *text; text++)
		n += *text == ',' || *text == '|';
	return n;
}

int relation_parse(struct arena *a, const char *text, struct relation_list *out, struct err *err)
{
	struct parser ps = {.arena = a, .text = text, .p = text + strspn(text, " \t"), .err = err};
	struct relation_list l = {0};
	if (*ps.p) {
		l.v = arena_alloc(a, count_relations(ps.p) * sizeof *l.v);
		for (unsigned group = 0;;) {
			struct relation *r = &l.v[l.n++];
			r->group = group;
			if (parse_relation(&ps, r) < 0)
				return -1;
			if (!*ps.p)
				break;
			group += *ps.p == ',';
			ps.p++;
			skip_space(&ps);
		}
	}
	*out = l;
	return 0;
}

static bool takes_alternatives(const char *field)
{
	static const char *const with[] = {
	    "Depends", "Pre-Depends", "Recommends", "Suggests", "Enhances"};
	for (size_t i = 0; i < ARRAY_SIZE(with); i++)
		if (!strcasecmp(field, with[i]))
			return true;
	return false;
}

int relation_check(const char *field, const struct relation_list *l, struct err *err)
{
	bool alternatives = takes_alternatives(field), provides = !strcasecmp(field, "Provides");
	for (size_t i = 0; i < l->n; i++) {
		const struct relation *r = &l->v[i];
		if (!alternatives && i && r->group == r[-1].group)
			return err_set(err, ERR_FORMAT,
			    "found alternatives '%.80s | %.80s', expected none in %s",
			    r[-1].package, r->package, field);
		if (provides && r->op && strcmp(r->op, "=") != 0)
			return err_set(err, ERR_FORMAT,
			    "found '%.80s (%s %.80s)', expected no operator but '=' in %s",
			    r->package, r->op, r->version, field);
	}
	return 0;
}
