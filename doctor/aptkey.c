/* Keys of apt's sources, from their packets alone: a container may have no gpg. */
#include <string.h>
#include <time.h>

#include "../lib/base/err.h"
#include "../lib/sign/packets.h"
#include "aptsrc.h"
#include "probe.h"

#define KEYS_MAX 64
enum {
	DIGEST_MD5_ID = 1,
	DIGEST_SHA1_ID = 2,
	ALGO_ELGAMAL_ID = 16,
	ALGO_DSA_ID = 17,
	ALGO_ECDH_ID = 18
};

static int digit(unsigned char c)
{
	static const char digits[] =
	    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	const char *at = c ? strchr(digits, c) : NULL;
	return at ? (int)(at - digits) : -1;
}

/* Appends the bytes of one armored block's body (RFC 9580 section 6); "=xxxx" ends it. */
static void decode(const char *s, const char *end, struct buf *out)
{
	unsigned bits = 0, value = 0;
	for (; s < end && !(s[0] == '=' && s[-1] == '\n'); s++) {
		int d = digit((unsigned char)*s);
		if (d < 0)
			continue;
		value = (value << 6 | (unsigned)d) & 0xffffff;
		bits += 6;
		if (bits < 8)
			continue;
		bits -= 8;
		buf_putc(out, (char)(value >> bits));
	}
}

/* The key blocks in a text: headers end at an empty line; in Signed-By that is " .". */
static void dearmor(const char *text, struct buf *out)
{
	static const char begin[] = "-----BEGIN PGP PUBLIC KEY BLOCK-----", stop[] = "-----END";
	for (const char *s = text; (s = strstr(s, begin));) {
		const char *end = strstr(s, stop);
		end = end ? end : s + strlen(s);
		s += strcspn(s, "\n");
		for (bool body = false; s < end && !body;) {
			const char *line = s + (*s == '\n');
			size_t n = strcspn(line, "\n");
			body = !memchr(line, ':', n);
			s = body ? line : line + n;
		}
		if (s < end)
			decode(s, end, out);
		s = end;
	}
}

static bool is_weak_digest(unsigned digest)
{
	return digest == DIGEST_MD5_ID || digest == DIGEST_SHA1_ID;
}

static uint32_t sooner(uint32_t a, uint32_t b)
{
	return a && (!b || a < b) ? a : b;
}

/* Signing subkeys follow each other; the last of them counts. None: the primary key signs. */
static uint32_t signs_until(const struct packets *k, uint32_t primary)
{
	bool some = false;
	uint32_t last = 0;
	for (size_t i = 1; i < k->n; i++) {
		const struct packets_part *part = &k->v[i];
		if (part->kind != PACKETS_SUBKEY || part->revoked || !part->digest ||
		    part->algo == ALGO_ELGAMAL_ID || part->algo == ALGO_ECDH_ID)
			continue;
		uint32_t end = part->valid_s ? part->made + part->valid_s : 0;
		last = !some ? end : end && last ? (end > last ? end : last) : 0;
		some = true;
	}
	return some ? sooner(primary, last) : primary;
}

static void judge(struct arena *a, const struct packets *k, struct apt_key *out)
{
	const struct packets_part *primary = &k->v[0], *self = primary;
	bool user = false, sound = false;
	*out = (struct apt_key){.revoked = primary->revoked};
	memcpy(out->fpr, primary->fpr, sizeof out->fpr);
	for (size_t i = 1; i < k->n; i++) {
		const struct packets_part *part = &k->v[i];
		if (part->kind != PACKETS_USER || !part->digest)
			continue;
		user = true;
		sound |= !is_weak_digest(part->digest);
		if (!self->sig_version || part->created >= self->created)
			self = part;
	}
	out->sha1 = user && !sound;
	if (self->valid_s)
		out->expires = primary->made + self->valid_s;
	out->signs_until = signs_until(k, out->expires);
	if (primary->algo == ALGO_DSA_ID)
		out->weak = "dsa";
	else if (primary->bits && primary->bits < 2048)
		out->weak = arena_printf(a, "rsa%u", primary->bits);
}

int aptkey_parse(
    struct arena *a, const void *p, size_t n, struct apt_key **out, size_t *n_out, struct err *err)
{
	_cleanup_(buf_done) struct buf text = BUF_INIT(n + 1), binary = BUF_INIT(n + 1);
	buf_append(&text, p, n);
	if (strstr(buf_str(&text), "-----BEGIN PGP"))
		dearmor(buf_str(&text), &binary);
	else
		buf_append(&binary, p, n);
	*out = arena_alloc(a, KEYS_MAX * sizeof **out);
	*n_out = 0;
	for (size_t at = 0; at < binary.len && *n_out < KEYS_MAX;) {
		struct packets k;
		if (packets_read(a, binary.data + at, binary.len - at, &k, err) < 0)
			return -1;
		judge(a, &k, &(*out)[(*n_out)++]);
		at += k.len;
	}
	return *n_out ? 0 : err_set(err, ERR_FORMAT, "no OpenPGP public key in it");
}

const char *aptkey_date(struct arena *a, uint32_t t)
{
	struct tm tm;
	time_t at = t;
	gmtime_r(&at, &tm);
	return arena_printf(a, "%04d-%02d-%02d", tm.tm_year + 1900, tm.tm_mon + 1, tm.tm_mday);
}
