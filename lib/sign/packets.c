#include "packets.h"

#include <stdbool.h>
#include <string.h>

#include "../base/arena.h"
#include "../base/digest.h"
#include "../base/err.h"

enum { TAG_SIGNATURE = 2, TAG_PRIMARY = 6, TAG_USER = 13, TAG_SUBKEY = 14, TAG_ATTRIBUTE = 17 };
enum { SUB_CREATED = 2, SUB_VALID = 9, SUB_ISSUER = 16, SUB_EMBEDDED = 32, SUB_ISSUER_FPR = 33 };
enum { CLASS_CERT_FIRST = 0x10, CLASS_CERT_LAST = 0x13, CLASS_DIRECT = 0x1f };
enum { CLASS_BINDING = 0x18, CLASS_BACK = 0x19, CLASS_CERT_REVOKED = 0x30 };
enum { CLASS_KEY_REVOKED = 0x20, CLASS_SUBKEY_REVOKED = 0x28 };
enum { ALGO_RSA_FIRST = 1, ALGO_RSA_LAST = 3, ALGO_DSA = 17 };

/* More parts than this in one key is an attack, not a key. */
#define PARTS_MAX 1024

/* Bytes that are taken from the front; taking too many sets bad and gives zeros. */
struct reader {
	const unsigned char *p;
	size_t n;
	bool bad;
};

struct signature {
	unsigned version, class, digest, back_digest;
	uint32_t created, valid_s;
	unsigned char issuer[8];
	bool has_issuer;
	bool inner; /* lies in another signature, and may hold no third */
};

static const unsigned char *take(struct reader *r, size_t n)
{
	if (r->bad || n > r->n) {
		r->bad = true;
		return NULL;
	}
	const unsigned char *p = r->p;
	r->p += n;
	r->n -= n;
	return p;
}

static uint32_t take_uint(struct reader *r, unsigned bytes)
{
	const unsigned char *p = take(r, bytes);
	uint32_t v = 0;
	for (unsigned i = 0; p && i < bytes; i++)
		v = v << 8 | p[i];
	return v;
}

static struct reader take_part(struct reader *r, size_t n)
{
	const unsigned char *p = take(r, n);
	return (struct reader){p, p ? n : 0, !p};
}

/* One, two or five octets; partial lengths (only for data packets) are refused. */
static size_t take_length(struct reader *r, bool subpacket)
{
	unsigned first = take_uint(r, 1);
	if (first < 192)
		return first;
	if (first < (subpacket ? 255 : 224))
		return ((first - 192) << 8) + take_uint(r, 1) + 192;
	if (first != 255)
		r->bad = true;
	return take_uint(r, 4);
}

static struct reader take_packet(struct reader *r, unsigned *tag)
{
	unsigned head = take_uint(r, 1);
	if (!(head & 0x80)) {
		r->bad = true;
	} else if (head & 0x40) {
		*tag = head & 0x3f;
		return take_part(r, take_length(r, false));
	} else if ((head & 3) == 3) {
		r->bad = true;
	}
	*tag = head >> 2 & 0xf;
	return take_part(r, take_uint(r, 1u << (head & 3)));
}

static bool read_signature(struct reader r, struct signature *s);

static bool read_subpackets(struct reader r, struct signature *s, bool hashed)
{
	while (r.n && !r.bad) {
		struct reader sub = take_part(&r, take_length(&r, true));
		unsigned type = take_uint(&sub, 1) & 0x7f;
		if (type == SUB_CREATED && hashed) {
			s->created = take_uint(&sub, 4);
		} else if (type == SUB_VALID && hashed) {
			s->valid_s = take_uint(&sub, 4);
		} else if (type == SUB_ISSUER || type == SUB_ISSUER_FPR) {
			if (type == SUB_ISSUER_FPR && sub.n >= 8)
				take(&sub, sub.n - 8);
			const unsigned char *id = take(&sub, 8);
			if (id)
				memcpy(s->issuer, id, 8);
			s->has_issuer = id != NULL;
		} else if (type == SUB_EMBEDDED && !s->inner) {
			struct signature back = {.inner = true};
			if (!read_signature(sub, &back))
				return false;
			if (back.class == CLASS_BACK)
				s->back_digest = back.digest;
		}
		if (sub.bad)
			return false;
	}
	return !r.bad;
}

static bool read_signature(struct reader r, struct signature *s)
{
	s->version = take_uint(&r, 1);
	if (s->version == 3) {
		take(&r, 1);
		s->class = take_uint(&r, 1);
		s->created = take_uint(&r, 4);
		const unsigned char *id = take(&r, 8);
		if (id)
			memcpy(s->issuer, id, 8);
		s->has_issuer = id != NULL;
		take(&r, 1);
		s->digest = take_uint(&r, 1);
		return !r.bad;
	}
	if (s->version != 4)
		return !r.bad; /* counts for nobody: its class stays 0 */
	s->class = take_uint(&r, 1);
	take(&r, 1);
	s->digest = take_uint(&r, 1);
	struct reader hashed = take_part(&r, take_uint(&r, 2));
	struct reader unhashed = take_part(&r, take_uint(&r, 2));
	return !r.bad && read_subpackets(hashed, s, true) && read_subpackets(unhashed, s, false);
}

