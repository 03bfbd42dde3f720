/* The JSON form of a project's page: PEP 691, with PEP 700's sizes and PEP 714's names. */
#include "pyindex.h"

#include <jansson.h>
#include <string.h>

#include "../../lib/base/arena.h"
#include "../../lib/base/err.h"
#include "../../lib/base/strv.h"
#include "pyindex_int.h"

static void free_json(json_t **j)
{
	json_decref(*j);
}

/* false and absent mean no; true and an object or text mean yes. */
static bool is_yes(const json_t *v)
{
	return json_is_true(v) || json_is_object(v) || json_is_string(v);
}

static int parse_file(struct arena *a, const json_t *from, struct index_file *to, struct err *err)
{
	const char *name = json_string_value(json_object_get(from, "filename"));
	const char *url = json_string_value(json_object_get(from, "url"));
	const json_t *size = json_object_get(from, "size");
	const json_t *sha256 = json_object_get(json_object_get(from, "hashes"), "sha256");
	if (!name || !url)
		return err_set(err, ERR_FORMAT, "a file without name or address");
	if (size && !json_is_null(size) && (!json_is_integer(size) || json_integer_value(size) < 0))
		return err_set(err, ERR_FORMAT, "%s: its size is no number of bytes", name);
	if (sha256 &&
	    (!json_is_string(sha256) || !index_take_sha256(json_string_value(sha256), to->sha256)))
		return err_set(err, ERR_FORMAT, "%s: its sha256 is not 64 hex digits", name);
	to->name = arena_strdup(a, name);
	to->url = arena_strdup(a, url);
	to->size = (uint64_t)json_integer_value(size);
	to->yanked = is_yes(json_object_get(from, "yanked"));
	to->has_metadata = is_yes(json_object_get(from, "core-metadata")) ||
			   is_yes(json_object_get(from, "dist-info-metadata"));
	return 0;
}

int index_parse_json(struct arena *a, const char *text, size_t len, const char *page,
    struct index_files *out, struct err *err)
{
	json_error_t where;
	_cleanup_(free_json) json_t *root = json_loadb(text, len, 0, &where);
	if (!root)
		return err_set(err, ERR_FORMAT,
		    "'%s' is no JSON: line %d: %s; the index or something before it is broken",
		    page, where.line, where.text);
	const char *version =
	    json_string_value(json_object_get(json_object_get(root, "meta"), "api-version"));
	if (!version || !str_starts(version, "1."))
		return err_set(err, ERR_FORMAT,
		    "'%s' is in version %s of the index form, only 1.x is known", page,
		    version ? version : "(none)");
	const json_t *files = json_object_get(root, "files");
	if (!json_is_array(files))
		return err_set(err, ERR_FORMAT, "'%s' has no list of files", page);
	size_t i, cap = 0;
	json_t *file;
	json_array_foreach(files, i, file) if (parse_file(a, file, index_files_add(a, out, &cap),
						   err) < 0) return err_wrap(err, "'%s'", page);
	return 0;
}
