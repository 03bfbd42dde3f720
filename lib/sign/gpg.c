#include "gpg.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "../base/buf.h"
#include "../base/err.h"
#include "../base/outfile.h"
#include "../base/path.h"
#include "../base/xalloc.h"
#include "signer.h"

#define KEYRING_MAX ((size_t)16 << 20)

/* gpg.conf of a temporary home: only what is in its keyring counts, and nothing is started. */
static const char temp_conf[] = "no-autostart\n"
				"no-auto-check-trustdb\n"
				"no-auto-key-retrieve\n"
				"trust-model always\n";
static const char temp_conf_strict[] = "weak-digest SHA1\n"
				       "weak-digest RIPEMD160\n";

/* gpgme wants this once, before all else. */
static void prepare(void)
{
	/* gpg is all that is used: the other engines need not be looked for, by five programs. */
	gpgme_set_global_flag("disable-gpgconf", "1");
	gpgme_check_version(NULL);
}

static void init(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	pthread_once(&once, prepare);
}

void gpg_close(gpgme_ctx_t *ctx)
{
	if (*ctx)
		gpgme_release(*ctx);
	*ctx = NULL;
}

void gpg_data_free(gpgme_data_t *data)
{
	if (*data)
		gpgme_data_release(*data);
	*data = NULL;
}

void gpg_key_free(gpgme_key_t *key)
{
	if (*key)
		gpgme_key_unref(*key);
	*key = NULL;
}

const char *gpg_home_name(void)
{
	const char *home = getenv("GNUPGHOME");
	if (!home || !*home)
		home = gpgme_get_dirinfo("homedir");
	return home ? home : "~/.gnupg";
}

static enum err_code code_of(gpgme_error_t e)
{
	switch (gpgme_err_code(e)) {
	case GPG_ERR_NO_PUBKEY:
	case GPG_ERR_NO_SECKEY:
	case GPG_ERR_UNUSABLE_PUBKEY:
	case GPG_ERR_UNUSABLE_SECKEY:
	case GPG_ERR_BAD_SIGNATURE:
	case GPG_ERR_INV_VALUE:
		return ERR_TRUST;
	case GPG_ERR_CANCELED:
	case GPG_ERR_FULLY_CANCELED:
		return ERR_INTERRUPT;
	default:
		return ERR_TOOL;
	}
}

int gpg_fail(struct err *err, gpgme_error_t e, const char *fmt, ...)
{
	char why[256];
	gpgme_strerror_r(e, why, sizeof why);
	va_list ap;
	va_start(ap, fmt);
	_free_ char *text = xvasprintf(fmt, ap);
	va_end(ap);
	return err_set(err, code_of(e), "%s: %s", text, why);
}

int gpg_open(const char *home, gpgme_ctx_t *ctx, struct err *err)
{
	init();
	if (gpgme_engine_check_version(GPGME_PROTOCOL_OpenPGP))
		return err_set(err, ERR_TOOL, "gpg is missing or too old; install gnupg");
	_cleanup_(gpg_close) gpgme_ctx_t c = NULL;
	gpgme_error_t e = gpgme_new(&c);
	if (!e)
		e = gpgme_set_protocol(c, GPGME_PROTOCOL_OpenPGP);
	if (!e && home)
		e = gpgme_ctx_set_engine_info(c, GPGME_PROTOCOL_OpenPGP, NULL, home);
	if (!e)
		e = gpgme_set_keylist_mode(c, GPGME_KEYLIST_MODE_LOCAL);
	if (e)
		return gpg_fail(err, e, "cannot start gpg");
	gpgme_set_offline(c, 1);
	*ctx = take_ptr(c);
	return 0;
}

static int import_file(gpgme_ctx_t ctx, const char *path, struct err *err)
{
	_cleanup_(buf_done) struct buf b = BUF_INIT(KEYRING_MAX);
	if (path_read(path, &b, err) < 0)
		return err_wrap(err, "cannot read the keyring");
	_cleanup_(gpg_data_free) gpgme_data_t data = NULL;
	gpgme_error_t e = gpgme_data_new_from_mem(&data, buf_str(&b), b.len, 0);
	if (!e && b.len)
		e = gpgme_op_import(ctx, data);
	gpgme_import_result_t r = b.len && !e ? gpgme_op_import_result(ctx) : NULL;
	if (!r || r->imported + r->unchanged == 0)
		return err_set(err, ERR_FORMAT,
		    "'%s' holds no OpenPGP public key that can be used; debkit keys check "
		    "--keyring says why, debkit keys export writes such a file",
		    path);
	return 0;
}

