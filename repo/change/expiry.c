#include "expiry.h"

#include <stdio.h>
#include <string.h>

#include "../../lib/base/buf.h"
#include "../../lib/base/clock.h"
#include "../../lib/base/digest.h"
#include "../../lib/base/err.h"
#include "../../lib/base/outfile.h"
#include "../../lib/base/path.h"
#include "../../lib/base/strv.h"
#include "../../lib/sign/rotate.h"
#include "site.h"

#define DAY	  86400
#define NOTE_MAX  ((size_t)1 << 16)
#define NOTE_DAYS 7 /* what is quiet now need not be asked again so long */

/*
 * The note: "DIGEST DAY TEXT...": the digest of the keyring, the time until which there is nothing
 * to say; a time that a wrong clock wrote does not count. With something to say there is no note,
 * and gpg is asked each time.
 */
static bool nothing_to_say(const char *note, const char *digest, time_t now)
{
	_cleanup_(buf_done) struct buf text = BUF_INIT(NOTE_MAX);
	char hex[SHA256_HEX];
	long long until;
	return path_exists(note) && path_read(note, &text, NULL) == 0 &&
	       sscanf(buf_str(&text), "%64[0-9a-f] %lld", hex, &until) == 2 &&
	       !strcmp(hex, digest) && now < (time_t)until &&
	       (time_t)until <= now + NOTE_DAYS * DAY;
}

/* Nothing ends within the warning time and a week: so long the keyring need not be read again. */
static int note_quiet(
    const char *keyring, const char *note, const char *digest, time_t now, struct err *err)
{
	_cleanup_(strv_done) struct strv soon = STRV_INIT;
	_cleanup_(buf_done) struct buf text = BUF_INIT(NOTE_MAX);
	if (rotate_warnings(keyring, now, ROTATE_WARN_DAYS + NOTE_DAYS, &soon, err) < 0)
		return -1;
	if (soon.n)
		return 0;
	buf_printf(&text, "%s %lld\n", digest, (long long)now + NOTE_DAYS * DAY);
	return outfile_put_if_changed(note, 0644, text.data, text.len, err);
}

int expiry_warnings(const char *root, struct strv *out, struct err *err)
{
	_free_ char *keyring = path_join(root, SITE_KEYRING);
	_free_ char *note = path_join(root, ".debkit/key-expiry");
	char digest[DIGEST_HEX_MAX];
	time_t now = clock_now();
	if (!path_exists(keyring))
		return 0;
	if (digest_file_hex(DIGEST_SHA256, keyring, digest, NULL, err) < 0)
		return -1;
	if (nothing_to_say(note, digest, now))
		return 0;
	if (rotate_warnings(keyring, now, ROTATE_WARN_DAYS, out, err) < 0)
		return -1;
	return out->n ? 0 : note_quiet(keyring, note, digest, now, err);
}
