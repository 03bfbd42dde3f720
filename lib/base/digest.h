/* Message digests (OpenSSL's EVP). Hex is lower case. */
#pragma once
#include "compat.h"
#include <stddef.h>
#include <stdint.h>

struct err;
enum digest_alg { DIGEST_MD5, DIGEST_SHA1, DIGEST_SHA256, DIGEST_SHA512 };

#define DIGEST_HEX_MAX 129 /* SHA-512 and the NUL */
#define SHA256_HEX     65  /* 64 digits and the NUL */

struct digest; /* a running digest */
struct digest *digest_new(enum digest_alg alg) _malloc_;
void digest_update(struct digest *d, const void *p, size_t n);
/* Writes the hex form of what was fed so far and frees d. */
void digest_finish_hex(struct digest *d, char hex[DIGEST_HEX_MAX]);
/* Writes the raw bytes (at most 64), returns their number, frees d. */
size_t digest_finish_raw(struct digest *d, unsigned char out[64]);
void digest_free(struct digest *d); /* accepts NULL */

void digest_hex(enum digest_alg alg, const void *p, size_t n, char hex[DIGEST_HEX_MAX]);
/* Reads the whole file; *size (may be NULL) gets its bytes. */
int digest_file_hex(enum digest_alg alg, const char *path, char hex[DIGEST_HEX_MAX], uint64_t *size,
    struct err *err) _must_check_;
