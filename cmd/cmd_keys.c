/* debkit keys: OpenPGP keys that sign, and what lets others check. */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "../lib/base/arena.h"
#include "../lib/base/buf.h"
#include "../lib/base/err.h"
#include "../lib/base/log.h"
#include "../lib/base/outfile.h"
#include "../lib/base/path.h"
#include "../lib/base/strv.h"
#include "../lib/sign/debsig.h"
#include "../lib/sign/keyring.h"
#include "../lib/sign/rotate.h"
#include "cmd.h"

#define KEY_MAX	    ((size_t)16 << 20)
#define POLICY_RING "debkit.gpg"
#define POLICY_NAME "debkit.pol"

static const char *uid, *expire, *out, *keyring;
static bool armor, finish;
static const struct opt opts[] = {
    {"uid", 0, OPT_STRING, "UID",
	"new: whose key, \"Name <mail@host>\"; rotate: a new primary key, of that name", &uid},
    {"expire", 0, OPT_STRING, "WHEN",
	"new, rotate: 3y (default), 18m, 90d, 2030-01-31, or 0 for never", &expire},
    {"armor", 'a', OPT_FLAG, NULL, "export: text instead of binary", &armor},
    {"out", 'o', OPT_STRING, "PATH", "export: the file to write; policy: the root folder", &out},
    {"finish", 0, OPT_FLAG, NULL, "rotate: the newest subkey alone signs from now on", &finish},
    {"keyring", 0, OPT_STRING, "FILE", "check: every key in this public keyring", &keyring},
    {NULL}};

static int no_more(const struct strv *operands, size_t n, const char *form, struct err *err)
{
	if (operands->n == n)
		return 0;
	return err_set(err, ERR_USAGE, "the form is: debkit keys %s", form);
}

static int run_new(const struct strv *operands, struct err *err)
{
	_cleanup_(arena_done) struct arena a = ARENA_INIT;
	struct key_info k;
	if (no_more(operands, 1, "new --uid \"Name <mail@host>\" [--expire 3y]", err) < 0)
		return -1;
	if (!uid)
		return err_set(err, ERR_USAGE, "whose key? give --uid \"Name <mail@host>\"");
	if (keyring_new(uid, expire ? expire : "3y", &k, &a, err) < 0)
		return -1;
	log_note("made a key for %s, without a passphrase; its revocation certificate lies in "
		 "openpgp-revocs.d beside it",
	    k.uid);
	puts(k.fpr);
	return 0;
}

static int run_export(const struct strv *operands, struct err *err)
{
	_cleanup_(buf_done) struct buf b = BUF_INIT(KEY_MAX);
	if (no_more(operands, 2, "export [--armor] [--out FILE] FPR", err) < 0 ||
	    keyring_export(operands->v[1], armor, &b, err) < 0)
		return -1;
	_free_ char *file = out ? path_follow(out) : NULL;
	if (file)
		return outfile_put(file, 0644, b.data, b.len, err);
	fwrite(b.data, 1, b.len, stdout);
	return 0;
}

static void print_key(const struct key_info *k, const char *verdict)
{
	char until[40] = "does not expire";
	if (k->expires) {
		struct tm tm;
		strftime(until, sizeof until, "until %Y-%m-%d", gmtime_r(&k->expires, &tm));
	}
	printf("%s %s, %s: %s\n", k->fpr, k->algo, until, verdict);
}

static int check_file(const char *path, struct err *err)
{
	_cleanup_(arena_done) struct arena a = ARENA_INIT;
	struct key_verdict *v;
	size_t n, refused = 0;
	const char *first = NULL;
	if (keyring_check_file(path, &a, &v, &n, err) < 0)
		return -1;
	for (size_t i = 0; i < n; i++) {
		print_key(&v[i].key, v[i].reason ? v[i].reason : "accepted");
		refused += v[i].reason != NULL;
		if (!first)
			first = v[i].reason;
	}
	if (refused)
		return err_set(err, ERR_TRUST, "apt would refuse %zu of %zu keys in '%s': %s",
		    refused, n, path, first);
	return 0;
}

static int run_check(const struct strv *operands, struct err *err)
{
	_cleanup_(arena_done) struct arena a = ARENA_INIT;
	struct key_info k;
	if (keyring)
		return no_more(operands, 1, "check --keyring FILE", err) < 0
			   ? -1
			   : check_file(keyring, err);
	if (no_more(operands, 2, "check FPR, or debkit keys check --keyring FILE", err) < 0 ||
	    keyring_check(operands->v[1], err) < 0 || keyring_find(operands->v[1], &k, &a, err) < 0)
		return -1;
	print_key(&k, k.secret ? "accepted" : "accepted, but its secret key is not here");
	return 0;
}

/* Writes the folders that debsig-verify reads for packages signed by fpr. */
static int write_policy(const char *fpr, const struct buf *key, struct err *err)
{
	_cleanup_(arena_done) struct arena a = ARENA_INIT;
	_cleanup_(buf_done) struct buf policy = BUF_INIT(1 << 16);
	char id[17];
	debsig_key_id(fpr, id);
	const char *pol = arena_printf(&a, "%s/etc/debsig/policies/%s/" POLICY_NAME, out, id);
	const char *ring =
	    arena_printf(&a, "%s/usr/share/debsig/keyrings/%s/" POLICY_RING, out, id);
	if (debsig_policy(fpr, POLICY_RING, &policy, err) < 0 || path_mkdirs_for(pol, err) < 0 ||
	    path_mkdirs_for(ring, err) < 0 || outfile_put(ring, 0644, key->data, key->len, err) < 0)
		return -1;
	return outfile_put(pol, 0644, policy.data, policy.len, err);
}

