#include "listing.h"

#include <string.h>

#include "../../lib/base/arena.h"
#include "../../lib/base/buf.h"
#include "../../lib/base/err.h"
#include "../../lib/base/path.h"
#include "../state/compress.h"
#include "piece.h"
#include "../state/suite.h"

#define INDEX_MAX ((size_t)1 << 30)

static bool take_field(
    struct arena *a, const char *text, size_t n, const char *field, const char **out)
{
	size_t len;
	const char *v = piece_field(text, n, field, &len);
	*out = v ? arena_strndup(a, v, len) : NULL;
	return v && len;
}

static int parse_stanza(struct arena *a, const char *text, size_t n, struct pkg *p, struct err *err)
{
	const char *size, *sha;
	unsigned long long bytes;
	if (!take_field(a, text, n, "Package", &p->name) ||
	    !take_field(a, text, n, "Version", &p->version) ||
	    !take_field(a, text, n, "Architecture", &p->arch) ||
	    !take_field(a, text, n, "Filename", &p->path) ||
	    !take_field(a, text, n, "Size", &size) || !take_field(a, text, n, "SHA256", &sha) ||
	    strlen(sha) != SHA256_HEX - 1 || !path_is_safe_member(p->path) ||
	    str_parse_u64(size, UINT64_MAX / 2, &bytes) < 0)
		return err_set(err, ERR_FORMAT,
		    "a stanza lacks a good Package, Version, Architecture, Filename, Size or "
		    "SHA256");
	p->size = bytes;
	memcpy(p->sha256, sha, SHA256_HEX);
	while (n > 1 && text[n - 1] == '\n' && text[n - 2] == '\n')
		n--;
	p->text = arena_strndup(a, text, n);
	p->text_len = n;
	return 0;
}

int listing_parse(struct arena *a, const struct buf *text, const char *component,
    struct pkg_list *out, struct err *err)
{
	const char *at = buf_str(text), *end = at + text->len;
	if (memchr(at, '\0', text->len))
		return err_set(err, ERR_FORMAT, "a NUL byte in an index");
	for (size_t n; (n = piece_stanza(at, (size_t)(end - at))); at += n) {
		struct pkg p = {.component = component};
		if (parse_stanza(a, at, n, &p, err) < 0)
			return -1;
		pkg_list_add(out, &p);
	}
	return 0;
}

/* Appends the bytes of a file if they are those that Release speaks of. */
static bool read_checked(const char *path, const struct release_file *f, struct buf *out)
{
	struct sums s;
	struct sums_hex hex;
	buf_truncate(out, 0);
	if (path_read(path, out, NULL) < 0 || out->len != f->sums.size)
		return false;
	sums_init(&s, false);
	sums_update(&s, buf_str(out), out->len);
	sums_hex(&s, &hex);
	return !strcmp(hex.hex[SUM_SHA256], f->sums.hex[SUM_SHA256]);
}

/* Tries the by-hash name first: it is right even where a publish was stopped half-way. */
static int read_kind(struct arena *a, const char *dir, const struct release_file *f, int kind,
    struct buf *text, struct err *err)
{
	static int (*const unpack[INDEX_FILES])(const void *, size_t, struct buf *,
	    struct err *) = {[FILE_GZ] = decompress_gz, [FILE_ZST] = decompress_zst};
	_cleanup_(buf_done) struct buf packed = BUF_INIT(INDEX_MAX);
	const char *by_hash = arena_printf(a, "%s/by-hash/SHA256/%s", dir, f->sums.hex[SUM_SHA256]);
	if (!read_checked(by_hash, f, &packed) &&
	    !read_checked(arena_printf(a, "%s/Packages%s", dir, index_suffix[kind]), f, &packed))
		return 0;
	if (!unpack[kind])
		buf_append(text, buf_str(&packed), packed.len);
	else if (unpack[kind](buf_str(&packed), packed.len, text, err) < 0)
		return -1;
	return buf_check(text, "index", err) < 0 ? -1 : 1;
}

int listing_read(struct arena *a, const char *root, const struct suite *s, const char *component,
    const char *arch, struct pkg_list *out, struct err *err)
{
	static const int kinds[] = {FILE_ZST, FILE_GZ, FILE_PLAIN};
	const char *base = arena_printf(a, "%s/binary-%s", component, arch);
	const char *dir = arena_printf(a, "%s/dists/%s/%s", root, s->name, base);
	bool listed = false;
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		_cleanup_(buf_done) struct buf text = BUF_INIT(INDEX_MAX);
		const struct release_file *f = release_list_find(
		    &s->files, arena_printf(a, "%s/Packages%s", base, index_suffix[kinds[i]]));
		if (!f || !*f->sums.hex[SUM_SHA256])
			continue;
		listed = true;
		int found = read_kind(a, dir, f, kinds[i], &text, err);
		if (found == 1)
			found = listing_parse(a, &text, component, out, err) < 0 ? -1 : 1;
		if (found < 0)
			return err_wrap(err, "'%s/Packages%s'", dir, index_suffix[kinds[i]]);
		if (found == 1)
			return 0;
	}
	if (!listed)
		return 0;
	return err_set(err, ERR_FORMAT,
	    "no file in '%s' is the one that Release of '%s' names; publish into an empty folder, "
	    "or "
	    "bring it back from a copy",
	    dir, s->name);
}