int gpg_temp_open(struct gpg_temp *t, const char *keyring_file, bool weak_ok, struct err *err)
{
	const char *tmp = getenv("TMPDIR");
	_free_ char *home = xasprintf("%s/debkit-keys.XXXXXX", tmp && *tmp ? tmp : "/tmp");
	if (!mkdtemp(home))
		return err_sys(err, "cannot create a folder '%s' (TMPDIR)", home);
	t->home = take_ptr(home);
	_free_ char *conf = path_join(t->home, "gpg.conf");
	_free_ char *text = xasprintf("%s%s", temp_conf, weak_ok ? "" : temp_conf_strict);
	if (outfile_put(conf, 0600, text, strlen(text), err) < 0)
		return -1;
	if (gpg_open(t->home, &t->ctx, err) < 0)
		return -1;
	return import_file(t->ctx, keyring_file, err);
}

void gpg_temp_done(struct gpg_temp *t)
{
	gpg_close(&t->ctx);
	if (t->home)
		(void)!path_remove_tree(t->home, NULL);
	free(take_ptr(t->home));
}

int gpg_get_key(gpgme_ctx_t ctx, const char *fpr, gpgme_key_t *key, struct err *err)
{
	gpgme_error_t e = gpgme_get_key(ctx, fpr, key, 0);
	if (!e)
		return 0;
	if (gpgme_err_code(e) == GPG_ERR_EOF || gpgme_err_code(e) == GPG_ERR_NOT_FOUND)
		return err_set(err, ERR_TRUST, "no key %s", fpr);
	return gpg_fail(err, e, "cannot look for the key %s", fpr);
}

static ssize_t read_source(void *arg, void *p, size_t n)
{
	const struct signer_source *s = arg;
	return s->read(s->arg, p, n);
}

static struct gpgme_data_cbs source_cbs = {.read = read_source};

int gpg_source_data(const struct signer_source *src, gpgme_data_t *data, struct err *err)
{
	init();
	gpgme_error_t e = gpgme_data_new_from_cbs(data, &source_cbs, (void *)src);
	return e ? gpg_fail(err, e, "cannot hand data to gpg") : 0;
}

int gpg_memory_data(const void *p, size_t n, gpgme_data_t *data, struct err *err)
{
	init();
	gpgme_error_t e = n ? gpgme_data_new_from_mem(data, p, n, 0) : gpgme_data_new(data);
	return e ? gpg_fail(err, e, "cannot hand data to gpg") : 0;
}

int gpg_data_read(gpgme_data_t data, struct buf *out, struct err *err)
{
	char block[16384];
	ssize_t n;
	if (gpgme_data_seek(data, 0, SEEK_SET) < 0)
		return err_sys(err, "cannot read what gpg wrote");
	while ((n = gpgme_data_read(data, block, sizeof block)) > 0)
		buf_append(out, block, (size_t)n);
	if (n < 0)
		return err_sys(err, "cannot read what gpg wrote");
	return buf_check(out, "what gpg wrote", err);
}

int gpg_export(gpgme_ctx_t ctx, const char *fpr, bool armor, struct buf *out, struct err *err)
{
	_cleanup_(gpg_data_free) gpgme_data_t data = NULL;
	gpgme_set_armor(ctx, armor);
	gpgme_error_t e = gpgme_data_new(&data);
	if (!e)
		e = gpgme_op_export(ctx, fpr, GPGME_EXPORT_MODE_MINIMAL, data);
	gpgme_set_armor(ctx, 0);
	if (e)
		return gpg_fail(err, e, "cannot export the key %s", fpr);
	size_t before = out->len;
	if (gpg_data_read(data, out, err) < 0)
		return -1;
	if (out->len == before)
		return err_set(err, ERR_TRUST, "no key %s", fpr);
	return 0;
}