/* A version 4 fingerprint: SHA-1 over 0x99, the length and the body. */
static void key_fpr(const struct reader *body, char fpr[41], unsigned char id[8])
{
	unsigned char head[3] = {0x99, (unsigned char)(body->n >> 8), (unsigned char)body->n};
	struct digest *d = digest_new(DIGEST_SHA1);
	digest_update(d, head, sizeof head);
	digest_update(d, body->p, body->n);
	unsigned char raw[64];
	digest_finish_raw(d, raw);
	static const char digits[] = "0123456789ABCDEF";
	for (size_t i = 0; i < 20; i++) {
		fpr[2 * i] = digits[raw[i] >> 4];
		fpr[2 * i + 1] = digits[raw[i] & 0xf];
	}
	fpr[40] = '\0';
	if (id)
		memcpy(id, raw + 12, 8);
}

/* When it was made, by which algorithm and how long; the body is longer than a version number. */
static void read_key(struct reader body, struct packets_part *part)
{
	take(&body, 1);
	part->made = take_uint(&body, 4);
	part->algo = take_uint(&body, 1);
	if ((part->algo >= ALGO_RSA_FIRST && part->algo <= ALGO_RSA_LAST) || part->algo == ALGO_DSA)
		part->bits = take_uint(&body, 2);
}

static bool binds(const struct packets_part *part, unsigned class)
{
	switch (part->kind) {
	case PACKETS_PRIMARY:
		return class == CLASS_DIRECT;
	case PACKETS_SUBKEY:
		return class == CLASS_BINDING;
	default:
		return (class >= CLASS_CERT_FIRST && class <= CLASS_CERT_LAST) ||
		       class == CLASS_CERT_REVOKED;
	}
}

static void add_signature(struct packets_part *part, const struct signature *s)
{
	part->revoked |= (part->kind == PACKETS_PRIMARY && s->class == CLASS_KEY_REVOKED) ||
			 (part->kind == PACKETS_SUBKEY && s->class == CLASS_SUBKEY_REVOKED);
	if (!binds(part, s->class) || (part->sig_version && s->created < part->created))
		return;
	part->digest = s->class == CLASS_CERT_REVOKED ? 0 : s->digest;
	part->back_digest = s->back_digest;
	part->sig_version = s->version;
	part->created = s->created;
	part->valid_s = s->valid_s;
}

static struct packets_part *add_part(struct packets *out, enum packets_kind kind)
{
	if (out->n == PARTS_MAX)
		return NULL;
	struct packets_part *part = &out->v[out->n++];
	part->kind = kind;
	return part;
}

int packets_read(struct arena *a, const void *p, size_t n, struct packets *out, struct err *err)
{
	struct reader r = {p, n, false};
	unsigned char primary_id[8] = {0};
	struct packets_part *part = NULL;
	out->v = arena_alloc(a, PARTS_MAX * sizeof *out->v);
	out->n = 0;
	out->len = 0;
	while (r.n) {
		size_t at = n - r.n;
		unsigned tag = 0;
		struct reader body = take_packet(&r, &tag);
		bool is_key = tag == TAG_PRIMARY || tag == TAG_SUBKEY;
		if (r.bad || (!out->n && tag != TAG_PRIMARY) ||
		    (is_key && (body.n > 0xffff || body.n < 1 || body.p[0] != 4)))
			return err_set(err, ERR_FORMAT,
			    "packet at byte %zu is not part of a version 4 OpenPGP public key", at);
		if (tag == TAG_PRIMARY && out->n)
			break;
		out->len = n - r.n;
		struct signature s = {0};
		if (is_key)
			part = add_part(out, tag == TAG_PRIMARY ? PACKETS_PRIMARY : PACKETS_SUBKEY);
		else if (tag == TAG_USER || tag == TAG_ATTRIBUTE)
			part = add_part(out, PACKETS_USER);
		else if (tag == TAG_SIGNATURE && !read_signature(body, &s))
			return err_set(err, ERR_FORMAT, "signature at byte %zu is cut short", at);
		if (!part)
			return err_set(err, ERR_FORMAT, "key has more than %d parts", PARTS_MAX);
		if (is_key)
			read_key(body, part);
		if (is_key)
			key_fpr(&body, part->fpr, tag == TAG_PRIMARY ? primary_id : NULL);
		if (s.has_issuer && !memcmp(s.issuer, primary_id, 8))
			add_signature(part, &s);
	}
	if (!out->n)
		return err_set(err, ERR_FORMAT, "no OpenPGP public key");
	return 0;
}

const char *packets_digest_name(unsigned digest)
{
	static const char *const names[] = {[1] = "MD5",
	    [2] = "SHA-1",
	    [3] = "RIPEMD-160",
	    [8] = "SHA-256",
	    [9] = "SHA-384",
	    [10] = "SHA-512",
	    [11] = "SHA-224",
	    [12] = "SHA3-256",
	    [14] = "SHA3-512"};
	const char *name = digest < ARRAY_SIZE(names) ? names[digest] : NULL;
	return name ? name : "an unknown digest";
}
