/*
 * Digests of a file that is written in pieces. The running state can be stored with each piece,
 * so that a file whose beginning did not change is digested from the first change on.
 */
#pragma once
#include "../../lib/base/compat.h"
#include "../../lib/base/digest.h"
#include <openssl/md5.h>
#include <openssl/sha.h>
#include <stdbool.h>
#include <stdint.h>

enum sum_alg { SUM_SHA256, SUM_MD5, SUM_SHA1, SUM_SHA512, SUM_ALGS };
/* Their names in Release and below by-hash: "SHA256", "MD5Sum", "SHA1", "SHA512". */
extern const char *const sum_names[SUM_ALGS];

/* A running digest; plain data, stored as such in the state (never read on another machine). */
struct sums {
	uint64_t size;
	bool all; /* of SHA-256 alone otherwise */
	SHA256_CTX sha256;
	MD5_CTX md5;
	SHA_CTX sha1;
	SHA512_CTX sha512;
};

/* Sizes and digests of finished bytes; "" where an algorithm was left out. */
struct sums_hex {
	uint64_t size;
	char hex[SUM_ALGS][DIGEST_HEX_MAX];
};

void sums_init(struct sums *s, bool all);
void sums_update(struct sums *s, const void *p, size_t n);
/* Leaves s as it is: more may follow. */
void sums_hex(const struct sums *s, struct sums_hex *out);
