/* debkit sign: puts a signature into packages. */
#include "../lib/base/err.h"
#include "../lib/base/intr.h"
#include "../lib/base/log.h"
#include "../lib/base/path.h"
#include "../lib/sign/debsig.h"
#include "../lib/sign/keyring.h"
#include "cmd.h"

static const char *sign_key;
static const struct opt opts[] = {
    {"sign-key", 'k', OPT_STRING, "FPR", "full fingerprint of the key (required)", &sign_key},
    {NULL}};

static int run(const struct strv *operands, struct err *err)
{
	if (!sign_key)
		return err_set(err, ERR_USAGE,
		    "which key? give --sign-key with a full fingerprint; debkit keys new makes "
		    "one");
	if (keyring_check(sign_key, err) < 0)
		return -1;
	for (size_t i = 0; i < operands->n; i++) {
		const char *path = operands->v[i];
		_free_ char *file = path_follow(path);
		if (intr_check(err) < 0 || debsig_sign(file, file, sign_key, err) < 0)
			return -1;
		log_note("signed '%s'", path);
	}
	return 0;
}

const struct cmd cmd_sign = {"sign", "puts a signature into .deb packages", "FILE.deb...",
    "Each package gets the member _gpgorigin that debsig-verify reads, and one that it had is "
    "replaced; the file is exchanged as a whole. A package that dpkg would refuse is not signed. "
    "Sign before publishing: the file's hashes change.",
    opts, 1, SIZE_MAX, run};
