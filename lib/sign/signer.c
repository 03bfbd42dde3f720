#include "signer.h"

#include <pthread.h>
#include <string.h>

#include "../base/arena.h"
#include "../base/buf.h"
#include "../base/err.h"
#include "../base/intr.h"
#include "../base/strv.h"
#include "gpg.h"
#include "keyinfo.h"
#include "keyring.h"

#define SIG_MAX	  ((size_t)64 << 20) /* a clear-signed text, at most */
#define SAID_MAX  ((size_t)1 << 20)
#define EXACT	  '!'
#define ALGO_NAME "SHA512"

/*
 * Finds the one key or subkey that signs for a name. gpg is asked once for each name: what it
 * answered is kept while the command runs.
 */
static int find_signer(const char *name, char fpr[41], char also[41], struct err *err)
{
	_cleanup_(arena_done) struct arena a = ARENA_INIT;
	struct key_info info;
	size_t len = strlen(name);
	bool exact = len && name[len - 1] == EXACT;
	char *plain = arena_strndup(&a, name, exact ? len - 1 : len);
	if (keyinfo_normalise(plain, fpr, err) < 0 || keyring_find(fpr, &info, &a, err) < 0)
		return -1;
	strcpy(also, exact ? "" : info.also_fpr);
	if (!exact)
		strcpy(fpr, info.sign_fpr);
	return 0;
}

/* Appends to wanted the fingerprints of the key or subkeys that sign for this name. */
static int choose(const char *name, struct strv *wanted, struct err *err)
{
	static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
	static struct strv asked = STRV_INIT, answers = STRV_INIT, others = STRV_INIT;
	char fpr[41], also[41];
	int rc = 0;
	size_t i = 0;
	pthread_mutex_lock(&mutex);
	while (i < asked.n && strcmp(asked.v[i], name))
		i++;
	if (i < asked.n) {
		strcpy(fpr, answers.v[i]);
		strcpy(also, others.v[i]);
	} else if ((rc = find_signer(name, fpr, also, err)) == 0) {
		strv_add(&asked, name);
		strv_add(&answers, fpr);
		strv_add(&others, also);
	}
	pthread_mutex_unlock(&mutex);
	if (rc == 0 && !strv_has(wanted, fpr))
		strv_add(wanted, fpr);
	if (rc == 0 && *also && !strv_has(wanted, also))
		strv_add(wanted, also);
	return rc;
}

/* Why gpg did not sign: no secret key (its reason 9), or else the last it said in words. */
static int explain(const struct strv *lines, const char *fpr, struct err *err)
{
	static const char no_secret[] = "[GNUPG:] INV_SGNR 9 ";
	const char *words = "gpg said nothing";
	for (size_t i = 0; i < lines->n; i++) {
		if (str_starts(lines->v[i], no_secret))
			return err_set(err, ERR_TRUST,
			    "the secret key of %.40s is not in '%s'; set GNUPGHOME to where it is",
			    lines->v[i] + strlen(no_secret), gpg_home_name());
		if (!str_starts(lines->v[i], "[GNUPG:]"))
			words = lines->v[i];
	}
	return err_set(err, ERR_TRUST, "cannot sign with %s: %s", fpr, words);
}

/* gpg must have signed with every wanted key, and with no other. */
static int check_signers(const char *said, const struct strv *wanted, struct err *err)
{
	_cleanup_(strv_done) struct strv lines = STRV_INIT;
	strv_split(&lines, said, "\n");
	size_t made = 0;
	for (size_t i = 0; i < lines.n; i++) {
		_cleanup_(strv_done) struct strv words = STRV_INIT;
		if (!str_starts(lines.v[i], "[GNUPG:] SIG_CREATED "))
			continue;
		strv_split(&words, lines.v[i], " ");
		if (!strv_has(wanted, words.v[words.n - 1]))
			return err_set(err, ERR_TRUST,
			    "gpg signed with the key %s, which was not asked for; look for "
			    "local-user in gpg.conf",
			    words.v[words.n - 1]);
		made++;
	}
	if (made == wanted->n)
		return 0;
	if (intr_check(err) < 0)
		return -1;
	return explain(&lines, wanted->v[made < wanted->n ? made : 0], err);
}

