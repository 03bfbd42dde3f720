/* The one-shot interface of OpenSSL cannot store a digest's state; this older one can. */
#define OPENSSL_SUPPRESS_DEPRECATED
#include "sums.h"

#include <string.h>

const char *const sum_names[SUM_ALGS] = {
    [SUM_SHA256] = "SHA256", [SUM_MD5] = "MD5Sum", [SUM_SHA1] = "SHA1", [SUM_SHA512] = "SHA512"};

void sums_init(struct sums *s, bool all)
{
	memset(s, 0, sizeof *s);
	s->all = all;
	SHA256_Init(&s->sha256);
	MD5_Init(&s->md5);
	SHA1_Init(&s->sha1);
	SHA512_Init(&s->sha512);
}

void sums_update(struct sums *s, const void *p, size_t n)
{
	s->size += n;
	SHA256_Update(&s->sha256, p, n);
	if (!s->all)
		return;
	MD5_Update(&s->md5, p, n);
	SHA1_Update(&s->sha1, p, n);
	SHA512_Update(&s->sha512, p, n);
}

static void to_hex(const unsigned char *raw, size_t n, char *hex)
{
	static const char digits[] = "0123456789abcdef";
	for (size_t i = 0; i < n; i++) {
		*hex++ = digits[raw[i] >> 4];
		*hex++ = digits[raw[i] & 15];
	}
	*hex = '\0';
}

void sums_hex(const struct sums *s, struct sums_hex *out)
{
	struct sums copy = *s;
	unsigned char raw[SHA512_DIGEST_LENGTH];
	memset(out, 0, sizeof *out);
	out->size = s->size;
	SHA256_Final(raw, &copy.sha256);
	to_hex(raw, SHA256_DIGEST_LENGTH, out->hex[SUM_SHA256]);
	if (!s->all)
		return;
	MD5_Final(raw, &copy.md5);
	to_hex(raw, MD5_DIGEST_LENGTH, out->hex[SUM_MD5]);
	SHA1_Final(raw, &copy.sha1);
	to_hex(raw, SHA_DIGEST_LENGTH, out->hex[SUM_SHA1]);
	SHA512_Final(raw, &copy.sha512);
	to_hex(raw, SHA512_DIGEST_LENGTH, out->hex[SUM_SHA512]);
}