static int run_policy(const struct strv *operands, struct err *err)
{
	_cleanup_(arena_done) struct arena a = ARENA_INIT;
	_cleanup_(buf_done) struct buf b = BUF_INIT(KEY_MAX);
	struct key_info k;
	if (no_more(operands, 2, "policy [--out ROOT] FPR", err) < 0 ||
	    keyring_find(operands->v[1], &k, &a, err) < 0)
		return -1;
	if (!out) {
		if (debsig_policy(k.origin_fpr, POLICY_RING, &b, err) < 0)
			return -1;
		fwrite(b.data, 1, b.len, stdout);
		return 0;
	}
	if (keyring_export(k.fpr, false, &b, err) < 0 || write_policy(k.origin_fpr, &b, err) < 0)
		return -1;
	if (strcmp(k.sign_fpr, k.origin_fpr) != 0 && write_policy(k.sign_fpr, &b, err) < 0)
		return -1;
	log_note("debsig-verify --root '%s' now accepts packages signed by %s", out, k.fpr);
	return 0;
}

static void note_revocation(const char *fpr)
{
	_free_ char *path = rotate_revocation(fpr);
	if (path)
		log_note("keep a copy of the revocation certificate '%s' where no one who steals "
			 "the key finds it, and not only on this machine",
		    path);
	else
		log_warn("no revocation certificate lies in openpgp-revocs.d: make one with gpg "
			 "--output %s.rev --gen-revoke %s",
		    fpr, fpr);
}

static int finish_rotation(const char *fpr, struct err *err)
{
	_cleanup_(strv_done) struct strv retired = STRV_INIT;
	if (uid || expire)
		return err_set(
		    err, ERR_USAGE, "--finish makes no key: leave --uid and --expire out");
	if (rotate_retire(fpr, &retired, err) < 0)
		return -1;
	if (!retired.n)
		log_note("nothing to do: one subkey signs already");
	for (size_t i = 0; i < retired.n; i++)
		log_note("%s signs no more; what it signed stays good", retired.v[i]);
	return 0;
}

/* A new subkey, or with --uid a new primary key; keys/README.md has the steps that follow. */
static int run_rotate(const struct strv *operands, struct err *err)
{
	_cleanup_(arena_done) struct arena a = ARENA_INIT;
	struct key_info old, k;
	if (no_more(operands, 2, "rotate [--uid UID] [--expire 3y] [--finish] FPR", err) < 0)
		return -1;
	const char *fpr = operands->v[1], *life = expire ? expire : "3y";
	if (finish)
		return finish_rotation(fpr, err);
	if (keyring_find(fpr, &old, &a, err) < 0)
		return -1;
	if (uid) {
		if (keyring_new(uid, life, &k, &a, err) < 0)
			return -1;
		log_note("next: debkit build --next-key %s makes a keyring package with both keys; "
			 "publish it with --sign-key %s,%s; when clients have it, debkit refresh "
			 "--sign-key %s",
		    k.fpr, old.fpr, k.fpr, k.fpr);
		puts(k.fpr);
	} else {
		if (rotate_add_subkey(fpr, life, &k, &a, err) < 0)
			return -1;
		log_note(
		    "both subkeys sign from now on; next: build and publish the keyring package; "
		    "when clients have it, debkit keys rotate --finish %s",
		    k.fpr);
		puts(k.sign_fpr);
	}
	note_revocation(k.fpr);
	return 0;
}

static int run(const struct strv *operands, struct err *err)
{
	static const struct {
		const char *name;
		int (*run)(const struct strv *, struct err *);
	} verbs[] = {{"new", run_new}, {"export", run_export}, {"check", run_check},
	    {"policy", run_policy}, {"rotate", run_rotate}};
	for (size_t i = 0; i < ARRAY_SIZE(verbs); i++)
		if (!strcmp(verbs[i].name, operands->v[0]))
			return verbs[i].run(operands, err);
	return err_set(err, ERR_USAGE,
	    "no 'keys %s'; there are new, export, check, policy and rotate", operands->v[0]);
}

const struct cmd cmd_keys = {"keys", "makes, exports and checks signing keys",
    "new|export|check|policy|rotate [FPR]",
    "Keys live in GNUPGHOME (else ~/.gnupg) and are named by full fingerprint, never by a "
    "default.\n\n"
    "new makes an ed25519 primary key and an ed25519 signing subkey, without a passphrase, so "
    "that builds and publishing run unattended: who can read GNUPGHOME can sign. It prints the "
    "fingerprint and refuses if there is a key of the same user id. gpg --passwd FPR sets a "
    "passphrase later; gpg-agent then asks for it.\n\n"
    "export writes the public key: binary for Signed-By in a .sources file, --armor for people.\n\n"
    "check fails with status 3 and the reason if apt 2.6 or apt 3 would refuse what the key "
    "signs.\n\n"
    "policy prints the policy for debsig-verify, or with --out ROOT writes policy and keyring to "
    "their places below ROOT.\n\n"
    "rotate makes a new signing subkey, which signs beside the one before until rotate --finish; "
    "with --uid it makes a new primary key instead. keys/README.md has the steps.",
    opts, 1, 2, run};