static void gpg_args(struct strv *args, const struct strv *wanted, enum signer_mode mode)
{
	static const char *const common[] = {"gpg", "--batch", "--no-tty", "--status-fd", "2",
	    "--digest-algo", ALGO_NAME, "--no-textmode", "--output", "-"};
	for (size_t i = 0; i < ARRAY_SIZE(common); i++)
		strv_add(args, common[i]);
	for (size_t i = 0; i < wanted->n; i++) {
		strv_add(args, "--local-user");
		strv_addf(args, "%s%c", wanted->v[i], EXACT);
	}
	strv_add(args, mode == SIGNER_DETACHED_BINARY ? "--no-armor" : "--armor");
	strv_add(args, mode == SIGNER_CLEAR ? "--clear-sign" : "--detach-sign");
	strv_add(args, "-");
}

/*
 * gpgme's own signing call lets gpg choose the subkey and the digest (SHA-256 for ed25519), so
 * gpg is run through gpgme's spawn, which streams, with both named.
 */
static int run_gpg(gpgme_data_t in, const struct strv *wanted, enum signer_mode mode,
    struct buf *out, struct err *err)
{
	_cleanup_(gpg_close) gpgme_ctx_t ctx = NULL;
	_cleanup_(gpg_data_free) gpgme_data_t signature = NULL, said = NULL;
	_cleanup_(buf_done) struct buf text = BUF_INIT(SAID_MAX), sig = BUF_INIT(SIG_MAX);
	_cleanup_(strv_done) struct strv args = STRV_INIT;
	if (gpg_open(NULL, &ctx, err) < 0)
		return -1;
	const char *program = gpgme_ctx_get_engine_info(ctx)->file_name;
	gpg_args(&args, wanted, mode);
	gpgme_error_t e = gpgme_data_new(&signature);
	if (!e)
		e = gpgme_data_new(&said);
	if (!e)
		e = gpgme_set_protocol(ctx, GPGME_PROTOCOL_SPAWN);
	if (!e)
		e = gpgme_op_spawn(ctx, program, (const char **)args.v, in, signature, said, 0);
	if (e)
		return gpg_fail(err, e, "cannot sign");
	if (gpg_data_read(said, &text, err) < 0 || check_signers(buf_str(&text), wanted, err) < 0 ||
	    gpg_data_read(signature, &sig, err) < 0)
		return -1;
	buf_append(out, sig.data, sig.len);
	return buf_check(out, "signature", err);
}

static int sign(gpgme_data_t in, const char *const *fprs, size_t n_keys, enum signer_mode mode,
    struct buf *out, struct err *err)
{
	_cleanup_(strv_done) struct strv wanted = STRV_INIT;
	if (!n_keys)
		return err_set(err, ERR_USAGE, "no key to sign with");
	for (size_t i = 0; i < n_keys; i++)
		if (choose(fprs[i], &wanted, err) < 0)
			return -1;
	return run_gpg(in, &wanted, mode, out, err);
}

int signer_sign_source(const struct signer_source *src, const char *const *fprs, size_t n_keys,
    enum signer_mode mode, struct buf *out, struct err *err)
{
	_cleanup_(gpg_data_free) gpgme_data_t in = NULL;
	if (gpg_source_data(src, &in, err) < 0)
		return -1;
	return sign(in, fprs, n_keys, mode, out, err);
}

int signer_sign(const void *p, size_t n, const char *const *fprs, size_t n_keys,
    enum signer_mode mode, struct buf *out, struct err *err)
{
	_cleanup_(gpg_data_free) gpgme_data_t in = NULL;
	if (gpg_memory_data(p, n, &in, err) < 0)
		return -1;
	return sign(in, fprs, n_keys, mode, out, err);
}
