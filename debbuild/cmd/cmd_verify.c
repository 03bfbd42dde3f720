/* debkit verify: is a package what it says, and from whom? */
#include <stdio.h>
#include <string.h>

#include "../base/arena.h"
#include "../base/err.h"
#include "../base/intr.h"
#include "../base/log.h"
#include "../base/path.h"
#include "../deb/deb.h"
#include "../sign/debsig.h"
#include "cmd.h"

#define INSTALLED_KEYRING "/usr/share/keyrings/debkit-archive-keyring.gpg"
#define MD5_DIGITS	  32

static const char *keyring;
static bool unsigned_ok;
static const struct opt opts[] = {
    {"keyring", 0, OPT_STRING, "FILE",
	"public keys that may have signed; default: " INSTALLED_KEYRING, &keyring},
    {"unsigned-ok", 0, OPT_FLAG, NULL, "accept a package without a signature", &unsigned_ok},
    {NULL}};

static int by_path(const void *a, const void *b)
{
	const struct deb_file *const *x = a, *const *y = b;
	return strcmp((*x)->path, (*y)->path);
}

static int find_path(const void *key, const void *b)
{
	const struct deb_file *const *y = b;
	return strcmp(key, (*y)->path);
}

/* Cuts the line at *text into the digest and the path, and steps to the next. */
static int cut_line(char **text, const char **md5, const char **path, struct err *err)
{
	char *line = *text, *end = strchr(line, '\n');
	*text = end ? end + 1 : line + strlen(line);
	if (end)
		*end = '\0';
	if (strspn(line, "0123456789abcdef") != MD5_DIGITS || line[MD5_DIGITS] != ' ' ||
	    (line[MD5_DIGITS + 1] != ' ' && line[MD5_DIGITS + 1] != '*') || !line[MD5_DIGITS + 2])
		return err_set(err, ERR_FORMAT, "md5sums: the line '%.100s' is malformed", line);
	line[MD5_DIGITS] = '\0';
	*md5 = line;
	*path = line + MD5_DIGITS + 2;
	return 0;
}

/* Every line of md5sums holds, and every file outside /etc has a line. */
static int check_md5sums(struct arena *a, const struct deb_info *d, struct err *err)
{
	if (!d->md5sums)
		return err_set(err, ERR_FORMAT, "it has no md5sums");
	const struct deb_file **files = arena_alloc(a, d->n_files * sizeof *files + 1);
	bool *seen = arena_alloc(a, d->n_files + 1);
	size_t n = 0, listed = 0, wanted = 0;
	for (size_t i = 0; i < d->n_files; i++) {
		if (d->files[i].type != 'f')
			continue;
		files[n++] = &d->files[i];
		wanted += strncmp(d->files[i].path, "etc/", 4) != 0;
	}
	qsort(files, n, sizeof *files, by_path);
	for (char *text = arena_strdup(a, d->md5sums); *text;) {
		const char *md5 = NULL, *path = NULL;
		if (cut_line(&text, &md5, &path, err) < 0)
			return -1;
		const struct deb_file **f = bsearch(path, files, n, sizeof *files, find_path);
		if (!f)
			return err_set(
			    err, ERR_TRUST, "md5sums names '%s', which is missing", path);
		if (strcmp((*f)->md5, md5) != 0)
			return err_set(err, ERR_TRUST, "'%s' is not what md5sums says", path);
		if (seen[f - files])
			return err_set(err, ERR_FORMAT, "md5sums names '%s' twice", path);
		seen[f - files] = true;
		listed += strncmp(path, "etc/", 4) != 0;
	}
	if (listed != wanted)
		return err_set(err, ERR_TRUST, "md5sums lists %zu of %zu files", listed, wanted);
	return 0;
}

static int check_signature(
    const char *path, const struct deb_info *d, char fpr[41], struct err *err)
{
	if (unsigned_ok && !debsig_is_signed(d))
		return 0;
	if (!keyring && !path_exists(INSTALLED_KEYRING))
		return err_set(err, ERR_USAGE,
		    "whose signatures count? give --keyring FILE (debkit keys export --out FILE "
		    "writes one)");
	return debsig_verify(path, keyring ? keyring : INSTALLED_KEYRING, fpr, err);
}

static int verify(const char *path, struct err *err)
{
	_cleanup_(arena_done) struct arena a = ARENA_INIT;
	struct deb_info d;
	char fpr[41] = "";
	if (deb_read(&a, path, DEB_READ_FILES | DEB_READ_SIGNED, NULL, NULL, &d, err) < 0 ||
	    check_signature(path, &d, fpr, err) < 0)
		return -1;
	if (check_md5sums(&a, &d, err) < 0)
		return err_wrap(err, "'%s'", path);
	printf("%s: good, %s%s\n", path, *fpr ? "signed by " : "unsigned", fpr);
	return 0;
}

/* All are looked at; the error is that of the first that fails, and counts them. */
static int run(const struct strv *operands, struct err *err)
{
	struct err first = {0};
	size_t failed = 0;
	for (size_t i = 0; i < operands->n; i++) {
		struct err why = {0};
		if (intr_check(err) < 0)
			return -1;
		if (verify(operands->v[i], &why) == 0)
			continue;
		if (why.code == ERR_USAGE || why.code == ERR_INTERRUPT)
			return err_set(err, why.code, "%s", why.msg);
		if (operands->n > 1)
			log_warn("%s", why.msg);
		if (!failed++)
			first = why;
	}
	if (failed > 1)
		return err_set(err, first.code, "%zu of %zu packages fail; the first: %s", failed,
		    operands->n, first.msg);
	return failed ? err_set(err, first.code, "%s", first.msg) : 0;
}

const struct cmd cmd_verify = {"verify", "checks packages: signature, md5sums, claims",
    "FILE.deb...",
    "Reads each package wholly, as dpkg would, and checks that its signature is by a key of the "
    "keyring, that every file is what md5sums says, and that the Debkit-* fields say what the "
    "binaries hold. Exit status 3 if a signature, digest or claim does not hold.",
    opts, 1, SIZE_MAX, run};
