#include "control.h"

#include <string.h>
#include <strings.h>

#include "../base/arena.h"
#include "../base/err.h"
#include "../base/xalloc.h"
#include "relation.h"
#include "stanza.h"
#include "version.h"

static int check_mandatory(const struct stanza *s, struct err *err)
{
	static const char *const names[] = {
	    "Package", "Version", "Architecture", "Maintainer", "Description"};
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		const char *value = stanza_get(s, names[i]);
		if (!value || !*value)
			return err_set(
			    err, ERR_FORMAT, "the field %s is missing or empty", names[i]);
	}
	return 0;
}

static int check_forbidden(const struct stanza *s, struct err *err)
{
	static const char *const names[] = {
	    "Status", "Config-Version", "Conffiles", "Triggers-Pending", "Triggers-Awaited"};
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (stanza_get(s, names[i]))
			return err_set(err, ERR_FORMAT,
			    "the field %s is dpkg's own and may not stand in a package", names[i]);
	return 0;
}

static int check_choice(
    const struct stanza *s, const char *name, const char *const *allowed, struct err *err)
{
	const char *value = stanza_get(s, name);
	if (!value)
		return 0;
	for (size_t i = 0; allowed[i]; i++)
		if (!strcasecmp(value, allowed[i]))
			return 0;
	return err_set(err, ERR_FORMAT, "%s: '%s' is no value that dpkg knows", name, value);
}

/* "name" or "name (version)"; it becomes a folder of the pool. */
static int check_source(const struct stanza *s, struct err *err)
{
	const char *value = stanza_get(s, "Source");
	if (!value)
		return 0;
	size_t n = strcspn(value, " ");
	_free_ char *name = xstrndup(value, n);
	if (version_check_package(name, err) < 0)
		return err_wrap(err, "Source");
	value += n + strspn(value + n, " ");
	if (!*value)
		return 0;
	n = strlen(value);
	if (n < 3 || value[0] != '(' || value[n - 1] != ')')
		return err_set(err, ERR_FORMAT, "Source: '%s' is no version in brackets", value);
	_free_ char *version = xstrndup(value + 1, n - 2);
	return version_check(version, err) < 0 ? err_wrap(err, "Source") : 0;
}

static int check_relations(const struct stanza *s, struct err *err)
{
	static const char *const names[] = {"Pre-Depends", "Depends", "Recommends", "Suggests",
	    "Enhances", "Conflicts", "Breaks", "Replaces", "Provides"};
	_cleanup_(arena_done) struct arena a = ARENA_INIT;
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		const char *value = stanza_get(s, names[i]);
		struct relation_list list;
		if (value && relation_parse(&a, value, &list, err) < 0)
			return err_wrap(err, "%s", names[i]);
	}
	return 0;
}

int control_check(const struct stanza *s, struct err *err)
{
	static const char *const yes_no[] = {"yes", "no", NULL};
	static const char *const multi_arch[] = {"no", "same", "foreign", "allowed", NULL};
	if (check_mandatory(s, err) < 0 || check_forbidden(s, err) < 0)
		return -1;
	if (version_check_package(stanza_get(s, "Package"), err) < 0)
		return err_wrap(err, "Package");
	if (version_check(stanza_get(s, "Version"), err) < 0)
		return err_wrap(err, "Version");
	if (version_check_arch(stanza_get(s, "Architecture"), err) < 0)
		return err_wrap(err, "Architecture");
	if (check_choice(s, "Essential", yes_no, err) < 0 ||
	    check_choice(s, "Protected", yes_no, err) < 0 ||
	    check_choice(s, "Multi-Arch", multi_arch, err) < 0)
		return -1;
	return check_source(s, err) < 0 || check_relations(s, err) < 0 ? -1 : 0;
}
