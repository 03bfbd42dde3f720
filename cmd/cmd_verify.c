/* debkit verify: is a package what it says, and from whom? */
#include <stdio.h>

#include "../lib/base/arena.h"
#include "../lib/base/err.h"
#include "../lib/base/intr.h"
#include "../lib/base/log.h"
#include "../lib/base/path.h"
#include "../lib/deb/deb.h"
#include "../lib/deb/inspect.h"
#include "../lib/sign/debsig.h"
#include "cmd.h"

#define INSTALLED_KEYRING "/usr/share/keyrings/debkit-archive-keyring.gpg"

static const char *keyring;
static bool unsigned_ok;
static const struct opt opts[] = {
    {"keyring", 0, OPT_STRING, "FILE",
	"public keys that may have signed; default: " INSTALLED_KEYRING, &keyring},
    {"unsigned-ok", 0, OPT_FLAG, NULL, "accept a package without a signature", &unsigned_ok},
    {NULL}};

/* Asks before the contents are looked into: a stranger's package is only unpacked if allowed. */
static int check_signature(const char *path, char fpr[41], struct err *err)
{
	_cleanup_(arena_done) struct arena a = ARENA_INIT;
	struct deb_info d;
	if (deb_read(&a, path, DEB_READ_SIGNED, NULL, NULL, &d, err) < 0)
		return -1;
	if (unsigned_ok && !debsig_is_signed(&d))
		return 0;
	if (!keyring && !path_exists(INSTALLED_KEYRING))
		return err_set(err, ERR_USAGE,
		    "whose signatures count? give --keyring FILE (debkit keys export --out FILE "
		    "writes one)");
	return debsig_verify_read(&d, keyring ? keyring : INSTALLED_KEYRING, fpr, err);
}

static int verify(const char *path, struct err *err)
{
	_cleanup_(arena_done) struct arena a = ARENA_INIT;
	struct inspect_claims claims;
	char fpr[41] = "";
	if (check_signature(path, fpr, err) < 0 || inspect_deb(&a, path, &claims, err) < 0 ||
	    inspect_check(&claims, err) < 0)
		return -1;
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
