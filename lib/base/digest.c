#include "digest.h"

#include <fcntl.h>
#include <openssl/evp.h>
#include <string.h>

#include "err.h"
#include "xalloc.h"

struct digest {
	EVP_MD_CTX *ctx;
};

static const EVP_MD *evp_md(enum digest_alg alg)
{
	switch (alg) {
	case DIGEST_MD5:
		return EVP_md5();
	case DIGEST_SHA1:
		return EVP_sha1();
	case DIGEST_SHA512:
		return EVP_sha512();
	default:
		return EVP_sha256();
	}
}

struct digest *digest_new(enum digest_alg alg)
{
	struct digest *d = xmalloc(sizeof *d);
	d->ctx = EVP_MD_CTX_new();
	if (!d->ctx || !EVP_DigestInit_ex(d->ctx, evp_md(alg), NULL))
		abort(); /* a libcrypto without this digest cannot run debkit at all */
	return d;
}

void digest_update(struct digest *d, const void *p, size_t n)
{
	EVP_DigestUpdate(d->ctx, p, n);
}

size_t digest_finish_raw(struct digest *d, unsigned char out[64])
{
	unsigned n = 0;
	EVP_DigestFinal_ex(d->ctx, out, &n);
	digest_free(d);
	return n;
}

void digest_finish_hex(struct digest *d, char hex[DIGEST_HEX_MAX])
{
	static const char digits[] = "0123456789abcdef";
	unsigned char raw[64];
	size_t n = digest_finish_raw(d, raw);
	for (size_t i = 0; i < n; i++) {
		hex[2 * i] = digits[raw[i] >> 4];
		hex[2 * i + 1] = digits[raw[i] & 15];
	}
	hex[2 * n] = '\0';
}

void digest_free(struct digest *d)
{
	if (!d)
		return;
	EVP_MD_CTX_free(d->ctx);
	free(d);
}

void digest_hex(enum digest_alg alg, const void *p, size_t n, char hex[DIGEST_HEX_MAX])
{
	struct digest *d = digest_new(alg);
	digest_update(d, p, n);
	digest_finish_hex(d, hex);
}

int digest_file_hex(enum digest_alg alg, const char *path, char hex[DIGEST_HEX_MAX], uint64_t *size,
    struct err *err)
{
	_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return err_sys(err, "cannot read '%s'", path);
	struct digest *d = digest_new(alg);
	_free_ char *block = xmalloc(1 << 18);
	uint64_t total = 0;
	ssize_t n;
	while ((n = read(fd, block, 1 << 18)) > 0) {
		digest_update(d, block, (size_t)n);
		total += (uint64_t)n;
	}
	if (n < 0) {
		digest_free(d);
		return err_sys(err, "cannot read '%s'", path);
	}
	digest_finish_hex(d, hex);
	if (size)
		*size = total;
	return 0;
}
