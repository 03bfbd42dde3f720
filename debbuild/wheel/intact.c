#include "intact.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "../../lib/base/buf.h"
#include "../../lib/base/digest.h"
#include "../../lib/base/err.h"
#include "../../lib/base/outfile.h"
#include "../../lib/base/path.h"
#include "../../lib/base/strv.h"
#include "../../lib/base/xalloc.h"

#define NOTE_MAX ((size_t)4096)

/* "NUMBER-OF-FILES SHA256\n" over names, sizes and whether they can be run. */
static char *describe(const char *dir)
{
	_cleanup_(strv_done) struct strv names = STRV_INIT;
	if (path_walk(dir, &names, NULL) < 0)
		return NULL;
	struct digest *d = digest_new(DIGEST_SHA256);
	for (size_t i = 0; i < names.n; i++) {
		_free_ char *full = path_join(dir, names.v[i]);
		struct stat st = {0};
		(void)!lstat(full, &st);
		_free_ char *text = xasprintf("%lld %d", (long long)st.st_size,
		    S_ISLNK(st.st_mode) ? 2 : (st.st_mode & 0100) != 0);
		digest_update(d, names.v[i], strlen(names.v[i]) + 1);
		digest_update(d, text, strlen(text) + 1);
	}
	char hex[DIGEST_HEX_MAX];
	digest_finish_hex(d, hex);
	return xasprintf("%zu %s\n", names.n, hex);
}

/* True if the folder is as the note says; without a note, notes it, as far as that can be. */
static bool is_whole(const char *dir, const char *note)
{
	_cleanup_(buf_done) struct buf noted = BUF_INIT(NOTE_MAX);
	_free_ char *now = path_is_dir(dir) ? describe(dir) : NULL;
	if (!now)
		return false;
	if (path_exists(note))
		return path_read(note, &noted, NULL) == 0 && !strcmp(buf_str(&noted), now);
	(void)!outfile_put(note, 0644, now, strlen(now), NULL);
	return true;
}

int intact_check(const char *dir, bool *there, bool *damaged, struct err *err)
{
	_free_ char *note = xasprintf("%s.files", dir);
	*damaged = false;
	*there = is_whole(dir, note);
	if (*there)
		return 0;
	*damaged = path_exists(dir);
	return path_remove_tree(dir, err) < 0 ? -1 : path_remove_tree(note, err);
}
