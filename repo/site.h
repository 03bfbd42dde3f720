/* What a repository's root holds for those who configure a client: the public key and a
 * .sources file. */
#pragma once
#include "../debbuild/base/compat.h"

struct buf;
struct err;
struct strv;
struct suite;

#define SITE_KEYRING "debkit-archive-keyring.gpg"
#define SITE_SOURCES "debkit.sources"

/* Appends the public keys, binary, one after another (for Signed-By files and gpgv). */
int site_keyring(const struct strv *fprs, struct buf *out, struct err *err) _must_check_;
/*
 * Appends a deb822 .sources stanza (sources.list(5)) with the suite's keys embedded, so that
 * this one file configures a client. An unsigned suite gets Trusted: yes.
 */
int site_sources(
    const struct suite *s, const char *url, struct buf *out, struct err *err) _must_check_;
