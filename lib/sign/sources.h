/*
 * The apt source of a repository, sources.list(5) in deb822 form, with the public keys embedded
 * in Signed-By: one file configures a machine. The published file and the one in the keyring
 * package are the same bytes, so that dpkg has no conffile question to ask.
 */
#pragma once
#include "../base/compat.h"

struct buf;
struct err;
struct strv;

/* Appends the text. No keys: "Trusted: yes" (an unsigned repository). */
int sources_write(const char *url, const char *suite, const struct strv *components,
    const struct strv *fprs, struct buf *out, struct err *err) _must_check_;
