/*
 * Members of a wheel (zip), local or remote: libarchive's seekable zip reader over read and seek
 * callbacks, so that a remote wheel costs a few range requests.
 */
#pragma once
#include "../../lib/base/compat.h"
#include "../../lib/base/digest.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buf;
struct err;
struct index;
struct strv;

/* What is wanted: called for each member name; true fetches it. */
typedef bool wheel_want_fn(void *arg, const char *member);

struct wheel_pin {
	const char *name;	   /* file name of the wheel, for messages */
	const char *url;	   /* or NULL with path */
	const char *path;	   /* a local wheel, or NULL */
	uint64_t size;		   /* of the wheel, bytes */
	const char *record_sha256; /* expected SHA-256 of its RECORD member, or NULL: only report */
};

/*
 * Unpacks the wanted members below dir (made if absent). Each is checked against RECORD, RECORD
 * against pin->record_sha256 (ERR_TRUST naming both). RECORD itself is unpacked too. Names that
 * leave dir are refused. record_hex (may be NULL) gets the hash of RECORD as found.
 * The folder appears by one rename when all of it is right, or not at all; a folder of that
 * name with anything in it is ERR_CONFLICT.
 */
int wheel_extract(struct index *x, const struct wheel_pin *pin, wheel_want_fn *want, void *arg,
    const char *dir, char record_hex[SHA256_HEX], struct err *err) _must_check_;
/* Appends one member, checked against RECORD. ERR_FORMAT if there is none of that name. */
int wheel_read_member(struct index *x, const struct wheel_pin *pin, const char *member,
    struct buf *out, struct err *err) _must_check_;
/* The hash of a wheel's RECORD alone, for the lock. */
int wheel_record_sha256(struct index *x, const struct wheel_pin *pin, char record_hex[SHA256_HEX],
    struct err *err) _must_check_;
